"""Refuse a pair whose tokenizers differ; describe one that can work together."""

from __future__ import annotations

from draftlaw.files import write_json
from draftlaw.options import DraftFolder, Out, TargetFolder
from draftlaw.pair import check_pair


def main(target: TargetFolder, draft: DraftFolder, out: Out) -> None:
    """Write the description."""
    write_json(out, check_pair(target, draft))
