"""The Draft Law in closed form: from entropy to the net cost of a turn.

Source: *The Draft Law* (ThakiCloud AI Research, technical report, 2026-09-25), section 1, closed
forms; its `tau` is that of Leviathan, Kalman and Matias, *Fast Inference from Transformers via
Speculative Decoding* (ICML 2023), equation 1, without the bonus token. The functions follow the
order of the derivation: mix, predictability, mismatch, accepted prefix, cost, break-even, turn.

Symbols are those of the paper in lower case. Measured quantities are floats or float64 arrays and
broadcast against each other; with floats only, the result is a float. The draft depth `gamma` is a
design setting and always one integer. An argument outside its range raises `ValueError` with its
name, the (first) offending value and what is allowed; NaN is outside every range.
"""

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

N = TypeVar("N", float, FloatArray)
_T_co = TypeVar("_T_co", bound=float | FloatArray, covariant=True)
_U = TypeVar("_U", bound=float | FloatArray)

_SHARE_SUM_TOLERANCE = 1e-9
_BISECTIONS = 60  # the bracket (0, 1) shrinks below the spacing of floats


# --- Arguments and results ------------------------------------------------------------------------


def _require(ok: Any, name: str, value: Any, allowed: str) -> None:
    """Raise `ValueError` naming the first element of `value` where `ok` (same shape) is false."""
    if not np.all(ok):
        offending = np.atleast_1d(value)[~np.atleast_1d(ok)][0]
        raise ValueError(f"{name} must be {allowed}, got {offending}")


def _require_depth(gamma: int) -> None:
    whole = isinstance(gamma, numbers.Integral) and not isinstance(gamma, bool)
    if not whole or gamma < 1:
        raise ValueError(f"gamma must be a positive integer, got {gamma!r}")


def _require_finite(name: str, value: Any) -> None:
    _require(np.isfinite(value), name, value, "finite")


def _require_unit(name: str, value: Any) -> None:
    _require((np.asarray(value) >= 0.0) & (np.asarray(value) <= 1.0), name, value, "in [0, 1]")


def _require_at_least(name: str, value: Any, low: float) -> None:
    allowed = f"finite and at least {low:g}"
    _require(np.isfinite(value) & (np.asarray(value) >= low), name, value, allowed)


def _require_positive(name: str, value: Any) -> None:
    allowed = "finite and above 0"
    _require(np.isfinite(value) & (np.asarray(value) > 0.0), name, value, allowed)


def _require_accepted(name: str, tau: Any, gamma: int) -> None:
    _require_depth(gamma)
    allowed = f"in [0, gamma] = [0, {gamma}]"
    _require((np.asarray(tau) >= 0.0) & (np.asarray(tau) <= gamma), name, tau, allowed)


def _plain(value: Any) -> Any:
    """Give a Python float where numpy has a scalar, and leave arrays as they are."""
    return float(value) if np.ndim(value) == 0 else value


# --- Class mix ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PerClass(Generic[_T_co]):
    """One value for each position class.

    Attributes:
        schema: value of class S, schema-constrained tool calls.
        reasoning: value of class R, extended reasoning.
        prose: value of class F, free-form prose.
    """

    schema: _T_co
    reasoning: _T_co
    prose: _T_co

    def apply(self, function: Callable[[_T_co], _U]) -> "PerClass[_U]":
        """Return the function's value for each class."""
        return PerClass(function(self.schema), function(self.reasoning), function(self.prose))


def class_mix(w_s: N | float, r: N | float) -> PerClass[N]:
    """Return the shares of output positions w_S, w_R = r (1 - w_S), w_F = (1 - r)(1 - w_S).

    Args:
        w_s: w_S, share of schema positions, 1.
        r: reasoning share of the non-schema positions, 1.

    Returns:
        The three shares, 1; they sum to 1.

    Raises:
        ValueError: an argument is outside [0, 1].
    """
    _require_unit("w_s", w_s)
    _require_unit("r", r)
    schema: N = _plain(w_s + 0.0 * r)
    reasoning: N = _plain(r * (1.0 - w_s))
    prose: N = _plain((1.0 - r) * (1.0 - w_s))
    return PerClass(schema, reasoning, prose)


