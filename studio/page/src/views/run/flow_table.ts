// SPDX-License-Identifier: Apache-2.0
// Flows by their size: how many, and how long they took.
import { h } from "../../core/dom";
import { count, nanoseconds, number } from "../../core/format";
import type { FlowNumbers, LocalNumbers } from "../../core/summary";
import { t } from "../../i18n/text";
import { plain_table } from "../../ui/table";

type SizeRow = Pick<FlowNumbers, "count" | "completed" | "fct_us" | "slowdown"> & { size: string };

function us(value: number | null | undefined): string {
    return value === null || value === undefined ? "–" : nanoseconds(value * 1e3);
}

function cells(row: SizeRow): HTMLElement[] {
    const texts = [
        count(row.count),
        count(row.completed),
        us(row.fct_us?.p50),
        us(row.fct_us?.p99),
        number(row.slowdown?.p50, 3),
        number(row.slowdown?.p99, 3),
    ];
    return [h("th.nowrap", { scope: "row" }, row.size), ...texts.map((text) => h("td.right.nowrap", text))];
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
        ...[words.flows, words.completed, `FCT, ${words.median}`, "FCT, p99"],
        ...[`${words.slowdown}, ${words.median}`, `${words.slowdown}, p99`],
    ];
    const head = [words.flow_size, ...titles.map((text) => h("th.right", { scope: "col" }, text))];
    return plain_table(head, rows.map(cells));
}
