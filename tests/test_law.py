"""The closed forms of the Draft Law: properties, published numbers, outcomes, errors."""

import itertools
import math
import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from draftlaw import law
from draftlaw.law import Identity, Payoff, PerClass, Reading

fast = settings(max_examples=150, deadline=None, derandomize=True)

depths = st.integers(1, 24)
units = st.floats(0.0, 1.0)
inner = st.floats(0.001, 0.999)
slopes = st.floats(1e-4, 0.9999)
kappas = st.floats(0.05, 3.0)
mixes = st.builds(law.class_mix, units, units)
PerClassFloat = PerClass[float]


def per_class(values: st.SearchStrategy[float]) -> st.SearchStrategy[PerClassFloat]:
    return st.builds(PerClass, values, values, values)


def tau_of(rho: float, kappa: float, gamma: int) -> float:
    return law.accepted_prefix(law.mismatch(rho, kappa).eps, gamma)


def saving_of(tau: float, gamma: int, k: float) -> float:
    return law.net_saving(law.net_cost(tau, gamma, k))


# --- Class mix ------------------------------------------------------------------------------------


@fast
@given(units, units)
def test_mix_sums_to_one_and_splits_the_rest_by_r(w_s: float, r: float) -> None:
    mix = law.class_mix(w_s, r)
    assert mix.schema == w_s
    assert mix.schema + mix.reasoning + mix.prose == pytest.approx(1.0, abs=1e-12)
    assert mix.reasoning == pytest.approx(r * (1.0 - w_s), abs=1e-12)
    assert mix.prose == pytest.approx((1.0 - r) * (1.0 - w_s), abs=1e-12)


def test_mix_known_numbers() -> None:
    mix = law.class_mix(0.6, 0.75)
    assert (mix.schema, mix.reasoning, mix.prose) == pytest.approx((0.6, 0.3, 0.1))
    assert law.weighted_mean(mix, PerClass(1.0, 10.0, 100.0)) == pytest.approx(13.6)
    assert law.rest_mean(0.75, PerClass(-1e9, 10.0, 100.0)) == pytest.approx(32.5)


@fast
@given(mixes, per_class(units))
def test_mean_stays_within_its_values(mix: PerClassFloat, values: PerClassFloat) -> None:
    low, *_, high = sorted((values.schema, values.reasoning, values.prose))
    assert low <= law.weighted_mean(mix, values) <= high


def test_mean_rejects_shares_that_do_not_sum_to_one() -> None:
    with pytest.raises(ValueError, match=r"the sum of shares must be 1, got 0\.8"):
        law.weighted_mean(PerClass(0.4, 0.4, 0.0), PerClass(1.0, 1.0, 1.0))


# --- Predictability and mismatch ------------------------------------------------------------------


@fast
@given(st.floats(0.0, 50.0))
def test_predictability_undoes_entropy(entropy: float) -> None:
    assert -math.log(law.predictability(entropy)) == pytest.approx(entropy, abs=1e-12)


def test_predictability_of_a_uniform_choice_is_its_probability() -> None:
    assert law.predictability(math.log(8.0)) == pytest.approx(1.0 / 8.0)
    assert law.predictability(0.0) == 1.0


@fast
@given(units, kappas)
def test_mismatch_is_the_clipped_line(rho: float, kappa: float) -> None:
    result = law.mismatch(rho, kappa)
    assert result.raw == pytest.approx(kappa * (1.0 - rho))
    assert 0.0 <= result.eps <= 1.0
    assert result.eps == min(1.0, result.raw)
    assert result.n_clipped == (result.raw > 1.0)


def test_clipping_is_counted_and_the_raw_value_kept() -> None:
    result = law.mismatch(np.array([0.1, 0.2, 0.6, 1.0]), 2.0)
    np.testing.assert_allclose(result.eps, [1.0, 1.0, 0.8, 0.0])
    np.testing.assert_allclose(result.raw, [1.8, 1.6, 0.8, 0.0])
    assert result.n_clipped == 2
    assert law.mismatch(np.array([0.1, 0.2, 0.6, 1.0]), 1.0).n_clipped == 0


@fast
@given(mixes, per_class(units), kappas)
def test_mean_field_clips_the_mean_not_the_classes(
    mix: PerClassFloat, rho: PerClassFloat, kappa: float
) -> None:
    result = law.mean_field_mismatch(mix, rho, kappa)
    raw = rho.apply(lambda value: law.mismatch(value, kappa).raw)
    assert result.raw == pytest.approx(law.weighted_mean(mix, raw), abs=1e-12)
    assert result.eps == min(1.0, result.raw)


# --- Accepted prefix ------------------------------------------------------------------------------


