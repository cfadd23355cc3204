// SPDX-License-Identifier: Apache-2.0
// The number of a table's rows over time, in which one can drag to choose a range.
import { analysed } from "../core/api";
import { h, type Scope } from "../core/dom";
import { choose_range } from "../core/time_range";
import type { StepAnswer, Table } from "../core/types";
import { t } from "../i18n/text";
import { figure_of_bins } from "../plot/figure";
import { plot } from "../plot/plot";

const time_bins = 160;

export interface TimelineQuestion {
    runs: number[];
    table: string;
    time: string; // the column of the time
    filter: object[]; // conditions, as the server takes them
    where: string; // an expression; "": none
    title: string;
}

// Returns the column of a table that says when its rows happened.
export function time_column(table: Table): string | undefined {
    return table.columns.find((column) => column.name === "time_ns" || column.name === "start_ns")?.name;
}

export class Timeline {
    readonly element: HTMLElement;
    private readonly chart;

    constructor(scope: Scope) {
        this.chart = plot(scope, {
            height: 120,
            legend: false,
            name: "rows-over-time",
            zoomed: (from, to) => choose_range([from, to]),
        });
        this.element = h("section.card.tight-card", { hidden: true }, this.chart.element);
    }

    hide(): void {
        this.element.hidden = true;
    }

    async show({ runs, table, time, filter, where, title }: TimelineQuestion, signal: AbortSignal): Promise<void> {
        const steps = [
            { do: "choose", table },
            ...(filter.length > 0 ? [{ do: "filter", filter }] : []),
            ...(where ? [{ do: "filter", where }] : []),
            { do: "histogram", column: time, bins: time_bins },
        ];
        try {
            const last = await analysed(runs, steps, signal);
            this.element.hidden = last.rows.length === 0;
            this.draw(last, title);
        } catch {
            this.hide(); // the table says what is wrong
        }
    }

    private draw({ columns, rows }: StepAnswer, title: string): void {
        const column = (name: string) => {
            const at = columns.findIndex((one) => one.name === name);
            return rows.map((row) => Number(row[at]));
        };
        this.chart.show(figure_of_bins(title, t().query.rows, column("from"), column("to"), column("count")));
    }
}
