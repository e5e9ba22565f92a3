"""Build the paper from its text and the numbers and figures of its studies."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from draftlaw.errors import DraftLawError
from draftlaw.files import atomic_file
from draftlaw.options import Out
from draftlaw.paper import typed_numbers

LATEXMK = ("latexmk", "-norc", "-pdf", "-interaction=nonstopmode", "-halt-on-error")
REMEDY = "Install the Debian packages of envs/latex.txt, or leave the paper out"
# The same input gives the same bytes: the date of the paper whose law this is, and an unbroken log.
ENVIRONMENT = {
    "SOURCE_DATE_EPOCH": "1790294400",
    "FORCE_SOURCE_DATE": "1",
    "TZ": "UTC",
    "max_print_line": "1000",
}
_ERROR = re.compile(r"^(?:! |\S+\.\w+:\d+: )")


def main(
    paper: Annotated[Path, typer.Option(help="Folder of the text: main.tex and what it needs.")],
    study: Annotated[list[str], typer.Option(help="A study it has a section on; repeatable.")],
    results: Annotated[Path, typer.Option(help="Folder in which the studies' results lie.")],
    out: Out,
) -> None:
    """Write the PDF."""
    typed = typed_numbers((paper / "study.tex").read_text(encoding="utf-8"))
    if typed:
        raise DraftLawError(
            f"{paper}/study.tex:{typed[0][0]} types a number: {typed[0][1]!r}",
            r"Print it with \drawval, so that it is the measured one",
        )
    if shutil.which(LATEXMK[0]) is None:
        raise DraftLawError(f"{LATEXMK[0]} is not installed", REMEDY)
    with TemporaryDirectory() as scratch:
        text = Path(scratch) / "paper"
        shutil.copytree(paper, text, ignore=shutil.ignore_patterns("*.pdf"))
        (text / "results").symlink_to(results.resolve())
        listed = "".join(f"\\includestudy{{{name}}}\n" for name in study)
        (text / "studies.tex").write_text(listed, encoding="utf-8")
        _run_latex(text)
        with atomic_file(out) as temporary:
            shutil.copyfile(text / "main.pdf", temporary)


def _run_latex(folder: Path) -> None:
    done = subprocess.run(
        [*LATEXMK, "-file-line-error", "main.tex"],
        cwd=folder,
        env={**os.environ, **ENVIRONMENT},
        check=False,
    )
    if done.returncode != 0:
        log = folder / "main.log"
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        first = next(filter(_ERROR.match, lines), f"latexmk ended with status {done.returncode}")
        raise DraftLawError(f"LaTeX: {first}", "Correct the text, or make what it asks for")
