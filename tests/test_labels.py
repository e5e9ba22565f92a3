"""Classes, spans and straddlers of output tokens; repeats; the table of output positions."""

import itertools
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftlaw.__main__ import main
from draftlaw.chat import ChatFormat, PositionClass
from draftlaw.errors import DraftLawError
from draftlaw.grammar import Walker, turn_grammar
from draftlaw.labels import Labels, label, loops
from draftlaw.positions import label_positions, token_pieces
from draftlaw.prompts.record import Tool
from draftlaw.tables.engine import TRACES
from draftlaw.tables.positions import POSITIONS
from draftlaw.tables.prompts import PROMPTS

fast = settings(max_examples=200, deadline=None, derandomize=True)

CHAT = ChatFormat()
# tags that are no valid regular expressions of themselves, and not ASCII
ODD = ChatFormat(think_open="[T]", think_close="◁/t▷", call_open="<call+>", call_close="<call+>end")


def classes(pieces: Sequence[bytes], opened: PositionClass | None = None) -> str:
    return "".join(label(pieces, CHAT, opened).classes)


def flags(values: Any) -> str:
    return "".join("x" if value else "." for value in values)


def per_byte(text: str, opened: PositionClass | None = None) -> str:
    return classes([bytes([byte]) for byte in text.encode()], opened)


# --- Blocks ---------------------------------------------------------------------------------------


def test_opening_tags_are_prose_and_closing_tags_are_of_their_block() -> None:
    text = "a<think>b</think>c<tool_call>d</tool_call>e"
    assert per_byte(text) == "F" * 8 + "R" * 9 + "F" * 12 + "S" * 13 + "F"


def test_several_calls_in_a_turn() -> None:
    text = "<tool_call>1</tool_call>\n<tool_call>22</tool_call>"
    assert per_byte(text) == "F" * 11 + "S" * 13 + "F" * 12 + "S" * 14


@pytest.mark.parametrize("letter", ["R", "S"])
def test_an_unclosed_block_runs_to_the_end(letter: str) -> None:
    tag = {"R": "<think>", "S": "<tool_call>"}[letter]
    assert per_byte(f"{tag}and so on") == "F" * len(tag) + letter * 9


def test_tags_of_the_other_kind_are_text_of_the_block() -> None:
    inner = "<tool_call>x</tool_call></think>"
    assert per_byte(f"<think>{inner}y") == "F" * 7 + "R" * len(inner) + "F"
    inner = "<think>x</think></tool_call>"
    assert per_byte(f"<tool_call>{inner}y") == "F" * 11 + "S" * len(inner) + "F"


def test_blocks_do_not_nest() -> None:
    text = "<think>a<think>b</think>c</think>d"
    assert per_byte(text) == "F" * 7 + "R" * 17 + "F" * 10


@pytest.mark.parametrize("text", ["a</think>b", "</tool_call>", "</think></tool_call></think>"])
def test_a_stray_closing_tag_is_prose(text: str) -> None:
    assert per_byte(text) == "F" * len(text)


def test_a_stray_closing_tag_does_not_close_a_later_block() -> None:
    assert per_byte("</think><think>a") == "F" * 15 + "R"


@pytest.mark.parametrize(
    "text",
    [
        "<tool_callx>",
        "<think",
        "< think>",
        "<Think>",
        "<think >",
        "think>",
        "<tool_call\n>",
        "<thi",
    ],
)
def test_text_that_only_looks_like_a_tag_is_none(text: str) -> None:
    assert per_byte(f"{text}rest") == "F" * (len(text) + 4)
    assert per_byte(f"{text}rest", "R") == "R" * (len(text) + 4)


@pytest.mark.parametrize("text", ["</thinkx>", "</think", "</ think>", "</tool_call>", "/think>"])
def test_text_that_only_looks_like_a_closing_tag_closes_nothing(text: str) -> None:
    assert per_byte(f"{text}rest", "R") == "R" * (len(text) + 4)


