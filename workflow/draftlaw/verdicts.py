"""The registered predictions read in every cell: estimate, interval, doubts, the literal rule.

Protocol, section 6. A reading says how far the resamples leave a prediction, or its refutation, in
doubt; `judgement` makes verdicts of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from draftlaw.arms import MIXED
from draftlaw.inference.resampling import Draws, doubt, interval
from draftlaw.inference.sample import Sample
from draftlaw.margins import Margins

Row = dict[str, Any]
Holds = npt.NDArray[np.bool_]

RATIO_LEVEL = 0.9
"""Of the interval of P2's ratio: two one-sided tests at 5 % (protocol, section 6)."""

TAU_S_R = "tau_S - tau_R"
TAU_R_F = "tau_R - tau_F"
TAU_S_F = "tau_S / tau_F"
TAU_S_F_AT_ALL = "tau_S / tau_F above 1"
CROSSING_RATIO = "w_S* predicted / measured"
ONE_SIGN = "s of one sign, w_S* predicted inside"
HIGH_SHARE = "s at high w_S"
LOW_CROSSING = "w_S* predicted below high w_S"
COMPOSED = "composed cost"
DIFFERING = "differing outputs"


@dataclass(frozen=True, slots=True)
class Reading:
    """An estimand in one cell, against what a prediction says of it.

    Attributes:
        prediction: P1-P4.
        quantity: what was looked at.
        draws: the estimate and its resamples.
        threshold: what it is compared with.
        literal: whether the paper's rule holds on the point estimate.
        supports: where a resample bears the prediction out; None: the reading cannot support.
        refutes: where it bears the refutation out; None: the reading cannot refute.
        reason: in words.
        level: of the interval.
    """

    prediction: str
    quantity: str
    draws: Draws
    threshold: float
    literal: bool
    supports: Holds | None
    refutes: Holds | None
    reason: str
    level: float = 0.95

    def row(self, turns: pd.DataFrame) -> Row:
        """Its row of the verdicts table, without the cell; `turns` are those behind it."""
        estimate = float(self.draws[0])
        low, high = interval(self.draws, self.level)
        literal = "holds" if self.literal else "fails"
        return {
            "prediction": self.prediction,
            "quantity": self.quantity,
            "estimate": estimate if np.isfinite(estimate) else np.nan,
            "low": low,
            "high": high,
            "level": self.level,
            "threshold": self.threshold,
            "support_p": np.nan if self.supports is None else doubt(self.supports),
            "refute_p": np.nan if self.refutes is None else doubt(self.refutes),
            "literal": "not estimable" if np.isnan(estimate) else literal,
            "requests": len(turns),
            "positions": int(turns["tokens"].sum()),
            "reason": self.reason,
        }


def verdicts(sample: Sample, margins: Margins) -> pd.DataFrame:
    """Every registered prediction in every cell.

    Args:
        sample: the study.
        margins: the registered margins.

    Returns:
        The verdicts table.
    """
    rows: list[Row] = []
    for (batch, depth), cell in sample.tables.turns.groupby(["batch", "depth"]):
        at = (int(str(batch)), int(str(depth)))
        arms, mixed = cell[cell["arm"] != MIXED], cell[cell["arm"] == MIXED]
        high = mixed[mixed["w_s"] >= margins.high_share].dropna(subset=["saving"])
        found = [reading.row(arms) for reading in order(sample, margins, *at)]
        found += [reading.row(mixed) for reading in break_even(sample, margins, *at)]
        found += [reading.row(high) for reading in high_share(sample, margins, *at)]
        found += [composition(mixed), lossless(cell)]
        rows += [{**row, "batch": at[0], "depth": at[1]} for row in found]
    return pd.DataFrame(rows)


def order(sample: Sample, margins: Margins, batch: int, depth: int) -> Iterator[Reading]:
    """P1: tau_S > tau_R > tau_F, and tau_S at least `ratio` times tau_F. R1: tau_S <= tau_F."""
    s, r, f = (sample.tau(name, batch, depth) for name in "SRF")
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = s / f
    for quantity, draws, arms in ((TAU_S_R, s - r, "B and C"), (TAU_R_F, r - f, "C and A")):
        reason = f"accepted lengths of arms {arms}; above 0"
        yield _above("P1", quantity, draws, 0.0, literal=draws[0] > 0, reason=reason)
    reason = "arms B and A; at least the threshold"
    yield _above(
        "P1", TAU_S_F, ratio, margins.ratio, literal=ratio[0] >= margins.ratio, reason=reason
    )
    yield _above(
        "P1", TAU_S_F_AT_ALL, ratio, 1.0, literal=ratio[0] > 1, reason="at or below 1 is R1"
    )


