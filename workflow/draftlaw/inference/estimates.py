"""Estimands of the protocol in every resample, from sufficient statistics of sampling units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from draftlaw import law
from draftlaw.inference.resampling import Draws

Array = npt.NDArray[np.float64]


def accepted_length(weights: Draws, at_risk: Array, rejected: Array) -> Draws:
    """Accepted length tau by the hazard estimator (protocol, section 4), token.

    Args:
        weights: shape [1 + resamples, units].
        at_risk: draft tokens at risk by unit and offset, shape [units, depth], token.
        rejected: those rejected, same shape.

    Returns:
        Shape [1 + resamples]; NaN where an offset that can be reached has nobody at risk.
    """
    exposed = weights @ at_risk
    with np.errstate(invalid="ignore", divide="ignore"):
        passed = 1 - (weights @ rejected) / exposed
    ended = np.zeros(len(weights), bool)
    survival = np.ones(len(weights))
    tau = np.zeros(len(weights))
    for offset in range(passed.shape[1]):
        # where nothing survives, what follows counts as 0 whether or not anything was at risk
        survival = np.where(ended, 0.0, survival * passed[:, offset])
        ended |= survival == 0
        tau += survival
    return tau


def mean(weights: Draws, sums: Array, counts: Array) -> Draws:
    """Pooled mean over units, shape [1 + resamples]; NaN where no position was drawn."""
    with np.errstate(invalid="ignore", divide="ignore"):
        pooled: Draws = (weights @ sums) / (weights @ counts)
    return pooled


def kappa(mismatch: Draws, entropy: Draws) -> Draws:
    """Alignment kappa_id = eps_A / (1 - exp(-H_A)), 1 (protocol, section 1); NaN where H_A is 0."""
    gap = -np.expm1(-entropy)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio: Draws = np.where(gap > 0, mismatch / gap, np.nan)
    return ratio


def cost_slope(baseline: Draws, by_depth: dict[int, Draws]) -> Draws:
    """Slope k by least squares of T(gamma) / c_1 - 1 on gamma through the origin, 1.

    Args:
        baseline: c_1, s, shape [1 + resamples].
        by_depth: T(gamma), s, of every depth, same shape.
    """
    gammas = np.array(sorted(by_depth), np.float64)
    excess = np.stack([by_depth[int(gamma)] / baseline - 1 for gamma in gammas])
    slope: Draws = (gammas[:, None] * excess).sum(0) / (gammas**2).sum()
    return slope


def mixed(share: float, values: law.PerClass[Draws], r: Draws) -> Draws:
    """Mean of a quantity over classes at a schema share, the rest split by r: [1 + resamples]."""
    rest = r * values.reasoning + (1 - r) * values.prose
    return share * values.schema + (1 - share) * rest


def mixed_mismatch(share: float, kappa_id: Draws, rho: law.PerClass[Draws], r: Draws) -> Draws:
    """The mean-field mismatch kappa (1 - rho_bar) at a schema share, not clipped, 1."""
    return kappa_id * (1 - mixed(share, rho, r))


def law_length(mismatch: Draws, gamma: int) -> Draws:
    """The law's accepted length tau, token, at min(1, mismatch); NaN where that is not known."""
    known = ~np.isnan(mismatch)
    tau = np.full(len(mismatch), np.nan)
    tau[known] = law.accepted_prefix(np.clip(mismatch[known], 0, 1), gamma)
    return tau


def law_saving(tau: Draws, gamma: int, k: Draws) -> Draws:
    """The law's net saving, 1; NaN where tau or k is not known, or a round would cost nothing."""
    with np.errstate(invalid="ignore"):
        known = ~np.isnan(tau) & (1 + gamma * k > 0)
    saving = np.full(len(tau), np.nan)
    saving[known] = law.net_saving(law.net_cost(tau[known], gamma, k[known]))
    return saving


BreakEven = Callable[[int, Draws], Draws]
"""Mismatch at which a depth breaks even, by k in (0, 1)."""