@fast
@given(units, depths)
def test_tau_is_the_sum_of_powers(eps: float, gamma: int) -> None:
    explicit = math.fsum((1.0 - eps) ** i for i in range(1, gamma + 1))
    assert law.accepted_prefix(eps, gamma) == pytest.approx(explicit, rel=1e-13, abs=1e-300)


@fast
@given(st.fractions(0, 1, max_denominator=1000), depths)
def test_tau_is_the_mean_of_the_round_exactly_stepped(eps: Fraction, gamma: int) -> None:
    alive, mean = Fraction(1), Fraction(0)
    for accepted in range(gamma):
        mean += accepted * alive * eps
        alive *= 1 - eps
    mean += gamma * alive
    assert law.accepted_prefix(float(eps), gamma) == pytest.approx(float(mean), rel=1e-12)


@pytest.mark.parametrize("gamma", [1, 2, 5])
def test_tau_is_the_mean_over_all_outcomes_of_the_drafted_tokens(gamma: int) -> None:
    eps, mean = 0.3, 0.0
    for outcome in itertools.product([True, False], repeat=gamma):
        probability = math.prod(1.0 - eps if match else eps for match in outcome)
        mean += probability * len(list(itertools.takewhile(bool, outcome)))
    assert law.accepted_prefix(eps, gamma) == pytest.approx(mean)


@fast
@given(inner, depths)
def test_acceptance_length_is_leviathans_equation_one(eps: float, gamma: int) -> None:
    alpha = 1.0 - eps
    expected = (1.0 - alpha ** (gamma + 1)) / (1.0 - alpha)
    tau = law.accepted_prefix(eps, gamma)
    assert law.acceptance_length(tau) == pytest.approx(expected, rel=1e-9)
    assert law.gross_speedup(tau) == pytest.approx(expected, rel=1e-9)


@fast
@given(units, depths)
def test_tau_is_within_its_bounds(eps: float, gamma: int) -> None:
    assert 0.0 <= law.accepted_prefix(eps, gamma) <= gamma


@fast
@given(units, units, depths)
def test_tau_never_rises_with_eps(one: float, other: float, gamma: int) -> None:
    low, high = sorted((one, other))
    assert law.accepted_prefix(low, gamma) >= law.accepted_prefix(high, gamma)
    if high - low > 1e-9:
        assert law.accepted_prefix(low, gamma) > law.accepted_prefix(high, gamma)


@fast
@given(st.floats(0.0, 0.75), depths)
def test_tau_rises_with_gamma_by_the_chance_of_the_last_token(eps: float, gamma: int) -> None:
    gain = law.accepted_prefix(eps, gamma + 1) - law.accepted_prefix(eps, gamma)
    assert gain > 0.0
    assert gain == pytest.approx((1.0 - eps) ** (gamma + 1), abs=1e-12)


@pytest.mark.parametrize("gamma", [1, 4, 8, 16])
def test_tau_at_the_ends_and_next_to_them(gamma: int) -> None:
    assert law.accepted_prefix(0.0, gamma) == gamma
    assert law.accepted_prefix(1.0, gamma) == 0.0
    assert law.accepted_prefix(5e-324, gamma) == gamma
    tiny = 1e-9
    lost = gamma - law.accepted_prefix(tiny, gamma)
    assert lost == pytest.approx(gamma * (gamma + 1) / 2 * tiny, rel=1e-5)
    assert law.accepted_prefix(1.0 - 2**-50, gamma) == pytest.approx(2**-50, rel=1e-12)


@pytest.mark.parametrize(
    ("depth", "published"), [(1, 1.81), (2, 2.46), (3, 3.00), (4, 3.43), (5, 3.79)]
)
def test_published_acceptance_lengths(depth: int, published: float) -> None:
    length = law.acceptance_length(law.accepted_prefix(1.0 - 0.81, depth))
    assert length == pytest.approx(published, rel=0.02)


@fast
@given(st.floats(0.01, 1.0), st.floats(0.1, 2.0), st.floats(0.0, 0.5), depths, st.floats(0.05, 0.3))
def test_marginal_schema_value_is_the_slope_at_zero_mismatch(
    spread: float, kappa: float, base: float, gamma: int, step: float
) -> None:
    small = 1e-7
    rho = PerClass(1.0 - base * small, 1.0 - small, 1.0 - (base + spread) * small)
    before, after = PerClass(0.3, 0.2, 0.5), PerClass(0.3 + step, 0.2, 0.5 - step)
    tau = [
        law.accepted_prefix(law.mean_field_mismatch(mix, rho, kappa).eps, gamma)
        for mix in (before, after)
    ]
    value = law.marginal_schema_value(gamma, kappa, rho.schema, rho.prose)
    assert (tau[1] - tau[0]) / step == pytest.approx(value, rel=1e-3, abs=1e-12)


