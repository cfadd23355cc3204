// SPDX-License-Identifier: Apache-2.0
// Process data: an analysis as steps one sees and changes, over any set of runs, with a figure of what comes out.
import { api, ApiError, call } from "../core/api";
import { debounce, fill, h, type Scope, type Child } from "../core/dom";
import { bytes, count, nanoseconds, number } from "../core/format";
import { keep_query, link, type Place } from "../core/router";
import type { Cell, Column, Runs, Step, StepAnswer, Tables } from "../core/types";
import { t } from "../i18n/text";
import type { Figure, FigureSeries } from "../plot/figure";
import { plot } from "../plot/plot";
import { cell_text, column_width } from "../ui/data_grid";
import { grid } from "../ui/grid";
import {
    button,
    card,
    checkbox,
    empty,
    field,
    input,
    loading,
    note,
    problem_text,
    save_file,
    select,
    sheet,
    view_head,
} from "../ui/parts";
import { run_picker } from "../ui/run_picker";
import { saved_menu } from "../ui/saved";
import { when_imported } from "./run_import";
import { new_step, step_fields, step_kinds } from "./steps";

interface FigureChoice {
    x: string;
    y: string[];
    by: string;
    kind: "lines" | "points" | "bars" | "steps";
    x_log: boolean;
    y_log: boolean;
    title: string;
}

interface Analysis {
    steps: Step[];
    figure: FigureChoice | null;
}

const recipes: Record<string, Step[]> = {
    compare: [{ do: "compare", base: 0 }],
    cdf: [
        { do: "choose", table: "flows" },
        { do: "cdf", column: "slowdown", by: ["run_name"], points: 500 },
    ],
    percentiles: [
        { do: "choose", table: "flows" },
        { do: "percentiles", column: "fct_ns", by: ["run_name"], points: [50, 90, 99, 99.9] },
    ],
    histogram: [
        { do: "choose", table: "flows" },
        { do: "histogram", column: "bytes", by: [], bins: 40, scale: "log" },
    ],
    goodput: [
        { do: "choose", table: "flows" },
        { do: "derive", name: "goodput", expression: "bytes * 8 / fct_ns", unit: "Gbps" },
        {
            do: "group",
            by: ["src"],
            take: [
                { function: "mean", column: "goodput", as: "mean_goodput" },
                { function: "count", column: "goodput", as: "flows" },
            ],
        },
        { do: "sort", by: [{ column: "mean_goodput", descending: true }] },
    ],
    fit: [
        { do: "choose", table: "flows" },
        { do: "fit", x: "bytes", y: "fct_ns", kind: "linear", by: ["run_name"] },
    ],
    outliers: [
        { do: "choose", table: "flows" },
        { do: "outliers", column: "slowdown", method: "iqr", k: 3, keep: "outliers" },
        { do: "sort", by: [{ column: "slowdown", descending: true }] },
    ],
    sweep: [{ do: "choose", table: "runs" }],
};

// Kinds of arguments as the server writes them: n a number, t a text, * any more.
function argument_words(kinds: string): string {
    const names: Record<string, string> = { n: "number", t: "text", b: "condition" };
    return [...kinds].map((kind) => (kind === "*" ? "…" : (names[kind] ?? kind))).join(", ");
}

// A figure that fits what a step gives, until one chooses another.
function figure_for(step: Step, columns: Column[], rows: Cell[][]): FigureChoice | null {
    const names = columns.map((column) => column.name);
    const first_text = columns.find((column) => column.type === "text" && column.name !== "words")?.name ?? "";
    const numeric = columns.filter((column) => column.type === "number").map((column) => column.name);
    const base = { by: "", x_log: false, y_log: false, title: "" };
    if (names[0] === "run" && names.length > 6 && rows.length > 1) {
        // A row for each run: the first parameter that differs, against what people look at first.
        const differs = (name: string) => new Set(rows.map((row) => row[names.indexOf(name)])).size > 1;
        const varied = columns.filter(
            (column) =>
                /^(nic|switch|topology|traffic|nodes|links?|network|faults|until)\b/.test(column.name) &&
                differs(column.name),
        );
        const x = varied.find((column) => column.type === "number") ?? varied[0];
        const result =
            ["apps[0].mops", "flows.slowdown.p99", "flows.goodput_gbps.mean", "apps[0].goodput_gbps"].find(
                (name) => names.includes(name) && differs(name),
            ) ?? numeric.findLast(differs);
        if (x && result) {
            return {
                ...base,
                x: x.name,
                y: [result],
                by: varied.find((column) => column !== x)?.name ?? "",
                kind: x.type === "number" ? "lines" : "points",
            };
        }
    }
    switch (step.do) {
        case "cdf":
            return {
                ...base,
                x: names.includes("value") ? "value" : String(step.column ?? ""),
                y: ["share"],
                by: first_text,
                kind: "steps",
            };
        case "histogram":
            return { ...base, x: "from", y: ["count"], by: first_text, kind: "bars", x_log: step.scale === "log" };
        case "percentiles":
            return null;
        case "compare":
        case "fit":
        case "outliers":
            return null;
        default:
            return numeric.length >= 2 && names.length >= 2
                ? { ...base, x: numeric[0]!, y: [numeric[numeric.length - 1]!], by: first_text, kind: "points" }
                : null;
    }
}

