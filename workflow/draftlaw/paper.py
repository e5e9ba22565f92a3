r"""The numbers of a study as LaTeX: a macro for each, and the rows of its tables.

`\drawval{STUDY}{KEY}` prints a number. A key is made from the row that the number stands in:

    NAME.ARM.CLASS.gDEPTH.bBATCH.oOFFSET.PREDICTION.QUANTITY.HALF.FORM.PREDICTOR.VIEW.VARIANT

NAME is that of `VALUES`; of the other parts, those that the table has. The view `engine` and the
variant `all` are left out: `tau.B.S.g4.b1`, `tau.B.S.g4.b1.replay`, `k.A.b1`, `kappa_id.b1.fit`.
In the study's primary cell `gDEPTH.bBATCH` may be written `primary` (`tau.B.S.primary`), so that a
text holds for studies with other depths and batch sizes. Besides:

    study, title, evidence                      what the study is, and its evidence grade
    depths, batches                             what was measured
    outputs.ARM.gDEPTH.bBATCH                   outputs; likewise output_units (sampling units) and
                                                same (outputs equal to the baseline's)
    primary.depth, primary.batch                the primary cell
    interval.tau.S.gDEPTH.bBATCH                "... to ..."; likewise interval.k.bBATCH, .kappa_id,
                                                .predicted_crossing, .first_order_crossing,
                                                .span_crossing and .measured_crossing
    launches, level                             of the timed cells; of the decisions, in %
    verdict.P1                                  its verdict; likewise verdict.P1.label, .literal,
                                                .support_p, .refute_p, .reason, and of the paper's
                                                own refutation .refutation, .refutation.literal
    verdicts.P1, verdicts.P1.holds              readings of a prediction, and those of one outcome
                                                (holds, fails, not estimable, not measured)
    says.saving.ARM.gDEPTH.bBATCH               "a saving of ..." or "a loss of ..."
    says.tau.CLASS.gDEPTH.bBATCH                where the measured tau lies beside the law's:
                                                "above", "below" or "equal to"
    says.law_saving.CLASS.gDEPTH.bBATCH         the same of the saving

A number that could not be estimated prints as n/e.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from draftlaw.arms import CONTROL
from draftlaw.judgement import Verdicts
from draftlaw.tables.analysis import (
    ACCEPTED,
    CLASS_TIMES,
    COST_FITS,
    CROSSINGS,
    HAZARDS,
    INTERVALS,
    KAPPAS,
    LAW,
    LAW_ERRORS,
    LAW_FORMS,
    MISMATCH_PREDICTORS,
    OPERATOR,
    SAVINGS,
    STEP_COSTS,
    TURNS,
    VERDICTS,
)
from draftlaw.tables.checks import IDENTITY
from draftlaw.tables.parquet import Table
from draftlaw.tables.replay import ENTROPY

Frames = Mapping[Table, pd.DataFrame]
Row = Mapping[Any, Any]

NOT_ESTIMABLE = r"\text{n/e}"


# --- How a number is printed ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Form:
    """How a column's values are printed.

    Attributes:
        digits: after the decimal point.
        scale: factor from the table's unit to the printed one.
        unit: printed one, as LaTeX for text and math alike; tables have it in their head.
        trim: leave trailing zeros out, for a column whose rows are of different kinds.
        signed: print a plus, too.
    """

    digits: int = 0
    scale: float = 1.0
    unit: str = ""
    trim: bool = False
    signed: bool = False

    def cell(self, value: Any) -> str:
        """The value without its unit; a text as it is."""
        if pd.isna(value):
            return NOT_ESTIMABLE
        if value in (math.inf, -math.inf):
            return r"\ensuremath{\infty}" if value > 0 else r"\ensuremath{-\infty}"
        if isinstance(value, str):
            return tex(value)
        number = f"{value * self.scale:{'+' * self.signed}z,.{self.digits}f}"
        if not number.strip("+0."):
            number = number.lstrip("+")
        if self.trim and "." in number:
            number = number.rstrip("0").rstrip(".")
        for sign in "+-":
            number = number.replace(sign, rf"\ensuremath{{{sign}}}")
        return number.replace(",", r"\,")

    def text(self, value: Any) -> str:
        """The value with its unit."""
        cell = self.cell(value)
        return cell if cell == NOT_ESTIMABLE or not self.unit else rf"{cell}\,{self.unit}"


_COUNT = Form()
_WORDS = Form()
_TOKENS = Form(2)
_NATS = Form(3, unit=r"\text{nat}")
_SHARE = Form(3)
_PERCENT = Form(1, scale=100, unit=r"\%")
_SIGNED = Form(1, scale=100, unit=r"\%", signed=True)
_MS = Form(2, scale=1000, unit=r"\text{ms}")
_ANY = Form(3, trim=True)
_P = Form(4)
_PERCENT_WHOLE = Form(scale=100, unit=r"\%")


class Value(NamedTuple):
    """A column whose values the text may quote: the first part of their keys, and their form."""

    table: Table
    column: str
    name: str
    form: Form


VALUES = (
    Value(ACCEPTED, "clusters", "units", _COUNT),
    Value(ACCEPTED, "examined", "examined", _COUNT),
    Value(ACCEPTED, "tau", "tau", _TOKENS),
    Value(ACCEPTED, "rate", "rate", _PERCENT),
    Value(HAZARDS, "at_risk", "at_risk", _COUNT),
    Value(HAZARDS, "hazard", "hazard", _SHARE),
    Value(ENTROPY, "requests", "entropy_requests", _COUNT),
    Value(ENTROPY, "positions", "positions", _COUNT),
    Value(ENTROPY, "straddlers", "straddlers", _COUNT),
    Value(ENTROPY, "mean_entropy", "entropy", _NATS),
    Value(ENTROPY, "mean_entropy_raw", "entropy_raw", _NATS),
    Value(ENTROPY, "predictability_of_mean", "rho_of_mean", _SHARE),
    Value(ENTROPY, "mean_predictability", "mean_rho", _SHARE),
    Value(STEP_COSTS, "steps", "steps", _COUNT),
    Value(STEP_COSTS, "step_seconds", "step", _MS),
    Value(STEP_COSTS, "draft_seconds", "draft_step", _MS),
    Value(STEP_COSTS, "relative", "step_relative", _TOKENS),
    Value(STEP_COSTS, "k_gamma", "k_gamma", _SHARE),
    Value(COST_FITS, "c_1", "c_1", _MS),
    Value(COST_FITS, "k", "k", _SHARE),
    Value(COST_FITS, "overhead", "overhead", _SHARE),
    Value(COST_FITS, "k_free", "k_free", _SHARE),
    Value(COST_FITS, "d", "d", _SHARE),
    Value(COST_FITS, "delta", "delta", _SHARE),
    Value(CLASS_TIMES, "rounds", "class_rounds", _COUNT),
    Value(CLASS_TIMES, "step_seconds", "class_step", _MS),
    Value(CLASS_TIMES, "relative", "class_relative", _TOKENS),
    Value(KAPPAS, "clusters", "kappa_requests", _COUNT),
    Value(KAPPAS, "positions", "kappa_positions", _COUNT),
    Value(KAPPAS, "mismatch", "mismatch", _SHARE),
    Value(KAPPAS, "mean_entropy", "kappa_entropy", _NATS),
    Value(KAPPAS, "predictability_of_mean", "kappa_rho_of_mean", _SHARE),
    Value(KAPPAS, "mean_predictability", "kappa_mean_rho", _SHARE),
    Value(KAPPAS, "kappa_id", "kappa_id", _SHARE),
    Value(KAPPAS, "kappa_pos", "kappa_pos", _SHARE),
    Value(KAPPAS, "kappa_one_hot", "kappa_one_hot", _SHARE),
    Value(KAPPAS, "kappa_sampled", "kappa_sampled", _SHARE),
    Value(KAPPAS, "kappa_ls", "kappa_ls", _SHARE),
    Value(KAPPAS, "kappa_ls_se", "kappa_ls_se", _SHARE),
    Value(KAPPAS, "intercept", "intercept", _SHARE),
    Value(KAPPAS, "intercept_se", "intercept_se", _SHARE),
    Value(KAPPAS, "slope", "slope", _SHARE),
    Value(KAPPAS, "predicted", "mismatch_predicted", _SHARE),
    Value(KAPPAS, "clipped", "kappa_clipped", _PERCENT),
    Value(LAW, "rho", "rho", _SHARE),
    Value(LAW, "kappa", "law_kappa", _SHARE),
    Value(LAW, "eps", "eps", _SHARE),
    Value(LAW, "tau_law", "tau_law", _TOKENS),
    Value(LAW, "tau", "law_tau", _TOKENS),
    Value(LAW, "saving_law", "saving_law", _PERCENT),
    Value(LAW, "saving", "law_saving", _PERCENT),
    Value(LAW_ERRORS, "rounds", "cell_rounds", _COUNT),
    Value(LAW_ERRORS, "tau", "cell_tau", _TOKENS),
    Value(LAW_ERRORS, "tau_predicted", "cell_tau_predicted", _TOKENS),
    Value(LAW_ERRORS, "tau_error", "tau_error", _SIGNED),
    Value(LAW_ERRORS, "cost", "cost", _TOKENS),
    Value(LAW_ERRORS, "cost_predicted", "cost_predicted", _TOKENS),
    Value(LAW_ERRORS, "cost_error", "cost_error", _SIGNED),
    Value(LAW_ERRORS, "cost_paid", "cost_paid", _TOKENS),
    Value(MISMATCH_PREDICTORS, "positions", "predictor_positions", _COUNT),
    Value(MISMATCH_PREDICTORS, "mismatches", "predictor_mismatches", _COUNT),
    Value(MISMATCH_PREDICTORS, "auc", "auc", _SHARE),
    Value(MISMATCH_PREDICTORS, "auc_se", "auc_se", _SHARE),
    Value(MISMATCH_PREDICTORS, "advantage", "advantage", _SHARE),
    Value(MISMATCH_PREDICTORS, "advantage_se", "advantage_se", _SHARE),
    Value(MISMATCH_PREDICTORS, "spearman", "spearman", _SHARE),
    Value(MISMATCH_PREDICTORS, "calibration_error", "calibration_error", _SHARE),
    Value(CROSSINGS, "k", "crossing_k", _SHARE),
    Value(CROSSINGS, "r", "r", _SHARE),
    Value(CROSSINGS, "eps_exact", "eps_exact", _SHARE),
    Value(CROSSINGS, "eps_first_order", "eps_first_order", _SHARE),
    Value(CROSSINGS, "first_order_error", "first_order_error", _PERCENT),
    Value(CROSSINGS, "share_exact", "share_exact", _SHARE),
    Value(CROSSINGS, "reading_exact", "reading_exact", _WORDS),
    Value(CROSSINGS, "share_first_order", "share_first_order", _SHARE),
    Value(CROSSINGS, "reading_first_order", "reading_first_order", _WORDS),
    Value(CROSSINGS, "share_span_resolved", "share_span_resolved", _SHARE),
    Value(CROSSINGS, "share_measured", "share_measured", _SHARE),
    Value(CROSSINGS, "slope_measured", "slope_measured", _PERCENT),
    Value(CROSSINGS, "saving_at_0", "saving_at_0", _PERCENT),
    Value(CROSSINGS, "saving_at_1", "saving_at_1", _PERCENT),
    Value(CROSSINGS, "turns", "turns", _COUNT),
    Value(SAVINGS, "requests", "requests", _COUNT),
    Value(SAVINGS, "tokens", "tokens", _COUNT),
    Value(SAVINGS, "baseline_seconds", "baseline", _MS),
    Value(SAVINGS, "seconds", "seconds", _MS),
    Value(SAVINGS, "saving", "saving", _PERCENT),
    Value(SAVINGS, "length", "length", _TOKENS),
    Value(VERDICTS, "estimate", "estimate", _ANY),
    Value(VERDICTS, "low", "low", _ANY),
    Value(VERDICTS, "high", "high", _ANY),
    Value(VERDICTS, "threshold", "threshold", _ANY),
    Value(VERDICTS, "support_p", "support_p", _P),
    Value(VERDICTS, "refute_p", "refute_p", _P),
    Value(VERDICTS, "literal", "literal", _WORDS),
    Value(VERDICTS, "requests", "verdict_requests", _COUNT),
    Value(VERDICTS, "positions", "verdict_positions", _COUNT),
    Value(VERDICTS, "reason", "reason", _WORDS),
)
"""Every number that the text can quote, and how it is printed there and in the tables."""

FORMS = {(value.table, value.column): value.form for value in VALUES} | {
    (OPERATOR, "share"): Form(1),
    (OPERATOR, "length"): _TOKENS,
    (OPERATOR, "net"): _TOKENS,
    **dict.fromkeys(((OPERATOR, name) for name in ("saving", "low", "high", "spans")), _PERCENT),
}

TABLES = (*dict.fromkeys(value.table for value in VALUES), TURNS, INTERVALS, OPERATOR, IDENTITY)
"""The tables that the paper is made from."""


# --- Texts from the tables ------------------------------------------------------------------------

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)
_SYMBOLS = {"tau": r"\tau", "rho": r"\rho", "kappa": r"\kappa", "eps": r"\varepsilon", "w": "w"}
_SYMBOL = re.compile(rf"\b({'|'.join(_SYMBOLS)})\\_(\w)(\*?)")


def tex(text: str) -> str:
    r"""A text as LaTeX: special characters escaped, a symbol such as `w_S*` set as math."""
    escaped = text.translate(_SPECIAL)
    math = _SYMBOL.sub(lambda m: f"${_SYMBOLS[m[1]]}_{m[2]}{'^*' if m[3] else ''}$", escaped)
    return math.replace(" >= ", r" $\geq$ ").replace(" - ", " $-$ ")


# --- Macros ---------------------------------------------------------------------------------------

_PARTS = {
    "arm": "{}",
    "position_class": "{}",
    "depth": "g{}",
    "batch": "b{}",
    "offset": "o{}",
    "prediction": "{}",
    "quantity": "{}",
    "half": "{}",
    "form": "{}",
    "predictor": "{}",
    "view": "{}",
    "variant": "{}",
}
_SILENT = {"view": "engine", "variant": "all"}
_OUTCOMES = ("holds", "fails", "not estimable", "not measured")


def primary_cell(verdicts: Verdicts) -> dict[str, int]:
    """Depth and batch size of the cell in which P2 is judged."""
    cell = next(j.cells[0] for j in verdicts.judgements if j.prediction == "P2")
    return {"depth": cell.depth, "batch": cell.batch}


def keys(name: str, key: Sequence[str], row: Row, primary: Mapping[str, int]) -> list[str]:
    """The keys of a number: one, and a second if its row lies in the primary cell.

    Args:
        name: first part.
        key: columns that identify the row.
        row: its values.
        primary: from `primary_cell`.
    """
    parts = [
        form.format(row[part])
        for part, form in _PARTS.items()
        if part in key and row[part] != _SILENT.get(part)
    ]
    whole = ".".join([name, *parts])
    cell = [part for part in primary if part in key]
    if not cell or any(row[part] != primary[part] for part in cell):
        return [whole]
    written = ".".join(_PARTS[part].format(row[part]) for part in cell)
    return [whole, whole.replace(f".{written}", ".primary", 1)]


def values(frames: Frames, verdicts: Verdicts) -> dict[str, str]:
    """Every number of a study as LaTeX, by key.

    Args:
        frames: the study's tables, `TABLES`.
        verdicts: its verdicts.
    """
    primary = primary_cell(verdicts)
    found = {f"primary.{part}": str(number) for part, number in primary.items()}
    found["depths"] = _listed(frames[ACCEPTED]["depth"])
    found["batches"] = _listed(frames[ACCEPTED]["batch"])
    for value in VALUES:
        for row in frames[value.table].to_dict("records"):
            text = value.form.text(row[value.column])
            found |= dict.fromkeys(keys(value.name, value.table.key, row, primary), text)
    return (
        found
        | _counts(frames[TURNS], primary)
        | _says(frames, primary)
        | _outcomes(frames[VERDICTS])
        | _judged(verdicts)
        | _intervals(frames[INTERVALS], primary)
    )


def _listed(numbers: Iterable[int]) -> str:
    """Numbers in ascending order: "4, 8 and 16"."""
    *most, last = (str(number) for number in sorted(set(numbers)))
    return f"{', '.join(most)} and {last}" if most else last


def _counts(turns: pd.DataFrame, primary: Mapping[str, int]) -> dict[str, str]:
    """Outputs, their sampling units, and those equal to the baseline's, in every cell."""
    key = ["arm", "batch", "depth"]
    counted = turns.groupby(key).agg(
        outputs=("request_id", "size"),
        output_units=("cluster", "nunique"),
        same=("identical", "sum"),
    )
    found: dict[str, str] = {}
    for row in counted.reset_index().to_dict("records"):
        for name in counted.columns:
            text = _COUNT.text(row[name])
            found |= dict.fromkeys(keys(name, key, row, primary), text)
    return found


