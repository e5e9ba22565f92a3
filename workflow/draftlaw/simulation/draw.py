"""Outputs drawn from a population: classes in spans, entropies, mismatches, grammar cuts.

All positions of an arm lie in flat arrays, output after output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from draftlaw import law
from draftlaw.arms import ARM_OF, MIXED
from draftlaw.simulation.population import ByClass, Design, Population

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]

CLASSES = "SRF"
"""Codes of the classes: a class is its place here."""

CONSTRAINED = CLASSES.index("S")


@dataclass(frozen=True, slots=True)
class Outputs:
    """An arm's outputs; arrays have shape [outputs] or [positions].

    Attributes:
        arm: whose they are.
        cluster: number of each output's sampling unit, [outputs].
        turn: turn within the trajectory, from 0, [outputs].
        length: tokens, [outputs].
        owner: the output of each position, [positions].
        code: class of each position, its place in `CLASSES`, [positions].
        entropy: H, nat, [positions].
        eps: mismatch probability, clipped at 1, [positions].
        match: the draft's argmax is the output's token, [positions].
        cut: the grammar cuts the draft's token; never where it matches, [positions].
        clipped: positions whose mismatch probability was clipped.
    """

    arm: str
    cluster: Integers
    turn: Integers
    length: Integers
    owner: Integers
    code: npt.NDArray[np.int8]
    entropy: Floats
    eps: Floats
    match: Bools
    cut: Bools
    clipped: int

    @property
    def first(self) -> Integers:
        """Row of each output's position 0, [outputs]."""
        return np.cumsum(self.length) - self.length

    @property
    def position(self) -> Integers:
        """Position of each row in its output, from 0, [positions]."""
        return np.arange(len(self.owner)) - self.first[self.owner]

    @property
    def span(self) -> Integers:
        """Number of the maximal run of one class within its output, from 0, [positions]."""
        changes = np.diff(self.code, prepend=self.code[:1]) != 0
        changes[self.first] = False  # an output begins with its span 0
        run = np.cumsum(changes)
        numbers: Integers = run - run[self.first][self.owner]
        return numbers


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """Random numbers for one purpose: what another arm, cell or launch draws moves none of them."""
    return np.random.default_rng([seed, *"/".join(map(str, names)).encode()])


def draw_outputs(population: Population, design: Design, arm: str, seed: int) -> Outputs:
    """Draw an arm's outputs.

    Args:
        population: from which.
        design: how many clusters and turns, and how long outputs are.
        arm: which; a class's own arm has positions of that class only.
        seed: of the study.
    """
    turns = design.turns if arm == MIXED else 1
    cluster = np.repeat(np.arange(design.clusters[arm]), turns)
    random = stream(seed, arm, "composition")
    score = random.standard_normal(len(cluster))
    length = _lengths(population, design.tokens, score, random)
    counts = _class_counts(_shares(population, arm, score, random), length)
    code = spread_spans(counts, population.span, random)
    owner = np.repeat(np.arange(len(length)), length)
    turn = np.arange(len(cluster)) % turns
    return Outputs(
        arm,
        cluster,
        turn,
        length,
        owner,
        code,
        **_mismatches(population, cluster[owner], code, stream(seed, arm, "tokens")),
    )


def mean_one(score: Floats, sd: float) -> Floats:
    """Log-normal numbers of mean 1 from normal scores; `sd` is that of their log."""
    effects: Floats = np.exp(sd * score - sd**2 / 2)
    return effects


def log_sd(variation: float) -> float:
    """Standard deviation of the log of a log-normal number with this coefficient of variation."""
    return float(np.sqrt(np.log1p(variation**2)))


def _lengths(
    population: Population, tokens: float, score: Floats, random: np.random.Generator
) -> Integers:
    """Tokens of each output, correlated with the score of its schema share; 2 at least."""
    rho = population.length_correlation
    own = random.standard_normal(len(score))
    normal = rho * score + np.sqrt(1 - rho**2) * own
    length = tokens * mean_one(normal, log_sd(population.length_spread))
    return np.maximum(np.rint(length).astype(np.int64), 2)


