"""Counting rules and controls on real engine output (protocol, section 4)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from conftest import REPO, make
from draftlaw.checks import CellTables, check_conditions, check_counts
from draftlaw.errors import DraftLawError
from draftlaw.files import read_json
from draftlaw.tables.checks import COMPARISONS, DIVERGENCES, IDENTITY
from draftlaw.tables.engine import ROUNDS, TRACES
from draftlaw.tables.prompts import PROMPTS

pytestmark = pytest.mark.engine

EMBEDDED = yaml.safe_load((REPO / "config.yaml").read_text(encoding="utf-8"))["studies"]["embedded"]
DEPTH, MAX_TOKENS = 4, 24
TEXTS = [
    "What is the capital of France? Answer with one word.",
    "Say yes.",
    "Describe a harbour at dawn in one long paragraph.",
    "Write a letter to a friend about the first snow of the year.",
]


def stage(name: str, *arguments: str) -> None:
    """A stage as a person would run it."""
    environment = {**os.environ, "PYTHONPATH": str(REPO / "workflow")}
    command = [sys.executable, "-m", "draftlaw", name, *arguments]
    done = subprocess.run(
        command, cwd=REPO, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def prompts(target: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two prompts with short answers, which stop inside a round, and two that go on."""
    folder = tmp_path_factory.mktemp("prompts")
    lines = folder / "texts.jsonl"
    lines.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    source = {"kind": "jsonl", "path": str(lines), "licence": "CC0-1.0", "parts": ["reply"]}
    spec = {"sources": [source], "clusters": len(TEXTS), "max_prompt_tokens": 200}
    out = folder / "prompts.parquet"
    stage(
        "freeze-prompts",
        *("--spec", json.dumps(spec), "--chat", json.dumps(EMBEDDED["chat"])),
        *("--target", str(target), "--out", str(out)),
    )
    return out


def generate(prompts: Path, target: Path, draft: Path, depth: int, folder: Path) -> CellTables:
    """A cell, measured by the stage."""
    out = {name: folder / name for name in ("traces", "rounds", "record")}
    stage(
        "generate",
        *("--prompts", str(prompts), "--target", str(target), "--draft", str(draft)),
        *("--depth", str(depth), "--batch", "1", "--batch", "4", "--max-tokens", str(MAX_TOKENS)),
        *("--engine", json.dumps(EMBEDDED["engine"]), "--chat", json.dumps(EMBEDDED["chat"])),
        *(part for name, path in out.items() for part in (f"--{name}", str(path))),
    )
    traces, rounds = TRACES.read(out["traces"]), ROUNDS.read(out["rounds"])
    return CellTables("X", depth, traces, rounds, read_json(out["record"]))


