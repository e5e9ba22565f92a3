"""The replay view: match vectors, entropies, rounds at every depth, entropy by class."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

from draftlaw.chat import ChatFormat
from draftlaw.entropy import entropy_table
from draftlaw.errors import DraftLawError
from draftlaw.grammar import Mask, Walker, turn_grammar, unpack
from draftlaw.prompts.record import Tool
from draftlaw.replay import Replayer, Statistics, position_statistics, replay_positions
from draftlaw.rounds_replay import accepted_lengths, replay_rounds, run_lengths
from draftlaw.tables.replay import ENTROPY, REPLAY, REPLAYED_ROUNDS

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

NAT = 1e-4
"""Largest difference to float64 that the project accepts, in nats."""

VOCAB = 301  # no multiple of 32: the last mask word is not full

fast = settings(max_examples=200, deadline=None, derandomize=True)


# --- Rounds: against speculative decoding played out token by token -------------------------------

STOP = 0


def draw(*what: object) -> int:
    return int.from_bytes(hashlib.blake2b(repr(what).encode(), digest_size=4).digest())


class Toy:
    """A target and a draft, each a function of the prefix; they often agree."""

    def __init__(self, seed: int, agreement: int, stopping: int) -> None:
        self.seed, self.agreement, self.stopping = seed, agreement, stopping

    def target(self, prefix: list[int]) -> int:
        number = draw("target", self.seed, prefix)
        return STOP if number % 100 < self.stopping else 1 + number % 7

    def draft(self, prefix: list[int]) -> int:
        if draw("draft", self.seed, prefix) % 100 < self.agreement:
            return self.target(prefix)
        return 100  # the target never says this


def decode(toy: Toy, limit: int) -> list[int]:
    output: list[int] = []
    while len(output) < limit and STOP not in output:
        output.append(toy.target(output))
    return output


def speculate(toy: Toy, depth: int, limit: int) -> tuple[list[int], list[tuple[int, ...]]]:
    """Draft, verify, keep, correct, stop; as an engine counts, per round."""
    output = [toy.target([])]
    rounds: list[tuple[int, ...]] = []
    while len(output) < limit and STOP not in output:
        drafted: list[int] = []
        for _ in range(depth):
            drafted.append(toy.draft(output + drafted))
        kept: list[int] = []
        for token in drafted:
            if token != toy.target(output + kept):
                break
            kept.append(token)
        sampled = [*kept, toy.target(output + kept)][: limit - len(output)]
        if STOP in sampled:
            sampled = sampled[: sampled.index(STOP) + 1]
        truncated = len(sampled) < len(kept) + 1
        accepted = min(len(kept), len(sampled))
        rounds.append((len(output), accepted, len(sampled), int(truncated)))
        output += sampled
    return output, rounds


def rows(match: list[bool], depth: int) -> list[tuple[int, ...]]:
    found = accepted_lengths(np.array(match, np.bool_), depth)
    columns = (found.start, found.accepted, found.emitted, found.truncated.astype(int))
    return [tuple(int(value) for value in row) for row in zip(*columns, strict=True)]


@fast
@given(
    seed=st.integers(0, 2**20),
    agreement=st.sampled_from([0, 30, 70, 95, 100]),
    stopping=st.sampled_from([0, 3, 20]),
    depth=st.integers(1, 20),
    limit=st.integers(1, 30),
)
def test_rounds_are_those_of_speculative_decoding(
    seed: int, agreement: int, stopping: int, depth: int, limit: int
) -> None:
    toy = Toy(seed, agreement, stopping)
    output, played = speculate(toy, depth, limit)
    assert output == decode(toy, limit)
    match = [toy.draft(output[:position]) == token for position, token in enumerate(output)]
    assert rows(match, depth) == played


@fast
@given(st.lists(st.booleans(), max_size=60), st.integers(1, 20))
@example([], 4)
@example([True], 4)
@example([False, True, True], 2)
@example([True] * 9, 4)
def test_rounds_cover_the_output_once(match: list[bool], depth: int) -> None:
    found = accepted_lengths(np.array(match, np.bool_), depth)
    assert 1 + found.emitted.sum() == max(len(match), 1)
    assert np.array_equal(found.start, 1 + np.cumsum(found.emitted) - found.emitted)
    assert ((found.accepted >= 0) & (found.accepted <= depth)).all()
    assert np.array_equal(found.truncated, found.emitted == found.accepted)
    assert not found.truncated[:-1].any()


@pytest.mark.parametrize(
    ("match", "depth", "expected"),
    [
        ([], 4, []),
        ([True], 4, []),
        ([True, False], 4, [(1, 0, 1, 0)]),
        ([False, True], 4, [(1, 1, 1, 1)]),
        ([False] * 4, 4, [(1, 0, 1, 0), (2, 0, 1, 0), (3, 0, 1, 0)]),
        ([True] * 6, 4, [(1, 4, 5, 0)]),  # the bonus token is the last
        ([True] * 5, 4, [(1, 4, 4, 1)]),  # the run ends exactly at the end
        ([True] * 7, 4, [(1, 4, 5, 0), (6, 1, 1, 1)]),
        ([True, True, True, False], 4, [(1, 2, 3, 0)]),
        ([True] * 5, 99, [(1, 4, 4, 1)]),
    ],
)
def test_rounds_known(match: list[bool], depth: int, expected: list[tuple[int, ...]]) -> None:
    assert rows(match, depth) == expected


def test_run_lengths_known() -> None:
    match = np.array([1, 1, 0, 1, 0, 0, 1, 1, 1], np.bool_)
    assert run_lengths(match).tolist() == [2, 1, 0, 1, 0, 0, 3, 2, 1]


def test_rounds_of_every_output_and_depth() -> None:
    matches = {("a", 1): [True] * 3 + [False] + [True] * 2, ("a", 8): [False] * 3, ("b", 1): [True]}
    frame = pd.DataFrame(
        [
            {"request_id": name, "batch": batch, "position": position, "match": value}
            for (name, batch), match in matches.items()
            for position, value in enumerate(match)
        ]
    )
    replayed = replay_rounds(frame.iloc[::-1], [2, 4])
    REPLAYED_ROUNDS.check(replayed, "test")
    found = {
        tuple(key): list(zip(group["start"], group["accepted"], strict=True))
        for key, group in replayed.groupby(["request_id", "batch", "depth"])
    }
    assert found == {
        ("a", 1, 2): [(1, 2), (4, 2)],
        ("a", 1, 4): [(1, 2), (4, 2)],
        ("a", 8, 2): [(1, 0), (2, 0)],
        ("a", 8, 4): [(1, 0), (2, 0)],
    }


# --- Statistics of a position ---------------------------------------------------------------------


def log_softmax(logits: Floats) -> Floats:
    top = logits.max(axis=-1, keepdims=True)
    total = np.exp(logits - top).sum(axis=-1, keepdims=True)
    return cast(Floats, logits - top - np.log(total))


def direct(target: Floats, draft: Floats, output: list[int], allowed: Bools | None) -> Statistics:
    """The statistics, position by position, as their definitions say, in float64."""
    columns: dict[str, list[Any]] = {}
    for position, token in enumerate(output):
        raw = np.exp(log_softmax(target[position]))
        q = np.exp(log_softmax(draft[position]))
        may = np.ones(len(raw), bool) if allowed is None else allowed[position]
        p = np.where(may, raw, 0.0) / raw[may].sum()
        ranked, ranked_raw, ranked_q = np.sort(p)[::-1], np.sort(raw)[::-1], np.sort(q)[::-1]
        row = {
            "entropy": -sum(x * math.log(x) for x in raw if x > 0),
            "entropy_masked": -sum(x * math.log(x) for x in p if x > 0),
            "target_top1": int(np.argmax(p)),
            "agrees": int(np.argmax(p)) == token,
            "margin": math.log(ranked[0] / ranked[1]) if may.sum() > 1 else math.nan,
            "margin_raw": math.log(ranked_raw[0] / ranked_raw[1]),
            "draft_top1": int(np.argmax(q)),
            "match": int(np.argmax(q)) == token,
            "draft_margin": math.log(ranked_q[0] / ranked_q[1]),
            "draft_gap": math.log(ranked_q[0] / q[token]),
            "p_draft_argmax": p[int(np.argmax(q))],
            "overlap": 1.0 - 0.5 * np.abs(p - q).sum(),
        }
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return {name: np.array(values) for name, values in columns.items()}


def assert_agree(found: Statistics, wanted: Statistics, tolerance: float = NAT) -> None:
    assert found.keys() == wanted.keys()
    for name, values in wanted.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(found[name], values, rtol=0, atol=tolerance, err_msg=name)
        else:
            np.testing.assert_array_equal(found[name], values, err_msg=name)


def statistics_of(
    target: list[list[float]],
    draft: list[list[float]],
    output: list[int],
    allowed: list[list[bool]] | None = None,
) -> Statistics:
    found = position_statistics(
        torch.tensor(target),
        torch.tensor(draft),
        torch.tensor(output),
        None if allowed is None else torch.tensor(allowed),
    )
    return {name: value.numpy() for name, value in found.items()}


def test_statistics_known() -> None:
    logs = [math.log(x) for x in (0.5, 0.25, 0.125, 0.125)]
    found = statistics_of([logs, logs], [logs[::-1], logs], [0, 0])
    assert found["entropy"] == pytest.approx([1.75 * math.log(2)] * 2, abs=1e-6)
    assert found["entropy_masked"].tolist() == found["entropy"].tolist()
    assert found["margin"] == pytest.approx([math.log(2)] * 2, abs=1e-6)
    assert found["draft_top1"].tolist() == [3, 0]
    assert found["match"].tolist() == [False, True]
    assert found["draft_gap"] == pytest.approx([math.log(4), 0.0], abs=1e-6)
    assert found["draft_gap"][1] == 0.0
    assert found["p_draft_argmax"] == pytest.approx([0.125, 0.5], abs=1e-6)
    assert found["overlap"] == pytest.approx([0.5, 1.0], abs=1e-6)


def test_statistics_known_under_a_mask() -> None:
    logs = [math.log(x) for x in (0.5, 0.25, 0.125, 0.125)]
    mask = [[False, True, True, True], [False, False, True, False]]
    found = statistics_of([logs, logs], [logs, logs], [1, 2], mask)
    assert found["entropy"] == pytest.approx([1.75 * math.log(2)] * 2, abs=1e-6)
    assert found["entropy_masked"][0] == pytest.approx(1.5 * math.log(2), abs=1e-6)
    assert found["entropy_masked"][1] == 0.0
    assert found["target_top1"].tolist() == [1, 2]
    assert found["agrees"].all()
    assert found["margin"][0] == pytest.approx(math.log(2), abs=1e-6)
    assert math.isnan(found["margin"][1])
    assert found["margin_raw"] == pytest.approx([math.log(2)] * 2, abs=1e-6)
    assert found["draft_top1"].tolist() == [0, 0]  # the draft is not masked
    assert not found["match"].any()
    assert found["p_draft_argmax"].tolist() == [0.0, 0.0]
    assert found["overlap"] == pytest.approx([0.5, 0.125], abs=1e-6)


def test_sure_and_tied_tokens() -> None:
    found = statistics_of([[90.0, 0.0, 0.0], [2.0, 1.0, 2.0]], [[90.0, 0.0, 0.0]] * 2, [0, 2])
    assert found["entropy"][0] >= 0.0
    assert found["overlap"][0] <= 1.0
    assert found["target_top1"].tolist() == [0, 0]  # of a tie, the first
    assert found["agrees"].tolist() == [True, False]
    assert found["match"].tolist() == [True, False]  # it is the output's token that counts
    assert found["margin"].tolist() == [90.0, 0.0]


def test_a_wide_vocabulary_adds_no_rounding() -> None:
    random = np.random.default_rng(8)
    logits = random.normal(0.0, 3.0, (2, 3, 50_000)).astype(np.float32)
    allowed = random.random((3, 50_000)) < 0.9
    allowed[:, :3] = True
    inputs = [torch.from_numpy(part) for part in (*logits, np.arange(3), allowed)]
    statistics = position_statistics(inputs[0], inputs[1], inputs[2], inputs[3])
    found = {name: value.numpy() for name, value in statistics.items()}
    target, draft = logits.astype(np.float64)
    assert_agree(found, direct(target, draft, [0, 1, 2], allowed), tolerance=1e-9)


# --- Two tiny models ------------------------------------------------------------------------------


def tiny(folder: Path, seed: int, vocab: int = VOCAB) -> Path:
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocab,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        initializer_range=0.4,
        bos_token_id=1,
        eos_token_id=None,
        pad_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("pair")
    yield tiny(folder / "target", seed=1), tiny(folder / "draft", seed=2)
    torch.set_num_threads(threads)


PROMPT = [int(token) for token in np.random.default_rng(5).integers(0, VOCAB, 17)]
OUTPUT = [int(token) for token in np.random.default_rng(6).integers(0, VOCAB, 40)]


def float64_logits(folder: Path, prompt: list[int], output: list[int]) -> Floats:
    """Logits before each output token, by a plain forward pass in float64."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64)
    with torch.no_grad():
        logits = model(torch.tensor([prompt + output])).logits[0]
    return cast(Floats, logits[len(prompt) - 1 : -1].numpy())


