"""Joint resampling of sampling units; every estimate is a function of their weighted sums.

A resample draws as many units as there are, with replacement, and is a row of weights: how often
each unit was drawn. Row 0 is the sample itself, so that an estimate and its draws come from one
computation. Whatever is made of one arm's units shares their weights: batch sizes, depths, classes
and tables are resampled jointly (protocol, section 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

Draws = npt.NDArray[np.float64]
"""An estimate and its resamples, shape [1 + resamples, ...]; row 0 is the estimate."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How units are resampled.

    Attributes:
        seed: of the study; each family of units has a stream of its own, so that another arm or
            cell moves no draw.
        resamples: number of them.
    """

    seed: int
    resamples: int

    def weights(self, family: str, units: int) -> Draws:
        """Times each unit was drawn, shape [1 + resamples, units].

        Args:
            family: whose units: an arm, or a timed cell.
            units: how many there are.
        """
        generator = np.random.default_rng([self.seed, *family.encode()])
        share = np.full(units, 1 / units) if units else np.empty(0)
        drawn = generator.multinomial(units, share, size=self.resamples)
        return np.vstack([np.ones((1, units)), drawn])


def unit_sums(
    frame: pd.DataFrame, unit: str, units: Sequence[str], columns: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Sums of `columns` per unit, shape [units, columns]; a unit without rows has zeros."""
    sums = frame.groupby(unit)[list(columns)].sum().reindex(list(units), fill_value=0)
    return sums.to_numpy(np.float64)


def interval(draws: Draws, level: float) -> tuple[float, float]:
    """Percentile interval of an estimate.

    Args:
        draws: shape [1 + resamples].
        level: its coverage, e.g. 0.95.

    Returns:
        Low and high. A resample in which the estimate does not exist (NaN) lies beyond both ends,
        so that enough of them make the interval unbounded.
    """
    resampled = draws[1:]
    tail = (1 - level) / 2
    missing = np.isnan(resampled)
    low = np.quantile(np.where(missing, -np.inf, resampled), tail, method="inverted_cdf")
    high = np.quantile(np.where(missing, np.inf, resampled), 1 - tail, method="inverted_cdf")
    return float(low), float(high)


def doubt(holds: npt.NDArray[np.bool_]) -> float:
    """One-sided p-value of a statement: the share of resamples in which it does not hold.

    Inverts the percentile interval; a resample in which an estimate is missing does not hold. One
    is added to both counts, so that it is never 0 (Davison and Hinkley, 1997, section 4.2.5).

    Args:
        holds: the statement in each resample, shape [1 + resamples]; row 0 is not counted.
    """
    return float((1 + np.count_nonzero(~holds[1:])) / len(holds))
