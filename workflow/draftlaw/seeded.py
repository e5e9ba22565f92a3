"""An order by chance that a seed fixes: asking for more adds members and moves none."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def seeded_order(names: Iterable[str], seed: int) -> list[str]:
    """`names` in the order of a seeded hash of each; it depends on no other name."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).hexdigest())
