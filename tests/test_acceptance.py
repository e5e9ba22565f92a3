"""Risk sets, hazards and tau: against loops, against a product-limit estimator, at the edges."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.duration.survfunc import SurvfuncRight

from draftlaw.acceptance import (
    accepted_lengths,
    cell_lengths,
    examined_tokens,
    hazards,
    risk_sets,
    round_means,
    shared_positions,
)
from draftlaw.rounds_replay import replay_rounds

CELL = {"view": "replay", "arm": "X"}
Token = tuple[bool, str]  # does the draft match; the class


def tables(outputs: list[list[Token]], depth: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rounds and positions of outputs, each a list of (match, class)."""
    rows = []
    for number, output in enumerate(outputs):
        span = 0
        for position, (match, name) in enumerate(output):
            span += position > 0 and name != output[position - 1][1]
            rows.append((f"r{number}", 1, position, match, name, span, False, False))
    names = ["request_id", "batch", "position", "match", "position_class", "span"]
    positions = pd.DataFrame(rows, columns=[*names, "forced", "loop"])
    return replay_rounds(positions, [depth]), positions


def by_loops(outputs: list[list[Token]], depth: int) -> Counter[tuple[str, int, bool]]:
    """The same counts, read off the protocol token by token."""
    counts: Counter[tuple[str, int, bool]] = Counter()
    for output in outputs:
        start = 1
        while start < len(output):
            offset, open_round = 1, True
            while open_round and offset <= depth and start + offset - 1 < len(output):
                here = start + offset - 1
                match, name = output[here]
                if all(output[place][1] == name for place in range(start, here)):
                    counts[name, offset, not match] += 1
                open_round = match
                offset += 1
            accepted = next(
                (j for j in range(depth) if start + j >= len(output) or not output[start + j][0]),
                depth,
            )
            start += accepted + 1
    return counts


outputs_of_tokens = st.lists(
    st.lists(st.tuples(st.booleans(), st.sampled_from("SSSRF")), min_size=1, max_size=25),
    min_size=1,
    max_size=4,
)


@given(outputs_of_tokens, st.integers(1, 6))
def test_the_risk_sets_are_those_of_the_protocol(outputs: list[list[Token]], depth: int) -> None:
    tokens = examined_tokens(*tables(outputs, depth), depth)
    found = Counter(
        zip(tokens["position_class"], tokens["offset"], tokens["rejected"], strict=True)
    )
    assert found == by_loops(outputs, depth)


