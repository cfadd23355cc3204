// SPDX-License-Identifier: Apache-2.0
// The pages that the program describes for its results (results/reference/pages.h): which of them a run has, and the
// values that they show. The page knows no application; a run of a newer program brings its own pages.
import { name_unit, type FieldSchema, type ResultSchema } from "./schema";
import type { Summary } from "./summary";

export interface PageValue {
    path: string;
    label: string;
}

export interface PageChart {
    kind: "lines" | "bars" | "stack" | "shares" | "cdf" | "parts" | "table" | "times" | "tracks";
    title: string;
    help?: string;
    rows?: string;
    x?: string;
    x_label?: string;
    by?: string;
    log?: string;
    record?: string;
    values: PageValue[];
}

export interface PageSchema {
    name: string;
    title: string;
    of: "apps" | "nics" | "summary";
    kinds?: string[];
    needs?: string;
    first: boolean;
    facts: PageValue[];
    charts: PageChart[];
}

export type Report = Record<string, unknown>;

// A report that a page shows, with the meaning of its fields.
export interface Subject {
    title: string; // "": there is only one
    report: Report;
    fields: Record<string, FieldSchema>;
}

// A page that a run has.
export interface RunPage {
    page: PageSchema;
    subjects: Subject[];
}

const nics_max = 8; // of a page

// Returns the value at a path such as "a.b", "list[0].b" or "parts.*.b", which adds up what all parts have.
export function value_at(report: unknown, path: string): unknown {
    let here: unknown = report;
    const steps = path.split(/[.[\]]+/).filter(Boolean);
    for (const [index, step] of steps.entries()) {
        if (typeof here !== "object" || here === null) {
            return undefined;
        }
        if (step === "*") {
            const rest = steps.slice(index + 1).join(".");
            const parts = Object.values(here).map((part) => value_at(part, rest));
            const numbers = parts.filter((part) => typeof part === "number");
            return numbers.length > 0 ? numbers.reduce((sum, one) => sum + one, 0) : undefined;
        }
        here = (here as Record<string, unknown>)[step];
    }
    return here;
}

// Returns the unit of the value at a path; that of an object or a list is the unit of what is in it.
export function unit_at(fields: Record<string, FieldSchema>, path: string): string | undefined {
    let here: Record<string, FieldSchema> | undefined = fields;
    let unit: string | undefined;
    for (const step of path.split(/\[\d+\]|\./).filter(Boolean)) {
        const field: FieldSchema | undefined = here?.[step];
        unit = field?.unit ?? (field?.type?.includes("integer") ? undefined : unit);
        here = field?.properties ?? field?.items?.properties;
    }
    return unit ?? name_unit(path);
}

function has(report: Report, needs: string | undefined): boolean {
    return needs === undefined || Boolean(value_at(report, needs));
}

// Returns the pages of a run, in the program's order. An application has the first page that fits it.
export function pages_of(summary: Summary, schema: ResultSchema): RunPage[] {
    const pages = schema.pages ?? [];
    const found = new Map<string, Subject[]>();
    const add = (page: PageSchema, subject: Subject) =>
        found.set(page.name, [...(found.get(page.name) ?? []), subject]);
    for (const [index, app] of summary.apps.entries()) {
        const fits = (page: PageSchema) => page.of === "apps" && page.kinds?.includes(app.kind) && has(app, page.needs);
        const page = pages.find(fits);
        if (page) {
            const title = summary.apps.length > 1 ? `traffic[${index}]: ${app.kind}` : "";
            add(page, { title, report: app, fields: schema.summary.apps_by_kind?.[app.kind] ?? {} });
        }
    }
    for (const page of pages) {
        for (const nic of page.of === "nics" ? summary.nics : []) {
            const part = page.needs ?? "";
            const report = nic[part] as Report | null;
            if (report && (found.get(page.name)?.length ?? 0) < nics_max) {
                add(page, { title: nic.name, report, fields: schema.summary.nics_by_part?.[part] ?? {} });
            }
        }
        if (page.of === "summary" && has(summary as unknown as Report, page.needs)) {
            const report = summary as unknown as Report;
            add(page, { title: "", report, fields: schema.summary.properties ?? {} });
        }
    }
    return pages.flatMap((page) => (found.has(page.name) ? [{ page, subjects: found.get(page.name)! }] : []));
}
