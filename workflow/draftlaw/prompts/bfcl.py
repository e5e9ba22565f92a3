"""Single-turn requests of the Berkeley Function-Calling Leaderboard, read from its PyPI wheel.

BFCL describes parameters in a dialect of its own ("dict", "float", "HashMap", ...); the grammar
engine and the validity check both need JSON Schema, so `json_schema` translates once for both.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from draftlaw.errors import DraftLawError
from draftlaw.prompts.record import Part, Prompt, Tool


class BfclError(DraftLawError):
    """The wheel does not hold what this module knows how to read."""

    def __init__(self, what: str) -> None:
        super().__init__(what, "Take the release of bfcl-eval that config.yaml names")


DATA = "bfcl_eval/data"
LICENCE = "Apache-2.0"

NO_CALL_CATEGORIES = frozenset({"irrelevance", "live_irrelevance"})
"""Categories where no offered function fits: the right turn is a reply, BFCL lists no answer."""

# BFCL's own table maps `any` to string too: a value of any type would make the grammar recursive,
# and the leaderboard's answers for `any` are strings of source code.
_TYPES: Mapping[str, str] = {
    "": "string",
    "any": "string",
    "Any": "string",
    "string": "string",
    "String": "string",
    "char": "string",
    "integer": "integer",
    "byte": "integer",
    "short": "integer",
    "long": "integer",
    "Bigint": "integer",
    "number": "number",
    "float": "number",
    "double": "number",
    "boolean": "boolean",
    "Boolean": "boolean",
    "bool": "boolean",
    "array": "array",
    "list": "array",
    "tuple": "array",
    "Array": "array",
    "ArrayList": "array",
    "Set": "array",
    "Queue": "array",
    "Stack": "array",
    "dict": "object",
    "object": "object",
    "HashMap": "object",
    "Hashtable": "object",
}

_KEPT = ("description", "default", "format", "maximum")
_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def read_jsonl(wheel: Path, member: str) -> list[dict[str, Any]]:
    """Reads a JSON Lines file inside a wheel, without unpacking it.

    Raises:
        BfclError: the wheel or the member is missing or unreadable, or a line is no JSON object.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            text = archive.read(member).decode("utf-8")
    except (OSError, KeyError, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise BfclError(f"{wheel}: cannot read {member}: {error}") from error
    # Not splitlines: it would also split at the Unicode separators that JSON strings may hold.
    lines = enumerate(text.split("\n"), start=1)
    return [_json_object(line, f"{wheel}: {member} line {n}") for n, line in lines if line.strip()]


def _json_object(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise BfclError(f"{where}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BfclError(f"{where}: not a JSON object")
    return value


def json_schema(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Translates a BFCL parameter document to JSON Schema (draft 2020-12).

    Objects that list properties are closed, so that a grammar cannot run on with invented keys;
    objects without a list (maps) stay open. Enumerations that contradict their type win over it
    (BFCL has integers that may be "dontcare"), and those of an array belong to its items.

    Args:
        parameters: the document, left as it is.

    Raises:
        BfclError: a type name is none of BFCL's.
    """
    if parameters.get("type") not in _TYPES:
        raise BfclError(f"unknown BFCL parameter type {parameters.get('type')!r}")
    kind = _TYPES[parameters["type"]]
    schema: dict[str, Any] = {"type": kind}
    schema.update({key: parameters[key] for key in _KEPT if key in parameters})
    if kind == "object":
        schema.update(_object_keywords(parameters))
    elif kind == "array":
        schema["items"] = json_schema(parameters.get("items", {"type": "string"}))
    if "enum" in parameters:
        _restrict(schema["items"] if kind == "array" else schema, parameters["enum"])
    return schema


def _object_keywords(parameters: Mapping[str, Any]) -> dict[str, Any]:
    if "properties" not in parameters:
        return {}
    properties = {key: json_schema(value) for key, value in parameters["properties"].items()}
    return {
        "properties": properties,
        "required": [key for key in properties if key in parameters.get("required", [])],
        "additionalProperties": False,
    }


def _restrict(schema: dict[str, Any], values: Sequence[Any]) -> None:
    schema["enum"] = list(values)
    if not all(isinstance(value, _PYTHON_TYPES[schema["type"]]) for value in values):
        del schema["type"]


def tool(document: Mapping[str, Any]) -> Tool:
    """Translates a BFCL function document."""
    return Tool(document["name"], document["description"], json_schema(document["parameters"]))


def category_member(category: str) -> str:
    """Names the requests of a category inside the wheel."""
    return f"{DATA}/BFCL_v4_{category}.json"


def answers(wheel: Path, category: str) -> dict[str, Any]:
    """Reads BFCL's ground truth of a category, by request id."""
    rows = read_jsonl(wheel, f"{DATA}/possible_answer/BFCL_v4_{category}.json")
    return {row["id"]: row["ground_truth"] for row in rows}


def source_name(version: str, category: str) -> str:
    """Gives the source recorded in every prompt of a category."""
    return f"bfcl-eval {version} {category}"


def single_turn(wheel: Path, version: str, categories: Sequence[str]) -> list[Prompt]:
    """Reads the requests of single-turn categories, in the wheel's order.

    Args:
        wheel: the bfcl-eval wheel.
        version: its version, recorded in the source.
        categories: for instance "simple_python", "live_multiple" or "irrelevance".

    Returns:
        One prompt per request. Its ground truth is BFCL's list of {name: {argument: allowed
        values}}, one entry per expected call ("" among the values: the argument may be left out).

    Raises:
        BfclError: the wheel lacks a category's requests or answers, or a request has no answer.
    """
    return [
        prompt for category in categories for prompt in _category_prompts(wheel, version, category)
    ]


def _category_prompts(wheel: Path, version: str, category: str) -> list[Prompt]:
    rows = read_jsonl(wheel, category_member(category))
    if category in NO_CALL_CATEGORIES:
        return [_prompt(row, source_name(version, category), ("reply",), None) for row in rows]
    truths = answers(wheel, category)
    unanswered = [row["id"] for row in rows if not truths.get(row["id"])]
    if unanswered:
        raise BfclError(f"{wheel}: {category}: no ground truth for {', '.join(unanswered)}")
    return [_call_prompt(row, source_name(version, category), truths[row["id"]]) for row in rows]


def _call_prompt(row: Mapping[str, Any], source: str, truth: list[Any]) -> Prompt:
    call: Part = "call"
    return _prompt(row, source, (call,) * len(truth), truth)


def _prompt(
    row: Mapping[str, Any], source: str, parts: tuple[Part, ...], truth: list[Any] | None
) -> Prompt:
    turns = row["question"]
    if len(turns) != 1:
        raise BfclError(f"{source}: {row['id']} has {len(turns)} user turns, not one")
    return Prompt(
        id=row["id"],
        cluster=row["id"],
        turn=0,
        source=source,
        licence=LICENCE,
        messages=turns[0],
        tools=[tool(document) for document in row["function"]],
        parts=parts,
        ground_truth=truth,
    )
