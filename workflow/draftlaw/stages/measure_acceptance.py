"""Measure acceptance by position class: risk sets, hazards by offset, accepted lengths."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from draftlaw.acceptance import (
    accepted_lengths,
    cell_lengths,
    examined_tokens,
    hazards,
    risk_sets,
    round_means,
    shared_positions,
)
from draftlaw.options import Arms, Depths, Evidence, StudyFolder
from draftlaw.results import Results
from draftlaw.tables.analysis import ACCEPTED, CELL_LENGTHS, HAZARDS, RISK_SETS, ROUND_MEANS

View = tuple[str, str, int, pd.DataFrame, pd.DataFrame]


def main(folder: StudyFolder, arm: Arms, depth: Depths, evidence: Evidence) -> None:
    """Write risk_sets, hazards, accepted, round_means and cell_lengths, by engine and replay."""
    results = Results(folder)
    counted, means, whole = [], [], []
    for view, name, gamma, rounds, positions in _views(results, arm, depth):
        risk = risk_sets(examined_tokens(rounds, positions, gamma), results.clusters(name))
        counted.append(risk.assign(view=view, arm=name, depth=gamma))
        means.append(round_means(rounds, positions).assign(view=view, arm=name, depth=gamma))
        whole.append(cell_lengths(rounds, gamma).assign(view=view, arm=name, depth=gamma))
    risk = pd.concat(counted, ignore_index=True)
    hazard = hazards(risk)
    results.write(RISK_SETS, risk, evidence)
    results.write(HAZARDS, hazard, evidence)
    results.write(ACCEPTED, accepted_lengths(risk, hazard), evidence)
    results.write(ROUND_MEANS, pd.concat(means, ignore_index=True), evidence)
    results.write(CELL_LENGTHS, pd.concat(whole, ignore_index=True), evidence)


def _views(results: Results, arms: list[str], depths: list[int]) -> Iterator[View]:
    """Every cell's rounds with the positions they cover, as engine and replay have them."""
    for arm in arms:
        positions, baseline = results.positions(arm), results.traces(arm, 0)
        replayed = results.replayed_rounds(arm)
        for depth in depths:
            shared = shared_positions(positions, baseline, results.traces(arm, depth))
            yield "engine", arm, depth, results.rounds(arm, depth), shared
            yield "replay", arm, depth, replayed[replayed["depth"] == depth], positions