def test_marginal_schema_value_known_number() -> None:
    assert law.marginal_schema_value(4, 0.5, 0.9, 0.6) == pytest.approx(1.5)
    assert law.marginal_schema_value(4, 0.5, 0.6, 0.9) == pytest.approx(-1.5)


# --- Cost, saving, speedup ------------------------------------------------------------------------


def test_cost_known_numbers() -> None:
    # gamma 4, k 1/8: a round costs 1.5 passes; tau 2 gives 3 tokens.
    assert law.round_cost(4, 0.125) == 1.5
    assert law.net_cost(2.0, 4, 0.125) == 0.5
    assert law.net_saving(0.5) == 0.5
    assert law.net_speedup(0.5) == 2.0
    assert law.gross_speedup(2.0) == 3.0
    assert law.ceiling_speedup(4, 0.125) == pytest.approx(10.0 / 3.0)
    assert law.cost_slope(-0.025, 0.15) == pytest.approx(0.125)
    assert law.net_cost(2.0, 4, 0.125, overhead=0.3) == pytest.approx(0.6)


@fast
@given(depths, units, units, st.floats(-0.01, 2.0))
def test_saving_rises_strictly_with_tau(gamma: int, one: float, other: float, k: float) -> None:
    low, high = sorted((one * gamma, other * gamma))
    assume(high - low > 1e-9)
    assert saving_of(low, gamma, k) < saving_of(high, gamma, k)


@fast
@given(per_class(units), units, units, units, st.tuples(st.floats(0.05, 1.0), depths, slopes))
def test_saving_rises_strictly_with_schema_share_when_schema_is_more_predictable(
    rho: PerClassFloat, r: float, one: float, other: float, setting: tuple[float, int, float]
) -> None:
    kappa, gamma, k = setting
    low, high = sorted((one, other))
    assume(rho.schema - law.rest_mean(r, rho) > 1e-3 and high - low > 1e-3)
    eps = [law.mean_field_mismatch(law.class_mix(w, r), rho, kappa).eps for w in (low, high)]
    assume(eps[1] > 0.0 and eps[0] < 1.0)
    savings = [saving_of(law.accepted_prefix(value, gamma), gamma, k) for value in eps]
    assert savings[0] < savings[1]


@fast
@given(depths, units, st.floats(-0.01, 2.0))
def test_saving_is_bounded_by_a_round_without_acceptance(
    gamma: int, share: float, k: float
) -> None:
    assert saving_of(share * gamma, gamma, k) >= -gamma * k - 1e-12
    assert saving_of(0.0, gamma, k) == pytest.approx(-gamma * k, abs=1e-12)


@fast
@given(depths, units, st.floats(-0.01, 2.0))
def test_speedup_is_below_its_ceiling_and_reaches_it(gamma: int, share: float, k: float) -> None:
    ceiling = law.ceiling_speedup(gamma, k)
    assert ceiling == pytest.approx((gamma + 1) / (1 + gamma * k))
    assert law.net_speedup(law.net_cost(share * gamma, gamma, k)) <= ceiling * (1 + 1e-12)
    assert law.net_speedup(law.net_cost(float(gamma), gamma, k)) == pytest.approx(ceiling)


@fast
@given(mixes, per_class(units), depths, slopes, st.floats(0.0, 0.5))
def test_span_resolved_cost_is_the_mean_of_class_costs(
    mix: PerClassFloat, eps: PerClassFloat, gamma: int, k: float, overhead: float
) -> None:
    tau = eps.apply(lambda value: law.accepted_prefix(value, gamma))
    costs = tau.apply(lambda value: law.net_cost(value, gamma, k, overhead))
    cost = law.span_resolved_cost(mix, tau, gamma, k, overhead)
    assert cost == pytest.approx(law.weighted_mean(mix, costs))
    length = law.span_resolved_acceptance_length(mix, tau, gamma)
    assert length <= law.weighted_mean(mix, tau) + 1.0 + 1e-12


def test_span_resolved_length_is_the_harmonic_mean() -> None:
    tau = PerClass(8.0, 1.0, 0.0)
    assert law.span_resolved_acceptance_length(PerClass(0.5, 0.0, 0.5), tau, 8) == pytest.approx(
        1.8
    )


@fast
@given(mixes, per_class(units), units, depths, slopes)
def test_mean_field_never_prices_above_spans_without_clipping(
    mix: PerClassFloat, rho: PerClassFloat, kappa: float, gamma: int, k: float
) -> None:
    assume(kappa > 0.01)
    tau_bar = law.accepted_prefix(law.mean_field_mismatch(mix, rho, kappa).eps, gamma)
    tau = rho.apply(lambda value: tau_of(value, kappa, gamma))
    assert law.span_resolved_acceptance_length(mix, tau, gamma) <= (tau_bar + 1.0) * (1 + 1e-12)
    cost = law.span_resolved_cost(mix, tau, gamma, k)
    assert cost >= law.net_cost(tau_bar, gamma, k) * (1 - 1e-12)


