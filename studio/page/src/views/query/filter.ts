// SPDX-License-Identifier: Apache-2.0
// The filter builder: a table, conditions on its columns and an expression; the rows that fit, and when they happened.
import { api_url } from "../../core/api";
import { debounce, fill, h, type Child, type Scope } from "../../core/dom";
import { count, number } from "../../core/format";
import { keep_query } from "../../core/router";
import { choose_range, on_range, range_query } from "../../core/time_range";
import type { Column, QueryAnswer, Table, Tables } from "../../core/types";
import { t, told } from "../../i18n/text";
import { data_grid } from "../../ui/data_grid";
import { button, choices, field, flush_card, input, select } from "../../ui/parts";
import { range_bar } from "../../ui/range_bar";
import { time_column, Timeline } from "../../ui/timeline";
import { conditions_text, filter_of, needs_value, operators, type Condition, type Query } from "./asked";
import { show_row } from "./row";

class FilterTab {
    private readonly results = h("div.stack");
    private readonly told = h("span.muted.small.number", { "aria-live": "polite" });
    private readonly conditions = h("div.stack");
    private readonly timeline: Timeline;
    private readonly run: () => void;
    private readonly where: HTMLInputElement;
    private results_scope: Scope;

    constructor(
        private readonly scope: Scope,
        private readonly query: Query,
        private readonly tables: Table[],
    ) {
        const { asked } = query;
        this.results_scope = scope.child();
        this.timeline = new Timeline(scope);
        this.run = debounce(scope, 120, (signal) => this.show_rows(signal));
        const change = () => {
            asked.where = this.where.value;
            this.run();
        };
        const placeholder = 'event = "drop" and frame_bytes > 1KB';
        this.where = input({ value: asked.where, class: "mono", placeholder, on: { change } });
        on_range(scope, this.run);
    }

    show(): Child {
        this.draw_conditions();
        this.run();
        const form = h(
            "div.stack",
            this.head(),
            range_bar(this.scope, this.query.runs()[0] ?? 0, "query"),
            this.conditions,
        );
        return [h("section.card", form), this.timeline.element, this.results];
    }

    private table(): Table {
        const named = (name: string) => this.tables.find((one) => one.name === name);
        const first = ["events", "flows"].map(named).find((one) => one?.rows);
        return named(this.query.asked.table) ?? first ?? this.tables[0]!;
    }

    private body(): Record<string, unknown> {
        const { asked, runs } = this.query;
        const where = asked.where.trim();
        return {
            runs: runs(),
            table: this.table().name,
            filter: filter_of(asked),
            ...(where ? { where } : {}),
            ...range_query(),
        };
    }

    private show_rows(signal: AbortSignal): void {
        const { asked, runs } = this.query;
        const table = this.table();
        this.results_scope.end();
        this.results_scope = this.scope.child();
        keep_query({
            table: table.name,
            where: asked.where,
            if: conditions_text(asked.conditions),
            tab: "filter",
            runs: runs().join(","),
        });
        const run_name: Column[] = runs().length > 1 ? [{ name: "run_name", type: "text" }] : [];
        const list = data_grid(this.results_scope, {
            label: table.name,
            columns: [...run_name, ...table.columns],
            height: "56vh",
            query: () => this.body(),
            empty: t().query.no_rows,
            open: (row, known) => show_row(known, row, runs()),
            told: (answer: QueryAnswer) => this.tell(answer),
        });
        const help = h("span.grow.muted.small.clip", told(table.help));
        const tools = [this.told, help, this.download("csv", "CSV"), this.download("ndjson", "JSON")];
        fill(this.results, flush_card(table.name, tools, list.element));
        const time = time_column(table);
        if (!time) {
            this.timeline.hide();
            return;
        }
        const filter = filter_of(asked);
        const question = { runs: runs(), table: table.name, time, filter, where: asked.where.trim() };
        void this.timeline.show({ ...question, title: t().query.over_time }, signal);
    }

    private tell({ matched, scanned, seconds }: QueryAnswer): void {
        const { left_out } = this.table();
        const more = left_out > 0 ? `; ${t().run.rows_left_out(count(left_out))}` : "";
        this.told.textContent = t().query.matched(count(matched), count(scanned), number(seconds * 1000, 2)) + more;
    }

    private download(format: string, text: string): HTMLElement {
        const href = api_url("query", { body: JSON.stringify({ ...this.body(), format }) });
        return h("a.button.small", { href, download: `${this.table().name}.${format}` }, text);
    }

    // Shows the changed conditions and the rows that fit them.
    private redraw(): void {
        this.draw_conditions();
        this.run();
    }

    private draw_conditions(): void {
        const { conditions } = this.query.asked;
        const add = () => {
            const { columns } = this.table();
            const column = columns.find((one) => one.type === "text") ?? columns[0];
            conditions.push({ column: column?.name ?? "", op: "=", value: "" });
            this.draw_conditions();
        };
        const adder = button(t().query.add_condition, add, { small: true, icon: "plus" });
        fill(
            this.conditions,
            conditions.map((one, index) => this.condition(one, index)),
            h("div.row.tight", adder),
        );
    }

    private condition(one: Condition, index: number): HTMLElement {
        const words = t().query;
        const { columns } = this.table();
        const column = columns.find((known) => known.name === one.column);
        const set = (changes: Partial<Condition>) => {
            Object.assign(one, changes);
            this.redraw();
        };
        const type = () => {
            one.value = value.value;
            this.run();
        };
        const remove = () => {
            this.query.asked.conditions.splice(index, 1);
            this.redraw();
        };
        const examples: Record<string, string> = { ns: "10us", bytes: "1MB" };
        const list = `values-${index}`;
        const value = input({
            value: one.value,
            class: "mono",
            placeholder: examples[column?.unit ?? ""] ?? words.value,
            "aria-label": words.value,
            list: column?.values ? list : undefined,
            hidden: !needs_value(one.op),
            on: { input: type },
        });
        const names = choices(columns.map((known) => known.name));
        const ops = choices(operators, (op) => words.operators[op] ?? op);
        const known_values = column?.values?.map((known) => h("option", { value: known }));
        return h(
            "div.condition",
            select(names, one.column, (chosen) => set({ column: chosen }), { "aria-label": words.column }),
            select(ops, one.op, (op) => set({ op }), { "aria-label": words.operator }),
            value,
            known_values ? h("datalist", { id: list }, known_values) : null,
            button("", remove, { kind: "quiet", icon: "close", label: words.remove_condition }),
        );
    }

    private head(): HTMLElement {
        const words = t().query;
        const { asked } = this.query;
        const named = this.tables.map((one): [string, string] => [one.name, `${one.name} (${count(one.rows)})`]);
        const choose_table = (table: string) => {
            Object.assign(asked, { table, conditions: [] });
            this.redraw();
        };
        const reset = () => {
            Object.assign(asked, { conditions: [], where: "" });
            this.where.value = "";
            choose_range(null);
            this.redraw();
        };
        const table = field(words.table, select(named, this.table().name, choose_table));
        return h(
            "div.row.end",
            h("div.narrow", table),
            h("div.grow", field(words.where, this.where)),
            button(words.reset, reset, { kind: "quiet" }),
        );
    }
}

export function filter_tab(scope: Scope, query: Query, { tables }: Tables): Child {
    return new FilterTab(scope, query, tables).show();
}
