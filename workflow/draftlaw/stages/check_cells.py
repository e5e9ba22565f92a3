"""Check a study's cells: counts, conditions, identity of outputs, engine rounds against replay."""

from __future__ import annotations

from pathlib import Path
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
from draftlaw.options import Out
from draftlaw.tables.engine import ROUNDS, TRACES
from draftlaw.tables.replay import REPLAY, REPLAYED_ROUNDS


def main(
    folder: Annotated[Path, typer.Option(help="The study's results.")],
    arm: Annotated[list[str], typer.Option(help="An arm; may be repeated.")],
    out: Out,
    depth: Annotated[list[int] | None, typer.Option(help="A depth; may be repeated.")] = None,
) -> None:
    """Write what was checked and what was found; stop on a broken rule."""
    depths = depth or []
    cells = {(a, d): _cell(folder, a, d) for a in arm for d in [0, *depths]}
    for cell in cells.values():
        check_counts(cell)
    conditions = check_conditions(list(cells.values()))
    diverged, unexplained = [], []
    for name in arm:
        replay = REPLAY.read(folder / f"replay/{name}.parquet")
        replayed = REPLAYED_ROUNDS.read(folder / f"replay/{name}-rounds.parquet")
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


def _cell(folder: Path, arm: str, depth: int) -> CellTables:
    name = f"{arm}-g{depth}"
    return CellTables(
        arm,
        depth,
        TRACES.read(folder / f"traces/{name}.parquet"),
        ROUNDS.read(folder / f"rounds/{name}.parquet"),
        read_json(folder / f"engine/{name}.json"),
    )
