"""Two outputs of one request side by side."""

from __future__ import annotations


def first_difference(ours: list[int], theirs: list[int]) -> int | None:
    """The first position in which two outputs differ, None if they are equal."""
    if ours == theirs:
        return None
    shared = min(len(ours), len(theirs))
    return next((i for i in range(shared) if ours[i] != theirs[i]), shared)
