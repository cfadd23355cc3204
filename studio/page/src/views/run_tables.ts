// SPDX-License-Identifier: Apache-2.0
// Tables of a run, what its hosts sent, its files and what the program said.
import { api, api_url, call, was_aborted } from "../core/api";
import { fill, h, type Child, type Scope } from "../core/dom";
import { bytes, count, with_unit } from "../core/format";
import { link } from "../core/router";
import { on_range, range_query, time_range } from "../core/time_range";
import type { QueryAnswer, Run, Tables } from "../core/types";
import { t } from "../i18n/text";
import { data_grid } from "../ui/data_grid";
import { card, empty, later, link_button, problem } from "../ui/parts";
import { when_imported } from "./run_import";

export function table_tab(scope: Scope, run: Run, table: string): Child {
    const words = t().run;
    return when_imported(scope, run.id, async (signal) => {
        const tables = await api.get<Tables>(`runs/${run.id}/tables`, undefined, signal);
        const known = tables.tables.find((one) => one.name === table);
        if (!known || known.rows === 0) {
            return empty(words.no_rows(table), known?.help ?? words.no_rows_text);
        }
        const timed = known.columns.some((column) => column.name === "time_ns" || column.name === "start_ns");
        const told = h("h2", null, words.rows(count(known.rows)));
        const list = data_grid(scope, {
            label: table,
            columns: known.columns,
            height: "64vh",
            query: () => ({ runs: [run.id], table, ...(timed ? range_query() : {}) }),
            told: (answer) => {
                told.textContent = words.rows(count(answer.matched));
            },
        });
        on_range(scope, () => timed && list.reload());
        return h(
            "section",
            { class: "card flush" },
            h(
                "header",
                null,
                told,
                h("span", { class: "grow muted small clip", title: known.help }, known.help),
                link_button(words.ask, `${link("query")}?runs=${run.id}&table=${table}`, {
                    small: true,
                    icon: "query",
                }),
                h(
                    "a",
                    {
                        class: "button small",
                        href: api_url("query", { body: JSON.stringify({ runs: [run.id], table, format: "csv" }) }),
                        download: `${run.name}-${table}.csv`,
                    },
                    "CSV",
                ),
            ),
            list.element,
        );
    });
}

// Hosts: flows by the host that sends, told by the server's analysis, so that a million flows stay there.
export function hosts_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    const place = h("div");
    const load = async (signal: AbortSignal) => {
        const range = time_range();
        const take = [
            { function: "count", column: "flow_id", as: "flows" },
            { function: "sum", column: "bytes", as: "bytes" },
            { function: "median", column: "slowdown", as: "slowdown_p50" },
            { function: "p99", column: "slowdown", as: "slowdown_p99" },
            { function: "max", column: "fct_ns", as: "fct_max" },
            { function: "sum", column: "retransmitted_packets", as: "retransmitted" },
        ];
        const answer = await api.post<{ steps: (QueryAnswer & { count: number })[] }>(
            "analysis",
            {
                runs: [run.id],
                steps: [
                    { do: "choose", table: "flows" },
                    ...(range
                        ? [
                              {
                                  do: "filter",
                                  where: `start_ns < ${range[1]} and start_ns + coalesce(fct_ns, ${Number.MAX_SAFE_INTEGER}) >= ${range[0]}`,
                              },
                          ]
                        : []),
                    { do: "group", by: ["src"], take },
                    { do: "sort", by: [{ column: "slowdown_p99", descending: true }] },
                ],
            },
            signal,
        );
        const last = answer.steps[answer.steps.length - 1]!;
        if (last.rows.length === 0) {
            fill(place, empty(words.no_rows("flows"), words.no_rows_text));
            return place;
        }
        const units: Record<string, string> = { bytes: "bytes", fct_max: "ns" };
        fill(
            place,
            h(
                "section",
                { class: "card flush" },
                h("header", null, h("h2", null, words.hosts_lead)),
                h(
                    "div",
                    { class: "scroll-x", tabindex: 0 },
                    h(
                        "table",
                        { class: "plain" },
                        h(
                            "thead",
                            null,
                            h(
                                "tr",
                                null,
                                last.columns.map((column) =>
                                    h(
                                        "th",
                                        { class: column.name === "src" ? "" : "right", scope: "col" },
                                        words.host_columns[column.name as keyof typeof words.host_columns] ??
                                            column.name,
                                    ),
                                ),
                            ),
                        ),
                        h(
                            "tbody",
                            null,
                            last.rows.slice(0, 1000).map((row) =>
                                h(
                                    "tr",
                                    null,
                                    row.map((cell, index) =>
                                        h(
                                            "td",
                                            { class: index === 0 ? "mono" : "right nowrap" },
                                            index === 0
                                                ? String(cell)
                                                : with_unit(cell, units[last.columns[index]!.name]),
                                        ),
                                    ),
                                ),
                            ),
                        ),
                    ),
                ),
            ),
        );
        return place;
    };
    on_range(
        scope,
        () => void load(scope.signal).catch((error: unknown) => was_aborted(error) || fill(place, problem(error))),
    );
    return when_imported(scope, run.id, load);
}

export function files_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    return later(scope, async (signal) => {
        const answer = await api.get<{ files: { path: string; size_bytes: number }[] }>(
            `runs/${run.id}/files`,
            undefined,
            signal,
        );
        const address = (name: string) =>
            `api/v1/runs/${run.id}/files/${name.split("/").map(encodeURIComponent).join("/")}`;
        return [
            card(
                words.files,
                null,
                answer.files.length === 0
                    ? h("p", { class: "muted" }, words.no_files)
                    : h(
                          "table",
                          { class: "plain" },
                          h(
                              "tbody",
                              null,
                              answer.files.map((file) =>
                                  h(
                                      "tr",
                                      null,
                                      h(
                                          "td",
                                          null,
                                          h(
                                              "a",
                                              {
                                                  class: "mono",
                                                  href: address(file.path),
                                                  download: file.path.split("/").pop(),
                                              },
                                              file.path,
                                          ),
                                      ),
                                      h("td", { class: "right nowrap" }, bytes(file.size_bytes)),
                                      h(
                                          "td",
                                          { class: "muted small" },
                                          words.file_help[file.path.split("/").pop() ?? ""] ?? "",
                                      ),
                                  ),
                              ),
                          ),
                      ),
            ),
            h("p", { class: "muted small" }, words.files_text(run.id)),
        ];
    });
}

export function log_tab(scope: Scope, run: Run): Child {
    return later(scope, async (signal) => {
        const response = await call("GET", `runs/${run.id}/log`, { signal });
        const body = await response.text();
        return body
            ? h("pre", { class: "code-block tall", tabindex: 0, "aria-label": t().run.log }, body)
            : empty(t().run.no_log, "");
    });
}