export function figure_from(choice: FigureChoice, columns: Column[], rows: Cell[][]): Figure {
    const at = (name: string) => columns.findIndex((column) => column.name === name);
    const unit = (name: string) => columns[at(name)]?.unit;
    const x_at = at(choice.x);
    const by_at = choice.by ? at(choice.by) : -1;
    const to_at = choice.kind === "bars" && choice.x === "from" ? at("to") : -1;
    // Words along x are places 1, 2, 3...
    const categories =
        x_at >= 0 && rows.some((row) => typeof row[x_at] === "string")
            ? [...new Set(rows.map((row) => String(row[x_at])))]
            : null;
    const made = new Map<string, FigureSeries>();
    for (const row of rows) {
        for (const y_name of choice.y) {
            const y = row[at(y_name)];
            const x = categories ? categories.indexOf(String(row[x_at])) + 1 : row[x_at];
            if (typeof y !== "number" || typeof x !== "number") {
                continue;
            }
            const name = [by_at >= 0 ? String(row[by_at]) : "", choice.y.length > 1 || by_at < 0 ? y_name : ""]
                .filter(Boolean)
                .join(" ");
            let series = made.get(name);
            if (!series) {
                series = {
                    name,
                    kind: choice.kind === "lines" ? "linespoints" : choice.kind,
                    x: [],
                    y: [],
                    ...(to_at >= 0 ? { low: [], high: [] } : {}),
                };
                made.set(name, series);
            }
            series.x.push(x);
            series.y.push(y);
            if (to_at >= 0) {
                series.low!.push(x);
                series.high!.push(Number(row[to_at]));
            }
        }
    }
    // Runs that differ in their seed alone are one point: the mean, with a band from the least to the greatest.
    let banded = false;
    const join_equal = (one: FigureSeries): void => {
        const points = new Map<number, number[]>();
        for (const [index, x] of one.x.entries()) {
            points.set(x, [...(points.get(x) ?? []), one.y[index]!]);
        }
        if (points.size === one.x.length) {
            return;
        }
        banded = true;
        const all = [...points.values()];
        one.x = [...points.keys()];
        one.y = all.map((values) => values.reduce((sum, value) => sum + value, 0) / values.length);
        one.low = all.map((values) => Math.min(...values));
        one.high = all.map((values) => Math.max(...values));
    };
    const labelled = (name: string) => (unit(name) ? `${name} (${unit(name)})` : name);
    const series = [...made.values()].slice(0, 24);
    if (choice.kind === "lines" || choice.kind === "steps") {
        for (const one of series) {
            if (choice.kind === "lines") {
                join_equal(one);
            }
            const order = one.x.map((_, index) => index).sort((a, b) => one.x[a]! - one.x[b]!);
            one.x = order.map((index) => one.x[index]!);
            one.y = order.map((index) => one.y[index]!);
            one.low = one.low && order.map((index) => one.low![index]!);
            one.high = one.high && order.map((index) => one.high![index]!);
            if (one.x.length > 60 && one.kind === "linespoints") {
                one.kind = "lines";
            }
        }
    }
    return {
        title: choice.title,
        x_label: labelled(choice.x),
        y_label: `${choice.y.map(labelled).join(", ")}${banded ? t().process.mean_band : ""}`,
        x_log: choice.x_log,
        y_log: choice.y_log,
        series,
        x_tics:
            categories && categories.length <= 40
                ? categories.map((name, index): [string, number] => [name, index + 1])
                : undefined,
    };
}

