"""Decode rounds: what the engine did, and the counting rules that turn it into rows.

The rules are those of the protocol, section 4: the prefill is no round, a round emits its accepted
tokens and one more, and what lies beyond a stop token or the length limit is not output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the engine: prompt tokens, and the structural tag its output must obey."""

    id: str
    prompt_ids: Sequence[int]
    grammar: str | None = None


@dataclass(slots=True)
class Step:
    """A step of the engine as one request saw it: its wall time, and who shared it.

    `draft_seconds` is the part of it that the draft's proposals took.
    """

    index: int
    seconds: float
    draft_seconds: float
    requests: int
    prefill: bool
    tokens: int


@dataclass(slots=True)
class Outcome:
    """All the engine did for a request.

    Attributes:
        token_ids: the output, stop token included.
        steps: first the prefill's, then one per round.
        verified: per round, whether the engine verified a draft in it at all.
        drafted: per round, draft tokens verified (those the grammar cut are not counted).
        accepted: per round, draft tokens accepted.
        prefill_seconds: of all steps up to and including the one that gave the first token.
    """

    id: str
    token_ids: list[int] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    verified: list[bool] = field(default_factory=list)
    drafted: list[int] = field(default_factory=list)
    accepted: list[int] = field(default_factory=list)
    finish: str = ""
    cached_tokens: int = 0
    prefill_seconds: float = 0.0


def round_rows(outcome: Outcome, depth: int) -> Iterator[Row]:
    """One row per round of a request.

    The prefill gives output position 0 and is no round. A round emits its accepted tokens and one
    more, unless a stop token or the length limit came first: then what lies beyond is not output,
    though the engine counts it as accepted.
    """
    start = 1
    rounds = zip(
        outcome.verified, outcome.drafted, outcome.accepted, outcome.steps[1:], strict=True
    )
    for number, (verified, drafted, accepted, step) in enumerate(rounds):
        yield {
            "round": number,
            "start": start,
            "verified": verified,
            "drafted": drafted,
            "accepted": accepted,
            "emitted": step.tokens,
            "truncated": step.tokens < accepted + 1,
            "grammar_cut": drafted < depth,
            "step": step.index,
            "step_seconds": step.seconds,
            "step_draft_seconds": step.draft_seconds,
            "step_requests": step.requests,
            "step_prefill": step.prefill,
        }
        start += step.tokens


def trace_row(outcome: Outcome) -> Row:
    """What is recorded of a request beside its rounds."""
    return {
        "output_ids": outcome.token_ids,
        "output_tokens": len(outcome.token_ids),
        "finish": outcome.finish,
        "cached_tokens": outcome.cached_tokens,
        "prefill_seconds": outcome.prefill_seconds,
    }
