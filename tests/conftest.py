"""What tests share: the workflow itself makes the models and tables that they look at."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import settings

# a busy machine is no failure
settings.register_profile("draftlaw", deadline=None)
settings.load_profile("draftlaw")

REPO = Path(__file__).parent.parent
# as in an activated environment, which is how a user runs Snakemake
ACTIVATED = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
Snakemake = Callable[..., subprocess.CompletedProcess[str]]


def run_snakemake(
    arguments: Sequence[str], folder: Path = REPO
) -> subprocess.CompletedProcess[str]:
    """Snakemake as a user runs it; output is captured as text."""
    command = ["snakemake", "--cores", "all", "--scheduler", "greedy", *arguments]
    return subprocess.run(
        command, cwd=folder, env=ACTIVATED, capture_output=True, text=True, check=False
    )


def soonest(
    arguments: Sequence[str], folder: Path, within: float
) -> subprocess.CompletedProcess[str]:
    """Run Snakemake, which must end within `within` seconds; a busy machine gets five tries.

    A machine that takes over a second only to start Snakemake is given more in proportion: the
    bound is on the workflow, not on the machine.

    Args:
        arguments: of Snakemake.
        folder: a working directory of the test's own; its results are removed before each try.
        within: seconds, where Snakemake itself starts in one.
    """
    assert folder != REPO
    for _ in range(5):
        shutil.rmtree(folder / "results", ignore_errors=True)
        start = _seconds(["--version"], folder)[0]
        seconds, done = _seconds(arguments, folder)
        bound = within * max(1.0, start)
        if seconds < bound:
            return done
    raise AssertionError(f"it took {seconds:.1f} s, {bound:.1f} s at most")


def _seconds(
    arguments: Sequence[str], folder: Path
) -> tuple[float, subprocess.CompletedProcess[str]]:
    """How long Snakemake runs, and what came of it."""
    begin = time.monotonic()
    done = run_snakemake(arguments, folder)
    return time.monotonic() - begin, done


def make(*targets: str) -> None:
    """Make files by the workflow's rules; a failure shows what Snakemake said."""
    done = run_snakemake(["--rerun-incomplete", "--config", "study=smoke", "--", *targets])
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the repository."""
    return REPO


@pytest.fixture(scope="session")
def bfcl_wheel() -> Path:
    """The wheel that carries BFCL's data."""
    wheel = "results/downloads/bfcl_eval-2026.3.23-py3-none-any.whl"
    make(wheel)
    return REPO / wheel


@pytest.fixture(scope="session")
def target() -> Path:
    """The embedded study's target: SmolLM2-135M-Instruct."""
    make("results/smoke/models/target")
    return REPO / "results/smoke/models/target"


@pytest.fixture(scope="session")
def smoke() -> Path:
    """The smoke study, measured: every rule of the workflow on four prompts an arm."""
    make()
    return REPO / "results/smoke"
