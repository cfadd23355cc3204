// SPDX-License-Identifier: Apache-2.0
// The outcome of an analysis: a figure whose axes one chooses, and the table of the last step.
import { csv_text } from "../../core/csv";
import { h, type Child, type Scope } from "../../core/dom";
import { count, number } from "../../core/format";
import { field_title } from "../../core/names";
import type { Cell, Column, Step, StepAnswer } from "../../core/types";
import { t } from "../../i18n/text";
import type { FigureSeries } from "../../plot/figure";
import { bar_chart } from "../../plot/bars";
import { plot } from "../../plot/plot";
import { cell_text, rows_grid } from "../../ui/data_grid";
import { button, card, checkbox, choices, field, flush_card, input, save_file, select } from "../../ui/parts";
import { compare_grid } from "./compare";
import { bars_from, figure_from, type FigureChoice } from "./figure";

export interface ResultOptions {
    step: Step;
    answer: StepAnswer;
    before: StepAnswer | undefined; // the rows that the step was computed from
    choice: FigureChoice;
    own_curves: boolean; // whether curves that the step itself computed are shown, until the user chooses others
    chosen: (choice: FigureChoice) => void;
}

function figure_fields(columns: Column[], choice: FigureChoice, update: (changes: Partial<FigureChoice>) => void) {
    const words = t().process;
    const as_choice = ({ name }: Column): [string, string] => {
        const title = field_title(name);
        return [name, title === name ? name : `${title} · ${name}`];
    };
    const none: [string, string] = ["", "–"];
    const names = columns.map(as_choice);
    const numeric = columns.filter((column) => column.type !== "text").map(as_choice);
    const kinds = choices(["points", "lines", "steps", "bars"], (kind) => words.kinds[kind] ?? kind);
    const x = select([none, ...names], choice.x, (chosen) => update({ x: chosen }));
    const y = select([none, ...numeric], choice.y[0] ?? "", (chosen) => update({ y: chosen ? [chosen] : [] }));
    // The figure of a sweep may have curves by several columns.
    const several: [string, string][] = names.some(([name]) => name === choice.by) ? [] : [[choice.by, choice.by]];
    const by = select([none, ...(choice.by ? several : []), ...names], choice.by, (chosen) => update({ by: chosen }));
    const kind = select(kinds, choice.kind, (chosen) => update({ kind: chosen as FigureChoice["kind"] }));
    const title = input({
        value: choice.title,
        placeholder: words.figure_title,
        on: { input: () => update({ title: title.value }) },
    });
    return h(
        "div.figure-fields",
        field(words.x, x),
        field(words.y, y),
        field(words.by, by),
        field(words.kind, kind),
        field(words.title, title),
        h(
            "div.row",
            checkbox(words.x_log, choice.x_log, (x_log) => update({ x_log })),
            checkbox(words.y_log, choice.y_log, (y_log) => update({ y_log })),
        ),
    );
}

// Returns the points that a fit was made of, in the colours of its lines, as far as their rows are known.
function points_under(step: Step, before: StepAnswer | undefined, lines: FigureSeries[]): FigureSeries[] {
    if (step.do !== "fit" || !before) {
        return [];
    }
    const at = (name: unknown) => before.columns.findIndex((column) => column.name === name);
    const [x_at, y_at] = [at(step.x), at(step.y)];
    const by = Array.isArray(step.by) ? step.by.map(at) : [];
    const made = new Map<string, FigureSeries>();
    for (const row of before.rows) {
        const [x, y] = [row[x_at], row[y_at]];
        if (typeof x !== "number" || typeof y !== "number") {
            continue;
        }
        const name = by.map((column) => String(row[column])).join(" ");
        const color = Math.max(
            lines.findIndex((line) => line.name.includes(name)),
            0,
        );
        const one = made.get(name) ?? { name: `${name} ·`, kind: "points", x: [], y: [], color };
        made.set(name, one);
        one.x.push(x);
        one.y.push(y);
    }
    return [...made.values()];
}

function rows_told({ rows, count: all }: StepAnswer): string {
    const words = t().process;
    return words.rows(count(all)) + (rows.length < all ? ` · ${words.first_shown(count(rows.length))}` : "");
}

function figure_card(scope: Scope, options: ResultOptions): HTMLElement {
    const { step, answer, choice } = options;
    let { own_curves } = options;
    const chart = plot(scope, { height: 320, name: choice.title || "analysis" });
    const bars = bar_chart(scope, { height: 320, name: choice.title || "analysis" });
    const place = h("div", chart.element, bars.element, h("p.muted.small", rows_told(answer)));
    const curves = (answer.curves ?? []).map(
        (curve, color): FigureSeries => ({ name: curve.name, kind: "lines", x: curve.x, y: curve.y, color }),
    );
    const draw = () => {
        const shown = curves.length > 0 && own_curves ? null : bars_from(choice, answer.columns, answer.rows);
        chart.element.hidden = shown !== null;
        bars.element.hidden = shown === null;
        if (shown) {
            bars.show(shown);
        } else if (curves.length > 0 && own_curves) {
            const [x_label, y_label] = [String(step.x ?? ""), String(step.y ?? "")];
            const series = [...points_under(step, options.before, curves), ...curves];
            chart.show({ title: choice.title, x_label, y_label, series });
        } else {
            chart.show(figure_from(choice, answer.columns, answer.rows));
        }
        place.hidden = curves.length === 0 && (!choice.x || choice.y.length === 0);
    };
    const update = (changes: Partial<FigureChoice>) => {
        Object.assign(choice, changes);
        own_curves = false;
        options.chosen(choice);
        draw();
    };
    draw();
    const fields = figure_fields(answer.columns, choice, update);
    return card(t().process.figure, null, h("div.stack", place, fields));
}

function step_grid(scope: Scope, answer: StepAnswer): HTMLElement {
    const text = (value: Cell | undefined, column: Column) =>
        typeof value === "number" && !Number.isInteger(value) && column.unit !== "ns"
            ? number(value, 5)
            : cell_text(value, column);
    const title = ({ name }: Column) => field_title(name);
    const { result: label, no_rows } = t().process;
    return rows_grid(scope, answer, { label, height: "min(46vh, 480px)", empty: no_rows, title, text });
}

function table_card(scope: Scope, { step, answer }: ResultOptions): HTMLElement {
    const words = t().process;
    const { columns, rows } = answer;
    const save = () => {
        const text = csv_text([columns.map((column) => column.name), ...rows]);
        save_file("analysis.csv", new Blob([text], { type: "text/csv" }));
    };
    const tools = [
        h("span.grow.muted.small.number", rows_told(answer)),
        button("CSV", save, { small: true, icon: "download" }),
    ];
    const made = step.do === "compare" ? compare_grid(scope, answer).element : step_grid(scope, answer);
    return flush_card(words.result, tools, made);
}

export function result_cards(scope: Scope, options: ResultOptions): Child {
    return [figure_card(scope, options), table_card(scope, options)];
}
