# SPDX-License-Identifier: Apache-2.0
"""Figures by matplotlib, from what `rocesim plot --json` says that they show."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from .program import Error, call_json
from .tables import package

if TYPE_CHECKING:
    import matplotlib.figure


def figure(
    *runs: Any,
    kind: str | None = None,
    app: str | None = None,
    x: str | None = None,
    y: str | None = None,
) -> "matplotlib.figure.Figure":
    """Draws runs (results, sweeps or folders) in one figure of matplotlib and returns it.

    kind: slowdown, queue, queue-cdf, rate, series, pause, load, load-time, app-rate, app-cdf or
    sweep; None: the first kind for which the folders have data. app: only the flows of this traffic.
    x, y: of a sweep, the parameter along x and the column along y. Save it with .savefig(FILE).
    """
    arguments = ["plot", "--json"]
    for option, value in (("--kind", kind), ("--app", app), ("--x", x), ("--y", y)):
        arguments += [option, value] if value is not None else []
    folders = [os.fspath(getattr(run, "path", run)) for run in runs]
    figures = call_json([*arguments, "--", *folders])["figures"]
    if not figures:
        raise Error(f"the folders have no data for a figure: {', '.join(folders)}")
    return draw(figures[0])


def draw(shown: dict[str, Any]) -> "matplotlib.figure.Figure":
    """Draws one figure of `rocesim plot --json` (docs/formats/plots.md)."""
    package("matplotlib", "figures", "python3-matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = shown["panels"]
    class Shown(Figure):  # type: ignore[misc]  # matplotlib has no types
        """A figure that notebooks show where it is the value of a cell."""

        def _repr_png_(self) -> bytes:
            image = io.BytesIO()
            self.savefig(image, format="png", dpi=100)
            return image.getvalue()

    drawn = Shown(figsize=(7, 1 + 2.8 * len(panels)), constrained_layout=True)
    FigureCanvasAgg(drawn)
    for axes, panel in zip(drawn.subplots(len(panels), squeeze=False)[:, 0], panels):
        _panel(axes, panel)
    if shown.get("note"):
        drawn.supxlabel(shown["note"], fontsize=8)
    return drawn


def _panel(axes: Any, panel: dict[str, Any]) -> None:
    for curve in panel.get("curves", []):
        _curve(axes, curve, panel)
    axes.set_title(panel.get("title", ""), fontsize=10)
    axes.set_xlabel(panel.get("x_label", ""))
    axes.set_ylabel(panel.get("y_label", ""))
    for axis in ("x", "y"):
        if panel.get(f"{axis}_log"):
            getattr(axes, f"set_{axis}scale")("log")
        tics = panel.get(f"{axis}_tics")
        if tics:
            getattr(axes, f"set_{axis}ticks")(*_tics(tics), fontsize=8)
        low, high = panel.get(f"{axis}_range") or (None, None)
        getattr(axes, f"set_{axis}lim")(low, high)
    if len(panel.get("curves", [])) > 1 and any(c.get("name") for c in panel["curves"]):
        axes.legend(fontsize=8)


def _tics(tics: list[Any]) -> tuple[list[float], list[str]]:
    pairs = [(tic[1], tic[0]) if isinstance(tic[0], str) else tuple(tic) for tic in tics]
    return [float(at) for at, _ in pairs], [str(text) for _, text in pairs]


def _numbers(column: list[Any]) -> list[float]:
    return [float("nan") if value is None else value for value in column]


def _curve(axes: Any, curve: dict[str, Any], panel: dict[str, Any]) -> None:
    columns = [_numbers(column) for column in curve["columns"]]
    style = curve["style"]
    if style == "boxes":
        _boxes(axes, columns, panel)
        return
    options = {"color": curve.get("color") or None, "label": curve.get("name") or None}
    if style in ("linespoints", "points") and len(columns) == 3:
        line = "-" if style == "linespoints" else "none"
        axes.errorbar(
            *columns[:2], yerr=columns[2], marker="o", markersize=3, capsize=3, linestyle=line, **options
        )
        return
    marker = {"linespoints": "o-", "points": "o"}.get(style, "-")
    drawstyle = "steps-post" if style == "steps" else "default"
    axes.plot(columns[0], columns[1], marker, markersize=3, drawstyle=drawstyle, **options)


def _boxes(axes: Any, columns: list[list[float]], panel: dict[str, Any]) -> None:
    """Draws rectangles (x, x from, x to, y from, y to, value) in the colours of the palette."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    stops = panel.get("palette") or [[0, "#ffffff"], [1, "#0072b2"]]
    colours = LinearSegmentedColormap.from_list("rocesim", [(at, name) for at, name in stops])
    low, high = panel.get("color_range") or (None, None)
    values = columns[5] if len(columns) > 5 else [1.0] * len(columns[0])
    norm = Normalize(low if low is not None else 0, high if high is not None else max(values, default=1))
    corners = [
        [(left, bottom), (right, bottom), (right, top), (left, top)]
        for left, right, bottom, top in zip(*columns[1:5])
    ]
    mapped = ScalarMappable(norm, colours)
    axes.add_collection(PolyCollection(corners, facecolors=mapped.to_rgba(values)))
    axes.autoscale_view()
    axes.figure.colorbar(mapped, ax=axes, label=panel.get("color_label", ""))
