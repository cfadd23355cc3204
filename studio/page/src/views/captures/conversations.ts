// SPDX-License-Identifier: Apache-2.0
// The conversations of a capture: who sent how many packets and bytes to whom, between which times.
import { api, was_aborted } from "../../core/api";
import { fill, h, type Scope } from "../../core/dom";
import { bytes, count, nanoseconds } from "../../core/format";
import { time_range } from "../../core/time_range";
import type { Cell, StepAnswer } from "../../core/types";
import { t } from "../../i18n/text";
import { button, loading, problem } from "../../ui/parts";
import { plain_table } from "../../ui/table";

const rows_max = 100;

export interface ConversationQuestion {
    run: number;
    filter: object[];
    choose: (filter: string) => void; // shows the packets of a conversation
}

// Keeps the packets of the time range that all views show.
function range_steps(): object[] {
    const range = time_range();
    return range ? [{ do: "filter", where: `time_ns >= ${range[0]} and time_ns <= ${range[1]}` }] : [];
}

function steps_of({ filter }: ConversationQuestion): object[] {
    return [
        { do: "choose", table: "packets" },
        { do: "filter", filter },
        ...range_steps(),
        {
            do: "group",
            by: ["src", "dst", "src_port"],
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

function table_of({ columns, rows }: StepAnswer, choose: (filter: string) => void): HTMLElement {
    const words = t().captures;
    const at = (row: Cell[], name: string) => row[columns.findIndex((column) => column.name === name)];
    const right = (text: string) => h("th", { class: "right", scope: "col" }, text);
    const number = (text: string) => h("td", { class: "right nowrap" }, text);
    const lines = rows.slice(0, rows_max).map((row) => {
        const port = at(row, "src_port");
        const ports = typeof port === "number" ? ` and udp src port ${port}` : "";
        const filter = `src host ${at(row, "src")} and dst host ${at(row, "dst")}${ports}`;
        const [first, last] = [Number(at(row, "first")), Number(at(row, "last"))];
        return [
            h("td", { class: "mono" }, String(at(row, "src"))),
            h("td", { class: "mono" }, String(at(row, "dst"))),
            number(typeof port === "number" ? String(port) : "–"),
            number(count(Number(at(row, "packets")))),
            number(bytes(Number(at(row, "sum")))),
            number(nanoseconds(first)),
            number(nanoseconds(last - first)),
            h(
                "td",
                null,
                button(words.show_packets, () => choose(filter), { small: true }),
            ),
        ];
    });
    const numbers = [words.port, words.count, words.length, words.first, words.lasts].map(right);
    return plain_table([words.source, words.destination, ...numbers, ""], lines);
}

// Returns a closed part of the page that asks for the conversations when it is opened.
export function conversations(
    scope: Scope,
    ask: () => ConversationQuestion,
): { element: HTMLElement; ask: () => void } {
    const words = t().captures;
    const place = h("div");
    let control = new AbortController();
    scope.on_end(() => control.abort());
    const load = async () => {
        control.abort();
        control = new AbortController();
        const { signal } = control;
        const question = ask();
        fill(place, loading());
        try {
            const body = { runs: [question.run], steps: steps_of(question) };
            const answer = await api.post<{ steps: StepAnswer[] }>("analysis", body, signal);
            fill(place, table_of(answer.steps[answer.steps.length - 1]!, question.choose));
        } catch (error) {
            if (!was_aborted(error)) {
                fill(place, problem(error));
            }
        }
    };
    const element = h(
        "details",
        { class: "card", on: { toggle: () => element.open && void load() } },
        h("summary", null, words.conversations),
        place,
    );
    return { element, ask: () => element.open && void load() };
}
