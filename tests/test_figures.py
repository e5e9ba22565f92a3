"""The figures: what they draw is right, and they draw what a study may hold, without a warning."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from conftest import REPO
from draftlaw.errors import DraftLawError
from draftlaw.figures import analytical, data, measured, style
from draftlaw.figures.assumed import Assumed
from draftlaw.law import PerClass, accepted_prefix, exact_break_even, mismatch
from draftlaw.mean_field import MeanField, lengths
from draftlaw.results import Results
from draftlaw.stages import draw_figures, draw_law
from draftlaw.tables.analysis import (
    ACCEPTED,
    CLASS_TIMES,
    COST_FITS,
    CROSSINGS,
    HAZARDS,
    INTERVALS,
    KAPPAS,
    LAW,
    LAW_ERRORS,
    MISMATCH_PREDICTORS,
    OPERATOR,
    PREDICTOR_BINS,
    PREDICTORS,
    RELIABILITY,
    SAVINGS,
    STEP_COSTS,
    TURNS,
)
from draftlaw.tables.parquet import Table

ASSUMED = {"k": 0.125, "kappa": 1.0, "r": 0.5, "entropy": {"S": 0.1, "R": 0.6, "F": 1.2}}
EVIDENCE = "measured: rehearsal on SmolLM2_135M & a 4-layer draft, float32 on a CPU"
OWN = {"S": "B", "R": "C", "F": "A"}
ENTROPY = {"S": 0.15, "R": 0.7, "F": 1.1}
RHO = PerClass(*(float(np.exp(-ENTROPY[name])) for name in "SRF"))
KAPPA, R = 0.9, 0.6
K = {1: 0.12, 4: 0.15, 8: 0.3}

Frames = dict[Table, pd.DataFrame]


def model(batch: int) -> MeanField:
    return MeanField(K[batch], KAPPA, R, RHO)


def law_rows(batch: int, depth: int) -> list[dict[str, Any]]:
    rows = []
    for name, rho in zip("SRF", (RHO.schema, RHO.reasoning, RHO.prose), strict=True):
        eps = mismatch(rho, KAPPA).eps
        tau = accepted_prefix(eps, depth)
        saving = 1 - (1 + K[batch] * depth) / (tau + 1)
        rows.append(
            {
                "batch": batch,
                "depth": depth,
                "position_class": name,
                "arm": OWN[name],
                "rho": rho,
                "kappa": KAPPA,
                "eps": eps,
                "clipped": False,
                "tau_law": tau,
                "tau": 0.85 * tau,
                "saving_law": saving,
                "saving": saving - 0.1,
            }
        )
    return rows


def crossing_row(batch: int, depth: int) -> dict[str, Any]:
    exact, first = model(batch).exact(depth), model(batch).first_order(depth)
    root = exact_break_even(depth, K[batch]).eps
    assert root is not None
    eps_first = 2 * (1 - K[batch]) / (depth + 1)
    savings = {row["position_class"]: row["saving"] for row in law_rows(batch, depth)}
    at_0, at_1 = R * savings["R"] + (1 - R) * savings["F"] + 0.05, savings["S"] - 0.05
    return {
        "batch": batch,
        "depth": depth,
        "k": K[batch],
        "r": R,
        "eps_exact": root,
        "eps_first_order": eps_first,
        "first_order_error": eps_first / root - 1,
        "share_exact": exact.w_s,
        "reading_exact": str(exact.reading),
        "share_first_order": first.w_s,
        "reading_first_order": str(first.reading),
        "share_span_resolved": 0.5,
        "share_measured": -at_0 / (at_1 - at_0),
        "slope_measured": at_1 - at_0,
        "saving_at_0": at_0,
        "saving_at_1": at_1,
        "turns": 21,
    }


def hazard_rows(batch: int, depth: int) -> list[dict[str, Any]]:
    rows = []
    for name, start, keep in (("S", 900, 0.93), ("R", 700, 0.6), ("F", 500, 0.45)):
        survival = 1.0
        for offset in range(1, depth + 1):
            at_risk = int(start * survival)
            hazard = 1 - keep + 0.1 / (offset + batch)
            survival *= 1 - hazard
            rows.append(
                {
                    "view": "engine",
                    "arm": OWN[name],
                    "batch": batch,
                    "depth": depth,
                    "position_class": name,
                    "variant": "all",
                    "offset": offset,
                    "at_risk": at_risk,
                    "rejected": round(at_risk * hazard),
                    "hazard": hazard if at_risk else None,
                    "survival": survival if at_risk else None,
                }
            )
    return rows


def accepted_rows(batch: int, depth: int) -> list[dict[str, Any]]:
    key = {"batch": batch, "depth": depth, "clusters": 14 + batch, "examined": 300 * depth}
    taus = {row["position_class"]: row["tau"] for row in law_rows(batch, depth)}
    cells = [(OWN[name], name, taus[name]) for name in "SRF"]
    cells += [("D", name, 0.9 * taus[name]) for name in "SRF"]
    return [
        {
            **key,
            "view": view,
            "arm": arm,
            "position_class": name,
            "variant": variant,
            "tau": tau * factor,
            "rate": 0.5,
        }
        for arm, name, tau in cells
        for view, variant, factor in (
            ("engine", "all", 1.0),
            ("engine", "unlooped", 0.95),
            ("replay", "all", 1.02 if name == "R" else 1.0),
        )
    ]


def cost_rows(batch: int, depths: list[int]) -> list[dict[str, Any]]:
    return [
        {
            "arm": arm,
            "batch": batch,
            "depth": depth,
            "steps": 400 - 10 * depth,
            "step_seconds": 0.03 * (1.05 + K[batch] * depth),
            "draft_seconds": 0.03 * 0.6 * K[batch] * depth,
            "relative": 1.05 + K[batch] * depth,
            "k_gamma": K[batch] + 0.05 / depth if depth else None,
        }
        for arm in "ABCD"
        for depth in [0, *depths]
    ]


def fit_row(arm: str, batch: int) -> dict[str, Any]:
    slopes = {"k": K[batch], "k_free": K[batch], "d": 0.1, "delta": K[batch] - 0.1}
    return {"arm": arm, "batch": batch, "c_1": 0.03, "overhead": 0.05, **slopes}


def class_time_rows(batch: int, depth: int) -> list[dict[str, Any]]:
    return [
        {
            "arm": arm,
            "batch": batch,
            "depth": depth,
            "position_class": name,
            "rounds": 80 + depth,
            "step_seconds": 0.03,
            "relative": 1 + K[batch] * depth + more,
        }
        for arm, name, more in (("B", "S", 0.5), ("C", "R", 0.1), ("A", "F", 0.05), ("D", "S", 0.9))
    ]


def kappa_row(batch: int, half: str) -> dict[str, Any]:
    counts = {"clusters": 8, "positions": 320}
    means = {"mismatch": 0.6, "mean_entropy": 1.1, "predictability_of_mean": 0.33}
    kappas = {"kappa_id": 0.9, "kappa_pos": 1.3, "kappa_ls": 1.2, "kappa_ls_se": 0.1}
    at_one = {"kappa_one_hot": 1.0, "kappa_sampled": 0.6}
    line = {"intercept": 0.1, "intercept_se": 0.05, "slope": 0.9}
    rest = {"mean_predictability": 0.55, "predicted": 0.58, "clipped": 0.1}
    return {"batch": batch, "half": half, **counts, **means, **kappas, **at_one, **line, **rest}


def reliability_rows(batch: int) -> list[dict[str, Any]]:
    return [
        {
            "arm": arm,
            "batch": batch,
            "position_class": name,
            "bin": place,
            "positions": 60,
            "unpredictability": (place + 0.5) / 6 * high,
            "mismatch": min(1.0, 0.05 + 1.1 * (place + 0.5) / 6 * high),
            "mismatch_se": 0.05,
        }
        for arm, name, high in (("B", "S", 0.5), ("C", "R", 0.9), ("A", "F", 1.0), ("D", "F", 1.0))
        for place in range(6)
    ]


def turn_rows(batch: int, depth: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(batch)
    line = crossing_row(batch, depth)
    rows = []
    for number, w_s in enumerate(random.beta(0.8, 0.8, 21)):
        saving = line["saving_at_0"] + w_s * line["slope_measured"] + random.normal(0, 0.08)
        rows.append(
            {
                "arm": "D",
                "batch": batch,
                "depth": depth,
                "request_id": f"t{number}",
                "cluster": f"c{number // 3}",
                "turn": number % 3,
                "tokens": 100,
                "w_s": w_s,
                "w_r": R * (1 - w_s),
                "w_f": (1 - R) * (1 - w_s),
                "baseline_seconds": 0.03,
                "seconds": 0.03 * (1 - saving),
                "saving": saving,
                "accepted": 2.0,
                "identical": True,
            }
        )
    return rows


def saving_row(arm: str, batch: int, depth: int) -> dict[str, Any]:
    times = {"baseline_seconds": 0.03, "seconds": 0.02, "saving": 1 / 3, "length": 2.0}
    counts = {"requests": 14 + ord(arm) % 5, "tokens": 800}
    return {"arm": arm, "batch": batch, "depth": depth, **counts, **times}


def interval_row(position_class: str, batch: int, depth: int) -> dict[str, Any]:
    key = {"quantity": "tau", "position_class": position_class, "batch": batch, "depth": depth}
    return {**key, "estimate": 1.0, "low": 0.5, "high": 1.5, "level": 0.95}


def operator_rows(batch: int, depths: list[int]) -> list[dict[str, Any]]:
    shares = np.linspace(0, 1, 11)
    savings = {depth: model(batch).saving(shares, depth) for depth in depths}
    best = np.max(list(savings.values()), axis=0)
    return [
        {
            **{"batch": batch, "depth": depth, "share": share, "level": 0.95, "length": 2.0},
            **{"saving": saving, "low": saving - 0.1, "high": np.inf if share == 1 else saving},
            **{"spans": saving - 0.02, "best": saving == most and saving > 0},
        }
        for depth in depths
        for share, saving, most in zip(shares, savings[depth], best, strict=True)
    ]


def error_rows(arm: str, batch: int, depth: int) -> list[dict[str, Any]]:
    """Each form has an error of its own, which tells arm, batch and depth."""
    own = (ord(arm) - ord("A")) / 10 + depth / 100 - batch / 50
    shared = {"arm": arm, "batch": batch, "depth": depth, "rounds": 90, "truncated": 4}
    measured = {"tau": 1.5, "cost": 0.9, "cost_paid": 0.95}
    return [
        {
            **{**shared, **measured, "form": form},
            **{"tau_predicted": 1.5 * (1 + own + step), "tau_error": own + step},
            **{"cost_predicted": 0.9 * (1 - own - step), "cost_error": -own - step},
        }
        for form, step in zip(style.FORMS, (0.2, 0.1, 0.05, 0.0), strict=True)
    ]


def predictor_row(arm: str, name: str, predictor: str, batch: int) -> dict[str, Any]:
    key = {"arm": arm, "batch": batch, "position_class": name, "predictor": predictor}
    counts = {"clusters": 8, "positions": 360, "mismatches": 90}
    areas = {"auc": 0.6 + batch / 100, "auc_se": 0.02, "advantage": 0.05, "advantage_se": 0.01}
    return {**key, **counts, **areas, "spearman": 0.3, "calibration_error": 0.05}


def bin_rows(arm: str, name: str, predictor: str, batch: int) -> list[dict[str, Any]]:
    key = {"arm": arm, "batch": batch, "position_class": name, "predictor": predictor}
    level = {"S": 0.1, "R": 0.4, "F": 0.6}[name] + (0.1 if arm == "D" else 0)
    return [
        {
            **{**key, "bin": place, "positions": 60, "score": (place + 0.5) / 6},
            **{"mismatch": level + place / 20, "mismatch_se": 0.03},
        }
        for place in range(6)
    ]


SCORED = [*((OWN[name], name) for name in "SRF"), *(("D", name) for name in "SRF")]


def tables(depths: list[int], batches: list[int]) -> Frames:
    """What the analysis of a study would hold."""
    cells = [(batch, depth) for batch in batches for depth in depths]
    rows = {
        LAW: [row for cell in cells for row in law_rows(*cell)],
        CROSSINGS: [crossing_row(*cell) for cell in cells],
        HAZARDS: [row for cell in cells for row in hazard_rows(*cell)],
        ACCEPTED: [row for cell in cells for row in accepted_rows(*cell)],
        STEP_COSTS: [row for batch in batches for row in cost_rows(batch, depths)],
        COST_FITS: [fit_row(arm, batch) for arm in "ABCD" for batch in batches],
        CLASS_TIMES: [row for cell in cells for row in class_time_rows(*cell)],
        KAPPAS: [kappa_row(batch, half) for batch in batches for half in ("fit", "check", "all")],
        RELIABILITY: [row for batch in batches for row in reliability_rows(batch)],
        TURNS: [row for cell in cells for row in turn_rows(*cell)],
        SAVINGS: [saving_row(arm, *cell) for arm in "ABCD" for cell in cells],
        OPERATOR: [row for batch in batches for row in operator_rows(batch, depths)],
        INTERVALS: [interval_row(name, *cell) for name in "SRF" for cell in cells],
        LAW_ERRORS: [row for arm in "ABCD" for cell in cells for row in error_rows(arm, *cell)],
        MISMATCH_PREDICTORS: [
            predictor_row(*place, predictor, batch)
            for place in SCORED
            for predictor in PREDICTORS
            for batch in batches
        ],
        PREDICTOR_BINS: [
            row
            for place in SCORED
            for predictor in PREDICTORS
            for batch in batches
            for row in bin_rows(*place, predictor, batch)
        ],
    }
    return {table: pd.DataFrame(members) for table, members in rows.items()}


def nothing_estimable(frames: Frames) -> Frames:
    """The same cells with every value null that may be null."""
    empty = {}
    for table, frame in frames.items():
        kept = frame.iloc[:0] if table in (TURNS, RELIABILITY, PREDICTOR_BINS) else frame
        nulls = {c.name: np.nan for c in table.columns if c.nullable}
        empty[table] = kept.assign(**nulls)
    return empty


def drawn(name: str, frames: Frames) -> Figure:
    drawing = measured.FIGURES[name]
    return drawing.draw(*(frames[table] for table in drawing.tables), EVIDENCE)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]


def panels(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.axison]


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Drawing with the fonts that matplotlib brings, which is faster; a warning is an error."""
    monkeypatch.setattr(style, "has_latex", lambda: False)
    with style.theme(), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# --- What is drawn --------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", analytical.DEPTHS)
