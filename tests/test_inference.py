"""Resampling, estimands in resamples, and the decisions at, inside and outside their margins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import REPO
from draftlaw import law
from draftlaw import verdicts as read
from draftlaw.acceptance import accepted_lengths, hazards
from draftlaw.costs import cost_fits
from draftlaw.identity import Outputs
from draftlaw.inference.estimates import (
    accepted_length,
    cost_slope,
    kappa,
    predicted_crossing,
    saving_line,
)
from draftlaw.inference.intervals import intervals
from draftlaw.inference.operator import operator_rule
from draftlaw.inference.resampling import Resampling, doubt, interval, unit_sums
from draftlaw.inference.sample import Sample, Tables
from draftlaw.judgement import Judgement, judge, primary_cell, schema
from draftlaw.margins import Decisions
from draftlaw.mean_field import MeanField
from draftlaw.tables.analysis import INTERVALS, OPERATOR, OPERATOR_SHARES
from draftlaw.tables.checks import COMPARISONS, DIVERGENCES

DECISIONS = Decisions.model_validate(
    {
        "resamples": 199,
        "level": 0.95,
        "primary": {"depth": 4, "batch": 1},
        "margins": {
            "ratio": 1.5,
            "crossing": 0.25,
            "high_share": 0.6,
            "composition": 0.15,
            "requests": 3,
            "tie": 0.125,
        },
    }
)
RESAMPLING = Resampling(seed=1, resamples=199)


# --- Resampling -----------------------------------------------------------------------------------


def test_weights_draw_as_many_units_as_there_are_and_row_0_is_the_sample() -> None:
    weights = RESAMPLING.weights("A", 7)
    assert weights.shape == (200, 7)
    assert (weights[0] == 1).all() and (weights.sum(1) == 7).all()
    assert (weights[1:] != 1).any()


def test_each_family_has_a_stream_of_its_own() -> None:
    again = Resampling(seed=1, resamples=199)
    assert (RESAMPLING.weights("A", 7) == again.weights("A", 7)).all()
    assert (RESAMPLING.weights("A", 7) != RESAMPLING.weights("B", 7)).any()
    assert (RESAMPLING.weights("A", 7) != Resampling(2, 199).weights("A", 7)).any()


def test_a_unit_without_rows_sums_to_zero() -> None:
    frame = pd.DataFrame({"unit": ["a", "a", "c"], "x": [1, 2, 4]})
    assert unit_sums(frame, "unit", ["a", "b", "c"], ["x"]).tolist() == [[3], [0], [4]]


def test_an_estimate_that_a_resample_lacks_lies_beyond_both_ends() -> None:
    draws = np.concatenate([[5.0], np.arange(100.0)])
    assert interval(draws, 0.9) == (4.0, 94.0)
    draws[1:11] = np.nan
    low, high = interval(draws, 0.9)
    assert low == -np.inf and high == np.inf


def test_doubt_counts_the_resamples_that_do_not_hold_and_never_is_zero() -> None:
    holds = np.array([False, True, True, False, True])
    assert doubt(holds) == 2 / 5
    assert doubt(np.ones(200, bool)) == 1 / 200


# --- Estimands ------------------------------------------------------------------------------------

_COUNTS = st.lists(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=3),
    min_size=1,
    max_size=4,
)


@given(counts=_COUNTS, weights=st.lists(st.integers(0, 3), min_size=4, max_size=4))
@settings(max_examples=60)
def test_tau_of_a_resample_is_the_tau_of_its_units_repeated(
    counts: list[list[tuple[int, int]]], weights: list[int]
) -> None:
    cells = np.array(counts)
    at_risk, rejected = cells.max(-1).astype(float), cells.min(-1).astype(float)
    chosen = np.array(weights[: len(counts)], float)
    rows = [
        {"cluster": f"{unit}.{copy}", "offset": offset + 1, "at_risk": a, "rejected": b}
        for unit, number in enumerate(chosen.astype(int))
        for copy in range(number)
        for offset, (a, b) in enumerate(zip(at_risk[unit], rejected[unit], strict=True))
    ]
    tau = accepted_length(chosen[None, :], at_risk, rejected)[0]
    if not rows:
        assert np.isnan(tau)
        return
    cell = {"view": "engine", "arm": "B", "batch": 1, "depth": 3}
    risk = pd.DataFrame(rows).assign(**cell, position_class="S", variant="all")
    expected = accepted_lengths(risk, hazards(risk))["tau"].iloc[0]
    assert tau == pytest.approx(expected, nan_ok=True)


def test_kappa_is_the_paper_s_ratio() -> None:
    eps, entropy = np.array([0.3, 0.3, 0.0]), np.array([0.5, 0.0, 0.2])
    found = kappa(eps, entropy)
    assert found[0] == pytest.approx(0.3 / (1 - np.exp(-0.5)))
    assert np.isnan(found[1]) and found[2] == 0


def test_the_cost_slope_is_that_of_the_cost_fits() -> None:
    seconds = {0: 0.05, 4: 0.11, 8: 0.16, 16: 0.29}
    rows = [
        {"arm": "A", "batch": 1, "depth": depth, "step_seconds": time, "draft_seconds": 0.0}
        for depth, time in seconds.items()
    ]
    costs = pd.DataFrame(rows)
    costs["relative"] = costs["step_seconds"] / seconds[0]
    draws = {depth: np.array([time]) for depth, time in seconds.items() if depth}
    slope = cost_slope(np.array([seconds[0]]), draws)
    assert slope[0] == pytest.approx(cost_fits(costs)["k"].iloc[0])


@given(
    k=st.floats(0.01, 0.99),
    kappa_id=st.floats(0.1, 2.0),
    rho=st.tuples(st.floats(0.5, 1.0), st.floats(0.0, 0.49), st.floats(0.0, 0.49)),
    r=st.floats(0, 1),
)
def test_the_predicted_crossing_is_the_law_s(
    k: float, kappa_id: float, rho: tuple[float, float, float], r: float
) -> None:
    one = law.PerClass(*rho)
    many = law.PerClass(*(np.array([value]) for value in rho))
    found = predicted_crossing(4, np.array([k]), np.array([kappa_id]), many, np.array([r]))
    expected = law.mean_field_crossing(
        law.exact_break_even(4, k), kappa_id, rho[0], law.rest_mean(r, one)
    )
    assert found[0] == pytest.approx(expected.w_s, rel=1e-9, abs=1e-9)


def test_a_crossing_that_is_none() -> None:
    rho = law.PerClass(*(np.full(4, value) for value in (0.9, 0.5, 0.3)))
    flat = law.PerClass(*(np.full(4, value) for value in (0.3, 0.5, 0.3)))
    k, half = np.array([1.2, -0.1, np.nan, 0.5]), np.full(4, 0.5)
    found = predicted_crossing(4, k, np.ones(4), rho, half)
    assert found[0] == np.inf and found[1] == -np.inf and np.isnan(found[2])
    assert np.isnan(predicted_crossing(4, k, np.ones(4), flat, half)).all()


def test_the_saving_line_is_that_of_statsmodels_with_errors_robust_by_unit() -> None:
    generator = np.random.default_rng(3)
    units = np.repeat(np.arange(9), 4)
    w_s = generator.uniform(0, 1, 36)
    w_r = (1 - w_s) * generator.uniform(0, 1, 36)
    saving = 0.5 * w_s - 0.2 * w_r - 0.1 + generator.normal(0, 0.6, 36)
    design = np.column_stack([np.ones(36), w_s, w_r])
    products, moments = np.zeros((9, 3, 3)), np.zeros((9, 3))
    np.add.at(products, units, design[:, :, None] * design[:, None, :])
    np.add.at(moments, units, design * saving[:, None])
    r = np.array([0.3])
    line = saving_line(np.ones((1, 9)), products, moments, r, level=0.9)
    options = {"groups": units, "use_correction": False}
    fit = sm.OLS(saving, design).fit(cov_type="cluster", cov_kwds=options, use_t=True)
    assert line.at_0[0] == pytest.approx(fit.params[0] + 0.3 * fit.params[2])
    assert line.at_1[0] == pytest.approx(fit.params[0] + fit.params[1])
    test = fit.t_test([0, 1, -0.3])
    assert (line.at_1 - line.at_0)[0] == pytest.approx(float(test.effect[0]))
    for level in (0.9, 1 - 1.001 * float(test.pvalue), 1 - 0.999 * float(test.pvalue)):
        bounded = saving_line(np.ones((1, 9)), products, moments, r, level).bounded[0]
        assert bounded == (float(test.pvalue) < 1 - level)


# --- A study made to measure ----------------------------------------------------------------------


def study(
    *,
    tau: tuple[float, float, float] = (3.0, 1.5, 1.0),
    k: float = 0.5,
    mismatch: float = 0.6,
    entropy: tuple[float, float, float] = (0.1, 0.6, 1.5),
    saving: tuple[float, float] = (-0.3, 0.3),
    identical: bool = True,
    launches: int = 3,
    units: int = 12,
    noise: float = 0.0,
) -> Sample:
    """A study at depth 4, batch 1, in which every unit of an arm is like the others.

    Args:
        tau: accepted length of S, R, F.
        k: cost slope.
        mismatch: eps of arm A.
        entropy: H of S, R, F, nat.
        saving: of arm D's turns at w_S = 0 and 1.
        identical: whether speculation left outputs as they were.
        launches: of the timed cells.
        units: of every arm.
        noise: standard deviation of the turns' savings.
    """
    cell: dict[str, Any] = {"batch": 1, "depth": 4}
    homes = {"S": "B", "R": "C", "F": "A"}
    names = [f"u{number}" for number in range(units)]
    risk, sums, turns = [], [], []
    generator = np.random.default_rng(0)
    for name, length, h in zip("SRF", tau, entropy, strict=True):
        arm = homes[name]
        # everything is accepted up to some offset: tau = 4 (1 - h_1)
        for unit in names:
            rejected = 10_000 * (1 - length / 4)
            for offset in range(1, 5):
                row = {"cluster": unit, "offset": offset, "arm": arm, "position_class": name}
                first = offset == 1
                at_risk = 10_000 if first else 10_000 - rejected
                risk.append({**row, "at_risk": at_risk, "rejected": rejected if first else 0})
            count = {"positions": 100, "entropy": 100 * h, "mismatches": 100 * mismatch}
            sums.append({"arm": arm, "batch": 1, "position_class": name, "cluster": unit, **count})
            turns.append({"arm": arm, "request_id": f"{arm}{unit}", "cluster": unit, "w_s": 0.0})
    for number, unit in enumerate(names):
        for turn, w_s in enumerate((number / units, 1 - number / units, 0.8)):
            gain = saving[0] + (saving[1] - saving[0]) * w_s + generator.normal(0, noise)
            # not a function of w_S, yet of the same pooled r in every unit
            w_r = 0.4 * (1 - w_s) + (0.1, -0.1, 0.0)[turn] * min(w_s, 1 - w_s)
            shares = {"w_s": w_s, "w_r": w_r, "w_f": 1 - w_s - w_r}
            paired = {"saving": gain, "seconds": 1 - gain, "baseline_seconds": 1.0}
            key = {"arm": "D", "request_id": f"D{unit}.{turn}", "cluster": unit}
            turns.append({**key, **shares, **paired})
    waves = [
        {
            **{"arm": "A", "batch": 1, "depth": depth, "launch": launch, "wave": wave},
            **{"steps": 10, "step_seconds": 10 * (1 + k * depth), "draft_seconds": 0.0},
        }
        for depth in (0, 4)
        for launch in range(launches)
        for wave in range(4)
    ]
    rows = pd.DataFrame(turns).assign(**cell, tokens=50, identical=identical)
    positions = pd.DataFrame(sums)
    positions["half"] = np.where(positions["arm"] == "A", "fit", "none")
    tables = Tables(
        pd.DataFrame(risk).assign(**cell, view="engine", variant="all"),
        positions,
        pd.DataFrame(waves),
        rows,
    )
    return Sample(tables, RESAMPLING)


def outputs(
    differing: dict[str, int] | None = None, *, requests: int = 48, margin: float = 0.05
) -> Outputs:
    """Outputs of one arm, compared in every way, of which some differ.

    Args:
        differing: how many, by comparison.
        requests: compared in each; 0: never.
        margin: of the target where speculation's outputs part, nat.
    """
    differing = differing or {}
    key = {"arm": "A", "depth": 4, "launch": 0, "batch": 1}
    counts = [
        {**key, "comparison": name, "requests": requests, "differing": differing.get(name, 0)}
        for name in COMPARISONS
    ]
    parted = {"position": 3, "token": 7, "baseline_token": 8, "target_top1": 8}
    rows = [
        {**key, "comparison": name, "request_id": f"r{n}", **parted, "target_margin": margin}
        for name, count in differing.items()
        for n in range(count)
    ]
    return Outputs(pd.DataFrame(counts), pd.DataFrame(rows, columns=DIVERGENCES.names))


def judged(sample: Sample, found: Outputs | None = None) -> dict[str, Judgement]:
    readings = read.verdicts(sample, DECISIONS.margins)
    primary = primary_cell(readings, DECISIONS)
    found = judge(readings, found or outputs(), primary, DECISIONS, sample.launches())
    return {judgement.prediction: judgement for judgement in found}


def readings(sample: Sample) -> pd.DataFrame:
    return read.verdicts(sample, DECISIONS.margins).set_index("quantity")


def test_intervals_are_of_the_estimates_that_the_readings_use() -> None:
    sample = study(noise=0.05)
    found = intervals(sample, 0.95)
    INTERVALS.check(found, "here")
    rows = found.set_index(["quantity", "position_class"])
    assert rows.loc[("tau", "S"), "estimate"] == pytest.approx(3.0)
    assert (found["low"] <= found["estimate"]).all() and (found["estimate"] <= found["high"]).all()
    line = rows.loc[("measured_crossing", "none")]
    assert line["low"] < line["estimate"] < line["high"]


@pytest.mark.parametrize("mismatch", [0.3, 0.6])
def test_the_operator_reads_the_law_at_the_estimates(mismatch: float) -> None:
    sample = study(noise=0.05, k=0.3, mismatch=mismatch)
    found = operator_rule(sample, 0.95)
    OPERATOR.check(found, "here")
    rho = law.PerClass(*(float(draws[0]) for draws in (sample.rho(name, 1) for name in "SRF")))
    r = float(sample.r(1, 4)[0])
    mean_field = MeanField(0.3, float(sample.kappa(1)[0]), r, rho)
    shares = found["share"].to_numpy()
    assert list(shares) == list(OPERATOR_SHARES)
    assert found["saving"].to_numpy() == pytest.approx(mean_field.saving(shares, 4))
    assert found["length"].to_numpy() == pytest.approx((1 + 4 * 0.3) / (1 - found["saving"]))
    assert (found["best"] == (found["saving"] > 0)).all()  # of a single depth
    by_class = sample.law_savings(1, 4)
    rest = r * by_class.reasoning[0] + (1 - r) * by_class.prose[0]
    line = shares * by_class.schema[0] + (1 - shares) * rest
    assert found["spans"].to_numpy() == pytest.approx(line)
    assert (found["spans"] <= found["saving"] + 1e-12).all()  # a mix of spans never saves more


def test_one_depth_at_most_is_the_best() -> None:
    sample = study(k=0.3, mismatch=0.3)
    deeper = sample.tables.turns.assign(depth=8)
    turns = pd.concat([sample.tables.turns, deeper])
    both = Sample(replace(sample.tables, turns=turns), RESAMPLING)
    found = operator_rule(both, 0.95)
    best = found[found["best"]]
    assert not best["share"].duplicated().any() and (best["saving"] > 0).all()
    assert set(best["depth"]) == {4, 8}  # the deeper one where more is schema
    assert best.loc[best["share"].idxmax(), "depth"] == 8


def test_every_break_even_has_its_interval() -> None:
    sample = study(noise=0.05, k=0.3)
    rows = intervals(sample, 0.95).set_index("quantity")
    k, kappa_id = float(sample.k(1)[0]), float(sample.kappa(1)[0])
    rho = law.PerClass(*(float(sample.rho(name, 1)[0]) for name in "SRF"))
    mean_field = MeanField(k, kappa_id, float(sample.r(1, 4)[0]), rho)
    assert rows.loc["predicted_crossing", "estimate"] == pytest.approx(mean_field.exact(4).w_s)
    assert rows.loc["first_order_crossing", "estimate"] == pytest.approx(
        mean_field.first_order(4).w_s
    )
    operator = operator_rule(sample, 0.95)
    zero = np.interp(0, operator["spans"], operator["share"])
    if 0 < rows.loc["span_crossing", "estimate"] < 1:
        assert rows.loc["span_crossing", "estimate"] == pytest.approx(zero)


def test_an_operator_is_told_nothing_where_the_law_is_not_estimable() -> None:
    sample = study()
    waves = sample.tables.wave_costs.iloc[:0]
    found = operator_rule(Sample(replace(sample.tables, wave_costs=waves), RESAMPLING), 0.95)
    OPERATOR.check(found, "here")
    assert found["saving"].isna().all() and not found["best"].any()


# --- P1 -------------------------------------------------------------------------------------------

P1_CASES = {
    "all above": ((3.0, 1.5, 1.0), "supported"),
    "just above the ratio": ((1.501, 1.2, 1.0), "supported"),
    "at the ratio": ((1.5, 1.2, 1.0), "inconclusive"),
    "just below the ratio": ((1.499, 1.2, 1.0), "refuted"),
    "R above S": ((2.0, 2.1, 1.0), "refuted"),
    "F above R": ((3.0, 1.0, 1.1), "refuted"),
    "ties": ((2.0, 2.0, 1.0), "inconclusive"),
    "no accepted token in F": ((2.0, 1.0, 0.0), "supported"),
}


@pytest.mark.parametrize("case", P1_CASES)
def test_p1_on_both_sides_of_its_margins(case: str) -> None:
    tau, verdict = P1_CASES[case]
    assert judged(study(tau=tau))["P1"].verdict == verdict


def test_r1_holds_only_where_s_is_at_or_below_f() -> None:
    assert judged(study(tau=(0.9, 0.95, 1.0)))["P1"].refutation.inferential == "holds"
    assert judged(study(tau=(1.4, 1.2, 1.0)))["P1"].refutation.inferential == "does not hold"


def test_one_unit_decides_nothing_that_its_neighbour_could_change() -> None:
    few, many = (readings(study(units=units)).loc[read.TAU_S_F] for units in (1, 12))
    assert few["low"] == few["high"] == many["low"]


# --- P2 -------------------------------------------------------------------------------------------


def crossing(sample: Sample) -> float:
    return float(sample.predicted_crossing(1, 4)[0])


def at_ratio(ratio: float, **changes: Any) -> Sample:
    """A study whose measured crossing is the predicted one over `ratio`."""
    measured = crossing(study()) / ratio
    return study(saving=(-measured, 1 - measured), noise=1e-6, **changes)


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [
        (1.0, "supported"),
        (1.249, "supported"),
        (1.251, "inconclusive"),
        (1 / 1.249, "supported"),
        (1 / 1.251, "inconclusive"),
        (1.34, "refuted"),
        (0.749, "refuted"),
    ],
)
def test_p2_on_both_sides_of_its_margins(ratio: float, verdict: str) -> None:
    assert 0 < crossing(study()) < 1
    assert judged(at_ratio(ratio))["P2"].verdict == verdict


def test_p2_reads_the_paper_s_rule_against_the_measured_crossing() -> None:
    assert readings(at_ratio(1.249)).loc[read.CROSSING_RATIO, "literal"] == "holds"
    assert readings(at_ratio(1.251)).loc[read.CROSSING_RATIO, "literal"] == "fails"
    assert readings(at_ratio(0.751)).loc[read.CROSSING_RATIO, "literal"] == "holds"


def test_p2_is_refuted_where_the_law_crosses_and_the_saving_does_not() -> None:
    found = judged(study(saving=(0.1, 0.3), noise=1e-6))["P2"]
    assert found.verdict == "refuted"


def test_p2_decides_nothing_within_a_launch() -> None:
    found = judged(at_ratio(1.0, launches=2))["P2"]
    assert (found.verdict, found.label) == ("inconclusive", "within launch")
    assert found.refutation.inferential == "undecided within launch"


def test_p2_is_concordant_where_neither_crossing_is_inside() -> None:
    costly = study(k=0.9, saving=(-0.9, -0.1), noise=1e-6)
    assert crossing(costly) > 1
    found = judged(costly)["P2"]
    assert (found.verdict, found.label) == ("inconclusive", "concordant")


def test_p2_says_where_the_schema_share_is_no_lever() -> None:
    found = judged(study(entropy=(1.5, 0.6, 0.1)))["P2"]
    assert (found.verdict, found.label) == ("inconclusive", "w_S is not a lever")


def test_a_level_line_has_no_bounded_crossing_and_supports_nothing() -> None:
    row = readings(study(saving=(0.0, 0.0), noise=0.1)).loc[read.CROSSING_RATIO]
    assert row["high"] == np.inf and row["support_p"] > 0.05 and row["refute_p"] > 0.05


def test_r2_is_not_diagnostic_where_the_law_itself_predicts_a_loss() -> None:
    loss = (-0.5, -0.2)
    assert judged(study(saving=loss, k=0.9))["P2"].refutation.inferential == "not diagnostic"
    cheap = study(saving=loss, k=0.05)
    assert crossing(cheap) < 0.6
    assert judged(cheap)["P2"].refutation.inferential == "holds"
    assert judged(study(k=0.05))["P2"].refutation.inferential == "does not hold"


# --- P4, Holm, and what is missing ----------------------------------------------------------------


REQUESTS = DECISIONS.margins.requests


@pytest.mark.parametrize(
    ("differing", "requests", "verdict", "label"),
    [
        ({}, REQUESTS, "supported", ""),
        ({}, REQUESTS - 1, "inconclusive", "n too small"),
        ({"shape": 5}, REQUESTS, "supported", ""),
        ({"repeat": 1}, REQUESTS, "inconclusive", "platform not deterministic"),
        ({"relaunch": 1, "speculation": 1}, REQUESTS, "inconclusive", "platform not deterministic"),
        ({"speculation": 1}, REQUESTS, "refuted", "numerical tie"),
        ({"speculation": 1}, REQUESTS - 1, "refuted", "numerical tie"),
    ],
)
def test_p4(differing: dict[str, int], requests: int, verdict: str, label: str) -> None:
    found = judged(study(), outputs(differing, requests=requests))["P4"]
    assert (found.verdict, found.label) == (verdict, label)
    holds = {"refuted": "holds", "supported": "does not hold"}
    assert found.refutation.inferential == holds.get(verdict, "undecided")


def test_p4_is_never_decided_without_its_controls() -> None:
    whole = outputs({"speculation": 1})
    for control in ("repeat", "relaunch"):
        compared = whole.identity[whole.identity["comparison"] != control]
        found = judged(study(), Outputs(compared, whole.divergences))["P4"]
        assert (found.verdict, found.label) == (
            "inconclusive",
            "differing outputs, A/A control not measured",
        )


@pytest.mark.parametrize(
    ("margin", "best", "tie"),
    [(0.05, 8, True), (0.125, 7, True), (0.126, 8, False), (0.05, 9, False), (np.nan, 8, False)],
)
def test_an_output_parts_at_a_numerical_tie_or_not(margin: float, best: int, tie: bool) -> None:
    """A tie: the two best tokens are near each other, and one of the outputs took the best."""
    found = outputs({"speculation": 2}, margin=margin)
    found.divergences["target_top1"] = best
    assert DECISIONS.margins.tie == 0.125
    assert found.ties(DECISIONS.margins.tie).tolist() == [tie, tie]
    label = judged(study(), found)["P4"].label
    assert label == ("numerical tie" if tie else "algorithmic")


def test_p4_counts_a_request_once_per_batch_size() -> None:
    found = outputs({"speculation": 2}, requests=300)
    deeper = found.identity.assign(depth=8), found.divergences.assign(depth=8)
    other = found.identity.assign(batch=8, requests=200), found.divergences.assign(batch=8)
    both = Outputs(
        pd.concat([found.identity, deeper[0], other[0]]),
        pd.concat([found.divergences, deeper[1], other[1]]),
    )
    assert both.fewest_requests() == 200
    assert len(both.differing()) == 4


def test_holm_counts_p3_among_the_three() -> None:
    found = judged(study())
    alone = readings(study()).loc[[read.TAU_S_R, read.TAU_R_F, read.TAU_S_F], "support_p"].max()
    assert found["P1"].support_p == pytest.approx(3 * alone)
    assert found["P3"].verdict == "inconclusive" and found["P3"].support_p == 1.0


def test_an_arm_that_was_not_measured_leaves_p1_open() -> None:
    whole = study()
    risk = whole.tables.risk_sets
    tables = Tables(
        risk[risk["arm"] != "C"],
        whole.tables.position_sums,
        whole.tables.wave_costs,
        whole.tables.turns,
    )
    assert judged(Sample(tables, RESAMPLING))["P1"].verdict == "inconclusive"


def test_the_schema_of_verdicts_json_is_the_one_in_the_repository() -> None:
    assert (REPO / "workflow/verdicts.schema.json").read_text(encoding="utf-8") == schema()
