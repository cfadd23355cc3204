// SPDX-License-Identifier: Apache-2.0
// The options of each step of an analysis, and the fields that change them.
import { h, new_id, type Child } from "../../core/dom";
import type { Column, Step } from "../../core/types";
import { t } from "../../i18n/text";
import { button, choices, field, input, select, type Choice } from "../../ui/parts";

// Columns that a new step begins with.
interface Guess {
    number: string;
    numeric: string[];
    text: string[];
    by: string[];
}

interface Part {
    kind:
        | "column"
        | "columns"
        | "expression"
        | "text"
        | "number"
        | "numbers"
        | "choice"
        | "table"
        | "take"
        | "order"
        | "";
    name: string;
    choices?: string[];
    first?: (guess: Guess) => unknown; // value in a new step
}

const functions = [
    ...["count", "sum", "mean", "min", "max", "median", "p90", "p99", "p999"],
    ...["deviation", "interval", "distinct", "first", "last"],
];

const column: Part = { kind: "column", name: "column", first: ({ number }) => number };
const by: Part = { kind: "columns", name: "by", first: (guess) => guess.by };
const not_by: Part = { kind: "columns", name: "by", first: () => [] };
const fits = ["linear", "log", "power", "exponential"];

const parts: Record<string, Part[]> = {
    choose: [{ kind: "table", name: "table", first: () => "flows" }],
    filter: [
        { kind: "expression", name: "where", first: ({ number, numeric }) => (numeric[0] ? `${number} > 0` : "") },
    ],
    derive: [
        { kind: "text", name: "name", first: () => "goodput" },
        { kind: "expression", name: "expression", first: () => "bytes * 8 / fct_ns" },
        { kind: "text", name: "unit", first: () => "Gbps" },
    ],
    group: [
        by,
        {
            kind: "take",
            name: "take",
            first: ({ number }) => ["count", "median"].map((one) => ({ function: one, column: number, as: one })),
        },
    ],
    pivot: [
        { kind: "columns", name: "rows", first: ({ text }) => text.slice(0, 1) },
        { kind: "column", name: "columns", first: ({ text }) => text[1] ?? "run_name" },
        { kind: "choice", name: "function", choices: functions, first: () => "mean" },
        column,
    ],
    percentiles: [column, by, { kind: "numbers", name: "points", first: () => [50, 90, 99, 99.9] }],
    cdf: [column, by, { kind: "number", name: "points", first: () => 500 }],
    histogram: [
        column,
        not_by,
        { kind: "number", name: "bins", first: () => 40 },
        { kind: "choice", name: "scale", choices: ["linear", "log"], first: () => "linear" },
    ],
    compare: [
        { kind: "columns", name: "fields" },
        { kind: "", name: "base", first: () => 0 },
    ],
    means: [
        { ...column, name: "value" },
        not_by,
        { kind: "column", name: "versus", first: (guess) => guess.by[0] ?? "" },
        { kind: "text", name: "base" },
    ],
    fit: [
        { kind: "column", name: "x", first: ({ numeric }) => numeric[0] ?? "" },
        { ...column, name: "y" },
        { kind: "choice", name: "kind", choices: fits, first: () => "linear" },
        { kind: "columns", name: "by" },
    ],
    outliers: [
        column,
        { kind: "columns", name: "by" },
        { kind: "choice", name: "method", choices: ["iqr", "mad", "deviation"], first: () => "iqr" },
        { kind: "number", name: "k", first: () => 1.5 },
        { kind: "choice", name: "keep", choices: ["outliers", "rest"], first: () => "outliers" },
    ],
    sort: [{ kind: "order", name: "by", first: ({ number }) => [{ column: number, descending: true }] }],
    limit: [{ kind: "number", name: "rows", first: () => 100 }],
};

export const step_kinds = Object.keys(parts);

export function new_step(kind: string, columns: Column[]): Step {
    const names = (type: string) => columns.filter((one) => one.type === type).map((one) => one.name);
    const [numeric, text] = [names("number"), names("text")];
    const number = numeric.find((name) => /fct|slowdown|value|mean/.test(name)) ?? numeric.at(-1) ?? "";
    const guess = { number, numeric, text, by: text.includes("run_name") ? ["run_name"] : text.slice(0, 1) };
    const first = (parts[kind] ?? []).filter((part) => part.first).map((part) => [part.name, part.first!(guess)]);
    return { do: kind, ...Object.fromEntries(first) };
}

function listed(value: unknown): string {
    return Array.isArray(value) ? value.join(", ") : String(value ?? "");
}

interface Context {
    step: Step;
    columns: Column[]; // before the step
    tables: string[];
    list: string; // id of the list of columns
    set: (name: string, value: unknown) => void;
}

interface Take {
    function: string;
    column?: string;
    as?: string;
}

function label(name: string): string {
    const words: Record<string, string> = t().process.parts;
    return words[name] ?? name;
}

function names_of(columns: Column[]): Choice[] {
    return choices(columns.map(({ name }) => name));
}

function choice_field(context: Context, name: string, all: readonly Choice[], value: string): HTMLElement {
    return field(
        label(name),
        select(all, value, (chosen) => context.set(name, chosen)),
    );
}

