"""The verdicts as a page for a person: Markdown, made of verdicts.json and the tables behind it.

Every field of a judgement is shown under its own name, so that a field that is added shows without
a change here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pydantic import BaseModel

from draftlaw.judgement import Judgement, Verdicts

PREDICTIONS = {
    "P1": "more is accepted in tool calls than in reasoning, and in reasoning than in prose",
    "P2": "speculation breaks even at the schema share that the law predicts",
    "P3": "the costs of cache, speculation and gate compose",
    "P4": "speculation leaves the outputs at temperature 0 as they are",
}
NOT_ESTIMABLE = "not estimable"
_SPECIAL = re.compile(r"([\\`*|<>\[\]])")
_READING = ["quantity", "depth", "batch"]


@dataclass(frozen=True, slots=True)
class Behind:
    """What the verdicts rest on.

    Attributes:
        readings: the verdicts table.
        intervals: the intervals table.
        operator: the operator table.
        identity: the identity table.
        checks: checks.json.
    """

    readings: pd.DataFrame
    intervals: pd.DataFrame
    operator: pd.DataFrame
    identity: pd.DataFrame
    checks: Mapping[str, Any]


def page(verdicts: Verdicts, behind: Behind) -> str:
    """The whole page, Markdown as GitHub renders it."""
    parts = [
        [f"# Verdicts of study {plain(verdicts.study)}"],
        _fields(verdicts, leave={"study", "judgements"}),
        _summary(verdicts),
        *(_section(judged, behind.readings) for judged in verdicts.judgements),
        ["## When to draft", "", *operator_lines(verdicts, behind)],
        ["## Controls", "", *_controls(behind)],
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def plain(value: Any) -> str:
    """A value as Markdown that shows what it says: characters with a meaning escaped."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOT_ESTIMABLE
    if isinstance(value, float):
        if math.isinf(value):
            return "∞" if value > 0 else "-∞"
        return f"{value + 0.0:.4g}"  # the sum has no negative zero
    return _SPECIAL.sub(r"\\\1", str(value))


def _fields(model: BaseModel, leave: Iterable[str] = ()) -> list[str]:
    """Each field of a model as a line of a list; what is empty is left out, models are nested."""
    lines = []
    for name, value in model:
        label = name.replace("_", " ")
        if name in leave or value in ("", []):
            continue
        if isinstance(value, BaseModel):
            lines += [f"- **{label}**", *(f"  {line}" for line in _fields(value))]
        elif isinstance(value, list):
            lines += [f"- **{label}**: {'; '.join(_short(each) for each in value)}"]
        else:
            shown = "none" if value is None else plain(value)
            lines.append(f"- **{label}**: {shown}")
    return lines


def _short(value: Any) -> str:
    """A member of a list in one line."""
    if isinstance(value, BaseModel):
        return ", ".join(f"{name.replace('_', ' ')} {plain(each)}" for name, each in value)
    return plain(value)


def _titled(judged: Judgement) -> str:
    label = f" ({plain(judged.label)})" if judged.label else ""
    return f"{judged.verdict}{label}"


def _summary(verdicts: Verdicts) -> list[str]:
    rows = [
        [
            judged.prediction,
            f"**{_titled(judged)}**",
            plain(judged.literal),
            f"{judged.refutation.name}: {plain(judged.refutation.inferential)}",
            plain(judged.requests),
            plain(judged.positions),
        ]
        for judged in verdicts.judgements
    ]
    head = ["", "inference", "the paper's literal rule", "refuted by", "requests", "positions"]
    return _table(head, rows)


def _section(judged: Judgement, readings: pd.DataFrame) -> list[str]:
    """A prediction: verdict, everything its judgement says, its own cells, then the others."""
    own = {(cell.depth, cell.batch) for cell in judged.cells}
    rows = readings[readings["prediction"] == judged.prediction]
    inside = pd.Series(
        [pair in own for pair in zip(rows["depth"], rows["batch"], strict=True)], rows.index, bool
    )
    lines = [
        f"## {judged.prediction}: {PREDICTIONS[judged.prediction]}",
        "",
        f"**{_titled(judged)}** by the registered inference; by the paper's literal rule: "
        f"**{plain(judged.literal)}**.",
        "",
        *_fields(judged, leave={"prediction", "verdict", "label", "literal"}),
        "",
        *_readings(rows[inside]),
    ]
    if not inside.all():
        lines += ["", "### Secondary cells", "", *_readings(rows[~inside])]
    return lines


