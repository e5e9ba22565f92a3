"""Kappa, and the law beside the data, where the answer is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from draftlaw.acceptance import cell_lengths
from draftlaw.calibration import fit_half, kappas, reliability
from draftlaw.comparison import Calibrated, crossings, law_errors, law_table
from draftlaw.costs import cost_fits, savings, step_costs, timed
from draftlaw.entropy import entropy_table
from draftlaw.simulation.generate import simulate
from draftlaw.simulation.population import Design, Population
from draftlaw.tables.analysis import LAW_ERRORS


def control(kappa: float, requests: int = 40, length: int = 200, seed: int = 0) -> pd.DataFrame:
    """Positions whose mismatch has probability kappa (1 - exp(-H))."""
    random = np.random.default_rng(seed)
    entropy = random.gamma(2, 0.4, requests * length)
    gap = -np.expm1(-entropy)
    return pd.DataFrame(
        {
            "arm": "A",
            "batch": 1,
            "cluster": np.repeat([f"r{n}" for n in range(requests)], length),
            "position_class": "F",
            "entropy": entropy,
            "unpredictability": gap,
            "mismatch": (random.random(len(gap)) < kappa * gap).astype(float),
            "one_hot": 0.9 * kappa * gap,
            "sampled": 0.5 * kappa * gap,
        }
    )


def test_kappa_of_a_draft_that_obeys_the_law() -> None:
    rows = kappas(control(0.8), seed=1).set_index("half")
    for half in ("fit", "check", "all"):
        assert rows.loc[half, "kappa_pos"] == pytest.approx(0.8, abs=0.04)
        assert rows.loc[half, "kappa_ls"] == pytest.approx(
            0.8, abs=4 * rows.loc[half, "kappa_ls_se"]
        )
        assert abs(rows.loc[half, "intercept"]) < 4 * rows.loc[half, "intercept_se"]
    # exp(-mean H) is below mean exp(-H), so that the paper's kappa is the smaller
    assert rows.loc["all", "kappa_id"] < rows.loc["all", "kappa_pos"]


def test_kappas_by_their_formulas() -> None:
    positions = control(0.5)
    row = kappas(positions, seed=1).set_index("half").loc["all"]
    mismatch, entropy = positions["mismatch"], positions["entropy"]
    x = 1 - np.exp(-entropy)
    assert row["kappa_id"] == pytest.approx(mismatch.mean() / (1 - np.exp(-entropy.mean())))
    assert row["kappa_pos"] == pytest.approx(mismatch.sum() / x.sum())
    for name, factor in (("kappa_one_hot", 0.9), ("kappa_sampled", 0.5)):
        expected = factor * 0.5 * x.mean() / (1 - np.exp(-entropy.mean()))
        assert row[name] == pytest.approx(expected)
    assert row["kappa_ls"] == pytest.approx((x * mismatch).sum() / (x * x).sum())


def test_the_halves() -> None:
    names = [f"r{n}" for n in range(21)]
    half = fit_half(names, seed=0)
    assert len(half) == 11 and half < set(names)
    assert half == fit_half(reversed(names), seed=0)
    assert half != fit_half(names, seed=1)
    rows = kappas(control(0.5, requests=5), seed=0).set_index("half")
    assert rows.loc["fit", "clusters"] + rows.loc["check", "clusters"] == 5
    assert rows.loc["check", "predicted"] == pytest.approx(
        rows.loc["fit", "kappa_id"] * (1 - rows.loc["check", "predictability_of_mean"])
    )


def test_reliability_bins_hold_all_positions() -> None:
    positions = control(0.6)
    bins = reliability(positions, 5)
    assert len(bins) == 5 and bins["positions"].sum() == len(positions)
    assert bins["unpredictability"].is_monotonic_increasing
    assert np.allclose(bins["mismatch"], 0.6 * bins["unpredictability"], atol=0.05)


AT = Calibrated(kappa=0.8, k=0.125, rho={"S": 0.9, "R": 0.6, "F": 0.3})


def planted(slope: float, of_w_r: float, at_0: float) -> pd.DataFrame:
    """Turns of arm D whose saving is a plane in w_S and w_R."""
    random = np.random.default_rng(1)
    w_s = random.random(30)
    w_r = (1 - w_s) * random.random(30)
    return pd.DataFrame(
        {
            "arm": "D",
            "batch": 1,
            "depth": 8,
            "tokens": 50,
            "w_s": w_s,
            "w_r": w_r,
            "w_f": 1 - w_s - w_r,
            "saving": at_0 + slope * w_s + of_w_r * w_r,
        }
    )


def measured() -> tuple[pd.DataFrame, pd.DataFrame]:
    where = {"view": "engine", "batch": 1, "depth": 8, "variant": "all"}
    classes = {"arm": ["B", "C", "A"], "position_class": ["S", "R", "F"]}
    accepted = pd.DataFrame({**classes, "tau": [3.0, 2.0, 1.0]}).assign(**where)
    return accepted, pd.DataFrame({"arm": classes["arm"], "saving": [0.4, 0.1, -0.2]}).assign(
        batch=1, depth=8
    )


def test_predictions_are_the_law_s() -> None:
    rows = law_table({1: AT}, *measured()).set_index("position_class")
    eps = 0.8 * (1 - 0.9)
    tau = sum((1 - eps) ** i for i in range(1, 9))
    assert rows.loc["S", "tau_law"] == pytest.approx(tau)
    assert rows.loc["S", "saving_law"] == pytest.approx(1 - (1 + 8 * 0.125) / (tau + 1))
    assert (rows.loc["R", "tau"], rows.loc["F", "saving"]) == (2.0, -0.2)


def test_the_predicted_crossing_costs_nothing_and_saves_nothing() -> None:
    turns = planted(1.0, 0.2, -0.5)
    row = crossings({1: AT}, law_table({1: AT}, *measured()), turns).iloc[0]
    w, r = row["share_exact"], row["r"]
    rho = w * 0.9 + (1 - w) * (r * 0.6 + (1 - r) * 0.3)
    eps = 0.8 * (1 - rho)
    assert sum((1 - eps) ** i for i in range(1, 9)) == pytest.approx(8 * 0.125)
    assert row["first_order_error"] == pytest.approx(row["eps_first_order"] / row["eps_exact"] - 1)
    assert row["first_order_error"] < 0


def test_the_measured_crossing_is_that_of_the_plane_at_the_pooled_r() -> None:
    turns = planted(slope=1.0, of_w_r=0.2, at_0=-0.5)
    row = crossings({1: AT}, law_table({1: AT}, *measured()), turns).iloc[0]
    r = row["r"]
    assert r == pytest.approx(turns["w_r"].sum() / (turns["w_r"] + turns["w_f"]).sum())
    assert row["saving_at_0"] == pytest.approx(-0.5 + 0.2 * r)
    assert row["saving_at_1"] == pytest.approx(0.5)
    w = row["share_measured"]
    assert -0.5 + w + 0.2 * r * (1 - w) == pytest.approx(0, abs=1e-9)


def test_without_a_class_nothing_is_predicted() -> None:
    partial = Calibrated(0.8, 0.125, {"S": 0.9, "F": 0.3})
    row = crossings({1: partial}, law_table({1: partial}, *measured()), planted(1, 0, -0.5)).iloc[0]
    assert np.isnan(row["share_exact"]) and row["reading_exact"] == "not estimable"


def test_what_is_not_estimable_is_not_read_as_certain_rejection() -> None:
    unknown = Calibrated(np.nan, 0.125, {"S": 0.9})
    row = law_table({1: unknown}, *measured()).iloc[0]
    assert np.isnan(row[["eps", "tau_law", "saving_law"]].astype(float)).all()
    assert not row["clipped"]


# --- Where the law breaks -------------------------------------------------------------------------


def errors(population: Population, tokens: float, depths: tuple[int, ...] = (4, 8)) -> pd.DataFrame:
    """The law's errors in a simulated study, indexed by arm, depth and form."""
    design = Design(
        clusters={"A": 20, "B": 10, "C": 10, "D": 30},
        turns=1,
        tokens=tokens,
        depths=depths,
        batches=(1,),
        launches=1,
    )
    arms = simulate(population, design, seed=4).arms
    rounds, lengths, entropies = [], [], []
    for arm, tables in arms.items():
        for depth, cell in tables.rounds.items():
            rounds.append(cell.assign(arm=arm, depth=depth))
            if depth:
                replayed = tables.replayed[tables.replayed["depth"] == depth]
                lengths += [
                    cell_lengths(members, depth).assign(view=view, arm=arm, depth=depth)
                    for view, members in (("engine", cell), ("replay", replayed))
                ]
        entropies.append(entropy_table(arm, tables.prompts, tables.positions, tables.replay))
    cells = timed(pd.concat(rounds, ignore_index=True))
    costs, entropy = step_costs(cells), pd.concat(entropies)
    fit = cost_fits(costs).set_index("arm").loc["A"]
    eps = 1 - arms["A"].replay["match"].mean()
    rho = {
        row["position_class"]: row["predictability_of_mean"]
        for row in entropy.query("variant == 'all' and arm != 'D'").to_dict("records")
    }
    at = Calibrated(eps / (1 - rho["F"]), fit["k"], rho, fit["overhead"], fit["k_free"])
    table = law_errors({1: at}, entropy, pd.concat(lengths), costs, savings(cells))
    LAW_ERRORS.check(table, "here")
    return table.set_index(["arm", "depth", "form"]).sort_index()


