// SPDX-License-Identifier: Apache-2.0
// The groups of a capture's frames: conversations of two hosts, and ports. A group's button shows its frames.
import { analysed, was_aborted } from "../../core/api";
import { fill, h, type Scope } from "../../core/dom";
import { bytes, count, nanoseconds } from "../../core/format";
import { time_range } from "../../core/time_range";
import type { Cell, StepAnswer } from "../../core/types";
import { t } from "../../i18n/text";
import { button, loading, problem } from "../../ui/parts";
import { plain_table } from "../../ui/table";

const rows_max = 100;

// A group and the meaning of choosing it.
export interface Grouping {
    title: string;
    by: [column: string, title: string][];
    filter: () => object[]; // the frames that are grouped
    choose: (values: Cell[]) => void; // shows the frames of the group with these values
}

// Keeps the packets of the time range that all views show.
function range_steps(): object[] {
    const range = time_range();
    return range ? [{ do: "filter", where: `time_ns >= ${range[0]} and time_ns <= ${range[1]}` }] : [];
}

function steps_of({ by, filter }: Grouping): object[] {
    return [
        { do: "choose", table: "packets" },
        { do: "filter", filter: filter() },
        ...range_steps(),
        {
            do: "group",
            by: by.map(([column]) => column),
            take: [
                { function: "count", column: "bytes", as: "packets" },
                { function: "sum", column: "bytes", as: "sum" },
                { function: "min", column: "time_ns", as: "first" },
                { function: "max", column: "time_ns", as: "last" },
            ],
        },
        { do: "sort", by: [{ column: "sum", descending: true }] },
    ];
}

function table_of({ columns, rows }: StepAnswer, { by, choose }: Grouping): HTMLElement {
    const words = t().captures;
    const at = (row: Cell[], name: string) => row[columns.findIndex((column) => column.name === name)] ?? null;
    const right = (text: string) => h("th.right", { scope: "col" }, text);
    const number = (text: string) => h("td.right.nowrap", text);
    const lines = rows.slice(0, rows_max).map((row) => {
        const values = by.map(([column]) => at(row, column));
        const [first, last] = [Number(at(row, "first")), Number(at(row, "last"))];
        const named = values.map((value) => h("td.mono", value === null ? "–" : String(value)));
        const show = button(words.show_packets, () => choose(values), { small: true });
        const numbers = [count(Number(at(row, "packets"))), bytes(Number(at(row, "sum"))), nanoseconds(first)];
        return [...named, ...[...numbers, nanoseconds(last - first)].map(number), h("td", show)];
    });
    const titles = by.map(([, title]) => title);
    const numbers = [words.count, words.length, words.first, words.lasts].map(right);
    return plain_table([...titles, ...numbers, ""], lines);
}

// Returns a closed part of the page that asks for the groups when it is opened.
export function groups_of(scope: Scope, run: number, grouping: Grouping): { element: HTMLElement; ask: () => void } {
    const place = h("div");
    let control = new AbortController();
    scope.on_end(() => control.abort());
    const load = async () => {
        control.abort();
        control = new AbortController();
        const { signal } = control;
        fill(place, loading());
        try {
            fill(place, table_of(await analysed([run], steps_of(grouping), signal), grouping));
        } catch (error) {
            if (!was_aborted(error)) {
                fill(place, problem(error));
            }
        }
    };
    const element = h(
        "details.card",
        { on: { toggle: () => element.open && void load() } },
        h("summary", grouping.title),
        place,
    );
    return { element, ask: () => element.open && void load() };
}
