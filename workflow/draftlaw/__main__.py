"""`python -m draftlaw STAGE ...`: every step of the workflow as a command that runs by hand."""

from __future__ import annotations

import ast
import importlib
import os
import sys
from pathlib import Path

import typer

from draftlaw.errors import DraftLawError
from draftlaw.progress import terminal

STAGES = Path(__file__).parent / "stages"


def stages() -> dict[str, str]:
    """Names of the stages and the first line of their docstrings, read without importing them."""
    paths = sorted(path for path in STAGES.glob("*.py") if path.stem != "__init__")
    return {path.stem.replace("_", "-"): _summary(path) for path in paths}


def _summary(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").partition("\n")[0]


def usage() -> str:
    """The list of stages, for a person."""
    lines = [f"  {name:<18} {summary}" for name, summary in stages().items()]
    return "\n".join(["usage: python -m draftlaw STAGE --help", "", "stages:", *lines])


def main(arguments: list[str]) -> int:
    """Run one stage; a problem that the user can mend is one message and status 2."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return 0
    stage, *rest = arguments
    if stage not in stages():
        print(f"draftlaw: no stage {stage!r}.\n\n{usage()}", file=sys.stderr)
        return 2
    module = importlib.import_module(f"draftlaw.stages.{stage.replace('-', '_')}")
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(help=module.__doc__)(module.main)
    try:
        app(rest, prog_name=f"python -m draftlaw {stage}", standalone_mode=True)
    except DraftLawError as error:
        for stream in {sys.stderr, terminal()}:
            print(f"draftlaw {stage}: {error}", file=stream)
        return 2
    return 0


def _status(arguments: list[str]) -> int:
    """The exit status of a stage, however it ended."""
    try:
        return main(arguments)
    except SystemExit as end:  # typer's way to end
        return end.code if isinstance(end.code, int) else int(end.code is not None)


if __name__ == "__main__":
    status = _status(sys.argv[1:])
    # All files are written, and taking an engine down object by object would take seconds.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
