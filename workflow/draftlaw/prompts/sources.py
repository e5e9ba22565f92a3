"""One way into every source: `read(source, ...)` gives its prompts."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from draftlaw.errors import DraftLawError
from draftlaw.prompts import bfcl, bfcl_multi_turn, hub, jsonl
from draftlaw.prompts.record import Prompt
from draftlaw.prompts.spec import BfclSource, DatasetsSource, JsonlSource, Share, Source

SHARES: dict[Share, range] = {
    "arms": range(0, 40),
    "heldout": range(40, 50),
    "train": range(50, 100),
}
"""Percentiles of the hash of a request's own words: a text is in one share wherever it occurs."""


def read(source: Source, seed: int, wheel: Path | None, version: str) -> list[Prompt]:
    """Every prompt of a source, in the source's order.

    Args:
        source: which prompts.
        seed: of the distractor tools in multi-turn trajectories.
        wheel: the BFCL wheel, needed by the sources made from it.
        version: its version.
    """
    if isinstance(source, JsonlSource):
        return jsonl.read(source)
    if isinstance(source, DatasetsSource):
        return hub.read(source)
    if wheel is None:
        raise DraftLawError(
            f"prompt source {source.kind!r} has no wheel",
            "Name the wheel that carries its data under downloads: in the study",
        )
    if isinstance(source, BfclSource):
        prompts = bfcl.single_turn(wheel, version, source.categories)
        if source.plain:
            prompts = [_plain(prompt, source.think) for prompt in prompts]
        if source.call:
            prompts = [replace(prompt, parts=("call",)) for prompt in prompts if prompt.tools]
        if source.max_tools is not None:
            prompts = [_fewer_tools(prompt, source.max_tools) for prompt in prompts]
    else:
        prompts = bfcl_multi_turn.trajectories(
            wheel,
            version,
            turns=source.turns,
            distractors=source.distractors,
            seed=seed,
            categories=source.categories,
        )
    return [prompt for prompt in prompts if share_of(prompt) == source.share]


def share_of(prompt: Prompt) -> Share:
    """The share a prompt belongs to, by the words of its first user message alone."""
    number = int(hashlib.sha256(own_words(prompt).encode()).hexdigest(), 16) % 100
    return next(share for share, numbers in SHARES.items() if number in numbers)


def own_words(prompt: Prompt) -> str:
    """The first user message, in lower case with single blanks: what makes a request itself."""
    first = next(message for message in prompt.messages if message["role"] == "user")
    return " ".join(str(first["content"]).lower().split())


def _fewer_tools(prompt: Prompt, most: int) -> Prompt:
    """The same request with at most so many tools, those of the ground truth first."""
    right = {name for call in prompt.ground_truth or [] for name in call}
    ranked = sorted(prompt.tools, key=lambda tool: tool.name not in right)  # stable
    kept = ranked[: max(most, len(right))]
    return replace(prompt, tools=[tool for tool in prompt.tools if tool in kept])


def _plain(prompt: Prompt, think: bool) -> Prompt:
    """The same question without tools."""
    suffix = "think" if think else "plain"
    return replace(
        prompt,
        id=f"{prompt.id}/{suffix}",
        cluster=f"{prompt.cluster}/{suffix}",
        tools=[],
        parts=("think",) if think else ("reply",),
        ground_truth=None,
    )
