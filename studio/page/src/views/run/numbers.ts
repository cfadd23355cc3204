// SPDX-License-Identifier: Apache-2.0
// Any object of numbers with its units and help from a schema: single numbers as pairs, distributions as a table, and
// lists as tables.
import { h, type Child } from "../../core/dom";
import { count, percent, with_unit } from "../../core/format";
import { field_at, unit_of, type FieldSchema } from "../../core/schema";
import type { Distribution } from "../../core/summary";
import { t, told, told_name } from "../../i18n/text";
import { number_table, plain_table } from "../../ui/table";

type Fields = Record<string, FieldSchema> | undefined;
type Numbers = Record<string, unknown>;

const rows_max = 200;
const list_max = 16;

function is_distribution(value: unknown): value is Distribution {
    return typeof value === "object" && value !== null && "p50" in value && "p99" in value && "mean" in value;
}

function is_list_of_objects(value: unknown): value is Numbers[] {
    return Array.isArray(value) && typeof value[0] === "object";
}

function unit_text(value: unknown, unit: string | undefined): string {
    return with_unit(value, unit) || "–";
}

// Returns the name of a field without underscores and without the unit, which stands at the value.
export function readable(name: string): string {
    const words = name.replaceAll("_", " ").replace(/(?<! per) (ns|us|ms|ps|s|gbps)$/, "");
    return told_name(words.trim());
}

// Makes a table of those values that are distributions of something; null: none is.
export function distribution_table(rows: [string, unknown, string | undefined][]): HTMLElement | null {
    const words = t().report;
    const head = [words.of, words.samples, words.mean, words.median, "p90", "p99", "p99.9", words.most];
    const cells = rows.flatMap(([name, value, unit]): [string, ...string[]][] => {
        if (!is_distribution(value) || value.count === 0 || value.mean === null) {
            return [];
        }
        const { count: samples, mean, p50, p90, p99, p999, max } = value;
        const texts = [mean, p50, p90, p99, p999, max].map((one) => (one === undefined ? "" : unit_text(one, unit)));
        return [[name, samples === undefined ? "" : count(samples), ...texts]];
    });
    return cells.length > 0 ? number_table(head, cells) : null;
}

// Makes a table of the fields that are neither lists nor objects in all rows; `prefix` is their path in the schema.
export function numbers_table(rows: Numbers[], fields: Fields, prefix: string): HTMLElement {
    const names = Object.keys(rows[0] ?? {}).filter((name) => rows.every((row) => typeof row[name] !== "object"));
    const cell = (row: Numbers, name: string) => {
        const value = row[name];
        const text = typeof value === "number" ? unit_text(value, unit_of(fields, prefix + name)) : String(value ?? "");
        return h("td", { class: typeof value === "number" ? "right nowrap" : "" }, text.slice(0, 120));
    };
    return plain_table(
        names.map(readable),
        rows.slice(0, rows_max).map((row) => names.map((name) => cell(row, name))),
    );
}

export function plain_text(name: string, value: unknown, unit: string | undefined): string {
    if (Array.isArray(value)) {
        const shown = value.slice(0, list_max).map((one) => unit_text(one, unit));
        return shown.join(", ") + (value.length > list_max ? "…" : "");
    }
    if (typeof value !== "number") {
        return String(value);
    }
    return unit === undefined && /(_rate|share|shares|fairness|busy|utilisation|ratio)$/.test(name) && value <= 1
        ? percent(value)
        : unit_text(value, unit);
}

function object_details(name: string, value: Numbers, fields: Fields, prefix: string): HTMLElement {
    const open = prefix === "" && Object.keys(value).length < 12;
    const title = told(field_at(fields, prefix + name)?.description ?? "");
    return h("details", { open }, h("summary", { title }, readable(name)), numbers(value, fields, `${prefix}${name}.`));
}

// Shows an object whose path in the schema is `prefix`, which is empty or ends with a dot.
export function numbers(content: Numbers, fields: Fields, prefix = "", skip: string[] = []): Child {
    const pairs: Child[] = [];
    const spread: Parameters<typeof distribution_table>[0] = [];
    const inner: Child[] = [];
    for (const [name, value] of Object.entries(content)) {
        const unit = unit_of(fields, prefix + name);
        const help = told(field_at(fields, prefix + name)?.description ?? "");
        const nothing = value === null || value === undefined || (Array.isArray(value) && value.length === 0);
        if (skip.includes(name) || nothing) {
            continue;
        }
        if (is_distribution(value)) {
            spread.push([readable(name), value, unit]);
        } else if (is_list_of_objects(value)) {
            const table = numbers_table(value, fields, `${prefix}${name}[].`);
            inner.push(h("details", h("summary", { title: help }, `${readable(name)} (${value.length})`), table));
        } else if (typeof value === "object" && !Array.isArray(value)) {
            inner.push(object_details(name, value as Numbers, fields, prefix));
        } else {
            const text = plain_text(name, value, unit);
            const meaning = help ? h("dd.muted.small", help) : null;
            pairs.push(h("div", h("dt", readable(name)), h("dd.number", text), meaning));
        }
    }
    return [distribution_table(spread), pairs.length > 0 && h("dl.pairs.many", pairs), inner];
}
