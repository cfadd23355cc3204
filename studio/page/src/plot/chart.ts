// SPDX-License-Identifier: Apache-2.0
// A chart that ECharts draws below its title, with buttons that save it. ECharts is loaded when the first one is shown.
import type { ECharts } from "echarts/core";
import { csv_text } from "../core/csv";
import { h, on_resize, type Scope } from "../core/dom";
import { the_color } from "../core/settings";
import { t } from "../i18n/text";
import { button, save_file } from "../ui/parts";

type Options = Record<string, unknown> & { grid?: { top: number }; legend?: object };

// The contents of a chart; `options` is called again when the theme has changed.
export interface Drawn {
    title?: string;
    options: () => Options;
    height: number;
    words: string; // for those who do not see it
    rows: (string | number | null)[][]; // the numbers for a CSV file, with a head
    brush?: (from: number, to: number) => void; // dragging chooses a range along x
    live?: boolean; // it changes all the time, and leaves most of the time to the rest of the page
}

export interface Chart {
    element: HTMLElement;
    place: HTMLElement;
    show: (drawn: Drawn) => void;
    on: (event: string, work: (params: Record<string, unknown>) => void) => void;
    series: () => unknown; // ECharts' model of the first series, once it is drawn
}

type Modelled = { getModel: () => { getSeriesByIndex: (index: number) => unknown } };

// The part of ECharts that draws the shapes of a custom series.
export interface Drawing {
    value: (dimension: number) => number;
    coord: (point: [number, number]) => [number, number];
    visual: (name: "color") => string;
}

// The place of the values in a chart, in px, and the number of the value that is drawn.
export interface Room {
    dataIndex: number;
    coordSys: { x: number; y: number; width: number; height: number };
}

const paper = { width: 720, scale: 2, title_px: 30, line_px: 24, mark_px: 40 }; // mark: of a name in a legend
const live_rest = 20; // times that a drawing took, until the next one
const types = { svg: "image/svg+xml", png: "image/png", csv: "text/csv" };

async function load() {
    const [core, charts, parts, { SVGRenderer }] = await Promise.all([
        import("echarts/core"),
        import("echarts/charts"),
        import("echarts/components"),
        import("echarts/renderers"),
    ]);
    core.use([charts.BarChart, charts.HeatmapChart, charts.CustomChart, charts.LineChart, charts.ScatterChart]);
    core.use([charts.ParallelChart, parts.ParallelComponent, parts.GridComponent, parts.LegendComponent]);
    core.use([parts.TitleComponent, parts.TooltipComponent, parts.VisualMapComponent, parts.BrushComponent]);
    core.use(SVGRenderer);
    return core;
}

// Returns an axis with its name in the middle, in the colours of the theme.
export function axis(type: "value" | "log" | "category", name: string, gap_px: number, more: object = {}) {
    const color = the_color("ink-3");
    return {
        ...{ type, name, nameGap: gap_px, nameLocation: "middle", nameTextStyle: { color } },
        splitLine: { show: type !== "category", lineStyle: { color: the_color("line") } },
        ...more,
        axisLabel: { color, ...(more as { axisLabel?: object }).axisLabel },
    };
}

// Returns a vertical axis with a named row for each of the names, from above.
export function rows_axis(names: string[]) {
    const more = { data: names, inverse: true, axisTick: { show: false }, axisLabel: { interval: 0 } };
    return axis("category", "", 0, more);
}

export function legend() {
    return { type: "scroll", top: 0, left: 0, textStyle: { color: the_color("ink-3") } };
}

// Returns text as it may stand in a tooltip, which is HTML.
export function escaped(text: string): string {
    return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

function whole_options({ options, brush }: Drawn): Options {
    const range = { xAxisIndex: 0, brushType: "lineX", brushMode: "single", transformable: false, removeOnClick: true };
    return {
        animation: false,
        textStyle: { fontFamily: "sans-serif", color: the_color("ink-3") },
        ...(brush ? { brush: range, toolbox: { show: false } } : {}),
        ...options(),
    };
}

// Returns the height of the lines that a legend needs after its first one to show all names.
function legend_px(names: string[]): number {
    const pen = h("canvas").getContext("2d")!;
    pen.font = "12px sans-serif";
    let [lines, right] = [0, 0];
    for (const name of new Set(names)) {
        const width = pen.measureText(name).width + paper.mark_px;
        [lines, right] = right > 0 && right + width > paper.width ? [lines + 1, width] : [lines, right + width];
    }
    return lines * paper.line_px;
}

// Returns the chart as a file for a paper: with its title and all names, and dark on white in every theme.
async function on_paper(drawn: Drawn): Promise<string> {
    const { init } = await load();
    const { dataset } = document.documentElement;
    const { theme } = dataset;
    dataset.theme = "light";
    const { grid, legend: names, ...options } = whole_options(drawn);
    dataset.theme = theme;
    const more = names ? legend_px((options.series as { name: string }[]).map(({ name }) => name)) : 0;
    const [width, height] = [paper.width, drawn.height + paper.title_px + more];
    const chart = init(null, null, { renderer: "svg", ssr: true, width, height });
    const top = (grid ?? (options.parallel as { top: number })).top + paper.title_px + more;
    const lower = grid ? { grid: { ...grid, top } } : { parallel: { ...(options.parallel as object), top } };
    const title = { text: drawn.title, top: 2, textStyle: { fontSize: 14 } };
    const moved = names && { legend: { ...names, type: "plain", top: paper.title_px } };
    chart.setOption({ ...options, ...lower, ...moved, title, backgroundColor: "#fff" });
    const svg = chart.renderToSVGString();
    chart.dispose();
    return svg;
}

async function png_of(svg: string): Promise<Blob> {
    const height = Number(/height="(\d+)"/.exec(svg)![1]);
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([svg], { type: types.svg }));
    await image.decode();
    const canvas = h("canvas", { width: paper.width * paper.scale, height: height * paper.scale });
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    return new Promise((done, failed) => {
        canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error(t().plot.no_png))), types.png);
    });
}