def test_a_tag_after_its_own_beginning() -> None:
    assert per_byte("<thi<think>a") == "F" * 11 + "R"
    assert per_byte("</thi</think>a", "R") == "R" * 13 + "F"


def test_a_block_that_the_prompt_opened() -> None:
    assert per_byte("ab</think>c<think>d", "R") == "R" * 10 + "F" * 8 + "R"
    assert per_byte("ab</tool_call>c", "S") == "S" * 14 + "F"
    assert per_byte("<think>ab", "R") == "R" * 9
    assert per_byte("a</think>", "F") == "F" * 9


# --- Tokens ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("opened", [None, "R", "S"])
def test_an_empty_output_has_empty_labels(opened: PositionClass | None) -> None:
    labels = label([], CHAT, opened)
    assert len(labels.classes) == len(labels.spans) == len(labels.straddlers) == 0
    assert [str(a.dtype) for a in (labels.spans, labels.straddlers)] == ["int32", "bool"]


def test_a_tag_split_over_several_tokens() -> None:
    pieces = [b"<", b"th", b"ink", b">", b"a", b"</", b"think", b">", b"b"]
    labels = label(pieces, CHAT, None)
    assert "".join(labels.classes) == "FFFFRRRRF"
    assert flags(labels.straddlers) == "........."
    assert labels.spans.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2]


def test_straddlers_take_the_class_of_their_first_byte() -> None:
    whole = label([b"a", b"</think>\n\nHello", b" you"], CHAT, "R")
    assert "".join(whole.classes) == "RRF"
    assert flags(whole.straddlers) == ".x."
    tails = label([b"<think", b">x", b"</think", b">x", b"<tool_call", b">x"], CHAT, None)
    assert "".join(tails.classes) == "FFRRFF"
    assert flags(tails.straddlers) == ".x.x.x"


def test_a_token_that_leaves_its_class_and_returns_is_a_straddler() -> None:
    labels = label([b"a</think><think>b", b"c"], CHAT, "R")
    assert "".join(labels.classes) == "RR"
    assert flags(labels.straddlers) == "x."
    assert labels.spans.tolist() == [0, 0]


def test_a_token_that_ends_with_a_tag_is_no_straddler() -> None:
    labels = label([b"so</think>", b"a<think>", b"b"], CHAT, "R")
    assert "".join(labels.classes) == "RFR"
    assert not labels.straddlers.any()


def test_characters_split_over_tokens() -> None:
    # "é漢" cut inside both characters, once across the end of a block
    pieces = [
        b"\xc3",
        b"\xa9\xe6\xbc",
        b"\xa2</thi",
        b"nk>\xe6",
        b"\xbc\xa2",
        b"<think>\xf0",
        b"\x9f",
    ]
    labels = label(pieces, CHAT, "R")
    assert "".join(labels.classes) == "RRRRFFR"
    assert flags(labels.straddlers) == "...x.x."


def test_empty_pieces_take_the_class_in_force() -> None:
    assert classes([b"", b"a", b""]) == "FFF"
    assert classes([b"", b"a", b"", b"</think", b"", b">", b""], "R") == "RRRRRRF"
    assert classes([b"<tool_call", b"", b">", b"", b"a", b""]) == "FFFSSS"
    assert classes([b"<tool_call>", b"</tool_call>", b"", b""]) == "FSFF"
    assert not label([b"", b"</think>", b"", b"a"], CHAT, "R").straddlers.any()


def test_two_blocks_of_a_class_are_two_spans() -> None:
    pieces = [
        b"<tool_call>",
        b"1",
        b"</tool_call>",
        b"\n",
        b"<tool_call>",
        b"2",
        b"</tool_call>",
        b"",
    ]
    assert label(pieces, CHAT, None).spans.tolist() == [0, 1, 1, 2, 2, 3, 3, 4]


# --- Against a reference that reads byte by byte --------------------------------------------------