def packed(allowed: Bools) -> Mask:
    words = math.ceil(allowed.shape[1] / 32)
    padded = np.zeros((len(allowed), 32 * words), np.bool_)
    padded[:, : allowed.shape[1]] = allowed
    return np.packbits(padded, axis=1, bitorder="little").view(np.int32)


def some_allowed() -> Bools:
    """Of each position half the tokens, the output's among them; of every fourth only that."""
    allowed = np.random.default_rng(7).random((len(OUTPUT), VOCAB)) < 0.5
    allowed[::4] = False
    allowed[np.arange(len(OUTPUT)), OUTPUT] = True
    return allowed


@pytest.mark.parametrize("masked", [False, True])
def test_tiny_pair_agrees_with_float64(pair: tuple[Path, Path], masked: bool) -> None:
    allowed = some_allowed() if masked else None
    found = Replayer(*pair, "float32", "cpu").replay(
        PROMPT, OUTPUT, None if allowed is None else packed(allowed)
    )
    target, draft = (float64_logits(folder, PROMPT, OUTPUT) for folder in pair)
    assert_agree(found, direct(target, draft, OUTPUT, allowed))
    assert set(found) | set(REPLAY.key) == {column.name for column in REPLAY.columns}
    if masked:
        assert (found["entropy_masked"][::4] == 0.0).all()
        assert np.isnan(found["margin"][::4]).all()
        assert not np.isnan(found["margin"]).all()
    else:
        assert np.array_equal(found["entropy"], found["entropy_masked"])
        assert np.array_equal(found["margin"], found["margin_raw"])


