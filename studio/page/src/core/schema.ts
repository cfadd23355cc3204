// SPDX-License-Identifier: Apache-2.0
// Reads the meaning of a result's fields from the run's own schema.json. The page shows a new counter of the simulator
// with its unit and help, and needs no change for that.

import type { PageSchema } from "./pages";

export interface FieldSchema {
    description?: string;
    unit?: string;
    type?: string | string[];
    properties?: Record<string, FieldSchema>;
    items?: FieldSchema;
}

export interface ResultSchema {
    summary: FieldSchema & {
        apps_by_kind?: Record<string, Record<string, FieldSchema>>;
        nics_by_part?: Record<string, Record<string, FieldSchema>>;
    };
    pages?: PageSchema[]; // a run of an older rocesim has none
}

// Units of fields that no schema describes, by the end of their names.
const name_units: [RegExp, string][] = [
    [/_ps$/, "ps"],
    [/_ns$/, "ns"],
    [/_us$/, "us"],
    [/_ms$/, "ms"],
    [/(^|_)bytes(_|$)/, "bytes"],
    [/gbps$/, "Gbps"],
    [/_bps$/, "bit/s"],
];

// Returns the field at a dotted path, or undefined where the schema has none.
export function field_at(fields: Record<string, FieldSchema> | undefined, path: string): FieldSchema | undefined {
    const [first = "", ...rest] = path.split(".");
    const field = fields?.[first];
    return rest.length === 0 ? field : field_at(field?.properties, rest.join("."));
}

// Returns the unit that the end of a field's name says.
export function name_unit(path: string): string | undefined {
    return name_units.find(([end]) => end.test(path))?.[1];
}

export function unit_of(fields: Record<string, FieldSchema> | undefined, path: string): string | undefined {
    return field_at(fields, path)?.unit ?? name_unit(path);
}
