"""Prompt sets: sources, shares, freezing, and that nothing trained on is ever measured."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from transformers import AutoTokenizer

from conftest import REPO
from draftlaw import study
from draftlaw.chat import ChatFormat
from draftlaw.errors import DraftLawError
from draftlaw.prompts import hub, jsonl
from draftlaw.prompts.freeze import freeze
from draftlaw.prompts.record import Prompt
from draftlaw.prompts.sources import SHARES, own_words, read, share_of
from draftlaw.prompts.spec import BfclSource, DatasetsSource, JsonlSource, PromptSpec
from draftlaw.tables.prompts import PROMPTS

CONFIG = study.validate(yaml.safe_load((REPO / "config.yaml").read_text(encoding="utf-8")))
CHAT = ChatFormat(template=str(REPO / "data/chat/chatml-hermes.jinja"), thinking="elicited")


@pytest.fixture(scope="module")
def tokenizer(target: Path) -> Any:
    return AutoTokenizer.from_pretrained(target)


def pool(names: list[str], wheel: Path, monkeypatch: pytest.MonkeyPatch) -> list[Prompt]:
    """Every prompt that any arm of these studies could ever be given."""
    monkeypatch.chdir(REPO)
    specs = [arm.prompts for name in names for arm in CONFIG.studies[name].arms.values()]
    return [
        prompt
        for spec in specs
        for source in spec.sources
        for prompt in read(source, spec.seed, wheel, "2026.3.23")
    ]


def ids(prompts: list[Prompt]) -> set[str]:
    """Ids without the suffix of a variant (plain, think) or of a turn."""
    return {prompt.id.partition("/")[0] for prompt in prompts}


def test_training_prompts_are_disjoint_from_all_others_by_id_and_text(
    bfcl_wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = pool(["training"], bfcl_wheel, monkeypatch)
    heldout = pool(["heldout"], bfcl_wheel, monkeypatch)
    arms = pool(["embedded", "smoke"], bfcl_wheel, monkeypatch)
    assert min(map(len, (train, heldout, arms))) > 50
    for ours, theirs in ((train, arms), (train, heldout), (heldout, arms)):
        assert not ids(ours) & ids(theirs)
        assert not {own_words(p) for p in ours} & {own_words(p) for p in theirs}


def bfcl(wheel: Path, **options: Any) -> list[Prompt]:
    source = BfclSource(kind="bfcl", share="train", **options)
    return read(source, 0, wheel, "2026.3.23")


def test_a_call_can_be_asked_for_where_none_is_expected(bfcl_wheel: Path) -> None:
    usual = bfcl(bfcl_wheel, categories=("irrelevance",))
    forced = bfcl(bfcl_wheel, categories=("irrelevance",), call=True)
    assert {prompt.parts for prompt in usual} == {("reply",)}
    assert {prompt.parts for prompt in forced} == {("call",)}
    assert all(prompt.tools for prompt in forced) and len(forced) > 50


def test_the_right_tools_are_the_last_to_be_left_out(bfcl_wheel: Path) -> None:
    categories = ("live_multiple", "parallel_multiple")
    pairs = zip(
        bfcl(bfcl_wheel, categories=categories),
        bfcl(bfcl_wheel, categories=categories, max_tools=1),
        strict=True,
    )
    for whole, cut in pairs:
        right = {name for call in whole.ground_truth for name in call}
        names = {tool.name for tool in cut.tools}
        assert right & {tool.name for tool in whole.tools} <= names
        assert len(cut.tools) <= max(1, len(right)) and len(whole.tools) >= len(cut.tools)


def test_the_shares_cover_every_text_once() -> None:
    assert sorted(number for numbers in SHARES.values() for number in numbers) == list(range(100))


def prompt(name: str, words: str) -> Prompt:
    return Prompt(
        name, name, 0, "test", "CC0-1.0", [{"role": "user", "content": words}], [], ("reply",)
    )


def test_the_share_depends_on_the_words_alone() -> None:
    assert share_of(prompt("a", "Tell me  A STORY")) == share_of(prompt("b", "tell me a story"))


def spec(clusters: int, **changes: Any) -> PromptSpec:
    source = JsonlSource(kind="jsonl", path="x", licence="CC0-1.0", parts=("reply",))
    return PromptSpec(sources=(source,), clusters=clusters, max_prompt_tokens=100, **changes)


PROMPTS_AT_HAND = [prompt(f"p{number}", f"Question number {number}?") for number in range(12)]


def test_asking_for_more_prompts_adds_and_moves_none(tokenizer: Any) -> None:
    few, many = (freeze(PROMPTS_AT_HAND, spec(n), CHAT, tokenizer) for n in (5, 9))
    pd.testing.assert_frame_equal(few, many.iloc[:5])


def test_another_seed_takes_other_prompts(tokenizer: Any) -> None:
    one, two = (freeze(PROMPTS_AT_HAND, spec(6, seed=s), CHAT, tokenizer) for s in (0, 1))
    assert set(one["request_id"]) != set(two["request_id"])


def test_the_same_words_are_taken_once(tokenizer: Any) -> None:
    twins = [*PROMPTS_AT_HAND, replace(PROMPTS_AT_HAND[0], id="twin", cluster="twin")]
    frame = freeze(twins, spec(12), CHAT, tokenizer)
    assert len({"p0", "twin"} & set(frame["request_id"])) == 1


def test_too_few_fitting_prompts_are_refused_with_the_number_that_fits(tokenizer: Any) -> None:
    with pytest.raises(DraftLawError, match=r"13 asked, but only 12 of 12.*Ask for at most 12"):
        freeze(PROMPTS_AT_HAND, spec(13), CHAT, tokenizer)
    long = prompt("long", "word " * 200)
    with pytest.raises(DraftLawError, match="only 12 of 13"):
        freeze([*PROMPTS_AT_HAND, long], spec(13), CHAT, tokenizer)


def test_a_thinking_block_is_opened_where_the_model_has_none(tokenizer: Any) -> None:
    thinking = replace(PROMPTS_AT_HAND[0], parts=("think",))
    row = freeze([thinking], spec(1, think_budget=9), CHAT, tokenizer).iloc[0]
    assert row["prompt_text"].endswith("<|im_start|>assistant\n<think>\n")
    assert row["opened"] == "R"
    text, close = json.loads(row["grammar"])["format"]["elements"]
    assert text["max_chars"] == 9 and close["value"] == "\n</think>\n\n"
    native = ChatFormat(template=CHAT.template, thinking="native")
    row = freeze([thinking], spec(1), native, tokenizer).iloc[0]
    assert row["prompt_text"].endswith("<|im_start|>assistant\n")
    assert row["opened"] is None and row["grammar"] is None


def test_rendered_prompts_hold_tools_calls_and_results(
    bfcl_wheel: Path, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(REPO)
    arm = CONFIG.studies["embedded"].arms["D"].prompts
    prompts = read(arm.sources[0], arm.seed, bfcl_wheel, "2026.3.23")
    frame = freeze(prompts, arm, CHAT, tokenizer)
    assert frame["cluster"].nunique() == arm.clusters
    assert (frame["prompt_tokens"] <= arm.max_prompt_tokens).all()
    for row in frame.itertuples():
        messages, text = json.loads(str(row.messages)), str(row.prompt_text)
        for tool in json.loads(str(row.tools)):
            assert json.dumps(tool["name"]) in text
        results = [m["content"] for m in messages if m["role"] == "tool"]
        assert all(result in text for result in results)
        assert text.count("<tool_response>") == len(results)
        places = [text.index(result) for result in results]
        assert all(a <= b for a, b in pairwise(places))


def test_a_local_file_and_a_local_data_set_give_the_same_prompts(tmp_path: Path) -> None:
    lines = [{"text": f"What is {n} plus {n}?", "answer": str(2 * n)} for n in range(5)]
    folder = tmp_path / "sums"
    folder.mkdir()
    file = folder / "test.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    local = jsonl.read(
        JsonlSource(kind="jsonl", path=str(file), licence="CC0-1.0", parts=("think",))
    )
    data = hub.read(
        DatasetsSource(
            kind="datasets",
            path=str(folder),
            split="test",
            text="text",
            answer="answer",
            licence="CC0-1.0",
            parts=("think",),
        )
    )
    assert [(p.messages, p.ground_truth, p.parts) for p in local] == [
        (p.messages, p.ground_truth, p.parts) for p in data
    ]
    assert len(data) == 5


def test_a_data_set_without_the_column_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text('{"question": "Why?"}\n', encoding="utf-8")
    source = DatasetsSource(
        kind="datasets",
        path=str(tmp_path),
        split="test",
        text="text",
        licence="x",
        parts=("reply",),
    )
    with pytest.raises(DraftLawError, match=r"no column 'text'.*\['question'\]"):
        hub.read(source)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"text": "one"}\n{"text": "two"\n', "line 2 is no JSON"),
        (b'{"txt": "one"}\n', "line 1 has neither text nor messages"),
        (b'{"text": "caf\xe9"}\n', "is not UTF-8"),
    ],
)
def test_a_bad_line_is_refused_by_number(content: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_bytes(content)
    source = JsonlSource(kind="jsonl", path=str(file), licence="x", parts=("reply",))
    with pytest.raises(DraftLawError, match=words):
        jsonl.read(source)


def test_the_prompt_table_is_checked_when_written(tokenizer: Any, tmp_path: Path) -> None:
    frame = freeze(PROMPTS_AT_HAND, spec(3), CHAT, tokenizer)
    PROMPTS.write(frame, tmp_path / "whole.parquet")
    assert len(PROMPTS.read(tmp_path / "whole.parquet")) == 3
    twice = pd.concat([frame, frame])
    with pytest.raises(DraftLawError, match="is no prompts table"):
        PROMPTS.write(twice, tmp_path / "twice.parquet")
    assert not (tmp_path / "twice.parquet").exists()