def test_mean_field_underprices_a_real_mixture() -> None:
    mix, eps, gamma = law.class_mix(0.5, 0.0), PerClass(0.05, 0.5, 0.95), 4
    tau = eps.apply(lambda value: law.accepted_prefix(value, gamma))
    mean_field = law.net_cost(law.accepted_prefix(0.5, gamma), gamma, 0.125)
    assert law.span_resolved_cost(mix, tau, gamma, 0.125) > 1.1 * mean_field


def test_clipping_can_turn_the_order_of_mean_field_and_spans() -> None:
    mix, rho, kappa, gamma = law.class_mix(0.5, 0.0), PerClass(1.0, 0.5, 0.0), 2.0, 4
    tau = rho.apply(lambda value: tau_of(value, kappa, gamma))
    mean_field = law.mean_field_mismatch(mix, rho, kappa)
    assert mean_field.eps == 1.0
    cost = law.span_resolved_cost(mix, tau, gamma, 0.125)
    assert cost < law.net_cost(law.accepted_prefix(mean_field.eps, gamma), gamma, 0.125)


# --- Break-even in mismatch -----------------------------------------------------------------------


@fast
@given(depths, slopes)
def test_exact_root_breaks_even_and_is_the_only_one(gamma: int, k: float) -> None:
    outcome = law.exact_break_even(gamma, k)
    assert outcome.payoff is Payoff.BELOW_ROOT
    root = outcome.eps
    assert root is not None
    assert 0.0 < root < 1.0
    assert law.accepted_prefix(root, gamma) == pytest.approx(gamma * k, abs=1e-9)
    assert saving_of(law.accepted_prefix(root, gamma), gamma, k) == pytest.approx(0.0, abs=1e-9)
    grid = np.linspace(0.0, 1.0, 401)
    pays = law.accepted_prefix(grid, gamma) > gamma * k
    np.testing.assert_array_equal(
        pays[np.abs(grid - root) > 1e-9], (grid < root)[np.abs(grid - root) > 1e-9]
    )


@pytest.mark.parametrize("k", [0.001, 0.125, 0.5, 0.999])
def test_depth_one_has_the_root_in_closed_form(k: float) -> None:
    assert law.exact_break_even_mismatch(1, k) == pytest.approx(1.0 - k, abs=1e-12)
    assert law.first_order_break_even_mismatch(1, k) == pytest.approx(1.0 - k, abs=1e-12)


@pytest.mark.parametrize("k", [0.01, 0.125, 0.9])
def test_depth_two_has_the_root_in_closed_form(k: float) -> None:
    match = (-1.0 + math.sqrt(1.0 + 8.0 * k)) / 2.0
    assert law.exact_break_even_mismatch(2, k) == pytest.approx(1.0 - match, abs=1e-12)


@pytest.mark.parametrize("outcome_of", [law.exact_break_even, law.first_order_break_even])
@pytest.mark.parametrize(
    ("k", "payoff"),
    [
        (1.0, Payoff.NEVER),
        (1.7, Payoff.NEVER),
        (0.0, Payoff.ALWAYS),
        (-0.02, Payoff.ALWAYS),
    ],
)
def test_without_a_root_the_outcome_says_why(
    outcome_of: Callable[[int, float], law.BreakEven], k: float, payoff: Payoff
) -> None:
    outcome = outcome_of(8, k)
    assert outcome.payoff is payoff
    assert outcome.eps is None


@fast
@given(depths, units, st.floats(1.0, 3.0), st.floats(0.0, 0.04))
def test_never_and_always_are_true(gamma: int, eps: float, dear: float, gain: float) -> None:
    tau = law.accepted_prefix(eps, gamma)
    assert saving_of(tau, gamma, dear) <= 0.0
    assert saving_of(tau, gamma, -gain) >= 0.0


@pytest.mark.parametrize(
    ("gamma", "first_order", "exact"), [(4, 0.350, 0.664), (8, 0.194, 0.499), (16, 0.103, 0.333)]
)
def test_break_even_numbers_at_one_eighth(gamma: int, first_order: float, exact: float) -> None:
    assert law.first_order_break_even_mismatch(gamma, 0.125) == pytest.approx(first_order, abs=6e-4)
    assert law.exact_break_even_mismatch(gamma, 0.125) == pytest.approx(exact, abs=6e-4)


@fast
@given(depths, slopes)
def test_first_order_is_sufficient(gamma: int, k: float) -> None:
    first_order = law.first_order_break_even_mismatch(gamma, k)
    exact = law.exact_break_even_mismatch(gamma, k)
    assert 0.0 < first_order <= exact + 1e-12
    if gamma > 1 and k < 0.99:
        assert first_order < exact
    assert saving_of(law.accepted_prefix(first_order, gamma), gamma, k) >= -1e-12


