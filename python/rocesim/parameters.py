# SPDX-License-Identifier: Apache-2.0
"""Parameters as objects: the attributes of every scenario, or what one scenario names."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from .program import call_json

_UNITS = {
    "time": {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12},
    "rate": {"bps": 1, "kbps": 10**3, "mbps": 10**6, "gbps": 10**9, "tbps": 10**12},
    "bytes": {
        "": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
        "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
    },
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """What --set can set: a path, the type of its values, its range, its default and its meaning.

    minimum and maximum are texts as in scenarios ("64KB", "1us"), None where there is no bound.
    """

    path: str
    type: str = "text"
    default: str = ""
    help: str = ""
    minimum: str | None = None
    maximum: str | None = None
    choices: tuple[str, ...] = ()
    auto: bool = False
    scope: str = ""
    sets: tuple[str, ...] = ()

    def problem(self, value: Any) -> str | None:
        """Returns why the value is out of range, in words; None: it is within it."""
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if text == "auto" and self.auto:
            return None
        if self.type == "enum" and self.choices and text not in self.choices:
            return f"{self.path} is {text}, expected one of {', '.join(self.choices)}"
        number = quantity(text, self.type)
        if self.type in ("count", "ratio", *_UNITS) and number is None:
            return None if text == self.default else f"{self.path} is {text}, expected a {self.type}"
        for bound, wrong in ((self.minimum, -1), (self.maximum, 1)):
            limit = quantity(bound, self.type) if bound is not None else None
            if number is not None and limit is not None and (number - limit) * wrong > 0:
                word = "at least" if wrong < 0 else "at most"
                return f"{self.path} is {text}, expected {word} {bound}"
        return None


def quantity(text: str, kind: str) -> float | None:
    """Returns a value in the base unit of its type (ps, bit/s, bytes); None: it is no number."""
    found = re.fullmatch(r"\s*([-+0-9.eE]+)\s*(?:/\s*([0-9.]+))?\s*([A-Za-z]*|%)\s*", text)
    if found is None:
        return None
    try:
        number = float(found[1]) / float(found[2] or 1)
    except (ValueError, ZeroDivisionError):
        return None
    unit = found[3].lower()
    if kind in _UNITS:
        return number * _UNITS[kind][unit] if unit in _UNITS[kind] else None
    if unit == "%":
        return number / 100
    return number if unit == "" else None


def parameters(scenario: str | os.PathLike[str] | None = None) -> dict[str, Parameter]:
    """Returns all attributes by their paths; of a scenario, the names under its `parameters`."""
    if scenario is not None:
        listed = call_json(["params", "--json", "--", os.fspath(scenario)])
        return {
            row["name"]: Parameter(
                row["name"],
                type="enum" if row.get("choices") else "text",
                default=row.get("default", ""),
                help=row.get("help", ""),
                choices=tuple(row.get("choices", ())),
                sets=tuple(row.get("paths", ())),
            )
            for row in listed
        }
    return {
        row["path"]: Parameter(
            row["path"],
            type=row["type"],
            default=row.get("default", ""),
            help=row.get("help", ""),
            minimum=row.get("min"),
            maximum=row.get("max"),
            choices=tuple(row.get("choices", ())),
            auto=row.get("auto", False),
            scope=row.get("scope", ""),
            sets=(row["path"],),
        )
        for row in call_json(["schema"])["parameters"]
    }
