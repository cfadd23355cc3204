// SPDX-License-Identifier: Apache-2.0
// The time series of a run.
import { api } from "../../core/api";
import { debounce, h, type Child, type Scope } from "../../core/dom";
import { nanoseconds, with_unit } from "../../core/format";
import { link } from "../../core/router";
import { name_unit } from "../../core/schema";
import { choose_range, on_range, range_query } from "../../core/time_range";
import type { Run, SeriesAnswer, Tables } from "../../core/types";
import { t } from "../../i18n/text";
import { short_number, type Figure } from "../../plot/figure";
import { plot } from "../../plot/plot";
import { button, card, empty, link_button, sheet, toast } from "../../ui/parts";
import { when_imported } from "./import";

// Shows the chosen metrics. A range that is chosen in one plot is fetched again in full detail for all plots.
export function series_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    return when_imported(scope, run.id, async (signal) => {
        const tables = await api.get<Tables>(`runs/${run.id}/tables`, undefined, signal);
        if (tables.metrics.length === 0) {
            return empty(
                words.no_series,
                words.no_series_text,
                link_button(words.edit_again, link("edit", "run", run.id)),
            );
        }
        const reloads: (() => void)[] = [];
        on_range(scope, () => {
            for (const reload of reloads) {
                reload();
            }
        });
        const panels = tables.metrics.map((metric) => {
            const shown = new Set(metric.of.slice(0, 8));
            const chart = plot(scope, {
                height: 240,
                name: `${run.name}-${metric.metric}`,
                zoomed: (from, to) => choose_range([from, to]),
            });
            const reload = debounce(scope, 60, (inner) => {
                api.get<SeriesAnswer>(
                    `runs/${run.id}/series`,
                    {
                        metric: metric.metric,
                        of: [...shown].join(","),
                        ...range_query(),
                        pixels: Math.max(chart.element.clientWidth - 80, 300),
                    },
                    inner,
                ).then(
                    (answer) => chart.show(series_figure(answer, metric.metric)),
                    (error: unknown) => (error as Error).name !== "AbortError" && toast(String(error), { bad: true }),
                );
            });
            reloads.push(reload);
            reload();
            const choose =
                metric.of.length > 1
                    ? button(
                          words.curves(shown.size, metric.of.length),
                          async () => {
                              const boxes = metric.of.slice(0, 400).map((name) => {
                                  const box = h("input", { type: "checkbox", checked: shown.has(name), value: name });
                                  return [box, h("label.check.mono", box, name)] as const;
                              });
                              await sheet(
                                  words.which_curves,
                                  h(
                                      "div.choices",
                                      boxes.map(([, label]) => label),
                                  ),
                                  {
                                      text: words.show,
                                      done: () => {
                                          shown.clear();
                                          for (const [box] of boxes) {
                                              if (box.checked) {
                                                  shown.add(box.value);
                                              }
                                          }
                                          choose!.textContent = words.curves(shown.size, metric.of.length);
                                          reload();
                                      },
                                  },
                              );
                          },
                          { small: true },
                      )
                    : null;
            return card(h("span.mono", `${metric.kind} ${metric.metric}`), choose, chart.element);
        });
        return [h("p.muted.small", words.drag_hint), h("div.stack", panels)];
    });
}

export function series_figure(answer: SeriesAnswer, title: string): Figure {
    const unit = answer.unit || name_unit(title.replace(/\[\d+\]$/, ""));
    return {
        title: "",
        x_label: t().run.time,
        y_label: title,
        x_text: (value) => nanoseconds(value),
        y_text: unit ? (value) => with_unit(value, unit) : short_number,
        series: answer.curves.map((curve) => {
            const wide = curve.min.some((low, index) => low !== curve.max[index]);
            return {
                name: curve.of,
                kind: "steps",
                x: curve.time_ns,
                y: curve.last,
                ...(wide ? { low: curve.min, high: curve.max } : {}),
            };
        }),
    };
}
