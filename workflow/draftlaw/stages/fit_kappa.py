"""Fit the draft's alignment constant kappa on arm A, and see how far it is one number."""

from __future__ import annotations

from typing import Annotated

import pandas as pd
import typer

from draftlaw.arms import CONTROL
from draftlaw.calibration import class_positions, kappas, position_sums, reliability
from draftlaw.options import Arms, Evidence, StudyFolder
from draftlaw.results import Results
from draftlaw.tables.analysis import KAPPAS, POSITION_SUMS, RELIABILITY


def main(
    folder: StudyFolder,
    arm: Arms,
    seed: Annotated[int, typer.Option(help="Of the halves that fit and check.")],
    bins: Annotated[int, typer.Option(help="Quantile bins of the reliability curve.")],
    evidence: Evidence,
) -> None:
    """Write kappas, reliability and position_sums."""
    results = Results(folder)
    positions = pd.concat([_positions(results, name) for name in arm], ignore_index=True)
    results.write(KAPPAS, kappas(positions[positions["arm"] == CONTROL], seed), evidence)
    results.write(RELIABILITY, reliability(positions, bins), evidence)
    results.write(POSITION_SUMS, position_sums(positions, seed), evidence)


def _positions(results: Results, arm: str) -> pd.DataFrame:
    positions = results.positions(arm)
    clusters = positions["request_id"].map(results.clusters(arm))
    return class_positions(arm, positions.assign(cluster=clusters), results.replay(arm))