LAWFUL = Population(kappa=0.9, entropy_spread=0, step_noise=0, schema_share_spread=0.01)
"""Mismatch depends on the class alone, and a step's time on the depth alone."""


def test_in_long_spans_the_harmonic_prediction_holds_and_the_mean_field_one_does_not() -> None:
    found = errors(LAWFUL.model_copy(update={"span": 400}), tokens=3000)
    for depth in (4, 8):
        mixed = found.loc["D", depth]
        harmonic, mean_field = mixed.loc["span_resolved"], mixed.loc["mean_field"]
        assert abs(harmonic["tau_error"]) < 0.02 and abs(harmonic["cost_error"]) < 0.02
        assert mean_field["tau_error"] > 0.1  # the law expects more than is accepted
        assert mean_field["cost_error"] < -0.05  # and prices it too low
        assert mixed.loc["replayed", "tau_error"] == pytest.approx(0)
        for arm in "ABC":  # a mix of one class has no harmonic mean
            pure = found.loc[arm, depth].drop("replayed")
            assert np.ptp(pure["tau_predicted"]) < 1e-12
            assert (pure["tau_error"].abs() < 0.03).all()


def test_where_classes_alternate_it_is_the_mean_field_that_holds() -> None:
    mixed = errors(LAWFUL.model_copy(update={"span": 1}), tokens=3000).loc["D"]
    for depth in (4, 8):
        assert abs(mixed.loc[(depth, "mean_field"), "tau_error"]) < 0.02
        assert mixed.loc[(depth, "span_resolved"), "tau_error"] < -0.05