export async function process_view(scope: Scope, place: Place): Promise<Child> {
    const words = t().process;
    const analysis: Analysis = { steps: structuredClone(recipes[place.query.get("recipe") ?? ""] ?? []), figure: null };
    let wanted = (place.query.get("runs") ?? "").split(",").map(Number).filter(Boolean);
    const group = place.query.get("group");
    if (group) {
        const { runs } = await api.get<Runs>("runs", { group, limit: 1000 }, scope.signal);
        wanted = runs
            .filter((run) => run.has_result)
            .map((run) => run.id)
            .sort((one, other) => one - other);
        if (analysis.steps.length === 0) {
            analysis.steps = structuredClone(recipes.sweep!);
        }
    }
    let answers: StepAnswer[] = [];
    let fault: { step: number; text: string } | null = null;
    let tables: string[] = ["flows", "ports", "events", "series", "summary"];
    let figure_chosen = false;
    const open_steps = new Set<number>();
    const picker = await run_picker(
        scope,
        wanted,
        (ids) => {
            keep_query({ runs: ids.join(","), group: null });
            compute();
        },
        1000,
    );
    const steps_place = h("ol", { class: "steps" });
    const result = h("div", { class: "stack" });
    const busy = h("span", { class: "muted small", "aria-live": "polite" });
    let result_scope = scope.child();

    const columns_before = (index: number): Column[] => answers[index - 1]?.columns ?? [];
    const change = (index: number, step: Step) => {
        analysis.steps[index] = step;
        if (!figure_chosen) {
            analysis.figure = null;
        }
        compute();
    };

    const draw_steps = () => {
        steps_place.closest(".process")?.classList.toggle("bare", analysis.steps.length === 0);
        const focus = document.activeElement?.closest(".step")?.getAttribute("data-index");
        fill(
            steps_place,
            analysis.steps.map((step, index) => {
                const answer = answers[index];
                const failed = fault?.step === index;
                const title = words.steps[step.do as keyof typeof words.steps] ?? step.do;
                const move = (by: number) => {
                    const [taken] = analysis.steps.splice(index, 1);
                    analysis.steps.splice(index + by, 0, taken!);
                    compute();
                };
                return h(
                    "li",
                    { class: `step card ${failed ? "failed" : ""}`, "data-index": index },
                    h(
                        "header",
                        null,
                        h("span", { class: "step-number number" }, index + 1),
                        h("h3", { class: "grow" }, title),
                        answer
                            ? h(
                                  "span",
                                  { class: "muted small number nowrap" },
                                  words.rows(count(answer.count)),
                                  answer.seconds > 0.05 ? ` · ${number(answer.seconds, 2)} s` : "",
                              )
                            : null,
                        button("", () => move(-1), {
                            small: true,
                            kind: "quiet",
                            icon: "up",
                            label: words.move_up(title),
                            disabled: index === 0,
                        }),
                        button("", () => move(1), {
                            small: true,
                            kind: "quiet",
                            icon: "down",
                            label: words.move_down(title),
                            disabled: index === analysis.steps.length - 1,
                        }),
                        button(
                            "",
                            () => {
                                analysis.steps.splice(index, 1);
                                compute();
                            },
                            {
                                small: true,
                                kind: "quiet",
                                icon: "close",
                                label: `${words.remove_step}: ${title}`,
                            },
                        ),
                    ),
                    step_fields(step, columns_before(index), tables, (made) => change(index, made)),
                    failed
                        ? note("bad", fault!.text)
                        : answer?.words
                          ? h("p", { class: "muted small" }, answer.words)
                          : null,
                    answer && index < analysis.steps.length - 1
                        ? h(
                              "details",
                              {
                                  open: open_steps.has(index),
                                  on: {
                                      toggle: (event) =>
                                          (event.target as HTMLDetailsElement).open
                                              ? open_steps.add(index)
                                              : open_steps.delete(index),
                                  },
                              },
                              h("summary", { class: "small" }, words.see_rows),
                              small_table(answer.columns, answer.rows.slice(0, 12)),
                          )
                        : null,
                );
            }),
        );
        if (focus !== undefined && focus !== null) {
            steps_place
                .querySelector<HTMLElement>(`[data-index="${focus}"] input, [data-index="${focus}"] select`)
                ?.focus();
        }
    };

    const draw_result = () => {
        result_scope.end();
        result_scope = scope.child();
        const here = result_scope;
        const last = answers[analysis.steps.length - 1];
        const step = analysis.steps[analysis.steps.length - 1];
        if (!last || !step) {
            fill(result, analysis.steps.length === 0 ? recipes_card() : fault ? null : loading());
            return;
        }
        analysis.figure ??= figure_for(step, last.columns, last.rows);
        const choice: FigureChoice = analysis.figure ?? {
            x: "",
            y: [],
            by: "",
            kind: "points",
            x_log: false,
            y_log: false,
            title: "",
        };
        const chart = plot(here, { height: 320, name: choice.title || "analysis" });
        const chart_place = h("div", null, chart.element);
        const draw_figure = () => {
            const curves = (last.curves ?? []).map(
                (curve): FigureSeries => ({ name: curve.name, kind: "lines", x: curve.x, y: curve.y }),
            );
            if (curves.length > 0 && !figure_chosen) {
                chart.show({
                    title: choice.title,
                    x_label: String(step.x ?? ""),
                    y_label: String(step.y ?? ""),
                    series: curves,
                });
            } else {
                chart.show(figure_from(choice, last.columns, last.rows));
            }
            chart_place.hidden = curves.length === 0 && (!choice.x || choice.y.length === 0);
        };
        const update = (changes: Partial<FigureChoice>) => {
            Object.assign(choice, changes);
            analysis.figure = choice;
            figure_chosen = true;
            draw_figure();
        };
        const names = last.columns.map((column): [string, string] => [column.name, column.name]);
        const numeric = last.columns
            .filter((column) => column.type !== "text")
            .map((column): [string, string] => [column.name, column.name]);
        const title_box = input({
            value: choice.title,
            placeholder: words.figure_title,
            on: { input: () => update({ title: title_box.value }) },
        });
        draw_figure();
        const list =
            step.do === "compare"
                ? compare_grid(here, last)
                : grid<Cell[]>(here, {
                      label: words.result,
                      height: "min(46vh, 480px)",
                      columns: last.columns.map((column, index) => ({
                          name: column.name,
                          title: column.name,
                          help: column.unit,
                          width: column_width(column),
                          right: column.type === "number",
                          cell: (row) =>
                              typeof row[index] === "number" && !Number.isInteger(row[index]) && column.unit !== "ns"
                                  ? number(row[index] as number, 5)
                                  : cell_text(row[index], column),
                      })),
                      fetch: (offset, limit) =>
                          Promise.resolve({ rows: last.rows.slice(offset, offset + limit), total: last.rows.length }),
                      empty: words.no_rows,
                  });
        const table_csv = () =>
            `${[last.columns.map((column) => column.name), ...last.rows].map((row) => row.map((cell) => (cell === null ? "" : /[",\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell))).join(",")).join("\n")}\n`;
        fill(
            result,
            card(
                words.figure,
                null,
                h(
                    "div",
                    { class: "stack" },
                    chart_place,
                    h(
                        "div",
                        { class: "figure-fields" },
                        field(
                            words.x,
                            select([["", "–"], ...names], choice.x, (x) => update({ x })),
                        ),
                        field(
                            words.y,
                            select([["", "–"], ...numeric], choice.y[0] ?? "", (y) => update({ y: y ? [y] : [] })),
                        ),
                        field(
                            words.by,
                            select([["", "–"], ...names], choice.by, (by) => update({ by })),
                        ),
                        field(
                            words.kind,
                            select(
                                ["points", "lines", "steps", "bars"].map((kind) => [kind, words.kinds[kind] ?? kind]),
                                choice.kind,
                                (kind) => update({ kind: kind as FigureChoice["kind"] }),
                            ),
                        ),
                        field(words.title, title_box),
                        h(
                            "div",
                            { class: "row" },
                            checkbox(words.x_log, choice.x_log, (x_log) => update({ x_log })),
                            checkbox(words.y_log, choice.y_log, (y_log) => update({ y_log })),
                        ),
                    ),
                ),
            ),
            h(
                "section",
                { class: "card flush" },
                h(
                    "header",
                    null,
                    h("h2", null, words.result),
                    h(
                        "span",
                        { class: "grow muted small number" },
                        words.rows(count(last.count)),
                        last.rows.length < last.count ? ` · ${words.first_shown(count(last.rows.length))}` : "",
                    ),
                    button("CSV", () => save_file("analysis.csv", new Blob([table_csv()], { type: "text/csv" })), {
                        small: true,
                        icon: "download",
                    }),
                ),
                list.element,
            ),
        );
    };

    const recipes_card = () =>
        h(
            "div",
            { class: "recipes" },
            Object.keys(recipes).map((name) => {
                const [title, text] = words.recipes[name] ?? [name, ""];
                return h(
                    "button",
                    {
                        type: "button",
                        class: "card recipe",
                        on: {
                            click: () => {
                                analysis.steps = structuredClone(recipes[name]!);
                                analysis.figure = null;
                                figure_chosen = false;
                                compute();
                            },
                        },
                    },
                    h("h3", null, title),
                    h("p", { class: "muted small" }, text),
                );
            }),
        );

    const compute_soon = debounce(scope, 150, (signal) => {
        if (picker.ids().length === 0 || analysis.steps.length === 0) {
            answers = [];
            draw_steps();
            draw_result();
            busy.textContent = "";
            return;
        }
        busy.textContent = words.computing;
        api.post<{ steps: StepAnswer[] }>("analysis", { runs: picker.ids(), steps: analysis.steps }, signal).then(
            (answer) => {
                answers = answer.steps;
                fault = null;
                busy.textContent = "";
                draw_steps();
                draw_result();
            },
            (error: unknown) => {
                if (signal.aborted) {
                    return;
                }
                busy.textContent = "";
                if (error instanceof ApiError && error.status === 409) {
                    busy.textContent = t().run.importing;
                    window.setTimeout(() => !scope.ended && compute(), 700);
                    return;
                }
                const where = (error as ApiError).where as { step?: number; column?: number } | undefined;
                fault = {
                    step: where?.step ?? analysis.steps.length - 1,
                    text: problem_text(error) + (where?.column ? ` (${t().query.at_column(where.column)})` : ""),
                };
                answers = answers.slice(0, fault.step);
                draw_steps();
                draw_result();
            },
        );
    });
    const compute = () => {
        draw_steps();
        compute_soon();
    };

    const adder = select(
        [
            ["", words.add_step],
            ...step_kinds.map((kind): [string, string] => [
                kind,
                `${words.steps[kind as keyof typeof words.steps]}: ${words.step_texts[kind as keyof typeof words.step_texts]}`,
            ]),
        ],
        "",
        (kind) => {
            if (kind) {
                analysis.steps.push(new_step(kind, answers[analysis.steps.length - 1]?.columns ?? []));
                analysis.figure = null;
                figure_chosen = false;
                adder.value = "";
                compute();
            }
        },
        { "aria-label": words.add_step, class: "add-step" },
    );

    const export_folder = async () => {
        const name = input({ value: "analysis", required: true });
        await sheet(words.export, [h("p", { class: "muted" }, words.export_text), field(words.export_name, name)], {
            text: words.export,
            done: async () => {
                const choice = analysis.figure;
                const body = {
                    runs: picker.ids(),
                    steps: analysis.steps,
                    name: name.value.trim() || "analysis",
                    ...(choice?.x && choice.y.length > 0
                        ? { figure: { step: analysis.steps.length - 1, ...choice } }
                        : {}),
                };
                save_file(`${body.name}.tar.gz`, await (await call("POST", "analysis/export", { body })).blob());
            },
        });
    };
    const show_functions = async () => {
        const known = await api.get<{
            functions: { name: string; arguments?: string; help?: string }[];
            operators?: unknown[];
            units?: unknown[];
        }>("analysis/functions");
        await sheet(
            words.expressions,
            [
                h("p", { class: "muted" }, words.expressions_text),
                h(
                    "div",
                    { class: "scroll-x functions", tabindex: 0 },
                    h(
                        "table",
                        { class: "plain" },
                        h(
                            "tbody",
                            null,
                            known.functions.map((one) =>
                                h(
                                    "tr",
                                    null,
                                    h(
                                        "td",
                                        { class: "mono nowrap" },
                                        `${one.name}(${argument_words(one.arguments ?? "")})`,
                                    ),
                                    h("td", null, one.help ?? ""),
                                ),
                            ),
                        ),
                    ),
                ),
                known.units
                    ? h(
                          "p",
                          { class: "mono small" },
                          known.units
                              .map((unit) =>
                                  typeof unit === "string" ? unit : ((unit as { name?: string }).name ?? ""),
                              )
                              .join("  "),
                      )
                    : null,
            ],
            { text: t().common.close },
            true,
        );
    };
    const open_saved = (body: Analysis) => {
        analysis.steps = body.steps;
        analysis.figure = body.figure;
        figure_chosen = body.figure !== null;
        compute();
    };

    const first = picker.ids()[0];
    if (first === undefined) {
        return [
            view_head(words.title_of_view, words.lead),
            empty(
                t().query.no_runs,
                t().query.no_runs_text,
                h("a", { class: "button main-action", href: link("simulate") }, t().nav.simulate),
            ),
        ];
    }
    return [
        view_head(
            words.title_of_view,
            words.lead,
            saved_menu(
                scope,
                "analysis",
                () => structuredClone(analysis),
                (document) => open_saved(document.body),
            ),
            button(words.expressions, show_functions, { kind: "quiet" }),
            button(
                words.start_again,
                () => {
                    analysis.steps = [];
                    analysis.figure = null;
                    figure_chosen = false;
                    compute();
                },
                { kind: "quiet" },
            ),
            button(words.export, () => void export_folder(), { icon: "download" }),
        ),
        h("div", { class: "row" }, h("span", { class: "label-text" }, t().picker.runs), picker.element, busy),
        when_imported(scope, first, async (signal) => {
            tables = (await api.get<Tables>(`runs/${first}/tables`, undefined, signal)).tables.map((one) => one.name);
            compute();
            return h(
                "div",
                { class: `process ${analysis.steps.length === 0 ? "bare" : ""}` },
                h("div", { class: "stack" }, steps_place, h("div", null, adder)),
                result,
            );
        }),
    ];
}

