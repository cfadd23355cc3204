// SPDX-License-Identifier: Apache-2.0
// Parallel coordinates: an axis for each parameter and result, a line for each run. Dragging along axes chooses lines.
import type { Scope } from "../core/dom";
import { the_color } from "../core/settings";
import { echart } from "./chart";

export interface Parallel {
    axes: { name: string; text: (value: number) => string; words?: string[] }[]; // words: values are places in them
    lines: { name: string; values: (number | null)[] }[];
    words: string; // for those who do not see it
}

function options_of({ axes, lines }: Parallel) {
    const ink = the_color("ink-3");
    const halo = { textBorderColor: the_color("surface"), textBorderWidth: 4 }; // keeps lines off the numbers
    const last = axes.length - 1;
    const colored = lines.map(({ values }) => values[last]).filter((value) => typeof value === "number");
    return {
        parallel: { left: 84, right: 90, top: 44, bottom: 24, axisExpandable: false },
        parallelAxis: axes.map(({ name, text, words }, dim) => ({
            dim,
            name,
            nameGap: 14,
            nameTextStyle: { color: the_color("ink"), fontSize: 12 },
            nameTruncate: { maxWidth: 150 },
            scale: true,
            ...(words ? { type: "category", data: words } : {}),
            axisLine: { lineStyle: { color: ink } },
            axisLabel: { color: ink, formatter: words ? undefined : text, ...halo },
        })),
        visualMap: {
            show: false,
            dimension: last,
            min: Math.min(...colored),
            max: Math.max(...colored, Math.min(...colored) + 1e-12),
            inRange: { color: [the_color("plot-1"), the_color("plot-2")] },
        },
        series: [
            {
                type: "parallel",
                lineStyle: { width: 1.5, opacity: 0.6 },
                inactiveOpacity: 0.04,
                activeOpacity: 0.9,
                data: lines.map(({ name, values }) => ({ name, value: values.map((value) => value ?? "-") })),
            },
        ],
    };
}

// Shows the lines; `chosen` gets the numbers of those that pass all axes' ranges, whenever that changes.
export function parallel(scope: Scope, name: string, figure: Parallel, chosen: (lines: number[]) => void) {
    const chart = echart(scope, name);
    chart.on("axisareaselected", () => {
        const series = chart.series() as { getRawIndicesByActiveState: (state: string) => number[] } | undefined;
        const indices = series?.getRawIndicesByActiveState("active") ?? [];
        chosen(indices.length === 0 ? figure.lines.map((_, index) => index) : indices);
    });
    const cell = (value: number | null | undefined, words?: string[]) =>
        typeof value === "number" ? (words?.[value] ?? value) : null;
    chart.show({
        options: () => options_of(figure),
        height: 320,
        words: figure.words,
        rows: [
            ["run", ...figure.axes.map((one) => one.name)],
            ...figure.lines.map((line) => [
                line.name,
                ...figure.axes.map((one, at) => cell(line.values[at], one.words)),
            ]),
        ],
    });
    return chart.element;
}
