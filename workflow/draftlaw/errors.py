"""The one exception a user is meant to see: it names the thing, the value and the remedy."""

from __future__ import annotations


class DraftLawError(Exception):
    """A problem the user can mend; commands print it as one message and exit with status 2.

    Args:
        what: the thing and its offending value, e.g. "prompts arm A: 80 asked, 72 in the source".
        remedy: what to do about it.
    """

    def __init__(self, what: str, remedy: str) -> None:
        end = "" if remedy.endswith("?") else "."
        super().__init__(f"{what}. {remedy}{end}")
