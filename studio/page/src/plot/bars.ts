// SPDX-License-Identifier: Apache-2.0
// Bars over categories, side by side or stacked.
import type { Scope } from "../core/dom";
import { the_color } from "../core/settings";
import { axis, echart, legend } from "./chart";
import { plot_colors, short_number } from "./figure";

export interface Bars {
    categories: string[];
    series: { name: string; values: (number | null)[] }[];
    x_label?: string; // of the categories, where they stand
    y_label: string;
    stacked?: boolean; // the values of a category lie on each other
    lying?: boolean; // the categories stand along the vertical axis, with room for long names
    y_log?: boolean;
    y_most?: number;
    value_text?: (value: number) => string;
}

export interface BarChart {
    element: HTMLElement;
    show: (bars: Bars) => void;
}

const names_lying = 8; // more categories, or names longer than this, lie
const row_px = 26;
const told_max = 20; // number of categories that are described in words

function is_lying(bars: Bars): boolean {
    return bars.lying ?? (bars.categories.length > names_lying || bars.categories.some((name) => name.length > 14));
}

function options_of(bars: Bars) {
    const text = bars.value_text ?? short_number;
    const lying = is_lying(bars);
    const name = lying ? "" : (bars.x_label ?? "");
    const names = axis("category", name, 26, { data: bars.categories, inverse: lying });
    const values = axis(bars.y_log ? "log" : "value", bars.y_label, lying ? 28 : 52, {
        max: bars.y_most,
        axisLabel: { formatter: text },
    });
    return {
        color: bars.series.map((_, index) => the_color(`plot-${(index % plot_colors) + 1}`)),
        grid: {
            left: lying ? 16 : 70,
            right: 24,
            top: bars.series.length > 1 ? 34 : 12,
            bottom: (lying ? bars.y_label : name) ? 44 : 26,
            containLabel: lying,
        },
        legend: bars.series.length > 1 ? legend() : undefined,
        tooltip: {
            trigger: "axis",
            axisPointer: { type: "shadow" },
            valueFormatter: (value: unknown) => (typeof value === "number" ? text(value) : "–"),
        },
        xAxis: lying ? values : names,
        yAxis: lying ? names : values,
        series: bars.series.map((one) => ({
            type: "bar",
            name: one.name,
            stack: bars.stacked ? "all" : undefined,
            barMaxWidth: 40,
            data: one.values,
        })),
    };
}

// Says a chart in words, for those who do not see it.
function words_of({ categories, series, value_text }: Bars): string {
    const text = (value: number | null | undefined) =>
        value === null || value === undefined ? "–" : (value_text ?? short_number)(value);
    return categories
        .slice(0, told_max)
        .map((name, index) => `${name}: ${series.map((one) => `${one.name} ${text(one.values[index])}`).join(", ")}`)
        .join("; ");
}

// Returns an empty chart; show() fills it.
export function bar_chart(scope: Scope, options: { name: string; height?: number }): BarChart {
    const height = options.height ?? 260;
    const chart = echart(scope, options.name);
    const show = (bars: Bars) => {
        const { categories, series } = bars;
        const rows = categories.length * row_px * (bars.stacked ? 1 : Math.max(1, series.length * 0.6));
        chart.show({
            options: () => options_of(bars),
            height: is_lying(bars) ? Math.max(rows + 90, 140) : height,
            words: words_of(bars),
            rows: [
                ["", ...series.map((one) => one.name)],
                ...categories.map((name, index) => [name, ...series.map((one) => one.values[index] ?? null)]),
            ],
        });
    };
    return { element: chart.element, show };
}