def _readings(rows: pd.DataFrame) -> list[str]:
    """Readings as a table; under it what each quantity is, said once."""
    head = [*_READING, "estimate", "interval", "rule at", "literal rule", "requests", "positions"]
    ordered = rows.sort_values(["batch", "depth"], kind="stable").sort_values(
        "quantity", kind="stable"
    )
    cells = [
        [
            *(plain(row[name]) for name in _READING),
            plain(row["estimate"]),
            _interval(row),
            "" if pd.isna(row["threshold"]) else plain(row["threshold"]),
            plain(row["literal"]),
            plain(row["requests"]),
            plain(row["positions"]),
        ]
        for row in ordered.to_dict("records")
    ]
    notes = ordered.groupby("quantity", sort=False)["reason"].unique()
    said = [f"- {plain(name)}: {plain('; '.join(words))}" for name, words in notes.items()]
    return [*_table(head, cells), "", *said]


def _interval(row: Mapping[Any, Any]) -> str:
    if pd.isna(row["low"]) or pd.isna(row["high"]):
        return "none"
    return f"{plain(row['low'])} to {plain(row['high'])} ({row['level']:.0%})"


def operator_lines(verdicts: Verdicts, behind: Behind) -> list[str]:
    """The operator's rule: two lines for each batch size, and what was measured, in one."""
    lines = [
        line
        for batch, rows in behind.operator.groupby("batch")
        for line in _of_batch(int(str(batch)), rows)
    ]
    return [*lines, _measured(verdicts, behind.intervals)]


def _of_batch(batch: int, rows: pd.DataFrame) -> Iterator[str]:
    if rows["saving"].isna().all():
        yield f"- Batch {batch}: the calibrated law is {NOT_ESTIMABLE}."
        return
    best = rows["depth"].where(rows["best"], 0).groupby(rows["share"]).max()
    starts = best[best != best.shift()]
    advice = ", ".join(
        f"from {plain(share)} on {f'draft {depth} tokens' if depth else 'do not draft'}"
        for share, depth in starts.items()
    )
    yield f"- Batch {batch}: by schema share, {advice}."
    top = rows.sort_values("saving", kind="stable").iloc[-1].to_dict()
    yield (
        f"- Batch {batch}: the law's largest net saving is {top['saving']:.1%}"
        f" ({_percent(top['low'])} to {_percent(top['high'])}), at schema share"
        f" {plain(top['share'])} and depth {top['depth']}; {_percent(top['spans'])} if classes come"
        " in long spans."
    )


def _percent(value: float) -> str:
    return plain(value) if math.isnan(value) or math.isinf(value) else f"{value:.1%}"


def _measured(verdicts: Verdicts, intervals: pd.DataFrame) -> str:
    """The crossings of the cell that P2 is judged in."""
    (cell,) = (judged.cells[0] for judged in verdicts.judgements if judged.prediction == "P2")
    here = intervals[(intervals["depth"] == cell.depth) & (intervals["batch"] == cell.batch)]
    rows = {row["quantity"]: row for row in here.to_dict("records")}
    predicted, measured = (
        f"{plain(rows[name]['estimate'])}, {_interval(rows[name])}" if name in rows else "none"
        for name in ("predicted_crossing", "measured_crossing")
    )
    return (
        f"- These are the law's words: at depth {cell.depth}, batch {cell.batch} it puts the"
        f" break-even share at {predicted}, and it was measured at {measured}."
    )


def _controls(behind: Behind) -> list[str]:
    """What was compared with itself, and what no replay explains."""
    counts = behind.identity.groupby(["comparison", "batch"], sort=False)[
        ["requests", "differing"]
    ].sum()
    rows = [
        [plain(value) for value in row.values()] for row in counts.reset_index().to_dict("records")
    ]
    unexplained = len(behind.checks["unexplained_rounds"])
    return [
        *_table(["compared with the baseline", "batch", "outputs", "differing"], rows),
        "",
        f"- cells in which every counting rule holds: {len(behind.checks['cells'])}",
        f"- rounds that the replay does not explain: {unexplained}",
    ]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    rule = ["---"] * len(head)
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]
