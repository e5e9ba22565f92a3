"""The mean-field law as a function of the schema share: its curve and its break-evens."""

from __future__ import annotations

from dataclasses import dataclass

from draftlaw.law import (
    Crossing,
    FloatArray,
    PerClass,
    accepted_prefix,
    class_mix,
    exact_break_even,
    first_order_break_even,
    mean_field_crossing,
    mean_field_mismatch,
    net_cost,
    net_saving,
    rest_mean,
)


@dataclass(frozen=True, slots=True)
class MeanField:
    """The law's parameters, assumed or measured; what it says at a depth is in the methods.

    Attributes:
        k: cost per drafted token, in target passes, 1.
        kappa: draft alignment constant, 1; above 0.
        r: reasoning share of the non-schema positions, 1.
        rho: predictability of each class, 1.
    """

    k: float
    kappa: float
    r: float
    rho: PerClass[float]

    def saving(self, w_s: FloatArray, gamma: int) -> FloatArray:
        """Net saving s, 1, at each schema share (any shape) and depth gamma, token."""
        eps = mean_field_mismatch(class_mix(w_s, self.r), self.rho, self.kappa).eps
        return net_saving(net_cost(accepted_prefix(eps, gamma), gamma, self.k))

    def exact(self, gamma: int) -> Crossing:
        """The exact break-even schema share, with its reading."""
        return mean_field_crossing(
            exact_break_even(gamma, self.k), self.kappa, self.rho.schema, self._rho_rest()
        )

    def first_order(self, gamma: int) -> Crossing:
        """The first-order break-even schema share, with its reading."""
        return mean_field_crossing(
            first_order_break_even(gamma, self.k), self.kappa, self.rho.schema, self._rho_rest()
        )

    def _rho_rest(self) -> float:
        return rest_mean(self.r, self.rho)


def lengths(eps: float, depth: int) -> list[float]:
    """The law's accepted length tau, token, at each depth 1 .. `depth`."""
    return [accepted_prefix(eps, gamma) for gamma in range(1, depth + 1)]
