"""The checks on tables made by hand: what is found, and what is not a finding."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from draftlaw.checks import (
    CellTables,
    Row,
    at_other_batches,
    check_counts,
    compare_outputs,
    unexplained_rounds,
)
from draftlaw.errors import DraftLawError
from draftlaw.outputs import first_difference
from draftlaw.rounds import Outcome, Step, round_rows, trace_row
from draftlaw.rounds_replay import replay_rounds
from draftlaw.tables.checks import DIVERGENCES, IDENTITY

DEPTH = 3


def outcome(name: str, tokens: list[int], emitted: list[int], accepted: list[int]) -> Outcome:
    """What an engine would give for these rounds; the prefill gives the first token."""
    steps = [Step(n, 0.01, 0.004, 1, n == 0, count) for n, count in enumerate([1, *emitted])]
    drafted = [DEPTH] * len(emitted)
    verified = [True] * len(emitted)
    return Outcome(name, tokens, steps, verified, drafted, accepted, "length", 0, 0.01)


def cell(outcomes: list[Outcome], batch: int = 1, depth: int = DEPTH) -> CellTables:
    checked = {"grammar_held": None, "calls": 0, "valid_calls": 0, "call_problem": ""}
    key = {"batch": batch, "launch": 0, "wave": 0}
    traces = [{"request_id": o.id, **key, **trace_row(o), **checked} for o in outcomes]
    for trace in traces:
        trace["output_ids"] = np.array(trace["output_ids"])
    rounds = [{"request_id": o.id, **key, **row} for o in outcomes for row in round_rows(o, DEPTH)]
    frame = pd.DataFrame(rounds)
    counters = {
        "drafts": len(frame),
        "draft_tokens": int(frame["drafted"].sum()),
        "accepted_tokens": int(frame["accepted"].sum()),
    }
    return CellTables("X", depth, pd.DataFrame(traces), frame, {"counters": counters})


# tokens 0..7: a match at 1 and 2, none at 3; then matches to the end, where 3 are accepted but the
# length limit lets only 3 of the 4 tokens out
TOKENS = [5, 6, 7, 8, 9, 10, 11]
MATCH = [False, True, True, False, True, True, True]
WHOLE = outcome("r", TOKENS, [3, 3], [2, 3])


def replay(tokens: list[int], match: list[bool], batch: int = 1) -> pd.DataFrame:
    size = len(tokens)
    return pd.DataFrame(
        {
            "request_id": "r",
            "batch": batch,
            "position": range(size),
            "match": match,
            "target_top1": tokens,
            "margin": np.linspace(1, 2, size),
            "draft_margin": np.linspace(0.1, 0.2, size),
            "draft_gap": np.where(match, 0.0, 0.5),
        }
    )


def differences(cell: CellTables, reference: pd.DataFrame, near: pd.DataFrame) -> list[Row]:
    counts, found = compare_outputs("speculation", cell, reference, near)
    IDENTITY.check(counts, "here")
    DIVERGENCES.check(found, "here")
    assert counts["differing"].sum() == len(found)
    return found.replace({np.nan: None}).to_dict("records")


def test_a_whole_cell_passes_and_is_explained() -> None:
    measured, positions = cell([WHOLE]), replay(TOKENS, MATCH)
    check_counts(measured)
    replayed = replay_rounds(positions, [DEPTH])
    assert unexplained_rounds(measured, measured.traces, replayed, positions) == []
    assert differences(measured, measured.traces, positions) == []


@pytest.mark.parametrize(
    ("column", "row", "change"),
    [
        ("accepted", 0, 1),
        ("accepted", 1, -1),
        ("emitted", 1, 1),
        ("start", 1, 1),
        ("drafted", 0, 1),
    ],
)
def test_a_changed_count_is_found(column: str, row: int, change: int) -> None:
    measured = cell([WHOLE])
    measured.rounds.loc[row, column] += change
    with pytest.raises(DraftLawError, match=r"cell X-g3-l0: .*(counting rule|engine counted)"):
        check_counts(measured)


def test_a_round_the_matches_do_not_imply_is_listed_once_with_its_gap() -> None:
    other = outcome("r", TOKENS, [2, 2, 2], [1, 1, 1])
    measured, positions = cell([other]), replay(TOKENS, MATCH)
    check_counts(measured)
    replayed = replay_rounds(positions, [DEPTH])
    (found,) = unexplained_rounds(measured, measured.traces, replayed, positions)
    assert (found["round"], found["engine_accepted"], found["replay_accepted"]) == (0, 1, 2)
    assert found["position"] == 2
    assert found["draft_margin"] == pytest.approx(positions["draft_margin"][2])


def test_a_round_too_many_or_too_few_is_listed() -> None:
    positions = replay(TOKENS, MATCH)
    replayed = replay_rounds(positions, [DEPTH])
    measured = cell([WHOLE])
    short = CellTables("X", DEPTH, measured.traces, measured.rounds.iloc[:1], measured.record)
    (found,) = unexplained_rounds(short, measured.traces, replayed, positions)
    assert found["engine_accepted"] is None and found["round"] == 1


def test_a_diverged_output_is_listed_with_both_tokens_and_the_margin() -> None:
    measured, positions = cell([WHOLE]), replay(TOKENS, MATCH)
    tokens = [*TOKENS[:4], 99, *TOKENS[5:]]
    changed = cell([outcome("r", tokens, [3, 3], [2, 3])])
    (found,) = differences(changed, measured.traces, positions)
    assert found["target_top1"] == 9
    assert (found["position"], found["token"], found["baseline_token"]) == (4, 99, 9)
    assert found["target_margin"] == pytest.approx(positions["margin"][4])
    assert (
        unexplained_rounds(changed, measured.traces, replay_rounds(positions, [3]), positions) == []
    )


def test_the_baseline_is_compared_across_batch_sizes() -> None:
    one, eight = cell([WHOLE]), cell([outcome("r", TOKENS[:-1], [3, 2], [2, 3])], batch=8)
    both = CellTables("X", 0, pd.concat([one.traces, eight.traces]), one.rounds, {})
    others, reference = at_other_batches(both)
    (found,) = differences(others, reference, replay(TOKENS, MATCH))
    assert (found["batch"], found["position"], found["token"]) == (8, 6, None)
    alone, nothing = at_other_batches(one)
    assert differences(alone, nothing, replay(TOKENS, MATCH)) == []


def test_first_difference() -> None:
    assert first_difference([1, 2], [1, 2]) is None
    assert first_difference([1, 2], [1, 3]) == 1
    assert first_difference([1], [1, 2]) == 1
    assert first_difference([], [1]) == 0
