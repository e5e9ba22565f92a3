"""Measure each arm's entropy and predictability by position class."""

from __future__ import annotations

import pandas as pd

from draftlaw.entropy import entropy_table
from draftlaw.options import Arms, Evidence, StudyFolder
from draftlaw.results import Results
from draftlaw.tables.replay import ENTROPY


def main(folder: StudyFolder, arm: Arms, evidence: Evidence) -> None:
    """Write the entropy table."""
    results = Results(folder)
    frames = [
        entropy_table(name, results.prompts(name), results.positions(name), results.replay(name))
        for name in arm
    ]
    results.write(ENTROPY, pd.concat(frames, ignore_index=True), evidence)