@pytest.fixture(scope="module")
def own_draft(prompts: Path, target: Path, tmp_path_factory: pytest.TempPathFactory) -> CellTables:
    """The target as its own draft."""
    return generate(prompts, target, target, DEPTH, tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def shuffled(prompts: Path, target: Path, tmp_path_factory: pytest.TempPathFactory) -> CellTables:
    """A draft whose weights are the target's in random order."""
    folder = tmp_path_factory.mktemp("shuffled")
    draft = folder / "draft"
    shutil.copytree(target, draft, symlinks=False)
    torch.manual_seed(0)
    weights = load_file(draft / "model.safetensors")
    mixed = {
        name: weight.flatten()[torch.randperm(weight.numel())].reshape(weight.shape)
        for name, weight in weights.items()
    }
    save_file(mixed, draft / "model.safetensors", metadata={"format": "pt"})
    return generate(prompts, target, draft, DEPTH, folder)


def test_the_target_as_its_own_draft_accepts_every_token(own_draft: CellTables) -> None:
    check_counts(own_draft)
    assert (own_draft.rounds["drafted"] == DEPTH).all()
    assert (own_draft.rounds["accepted"] == DEPTH).all()


def test_a_draft_of_shuffled_weights_accepts_next_to_nothing(shuffled: CellTables) -> None:
    check_counts(shuffled)
    drafted, accepted = shuffled.rounds["drafted"].sum(), shuffled.rounds["accepted"].sum()
    assert drafted > 100
    assert accepted / drafted < 0.02


def test_both_controls_write_the_same_text(own_draft: CellTables, shuffled: CellTables) -> None:
    for ours, theirs in zip(
        own_draft.traces["output_ids"], shuffled.traces["output_ids"], strict=True
    ):
        assert ours.tolist() == theirs.tolist()


def test_a_stop_token_inside_a_round_is_not_over_counted(own_draft: CellTables) -> None:
    ended = own_draft.traces[own_draft.traces["finish"] == "stop"]
    cut = own_draft.rounds.merge(ended[["request_id", "batch"]]).query("truncated")
    assert len(cut) > 0
    assert (cut["emitted"] < cut["accepted"] + 1).all()


def test_the_length_limit_inside_a_round_is_not_over_counted(own_draft: CellTables) -> None:
    full = own_draft.traces[own_draft.traces["finish"] == "length"]
    assert (full["output_tokens"] == MAX_TOKENS).all()
    cut = own_draft.rounds.merge(full[["request_id", "batch"]]).query("truncated")
    assert set(cut["emitted"]) == {(MAX_TOKENS - 1) % (DEPTH + 1)}


@pytest.mark.parametrize("column", ["accepted", "drafted", "emitted", "start"])
def test_one_changed_count_is_found(shuffled: CellTables, column: str) -> None:
    rounds = shuffled.rounds.copy()
    rounds.loc[rounds.index[3], column] += 1
    with pytest.raises(DraftLawError, match="X-g4-l0"):
        check_counts(CellTables("X", DEPTH, shuffled.traces, rounds, shuffled.record))


def test_one_changed_accepted_count_that_keeps_the_token_sums_is_found(
    own_draft: CellTables,
) -> None:
    rounds = own_draft.rounds.copy()
    last = rounds.index[rounds["truncated"]][0]
    rounds.loc[last, "accepted"] -= 1
    with pytest.raises(DraftLawError):
        check_counts(CellTables("X", DEPTH, own_draft.traces, rounds, own_draft.record))


def test_a_lost_round_is_found(shuffled: CellTables) -> None:
    rounds = shuffled.rounds.drop(index=shuffled.rounds.index[5])
    with pytest.raises(DraftLawError, match="counting rule"):
        check_counts(CellTables("X", DEPTH, shuffled.traces, rounds, shuffled.record))


def test_unequal_conditions_stop_the_run(own_draft: CellTables, shuffled: CellTables) -> None:
    assert check_conditions([own_draft, shuffled])["model_runner"].endswith("CPUModelRunner")
    other = {**shuffled.record["conditions"], "async_scheduling": True}
    cell = CellTables("Y", DEPTH, shuffled.traces, shuffled.rounds, {"conditions": other})
    with pytest.raises(DraftLawError, match="async_scheduling is False in cell X-g4-l0 but True"):
        check_conditions([own_draft, cell])


class TestSmoke:
    """The smoke study: every arm, with and without speculation."""

    def cells(self, smoke: Path) -> list[CellTables]:
        return [
            CellTables(
                arm,
                depth,
                TRACES.read(smoke / f"traces/{arm}-g{depth}-l{launch}.parquet"),
                ROUNDS.read(smoke / f"rounds/{arm}-g{depth}-l{launch}.parquet"),
                read_json(smoke / f"engine/{arm}-g{depth}-l{launch}.json"),
                launch,
            )
            for arm in "ABCD"
            for depth, launch in ((0, 0), (0, 1), (4, 0))
        ]

    def test_counts_hold_in_every_cell(self, smoke: Path) -> None:
        for cell in self.cells(smoke):
            check_counts(cell)
            assert cell.depth == 0 or cell.rounds["drafted"].sum() > 0

    def test_speculation_changes_no_output_and_replay_explains_every_round(
        self, smoke: Path
    ) -> None:
        found = read_json(smoke / "checks.json")
        assert found["unexplained_rounds"] == []
        compared = sum(row["rounds"] for row in found["cells"] if "-g0-" not in row["cell"])
        assert compared > 100

    def test_the_baseline_repeats_itself_and_speculation_repeats_it(self, smoke: Path) -> None:
        identity = IDENTITY.read(smoke / "identity.parquet")
        assert DIVERGENCES.read(smoke / "divergences.parquet").empty
        assert (identity["differing"] == 0).all()
        compared = identity.groupby(["comparison", "arm"])["requests"].sum().unstack()
        assert set(compared.index) == set(COMPARISONS)
        wanted = [len(PROMPTS.read(smoke / f"prompts/{arm}.parquet")) for arm in compared.columns]
        assert compared.loc["repeat"].tolist() == [2 * 4] * len(wanted)
        for comparison, batches in (("relaunch", 2), ("speculation", 2)):
            assert compared.loc[comparison].tolist() == [batches * n for n in wanted]
        assert compared.loc["shape"].tolist() == wanted

    def test_a_relaunch_is_another_process(self, smoke: Path) -> None:
        first, second = (ROUNDS.read(smoke / f"rounds/A-g0-l{launch}.parquet") for launch in (0, 1))
        assert set(first["launch"]) == {0} and set(second["launch"]) == {1}
        assert (first["step_seconds"] != second["step_seconds"]).all()

    def test_the_grammar_was_active_and_cuts_are_rejections(self, smoke: Path) -> None:
        traces = TRACES.read(smoke / "traces/B-g4-l0.parquet")
        rounds = ROUNDS.read(smoke / "rounds/B-g4-l0.parquet")
        assert traces["grammar_held"].eq(True).all()
        assert traces["valid_calls"].sum() > 0
        cut = rounds[rounds["grammar_cut"] & ~rounds["truncated"]]
        assert len(cut) > 0
        # The replay, which knows nothing of cuts, calls the cut token a mismatch: the round it
        # implies has the same accepted tokens (see the test before), and the target went on.
        assert (cut["emitted"] == cut["accepted"] + 1).all()

    def test_warm_up_is_not_in_the_tables(self, smoke: Path) -> None:
        for cell in self.cells(smoke):
            wanted = set(PROMPTS.read(smoke / f"prompts/{cell.arm}.parquet")["request_id"])
            for _, traces in cell.traces.groupby("batch"):
                assert set(traces["request_id"]) == wanted
                assert len(traces) == len(wanted)
            assert cell.rounds["step"].min() > 0

    def test_the_draft_s_part_of_a_step_is_timed(self, smoke: Path) -> None:
        for cell in self.cells(smoke):
            rounds = cell.rounds
            if cell.depth == 0:
                assert (rounds["step_draft_seconds"] == 0).all()
                continue
            # a step in which every request of the wave ends may propose nothing
            drafting = rounds[rounds["step_draft_seconds"] > 0]
            assert len(drafting) > 0.7 * len(rounds)
            assert (drafting["step_draft_seconds"] < drafting["step_seconds"]).all()

    def test_prefill_steps_are_marked(self, smoke: Path) -> None:
        for cell in self.cells(smoke):
            waves = cell.rounds.query("batch == 1")
            assert not waves["step_prefill"].any()
            assert (cell.traces["prefill_seconds"] > 0).all()


def test_a_damaged_table_is_refused(smoke: Path, tmp_path: Path) -> None:
    whole = (smoke / "rounds/A-g4-l0.parquet").read_bytes()
    part = tmp_path / "rounds.parquet"
    part.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DraftLawError, match=r"rounds\.parquet is damaged"):
        ROUNDS.read(part)
    with pytest.raises(DraftLawError, match=r"is no traces table: column 'wave'|is missing"):
        TRACES.read(smoke / "rounds/A-g4-l0.parquet")


