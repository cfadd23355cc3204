// SPDX-License-Identifier: Apache-2.0
// A chart that ECharts draws, with buttons that save it. ECharts is loaded when the first such chart is shown.
import type { ECharts } from "echarts/core";
import { csv_text } from "../core/csv";
import { h, on_resize, type Scope } from "../core/dom";
import { t } from "../i18n/text";
import { button, save_file } from "../ui/parts";

// The contents of a chart; `options` is called again when the theme has changed.
export interface Drawn {
    options: () => Record<string, unknown>;
    height: number;
    words: string; // for those who do not see it
    rows: (string | number | null)[][]; // the numbers for a CSV file, with a head
    brush?: boolean; // dragging chooses a range
}

export interface Chart {
    element: HTMLElement;
    show: (drawn: Drawn) => void;
    on: (event: string, work: (params: Record<string, unknown>) => void) => void;
    series: () => unknown; // ECharts' model of the first series, once it is drawn
}

interface SeriesModel {
    getSeriesByIndex: (index: number) => unknown;
}

async function load() {
    const [core, charts, parts, { SVGRenderer }] = await Promise.all([
        import("echarts/core"),
        import("echarts/charts"),
        import("echarts/components"),
        import("echarts/renderers"),
    ]);
    core.use([charts.BarChart, charts.HeatmapChart, charts.CustomChart, parts.GridComponent, parts.LegendComponent]);
    core.use([charts.ParallelChart, parts.ParallelComponent]);
    core.use([parts.TooltipComponent, parts.VisualMapComponent, parts.BrushComponent, SVGRenderer]);
    return core;
}

// Returns an empty chart; show() fills it.
export function echart(scope: Scope, name: string): Chart {
    const place = h("div.bars-place", { role: "img" });
    const listeners: [string, (params: Record<string, unknown>) => void][] = [];
    let chart: ECharts | null = null;
    let shown: Drawn | null = null;
    const draw = async () => {
        const { init } = await load();
        if (scope.ended || !shown) {
            return;
        }
        place.style.height = `${shown.height}px`;
        if (!chart) {
            chart = init(place, null, { renderer: "svg" });
            for (const [event, work] of listeners) {
                chart.on(event, (params) => work(params as Record<string, unknown>));
            }
        }
        chart.resize();
        chart.setOption(shown.options(), true);
        if (shown.brush) {
            const brushOption = { brushType: "lineX", brushMode: "single" };
            chart.dispatchAction({ type: "takeGlobalCursor", key: "brush", brushOption });
        }
    };
    const save = (format: "csv" | "svg") => {
        if (shown && chart) {
            const text = format === "svg" ? chart.renderToSVGString() : csv_text(shown.rows);
            const type = format === "svg" ? "image/svg+xml" : "text/csv";
            save_file(`${name}.${format}`, new Blob([text], { type }));
        }
    };
    on_resize(scope, place, () => chart?.resize());
    scope.listen(window, "studio-theme", () => void draw());
    scope.on_end(() => chart?.dispose());
    const tools = h(
        "div.row.tight.plot-tools",
        button("SVG", () => save("svg"), { small: true, kind: "quiet", title: t().run.as_plot("svg") }),
        button("CSV", () => save("csv"), { small: true, kind: "quiet", title: t().run.as_plot("csv") }),
    );
    return {
        element: h("div.plot", place, tools),
        on: (event, work) => listeners.push([event, work]),
        series: () => (chart as unknown as { getModel: () => SeriesModel } | null)?.getModel().getSeriesByIndex(0),
        show: (drawn) => {
            shown = drawn;
            place.style.height = `${drawn.height}px`;
            place.setAttribute("aria-label", drawn.words);
            void draw();
        },
    };
}
