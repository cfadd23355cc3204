// SPDX-License-Identifier: Apache-2.0
// Process data: an analysis of any set of runs, as steps that one sees and changes, with a figure of the outcome.
import { api, ApiError, call } from "../../core/api";
import { debounce, fill, h, type Child, type Scope } from "../../core/dom";
import { count, number } from "../../core/format";
import { keep_query, kept_json, numbers_in, type Place } from "../../core/router";
import type { Column, Runs, Step, StepAnswer, Tables } from "../../core/types";
import { t, told } from "../../i18n/text";
import { cell_text } from "../../ui/data_grid";
import { button, field, input, loading, note } from "../../ui/parts";
import { problem_text, save_file, select, sheet, view_head } from "../../ui/parts";
import { no_runs, run_picker, type RunPicker } from "../../ui/run_picker";
import { saved_menu } from "../../ui/saved";
import { plain_table } from "../../ui/table";
import { when_imported } from "../run/import";
import { empty_choice, figure_for, type FigureChoice } from "./figure";
import { recipe_results, recipes } from "./recipes";
import { result_cards } from "./result";
import { new_step, step_fields, step_kinds } from "./steps";

interface Analysis {
    steps: Step[];
    figure: FigureChoice | null; // null: one that fits the last step
}

interface FunctionHelp {
    name: string;
    arguments?: string;
    help?: string;
}

// Returns the arguments of a function in words. The server writes them as letters: n is a number, t a text, b a
// condition, and * any more.
function argument_words(kinds: string): string {
    return [...kinds].map((kind) => t().process.arguments[kind] ?? kind).join(", ");
}

async function show_functions(): Promise<void> {
    const words = t().process;
    const { functions, units } = await api.get<{ functions: FunctionHelp[]; units?: (string | { name?: string })[] }>(
        "analysis/functions",
    );
    const rows = functions.map((one): Child[] => [
        h("td.mono.nowrap", `${one.name}(${argument_words(one.arguments ?? "")})`),
        told(one.help ?? ""),
    ]);
    const unit_names = units?.map((unit) => (typeof unit === "string" ? unit : (unit.name ?? "")));
    const table = plain_table(null, rows);
    table.classList.add("functions");
    const parts = [
        h("p.muted", words.expressions_text),
        table,
        unit_names ? h("p.mono.small", unit_names.join("  ")) : null,
    ];
    await sheet(words.expressions, parts, { text: t().common.close }, true);
}

class Process {
    picker!: RunPicker;
    private tables = ["flows", "ports", "events", "series", "summary"];
    private answers: StepAnswer[] = []; // of the steps, as far as they could be computed
    private fault: { step: number; text: string } | null = null;
    private figure_chosen = false;
    wanted_result = ""; // the result of runs that the recipe shows
    private readonly open_steps = new Set<number>();
    private readonly steps_place = h("ol.steps");
    private readonly result = h("div.stack");
    private readonly busy = h("span.muted.small", { "aria-live": "polite" });
    private readonly compute_soon: () => void;
    private result_scope: Scope;

    constructor(
        private readonly scope: Scope,
        private readonly analysis: Analysis,
    ) {
        this.figure_chosen = analysis.figure !== null;
        this.result_scope = scope.child();
        this.compute_soon = debounce(scope, 150, (signal) => void this.ask(signal));
    }

    // Computes the analysis anew, as it is now, and shows it.
    compute(): void {
        this.keep();
        this.draw_steps();
        this.compute_soon();
    }

    // Writes the steps, and a figure that the user chose, into the address.
    private keep(): void {
        const { steps, figure } = this.analysis;
        const chosen = this.figure_chosen && figure ? JSON.stringify(figure) : "";
        keep_query({ steps: steps.length > 0 ? JSON.stringify(steps) : "", figure: chosen, recipe: null });
    }

    private async ask(signal: AbortSignal): Promise<void> {
        const { analysis, busy, picker } = this;
        busy.textContent = "";
        if (picker.ids().length === 0 || analysis.steps.length === 0) {
            this.answers = [];
            this.draw();
            return;
        }
        busy.textContent = t().process.computing;
        try {
            const body = { runs: picker.ids(), steps: analysis.steps };
            this.answers = (await api.post<{ steps: StepAnswer[] }>("analysis", body, signal)).steps;
            this.fault = null;
        } catch (error) {
            if (signal.aborted) {
                return;
            }
            if (error instanceof ApiError && error.status === 409) {
                busy.textContent = t().run.importing;
                window.setTimeout(() => !this.scope.ended && this.compute(), 700);
                return;
            }
            this.set_fault(error);
        }
        busy.textContent = "";
        this.draw();
    }

