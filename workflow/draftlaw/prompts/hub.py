"""Prompts from a data set on a hub, or in a local folder laid out as one."""

from __future__ import annotations

from pathlib import Path

from draftlaw.errors import DraftLawError
from draftlaw.prompts.record import Prompt
from draftlaw.prompts.spec import DatasetsSource


def read(source: DatasetsSource) -> list[Prompt]:
    """Every row of the split as a prompt.

    Raises:
        DraftLawError: the data set cannot be loaded, or has not the columns named.
    """
    from datasets import load_dataset  # slow to import, and only this source needs it

    where = f"data set {source.path!r}, split {source.split!r}"
    try:
        rows = load_dataset(source.path, source.name, split=source.split, revision=source.revision)
    except Exception as error:
        raise DraftLawError(
            f"{where} cannot be loaded ({error})",
            "Check path, revision and split; without network access, name a local folder",
        ) from None
    for column in filter(None, (source.text, source.answer)):
        if column not in rows.column_names:
            raise DraftLawError(
                f"{where} has no column {column!r}", f"Its columns are {rows.column_names}"
            )
    label = source.path if source.revision is None else f"{source.path}@{source.revision}"
    stem = Path(source.path).name
    return [
        Prompt(
            id=f"{stem}/{number}",
            cluster=f"{stem}/{number}",
            turn=0,
            source=f"{label} {source.split}",
            licence=source.licence,
            messages=[{"role": "user", "content": row[source.text]}],
            tools=[],
            parts=source.parts,
            ground_truth=row[source.answer] if source.answer else None,
        )
        for number, row in enumerate(rows)
    ]
