// SPDX-License-Identifier: Apache-2.0
// The figure of an analysis: chosen by the user or to fit the last step, and made of the rows of that step.
import { field_title, short_path } from "../../core/names";
import type { Cell, Column, Step } from "../../core/types";
import { t } from "../../i18n/text";
import type { Bars } from "../../plot/bars";
import type { Figure, FigureSeries } from "../../plot/figure";

export interface FigureChoice {
    x: string;
    y: string[];
    by: string;
    kind: "lines" | "points" | "bars" | "steps";
    x_log: boolean;
    y_log: boolean;
    title: string;
}

const curves_max = 24;
const by_separator = " × "; // of columns whose values together make a curve
const bars_max = 200;
const no_figure: FigureChoice = { x: "", y: [], by: "", kind: "points", x_log: false, y_log: false, title: "" };
// Results that most people look at first.
const first_results = ["apps[0].mops", "flows.slowdown.p99", "flows.goodput_gbps.mean", "apps[0].goodput_gbps"];

export function empty_choice(): FigureChoice {
    return { ...no_figure };
}

// Returns the parameters that differ among runs. Their columns stand between the seed and the scenario.
function varied_parameters(columns: Column[], rows: Cell[][]): Column[] {
    const names = columns.map((column) => column.name);
    const differs = (name: string) => new Set(rows.map((row) => row[names.indexOf(name)])).size > 1;
    const own = columns.slice(names.indexOf("seed") + 1, Math.max(names.indexOf("scenario"), 0));
    const control = columns.filter(({ name }) => name === "congestion_control");
    return [...own, ...control].filter(({ name }) => differs(name));
}

// Chooses the first parameter that differs among runs along x, and the result most people look at first along y. A
// curve has equal values of all other parameters, so that none of them is averaged away.
function figure_for_runs(columns: Column[], rows: Cell[][], wanted: string): FigureChoice | null {
    const names = columns.map((column) => column.name);
    const differs = (name: string) => new Set(rows.map((row) => row[names.indexOf(name)])).size > 1;
    const varied = varied_parameters(columns, rows);
    const x = varied.find((column) => column.type === "number") ?? varied[0];
    const numeric = columns.filter((column) => column.type === "number").map((column) => column.name);
    const result =
        [wanted, ...first_results].find((name) => names.includes(name) && differs(name)) ?? numeric.findLast(differs);
    if (!x || !result) {
        return null;
    }
    // Parameters that follow from those before them make no further curves.
    const groups = (by: string[]) =>
        new Set(rows.map((row) => JSON.stringify(by.map((name) => row[names.indexOf(name)])))).size;
    const by: string[] = [];
    for (const { name } of varied.filter((column) => column !== x)) {
        if (groups([x.name, ...by, name]) > groups([x.name, ...by])) {
            by.push(name);
        }
    }
    const kind = x.type === "number" ? "lines" : "bars";
    return { ...no_figure, x: x.name, y: [result], by: by.join(by_separator), kind };
}

// Returns a figure that fits the rows of a step, which is shown until the user chooses another; null if none fits.
// `wanted` names the result of runs that a recipe asks for; "": the one that most people look at first.
export function figure_for(step: Step, columns: Column[], rows: Cell[][], wanted: string): FigureChoice | null {
    const names = columns.map((column) => column.name);
    const by = columns.find((column) => column.type === "text" && column.name !== "words")?.name ?? "";
    const numeric = columns.filter((column) => column.type === "number").map((column) => column.name);
    const of_runs = names[0] === "run" && names.length > 6 && rows.length > 1;
    const for_runs = of_runs ? figure_for_runs(columns, rows, wanted) : null;
    if (for_runs) {
        return for_runs;
    }
    switch (step.do) {
        case "cdf": {
            const x = names.includes("value") ? "value" : String(step.column ?? "");
            return { ...no_figure, x, y: ["share"], by, kind: "steps" };
        }
        case "histogram":
            return { ...no_figure, x: "from", y: ["count"], by, kind: "bars", x_log: step.scale === "log" };
        case "percentiles":
        case "compare":
        case "fit":
        case "outliers":
            return null;
        default:
            // Rows with a name each, such as senders, are bars of their first number.
            if (by && columns[0]?.name === by && numeric.length > 0 && rows.length <= bars_max) {
                return { ...no_figure, x: by, y: [numeric[0]!], kind: "bars" };
            }
            return numeric.length >= 2
                ? { ...no_figure, x: numeric[0]!, y: [numeric[numeric.length - 1]!], by, kind: "points" }
                : null;
    }
}

// Returns the texts that stand along x, which get the places 1, 2, 3..., or null if x is a number.
function categories_of(rows: Cell[][], x_at: number): string[] | null {
    const texts = x_at >= 0 && rows.some((row) => typeof row[x_at] === "string");
    return texts ? [...new Set(rows.map((row) => String(row[x_at])))] : null;
}

