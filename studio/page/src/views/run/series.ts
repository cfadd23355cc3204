// SPDX-License-Identifier: Apache-2.0
// The time series of a run.
import { api } from "../../core/api";
import { debounce, h, type Child, type Scope } from "../../core/dom";
import { with_unit } from "../../core/format";
import { link } from "../../core/router";
import { name_unit } from "../../core/schema";
import { choose_range, on_range, range_query } from "../../core/time_range";
import type { Metric, Run, SeriesAnswer, Tables } from "../../core/types";
import { t } from "../../i18n/text";
import { figure_over_time, short_number, type Figure, type FigureSeries } from "../../plot/figure";
import { plot } from "../../plot/plot";
import { button, card, choose_names, empty, link_button, tell_problem } from "../../ui/parts";
import { when_imported } from "./import";

const curves_first = 8; // that are shown until the user chooses others

// Shows a metric over the chosen time, whose range can be chosen in the plot and is then fetched in full detail.
export function series_card(scope: Scope, run: Run, { kind, metric, of }: Metric, height = 240): HTMLElement {
    const words = t().run;
    let shown = of.slice(0, curves_first);
    const zoomed = (from: number, to: number) => choose_range([from, to]);
    const chart = plot(scope, { height, name: `${run.name}-${metric}`, zoomed });
    const load = async (signal: AbortSignal) => {
        const pixels = Math.max(chart.element.clientWidth - 80, 300);
        const query = { metric, of: shown.join(","), ...range_query(), pixels };
        chart.show(series_figure(await api.get<SeriesAnswer>(`runs/${run.id}/series`, query, signal), metric));
    };
    const reload = debounce(scope, 60, (signal) => void load(signal).catch(tell_problem));
    on_range(scope, reload);
    reload();
    const done = (names: string[]) => {
        shown = names;
        choose.textContent = words.curves(shown.length, of.length);
        reload();
    };
    const choose = button(
        words.curves(shown.length, of.length),
        () => choose_names({ title: words.which_curves, find: words.find_port }, of, shown, done),
        { small: true },
    );
    return card(h("span.mono", `${kind} ${metric}`), of.length > 1 ? choose : null, chart.element);
}

export function series_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    return when_imported(scope, run.id, async (signal) => {
        const { metrics } = await api.get<Tables>(`runs/${run.id}/tables`, undefined, signal);
        const edit = link_button(words.edit_again, link("edit", "run", run.id));
        return metrics.length === 0
            ? empty(words.no_series, words.no_series_text, edit)
            : [
                  h("p.muted.small", words.drag_hint),
                  h(
                      "div.stack",
                      metrics.map((metric) => series_card(scope, run, metric)),
                  ),
              ];
    });
}

function series_figure({ curves, unit }: SeriesAnswer, title: string): Figure {
    const unit_of = unit || name_unit(title.replace(/\[\d+\]$/, ""));
    const series = curves.map(({ of, time_ns, last, min, max }): FigureSeries => {
        const wide = min.some((low, index) => low !== max[index]);
        return { name: of, kind: "steps", x: time_ns, y: last, ...(wide ? { low: min, high: max } : {}) };
    });
    const y_text = unit_of ? (value: number) => with_unit(value, unit_of) : short_number;
    return figure_over_time("", series, { y_label: title, y_text });
}