def test_a_fixed_cost_of_a_round_breaks_the_law_s_cost_and_not_the_corrected_one() -> None:
    population = LAWFUL.model_copy(update={"overhead": 0.8, "span": 1})
    found = errors(population, tokens=2000, depths=(4, 8, 16)).loc["D"]
    law_s = found.xs("mean_field", level="form")["cost_error"]
    corrected = found.xs("overhead", level="form")["cost_error"]
    assert (corrected.abs() < 0.03).all()
    # a slope through the origin puts the fixed cost into k: too little at 4, too much at 16
    assert law_s[4] < -0.1 and law_s[16] > 0
    tau = found["tau_predicted"].unstack("form")
    assert (tau["overhead"] == tau["mean_field"]).all()


def test_the_end_of_short_outputs_is_no_error_of_the_law_s_tau() -> None:
    found = errors(LAWFUL.model_copy(update={"kappa": 0.2}), tokens=30, depths=(8,)).loc["B"]
    law_s = found.loc[(8, "mean_field")]
    assert law_s["truncated"] > 0.1 * law_s["rounds"]
    assert abs(law_s["tau_error"]) < 0.06
    # what was paid is dearer than what rounds that nothing ends would cost
    assert law_s["cost_paid"] > 1.1 * law_s["cost"]


def test_an_error_has_the_sign_of_the_prediction() -> None:
    found = errors(LAWFUL.model_copy(update={"span": 400}), tokens=400)
    for name in ("tau", "cost"):
        expected = found[f"{name}_predicted"] / found[name] - 1
        assert found[f"{name}_error"].to_numpy() == pytest.approx(expected.to_numpy())