def test_the_law_saves_nothing_at_the_break_even_that_is_marked(gamma: int) -> None:
    law = analytical.mean_field(Assumed.model_validate(ASSUMED))
    w_s = law.exact(gamma).w_s
    assert w_s is not None
    if 0 <= w_s <= 1:
        assert law.saving(np.array(w_s), gamma) == pytest.approx(0, abs=1e-9)
    first = law.first_order(gamma).w_s
    assert first is not None and first > w_s
    assert law.saving(np.array([min(1.0, first)]), gamma)[0] > 0


def test_no_curve_crosses_its_ceiling_which_a_perfect_draft_reaches() -> None:
    law = analytical.mean_field(Assumed.model_validate(ASSUMED))
    perfect = MeanField(law.k, law.kappa, law.r, PerClass(1.0, 1.0, 1.0))
    for gamma in analytical.DEPTHS:
        ceiling = analytical.ceiling_saving(gamma, law.k)
        assert (law.saving(analytical.SHARES, gamma) < ceiling).all()
        assert perfect.saving(np.array([0.3]), gamma)[0] == pytest.approx(ceiling)


def test_the_measured_law_crosses_zero_at_the_share_of_the_table() -> None:
    frames = tables([8], [8])
    crossing = frames[CROSSINGS].iloc[0]
    law = data.mean_field(frames[LAW], crossing)
    assert law is not None and 0 < crossing["share_exact"] < 1
    assert law.saving(np.array(crossing["share_exact"]), 8) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("column", ["k", "r"])
