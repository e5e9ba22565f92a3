"""What is simulated: a population that may keep or break the law, and the design of its study.

The defaults keep the law: one kappa, no fixed cost per round, costs that compose. Every effect that
multiplies a mean has mean 1, so that `kappa`, `entropy` and `c_1` stay what they say.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from draftlaw.law import PerClass

Arm = Annotated[str, Field(pattern="^[A-D]$")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ByClass(_Model):
    """A positive number for each position class."""

    S: float = Field(gt=0, description="Schema-constrained tool calls.")
    R: float = Field(gt=0, description="Extended reasoning.")
    F: float = Field(gt=0, description="Free-form prose.")

    def per_class(self) -> PerClass[float]:
        """As the law takes it."""
        return PerClass(self.S, self.R, self.F)


class Population(_Model):
    """Parameters of the world that a study samples; unit in brackets, [1] where there is none."""

    # alignment and entropy
    kappa: float = Field(
        default=0.6, gt=0, description="Mean over clusters of the alignment constant [1]."
    )
    kappa_sd: float = Field(
        default=0.0, ge=0, le=2, description="Of its log-normal cluster effect, log scale [1]."
    )
    kappa_by_class: ByClass = Field(
        default=ByClass(S=1, R=1, F=1),
        description="Multiplies kappa in a class [1]; other than 1 breaks the law.",
    )
    entropy: ByClass = Field(
        default=ByClass(S=0.1, R=0.6, F=1.2), description="Mean over positions of H [nat]."
    )
    entropy_spread: float = Field(
        default=0.8,
        ge=0,
        le=4,
        description="Coefficient of variation of H (gamma) within cluster and class [1].",
    )
    entropy_sd: float = Field(
        default=0.0, ge=0, le=2, description="Of H's log-normal cluster effect, log scale [1]."
    )
    cut_rate: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of the mismatches in S that the grammar cuts out of the draft [1].",
    )

    # composition of turns
    schema_share: float = Field(default=0.5, gt=0, lt=1, description="Mean w_S of a mixed turn.")
    schema_share_spread: float = Field(
        default=0.3,
        gt=0,
        lt=1,
        description="Variance of w_S (beta) over mixed turns, as a share of the largest that its "
        "mean allows [1]; 1/3 at mean 1/2 is uniform.",
    )
    r: float = Field(
        default=0.5, gt=0, lt=1, description="Mean reasoning share of non-schema positions [1]."
    )
    r_spread: float = Field(
        default=0.0, ge=0, lt=1, description="Variance of r over mixed turns, measured likewise."
    )
    span: float = Field(
        default=20.0,
        ge=1,
        description="Mean length of a maximal run of one class in a long mixed turn [token]; 1, or "
        "less than a shuffled turn has: i.i.d. classes.",
    )
    length_spread: float = Field(
        default=0.3, ge=0, le=2, description="Coefficient of variation of an output's length [1]."
    )
    length_correlation: float = Field(
        default=0.0,
        ge=-1,
        le=1,
        description="Of the normal scores of a mixed turn's length and w_S [1].",
    )

    # step times
    c_1: float = Field(default=0.02, gt=0, description="Step with one request, no draft [s].")
    k: float = Field(
        default=0.4, ge=0, description="Cost of one more drafted token, in target passes [1]."
    )
    draft_share: float = Field(
        default=0.6, ge=0, le=1, description="d / k: the draft's part of that cost [1]."
    )
    overhead: float = Field(
        default=0.0, ge=0, description="Fixed cost of a round with a draft, in target passes [1]."
    )
    batch_cost: float = Field(
        default=0.05, ge=0, description="What each further request adds to a step, in c_1 [1]."
    )
    step_noise: float = Field(
        default=0.1,
        ge=0,
        le=0.7,  # with more, half-t steps could take less than no time
        description="Coefficient of variation of a step's time [1].",
    )
    step_tail: float | None = Field(
        default=None,
        gt=2,
        description="Degrees of freedom of half-t step times, whose variance is finite above 2 "
        "[1]; null: log-normal.",
    )
    launch_drift: float = Field(
        default=0.0, ge=0, le=1, description="Of a launch's log-normal effect, log scale [1]."
    )

    # turn costs with cache and gate
    prefill_seconds: float = Field(default=0.5, gt=0, description="C_pre without a cache [s].")
    cached_share: float = Field(
        default=0.7, ge=0, le=1, description="h of all turns but a trajectory's first [1]."
    )
    hit_cost: float = Field(
        default=0.05, ge=0, le=1, description="c_hit: a cached token over a prefilled one [1]."
    )
    pass_rate: float = Field(
        default=0.8, gt=0, le=1, description="Chance that the gate accepts a draw [1]."
    )
    composition: float = Field(
        default=1.0,
        gt=0,
        description="Multiplies all seconds of cell (1, 1, 1) [1]; other than 1 breaks the "
        "composition.",
    )


class Design(_Model):
    """What a study samples of it."""

    clusters: dict[Arm, int] = Field(description="Sampling units by arm; in D trajectories.")
    turns: int = Field(ge=1, description="Turns of a trajectory of arm D.")
    tokens: float = Field(ge=2, description="Mean length of an output [token].")
    depths: tuple[int, ...] = Field(
        min_length=1, description="Draft tokens per round, gamma; the baseline is always run."
    )
    batches: tuple[int, ...] = Field(min_length=1, description="Requests at once.")
    launches: int = Field(ge=1, description="Of every cell, the baseline included.")