// A value of the comparison, by the unit in its key ("flows.fct_us.p50").
function compared(key: string, value: number, digits: number): string {
    const unit = /_(ps|ns|us|bytes)(?:_\w+)?(?:\.\w+)?$/.exec(key)?.[1];
    switch (unit) {
        case "ps":
        case "ns":
        case "us":
            return nanoseconds(value * { ps: 1e-3, ns: 1, us: 1e3 }[unit], digits);
        case "bytes":
            return bytes(value);
        default:
            return number(value, digits);
    }
}

// As `rocesim compare` prints it: a row for each field, a column for each run (or runs that differ only in their seed).
function compare_grid(scope: Scope, answer: StepAnswer): { element: HTMLElement } {
    const at = (name: string) => answer.columns.findIndex((column) => column.name === name);
    const runs: string[] = [];
    const fields = new Map<string, Map<string, Cell[]>>(); // by key: what belongs to a row above has the same name below each
    for (const row of answer.rows) {
        const of = String(row[at("runs")]);
        if (!runs.includes(of)) {
            runs.push(of);
        }
        const key = String(row[at("key")]);
        const cells = fields.get(key) ?? new Map<string, Cell[]>();
        fields.set(key, cells.set(of, row));
    }
    const has_value = (row: Cell[]) => typeof row[at("mean")] === "number" || String(row[at("text")] ?? "") !== "";
    const rows = [...fields.values()].filter((cells) => [...cells.values()].some(has_value));
    const label = (cells: Map<string, Cell[]>) =>
        String([...cells.values()][0]?.[at("field")] ?? "").replace(/^ +/, "\u2003");
    const text = (row: Cell[] | undefined): string => {
        if (!row) {
            return "";
        }
        const mean = row[at("mean")];
        const interval = row[at("interval")];
        const key = String(row[at("key")]);
        return typeof mean === "number"
            ? `${compared(key, mean, 4)}${typeof interval === "number" ? ` ± ${compared(key, interval, 2)}` : ""} ${String(row[at("stars")] ?? "")}`
            : String(row[at("text")] ?? "");
    };
    return grid<Map<string, Cell[]>>(scope, {
        label: t().process.result,
        height: "min(60vh, 620px)",
        columns: [
            { name: "field", title: t().process.parts.fields, width: 280, cell: label },
            ...runs.map((of) => ({
                name: of,
                title: of,
                width: 190,
                right: true,
                cell: (cells: Map<string, Cell[]>) => text(cells.get(of)),
            })),
        ],
        fetch: (offset, limit) => Promise.resolve({ rows: rows.slice(offset, offset + limit), total: rows.length }),
    });
}

function small_table(columns: Column[], rows: Cell[][]): HTMLElement {
    return h(
        "div",
        { class: "scroll-x", tabindex: 0 },
        h(
            "table",
            { class: "plain small" },
            h(
                "thead",
                null,
                h(
                    "tr",
                    null,
                    columns.map((column) => h("th", { scope: "col" }, column.name)),
                ),
            ),
            h(
                "tbody",
                null,
                rows.map((row) =>
                    h(
                        "tr",
                        null,
                        row.map((cell, index) => h("td", { class: "nowrap" }, cell_text(cell, columns[index]!))),
                    ),
                ),
            ),
        ),
    );
}