@pytest.mark.parametrize("gamma", [4, 8, 16])
def test_first_order_is_tangent_to_the_exact_root_at_k_one(gamma: int) -> None:
    k = 1.0 - 1e-6
    exact = law.exact_break_even_mismatch(gamma, k)
    assert law.first_order_break_even_mismatch(gamma, k) == pytest.approx(exact, rel=1e-5)


@fast
@given(depths, st.floats(0.01, 0.6), st.floats(0.01, 0.3))
def test_an_overhead_shifts_the_break_even_to_a_larger_k(
    gamma: int, k: float, overhead: float
) -> None:
    root = law.exact_break_even_mismatch(gamma, k + overhead / gamma)
    cost = law.net_cost(law.accepted_prefix(root, gamma), gamma, k, overhead)
    assert cost == pytest.approx(1.0, abs=1e-9)


# --- Break-even in schema share -------------------------------------------------------------------


@fast
@given(per_class(units), units, st.floats(0.05, 2.0), depths, slopes)
def test_exact_crossing_is_where_the_mean_field_saving_is_zero(
    rho: PerClassFloat, r: float, kappa: float, gamma: int, k: float
) -> None:
    rho_rest = law.rest_mean(r, rho)
    assume(rho.schema - rho_rest > 1e-3)
    outcome = law.mean_field_crossing(law.exact_break_even(gamma, k), kappa, rho.schema, rho_rest)

    def saving(w_s: float) -> float:
        eps = law.mean_field_mismatch(law.class_mix(w_s, r), rho, kappa).eps
        return saving_of(law.accepted_prefix(eps, gamma), gamma, k)

    assert outcome.w_s is not None
    if outcome.reading is Reading.CROSSES:
        assert 0.0 <= outcome.w_s <= 1.0
        assert saving(outcome.w_s) == pytest.approx(0.0, abs=1e-8)
    elif outcome.reading is Reading.ALWAYS_PAYS:
        assert outcome.w_s < 0.0
        assert min(saving(0.0), saving(1.0)) > -1e-9
    else:
        assert outcome.reading is Reading.NEVER_PAYS
        assert outcome.w_s > 1.0
        assert max(saving(0.0), saving(1.0)) < 1e-9


@fast
@given(per_class(units), units, st.floats(0.05, 2.0), depths, slopes)
def test_first_order_crossing_is_never_before_the_exact_one(
    rho: PerClassFloat, r: float, kappa: float, gamma: int, k: float
) -> None:
    rho_rest = law.rest_mean(r, rho)
    assume(rho.schema - rho_rest > 1e-3)
    exact, first_order = (
        law.mean_field_crossing(outcome_of(gamma, k), kappa, rho.schema, rho_rest).w_s
        for outcome_of in (law.exact_break_even, law.first_order_break_even)
    )
    assert exact is not None
    assert first_order is not None
    assert first_order >= exact - 1e-6


def test_crossing_known_number() -> None:
    # rho* = 1 - 0.35 / 0.7 = 0.5, half-way between 0.3 and 0.7.
    outcome = law.mean_field_crossing(law.first_order_break_even(4, 0.125), 0.7, 0.7, 0.3)
    assert outcome.w_s == pytest.approx(0.5)
    assert outcome.reading is Reading.CERTIFIED_ABOVE
    assert outcome.identity is Identity.FIRST_ORDER


@pytest.mark.parametrize(
    ("outcome_of", "rho_s", "rho_rest", "reading"),
    [
        (law.exact_break_even, 0.9, 0.7, Reading.ALWAYS_PAYS),
        (law.exact_break_even, 0.3, 0.1, Reading.NEVER_PAYS),
        (law.exact_break_even, 0.9, 0.1, Reading.CROSSES),
        (law.first_order_break_even, 0.95, 0.85, Reading.ALWAYS_PAYS),
        (law.first_order_break_even, 0.6, 0.5, Reading.NOT_CERTIFIED),
        (law.first_order_break_even, 0.9, 0.1, Reading.CERTIFIED_ABOVE),
        (law.exact_break_even, 0.5, 0.5, Reading.NOT_A_LEVER),
        (law.first_order_break_even, 0.4, 0.5, Reading.NOT_A_LEVER),
    ],
)
def test_readings_of_the_mean_field_crossing(
    outcome_of: Callable[[int, float], law.BreakEven],
    rho_s: float,
    rho_rest: float,
    reading: Reading,
) -> None:
    outcome = law.mean_field_crossing(outcome_of(4, 0.125), 1.0, rho_s, rho_rest)
    assert outcome.reading is reading
    assert (outcome.w_s is None) == (reading is Reading.NOT_A_LEVER)
    if outcome.w_s is not None:  # never clipped
        rho_star = 1.0 - (outcome_of(4, 0.125).eps or math.nan)
        assert outcome.w_s == pytest.approx((rho_star - rho_rest) / (rho_s - rho_rest))


