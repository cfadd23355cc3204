// SPDX-License-Identifier: Apache-2.0
// A panel of a figure as the server computes it, the same numbers that `rocesim plot` gives to gnuplot.
import { h, type Scope } from "../core/dom";
import type { FigurePanel } from "../core/types";
import type { Figure } from "./figure";
import { plot } from "./plot";

export function figure_of(scope: Scope, panel: FigurePanel, name: string): HTMLElement {
    if (panel.curves.some((curve) => curve.style === "boxes" && curve.columns.length >= 6)) {
        return boxes_of(panel);
    }
    const figure: Figure = {
        title: panel.title,
        x_label: panel.x_label,
        y_label: panel.y_label,
        x_log: panel.x_log,
        y_log: panel.y_log,
        x_range: panel.x_range ?? undefined,
        y_range: panel.y_range ?? undefined,
        x_tics: panel.x_tics,
        series: panel.curves.map((curve) => ({
            name: curve.name,
            kind: curve.style === "boxes" ? "bars" : curve.style,
            x: curve.columns[0] ?? [],
            y: curve.columns[1] ?? [],
        })),
    };
    const made = plot(scope, { height: 280, name });
    made.show(figure);
    return made.element;
}

// Boxes with colours (pauses over time, loads of links): a row per tic, drawn as SVG so that it stays sharp.
function boxes_of(panel: FigurePanel): HTMLElement {
    const space = "http://www.w3.org/2000/svg";
    const make = (tag: string, attributes: Record<string, string | number>, text?: string) => {
        const element = document.createElementNS(space, tag);
        for (const [key, value] of Object.entries(attributes)) {
            element.setAttribute(key, String(value));
        }
        if (text !== undefined) {
            element.textContent = text;
        }
        return element;
    };
    const rows = panel.y_tics ?? [];
    let [x0, x1] = [panel.x_range?.[0] ?? Infinity, panel.x_range?.[1] ?? -Infinity];
    let [y0, y1] = [panel.y_range?.[0] ?? Infinity, panel.y_range?.[1] ?? -Infinity];
    for (const curve of panel.curves) {
        const [, from = [], to = [], low = [], high = []] = curve.columns;
        x0 = Math.min(x0, ...from.slice(0, 20000));
        x1 = Math.max(x1, ...to.slice(0, 20000));
        y0 = Math.min(y0, ...low.slice(0, 20000));
        y1 = Math.max(y1, ...high.slice(0, 20000));
    }
    const [width, left] = [920, 170];
    const height = Math.max(rows.length * 16, 60);
    const at_x = (value: number) => left + ((value - x0) / (x1 - x0 || 1)) * (width - left - 10);
    const at_y = (value: number) => height - ((value - y0) / (y1 - y0 || 1)) * height;
    const palette = panel.palette ?? [
        [0, "#f1f1ee"],
        [1, "#b3261e"],
    ];
    const most = panel.color_range?.[1] ?? 1;
    const color = (value: number) => {
        const share = Math.max(0, Math.min(1, value / (most || 1)));
        const upper = Math.max(
            palette.findIndex(([stop]) => stop >= share),
            1,
        );
        const [low_stop, low_color] = palette[upper - 1]!;
        const [high_stop, high_color] = palette[Math.min(upper, palette.length - 1)]!;
        const part = (share - low_stop) / (high_stop - low_stop || 1);
        const channel = (text: string, at: number) => parseInt(text.slice(at, at + 2), 16);
        return `rgb(${[1, 3, 5].map((at) => Math.round(channel(low_color, at) + (channel(high_color, at) - channel(low_color, at)) * part)).join(" ")})`;
    };
    const picture = make("svg", {
        viewBox: `0 0 ${width} ${height + 30}`,
        role: "img",
        "aria-label": `${panel.title}: ${panel.x_label}`,
        class: "boxes",
    });
    for (const [text, value] of rows) {
        picture.append(
            make("text", { x: left - 8, y: at_y(value) + 4, "text-anchor": "end", class: "boxes-text" }, text),
        );
    }
    for (const curve of panel.curves) {
        const [, from = [], to = [], low = [], high = [], values = []] = curve.columns;
        // Labels of the boxes are curves with fewer columns.
        for (let index = 0; index < (curve.columns.length < 5 ? 0 : Math.min(from.length, 6000)); index++) {
            const box = make("rect", {
                x: at_x(from[index]!),
                y: at_y(high[index]!),
                width: Math.max(at_x(to[index]!) - at_x(from[index]!), 0.7),
                height: Math.max(at_y(low[index]!) - at_y(high[index]!) - 1, 1),
                fill: color(values[index] ?? 1),
            });
            box.append(make("title", {}, `${values[index] ?? ""}`));
            picture.append(box);
        }
    }
    for (let part = 0; part <= 4; part++) {
        const value = x0 + ((x1 - x0) * part) / 4;
        picture.append(
            make(
                "text",
                { x: at_x(value), y: height + 16, "text-anchor": part === 4 ? "end" : "middle", class: "boxes-text" },
                String(+value.toPrecision(4)),
            ),
        );
    }
    return h(
        "figure",
        { class: "figure" },
        h(
            "figcaption",
            null,
            h("h3", null, panel.title),
            h("span", { class: "muted small" }, [panel.x_label, panel.color_label].filter(Boolean).join("; ")),
        ),
        h("div", { class: "scroll-x", tabindex: 0 }, picture),
    );
}
