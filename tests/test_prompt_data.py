import json
import re
from itertools import combinations
from pathlib import Path

import pytest

from reasoning_answers import SOLUTIONS

PROMPTS = Path(__file__).resolve().parents[1] / "data" / "prompts"
MAX_OVERLAP = 0.2
Row = dict[str, str]


def load(name: str) -> list[Row]:
    lines = (PROMPTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


WRITING = load("writing")
HELDOUT = load("heldout_writing")
REASONING = load("reasoning")
FILES = {"writing": WRITING, "heldout-writing": HELDOUT, "reasoning": REASONING}
SETS = {"writing": WRITING + HELDOUT, "reasoning": REASONING}


def five_grams(text: str) -> set[tuple[str, ...]]:
    without_numbers = re.sub(r"\d+(?:[.,:/-]\d+)*", "#", text.lower())
    words = re.findall(r"#|[^\W\d_]+(?:['’][^\W\d_]+)*", without_numbers)
    return set(zip(*(words[i:] for i in range(5)), strict=False))


def overlap(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / min(len(one), len(other))


def too_similar(rows: list[Row]) -> list[tuple[str, str]]:
    grams = {row["id"]: five_grams(row["text"]) for row in rows}
    return [(a, b) for a, b in combinations(grams, 2) if overlap(grams[a], grams[b]) > MAX_OVERLAP]


def with_other_numbers(text: str) -> str:
    return re.sub(r"\d+", lambda number: str(int(number[0]) + 3), text)


@pytest.mark.parametrize(("name", "least"), [("writing", 60), ("reasoning", 60)])
def test_study_sets_are_large_enough(name: str, least: int) -> None:
    assert len(FILES[name]) >= least


@pytest.mark.parametrize("name", FILES)
def test_lines_follow_the_schema(name: str) -> None:
    keys = ["id", "text", "answer"] if name == "reasoning" else ["id", "text"]
    for row in FILES[name]:
        assert list(row) == keys
        for value in row.values():
            assert isinstance(value, str)
            assert value and value == value.strip()
            assert value.isprintable()


@pytest.mark.parametrize("name", FILES)
def test_ids_count_up_from_one(name: str) -> None:
    rows = FILES[name]
    assert [row["id"] for row in rows] == [f"{name}-{n:03d}" for n in range(1, len(rows) + 1)]


def test_texts_and_ids_are_unique_across_all_files() -> None:
    rows = [row for file in FILES.values() for row in file]
    for field in ("id", "text"):
        assert len({row[field].casefold() for row in rows}) == len(rows)


def test_heldout_shares_nothing_with_writing() -> None:
    for field in ("id", "text"):
        assert not {row[field] for row in WRITING} & {row[field] for row in HELDOUT}


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("writing", 12, 60), ("heldout-writing", 12, 60), ("reasoning", 25, 90)],
)
def test_lengths_in_words(name: str, least: int, most: int) -> None:
    lengths = {row["id"]: len(row["text"].split()) for row in FILES[name]}
    assert not {key: n for key, n in lengths.items() if not least <= n <= most}


@pytest.mark.parametrize("name", SETS)
def test_no_two_prompts_come_from_one_template(name: str) -> None:
    assert too_similar(SETS[name]) == []


@pytest.mark.parametrize("row", [row for row in REASONING if re.search(r"\d", row["text"])][::10])
def test_overlap_check_notices_a_problem_with_other_numbers(row: Row) -> None:
    copy = {"id": "copy", "text": with_other_numbers(row["text"])}
    assert copy["text"] != row["text"]
    assert too_similar([*REASONING, copy]) == [(row["id"], "copy")]


def test_overlap_check_notices_a_partly_reworded_prompt() -> None:
    first, _, rest = WRITING[0]["text"].partition(". ")
    copy = {"id": "copy", "text": f"{first}. Compose a cheerful poem about it, in rhyme."}
    assert rest
    assert too_similar([*WRITING, copy]) == [(WRITING[0]["id"], "copy")]


def test_solutions_cover_exactly_the_reasoning_problems() -> None:
    assert list(SOLUTIONS) == [row["id"] for row in REASONING]


@pytest.mark.parametrize("row", REASONING, ids=lambda row: row["id"])
def test_answer_key_matches_the_computed_answer(row: Row) -> None:
    assert SOLUTIONS[row["id"]]() == row["answer"]
