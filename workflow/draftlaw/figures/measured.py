"""Figures of a study's measurements, beside what the law says of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from draftlaw.arms import ARM_OF
from draftlaw.figures import data, style
from draftlaw.mean_field import lengths
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

SHARES = np.linspace(0.0, 1.0, 201)

_LAW: style.Look = {"color": "black", "linestyle": "-"}
_MIXTURE: style.Look = {"color": "0.5", "linestyle": "--"}
_REGRESSION: style.Look = {"color": style.TURN.color, "linestyle": style.TURN.line}
_THIN: style.Look = {"color": style.GREY, "linestyle": ":", "linewidth": 0.8}
_POINT: style.Look = {"color": style.GREY, "marker": "o", "linestyle": ""}


# --- Savings --------------------------------------------------------------------------------------


def saving_by_share(
    law: pd.DataFrame, crossings: pd.DataFrame, savings: pd.DataFrame, evidence: str
) -> Figure:
    """Net saving against schema share: the law, the arms' savings mixed, arm D's regression."""
    figure, cells = _by_batch_and_depth(crossings, 2.3, "schema share $w_S$", "net saving $s$")
    for axes, crossing in cells:
        _draw_savings(axes, _cell(law, crossing), crossing)
        measured, predicted = _break_evens(crossing)
        axes.set_title(measured, fontsize=style.SMALL, pad=13)
        _above(axes, predicted)
    marker: style.Look = {"color": "black", "marker": "o", "linestyle": ""}
    handles = [
        Line2D([], [], **_LAW, label="law, mean field"),
        Line2D([], [], **_MIXTURE, label="arms B, C, A mixed"),
        Line2D([], [], **_REGRESSION, label="turns of D, regression"),
        *(mark.point() for mark in style.CLASSES.values()),
        Line2D([], [], **marker, label="exact $w_S^*$"),
        Line2D([], [], **marker, mfc="white", label="first-order $w_S^*$"),
        Line2D([], [], **_REGRESSION | {"linestyle": ""}, marker="X", label="measured $w_S^*$"),
    ]
    style.legend(figure, handles, 3)
    requests = ", ".join(
        f"{arm} {data.span(members['requests'])}" for arm, members in savings.groupby("arm")
    )
    turns = f"turns of D {data.span(crossings['turns'])}"
    style.foot(figure, style.literal(evidence), f"n: requests {requests}; {turns}")
    return figure


def _draw_savings(axes: Axes, law: pd.DataFrame, crossing: pd.Series) -> None:
    axes.set_xlim(-0.04, 1.04)
    model = data.mean_field(law, crossing)
    lines = ((data.mixture(law, crossing), _MIXTURE), (data.regression(crossing), _REGRESSION))
    arms = law.dropna(subset=["saving"])
    if model is None and arms.empty and not any(ends for ends, _ in lines):
        style.not_estimable(axes)
        return
    axes.axhline(0, color=style.GREY, linewidth=0.6)
    for position_class, saving in zip(arms["position_class"], arms["saving"], strict=True):
        mark = style.CLASSES[position_class]
        place = 1 if position_class == "S" else 0
        axes.plot(place, saving, mark.marker, color=mark.color, clip_on=False)
    if model is not None:
        depth = int(crossing["depth"])
        axes.plot(SHARES, model.saving(SHARES, depth), **_LAW)
        for name, fill in (("share_exact", "black"), ("share_first_order", "white")):
            share = float(crossing[name])
            if 0 <= share <= 1:
                height = model.saving(np.array(share), depth)
                axes.plot(share, height, "o", color="black", mfc=fill, clip_on=False)
    # a regression that is steep outside the turns' own shares does not set the scale
    axes.set_ylim(axes.get_ylim())
    for ends, look in lines:
        if ends is not None:
            axes.plot((0, 1), ends, **look)
    if 0 <= crossing["share_measured"] <= 1:
        axes.plot(crossing["share_measured"], 0, "X", color=style.TURN.color, clip_on=False)


def _above(axes: Axes, text: str) -> None:
    """A second line of the title: LaTeX would set it closer than descenders allow."""
    look: style.Look = {"ha": "center", "va": "bottom", "fontsize": style.SMALL}
    axes.annotate(text, (0.5, 1), (0, 4), "axes fraction", "offset points", **look)


def _break_evens(crossing: pd.Series) -> tuple[str, str]:
    """Every break-even share w_S*, also those outside [0, 1], which no marker shows: two lines."""
    exact, first, measured = (
        _number(float(crossing[name]))
        for name in ("share_exact", "share_first_order", "share_measured")
    )
    cell = f"{_cell_name(crossing)}: measured {measured}"
    return cell, f"exact {exact}, first order {first}"


def turns(turns: pd.DataFrame, crossings: pd.DataFrame, evidence: str) -> Figure:
    """Net saving of each turn of arm D against its schema share, with the regression line."""
    kept = data.mixed_turns(turns)
    labels = ("schema share of the turn $w_S$", "net saving of the turn $s$")
    figure, cells = _by_batch_and_depth(crossings, 2.2, *labels)
    for axes, crossing in cells:
        members = _cell(kept, crossing)
        above = axes.inset_axes((0, 1.03, 1, 0.13), sharex=axes)
        above.set_axis_off()
        above.set_title(f"{_cell_name(crossing)}, {len(members)} turns")
        axes.set_xlim(-0.04, 1.04)
        if members.empty:
            style.not_estimable(axes)
            continue
        axes.axhline(0, color=style.GREY, linewidth=0.6)
        look = {"color": style.TURN.color, "alpha": 0.7, "clip_on": False}
        axes.plot(members["w_s"], members["saving"], style.TURN.marker, **look)
        axes.set_ylim(axes.get_ylim())  # the line's ends may lie far outside the turns
        ends = data.regression(crossing)
        if ends is not None:
            axes.plot((0, 1), ends, **_LAW)
        sns.histplot(x=members["w_s"], bins=np.linspace(0, 1, 21), color="0.6", ax=above)
    handles = [
        style.TURN.point(),
        Line2D([], [], **_LAW, label="regression, at $r$ of D"),
        Patch(color="0.6", label="number of turns by $w_S$"),
    ]
    style.legend(figure, handles, 3)
    counted = f"n: {data.span(crossings['turns'])} turns of arm D in the regression"
    style.foot(figure, style.literal(evidence), counted)
    return figure


def operator_rule(
    operator: pd.DataFrame, accepted: pd.DataFrame, law: pd.DataFrame, evidence: str
) -> Figure:
    """Net saving of the calibrated law against schema share, a line for each depth."""
    marks = style.depth_marks(sorted(operator["depth"].unique()))
    figure, panels = _by_batch(operator, 2.3)
    for axes, batch in panels:
        if operator.loc[operator["batch"] == batch, "saving"].isna().all():
            style.not_estimable(axes)
            continue
        axes.axhline(0, color=style.GREY, linewidth=0.6)
        for depth, mark in marks.items():
            rows = operator[(operator["batch"] == batch) & (operator["depth"] == depth)]
            ends = rows[["low", "high"]].where(np.isfinite)
            axes.fill_between(
                rows["share"], ends["low"], ends["high"], color=mark.color, alpha=0.15, lw=0
            )
            axes.plot(rows["share"], rows["saving"], mark.line, color=mark.color)
            best = rows[rows["best"]]
            axes.plot(best["share"], best["saving"], mark.marker, color=mark.color)
    for axes, batch in panels:
        axes.set(title=f"batch {batch}", xlabel="schema share $w_S$")
    panels[0][0].set_ylabel("net saving $s$ by the law")
    handles = [
        *(mark.handle() for mark in marks.values()),
        Line2D([], [], **_POINT, label="best depth, where it saves"),
        Patch(color="0.8", label="interval"),
    ]
    style.legend(figure, handles, 5)
    units = _counts(data.accepted_lengths(accepted, law, "all"), "clusters")
    level = f"bands: {operator['level'].max() * 100:.0f}\\,\\% intervals by resampling units"
    style.foot(figure, style.literal(evidence), f"n: sampling units {units}; {level}")
    return figure


# --- Acceptance -----------------------------------------------------------------------------------


def accepted_length(
    accepted: pd.DataFrame, law: pd.DataFrame, intervals: pd.DataFrame, evidence: str
) -> Figure:
    """Accepted length of each class against depth, measured (with intervals) and by the law."""
    spread = intervals[intervals["quantity"] == "tau"]
    measured = data.accepted_lengths(accepted, law, "all")
    unlooped = data.accepted_lengths(accepted, law, "unlooped")
    mismatch = data.law_mismatch(law)
    depths = sorted(law["depth"].unique())
    deepest = int(max(depths))
    figure, panels = _by_batch(law, 2.3, sharey=True)
    for axes, batch in panels:
        for position_class, mark in style.CLASSES.items():
            eps = mismatch.get((batch, position_class))
            if eps is not None:
                axes.plot(range(1, deepest + 1), lengths(eps, deepest), mark.line, color=mark.color)
            points = _members(measured, batch, position_class)
            axes.plot(points["depth"], points["tau"], mark.marker, color=mark.color)
            ends = _members(spread, batch, position_class)
            ends = ends[np.isfinite(ends["low"]) & np.isfinite(ends["high"])]
            axes.vlines(ends["depth"], ends["low"], ends["high"], color=mark.color, linewidth=1)
            points = _members(unlooped, batch, position_class)
            hollow: style.Look = {"color": mark.color, "mfc": "white", "markersize": 3}
            axes.plot(points["depth"] + 0.025 * deepest, points["tau"], mark.marker, **hollow)
        if measured[measured["batch"] == batch].empty:
            style.not_estimable(axes)
        axes.set_title(f"batch {batch}")
        axes.set(xlabel=r"draft depth $\gamma$ (tokens)", xticks=depths, xlim=(0, 1.06 * deepest))
        axes.set_ylim(bottom=0)
    panels[0][0].set_ylabel(r"accepted length $\tau$ (tokens)")
    handles = [
        *(mark.handle() for mark in style.CLASSES.values()),
        Line2D([], [], color=style.GREY, label="law"),
        Line2D([], [], **_POINT, label="measured"),
        Line2D([], [], **_POINT, mfc="white", markersize=3, label="without repeats"),
    ]
    style.legend(figure, handles, 6)
    units = _counts(measured, "clusters")
    examined = _counts(measured, "examined")
    counted = f"n: sampling units {units}; draft tokens by panel and depth {examined}"
    level = f"bars: {spread['level'].max() * 100:.0f}\\,\\% intervals by resampling units"
    style.foot(figure, style.literal(evidence), counted, level)
    return figure


def acceptance_by_offset(hazards: pd.DataFrame, law: pd.DataFrame, evidence: str) -> Figure:
    """Chance that a draft token is accepted, given that all before it were, at each offset."""
    rows = data.acceptance(hazards, law)
    mismatch = data.law_mismatch(law)
    most = int(max(rows["at_risk"], default=data.LEAST_AT_RISK))
    figure, panels = _by_batch(law, 2.3, sharex=True, sharey=True)
    for axes, batch in panels:
        for position_class, mark in style.CLASSES.items():
            eps = mismatch.get((batch, position_class))
            if eps is not None:
                axes.axhline(1 - eps, color=mark.color, linestyle=":", linewidth=0.8)
            points = _members(rows, batch, position_class)
            place = (points["offset"], points["acceptance"])
            axes.plot(*place, mark.line, color=mark.color, linewidth=0.8)
            sizes = _area(points["at_risk"].to_numpy(), most)
            axes.scatter(*place, s=sizes, marker=mark.marker, color=mark.color, clip_on=False)
        if rows[rows["batch"] == batch].empty:
            style.not_estimable(axes)
        axes.set_title(f"batch {batch}")
        axes.set(xlabel="offset in the draft (tokens)", ylim=(0, 1))
        axes.xaxis.get_major_locator().set_params(integer=True)
    panels[0][0].set_ylabel("conditional acceptance")
    counts = (data.LEAST_AT_RISK, most)
    diameters = np.sqrt(_area(np.array(counts), most))
    handles = [
        *(mark.handle() for mark in style.CLASSES.values()),
        Line2D([], [], **_THIN, label=r"law, $1 - \varepsilon$"),
        *(
            Line2D([], [], **_POINT, markersize=size, label=f"{count} at risk")
            for count, size in zip(counts, diameters, strict=True)
        ),
    ]
    style.legend(figure, handles, 6)
    first = _counts(rows[rows["offset"] == 1], "at_risk")
    counted = rf"n: draft tokens at offset 1, $\gamma={law['depth'].max()}$: {first}"
    style.foot(figure, style.literal(evidence), counted)
    return figure


def _area(at_risk: np.ndarray, most: int) -> np.ndarray:
    """Marker area, pt^2: grows with the draft tokens at risk, from one that is still legible."""
    return 5 + 40 * at_risk / most


def kappa_reliability(
    reliability: pd.DataFrame, kappas: pd.DataFrame, law: pd.DataFrame, evidence: str
) -> Figure:
    """Mismatch against unpredictability by class, with the lines that either kappa stands for."""
    rows = data.own_arms(reliability, law)
    fitted = kappas[kappas["half"] == "fit"].set_index("batch")
    figure, panels = _by_batch(law, 2.6, sharex=True, sharey=True)
    for axes, batch in panels:
        axes.plot((0, 1), (0, 1), **_THIN)
        for position_class, mark in style.CLASSES.items():
            points = _members(rows, batch, position_class)
            axes.errorbar(
                points["unpredictability"],
                points["mismatch"],
                yerr=points["mismatch_se"],
                fmt=mark.marker,
                color=mark.color,
                elinewidth=0.8,
            )
        if rows[rows["batch"] == batch].empty:
            style.not_estimable(axes)
        named = []
        for kind, look in _KAPPAS.items():
            kappa = float(fitted[f"kappa_{kind}"].get(batch, np.nan))
            axes.plot(SHARES, np.minimum(1, kappa * SHARES), **look)
            named.append(rf"{_kappa(kind)}$\,=\,${_number(kappa)}")
        axes.set_title(f"batch {batch}: {', '.join(named)}")
        axes.set_xlabel(r"unpredictability $1 - e^{-H}$")
    panels[0][0].set_ylabel(r"mismatch $\varepsilon$")
    handles = [
        *(mark.point() for mark in style.CLASSES.values()),
        *(Line2D([], [], **look, label=_kappa(kind)) for kind, look in _KAPPAS.items()),
        Line2D([], [], **_THIN, label=r"$\kappa = 1$"),
    ]
    style.legend(figure, handles, 6)
    counted = f"n: positions by panel {_totals(rows, 'positions')}; bars: one standard error"
    style.foot(figure, style.literal(evidence), counted)
    return figure


_KAPPAS: dict[str, style.Look] = {
    "id": {"color": "black", "linestyle": "-", "linewidth": 0.9},
    "pos": {"color": "black", "linestyle": "--", "linewidth": 0.9},
}


def _kappa(kind: str) -> str:
    return rf"$\kappa_\mathrm{{{kind}}}$"


def replay_against_engine(accepted: pd.DataFrame, evidence: str) -> Figure:
    """Accepted length that the engine counted against the one that the replay implies."""
    pairs = data.both_views(accepted)
    figure, ((axes,),) = style.panels(1, 1, 2.9)
    if pairs.empty:
        style.not_estimable(axes)
    else:
        top = 1.05 * float(pairs[["engine", "replay"]].to_numpy().max())
        axes.plot((0, top), (0, top), **_THIN)
        for position_class, mark in style.CLASSES.items():
            points = pairs[pairs["position_class"] == position_class]
            axes.plot(points["replay"], points["engine"], mark.marker, color=mark.color, mfc="none")
        most = (pairs["engine"] - pairs["replay"]).abs().max()
        note = f"largest difference\n{most:.2g} tokens"
        axes.text(0.97, 0.05, note, transform=axes.transAxes, ha="right", fontsize=style.SMALL)
    axes.set(
        xlabel=r"accepted length $\tau$, replay (tokens)",
        ylabel=r"accepted length $\tau$, engine (tokens)",
    )
    handles = [mark.point(mfc="none") for mark in style.CLASSES.values()]
    style.legend(figure, [*handles, Line2D([], [], **_THIN, label="equal")], 2)
    cells = f"n: {len(pairs)} values (arm, batch, depth, class)"
    style.foot(figure, style.literal(evidence), cells)
    return figure


# --- The law's errors -----------------------------------------------------------------------------

# the fixed cost changes nothing in tau
_ERRORS = {
    "tau": (r"error of $\tau$", ("mean_field", "span_resolved", "replayed")),
    "cost": (r"error of $c_\mathrm{net}$", tuple(style.FORMS)),
}


def law_errors(errors: pd.DataFrame, evidence: str) -> Figure:
    """Relative error of each form of the prediction, in accepted length and in cost, over depth."""
    arms, batches = sorted(errors["arm"].unique()), sorted(errors["batch"].unique())
    rows = [(batch, name) for batch in batches for name in _ERRORS]
    figure, axes = style.panels(len(rows), len(arms), 1.25, sharex=True, sharey="row")
    for line, (batch, name) in zip(axes, rows, strict=True):
        label, forms = _ERRORS[name]
        label = f"{label} ({style.literal('%')})\nbatch {batch}"
        line[0].set_ylabel(label, linespacing=1.5)
        for each, arm in zip(line, arms, strict=True):
            cells = errors[(errors["arm"] == arm) & (errors["batch"] == batch)]
            _draw_errors(each, cells, f"{name}_error", forms)
    for each, arm in zip(axes[0], arms, strict=True):
        each.set_title(f"arm {arm}")
    for each in axes[-1]:
        each.set_xlabel(r"draft depth $\gamma$")
    style.legend(figure, [mark.handle() for mark in style.FORMS.values()], 4)
    law_s = errors[errors["form"] == "mean_field"]
    rounds = ", ".join(f"{arm} {data.span(cells['rounds'])}" for arm, cells in law_s.groupby("arm"))
    sign = "error: predicted / measured, less 1; above zero the prediction is too high"
    style.foot(figure, style.literal(evidence), f"n: rounds by arm and cell {rounds}; {sign}")
    return figure


def _draw_errors(axes: Axes, cells: pd.DataFrame, column: str, forms: Sequence[str]) -> None:
    """A line for each form over the depths, which stand side by side, evenly spaced."""
    depths = sorted(cells["depth"].unique())
    axes.set_xlim(-0.5, len(depths) - 0.5)
    axes.set_xticks(range(len(depths)), [str(depth) for depth in depths])
    if cells.loc[cells["form"].isin(forms), column].isna().all():
        style.not_estimable(axes)
        return
    axes.axhline(0, color=style.GREY, linewidth=0.6)
    for place, form in enumerate(forms):
        mark = style.FORMS[form]
        found = 100 * cells[cells["form"] == form].set_index("depth")[column].reindex(depths)
        aside = 0.13 * (place - (len(forms) - 1) / 2)  # forms that agree would hide each other
        look: style.Look = {"color": mark.color, "markersize": 3.5, "linewidth": 0.9}
        axes.plot(np.arange(len(depths)) + aside, found, marker=mark.marker, ls=mark.line, **look)


def mismatch_predictors(bins: pd.DataFrame, predictors: pd.DataFrame, evidence: str) -> Figure:
    """Mismatch against either score of the target, in quantile bins, each class in its own arm."""
    batch = predictors["batch"].min()
    own = predictors["arm"] == predictors["position_class"].map(ARM_OF)
    known = predictors[own & (predictors["batch"] == batch)]
    key = ["arm", "batch", "position_class", "predictor"]
    points = bins.merge(known[key], on=key)
    figure, ((*panels,),) = style.panels(1, len(PREDICTORS), 2.3, sharey=True)
    for axes, name in zip(panels, PREDICTORS, strict=True):
        areas = known[known["predictor"] == name].set_index("position_class")["auc"]
        for position_class, mark in style.CLASSES.items():
            curve = points[
                (points["predictor"] == name) & (points["position_class"] == position_class)
            ]
            look: style.Look = {"fmt": mark.marker, "ls": mark.line, "color": mark.color}
            axes.errorbar(
                curve["score"], curve["mismatch"], yerr=curve["mismatch_se"], **look, elinewidth=0.8
            )
        if points[points["predictor"] == name].empty:
            style.not_estimable(axes)
        found = ", ".join(
            f"{each} {_number(float(areas.get(each, np.nan)))}" for each in style.CLASSES
        )
        axes.set_title(f"{name}, area: {found}", fontsize=style.SMALL + 1)
        axes.set(xlabel=_SCORES[name], xlim=(-0.03, 1.03), ylim=(-0.02, 1.04))
    panels[0].set_ylabel(r"mismatch $\varepsilon$")
    style.legend(figure, [mark.handle() for mark in style.CLASSES.values()], 3)
    counts = _counts(known[known["predictor"] == PREDICTORS[0]], "positions")
    note = f"exploratory; n: positions at batch {batch} {counts}; bars: one standard error"
    style.foot(figure, style.literal(evidence), note)
    return figure


_SCORES = {
    "entropy": r"entropy score $1 - e^{-H}$",
    "margin": r"margin score $p_2/p_1$ of the target",
}


# --- Time -----------------------------------------------------------------------------------------


def round_time(
    step_costs: pd.DataFrame,
    cost_fits: pd.DataFrame,
    class_times: pd.DataFrame,
    law: pd.DataFrame,
    evidence: str,
) -> Figure:
    """What a round of the control arm costs and consists of, and what it costs in each class."""
    parts = data.round_parts(step_costs, cost_fits)
    times = data.own_arms(class_times, law).dropna(subset=["relative"])
    cells = _cells(law)
    figure, ((bars, points),) = style.panels(
        1, 2, 0.25 * len(cells) + 0.9, sharex=True, sharey=True
    )
    for place, (batch, depth) in enumerate(cells):
        key = {"batch": batch, "depth": depth}
        _draw_parts(bars, place, _cell(parts, key))
        _draw_times(points, place, _cell(times, key))
    names = [rf"batch {batch}, $\gamma={depth}$" for batch, depth in cells]
    bars.set_yticks(range(len(cells)), names)
    bars.set_ylim(len(cells) - 0.5, -0.5)
    bars.set_xlabel("round time, arm A (target passes $c_1$)")
    points.set_xlabel("round time by class (target passes $c_1$ of arm A)")
    points.axvline(1, **_THIN)
    points.set_xlim(left=0)
    handles = [
        *(Patch(label=name, **look) for name, look in _PARTS.items()),
        Line2D([], [], **_TICK, label=r"law, $1 + k\gamma$"),
        *(mark.point() for mark in style.CLASSES.values()),
    ]
    style.legend(figure, handles, 4)
    steps = data.span(step_costs[step_costs["depth"] > 0]["steps"])
    counted = f"n: full steps by row {steps}; rounds by class {_counts(times, 'rounds')}"
    style.foot(figure, style.literal(evidence), counted, *_overrun(parts))
    return figure


def _overrun(parts: pd.DataFrame) -> list[str]:
    overrun = bool((parts["rest"] < 0).any())
    return ["proposals beyond the outline of the round: the rest is below 0"] if overrun else []


_PARTS: dict[str, style.Look] = {
    "target pass": {"facecolor": "0.35"},
    "draft's proposals": {"facecolor": "0.85", "edgecolor": "0.45", "hatch": "////"},
    "the rest": {"facecolor": "none", "edgecolor": "black"},
}
_TICK: style.Look = {"color": "black", "marker": "|", "linestyle": "", "markersize": 11, "mew": 1.8}


def _draw_parts(axes: Axes, place: int, parts: pd.DataFrame) -> None:
    """The whole round is an outline: what target and draft leave of it is the rest."""
    if parts.empty:
        _not_estimable_row(axes, place)
    target, draft, rest = _PARTS.values()
    for _, row in parts.iterrows():
        axes.barh(place, row["target"], height=0.6, **target)
        axes.barh(place, row["draft"], left=row["target"], height=0.6, linewidth=0, **draft)
        axes.barh(place, row["total"], height=0.6, **rest)
        axes.vlines(row["law"], place - 0.42, place + 0.42, color="black", linewidth=1.8)


def _draw_times(axes: Axes, place: int, times: pd.DataFrame) -> None:
    if times.empty:
        _not_estimable_row(axes, place)
    for (name, mark), offset in zip(style.CLASSES.items(), (-0.22, 0, 0.22), strict=True):
        relative = times[times["position_class"] == name]["relative"]
        axes.plot(relative, [place + offset] * len(relative), mark.marker, color=mark.color)


def _not_estimable_row(axes: Axes, place: int) -> None:
    across = axes.get_yaxis_transform()
    axes.text(0.02, place, **style.NOT_ESTIMABLE, va="center", transform=across)


# --- Panels and rows ------------------------------------------------------------------------------


def _by_batch(law: pd.DataFrame, height: float, **options: Any) -> tuple[Figure, list[Any]]:
    """A panel for each batch; the list pairs axes with batches."""
    batches = sorted(law["batch"].unique())
    figure, axes = style.panels(1, len(batches), height, **options)
    return figure, list(zip(axes.flat, batches, strict=True))


def _by_batch_and_depth(
    crossings: pd.DataFrame, height: float, xlabel: str, ylabel: str
) -> tuple[Figure, list[Any]]:
    """A panel for each batch (row) and depth (column); the list pairs axes with rows.

    With one depth the batches stand side by side.
    """
    rows = crossings.sort_values(["batch", "depth"])
    batches, depths = rows["batch"].nunique(), rows["depth"].nunique()
    shape = (batches, depths) if depths > 1 else (1, batches)
    figure, axes = style.panels(*shape, height)
    for each in axes[-1]:
        each.set_xlabel(xlabel)
    for each in axes[:, 0]:
        each.set_ylabel(ylabel)
    return figure, list(zip(axes.flat, (row for _, row in rows.iterrows()), strict=True))


def _cells(law: pd.DataFrame) -> list[tuple[int, int]]:
    cells = law[["batch", "depth"]].drop_duplicates().sort_values(["batch", "depth"])
    return list(cells.itertuples(index=False, name=None))


def _cell(frame: pd.DataFrame, key: Any) -> pd.DataFrame:
    rows: pd.DataFrame = frame[(frame["batch"] == key["batch"]) & (frame["depth"] == key["depth"])]
    return rows


def _members(frame: pd.DataFrame, batch: int, position_class: str) -> pd.DataFrame:
    return frame.loc[(frame["batch"] == batch) & (frame["position_class"] == position_class)]


def _cell_name(crossing: pd.Series) -> str:
    return rf"batch {crossing['batch']:.0f}, $\gamma={crossing['depth']:.0f}$"


def _number(value: float) -> str:
    return "none" if np.isnan(value) else f"${value:.2f}$"


def _counts(frame: pd.DataFrame, column: str) -> str:
    """A count by class, as a range over panels and depths."""
    counts = {name: frame[frame["position_class"] == name][column] for name in style.CLASSES}
    return ", ".join(f"{name} {data.span(count)}" for name, count in counts.items())


def _totals(frame: pd.DataFrame, column: str) -> str:
    """A count summed by class, as a range over panels."""
    sums = frame.groupby(["batch", "position_class"])[column].sum()
    return _counts(sums.reset_index(), column)


# --- All of them ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure: its function, called with the frames of `tables` and the evidence grade."""

    draw: Callable[..., Figure]
    tables: tuple[Table, ...]


FIGURES = {
    "saving_by_share": Drawing(saving_by_share, (LAW, CROSSINGS, SAVINGS)),
    "accepted_length": Drawing(accepted_length, (ACCEPTED, LAW, INTERVALS)),
    "acceptance_by_offset": Drawing(acceptance_by_offset, (HAZARDS, LAW)),
    "kappa_reliability": Drawing(kappa_reliability, (RELIABILITY, KAPPAS, LAW)),
    "round_time": Drawing(round_time, (STEP_COSTS, COST_FITS, CLASS_TIMES, LAW)),
    "replay_against_engine": Drawing(replay_against_engine, (ACCEPTED,)),
    "turns": Drawing(turns, (TURNS, CROSSINGS)),
    "law_errors": Drawing(law_errors, (LAW_ERRORS,)),
    "mismatch_predictors": Drawing(mismatch_predictors, (PREDICTOR_BINS, MISMATCH_PREDICTORS)),
    "operator_rule": Drawing(operator_rule, (OPERATOR, ACCEPTED, LAW)),
}
"""The measured figures by file name."""
