"""Accepted lengths of every round at any depth, from the match vector of an output.

At temperature 0 a draft token is accepted if and only if the draft's argmax, given the true prefix,
is the target's token. A token that the grammar forbids is never the target's: a cut is a rejection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Match = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of an output, each array of shape [rounds].

    Attributes:
        start: output position of the round's first token.
        accepted: draft tokens accepted, as far as they are in the output.
        emitted: tokens that reached the output.
        truncated: whether the output ended inside the accepted tokens; an engine may then count
            more of them, beyond the end.
    """

    start: npt.NDArray[np.int32]
    accepted: npt.NDArray[np.int16]
    emitted: npt.NDArray[np.int16]
    truncated: npt.NDArray[np.bool_]


def run_lengths(match: Match) -> npt.NDArray[np.int64]:
    """Consecutive matches from each position on, shape [positions]."""
    positions = np.arange(len(match))
    misses = np.where(match, len(match), positions)
    next_miss = np.minimum.accumulate(misses[::-1])[::-1]
    return next_miss - positions


def accepted_lengths(match: Match, depth: int) -> Rounds:
    """Walk the rounds of an output: the prefill gives position 0, rounds all the others.

    Args:
        match: whether the draft's argmax is the output's token, shape [positions].
        depth: draft tokens per round.
    """
    tokens = len(match)
    runs = np.minimum(run_lengths(match), depth)
    starts = []
    start = 1
    while start < tokens:
        starts.append(start)
        start += int(runs[start]) + 1
    begin = np.array(starts, np.int64)
    accepted = runs[begin]
    left = tokens - begin
    return Rounds(
        begin.astype(np.int32),
        accepted.astype(np.int16),
        np.minimum(accepted + 1, left).astype(np.int16),
        accepted == left,
    )


def replay_rounds(replay: pd.DataFrame, depths: Sequence[int]) -> pd.DataFrame:
    """The rounds of every output at every depth.

    Args:
        replay: the replay table.
        depths: draft tokens per round.

    Returns:
        The table of replayed rounds.
    """
    ordered = replay.sort_values(["request_id", "batch", "position"])
    frames = []
    for (request_id, batch), output in ordered.groupby(["request_id", "batch"], sort=False):
        match = output["match"].to_numpy(np.bool_)
        for depth in depths:
            frames.append(_frame(request_id, batch, depth, accepted_lengths(match, depth)))
    return pd.concat(frames, ignore_index=True)


def _frame(request_id: Any, batch: Any, depth: int, rounds: Rounds) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "request_id": request_id,
            "batch": np.int16(batch),
            "depth": np.int16(depth),
            "round": np.arange(len(rounds.start), dtype=np.int32),
            "start": rounds.start,
            "accepted": rounds.accepted,
            "emitted": rounds.emitted,
            "truncated": rounds.truncated,
        }
    )