@pytest.mark.parametrize("chunk", [1, 3, 1000])
def test_chunks_do_not_matter(pair: tuple[Path, Path], chunk: int) -> None:
    masks = packed(some_allowed())
    whole = Replayer(*pair, "float32", "cpu").replay(PROMPT, OUTPUT, masks)
    found = Replayer(*pair, "float32", "cpu", chunk=chunk).replay(PROMPT, OUTPUT, masks)
    assert_agree(found, whole, tolerance=1e-5)


def greedy(folder: Path, prompt: list[int], tokens: int) -> list[int]:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = model.generate(torch.tensor([prompt]), max_new_tokens=tokens, do_sample=False)
    return [int(token) for token in ids[0, len(prompt) :]]


def test_a_model_accepts_all_of_its_own_draft(pair: tuple[Path, Path]) -> None:
    output = greedy(pair[0], PROMPT, 41)
    assert len(set(output)) > 5
    found = Replayer(pair[0], pair[0], "float32", "cpu").replay(PROMPT, output, None)
    assert found["agrees"].all()
    assert found["match"].all()
    assert (found["draft_gap"] == 0.0).all()
    assert found["overlap"] == pytest.approx(np.ones(41), abs=1e-5)
    rounds = accepted_lengths(found["match"], 4)
    assert rounds.accepted.tolist() == [4] * 8
    assert not rounds.truncated.any()