    private set_fault(error: unknown): void {
        const where = (error as ApiError).where as { step?: number; column?: number } | undefined;
        const column = where?.column ? ` (${t().query.at_column(where.column)})` : "";
        const step = where?.step ?? this.analysis.steps.length - 1;
        this.fault = { step, text: problem_text(error) + column };
        this.answers = this.answers.slice(0, step);
    }

    private begin(recipe: string): void {
        this.wanted_result = recipe_results[recipe] ?? "";
        this.replace(structuredClone(recipes[recipe]!), null);
    }

    private replace(steps: Step[], figure: FigureChoice | null): void {
        this.analysis.steps = steps;
        this.analysis.figure = figure;
        this.figure_chosen = figure !== null;
        this.compute();
    }

    private draw(): void {
        this.draw_steps();
        this.draw_result();
    }

    private draw_steps(): void {
        const { analysis, steps_place } = this;
        steps_place.closest(".process")?.classList.toggle("bare", analysis.steps.length === 0);
        const focus = document.activeElement?.closest(".step")?.getAttribute("data-index");
        const cards = analysis.steps.map((step, index) => this.step_card(step, index));
        fill(steps_place, cards);
        if (focus) {
            const step = `[data-index="${focus}"]`;
            steps_place.querySelector<HTMLElement>(`${step} input, ${step} select`)?.focus();
        }
    }

    private step_head(step: Step, index: number): HTMLElement {
        const words = t().process;
        const { steps } = this.analysis;
        const answer = this.answers[index];
        const title = words.steps[step.do] ?? step.do;
        const move = (by: number) => {
            const [taken] = steps.splice(index, 1);
            steps.splice(index + by, 0, taken!);
            this.compute();
        };
        const remove = () => {
            steps.splice(index, 1);
            this.compute();
        };
        const quiet = { small: true, kind: "quiet" } as const;
        const took = answer && answer.seconds > 0.05 ? ` · ${number(answer.seconds, 2)} s` : "";
        const up = { ...quiet, icon: "up", label: words.move_up(title), disabled: index === 0 } as const;
        const last = index === steps.length - 1;
        const down = { ...quiet, icon: "down", label: words.move_down(title), disabled: last } as const;
        return h(
            "header",
            h("span.step-number.number", index + 1),
            h("h2.minor.grow", title),
            answer ? h("span.muted.small.number.nowrap", words.rows(count(answer.count)), took) : null,
            button("", () => move(-1), up),
            button("", () => move(1), down),
            button("", remove, { ...quiet, icon: "close", label: `${words.remove_step}: ${title}` }),
        );
    }

    private step_card(step: Step, index: number): HTMLElement {
        const answer = this.answers[index];
        const failed = this.fault?.step === index;
        const columns: Column[] = this.answers[index - 1]?.columns ?? [];
        const change = (made: Step) => {
            this.analysis.steps[index] = made;
            if (!this.figure_chosen) {
                this.analysis.figure = null;
            }
            this.compute();
        };
        const said = answer?.words ? h("p.muted.small", told(answer.words)) : null;
        return h(
            "li",
            { class: `step card ${failed ? "failed" : ""}`, "data-index": index },
            this.step_head(step, index),
            step_fields(step, columns, this.tables, change),
            failed ? note("bad", this.fault!.text) : said,
            answer && index < this.analysis.steps.length - 1 ? this.rows_after(answer, index) : null,
        );
    }

    private rows_after({ columns, rows }: StepAnswer, index: number): HTMLElement {
        const toggle = (event: Event) => {
            if ((event.target as HTMLDetailsElement).open) {
                this.open_steps.add(index);
            } else {
                this.open_steps.delete(index);
            }
        };
        const cells = rows
            .slice(0, 12)
            .map((row) => row.map((value, at) => h("td.nowrap", cell_text(value, columns[at]!))));
        const table = plain_table(
            columns.map((column) => column.name),
            cells,
            "small",
        );
        return h(
            "details",
            { open: this.open_steps.has(index), on: { toggle } },
            h("summary.small", t().process.see_rows),
            table,
        );
    }

    private draw_result(): void {
        const { analysis, answers, result } = this;
        this.result_scope.end();
        this.result_scope = this.scope.child();
        const answer = answers[analysis.steps.length - 1];
        const step = analysis.steps[analysis.steps.length - 1];
        if (!answer || !step) {
            fill(result, analysis.steps.length === 0 ? this.recipes_card() : this.fault ? null : loading());
            return;
        }
        analysis.figure ??= figure_for(step, answer.columns, answer.rows, this.wanted_result);
        const chosen = (choice: FigureChoice) => {
            analysis.figure = choice;
            this.figure_chosen = true;
            this.keep();
        };
        const choice = analysis.figure ?? empty_choice();
        const own_curves = !this.figure_chosen;
        fill(
            result,
            result_cards(this.result_scope, {
                step,
                answer,
                before: answers[analysis.steps.length - 2],
                choice,
                own_curves,
                chosen,
            }),
        );
    }

