// SPDX-License-Identifier: Apache-2.0
// The figures of a run, from the same numbers as those of `rocesim plot`.
import { api, ApiError, call } from "../../core/api";
import { h, type Child, type Scope } from "../../core/dom";
import type { FigureAnswer, Run } from "../../core/types";
import { t, told } from "../../i18n/text";
import { figure_of } from "../../plot/served";
import { button, card, empty, later, save_file } from "../../ui/parts";
import { when_imported } from "./import";

async function panels_of(scope: Scope, run: Run, kind: string, signal: AbortSignal): Promise<Child> {
    try {
        const { panels, note, missing } = await api.post<FigureAnswer>("figure", { runs: [run.id], kind }, signal);
        const said = [note, missing].flatMap((text) => (text ? [told(text)] : [])).join("; ");
        const drawn = panels.map((panel) => figure_of(scope, panel, `${run.name}-${kind}`));
        return [drawn, said ? h("p.muted.small", said) : null];
    } catch (error) {
        if (error instanceof ApiError && error.status >= 400 && error.status < 500) {
            // The server says why it cannot draw a figure, for example that it needs at least 20 flows.
            return h("p.muted", told(error.message));
        }
        throw error;
    }
}

export function figures_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    const names: Record<string, string> = words.figure_kinds;
    const figure_card = (kind: string) => {
        const save = (format: string) =>
            button(words.as_plot(format), () => save_figure(run, kind, format), { small: true, kind: "quiet" });
        const place = later(scope, (signal) => panels_of(scope, run, kind, signal), h("div.figures"));
        return card(names[kind] ?? kind, h("div.row.tight", ["svg", "png", "gnuplot"].map(save)), place);
    };
    return when_imported(scope, run.id, async (signal) => {
        const { kinds } = await api.get<{ kinds: string[] }>("figure/kinds", { runs: run.id }, signal);
        return kinds.length === 0 ? empty(words.no_figures, words.no_figures_text) : kinds.map(figure_card);
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
    const response = await call("POST", "figure", { body: { runs: [run.id], kind, format } });
    save_file(`${run.name}-${kind}.${end}`, await response.blob());
}
