"""The source files of a stage: its module, and all that it imports inside the package."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import grimp

PACKAGE = "draftlaw"
ROOT = Path(__file__).parent


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(PACKAGE, cache_dir=None)


def source_files(stage: str) -> list[str]:
    """Paths of the files that `python -m draftlaw STAGE` consists of, sorted.

    Imports inside functions count like any other. The command line itself (`__main__`) is left
    out: it only finds the stage.

    Args:
        stage: as on the command line, e.g. "freeze-prompts".
    """
    module = f"{PACKAGE}.stages.{stage.replace('-', '_')}"
    imported = {module, *_graph().find_upstream_modules(module)}
    parents = {name.rpartition(".")[0] for name in imported}
    return sorted(str(_path(name)) for name in imported | parents)


def _path(module: str) -> Path:
    relative = Path(*module.split(".")[1:])
    package = ROOT / relative / "__init__.py"
    path = package if package.exists() else (ROOT / relative).with_suffix(".py")
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path