def test_without_a_parameter_there_is_no_law(column: str) -> None:
    frames = tables([8], [8])
    crossing = frames[CROSSINGS].iloc[0].copy()
    crossing[column] = np.nan
    assert data.mean_field(frames[LAW], crossing) is None
    assert data.mean_field(frames[LAW].iloc[:2], frames[CROSSINGS].iloc[0]) is None
    zero = frames[LAW].assign(kappa=0.0)
    assert data.mean_field(zero, frames[CROSSINGS].iloc[0]) is None


def test_the_mixture_of_the_arms_ends_at_their_savings() -> None:
    law = pd.DataFrame({"position_class": ["F", "S", "R"], "saving": [-0.4, 0.5, -0.1]})
    assert data.mixture(law, pd.Series({"r": 1.0})) == pytest.approx((-0.1, 0.5))
    assert data.mixture(law, pd.Series({"r": 0.0})) == pytest.approx((-0.4, 0.5))
    assert data.mixture(law, pd.Series({"r": 0.5})) == pytest.approx((-0.25, 0.5))
    assert data.mixture(law, pd.Series({"r": np.nan})) is None
    assert data.mixture(law.assign(saving=[-0.4, 0.5, np.nan]), pd.Series({"r": 0.5})) is None


def test_the_line_of_the_law_goes_through_its_table() -> None:
    law = tables([4, 8, 16], [1])[LAW]
    mismatches = data.law_mismatch(law)
    for row in law.to_dict("records"):
        tau = lengths(mismatches[row["batch"], row["position_class"]], 16)
        assert tau[row["depth"] - 1] == pytest.approx(row["tau_law"])


