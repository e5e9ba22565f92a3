"""The configuration: what is refused, and in which words."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import REPO, soonest
from draftlaw import study
from draftlaw.errors import DraftLawError

CONFIG: dict[str, Any] = yaml.safe_load((REPO / "config.yaml").read_text(encoding="utf-8"))
Change = Callable[[dict[str, Any]], Any]


def changed(change: Change) -> dict[str, Any]:
    config = copy.deepcopy(CONFIG)
    change(config["studies"])
    return config


def refusal(change: Change) -> str:
    with pytest.raises(DraftLawError) as caught:
        study.validate(changed(change))
    return str(caught.value)


def test_the_shipped_configuration_is_valid() -> None:
    config = study.validate(CONFIG)
    for name in ("embedded", "smoke", "h200", "heldout", "training"):
        study.check_files(config, name)


def test_the_schema_in_the_repository_is_the_models() -> None:
    written = (REPO / "workflow/config.schema.json").read_text(encoding="utf-8")
    assert written == study.schema(), "run `make schema`"


def test_every_key_is_documented() -> None:
    schema = study.Config.model_json_schema()
    models = [schema, *schema["$defs"].values()]
    keys = [key for model in models for key in model.get("properties", {}).items()]
    assert len(keys) > 40
    assert [name for name, key in keys if "description" not in key and "const" not in key] == []


def test_cells_are_measured_launch_by_launch_in_an_order_drawn_by_the_seed() -> None:
    whole = study.validate(CONFIG).studies["h200"]
    cells = whole.measured_cells()
    assert len(cells) == len(set(cells)) == 4 * 4 * 3
    assert [launch for _, _, launch in cells] == [0] * 16 + [1] * 16 + [2] * 16
    orders = [[(arm, depth) for arm, depth, at in cells if at == launch] for launch in range(3)]
    assert orders[0] != orders[1] != orders[2]
    fewer = study.validate(changed(lambda s: s["h200"].update(depths=[4, 16]))).studies["h200"]
    assert fewer.measured_cells() == [cell for cell in cells if cell[1] != 8]
    other = changed(lambda s: s["h200"]["launches"].update(seed=1))
    assert study.validate(other).studies["h200"].measured_cells() != cells


def test_a_study_that_extends_another_differs_in_its_own_keys_only() -> None:
    studies = study.validate(CONFIG).studies
    smoke, embedded = studies["smoke"], studies["embedded"]
    assert smoke.pair == embedded.pair and smoke.engine == embedded.engine
    assert smoke.arms["B"].prompts.sources == embedded.arms["B"].prompts.sources
    assert smoke.arms["B"].prompts.clusters == 4
    assert smoke.depths == (4,)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda s: s["embedded"]["arms"]["A"].update(max_tokns=3),
            ["unknown key", "arms.A.max_tokns", "Did you mean 'max_tokens'"],
        ),
        (
            lambda s: s["embedded"]["arms"]["A"].update(max_tokens="forty"),
            ["arms.A.max_tokens", '"forty"', "plain number"],
        ),
        (
            lambda s: s["embedded"]["arms"]["A"].update(max_tokens=True),
            ["arms.A.max_tokens", "true"],
        ),
        (
            lambda s: s["embedded"].update(depths=[0, 4]),
            ["depths.0 is 0", "baseline is always measured"],
        ),
        (lambda s: s["embedded"].update(depths=[8, 4]), ["depths must ascend", "[8, 4]"]),
        (lambda s: s["embedded"].update(batches=[]), ["batches", "[]"]),
        (
            lambda s: s["embedded"]["launches"].update(repeat=12),
            ["launches.repeat", "12", "[1, 8]", "multiple"],
        ),
        (lambda s: s["embedded"]["engine"].update(dtype="int4"), ["engine.dtype", '"int4"']),
        (
            lambda s: s["embedded"]["engine"].update(max_model_len=512),
            ["engine.max_model_len is 512", "needs"],
        ),
        (
            lambda s: s["h200"]["pair"]["target"].update(revision="main"),
            ["pair.target.hub.revision", '"main"'],
        ),
        (lambda s: s["smoke"].update(extends="embeded"), ["smoke.extends", "'embeded'"]),
        (lambda s: s["embedded"].update(extends="smoke"), ["extends", "Name another study"]),
        (lambda s: s["embedded"]["downloads"].pop("bfcl-eval"), ["downloads lacks 'bfcl-eval'"]),
        (
            lambda s: s["embedded"]["arms"]["C"]["prompts"].pop("think_budget"),
            ["arms.C.prompts.think_budget", "elicited"],
        ),
        (lambda s: s["embedded"].pop("depths"), ["depths is missing"]),
        (lambda s: s["embedded"]["pair"].pop("draft"), ["depths", "pair.draft is null"]),
    ],
)
def test_a_bad_key_is_refused_by_name_value_and_remedy(change: Change, words: list[str]) -> None:
    message = refusal(change)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_fewer_prompts_than_asked() -> None:
    config = study.validate(
        changed(lambda s: s["smoke"]["arms"]["A"]["prompts"].update(clusters=900))
    )
    with pytest.raises(DraftLawError, match=r"arms\.A\.prompts\.clusters is 900.*holds 72 prompts"):
        study.check_files(config, "smoke")


def test_a_missing_file() -> None:
    config = study.validate(
        changed(lambda s: s["embedded"]["chat"].update(template="data/no.jinja"))
    )
    with pytest.raises(DraftLawError, match=r"chat\.template: data/no\.jinja does not exist"):
        study.check_files(config, "embedded")


def test_a_key_given_twice(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("a: 1\nb:\n  c: 1\n  c: 2\n", encoding="utf-8")
    with pytest.raises(DraftLawError, match=r"line 4: key 'c' is given twice"):
        study.check_yaml(path)


SLIPS: dict[str, tuple[Callable[[str], str], str]] = {
    "unknown key": (lambda text: text.replace("eager: true", "eagre: true"), "eagre"),
    "wrong type": (lambda text: text.replace("threads: 2", "threads: two"), '"two"'),
    "duplicate key": (lambda text: text.replace("  smoke:\n", "  embedded:\n"), "given twice"),
    "missing file": (lambda text: text.replace("hermes.jinja", "hermes.jinjo"), "hermes.jinjo"),
    "too few prompts": (lambda text: text.replace("clusters: 16", "clusters: 1600"), "1600"),
    "gamma 0": (lambda text: text.replace("depths: [4, 8, 16]", "depths: [0, 4]", 1), "depths.0"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_snakemake_stops_at_once_with_one_message(slip: str, tmp_path: Path) -> None:
    edit, word = SLIPS[slip]
    for name in ("Snakefile", "workflow", "data", "envs", "paper"):
        (tmp_path / name).symlink_to(REPO / name)
    text = edit((REPO / "config.yaml").read_text(encoding="utf-8"))
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    done = soonest(["-n"], tmp_path, within=5)
    assert done.returncode != 0
    assert word in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
