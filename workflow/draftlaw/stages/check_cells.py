"""Check a study's cells: counts, conditions, identity of outputs, engine rounds against replay."""

from __future__ import annotations

from typing import Annotated

import typer

from draftlaw.checks import (
    CellTables,
    across_batches,
    check_conditions,
    check_counts,
    divergences,
    summary,
    unexplained_rounds,
)
from draftlaw.files import read_json, write_json
from draftlaw.options import Arms, Out, StudyFolder
from draftlaw.results import Results


def main(
    folder: StudyFolder,
    arm: Arms,
    out: Out,
    depth: Annotated[list[int] | None, typer.Option(help="A depth; may be repeated.")] = None,
) -> None:
    """Write what was checked and what was found; stop on a broken rule."""
    depths = depth or []
    results = Results(folder)
    cells = {(a, d): _cell(results, a, d) for a in arm for d in [0, *depths]}
    for cell in cells.values():
        check_counts(cell)
    conditions = check_conditions(list(cells.values()))
    diverged, unexplained = [], []
    for name in arm:
        replay, replayed = results.replay(name), results.replayed_rounds(name)
        baseline = cells[name, 0].traces
        diverged += across_batches(cells[name, 0], replay)
        for gamma in depths:
            cell = cells[name, gamma]
            diverged += divergences(cell, baseline, replay)
            unexplained += unexplained_rounds(cell, baseline, replayed, replay)
    found = {
        "cells": [row for cell in cells.values() for row in summary(cell)],
        "conditions": conditions,
        "diverged_outputs": diverged,
        "unexplained_rounds": unexplained,
    }
    write_json(out, found)


def _cell(results: Results, arm: str, depth: int) -> CellTables:
    record = read_json(results.folder / f"engine/{arm}-g{depth}.json")
    return CellTables(arm, depth, results.traces(arm, depth), results.rounds(arm, depth), record)
