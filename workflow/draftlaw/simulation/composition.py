"""Turn costs with prefix cache, speculation and gate: every draw of arm D's turns in every cell.

At batch size 1. A draw's outcome at the gate has nothing to do with its cost, and a redraw costs
what the first draw did in expectation, so that the costs compose unless the population says not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa

from draftlaw.simulation.draw import Bools, Floats, Integers, Outputs, stream
from draftlaw.simulation.population import Design, Population
from draftlaw.simulation.timing import drift, noise, round_seconds
from draftlaw.simulation.walk import walk
from draftlaw.tables.parquet import Column, Table

DRAWS = Table(
    "draws",
    key=("cache", "depth", "gate", "launch", "request_id", "draw"),
    columns=(
        Column("cache", pa.bool_(), "the prefix cache is on"),
        Column("depth", pa.int16(), "draft tokens per round; 0: no speculation", "token", low=0),
        Column("gate", pa.bool_(), "a draw that the gate refuses is drawn again, once"),
        Column("launch", pa.int16(), "launch of the engine, from 0", low=0),
        Column("cluster", pa.string(), "sampling unit: the trajectory"),
        Column("turn", pa.int16(), "assistant turn within the trajectory, from 0", low=0),
        Column("request_id", pa.string(), "the turn's request"),
        Column("draw", pa.int16(), "draw of the turn, from 1", low=1, high=2),
        Column("prefill_seconds", pa.float64(), "of this draw", "s", low=0),
        Column("decode_seconds", pa.float64(), "of this draw", "s", low=0),
        Column("accepted", pa.bool_(), "the gate accepted it; true without a gate"),
    ),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One launch of a cell of the composition."""

    cache: bool
    depth: int
    gate: bool
    launch: int


def draw_costs(
    population: Population, design: Design, outputs: Outputs, names: pd.DataFrame, seed: int
) -> pd.DataFrame:
    """Every draw of every turn, in the cells (cache, depth, gate) of every launch.

    Args:
        population: from which.
        design: depths and launches.
        outputs: of arm D.
        names: request_id, cluster and turn of each output, in their order.
        seed: of the study.

    Returns:
        The draws table. The first draw is at temperature 0: the gate says the same of it in every
        cell. The second is drawn anew in each.
    """
    rounds = {depth: _rounds(outputs, depth) for depth in (0, *design.depths)}
    passed = stream(seed, "gate").random(len(names)) < population.pass_rate
    frames = []
    for cell in _cells(design):
        random = stream(seed, "cell", cell.cache, cell.depth, cell.gate, cell.launch)
        broken = cell.cache and cell.depth > 0 and cell.gate
        factor = drift(population, random) * (population.composition if broken else 1.0)
        mean = {
            "prefill_seconds": factor * prefill_cost(population, outputs.turn, cell.cache),
            "decode_seconds": factor * round_seconds(population, cell.depth) * rounds[cell.depth],
        }
        for number, drawn, accepted in _draws(population, cell, passed, random):
            times = {
                name: (seconds * noise(population, len(names), random))[drawn]
                for name, seconds in mean.items()
            }
            frames.append(_frame(cell, names[drawn], number, times, accepted[drawn]))
    return pd.concat(frames, ignore_index=True)


def prefill_cost(population: Population, turn: Integers, cache: bool) -> Floats:
    """Mean prefill seconds of each turn; a trajectory starts with an empty cache."""
    share = np.where(turn > 0, population.cached_share, 0.0) if cache else np.zeros(len(turn))
    cost: Floats = population.prefill_seconds * (1 - share + share * population.hit_cost)
    return cost


def _cells(design: Design) -> Iterator[Cell]:
    switches = (False, True)
    for found in product(switches, (0, *design.depths), switches, range(design.launches)):
        yield Cell(*found)


def _rounds(outputs: Outputs, depth: int) -> Integers:
    """Decode rounds of each output."""
    return np.bincount(walk(outputs, depth).owner, minlength=len(outputs.length))


def _draws(
    population: Population, cell: Cell, passed: Bools, random: np.random.Generator
) -> Iterator[tuple[int, Bools, Bools]]:
    """Number of each draw, which turns it is made of, and whether they are accepted."""
    everyone = np.ones(len(passed), bool)
    yield 1, everyone, passed if cell.gate else everyone
    if cell.gate:
        yield 2, ~passed, random.random(len(passed)) < population.pass_rate


def _frame(
    cell: Cell, names: pd.DataFrame, number: int, times: dict[str, Floats], accepted: Bools
) -> pd.DataFrame:
    return names.assign(
        cache=cell.cache,
        depth=np.int16(cell.depth),
        gate=cell.gate,
        launch=np.int16(cell.launch),
        draw=np.int16(number),
        accepted=accepted,
        **times,
    )
