"""Freezing an arm's prompts: sampled, rendered, encoded, and never looked up again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import pandas as pd

from draftlaw.chat import ChatFormat, Tokenizer, render
from draftlaw.errors import DraftLawError
from draftlaw.grammar import turn_grammar
from draftlaw.prompts.record import Prompt
from draftlaw.prompts.sources import own_words
from draftlaw.prompts.spec import PromptSpec
from draftlaw.seeded import seeded_order

Row = dict[str, Any]


def freeze(
    prompts: Sequence[Prompt], spec: PromptSpec, chat: ChatFormat, tokenizer: Tokenizer
) -> pd.DataFrame:
    """The prompt table of an arm.

    Clusters are taken in the order of a seeded hash of their ids, so that asking for more adds
    clusters and moves none. A cluster whose words another has already, or of which any prompt is
    too long, is left out whole.

    Args:
        prompts: all that the arm's sources give; a cluster's prompts stand together.
        spec: how many clusters, how long at most.
        chat: the format they are rendered in.
        tokenizer: of the pair.

    Raises:
        DraftLawError: the sources have fewer fitting clusters than were asked for.
    """
    clusters = {key: list(turns) for key, turns in groupby(prompts, lambda p: p.cluster)}
    rows: list[Row] = []
    taken = 0
    seen: set[tuple[str, str]] = set()
    for cluster in seeded_order(clusters, spec.seed):
        if taken == spec.clusters:
            break
        turns = clusters[cluster]
        words = (own_words(turns[0]), " ".join(turns[0].parts))
        frozen = [] if words in seen else _frozen(turns, spec, chat, tokenizer)
        seen.add(words)
        rows += frozen
        taken += bool(frozen)
    if taken < spec.clusters:
        raise DraftLawError(
            f"clusters: {spec.clusters} asked, but only {taken} of {len(clusters)} in the sources "
            f"have at most {spec.max_prompt_tokens} tokens and words of their own",
            f"Ask for at most {taken}, raise max_prompt_tokens, or add sources",
        )
    return pd.DataFrame(rows)


def _frozen(
    turns: Iterable[Prompt], spec: PromptSpec, chat: ChatFormat, tokenizer: Tokenizer
) -> list[Row]:
    """The rows of a cluster; none if one of its prompts is too long."""
    rows = []
    for prompt in turns:
        rendered = render(prompt, chat, tokenizer)
        if len(rendered.token_ids) > spec.max_prompt_tokens:
            return []
        budget = min(spec.think_budget, _request_length(prompt))
        grammar = turn_grammar(prompt.parts, prompt.tools, chat, budget)
        rows.append(
            {
                "request_id": prompt.id,
                "cluster": prompt.cluster,
                "turn": prompt.turn,
                "source": prompt.source,
                "licence": prompt.licence,
                "parts": ",".join(prompt.parts),
                "messages": _json(prompt.messages),
                "tools": _json([asdict(tool) for tool in prompt.tools]),
                "ground_truth": _json(prompt.ground_truth),
                "prompt_text": rendered.text,
                "prompt_ids": rendered.token_ids,
                "prompt_tokens": len(rendered.token_ids),
                "opened": rendered.opened,
                "grammar": None if grammar is None else _json(grammar),
                "rule": f"cluster fits {spec.max_prompt_tokens} prompt tokens",
            }
        )
    return rows


def _request_length(prompt: Prompt) -> int:
    """Characters of the last user message: a thought is at most as long as what it is about."""
    return len(next(m["content"] for m in reversed(prompt.messages) if m["role"] == "user"))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
