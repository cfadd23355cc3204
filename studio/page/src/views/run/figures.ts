// SPDX-License-Identifier: Apache-2.0
// The figures of a run, from the same numbers as those of `rocesim plot`.
import { api, api_url, ApiError, call } from "../../core/api";
import { fill, h, type Child, type Scope } from "../../core/dom";
import type { FigureAnswer, Run } from "../../core/types";
import { t, told } from "../../i18n/text";
import { figure_of } from "../../plot/served";
import { button, card, empty, loading, problem, save_file, tell_problem } from "../../ui/parts";
import { when_imported } from "./import";

export function figures_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    return when_imported(scope, run.id, async (signal) => {
        const { kinds } = await api.get<{ kinds: string[] }>("figure/kinds", { runs: run.id }, signal);
        if (kinds.length === 0) {
            return empty(words.no_figures, words.no_figures_text);
        }
        return kinds.map((kind) => {
            const place = h("div.figures", loading());
            api.post<FigureAnswer>("figure", { runs: [run.id], kind }, signal).then(
                (answer) => {
                    fill(place);
                    for (const panel of answer.panels) {
                        const made = figure_of(scope, panel, `${run.name}-${kind}`);
                        place.append(made);
                    }
                    const said = [answer.note, answer.missing]
                        .filter(Boolean)
                        .map((text) => told(text!))
                        .join("; ");
                    if (said) {
                        place.append(h("p.muted.small", said));
                    }
                },
                (error: unknown) => {
                    if (!scope.ended) {
                        // The server says why it cannot draw a figure, for example that it needs at least 20 flows.
                        fill(
                            place,
                            error instanceof ApiError && error.status >= 400 && error.status < 500
                                ? h("p.muted", told(error.message))
                                : problem(error),
                        );
                    }
                },
            );
            return card(
                words.figure_kinds[kind as keyof typeof words.figure_kinds] ?? kind,
                h(
                    "div.row.tight",
                    ["svg", "png", "gnuplot"].map((format) =>
                        h(
                            "a.button.small.quiet",
                            {
                                href: api_url("figure", { body: JSON.stringify({ runs: [run.id], kind, format }) }),
                                download: `${kind}.${format}`,
                                on: {
                                    click: (event) => {
                                        event.preventDefault();
                                        void save_figure(run, kind, format);
                                    },
                                },
                            },
                            words.as_plot(format),
                        ),
                    ),
                ),
                place,
            );
        });
    });
}

// Makes a button that saves what happened over time as a trace, and a link to the page that opens it.
export function trace_tools(run: Run): Child {
    const words = t().timeline;
    const save = () => save_figure(run, "timeline", "trace", "json");
    return h(
        "span.row.tight",
        button(words.trace, save, { small: true, icon: "download" }),
        h("a", { href: "https://ui.perfetto.dev", target: "_blank", rel: "noopener noreferrer" }, "ui.perfetto.dev"),
    );
}

async function save_figure(run: Run, kind: string, format: string, end = format): Promise<void> {
    try {
        const response = await call("POST", "figure", { body: { runs: [run.id], kind, format } });
        save_file(`${run.name}-${kind}.${end}`, await response.blob());
    } catch (error) {
        tell_problem(error);
    }
}
