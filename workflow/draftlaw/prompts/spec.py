"""What a configuration says of an arm's prompts: sources, how many, and which are left out."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from draftlaw.prompts.record import Part

Share = Literal["arms", "heldout", "train"]
"""Which prompts of a source: measured by an arm, kept to check the draft, or trained on."""


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class JsonlSource(_Spec):
    """A local JSON Lines file; a line has `text` or `messages`, and may have `id` and `tools`."""

    kind: Literal["jsonl"]
    path: str = Field(description="The file, relative to the working directory.")
    licence: str = Field(description="SPDX identifier of the texts.")
    parts: tuple[Part, ...] = Field(min_length=1, description="What the output is made of.")


class DatasetsSource(_Spec):
    """A data set read with the `datasets` library, from a hub or a local folder."""

    kind: Literal["datasets"]
    path: str = Field(description="Hub id, or a local folder.")
    revision: str | None = Field(
        default=None, description="Commit of the data set; needed for a hub id."
    )
    name: str | None = Field(default=None, description="Configuration of the data set.")
    split: str = Field(description="Split, e.g. test.")
    text: str = Field(description="Column that holds the request.")
    answer: str | None = Field(default=None, description="Column that holds the right answer.")
    licence: str = Field(description="SPDX identifier of the texts.")
    parts: tuple[Part, ...] = Field(min_length=1, description="What the output is made of.")


class BfclSource(_Spec):
    """Single-turn categories of the Berkeley Function Calling Leaderboard, from its wheel."""

    kind: Literal["bfcl"]
    categories: tuple[str, ...] = Field(min_length=1, description="e.g. simple_python, multiple.")
    share: Share = Field(default="arms", description="Which share of the prompts.")
    plain: bool = Field(
        default=False, description="Leave the tools out and ask for a reply in prose."
    )
    think: bool = Field(
        default=False, description="With plain: ask for a thinking block, not for a reply."
    )
    call: bool = Field(
        default=False, description="Ask for a call even where BFCL expects none (irrelevance)."
    )
    max_tools: int | None = Field(
        default=None, ge=1, description="Offer no more tools than these, the right ones first."
    )


class BfclMultiTurnSource(_Spec):
    """Multi-turn trajectories of the same wheel, replayed on its simulated APIs."""

    kind: Literal["bfcl_multi_turn"]
    categories: tuple[str, ...] = Field(default=("multi_turn_base",), description="Categories.")
    share: Share = Field(default="arms", description="Which share of the trajectories.")
    turns: int = Field(ge=1, description="Assistant turns taken of each trajectory.")
    distractors: int = Field(ge=0, description="Tools offered beside those that are needed.")


Source = Annotated[
    JsonlSource | DatasetsSource | BfclSource | BfclMultiTurnSource, Field(discriminator="kind")
]


class PromptSpec(_Spec):
    """An arm's prompt set."""

    sources: tuple[Source, ...] = Field(min_length=1, description="Where the prompts come from.")
    clusters: int = Field(ge=1, description="Sampling units: requests; in arm D trajectories.")
    max_prompt_tokens: int = Field(ge=1, description="Longer prompts are left out.")
    think_budget: int = Field(
        default=0,
        ge=0,
        description="Most characters of a thinking block where it is elicited; it has no more "
        "than the user's message has.",
    )
    seed: int = Field(default=0, description="Seed of the sample.")
