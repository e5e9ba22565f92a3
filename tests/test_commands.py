"""The command line: stages found by name, help without heavy libraries, one message per problem."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from conftest import REPO
from draftlaw.__main__ import main, stages
from draftlaw.errors import DraftLawError
from draftlaw.options import parse
from draftlaw.prompts.spec import PromptSpec
from draftlaw.tables.engine import ROUNDS
from draftlaw.tables.parquet import Table
from draftlaw.tables.prompts import PROMPTS
from draftlaw.tables.replay import ENTROPY, REPLAY, REPLAYED_ROUNDS

HEAVY = ("torch", "transformers", "vllm", "xgrammar", "datasets", "snakemake")
ANALYSIS = [
    "fetch-wheel",
    "check-pair",
    "replay-rounds",
    "measure-entropy",
    "check-cells",
    "measure-acceptance",
    "measure-costs",
    "fit-kappa",
    "compare-law",
    "compare-predictors",
    "judge-predictions",
    "draw-law",
    "draw-figures",
    "write-values",
    "write-verdicts",
    "build-paper",
    "compare-drafts",
]


def without_heavy_libraries(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a Python where these libraries cannot be imported."""
    program = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] in {HEAVY!r}: raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        f"from draftlaw.__main__ import main; sys.exit(main({list(arguments)!r}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(REPO / "workflow")}
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_list_of_stages_needs_no_heavy_library() -> None:
    done = without_heavy_libraries("--help")
    assert done.returncode == 0, done.stderr
    for stage in stages():
        assert stage in done.stdout


@pytest.mark.parametrize("stage", ANALYSIS)
def test_analysis_needs_no_heavy_library(stage: str) -> None:
    done = without_heavy_libraries(stage, "--help")
    assert done.returncode == 0, done.stderr
    assert "--out" in done.stdout or "--folder" in done.stdout


def test_the_analysis_environment_is_that_of_the_stages_without_heavy_libraries() -> None:
    rules = "".join(p.read_text(encoding="utf-8") for p in REPO.glob("workflow/rules/*.smk"))
    for rule in rules.split("\nrule ")[1:]:
        _, command, stage = rule.partition("python -m draftlaw ")
        if not command:
            continue  # a rule that runs no stage
        stage = stage.split()[0]
        assert ("envs/analysis.yaml" in rule) == (stage in ANALYSIS), stage


def test_every_stage_says_what_it_does() -> None:
    assert len(stages()) >= 13
    assert all(len(summary) > 20 for summary in stages().values())


def test_an_unknown_stage_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["genrate"]) == 2
    assert "no stage 'genrate'" in capsys.readouterr().err


def test_a_problem_is_one_message_on_both_log_and_terminal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "draftlaw", "replay-rounds", "--replay", "nowhere.parquet"]
    read, write = os.pipe()
    environment = {**os.environ, "PYTHONPATH": str(REPO / "workflow")}
    done = subprocess.run(
        [*command, "--depth", "4", "--out", str(tmp_path / "x.parquet")],
        env={**environment, "DRAFTLAW_PROGRESS": str(write)},
        pass_fds=[write],
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(write)
    with os.fdopen(read) as terminal:
        shown = terminal.read()
    message = (
        "draftlaw replay-rounds: nowhere.parquet does not exist. Run the rule that makes it.\n"
    )
    assert (done.returncode, done.stderr, shown) == (2, message, message)


SOURCE = {"kind": "jsonl", "path": "x", "licence": "CC0-1.0", "parts": ["reply"]}


def test_a_structured_option_is_refused_by_key_and_value() -> None:
    with pytest.raises(DraftLawError, match=r"--spec: clusters is '3': .*valid integer"):
        parse(PromptSpec, json.dumps({"sources": [SOURCE], "clusters": "3"}), "--spec")


@pytest.mark.parametrize("table", [PROMPTS, ROUNDS, REPLAY, REPLAYED_ROUNDS, ENTROPY])
def test_every_column_says_what_it_means(table: Table) -> None:
    for column in table.columns:
        assert len(column.meaning) > 5, column.name
    names = [column.name for column in table.columns]
    assert set(table.key) <= set(names)


def test_a_table_keeps_meanings_units_and_notes(tmp_path: Path) -> None:
    row = {"request_id": "a", "batch": 1, "depth": 4, "round": 0, "start": 1}
    frame = pd.DataFrame([{**row, "accepted": 2, "emitted": 3, "truncated": False}])
    path = tmp_path / "rounds.parquet"
    REPLAYED_ROUNDS.write(frame, path, {"evidence": "measured"})
    schema = pq.read_schema(path)
    assert schema.metadata[b"evidence"] == b"measured"
    assert schema.field("start").metadata[b"unit"] == b"token"
    assert REPLAYED_ROUNDS.read(path)["accepted"].tolist() == [2]
    with pytest.raises(DraftLawError, match=r"column 'start' fails .* with 0 \(1 cases"):
        REPLAYED_ROUNDS.write(frame.assign(start=0), path)
    assert REPLAYED_ROUNDS.read(path)["start"].tolist() == [1]  # the whole old file is still there
