"""The law against the data: accepted length and saving per class, and the break-even schema share.

Predictions use kappa and k of arm A and the entropy of each class in its own arm; nothing is fitted
to the savings that they are compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from draftlaw import law
from draftlaw.arms import ARM_OF, CONTROL, MIXED
from draftlaw.mean_field import MeanField

NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What arm A and the class arms say at one batch size.

    Attributes:
        kappa: kappa_id of the half `fit`, 1.
        k: cost slope, 1.
        rho: exp(-H_c) of each class in its own arm, 1; a class without an arm is missing.
    """

    kappa: float
    k: float
    rho: dict[str, float]


def calibrated(
    batch: int, kappas: pd.DataFrame, fits: pd.DataFrame, entropy: pd.DataFrame
) -> Calibrated:
    """Look the calibration of a batch size up in its tables."""
    kappa = kappas.query("batch == @batch and half == 'fit'")["kappa_id"]
    k = fits[(fits["batch"] == batch) & (fits["arm"] == CONTROL)]["k"]
    known = entropy.query("batch == @batch and variant == 'all'")
    home = known[known["arm"] == known["position_class"].map(ARM_OF)]
    rho = dict(zip(home["position_class"], home["predictability_of_mean"], strict=True))
    return Calibrated(_only(kappa), _only(k), {str(name): float(rho[name]) for name in rho})


def _only(values: pd.Series[float]) -> float:
    return float(values.iloc[0]) if len(values) else NAN


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
    raw = at.kappa * (1 - at.rho[name])
    eps = min(1.0, raw)
    known = not np.isnan(eps)
    tau = law.accepted_prefix(eps, depth) if known else NAN
    saving = NAN if np.isnan(at.k) or not known else _saving(tau, depth, at.k)
    return {
        "position_class": name,
        "rho": at.rho[name],
        "kappa": at.kappa,
        "eps": eps,
        "clipped": bool(raw > 1),
        "tau_law": tau,
        "saving_law": saving,
    }


def _saving(tau: float, depth: int, k: float) -> float:
    return float(law.net_saving(law.net_cost(tau, depth, k)))


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