def weighted_mean(shares: PerClass[N | float], values: PerClass[N | float]) -> N:
    """Return the mean of a per-class value over a class mix, sum_c w_c x_c.

    The mean is kept inside the range of its values, which rounding could leave by one digit.

    Args:
        shares: w_c, 1; they sum to 1.
        values: x_c, any unit.

    Returns:
        The mean, in the unit of the values.

    Raises:
        ValueError: a share is outside [0, 1], the shares do not sum to 1, a value is not finite.
    """
    total = shares.schema + shares.reasoning + shares.prose
    for name in ("schema", "reasoning", "prose"):
        _require_unit(f"shares.{name}", getattr(shares, name))
        _require_finite(f"values.{name}", getattr(values, name))
    _require(np.abs(total - 1.0) <= _SHARE_SUM_TOLERANCE, "the sum of shares", total, "1")
    low = np.minimum(np.minimum(values.schema, values.reasoning), values.prose)
    high = np.maximum(np.maximum(values.schema, values.reasoning), values.prose)
    weighted = (
        shares.schema * values.schema
        + shares.reasoning * values.reasoning
        + shares.prose * values.prose
    )
    mean: N = _plain(np.clip(weighted, low, high))
    return mean


def rest_mean(r: N | float, values: PerClass[N | float]) -> N:
    """Return the mean over the non-schema positions, x_n = r x_R + (1 - r) x_F.

    With predictabilities it is rho_n, with savings s_n.

    Args:
        r: reasoning share of the non-schema positions, 1.
        values: x_c, any unit; the schema value has no weight.

    Returns:
        The mean, in the unit of the values.

    Raises:
        ValueError: `r` is outside [0, 1] or a value is not finite.
    """
    _require_unit("r", r)
    mean: N = weighted_mean(
        PerClass(0.0, r, 1.0 - r), PerClass(values.prose, values.reasoning, values.prose)
    )
    return mean


# --- Predictability and mismatch ------------------------------------------------------------------


def predictability(entropy: N | float) -> N:
    """Return rho = exp(-H).

    Args:
        entropy: H, next-token entropy of the target, nat.

    Returns:
        rho, predictability, 1.

    Raises:
        ValueError: `entropy` is negative or not finite.
    """
    _require_at_least("entropy", entropy, 0.0)
    rho: N = _plain(np.exp(-entropy))
    return rho


@dataclass(frozen=True)
class Mismatch(Generic[N]):
    """Mismatch probability of draft tokens, with what the clipping at 1 took away.

    Attributes:
        eps: min(1, raw), probability that a draft token is rejected, 1.
        raw: kappa (1 - rho), 1; above 1 where a weak draft (kappa > 1) meets a high entropy.
    """

    eps: N
    raw: N

    @property
    def n_clipped(self) -> int:
        """Number of elements that were clipped, raw > 1."""
        return int(np.count_nonzero(np.asarray(self.raw) > 1.0))


def mismatch(rho: N | float, kappa: N | float) -> Mismatch[N]:
    """Return eps = min(1, kappa (1 - rho)) and its unclipped value.

    Args:
        rho: predictability, 1.
        kappa: draft alignment constant, 1.

    Returns:
        The mismatch probability, clipped and raw, 1.

    Raises:
        ValueError: `rho` is outside [0, 1] or `kappa` is not above 0.
    """
    _require_unit("rho", rho)
    _require_positive("kappa", kappa)
    raw: N = _plain(kappa * (1.0 - rho))
    eps: N = _plain(np.minimum(1.0, raw))
    return Mismatch(eps, raw)


