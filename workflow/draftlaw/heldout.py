"""How a draft does on held-out prompts: match, accepted length, and what it saves."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from draftlaw.costs import seconds_per_token, timed


@dataclass(frozen=True, slots=True)
class Heldout:
    """A draft on one kind of held-out prompts, at one depth and batch size.

    Attributes:
        match: share of output positions where the draft's argmax is the target's token.
        mean_accepted: accepted draft tokens per round.
        saving: net saving of decoding, 1 - seconds per token with speculation / without.
    """

    prompts: str
    requests: int
    rounds: int
    match: float
    mean_accepted: float
    saving: float


def judge(
    prompts: str, baseline: pd.DataFrame, rounds: pd.DataFrame, replay: pd.DataFrame
) -> dict[str, Any]:
    """Judge a draft on one kind of prompts.

    Args:
        prompts: what they are, e.g. "calls".
        baseline: rounds table at depth 0.
        rounds: rounds table at the depth judged, same batch size.
        replay: replay table of the same outputs.
    """
    return asdict(
        Heldout(
            prompts=prompts,
            requests=int(rounds["request_id"].nunique()),
            rounds=len(rounds),
            match=float(replay["match"].mean()),
            mean_accepted=float(rounds["accepted"].mean()),
            saving=1 - seconds_per_token(timed(rounds)) / seconds_per_token(timed(baseline)),
        )
    )