def _says(frames: Frames, primary: Mapping[str, int]) -> dict[str, str]:
    """Half-sentences that depend on a sign."""
    found: dict[str, str] = {}
    for row in frames[SAVINGS].to_dict("records"):
        text = _gain(row["saving"])
        found |= dict.fromkeys(keys("says.saving", SAVINGS.key, row, primary), text)
    for row in frames[LAW].to_dict("records"):
        tau, saving = (_side(row[name], row[f"{name}_law"]) for name in ("tau", "saving"))
        found |= dict.fromkeys(keys("says.tau", LAW.key, row, primary), tau)
        found |= dict.fromkeys(keys("says.law_saving", LAW.key, row, primary), saving)
    return found


def _gain(saving: float) -> str:
    if pd.isna(saving):
        return "no estimable saving"
    return f"a {'loss' if saving < 0 else 'saving'} of {_PERCENT.text(abs(saving))}"


def _side(measured: float, law: float) -> str:
    if pd.isna(measured) or pd.isna(law):
        return NOT_ESTIMABLE
    if measured == law:
        return "equal to"
    return "above" if measured > law else "below"


def _outcomes(verdicts: pd.DataFrame) -> dict[str, str]:
    """How often each prediction was read, and with which outcome."""
    found = {}
    for prediction in ("P1", "P2", "P3", "P4"):
        literal = verdicts.loc[verdicts["prediction"] == prediction, "literal"]
        found[f"verdicts.{prediction}"] = _COUNT.text(len(literal))
        for outcome in _OUTCOMES:
            found[f"verdicts.{prediction}.{outcome}"] = _COUNT.text(int((literal == outcome).sum()))
    return found