async function file_of(drawn: Drawn, format: keyof typeof types): Promise<Blob> {
    const text = format === "csv" ? csv_text(drawn.rows) : await on_paper(drawn);
    return format === "png" ? png_of(text) : new Blob([text], { type: types[format] });
}

// Returns an empty chart; show() fills it.
export function echart(scope: Scope, name: string): Chart {
    const place = h("div.bars-place", { role: "img" });
    const heading = h("strong.clip");
    const listeners: [string, (params: Record<string, unknown>) => void][] = [];
    let chart: ECharts | null = null;
    let shown: Drawn | null = null;
    let [timer, free_ms] = [0, 0]; // the next drawing, and the moment from which on it may be
    const draw = async () => {
        const { init } = await load();
        const begun_ms = performance.now();
        timer = 0;
        if (scope.ended || !shown || place.clientWidth === 0) {
            return;
        }
        if (!chart) {
            chart = init(place, null, { renderer: "svg" });
            for (const [event, work] of listeners) {
                chart.on(event, (params) => work(params as Record<string, unknown>));
            }
        }
        chart.resize();
        chart.setOption(whole_options(shown), true);
        if (shown.brush) {
            const brushOption = { brushType: "lineX", brushMode: "single" };
            chart.dispatchAction({ type: "takeGlobalCursor", key: "brush", brushOption });
        }
        free_ms = performance.now() + (shown.live ? (performance.now() - begun_ms) * live_rest : 0);
    };
    const draw_soon = () => {
        if (timer === 0) {
            timer = window.setTimeout(() => void draw(), Math.max(free_ms - performance.now(), 0));
        }
    };
    listeners.push([
        "brushEnd",
        (params) => {
            const [area] = params.areas as { coordRange?: [number, number] }[];
            const range = area?.coordRange;
            if (range && range[1] > range[0]) {
                shown?.brush?.(range[0], range[1]);
            }
        },
    ]);
    const save = async (format: keyof typeof types) => {
        if (shown) {
            const file = (name || shown.title || "figure").replace(/[^\w.-]+/g, "-").toLowerCase();
            const title = shown.title || element.closest(".card")?.querySelector("h2")?.textContent || name;
            save_file(`${file}.${format}`, await file_of({ ...shown, title }, format));
        }
    };
    on_resize(scope, place, () => (chart ? chart.resize() : draw_soon()));
    scope.listen(window, "studio-theme", draw_soon);
    // A drawing with the box of its size shrinks to the width of the paper.
    const drawing = () => place.querySelector("svg");
    const box = () => `0 0 ${chart?.getWidth()} ${chart?.getHeight()}`;
    scope.listen(window, "beforeprint", () => drawing()?.setAttribute("viewBox", box()));
    scope.listen(window, "afterprint", () => drawing()?.removeAttribute("viewBox"));
    scope.on_end(() => chart?.dispose());
    const tools = (["svg", "png", "csv"] as const).map((format) => {
        const text = format.toUpperCase();
        return button(text, () => save(format), { small: true, kind: "quiet", label: t().plot.save_as(text) });
    });
    const element = h("figure.figure.plot", h("figcaption.plot-head", heading, h("div.row.tight", tools)), place);
    return {
        element,
        place,
        on: (event, work) => listeners.push([event, work]),
        series: () => (chart as unknown as Modelled | null)?.getModel().getSeriesByIndex(0),
        show: (drawn) => {
            shown = drawn;
            heading.textContent = drawn.title ?? "";
            place.style.height = `${drawn.height}px`;
            place.setAttribute("aria-label", drawn.words);
            draw_soon();
        },
    };
}