def test_positions_and_replay_cover_every_output_token(smoke: Path) -> None:
    make("results/smoke/checks.json")
    for arm in "ABCD":
        traces = TRACES.read(smoke / f"traces/{arm}-g0-l0.parquet")
        positions = pd.read_parquet(smoke / f"positions/{arm}.parquet")
        replay = pd.read_parquet(smoke / f"replay/{arm}.parquet")
        assert len(positions) == len(replay) == traces["output_tokens"].sum()
        forced = positions.merge(replay, on=["request_id", "batch", "position"]).query("forced")
        assert (forced["entropy_masked"] == 0).all()


def test_turns_of_arm_d_are_mixed_by_what_they_do(smoke: Path) -> None:
    """Thinking before a call, calls alone, reports: w_S spreads, and turns hold several classes."""
    positions = pd.read_parquet(smoke / "positions/D.parquet").query("batch == 1")
    shares = (
        positions.groupby("request_id")["position_class"].value_counts(normalize=True).unstack()
    )
    shares = shares.reindex(columns=["S", "R", "F"]).fillna(0.0)
    assert shares["S"].min() <= 0.1 and shares["S"].max() >= 0.9
    assert ((shares > 0).sum(axis=1) >= 2).mean() >= 1 / 3
    assert (shares["R"] > 0).any()
