"""Draw the law at assumed parameters, without a measurement."""

from __future__ import annotations

from typing import Annotated

import typer

from draftlaw.figures import style
from draftlaw.figures.analytical import FIGURES
from draftlaw.figures.assumed import Assumed
from draftlaw.files import atomic_directory
from draftlaw.options import Out, parse


def main(
    assumed: Annotated[str, typer.Option(help="Parameters of the law (JSON).")],
    out: Out,
) -> None:
    """Write each figure as PDF and PNG into a folder."""
    parameters = parse(Assumed, assumed, "--assumed")
    with atomic_directory(out) as folder, style.theme():
        for name, draw in FIGURES.items():
            style.save(draw(parameters), folder, name)
