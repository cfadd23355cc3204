// SPDX-License-Identifier: Apache-2.0
// A panel of coloured boxes, such as pauses over time or loads of links: one row for each tic of y.
import type { Scope } from "../core/dom";
import type { FigurePanel } from "../core/types";
import { the_color } from "../core/settings";
import { told } from "../i18n/text";
import { axis, echart, escaped, rows_axis, type Drawing, type Room } from "./chart";
import { short_number } from "./figure";

const row_px = 18;
const boxes_max = 6000; // of one curve, so that the page stays quick
const told_max = 20;

// A box: its ends along x, the number of its row, its height in rows, and its value.
type Box = [from: number, to: number, row: number, height: number, value: number];

// Returns the boxes of a panel. Curves with fewer columns are the labels of boxes.
function boxes_in(panel: FigurePanel): Box[] {
    const places = (panel.y_tics ?? []).map(([, at]) => at);
    return panel.curves
        .filter((curve) => curve.columns.length >= 6)
        .flatMap(({ columns: [, from = [], to = [], low = [], high = [], values = []] }) =>
            from.slice(0, boxes_max).map((x, at): Box => {
                const [one, other] = [low[at]!, high[at]!];
                const middle = (one + other) / 2;
                const row = places.findIndex((place) => Math.abs(place - middle) < 0.5);
                return [x, to[at]!, row, Math.abs(other - one), values[at]!];
            }),
        );
}

function draw_box({ coordSys: { x, width } }: Room, api: Drawing) {
    const [left, y] = api.coord([api.value(0), api.value(2)]);
    const [right] = api.coord([api.value(1), api.value(2)]);
    const from = Math.max(left, x);
    const to = Math.min(Math.max(right, left + 0.7), x + width);
    const height = Math.max(api.value(3) * row_px, 1);
    const shape = { x: from, y: y - height / 2, width: Math.max(to - from, 0), height };
    return { type: "rect", shape, style: { fill: api.visual("color") } };
}

function options_of(panel: FigurePanel, boxes: Box[]) {
    const rows = (panel.y_tics ?? []).map(([text]) => text);
    const x_of = (pick: (one: number, other: number) => number, first: number) =>
        boxes.reduce((end, [from, to]) => pick(end, pick(from, to)), first);
    const [min, max] = [panel.color_range?.[0] ?? 0, panel.color_range?.[1] ?? 1];
    const stops = panel.palette ?? [
        [0, "#f1f1ee"],
        [1, "#b3261e"],
    ];
    return {
        grid: { left: 8, right: 24, top: 8, bottom: panel.x_label ? 44 : 26, containLabel: true },
        tooltip: {
            formatter: ({ value: [from, to, row, , value] }: { value: Box }) => {
                const name = escaped(rows[row] ?? "");
                return `${name}<br>${short_number(from)} – ${short_number(to)}: ${short_number(value)}`;
            },
        },
        visualMap: {
            ...{ dimension: 4, min, max, orient: "horizontal", right: 16, bottom: 0, itemWidth: 10, itemHeight: 90 },
            ...{ text: [short_number(max), short_number(min)], textStyle: { color: the_color("ink-3") } },
            inRange: { color: stops.map(([, color]) => color) },
        },
        xAxis: axis("value", told(panel.x_label), 28, {
            min: panel.x_range?.[0] ?? x_of(Math.min, Infinity),
            max: panel.x_range?.[1] ?? x_of(Math.max, -Infinity),
            axisLabel: { showMinLabel: false, showMaxLabel: false },
            splitLine: { show: false },
        }),
        yAxis: rows_axis(rows),
        series: [{ type: "custom", renderItem: draw_box, encode: { x: [0, 1], y: 2 }, data: boxes }],
    };
}

export function boxes_of(scope: Scope, panel: FigurePanel, name: string): HTMLElement {
    const boxes = boxes_in(panel);
    const rows = panel.y_tics ?? [];
    const chart = echart(scope, name);
    const row_of = (box: Box) => rows[box[2]]?.[0] ?? "";
    chart.show({
        title: [panel.title, panel.color_label].flatMap((text) => (text ? [told(text)] : [])).join(" · "),
        options: () => options_of(panel, boxes),
        height: rows.length * row_px + 64,
        words: boxes
            .slice(0, told_max)
            .map((box) => `${row_of(box)}: ${short_number(box[0])} – ${short_number(box[1])}, ${short_number(box[4])}`)
            .join("; "),
        rows: [["row", "from", "to", "value"], ...boxes.map((box) => [row_of(box), box[0], box[1], box[4]])],
    });
    return chart.element;
}
