"""The DAG, by dry runs: what it holds, and what a change runs again."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

from conftest import ACTIVATED, REPO, run_snakemake
from draftlaw.closure import source_files
from draftlaw.study import validate

STAGES = REPO / "workflow/draftlaw/stages"


def planned(arguments: list[str], folder: Path = REPO) -> Counter[str]:
    """Rules and how often each would run."""
    done = run_snakemake(["-n", *arguments], folder)
    assert done.returncode == 0, done.stdout + done.stderr
    table = re.search(r"^Job stats:\njob +count\n[- ]+\n(.*?)^total ", done.stdout, re.M | re.S)
    if table is None:
        assert "Nothing to be done" in done.stdout
        return Counter()
    rows = (line.split() for line in table[1].splitlines())
    return Counter({rule: int(count) for rule, count in rows})


@pytest.mark.parametrize("study", ["embedded", "smoke", "h200", "h200_invariant"])
def test_every_study_plans(study: str, tmp_path: Path) -> None:
    folder = workspace(tmp_path)
    config = validate(yaml.safe_load((REPO / "config.yaml").read_text(encoding="utf-8")))
    planned_study = config.studies[study]
    launches = planned_study.launches
    jobs = planned(["--config", f"study={study}"], folder)
    assert jobs["collect_traces"] == 4
    assert jobs["relaunch_baseline"] == 4 * (launches.baseline - 1)
    assert jobs["measure_rounds"] == 4 * len(planned_study.depths) * launches.speculative
    assert jobs["replay_positions"] == jobs["label_positions"] == 4
    assert jobs["check_pair"] == jobs["check_cells"] == jobs["measure_entropy"] == 1


@pytest.mark.parametrize(
    ("target", "rule"),
    [("study", "build_paper"), ("draft", "compare_drafts"), ("bench", "time_generation")],
)
def test_a_make_target_is_a_plan_that_snakemake_takes(
    target: str, rule: str, tmp_path: Path
) -> None:
    folder = workspace(tmp_path)
    told = subprocess.run(
        ["make", "--dry-run", "--file", REPO / "Makefile", target, "SHELL=/bin/bash"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    (command,) = (line for line in told.stdout.splitlines() if line.startswith("snakemake"))
    dry = command.replace("snakemake", "snakemake --dry-run", 1)
    done = subprocess.run(
        ["bash", "-c", dry], cwd=folder, env=ACTIVATED, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"\n{rule} " in done.stdout


def rules() -> dict[str, str]:
    """The text of every rule."""
    texts = [path.read_text(encoding="utf-8") for path in (REPO / "workflow/rules").glob("*.smk")]
    found = [rule for text in texts for rule in re.split(r"^rule ", text, flags=re.M)[1:]]
    return {rule.partition(":")[0]: rule for rule in found}


def test_the_rules_that_run_a_model_ask_for_a_gpu_and_no_others() -> None:
    with_gpu = {name for name, rule in rules().items() if 'gpu=ask("gpu")' in rule}
    measuring = {"collect_traces", "relaunch_baseline", "measure_rounds", "replay_positions"}
    assert with_gpu == measuring | {"time_replay", "time_generation"}
    assert all(('gpu_model=ask("gpu_model")' in rules()[name]) for name in with_gpu)


PARTS = ("input", "output", "log", "conda", "threads", "resources", "message", "shell")


@pytest.mark.parametrize("name", rules())
def test_every_rule_has_all_its_parts(name: str) -> None:
    rule = rules()[name]
    for part in PARTS:
        assert f"\n    {part}:" in rule, part
    assert ("code=code(" in rule) == ("python -m draftlaw" in rule)
    assert "retries:" not in rule and "\n    run:" not in rule


def test_every_stage_belongs_to_a_rule() -> None:
    text = "".join(rules().values())
    for path in STAGES.glob("[a-z]*.py"):
        stage = path.stem.replace("_", "-")
        assert f'code("{stage}")' in text, stage
        assert f"python -m draftlaw {stage} " in text, stage


def test_code_is_the_import_closure() -> None:
    files = {Path(path).name for path in source_files("replay-rounds")}
    assert {"rounds_replay.py", "replay_rounds.py", "parquet.py"} <= files
    assert not files & {"engine.py", "study.py", "labels.py", "law.py"}
    assert "vllm" not in "".join(source_files("freeze-prompts"))


def workspace(folder: Path) -> Path:
    """A copy of the workflow in an empty place: no results, code that may be changed."""
    for name in ("Snakefile", "config.yaml"):
        shutil.copy(REPO / name, folder / name)
    for name in ("workflow", "envs", "data", "paper", "benchmarks"):
        shutil.copytree(REPO / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def finished(smoke: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with the smoke study done in it."""
    folder = tmp_path_factory.mktemp("finished")
    others = ("embedded", "training", "heldout", "rebuilt")
    ignored = shutil.ignore_patterns(".venv", ".git", "__pycache__", *others)
    shutil.copytree(REPO, folder / "repo", symlinks=True, ignore=ignored)
    if (REPO / "results/embedded").exists():  # a paper has a section on a study that has run
        (folder / "repo/results/embedded").symlink_to(REPO / "results/embedded")
    return folder / "repo"