def _above(
    prediction: str, quantity: str, draws: Draws, threshold: float, *, literal: bool, reason: str
) -> Reading:
    above, below = draws > threshold, draws < threshold
    return Reading(prediction, quantity, draws, threshold, bool(literal), above, below, reason)


def break_even(sample: Sample, margins: Margins, batch: int, depth: int) -> Iterator[Reading]:
    """P2: the crossing measured on arm D within the margin of the predicted one."""
    predicted, line = sample.predicted_crossing(batch, depth), sample.saving_line(batch, depth)
    measured = line.crossing
    # no finite root above 0, or none that the turns determine, is outside the margin
    usable = (predicted > 0) & np.isfinite(predicted) & (measured > 0) & line.rises & line.bounded
    usable[0] = np.isfinite(predicted[0]) and np.isfinite(measured[0]) and bool(measured[0] != 0)
    ratio = np.full(len(predicted), np.nan)
    ratio[usable] = predicted[usable] / measured[usable]
    near, far = 1 + margins.crossing, 1 - margins.crossing
    error = abs(predicted[0] - measured[0]) / abs(measured[0]) if usable[0] else np.nan
    reason = f"predicted {_words(predicted[0])} (exact identity), measured {_words(measured[0])}"
    yield Reading(
        "P2",
        CROSSING_RATIO,
        ratio,
        margins.crossing,
        bool(error <= margins.crossing),
        _all(ratio > 1 / near, ratio < near),
        _any(ratio < far, ratio > 1 / far),
        reason + _concordance(float(predicted[0]), float(measured[0])),
        RATIO_LEVEL,
    )
    least, most = np.minimum(line.at_0, line.at_1), np.maximum(line.at_0, line.at_1)
    one_sign = _any(least > 0, most < 0)
    extreme = np.where(np.abs(least) < np.abs(most), least, most)
    reason = "refutes if the predicted crossing is inside (0, 1) and s has one sign there"
    holds = not (0 < predicted[0] < 1 and bool(one_sign[0]))
    refutes = _all(predicted > 0, predicted < 1, one_sign)
    yield Reading("P2", ONE_SIGN, extreme, 0.0, holds, None, refutes, reason)


def _all(*statements: Holds) -> Holds:
    """Of one-sided statements that must all hold, the one in most doubt."""
    return max(statements, key=doubt)


def _any(*statements: Holds) -> Holds:
    """Of one-sided statements that exclude each other, the one in least doubt."""
    return min(statements, key=doubt)


def _concordance(predicted: float, measured: float) -> str:
    same_side = (predicted > 1 and measured > 1) or (predicted < 0 and measured < 0)
    return "; both outside [0, 1] on the same side (concordant)" if same_side else ""


def _words(share: float) -> str:
    return f"{share:.3f}" if np.isfinite(share) else "no crossing"


def high_share(sample: Sample, margins: Margins, batch: int, depth: int) -> Iterator[Reading]:
    """R2, the refutation of P2: a loss over the turns with a high schema share.

    It is diagnostic only where the law itself predicts a saving there: its crossing lies below.
    """
    share = margins.high_share
    saving = sample.saving_above(share, batch, depth)
    reason = f"token-pooled over turns with w_S >= {share:g}; below 0 is R2 by the letter"
    yield _above("P2", HIGH_SHARE, saving, 0.0, literal=saving[0] >= 0, reason=reason)
    predicted = sample.predicted_crossing(batch, depth)
    below = predicted < share
    reason = "where it is not, the law itself may predict a loss there: R2 is not diagnostic"
    yield Reading("P2", LOW_CROSSING, predicted, share, bool(below[0]), None, below, reason)


def composition(turns: pd.DataFrame) -> Row:
    """P3 needs cells with prefix cache and gate."""
    nothing = np.full(2, np.nan)
    reason = "cache and gate cells are not measured yet"
    reading = Reading("P3", COMPOSED, nothing, np.nan, False, None, None, reason)
    return {**reading.row(turns), "literal": "not measured", "low": np.nan, "high": np.nan}


def lossless(turns: pd.DataFrame) -> Row:
    """P4: outputs with and without speculation are the same; exact, without resamples."""
    differing = float((~turns["identical"]).sum())
    reason = "outputs unlike the baseline's, all arms"
    reading = Reading(
        "P4", DIFFERING, np.full(2, differing), 0.0, differing == 0, None, None, reason
    )
    return {**reading.row(turns), "low": np.nan, "high": np.nan}
