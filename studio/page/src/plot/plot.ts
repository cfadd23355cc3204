// SPDX-License-Identifier: Apache-2.0
// A figure on the page: drag to look closer, double-click for all of it, a legend with the values under the pointer,
// and files of it.
import uPlot from "uplot";
import { h, on_resize, type Scope } from "../core/dom";
import { the_color } from "../core/settings";
import { t } from "../i18n/text";
import { button, save_file } from "../ui/parts";
import { aligned, extent, figure_csv, figure_png, figure_svg, plot_colors, short_number, type Figure } from "./figure";

export interface PlotOptions {
    height?: number;
    zoomed?: (from: number, to: number) => void; // what one chose along x; without it the plot zooms by itself
    name?: string; // of the files
    legend?: boolean;
}

export interface Plot {
    element: HTMLElement;
    show: (figure: Figure) => void;
}

export function plot(scope: Scope, options: PlotOptions = {}): Plot {
    const place = h("div", { class: "plot" });
    const heading = h("h3", { class: "clip" });
    let figure: Figure | null = null;
    let chart: uPlot | null = null;
    let width = 0;
    const height = options.height ?? 260;
    const file = (end: string) =>
        `${(options.name ?? figure?.title ?? "figure").replace(/[^\w.-]+/g, "-").toLowerCase()}.${end}`;
    const tools = h(
        "div",
        { class: "row tight" },
        button(
            "SVG",
            () => figure && save_file(file("svg"), new Blob([figure_svg(figure)], { type: "image/svg+xml" })),
            { small: true, kind: "quiet", label: t().plot.save_as("SVG") },
        ),
        button("PNG", async () => figure && save_file(file("png"), await figure_png(figure)), {
            small: true,
            kind: "quiet",
            label: t().plot.save_as("PNG"),
        }),
        button("CSV", () => figure && save_file(file("csv"), new Blob([figure_csv(figure)], { type: "text/csv" })), {
            small: true,
            kind: "quiet",
            label: t().plot.save_as("CSV"),
        }),
    );
    const element = h("figure", { class: "figure" }, h("figcaption", { class: "plot-head" }, heading, tools), place);

    const build = () => {
        chart?.destroy();
        chart = null;
        place.replaceChildren();
        if (!figure || width < 80) {
            return;
        }
        heading.textContent = figure.title;
        if (figure.series.length === 0 || figure.series.every((one) => one.x.length === 0)) {
            place.append(h("p", { class: "muted small" }, t().plot.nothing));
            return;
        }
        const shown = figure;
        const range = extent(shown);
        range.x[1] += (range.x[1] - range.x[0] || 1) * 1e-9; // uPlot draws what is at the very end only once
        const ink = the_color("ink-3");
        const line = the_color("line");
        const data = aligned(shown.series);
        const series: uPlot.Series[] = [
            {
                label: shown.x_label,
                value: (_, value) =>
                    value === null || value === undefined ? "–" : (shown.x_text ?? short_number)(value),
            },
        ];
        const bands: uPlot.Band[] = [];
        for (const [index, one] of shown.series.entries()) {
            const color = the_color(`plot-${((one.color ?? index) % plot_colors) + 1}`);
            const value = (_: uPlot, shown_value: number | null) =>
                shown_value === null || shown_value === undefined ? "–" : (shown.y_text ?? short_number)(shown_value);
            const paths =
                one.kind === "steps"
                    ? uPlot.paths.stepped?.({ align: 1 })
                    : one.kind === "bars"
                      ? uPlot.paths.bars?.({ size: [1, 60], align: one.low ? 1 : 0 })
                      : one.kind === "points"
                        ? () => null
                        : undefined;
            series.push({
                label: one.name || shown.y_label,
                stroke: color,
                width: one.kind === "bars" ? 1 : 1.5,
                fill: one.kind === "bars" ? `${color}99` : undefined,
                paths: paths as uPlot.Series.PathBuilder | undefined,
                points: { show: one.kind === "points" || one.kind === "linespoints", size: 5, fill: color },
                spanGaps: false,
                value,
            });
            if (one.low && one.high && one.kind !== "bars") {
                const at = series.length;
                series.push({
                    label: `${one.name} ↓`,
                    stroke: "transparent",
                    width: 0,
                    points: { show: false },
                    value,
                });
                series.push({
                    label: `${one.name} ↑`,
                    stroke: "transparent",
                    width: 0,
                    points: { show: false },
                    value,
                });
                bands.push({ series: [at + 1, at], fill: `${color}40` });
            }
        }
        const axis = {
            stroke: ink,
            grid: { stroke: line, width: 1 },
            ticks: { stroke: line, width: 1 },
            font: "11px sans-serif",
            labelFont: "11px sans-serif",
        };
        const x_tics = shown.x_tics;
        chart = new uPlot(
            {
                width,
                height,
                series,
                bands,
                legend: { show: options.legend ?? true, live: true },
                cursor: { drag: { x: true, y: false, setScale: !options.zoomed }, focus: { prox: 24 } },
                focus: { alpha: 0.35 },
                scales: {
                    x: {
                        time: false,
                        distr: shown.x_log ? 3 : 1,
                        range: (_, low, high) =>
                            low === data[0][0] && high === data[0][data[0].length - 1] ? range.x : [low, high],
                    },
                    y: {
                        distr: shown.y_log ? 3 : 1,
                        range: (_, low, high) =>
                            low === null || high === null
                                ? range.y
                                : shown.y_log
                                  ? [Math.max(low, range.y[0]), Math.max(high, low * 1.01)]
                                  : [
                                        Math.min(range.y[0], low),
                                        shown.y_range?.[1] ?? (high + (high - Math.min(range.y[0], low)) * 0.05 || 1),
                                    ],
                    },
                },
                axes: [
                    {
                        ...axis,
                        label: shown.x_label,
                        labelSize: 18,
                        size: 34,
                        splits: x_tics ? () => x_tics.map(([, value]) => value) : undefined,
                        values: (_, splits) =>
                            splits.map((value) =>
                                value === null
                                    ? ""
                                    : x_tics
                                      ? (x_tics.find(([, at]) => at === value)?.[0] ?? "")
                                      : (shown.x_text ?? short_number)(value),
                            ),
                        space: 78,
                    },
                    {
                        ...axis,
                        label: shown.y_label,
                        labelSize: 18,
                        size: 62,
                        values: (_, splits) =>
                            splits.map((value) => (value === null ? "" : (shown.y_text ?? short_number)(value))),
                    },
                ],
                hooks: {
                    setSelect: [
                        (made) => {
                            if (options.zoomed && made.select.width > 3) {
                                options.zoomed(
                                    made.posToVal(made.select.left, "x"),
                                    made.posToVal(made.select.left + made.select.width, "x"),
                                );
                                made.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
                            }
                        },
                    ],
                },
            },
            data as uPlot.AlignedData,
            place,
        );
        // Interval curves have no line of their own in the legend.
        let row = 1;
        for (const one of shown.series) {
            row++;
            if (one.low && one.high && one.kind !== "bars") {
                for (let extra = 0; extra < 2; extra++) {
                    const hidden = place.querySelector<HTMLElement>(`.u-legend tr:nth-child(${++row})`);
                    if (hidden) {
                        hidden.hidden = true;
                    }
                }
            }
        }
    };
    on_resize(scope, place, (new_width) => {
        if (new_width !== width) {
            width = new_width;
            if (chart) {
                chart.setSize({ width, height });
            } else {
                build();
            }
        }
    });
    scope.listen(window, "studio-theme", build);
    scope.on_end(() => chart?.destroy());
    return {
        element,
        show: (shown) => {
            figure = shown;
            build();
        },
    };
}
