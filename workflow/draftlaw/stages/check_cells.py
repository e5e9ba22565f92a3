"""Check a study's cells: counts, conditions, identity of outputs, engine rounds against replay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from draftlaw.checks import (
    CellTables,
    Row,
    at_other_batches,
    check_conditions,
    check_counts,
    compare_outputs,
    summary,
    unexplained_rounds,
)
from draftlaw.files import write_json
from draftlaw.options import (
    Arms,
    BaselineLaunches,
    Evidence,
    MaybeDepths,
    SpeculativeLaunches,
    StudyFolder,
)
from draftlaw.results import Results
from draftlaw.tables.checks import DIVERGENCES, IDENTITY


def main(
    folder: StudyFolder,
    arm: Arms,
    baseline_launches: BaselineLaunches,
    launches: SpeculativeLaunches,
    evidence: Evidence,
    depth: MaybeDepths = None,
) -> None:
    """Write checks.json, identity and divergences; stop on a broken rule."""
    results = Results(folder)
    numbers = {0: baseline_launches, **dict.fromkeys(depth or [], launches)}
    cells = [
        _cell(results, name, gamma, launch)
        for name in arm
        for gamma, started in numbers.items()
        for launch in range(started)
    ]
    for cell in cells:
        check_counts(cell)
    conditions = check_conditions(cells)
    compared = [_compared(results, [c for c in cells if c.arm == name]) for name in arm]
    identity, diverged = (
        pd.concat(frames, ignore_index=True) for frames in zip(*compared, strict=True)
    )
    results.write(IDENTITY, identity, evidence)
    results.write(DIVERGENCES, diverged, evidence)
    found = {
        "cells": [row for cell in cells for row in summary(cell)],
        "conditions": conditions,
        "unexplained_rounds": [row for name in arm for row in _unexplained(results, cells, name)],
    }
    write_json(folder / "checks.json", found)


def _compared(results: Results, cells: list[CellTables]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Identity and divergences of an arm, whose first cell is its baseline."""
    baseline, *others = cells
    replay = results.replay(baseline.arm)
    second = replace(baseline, traces=results.repeat(baseline.arm))
    pairs = [("repeat", second, baseline.traces), ("shape", *at_other_batches(baseline))]
    pairs += [
        ("speculation" if cell.depth else "relaunch", cell, baseline.traces) for cell in others
    ]
    found = [compare_outputs(name, cell, reference, replay) for name, cell, reference in pairs]
    counts, differences = (
        pd.concat(frames, ignore_index=True) for frames in zip(*found, strict=True)
    )
    return counts, differences


def _unexplained(results: Results, cells: list[CellTables], arm: str) -> Iterator[Row]:
    """Rounds of an arm's speculative cells that its replay does not explain."""
    replay, replayed = results.replay(arm), results.replayed_rounds(arm)
    baseline, *others = (cell for cell in cells if cell.arm == arm)
    for cell in others:
        if cell.depth:
            yield from unexplained_rounds(cell, baseline.traces, replayed, replay)


def _cell(results: Results, arm: str, depth: int, launch: int) -> CellTables:
    key = (arm, depth, launch)
    tables = results.traces(*key), results.rounds(*key), results.record(*key)
    return CellTables(arm, depth, *tables, launch)