def _intervals(intervals: pd.DataFrame, primary: Mapping[str, int]) -> dict[str, str]:
    """The ends of every interval, in words."""
    found: dict[str, str] = {}
    for row in intervals.to_dict("records"):
        absent = {"position_class": "none", "depth": 0}
        key = [name for name in INTERVALS.key[1:] if row[name] != absent.get(name)]
        text = f"{_SHARE.cell(row['low'])} to {_SHARE.cell(row['high'])}"
        found |= dict.fromkeys(keys(f"interval.{row['quantity']}", key, row, primary), text)
    return found


def _judged(verdicts: Verdicts) -> dict[str, str]:
    """The verdicts of the registered inference."""
    found = {"launches": str(verdicts.launches), "level": _PERCENT_WHOLE.text(verdicts.level)}
    for judged in verdicts.judgements:
        name = f"verdict.{judged.prediction}"
        found |= {
            name: judged.verdict,
            f"{name}.label": tex(judged.label),
            f"{name}.literal": tex(judged.literal),
            f"{name}.reason": tex(judged.reason),
            f"{name}.support_p": _P.text(judged.support_p),
            f"{name}.refute_p": _P.text(judged.refute_p),
            f"{name}.refutation": tex(judged.refutation.inferential),
            f"{name}.refutation.literal": tex(judged.refutation.literal),
        }
    return found


