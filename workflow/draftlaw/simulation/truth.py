"""A population's own values of the estimands, against which a study's estimates are held."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from draftlaw import law
from draftlaw.arms import ARM_OF, MIXED
from draftlaw.errors import DraftLawError
from draftlaw.mean_field import MeanField
from draftlaw.simulation.draw import CLASSES, Floats, Outputs, draw_outputs, mean_one
from draftlaw.simulation.population import ByClass, Design, Population
from draftlaw.simulation.timing import round_seconds
from draftlaw.simulation.walk import Walk, walk

CLUSTERS = 2000
"""Clusters an arm of the large study has that stands in where there is no closed form."""

SCORES = np.linspace(-8, 8, 241)  # where a cluster effect is evaluated, in standard deviations
WIDEST = 64.0  # a margin is looked for with a class's multiplier between 1 / WIDEST and WIDEST


def truth(population: Population, design: Design, seed: int) -> dict[str, float]:
    """What the registered estimators estimate, in the limit of many clusters, steps and launches.

    Exact, in closed form or by quadrature (relative error below 1e-6; 2e-5 where both cluster
    effects have a standard deviation of 1.5 and kappa is clipped):

    - `eps_S`, `eps_R`, `eps_F`: mean mismatch of a class, 1;
    - `rho_S`, `rho_R`, `rho_F`: exp(-H_c), 1;
    - `kappa_id`: eps_F / (1 - rho_F), 1;
    - `k`: slope of T(gamma)/c_1 through 1 over the design's depths, which carries the overhead;
      `k_free`, `overhead`: of the free fit; `d`: draft pass / target pass; all 1;
    - `r`: pooled reasoning share of non-schema positions, 1 (up to whole tokens);
    - `nu`: draws per accepted turn; `composed_ratio`: composed over measured cost, 1;
    - `predicted_g{gamma}`: w_S* by the exact identity, 1; inf: never pays, -inf: always does, NaN:
      w_S is no lever;
    - `tau_S_g{gamma}`, ...: accepted length, token, where clusters do not differ.

    From one study of `CLUSTERS` clusters an arm, with the design's lengths and turns, batch 1:

    - `tau_S_g{gamma}`, ...: limit of the hazard estimator, where clusters differ;
    - `measured_g{gamma}`: zero of the regression of the saving on w_S and w_R over mixed turns, at
      the pooled r; `saving_0_g{gamma}`, `saving_1_g{gamma}`: its values at w_S = 0 and 1, 1.

    From these: `tau_ratio_g{gamma}`, tau_S / tau_F, and `crossing_ratio_g{gamma}`, predicted over
    measured.

    Args:
        population: whose values.
        design: its depths, lengths and turns; arms and their sizes do not matter.
        seed: of the large study.
    """
    large = design.model_copy(update={"clusters": dict.fromkeys("ABCD", CLUSTERS)})
    values = {**_calibration(population), **_costs(population, design)}
    values |= {"r": population.r, "nu": 1 / population.pass_rate}
    values["composed_ratio"] = 1 / population.composition
    values |= _accepted_lengths(population, large, values, seed)
    mixed = draw_outputs(population, large, MIXED, seed)
    for gamma in design.depths:
        found = {"predicted": _predicted(values, gamma), **_saving_line(population, mixed, gamma)}
        found["crossing_ratio"] = found["predicted"] / found["measured"]
        found["tau_ratio"] = values[f"tau_S_g{gamma}"] / values[f"tau_F_g{gamma}"]
        values |= {f"{name}_g{gamma}": value for name, value in found.items()}
    return values


def population_at(
    population: Population, design: Design, seed: int, *, moved: str, quantity: str, value: float
) -> Population:
    """The population with the multiplier of kappa in a class that puts a true value at a margin.

    For P1 move S until `tau_ratio_g{gamma}` is at it. For P2 move R until `measured_g{gamma}` is at
    the predicted crossing over the ratio wanted: neither S nor R has a part in the prediction.

    Args:
        population: all else is as here.
        design: as for `truth`.
        seed: of the large study, the same for every multiplier tried.
        moved: the class.
        quantity: a key of `truth` that rises or falls with that multiplier throughout.
        value: where it should lie.

    Raises:
        DraftLawError: no multiplier within 1/64 and 64 gives that value.
    """

    def at(log_multiplier: float) -> Population:
        changed = population.kappa_by_class.model_copy(
            update={moved: float(np.exp(log_multiplier))}
        )
        return population.model_copy(update={"kappa_by_class": changed})

    def excess(log_multiplier: float) -> float:
        return truth(at(log_multiplier), design, seed)[quantity] - value

    bound = float(np.log(WIDEST))
    ends = excess(-bound), excess(bound)
    if not ends[0] * ends[1] < 0:
        low, high = sorted(end + value for end in ends)
        raise DraftLawError(
            f"{quantity} is to be {value:.3g}, but kappa in {moved} gives {low:.3g} to {high:.3g}",
            "Ask for a value between, or change the population",
        )
    return at(float(brentq(excess, -bound, bound, xtol=1e-3)))


def _calibration(population: Population) -> dict[str, float]:
    eps = {f"eps_{name}": mean_mismatch(population, name) for name in CLASSES}
    rho = {f"rho_{name}": float(np.exp(-_value(population.entropy, name))) for name in CLASSES}
    return {**eps, **rho, "kappa_id": eps["eps_F"] / (1 - rho["rho_F"])}


def _value(values: ByClass, name: str) -> float:
    return float(getattr(values, name))


def mean_mismatch(population: Population, name: str) -> float:
    """E min(1, kappa (1 - exp(-H))) over the positions of class `name`, 1.

    H given its cluster is integrated in closed form, both cluster effects by the trapezoidal rule,
    which does not mind the kink where kappa clips as Gauss-Hermite does.
    """
    weights = stats.norm.pdf(SCORES)
    weights /= weights.sum()
    kappa = population.kappa * _value(population.kappa_by_class, name)
    kappas = kappa * mean_one(SCORES, population.kappa_sd)
    entropies = _value(population.entropy, name) * mean_one(SCORES, population.entropy_sd)
    eps = _mismatch_of_gamma(kappas[:, None], entropies[None, :], population.entropy_spread)
    return float(weights @ eps @ weights)


def _mismatch_of_gamma(kappa: Floats, mean: Floats, variation: float) -> Floats:
    """E min(1, kappa (1 - exp(-H))) for a gamma H; arguments broadcast.

    Below the H at which kappa clips, exp(-H) tilts a gamma density into another.
    """
    if variation == 0:
        return np.minimum(1.0, -kappa * np.expm1(-mean))
    shape, scale = 1 / variation**2, mean * variation**2
    above_1 = np.maximum(kappa, 1.0)
    with np.errstate(divide="ignore"):
        clips = -np.log1p(-1 / above_1)  # infinite where kappa <= 1
    below = stats.gamma.cdf(clips, shape, scale=scale)
    tilted = (1 + scale) ** -shape * stats.gamma.cdf(clips, shape, scale=scale / (1 + scale))
    eps: Floats = kappa * (below - tilted) + 1 - below
    return eps


def _costs(population: Population, design: Design) -> dict[str, float]:
    gamma = np.array(design.depths, float)
    forced = population.k + population.overhead * gamma.sum() / (gamma**2).sum()
    d = population.k * population.draft_share
    return {"k": float(forced), "k_free": population.k, "overhead": population.overhead, "d": d}


def _accepted_lengths(
    population: Population, large: Design, values: dict[str, float], seed: int
) -> dict[str, float]:
    if population.kappa_sd == population.entropy_sd == 0:
        return {
            f"tau_{name}_g{gamma}": law.accepted_prefix(values[f"eps_{name}"], gamma)
            for name, gamma in product(CLASSES, large.depths)
        }
    drawn = {name: draw_outputs(population, large, ARM_OF[name], seed) for name in CLASSES}
    return {
        f"tau_{name}_g{gamma}": hazard_tau(walk(drawn[name], gamma), gamma)
        for name, gamma in product(CLASSES, large.depths)
    }


def hazard_tau(rounds: Walk, depth: int) -> float:
    """Accepted length by the hazard estimator, token, of outputs that are one span each."""
    survival, tau = 1.0, 0.0
    for offset in range(1, depth + 1):
        examined = (rounds.accepted >= offset - 1) & (rounds.left >= offset)
        if survival > 0:
            survival *= float((rounds.accepted[examined] >= offset).mean())
        tau += survival
    return tau


def _predicted(values: dict[str, float], gamma: int) -> float:
    rho = law.PerClass(*(values[f"rho_{name}"] for name in CLASSES))
    found = MeanField(values["k"], values["kappa_id"], values["r"], rho).exact(gamma)
    if found.w_s is not None:
        return found.w_s
    rootless = {law.Reading.ALWAYS_PAYS: -np.inf, law.Reading.NEVER_PAYS: np.inf}
    return float(rootless.get(found.reading, np.nan))


def _saving_line(population: Population, mixed: Outputs, gamma: int) -> dict[str, float]:
    """Least squares over mixed turns of the saving that mean step times give."""
    relative = round_seconds(population, gamma) / round_seconds(population, 0)
    rounds = np.bincount(walk(mixed, gamma).owner, minlength=len(mixed.length))
    saving = 1 - relative * rounds / (mixed.length - 1)
    shares = np.stack([_share(mixed, code) for code in range(len(CLASSES))], axis=1)
    design = np.column_stack([np.ones(len(saving)), shares[:, 0], shares[:, 1]])
    beta = np.linalg.lstsq(design, saving, rcond=None)[0]
    at_0, at_1 = float(beta[0] + beta[2] * population.r), float(beta[0] + beta[1])
    return {"saving_0": at_0, "saving_1": at_1, "measured": at_0 / (at_0 - at_1)}


def _share(outputs: Outputs, code: int) -> Floats:
    """Share of a class in each output, [outputs]."""
    members = outputs.owner[outputs.code == code]
    counts: Floats = np.bincount(members, minlength=len(outputs.length)) / outputs.length
    return counts
