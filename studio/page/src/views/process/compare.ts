// SPDX-License-Identifier: Apache-2.0
// The comparison of runs as `rocesim compare` prints it.
import type { Scope } from "../../core/dom";
import { bytes, nanoseconds, number } from "../../core/format";
import type { Cell, StepAnswer } from "../../core/types";
import { t } from "../../i18n/text";
import { grid, type Grid } from "../../ui/grid";

// Returns a value of the comparison by the unit in its key ("flows.fct_us.p50").
function compared(key: string, value: number, digits: number): string {
    const unit = /_(ps|ns|us|bytes)(?:_\w+)?(?:\.\w+)?$/.exec(key)?.[1];
    switch (unit) {
        case "ps":
        case "ns":
        case "us":
            return nanoseconds(value * { ps: 1e-3, ns: 1, us: 1e3 }[unit], digits);
        case "bytes":
            return bytes(value);
        default:
            return number(value, digits);
    }
}

type Cells = Map<string, Cell[]>; // by run (or runs that differ only in their seed): its row of the answer

// Makes a grid with a row for each field and a column for each run, or for runs that differ only in their seed.
export function compare_grid(scope: Scope, answer: StepAnswer): Grid {
    const at = (name: string) => answer.columns.findIndex((column) => column.name === name);
    const [mean_at, text_at, interval_at, stars_at] = [at("mean"), at("text"), at("interval"), at("stars")];
    const runs: string[] = [];
    const fields = new Map<string, Cells>(); // by key: names of fields repeat under different rows
    for (const row of answer.rows) {
        const of = String(row[at("runs")]);
        if (!runs.includes(of)) {
            runs.push(of);
        }
        const key = String(row[at("key")]);
        const cells = fields.get(key) ?? new Map<string, Cell[]>();
        fields.set(key, cells.set(of, row));
    }
    const has_value = (row: Cell[]) => typeof row[mean_at] === "number" || String(row[text_at] ?? "") !== "";
    const rows = [...fields.values()].filter((cells) => [...cells.values()].some(has_value));
    const label = (cells: Cells) => String([...cells.values()][0]?.[at("field")] ?? "").replace(/^ +/, "\u2003");
    const text = (row: Cell[] | undefined): string => {
        const mean = row?.[mean_at];
        if (typeof mean !== "number") {
            return String(row?.[text_at] ?? "");
        }
        const key = String(row![at("key")]);
        const interval = row![interval_at];
        const around = typeof interval === "number" ? ` ± ${compared(key, interval, 2)}` : "";
        return `${compared(key, mean, 4)}${around} ${String(row![stars_at] ?? "")}`;
    };
    const column = (of: string) => ({
        name: of,
        title: of,
        width: 190,
        right: true,
        cell: (cells: Cells) => text(cells.get(of)),
    });
    return grid<Cells>(scope, {
        label: t().process.result,
        height: "min(60vh, 620px)",
        columns: [{ name: "field", title: t().process.parts.fields, width: 280, cell: label }, ...runs.map(column)],
        rows,
    });
}
