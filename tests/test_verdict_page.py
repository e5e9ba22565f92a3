"""The page of verdicts says what verdicts.json and its tables hold, and reads as Markdown."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from pydantic import Field

from conftest import REPO
from draftlaw.judgement import Cell, Judgement, Refutation, Verdicts, graded
from draftlaw.study import validate
from draftlaw.verdict_page import Behind, operator_lines, page, plain

EVIDENCE = "measured: rehearsal on a table made by hand"
SELECTION = "Its draft was tuned, so that the phenomenon shows."
PRIMARY, OTHER = Cell(depth=8, batch=1), Cell(depth=4, batch=1)


def judgement(prediction: Any, cells: list[Cell], **changes: Any) -> Judgement:
    refutation = Refutation(name="R2", literal="s >= 0", inferential="not diagnostic", p=0.75)
    given: dict[str, Any] = {
        "prediction": prediction,
        "verdict": "inconclusive",
        "label": "within launch",
        "literal": "fails",
        "cells": cells,
        "support_p": 0.0125,
        "refute_p": None,
        "refutation": refutation,
        "requests": 16,
        "positions": 940,
        "reason": f"why {prediction} with w_S* | 2 * 3 * 4",
    }
    return Judgement(**given | changes)


def verdicts(**changes: Any) -> Verdicts:
    judged = [
        judgement("P1", [PRIMARY, OTHER], label="", verdict="supported"),
        judgement("P2", [PRIMARY]),
    ]
    given: dict[str, Any] = {"study": "hand_made", "evidence": EVIDENCE, "level": 0.95}
    marked = graded(judged, EVIDENCE, SELECTION)
    return Verdicts(**{**given, "launches": 1, "judgements": marked} | changes)


def reading(prediction: str, cell: Cell, estimate: float) -> dict[str, Any]:
    counts = {"requests": 16, "positions": 940, "support_p": 0.01, "refute_p": 0.9}
    numbers = {"estimate": estimate, "low": -np.inf, "high": 2.5, "level": 0.9, "threshold": 0.25}
    words = {"quantity": f"{prediction} ratio", "literal": "holds", "reason": "in words"}
    return {"prediction": prediction, **dict(cell), **counts, **numbers, **words}


def operator(depths: tuple[int, ...] = (4, 8)) -> pd.DataFrame:
    """At batch 1 nothing saves below one half, then depth 4, then 8; at batch 8 nothing ever."""
    rows = []
    for batch in (1, 8):
        for share in np.arange(11) / 10:
            for depth in depths:
                saving = share - 0.45 + (depth == 8) * (share - 0.75) - (batch == 8)
                ends = {"low": saving - 0.1, "high": np.inf, "level": 0.95, "spans": saving - 0.02}
                key = {"batch": batch, "depth": depth, "share": share, "length": 2.0}
                rows.append({**key, "saving": saving, **ends})
    frame = pd.DataFrame(rows)
    most = frame.groupby(["batch", "share"])["saving"].transform("max")
    return frame.assign(best=(frame["saving"] == most) & (most > 0))


def crossing(quantity: str, estimate: float) -> dict[str, Any]:
    ends = {"estimate": estimate, "low": 0.2, "high": 0.6, "level": 0.95}
    return {"quantity": quantity, "position_class": "none", **dict(PRIMARY), **ends}


def behind() -> Behind:
    controls = [
        {"comparison": name, "arm": arm, "depth": 0, "launch": 0, "batch": 1, **counts}
        for name in ("repeat", "speculation")
        for arm, counts in (
            ("A", {"requests": 4, "differing": 0}),
            ("B", {"requests": 5, "differing": 2}),
        )
    ]
    return Behind(
        readings=pd.DataFrame(
            [reading(name, cell, 1.25) for name in ("P1", "P2") for cell in (PRIMARY, OTHER)]
        ),
        intervals=pd.DataFrame(
            [crossing("predicted_crossing", 0.31), crossing("measured_crossing", 0.42)]
        ),
        operator=operator(),
        identity=pd.DataFrame(controls),
        checks={"cells": [{}] * 12, "unexplained_rounds": [{}]},
    )


def section(text: str, head: str) -> str:
    """A section of the page by the beginning of its title."""
    (found,) = (part for part in re.split(r"^## ", text, flags=re.M) if part.startswith(head))
    return found


def test_every_prediction_has_its_verdict_both_readings_and_grade() -> None:
    text = page(verdicts(), behind())
    for name, said in (("P1", "**supported**"), ("P2", "**inconclusive (within launch)**")):
        part = section(text, name)
        assert part.count(said) == 1 and "literal rule: **fails**" in part
        for line in (
            f"- **evidence**: {EVIDENCE}",
            f"- **selection**: {SELECTION}",
            "- **requests**: 16",
            "- **positions**: 940",
            "- **support p**: 0.0125",
            "- **refute p**: none",
            "  - **inferential**: not diagnostic",
        ):
            assert line in part.splitlines(), line
        assert f"{name} ratio | 8 | 1 | 1.25 | -∞ to 2.5 (90%) | 0.25 | holds | 16 | 940 |" in part


def test_cells_in_which_a_prediction_is_not_judged_are_secondary() -> None:
    text = page(verdicts(), behind())
    assert "Secondary" not in section(text, "P1")
    own, secondary = section(text, "P2").split("### Secondary cells")
    assert "| P2 ratio | 8 | 1 |" in own and "| P2 ratio | 4 | 1 |" not in own
    assert "| P2 ratio | 4 | 1 |" in secondary and "| P2 ratio | 8 | 1 |" not in secondary


class Standing(Judgement):
    """A judgement with a field of which the page does not know."""

    standing: str = Field(default="deviates from registration")
    differences: list[str] = Field(default=["seed", "batches"])


def test_a_field_that_is_added_shows_by_its_own_name() -> None:
    known = verdicts()
    added = [Standing(**dict(each)) for each in known.judgements]
    text = section(page(known.model_copy(update={"judgements": added}), behind()), "P2")
    assert "- **standing**: deviates from registration" in text
    assert "- **differences**: seed; batches" in text


def test_what_is_empty_is_left_out() -> None:
    judged = graded([judgement("P2", [PRIMARY])], EVIDENCE, "")
    text = page(verdicts(judgements=judged), behind())
    assert "selection" not in text and "- **evidence**" in section(text, "P2")


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    lines = page(verdicts(), behind()).splitlines()
    tables = re.findall(r"(?:^\|.*\n?)+", "\n".join(lines), re.M)
    assert len(tables) == 5
    for table in tables:
        widths = {len(re.split(r"(?<!\\)\|", row)) for row in table.strip().splitlines()}
        assert len(widths) == 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "not estimable"),
        (float("nan"), "not estimable"),
        (float("-inf"), "-∞"),
        (-0.0, "0"),
        (0.00051, "0.00051"),
        (1234.5678, "1235"),
        (7, "7"),
        ("w_S* | [a] <b>", r"w_S\* \| \[a\] \<b\>"),
    ],
)
def test_values_show_as_they_are(value: Any, shown: str) -> None:
    assert plain(value) == shown


def test_the_operator_s_rule_is_five_lines_from_the_table() -> None:
    lines = operator_lines(verdicts(), behind())
    assert len(lines) == 5
    assert lines[0] == (
        "- Batch 1: by schema share, from 0 on do not draft, from 0.5 on draft 4 tokens, "
        "from 0.8 on draft 8 tokens."
    )
    assert "80.0% (70.0% to ∞), at schema share 1 and depth 8; 78.0% if" in lines[1]
    assert lines[2] == "- Batch 8: by schema share, from 0 on do not draft."
    assert "at 0.31, 0.2 to 0.6 (95%), and it was measured at 0.42, 0.2" in lines[4]


def test_where_the_law_is_not_estimable_an_operator_is_told_so() -> None:
    nothing = operator().assign(saving=np.nan, best=False)
    lines = operator_lines(verdicts(), replace(behind(), operator=nothing))
    assert lines[0] == "- Batch 1: the calibrated law is not estimable."
    assert len(lines) == 3


def test_controls_are_counted_over_arms() -> None:
    part = section(page(verdicts(), behind()), "Controls")
    assert "| repeat | 1 | 9 | 2 |" in part and "| speculation | 1 | 9 | 2 |" in part
    assert "counting rule holds: 12" in part and "does not explain: 1" in part


def test_the_studies_with_a_tuned_draft_name_its_selection() -> None:
    config = validate(yaml.safe_load((REPO / "config.yaml").read_text(encoding="utf-8")))
    for name in ("embedded", "smoke"):
        assert "conditioned on by selection" in config.studies[name].selection
    assert config.studies["h200"].selection == ""
    assert config.studies["h200"].evidence == "declared"
