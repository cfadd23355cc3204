// SPDX-License-Identifier: Apache-2.0
// Log query: a filter builder, SQL that only reads, and search in the full text, over any set of runs.
import { api, api_url, call } from "../core/api";
import { debounce, fill, h, type Scope, type Child } from "../core/dom";
import { count, nanoseconds, number } from "../core/format";
import { go, keep_query, link, the_place, type Place } from "../core/router";
import { choose_range, enter_range, on_range, range_query, time_range } from "../core/time_range";
import type { Cell, Column, QueryAnswer, Rows, SearchHit, StepAnswer, Table, Tables } from "../core/types";
import { editor } from "../editor/code";
import { t } from "../i18n/text";
import { plot } from "../plot/plot";
import { cell_text, column_width, data_grid } from "../ui/data_grid";
import { grid } from "../ui/grid";
import {
    button,
    empty,
    field,
    input,
    loading,
    note,
    problem,
    problem_text,
    save_file,
    select,
    sheet,
    tabs,
    tell_problem,
    view_head,
} from "../ui/parts";
import { range_bar } from "../ui/range_bar";
import { run_picker } from "../ui/run_picker";
import { saved_menu } from "../ui/saved";
import { when_imported } from "./run_import";

interface Condition {
    column: string;
    op: string;
    value: string;
}

interface Asked {
    table: string;
    conditions: Condition[];
    where: string;
    range: [number, number] | null; // of what is saved
    sql: string;
    search: string;
}

const operators = ["=", "!=", ">", ">=", "<", "<=", "contains", "starts", "ends", "glob", "in", "missing", "present"];

function filter_of(asked: Asked): object[] {
    return asked.conditions
        .filter((one) => one.column && (one.value !== "" || one.op === "missing" || one.op === "present"))
        .map((one) => ({
            column: one.column,
            op: one.op,
            ...(one.op === "missing" || one.op === "present"
                ? {}
                : {
                      value:
                          one.op === "in"
                              ? one.value.split(",").map((word) => word.trim())
                              : /^-?\d+(\.\d+)?(e\d+)?$/.test(one.value)
                                ? Number(one.value)
                                : one.value,
                  }),
        }));
}

// From a dropped packet or a pause to the packet in a capture.
async function find_packet(run: number, row: Record<string, Cell>): Promise<void> {
    try {
        const found = await api.get<{ file: string; n: number }>(`runs/${run}/captures/-/find`, {
            time_ns: row.time_ns as number,
            src: row.src as string,
            dst: row.dst as string,
        });
        go(`${link("captures", run, found.file)}?packet=${found.n}`);
    } catch (error) {
        tell_problem(error);
    }
}

function show_row(columns: Column[], row: Cell[], runs: number[]): void {
    const words = t().query;
    const values = Object.fromEntries(columns.map((column, index) => [column.name, row[index] ?? null]));
    const run = Number(values.run ?? runs[0]);
    const port = String(values.port ?? "");
    const actions = [
        values.time_ns !== undefined && (values.event === "drop" || values.event === "paused")
            ? button(
                  words.to_packet,
                  () => {
                      document.querySelector("dialog")?.close();
                      find_packet(run, values);
                  },
                  {
                      icon: "captures",
                  },
              )
            : null,
        values.time_ns !== undefined
            ? button(
                  words.series_then,
                  () => {
                      document.querySelector("dialog")?.close();
                      go(
                          `${link("run", run)}?tab=series&from=${Math.max(0, Math.floor(Number(values.time_ns) - 100000))}&to=${Math.ceil(Number(values.time_ns) + 100000)}`,
                      );
                  },
                  { icon: "process" },
              )
            : null,
        port
            ? button(
                  words.only_port,
                  () => {
                      document.querySelector("dialog")?.close();
                      go(`${link("query")}?runs=${run}&table=events&where=${encodeURIComponent(`port = "${port}"`)}`);
                  },
                  { icon: "query" },
              )
            : null,
    ];
    void sheet(
        words.row,
        [
            h(
                "dl",
                { class: "pairs" },
                columns.map((column, index) => [
                    h("dt", { title: column.help }, column.name),
                    h(
                        "dd",
                        { class: "mono" },
                        cell_text(row[index], column) || "–",
                        typeof row[index] === "number" && column.unit
                            ? h("span", { class: "muted" }, ` (${row[index]} ${column.unit})`)
                            : "",
                    ),
                ]),
            ),
            h("div", { class: "row" }, actions),
        ],
        { text: t().common.close },
    );
}

