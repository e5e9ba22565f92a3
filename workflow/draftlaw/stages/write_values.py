"""Write the numbers of a study for the paper: macros and table rows."""

from __future__ import annotations

from typing import Annotated

import typer

from draftlaw.files import atomic_directory
from draftlaw.judgement import Verdicts
from draftlaw.options import Evidence, Out, StudyFolder
from draftlaw.paper import TABLES, bodies, tex, values, values_tex
from draftlaw.results import Results


def main(
    study: Annotated[str, typer.Option(help="Its name, first part of every macro.")],
    title: Annotated[str, typer.Option(help="What the study is.")],
    evidence: Evidence,
    folder: StudyFolder,
    out: Out,
) -> None:
    """Write values.tex, and tables/ with the rows of each table."""
    results = Results(folder)
    frames = {table: results.table(table) for table in TABLES}
    verdicts = Verdicts.model_validate_json((folder / "verdicts.json").read_bytes())
    named = {"study": tex(study), "title": tex(title), "evidence": tex(evidence)}
    with atomic_directory(out) as made:
        text = values_tex(study, named | values(frames, verdicts))
        (made / "values.tex").write_text(text, encoding="utf-8")
        (made / "tables").mkdir()
        for name, rows in bodies(frames, verdicts).items():
            (made / f"tables/{name}.tex").write_text(rows, encoding="utf-8")
