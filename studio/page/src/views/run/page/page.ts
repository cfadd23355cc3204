// SPDX-License-Identifier: Apache-2.0
// One page of a run, as the program describes it: headline numbers and charts of its reports.
import { api, rows_of } from "../../../core/api";
import { h, type Child, type Scope } from "../../../core/dom";
import { nanoseconds, percent } from "../../../core/format";
import { unit_at, value_at, type PageChart, type PageSchema, type Report, type Subject } from "../../../core/pages";
import type { Run, Tables } from "../../../core/types";
import { t, told } from "../../../i18n/text";
import { bar_chart, type Bars } from "../../../plot/bars";
import type { FigureSeries } from "../../../plot/figure";
import { plot } from "../../../plot/plot";
import { card, fact } from "../../../ui/parts";
import { plain_table } from "../../../ui/table";
import { trace_tools } from "../figures";
import { when_imported } from "../import";
import { distribution_table, numbers, plain_text } from "../numbers";
import { record_button } from "./record";
import { tracks } from "./tracks";

const ports_max = 24;
const bars_max = 96; // rows of a table with a bar each

// A chart, its run, and the values that it draws.
interface Source {
    run: Run;
    chart: PageChart;
    subject: Subject;
    rows: unknown[];
    unit: (path: string) => string | undefined; // of a value of a row, or of the report
}

function number_at(row: unknown, path: string): number | null {
    const value = path === "" ? row : value_at(row, path);
    return typeof value === "number" ? value : null;
}

// Returns the name of a row along the axis; "#" counts the rows.
function name_of({ chart }: Source, row: unknown, index: number): string {
    const x = chart.x === "#" ? index : value_at(row, chart.x ?? "");
    const by = chart.by ? value_at(row, chart.by) : undefined;
    return [by, by !== undefined ? told(chart.x_label ?? "") : undefined, x]
        .filter((part) => part !== undefined)
        .join(" ");
}

function text_of(source: Source): (value: number) => string {
    if (source.chart.kind === "shares") {
        return (share) => percent(share, share > 0 && share < 0.01 ? 2 : 0);
    }
    const path = source.chart.values[0]?.path ?? "";
    const unit = source.unit(path);
    return (value) => plain_text(path, value, unit);
}

// Makes bars of single values: a bar for each, or all in one bar.
function value_bars(source: Source): Bars {
    const { chart, subject } = source;
    const known = chart.values.filter(({ path }) => number_at(subject.report, path) !== null);
    const value = (path: string) => number_at(subject.report, path);
    const common = { y_label: "", value_text: text_of(source), lying: true };
    return chart.kind === "parts"
        ? {
              categories: [""],
              series: known.map(({ path, label }) => ({ name: told(label), values: [value(path)] })),
              stacked: true,
              ...common,
          }
        : {
              categories: known.map(({ label }) => told(label)),
              series: [{ name: told(chart.title), values: known.map(({ path }) => value(path)) }],
              ...common,
          };
}

function sum_of({ values }: PageChart, row: unknown): number {
    return values.reduce((all, { path }) => all + (number_at(row, path) ?? 0), 0);
}

function row_bars(source: Source): Bars {
    const { chart } = source;
    const shares = chart.kind === "shares";
    const rows = source.rows.filter((row) => !shares || sum_of(chart, row) > 0);
    const series = chart.values.map(({ path, label }) => ({
        name: told(label),
        values: rows.map((row) => (shares ? (number_at(row, path) ?? 0) / sum_of(chart, row) : number_at(row, path))),
    }));
    return {
        categories: rows.map((row, index) => name_of(source, row, index)),
        series,
        x_label: told(chart.x_label ?? ""),
        y_label: !shares && chart.values.length === 1 ? told(chart.values[0]!.label) : "",
        stacked: shares || chart.kind === "stack",
        lying: shares || undefined,
        y_most: shares ? 1 : undefined,
        value_text: text_of(source),
    };
}

