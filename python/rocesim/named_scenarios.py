# SPDX-License-Identifier: Apache-2.0
"""The scenarios that come with rocesim, by name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .parameters import Parameter, parameters
from .program import call, call_json


@dataclass(frozen=True)
class LibraryScenario:
    """A scenario of the library. run(), check() and sweep() take it in the place of a path."""

    name: str
    path: Path
    question: str = ""
    seconds: float | None = None  # of a run with its defaults on one core, measured

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    @property
    def text(self) -> str:
        """The file with its comments."""
        return self.path.read_text(encoding="utf-8")

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters of the scenario, which `set` of run() knows, by name."""
        return parameters(self)

    def copy(self, path: str | os.PathLike[str]) -> list[Path]:
        """Copies the scenario into a new file, to be changed, with the files that it reads.

        Returns the copies, that of the scenario first. Raises BadInput if the file exists.
        """
        made = call(["new", "--", self.name, os.fspath(path)]).stdout
        return [Path(line) for line in made.splitlines()]


def scenarios(word: str | None = None) -> dict[str, LibraryScenario]:
    """Returns the scenarios that come with rocesim by their names; with a word, those that have it."""
    rows = call_json(["list", "--json", *(["--", word] if word else [])])
    return {
        row["name"]: LibraryScenario(row["name"], Path(row["path"]), row["question"], row.get("seconds"))
        for row in rows
        if row["kind"] == "scenario"
    }


def scenario(name: str) -> LibraryScenario:
    """Returns a scenario that comes with rocesim: scenario("training/gpt").

    Raises BadInput, with similar names, if there is none of this name.
    """
    known = scenarios().get(name)
    if known is not None:
        return known
    shown = call_json(["show", "--json", "--", name])  # says which names are similar
    return LibraryScenario(name, Path(shown["path"]), shown["description"])
