// SPDX-License-Identifier: Apache-2.0
// What each step of an analysis is made of, and the fields that change it.
import { h, type Child } from "../core/dom";
import type { Column, Step } from "../core/types";
import { t } from "../i18n/text";
import { button, field, input, select } from "../ui/parts";

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

// The fields of a step; change is called with the step as it is then.
export function step_fields(step: Step, columns: Column[], tables: string[], change: (step: Step) => void): Child {
    const words = t().process;
    const list = h(
        "datalist",
        { id: `columns-${Math.random().toString(36).slice(2)}` },
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
    const label = (name: string) => words.parts[name as keyof typeof words.parts] ?? name;
    const made = (parts[step.do] ?? []).map((part): Child => {
        const value = step[part.name];
        switch (part.kind) {
            case "table":
                return field(
                    label(part.name),
                    select(
                        [...new Set([...tables, "runs"])].map((one) => [one, one === "runs" ? words.runs_table : one]),
                        String(value ?? ""),
                        (chosen) => set(part.name, chosen),
                    ),
                );
            case "choice":
                return field(
                    label(part.name),
                    select(
                        part.choices.map((one) => [one, words.choices[one as keyof typeof words.choices] ?? one]),
                        String(value ?? part.choices[0]),
                        (chosen) => set(part.name, chosen),
                    ),
                );
            case "column": {
                const names = columns.map((column): [string, string] => [column.name, column.name]);
                const known = names.some(([name]) => name === value);
                return field(
                    label(part.name),
                    select(
                        known || !value ? [["", "–"], ...names] : [[String(value), String(value)], ...names],
                        String(value ?? ""),
                        (chosen) => set(part.name, chosen),
                    ),
                );
            }
            case "columns": {
                const box = input({
                    class: "mono",
                    value: listed(value),
                    list: list.id,
                    on: {
                        change: () =>
                            set(
                                part.name,
                                box.value
                                    .split(",")
                                    .map((one) => one.trim())
                                    .filter(Boolean),
                            ),
                    },
                });
                return field(label(part.name), box);
            }
            case "numbers": {
                const box = input({
                    class: "mono",
                    value: listed(value),
                    on: { change: () => set(part.name, box.value.split(",").map(Number).filter(Number.isFinite)) },
                });
                return field(label(part.name), box);
            }
            case "number": {
                const box = input({
                    type: "number",
                    step: "any",
                    value: listed(value),
                    on: { change: () => set(part.name, box.value === "" ? "" : Number(box.value)) },
                });
                return field(label(part.name), box);
            }
            case "take": {
                const takes = ((value ?? []) as { function: string; column?: string; as?: string }[]).slice();
                return h(
                    "div",
                    { class: "field takes" },
                    h("span", { class: "label-text" }, label(part.name)),
                    takes.map((take, index) => {
                        const update = (changes: object) => {
                            takes[index] = { ...takes[index]!, ...changes };
                            set(part.name, takes);
                        };
                        const name = input({
                            class: "mono",
                            value: take.as ?? "",
                            "aria-label": words.parts.name,
                            placeholder: `${take.function}_${take.column ?? ""}`,
                            on: { change: () => update({ as: name.value.trim() || undefined }) },
                        });
                        return h(
                            "div",
                            { class: "take" },
                            select(
                                functions.map((one) => [
                                    one,
                                    words.functions[one as keyof typeof words.functions] ?? one,
                                ]),
                                take.function,
                                (chosen) => update({ function: chosen }),
                                { "aria-label": words.parts.function },
                            ),
                            select(
                                columns.map((column) => [column.name, column.name]),
                                take.column ?? "",
                                (chosen) => update({ column: chosen }),
                                { "aria-label": words.parts.column },
                            ),
                            name,
                            button(
                                "",
                                () =>
                                    set(
                                        part.name,
                                        takes.filter((_, at) => at !== index),
                                    ),
                                { small: true, kind: "quiet", icon: "close", label: words.remove_step },
                            ),
                        );
                    }),
                    h(
                        "div",
                        null,
                        button(
                            words.add_take,
                            () =>
                                set(part.name, [
                                    ...takes,
                                    {
                                        function: "p99",
                                        column: columns.find((column) => column.type === "number")?.name ?? "",
                                        as: undefined,
                                    },
                                ]),
                            { small: true, icon: "plus" },
                        ),
                    ),
                );
            }
            case "order": {
                const order = (value as { column: string; descending?: boolean }[] | undefined)?.[0] ?? {
                    column: "",
                    descending: true,
                };
                return h(
                    "div",
                    { class: "row end" },
                    field(
                        label("column"),
                        select(
                            columns.map((column) => [column.name, column.name]),
                            order.column,
                            (chosen) => set(part.name, [{ ...order, column: chosen }]),
                        ),
                    ),
                    field(
                        words.parts.order,
                        select(
                            [
                                ["down", words.descending],
                                ["up", words.ascending],
                            ],
                            order.descending ? "down" : "up",
                            (chosen) => set(part.name, [{ ...order, descending: chosen === "down" }]),
                        ),
                    ),
                );
            }
            default: {
                const box = input({
                    class: part.kind === "expression" ? "mono" : "",
                    value: listed(value),
                    list: part.kind === "expression" ? undefined : undefined,
                    placeholder: part.kind === "expression" ? "fct_ns > 1ms and bytes < 10KB" : "",
                    on: { change: () => set(part.name, box.value.trim()) },
                });
                const made_field = field(label(part.name), box);
                if (part.kind === "expression") {
                    made_field.classList.add("wide-field");
                }
                return made_field;
            }
        }
    });
    return h("div", { class: "step-fields" }, list, made);
}