def estimate(outputs: list[list[Token]], depth: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    tokens = examined_tokens(*tables(outputs, depth), depth)
    clusters = {name: name for name in tokens["request_id"]}
    risk = risk_sets(tokens, clusters).assign(**CELL, depth=depth)
    hazard = hazards(risk)
    whole = accepted_lengths(risk, hazard)
    return hazard[hazard["variant"] == "all"], whole[whole["variant"] == "all"]


def test_tau_is_the_product_limit_estimate_of_a_library() -> None:
    random = np.random.default_rng(0)
    output = [(bool(hit), "S") for hit in random.random(600) < 0.7]
    depth = 4
    rounds, positions = tables([output], depth)
    _, whole = estimate([output], depth)
    # a round "dies" at the offset of its rejection; depth and the end of the output censor it
    rejected = ~rounds["truncated"] & (rounds["accepted"] < depth)
    time = np.where(rejected, rounds["accepted"] + 1, rounds["accepted"])
    inside = time > 0
    curve = SurvfuncRight(time[inside], rejected[inside].astype(int))
    survival = dict(zip(curve.surv_times, curve.surv_prob, strict=True))
    at = [survival[max(t for t in survival if t <= j)] for j in range(1, depth + 1)]
    assert whole["tau"].item() == pytest.approx(sum(at))
    assert len(positions) == 600


@given(st.lists(st.lists(st.booleans(), min_size=2, max_size=40), min_size=1), st.integers(1, 6))
def test_a_cell_of_one_class_has_the_tau_of_the_class(
    matches: list[list[bool]], depth: int
) -> None:
    outputs: list[list[Token]] = [[(match, "S") for match in output] for output in matches]
    rounds, _ = tables(outputs, depth)
    _, by_class = estimate(outputs, depth)
    (whole,) = cell_lengths(rounds, depth).to_dict("records")
    assert whole["tau"] == pytest.approx(by_class["tau"].item(), nan_ok=True)
    assert whole["truncated"] == rounds["truncated"].sum() and whole["rounds"] == len(rounds)


def test_a_round_of_a_cell_goes_on_beyond_its_span() -> None:
    # spans of two: no offset of a class beyond the second is ever at risk, of the cell all are
    rounds, _ = tables([[(True, name) for name in "SSRR" * 6]], 3)
    assert cell_lengths(rounds, 3)["tau"].item() == 3.0


# a grammar cut: the engine drafts 4 tokens, the grammar refuses the draft's third and all after it
CUT = {"request_id": "r0", "batch": 1, "round": 0, "start": 1, "accepted": 2, "emitted": 3}


def test_a_grammar_cut_is_a_rejection_as_in_the_replay() -> None:
    """The cut token differs from the target's, so that the replay has a mismatch at its place."""
    depth = 4
    match = [True, True, True, False, True, True, True, True]
    replayed, positions = tables([[(each, "S") for each in match]], depth)
    left = {"round": 1, "start": 4, "accepted": 4, "emitted": 4, "drafted": 4}
    engine = pd.DataFrame([{**CUT, "drafted": 2}, {**CUT, **left}])
    engine["grammar_cut"] = engine["drafted"] < depth
    engine["truncated"] = [False, True]
    by_engine, by_replay = (
        examined_tokens(rounds, positions, depth).query("offset <= 3")
        for rounds in (engine, replayed)
    )
    pd.testing.assert_frame_equal(by_engine, by_replay, check_dtype=False)
    cut_at = by_engine[by_engine["offset"] == 3].iloc[0]
    assert cut_at["rejected"] and by_engine["rejected"].sum() == 1
    lengths = [cell_lengths(rounds, depth)["tau"].item() for rounds in (engine, replayed)]
    assert lengths[0] == lengths[1] == 1 + 1 + 0.5 + 0.5


@pytest.mark.parametrize(("match", "tau"), [(True, 3.0), (False, 0.0)])
def test_all_or_nothing(match: bool, tau: float) -> None:
    _, whole = estimate([[(match, "F")] * 40], 3)
    assert whole["tau"].item() == tau


def test_an_offset_never_reached_is_not_estimable_unless_nothing_survives() -> None:
    # spans of two: no draft of depth 3 can put its third token at risk
    spans = [(True, name) for name in "SSRR" * 6]
    _, whole = estimate([spans], 3)
    assert whole["tau"].isna().all()
    hazard, _ = estimate([spans], 3)
    assert hazard[hazard["offset"] == 3]["hazard"].isna().all()


def test_variants_leave_positions_out() -> None:
    rounds, positions = tables([[(True, "S")] * 9], 2)
    positions["forced"] = positions["position"] % 2 == 0
    tokens = examined_tokens(rounds, positions, 2)
    risk = risk_sets(tokens, {"r0": "c"}).set_index(["variant", "offset"])["at_risk"]
    assert risk["all"].sum() == len(tokens)
    assert risk["unforced"].sum() == (~tokens["forced"]).sum() < len(tokens)
    assert risk["unlooped"].sum() == len(tokens)


def test_round_means_by_the_class_at_the_start() -> None:
    rounds, positions = tables([[(True, name) for name in "FFFSSSSS"]], 2)
    means = round_means(rounds, positions).set_index("position_class")
    assert means.loc["F", "rounds"] == 1 and means.loc["F", "mean_accepted"] == 2
    assert np.isnan(means.loc["F", "mean_accepted_whole"])  # its tokens reach into S


def test_what_follows_a_divergence_has_no_label() -> None:
    _, positions = tables([[(True, "F")] * 5], 2)
    key = {"request_id": ["r0"], "batch": [1]}
    baseline = pd.DataFrame({**key, "output_ids": [np.array([1, 2, 3, 4, 5])]})
    other = pd.DataFrame({**key, "output_ids": [np.array([1, 2, 9, 4, 5])]})
    assert list(shared_positions(positions, baseline, other)["position"]) == [0, 1]
    assert len(shared_positions(positions, baseline, baseline)) == 5