def test_offsets_with_few_draft_tokens_at_risk_are_left_out() -> None:
    frames = tables([4, 8], [1])
    hazards = frames[HAZARDS].assign(at_risk=lambda f: 8 - f["offset"])
    shown = data.acceptance(hazards, frames[LAW])
    assert set(shown["depth"]) == {8}
    for _, members in shown.groupby("position_class"):
        assert list(members["offset"]) == [1, 2, 3]
    assert shown["acceptance"].to_numpy() == pytest.approx(1 - shown["hazard"].to_numpy())


def test_a_class_is_shown_in_its_own_arm_only() -> None:
    frames = tables([4], [1])
    shown = data.accepted_lengths(frames[ACCEPTED], frames[LAW], "all")
    assert dict(zip(shown["position_class"], shown["arm"], strict=True)) == OWN
    assert set(shown["view"]) == {"engine"}


def test_the_parts_of_a_round_add_up_to_it() -> None:
    frames = tables([4, 8], [1, 8])
    parts = data.round_parts(frames[STEP_COSTS], frames[COST_FITS])
    assert list(zip(parts["batch"], parts["depth"], strict=True)) == [
        (1, 4),
        (1, 8),
        (8, 4),
        (8, 8),
    ]
    whole = parts[["target", "draft", "rest"]].sum(axis=1)
    assert whole.to_numpy() == pytest.approx(parts["total"].to_numpy())
    first = parts.iloc[0]
    assert first["draft"] == pytest.approx(0.6 * K[1] * 4)
    assert first["law"] == pytest.approx(1 + 4 * K[1])


