"""Verdicts on the registered predictions: supported, refuted or inconclusive, and why.

Protocol, section 6. P1 is an intersection-union over all cells; P2 and P3 are judged in the primary
cell; Holm's procedure goes over {P1, P2, P3}, for support and for refutation apart; P4 is exact and
outside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field
from statsmodels.stats.multitest import multipletests

from draftlaw import verdicts as read
from draftlaw.identity import Outputs
from draftlaw.margins import Decisions, Margins

Rows = Mapping[str, Mapping[Any, Any]]
Verdict = Literal["supported", "refuted", "inconclusive"]
FEWEST_LAUNCHES = 3
"""With fewer, an interval that involves time stands within a launch and decides nothing."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Cell(_Model):
    """A draft depth at a batch size."""

    depth: int = Field(description="Draft tokens per round, gamma.")
    batch: int = Field(description="Requests given to the engine at once.")


class Refutation(_Model):
    """A refutation that the paper names."""

    name: Literal["R1", "R2", "R3", "R4"] = Field(description="The paper's name.")
    literal: str = Field(description="The paper's rule on point estimates, in words.")
    inferential: str = Field(description="What the inference says of it.")
    p: float | None = Field(description="One-sided p-value; null: none.")


class Judgement(_Model):
    """What the registered inference says of a prediction."""

    prediction: Literal["P1", "P2", "P3", "P4"] = Field(description="The prediction.")
    verdict: Verdict = Field(description="By the registered inference.")
    label: str = Field(description="What kind of verdict, in a few words; empty: plain.")
    literal: str = Field(description="The paper's rule on point estimates, in words.")
    cells: list[Cell] = Field(description="Cells that it is judged in.")
    support_p: float | None = Field(description="p-value of support after Holm; null: none.")
    refute_p: float | None = Field(description="p-value of refutation after Holm; null: none.")
    refutation: Refutation = Field(description="The paper's own refutation of it.")
    requests: int = Field(description="Most requests behind a reading.")
    positions: int = Field(description="Most output positions behind a reading.")
    reason: str = Field(description="In words.")
    evidence: str = Field(default="", description="Evidence grade of what it is made from.")
    selection: str = Field(
        default="", description="How the draft was selected, where that conditions it; empty: not."
    )


class Verdicts(_Model):
    """All verdicts of a study."""

    study: str = Field(description="The study.")
    evidence: str = Field(description="Evidence grade.")
    level: float = Field(description="Confidence level of the decisions.")
    launches: int = Field(description="Launches of the timed cells.")
    judgements: list[Judgement] = Field(description="P1 to P4.")


def graded(judgements: Iterable[Judgement], evidence: str, selection: str) -> list[Judgement]:
    """The same judgements, each with the evidence grade and the draft's selection."""
    marks = {"evidence": evidence, "selection": selection}
    return [judgement.model_copy(update=marks) for judgement in judgements]


def schema() -> str:
    """JSON Schema of verdicts.json; workflow/verdicts.schema.json holds it."""
    return json.dumps(Verdicts.model_json_schema(), indent=2, sort_keys=True) + "\n"


def primary_cell(readings: pd.DataFrame, decisions: Decisions) -> Cell:
    """The registered primary cell, or what the study has in its place."""
    depths, batches = set(readings["depth"]), set(readings["batch"])
    wanted = decisions.primary
    return Cell(
        depth=wanted.depth if wanted.depth in depths else max(depths),
        batch=wanted.batch if wanted.batch in batches else min(batches),
    )


def judge(
    readings: pd.DataFrame,
    outputs: Outputs,
    primary: Cell,
    decisions: Decisions,
    launches: int,
) -> list[Judgement]:
    """Make verdicts of readings.

    Args:
        readings: the verdicts table.
        outputs: what comparing outputs found, for P4.
        primary: cell in which P2 and P3 are judged.
        decisions: level and margins.
        launches: the fewest launches of a timed cell.
    """
    alpha = 1 - decisions.level
    drafts = [_order(readings, alpha), _break_even(readings, primary, alpha, launches)]
    drafts.append(_composition(readings, primary))
    support = _holm([draft.support_p for draft in drafts])
    refute = _holm([draft.refute_p for draft in drafts])
    judged = [
        _decided(draft, alpha, supported, refuted)
        for draft, supported, refuted in zip(drafts, support, refute, strict=True)
    ]
    return [*judged, _lossless(readings, outputs, decisions.margins)]


def _holm(doubts: Iterable[float | None]) -> list[float | None]:
    """Adjusted p-values; what was not tested counts as a p-value of 1 in the family."""
    raw = [1.0 if p is None else p for p in doubts]
    adjusted = multipletests(raw, method="holm")[1]
    return [float(p) for p in adjusted]


def _decided(
    draft: Judgement, alpha: float, support: float | None, refute: float | None
) -> Judgement:
    """The verdict after Holm; a label that says why nothing can be decided stands."""
    supported = support is not None and support <= alpha
    refuted = refute is not None and refute <= alpha
    verdict: Verdict = "supported" if supported else "refuted" if refuted else "inconclusive"
    changes: dict[str, object] = {"support_p": support, "refute_p": refute}
    if draft.label and not refuted:
        return draft.model_copy(update=changes)
    return draft.model_copy(update={**changes, "verdict": verdict})


def _of(readings: pd.DataFrame, prediction: str, quantity: str | None = None) -> pd.DataFrame:
    kept = readings["prediction"] == prediction
    return readings[kept if quantity is None else kept & (readings["quantity"] == quantity)]


