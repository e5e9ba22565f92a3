"""Grammars of turns: what they allow, replayed with the real tokenizer; and the checks on calls."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgrammar as xgr
from transformers import AutoTokenizer

from draftlaw.chat import ChatFormat, opened_by_prompt, opening
from draftlaw.grammar import Walk, Walker, check_calls, turn_grammar, unpack
from draftlaw.prompts.record import Part, Tool

CHAT = ChatFormat(thinking="elicited")
NATIVE = ChatFormat(thinking="native")
WEATHER = Tool(
    "get_weather",
    "Weather of a city.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)
CLOCK = Tool("get_time", "The time.", {"type": "object", "properties": {}, "required": []})
CALL = '{"name": "get_weather", "arguments": {"city": "Zürich", "days": 3}}\n</tool_call>'
TAGGED = f"<tool_call>\n{CALL}"
WIDTH = 49152


@pytest.fixture(scope="module")
def tokenizer(target: Path) -> Any:
    return AutoTokenizer.from_pretrained(target)


@pytest.fixture(scope="module")
def walker(tokenizer: Any) -> Walker:
    return Walker(tokenizer, WIDTH)


def walk(
    walker: Walker, tokenizer: Any, parts: tuple[Part, ...], text: str, budget: int = 40
) -> Walk:
    """An output, with its stop token, walked through the grammar of its turn."""
    grammar = turn_grammar(parts, [WEATHER, CLOCK], CHAT, budget)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return walker.masks(json.dumps(grammar), [*ids, tokenizer.eos_token_id])


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("call",), CALL),
        (("call", "call"), f"{CALL}\n{TAGGED}"),
        (("think", "call"), f"Rain or sun?\n</think>\n\n{TAGGED}"),
        (("think", "reply"), "Rain or sun?\n</think>\n\nIt will rain <b>."),
        (("reply", "call"), f"One moment. {TAGGED}"),
    ],
)
def test_a_turn_of_these_parts_is_allowed_and_ends(
    parts: tuple[Part, ...], text: str, walker: Walker, tokenizer: Any
) -> None:
    assert walk(walker, tokenizer, parts, text).refused is None


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("call",), "Sure."),
        (("call",), f"{CALL}\n{TAGGED}"),
        (("call", "call"), CALL),
        (("call",), CALL.replace("get_weather", "get_wether")),
        (("call",), CALL.replace("3", '"3"')),
        (("call",), CALL.replace('"city": "Zürich", ', "")),
        (("call",), CALL.replace('": ', '":   ')),
        (("think",), "So <tool_call> it is\n</think>\n\n"),
        (("reply", "call"), "No call at all."),
    ],
)
def test_any_other_is_refused(
    parts: tuple[Part, ...], text: str, walker: Walker, tokenizer: Any
) -> None:
    assert walk(walker, tokenizer, parts, text).refused is not None


def test_thinking_is_closed_when_its_budget_is_spent(walker: Walker, tokenizer: Any) -> None:
    thought = "one two three"
    tokens = len(tokenizer(thought, add_special_tokens=False)["input_ids"])
    text = f"{thought}\n</think>\n\n"
    within = walk(walker, tokenizer, ("think",), text, budget=len(thought))
    assert within.refused is None
    assert within.allowed[: tokens - 1].min() > 1000
    assert within.allowed[tokens] < 10  # prefixes of the closing tag, and nothing else
    assert walk(walker, tokenizer, ("think",), text, budget=12).refused == tokens - 1


def test_a_grammar_is_the_same_after_a_draft_was_taken_back(walker: Walker, tokenizer: Any) -> None:
    """The engine walks a draft through the grammar and takes it back; nothing may stay of it.

    xgrammar's budgets in tokens fail this, which is why ours are in characters.
    """
    grammar = json.dumps(turn_grammar(("think", "call"), [WEATHER], CHAT, 40))
    text = f"So it may well rain there, or snow, now\n</think>\n\n{TAGGED}"
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    compiled = xgr.GrammarCompiler(walker.info).compile_structural_tag(grammar)
    matcher = xgr.GrammarMatcher(compiled)
    row, choice = xgr.allocate_token_bitmask(1, WIDTH), random.Random(0)
    masks = walker.masks(grammar, ids).masks
    for position, token in enumerate(ids):
        for _ in range(8):
            draft = [choice.choice(ids) for _ in range(2)]
            start = choice.randrange(len(ids))
            taken = 0
            for drafted in (draft, ids[position : position + 4], ids[start : start + 4])[
                choice.randrange(3)
            ]:
                if not matcher.accept_token(drafted):
                    break
                taken += 1
            matcher.rollback(taken)
        matcher.fill_next_token_bitmask(row)
        np.testing.assert_array_equal(row[0].numpy(), masks[position], f"position {position}")
        assert matcher.accept_token(token)


def test_the_number_allowed_is_that_of_the_mask_without_padding(tokenizer: Any) -> None:
    grammar = json.dumps(turn_grammar(("think",), [], CHAT, 50))
    ids = tokenizer("So it goes", add_special_tokens=False)["input_ids"]
    for width in (WIDTH, WIDTH + 8):  # models pad their logits
        walked = Walker(tokenizer, width).masks(grammar, ids)
        bits = unpack(walked.masks, width)
        assert bits.shape == (len(ids), width)
        np.testing.assert_array_equal(walked.allowed, bits.sum(axis=1))
        assert walked.allowed.max() <= WIDTH


def test_a_native_thinker_is_constrained_inside_its_own_calls_only(
    walker: Walker, tokenizer: Any
) -> None:
    assert turn_grammar(("think", "reply"), [], NATIVE, 0) is None
    assert turn_grammar(("reply",), [WEATHER], CHAT, 0) is None
    grammar = json.dumps(turn_grammar(("call",), [WEATHER], NATIVE, 0))
    for text in ("No need.", f"<think>\nHm\n</think>\n\n{TAGGED}", f"{TAGGED}\n{TAGGED} Done."):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert walker.masks(grammar, ids).refused is None, text
    ids = tokenizer(TAGGED.replace("days", "hours"), add_special_tokens=False)["input_ids"]
    assert walker.masks(grammar, ids).refused is not None


def test_what_the_prompt_opens() -> None:
    assert [opened_by_prompt((part,), CHAT) for part in ("think", "call", "reply")] == [
        "R",
        "S",
        None,
    ]
    assert opened_by_prompt(("think", "call"), NATIVE) is None
    assert opening("S", CHAT) == "<tool_call>\n" and opening(None, CHAT) == ""


@pytest.mark.parametrize(
    ("text", "calls", "valid", "problem"),
    [
        ("Just words.", 0, 0, ""),
        (TAGGED, 1, 1, ""),
        (f"{TAGGED}\n{TAGGED}", 2, 2, ""),
        (TAGGED.replace("</tool_call>", ""), 1, 0, "not closed"),
        (TAGGED.replace("}}", "}"), 1, 0, "no JSON"),
        (TAGGED.replace("get_weather", "get_whether"), 1, 0, "unknown tool 'get_whether'"),
        (TAGGED.replace("3", '"3"'), 1, 0, "get_weather: '3' is not of type 'integer'"),
        (f"{TAGGED}\n<tool_call>\n[1]\n</tool_call>", 2, 1, "unknown tool None"),
    ],
)
def test_calls_are_parsed_and_validated(text: str, calls: int, valid: int, problem: str) -> None:
    found = check_calls(text, [WEATHER, CLOCK], CHAT)
    assert (found.calls, found.valid) == (calls, valid)
    assert found.problem.startswith(problem) and bool(found.problem) == bool(problem)
