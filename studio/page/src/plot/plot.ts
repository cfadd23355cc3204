// SPDX-License-Identifier: Apache-2.0
// Curves over a horizontal axis. Dragging chooses a part of it, and a tooltip shows the values under the pointer.
import { h, type Scope } from "../core/dom";
import { the_color } from "../core/settings";
import { t } from "../i18n/text";
import { axis, echart, legend, type Drawing, type Room } from "./chart";
import { plot_colors, short_number, type Figure, type FigureSeries } from "./figure";

export interface PlotOptions {
    height?: number;
    zoomed?: (from: number, to: number) => void; // takes the chosen part of x; without it the plot zooms itself
    name?: string; // of the saved files
    legend?: boolean;
    live?: boolean;
}

export interface Plot {
    element: HTMLElement;
    show: (figure: Figure) => void;
}

type Point = { axisValue: number; seriesName: string; marker: string; value: number[] };

type Ends = Record<"min" | "max", number>;

const told_max = 12; // curves that are described in words

// Draws a bar from x to the second value, which begins at 0 or at the foot of a logarithmic axis.
function draw_bar({ coordSys }: Room, api: Drawing, y_log: boolean | undefined) {
    const [left, top] = api.coord([api.value(0), api.value(2)]);
    const [right] = api.coord([api.value(1), api.value(2)]);
    const foot = y_log ? coordSys.y + coordSys.height : api.coord([api.value(0), 0])[1];
    const shape = { x: left + 0.5, y: top, width: Math.max(right - left - 1, 1), height: foot - top };
    return { type: "rect", shape, style: { fill: api.visual("color"), opacity: 0.85 } };
}

// Draws the interval around a point, or a band along all points with the first of them.
function draw_interval({ kind, x, low = [], high = [] }: FigureSeries, { dataIndex }: Room, api: Drawing) {
    const alone = kind.endsWith("points");
    const places = alone ? [dataIndex] : dataIndex === 0 ? [...x.keys()] : [];
    const ends = (values: number[]) => places.map((at) => api.coord([x[at]!, values[at]!]));
    const color = api.visual("color");
    const style = alone ? { stroke: color } : { fill: color, opacity: 0.2 };
    return { type: "polygon", shape: { points: [...ends(high), ...ends(low).reverse()] }, style };
}

function series_of(figure: Figure, one: FigureSeries, index: number): object[] {
    const { name, kind, x, y, low, high } = one;
    const common = { name, color: the_color(`plot-${((one.color ?? index) % plot_colors) + 1}`) };
    const fits = (value: number, log: boolean | undefined) => Number.isFinite(value) && (!log || value > 0);
    if (kind === "bars") {
        const data = x.map((from, at) => [low?.[at] ?? from, high?.[at] ?? x[at + 1] ?? from, y[at]]);
        const renderItem = (room: Room, api: Drawing) => draw_bar(room, api, figure.y_log);
        return [{ ...common, type: "custom", renderItem, encode: { x: [0, 1], y: 2 }, data }];
    }
    const data = x.flatMap((at, place) =>
        fits(at, figure.x_log) ? [[at, fits(y[place]!, figure.y_log) ? y[place]! : null]] : [],
    );
    // A band has only the two points that span its axes, since ECharts makes a shape for each point.
    const spans = [x[0], x.at(-1)].map((at) => [at, Math.min(...(low ?? [])), Math.max(...(high ?? []))]);
    const intervals = {
        ...{ ...common, type: "custom", silent: true, clip: true, tooltip: { show: false } },
        encode: { x: 0, y: [1, 2] },
        renderItem: (room: Room, api: Drawing) => draw_interval(one, room, api),
        data: kind.endsWith("points") ? x.map((at, place) => [at, low?.[place], high?.[place]]) : spans,
    };
    const curve = {
        ...{ ...common, type: kind === "points" ? "scatter" : "line", symbolSize: 5, data },
        ...{ showSymbol: kind === "linespoints", symbol: "circle", lineStyle: { width: 1.5 } },
        step: kind === "steps" ? "end" : undefined,
        emphasis: { focus: figure.series.length > 1 ? "series" : "none" },
    };
    return low && high ? [curve, intervals] : [curve];
}

