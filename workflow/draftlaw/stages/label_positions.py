"""Label every output token: class, span, straddler, tokens its grammar allowed, loop."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from draftlaw.chat import ChatFormat
from draftlaw.files import read_json
from draftlaw.options import ChatJson, Out, PromptsFile, TargetFolder, parse
from draftlaw.tables.engine import TRACES
from draftlaw.tables.positions import POSITIONS
from draftlaw.tables.prompts import PROMPTS


def main(
    prompts: PromptsFile,
    traces: Annotated[Path, typer.Option(help="Table of the outputs of these prompts.")],
    target: TargetFolder,
    chat: ChatJson,
    out: Out,
) -> None:
    """Write the table of output positions."""
    chat_format = parse(ChatFormat, chat, "--chat")
    from draftlaw.grammar import Walker
    from draftlaw.positions import label_positions
    from draftlaw.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(target)
    walker = Walker(tokenizer, read_json(target / "config.json")["vocab_size"])
    frame = label_positions(
        PROMPTS.read(prompts), TRACES.read(traces), chat_format, walker, tokenizer.all_special_ids
    )
    POSITIONS.write(frame, out)
