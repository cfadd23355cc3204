// SPDX-License-Identifier: Apache-2.0
// Shows a figure on the page with uPlot. Dragging zooms in, a double click shows everything, the legend shows the
// values under the pointer, and buttons save the figure as files.
import uPlot from "uplot";
import { h, on_resize, type Scope } from "../core/dom";
import { the_color } from "../core/settings";
import { t } from "../i18n/text";
import { button, save_file } from "../ui/parts";
import { aligned, extent, plot_colors, short_number, tics, type Figure, type FigureSeries } from "./figure";
import { figure_csv, figure_png, figure_svg } from "./files";

export interface PlotOptions {
    height?: number;
    zoomed?: (from: number, to: number) => void; // takes the chosen part of x; without it the plot zooms itself
    name?: string; // of the saved files
    legend?: boolean;
}

export interface Plot {
    element: HTMLElement;
    show: (figure: Figure) => void;
}

type Text = (value: number | null | undefined) => string;

function text_of(format: ((value: number) => string) | undefined): Text {
    return (value) => (value === null || value === undefined ? "–" : (format ?? short_number)(value));
}

function has_interval(one: FigureSeries): boolean {
    return one.low !== undefined && one.high !== undefined && one.kind !== "bars";
}

function paths_of(one: FigureSeries): uPlot.Series.PathBuilder | undefined {
    switch (one.kind) {
        case "steps":
            return uPlot.paths.stepped?.({ align: 1 });
        case "bars":
            return uPlot.paths.bars?.({ size: [1, 60], align: one.low ? 1 : 0 });
        case "points":
            return () => null;
        default:
            return undefined;
    }
}

// Returns uPlot's curves. An interval adds two invisible ones, its ends, and a band between them.
function curves_of(figure: Figure): { series: uPlot.Series[]; bands: uPlot.Band[] } {
    const x_text = text_of(figure.x_text);
    const y_text = text_of(figure.y_text);
    const series: uPlot.Series[] = [{ label: figure.x_label, value: (_, value) => x_text(value) }];
    const bands: uPlot.Band[] = [];
    const value = (_: uPlot, shown: number | null) => y_text(shown);
    for (const [index, one] of figure.series.entries()) {
        const color = the_color(`plot-${((one.color ?? index) % plot_colors) + 1}`);
        series.push({
            label: one.name || figure.y_label,
            stroke: color,
            width: one.kind === "bars" ? 1 : 1.5,
            fill: one.kind === "bars" ? `${color}99` : undefined,
            paths: paths_of(one),
            points: { show: one.kind === "points" || one.kind === "linespoints", size: 5, fill: color },
            spanGaps: false,
            value,
        });
        if (has_interval(one)) {
            const at = series.length;
            const end = { stroke: "transparent", width: 0, points: { show: false }, value };
            series.push({ label: `${one.name} ↓`, ...end }, { label: `${one.name} ↑`, ...end });
            bands.push({ series: [at + 1, at], fill: `${color}40` });
        }
    }
    return { series, bands };
}

function scales_of(figure: Figure, x: (number | null)[]): uPlot.Scales {
    const range = extent(figure);
    range.x[1] += (range.x[1] - range.x[0] || 1) * 1e-9; // uPlot draws what is at the very end only once
    const y_range = (low: number | null, high: number | null): uPlot.Range.MinMax => {
        if (low === null || high === null) {
            return range.y;
        }
        if (figure.y_log) {
            return [Math.max(low, range.y[0]), Math.max(high, low * 1.01)];
        }
        const least = Math.min(range.y[0], low);
        return [least, figure.y_range?.[1] ?? (high + (high - least) * 0.05 || 1)];
    };
    return {
        x: {
            time: false,
            distr: figure.x_log ? 3 : 1,
            range: (_, low, high) => (low === x[0] && high === x[x.length - 1] ? range.x : [low, high]),
        },
        y: { distr: figure.y_log ? 3 : 1, range: (_, low, high) => y_range(low, high) },
    };
}