FRAGMENTS = [
    *(tag for chat in (CHAT, ODD) for tag in (chat.think_open, chat.think_close)),
    *(tag for chat in (CHAT, ODD) for tag in (chat.call_open, chat.call_close)),
    *("<think", "</think", "<tool_call", "<tool_callx>", "< think>", "<", ">", "/", "[T", "▷"),
    *("a", "\n", "é", "漢", "🙂", "end", '{"name": "f"}'),
]
texts = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join).map(str.encode)
formats = st.sampled_from([CHAT, ODD])
openings = st.sampled_from([None, "R", "S"])


@st.composite
def cut_texts(draw: st.DrawFn) -> list[bytes]:
    text = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=30)))
    return [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]


def reference(text: bytes, chat: ChatFormat, opened: PositionClass | None) -> str:
    """The class of each byte and of what would follow, by a state machine."""
    state, recent, out = opened or "F", b"", ""
    steps = {
        "F": [(chat.think_open, "R"), (chat.call_open, "S")],
        "R": [(chat.think_close, "F")],
        "S": [(chat.call_close, "F")],
    }
    for byte in text:
        out += state
        recent += bytes([byte])
        for tag, following in steps[state]:
            if recent.endswith(tag.encode()):
                state, recent = cast(PositionClass, following), b""
                break
    return out + state


@fast
@given(cut_texts(), formats, openings)
def test_labels_are_those_of_the_reference(
    pieces: list[bytes], chat: ChatFormat, opened: PositionClass | None
) -> None:
    expected = reference(b"".join(pieces), chat, opened)
    labels = label(pieces, chat, opened)
    ends = list(itertools.accumulate(map(len, pieces)))
    places = [(end - len(piece), end) for piece, end in zip(pieces, ends, strict=True)]
    assert labels.classes.tolist() == [expected[start] for start, _ in places]
    assert labels.straddlers.tolist() == [len(set(expected[a:b])) > 1 for a, b in places]


@fast
@given(cut_texts(), formats, openings)
def test_cutting_the_bytes_otherwise_changes_only_which_byte_is_first(
    pieces: list[bytes], chat: ChatFormat, opened: PositionClass | None
) -> None:
    text = b"".join(pieces)
    single = label([bytes([byte]) for byte in text] + [b""], chat, opened).classes
    starts = np.cumsum([0, *map(len, pieces)])[:-1]
    assert label(pieces, chat, opened).classes.tolist() == single[starts].tolist()


@fast
@given(cut_texts(), cut_texts(), formats, openings)
def test_labels_of_a_beginning_do_not_depend_on_what_follows(
    pieces: list[bytes], more: list[bytes], chat: ChatFormat, opened: PositionClass | None
) -> None:
    both, alone = label(pieces + more, chat, opened), label(pieces, chat, opened)
    assert len(both.classes) == len(both.spans) == len(both.straddlers) == len(pieces) + len(more)
    for name in ("classes", "spans", "straddlers"):
        np.testing.assert_array_equal(getattr(both, name)[: len(pieces)], getattr(alone, name))


@fast
@given(cut_texts(), openings)
def test_spans_number_the_runs(pieces: list[bytes], opened: PositionClass | None) -> None:
    labels: Labels = label(pieces, CHAT, opened)
    runs = [len(list(run)) for _, run in itertools.groupby(labels.classes)]
    assert labels.spans.tolist() == [n for n, size in enumerate(runs) for _ in range(size)]


# --- Loops ----------------------------------------------------------------------------------------


def brute_loops(ids: list[int], length: int) -> list[bool]:
    flagged = [False] * len(ids)
    for later in range(len(ids)):
        for earlier in range(later):
            size = 0
            while later + size < len(ids) and ids[earlier + size] == ids[later + size]:
                size += 1
            if size >= length:
                flagged[later : later + size] = [True] * size
    return flagged


@fast
@given(st.lists(st.integers(0, 2), max_size=40), st.integers(1, 6))
def test_loops_are_those_of_brute_force(ids: list[int], length: int) -> None:
    assert loops(ids, length).tolist() == brute_loops(ids, length)


