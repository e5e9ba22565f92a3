"""Set the law beside the data: accepted lengths, savings, and the break-even schema share."""

from __future__ import annotations

from draftlaw.comparison import calibrated, crossings, law_table
from draftlaw.options import Evidence, StudyFolder
from draftlaw.results import Results
from draftlaw.tables.analysis import ACCEPTED, COST_FITS, CROSSINGS, KAPPAS, LAW, SAVINGS, TURNS
from draftlaw.tables.replay import ENTROPY


def main(folder: StudyFolder, evidence: Evidence) -> None:
    """Write law and crossings."""
    results = Results(folder)
    kappas, fits = results.table(KAPPAS), results.table(COST_FITS)
    entropy = results.table(ENTROPY)
    batches = {
        int(batch): calibrated(int(batch), kappas, fits, entropy)
        for batch in sorted(set(kappas["batch"]))
    }
    law = law_table(batches, results.table(ACCEPTED), results.table(SAVINGS))
    results.write(LAW, law, evidence)
    results.write(CROSSINGS, crossings(batches, law, results.table(TURNS)), evidence)
