"""Calibration on arm A: the draft's alignment constant kappa, and how far it is one number.

Protocol, section 5. One half of arm A's requests fits, the other checks.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import statsmodels.api as sm

from draftlaw.arms import ARM_OF, CONTROL
from draftlaw.seeded import seeded_order
from draftlaw.variants import class_entropy


def fit_half(clusters: Iterable[str], seed: int) -> set[str]:
    """The sampling units that fit kappa: one half, by the order of a seeded hash."""
    ordered = seeded_order(set(clusters), seed)
    return set(ordered[: (len(ordered) + 1) // 2])


def class_positions(arm: str, positions: pd.DataFrame, replay: pd.DataFrame) -> pd.DataFrame:
    """Mismatch and unpredictability at the positions of the classes that an arm stands for.

    Args:
        arm: A, B or C; any other gives no row.
        positions: the positions table, with a column cluster.
        replay: the replay table of the same outputs.

    Returns:
        arm, batch, cluster, position_class, entropy (nat; masked in S), unpredictability
        1 - exp(-H), mismatch (0 or 1), one_hot and sampled (probability that sampling at
        temperature 1 would reject a draft that gives its argmax, or one that samples too).
    """
    classes = [name for name, home in ARM_OF.items() if home == arm]
    frame = positions[positions["position_class"].isin(classes)].merge(
        replay, on=["request_id", "batch", "position"], validate="one_to_one"
    )
    entropy = class_entropy(frame)
    return pd.DataFrame(
        {
            "arm": arm,
            "batch": frame["batch"],
            "cluster": frame["cluster"],
            "position_class": frame["position_class"],
            "entropy": entropy,
            "unpredictability": -np.expm1(-entropy),
            "mismatch": (~frame["match"]).astype(float),
            "one_hot": 1 - frame["p_draft_argmax"],
            "sampled": 1 - frame["overlap"],
        }
    )


def position_sums(positions: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Sums of entropy and mismatch by sampling unit.

    Args:
        positions: `class_positions` of all arms.
        seed: of the control arm's halves.

    Returns:
        The position_sums table.
    """
    sums = positions.groupby(["arm", "batch", "position_class", "cluster"]).agg(
        positions=("mismatch", "size"), mismatches=("mismatch", "sum"), entropy=("entropy", "sum")
    )
    frame = sums.astype({"mismatches": "int64"}).reset_index()
    control = frame["arm"] == CONTROL
    fitting = frame["cluster"].isin(fit_half(frame.loc[control, "cluster"], seed))
    frame["half"] = np.where(control, np.where(fitting, "fit", "check"), "none")
    return frame


def kappas(control: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Both kappas of arm A, per batch and half, with least squares beside them.

    Args:
        control: `class_positions` of arm A.
        seed: of the halves.

    Returns:
        The kappas table.
    """
    fitting = fit_half(control["cluster"], seed)
    rows = []
    for batch, positions in control.groupby("batch"):
        inside = positions["cluster"].isin(fitting)
        halves = {"fit": positions[inside], "check": positions[~inside], "all": positions}
        fitted = _kappa_id(halves["fit"])
        for half, members in halves.items():
            if len(members):
                rows.append({"batch": batch, "half": half, **_estimates(members, fitted)})
    return pd.DataFrame(rows)


def _kappa_id(members: pd.DataFrame, rejected: str = "mismatch") -> float:
    gap = -np.expm1(-members["entropy"].mean())
    return float(members[rejected].mean() / gap) if gap > 0 else float("nan")


def _estimates(members: pd.DataFrame, fitted: float) -> dict[str, float]:
    mean = float(members["entropy"].mean())
    unpredictable = members["unpredictability"].to_numpy()
    total = float(unpredictable.sum())
    kappa_pos = float(members["mismatch"].sum()) / total if total > 0 else float("nan")
    return {
        "clusters": members["cluster"].nunique(),
        "positions": len(members),
        "mismatch": float(members["mismatch"].mean()),
        "mean_entropy": mean,
        "predictability_of_mean": float(np.exp(-mean)),
        "mean_predictability": float(1 - unpredictable.mean()),
        "kappa_id": _kappa_id(members),
        "kappa_pos": kappa_pos,
        "kappa_one_hot": _kappa_id(members, "one_hot"),
        "kappa_sampled": _kappa_id(members, "sampled"),
        "predicted": fitted * -float(np.expm1(-mean)),
        "clipped": float((kappa_pos * unpredictable > 1).mean()),
        **_least_squares(members),
    }


def _least_squares(members: pd.DataFrame) -> dict[str, float]:
    """Mismatch on 1 - exp(-H), with and without intercept, errors robust by cluster."""
    groups = members["cluster"].astype("category").cat.codes.to_numpy()
    x, y = members["unpredictability"].to_numpy(), members["mismatch"].to_numpy()
    if len(np.unique(groups)) < 2 or not np.ptp(x) > 0:
        names = ("kappa_ls", "kappa_ls_se", "intercept", "intercept_se", "slope")
        return dict.fromkeys(names, float("nan"))
    robust = {"cov_type": "cluster", "cov_kwds": {"groups": groups}}
    origin = sm.OLS(y, x).fit(**robust)
    free = sm.OLS(y, sm.add_constant(x)).fit(**robust)
    return {
        "kappa_ls": float(origin.params[0]),
        "kappa_ls_se": float(origin.bse[0]),
        "intercept": float(free.params[0]),
        "intercept_se": float(free.bse[0]),
        "slope": float(free.params[1]),
    }


def reliability(positions: pd.DataFrame, bins: int) -> pd.DataFrame:
    """Mismatch by quantile bins of 1 - exp(-H), per class.

    Args:
        positions: `class_positions` of all arms.
        bins: quantile bins; equal values share one, so that there may be fewer.

    Returns:
        The reliability table.
    """
    rows = []
    for (arm, batch, name), members in positions.groupby(["arm", "batch", "position_class"]):
        codes = pd.qcut(members["unpredictability"], bins, labels=False, duplicates="drop")
        for number, inside in members.groupby(codes.fillna(0).astype(int)):
            rows.append(
                {
                    "arm": arm,
                    "batch": batch,
                    "position_class": name,
                    "bin": number,
                    "positions": len(inside),
                    "unpredictability": inside["unpredictability"].mean(),
                    "mismatch": inside["mismatch"].mean(),
                    "mismatch_se": _cluster_error(inside),
                }
            )
    return pd.DataFrame(rows)


def _cluster_error(members: pd.DataFrame) -> float:
    """Standard error of the mean mismatch, residuals summed by cluster; 0 with one cluster."""
    residual = members["mismatch"] - members["mismatch"].mean()
    sums = residual.groupby(members["cluster"]).sum()
    count = len(sums)
    if count < 2:
        return 0.0
    return float(np.sqrt(count / (count - 1) * (sums**2).sum()) / len(members))
