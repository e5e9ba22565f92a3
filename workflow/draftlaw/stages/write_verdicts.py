"""Write the verdicts of a study as a page for a person."""

from __future__ import annotations

from draftlaw.files import atomic_file, read_json
from draftlaw.judgement import Verdicts
from draftlaw.options import Out, StudyFolder
from draftlaw.results import Results
from draftlaw.tables.analysis import INTERVALS, OPERATOR, VERDICTS
from draftlaw.tables.checks import IDENTITY
from draftlaw.verdict_page import Behind, page


def main(folder: StudyFolder, out: Out) -> None:
    """Write the page, Markdown."""
    results = Results(folder)
    verdicts = Verdicts.model_validate_json((folder / "verdicts.json").read_bytes())
    behind = Behind(
        readings=results.table(VERDICTS),
        intervals=results.table(INTERVALS),
        operator=results.table(OPERATOR),
        identity=results.table(IDENTITY),
        checks=read_json(folder / "checks.json"),
    )
    with atomic_file(out) as temporary:
        temporary.write_text(page(verdicts, behind), encoding="utf-8")
