"""Classes of output tokens by the tags of the chat format, and repeats (protocol, 2 and 4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from draftlaw.chat import ChatFormat, PositionClass


@dataclass(frozen=True, slots=True)
class Labels:
    """What each token of an output is part of.

    Attributes:
        classes: "S", "R" or "F", shape [tokens].
        spans: number of the maximal run of tokens of equal class, from 0, shape [tokens].
        straddlers: whether the token's bytes cover more than one class, shape [tokens].
    """

    classes: npt.NDArray[np.str_]
    spans: npt.NDArray[np.int32]
    straddlers: npt.NDArray[np.bool_]


def label(pieces: Sequence[bytes], chat: ChatFormat, opened: PositionClass | None) -> Labels:
    """Label the tokens of one output.

    Args:
        pieces: the bytes of each token; b"" for special tokens.
        chat: the format, whose tags delimit the blocks.
        opened: class of a block that the prompt left open.

    A token has the class of its first byte, an empty one the class in force at its place. The
    bytes are labelled first, since a token may hold part of a tag or of a character.
    """
    in_force = _byte_classes(b"".join(pieces), chat, opened)
    lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
    ends = np.cumsum(lengths)
    starts = ends - lengths
    classes = in_force[starts]
    changes = _run_numbers(in_force)
    last = np.maximum(ends - 1, starts)
    return Labels(classes, _run_numbers(classes), changes[last] > changes[starts])


def _byte_classes(
    text: bytes, chat: ChatFormat, opened: PositionClass | None
) -> npt.NDArray[np.str_]:
    """The class of each byte, and the one in force after the last; shape [bytes + 1].

    Opening tags are F, closing tags part of their block. Inside a block every tag but its own
    closing one is text.
    """
    blocks: dict[bytes, PositionClass]
    blocks = {chat.think_open.encode(): "R", chat.call_open.encode(): "S"}
    closers = {"R": chat.think_close.encode(), "S": chat.call_close.encode()}
    opening = re.compile(b"|".join(map(re.escape, blocks)))
    classes = np.full(len(text) + 1, "F")
    place, block = 0, opened
    while True:
        if block in closers:
            closer = closers[block]
            found = text.find(closer, place)
            end = found + len(closer) if found >= 0 else len(classes)
            classes[place:end] = block
            place = end
        tag = opening.search(text, place)
        if tag is None:
            return classes
        place, block = tag.end(), blocks[tag.group()]


def _run_numbers(classes: npt.NDArray[np.str_]) -> npt.NDArray[np.int32]:
    """The number of the maximal run of equal values that each value is in, from 0."""
    numbers = np.zeros(len(classes), np.int32)
    np.cumsum(classes[1:] != classes[:-1], out=numbers[1:])
    return numbers


def loops(token_ids: npt.ArrayLike, length: int = 16) -> npt.NDArray[np.bool_]:
    """Positions in an exact repeat of `length` tokens or more.

    Args:
        token_ids: an output, shape [tokens].
        length: shortest run that counts, in tokens.

    Returns:
        True in the later occurrence of a run that started earlier in the output, shape [tokens];
        the two may overlap.
    """
    tokens = np.asarray(token_ids, np.int32)
    if len(tokens) < length:
        return np.zeros(len(tokens), np.bool_)
    raw, width = tokens.tobytes(), tokens.itemsize
    first: dict[bytes, int] = {}
    repeats = [
        first.setdefault(raw[start * width : (start + length) * width], start) < start
        for start in range(len(tokens) - length + 1)
    ]
    # a longer run is a chain of windows: each flags the `length` positions it covers
    return np.convolve(repeats, np.ones(length, np.int32)) > 0
