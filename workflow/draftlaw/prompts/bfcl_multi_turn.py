"""BFCL's multi-turn trajectories, replayed as the recorded context of an unattended agent loop.

BFCL gives, for every user turn, the calls that solve it, and ships the simulated APIs they act on.
Running the calls yields the tool results, so each assistant turn can be asked for after exactly
what came before it. The loop follows the convention of interleaved thinking:

- after a user message the agent thinks and makes its first call: ("think", "call");
- after that call's result it makes the user turn's remaining calls in parallel, without thinking,
  at most four to an assistant turn: ("call",) * n;
- after the last result it reports to the user in prose: ("reply",).

BFCL records neither thoughts nor reports. In the context both are left out: the next user message
directly follows the tool results, or the last user message where a turn needs no call.

The simulated APIs are imported from the wheel itself. They print nothing, use no network and draw
from generators seeded by the scenario; MathAPI needs the package mpmath, the others only the
standard library. The one clock they read (the age of a traveller) is stopped, see `_StoppedClock`.
"""

from __future__ import annotations

import ast
import copy
import importlib
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from decimal import localcontext
from itertools import islice
from pathlib import Path
from typing import Any, Self

from draftlaw.prompts.bfcl import (
    DATA,
    LICENCE,
    BfclError,
    answers,
    category_member,
    read_jsonl,
    source_name,
    tool,
)
from draftlaw.prompts.record import Message, Part, Prompt, Tool

CALLS_PER_TURN = 4
"""Most calls in one assistant turn; further ones follow in turns of their own."""

RESULT_CHARACTERS = 300
"""Length at which a tool result is cut, so that a single `ls` cannot crowd out the context."""

_API_PACKAGE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"

# Class name to module; the function documents carry the module's name.
_MODULES: Mapping[str, str] = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
}

_Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    arguments: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "arguments": copy.deepcopy(self.arguments)}


@dataclass(frozen=True, slots=True)
class _Turn:
    context: list[Message]
    parts: tuple[Part, ...]
    calls: list[_Call]


@dataclass(frozen=True, slots=True)
class _UserTurn:
    messages: list[Message]
    calls: list[_Call]


class _StoppedClock(datetime):
    """A `datetime` whose present is the simulated trading API's own, in every run alike."""

    @classmethod
    def today(cls) -> Self:
        return cls(2024, 9, 1, 10, 30)

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.today().replace(tzinfo=tz)


def trajectories(
    wheel: Path,
    version: str,
    *,
    turns: int,
    distractors: int,
    seed: int,
    categories: Sequence[str] = ("multi_turn_base",),
) -> list[Prompt]:
    """Replays multi-turn trajectories and gives one prompt per assistant turn.

    Args:
        wheel: the bfcl-eval wheel, the source of the data and of the simulated APIs.
        version: its version, recorded in the source.
        turns: at most that many assistant turns of a trajectory, from its start.
        distractors: functions offered beside those that the kept turns call, drawn from the
            trajectory's APIs (all that are left, where there are fewer).
        seed: seed of the distractors and of the order in which functions are offered.
        categories: multi-turn categories in which every user turn has a message.

    Returns:
        Prompts in the order of the wheel. The ground truth lists the turn's recorded calls as
        {"name": ..., "arguments": {...}}, and is None for a report.

    Raises:
        BfclError: data are missing, a ground-truth call cannot be read, or a user turn is empty.
    """
    documents = {
        name: read_jsonl(wheel, f"{DATA}/multi_turn_func_doc/{module}.json")
        for name, module in _MODULES.items()
    }
    prompts = []
    for category in categories:
        truths = answers(wheel, category)
        for row in read_jsonl(wheel, category_member(category)):
            offered = [entry for name in row["involved_classes"] for entry in documents[name]]
            user_turns = _user_turns(row, truths.get(row["id"], []), offered)
            apis = _simulated_apis(wheel, row, category == "multi_turn_long_context")
            kept = list(islice(_assistant_turns(user_turns, apis), turns))
            tools = _offered_tools(row, kept, offered, distractors, seed)
            prompts += _prompts(row["id"], source_name(version, category), kept, tools)
    return prompts


def _user_turns(
    row: Mapping[str, Any], truth: list[list[str]], offered: list[_Document]
) -> list[_UserTurn]:
    if len(truth) != len(row["question"]) or not all(row["question"]):
        raise BfclError(f"{row['id']}: every user turn needs a message and a list of calls")
    parameters = {entry["name"]: list(entry["parameters"]["properties"]) for entry in offered}
    return [
        _UserTurn(messages, [_parse_call(row["id"], call, parameters) for call in calls])
        for messages, calls in zip(row["question"], truth, strict=True)
    ]


