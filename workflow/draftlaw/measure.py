"""A cell measured: one engine start, every batch size in it, rounds and outputs as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from draftlaw.chat import ChatFormat, opening
from draftlaw.engine import Engine, warm_up
from draftlaw.errors import DraftLawError
from draftlaw.grammar import Walker, check_calls
from draftlaw.progress import Progress
from draftlaw.prompts.record import Tool
from draftlaw.rounds import Outcome, Request, Row, round_rows, trace_row


@dataclass(frozen=True, slots=True)
class Cell:
    """What is measured: an arm's requests at one depth, in one launch of the engine."""

    name: str
    depth: int
    batches: Sequence[int]
    max_tokens: int
    launch: int = 0


@dataclass(frozen=True, slots=True)
class Measured:
    """A cell's tables, and the engine's own counts over the same waves."""

    traces: pd.DataFrame
    rounds: pd.DataFrame
    counters: dict[str, int]


def requests_of(prompts: pd.DataFrame) -> list[Request]:
    """The engine's requests of a prompt table, in its order."""
    columns = zip(prompts["request_id"], prompts["prompt_ids"], prompts["grammar"], strict=True)
    return [Request(name, ids.tolist(), grammar or None) for name, ids, grammar in columns]


def measure(engine: Engine, prompts: pd.DataFrame, cell: Cell, chat: ChatFormat) -> Measured:
    """Run a cell and turn what the engine did into tables.

    Args:
        engine: started at the cell's depth.
        prompts: the arm's prompt table.
        cell: depth, batch sizes, longest output.
        chat: the chat format, whose tags delimit calls.

    Raises:
        DraftLawError: the engine's output breaks the grammar it was given, or the engine's counts
            are not those of the rounds.
    """
    requests = requests_of(prompts)
    check = OutputCheck(prompts, chat, engine)
    warm_up(engine, requests, cell.batches)
    before = engine.counters()
    traces: list[Row] = []
    rounds: list[Row] = []
    progress = Progress(f"{cell.name}, depth {cell.depth}", len(requests) * len(cell.batches))
    for batch, wave, outcomes in _waves(engine, requests, cell):
        for outcome in outcomes:
            key = {
                "request_id": outcome.id,
                "batch": batch,
                "launch": cell.launch,
                "wave": wave,
            }
            traces.append({**key, **trace_row(outcome), **check(outcome)})
            rounds += [{**key, **row} for row in round_rows(outcome, cell.depth)]
        progress.advance(len(outcomes), f"(batch {batch})")
    after = engine.counters()
    counters = {name: after[name] - before[name] for name in after}
    return Measured(pd.DataFrame(traces), pd.DataFrame(rounds), counters)


def _waves(
    engine: Engine, requests: Sequence[Request], cell: Cell
) -> Iterator[tuple[int, int, list[Outcome]]]:
    for batch in cell.batches:
        for wave, outcomes in enumerate(engine.run_waves(requests, batch, cell.max_tokens)):
            yield batch, wave, outcomes


class OutputCheck:
    """Checks that a constraint was really active, and whether the calls are valid.

    A token that its grammar forbids means that the engine attached no grammar (it has happened,
    silently): that stops the run. An invalid or unfinished call is data.
    """

    def __init__(self, prompts: pd.DataFrame, chat: ChatFormat, engine: Engine) -> None:
        self._chat = chat
        self._walker = Walker(engine.tokenizer, engine.vocab_size)
        self._tokenizer = engine.tokenizer
        self._grammars = dict(zip(prompts["request_id"], prompts["grammar"], strict=True))
        self._opened = dict(zip(prompts["request_id"], prompts["opened"], strict=True))
        self._tools = {
            name: [Tool(**tool) for tool in json.loads(tools)]
            for name, tools in zip(prompts["request_id"], prompts["tools"], strict=True)
        }

    def __call__(self, outcome: Outcome) -> dict[str, Any]:
        """The columns of the traces table that speak of grammar and calls."""
        grammar = self._grammars[outcome.id]
        held = None
        if grammar:
            refused = self._walker.masks(grammar, outcome.token_ids).refused
            if refused is not None:
                raise DraftLawError(
                    f"request {outcome.id}: output token {refused} is not allowed by its grammar",
                    "The engine did not apply the structured output; check its log and version",
                )
            held = True
        text = opening(self._opened[outcome.id], self._chat)
        text += self._tokenizer.decode(outcome.token_ids, skip_special_tokens=True)
        calls = check_calls(text, self._tools[outcome.id], self._chat)
        return {
            "grammar_held": held,
            "calls": calls.calls,
            "valid_calls": calls.valid,
            "call_problem": calls.problem,
        }