@fast
@given(st.lists(st.integers(0, 60_000), min_size=1, max_size=24), st.integers(20, 80))
def test_loops_of_a_periodic_output(period: list[int], size: int) -> None:
    ids = (period * size)[:size]
    assert loops(ids).tolist() == brute_loops(ids, 16)


def test_only_the_later_occurrence_is_flagged_and_sixteen_tokens_suffice() -> None:
    run = list(range(100, 116))
    assert flags(loops([1, *run, 2, *run, 3])) == "." * 18 + "x" * 16 + "."
    assert not loops([1, *run[1:], 2, *run[1:], 3]).any()


def test_an_overlapping_repeat() -> None:
    assert flags(loops([7] * 20)) == "." + "x" * 19
    assert not loops([7] * 16).any()


def test_loops_compare_whole_tokens() -> None:
    # 256 and 1 differ, though their bytes, shifted by one, do not
    assert not loops([1, 256] * 2, length=3).any()
    assert loops([]).tolist() == []


# --- Positions of a real tokenizer ----------------------------------------------------------------

LOOKUP = Tool(
    "get_x",
    "Looks a word up.",
    {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    },
)
ELICITED = ChatFormat(thinking="elicited")
CALL = '<tool_call>\n{"name": "get_x", "arguments": {"word": "é漢"}}\n</tool_call>'
OPENED = CALL.removeprefix("<tool_call>\n")  # where the prompt opens the call
THOUGHT = "The word is 漢\n</think>\n\n"
BUDGET = 24


