"""Read the registered predictions by their literal rules (descriptive)."""

from __future__ import annotations

from draftlaw.options import Evidence, StudyFolder
from draftlaw.results import Results
from draftlaw.tables.analysis import CROSSINGS, LAW, TURNS, VERDICTS
from draftlaw.verdicts import verdicts


def main(folder: StudyFolder, evidence: Evidence) -> None:
    """Write verdicts."""
    results = Results(folder)
    found = verdicts(results.table(LAW), results.table(CROSSINGS), results.table(TURNS))
    results.write(VERDICTS, found, evidence)
