"""The paper prints what the tables hold: by tables made by hand, and by a build of the PDF."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.types as kinds
import pytest
import yaml

from conftest import REPO
from draftlaw import verdicts as read
from draftlaw.errors import DraftLawError
from draftlaw.files import write_json
from draftlaw.identity import Outputs
from draftlaw.judgement import Verdicts, judge, primary_cell
from draftlaw.margins import Decisions
from draftlaw.paper import NOT_ESTIMABLE, TABLES, VALUES, tex, typed_numbers
from draftlaw.results import Results
from draftlaw.stages.build_paper import main as build_paper
from draftlaw.stages.write_values import main as write_values
from draftlaw.tables.analysis import (
    ACCEPTED,
    COST_FITS,
    CROSSINGS,
    LAW,
    LAW_ERRORS,
    LAW_FORMS,
    OPERATOR,
    PREDICTORS,
    SAVINGS,
    STEP_COSTS,
    TURNS,
    VERDICTS,
)
from draftlaw.tables.checks import COMPARISONS, DIVERGENCES, IDENTITY
from draftlaw.tables.parquet import Column, Table

EVIDENCE = "measured: rehearsal on a table made by hand"
CLASSES = {"A": "F", "B": "SF", "C": "RF", "D": "SRF"}
HOME = {"F": "A", "S": "B", "R": "C"}
QUANTITIES = {
    "P1": (read.TAU_S_R, read.TAU_R_F, read.TAU_S_F, read.TAU_S_F_AT_ALL),
    "P2": (read.CROSSING_RATIO, read.ONE_SIGN, read.HIGH_SHARE, read.LOW_CROSSING),
    "P3": (read.COMPOSED,),
    "P4": (read.DIFFERING,),
}
DECISIONS = Decisions.model_validate(
    yaml.safe_load((REPO / "config.yaml").read_text(encoding="utf-8"))["analysis"]["decisions"]
)
LEVELS: dict[str, tuple[Any, ...]] = {
    "view": ("engine", "replay"),
    "arm": tuple(CLASSES),
    "batch": (1, 8),
    "depth": (4, 8, 16),
    "position_class": ("S", "R", "F"),
    "variant": ("all", "unforced", "unlooped", "unforced_unlooped"),
    "offset": (1, 2),
    "launch": (0, 1),
    "comparison": COMPARISONS,
    "half": ("fit", "check", "all"),
    "request_id": ("r/0", "r/1"),
    "share": (0.0, 0.5, 1.0),
    "form": LAW_FORMS,
    "predictor": PREDICTORS,
    "prediction": tuple(QUANTITIES),
    "quantity": tuple(itertools.chain(*QUANTITIES.values())),
}


OWN_LEVELS: dict[str, dict[str, tuple[Any, ...]]] = {
    "step_costs": {"depth": (0, 4, 8, 16)},
    "class_times": {"depth": (0, 4, 8, 16)},
    "intervals": {
        "quantity": (
            "tau",
            "kappa_id",
            "predicted_crossing",
            "first_order_crossing",
            "span_crossing",
            "measured_crossing",
        ),
        "position_class": ("S", "R", "F", "none"),
        "depth": (0, 4, 8, 16),
    },
}


def value(column: Column, row: int) -> Any:
    """Something that the column may hold, which differs from row to row."""
    if column.nullable and row % 13 == 12:
        return None
    if column.among:
        return column.among[row % len(column.among)]
    if kinds.is_string(column.dtype):
        return f"{column.name} {row}: w_S >= some 100% & more"
    if kinds.is_boolean(column.dtype):
        return row % 3 == 0
    if kinds.is_integer(column.dtype):
        return 7 * row + 3
    return (row * 37 % 101 + 0.5) / 101


def frame(table: Table) -> pd.DataFrame:
    """A row for every key that a study has, by the table's schema."""
    levels = LEVELS | OWN_LEVELS.get(table.name, {})
    keys = [
        dict(zip(table.key, found, strict=True))
        for found in itertools.product(*(levels[name] for name in table.key))
    ]
    keys = [
        key
        for key in keys
        if key.get("position_class", "F") in (*CLASSES[key.get("arm", "D")], "none")
        and ("prediction" not in key or key["quantity"] in QUANTITIES[key["prediction"]])
    ]
    rows = [
        {column.name: value(column, number) for column in table.columns} | key
        for number, key in enumerate(keys)
    ]
    made = pd.DataFrame(rows)
    if table == LAW:
        made["arm"] = made["position_class"].map(HOME)
    return made


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study's analysis, made by hand."""
    results = Results(tmp_path_factory.mktemp("made"))
    for table in TABLES:
        results.write(table, frame(table), EVIDENCE)
    write_json(results.folder / "verdicts.json", judged(results).model_dump(mode="json"))
    return results.folder


