// SPDX-License-Identifier: Apache-2.0
// Slices of time in rows, as traces are shown. Dragging chooses a time, a click opens a slice.
import type { Scope } from "../core/dom";
import { nanoseconds } from "../core/format";
import { the_color } from "../core/settings";
import { axis, echart, escaped, legend, rows_axis, type Drawing, type Room } from "./chart";

export interface Slice {
    from: number; // ns
    to: number;
    kind: string;
    text: string[];
    about: { flow?: string; src?: string; dst?: string; port?: string };
}

export interface Slices {
    rows: { name: string; slices: Slice[] }[]; // from above
    range: [number, number];
}

export interface SliceChart {
    element: HTMLElement;
    show: (slices: Slices) => void;
}

const row_px = 22;
const told_max = 20;

// Returns the colour of a kind of slices.
function slice_color(kind: string): string {
    const names: Record<string, string> = {
        ...{ flow: "plot-1", open: "plot-7", failed: "plot-6", pause: "bad" },
        ...{ calc: "plot-1", tp: "plot-2", pp: "plot-3", dp: "plot-4", "dp-ep": "plot-4", ep: "plot-5", cp: "plot-6" },
    };
    return the_color(names[kind] ?? (kind === "down" ? "plot-5" : "plot-2"));
}

// Draws a slice, at least two pixels wide, within the plot.
function draw_slice({ coordSys: { x, width } }: Room, api: Drawing) {
    const row = api.value(0);
    const [left, y] = api.coord([api.value(1), row]);
    const [right] = api.coord([api.value(2), row]);
    const from = Math.max(left, x);
    const to = Math.min(Math.max(right, left + 2), x + width);
    if (to <= from) {
        return undefined;
    }
    const shape = { x: from, y: y - row_px / 2 + 3, width: to - from, height: row_px - 6, r: 2 };
    return { type: "rect", shape, style: { fill: api.visual("color") } };
}

// Makes a series for each kind, since the legend has a name and a colour for each.
function options_of({ rows, range }: Slices, names: Record<string, string>) {
    const all = rows.flatMap(({ slices }, row) =>
        slices.map((slice) => ({ slice, value: [row, slice.from, slice.to] })),
    );
    const series = [...new Set(all.map(({ slice }) => slice.kind))].map((kind) => ({
        ...{ type: "custom", renderItem: draw_slice, encode: { x: [1, 2], y: 0 } },
        name: names[kind] ?? kind,
        itemStyle: { color: slice_color(kind) },
        data: all.filter(({ slice }) => slice.kind === kind),
    }));
    return {
        grid: { left: 8, right: 24, top: 34, bottom: 34, containLabel: true },
        legend: legend(),
        tooltip: {
            formatter: ({ data: { slice } }: { data: { slice: Slice } }) => slice.text.map(escaped).join("<br>"),
        },
        xAxis: axis("value", "", 0, {
            min: range[0],
            max: range[1],
            axisLabel: { formatter: (value: number) => nanoseconds(value) },
        }),
        yAxis: rows_axis(rows.map(({ name }) => name)),
        series,
    };
}

export function slice_chart(
    scope: Scope,
    name: string,
    names: Record<string, string>, // of kinds
    options: { choose: (from: number, to: number) => void; open?: (slice: Slice) => void },
): SliceChart {
    const chart = echart(scope, name);
    chart.on("click", (params) => {
        const { slice } = (params.data ?? {}) as { slice?: Slice };
        if (slice) {
            options.open?.(slice);
        }
    });
    return {
        element: chart.element,
        show: (slices) => {
            const all = slices.rows.flatMap((row) => row.slices);
            chart.show({
                options: () => options_of(slices, names),
                height: slices.rows.length * row_px + 86,
                words: all
                    .slice(0, told_max)
                    .map((one) => one.text.join(", "))
                    .join("; "),
                rows: [
                    ["row", "from_ns", "to_ns", "kind", "text"],
                    ...slices.rows.flatMap(({ name: row, slices: own }) =>
                        own.map((one) => [row, one.from, one.to, one.kind, one.text.join("; ")]),
                    ),
                ],
                brush: options.choose,
            });
        },
    };
}
