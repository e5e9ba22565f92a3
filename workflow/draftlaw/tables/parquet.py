"""Parquet tables with declared schemas, checked whenever one is written or read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa_checks
import pyarrow as pa
import pyarrow.parquet as pq

from draftlaw.errors import DraftLawError
from draftlaw.files import atomic_file

Scalar = str | int | float

SIMULATED = "simulated"
"""Evidence grade of a file that no measured study may take."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, Arrow type, meaning, unit, and the values it may hold."""

    name: str
    dtype: pa.DataType
    meaning: str
    unit: str = ""
    nullable: bool = False
    low: float | None = None
    high: float | None = None
    among: tuple[Scalar, ...] = ()

    def arrow(self) -> pa.Field:
        """The Arrow field, which carries meaning and unit as metadata."""
        notes = {"meaning": self.meaning, "unit": self.unit}
        return pa.field(self.name, self.dtype, self.nullable, notes)

    def check(self) -> pa_checks.Column:
        """The pandera column: range and membership (types are Arrow's business)."""
        checks = []
        if self.low is not None:
            checks.append(pa_checks.Check.ge(self.low))
        if self.high is not None:
            checks.append(pa_checks.Check.le(self.high))
        if self.among:
            checks.append(pa_checks.Check.isin(self.among))
        return pa_checks.Column(None, checks, nullable=self.nullable)


@dataclass(frozen=True, slots=True)
class Table:
    """A kind of table: its columns, and the key that no two rows share."""

    name: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema."""
        return pa.schema([column.arrow() for column in self.columns])

    @property
    def names(self) -> list[str]:
        """Its columns' names."""
        return [column.name for column in self.columns]

    def check(self, frame: pd.DataFrame, where: str) -> None:
        """Raise DraftLawError unless `frame` has this table's columns, values and unique key."""
        checks = pa_checks.DataFrameSchema(
            {column.name: column.check() for column in self.columns},
            strict=True,
            unique=list(self.key),
        )
        try:
            checks.validate(frame, lazy=True)
        except pa_checks.errors.SchemaErrors as error:
            first = error.failure_cases.iloc[0]
            raise DraftLawError(
                f"{where} is no {self.name} table: column {first['column']!r} fails "
                f"{first['check']!r} with {first['failure_case']} "
                f"({len(error.failure_cases)} cases in all)",
                "Delete the file and run the rule that makes it again",
            ) from None

    def write(self, frame: pd.DataFrame, path: Path, notes: Mapping[str, str] = {}) -> None:
        """Check `frame`, then write it to `path` atomically.

        Args:
            frame: one row per key; columns in any order.
            path: the Parquet file.
            notes: free metadata kept in the file, e.g. the evidence grade.

        Raises:
            DraftLawError: the frame breaks the schema; nothing is written.
        """
        ordered = frame[[column.name for column in self.columns]].reset_index(drop=True)
        self.check(ordered, str(path))
        arrow = pa.Table.from_pandas(ordered, self.schema, preserve_index=False)
        arrow = arrow.replace_schema_metadata({"table": self.name, **notes})
        with atomic_file(path) as temporary:
            pq.write_table(arrow, temporary, compression="zstd")

    def read(self, path: Path, simulated: bool = False) -> pd.DataFrame:
        """Read `path` and check it.

        Args:
            path: the Parquet file.
            simulated: whether simulated data is what is wanted; else it is refused.

        Raises:
            DraftLawError: the file is missing, damaged, or a table of another kind, or its data is
                simulated.
        """
        again = "Delete the file and run the rule that makes it again"
        try:
            arrow = pq.read_table(path, partitioning=None)
        except FileNotFoundError:
            raise DraftLawError(f"{path} does not exist", "Run the rule that makes it") from None
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise DraftLawError(f"{path} is damaged ({reason})", again) from None
        if not arrow.schema.equals(self.schema, check_metadata=False):
            difference = _difference(arrow.schema, self.schema)
            raise DraftLawError(f"{path} is no {self.name} table: {difference}", again)
        marked = (arrow.schema.metadata or {}).get(b"evidence") == SIMULATED.encode()
        if marked and not simulated:
            raise DraftLawError(f"{path} holds simulated data, where measured is expected", again)
        frame: pd.DataFrame = arrow.to_pandas()
        for column in self.columns:
            if column.nullable and pa.types.is_string(column.dtype):
                # a missing text is None, which is false, not NaN, which is true
                frame[column.name] = frame[column.name].astype(object).replace({np.nan: None})
        self.check(frame, str(path))
        return frame


def _difference(found: pa.Schema, wanted: pa.Schema) -> str:
    for field in wanted:
        if field.name not in found.names:
            return f"column {field.name!r} is missing"
        kind = found.field(field.name).type
        if kind != field.type:
            return f"column {field.name!r} is {kind}, not {field.type}"
    extra = [name for name in found.names if name not in wanted.names]
    return f"unknown columns {extra}" if extra else "columns are out of order or nullable"