function axes_of(figure: Figure): uPlot.Axis[] {
    const line = { stroke: the_color("line"), width: 1 };
    const font = "11px sans-serif";
    const axis = { stroke: the_color("ink-3"), grid: line, ticks: line, font, labelFont: font, labelSize: 18 };
    const { x_tics, x_text, y_text } = figure;
    const x_value = (value: number) =>
        x_tics ? (x_tics.find(([, at]) => at === value)?.[0] ?? "") : (x_text ?? short_number)(value);
    const all = (text: (value: number) => string) => (_: uPlot, splits: (number | null)[]) =>
        splits.map((value) => (value === null ? "" : text(value)));
    // uPlot's own tics of a logarithmic axis begin at the smallest value, whatever it is.
    const log_splits = (most: number) => (_: uPlot, __: number, low: number, high: number) => {
        const made = tics(low, high, most, true);
        return made.length > 1 ? made : tics(low, high, most);
    };
    return [
        {
            ...axis,
            label: figure.x_label,
            size: 34,
            space: 78,
            splits: x_tics ? () => x_tics.map(([, value]) => value) : figure.x_log ? log_splits(7) : undefined,
            filter: (_, splits) => splits, // uPlot's own hides names that are no powers of ten
            values: all(x_value),
        },
        {
            ...axis,
            label: figure.y_label,
            size: 62,
            splits: figure.y_log ? log_splits(6) : undefined,
            filter: (_, splits) => splits,
            values: all(y_text ?? short_number),
        },
    ];
}

// Hides the ends of intervals in the legend: the curve between them has a line there.
function hide_interval_ends(place: HTMLElement, figure: Figure): void {
    let row = 1;
    for (const one of figure.series) {
        row++;
        for (let extra = 0; extra < (has_interval(one) ? 2 : 0); extra++) {
            const end = place.querySelector<HTMLElement>(`.u-legend tr:nth-child(${++row})`);
            if (end) {
                end.hidden = true;
            }
        }
    }
}

function chart_of(figure: Figure, place: HTMLElement, width: number, height: number, options: PlotOptions): uPlot {
    const data = aligned(figure.series);
    const selected = (made: uPlot) => {
        const { left, width: chosen } = made.select;
        if (options.zoomed && chosen > 3) {
            options.zoomed(made.posToVal(left, "x"), made.posToVal(left + chosen, "x"));
            made.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }
    };
    const chart = new uPlot(
        {
            width,
            height,
            ...curves_of(figure),
            legend: { show: options.legend ?? true, live: true },
            cursor: { drag: { x: true, y: false, setScale: !options.zoomed }, focus: { prox: 24 } },
            focus: { alpha: 0.35 },
            scales: scales_of(figure, data[0]!),
            axes: axes_of(figure),
            hooks: { setSelect: [selected] },
        },
        data as uPlot.AlignedData,
        place,
    );
    hide_interval_ends(place, figure);
    return chart;
}

function save_tools(name: (figure: Figure, end: string) => string, shown: () => Figure | null): HTMLElement {
    const make: [string, (figure: Figure) => Blob | Promise<Blob>][] = [
        ["SVG", (figure) => new Blob([figure_svg(figure)], { type: "image/svg+xml" })],
        ["PNG", (figure) => figure_png(figure)],
        ["CSV", (figure) => new Blob([figure_csv(figure)], { type: "text/csv" })],
    ];
    const save = async (format: string, content: (figure: Figure) => Blob | Promise<Blob>) => {
        const figure = shown();
        if (figure) {
            save_file(name(figure, format.toLowerCase()), await content(figure));
        }
    };
    return h(
        "div.row.tight",
        make.map(([format, content]) =>
            button(format, () => save(format, content), {
                small: true,
                kind: "quiet",
                label: t().plot.save_as(format),
            }),
        ),
    );
}

export function plot(scope: Scope, options: PlotOptions = {}): Plot {
    const place = h("div.plot");
    const heading = h("strong.clip", { hidden: true });
    let figure: Figure | null = null;
    let chart: uPlot | null = null;
    let width = 0;
    const height = options.height ?? 260;
    const file_name = (of: Figure, end: string) =>
        `${(options.name ?? of.title).replace(/[^\w.-]+/g, "-").toLowerCase()}.${end}`;
    const tools = save_tools(file_name, () => figure);
    const build = () => {
        chart?.destroy();
        chart = null;
        place.replaceChildren();
        if (!figure || width < 80) {
            return;
        }
        heading.textContent = figure.title;
        heading.hidden = figure.title === "";
        if (figure.series.every((one) => one.x.length === 0)) {
            place.append(h("p.muted.small", t().plot.nothing));
            return;
        }
        chart = chart_of(figure, place, width, height, options);
        if (figure.note) {
            place.append(h("p.muted.small", figure.note));
        }
    };
    on_resize(scope, place, (new_width) => {
        if (new_width === width) {
            return;
        }
        width = new_width;
        if (chart) {
            chart.setSize({ width, height });
        } else {
            build();
        }
    });
    scope.listen(window, "studio-theme", build);
    scope.on_end(() => chart?.destroy());
    return {
        element: h("figure.figure", h("figcaption.plot-head", heading, tools), place),
        show: (shown) => {
            figure = shown;
            build();
        },
    };
}
