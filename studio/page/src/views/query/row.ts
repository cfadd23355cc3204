// SPDX-License-Identifier: Apache-2.0
// One row of a table with everything it says, and the ways from it to packets, series and other events.
import { api } from "../../core/api";
import { h, type Child } from "../../core/dom";
import { go, link, query_link, with_query } from "../../core/router";
import type { Cell, Column } from "../../core/types";
import { t, told } from "../../i18n/text";
import { cell_text } from "../../ui/data_grid";
import type { IconName } from "../../ui/icons";
import { button, sheet, tell_problem } from "../../ui/parts";

const around_ns = 100_000; // of series before and after a row

// Goes from a dropped packet or a pause to the packet in a capture.
async function find_packet(run: number, row: Record<string, Cell>): Promise<void> {
    try {
        const found = await api.get<{ file: string; n: number }>(`runs/${run}/captures/-/find`, {
            time_ns: row.time_ns as number,
            src: row.src as string,
            dst: row.dst as string,
        });
        go(with_query(link("captures", run, found.file), { packet: found.n }));
    } catch (error) {
        tell_problem(error);
    }
}

function actions_of(values: Record<string, Cell>, run: number): Child[] {
    const words = t().query;
    const port = String(values.port ?? "");
    const time_ns = values.time_ns;
    const action = (text: string, icon: IconName, work: () => void) => {
        const leave = () => {
            document.querySelector("dialog")?.close();
            work();
        };
        return button(text, leave, { icon });
    };
    const show_series = () => {
        const from = Math.max(0, Math.floor(Number(time_ns) - around_ns));
        const to = Math.ceil(Number(time_ns) + around_ns);
        go(with_query(link("run", run), { tab: "series", from, to }));
    };
    const show_events = () => {
        go(query_link(run, "events", `port = "${port}"`));
    };
    const has_time = time_ns !== undefined;
    const has_packet = has_time && (values.event === "drop" || values.event === "paused");
    return [
        has_packet && action(words.to_packet, "captures", () => void find_packet(run, values)),
        has_time && action(words.series_then, "process", show_series),
        port !== "" && action(words.only_port, "query", show_events),
    ];
}

export function show_row(columns: Column[], row: Cell[], runs: number[]): void {
    const values = Object.fromEntries(columns.map((column, index) => [column.name, row[index] ?? null]));
    const pairs = columns.map((column, index) => {
        const exact = typeof row[index] === "number" && column.unit ? ` (${row[index]} ${column.unit})` : "";
        return [
            h("dt", { title: told(column.help ?? "") }, column.name),
            h("dd.mono", cell_text(row[index], column) || "–", h("span.muted", exact)),
        ];
    });
    const actions = actions_of(values, Number(values.run ?? runs[0]));
    const parts = [h("dl.pairs", pairs), h("div.row", actions)];
    void sheet(t().query.row, parts, { text: t().common.close });
}