def _parse_call(identifier: str, text: str, parameters: Mapping[str, list[str]]) -> _Call:
    """Reads a call written in Python, such as "sort('final_report.pdf')"."""
    try:
        node = ast.parse(text, mode="eval").body
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            raise ValueError("not a plain function call")
        if node.func.id not in parameters:
            raise ValueError("no such function in the involved classes")
        names = parameters[node.func.id]
        given = [*zip(names, node.args, strict=False)]
        given += [(keyword.arg or "**", keyword.value) for keyword in node.keywords]
        arguments = {name: ast.literal_eval(value) for name, value in given}
        if len(arguments) != len(node.args) + len(node.keywords) or not arguments.keys() <= {
            *names
        }:
            raise ValueError(f"its arguments do not fit the parameters {names}")
    except (SyntaxError, ValueError) as error:
        raise BfclError(f"{identifier}: cannot read the call {text!r}: {error}") from error
    return _Call(node.func.id, arguments)


def _simulated_apis(wheel: Path, row: Mapping[str, Any], long_context: bool) -> list[Any]:
    """Builds the trajectory's APIs in their initial state."""
    apis = []
    for name in row["involved_classes"]:
        api = _api_class(wheel, name)()
        if hasattr(api, "_load_scenario"):  # MathAPI has no state
            api._load_scenario(row["initial_config"].get(name, {}), long_context=long_context)
        apis.append(api)
    return apis


def _api_class(wheel: Path, name: str) -> Any:
    """Imports a simulated API from the wheel, which Python can do without unpacking it."""
    origin = str(wheel.resolve())
    sys.path.insert(0, origin)
    try:
        module = importlib.import_module(f"{_API_PACKAGE}.{_MODULES[name]}")
    finally:
        sys.path.remove(origin)
    if not str(module.__file__).startswith(origin):
        raise BfclError(f"{wheel}: bfcl_eval was already imported from {module.__file__}")
    if name == "TravelAPI":
        vars(module)["datetime"] = _StoppedClock
    return getattr(module, name)


def _assistant_turns(user_turns: list[_UserTurn], apis: list[Any]) -> Iterator[_Turn]:
    """Walks through the loop, running calls as late as the consumer asks for turns."""
    context: list[Message] = []
    for user_turn in user_turns:
        context += user_turn.messages
        for parts, calls in _plan(user_turn.calls):
            yield _Turn(copy.deepcopy(context), parts, calls)
            context += _exchange(calls, apis)
        yield _Turn(copy.deepcopy(context), ("reply",), [])


def _plan(calls: list[_Call]) -> Iterator[tuple[tuple[Part, ...], list[_Call]]]:
    if calls:
        yield ("think", "call"), calls[:1]
    call: Part = "call"
    for start in range(1, len(calls), CALLS_PER_TURN):
        group = calls[start : start + CALLS_PER_TURN]
        yield (call,) * len(group), group


def _exchange(calls: list[_Call], apis: list[Any]) -> list[Message]:
    """Gives the assistant message that makes the calls, and the tool messages that answer."""
    requests = [{"type": "function", "function": call.as_json()} for call in calls]
    results: list[Message] = [
        {"role": "tool", "name": call.name, "content": _result(call, apis)} for call in calls
    ]
    return [{"role": "assistant", "content": "", "tool_calls": requests}, *results]


def _result(call: _Call, apis: list[Any]) -> str:
    method = next(getattr(api, call.name) for api in apis if hasattr(api, call.name))
    try:
        with localcontext():  # MathAPI sets the decimal precision of the whole process
            result = method(**copy.deepcopy(call.arguments))
    except Exception as error:  # whatever the simulation raises is what the agent would have seen
        result = {"error": f"Error during execution: {error}"}
    text = json.dumps(result, ensure_ascii=False, default=repr)
    if len(text) <= RESULT_CHARACTERS:
        return text
    return f"{text[:RESULT_CHARACTERS]}... [truncated: {len(text)} characters in all]"


def _offered_tools(
    row: Mapping[str, Any],
    kept: list[_Turn],
    offered: list[_Document],
    distractors: int,
    seed: int,
) -> list[Tool]:
    """Picks the functions called, and seeded distractors, in a seeded order.

    BFCL's `excluded_function` are alternatives to the recorded calls, so they do not distract.
    """
    # A text seed is hashed by SHA-512, not by `hash`: the draw is the same in every process.
    rng = random.Random(f"{seed}:{row['id']}")
    called = {call.name for turn in kept for call in turn.calls}
    barred = called.union(row.get("excluded_function", []))
    spare = [entry for entry in offered if entry["name"] not in barred]
    chosen = [entry for entry in offered if entry["name"] in called]
    chosen += rng.sample(spare, min(distractors, len(spare)))
    rng.shuffle(chosen)
    return [tool(entry | {"description": _own_description(entry)}) for entry in chosen]


def _own_description(document: Mapping[str, Any]) -> str:
    """Drops the preamble on the whole API, which BFCL repeats for each of its functions."""
    return str(document["description"]).rpartition("Tool description: ")[2]


def _prompts(identifier: str, source: str, kept: list[_Turn], tools: list[Tool]) -> list[Prompt]:
    return [
        Prompt(
            id=f"{identifier}/t{number}",
            cluster=identifier,
            turn=number,
            source=source,
            licence=LICENCE,
            messages=turn.context,
            tools=tools,
            parts=turn.parts,
            ground_truth=[call.as_json() for call in turn.calls] or None,
        )
        for number, turn in enumerate(kept)
    ]