def after(folder: Path, path: str, old: str, new: str) -> Counter[str]:
    """What would run after a change to a file, which is then undone."""
    file = folder / path
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    jobs = planned(["--config", "study=smoke"], folder)
    file.write_text(text, encoding="utf-8")
    return jobs


NOTHING: dict[str, int] = {}
PAPER = {"write_values": 1, "build_paper": 1, "all": 1}
VERDICTS = {"judge_predictions": 1, "write_verdicts": 1, "draw_figures": 1, **PAPER}
CONCLUSIONS = {"compare_law": 1, **VERDICTS}
DOWNSTREAM_OF_REPLAY = {
    "replay_rounds": 4,
    "measure_entropy": 1,
    "check_cells": 1,
    "measure_acceptance": 1,
    "fit_kappa": 1,
    "compare_predictors": 1,
    **CONCLUSIONS,
}
DOWNSTREAM_OF_ROUNDS = {
    "check_cells": 1,
    "measure_acceptance": 1,
    "measure_costs": 1,
    **CONCLUSIONS,
}
ONE_ARM = {
    "collect_traces": 1,
    "relaunch_baseline": 1,
    "measure_rounds": 1,
    "label_positions": 1,
    "replay_positions": 1,
    "replay_rounds": 1,
    "measure_entropy": 1,
    "fit_kappa": 1,
    "compare_predictors": 1,
    **DOWNSTREAM_OF_ROUNDS,
}
ALL_ANALYSIS = {
    "measure_entropy": 1,
    "measure_acceptance": 1,
    "measure_costs": 1,
    "fit_kappa": 1,
    "compare_predictors": 1,
    **CONCLUSIONS,
}
MODULE = "workflow/draftlaw"
CHANGES = {
    "nothing": ("config.yaml", "# The whole", "# The whole", NOTHING),
    "a comment in config": ("config.yaml", "# The whole", "# All the", NOTHING),
    "another study's key": ("config.yaml", "runtime: 360", "runtime: 361", NOTHING),
    "the law": (f"{MODULE}/law.py", '"""', '"""Changed. ', {"draw_law": 1, **CONCLUSIONS}),
    "the replay": (
        f"{MODULE}/replay.py",
        '"""',
        '"""Changed. ',
        {"replay_positions": 4, **DOWNSTREAM_OF_REPLAY},
    ),
    "the labelling": (
        f"{MODULE}/labels.py",
        '"""',
        '"""Changed. ',
        {"label_positions": 4, **ALL_ANALYSIS},
    ),
    "the checks": (f"{MODULE}/checks.py", '"""', '"""Changed. ', {"check_cells": 1, **VERDICTS}),
    "a margin": ("config.yaml", "ratio: 1.5", "ratio: 1.6", VERDICTS),
    "the inference": (
        f"{MODULE}/inference/estimates.py",
        '"""',
        '"""Changed. ',
        VERDICTS,
    ),
    "the figures": (
        f"{MODULE}/figures/measured.py",
        '"""',
        '"""Changed. ',
        {"draw_figures": 1, "build_paper": 1, "all": 1},
    ),
    "the paper's words": ("paper/study.tex", "%", "%%", {"build_paper": 1, "all": 1}),
    "a study's title": (
        "config.yaml",
        "title: the embedded study on four prompts an arm",
        "title: four prompts an arm",
        {"check_cells": 1, **ALL_ANALYSIS},
    ),
    "the bins of a curve": (
        "config.yaml",
        "bins: 6",
        "bins: 5",
        {"fit_kappa": 1, "compare_predictors": 1, **CONCLUSIONS},
    ),
    "a depth more": (
        "config.yaml",
        "depths: [4]\n    batches: [1, 4]",
        "depths: [4, 6]\n    batches: [1, 4]",
        {"measure_rounds": 4, "replay_rounds": 4, **DOWNSTREAM_OF_ROUNDS},
    ),
    "a launch more": (
        "config.yaml",
        "launches: {baseline: 2, speculative: 1, repeat: 8, seed: 0}",
        "launches: {baseline: 3, speculative: 1, repeat: 8, seed: 0}",
        {
            "relaunch_baseline": 4,
            **{name: n for name, n in DOWNSTREAM_OF_ROUNDS.items() if name != "measure_acceptance"},
        },
    ),
    "the order of the cells": (
        "config.yaml",
        "repeat: 8, seed: 0}",
        "repeat: 8, seed: 1}",
        NOTHING,
    ),
    "an arm's longest output": (
        "config.yaml",
        "A: {max_tokens: 16",
        "A: {max_tokens: 17",
        ONE_ARM,
    ),
    "a prompt's words": (
        "data/prompts/writing.jsonl",
        '"text": "',
        '"text": "Please: ',
        {"freeze_prompts": 1, **ONE_ARM},
    ),
}


@pytest.mark.engine
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_runs_exactly_what_depends_on_it(change: str, finished: Path) -> None:
    path, old, new, expected = CHANGES[change]
    assert dict(after(finished, path, old, new)) == expected