def test_another_model_accepts_little(pair: tuple[Path, Path]) -> None:
    output = greedy(pair[0], PROMPT, 40)
    found = Replayer(*pair, "float32", "cpu").replay(PROMPT, output, None)
    assert found["agrees"].all()
    assert found["match"].mean() < 0.2
    assert (found["draft_gap"][~found["match"]] > 0.0).all()


def test_a_draft_of_another_width_is_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(DraftLawError, match=rf"draft .* has 300 logits, the target {VOCAB}"):
        Replayer(pair[0], tiny(tmp_path, seed=3, vocab=300), "float32", "cpu")


class Counting(Replayer):
    calls = 0

    def replay(self, *arguments: Any) -> Statistics:
        self.calls += 1
        return super().replay(*arguments)


def prompt_table(grammars: dict[str, str | None]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "request_id": list(grammars),
            "cluster": list(grammars),
            "prompt_ids": [np.array(PROMPT, np.int32)] * len(grammars),
            "grammar": pd.Series(list(grammars.values()), dtype="object"),
        }
    )


def trace_table(*outputs: tuple[str, int, int, list[int]]) -> pd.DataFrame:
    columns = ["request_id", "batch", "launch", "output_ids"]
    rows = [(*cell, np.array(ids, np.int32)) for *cell, ids in outputs]
    return pd.DataFrame(rows, columns=columns).astype({"batch": "int16"})


