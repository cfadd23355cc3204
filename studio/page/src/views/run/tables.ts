// SPDX-License-Identifier: Apache-2.0
// Tables of a run: any of its result tables, its hosts, its files, and the log of the program.
import { analysed, api, api_url, call, was_aborted } from "../../core/api";
import { fill, h, type Child, type Scope } from "../../core/dom";
import { bytes, count, with_unit } from "../../core/format";
import { query_link } from "../../core/router";
import { on_range, range_query, time_range } from "../../core/time_range";
import type { Cell, Rows, Run, Table, Tables } from "../../core/types";
import { t, told } from "../../i18n/text";
import { data_grid } from "../../ui/data_grid";
import { card, empty, flush_card, later, link_button, problem } from "../../ui/parts";
import { number_table, plain_table } from "../../ui/table";
import { when_imported } from "./import";

export function table_tab(scope: Scope, run: Run, table: string): Child {
    const words = t().run;
    return when_imported(scope, run.id, async (signal) => {
        const tables = await api.get<Tables>(`runs/${run.id}/tables`, undefined, signal);
        const known = tables.tables.find((one) => one.name === table);
        if (!known || known.rows === 0) {
            return empty(words.no_rows(table), known ? told(known.help) : words.no_rows_text);
        }
        const timed = known.columns.some((column) => column.name === "time_ns" || column.name === "start_ns");
        const heading = h("h2", words.rows(count(known.rows)));
        const list = data_grid(scope, {
            label: table,
            columns: known.columns,
            height: "64vh",
            query: () => ({ runs: [run.id], table, ...(timed ? range_query() : {}) }),
            told: (answer) => {
                const left_out = known.left_out > 0 ? `; ${words.rows_left_out(count(known.left_out))}` : "";
                heading.textContent = words.rows(count(answer.matched)) + left_out;
            },
        });
        on_range(scope, () => timed && list.reload());
        const href = api_url("query", { body: JSON.stringify({ runs: [run.id], table, format: "csv" }) });
        const tools = [
            h("span.grow.muted.small.clip", { title: told(known.help) }, told(known.help)),
            link_button(words.ask, query_link(run.id, table), { small: true, icon: "query" }),
            h("a.button.small", { href, download: `${run.name}-${table}.csv` }, "CSV"),
        ];
        return flush_card(heading, tools, list.element);
    });
}

const host_columns = [
    { function: "count", column: "flow_id", as: "flows" },
    { function: "sum", column: "bytes", as: "bytes", unit: "bytes" },
    { function: "median", column: "slowdown", as: "slowdown_p50" },
    { function: "p99", column: "slowdown", as: "slowdown_p99" },
    { function: "max", column: "fct_ns", as: "fct_max", unit: "ns" },
    { function: "sum", column: "retransmitted_packets", as: "retransmitted" },
];

// Returns the steps that group the flows of the chosen time by their sender. Messages within hosts are no flows of the
// network: their slowdown is always 1. Results of older versions do not tell them apart.
function host_steps(flows: Table | undefined): object[] {
    const range = time_range();
    const end = `start_ns + coalesce(fct_ns, ${Number.MAX_SAFE_INTEGER})`;
    const where = [
        flows?.columns.some(({ name }) => name === "medium") && 'medium = "network"',
        range && `start_ns < ${range[1]} and ${end} >= ${range[0]}`,
    ].filter(Boolean);
    return [
        { do: "choose", table: "flows" },
        ...(where.length > 0 ? [{ do: "filter", where: where.join(" and ") }] : []),
        { do: "group", by: ["src"], take: host_columns.map(({ unit: _, ...take }) => take) },
        { do: "sort", by: [{ column: "slowdown_p99", descending: true }] },
    ];
}

function host_table({ columns, rows }: Rows): HTMLElement {
    const words = t().run;
    const units = new Map(host_columns.map((column) => [column.as, column.unit]));
    const head = columns.map(({ name }) => words.host_columns[name] ?? name);
    const text = (cell: Cell, at: number) => with_unit(cell, units.get(columns[at]!.name));
    return number_table(
        head,
        rows
            .slice(0, 1000)
            .map(([host, ...numbers]) => [
                h("span.mono", String(host)),
                ...numbers.map((cell, at) => text(cell, at + 1)),
            ]),
    );
}

// Lists what each host sent. The server groups the flows, so that a million of them stay there.
export function hosts_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    const place = h("div");
    const load = async (signal: AbortSignal) => {
        const { tables } = await api.get<Tables>(`runs/${run.id}/tables`, undefined, signal);
        const flows = tables.find((one) => one.name === "flows");
        const last = await analysed([run.id], host_steps(flows), signal);
        const left_out = flows && flows.left_out > 0 ? words.rows_left_out(count(flows.left_out)) : "";
        fill(
            place,
            last.rows.length === 0
                ? empty(words.no_rows("flows"), words.no_rows_text)
                : flush_card(words.hosts_lead, h("span.muted.small", left_out), host_table(last)),
        );
        return place;
    };
    const failed = (error: unknown) => was_aborted(error) || fill(place, problem(error));
    on_range(scope, () => void load(scope.signal).catch(failed));
    return when_imported(scope, run.id, load);
}

export function files_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    return later(scope, async (signal) => {
        const address = `runs/${run.id}/files`;
        const { files } = await api.get<{ files: { path: string; size_bytes: number }[] }>(address, undefined, signal);
        const rows = files
            .sort((one, other) => one.path.localeCompare(other.path))
            .map(({ path, size_bytes }) => {
                const name = path.split("/").pop() ?? "";
                const href = `api/v1/${address}/${path.split("/").map(encodeURIComponent).join("/")}`;
                return [
                    h("a.mono", { href, download: name }, path),
                    h("td.right.nowrap", bytes(size_bytes)),
                    h("td.muted.small", words.file_help[name] ?? ""),
                ];
            });
        const none = h("p.muted", words.no_files);
        return [
            card(words.files, null, rows.length === 0 ? none : plain_table(null, rows)),
            h("p.muted.small", words.files_text(run.id)),
        ];
    });
}

export function log_tab(scope: Scope, run: Run): Child {
    return later(scope, async (signal) => {
        const response = await call("GET", `runs/${run.id}/log`, { signal });
        const body = await response.text();
        return body
            ? h("pre.code-block.tall", { tabindex: 0, "aria-label": t().run.log }, body)
            : empty(t().run.no_log, "");
    });
}
