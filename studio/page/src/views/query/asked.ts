// SPDX-License-Identifier: Apache-2.0
// The question to the logs: the state that the tabs of the log query share and that can be saved.
import type { Cell } from "../../core/types";

export interface Condition {
    column: string;
    op: string;
    value: string;
}

export interface Asked {
    table: string;
    conditions: Condition[];
    where: string;
    range: [number, number] | null; // the time of a saved query, in ns
    sql: string;
    search: string;
}

// The runs that are asked may change while a tab is open.
export interface Query {
    asked: Asked;
    runs: () => number[];
}

export const operators = [
    ...["=", "!=", ">", ">=", "<", "<="],
    ...["contains", "starts", "ends", "glob", "in", "missing", "present"],
];

export function needs_value(op: string): boolean {
    return op !== "missing" && op !== "present";
}

// Returns the conditions of an address, in which anything may stand.
export function conditions_of(kept: unknown): Condition[] {
    if (!Array.isArray(kept)) {
        return [];
    }
    return kept
        .filter((one) => Array.isArray(one) && one.length === 3 && one.every((part) => typeof part === "string"))
        .map(([column, op, value]) => ({ column, op, value }) as Condition)
        .filter((one) => operators.includes(one.op));
}

// Returns what conditions_of reads; "" if there are no conditions.
export function conditions_text(conditions: Condition[]): string {
    return conditions.length > 0 ? JSON.stringify(conditions.map((one) => [one.column, one.op, one.value])) : "";
}

function value_of({ op, value }: Condition): Cell | string[] {
    if (op === "in") {
        return value.split(",").map((word) => word.trim());
    }
    return /^-?\d+(\.\d+)?(e\d+)?$/.test(value) ? Number(value) : value;
}

// Returns the complete conditions as the server takes them.
export function filter_of(asked: Asked): object[] {
    return asked.conditions
        .filter((one) => one.column && (one.value !== "" || !needs_value(one.op)))
        .map((one) => ({
            column: one.column,
            op: one.op,
            ...(needs_value(one.op) ? { value: value_of(one) } : {}),
        }));
}
