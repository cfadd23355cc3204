// SPDX-License-Identifier: Apache-2.0
// Draws a panel of coloured boxes, such as pauses over time or loads of links: one row per tic of y, as sharp SVG.
import { h, svg } from "../core/dom";
import type { FigurePanel } from "../core/types";

const [width, left] = [920, 170];
const boxes_max = 6000; // of one curve, so that the page stays quick

type Palette = [number, string][];

function color_of(palette: Palette, share: number): string {
    const upper = Math.max(
        palette.findIndex(([stop]) => stop >= share),
        1,
    );
    const [low_stop, low_color] = palette[upper - 1]!;
    const [high_stop, high_color] = palette[Math.min(upper, palette.length - 1)]!;
    const part = (share - low_stop) / (high_stop - low_stop || 1);
    const channels = [1, 3, 5].map((at) => {
        const [low, high] = [low_color, high_color].map((text) => parseInt(text.slice(at, at + 2), 16));
        return Math.round(low! + (high! - low!) * part);
    });
    return `rgb(${channels.join(" ")})`;
}

interface Ranges {
    x: [number, number];
    y: [number, number];
}

function ranges_of(panel: FigurePanel): Ranges {
    let [x0, x1] = [panel.x_range?.[0] ?? Infinity, panel.x_range?.[1] ?? -Infinity];
    let [y0, y1] = [panel.y_range?.[0] ?? Infinity, panel.y_range?.[1] ?? -Infinity];
    for (const curve of panel.curves) {
        const [, from = [], to = [], low = [], high = []] = curve.columns;
        x0 = Math.min(x0, ...from.slice(0, 20000));
        x1 = Math.max(x1, ...to.slice(0, 20000));
        y0 = Math.min(y0, ...low.slice(0, 20000));
        y1 = Math.max(y1, ...high.slice(0, 20000));
    }
    return { x: [x0, x1], y: [y0, y1] };
}

export function boxes_of(panel: FigurePanel): HTMLElement {
    const rows = panel.y_tics ?? [];
    const { x, y } = ranges_of(panel);
    const height = Math.max(rows.length * 16, 60);
    const at_x = (value: number) => left + ((value - x[0]) / (x[1] - x[0] || 1)) * (width - left - 10);
    const at_y = (value: number) => height - ((value - y[0]) / (y[1] - y[0] || 1)) * height;
    const palette: Palette = panel.palette ?? [
        [0, "#f1f1ee"],
        [1, "#b3261e"],
    ];
    const most = panel.color_range?.[1] ?? 1;
    const label = (text: string, x_px: number, y_px: number, anchor: string) =>
        svg("text", { x: x_px, y: y_px, "text-anchor": anchor, class: "boxes-text" }, text);
    const picture = svg(
        "svg",
        {
            viewBox: `0 0 ${width} ${height + 30}`,
            role: "img",
            "aria-label": `${panel.title}: ${panel.x_label}`,
            class: "boxes",
        },
        rows.map(([text, value]) => label(text, left - 8, at_y(value) + 4, "end")),
    );
    for (const curve of panel.curves) {
        const [, from = [], to = [], low = [], high = [], values = []] = curve.columns;
        // Curves with fewer columns are the labels of boxes, which are not drawn here.
        const count = curve.columns.length < 5 ? 0 : Math.min(from.length, boxes_max);
        for (let index = 0; index < count; index++) {
            const place = {
                x: at_x(from[index]!),
                y: at_y(high[index]!),
                width: Math.max(at_x(to[index]!) - at_x(from[index]!), 0.7),
                height: Math.max(at_y(low[index]!) - at_y(high[index]!) - 1, 1),
            };
            const share = Math.max(0, Math.min(1, (values[index] ?? 1) / (most || 1)));
            const title = svg("title", null, String(values[index] ?? ""));
            picture.append(svg("rect", { ...place, fill: color_of(palette, share) }, title));
        }
    }
    for (let part = 0; part <= 4; part++) {
        const value = x[0] + ((x[1] - x[0]) * part) / 4;
        picture.append(label(String(+value.toPrecision(4)), at_x(value), height + 16, part === 4 ? "end" : "middle"));
    }
    const about = [panel.x_label, panel.color_label].filter(Boolean).join("; ");
    return h(
        "figure",
        { class: "figure" },
        h("figcaption", null, h("h3", null, panel.title), h("span", { class: "muted small" }, about)),
        h("div", { class: "scroll-x", tabindex: 0 }, picture),
    );
}
