"""Output positions: every token of the traces with its class and what its grammar allowed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from draftlaw.chat import ChatFormat, PositionClass
from draftlaw.errors import DraftLawError
from draftlaw.grammar import Walker
from draftlaw.labels import label, loops

Tokens = npt.NDArray[np.int32]


def token_pieces(walker: Walker, special_ids: Collection[int], chat: ChatFormat) -> list[bytes]:
    """The bytes of every token of the vocabulary; b"" for special ones, which are no text.

    Some tokenizers declare the tags themselves special: those keep their bytes.
    """
    texts = (chat.think_open, chat.think_close, chat.call_open, chat.call_close)
    tags = {text.encode() for text in texts}
    pieces: list[bytes] = list(walker.info.decoded_vocab)
    for token in special_ids:
        if pieces[token] not in tags:
            pieces[token] = b""
    return pieces


def label_positions(
    prompts: pd.DataFrame,
    traces: pd.DataFrame,
    chat: ChatFormat,
    walker: Walker,
    special_ids: Collection[int],
) -> pd.DataFrame:
    """One row per output token of every trace of launch 0.

    Args:
        prompts: the arm's prompt table.
        traces: outputs of its requests.
        chat: the format, whose tags delimit the classes.
        walker: replays outputs through their grammar.
        special_ids: tokens that are no text, e.g. the stop token.

    Returns:
        The positions table, ordered by request, batch and position.

    Raises:
        DraftLawError: no trace is of launch 0, a trace has no prompt, or its grammar refuses one
            of its tokens.
    """
    labeller = Labeller(chat, walker, token_pieces(walker, special_ids, chat))
    constraints = _constraints(prompts)
    outputs = traces[traces["launch"] == 0].sort_values(["request_id", "batch"])
    if outputs.empty:
        raise DraftLawError("the traces hold no output of launch 0", "Generate that launch")
    frames = []
    for request, group in outputs.groupby("request_id"):
        name = str(request)
        if name not in constraints:
            raise DraftLawError(f"request {name} has no prompt", "Give the traces' own prompts")
        # most outputs are the same at every batch size
        distinct: dict[bytes, pd.DataFrame] = {}
        for batch, ids in zip(group["batch"], group["output_ids"], strict=True):
            tokens = np.asarray(ids, np.int32)
            key = tokens.tobytes()
            if key not in distinct:
                distinct[key] = labeller.rows(name, tokens, constraints[name])
            batches = np.full(len(tokens), batch, np.int16)
            frames.append(distinct[key].assign(batch=batches))
    return pd.concat(frames, ignore_index=True)


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a request's prompt imposes on its output.

    Attributes:
        opened: class of a block that the prompt left open, None if it left none.
        grammar: structural tag (JSON), None where the model writes freely.
    """

    opened: PositionClass | None
    grammar: str | None


def _constraints(prompts: pd.DataFrame) -> dict[str, Constraint]:
    rows = prompts[["request_id", "opened", "grammar"]].itertuples(index=False, name=None)
    return {name: Constraint(opened, grammar) for name, opened, grammar in rows}


@dataclass(frozen=True, slots=True)
class Labeller:
    """Labels single outputs.

    Attributes:
        chat: the format, whose tags delimit the classes.
        walker: replays outputs through their grammar.
        pieces: the bytes of every token of the vocabulary.
    """

    chat: ChatFormat
    walker: Walker
    pieces: Sequence[bytes]

    def rows(self, request: str, tokens: Tokens, constraint: Constraint) -> pd.DataFrame:
        """One row per token of an output, all columns of the table but the batch.

        Args:
            request: its identifier.
            tokens: the output, shape [tokens].
            constraint: what its prompt imposes on it.
        """
        pieces = [self.pieces[token] for token in tokens.tolist()]
        labels = label(pieces, self.chat, constraint.opened)
        allowed = self._allowed(request, tokens, constraint.grammar)
        columns = {
            "request_id": pd.Series([request] * len(tokens), dtype="str"),
            "position": np.arange(len(tokens), dtype=np.int32),
            "token_id": tokens,
            "position_class": pd.Series(labels.classes.tolist(), dtype="str"),
            "span": labels.spans,
            "straddler": labels.straddlers,
            "allowed": allowed,
            "forced": (allowed == 1).fillna(False).astype(np.bool_),
            "loop": loops(tokens),
        }
        return pd.DataFrame(columns)

    def _allowed(self, request: str, tokens: Tokens, grammar: str | None) -> pd.Series[int]:
        if grammar is None:
            return pd.Series([pd.NA] * len(tokens), dtype="Int32")
        walk = self.walker.masks(grammar, tokens.tolist())
        if walk.refused is not None:
            raise DraftLawError(
                f"request {request}: output token {walk.refused} is not allowed by its grammar",
                "Give the prompts that the traces were generated from",
            )
        return pd.Series(walk.allowed, dtype="Int32")