// Returns the rows with the largest values, in their order.
function largest({ rows, chart }: Source): unknown[] {
    const sums = rows.map((row) => sum_of(chart, row));
    const least = [...sums].sort((one, other) => other - one)[bars_max - 1] ?? 0;
    return rows.filter((_, index) => sums[index]! >= least).slice(0, bars_max);
}

function draw_bars(scope: Scope, whole: Source): Child {
    const source = { ...whole, rows: largest(whole) };
    const [some, all] = [source.rows.length, whole.rows.length];
    const bars = source.chart.rows ? row_bars(source) : value_bars(source);
    const values = bars.series.flatMap((one) => one.values);
    if (!values.some(Boolean)) {
        return values.includes(0) ? h("p.muted", t().report.all_zero) : null;
    }
    bars.series = bars.series.filter((one) => one.values.some(Boolean));
    const made = bar_chart(scope, { name: `${source.run.name}-${source.chart.title}`, height: 280 });
    made.show(bars);
    return [made.element, all > some && h("p.muted.small", t().report.largest(some, all))];
}

function curves_of({ chart, rows }: Source): FigureSeries[] {
    const groups = chart.by ? [...new Set(rows.map((row) => String(value_at(row, chart.by!))))] : [""];
    return groups.flatMap((group) => {
        const own = chart.by ? rows.filter((row) => String(value_at(row, chart.by!)) === group) : rows;
        return chart.values.map(({ path, label }): FigureSeries => {
            const points = own
                .map((row): [number | null, number | null] => [number_at(row, chart.x ?? ""), number_at(row, path)])
                .filter((point): point is [number, number] => point[0] !== null && point[1] !== null)
                .sort(([one], [other]) => one - other);
            const name = [group, told(label)].filter(Boolean).join(": ");
            return { name, kind: "linespoints", x: points.map(([x]) => x), y: points.map(([, y]) => y) };
        });
    });
}

// The lists of a distribution have points of a percentage and a time.
function distributions_of({ chart, subject }: Source): FigureSeries[] {
    return chart.values.map(({ path, label }): FigureSeries => {
        const points = (value_at(subject.report, path) ?? []) as Report[];
        const column = (name: string) => points.map((point) => Number(point[name]));
        return { name: told(label), kind: "steps", x: column("ms"), y: column("percent") };
    });
}

function draw_lines(scope: Scope, source: Source): Child {
    const { chart, run } = source;
    const cdf = chart.kind === "cdf";
    const series = (cdf ? distributions_of(source) : curves_of(source)).filter((one) => one.x.length > 0);
    if (series.length === 0) {
        return null;
    }
    const positive = (axis: "x" | "y") => series.every((one) => one[axis].every((value) => value > 0));
    const x_unit = source.unit(chart.x ?? "");
    const made = plot(scope, { height: 280, name: `${run.name}-${chart.title}` });
    made.show({
        title: "",
        x_label: told(chart.x_label ?? ""),
        y_label: cdf ? t().report.share_percent : "",
        x_log: chart.log?.includes("x") && positive("x"),
        y_log: chart.log?.includes("y") && positive("y"),
        y_range: cdf ? [0, 100] : chart.log?.includes("y") ? undefined : [0, null],
        x_text: cdf ? (value) => nanoseconds(value * 1e6) : (value) => plain_text("", value, x_unit),
        y_text: cdf ? undefined : text_of(source),
        series,
    });
    return made.element;
}

function draw_table({ chart, rows, unit }: Source): Child {
    const shown = chart.values.filter(({ path }) => rows.some((row) => (value_at(row, path) ?? "") !== ""));
    if (rows.length === 0 || shown.length === 0) {
        return null;
    }
    const cell = (row: unknown, path: string) => {
        const value = value_at(row, path);
        const right = typeof value === "number";
        const text = value === null || value === undefined ? "–" : plain_text(path, value, unit(path));
        return h("td", { class: right ? "right nowrap" : "" }, text);
    };
    const right = (path: string) => rows.some((row) => typeof value_at(row, path) === "number");
    return plain_table(
        shown.map(({ path, label }) => h("th", { scope: "col", class: right(path) ? "right" : "" }, told(label))),
        rows.map((row) => shown.map(({ path }) => cell(row, path))),
    );
}