def test_the_operator_s_best_depths_are_marked_once_per_share(plain: None) -> None:
    frames = tables([4, 8, 16], [1, 8])
    rule = frames[OPERATOR]
    for axes, batch in zip(panels(drawn("operator_rule", frames)), (1, 8), strict=True):
        marked = [line for line in axes.lines if line.get_marker() not in ("None", "", None)]
        points = sorted(float(x) for line in marked for x in line.get_xdata())
        expected = rule.loc[(rule["batch"] == batch) & rule["best"], "share"]
        assert points == pytest.approx(sorted(expected))


def test_both_views_are_paired_cell_by_cell() -> None:
    pairs = data.both_views(tables([4, 8], [1])[ACCEPTED])
    assert len(pairs) == 12
    apart = pairs[pairs["engine"] != pairs["replay"]]
    assert set(apart["position_class"]) == {"R"}
    assert (apart["replay"] / apart["engine"]).to_numpy() == pytest.approx(1.02)


def test_counts_are_a_number_or_a_range() -> None:
    assert data.span([7, 7]) == "7"
    assert data.span([9, 3, 5]) == "3 to 9"
    assert data.span([]) == "0"


# --- Drawing --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("name", measured.FIGURES)
@pytest.mark.parametrize(("depths", "batches"), [([4], [1, 4]), ([4, 8, 16], [1, 8]), ([4], [1])])
def test_a_study_is_drawn_with_its_evidence(
    name: str, depths: list[int], batches: list[int]
) -> None:
    figure = drawn(name, tables(depths, batches))
    figure.draw_without_rendering()
    shown = " ".join(texts(figure))
    assert "measured: rehearsal" in shown and "n: " in shown
    assert "not estimable" not in shown


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("name", measured.FIGURES)
def test_what_cannot_be_estimated_is_said_so_in_every_panel(name: str) -> None:
    figure = drawn(name, nothing_estimable(tables([4, 8], [1, 8])))
    figure.draw_without_rendering()
    for axes in panels(figure):
        assert "not estimable" in {text.get_text() for text in axes.texts}