def test_first_order_doubt_is_not_a_loss() -> None:
    exact = law.mean_field_crossing(law.exact_break_even(8, 0.125), 1.0, 0.7, 0.6)
    first_order = law.mean_field_crossing(law.first_order_break_even(8, 0.125), 1.0, 0.7, 0.6)
    assert exact.reading is Reading.ALWAYS_PAYS
    assert first_order.reading is Reading.NOT_CERTIFIED
    assert str(first_order.reading) == "not certified by the first-order condition"


@pytest.mark.parametrize(("k", "reading"), [(1.2, Reading.NEVER_PAYS), (-0.1, Reading.ALWAYS_PAYS)])
def test_crossing_without_a_mismatch_root_keeps_its_outcome(k: float, reading: Reading) -> None:
    outcome = law.mean_field_crossing(law.exact_break_even(4, k), 1.0, 0.9, 0.5)
    assert outcome.reading is reading
    assert outcome.w_s is None


def test_a_lever_that_is_none_has_no_root() -> None:
    with pytest.raises(
        ValueError, match=r"rho_s - rho_rest must be finite and above 0, got -0\.25"
    ):
        law.mean_field_crossing_share(0.3, 1.0, 0.25, 0.5)
    with pytest.raises(ValueError, match=r"saving_s - saving_rest must be .* above 0, got 0\.0"):
        law.span_resolved_crossing_share(0.1, 0.1)
    assert str(Reading.NOT_A_LEVER) == "w_S is not a lever"


@fast
@given(per_class(units), units, depths, slopes)
def test_span_resolved_crossing_is_where_the_span_resolved_saving_is_zero(
    eps: PerClassFloat, r: float, gamma: int, k: float
) -> None:
    tau = eps.apply(lambda value: law.accepted_prefix(value, gamma))
    savings = tau.apply(lambda value: saving_of(value, gamma, k))
    saving_rest = law.rest_mean(r, savings)
    outcome = law.span_resolved_crossing(savings.schema, saving_rest)
    assert outcome.identity is Identity.SPAN_RESOLVED

    def saving(w_s: float) -> float:
        return law.net_saving(law.span_resolved_cost(law.class_mix(w_s, r), tau, gamma, k))

    if outcome.reading is Reading.NOT_A_LEVER:
        assert savings.schema <= saving_rest
        assert outcome.w_s is None
    elif outcome.reading is Reading.CROSSES:
        assert outcome.w_s is not None
        assert saving(outcome.w_s) == pytest.approx(0.0, abs=1e-9)
        assert saving(1.0) >= -1e-12 >= saving(0.0) - 2e-12
    elif outcome.reading is Reading.ALWAYS_PAYS:
        assert min(saving(0.0), saving(1.0)) > -1e-12
    else:
        assert outcome.reading is Reading.NEVER_PAYS
        assert max(saving(0.0), saving(1.0)) < 1e-12


def test_span_resolved_known_numbers() -> None:
    outcome = law.span_resolved_crossing(0.3, -0.1)
    assert outcome.w_s == pytest.approx(0.25)
    assert outcome.reading is Reading.CROSSES
    assert law.span_resolved_crossing(-0.1, -0.3).w_s == pytest.approx(1.5)
    assert law.span_resolved_crossing(-0.1, -0.3).reading is Reading.NEVER_PAYS
    assert law.span_resolved_crossing(0.3, 0.1).w_s == pytest.approx(-0.5)
    assert law.span_resolved_crossing(0.3, 0.1).reading is Reading.ALWAYS_PAYS
    assert law.span_resolved_crossing(0.1, 0.3).reading is Reading.NOT_A_LEVER


@fast
@given(per_class(inner), units, st.floats(0.1, 1.0), depths, inner)
def test_span_resolved_crossing_is_never_before_the_mean_field_one(
    rho: PerClassFloat, r: float, kappa: float, gamma: int, w_s: float
) -> None:
    assume(rho.schema - law.rest_mean(r, rho) > 1e-2)
    # The k at which the mean-field law breaks even at w_s.
    eps_bar = law.mean_field_mismatch(law.class_mix(w_s, r), rho, kappa).eps
    k = law.accepted_prefix(eps_bar, gamma) / gamma
    mean_field = law.mean_field_crossing(
        law.exact_break_even(gamma, k), kappa, rho.schema, law.rest_mean(r, rho)
    )
    assert mean_field.w_s == pytest.approx(w_s, abs=1e-6)
    savings = rho.apply(lambda value: saving_of(tau_of(value, kappa, gamma), gamma, k))
    spans = law.span_resolved_crossing(savings.schema, law.rest_mean(r, savings))
    assert spans.w_s is not None
    assert spans.w_s >= w_s - 1e-6


