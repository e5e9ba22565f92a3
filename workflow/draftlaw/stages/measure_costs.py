"""Measure costs: step times, the cost slope k, time by class, savings per cell and per turn."""

from __future__ import annotations

import pandas as pd

from draftlaw.costs import class_times, cost_fits, savings, step_costs, timed, turns, wave_costs
from draftlaw.options import (
    Arms,
    BaselineLaunches,
    Depths,
    Evidence,
    SpeculativeLaunches,
    StudyFolder,
)
from draftlaw.outputs import first_difference
from draftlaw.results import Results, by_arm
from draftlaw.tables.analysis import (
    CLASS_TIMES,
    COST_FITS,
    SAVINGS,
    STEP_COSTS,
    TURNS,
    WAVE_COSTS,
)


def main(
    folder: StudyFolder,
    arm: Arms,
    depth: Depths,
    baseline_launches: BaselineLaunches,
    launches: SpeculativeLaunches,
    evidence: Evidence,
) -> None:
    """Write step_costs, wave_costs, cost_fits, class_times, savings and turns."""
    results = Results(folder)
    numbers = {0: baseline_launches, **dict.fromkeys(depth, launches)}
    frames = [
        results.rounds(a, d, launch).assign(arm=a, depth=d)
        for a in arm
        for d, started in numbers.items()
        for launch in range(started)
    ]
    rounds = timed(pd.concat(frames, ignore_index=True))
    prompts, positions = by_arm(arm, results.prompts), by_arm(arm, results.positions)
    costs = step_costs(rounds)
    results.write(STEP_COSTS, costs, evidence)
    results.write(WAVE_COSTS, wave_costs(rounds), evidence)
    results.write(COST_FITS, cost_fits(costs), evidence)
    results.write(CLASS_TIMES, class_times(rounds, positions, costs), evidence)
    results.write(SAVINGS, savings(rounds), evidence)
    paired = turns(rounds, prompts, positions)
    same = pd.concat(
        [_identical(results, a, d, launches) for a in arm for d in depth], ignore_index=True
    )
    results.write(TURNS, paired.merge(same, on=["arm", "depth", "batch", "request_id"]), evidence)


def _identical(results: Results, arm: str, depth: int, launches: int) -> pd.DataFrame:
    """Which requests' outputs are the baseline's, token for token, in every launch of a cell."""
    key = ["request_id", "batch"]
    outputs = pd.concat([results.traces(arm, depth, launch) for launch in range(launches)])
    both = outputs.merge(results.traces(arm, 0), on=key, suffixes=("", "_baseline"))
    pairs = zip(both["output_ids"], both["output_ids_baseline"], strict=True)
    same = [first_difference(ours.tolist(), theirs.tolist()) is None for ours, theirs in pairs]
    always = both.assign(identical=same).groupby(key)["identical"].all()
    return always.reset_index().assign(arm=arm, depth=depth)
