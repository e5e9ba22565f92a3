"""Step times: requests of a wave start together and share their steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from draftlaw.simulation.draw import Floats, Integers, log_sd, mean_one
from draftlaw.simulation.population import Population
from draftlaw.simulation.walk import Walk


@dataclass(frozen=True, slots=True)
class Steps:
    """The step of every round of a walk, [rounds] each.

    Attributes:
        wave: group of requests that started together.
        step: engine step of the launch.
        seconds: its wall time, s.
        draft_seconds: of it, the draft's proposals, s.
        requests: requests in it.
    """

    wave: Integers
    step: Integers
    seconds: Floats
    draft_seconds: Floats
    requests: Integers


def round_seconds(population: Population, depth: int) -> float:
    """Mean time of a step with one request, s: c_1 (1 + overhead + gamma k); c_1 at depth 0."""
    fixed = population.overhead if depth else 0.0
    return population.c_1 * (1 + fixed + depth * population.k)


def draft_part(population: Population, depth: int) -> float:
    """The share of a step's time that is the draft's proposals, 1."""
    proposals = depth * population.k * population.draft_share
    return population.c_1 * proposals / round_seconds(population, depth)


def drift(population: Population, random: np.random.Generator) -> float:
    """A launch's effect on all its times; mean 1."""
    return float(mean_one(random.standard_normal(1), population.launch_drift)[0])


def noise(population: Population, size: int, random: np.random.Generator) -> Floats:
    """What multiplies the time of each step, [size]; mean 1, the variation asked for."""
    if population.step_tail is None:
        return mean_one(random.standard_normal(size), log_sd(population.step_noise))
    heavy = np.abs(random.standard_t(population.step_tail, size))
    mean, sd = half_t_moments(population.step_tail)
    slowed: Floats = 1 + population.step_noise * (heavy - mean) / sd
    return slowed


def half_t_moments(tail: float) -> tuple[float, float]:
    """Mean and standard deviation of |t| with `tail` degrees of freedom, more than 2."""
    ratio = math.exp(math.lgamma((tail + 1) / 2) - math.lgamma(tail / 2))
    mean = 2 * math.sqrt(tail / math.pi) * ratio / (tail - 1)
    return mean, math.sqrt(tail / (tail - 2) - mean**2)


def time_steps(
    population: Population,
    rounds: Walk,
    random: np.random.Generator,
    *,
    depth: int,
    batch: int,
    before: int,
) -> Steps:
    """Times of a walk's steps in one launch, its drift left out.

    Args:
        population: whose costs.
        rounds: of all the arm's outputs, in the order in which they are run.
        random: where noise comes from.
        depth: draft tokens per round.
        batch: requests of a wave.
        before: steps that the launch took before.
    """
    wave = rounds.owner // batch
    lengths = np.zeros(int(wave[-1]) + 1, np.int64)
    np.maximum.at(lengths, wave, rounds.round + 2)  # a prefill step, then as many as the longest
    begin = np.cumsum(lengths) - lengths
    step = begin[wave] + rounds.round + 1
    requests = np.bincount(step, minlength=int(lengths.sum()))
    alone = round_seconds(population, depth) * noise(population, len(requests), random)
    seconds = (alone * (1 + population.batch_cost * (requests - 1)))[step]
    part = draft_part(population, depth)
    return Steps(wave, before + step, seconds, part * seconds, requests[step])


def steps_taken(steps: Steps) -> int:
    """Steps of the launch up to the last of these."""
    return int(steps.step.max()) + 1
