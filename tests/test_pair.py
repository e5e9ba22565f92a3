"""The pair: what is linked, what is made, and which pairs are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from conftest import REPO, soonest
from draftlaw.checkpoints import draft_from_layers, draft_state, prepare_distilled
from draftlaw.errors import DraftLawError
from draftlaw.pair import DistilledModel, FolderModel, HubModel, check_pair, link_checkpoint

SHIPPED = yaml.safe_load((REPO / "config.yaml").read_text())["studies"]["embedded"]["pair"]["draft"]
Tokenizer = dict[str, Any]


def lookalike(target: Path, folder: Path, change: Callable[[Tokenizer], Any]) -> Path:
    """A checkpoint folder whose tokenizer is the target's but for one change."""
    folder.mkdir()
    shutil.copy(target / "config.json", folder)
    tokenizer = json.loads((target / "tokenizer.json").read_text(encoding="utf-8"))
    change(tokenizer)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    return folder


def swap_two_tokens(tokenizer: Tokenizer) -> None:
    vocabulary = tokenizer["model"]["vocab"]
    vocabulary["Ġthe"], vocabulary["Ġof"] = vocabulary["Ġof"], vocabulary["Ġthe"]


def rename_a_special_token(tokenizer: Tokenizer) -> None:
    token = tokenizer["added_tokens"][5]
    tokenizer["model"]["vocab"]["<renamed>"] = tokenizer["model"]["vocab"].pop(token["content"])
    token["content"] = "<renamed>"


def make_a_special_token_ordinary(tokenizer: Tokenizer) -> None:
    tokenizer["added_tokens"][5]["special"] = False


def drop_the_last_merges(tokenizer: Tokenizer) -> None:
    del tokenizer["model"]["merges"][-40000:]


def test_a_tokenizer_fits_itself(target: Path) -> None:
    found = check_pair(target, target)
    assert found["target"] == found["draft"]
    assert found["target"]["num_hidden_layers"] == 30


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (swap_two_tokens, r"vocabularies differ: 'Ġof' is \d+ in the target's, \d+ in the draft's"),
        (rename_a_special_token, r"vocabularies differ: '<file_sep>' is 5 in the target's, absent"),
        (make_a_special_token_ordinary, r"special tokens differ: '<file_sep>' is 5 in the target"),
        (drop_the_last_merges, r"encode a probe text differently from token \d+ on"),
    ],
)
def test_a_lookalike_is_refused(
    change: Callable[[Tokenizer], Any], words: str, target: Path, tmp_path: Path
) -> None:
    with pytest.raises(DraftLawError, match=words):
        check_pair(target, lookalike(target, tmp_path / "draft", change))


def test_the_workflow_stops_at_once_at_another_tokenizer(target: Path, tmp_path: Path) -> None:
    draft = lookalike(target, tmp_path / "draft", swap_two_tokens)
    work = tmp_path / "work"
    work.mkdir()
    for name in ("Snakefile", "workflow", "envs", "data", "paper"):
        (work / name).symlink_to(REPO / name)
    config = yaml.safe_load((REPO / "config.yaml").read_text(encoding="utf-8"))
    config["studies"]["smoke"]["pair"] = {
        "target": {"kind": "folder", "path": str(target)},
        "draft": {"kind": "folder", "path": str(draft)},
    }
    (work / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    # one core: no download runs beside the check, so that the network's speed is not timed
    done = soonest(["--cores", "1", "--config", "study=smoke"], work, within=5)
    assert done.returncode != 0
    assert "draftlaw check-pair: pair: the tokenizers' vocabularies differ: 'Ġof'" in done.stderr
    assert "Take a draft of the target's own family" in done.stderr
    assert not list(work.glob("results/smoke/traces/*"))


def test_a_checkpoint_that_exists_is_linked_not_copied(target: Path, tmp_path: Path) -> None:
    out = tmp_path / "linked"
    link_checkpoint(FolderModel(kind="folder", path=str(target)), "target", out)
    names = {path.name for path in out.iterdir()}
    assert names == {path.name for path in target.iterdir()}
    assert all(path.is_symlink() for path in out.iterdir())


def test_what_cannot_be_had_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DraftLawError, match=r"pair\.draft\.path: .*holds no checkpoint"):
        link_checkpoint(FolderModel(kind="folder", path=str(tmp_path)), "draft", tmp_path / "x")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    hub = HubModel(kind="hub", id="nobody/nothing", revision="0" * 40)
    with pytest.raises(DraftLawError, match=r"nobody/nothing@0{40} cannot be fetched"):
        link_checkpoint(hub, "target", tmp_path / "y")


def test_a_draft_of_all_layers_is_the_target(target: Path) -> None:
    model = draft_from_layers(target, range(30), torch.float32)
    whole = load_file(target / "model.safetensors")
    for name, weight in draft_state(model).items():
        torch.testing.assert_close(weight, whole[name], rtol=0, atol=0)


def test_the_shipped_layers_become_a_draft(target: Path, tmp_path: Path) -> None:
    model = DistilledModel(**{**SHIPPED, "weights": str(REPO / SHIPPED["weights"])})
    assert Path(model.weights).stat().st_size <= 32 * 2**20
    prepare_distilled(target, model, tmp_path / "draft")
    made, shipped = load_file(tmp_path / "draft/model.safetensors"), load_file(model.weights)
    for name, weight in shipped.items():
        torch.testing.assert_close(made[name], weight, rtol=0, atol=0)
    embeddings = "model.embed_tokens.weight"
    whole = load_file(target / "model.safetensors")
    torch.testing.assert_close(made[embeddings], whole[embeddings], rtol=0, atol=0)
    assert made.keys() == shipped.keys() | {embeddings}
    check_pair(target, tmp_path / "draft")


def test_changed_weights_are_refused(target: Path, tmp_path: Path) -> None:
    weights = load_file(REPO / SHIPPED["weights"])
    weights["model.norm.weight"][0] += 1
    save_file(weights, tmp_path / "changed.safetensors")
    model = DistilledModel(**{**SHIPPED, "weights": str(tmp_path / "changed.safetensors")})
    with pytest.raises(DraftLawError, match=r"changed\.safetensors has SHA-256 .*, not "):
        prepare_distilled(target, model, tmp_path / "draft")
    assert not (tmp_path / "draft").exists()