@pytest.fixture(scope="module")
def tokenizer(target: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(target)


@pytest.fixture(scope="module")
def walker(target: Path, tokenizer: Any) -> Walker:
    return Walker(tokenizer, json.loads((target / "config.json").read_text())["vocab_size"])


@pytest.fixture(scope="module")
def vocabulary(walker: Walker) -> list[bytes]:
    return list(walker.info.decoded_vocab)


def encode(tokenizer: Any, text: str, stop: bool = True) -> list[int]:
    ids = list(tokenizer(text, add_special_tokens=False)["input_ids"])
    return [*ids, tokenizer.eos_token_id] if stop else ids


def prompt_row(name: str, opened: str | None, parts: tuple[Any, ...]) -> dict[str, Any]:
    grammar = turn_grammar(parts, [LOOKUP], ELICITED, BUDGET)
    return {
        **dict.fromkeys(("source", "licence", "rule", "messages", "prompt_text"), "-"),
        **{"request_id": name, "cluster": name, "turn": 0, "parts": ",".join(parts)},
        **{"tools": "[]", "ground_truth": "null", "prompt_ids": [1], "prompt_tokens": 1},
        "opened": opened,
        "grammar": None if grammar is None else json.dumps(grammar),
    }


def trace_row(name: str, ids: list[int], batch: int = 1, launch: int = 0) -> dict[str, Any]:
    return {
        **{"request_id": name, "batch": batch, "launch": launch, "wave": 0, "finish": "stop"},
        **{"output_ids": ids, "output_tokens": len(ids), "cached_tokens": 0},
        **{"prefill_seconds": 0.0, "grammar_held": None, "calls": 0, "valid_calls": 0},
        "call_problem": "",
    }


def prompt_rows() -> pd.DataFrame:
    """Three prompts as a stage gets them: written as a table and read again."""
    rows = [
        prompt_row("call", "S", ("call",)),
        prompt_row("mixed", "R", ("think", "call")),
        prompt_row("plain", None, ("reply",)),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prompts.parquet"
        PROMPTS.write(pd.DataFrame(rows), path)
        return PROMPTS.read(path)


PROMPT_ROWS = prompt_rows()


def positions(
    rows: list[dict[str, Any]], tokenizer: Any, walker: Walker, chat: ChatFormat = ELICITED
) -> pd.DataFrame:
    traces = pd.DataFrame(rows)
    return label_positions(PROMPT_ROWS, traces, chat, walker, tokenizer.all_special_ids)


def test_every_part_of_a_turn_has_its_class(
    tokenizer: Any, walker: Walker, vocabulary: list[bytes]
) -> None:
    ids = encode(tokenizer, THOUGHT + CALL)
    table = positions([trace_row("mixed", ids)], tokenizer, walker)
    assert table["token_id"].tolist() == ids
    assert table["position"].tolist() == list(range(len(ids)))
    pieces = [vocabulary[token] for token in ids]
    found = [
        (span, str(group["position_class"].iloc[0]), b"".join(pieces[p] for p in group["position"]))
        for span, group in table.groupby("span")
    ]
    head, body = CALL.split("\n", 1)
    assert found == [
        (0, "R", THOUGHT.strip().encode()),
        (1, "F", f"\n\n{head}".encode()),
        (2, "S", f"\n{body}".encode()),
        (3, "F", tokenizer.eos_token.encode()),
    ]
    assert not table["straddler"].any()


def test_positions_are_forced_where_the_grammar_leaves_one_token(
    tokenizer: Any, walker: Walker, vocabulary: list[bytes]
) -> None:
    ids = encode(tokenizer, OPENED)
    table = positions([trace_row("call", ids)], tokenizer, walker)
    offsets = np.cumsum([0, *(len(vocabulary[token]) for token in ids)])
    name = OPENED.index("get_x")
    constant = OPENED[: name + len('get_x"')].encode()
    within = [i for i, start in enumerate(offsets[:-1]) if name <= start < name + len("get_x")]
    # the text of the name is fixed; what is left to choose is how it is cut into tokens
    left = [sum(constant[offsets[i] :].startswith(piece) for piece in vocabulary) for i in within]
    rows = table.iloc[within]
    assert rows["allowed"].tolist() == left
    assert rows["forced"].tolist() == [count == 1 for count in left]
    assert rows["forced"].any()
    assert table["forced"].tolist() == [count == 1 for count in table["allowed"]]
    assert 2 in set(table["allowed"])
    assert rows["position_class"].eq("S").all()
    value = table.iloc[np.searchsorted(offsets, OPENED.index("é"), side="right") - 1]
    assert value["allowed"] > 1000
    assert not value["forced"]
    assert table["forced"].iloc[-1], "after the call only the stop token is left"


def test_without_a_grammar_nothing_is_forced(tokenizer: Any, walker: Walker) -> None:
    table = positions([trace_row("plain", encode(tokenizer, "Hello."))], tokenizer, walker)
    assert table["allowed"].isna().all()
    assert not table["forced"].any()
    assert table["position_class"].eq("F").all()


def test_straddlers_of_the_real_vocabulary(
    tokenizer: Any, walker: Walker, vocabulary: list[bytes]
) -> None:
    wide = vocabulary.index(b'>"')
    ids = [*encode(tokenizer, "a<think", stop=False), wide, *encode(tokenizer, " b", stop=False)]
    table = positions([trace_row("plain", ids)], tokenizer, walker)
    assert "".join(table["position_class"]) == "F" * (len(ids) - 1) + "R"
    assert table.index[table["straddler"]].tolist() == [len(ids) - 2]


def test_special_tokens_are_no_text(tokenizer: Any, walker: Walker) -> None:
    chat = ChatFormat(think_open="<|", think_close="|>")
    ids = [tokenizer.all_special_ids[0], *encode(tokenizer, "so")]
    table = positions([trace_row("plain", ids)], tokenizer, walker, chat)
    assert table["position_class"].eq("F").all()


def test_tags_that_the_tokenizer_declares_special_keep_their_bytes() -> None:
    vocabulary = [b"<think>", b"<|end|>", b"a"]
    walker = cast(Walker, SimpleNamespace(info=SimpleNamespace(decoded_vocab=vocabulary)))
    assert token_pieces(walker, [0, 1], CHAT) == [b"<think>", b"", b"a"]
    assert vocabulary[1] == b"<|end|>"


def test_a_repeat_is_flagged(tokenizer: Any, walker: Walker) -> None:
    ids = encode(tokenizer, "one two three four five six" * 8)
    table = positions([trace_row("plain", ids)], tokenizer, walker)
    assert table["loop"].tolist() == brute_loops(ids, 16)
    assert table["loop"].any() and not table["loop"].all()


def test_every_batch_of_launch_0_is_labelled_and_equal_outputs_once(
    tokenizer: Any, walker: Walker
) -> None:
    walked: list[list[int]] = []

    def masks(grammar: str, ids: list[int]) -> Any:
        walked.append(ids)
        return walker.masks(grammar, ids)

    counting = cast(Walker, SimpleNamespace(info=walker.info, masks=masks))
    ids, other = encode(tokenizer, OPENED), encode(tokenizer, OPENED.replace("é", "e"))
    rows = [
        trace_row("call", ids, batch=32),
        trace_row("plain", [], batch=1),
        trace_row("mixed", [], batch=8),
        trace_row("call", ids, batch=1),
        trace_row("call", other, batch=8),
        trace_row("call", other, batch=1, launch=1),
    ]
    table = positions(rows, tokenizer, counting)
    assert walked == [ids, other, []]
    batches = table.groupby("batch", sort=False)
    outputs = [(batch, list(group["token_id"])) for batch, group in batches]
    assert outputs == [(1, ids), (8, other), (32, ids)]
    assert set(table["request_id"]) == {"call"}
    one, last = (table[table["batch"] == batch].drop(columns="batch") for batch in (1, 32))
    pd.testing.assert_frame_equal(one.reset_index(drop=True), last.reset_index(drop=True))
    assert [str(table[name].dtype) for name in ("batch", "allowed")] == ["int16", "Int32"]


def test_a_token_its_grammar_forbids_is_an_error(tokenizer: Any, walker: Walker) -> None:
    ids = encode(tokenizer, OPENED)
    flipped = next(i for i, token in enumerate(ids) if tokenizer.decode([token]) == "get")
    ids[flipped] = encode(tokenizer, "set", stop=False)[0]
    with pytest.raises(
        DraftLawError, match=rf"request call: output token {flipped} is not allowed"
    ):
        positions([trace_row("call", ids)], tokenizer, walker)


def test_traces_must_fit_the_prompts(tokenizer: Any, walker: Walker) -> None:
    ids = encode(tokenizer, "a")
    with pytest.raises(DraftLawError, match="request other has no prompt"):
        positions([trace_row("other", ids)], tokenizer, walker)
    with pytest.raises(DraftLawError, match="no output of launch 0"):
        positions([trace_row("plain", ids, launch=1)], tokenizer, walker)


def test_the_stage_writes_the_table(target: Path, tmp_path: Path, tokenizer: Any) -> None:
    paths = {name: tmp_path / f"{name}.parquet" for name in ("prompts", "traces", "out")}
    PROMPTS.write(PROMPT_ROWS, paths["prompts"])
    outputs = {
        "call": encode(tokenizer, OPENED),
        "mixed": encode(tokenizer, THOUGHT + CALL),
        "plain": encode(tokenizer, "Hello."),
    }
    rows = [trace_row(name, ids, batch) for name, ids in outputs.items() for batch in (1, 8)]
    TRACES.write(pd.DataFrame(rows), paths["traces"])
    files = [part for name, path in paths.items() for part in (f"--{name}", str(path))]
    with pytest.raises(SystemExit) as stop:
        main(
            [
                "label-positions",
                *files,
                "--target",
                str(target),
                "--chat",
                ELICITED.model_dump_json(),
            ]
        )
    assert stop.value.code == 0
    table = POSITIONS.read(paths["out"])
    assert len(table) == 2 * sum(map(len, outputs.values()))
    shares = table.groupby("request_id")["position_class"].agg("unique").map(set)
    assert shares.to_dict() == {"call": {"F", "S"}, "mixed": {"R", "F", "S"}, "plain": {"F"}}
    assert table["allowed"].isna().equals(table["request_id"].eq("plain"))