def test_table_of_an_arm(pair: tuple[Path, Path], tmp_path: Path) -> None:
    replayer = Counting(*pair, "float32", "cpu")
    traces = trace_table(
        ("a", 1, 0, OUTPUT[:9]),
        ("b", 1, 0, OUTPUT[:9]),
        ("a", 8, 0, OUTPUT[:9]),
        ("b", 8, 0, OUTPUT[:8]),
        ("a", 1, 1, OUTPUT[:7]),
    )
    prompts = prompt_table({"a": None, "b": None})
    frame = replay_positions(prompts, traces, cast(Walker, None), replayer)
    assert replayer.calls == 3  # a's two outputs are one; launch 1 is left out
    counts = frame.groupby(["request_id", "batch"]).size().to_dict()
    assert counts == {("a", 1): 9, ("a", 8): 9, ("b", 1): 9, ("b", 8): 8}
    direct_call = Replayer.replay(replayer, PROMPT, OUTPUT[:9], None)
    same = frame[(frame["request_id"] == "a") & (frame["batch"] == 8)]
    assert same["position"].tolist() == list(range(9))
    assert same["entropy"].tolist() == direct_call["entropy"].tolist()
    frame.loc[0, "margin"] = np.nan
    REPLAY.write(frame, tmp_path / "replay.parquet")
    pd.testing.assert_frame_equal(
        REPLAY.read(tmp_path / "replay.parquet"), frame, check_dtype=False
    )


# --- The study's target ---------------------------------------------------------------------------

TOOL = Tool(
    "get_weather",
    "Weather of a city.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "kelvin"]}},
        "required": ["city", "unit"],
    },
)
QUESTION = "<|im_start|>user\nWhat is the weather in Paris?<|im_end|>\n<|im_start|>assistant\n"
REPLY = "I am sorry, but I cannot look out of the window. Paris is the capital of France.<|im_end|>"
CALL = (
    '{"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}\n'
    "</tool_call><|im_end|>"
)


@pytest.fixture(scope="module")
def real(target: Path) -> Iterator[tuple[Any, Replayer]]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield AutoTokenizer.from_pretrained(target), Replayer(target, target, "float32", "cpu")
    torch.set_num_threads(threads)


def encode(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


@pytest.fixture(scope="module")
def grammar() -> str:
    return json.dumps(turn_grammar(["call"], [TOOL], ChatFormat(thinking="elicited"), 8))


def test_real_positions_agree_with_float64(
    target: Path, real: tuple[Any, Replayer], grammar: str
) -> None:
    tokenizer, replayer = real
    walker = Walker(tokenizer, replayer.vocab_size)
    model = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float64)
    for opened, text, masked in (("", REPLY, False), ("<tool_call>\n", CALL, True)):
        prompt = encode(tokenizer, QUESTION + opened)
        output = encode(tokenizer, text)
        masks = walker.masks(grammar, output).masks if masked else None
        allowed = None if masks is None else unpack(masks, replayer.vocab_size)
        with torch.no_grad():
            logits = model(torch.tensor([prompt + output])).logits[0, len(prompt) - 1 : -1].numpy()
        wanted = direct(logits, logits, output, allowed)
        found = replayer.replay(prompt, output, masks)
        assert len(output) >= 20
        assert_agree(found, wanted)
        if allowed is not None:
            forced = allowed.sum(axis=1) == 1
            assert 2 <= forced.sum() < len(output)
            assert (found["entropy_masked"][forced] == 0.0).all()
            assert np.isnan(found["margin"][forced]).all()
            assert (found["entropy"][forced] > 0.0).all()


def test_a_forbidden_output_is_refused(real: tuple[Any, Replayer], grammar: str) -> None:
    tokenizer, replayer = real
    walker = Walker(tokenizer, replayer.vocab_size)
    traces = trace_table(("a", 1, 0, encode(tokenizer, REPLY)))
    with pytest.raises(DraftLawError, match="request a: output token 0 is not allowed"):
        replay_positions(prompt_table({"a": grammar}), traces, walker, replayer)


