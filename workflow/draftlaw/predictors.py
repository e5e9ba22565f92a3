"""Entropy against margin: which score of the target tells where the draft is rejected.

Exploratory (protocol, section 1, known weak points). Both scores are computed from the target alone
and rise with the doubt about its token.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from draftlaw.arms import ARM_OF
from draftlaw.calibration import reliability
from draftlaw.tables.analysis import PREDICTORS
from draftlaw.variants import class_entropy

Array = npt.NDArray[np.float64]
CELL = ["arm", "batch", "position_class"]


def scored_positions(arm: str, positions: pd.DataFrame, replay: pd.DataFrame) -> pd.DataFrame:
    """Mismatch and both scores at the positions that an arm stands for; in arm D at all.

    Args:
        arm: its name.
        positions: the positions table, with a column cluster.
        replay: the replay table of the same outputs.

    Returns:
        arm, batch, cluster, position_class, mismatch (0 or 1), entropy (1 - exp(-H)) and margin
        (exp(-m): the odds of the target's second token against its first), 1 both; masked in S.
    """
    own = [name for name, home in ARM_OF.items() if home == arm] or list(ARM_OF)
    frame = positions[positions["position_class"].isin(own)].merge(
        replay, on=["request_id", "batch", "position"], validate="one_to_one"
    )
    # no second token is allowed where the masked margin is missing
    masked = frame["margin"].fillna(np.inf)
    margin = masked.where(frame["position_class"] == "S", frame["margin_raw"])
    return pd.DataFrame(
        {
            "arm": arm,
            "batch": frame["batch"],
            "cluster": frame["cluster"],
            "position_class": frame["position_class"],
            "mismatch": (~frame["match"]).astype(float),
            "entropy": -np.expm1(-class_entropy(frame)),
            "margin": np.exp(-margin),
        }
    )


def predictor_bins(scored: pd.DataFrame, bins: int) -> pd.DataFrame:
    """Mismatch by quantile bins of either score.

    Args:
        scored: `scored_positions` of any arms.
        bins: quantile bins; equal values share one, so that there may be fewer.

    Returns:
        The predictor_bins table.
    """
    curves = [
        reliability(scored.assign(unpredictability=scored[name]), bins).assign(predictor=name)
        for name in PREDICTORS
    ]
    return pd.concat(curves, ignore_index=True).rename(columns={"unpredictability": "score"})


def mismatch_predictors(scored: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """How well either score tells a mismatch from a match, by arm, batch and class.

    Args:
        scored: `scored_positions` of any arms.
        curves: `predictor_bins` of the same positions.

    Returns:
        The mismatch_predictors table.
    """
    rows = [
        {**dict(zip(CELL, key, strict=True)), **row}
        for key, members in scored.groupby(CELL)
        for row in _of_cell(members)
    ]
    gaps = curves.assign(calibration_error=_gaps(curves)).groupby([*CELL, "predictor"])
    return pd.DataFrame(rows).merge(gaps["calibration_error"].sum().reset_index())


def _gaps(curves: pd.DataFrame) -> pd.Series[float]:
    """What each bin adds to the mean gap between mismatch and the score scaled to its mean."""
    key = [curves[name] for name in (*CELL, "predictor")]
    weighted = curves[["mismatch", "score"]].mul(curves["positions"], axis=0)
    totals = weighted.groupby(key).transform("sum")
    scale = totals["mismatch"] / totals["score"].where(totals["score"] > 0)
    predicted = (scale * curves["score"]).clip(upper=1).fillna(0)
    share = curves["positions"] / curves["positions"].groupby(key).transform("sum")
    return (curves["mismatch"] - predicted).abs() * share


def _of_cell(members: pd.DataFrame) -> Iterator[dict[str, Any]]:
    mismatch = members["mismatch"].to_numpy() > 0
    units = members["cluster"].astype("category").cat.codes.to_numpy()
    counts = {
        "clusters": int(units.max()) + 1,
        "positions": len(members),
        "mismatches": int(mismatch.sum()),
    }
    areas, influences = {}, {}
    for name in PREDICTORS:
        areas[name], influences[name] = auc(members[name].to_numpy(), mismatch)
    for name, other in zip(PREDICTORS, reversed(PREDICTORS), strict=True):
        yield {
            **counts,
            "predictor": name,
            "auc": areas[name],
            "auc_se": _robust(influences[name], units),
            "advantage": areas[name] - areas[other],
            "advantage_se": _robust(influences[name] - influences[other], units),
            "spearman": _spearman(members[name].to_numpy(), mismatch),
        }


def auc(score: Array, mismatch: npt.NDArray[np.bool_]) -> tuple[float, Array]:
    """Area under the ROC curve, and what each position contributes to its error.

    The area is the Mann-Whitney statistic over the number of pairs: the chance that a mismatch has
    the higher score, ties counting a half. The contributions are the placements of DeLong, DeLong
    and Clarke-Pearson (Biometrics 44, 1988) about their mean; summed by sampling unit and squared
    they give the variance that Obuchowski (Biometrics 53, 1997) gives for clustered data.

    Args:
        score: shape [positions].
        mismatch: shape [positions].

    Returns:
        The area, 1 (NaN unless there is both a mismatch and a match), and the contributions, shape
        [positions].
    """
    matches, mismatches = int((~mismatch).sum()), int(mismatch.sum())
    if not matches or not mismatches:
        return float("nan"), np.full(len(score), np.nan)
    rank = stats.rankdata(score)
    placement = np.empty(len(score))
    placement[mismatch] = (rank[mismatch] - stats.rankdata(score[mismatch])) / matches
    below = (rank[~mismatch] - stats.rankdata(score[~mismatch])) / mismatches
    placement[~mismatch] = 1 - below
    area = float(placement[mismatch].mean())
    return area, (placement - area) / np.where(mismatch, mismatches, matches)


def _robust(influence: Array, units: npt.NDArray[np.integer[Any]]) -> float:
    """Standard error from contributions summed by sampling unit; NaN with a single unit."""
    sums = np.bincount(units, influence)
    if len(sums) < 2:
        return float("nan")
    return float(np.sqrt(len(sums) / (len(sums) - 1) * (sums**2).sum()))


def _spearman(score: Array, mismatch: npt.NDArray[np.bool_]) -> float:
    if not np.ptp(score) > 0 or not np.ptp(mismatch.astype(int)) > 0:
        return float("nan")
    return float(stats.spearmanr(score, mismatch).statistic)