def predicted_crossing(
    gamma: int,
    k: Draws,
    kappa_id: Draws,
    rho: law.PerClass[Draws],
    r: Draws,
    *,
    break_even: BreakEven = law.exact_break_even_mismatch,
) -> Draws:
    """Mean-field break-even schema share by an identity, shape [1 + resamples], 1.

    k >= 1 never pays (+inf), k <= 0 always does (-inf); NaN where w_S is no lever or anything that
    goes into it is missing.
    """
    rest = mixed(0.0, rho, r)
    lever = rho.schema > rest
    rooted = lever & (k > 0) & (k < 1) & (kappa_id > 0)
    eps = np.full(len(k), np.nan)
    eps[rooted] = break_even(gamma, k[rooted])
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (1 - eps / kappa_id - rest) / (rho.schema - rest)
    share = np.where(lever & (k >= 1), np.inf, share)
    crossing: Draws = np.where(lever & (k <= 0), -np.inf, share)
    return crossing


def span_resolved_crossing(savings: law.PerClass[Draws], r: Draws) -> Draws:
    """Schema share at which long spans break even, from the law's saving in each class, 1."""
    rest = mixed(0.0, savings, r)
    lever = savings.schema > rest
    crossing = np.full(len(r), np.nan)
    crossing[lever] = law.span_resolved_crossing_share(savings.schema[lever], rest[lever])
    return crossing


@dataclass(frozen=True, slots=True)
class SavingLine:
    """Net saving as a line in the schema share, read at the pooled r.

    Attributes:
        at_0: its value at w_S = 0, shape [1 + resamples], 1.
        at_1: at w_S = 1.
        bounded: the Fieller set of its root is bounded: the slope differs from 0.
    """

    at_0: Draws
    at_1: Draws
    bounded: npt.NDArray[np.bool_]

    @property
    def rises(self) -> npt.NDArray[np.bool_]:
        """Schema share raises the saving."""
        rises: npt.NDArray[np.bool_] = self.at_1 > self.at_0
        return rises

    @property
    def crossing(self) -> Draws:
        """Its zero, w_S*; NaN where it is level."""
        slope = self.at_1 - self.at_0
        with np.errstate(invalid="ignore", divide="ignore"):
            root: Draws = np.where(slope == 0, np.nan, -self.at_0 / slope)
        return root


def saving_line(
    weights: Draws, products: Array, moments: Array, r: Draws, level: float
) -> SavingLine:
    """Regression of saving on w_S, or on w_S and w_R, over turns; errors robust by unit.

    Args:
        weights: shape [1 + resamples, units].
        products: X'X of each unit's turns, columns (1, w_S) or (1, w_S, w_R): [units, p, p].
        moments: X'y of each unit's turns, shape [units, p].
        r: reasoning share of the positions that are not schema-constrained: [1 + resamples].
        level: of the Fieller set.

    Returns:
        NaN where a resample's turns do not determine the line.
    """
    p = moments.shape[1]
    gram = np.einsum("bu,uij->bij", weights, products)
    right = weights @ moments
    solvable = np.linalg.cond(gram) < 1 / np.finfo(np.float64).eps
    inverse = np.full(gram.shape, np.nan)
    inverse[solvable] = np.linalg.inv(gram[solvable])
    beta = np.einsum("bij,bj->bi", inverse, right)
    # w_R = r (1 - w_S): at w_S = 0 the line holds r of it, at w_S = 1 none
    at_0 = beta[:, 0] + (beta[:, 2] * r if p == 3 else 0.0)
    at_1 = beta[:, 0] + beta[:, 1]
    contrast = np.zeros((len(weights), p))
    contrast[:, 1] = 1.0
    if p == 3:
        contrast[:, 2] = -r
    spread = _robust_variance(
        weights, products, moments, inverse=inverse, beta=beta, contrast=contrast
    )
    units = weights.shape[1]
    quantile = stats.t.ppf((1 + level) / 2, max(units - 1, 1))
    slope = at_1 - at_0
    return SavingLine(at_0, at_1, slope**2 > quantile**2 * spread)


def _robust_variance(
    weights: Draws,
    products: Array,
    moments: Array,
    *,
    inverse: Array,
    beta: Array,
    contrast: Array,
) -> Draws:
    """Cluster-robust variance of contrast' beta in each resample."""
    lever = np.einsum("bij,bj->bi", inverse, contrast)
    variance = np.zeros(len(weights))
    for unit in range(weights.shape[1]):
        score = moments[unit] - beta @ products[unit]
        variance += weights[:, unit] * np.einsum("bi,bi->b", lever, score) ** 2
    return variance
