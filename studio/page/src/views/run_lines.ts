// SPDX-License-Identifier: Apache-2.0
// The runs of a sweep as parallel coordinates: an axis for each parameter that differs and for each chosen result.
import { h, type Child, type Scope } from "../core/dom";
import { number } from "../core/format";
import { short_setting, type Run } from "../core/types";
import { t } from "../i18n/text";
import { parallel, type Parallel } from "../plot/parallel";
import { button } from "../ui/parts";
import { value_text, value_title } from "./run_values";

const words_max = 12; // values of a parameter that stand at its axis as they are written

// Returns the parameters of a sweep with each run's value; those that all runs share are left out.
export function parameters_of(runs: Run[]): { name: string; values: (string | undefined)[] }[] {
    const settings = runs.map((run) => {
        const pairs = run.set.map((one): [string, string] => {
            const at = one.indexOf("=");
            return [one.slice(0, at), one.slice(at + 1)];
        });
        return new Map(run.seed === null ? pairs : [...pairs, ["seed", String(run.seed)]]);
    });
    const names = [...new Set(settings.flatMap((one) => [...one.keys()]))];
    return names
        .map((name) => ({ name, values: settings.map((one) => one.get(name)) }))
        .filter(({ values }) => new Set(values).size > 1);
}

function parameter_axis(name: string, values: (string | undefined)[]) {
    const title = short_setting(`${name}=`).slice(0, -1);
    const numbers = values.map(Number);
    const numeric = numbers.every(Number.isFinite);
    const words = [...new Set(values.map((value) => value ?? "–"))];
    if (numeric && words.length > words_max) {
        return { axis: { name: title, text: (value: number) => number(value, 4) }, values: numbers };
    }
    if (numeric) {
        words.sort((one, other) => Number(one) - Number(other));
    }
    return { axis: { name: title, text: String, words }, values: values.map((value) => words.indexOf(value ?? "–")) };
}

// Shows the runs that have results; `mark` marks those that pass the ranges that were dragged along axes.
export function run_lines(scope: Scope, runs: Run[], columns: string[], mark: (runs: Run[]) => void): Child {
    const words = t().runs;
    const done = runs.filter((run) => Object.keys(run.values ?? {}).length > 0);
    const parameters = parameters_of(done).map(({ name, values }) => parameter_axis(name, values));
    const results = columns.map((name) => ({
        axis: { name: value_title(name), text: (value: number) => value_text(name, value) },
        values: done.map((run) => run.values?.[name] ?? null),
    }));
    const all = [...parameters, ...results];
    if (done.length < 2 || all.length < 2) {
        return null;
    }
    const figure: Parallel = {
        axes: all.map((one) => one.axis),
        lines: done.map((run, index) => ({ name: run.name, values: all.map((one) => one.values[index] ?? null) })),
        words: words.lines_words(done.length, all.map((one) => one.axis.name).join(", ")),
    };
    let chosen = done;
    const told = h("span.muted.small", { "aria-live": "polite" }, words.lines_text);
    const chart = parallel(scope, "parallel-coordinates", figure, (lines) => {
        chosen = lines.map((index) => done[index]!);
        told.textContent = words.lines_pass(chosen.length, done.length);
    });
    const tools = button(words.lines_mark, () => mark(chosen), { small: true });
    return h("section.card", h("header", h("h2", words.lines), told, tools), chart);
}
