"""Download a package's wheel from the package index and check its bytes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from draftlaw.errors import DraftLawError
from draftlaw.files import atomic_file, sha256
from draftlaw.options import Out


def main(
    package: Annotated[str, typer.Option(help="Name on the package index.")],
    version: Annotated[str, typer.Option(help="Release.")],
    sha256_: Annotated[str, typer.Option("--sha256", help="SHA-256 that the wheel must have.")],
    out: Out,
) -> None:
    """Write the wheel, or refuse it."""
    wanted = f"{package}=={version}"
    with TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "-d", scratch, wanted]
        if subprocess.run(command, check=False).returncode != 0:
            raise DraftLawError(
                f"wheel {wanted} could not be downloaded",
                f"Check the network, or put the wheel at {out}",
            )
        (wheel,) = Path(scratch).iterdir()
        found = sha256(wheel)
        if found != sha256_:
            raise DraftLawError(
                f"wheel {wanted} has SHA-256 {found}, not {sha256_}",
                "Do not use it; if the release was meant to change, correct downloads: in config",
            )
        with atomic_file(out) as temporary:
            shutil.copyfile(wheel, temporary)
