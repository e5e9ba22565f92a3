"""What an operator reads off: net saving against schema share, per depth, and the best depth."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from draftlaw.inference import estimates
from draftlaw.inference.resampling import interval
from draftlaw.inference.sample import Sample
from draftlaw.tables.analysis import OPERATOR_SHARES

Row = dict[str, object]


def operator_rule(sample: Sample, level: float) -> pd.DataFrame:
    """The calibrated law at every schema share, depth and batch size, with intervals.

    Args:
        sample: the study.
        level: confidence level.

    Returns:
        The operator table.
    """
    rows = [row for batch, depth in sample.cells() for row in _of_cell(sample, batch, depth, level)]
    frame = pd.DataFrame(rows)
    most = frame.groupby(["batch", "share"])["saving"].transform("max")
    return frame.assign(best=(frame["saving"] == most) & (most > 0))


def _of_cell(sample: Sample, batch: int, depth: int, level: float) -> Iterator[Row]:
    rho, kappa, k = sample.rhos(batch), sample.kappa(batch), sample.k(batch)
    r = sample.r(batch, depth)
    by_class = sample.law_savings(batch, depth)
    for share in OPERATOR_SHARES:
        tau = estimates.law_length(estimates.mixed_mismatch(share, kappa, rho, r), depth)
        saving = estimates.law_saving(tau, depth, k)
        low, high = interval(saving, level)
        spans = estimates.mixed(share, by_class, r)
        yield {
            "batch": batch,
            "depth": depth,
            "share": share,
            "length": tau[0] + 1,
            "saving": saving[0],
            "low": low,
            "high": high,
            "level": level,
            "spans": spans[0],
        }