# --- Entropy by class -----------------------------------------------------------------------------


def hand_made() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Two turns of one trajectory and one of another; S is masked, some positions are forced."""
    rows = [  # request, position, class, straddler, forced, loop, entropy, masked
        ("t0", 0, "F", False, False, False, 1.0, 0.9),
        ("t0", 1, "S", True, False, False, 2.0, 0.5),
        ("t0", 2, "S", False, True, False, 3.0, 0.0),
        ("t1", 0, "S", False, False, True, 4.0, 1.5),
        ("t1", 1, "S", False, True, True, 5.0, 0.0),
        ("u0", 0, "F", False, False, True, 2.0, 0.1),
        ("u0", 1, "F", False, False, False, 0.0, 0.0),
    ]
    names = ["request_id", "position", "position_class", "straddler", "forced", "loop"]
    table = pd.DataFrame(rows, columns=[*names, "entropy", "entropy_masked"])
    table["batch"] = np.int16(1)
    prompts = pd.DataFrame({"request_id": ["t0", "t1", "u0"], "cluster": ["t", "t", "u"]})
    key = ["request_id", "batch", "position"]
    positions = table[[*key, "position_class", "straddler", "forced", "loop"]]
    return prompts, positions, table[[*key, "entropy", "entropy_masked"]]


def mean(function: Callable[[float], float], values: list[float]) -> float:
    return sum(map(function, values)) / len(values)


@pytest.mark.parametrize(
    ("position_class", "variant", "counts", "chosen", "raw"),
    [
        ("S", "all", (2, 1, 1), [0.5, 0.0, 1.5, 0.0], [2.0, 3.0, 4.0, 5.0]),
        ("S", "unforced", (2, 1, 1), [0.5, 1.5], [2.0, 4.0]),
        ("S", "unlooped", (1, 1, 1), [0.5, 0.0], [2.0, 3.0]),
        ("S", "unforced_unlooped", (1, 1, 1), [0.5], [2.0]),
        ("F", "all", (2, 2, 0), [1.0, 2.0, 0.0], [1.0, 2.0, 0.0]),
        ("F", "unforced", (2, 2, 0), [1.0, 2.0, 0.0], [1.0, 2.0, 0.0]),
        ("F", "unlooped", (2, 2, 0), [1.0, 0.0], [1.0, 0.0]),
    ],
)
def test_entropy_known(
    position_class: str,
    variant: str,
    counts: tuple[int, int, int],
    chosen: list[float],
    raw: list[float],
) -> None:
    frame = entropy_table("D", *hand_made())
    here = (frame["position_class"] == position_class) & (frame["variant"] == variant)
    assert frame[here].to_dict("records") == [
        {
            "arm": "D",
            "batch": 1,
            "position_class": position_class,
            "variant": variant,
            "requests": counts[0],
            "clusters": counts[1],
            "positions": len(chosen),
            "straddlers": counts[2],
            "mean_entropy": pytest.approx(mean(float, chosen)),
            "mean_entropy_raw": pytest.approx(mean(float, raw)),
            "predictability_of_mean": pytest.approx(math.exp(-mean(float, chosen))),
            "mean_predictability": pytest.approx(mean(lambda h: math.exp(-h), chosen)),
        }
    ]


def test_entropy_table_is_one(tmp_path: Path) -> None:
    prompts, positions, replay = hand_made()
    other = [frame.assign(batch=np.int16(8)) for frame in (positions, replay)]
    positions = pd.concat([positions, other[0].assign(forced=True)])
    replay = pd.concat([replay, other[1].assign(entropy=0.0)])
    ENTROPY.write(entropy_table("D", prompts, positions, replay), tmp_path / "e.parquet")
    frame = ENTROPY.read(tmp_path / "e.parquet")
    assert set(frame["position_class"]) == {"S", "F"}  # no R position, no R row
    assert set(frame.loc[frame["batch"] == 8, "variant"]) == {"all", "unlooped"}
    assert (frame.loc[frame["batch"] == 8, "mean_entropy_raw"] == 0.0).all()
    assert (frame["predictability_of_mean"] <= frame["mean_predictability"]).all()


def test_entropy_needs_the_same_positions() -> None:
    prompts, positions, replay = hand_made()
    with pytest.raises(DraftLawError, match="arm D: 7 positions, 6 replayed, 6 of them the same"):
        entropy_table("D", prompts, positions, replay.iloc[1:])