def mean_field_mismatch(
    shares: PerClass[N | float], rho: PerClass[N | float], kappa: N | float
) -> Mismatch[N]:
    """Return the mean-field mismatch, eps_bar = kappa (1 - rho_bar) with rho_bar = sum_c w_c rho_c.

    Args:
        shares: w_c, 1.
        rho: rho_c, predictability of each class, 1.
        kappa: draft alignment constant, 1.

    Returns:
        eps_bar, clipped at 1 and raw, 1.

    Raises:
        ValueError: a share or predictability is outside [0, 1], the shares do not sum to 1, or
            `kappa` is not above 0.
    """
    rho_bar: N = weighted_mean(shares, rho)
    return mismatch(rho_bar, kappa)


# --- Accepted prefix ------------------------------------------------------------------------------


def accepted_prefix(eps: N | float, gamma: int) -> N:
    """Return tau = sum_{i=1..gamma} (1 - eps)^i, the expected accepted prefix of a round.

    Evaluated as nested products: no cancellation at eps -> 0, no division, and the result is
    within [0, gamma] and monotone in eps even after rounding.

    Args:
        eps: mismatch probability of a draft token, 1.
        gamma: draft depth, token.

    Returns:
        tau, token; the bonus token of the target is not in it.

    Raises:
        ValueError: `eps` is outside [0, 1] or `gamma` is not a positive integer.
    """
    _require_unit("eps", eps)
    _require_depth(gamma)
    match = 1.0 - eps
    total = 0.0 * match
    for _ in range(gamma):
        total = match * (1.0 + total)
    tau: N = _plain(total)
    return tau


def acceptance_length(tau: N | float) -> N:
    """Return tau + 1, the tokens a round emits, bonus token included.

    Args:
        tau: expected accepted prefix, token.

    Returns:
        Acceptance length, token.

    Raises:
        ValueError: `tau` is negative or not finite.
    """
    _require_at_least("tau", tau, 0.0)
    length: N = _plain(tau + 1.0)
    return length


def span_resolved_acceptance_length(
    shares: PerClass[N | float], tau: PerClass[N | float], gamma: int
) -> N:
    """Return the acceptance length of a mix of long spans, 1 / sum_c w_c / (tau_c + 1).

    A class takes as many rounds as its tokens need, so the mixture's length is the harmonic mean.

    Args:
        shares: w_c, 1.
        tau: tau_c, expected accepted prefix of each class, token.
        gamma: draft depth, token.

    Returns:
        Acceptance length of the mixture, token.

    Raises:
        ValueError: a share is outside [0, 1], the shares do not sum to 1, a `tau` is outside
            [0, gamma], or `gamma` is not a positive integer.
    """
    for name in ("schema", "reasoning", "prose"):
        _require_accepted(f"tau.{name}", getattr(tau, name), gamma)
    rounds_per_token: N = weighted_mean(
        shares, PerClass(1 / (tau.schema + 1), 1 / (tau.reasoning + 1), 1 / (tau.prose + 1))
    )
    length: N = _plain(1.0 / rounds_per_token)
    return length


def marginal_schema_value(gamma: int, kappa: N | float, rho_s: N | float, rho_f: N | float) -> N:
    """Return d tau / d w_S at eps -> 0, gamma (gamma + 1) / 2 kappa (rho_S - rho_F).

    It is the gain from mass that moves from prose to schema; the reasoning share stays.

    Args:
        gamma: draft depth, token.
        kappa: draft alignment constant, 1.
        rho_s: rho_S, predictability of schema positions, 1.
        rho_f: rho_F, predictability of prose positions, 1.

    Returns:
        Accepted tokens per unit of schema share, token.

    Raises:
        ValueError: `gamma` is not a positive integer, `kappa` is not above 0, or a predictability
            is outside [0, 1].
    """
    _require_depth(gamma)
    _require_positive("kappa", kappa)
    _require_unit("rho_s", rho_s)
    _require_unit("rho_f", rho_f)
    value: N = _plain(0.5 * gamma * (gamma + 1) * kappa * (rho_s - rho_f))
    return value


# --- Cost, saving, speedup ------------------------------------------------------------------------