// Returns the name of a column as it stands at an axis, with its unit; a readable name has one.
function labelled(name: string, columns: Column[]): string {
    const unit = columns.find((column) => column.name === name)?.unit;
    const title = field_title(name);
    return unit && title === name ? `${name} (${unit})` : title;
}

// Returns bars over the texts along x, or null if the choice is no such figure.
export function bars_from(choice: FigureChoice, columns: Column[], rows: Cell[][]): Bars | null {
    const x_at = columns.findIndex((column) => column.name === choice.x);
    const categories = choice.kind === "bars" ? categories_of(rows, x_at) : null;
    if (!categories || choice.y.length === 0) {
        return null;
    }
    const series = curves_of(choice, columns, rows, categories).map((one) => {
        const sums = categories.map((): number[] => []);
        for (const [index, x] of one.x.entries()) {
            sums[x - 1]!.push(one.y[index]!);
        }
        const mean = (values: number[]) =>
            values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
        return { name: one.name, values: sums.map(mean) };
    });
    return {
        categories,
        series,
        x_label: labelled(choice.x, columns),
        y_label: choice.y.map((name) => labelled(name, columns)).join(", "),
        y_log: choice.y_log,
    };
}

// Groups the rows into curves, one for each value of the column `by` and for each y.
function curves_of(choice: FigureChoice, columns: Column[], rows: Cell[][], categories: string[] | null) {
    const at = (name: string) => columns.findIndex((column) => column.name === name);
    const x_at = at(choice.x);
    const by = choice.by.split(by_separator).filter((name) => at(name) >= 0);
    const group_of = (row: Cell[]) =>
        by.map((name) => (by.length > 1 ? `${short_path(name)}=${row[at(name)]}` : String(row[at(name)]))).join(", ");
    const to_at = choice.kind === "bars" && choice.x === "from" ? at("to") : -1;
    const places = new Map(categories?.map((name, index) => [name, index + 1]));
    const made = new Map<string, FigureSeries>();
    for (const row of rows) {
        for (const y_name of choice.y) {
            const y = row[at(y_name)];
            const x = categories ? places.get(String(row[x_at])) : row[x_at];
            if (typeof y !== "number" || typeof x !== "number") {
                continue;
            }
            const y_part = choice.y.length > 1 || by.length === 0 ? field_title(y_name) : "";
            const name = [group_of(row), y_part].filter(Boolean).join(" ");
            const kind = choice.kind === "lines" ? "linespoints" : choice.kind;
            const one = made.get(name) ?? { name, kind, x: [], y: [], ...(to_at >= 0 ? { low: [], high: [] } : {}) };
            made.set(name, one);
            one.x.push(x);
            one.y.push(y);
            if (to_at >= 0) {
                one.low!.push(x);
                one.high!.push(Number(row[to_at]));
            }
        }
    }
    return [...made.values()].slice(0, curves_max);
}

// Joins points of the same x, such as runs that differ only in their seed, into their mean with a band from the
// smallest to the largest. Returns true if there were such points.
function join_equal(one: FigureSeries): boolean {
    const points = new Map<number, number[]>();
    for (const [index, x] of one.x.entries()) {
        const values = points.get(x) ?? [];
        points.set(x, values);
        values.push(one.y[index]!);
    }
    if (points.size === one.x.length) {
        return false;
    }
    const all = [...points.values()];
    one.x = [...points.keys()];
    one.y = all.map((values) => values.reduce((sum, value) => sum + value, 0) / values.length);
    one.low = all.map((values) => Math.min(...values));
    one.high = all.map((values) => Math.max(...values));
    return true;
}

function sort_by_x(one: FigureSeries): void {
    const order = one.x.map((_, index) => index).sort((a, b) => one.x[a]! - one.x[b]!);
    const sorted = (values: number[]) => order.map((index) => values[index]!);
    one.x = sorted(one.x);
    one.y = sorted(one.y);
    one.low &&= sorted(one.low);
    one.high &&= sorted(one.high);
}

export function figure_from(choice: FigureChoice, columns: Column[], rows: Cell[][]): Figure {
    const x_at = columns.findIndex((column) => column.name === choice.x);
    const categories = categories_of(rows, x_at);
    const series = curves_of(choice, columns, rows, categories);
    let banded = false;
    for (const one of choice.kind === "lines" || choice.kind === "steps" ? series : []) {
        banded = (choice.kind === "lines" && join_equal(one)) || banded;
        sort_by_x(one);
        if (one.x.length > 60 && one.kind === "linespoints") {
            one.kind = "lines";
        }
    }
    const tics = categories?.map((name, index): [string, number] => [name, index + 1]);
    return {
        title: choice.title,
        x_label: labelled(choice.x, columns),
        y_label: choice.y.map((name) => labelled(name, columns)).join(", "),
        note: banded ? t().process.mean_band : undefined,
        x_log: choice.x_log,
        y_log: choice.y_log,
        series,
        x_tics: tics && tics.length <= 40 ? tics : undefined,
    };
}
