// SPDX-License-Identifier: Apache-2.0
// Figures as files: SVG with text as text and lines as lines, PNG made from it, and CSV with the numbers.
import { csv_text } from "../core/csv";
import { t } from "../i18n/text";
import { extent, plot_colors, short_number, tics, type Figure, type FigureSeries } from "./figure";

const ink_colors = ["#1f6fd0", "#c8511b", "#16806a", "#8a4fc7", "#a86a00", "#c2185b", "#4a6572", "#6c7a12"];

function escaped(text: string): string {
    return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

function tag(name: string, attributes: Record<string, string | number>, text?: string): string {
    const all = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`);
    return `<${name}${all.join("")}${text === undefined ? "/>" : `>${escaped(text)}</${name}>`}`;
}

const n = (value: number) => value.toFixed(2);

// The place of a figure's values in the picture.
class Picture {
    readonly left = 74;
    readonly top: number;
    readonly width: number;
    readonly height: number;
    readonly x: [number, number];
    readonly y: [number, number];
    readonly named: FigureSeries[];

    constructor(
        readonly figure: Figure,
        whole_width: number,
        whole_height: number,
    ) {
        ({ x: this.x, y: this.y } = extent(figure));
        this.named = figure.series.filter((one) => one.name);
        this.top = figure.title ? 40 : 18;
        this.width = whole_width - this.left - 18;
        this.height = whole_height - this.top - 56 - Math.ceil(this.named.length / 3) * 18;
    }

    private share(value: number, [low, high]: [number, number], log: boolean | undefined): number {
        return log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    }

    at_x(value: number): number {
        return this.left + this.share(value, this.x, this.figure.x_log) * this.width;
    }

    at_y(value: number): number {
        return this.top + (1 - this.share(value, this.y, this.figure.y_log)) * this.height;
    }

    point(x: number, y: number): string {
        return `${n(this.at_x(x))} ${n(this.at_y(y))}`;
    }

    color(one: FigureSeries): string {
        return ink_colors[(one.color ?? this.figure.series.indexOf(one)) % plot_colors]!;
    }
}

function axes(picture: Picture): string[] {
    const { figure, left, top, width, height, x, y } = picture;
    const bottom = top + height;
    const x_text = figure.x_text ?? short_number;
    const y_text = figure.y_text ?? short_number;
    const x_tics =
        figure.x_tics ?? tics(x[0], x[1], 7, figure.x_log).map((value): [string, number] => [x_text(value), value]);
    const stroke = "#e3e3e3";
    const out: string[] = [];
    for (const [text, value] of x_tics) {
        const place = n(picture.at_x(value));
        out.push(tag("path", { d: `M${place} ${top}V${bottom}`, stroke }));
        out.push(tag("text", { x: place, y: bottom + 17, "text-anchor": "middle" }, text));
    }
    for (const value of tics(y[0], y[1], 6, figure.y_log)) {
        const place = n(picture.at_y(value));
        out.push(tag("path", { d: `M${left} ${place}H${left + width}`, stroke }));
        out.push(tag("text", { x: left - 7, y: place, dy: 4, "text-anchor": "end" }, y_text(value)));
    }
    return out;
}

function frame(picture: Picture): string[] {
    const { figure, left, top, width, height } = picture;
    const middle = { "text-anchor": "middle" };
    const turned = `translate(16 ${top + height / 2}) rotate(-90)`;
    return [
        tag("rect", { x: left, y: top, width, height, fill: "none", stroke: "#555" }),
        tag("text", { x: left + width / 2, y: top + height + 38, ...middle }, figure.x_label),
        tag("text", { transform: turned, ...middle }, figure.y_label),
    ];
}

function interval(picture: Picture, one: FigureSeries, low: number[], high: number[]): string[] {
    const color = picture.color(one);
    if (one.kind === "points" || one.kind === "linespoints") {
        return one.x.map((x, at) => {
            const d = `M${picture.point(x, low[at]!)}V${n(picture.at_y(high[at]!))}`;
            return tag("path", { d, stroke: color });
        });
    }
    const up = one.x.map((x, at) => picture.point(x, high[at]!));
    const back = one.x.map((x, at) => picture.point(x, low[at]!)).reverse();
    return [tag("path", { d: `M${[...up, ...back].join("L")}Z`, fill: color, opacity: 0.2 })];
}

function bars(picture: Picture, one: FigureSeries): string[] {
    const base = picture.at_y(picture.figure.y_log ? picture.y[0] : Math.max(0, picture.y[0]));
    return one.x.map((x, at) => {
        const from = picture.at_x(one.low?.[at] ?? x) + 0.5;
        const to = picture.at_x(one.high?.[at] ?? one.x[at + 1] ?? x) - 0.5;
        const height = Math.max(base - picture.at_y(one.y[at]!), 0);
        const size = { x: n(from), y: n(base - height), width: n(Math.max(to - from, 1)), height: n(height) };
        return tag("rect", { ...size, fill: picture.color(one), opacity: 0.85 });
    });
}

function line(picture: Picture, one: FigureSeries, points: [number, number][]): string {
    const parts = points.map(([x, y], at) => {
        const step = at > 0 && one.kind === "steps";
        return step ? `H${n(picture.at_x(x))}V${n(picture.at_y(y))}` : `${at === 0 ? "M" : "L"}${picture.point(x, y)}`;
    });
    const color = picture.color(one);
    return tag("path", {
        d: parts.join(""),
        fill: "none",
        stroke: color,
        "stroke-width": 1.5,
        "stroke-linejoin": "round",
    });
}

function curve(picture: Picture, one: FigureSeries): string[] {
    const { x_log, y_log } = picture.figure;
    const drawn = ([x, y]: [number, number]) =>
        Number.isFinite(x) && Number.isFinite(y) && (!x_log || x > 0) && (!y_log || y > 0);
    const points = one.x.map((x, at): [number, number] => [x, one.y[at]!]).filter(drawn);
    const out = one.low && one.high && one.kind !== "bars" ? interval(picture, one, one.low, one.high) : [];
    if (one.kind === "bars") {
        out.push(...bars(picture, one));
    } else if (one.kind !== "points" && one.kind !== "band" && points.length > 0) {
        out.push(line(picture, one, points));
    }
    if (one.kind === "points" || one.kind === "linespoints") {
        const fill = picture.color(one);
        for (const [x, y] of points) {
            out.push(tag("circle", { cx: n(picture.at_x(x)), cy: n(picture.at_y(y)), r: 2.6, fill }));
        }
    }
    return out;
}

function legend(picture: Picture): string[] {
    const { left, top, width, height } = picture;
    return picture.named.flatMap((one, index) => {
        const x = left + (index % 3) * (width / 3);
        const y = top + height + 58 + Math.floor(index / 3) * 18;
        return [
            tag("rect", { x: n(x), y: y - 6, width: 16, height: 4, fill: picture.color(one) }),
            tag("text", { x: n(x + 22), y }, one.name),
        ];
    });
}

// Returns the figure as a file for a paper: black on white in every theme.
export function figure_svg(figure: Figure, width = 720, height = 420): string {
    const picture = new Picture(figure, width, height);
    const { left, top } = picture;
    const head = [
        `xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
        `font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#111"`,
    ];
    const clip = tag("rect", { x: left, y: top, width: picture.width, height: picture.height });
    const title = { x: left, y: 22, "font-size": 14, "font-weight": "bold" };
    return [
        `<svg ${head.join(" ")}>`,
        tag("rect", { width, height, fill: "#fff" }),
        `<clipPath id="c">${clip}</clipPath>`,
        ...(figure.title ? [tag("text", title, figure.title)] : []),
        ...axes(picture),
        `<g clip-path="url(#c)">`,
        ...figure.series.flatMap((one) => curve(picture, one)),
        "</g>",
        ...frame(picture),
        ...legend(picture),
        "</svg>",
    ].join("\n");
}

export function figure_png(figure: Figure, width = 720, height = 420, scale = 2): Promise<Blob> {
    return new Promise((resolve, reject) => {
        const image = new Image();
        const address = URL.createObjectURL(new Blob([figure_svg(figure, width, height)], { type: "image/svg+xml" }));
        image.onload = () => {
            const canvas = document.createElement("canvas");
            canvas.width = width * scale;
            canvas.height = height * scale;
            const context = canvas.getContext("2d")!;
            context.scale(scale, scale);
            context.drawImage(image, 0, 0, width, height);
            URL.revokeObjectURL(address);
            canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(t().plot.no_png))), "image/png");
        };
        image.onerror = () => reject(new Error(t().plot.no_png));
        image.src = address;
    });
}

export function figure_csv(figure: Figure): string {
    const rows = figure.series.flatMap((one) =>
        one.x.map((x, at) => [one.name, x, one.y[at] ?? "", one.low?.[at] ?? "", one.high?.[at] ?? ""]),
    );
    return csv_text([["curve", figure.x_label || "x", figure.y_label || "y", "low", "high"], ...rows]);
}
