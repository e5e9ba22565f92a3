"""Intervals of the estimates that the paper quotes, by the resamples that make the verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from draftlaw import law
from draftlaw.inference.resampling import Draws, interval
from draftlaw.inference.sample import Sample


def intervals(sample: Sample, level: float) -> pd.DataFrame:
    """Estimate and percentile interval of every quantity in every cell.

    Args:
        sample: the study.
        level: confidence level.

    Returns:
        The intervals table.
    """
    cells = sample.cells()
    rows = [row for batch in sorted({b for b, _ in cells}) for row in _of_batch(sample, batch)]
    rows += [row for cell in cells for row in _of_cell(sample, *cell)]
    return pd.DataFrame([{**key, **_row(draws, level)} for key, draws in rows])


Named = tuple[dict[str, Any], Draws]


def _of_batch(sample: Sample, batch: int) -> Iterator[Named]:
    key = {"batch": batch, "depth": 0, "position_class": "none"}
    yield {**key, "quantity": "kappa_id"}, sample.kappa(batch)
    yield {**key, "quantity": "k"}, sample.k(batch)
    for name in "SRF":
        yield {**key, "quantity": "rho", "position_class": name}, sample.rho(name, batch)


def _of_cell(sample: Sample, batch: int, depth: int) -> Iterator[Named]:
    key = {"batch": batch, "depth": depth, "position_class": "none"}
    for name in "SRF":
        yield {**key, "quantity": "tau", "position_class": name}, sample.tau(name, batch, depth)
    yield {**key, "quantity": "predicted_crossing"}, sample.predicted_crossing(batch, depth)
    first = sample.predicted_crossing(batch, depth, law.first_order_break_even_mismatch)
    yield {**key, "quantity": "first_order_crossing"}, first
    yield {**key, "quantity": "span_crossing"}, sample.span_resolved_crossing(batch, depth)
    line = sample.saving_line(batch, depth)
    # a set that is not bounded has no ends
    measured = np.where(line.bounded, line.crossing, np.nan)
    measured[0] = line.crossing[0]
    yield {**key, "quantity": "measured_crossing"}, measured


def _row(draws: Draws, level: float) -> dict[str, float]:
    low, high = interval(draws, level)
    estimate = float(draws[0])
    shown = estimate if np.isfinite(estimate) else np.nan
    return {"estimate": shown, "low": low, "high": high, "level": level}
