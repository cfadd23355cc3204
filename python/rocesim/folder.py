# SPDX-License-Identifier: Apache-2.0
"""The result folder of a run: its summary, tables, series, captures and figures."""

from __future__ import annotations

import json
import os
import re
import tempfile
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .program import Error
from .tables import Column, Series, Table

if TYPE_CHECKING:
    import matplotlib.figure

FORMAT = 1  # the version of result folders that this package reads (docs/compatibility.md)


def load(folder: str | os.PathLike[str]) -> "Result":
    """Opens the result folder of a run that is complete. Reads nothing but its summary."""
    return Result(folder)


class Result:
    """The results of a run. Tables are attributes (result.flows) and are read when used."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        temporary: "tempfile.TemporaryDirectory[str] | None" = None,
    ):
        self.path = Path(folder)
        self._temporary = temporary  # removed when this object is
        try:
            with open(self.path / "summary.json", encoding="utf-8") as file:
                self.summary: dict[str, Any] = json.load(file)
        except FileNotFoundError:
            raise Error(f"{self.path} holds no results of rocesim: summary.json is missing") from None
        except (OSError, ValueError) as error:
            raise Error(f"{self.path / 'summary.json'} cannot be read: {error}") from error
        written = self.manifest.get("format", 1)
        if written > FORMAT:
            raise Error(
                f"{self.path} has format {written} of result folders; this package reads up to "
                f"{FORMAT}. A newer package rocesim reads it."
            )

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """manifest.json: the files and what they are; {} in folders of a run that was cut off."""
        return self._json("manifest.json") or {}

    @cached_property
    def schema(self) -> dict[str, Any]:
        """schema.json: attributes, fields and columns with units and meanings."""
        return self._json("schema.json") or {}

    @cached_property
    def topology(self) -> dict[str, Any]:
        """topology.json: nodes, ports and links."""
        return self._json("topology.json") or {}

    @property
    def scenario(self) -> str:
        """scenario.yaml: the scenario with every default, which repeats the run."""
        try:
            return (self.path / "scenario.yaml").read_text(encoding="utf-8")
        except OSError as error:
            raise Error(f"{self.path / 'scenario.yaml'} cannot be read: {error}") from error

    @property
    def captures(self) -> list[Path]:
        """The captures that Wireshark opens."""
        return sorted((self.path / "captures").glob("*")) if (self.path / "captures").exists() else []

    @property
    def programs(self) -> dict[str, str]:
        """What programs printed, by HOST-N: program N of a host."""
        outputs = sorted((self.path / "programs").glob("*.out"))
        return {path.stem: path.read_text(encoding="utf-8", errors="replace") for path in outputs}

    @cached_property
    def tables(self) -> dict[str, Table]:
        """All tables by name: flows, apps, ports, events, pauses, series..."""
        known = self.schema.get("tables", {})
        tables = {}
        for path in sorted(self.path.glob("*.csv")):
            entry = known.get(path.name, {})
            columns = [
                Column(c["name"], c.get("unit", ""), c.get("help", ""))
                for c in entry.get("columns", [])
            ]
            kind = Series if path.name == "series.csv" else Table
            tables[path.stem] = kind(path, columns, entry.get("help", ""), self._temporary)
        return tables

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self.tables:
            return self.tables[name]
        raise AttributeError(
            f"{self.path} has no table {name}.csv; it has: {', '.join(self.tables)}"
        )

    def value(self, path: str) -> Any:
        """Returns a value of the summary: "flows.slowdown.p99", "apps[0].goodput_gbps",
        "flows.by_size[0-10KB].slowdown.p99"."""
        value: Any = self.summary
        for name, index in re.findall(r"([^.\[\]]+)|\[([^\]]*)\]", path):
            try:
                value = _inside(value, name, index)
            except (KeyError, IndexError, TypeError):
                raise Error(f"{self.path / 'summary.json'} has no {path}") from None
        return value

    def unit(self, path: str) -> str:
        """Returns the unit of a value of the summary, "" if it has none."""
        node = self.schema.get("summary", {})
        for name in re.findall(r"([^.\[\]]+)(?:\[[^\]]*\])?", path):
            node = node.get("properties", {}).get(name, {})
            node = node.get("items", node)
        return str(node.get("unit", ""))

    def figure(self, kind: str | None = None, **options: Any) -> "matplotlib.figure.Figure":
        """Draws the run with matplotlib; rocesim.figure() describes kinds and options."""
        from .figures import figure

        return figure(self, kind=kind, **options)

    def __repr__(self) -> str:
        return (
            f"<results of {self.summary.get('scenario', '?')} in {self.path}: "
            f"{self.summary.get('ended', '?')}, digest {self.summary.get('digest', '?')}>"
        )

    def _json(self, name: str) -> Any:
        try:
            with open(self.path / name, encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise Error(f"{self.path / name} cannot be read: {error}") from error


def _inside(value: Any, name: str, index: str) -> Any:
    """Returns what lies in a value under a name, or in a list under a number or an entry's name."""
    if name:
        return value[name]
    if isinstance(value, dict):
        return value[index]
    if re.fullmatch(r"\d+", index):
        return value[int(index)]
    for entry in value:
        if index in (entry.get("name"), entry.get("kind"), entry.get("size"), entry.get("app")):
            return entry
    raise KeyError(index)
