"""Freeze an arm's prompts: sampled from their sources, rendered, encoded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from draftlaw.chat import ChatFormat
from draftlaw.options import ChatJson, Out, TargetFolder, parse
from draftlaw.prompts.freeze import freeze
from draftlaw.prompts.sources import read
from draftlaw.prompts.spec import PromptSpec
from draftlaw.tables.prompts import PROMPTS


def main(
    spec: Annotated[str, typer.Option(help="Sources, number and length of the prompts (JSON).")],
    chat: ChatJson,
    target: TargetFolder,
    out: Out,
    wheel: Annotated[Path | None, typer.Option(help="Wheel that carries BFCL's data.")] = None,
) -> None:
    """Write the prompt table."""
    wanted = parse(PromptSpec, spec, "--spec")
    version = wheel.name.split("-")[1] if wheel else ""
    prompts = [
        prompt for source in wanted.sources for prompt in read(source, wanted.seed, wheel, version)
    ]
    from draftlaw.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(target)
    frame = freeze(prompts, wanted, parse(ChatFormat, chat, "--chat"), tokenizer)
    PROMPTS.write(frame, out)