def values_tex(study: str, found: Mapping[str, str]) -> str:
    r"""The macros that `\drawval` looks up."""
    lines = [
        rf"\expandafter\def\csname val@{study}@{key}\endcsname{{{text}}}"
        for key, text in sorted(found.items())
    ]
    return "\n".join(["% Made by write-values: do not edit.", *lines, ""])


# --- Tables ---------------------------------------------------------------------------------------

_UNLOOPED = "_unlooped"
_CELL = ["batch", "depth"]


def bodies(frames: Frames, verdicts: Verdicts) -> dict[str, str]:
    """The rows of each table of the paper, by file name without suffix.

    Args:
        frames: the study's tables, `TABLES`.
        verdicts: its verdicts.
    """
    return {
        "acceptance": _acceptance(frames[ACCEPTED], frames[LAW]),
        "entropy": _entropy(frames[ENTROPY]),
        "calibration": _rows(
            KAPPAS,
            frames[KAPPAS].sort_values("batch", kind="stable"),
            "batch half clusters positions mismatch predicted kappa_id kappa_pos kappa_ls"
            " kappa_ls_se intercept intercept_se clipped",
            "batch",
        ),
        "costs": _rows(
            COST_FITS,
            frames[COST_FITS].sort_values(["batch", "arm"]),
            "batch arm c_1 k overhead k_free d delta",
            "batch",
        ),
        "step_costs": _rows(
            STEP_COSTS,
            frames[STEP_COSTS][frames[STEP_COSTS]["arm"] == CONTROL].sort_values(_CELL),
            "batch depth steps step_seconds draft_seconds relative k_gamma",
            "batch",
        ),
        "law": _rows(
            LAW,
            frames[LAW].sort_values([*_CELL, "position_class"], ascending=[True, True, False]),
            "batch depth position_class rho kappa eps tau_law tau saving_law saving",
            "depth",
        ),
        "law_errors": _law_errors(frames[LAW_ERRORS]),
        "predictors": _rows(
            MISMATCH_PREDICTORS,
            frames[MISMATCH_PREDICTORS].sort_values(list(MISMATCH_PREDICTORS.key)),
            "arm position_class batch predictor positions mismatches auc auc_se advantage"
            " advantage_se spearman calibration_error",
            "arm",
        ),
        "savings": _rows(
            SAVINGS,
            frames[SAVINGS].sort_values(["arm", *_CELL]),
            "arm batch depth requests tokens baseline_seconds seconds length saving",
            "arm",
        ),
        "crossings": _rows(
            CROSSINGS,
            frames[CROSSINGS].sort_values(_CELL),
            "batch depth k r eps_exact eps_first_order first_order_error share_exact"
            " share_first_order share_span_resolved share_measured turns",
            "batch",
        ),
        "readings": _rows(
            CROSSINGS,
            frames[CROSSINGS].sort_values(_CELL),
            "batch depth reading_exact reading_first_order",
            "batch",
        ),
        "operator": _operator(frames[OPERATOR]),
        "judgements": _judgements(verdicts),
        "identity": _identity(frames[IDENTITY]),
        "verdicts": _verdicts(frames[VERDICTS]),
    }


