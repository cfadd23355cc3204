// SPDX-License-Identifier: Apache-2.0
// SQL that reads the tables of the chosen runs.
import { api, call } from "../../core/api";
import { fill, h, type Child, type Scope } from "../../core/dom";
import { count, number } from "../../core/format";
import { keep_query } from "../../core/router";
import type { Cell, Column, Rows, Table, Tables } from "../../core/types";
import { editor } from "../../editor/code";
import { t, told } from "../../i18n/text";
import { rows_grid } from "../../ui/data_grid";
import { button, flush_card, loading, note, problem_text, save_file } from "../../ui/parts";
import type { Query } from "./asked";

const rows_max = 10_000;
const first_query = `select event, port, count(*) as times, min(time_ns) as first_ns
from events
group by event, port
order by times desc`;

type SqlAnswer = Rows & { more: boolean; seconds: number };

function sql_grid(scope: Scope, { columns, rows }: SqlAnswer): HTMLElement {
    const typed = columns.map((column, index): Column => {
        return { ...column, type: typeof rows[0]?.[index] === "number" ? "number" : "text" };
    });
    const text = (value: Cell | undefined) => String(value ?? "");
    return rows_grid(scope, { columns: typed, rows }, { label: "SQL", height: "52vh", text });
}

function answer_card(scope: Scope, answer: SqlAnswer, save: (format: string) => Promise<void>): HTMLElement {
    const words = t().query;
    const more = answer.more ? ` · ${words.more_rows}` : "";
    const tools = [
        h("span.grow.muted.small.number", `${number(answer.seconds * 1000, 2)} ms`, more),
        button("CSV", () => save("csv"), { small: true }),
        button("JSON", () => save("ndjson"), { small: true }),
    ];
    return flush_card(words.rows_of(count(answer.rows.length)), tools, sql_grid(scope, answer));
}

function tables_list(tables: Table[]): HTMLElement {
    const names = (table: Table) => table.columns.map((column) => column.name).join(", ");
    const pairs = tables.map((table) => [
        h("dt.mono", table.name),
        h("dd.small", h("span.muted", `${told(table.help)} `), h("span.mono", names(table))),
    ]);
    return h("details", h("summary", t().query.tables), h("dl.pairs", pairs));
}

export function sql_tab(scope: Scope, { asked, runs }: Query, { tables }: Tables): Child {
    const words = t().query;
    const results = h("div");
    let results_scope = scope.child();
    const save = async (format: string) => {
        const body = { runs: runs(), sql: code.text(), format };
        save_file(`query.${format}`, await (await call("POST", "sql", { body })).blob());
    };
    const run = async () => {
        results_scope.end();
        results_scope = scope.child();
        const here = results_scope;
        fill(results, loading());
        try {
            const body = { runs: runs(), sql: code.text(), limit: rows_max, format: "json" };
            const answer = await api.post<SqlAnswer>("sql", body, here.signal);
            fill(results, answer_card(here, answer, save));
        } catch (error) {
            if (!here.ended) {
                const { where } = error as { where?: { column?: number } };
                const column = where?.column ? ` (${words.at_column(where.column)})` : "";
                fill(results, note("bad", problem_text(error), column));
            }
        }
    };
    const columns_of = (table: Table) => [...table.columns.map((column) => column.name), "run", "run_name"];
    const code = editor(scope, {
        text: asked.sql || first_query,
        label: "SQL",
        change: (text) => {
            asked.sql = text;
            keep_query({ sql: text === first_query ? "" : text });
        },
        submit: () => void run(),
        language: { kind: "sql", tables: Object.fromEntries(tables.map((table) => [table.name, columns_of(table)])) },
    });
    const foot = h(
        "div.row.sql-foot",
        button(words.run_sql, run, { kind: "main-action" }),
        h("span.muted.small", words.sql_hint),
    );
    const card = h("section.card.flush.sql-card", h("div.sql-editor", code.element), foot);
    return [card, tables_list(tables), results];
}
