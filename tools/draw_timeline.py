# SPDX-License-Identifier: Apache-2.0
"""python3 tools/draw_timeline.py DIR FILE.svg - draws the operations of all ranks of a run over time.

DIR is the folder of a run with operations.csv (outputs.operations-max). Each rank is a row: computations
and, below them, the communication by the parallelism that it belongs to.
"""

import csv
import sys
from pathlib import Path

COLOURS = {
    "calc": "#4d6a79",
    "tp": "#2e9e6b",
    "pp": "#e08a1e",
    "dp": "#b3261e",
    "ep": "#7b4fb5",
    "cp": "#1f77b4",
}
WIDTH, LEFT, ROW, TOP = 900, 70, 22, 30


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: python3 tools/draw_timeline.py DIR FILE.svg", file=sys.stderr)
        return 2
    slices: dict[tuple[int, str], list[list[float]]] = {}
    end = 0.0
    with open(Path(sys.argv[1]) / "operations.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            word = "calc" if row["kind"] == "calc" else row["dimension"]
            if word not in COLOURS or row["kind"] == "recv" or not row["end_ns"]:
                continue
            begin, stop = float(row["start_ns"]), float(row["end_ns"])
            end = max(end, stop)
            slices.setdefault((int(row["rank"]), word), []).append([begin, stop])
    ranks = sorted({rank for rank, _ in slices})
    scale = (WIDTH - LEFT - 20) / end
    height = TOP + ROW * len(ranks) + 40
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" '
        'font-size="11"><rect width="100%" height="100%" fill="white"/>'
    ]
    used = [word for word in COLOURS if any(key[1] == word for key in slices)]
    for i, word in enumerate(used):
        x = LEFT + 150 * i
        text = "computation" if word == "calc" else f"{word} communication"
        lines.append(f'<rect x="{x}" y="8" width="10" height="10" fill="{COLOURS[word]}"/>')
        lines.append(f'<text x="{x + 14}" y="17">{text}</text>')
    for place, rank in enumerate(ranks):
        y = TOP + ROW * place
        lines.append(f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">rank {rank}</text>')
        for word in used:
            part = y + (1 if word == "calc" else 11)
            merged: list[list[float]] = []
            for begin, stop in sorted(slices.get((rank, word), [])):
                # Slices that would touch in the picture become one.
                if merged and (begin - merged[-1][1]) * scale < 0.3:
                    merged[-1][1] = max(merged[-1][1], stop)
                else:
                    merged.append([begin, stop])
            for begin, stop in merged:
                width = max((stop - begin) * scale, 0.3)
                lines.append(
                    f'<rect x="{LEFT + begin * scale:.1f}" y="{part}" width="{width:.1f}" height="9" '
                    f'fill="{COLOURS[word]}"/>'
                )
    bottom = TOP + ROW * len(ranks) + 4
    lines.append(f'<line x1="{LEFT}" y1="{bottom}" x2="{WIDTH - 20}" y2="{bottom}" stroke="black"/>')
    for i in range(6):
        x = LEFT + (WIDTH - LEFT - 20) * i / 5
        text = f"{end * i / 5e6:.0f} ms"
        lines.append(f'<text x="{x:.0f}" y="{bottom + 16}" text-anchor="middle">{text}</text>')
    lines.append("</svg>")
    Path(sys.argv[2]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