def cost_slope(delta: N | float, d: N | float) -> N:
    """Return k = delta + d, what one more drafted token adds to a round.

    Args:
        delta: verification overhead per extra token, in target passes, 1; may be negative, since
            it is a difference of measurements.
        d: cost of a draft pass relative to a target pass, 1.

    Returns:
        k, 1.

    Raises:
        ValueError: `delta` is not finite, or `d` is negative or not finite.
    """
    _require_finite("delta", delta)
    _require_at_least("d", d, 0.0)
    k: N = _plain(delta + d)
    return k


def round_cost(gamma: int, k: N | float, overhead: N | float = 0.0) -> N:
    """Return the cost of a round in target passes, 1 + overhead + gamma k.

    The law has no overhead. With one, every break-even is the law's at k + overhead / gamma.

    Args:
        gamma: draft depth, token.
        k: cost per drafted token, in target passes, 1.
        overhead: fixed cost per round, in target passes (c_T), 1; 0 is the law.

    Returns:
        Seconds of a round over c_T, 1.

    Raises:
        ValueError: `gamma` is not a positive integer, `k` or `overhead` is not finite, or the round
            would cost nothing or less.
    """
    _require_depth(gamma)
    _require_finite("k", k)
    _require_finite("overhead", overhead)
    cost: N = _plain(1.0 + overhead + gamma * k)
    _require_positive("round cost 1 + overhead + gamma k", cost)
    return cost


def net_cost(tau: N | float, gamma: int, k: N | float, overhead: N | float = 0.0) -> N:
    """Return c_net / c_T = (1 + gamma k) / (tau + 1), the relative cost of an output token.

    Args:
        tau: expected accepted prefix, token.
        gamma: draft depth, token.
        k: cost per drafted token, in target passes, 1.
        overhead: fixed cost per round, in target passes, 1; 0 is the law, else the corrected cost.

    Returns:
        Net cost per token relative to decoding without speculation, 1.

    Raises:
        ValueError: `tau` is outside [0, gamma], or as `round_cost`.
    """
    _require_accepted("tau", tau, gamma)
    seconds: N = round_cost(gamma, k, overhead)
    length: N = acceptance_length(tau)
    cost: N = _plain(seconds / length)
    return cost


def span_resolved_cost(
    shares: PerClass[N | float],
    tau: PerClass[N | float],
    gamma: int,
    k: N | float,
    overhead: N | float = 0.0,
) -> N:
    """Return c_net / c_T = (1 + gamma k) sum_c w_c / (tau_c + 1), for classes in long spans.

    Since 1 / (tau + 1) is convex in eps, it is at or above the mean-field cost as long as no
    mismatch is clipped at 1; clipping bends the curve and can turn the order round.

    Args:
        shares: w_c, 1.
        tau: tau_c, expected accepted prefix of each class, token.
        gamma: draft depth, token.
        k: cost per drafted token, in target passes, 1.
        overhead: fixed cost per round, in target passes, 1; 0 is the law.

    Returns:
        Net cost per token relative to decoding without speculation, 1.

    Raises:
        ValueError: as `span_resolved_acceptance_length` and `round_cost`.
    """
    seconds: N = round_cost(gamma, k, overhead)
    length: N = span_resolved_acceptance_length(shares, tau, gamma)
    cost: N = _plain(seconds / length)
    return cost


def net_saving(relative_cost: N | float) -> N:
    """Return s = 1 - c_net / c_T.

    Args:
        relative_cost: c_net / c_T, from `net_cost`, `span_resolved_cost` or measurement, 1.

    Returns:
        Net saving fraction, 1; negative where speculation loses, never below -gamma k by the law.

    Raises:
        ValueError: `relative_cost` is not above 0.
    """
    _require_positive("relative_cost", relative_cost)
    saving: N = _plain(1.0 - relative_cost)
    return saving


def gross_speedup(tau: N | float) -> N:
    """Return the speedup with a draft that costs nothing, tau + 1.

    Args:
        tau: expected accepted prefix, token.

    Returns:
        Gross speedup, 1: tokens of a round for the price of one target pass.

    Raises:
        ValueError: `tau` is negative or not finite.
    """
    speedup: N = acceptance_length(tau)
    return speedup


