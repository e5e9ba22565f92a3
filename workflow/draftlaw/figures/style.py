"""One style for all figures: sizes, fonts, marks of classes and depths, and how files are saved."""

from __future__ import annotations

import logging
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from numpy.typing import NDArray

COLUMN = 3.4
"""Width of a text column, in."""
TEXT = 7.0
"""Width of the text block, in."""

SMALL = 6.5
"""Size of notes and the corner text, pt."""
_FOOT_LINE = 0.115
_CHARACTERS_PER_INCH = 18

GREY = "0.45"

Look = dict[str, Any]
"""Keywords that say how matplotlib draws something."""

NOT_ESTIMABLE: Look = {
    "s": "not estimable",
    "color": GREY,
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1.5},
}


@dataclass(frozen=True, slots=True)
class Mark:
    """How one series looks; colour, marker and line each tell it from the others."""

    name: str
    color: str
    marker: str
    line: str

    def handle(self, **look: Any) -> Line2D:
        """Its entry in a legend; `look` changes how that looks."""
        marks: Look = {"color": self.color, "marker": self.marker, "linestyle": self.line}
        return Line2D([], [], **(marks | look), label=self.name)

    def point(self, **look: Any) -> Line2D:
        """Its entry in a legend of points without lines."""
        return self.handle(linestyle="", **look)


# Paul Tol's "high contrast": safe for colour-blind readers, and its luminances differ in greyscale
CLASSES = {
    "S": Mark("S schema", "#004488", "s", "-"),
    "R": Mark("R reasoning", "#BB5566", "^", "--"),
    "F": Mark("F prose", "#DDAA33", "o", "-."),
}
FORMS = {
    "mean_field": Mark("law, mean field", "black", "o", "-"),
    "span_resolved": Mark("span-resolved", "#004488", "s", "--"),
    "overhead": Mark("with fixed cost", "#BB5566", "^", "-."),
    "replayed": Mark("replayed", "#DDAA33", "D", ":"),
}
"""Forms of the law's prediction; the colours are those of the classes, which no figure has beside
them."""
TURN = Mark("turn of arm D", "#009988", "d", "-.")


def depth_marks(depths: Sequence[int]) -> dict[int, Mark]:
    """A mark for each depth: the deeper, the darker."""
    colors = sns.color_palette("crest", len(depths))
    looks = zip(depths, colors, _cycle("oDvP", depths), _cycle(_LINES, depths), strict=True)
    return {
        depth: Mark(rf"$\gamma = {depth}$", to_hex(color), marker, line)
        for depth, color, marker, line in looks
    }


_LINES = ("-", "--", "-.", ":")


def _cycle(looks: Sequence[str], depths: Sequence[int]) -> list[str]:
    return [looks[i % len(looks)] for i in range(len(depths))]


def has_latex() -> bool:
    """Whether LaTeX and dvipng, which turns its pages into pixels, are installed."""
    return all(shutil.which(program) for program in ("latex", "dvipng"))


@contextmanager
def theme() -> Iterator[None]:
    """The style's settings; figures are made and saved inside."""
    tex = has_latex()
    settings = {
        **sns.axes_style("ticks"),
        **sns.plotting_context("paper", font_scale=0.85),
        "axes.formatter.use_mathtext": True,
        "axes.grid": False,
        "font.family": "serif",
        "font.serif": ["Computer Modern Roman"] if tex else ["cmr10", "DejaVu Serif"],
        "hatch.linewidth": 0.5,
        "legend.frameon": False,
        "lines.linewidth": 1.2,
        "lines.markersize": 4.5,
        "mathtext.fontset": "cm",
        "pdf.fonttype": 42,
        "savefig.dpi": 200,
        "text.usetex": tex,
    }
    with mpl.rc_context(settings):
        yield


# the text fonts of TeX lack these characters, its math has them
_AS_MATH: dict[str, str | int | None] = {
    "\\": r"$\backslash$",
    "~": r"$\sim$",
    "^": r"$\wedge$",
    **{character: f"${character}$" for character in "<>|"},
    **{character: f"$\\{character}$" for character in "_{}"},
}
_ESCAPED: dict[str, str | int | None] = {character: f"\\{character}" for character in "$%&#"}


def literal(text: str) -> str:
    """Text from outside, shown as it is; LaTeX shows "?" for what is not ASCII."""
    if mpl.rcParams["text.usetex"]:
        text = text.encode("ascii", "replace").decode()
        return text.translate(str.maketrans(_AS_MATH | _ESCAPED))
    return text.translate(str.maketrans(_AS_MATH | {"$": r"\$"}))


def panels(
    rows: int, columns: int, row_height: float, **options: Any
) -> tuple[Figure, NDArray[np.object_]]:
    """A figure of rows x columns axes; as wide as the text, or as a column if there is only one.

    Args:
        rows: of axes.
        columns: of axes.
        row_height: height of a row, in.
        options: of `Figure.subplots`.
    """
    width = TEXT if columns > 1 else COLUMN
    figure = Figure(figsize=(width, rows * row_height + 0.6), layout="constrained")
    axes: NDArray[np.object_] = figure.subplots(rows, columns, squeeze=False, **options)
    for each in axes.flat:
        sns.despine(ax=each)
    return figure, axes


def legend(figure: Figure, handles: Sequence[Artist], columns: int) -> None:
    """A legend above the axes; a figure of column width has room for two columns."""
    figure.legend(
        handles=list(handles),
        loc="outside upper center",
        ncols=columns if figure.get_figwidth() > COLUMN else 2,
        handlelength=2.6,
        columnspacing=1.2,
    )


def foot(figure: Figure, *notes: str) -> None:
    """Small text in the lower left corner, below the axes: evidence, n, assumptions.

    Notes may hold math; text from outside goes through `literal` first.
    """
    width, height = figure.get_size_inches()
    lines = [
        line for note in notes for line in textwrap.wrap(note, int(width * _CHARACTERS_PER_INCH))
    ]
    strip = (len(lines) * _FOOT_LINE + 0.04) / height
    for number, line in enumerate(reversed(lines)):
        bottom = (number * _FOOT_LINE + 0.04) / height
        figure.text(0.04 / width, bottom, line, fontsize=SMALL, color=GREY, va="bottom")
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(rect=(0, strip, 1, 1 - strip))


def not_estimable(axes: Axes) -> None:
    """Say so in the middle of a panel."""
    axes.text(0.5, 0.5, **NOT_ESTIMABLE, ha="center", va="center", transform=axes.transAxes)


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write NAME.pdf and NAME.png; the same figure gives the same bytes."""
    # its note that matplotlib's own font is older than a computer's clock is of no use
    logging.getLogger("fontTools.ttLib.tables._h_e_a_d").setLevel(logging.ERROR)
    figure.savefig(folder / f"{name}.pdf", metadata={"CreationDate": None})
    figure.savefig(folder / f"{name}.png", metadata={"Software": None})