def judged(results: Results) -> Verdicts:
    """Verdicts made of the readings in the study's tables."""
    readings = results.table(VERDICTS)
    primary = primary_cell(readings, DECISIONS)
    outputs = Outputs(frame(IDENTITY), frame(DIVERGENCES)[:0])
    found = judge(readings, outputs, primary, DECISIONS, launches=3)
    return Verdicts(study="embedded", evidence=EVIDENCE, level=0.95, launches=3, judgements=found)


@pytest.fixture
def study(tables: Path, tmp_path: Path) -> Results:
    """A copy of it, which may be changed."""
    return Results(shutil.copytree(tables, tmp_path / "results/embedded"))


def written(results: Results) -> dict[str, str]:
    """The macros of a study, by key."""
    folder = results.folder
    write_values("embedded", "hand-made 100% & more", EVIDENCE, folder, folder / "paper")
    text = (folder / "paper/values.tex").read_text(encoding="utf-8")
    return dict(re.findall(r"\\csname val@embedded@(.*?)\\endcsname\{(.*)\}$", text, re.M))


def quoted() -> set[str]:
    """The keys that the section on a study uses."""
    text = (REPO / "paper/study.tex").read_text(encoding="utf-8")
    return set(re.findall(r"\\val\{(.*?)\}", text))


# --- Values ---------------------------------------------------------------------------------------


def test_accepted_lengths_are_those_of_the_table(study: Results) -> None:
    found = written(study)
    for row in pd.read_parquet(study.path(ACCEPTED)).to_dict("records"):
        key = f"{row['arm']}.{row['position_class']}.g{row['depth']}.b{row['batch']}"
        key += "" if row["view"] == "engine" else f".{row['view']}"
        key += "" if row["variant"] == "all" else f".{row['variant']}"
        printed = NOT_ESTIMABLE if pd.isna(row["tau"]) else f"{row['tau']:.2f}"
        assert found[f"tau.{key}"] == printed
        assert found[f"units.{key}"] == f"{row['clusters']:,}".replace(",", r"\,")


AT = {"batch": 8, "depth": 16}
QUOTED: dict[str, tuple[Table, dict[str, Any], str, str, float]] = {
    "saving.C.g16.b8": (SAVINGS, {"arm": "C", **AT}, "saving", r"{:.1f}\,\%", 100),
    "c_1.D.b8": (COST_FITS, {"arm": "D", "batch": 8}, "c_1", r"{:.2f}\,\text{{ms}}", 1000),
    "step.A.g16.b8": (STEP_COSTS, {"arm": "A", **AT}, "step_seconds", r"{:.2f}\,\text{{ms}}", 1000),
    "eps.R.g16.b8": (LAW, {"position_class": "R", **AT}, "eps", "{:.3f}", 1),
    "share_measured.g16.b8": (CROSSINGS, AT, "share_measured", "{:.3f}", 1),
}


@pytest.mark.parametrize("key", QUOTED)
def test_a_value_is_that_of_the_table_in_its_unit(study: Results, key: str) -> None:
    table, row, column, form, scale = QUOTED[key]
    rows = pd.read_parquet(study.path(table))
    (number,) = rows.loc[(rows[list(row)] == pd.Series(row)).all(axis=1), column]
    assert written(study)[key] == form.format(number * scale)


def test_the_operator_s_table_has_the_best_depth_or_off(study: Results) -> None:
    rule = study.table(OPERATOR).assign(best=False)
    rule["saving"] = rule["depth"] / 100 - rule["share"]
    rule["best"] = (rule["depth"] == 16) & (rule["share"] == 0)
    study.write(OPERATOR, rule, EVIDENCE)
    written(study)
    text = (study.folder / "paper/tables/operator.tex").read_text(encoding="utf-8")
    rows = [line.split(" & ") for line in text.splitlines() if "&" in line]
    assert [row[:3] for row in rows[:3]] == [
        ["1", "0.0", "16"],
        ["1", "0.5", "off"],
        ["1", "1.0", "off"],
    ]
    assert [row[5] for row in rows[:2]] == ["16.0", r"\ensuremath{-}34.0"]
    assert rows[0][4] == f"{1 / 0.84:.2f}"


def test_the_primary_cell_has_a_second_name(study: Results) -> None:
    found = written(study)
    assert (found["primary.depth"], found["primary.batch"]) == ("8", "1")
    for whole in ("tau.B.S.g8.b1", "rate.D.R.g8.b1", "k.A.b1", "turns.g8.b1"):
        assert found[whole] == found[re.sub(r"(g8\.)?b1", "primary", whole)]
    assert (found["depths"], found["batches"]) == ("4, 8 and 16", "1 and 8")