def net_speedup(relative_cost: N | float) -> N:
    """Return c_T / c_net; by the law (tau + 1) / (1 + gamma k), as Leviathan et al. 2023.

    Args:
        relative_cost: c_net / c_T, 1.

    Returns:
        Net speedup, 1.

    Raises:
        ValueError: `relative_cost` is not above 0.
    """
    _require_positive("relative_cost", relative_cost)
    speedup: N = _plain(1.0 / relative_cost)
    return speedup


def ceiling_speedup(gamma: int, k: N | float) -> N:
    """Return the net speedup when every draft token is accepted, (gamma + 1) / (1 + gamma k).

    Args:
        gamma: draft depth, token.
        k: cost per drafted token, in target passes, 1.

    Returns:
        Ceiling of the net speedup, 1.

    Raises:
        ValueError: as `round_cost`.
    """
    seconds: N = round_cost(gamma, k)
    speedup: N = _plain((gamma + 1.0) / seconds)
    return speedup


# --- Break-even in mismatch -----------------------------------------------------------------------


class Identity(StrEnum):
    """Which break-even identity a root comes from."""

    EXACT = "exact"
    FIRST_ORDER = "first order"
    SPAN_RESOLVED = "span resolved"


class Payoff(StrEnum):
    """Where in mismatch speculation pays."""

    ALWAYS = "always pays"
    NEVER = "never pays"
    BELOW_ROOT = "pays below the break-even mismatch"


@dataclass(frozen=True)
class BreakEven:
    """Outcome of a break-even identity in mismatch.

    Attributes:
        identity: exact or first order.
        payoff: where speculation pays; `k` alone decides between always, never and a root.
        eps: eps*, break-even mismatch, 1; None unless `payoff` is `BELOW_ROOT`.
    """

    identity: Identity
    payoff: Payoff
    eps: float | None


def exact_break_even_mismatch(gamma: int, k: N | float) -> N:
    """Return the exact break-even mismatch, the one root of tau(eps) = gamma k in (0, 1).

    Args:
        gamma: draft depth, token.
        k: cost per drafted token, in target passes, 1.

    Returns:
        eps*, 1, to the rounding of `accepted_prefix`.

    Raises:
        ValueError: `gamma` is not a positive integer, or `k` is outside (0, 1): no root there.
    """
    _require_depth(gamma)
    _require((np.asarray(k) > 0.0) & (np.asarray(k) < 1.0), "k", k, "in (0, 1) to have a root")
    low: FloatArray = np.zeros(np.shape(k))
    high: FloatArray = np.ones(np.shape(k))
    for _ in range(_BISECTIONS):
        middle: FloatArray = 0.5 * (low + high)
        pays = accepted_prefix(middle, gamma) > gamma * k
        low = np.where(pays, middle, low)
        high = np.where(pays, high, middle)
    root: N = _plain(0.5 * (low + high))
    return root


def first_order_break_even_mismatch(gamma: int, k: N | float) -> N:
    """Return the paper's first-order break-even mismatch, eps* = 2 (1 - k) / (gamma + 1).

    From tau ~ gamma - gamma (gamma + 1) / 2 eps. Since tau is convex in eps it lies at or below the
    exact root: a mismatch below it is sufficient for a saving, not necessary.

    Args:
        gamma: draft depth, token.
        k: cost per drafted token, in target passes, 1.

    Returns:
        eps*, 1.

    Raises:
        ValueError: `gamma` is not a positive integer, or `k` is outside (0, 1): no root there.
    """
    _require_depth(gamma)
    _require((np.asarray(k) > 0.0) & (np.asarray(k) < 1.0), "k", k, "in (0, 1) to have a root")
    root: N = _plain(2.0 * (1.0 - k) / (gamma + 1.0))
    return root


