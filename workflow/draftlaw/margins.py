"""What decides the registered predictions: margins, level, primary cell (protocol, section 6)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Margins(BaseModel):
    """Numbers that decide; changing one reruns the verdicts, never a measurement."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ratio: float = Field(gt=1, description="P1: tau_S / tau_F is at least this.")
    crossing: float = Field(
        gt=0,
        lt=1,
        description="P2: predicted over measured w_S* within 1 / (1 + m) and 1 + m supports, beyond"
        " 1 - m or 1 / (1 - m) refutes.",
    )
    high_share: float = Field(
        gt=0, lt=1, description="R2: the saving is judged over turns with at least this w_S."
    )
    composition: float = Field(
        gt=0, lt=1, description="P3: the same for composed over measured cost."
    )
    requests: int = Field(
        ge=1, description="P4: distinct requests per batch size that identity takes."
    )
    tie: float = Field(
        gt=0,
        description="P4: an output that parts from the baseline's where the target's top two tokens"
        " are at most this far apart (log-probability, nat) did so by a numerical tie.",
    )


class PrimaryCell(BaseModel):
    """The cell in which P2 and P3 are judged; others are secondary."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    depth: int = Field(ge=1, description="Draft tokens per round; if not measured, the deepest.")
    batch: int = Field(ge=1, description="Requests at once; if not measured, the smallest.")


class Decisions(BaseModel):
    """How the registered predictions are decided; changing it reruns the verdicts alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    resamples: int = Field(ge=99, description="Resamples of the sampling units.")
    level: float = Field(gt=0.5, lt=1, description="Confidence level of every decision.")
    primary: PrimaryCell = Field(description="The primary cell.")
    margins: Margins = Field(description="What estimates are compared with.")