export async function query_view(scope: Scope, place: Place): Promise<Child> {
    const words = t().query;
    const asked: Asked = {
        table: place.query.get("table") ?? "events",
        conditions: [],
        where: place.query.get("where") ?? "",
        range: null,
        sql: place.query.get("sql") ?? "",
        search: place.query.get("q") ?? "",
    };
    let tab = place.query.get("tab") ?? "filter";
    const body = h("div", { class: "stack wide" });
    const wanted = (place.query.get("runs") ?? "").split(",").map(Number).filter(Boolean);
    let inner = scope.child();
    const picker = await run_picker(scope, wanted, (ids) => {
        keep_query({ runs: ids.join(","), from: null, to: null });
        enter_range(ids[0] ?? 0, the_place());
        draw();
    });
    enter_range(picker.ids()[0] ?? 0, place);

    const open_saved = (body_of: Asked & { tab?: string }) => {
        Object.assign(asked, body_of);
        choose_range(body_of.range ?? null);
        tab = body_of.tab ?? "filter";
        draw();
    };

    function filter_tab(tab_scope: Scope, tables: Tables): Child {
        const results = h("div", { class: "stack" });
        const told = h("span", { class: "muted small number", "aria-live": "polite" });
        const conditions = h("div", { class: "stack" });
        const faults = h("div");
        let results_scope = tab_scope.child();
        const table = (): Table =>
            tables.tables.find((one) => one.name === asked.table) ??
            tables.tables.find((one) => one.name === "events") ??
            tables.tables[0]!;
        const query = (): Record<string, unknown> => {
            return {
                runs: picker.ids(),
                table: table().name,
                filter: filter_of(asked),
                ...(asked.where.trim() ? { where: asked.where.trim() } : {}),
                ...range_query(),
            };
        };
        const timeline = plot(tab_scope, {
            height: 120,
            legend: false,
            name: "rows-over-time",
            zoomed: (from, to) => choose_range([from, to]),
        });
        const timeline_card = h("section", { class: "card tight-card", hidden: true }, timeline.element);
        const run = debounce(tab_scope, 120, (signal) => {
            results_scope.end();
            results_scope = tab_scope.child();
            const here = results_scope;
            keep_query({ table: table().name, where: asked.where, tab: "filter", runs: picker.ids().join(",") });
            const many = picker.ids().length > 1;
            const columns: Column[] = [
                ...(many ? [{ name: "run_name", type: "text" as const }] : []),
                ...table().columns,
            ];
            fill(faults);
            const list = data_grid(here, {
                label: table().name,
                columns,
                height: "56vh",
                query,
                empty: words.no_rows,
                open: (row, known) => show_row(known, row, picker.ids()),
                told: (answer: QueryAnswer) => {
                    told.textContent = words.matched(
                        count(answer.matched),
                        count(answer.scanned),
                        number(answer.seconds * 1000, 2),
                    );
                },
            });
            const download = (format: string) =>
                h(
                    "a",
                    {
                        class: "button small",
                        href: api_url("query", { body: JSON.stringify({ ...query(), format }) }),
                        download: `${table().name}.${format}`,
                    },
                    format === "ndjson" ? "JSON" : "CSV",
                );
            fill(
                results,
                h(
                    "section",
                    { class: "card flush" },
                    h(
                        "header",
                        null,
                        h("h2", null, table().name),
                        told,
                        h("span", { class: "grow muted small clip" }, table().help),
                        download("csv"),
                        download("ndjson"),
                    ),
                    list.element,
                ),
            );
            const has_time = table().columns.find((column) => column.name === "time_ns" || column.name === "start_ns");
            timeline_card.hidden = !has_time;
            if (has_time) {
                const steps: object[] = [{ do: "choose", table: table().name }];
                const filter = filter_of(asked);
                if (filter.length > 0) {
                    steps.push({ do: "filter", filter });
                }
                if (asked.where.trim()) {
                    steps.push({ do: "filter", where: asked.where.trim() });
                }
                steps.push({ do: "histogram", column: has_time.name, bins: 160 });
                api.post<{ steps: StepAnswer[] }>("analysis", { runs: picker.ids(), steps }, signal).then(
                    (answer) => {
                        const last = answer.steps[answer.steps.length - 1]!;
                        const at = (name: string) => last.columns.findIndex((column) => column.name === name);
                        const column = (name: string) => last.rows.map((row) => Number(row[at(name)]));
                        timeline.show({
                            title: words.over_time,
                            x_label: "",
                            y_label: "",
                            x_text: (value) => nanoseconds(value),
                            series: [
                                {
                                    name: words.rows,
                                    kind: "bars",
                                    x: column("from"),
                                    y: column("count"),
                                    low: column("from"),
                                    high: column("to"),
                                },
                            ],
                        });
                        timeline_card.hidden = last.rows.length === 0;
                    },
                    () => {
                        timeline_card.hidden = true;
                    },
                );
            }
        });
        const draw_conditions = () => {
            fill(
                conditions,
                asked.conditions.map((one, index) => {
                    const column = table().columns.find((known) => known.name === one.column);
                    const value = input({
                        value: one.value,
                        class: "mono",
                        placeholder: column?.unit === "ns" ? "10us" : column?.unit === "bytes" ? "1MB" : words.value,
                        "aria-label": words.value,
                        list: column?.values ? `values-${index}` : undefined,
                        hidden: one.op === "missing" || one.op === "present",
                        on: {
                            input: () => {
                                one.value = value.value;
                                run();
                            },
                        },
                    });
                    return h(
                        "div",
                        { class: "condition" },
                        select(
                            table().columns.map((known) => [known.name, known.name]),
                            one.column,
                            (chosen) => {
                                one.column = chosen;
                                draw_conditions();
                                run();
                            },
                            { "aria-label": words.column },
                        ),
                        select(
                            operators.map((op) => [op, words.operators[op as keyof typeof words.operators] ?? op]),
                            one.op,
                            (chosen) => {
                                one.op = chosen;
                                draw_conditions();
                                run();
                            },
                            { "aria-label": words.operator },
                        ),
                        value,
                        column?.values
                            ? h(
                                  "datalist",
                                  { id: `values-${index}` },
                                  column.values.map((known) => h("option", { value: known })),
                              )
                            : null,
                        button(
                            "",
                            () => {
                                asked.conditions.splice(index, 1);
                                draw_conditions();
                                run();
                            },
                            {
                                kind: "quiet",
                                icon: "close",
                                label: words.remove_condition,
                            },
                        ),
                    );
                }),
                h(
                    "div",
                    { class: "row tight" },
                    button(
                        words.add_condition,
                        () => {
                            asked.conditions.push({
                                column:
                                    table().columns.find((column) => column.type === "text")?.name ??
                                    table().columns[0]?.name ??
                                    "",
                                op: "=",
                                value: "",
                            });
                            draw_conditions();
                        },
                        { small: true, icon: "plus" },
                    ),
                ),
            );
        };
        const where_box = input({
            value: asked.where,
            class: "mono",
            placeholder: 'event = "drop" and frame_bytes > 1KB',
            on: {
                change: () => {
                    asked.where = where_box.value;
                    run();
                },
            },
        });
        draw_conditions();
        on_range(tab_scope, run);
        run();
        return [
            h(
                "section",
                { class: "card" },
                h(
                    "div",
                    { class: "stack" },
                    h(
                        "div",
                        { class: "row end" },
                        h(
                            "div",
                            { class: "narrow" },
                            field(
                                words.table,
                                select(
                                    tables.tables.map((one): [string, string] => [
                                        one.name,
                                        `${one.name} (${count(one.rows)})`,
                                    ]),
                                    table().name,
                                    (chosen) => {
                                        asked.table = chosen;
                                        asked.conditions = [];
                                        draw_conditions();
                                        run();
                                    },
                                ),
                            ),
                        ),
                        h("div", { class: "grow" }, field(words.where, where_box)),
                        button(
                            words.reset,
                            () => {
                                Object.assign(asked, { conditions: [], where: "" });
                                where_box.value = "";
                                choose_range(null);
                                draw_conditions();
                                run();
                            },
                            { kind: "quiet" },
                        ),
                    ),
                    range_bar(tab_scope, picker.ids()[0] ?? 0, "query"),
                    conditions,
                    faults,
                ),
            ),
            timeline_card,
            results,
        ];
    }

    function sql_tab(tab_scope: Scope, tables: Tables): Child {
        const results = h("div");
        let results_scope = tab_scope.child();
        const code = editor(tab_scope, {
            text:
                asked.sql ||
                "select event, port, count(*) as times, min(time_ns) as first_ns\nfrom events\ngroup by event, port\norder by times desc",
            label: "SQL",
            change: (text) => {
                asked.sql = text;
            },
            submit: () => void run(),
            language: {
                kind: "sql",
                tables: Object.fromEntries(
                    tables.tables.map((table) => [
                        table.name,
                        [...table.columns.map((column) => column.name), "run", "run_name"],
                    ]),
                ),
            },
        });
        const run = async () => {
            results_scope.end();
            results_scope = tab_scope.child();
            const here = results_scope;
            fill(results, loading());
            try {
                const answer = await api.post<Rows & { more: boolean; seconds: number }>(
                    "sql",
                    { runs: picker.ids(), sql: code.text(), limit: 10000, format: "json" },
                    here.signal,
                );
                const columns = answer.columns.map((column, index) => ({
                    ...column,
                    type: typeof answer.rows[0]?.[index] === "number" ? ("number" as const) : ("text" as const),
                }));
                const list = grid<Cell[]>(here, {
                    label: "SQL",
                    height: "52vh",
                    columns: columns.map((column, index) => ({
                        name: column.name,
                        title: column.name,
                        width: column_width(column),
                        right: column.type === "number",
                        cell: (row) => String(row[index] ?? ""),
                    })),
                    fetch: (offset, limit) =>
                        Promise.resolve({ rows: answer.rows.slice(offset, offset + limit), total: answer.rows.length }),
                });
                fill(
                    results,
                    h(
                        "section",
                        { class: "card flush" },
                        h(
                            "header",
                            null,
                            h("h2", null, words.rows_of(count(answer.rows.length))),
                            h(
                                "span",
                                { class: "grow muted small number" },
                                `${number(answer.seconds * 1000, 2)} ms`,
                                answer.more ? ` · ${words.more_rows}` : "",
                            ),
                            ["csv", "ndjson"].map((format) =>
                                button(
                                    format === "csv" ? "CSV" : "JSON",
                                    async () =>
                                        save_file(
                                            `query.${format}`,
                                            await (
                                                await call("POST", "sql", {
                                                    body: { runs: picker.ids(), sql: code.text(), format },
                                                })
                                            ).blob(),
                                        ),
                                    { small: true },
                                ),
                            ),
                        ),
                        list.element,
                    ),
                );
            } catch (error) {
                if (!here.ended) {
                    const where = (error as { where?: { column?: number } }).where;
                    fill(
                        results,
                        note("bad", problem_text(error), where?.column ? ` (${words.at_column(where.column)})` : ""),
                    );
                }
            }
        };
        return [
            h(
                "section",
                { class: "card flush sql-card" },
                h("div", { class: "sql-editor" }, code.element),
                h(
                    "div",
                    { class: "row sql-foot" },
                    button(words.run_sql, run, { kind: "main-action" }),
                    h("span", { class: "muted small" }, words.sql_hint),
                ),
            ),
            h(
                "details",
                null,
                h("summary", null, words.tables),
                h(
                    "dl",
                    { class: "pairs" },
                    tables.tables.map((table) => [
                        h("dt", { class: "mono" }, table.name),
                        h(
                            "dd",
                            { class: "small" },
                            h("span", { class: "muted" }, `${table.help} `),
                            h("span", { class: "mono" }, table.columns.map((column) => column.name).join(", ")),
                        ),
                    ]),
                ),
            ),
            results,
        ];
    }

    function search_tab(tab_scope: Scope): Child {
        const results = h("div", { class: "stack" }, h("p", { class: "muted" }, words.search_hint));
        const box = input({
            type: "search",
            class: "search",
            value: asked.search,
            placeholder: words.search,
            "aria-label": words.search,
        });
        const run = debounce(tab_scope, 250, (signal) => {
            asked.search = box.value.trim();
            keep_query({ q: asked.search, tab: "search" });
            if (!asked.search) {
                fill(results, h("p", { class: "muted" }, words.search_hint));
                return;
            }
            api.get<{ hits: SearchHit[]; more: boolean; seconds: number }>(
                "search",
                { q: asked.search, runs: picker.ids().join(","), limit: 200 },
                signal,
            ).then(
                (answer) => {
                    const lines = answer.hits.map((hit) => {
                        const parts: Child[] = [];
                        let at = 0;
                        for (const [from, to] of hit.marks) {
                            parts.push(hit.text.slice(at, from), h("mark", null, hit.text.slice(from, to)));
                            at = to;
                        }
                        parts.push(hit.text.slice(at));
                        const columns = Object.keys(hit.columns ?? {}).map(
                            (name): Column => ({ name, unit: name.endsWith("_ns") ? "ns" : undefined }),
                        );
                        return h(
                            "li",
                            null,
                            h(
                                "button",
                                {
                                    type: "button",
                                    class: "hit",
                                    on: {
                                        click: () =>
                                            show_row(
                                                [{ name: "run" }, ...columns],
                                                [hit.run, ...Object.values(hit.columns ?? {})],
                                                picker.ids(),
                                            ),
                                    },
                                },
                                h(
                                    "span",
                                    { class: "hit-where muted small number" },
                                    `#${hit.run} ${hit.table}`,
                                    hit.time_ns !== undefined && hit.time_ns !== null
                                        ? ` · ${nanoseconds(hit.time_ns)}`
                                        : "",
                                ),
                                h("span", { class: "mono" }, parts),
                            ),
                        );
                    });
                    fill(
                        results,
                        h(
                            "p",
                            { class: "muted small number" },
                            words.hits(count(answer.hits.length), answer.more),
                            ` · ${number(answer.seconds * 1000, 2)} ms`,
                        ),
                        lines.length > 0
                            ? h("ul", { class: "hits card flush" }, lines)
                            : empty(words.no_rows, words.search_hint),
                    );
                },
                (error: unknown) => !signal.aborted && fill(results, problem(error)),
            );
        });
        box.addEventListener("input", run);
        if (asked.search) {
            run();
        }
        return [box, results];
    }

    const draw = () => {
        inner.end();
        inner = scope.child();
        const here = inner;
        if (picker.ids().length === 0) {
            fill(
                body,
                empty(
                    words.no_runs,
                    words.no_runs_text,
                    h("a", { class: "button main-action", href: link("simulate") }, t().nav.simulate),
                ),
            );
            return;
        }
        fill(
            body,
            when_imported(here, picker.ids()[0]!, async (signal) => {
                const all = await Promise.all(
                    picker
                        .ids()
                        .slice(0, 1)
                        .map((id) => api.get<Tables>(`runs/${id}/tables`, undefined, signal)),
                );
                const tables = all[0]!;
                return tabs(
                    here,
                    words.title,
                    [
                        { name: "filter", text: words.filter, make: (tab_scope) => filter_tab(tab_scope, tables) },
                        { name: "sql", text: words.sql, make: (tab_scope) => sql_tab(tab_scope, tables) },
                        { name: "search", text: words.full_text, make: (tab_scope) => search_tab(tab_scope) },
                    ],
                    tab,
                    (name) => {
                        tab = name;
                        keep_query({ tab: name });
                    },
                );
            }),
        );
    };
    draw();
    return [
        view_head(
            words.title,
            words.lead,
            saved_menu(
                scope,
                "query",
                () => ({ ...asked, range: time_range(), tab }),
                (document) => open_saved(document.body),
            ),
        ),
        h("div", { class: "row" }, h("span", { class: "label-text" }, t().picker.runs), picker.element),
        body,
    ];
}