def _break_even(
    identity: Identity, root: Callable[[int, float], float], gamma: int, k: float
) -> BreakEven:
    _require_depth(gamma)
    _require_finite("k", k)
    if k <= 0.0:
        return BreakEven(identity, Payoff.ALWAYS, None)
    if k >= 1.0:
        return BreakEven(identity, Payoff.NEVER, None)
    return BreakEven(identity, Payoff.BELOW_ROOT, root(gamma, k))


def exact_break_even(gamma: int, k: float) -> BreakEven:
    """Return the exact break-even: k <= 0 always pays, k >= 1 never, else below the root.

    Args:
        gamma: draft depth, token.
        k: cost per drafted token, in target passes, 1.

    Returns:
        The outcome, with eps* where there is one.

    Raises:
        ValueError: `gamma` is not a positive integer or `k` is not finite.
    """
    return _break_even(Identity.EXACT, exact_break_even_mismatch, gamma, k)


def first_order_break_even(gamma: int, k: float) -> BreakEven:
    """Return the first-order break-even, with the same two outcomes without a root.

    Args:
        gamma: draft depth, token.
        k: cost per drafted token, in target passes, 1.

    Returns:
        The outcome, with eps* where there is one.

    Raises:
        ValueError: `gamma` is not a positive integer or `k` is not finite.
    """
    return _break_even(Identity.FIRST_ORDER, first_order_break_even_mismatch, gamma, k)


# --- Break-even in schema share -------------------------------------------------------------------


class Reading(StrEnum):
    """What a break-even schema share says."""

    ALWAYS_PAYS = "always pays"
    NEVER_PAYS = "never pays"
    CROSSES = "pays above w_S*"
    CERTIFIED_ABOVE = "certified by the first-order condition above w_S*"
    NOT_CERTIFIED = "not certified by the first-order condition"
    NOT_A_LEVER = "w_S is not a lever"


@dataclass(frozen=True)
class Crossing:
    """Outcome of a break-even identity in schema share.

    Attributes:
        identity: the identity it comes from.
        reading: what it says.
        w_s: w_S*, break-even schema share, 1, never clipped to [0, 1]; None without a root.
    """

    identity: Identity
    reading: Reading
    w_s: float | None


def _read(identity: Identity, w_s: float) -> Crossing:
    sufficient_only = identity is Identity.FIRST_ORDER
    if w_s < 0.0:
        reading = Reading.ALWAYS_PAYS
    elif w_s > 1.0:
        reading = Reading.NOT_CERTIFIED if sufficient_only else Reading.NEVER_PAYS
    else:
        reading = Reading.CERTIFIED_ABOVE if sufficient_only else Reading.CROSSES
    return Crossing(identity, reading, w_s)


def mean_field_crossing_share(
    eps_star: N | float, kappa: N | float, rho_s: N | float, rho_rest: N | float
) -> N:
    """Return w_S* = (rho* - rho_n) / (rho_S - rho_n) with rho* = 1 - eps* / kappa, unclipped.

    Args:
        eps_star: eps*, break-even mismatch, exact or first order, 1.
        kappa: draft alignment constant, 1.
        rho_s: rho_S, predictability of schema positions, 1.
        rho_rest: rho_n, predictability of the other positions, from `rest_mean`, 1.

    Returns:
        w_S*, 1; below 0 or above 1 where the identity has no crossing among real mixes.

    Raises:
        ValueError: `eps_star` or a predictability is outside [0, 1], `kappa` is not above 0, or
            `rho_s` is not above `rho_rest`: then w_S is not a lever.
    """
    _require_unit("eps_star", eps_star)
    _require_positive("kappa", kappa)
    _require_unit("rho_s", rho_s)
    _require_unit("rho_rest", rho_rest)
    span = rho_s - rho_rest
    _require_positive("rho_s - rho_rest", span)
    share: N = _plain((1.0 - eps_star / kappa - rho_rest) / span)
    return share


