// SPDX-License-Identifier: Apache-2.0
// Flows by their size: how many, and how long they took.
import { count, nanoseconds, number } from "../../core/format";
import type { FlowNumbers, LocalNumbers } from "../../core/summary";
import { t } from "../../i18n/text";
import { number_table } from "../../ui/table";

type SizeRow = Pick<FlowNumbers, "count" | "completed" | "fct_us" | "slowdown"> & { size: string };

function us(value: number | null | undefined): string {
    return value === null || value === undefined ? "–" : nanoseconds(value * 1e3);
}

function cells({ size, count: all, completed, fct_us, slowdown }: SizeRow): [string, ...string[]] {
    const times = [us(fct_us?.p50), us(fct_us?.p99)];
    return [size, count(all), count(completed), ...times, number(slowdown?.p50, 3), number(slowdown?.p99, 3)];
}

// Makes the table, or null where there are no flows. Messages within hosts have a row of their own.
export function flow_table(flows: FlowNumbers, local?: LocalNumbers): HTMLElement | null {
    const words = t().report;
    const near = (local?.count ?? 0) > 0 ? [{ size: words.nvlink, ...local!, slowdown: null }] : [];
    if (flows.count + near.length === 0) {
        return null;
    }
    const { count: all, completed, fct_us, slowdown } = flows;
    const rows: SizeRow[] = [
        ...flows.by_size.filter((row) => row.count > 0),
        ...(all > 0 ? [{ size: words.all, count: all, completed, fct_us, slowdown }] : []),
        ...near,
    ];
    const titles = [
        ...[words.flow_size, words.flows, words.completed, `FCT, ${words.median}`, "FCT, p99"],
        ...[`${words.slowdown}, ${words.median}`, `${words.slowdown}, p99`],
    ];
    return number_table(titles, rows.map(cells));
}