def _counted(readings: pd.DataFrame) -> dict[str, int]:
    return {name: int(readings[name].max()) for name in ("requests", "positions")}


def _cells(readings: pd.DataFrame) -> list[Cell]:
    pairs = readings[["depth", "batch"]].drop_duplicates().sort_values(["batch", "depth"])
    return [Cell(depth=depth, batch=batch) for depth, batch in pairs.itertuples(index=False)]


def _tally(readings: pd.DataFrame) -> str:
    holds = int((readings["literal"] == "holds").sum())
    return f"holds in {holds} of {len(readings)} readings"


def _order(readings: pd.DataFrame, alpha: float) -> Judgement:
    """P1: every component in every cell; refuted by any, Holm over cells and components."""
    p1 = _of(readings, "P1")
    components = p1[p1["quantity"] != read.TAU_S_F_AT_ALL]
    at_all = p1[p1["quantity"] == read.TAU_S_F_AT_ALL]
    refute, refute_at_all = (
        float(multipletests(rows["refute_p"], method="holm")[1].min())
        for rows in (components, at_all)
    )
    fails = int((at_all["literal"] == "fails").sum())
    refuted = refute_at_all <= alpha
    worst = max(components.to_dict("records"), key=lambda row: row["support_p"])
    return Judgement(
        prediction="P1",
        verdict="inconclusive",
        label="",
        literal=_tally(components),
        cells=_cells(p1),
        support_p=float(components["support_p"].max()),
        refute_p=refute,
        refutation=Refutation(
            name="R1",
            literal=f"tau_S <= tau_F in {fails} of {len(at_all)} cells",
            inferential="holds" if refuted else "does not hold",
            p=refute_at_all,
        ),
        **_counted(p1),
        reason=f"most in doubt: {worst['quantity']} at depth {worst['depth']}, batch "
        f"{worst['batch']} ({worst['estimate']:.2f}, above {worst['threshold']:g})",
    )


def _break_even(readings: pd.DataFrame, primary: Cell, alpha: float, launches: int) -> Judgement:
    """P2 in the primary cell: the ratio of the crossings, or one sign of the saving."""
    at = (readings["depth"] == primary.depth) & (readings["batch"] == primary.batch)
    rows = _of(readings[at], "P2")
    p2: Rows = {str(row["quantity"]): row for row in rows.to_dict("records")}
    ratio, sign = p2[read.CROSSING_RATIO], p2[read.ONE_SIGN]
    label = ""
    if launches < FEWEST_LAUNCHES:
        label = "within launch"
    elif "concordant" in ratio["reason"]:
        label = "concordant"
    elif np.isnan(p2[read.LOW_CROSSING]["estimate"]) and not np.isfinite(ratio["estimate"]):
        label = "w_S is not a lever"
    decides = not label
    return Judgement(
        prediction="P2",
        verdict="inconclusive",
        label=label,
        literal=str(ratio["literal"]),
        cells=[primary],
        support_p=float(ratio["support_p"]) if decides else None,
        refute_p=float(min(ratio["refute_p"], sign["refute_p"])) if decides else None,
        refutation=_high_share(p2, alpha, launches),
        **_counted(rows),
        reason=str(ratio["reason"]),
    )


def _high_share(p2: Rows, alpha: float, launches: int) -> Refutation:
    saving, below = p2[read.HIGH_SHARE], p2[read.LOW_CROSSING]
    diagnostic = float(below["refute_p"]) <= alpha
    loses = float(saving["refute_p"]) <= alpha
    says = "holds" if loses and diagnostic else "does not hold"
    if not diagnostic:
        says = "not diagnostic"
    if launches < FEWEST_LAUNCHES:
        says = "undecided within launch"
    literal = {"fails": "s < 0 at high w_S", "holds": "s >= 0 at high w_S"}
    return Refutation(
        name="R2",
        literal=literal.get(str(saving["literal"]), str(saving["literal"])),
        inferential=says,
        p=float(max(saving["refute_p"], below["refute_p"])),
    )


def _composition(readings: pd.DataFrame, primary: Cell) -> Judgement:
    p3 = _of(readings, "P3")
    return Judgement(
        prediction="P3",
        verdict="inconclusive",
        label="not measured",
        literal="not measured",
        cells=[primary],
        support_p=None,
        refute_p=None,
        refutation=Refutation(name="R3", literal="not measured", inferential="undecided", p=None),
        **_counted(p3),
        reason=str(p3["reason"].iloc[0]),
    )


def _lossless(readings: pd.DataFrame, outputs: Outputs, margins: Margins) -> Judgement:
    """P4: exact; a request counts once per batch size, however often it was run at it."""
    p4 = _of(readings, "P4")
    fewest = outputs.fewest_requests()
    differing = outputs.differing()
    verdict, label = outputs.verdict(margins)
    inferential = {"refuted": "holds", "supported": "does not hold"}
    bound = 1 - 0.05 ** (1 / fewest)
    return Judgement(
        prediction="P4",
        verdict=verdict,
        label=label,
        literal=_tally(p4),
        cells=_cells(p4),
        support_p=None,
        refute_p=None,
        refutation=Refutation(
            name="R4",
            literal=f"{len(differing)} outputs differ from the baseline's",
            inferential=inferential.get(verdict, "undecided"),
            p=None,
        ),
        **_counted(p4),
        reason=f"{len(differing)} requests with another output, of at least {fewest} per batch "
        f"size ({margins.requests} needed); at 0 their share is at most {bound:.1%}; baseline "
        f"against itself: {outputs.controls()}",
    )