# --- Composition ----------------------------------------------------------------------------------

costs = st.floats(0.0, 100.0)


@fast
@given(costs, st.floats(0.1, 5.0), costs, units)
def test_turn_without_cache_and_gate_is_prefill_plus_decode(
    c_pre: float, relative_cost: float, c_dec: float, c_hit: float
) -> None:
    total = law.turn_cost(
        nu=1.0, h=0.0, c_hit=c_hit, c_pre=c_pre, relative_cost=relative_cost, c_dec=c_dec
    )
    assert total == pytest.approx(c_pre + relative_cost * c_dec)


@fast
@given(costs, costs, units, st.floats(1.0, 4.0))
def test_turn_special_cases(c_pre: float, c_dec: float, c_hit: float, nu: float) -> None:
    def total(nu: float, h: float, c_hit: float) -> float:
        return law.turn_cost(nu=nu, h=h, c_hit=c_hit, c_pre=c_pre, relative_cost=0.5, c_dec=c_dec)

    assert total(nu, 0.3, c_hit) == pytest.approx(nu * total(1.0, 0.3, c_hit))
    assert total(1.0, 1.0, c_hit) == pytest.approx(c_hit * c_pre + 0.5 * c_dec)
    assert total(1.0, 0.7, 1.0) == pytest.approx(total(1.0, 0.0, 1.0))


def test_turn_known_number() -> None:
    total = law.turn_cost(nu=1.25, h=0.6, c_hit=0.1, c_pre=2.0, relative_cost=0.5, c_dec=6.0)
    assert total == pytest.approx(1.25 * (0.46 * 2.0 + 3.0))


# --- Shapes and errors ----------------------------------------------------------------------------


def test_scalars_give_floats_and_arrays_broadcast() -> None:
    eps, k = np.array([[0.1], [0.5], [0.9]]), np.array([0.1, 0.4])
    cost = law.net_cost(law.accepted_prefix(eps, 8), 8, k)
    assert cost.shape == (3, 2)
    for i, j in itertools.product(range(3), range(2)):
        single = law.net_cost(law.accepted_prefix(float(eps[i, 0]), 8), 8, float(k[j]))
        assert type(single) is float
        assert cost[i, j] == single
    roots = law.exact_break_even_mismatch(8, k)
    assert [law.exact_break_even_mismatch(8, float(value)) for value in k] == roots.tolist()
    assert type(law.exact_break_even_mismatch(8, 0.125)) is float
    assert type(law.predictability(np.float64(1.0))) is float
    assert type(law.mismatch(0.5, 1.0).eps) is float
    assert type(law.weighted_mean(law.class_mix(0.2, 0.3), PerClass(0.1, 0.2, 0.3))) is float
    curve = law.mean_field_mismatch(law.class_mix(k, 0.5), PerClass(0.9, 0.5, 0.4), 0.8)
    assert curve.eps.shape == (2,)
    assert law.class_mix(0.5, k).schema.shape == (2,)


