// SPDX-License-Identifier: Apache-2.0
// The options of each step of an analysis, and the fields that change them.
import { h, new_id, type Child } from "../../core/dom";
import type { Column, Step } from "../../core/types";
import { t } from "../../i18n/text";
import { button, field, input, select } from "../../ui/parts";

type Part =
    | { kind: "column" | "columns" | "expression" | "text"; name: string; optional?: boolean }
    | { kind: "number"; name: string }
    | { kind: "numbers"; name: string }
    | { kind: "choice"; name: string; choices: string[] }
    | { kind: "table"; name: string }
    | { kind: "take"; name: string }
    | { kind: "order"; name: string };

const functions = [
    "count",
    "sum",
    "mean",
    "min",
    "max",
    "median",
    "p90",
    "p99",
    "p999",
    "deviation",
    "interval",
    "distinct",
    "first",
    "last",
];

const parts: Record<string, Part[]> = {
    choose: [{ kind: "table", name: "table" }],
    filter: [{ kind: "expression", name: "where" }],
    derive: [
        { kind: "text", name: "name" },
        { kind: "expression", name: "expression" },
        { kind: "text", name: "unit", optional: true },
    ],
    group: [
        { kind: "columns", name: "by" },
        { kind: "take", name: "take" },
    ],
    pivot: [
        { kind: "columns", name: "rows" },
        { kind: "column", name: "columns" },
        { kind: "choice", name: "function", choices: functions },
        { kind: "column", name: "column" },
    ],
    percentiles: [
        { kind: "column", name: "column" },
        { kind: "columns", name: "by", optional: true },
        { kind: "numbers", name: "points" },
    ],
    cdf: [
        { kind: "column", name: "column" },
        { kind: "columns", name: "by", optional: true },
        { kind: "number", name: "points" },
    ],
    histogram: [
        { kind: "column", name: "column" },
        { kind: "columns", name: "by", optional: true },
        { kind: "number", name: "bins" },
        { kind: "choice", name: "scale", choices: ["linear", "log"] },
    ],
    compare: [{ kind: "columns", name: "fields", optional: true }],
    means: [
        { kind: "column", name: "value" },
        { kind: "columns", name: "by", optional: true },
        { kind: "column", name: "versus" },
        { kind: "text", name: "base", optional: true },
    ],
    fit: [
        { kind: "column", name: "x" },
        { kind: "column", name: "y" },
        { kind: "choice", name: "kind", choices: ["linear", "log", "power", "exponential"] },
        { kind: "columns", name: "by", optional: true },
    ],
    outliers: [
        { kind: "column", name: "column" },
        { kind: "columns", name: "by", optional: true },
        { kind: "choice", name: "method", choices: ["iqr", "mad", "deviation"] },
        { kind: "number", name: "k" },
        { kind: "choice", name: "keep", choices: ["outliers", "rest"] },
    ],
    sort: [{ kind: "order", name: "by" }],
    limit: [{ kind: "number", name: "rows" }],
};

export const step_kinds = Object.keys(parts);

export function new_step(kind: string, columns: Column[]): Step {
    const numeric = columns.filter((column) => column.type === "number").map((column) => column.name);
    const text = columns.filter((column) => column.type === "text").map((column) => column.name);
    const number_column =
        numeric.find((name) => /fct|slowdown|value|mean/.test(name)) ?? numeric[numeric.length - 1] ?? "";
    const by = text.includes("run_name") ? ["run_name"] : text.slice(0, 1);
    switch (kind) {
        case "choose":
            return { do: kind, table: "flows" };
        case "filter":
            return { do: kind, where: numeric[0] ? `${number_column} > 0` : "" };
        case "derive":
            return { do: kind, name: "goodput", expression: "bytes * 8 / fct_ns", unit: "Gbps" };
        case "group":
            return {
                do: kind,
                by,
                take: [
                    { function: "count", column: number_column, as: "count" },
                    { function: "median", column: number_column, as: "median" },
                ],
            };
        case "pivot":
            return {
                do: kind,
                rows: text.slice(0, 1),
                columns: text[1] ?? "run_name",
                function: "mean",
                column: number_column,
            };
        case "percentiles":
            return { do: kind, column: number_column, by, points: [50, 90, 99, 99.9] };
        case "cdf":
            return { do: kind, column: number_column, by, points: 500 };
        case "histogram":
            return { do: kind, column: number_column, by: [], bins: 40, scale: "linear" };
        case "compare":
            return { do: kind, base: 0 };
        case "means":
            return { do: kind, value: number_column, by: [], versus: by[0] ?? "" };
        case "fit":
            return { do: kind, x: numeric[0] ?? "", y: number_column, kind: "linear" };
        case "outliers":
            return { do: kind, column: number_column, method: "iqr", k: 1.5, keep: "outliers" };
        case "sort":
            return { do: kind, by: [{ column: number_column, descending: true }] };
        default:
            return { do: kind, rows: 100 };
    }
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

function names_of(columns: Column[]): [string, string][] {
    return columns.map((column) => [column.name, column.name]);
}

function choice_field(context: Context, name: string, choices: [string, string][], value: string): HTMLElement {
    return field(
        label(name),
        select(choices, value, (chosen) => context.set(name, chosen)),
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
    const all = functions.map((one): [string, string] => [one, words.functions[one] ?? one]);
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
    const ways: [string, string][] = [
        ["down", words.descending],
        ["up", words.ascending],
    ];
    const column = select(names_of(context.columns), order.column, (chosen) =>
        context.set(name, [{ ...order, column: chosen }]),
    );
    const way = select(ways, order.descending ? "down" : "up", (chosen) =>
        context.set(name, [{ ...order, descending: chosen === "down" }]),
    );
    return h("div.row.end", field(label("column"), column), field(words.parts.order, way));
}

function part_field(context: Context, part: Part): HTMLElement {
    const { name } = part;
    const words = t().process;
    const value = context.step[name];
    const split = (text: string) => text.split(",").map((one) => one.trim());
    switch (part.kind) {
        case "table": {
            const all = [...new Set([...context.tables, "runs"])];
            const named = all.map((one): [string, string] => [one, one === "runs" ? words.runs_table : one]);
            return choice_field(context, name, named, String(value ?? ""));
        }
        case "choice": {
            const named = part.choices.map((one): [string, string] => [one, words.choices[one] ?? one]);
            return choice_field(context, name, named, String(value ?? part.choices[0]));
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