def _acceptance(accepted: pd.DataFrame, law: pd.DataFrame) -> str:
    """Accepted length with and without repeats: each class in its own arm, all of a mixed arm."""
    home = (accepted["arm"] + accepted["position_class"]).isin(law["arm"] + law["position_class"])
    mixed = ~accepted["arm"].isin(law["arm"])
    engine = accepted[(accepted["view"] == "engine") & (home | mixed)]
    key = ["arm", "position_class", *_CELL]
    unlooped = engine.loc[engine["variant"] == "unlooped", [*key, "examined", "tau"]]
    both = engine[engine["variant"] == "all"].merge(
        unlooped, on=key, how="left", suffixes=("", _UNLOOPED)
    )
    columns = f"{' '.join(key)} clusters examined tau examined{_UNLOOPED} tau{_UNLOOPED}"
    return _rows(ACCEPTED, both.sort_values(key), columns, "position_class")


def _entropy(entropy: pd.DataFrame) -> str:
    frame = entropy[entropy["variant"] == "all"].sort_values(["arm", "position_class", "batch"])
    columns = (
        "arm position_class batch requests positions straddlers mean_entropy mean_entropy_raw"
        " predictability_of_mean mean_predictability"
    )
    return _rows(ENTROPY, frame, columns, "arm")