TURN = {"nu": 1.0, "h": 0.0, "c_hit": 0.1, "c_pre": 1.0, "relative_cost": 0.5, "c_dec": 1.0}
HALF = PerClass(0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: law.class_mix(1.2, 0.5), "w_s must be in [0, 1], got 1.2"),
        (lambda: law.class_mix(0.5, -0.1), "r must be in [0, 1], got -0.1"),
        (lambda: law.rest_mean(2.0, HALF), "r must be in [0, 1], got 2.0"),
        (
            lambda: law.weighted_mean(law.class_mix(0.5, 0.5), PerClass(0.5, math.nan, 0.5)),
            "values.reasoning must be finite, got nan",
        ),
        (
            lambda: law.weighted_mean(PerClass(1.5, -0.5, 0.0), HALF),
            "shares.schema must be in [0, 1], got 1.5",
        ),
        (
            lambda: law.predictability(-0.25),
            "entropy must be finite and at least 0, got -0.25",
        ),
        (
            lambda: law.predictability(np.array([1.0, 2.0, math.inf, -3.0])),
            "entropy must be finite and at least 0, got inf",
        ),
        (lambda: law.mismatch(1.01, 1.0), "rho must be in [0, 1], got 1.01"),
        (lambda: law.mismatch(math.nan, 1.0), "rho must be in [0, 1], got nan"),
        (lambda: law.mismatch(0.5, 0.0), "kappa must be finite and above 0, got 0.0"),
        (lambda: law.mismatch(0.5, -1.0), "kappa must be finite and above 0, got -1.0"),
        (lambda: law.accepted_prefix(1.5, 4), "eps must be in [0, 1], got 1.5"),
        (lambda: law.accepted_prefix(0.5, 0), "gamma must be a positive integer, got 0"),
        (lambda: law.accepted_prefix(0.5, -4), "gamma must be a positive integer, got -4"),
        (lambda: law.accepted_prefix(0.5, 4.0), "gamma must be a positive integer, got 4.0"),  # type: ignore[arg-type]
        (lambda: law.accepted_prefix(0.5, True), "gamma must be a positive integer, got True"),
        (lambda: law.acceptance_length(-1.0), "tau must be finite and at least 0, got -1.0"),
        (lambda: law.net_cost(4.5, 4, 0.1), "tau must be in [0, gamma] = [0, 4], got 4.5"),
        (lambda: law.net_cost(1.0, 4, math.nan), "k must be finite, got nan"),
        (lambda: law.net_cost(1.0, 4, 0.1, math.inf), "overhead must be finite, got inf"),
        (
            lambda: law.round_cost(4, -0.5),
            "round cost 1 + overhead + gamma k must be finite and above 0, got -1.0",
        ),
        (lambda: law.round_cost(0, 0.5), "gamma must be a positive integer, got 0"),
        (
            lambda: law.span_resolved_cost(
                law.class_mix(0.5, 0.5), PerClass(1.0, 5.0, 1.0), 4, 0.1
            ),
            "tau.reasoning must be in [0, gamma] = [0, 4], got 5.0",
        ),
        (lambda: law.net_saving(0.0), "relative_cost must be finite and above 0, got 0.0"),
        (lambda: law.net_speedup(-1.0), "relative_cost must be finite and above 0, got -1.0"),
        (lambda: law.cost_slope(math.nan, 0.1), "delta must be finite, got nan"),
        (lambda: law.cost_slope(0.1, -0.1), "d must be finite and at least 0, got -0.1"),
        (
            lambda: law.marginal_schema_value(4, 1.0, 1.5, 0.5),
            "rho_s must be in [0, 1], got 1.5",
        ),
        (
            lambda: law.marginal_schema_value(4, 1.0, 0.5, -0.5),
            "rho_f must be in [0, 1], got -0.5",
        ),
        (
            lambda: law.exact_break_even_mismatch(4, 1.0),
            "k must be in (0, 1) to have a root, got 1.0",
        ),
        (
            lambda: law.first_order_break_even_mismatch(4, 0.0),
            "k must be in (0, 1) to have a root, got 0.0",
        ),
        (lambda: law.exact_break_even(4, math.nan), "k must be finite, got nan"),
        (lambda: law.first_order_break_even(0, 2.0), "gamma must be a positive integer, got 0"),
        (
            lambda: law.mean_field_crossing(law.exact_break_even(4, 0.1), 0.0, 0.9, 0.5),
            "kappa must be finite and above 0, got 0.0",
        ),
        (
            lambda: law.mean_field_crossing(law.exact_break_even(4, 0.1), 1.0, 1.9, 0.5),
            "rho_s must be in [0, 1], got 1.9",
        ),
        (
            lambda: law.mean_field_crossing(law.exact_break_even(4, 0.1), 1.0, 0.9, -0.5),
            "rho_rest must be in [0, 1], got -0.5",
        ),
        (
            lambda: law.mean_field_crossing_share(1.5, 1.0, 0.9, 0.5),
            "eps_star must be in [0, 1], got 1.5",
        ),
        (
            lambda: law.span_resolved_crossing(math.nan, 0.1),
            "saving_s must be finite, got nan",
        ),
        (
            lambda: law.span_resolved_crossing(0.1, math.inf),
            "saving_rest must be finite, got inf",
        ),
        (
            lambda: law.turn_cost(**{**TURN, "nu": 0.9}),
            "nu must be finite and at least 1, got 0.9",
        ),
        (lambda: law.turn_cost(**{**TURN, "h": 1.1}), "h must be in [0, 1], got 1.1"),
        (
            lambda: law.turn_cost(**{**TURN, "c_hit": -0.1}),
            "c_hit must be finite and at least 0, got -0.1",
        ),
        (
            lambda: law.turn_cost(**{**TURN, "c_pre": -1.0}),
            "c_pre must be finite and at least 0, got -1.0",
        ),
        (
            lambda: law.turn_cost(**{**TURN, "c_dec": -1.0}),
            "c_dec must be finite and at least 0, got -1.0",
        ),
        (
            lambda: law.turn_cost(**{**TURN, "relative_cost": 0.0}),
            "relative_cost must be finite and above 0, got 0.0",
        ),
    ],
)
def test_errors_name_argument_value_and_range(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()
