# SPDX-License-Identifier: Apache-2.0
"""Sweeps: a scenario over parameters and seeds, with intervals of confidence."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from .folder import Result
from .program import Error, RunFailed, call, plugin_arguments
from .tables import Table

if TYPE_CHECKING:
    import matplotlib.figure

_OWN = ("point", "run", "seed", "runs", "failed", "ended", "digest", "failure")


def _absolute(scenario: str | os.PathLike[str]) -> str:
    """Returns the absolute path of a scenario's file, or the name of one that comes with rocesim."""
    path = Path(scenario)
    return str(path.resolve()) if path.exists() or path.suffix else os.fspath(scenario)


def sweep(
    scenario: str | os.PathLike[str],
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    points: Sequence[Mapping[str, Any]] | None = None,
    seeds: int | Sequence[int] = 1,
    columns: Sequence[str] = (),
    set: Mapping[str, Any] | None = None,  # noqa: A002 - the key of a sweep's file
    folder: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    plugins: Sequence[str | os.PathLike[str]] = (),
    plugin_limits: bool = False,
    programs: bool = False,
) -> "Sweep":
    """Runs a scenario for every combination of a grid, or for each of a list of points.

    grid: paths of attributes and lists of their values. points: a list of mappings with equal keys.
    seeds: how many seeds, or a list of them. columns: paths of numbers in the summary.
    set: values for all runs. folder: where the runs are kept; a stopped sweep continues there. Without
    it, a temporary folder is used. jobs: runs at a time (None: one for each processor).
    plugins: files of C or objects whose parts all runs may choose by name; plugin_limits, programs:
    the options of `rocesim sweep`.

    The plan is written beside the folder, as FOLDER.yaml. Raises RunFailed if runs failed; its
    attribute `result` is the sweep with those that did not.
    """
    temporary = None
    if folder is None:
        temporary = tempfile.TemporaryDirectory(prefix="rocesim-")
        folder = Path(temporary.name) / "sweep"
    plan: dict[str, Any] = {"scenario": _absolute(scenario), "seeds": seeds}
    for name, value in (("set", set), ("grid", grid), ("points", points), ("columns", columns)):
        if value:
            plan[name] = dict(value) if isinstance(value, Mapping) else list(value)
    if not isinstance(seeds, int):
        plan["seeds"] = list(seeds)
    file = Path(f"{os.fspath(folder)}.yaml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(plan, indent=1) + "\n", encoding="utf-8")
    workers = jobs or os.cpu_count() or 1
    done = call(
        ["sweep", "--quiet", "-o", os.fspath(folder), "-j", str(workers)]
        + plugin_arguments(plugins)
        + (["--plugin-limits"] if plugin_limits else [])
        + (["--programs"] if programs else [])
        + ["--", str(file)]
    )
    if done.returncode != 0:
        complete = (Path(folder) / "points.csv").exists()
        raise RunFailed(done.stderr.strip(), Sweep(folder, temporary) if complete else None)  # type: ignore[arg-type]
    return Sweep(folder, temporary)


def load_sweep(folder: str | os.PathLike[str]) -> "Sweep":
    """Opens the folder of a sweep."""
    return Sweep(folder)


class Sweep:
    """The results of a sweep: tables of points and of runs, and the folders of the runs."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        temporary: "tempfile.TemporaryDirectory[str] | None" = None,
    ):
        self.path = Path(folder)
        self._temporary = temporary
        if not (self.path / "points.csv").exists():
            raise Error(f"{self.path} holds no sweep of rocesim: points.csv is missing")

    @cached_property
    def points(self) -> Table:
        """A row per point: parameters, means over the seeds, and half of each interval (_ci95)."""
        return Table(self.path / "points.csv", owner=self._temporary)

    @cached_property
    def runs(self) -> Table:
        """A row per run: parameters, seed, digest and columns."""
        return Table(self.path / "runs.csv", owner=self._temporary)

    @property
    def columns(self) -> list[str]:
        """The names of the values that were measured."""
        return [name[: -len("_ci95")] for name in self.points.columns if name.endswith("_ci95")]

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters that differ between points."""
        measured = {name for column in self.columns for name in (column, f"{column}_ci95")}
        return [n for n in self.points.columns if n not in measured and n not in _OWN]

    def intervals(self, column: str) -> list[tuple[dict[str, Any], float, float, float]]:
        """Returns for each point: its parameters, the mean, and both ends of the 95 % interval."""
        if column not in self.columns:
            raise Error(f"the sweep has no column {column!r}; it has: {', '.join(self.columns)}")
        rows = []
        for row in self.points.rows():
            mean = float("nan") if row[column] is None else float(row[column])
            half = float(row[f"{column}_ci95"] or 0)
            rows.append(({n: row[n] for n in self.parameters}, mean, mean - half, mean + half))
        return rows

    def results(self) -> Iterator[tuple[dict[str, Any], Result]]:
        """Goes through all runs that have results: the row of runs.csv, and the folder."""
        with open(self.path / "runs.csv", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                folder = self.path / "runs" / row["run"]
                if (folder / "summary.json").exists():
                    yield dict(row), Result(folder, self._temporary)

    def figure(
        self, column: str | None = None, x: str | None = None
    ) -> "matplotlib.figure.Figure":
        """Draws a column over a parameter, with intervals; the other parameters are curves."""
        from .figures import figure

        return figure(self, kind="sweep", y=column, x=x)

    def __repr__(self) -> str:
        return f"<sweep in {self.path}: {len(self.points)} points, {len(self.runs)} runs>"
