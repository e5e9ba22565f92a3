"""The law against the data: accepted length and cost by class and by arm, and the break-even share.

Predictions use kappa and k of arm A and the entropy of each class in its own arm; nothing is fitted
to the savings that they are compared with. A class is a mix of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from draftlaw import law
from draftlaw.arms import ARM_OF, CONTROL, MIXED
from draftlaw.mean_field import MeanField
from draftlaw.tables.analysis import LAW_FORMS

NAN = float("nan")

Shares = Mapping[str, float]
"""Share of output positions in each class, 1; those of a mix sum to 1."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What arm A and the class arms say at one batch size.

    Attributes:
        kappa: kappa_id of the half `fit`, 1.
        k: cost slope, 1.
        rho: exp(-H_c) of each class in its own arm, 1; a class without an arm is missing.
        overhead: fixed cost of a round in target passes, of the fit with a free intercept, 1.
        k_free: cost slope of that fit, 1.
    """

    kappa: float
    k: float
    rho: dict[str, float]
    overhead: float = NAN
    k_free: float = NAN

    def mismatch(self, shares: Shares) -> float:
        """Mean-field mismatch kappa (1 - rho_bar) of a mix, not clipped; NaN: not estimable."""
        rho = sum(share * self.rho.get(name, NAN) for name, share in shares.items() if share > 0)
        return self.kappa * (1 - rho)

    def mean_field(self, shares: Shares, depth: int) -> float:
        """Accepted length tau of a mix by the law, token: one mismatch for all its positions."""
        eps = float(np.minimum(1.0, self.mismatch(shares)))
        return NAN if np.isnan(eps) else law.accepted_prefix(eps, depth)

    def span_resolved(self, shares: Shares, depth: int) -> float:
        """Accepted length tau of a mix in long spans, token: tau + 1 is the harmonic mean."""
        present = {name: share for name, share in shares.items() if share > 0}
        tau = {name: self.mean_field({name: 1.0}, depth) for name in present}
        if np.isnan(list(tau.values())).any():
            return NAN
        mix, lengths = (
            law.PerClass(*(found.get(name, 0.0) for name in ARM_OF)) for found in (present, tau)
        )
        return law.span_resolved_acceptance_length(mix, lengths, depth) - 1


def calibrated(
    batch: int, kappas: pd.DataFrame, fits: pd.DataFrame, entropy: pd.DataFrame
) -> Calibrated:
    """Look the calibration of a batch size up in its tables."""
    kappa = kappas.query("batch == @batch and half == 'fit'")["kappa_id"]
    fit = fits[(fits["batch"] == batch) & (fits["arm"] == CONTROL)]
    known = entropy.query("batch == @batch and variant == 'all'")
    home = known[known["arm"] == known["position_class"].map(ARM_OF)]
    rho = dict(zip(home["position_class"], home["predictability_of_mean"], strict=True))
    k, overhead, k_free = (_only(fit[name]) for name in ("k", "overhead", "k_free"))
    by_class = {str(name): float(rho[name]) for name in rho}
    return Calibrated(_only(kappa), k, by_class, overhead, k_free)


def _only(values: pd.Series[float]) -> float:
    return float(values.iloc[0]) if len(values) else NAN


def _cost(tau: float, depth: int, k: float, overhead: float = 0.0) -> float:
    """c_net / c_1, 1; NaN where it is not estimable or a round would cost nothing."""
    known = not np.isnan(tau) and 1 + overhead + depth * k > 0
    return float(law.net_cost(tau, depth, k, overhead)) if known else NAN


def law_table(
    batches: dict[int, Calibrated], accepted: pd.DataFrame, savings: pd.DataFrame
) -> pd.DataFrame:
    """Accepted length and saving per batch, depth and class: by the law, and measured.

    Args:
        batches: the calibration of every batch size.
        accepted: the accepted table.
        savings: the savings table.

    Returns:
        The law table.
    """
    depths = sorted(set(savings["depth"]))
    rows = [
        {**_predicted(at, depth, name), **_measured(accepted, savings, batch, depth, name)}
        for batch, at in batches.items()
        for depth in depths
        for name in at.rho
    ]
    return pd.DataFrame(rows)


def _predicted(at: Calibrated, depth: int, name: str) -> dict[str, Any]:
    raw = at.mismatch({name: 1.0})
    tau = at.mean_field({name: 1.0}, depth)
    return {
        "position_class": name,
        "rho": at.rho[name],
        "kappa": at.kappa,
        "eps": float(np.minimum(1.0, raw)),
        "clipped": bool(raw > 1),
        "tau_law": tau,
        "saving_law": 1 - _cost(tau, depth, at.k),
    }


def _measured(
    accepted: pd.DataFrame, savings: pd.DataFrame, batch: int, depth: int, name: str
) -> dict[str, Any]:
    arm = ARM_OF[name]
    tau = accepted.query(
        "view == 'engine' and arm == @arm and batch == @batch and depth == @depth"
        " and position_class == @name and variant == 'all'"
    )["tau"]
    saving = savings.query("arm == @arm and batch == @batch and depth == @depth")["saving"]
    where = {"batch": batch, "depth": depth, "arm": arm}
    return {**where, "tau": _only(tau), "saving": _only(saving)}


def law_errors(
    batches: dict[int, Calibrated],
    entropy: pd.DataFrame,
    lengths: pd.DataFrame,
    costs: pd.DataFrame,
    savings: pd.DataFrame,
) -> pd.DataFrame:
    """Every form of the prediction beside the accepted length and cost measured in every cell.

    Args:
        batches: the calibration of every batch size.
        entropy: the entropy table, for the class mix of every arm.
        lengths: the cell_lengths table.
        costs: the step_costs table.
        savings: the savings table.

    Returns:
        The law_errors table. An error is predicted / measured - 1; null where nothing was accepted.
    """
    key = ["arm", "batch", "depth"]
    engine, replay = (lengths[lengths["view"] == view] for view in ("engine", "replay"))
    cells = engine.merge(replay[[*key, "tau"]], on=key, how="left", suffixes=("", "_replayed"))
    cells = cells.merge(costs[[*key, "relative"]], on=key, how="left")
    cells = cells.merge(savings[[*key, "saving"]], on=key, how="left")
    cells["cost"] = cells["relative"] / (cells["tau"] + 1)
    cells["cost_paid"] = 1 - cells["saving"]
    mixes = _mixes(entropy)
    predicted = pd.DataFrame(
        {**{name: cell[name] for name in key}, **row}
        for cell in cells.to_dict("records")
        for row in _forms(batches[cell["batch"]], mixes[cell["arm"], cell["batch"]], cell)
    )
    rows = predicted.merge(cells, on=key)
    for name in ("tau", "cost"):
        measured = rows[name].where(rows[name] > 0)
        rows[f"{name}_error"] = rows[f"{name}_predicted"] / measured - 1
    return rows.drop(columns=["view", "tau_replayed", "relative", "saving"])


def _mixes(entropy: pd.DataFrame) -> dict[tuple[str, int], dict[str, float]]:
    """Class mix of every arm at every batch size, pooled over its output positions."""
    rows = entropy[entropy["variant"] == "all"]
    totals = rows.groupby(["arm", "batch"])["positions"].transform("sum")
    mixes: dict[tuple[str, int], dict[str, float]] = {}
    for row in rows.assign(share=rows["positions"] / totals).to_dict("records"):
        mixes.setdefault((row["arm"], row["batch"]), {})[row["position_class"]] = row["share"]
    return mixes


def _forms(at: Calibrated, shares: Shares, cell: Mapping[Any, Any]) -> Iterator[dict[str, Any]]:
    """The law in a cell, then with one thing in it changed at a time."""
    depth, law_s = int(cell["depth"]), (at.k, 0.0)
    tau = at.mean_field(shares, depth)
    forms = {
        "mean_field": (tau, *law_s),
        "span_resolved": (at.span_resolved(shares, depth), *law_s),
        "overhead": (tau, at.k_free, at.overhead),
        "replayed": (float(cell["tau_replayed"]), *law_s),
    }
    for form in LAW_FORMS:
        length, k, overhead = forms[form]
        cost = _cost(length, depth, k, overhead)
        yield {"form": form, "tau_predicted": length, "cost_predicted": cost}


def crossings(
    batches: dict[int, Calibrated], law_rows: pd.DataFrame, turns: pd.DataFrame
) -> pd.DataFrame:
    """The schema share at which speculation breaks even: by the law, and over arm D's turns.

    Args:
        batches: the calibration of every batch size.
        law_rows: from `law_table`.
        turns: the turns table.

    Returns:
        The crossings table.
    """
    mixed = turns[turns["arm"] == MIXED]
    rows = []
    for (batch, depth), classes in law_rows.groupby(["batch", "depth"]):
        at = batches[int(str(batch))]
        here = mixed[(mixed["batch"] == batch) & (mixed["depth"] == depth)]
        r = reasoning_share(here)
        rows.append(
            {
                "batch": batch,
                "depth": depth,
                "k": at.k,
                "r": r,
                **_predicted_crossings(at, int(str(depth)), r, classes),
                **_measured_crossing(here, r),
            }
        )
    return pd.DataFrame(rows)


def reasoning_share(turns: pd.DataFrame) -> float:
    """r: reasoning positions over all that are not schema-constrained, pooled over turns."""
    reasoning = float((turns["w_r"] * turns["tokens"]).sum())
    rest = reasoning + float((turns["w_f"] * turns["tokens"]).sum())
    return reasoning / rest if rest > 0 else NAN


def _predicted_crossings(
    at: Calibrated, depth: int, r: float, classes: pd.DataFrame
) -> dict[str, Any]:
    known = set(at.rho) == {"S", "R", "F"} and np.isfinite([at.kappa, at.k, r]).all()
    if not known or at.kappa <= 0:
        unknown = dict.fromkeys(
            ("eps_exact", "eps_first_order", "first_order_error", "share_exact"), NAN
        )
        words = {"reading_exact": "not estimable", "reading_first_order": "not estimable"}
        return {**unknown, **words, "share_first_order": NAN, "share_span_resolved": NAN}
    exact, first = law.exact_break_even(depth, at.k), law.first_order_break_even(depth, at.k)
    mixed = MeanField(at.k, at.kappa, r, law.PerClass(at.rho["S"], at.rho["R"], at.rho["F"]))
    by_exact, by_first = mixed.exact(depth), mixed.first_order(depth)
    saving = classes.set_index("position_class")["saving_law"]
    rest_saving = law.rest_mean(r, law.PerClass(saving["S"], saving["R"], saving["F"]))
    spans = law.span_resolved_crossing(float(saving["S"]), float(rest_saving))
    return {
        "eps_exact": _or_nan(exact.eps),
        "eps_first_order": _or_nan(first.eps),
        "first_order_error": _or_nan(first.eps) / _or_nan(exact.eps) - 1,
        "share_exact": _or_nan(by_exact.w_s),
        "reading_exact": str(by_exact.reading),
        "share_first_order": _or_nan(by_first.w_s),
        "reading_first_order": str(by_first.reading),
        "share_span_resolved": _or_nan(spans.w_s),
    }


def _or_nan(value: float | None) -> float:
    return NAN if value is None else float(value)


def _measured_crossing(turns: pd.DataFrame, r: float) -> dict[str, Any]:
    """Saving regressed on w_S and w_R over turns, read at the pooled r; its zero in w_S.

    Where w_S and w_R are collinear, or too few turns are left, w_S alone.
    """
    usable = turns.dropna(subset=["saving"])
    empty = {"slope_measured": NAN, "saving_at_0": NAN, "saving_at_1": NAN, "share_measured": NAN}
    if len(usable) < 3 or usable["w_s"].nunique() < 2:
        return {**empty, "turns": len(usable)}
    w_s, w_r = usable["w_s"].to_numpy(), usable["w_r"].to_numpy()
    both = np.column_stack([np.ones_like(w_s), w_s, w_r])
    full = np.linalg.matrix_rank(both) == 3 and len(usable) > 3
    design = both if full else both[:, :2]
    weights = np.linalg.lstsq(design, usable["saving"].to_numpy(), rcond=None)[0]
    of_w_r = float(weights[2]) if full else 0.0
    at_0 = float(weights[0]) + of_w_r * r if full else float(weights[0])
    at_1 = float(weights[0] + weights[1])
    slope = at_1 - at_0
    zero = -at_0 / slope if slope != 0 else NAN
    return {
        "slope_measured": slope,
        "saving_at_0": at_0,
        "saving_at_1": at_1,
        "share_measured": zero,
        "turns": len(usable),
    }
