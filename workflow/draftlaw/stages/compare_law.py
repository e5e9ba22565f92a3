"""Set the law beside the data: accepted lengths, costs, errors, the break-even schema share."""

from __future__ import annotations

from draftlaw.comparison import calibrated, crossings, law_errors, law_table
from draftlaw.options import Evidence, StudyFolder
from draftlaw.results import Results
from draftlaw.tables.analysis import (
    ACCEPTED,
    CELL_LENGTHS,
    COST_FITS,
    CROSSINGS,
    KAPPAS,
    LAW,
    LAW_ERRORS,
    SAVINGS,
    STEP_COSTS,
    TURNS,
)
from draftlaw.tables.replay import ENTROPY


def main(folder: StudyFolder, evidence: Evidence) -> None:
    """Write law, law_errors and crossings."""
    results = Results(folder)
    kappas, fits = results.table(KAPPAS), results.table(COST_FITS)
    entropy = results.table(ENTROPY)
    batches = {
        int(batch): calibrated(int(batch), kappas, fits, entropy)
        for batch in sorted(set(kappas["batch"]))
    }
    savings = results.table(SAVINGS)
    law = law_table(batches, results.table(ACCEPTED), savings)
    lengths, costs = results.table(CELL_LENGTHS), results.table(STEP_COSTS)
    results.write(LAW, law, evidence)
    results.write(LAW_ERRORS, law_errors(batches, entropy, lengths, costs, savings), evidence)
    results.write(CROSSINGS, crossings(batches, law, results.table(TURNS)), evidence)