def test_a_study_without_the_registered_depth_quotes_its_deepest(study: Results) -> None:
    for table in TABLES:
        rows = study.table(table)
        if "depth" in table.key:
            study.write(table, rows[rows["depth"] <= 4], EVIDENCE)
    write_json(study.folder / "verdicts.json", judged(study).model_dump(mode="json"))
    found = written(study)
    assert found["primary.depth"] == found["depths"] == "4"
    assert found["tau.B.S.primary"] == found["tau.B.S.g4.b1"]
    assert quoted() <= set(found)


def test_an_edited_table_changes_its_value_and_no_other(study: Results) -> None:
    before = written(study)
    rows = study.table(SAVINGS)
    here = (rows["arm"] == "B") & (rows["depth"] == 4) & (rows["batch"] == 8)
    rows.loc[here, "saving"] = -0.25
    study.write(SAVINGS, rows, EVIDENCE)
    after = written(study)
    changed = {key for key in before if before[key] != after[key]}
    assert changed == {"saving.B.g4.b8", "says.saving.B.g4.b8"}
    assert after["saving.B.g4.b8"] == r"\ensuremath{-}25.0\,\%"
    assert after["says.saving.B.g4.b8"] == r"a loss of 25.0\,\%"


def test_what_is_not_estimable_says_so(study: Results) -> None:
    rows = study.table(LAW)
    rows["tau"] = None
    study.write(LAW, rows.astype({"tau": float}), EVIDENCE)
    found = written(study)
    assert found["law_tau.S.g4.b1"] == found["says.tau.S.g4.b1"] == NOT_ESTIMABLE


def test_outcomes_and_outputs_are_counted(study: Results) -> None:
    found = written(study)
    verdicts = pd.read_parquet(study.path(VERDICTS)).query("prediction == 'P1'")
    assert found["verdicts.P1"] == str(len(verdicts))
    assert found["verdicts.P1.holds"] == str((verdicts["literal"] == "holds").sum())
    turns = pd.read_parquet(study.path(TURNS)).query("arm == 'D' and depth == 8 and batch == 1")
    assert found["same.D.primary"] == str(turns["identical"].sum())
    assert found["output_units.D.primary"] == str(turns["cluster"].nunique())


def test_the_verdicts_are_those_of_the_file(study: Results) -> None:
    found = written(study)
    for judgement in judged(study).judgements:
        key = f"verdict.{judgement.prediction}"
        assert found[key] == judgement.verdict
        assert found[f"{key}.label"] == tex(judgement.label)
    assert found["primary.depth"] == str(DECISIONS.primary.depth)


def test_a_table_prints_each_of_its_rows(study: Results) -> None:
    written(study)
    rows = pd.read_parquet(study.path(ACCEPTED)).query("view == 'engine' and variant == 'all'")
    home = rows["position_class"].map(HOME) == rows["arm"]
    shown = rows[(rows["arm"] == "D") | home]
    text = (study.folder / "paper/tables/acceptance.tex").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(lines) == len(shown)
    one = shown.query("arm == 'B' and depth == 4 and batch == 8").iloc[0]
    (line,) = (line for line in lines if line.startswith("B & S & 8 & 4 &"))
    assert line.split(" & ")[6] == f"{one['tau']:.2f}"


def test_the_table_of_errors_sets_the_forms_of_a_cell_side_by_side(study: Results) -> None:
    written(study)
    text = (study.folder / "paper/tables/law_errors.tex").read_text(encoding="utf-8")
    lines = [line.removesuffix(r" \\") for line in text.splitlines() if "&" in line]
    assert len(lines) == len(CLASSES) * 2 * 3
    (line,) = (line for line in lines if line.startswith("D & 8 & 4 &"))
    rows = study.table(LAW_ERRORS).query("arm == 'D' and batch == 8 and depth == 4")
    errors = rows.set_index("form")

    def signed(form: str, name: str) -> str:
        error = errors.loc[form, f"{name}_error"]
        if pd.isna(error):
            return NOT_ESTIMABLE
        return re.sub(r"([+-])", r"\\ensuremath{\1}", f"{100 * error:+.1f}")

    cells = line.split(" & ")
    without = [form for form in LAW_FORMS if form != "overhead"]
    assert cells[5:8] == [signed(form, "tau") for form in without]
    assert cells[10:] == [signed(form, "cost") for form in LAW_FORMS]


