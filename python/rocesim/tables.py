# SPDX-License-Identifier: Apache-2.0
"""Tables of a result folder: CSV files whose columns know their units, read when they are needed."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from .program import Error, MissingPackage

if TYPE_CHECKING:
    import pandas


ROWS_AT_A_TIME = 1000  # that rows() converts together


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, its unit ("" for a bare number or text) and its meaning."""

    name: str
    unit: str = ""
    help: str = ""


def package(name: str, purpose: str, debian: str = "") -> Any:
    """Imports a package, or says who needs it and how to install it."""
    try:
        return __import__(name)
    except ImportError as error:
        how = f"apt-get install {debian}" if debian else f"pip install {name}"
        raise MissingPackage(f"{purpose} need the package {name}: {how}") from error


class Table:
    """A CSV file. It behaves like a pandas frame, of which only what is asked for is read.

    table["fct_ns"] reads one column and table[["src", "fct_ns"]] two. table.head() reads the first
    rows, rows() and chunks() read row by row. Every other attribute is that of the whole frame,
    which is read once and kept: table.describe(), table.groupby("src"), table.query("bytes > 1e6").
    """

    def __init__(
        self, path: Path, columns: Sequence[Column] = (), help: str = "", owner: object = None
    ):
        self.path = path
        self.help = help
        self._owner = owner  # of a temporary folder, which stays as long as the table
        try:
            with open(path, newline="", encoding="utf-8") as file:
                header: list[str] = next(csv.reader(file), [])
        except OSError as error:
            raise Error(f"{path} cannot be read: {error}") from error
        known = {column.name: column for column in columns}
        self.columns: Mapping[str, Column] = {n: known.get(n, Column(n)) for n in header}
        self._frame: pandas.DataFrame | None = None

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column that has one."""
        return {name: column.unit for name, column in self.columns.items() if column.unit}

    @property
    def frame(self) -> "pandas.DataFrame":
        """The whole table as a pandas frame. frame.attrs["units"] has the units."""
        if self._frame is None:
            self._frame = self.read()
        return self._frame

    def read(
        self, columns: Sequence[str] | None = None, rows: int | None = None
    ) -> "pandas.DataFrame":
        """Reads these columns (None: all) of the first rows (None: all) as a new pandas frame."""
        frame = self._pandas().read_csv(self.path, usecols=self._known(columns), nrows=rows)
        return self._described(frame if columns is None else frame[list(columns)])

    def head(self, rows: int = 5) -> "pandas.DataFrame":
        """Reads the first rows."""
        return self.read(rows=rows)

    def chunks(self, rows: int = 100_000) -> "Iterator[pandas.DataFrame]":
        """Reads the table in frames of so many rows, for tables larger than the memory."""
        with self._pandas().read_csv(self.path, chunksize=rows) as reader:
            for frame in reader:
                yield self._described(frame)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Reads row by row without pandas: numbers as int or float, empty values as None."""
        with open(self.path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            names: list[str] = next(reader, [])
            while texts := list(islice(reader, ROWS_AT_A_TIME)):
                for values in zip(*map(_values, zip(*texts))):
                    yield dict(zip(names, values))

    def polars(self) -> Any:
        """Returns a polars.LazyFrame over the file."""
        return package("polars", "frames of polars").scan_csv(self.path)

    def to_parquet(self, path: Any, **options: Any) -> None:
        """Writes the table as Parquet with pyarrow; units are in the fields' metadata."""
        package("pyarrow", "Parquet files")
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.Table.from_pandas(self.frame, preserve_index=False)
        fields = [
            field.with_metadata({"unit": self.columns[field.name].unit}) for field in table.schema
        ]
        schema = pyarrow.schema(fields)
        pyarrow.parquet.write_table(table.cast(schema), path, **options)

    def __getitem__(self, names: Any) -> Any:
        if isinstance(names, str):
            if self._frame is not None:
                return self._column(self._frame, names)
            return self._column(self.read([names]), names)
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return self._described(self._frame[names]) if self._frame is not None else self.read(names)
        return self.frame[names]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self.columns:
            return self[name]
        return getattr(self.frame, name)

    def __len__(self) -> int:
        if self._frame is not None:
            return len(self._frame)
        with open(self.path, "rb") as file:
            lines = 0
            last = b"\n"
            while block := file.read(1 << 20):
                lines += block.count(b"\n")
                last = block[-1:]
        return max(0, lines - 1 + (last != b"\n"))

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __repr__(self) -> str:
        names = ", ".join(f"{n} ({c.unit})" if c.unit else n for n, c in self.columns.items())
        return f"<table {self.path.name}: {names}>"

    def _repr_html_(self) -> str:
        note = f"<p>the first rows of {self.path.name}, {len(self)} in all</p>"
        return str(self.head().to_html()) + note

    def _known(self, names: Sequence[str] | None) -> list[str] | None:
        for name in names or ():
            if name not in self.columns:
                raise Error(
                    f"{self.path.name} has no column {name!r}; it has: {', '.join(self.columns)}"
                )
        return None if names is None else list(names)

    def _column(self, frame: "pandas.DataFrame", name: str) -> "pandas.Series":
        self._known([name])
        series = frame[name]
        series.attrs = {"unit": self.columns[name].unit, "help": self.columns[name].help}
        return series

    def _described(self, frame: "pandas.DataFrame") -> "pandas.DataFrame":
        frame.attrs["units"] = {n: u for n, u in self.units.items() if n in frame}
        return frame

    @staticmethod
    def _pandas() -> Any:
        return package("pandas", "frames", "python3-pandas")


class Series(Table):
    """series.csv: a row per sample of a metric. One metric by its path: series.of(PATH)."""

    def paths(self) -> list[str]:
        """The paths of all series, in the order of their first sample."""
        return list(dict.fromkeys(row["path"] for row in self.rows()))

    def of(self, path: str) -> "pandas.Series":
        """The samples of one path, by time in nanoseconds."""
        frame = self.frame[self.frame["path"] == path]
        if frame.empty:
            raise Error(f"{self.path.name} has no series {path!r}; it has: {', '.join(self.paths())}")
        series = frame.set_index("time_ns")["value"]
        series.name = path
        return series

    def wide(self) -> "pandas.DataFrame":
        """All series side by side: a row per time, a column per path. Values hold until the next."""
        return self.frame.pivot_table(index="time_ns", columns="path", values="value").ffill()


def _values(texts: Sequence[str]) -> Sequence[Any]:
    """Returns the values of a column, as _value() does one by one, but faster."""
    different = set(texts)
    if len(different) * 8 <= len(texts):
        known = {text: _value(text) for text in different}
        return list(map(known.__getitem__, texts))
    try:
        return list(map(int, texts))
    except ValueError:
        pass
    try:
        return [float(text) if "." in text else _value(text) for text in texts]
    except ValueError:
        return list(map(_value, texts))


def _value(text: str | None) -> Any:
    if text is None or text == "":
        return None
    if text[0] not in "0123456789+-.iInN":
        return text  # the usual text is no number such as 5, -1.5, inf or nan
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def from_text(text: str) -> list[dict[str, Any]]:
    """Reads the rows of a CSV text, as rows() does."""
    return [
        {name: _value(value) for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]