    private recipes_card(): HTMLElement {
        const card = (name: string) => {
            const [title, text] = t().process.recipes[name] ?? [name, ""];
            return h(
                "button.card.recipe",
                {
                    type: "button",
                    on: { click: () => this.begin(name) },
                },
                h("h2.minor", title),
                h("p.muted.small", text),
            );
        };
        return h("div.recipes", Object.keys(recipes).map(card));
    }

    private adder(): HTMLElement {
        const words = t().process;
        const named = (kind: string): [string, string] => [kind, `${words.steps[kind]}: ${words.step_texts[kind]}`];
        const add = (kind: string) => {
            if (kind) {
                const { steps } = this.analysis;
                made.value = "";
                this.replace([...steps, new_step(kind, this.answers[steps.length - 1]?.columns ?? [])], null);
            }
        };
        const made = select([["", words.add_step], ...step_kinds.map(named)], "", add, {
            "aria-label": words.add_step,
            class: "add-step",
        });
        return made;
    }

    private async export_folder(): Promise<void> {
        const words = t().process;
        const name = input({ value: "analysis", required: true });
        const done = async () => {
            const { steps, figure } = this.analysis;
            const drawn = figure?.x && figure.y.length > 0 ? { figure: { step: steps.length - 1, ...figure } } : {};
            const body = { runs: this.picker.ids(), steps, name: name.value.trim() || "analysis", ...drawn };
            save_file(`${body.name}.tar.gz`, await (await call("POST", "analysis/export", { body })).blob());
        };
        const fields = [h("p.muted", words.export_text), field(words.export_name, name)];
        await sheet(words.export, fields, { text: words.export, done });
    }

    private head(): HTMLElement {
        const words = t().process;
        return view_head(
            words.title_of_view,
            words.lead,
            saved_menu<Analysis>(
                "analysis",
                () => structuredClone(this.analysis),
                ({ body }) => this.replace(body.steps, body.figure),
            ),
            button(words.expressions, show_functions, { kind: "quiet" }),
            button(words.start_again, () => this.replace([], null), { kind: "quiet" }),
            button(words.export, () => void this.export_folder(), { icon: "download" }),
        );
    }

    show(): Child {
        const words = t();
        const first = this.picker.ids()[0];
        if (first === undefined) {
            return [view_head(words.process.title_of_view, words.process.lead), no_runs()];
        }
        const made = async (signal: AbortSignal) => {
            const { tables } = await api.get<Tables>(`runs/${first}/tables`, undefined, signal);
            this.tables = tables.map((one) => one.name);
            this.compute();
            const steps = h("div.stack", this.steps_place, h("div", this.adder()));
            const bare = this.analysis.steps.length === 0 ? "bare" : "";
            return h("div", { class: `process ${bare}` }, steps, this.result);
        };
        const runs = h("span.label-text", words.picker.runs);
        return [
            this.head(),
            h("div.row", runs, this.picker.element, this.busy),
            when_imported(this.scope, first, made),
        ];
    }
}

// Returns the steps of an address, in which anything may stand; null if it has none.
function steps_of(kept: unknown): Step[] | null {
    const is_step = (one: unknown) =>
        typeof one === "object" && one !== null && step_kinds.includes((one as Step).do as never);
    return Array.isArray(kept) && kept.length > 0 && kept.every(is_step) ? (kept as Step[]) : null;
}

export async function process_view(scope: Scope, place: Place): Promise<Child> {
    const recipe = structuredClone(recipes[place.query.get("recipe") ?? ""] ?? []);
    const analysis: Analysis = {
        steps: steps_of(kept_json<unknown>(place, "steps", null)) ?? recipe,
        figure: kept_json<FigureChoice | null>(place, "figure", null),
    };
    let wanted = numbers_in(place, "runs");
    const [group] = numbers_in(place, "group");
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
    const process = new Process(scope, analysis);
    process.wanted_result = recipe_results[place.query.get("recipe") ?? ""] ?? "";
    const runs_changed = (ids: number[]) => {
        keep_query({ runs: ids.join(","), group: null });
        process.compute();
    };
    process.picker = await run_picker(scope, wanted, runs_changed, 1000);
    return process.show();
}