def test_an_error_is_printed_with_its_sign(study: Results) -> None:
    rows = study.table(LAW_ERRORS).assign(tau_error=0.123, cost_error=-0.04)
    study.write(LAW_ERRORS, rows, EVIDENCE)
    found = written(study)
    assert found["tau_error.D.primary.mean_field"] == r"\ensuremath{+}12.3\,\%"
    assert found["cost_error.D.g16.b8.replayed"] == r"\ensuremath{-}4.0\,\%"


@pytest.mark.parametrize(
    ("plain", "printed"),
    [
        ("pays above w_S*", "pays above $w_S^*$"),
        ("tau_S - tau_R", r"$\tau_S$ $-$ $\tau_R$"),
        ("100% of w_S >= 1 & a_b", r"100\% of $w_S$ $\geq$ 1 \& a\_b"),
    ],
)
def test_texts_are_escaped(plain: str, printed: str) -> None:
    assert tex(plain) == printed


# --- The text -------------------------------------------------------------------------------------


def paper_with(folder: Path, line: str) -> Path:
    """A copy of the paper with one line more in the section on a study."""
    paper = folder / "paper"
    shutil.copytree(REPO / "paper", paper)
    with (paper / "study.tex").open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    return paper


def test_no_two_columns_share_a_name() -> None:
    assert len({value.name for value in VALUES}) == len(VALUES)


def test_every_number_and_table_of_the_text_is_made(study: Results) -> None:
    found = written(study)
    text = (REPO / "paper/study.tex").read_text(encoding="utf-8")
    assert quoted() <= set(found)
    made = {path.stem for path in (study.folder / "paper/tables").iterdir()}
    assert set(re.findall(r"\\rows\{(.*?)\}", text)) == made


def test_a_typed_number_is_refused(tmp_path: Path) -> None:
    assert typed_numbers((REPO / "paper/study.tex").read_text(encoding="utf-8")) == []
    paper = paper_with(tmp_path, "It saves 12.5\\,\\% of the time.  % not 3.1")
    with pytest.raises(DraftLawError, match=r"study\.tex:\d+ types a number: 'It saves 12\.5"):
        build_paper(paper, ["embedded"], tmp_path, tmp_path / "paper.pdf")


def test_a_missing_latex_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DraftLawError, match=r"latexmk is not installed\..*envs/latex\.txt"):
        build_paper(REPO / "paper", ["embedded"], tmp_path, tmp_path / "paper.pdf")


# --- The PDF --------------------------------------------------------------------------------------

needs_latex = pytest.mark.skipif(
    shutil.which("latexmk") is None, reason="latexmk is not installed: no PDF is built"
)


def blank_pdf() -> bytes:
    """One empty page of a figure's size."""
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 504 200]>>",
    )
    text, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(text))
        text += b"%d 0 obj%sendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 4\n0000000000 65535 f \n"
    end = b"trailer<</Size 4/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(text)
    return text + head + table + end


@pytest.fixture
def drawn(study: Results) -> Results:
    """The same study with values, and an empty page for every figure that the text asks for."""
    written(study)
    for text, folder in (("study", study.folder), ("main", study.folder.parent / "analytical")):
        (folder / "figures").mkdir(parents=True)
        source = (REPO / f"paper/{text}.tex").read_text(encoding="utf-8")
        for name in re.findall(r"\\drawn\{.*?(\w+\.pdf)\}", source):
            (folder / "figures" / name).write_bytes(blank_pdf())
    return study


@needs_latex
def test_a_paper_is_built_from_what_has_run(
    drawn: Results, capfd: pytest.CaptureFixture[str]
) -> None:
    out = drawn.folder / "paper.pdf"
    build_paper(REPO / "paper", ["embedded", "h200"], drawn.folder.parent, out)
    said = capfd.readouterr().out
    assert "Overfull" not in said
    assert not re.search("undefined|multiply defined", said.rpartition("Run number")[2])
    assert out.read_bytes().startswith(b"%PDF")
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed: the PDF's words are not read")
    words = subprocess.run(["pdftotext", out, "-"], capture_output=True, text=True, check=True)
    page = " ".join(words.stdout.split())
    assert "Study h200 This study has not run" in page
    assert "Study embedded This study has not run" not in page
    assert EVIDENCE in page


@needs_latex
def test_a_number_that_nobody_makes_stops_the_build(drawn: Results, tmp_path: Path) -> None:
    paper = paper_with(tmp_path, r"It is \val{tau.Z.S.primary}.")
    out = drawn.folder / "paper.pdf"
    with pytest.raises(DraftLawError, match=r"study\.tex:\d+: .*embedded has no value tau\.Z\.S"):
        build_paper(paper, ["embedded"], drawn.folder.parent, out)
    assert not out.exists()
