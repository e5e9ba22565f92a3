"""The parameters that an analytical figure assumes; nothing here is measured."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Entropies(BaseModel):
    """Mean next-token entropy of each position class, nat."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    S: float = Field(ge=0, description="Schema-constrained tool calls, nat.")
    R: float = Field(ge=0, description="Extended reasoning, nat.")
    F: float = Field(ge=0, description="Free-form prose, nat.")


class Assumed(BaseModel):
    """What the law needs to draw its curves."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    k: float = Field(gt=0, lt=1, description="Cost per drafted token, in target passes.")
    kappa: float = Field(gt=0, description="Draft alignment constant.")
    r: float = Field(ge=0, le=1, description="Reasoning share of the non-schema positions.")
    entropy: Entropies = Field(description="Mean next-token entropy by class.")