function column_field(context: Context, name: string): HTMLElement {
    const value = String(context.step[name] ?? "");
    const names = names_of(context.columns);
    const known = value === "" || names.some(([column]) => column === value);
    return choice_field(context, name, [known ? ["", "–"] : [value, value], ...names], value);
}

// Makes a field whose text stands for a value; `parse` turns it back.
function text_field(context: Context, name: string, parse: (text: string) => unknown, props: object): HTMLElement {
    const change = () => context.set(name, parse(box.value));
    const box = input({ value: listed(context.step[name]), ...props, on: { change } });
    return field(label(name), box);
}

function take_row(context: Context, name: string, takes: Take[], index: number): HTMLElement {
    const words = t().process;
    const take = takes[index]!;
    const update = (changes: Partial<Take>) => {
        context.set(
            name,
            takes.map((one, at) => (at === index ? { ...one, ...changes } : one)),
        );
    };
    const remove = () =>
        context.set(
            name,
            takes.filter((_, at) => at !== index),
        );
    const as = input({
        class: "mono",
        value: take.as ?? "",
        "aria-label": words.parts.name,
        placeholder: `${take.function}_${take.column ?? ""}`,
        on: { change: () => update({ as: as.value.trim() || undefined }) },
    });
    const all = choices(functions, (one) => words.functions[one] ?? one);
    return h(
        "div.take",
        select(all, take.function, (chosen) => update({ function: chosen }), { "aria-label": words.parts.function }),
        select(names_of(context.columns), take.column ?? "", (chosen) => update({ column: chosen }), {
            "aria-label": words.parts.column,
        }),
        as,
        button("", remove, { small: true, kind: "quiet", icon: "close", label: words.remove_step }),
    );
}

function takes_field(context: Context, name: string): HTMLElement {
    const takes = (context.step[name] ?? []) as Take[];
    const numeric = context.columns.find((column) => column.type === "number")?.name ?? "";
    const add = () => context.set(name, [...takes, { function: "p99", column: numeric }]);
    return h(
        "div.field.takes",
        h("span.label-text", label(name)),
        takes.map((_, index) => take_row(context, name, takes, index)),
        h("div", button(t().process.add_take, add, { small: true, icon: "plus" })),
    );
}

function order_field(context: Context, name: string): HTMLElement {
    const words = t().process;
    const all = (context.step[name] ?? []) as { column: string; descending?: boolean }[];
    const order = all[0] ?? { column: "", descending: true };
    const ways = choices(["down", "up"], (one) => (one === "down" ? words.descending : words.ascending));
    const column = select(names_of(context.columns), order.column, (chosen) =>
        context.set(name, [{ ...order, column: chosen }]),
    );
    const way = select(ways, order.descending ? "down" : "up", (chosen) =>
        context.set(name, [{ ...order, descending: chosen === "down" }]),
    );
    return h("div.row.end", field(label("column"), column), field(words.parts.order, way));
}

function part_field(context: Context, part: Part): HTMLElement | null {
    const { name } = part;
    const words = t().process;
    const value = context.step[name];
    const split = (text: string) => text.split(",").map((one) => one.trim());
    switch (part.kind) {
        case "table": {
            const all = [...new Set([...context.tables, "runs"])];
            const named = choices(all, (one) => (one === "runs" ? words.runs_table : one));
            return choice_field(context, name, named, String(value ?? ""));
        }
        case "choice": {
            const { choices: all = [] } = part;
            const named = choices(
                all,
                (one) => words.choices[one] ?? (name === "function" ? words.functions[one]! : one),
            );
            return choice_field(context, name, named, String(value ?? all[0]));
        }
        case "column":
            return column_field(context, name);
        case "columns":
            return text_field(context, name, (text) => split(text).filter(Boolean), {
                class: "mono",
                list: context.list,
            });
        case "numbers":
            return text_field(context, name, (text) => split(text).map(Number).filter(Number.isFinite), {
                class: "mono",
            });
        case "number":
            return text_field(context, name, (text) => (text === "" ? "" : Number(text)), {
                type: "number",
                step: "any",
            });
        case "take":
            return takes_field(context, name);
        case "order":
            return order_field(context, name);
        case "":
            return null;
        case "expression": {
            const placeholder = "fct_ns > 1ms and bytes < 10KB";
            const made = text_field(context, name, (text) => text.trim(), { class: "mono", placeholder });
            made.classList.add("wide-field");
            return made;
        }
        default:
            return text_field(context, name, (text) => text.trim(), {});
    }
}

// Makes the fields of a step; `change` is called with the changed step.
export function step_fields(step: Step, columns: Column[], tables: string[], change: (step: Step) => void): Child {
    const list = h(
        "datalist",
        { id: new_id("columns") },
        columns.map((column) => h("option", { value: column.name }, column.unit ?? "")),
    );
    const set = (name: string, value: unknown) => {
        const made = { ...step };
        if (value === "" || (Array.isArray(value) && value.length === 0 && name !== "by")) {
            delete made[name];
        } else {
            made[name] = value;
        }
        change(made);
    };
    const context: Context = { step, columns, tables, list: list.id, set };
    const fields = (parts[step.do] ?? []).map((part) => part_field(context, part));
    return h("div.step-fields", list, fields);
}
