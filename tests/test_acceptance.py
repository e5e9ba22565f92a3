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
