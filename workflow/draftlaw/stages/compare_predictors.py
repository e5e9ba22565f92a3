"""Set entropy against margin as predictors of the draft's mismatch (exploratory)."""

from __future__ import annotations

from typing import Annotated

import pandas as pd
import typer

from draftlaw.options import Arms, Evidence, StudyFolder
from draftlaw.predictors import mismatch_predictors, predictor_bins, scored_positions
from draftlaw.results import Results
from draftlaw.tables.analysis import MISMATCH_PREDICTORS, PREDICTOR_BINS


def main(
    folder: StudyFolder,
    arm: Arms,
    bins: Annotated[int, typer.Option(help="Quantile bins of the reliability curves.")],
    evidence: Evidence,
) -> None:
    """Write mismatch_predictors and predictor_bins."""
    results = Results(folder)
    curves, tables = [], []
    for name in arm:
        scored = _scored(results, name)
        curves.append(predictor_bins(scored, bins))
        tables.append(mismatch_predictors(scored, curves[-1]))
    results.write(PREDICTOR_BINS, pd.concat(curves, ignore_index=True), evidence)
    results.write(MISMATCH_PREDICTORS, pd.concat(tables, ignore_index=True), evidence)


def _scored(results: Results, arm: str) -> pd.DataFrame:
    positions = results.positions(arm)
    clusters = positions["request_id"].map(results.clusters(arm))
    return scored_positions(arm, positions.assign(cluster=clusters), results.replay(arm))