function options_of(figure: Figure, zoom: [number, number] | null, with_legend: boolean) {
    const { x_log, y_log, x_range, y_range, x_tics, x_text = short_number, y_text = short_number } = figure;
    const named = with_legend && figure.series.some(({ name }) => name && name !== figure.title);
    const customValues = x_tics?.map(([, at]) => at);
    const tic = (value: number) => x_tics?.find(([, at]) => at === value)?.[0] ?? x_text(value);
    // The axis begins at 0 where the values are not far from it.
    const least = ({ min, max }: Ends) => (min > 0 && min < (max - min) * 2 ? 0 : null);
    const formatter = (points: Point[]) =>
        [
            tic(points[0]!.axisValue),
            ...points.map(({ marker, seriesName, value }) => `${marker}${seriesName}: ${y_text(value.at(-1)!)}`),
        ].join("\n");
    return {
        grid: { left: 8, right: 24, top: named ? 34 : 12, bottom: 8, outerBoundsMode: "same" },
        legend: named ? legend() : undefined,
        tooltip: { trigger: "axis", renderMode: "richText", confine: true, formatter },
        xAxis: axis(x_log ? "log" : "value", figure.x_label, 28, {
            min: zoom?.[0] ?? x_range?.[0] ?? (x_log ? ({ min, max }: Ends) => (min < max ? min : min / 2) : "dataMin"),
            max: zoom?.[1] ?? x_range?.[1] ?? (x_log ? ({ min, max }: Ends) => (min < max ? max : max * 2) : "dataMax"),
            axisTick: { customValues },
            axisLabel: { formatter: tic, customValues, hideOverlap: true },
        }),
        yAxis: axis(y_log ? "log" : "value", figure.y_label, 40, {
            scale: true,
            min: y_range?.[0] ?? (y_log ? undefined : least),
            max: y_range?.[1] ?? undefined,
            axisLabel: { formatter: y_text },
        }),
        series: figure.series.flatMap((one, index) => series_of(figure, one, index)),
    };
}

// Says a figure in words, for those who do not see it.
function words_of({ title, y_label, series, y_text = short_number }: Figure): string {
    const told = series.slice(0, told_max).map(({ name, y }) => {
        const known = y.filter(Number.isFinite);
        const ends = known.length > 0 ? `${y_text(Math.min(...known))} – ${y_text(Math.max(...known))}` : "–";
        return `${name || y_label}: ${ends}`;
    });
    return [title, ...told].filter(Boolean).join("; ");
}

// Returns an empty plot; show() fills it.
export function plot(scope: Scope, options: PlotOptions = {}): Plot {
    const chart = echart(scope, options.name ?? "");
    const below = h("p.muted.small");
    let zoom: [number, number] | null = null;
    const show = (figure: Figure) => {
        const { title, series, x_label, y_label } = figure;
        const nothing = series.every((one) => one.x.length === 0);
        below.textContent = nothing ? t().plot.nothing : (figure.note ?? "");
        chart.place.hidden = nothing;
        const rows = series.flatMap(({ name, x, y, low, high }) =>
            x.map((at, place) => [name, at, y[place] ?? "", low?.[place] ?? "", high?.[place] ?? ""]),
        );
        const set_zoom = (chosen: [number, number] | null) => {
            zoom = chosen;
            show(figure);
        };
        chart.place.ondblclick = () => zoom && set_zoom(null);
        chart.show({
            title,
            options: () => options_of(figure, zoom, options.legend ?? true),
            height: options.height ?? 260,
            words: words_of(figure),
            rows: [["curve", x_label || "x", y_label || "y", "low", "high"], ...rows],
            live: options.live,
            brush: options.zoomed ?? ((from, to) => set_zoom([from, to])),
        });
    };
    chart.element.append(below);
    return { element: chart.element, show };
}