@pytest.mark.usefixtures("plain")
def test_marks_of_break_evens_lie_where_the_table_says() -> None:
    frames = tables([8], [8])
    crossing = frames[CROSSINGS].iloc[0]
    (axes,) = panels(drawn("saving_by_share", frames))
    marked = {
        (line.get_marker(), line.get_markerfacecolor()): line.get_xydata()[0]
        for line in axes.lines
        if len(line.get_xydata()) == 1
    }
    assert marked["o", "black"] == pytest.approx((crossing["share_exact"], 0), abs=1e-9)
    assert marked["o", "white"][0] == crossing["share_first_order"]
    assert marked["X", style.TURN.color] == pytest.approx((crossing["share_measured"], 0))


@pytest.mark.usefixtures("plain")
def test_each_panel_of_the_errors_has_its_cells_in_percent_about_a_zero_line() -> None:
    frames = tables([4, 8, 16], [1, 8])
    errors = frames[LAW_ERRORS].set_index(["arm", "batch", "form", "depth"]).sort_index()
    rows = [(batch, name) for batch in (1, 8) for name in ("tau", "cost")]
    axes = iter(panels(drawn("law_errors", frames)))
    for batch, name in rows:
        for arm in "ABCD":
            zero, *lines = next(axes).lines
            assert set(zero.get_ydata()) == {0}
            forms = [form for form in style.FORMS if name == "cost" or form != "overhead"]
            assert [line.get_color() for line in lines] == [style.FORMS[f].color for f in forms]
            for form, line in zip(forms, lines, strict=True):
                expected = 100 * errors.loc[(arm, batch, form), f"{name}_error"]
                assert line.get_ydata() == pytest.approx(expected.to_numpy())
                assert np.round(line.get_xdata()) == pytest.approx([0, 1, 2])  # evenly spaced


@pytest.mark.usefixtures("plain")
def test_forms_that_agree_do_not_hide_each_other() -> None:
    frames = tables([4], [1])
    frames[LAW_ERRORS] = frames[LAW_ERRORS].assign(tau_error=0.1, cost_error=0.1)
    for axes in panels(drawn("law_errors", frames)):
        places = [float(line.get_xdata()[0]) for line in axes.lines[1:]]
        assert len(set(places)) == len(places) >= 3


@pytest.mark.usefixtures("plain")
def test_the_curves_of_a_predictor_are_those_of_each_class_in_its_own_arm() -> None:
    frames = tables([4], [1, 8])
    bins = (
        frames[PREDICTOR_BINS]
        .set_index(["arm", "batch", "position_class", "predictor"])
        .sort_index()
    )
    for axes, name in zip(panels(drawn("mismatch_predictors", frames)), PREDICTORS, strict=True):
        assert axes.get_title() == f"{name}, area: S $0.61$, R $0.61$, F $0.61$"  # of batch 1
        curves = [line for line in axes.lines if len(line.get_xdata()) == 6]
        for line, position_class in zip(curves, style.CLASSES, strict=True):
            rows = bins.loc[(OWN[position_class], 1, position_class, name)]
            assert line.get_ydata() == pytest.approx(rows["mismatch"].to_numpy())


def test_forms_differ_in_marker_line_and_in_greyscale() -> None:
    marks = style.FORMS.values()
    assert len({mark.marker for mark in marks}) == len({mark.line for mark in marks}) == 4
    grey = sorted(np.dot(to_rgb(mark.color), (0.299, 0.587, 0.114)) for mark in marks)
    assert min(np.diff(grey)) > 0.15