// Reads the rows that a chart asks a table of the run for, those with the largest values.
async function table_rows(run: Run, chart: PageChart, signal: AbortSignal): Promise<Report[]> {
    const columns = [chart.x ?? "", ...chart.values.map(({ path }) => path)];
    const order = [{ column: columns[1]!, descending: true }];
    const table = chart.rows!.replace(/\.csv$/, "");
    const answer = await rows_of(run.id, table, { columns, limit: ports_max, order }, signal);
    return answer.rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
}

function draw_tracks(scope: Scope, { run, chart }: Source): Child {
    return when_imported(scope, run.id, async (signal) => {
        const { tables } = await api.get<Tables>(`runs/${run.id}/tables`, undefined, signal);
        const rows = tables.find((one) => one.name === chart.rows)?.rows ?? 0;
        return rows > 0
            ? tracks(scope, run, rows)
            : h("div.row", h("p.muted.grow", t().report.not_recorded), record_button(run, chart.record ?? ""));
    });
}

const drawers: Record<PageChart["kind"], (scope: Scope, source: Source) => Child> = {
    parts: draw_bars,
    bars: draw_bars,
    stack: draw_bars,
    shares: draw_bars,
    lines: draw_lines,
    cdf: draw_lines,
    table: (_, source) => draw_table(source),
    times: (_, { chart, subject, unit }) =>
        distribution_table(
            chart.values.map(({ path, label }) => [told(label), value_at(subject.report, path), unit(path)]),
        ),
    tracks: draw_tracks,
};

function chart_card(scope: Scope, run: Run, chart: PageChart, subject: Subject): Child {
    const draw = drawers[chart.kind];
    if (!draw) {
        return null; // of a newer program
    }
    const help = chart.help ? h("p.muted.small", told(chart.help)) : null;
    const prefix = chart.rows && !chart.rows.includes(".csv") ? `${chart.rows}.` : "";
    const source = (rows: unknown[]): Source => ({
        ...{ run, chart, subject, rows },
        unit: (path) => unit_at(subject.fields, chart.rows ? `${prefix}${path}` : path),
    });
    if (chart.rows?.endsWith(".csv")) {
        const place = when_imported(scope, run.id, async (signal) =>
            draw(scope, source(await table_rows(run, chart, signal))),
        );
        return card(told(chart.title), null, help, place);
    }
    const rows = chart.rows ? value_at(subject.report, chart.rows) : [];
    const made = draw(scope, source(Array.isArray(rows) ? rows : []));
    if (made === null) {
        return null;
    }
    const shown = card(told(chart.title), chart.kind === "tracks" ? trace_tools(run) : null, help, made);
    shown.classList.toggle("wide", ["parts", "stack", "shares", "table", "times", "tracks"].includes(chart.kind));
    return shown;
}

// Returns the headline numbers of a report, as far as it has them.
export function page_facts(page: PageSchema, { report, fields }: Subject): HTMLElement[] {
    return page.facts.flatMap(({ path, label }) => {
        const value = value_at(report, path);
        if (value === null || value === undefined || typeof value === "object") {
            return [];
        }
        const bad = /^(failed|lost|.*_failed)$/.test(path.split(".").pop()!) && value !== 0;
        return [fact(told(label), plain_text(path, value, unit_at(fields, path)), bad ? "bad" : "")];
    });
}

export function page_tab(scope: Scope, run: Run, page: PageSchema, subjects: Subject[]): Child {
    return subjects.map((subject) => {
        const charts = page.charts.map((chart) => chart_card(scope, run, chart, subject)).filter((one) => one !== null);
        return [
            subject.title ? h("h2", subject.title) : null,
            h("div.facts", page_facts(page, subject)),
            h("div.page-charts", charts),
            page.of !== "summary"
                ? h(
                      "details.card",
                      { open: charts.length === 0 },
                      h("summary", t().report.all_numbers),
                      numbers(subject.report, subject.fields, "", ["kind", "units", "flows"]),
                  )
                : null,
        ];
    });
}