def mean_field_crossing(
    break_even: BreakEven, kappa: float, rho_s: float, rho_rest: float
) -> Crossing:
    """Return the break-even schema share of the mean-field law, with its reading.

    Args:
        break_even: outcome of `exact_break_even` or `first_order_break_even`.
        kappa: draft alignment constant, 1.
        rho_s: rho_S, predictability of schema positions, 1.
        rho_rest: rho_n, predictability of the other positions, 1.

    Returns:
        "w_S is not a lever" if rho_S <= rho_n; else the break-even's own outcome if it has no root;
        else w_S* and its reading.

    Raises:
        ValueError: a predictability is outside [0, 1] or `kappa` is not above 0.
    """
    _require_positive("kappa", kappa)
    _require_unit("rho_s", rho_s)
    _require_unit("rho_rest", rho_rest)
    if rho_s <= rho_rest:
        return Crossing(break_even.identity, Reading.NOT_A_LEVER, None)
    if break_even.eps is None:
        always = break_even.payoff is Payoff.ALWAYS
        reading = Reading.ALWAYS_PAYS if always else Reading.NEVER_PAYS
        return Crossing(break_even.identity, reading, None)
    share = mean_field_crossing_share(break_even.eps, kappa, rho_s, rho_rest)
    return _read(break_even.identity, share)


def span_resolved_crossing_share(saving_s: N | float, saving_rest: N | float) -> N:
    """Return w* = -s_n / (s_S - s_n), where the span-resolved saving is zero, unclipped.

    Args:
        saving_s: s_S, net saving inside schema spans, 1.
        saving_rest: s_n, net saving outside them, from `rest_mean` over savings, 1.

    Returns:
        w*, 1.

    Raises:
        ValueError: a saving is not finite, or `saving_s` is not above `saving_rest`: then w_S is
            not a lever.
    """
    _require_finite("saving_s", saving_s)
    _require_finite("saving_rest", saving_rest)
    span = saving_s - saving_rest
    _require_positive("saving_s - saving_rest", span)
    share: N = _plain(-saving_rest / span)
    return share


def span_resolved_crossing(saving_s: float, saving_rest: float) -> Crossing:
    """Return the break-even schema share of the span-resolved law, with its reading.

    Args:
        saving_s: s_S, net saving inside schema spans, 1.
        saving_rest: s_n, net saving outside them, 1.

    Returns:
        "w_S is not a lever" if s_S <= s_n, else w* and its reading.

    Raises:
        ValueError: a saving is not finite.
    """
    _require_finite("saving_s", saving_s)
    _require_finite("saving_rest", saving_rest)
    if saving_s <= saving_rest:
        return Crossing(Identity.SPAN_RESOLVED, Reading.NOT_A_LEVER, None)
    return _read(Identity.SPAN_RESOLVED, span_resolved_crossing_share(saving_s, saving_rest))


# --- Composition ----------------------------------------------------------------------------------


def turn_cost(
    *,
    nu: N | float,
    h: N | float,
    c_hit: N | float,
    c_pre: N | float,
    relative_cost: N | float,
    c_dec: N | float,
) -> N:
    """Return C_total = nu [(1 - h + h c_hit) C_pre + (c_net / c_1) C_dec].

    Args:
        nu: expected draws per accepted turn under validation-gated resampling, 1.
        h: share of prompt tokens served from the prefix cache, 1.
        c_hit: cost of a cached prompt token relative to a prefilled one, 1.
        c_pre: C_pre, prefill cost of a turn without a cache, s.
        relative_cost: c_net / c_1, 1.
        c_dec: C_dec, decode cost of a turn without speculation, s.

    Returns:
        C_total, s per accepted turn.

    Raises:
        ValueError: `nu` is below 1, `h` is outside [0, 1], a cost is negative, or `relative_cost`
            is not above 0.
    """
    _require_at_least("nu", nu, 1.0)
    _require_unit("h", h)
    _require_at_least("c_hit", c_hit, 0.0)
    _require_at_least("c_pre", c_pre, 0.0)
    _require_positive("relative_cost", relative_cost)
    _require_at_least("c_dec", c_dec, 0.0)
    total: N = _plain(nu * ((1.0 - h + h * c_hit) * c_pre + relative_cost * c_dec))
    return total