@pytest.mark.usefixtures("plain")
def test_the_largest_difference_of_the_views_is_written() -> None:
    frames = tables([4], [1])
    pairs = data.both_views(frames[ACCEPTED])
    largest = (pairs["engine"] - pairs["replay"]).abs().max()
    assert any(
        f"{largest:.2g} tokens" in text for text in texts(drawn("replay_against_engine", frames))
    )


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(("factor", "said"), [(1, False), (3, True)])
def test_proposals_longer_than_the_round_allows_are_pointed_out(factor: int, said: bool) -> None:
    frames = tables([4], [1, 4])
    costs = frames[STEP_COSTS]
    frames[STEP_COSTS] = costs.assign(draft_seconds=factor * costs["draft_seconds"])
    assert any("the rest is below 0" in text for text in texts(drawn("round_time", frames))) == said


@pytest.mark.usefixtures("plain")
def test_a_figure_is_as_wide_as_a_column_or_the_text() -> None:
    frames = tables([4, 8, 16], [1, 8])
    widths = {name: drawn(name, frames).get_figwidth() for name in measured.FIGURES}
    assert set(widths.values()) == {style.COLUMN, style.TEXT}
    assert widths["replay_against_engine"] == style.COLUMN


def test_classes_differ_in_color_marker_line_and_in_greyscale() -> None:
    marks = style.CLASSES.values()
    assert len({mark.marker for mark in marks}) == len({mark.line for mark in marks}) == 3
    grey = sorted(np.dot(to_rgb(mark.color), (0.299, 0.587, 0.114)) for mark in marks)
    assert min(np.diff(grey)) > 0.15


@pytest.mark.parametrize("tex", [False, True])
def test_text_from_outside_is_escaped(tex: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "has_latex", lambda: tex)
    with style.theme():
        assert style.literal("plain, 4-layer (x)") == "plain, 4-layer (x)"
        assert style.literal("a_b") == r"a$\_$b"
        assert style.literal("5 % & $") == (r"5 \% \& \$" if tex else r"5 % & \$")
        assert style.literal("γ") == ("?" if tex else "γ")


# --- The commands ---------------------------------------------------------------------------------


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study's own tables, written through their schemas."""
    for table, frame in tables([4], [1, 4]).items():
        Results(tmp_path).write(table, frame, EVIDENCE)
    return tmp_path


def test_every_figure_is_written_twice_alike(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "has_latex", lambda: False)
    folders = [study / "first", study / "second"]
    for out in folders:
        draw_figures.main(study, EVIDENCE, out)
    first, second = ({path.name: path.read_bytes() for path in out.iterdir()} for out in folders)
    assert first.keys() == {f"{n}.{kind}" for n in measured.FIGURES for kind in ("pdf", "png")}
    assert first == second
    assert all(b"/FontFile2" in content for name, content in first.items() if name.endswith("pdf"))


def test_without_a_table_no_folder_is_made(study: Path) -> None:
    Results(study).path(TURNS).unlink()
    with pytest.raises(DraftLawError, match=r"turns\.parquet does not exist"):
        draw_figures.main(study, EVIDENCE, study / "figures")
    assert not (study / "figures").exists()


def test_the_law_is_drawn_from_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "has_latex", lambda: False)
    draw_law.main(json.dumps(ASSUMED), tmp_path / "law")
    written = {path.name for path in (tmp_path / "law").iterdir()}
    assert written == {f"{n}.{kind}" for n in analytical.FIGURES for kind in ("pdf", "png")}
    with pytest.raises(DraftLawError, match=r"--assumed: kappa is -1"):
        draw_law.main(json.dumps(ASSUMED | {"kappa": -1}), tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("name", analytical.FIGURES)
def test_an_analytical_figure_says_so(name: str) -> None:
    figure = analytical.FIGURES[name](Assumed.model_validate(ASSUMED))
    figure.draw_without_rendering()
    assert "analytical" in texts(figure)


@pytest.mark.skipif(not style.has_latex(), reason="needs LaTeX and dvipng")
def test_latex_sets_every_text(tmp_path: Path) -> None:
    frames = tables([4], [1, 4])
    with style.theme():
        style.save(drawn("round_time", frames), tmp_path, "round_time")
    assert b"CMR" in (tmp_path / "round_time.pdf").read_bytes()


def test_the_rule_reads_the_tables_that_are_drawn() -> None:
    rules = (REPO / "workflow/rules/figures.smk").read_text(encoding="utf-8")
    named = re.findall(r'"(\w+)"', rules.partition("tables(")[2].partition(")")[0])
    needed = {table.name for drawing in measured.FIGURES.values() for table in drawing.tables}
    assert named == sorted(needed)
