"""Kappa, and the law beside the data, where the answer is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from draftlaw.calibration import fit_half, kappas, reliability
from draftlaw.comparison import Calibrated, crossings, law_table


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
