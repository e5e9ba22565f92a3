"""Rounds of all outputs at once: each starts where the round before it ended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from draftlaw.simulation.draw import Bools, Integers, Outputs


@dataclass(frozen=True, slots=True)
class Walk:
    """The rounds of an arm's outputs at one depth, by output and then in order: [rounds] each.

    Attributes:
        owner: the output.
        round: number within the output, from 0.
        start: output position of the round's first token.
        accepted: draft tokens accepted, within the output.
        emitted: tokens that reached the output.
        cut: the grammar cut the draft after the accepted tokens.
        left: tokens of the output from the round's start on.
    """

    owner: Integers
    round: Integers
    start: Integers
    accepted: Integers
    emitted: Integers
    cut: Bools
    left: Integers


def walk(outputs: Outputs, depth: int) -> Walk:
    """Walk every output: the prefill gives position 0, rounds all the others.

    Args:
        outputs: of one arm.
        depth: draft tokens per round, gamma; 0: the baseline, a token a round.
    """
    runs = np.minimum(_run_lengths(outputs), depth)
    ends = outputs.first + outputs.length
    owner = np.arange(len(outputs.length))
    row = outputs.first + 1
    owners, rows = [], []
    while len(owner):
        owners.append(owner)
        rows.append(row)
        row = row + runs[row] + 1
        inside = row < ends[owner]
        owner, row = owner[inside], row[inside]
    number = np.repeat(np.arange(len(owners)), [len(members) for members in owners])
    order = np.lexsort((number, np.concatenate(owners)))
    owner, row = np.concatenate(owners)[order], np.concatenate(rows)[order]
    accepted, left = runs[row], ends[owner] - row
    after = np.minimum(row + accepted, len(outputs.cut) - 1)
    examined = (accepted < depth) & (accepted < left)  # the token after the accepted ones was
    return Walk(
        owner,
        number[order],
        row - outputs.first[owner],
        accepted,
        np.minimum(accepted + 1, left),
        outputs.cut[after] & examined,
        left,
    )


def _run_lengths(outputs: Outputs) -> Integers:
    """Consecutive matches from each position to the end of its output, [positions]."""
    rows = np.arange(len(outputs.match))
    misses = np.where(outputs.match, len(rows), rows)
    next_miss = np.minimum.accumulate(misses[::-1])[::-1]
    end = (outputs.first + outputs.length)[outputs.owner]
    runs: Integers = np.minimum(next_miss, end) - rows
    return runs
