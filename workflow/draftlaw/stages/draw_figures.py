"""Draw a study's measurements beside the law."""

from __future__ import annotations

from draftlaw.figures import style
from draftlaw.figures.measured import FIGURES
from draftlaw.files import atomic_directory
from draftlaw.options import Evidence, Out, StudyFolder
from draftlaw.results import Results


def main(folder: StudyFolder, evidence: Evidence, out: Out) -> None:
    """Write each figure as PDF and PNG into a folder."""
    results = Results(folder)
    frames = {
        name: [results.table(table) for table in drawing.tables]
        for name, drawing in FIGURES.items()
    }
    with atomic_directory(out) as made, style.theme():
        for name, drawing in FIGURES.items():
            style.save(drawing.draw(*frames[name], evidence), made, name)