def _law_errors(errors: pd.DataFrame) -> str:
    """A row for each cell: what was measured, and the error of every form that differs in it."""
    key = ["arm", *_CELL]
    forms = errors.pivot(index=key, columns="form", values=["tau_error", "cost_error"])
    forms.columns = forms.columns.map(".".join)
    rows = errors.drop_duplicates(key).merge(forms.reset_index(), on=key).sort_values(key)
    of_tau = (f"tau_error.{form}" for form in LAW_FORMS if form != "overhead")
    of_cost = (f"cost_error.{form}" for form in LAW_FORMS)
    columns = (*key, "rounds", "tau", *of_tau, "cost_paid", "cost", *of_cost)
    return _rows(LAW_ERRORS, rows, " ".join(columns), "arm")


def _operator(operator: pd.DataFrame) -> str:
    """At every batch size and schema share, the depth that saves most or loses least."""
    ordered = operator.sort_values(["batch", "share", "saving"], ascending=[True, True, False])
    most = ordered.drop_duplicates(["batch", "share"])
    most = most.assign(
        depth=most["depth"].astype(str).where(most["best"], "off"), net=1 / (1 - most["saving"])
    )
    return _rows(OPERATOR, most, "batch share depth length net saving low high spans", "batch")


def _judgements(verdicts: Verdicts) -> str:
    """A row for each prediction: verdict, literal reading, p-values after Holm, refutation."""
    lines = []
    for judged in verdicts.judgements:
        label = f" ({tex(judged.label)})" if judged.label else ""
        refutation = f"{judged.refutation.name}: {tex(judged.refutation.inferential)}"
        cells = [
            judged.prediction,
            judged.verdict + label,
            tex(judged.literal),
            _P.cell(judged.support_p),
            _P.cell(judged.refute_p),
            refutation,
        ]
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, ""])