def _shares(
    population: Population, arm: str, score: Floats, random: np.random.Generator
) -> law.PerClass[Floats]:
    """Class mix that each output aims at, [outputs] each."""
    if arm != MIXED:
        return law.PerClass(*(np.full(len(score), float(ARM_OF[name] == arm)) for name in CLASSES))
    w_s = _beta(population.schema_share, population.schema_share_spread, stats.norm.cdf(score))
    r = _beta(population.r, population.r_spread, random.random(len(score)))
    return law.class_mix(w_s, r)


def _beta(mean: float, spread: float, level: Floats) -> Floats:
    """Quantiles of a beta distribution whose variance is `spread` mean (1 - mean)."""
    if spread == 0:
        return np.full(len(level), mean)
    size = 1 / spread - 1
    quantiles: Floats = stats.beta.ppf(level, mean * size, (1 - mean) * size)
    return quantiles


def _class_counts(shares: law.PerClass[Floats], length: Integers) -> Integers:
    """Whole positions of each class, [outputs, classes]; they sum to the lengths."""
    schema = np.rint(shares.schema * length)
    rest = shares.reasoning + shares.prose
    r = np.divide(shares.reasoning, rest, out=np.zeros_like(rest), where=rest > 0)
    reasoning = np.rint(r * (length - schema))
    return np.stack([schema, reasoning, length - schema - reasoning], axis=1).astype(np.int64)


def spread_spans(
    counts: Integers, span: float, random: np.random.Generator
) -> npt.NDArray[np.int8]:
    """Classes of all positions: each output's are cut into pieces, and the pieces shuffled.

    Neighbours of one class merge. Pieces are of geometric length, such that a maximal run has mean
    `span` in an output much longer than that.

    Args:
        counts: positions of each class, [outputs, classes].
        span: mean length of a maximal run, token; an output in which even single shuffled positions
            have longer runs is of shuffled single positions.
        random: where the cuts and the order come from.

    Returns:
        Codes of the classes, [positions].
    """
    outputs, classes = counts.shape
    length = counts.sum(axis=1)
    code = np.repeat(np.tile(np.arange(classes, dtype=np.int8), outputs), counts.ravel())
    owner = np.repeat(np.arange(outputs), length)
    differing = 1 - ((counts / length[:, None]) ** 2).sum(axis=1)  # chance that neighbours differ
    cut = np.minimum(1.0, 1 / np.maximum(span * differing, np.finfo(float).tiny))
    begins = random.random(len(code)) < cut[owner]
    begins |= np.diff(owner * classes + code, prepend=-1) != 0
    piece = np.cumsum(begins) - 1
    place = random.random(int(begins.sum()))[piece]
    shuffled: npt.NDArray[np.int8] = code[np.lexsort((place, owner))]
    return shuffled


def _mismatches(
    population: Population,
    cluster: Integers,
    code: npt.NDArray[np.int8],
    random: np.random.Generator,
) -> dict[str, Any]:
    """Entropy, mismatch probability, match and cut of every position, [positions] each."""
    scores = random.standard_normal((2, int(cluster.max()) + 1))
    kappa = population.kappa * by_code(population.kappa_by_class)[code]
    kappa *= mean_one(scores[0], population.kappa_sd)[cluster]
    entropy = by_code(population.entropy)[code]
    entropy *= mean_one(scores[1], population.entropy_sd)[cluster]
    entropy *= _spread(population.entropy_spread, len(code), random)
    mismatch = law.mismatch(law.predictability(entropy), kappa)
    match = random.random(len(code)) >= mismatch.eps
    refused = random.random(len(code)) < population.cut_rate
    return {
        "entropy": entropy,
        "eps": mismatch.eps,
        "match": match,
        "cut": refused & ~match & (code == CONSTRAINED),
        "clipped": mismatch.n_clipped,
    }


def by_code(values: ByClass) -> Floats:
    """A number per class in the order of the codes, [classes]."""
    return np.array([getattr(values, name) for name in CLASSES])


def _spread(variation: float, size: int, random: np.random.Generator) -> Floats:
    """Gamma numbers of mean 1 with this coefficient of variation, [size]."""
    if variation == 0:
        return np.ones(size)
    shape = 1 / variation**2
    return random.standard_gamma(shape, size) / shape
