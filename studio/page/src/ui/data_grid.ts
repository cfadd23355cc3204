// SPDX-License-Identifier: Apache-2.0
// A grid of rows that the server queries, sorts and filters; they are fetched while one scrolls.
import { api } from "../core/api";
import type { Scope } from "../core/dom";
import { with_unit } from "../core/format";
import type { Cell, Column, QueryAnswer, Rows } from "../core/types";
import { told } from "../i18n/text";
import { grid, type Grid, type GridColumn } from "./grid";

interface DataGridOptions {
    label: string;
    columns: Column[];
    query: () => Record<string, unknown>;
    height?: string;
    open?: (row: Cell[], columns: Column[]) => void;
    told?: (answer: QueryAnswer) => void;
    empty?: string;
}

export function cell_text(value: Cell | undefined, { unit = "" }: Column): string {
    const readable = typeof value === "number" && ["ns", "bytes", "bit/s"].includes(unit);
    return readable ? with_unit(value, unit) : String(value ?? "");
}

export function column_width(column: Column): number {
    const name_px = column.name.length * 7.5 + 24;
    const content = column.type === "text" ? 160 : column.unit === "ns" ? 118 : 100;
    return Math.min(Math.max(name_px, content), 320);
}

interface RowsGridOptions {
    label: string;
    height: string;
    empty?: string;
    title?: (column: Column) => string;
    text: (value: Cell | undefined, column: Column) => string;
}

// Makes a grid of rows that are here. Two columns may have the same name.
export function rows_grid(scope: Scope, { columns, rows }: Rows, options: RowsGridOptions): HTMLElement {
    const { title = ({ name }) => name, text, ...others } = options;
    const made = columns.map((column, index): GridColumn<Cell[]> => {
        return {
            name: String(index),
            title: title(column),
            help: [column.name, column.unit].filter(Boolean).join("; "),
            width: column_width(column),
            right: column.type === "number",
            cell: (row) => text(row[index], column),
            value: (row) => row[index] ?? undefined,
        };
    });
    return grid<Cell[]>(scope, { ...others, columns: made, rows }).element;
}

export function data_grid(scope: Scope, options: DataGridOptions): Grid {
    const sort: { column: string; descending: boolean }[] = [];
    const list: Grid = grid<Cell[]>(scope, {
        label: options.label,
        height: options.height,
        empty: options.empty,
        open: options.open ? (row) => options.open?.(row, options.columns) : undefined,
        on_sort: (column, descending) => {
            sort.splice(0, sort.length, ...(column ? [{ column, descending }] : []));
            list.reload();
        },
        columns: options.columns.map((column, index) => ({
            name: column.name,
            title: column.name,
            help: [told(column.help ?? ""), column.unit].filter(Boolean).join("; "),
            width: column_width(column),
            right: column.type === "number",
            fixed: column.type === "number", // a number that is cut says nothing
            sortable: true,
            cell: (row) => cell_text(row[index], column),
        })),
        fetch: async (offset, limit, signal) => {
            const answer = await api.post<QueryAnswer>(
                "query",
                {
                    columns: options.columns.map((column) => column.name),
                    ...options.query(),
                    order: sort,
                    offset,
                    limit,
                    format: "json",
                },
                signal,
            );
            options.told?.(answer);
            return { rows: answer.rows, total: answer.matched };
        },
    });
    return list;
}
