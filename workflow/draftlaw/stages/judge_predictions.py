"""Judge the registered predictions: readings in every cell, and the verdicts made of them."""

from __future__ import annotations

from typing import Annotated

import typer

from draftlaw.files import write_json
from draftlaw.identity import Outputs
from draftlaw.inference.intervals import intervals
from draftlaw.inference.operator import operator_rule
from draftlaw.inference.resampling import Resampling
from draftlaw.inference.sample import Sample, Tables
from draftlaw.judgement import Verdicts, graded, judge, primary_cell
from draftlaw.margins import Decisions
from draftlaw.options import Evidence, StudyFolder, parse
from draftlaw.results import Results
from draftlaw.tables.analysis import (
    INTERVALS,
    OPERATOR,
    POSITION_SUMS,
    RISK_SETS,
    TURNS,
    VERDICTS,
    WAVE_COSTS,
)
from draftlaw.tables.checks import DIVERGENCES, IDENTITY
from draftlaw.verdicts import verdicts


def main(
    study: Annotated[str, typer.Option(help="Its name.")],
    folder: StudyFolder,
    decisions: Annotated[str, typer.Option(help="Margins, levels, primary cell (JSON).")],
    seed: Annotated[int, typer.Option(help="Of the resamples.")],
    evidence: Evidence,
    selection: Annotated[str, typer.Option(help="How the draft was selected, if it was.")] = "",
) -> None:
    """Write verdicts (a table of readings), intervals, operator, and verdicts.json."""
    results = Results(folder)
    rules = parse(Decisions, decisions, "--decisions")
    tables = Tables(*(results.table(t) for t in (RISK_SETS, POSITION_SUMS, WAVE_COSTS, TURNS)))
    sample = Sample(tables, Resampling(seed, rules.resamples))
    readings = verdicts(sample, rules.margins)
    results.write(VERDICTS, readings, evidence)
    results.write(INTERVALS, intervals(sample, rules.level), evidence)
    results.write(OPERATOR, operator_rule(sample, rules.level), evidence)
    outputs = Outputs(results.table(IDENTITY), results.table(DIVERGENCES))
    primary = primary_cell(readings, rules)
    judgements = judge(readings, outputs, primary, rules, sample.launches())
    judged = Verdicts(
        study=study,
        evidence=evidence,
        level=rules.level,
        launches=sample.launches(),
        judgements=graded(judgements, evidence, selection),
    )
    write_json(folder / "verdicts.json", judged.model_dump(mode="json"))