def _verdicts(verdicts: pd.DataFrame) -> str:
    """Every reading, under a line that says of what; equal reasons are said once."""
    order = pd.Categorical(verdicts["quantity"], verdicts["quantity"].unique())
    ordered = verdicts.assign(order=order).sort_values(["prediction", "order", *_CELL])
    blocks = []
    for key, rows in ordered.groupby(["prediction", "quantity", "reason"], sort=False):
        prediction, quantity, reason = (tex(str(part)) for part in key)
        readings = "batch depth estimate low high threshold literal support_p refute_p requests"
        head = f"\\judged{{{prediction}, {quantity}: {reason}}}\n"
        blocks.append(head + _rows(VERDICTS, rows, readings))
    return "\\addlinespace\n".join(blocks)


_COMPARED = {
    "repeat": "the baseline, twice in one process",
    "relaunch": "the baseline, after a relaunch",
    "shape": "the baseline, at its smallest batch size",
    "speculation": "with speculation, at every depth",
}


def _identity(identity: pd.DataFrame) -> str:
    """Outputs compared with the baseline's at a batch size, over arms, depths and launches."""
    sums = identity.groupby(["comparison", "batch"])[["requests", "differing"]].sum().reset_index()
    sums["order"] = sums["comparison"].map(list(_COMPARED).index)
    sums["comparison"] = sums["comparison"].map(_COMPARED)
    frame = sums.sort_values(["order", "batch"])
    return _rows(IDENTITY, frame, "comparison batch requests differing", "comparison")


def _rows(table: Table, frame: pd.DataFrame, columns: str, group: str | None = None) -> str:
    r"""Rows of a booktabs table, with a small gap before each new value of `group`."""
    lines: list[str] = []
    before = None
    for row in frame.to_dict("records"):
        if group is not None and before not in (None, row[group]):
            lines.append(r"\addlinespace")
        before = row.get(group)
        cells = [_cell(table, column, row[column]) for column in columns.split()]
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, ""])


def _cell(table: Table, column: str, value: Any) -> str:
    name = column.removesuffix(_UNLOOPED).partition(".")[0]
    form = FORMS.get((table, name), _COUNT)  # a key column is plain
    return form.cell(value)


# --- Typed numbers --------------------------------------------------------------------------------

_TYPED = re.compile(r"\d\.\d")


def typed_numbers(text: str) -> list[tuple[int, str]]:
    """Lines of a text, from 1, in which a number with a decimal point is typed; comments may."""
    lines = enumerate(text.splitlines(), 1)
    code = ((number, re.split(r"(?<!\\)%", line)[0]) for number, line in lines)
    return [(number, line.strip()) for number, line in code if _TYPED.search(line)]
