// SPDX-License-Identifier: Apache-2.0
// A figure: curves with their axes, as the page shows it and as a file. The file is drawn here too, as SVG, so that
// what is exported has text as text and lines as lines.

export interface FigureSeries {
    name: string;
    kind: "lines" | "steps" | "points" | "linespoints" | "bars" | "band";
    x: number[];
    y: number[];
    low?: number[]; // of a band, or of an interval around y
    high?: number[];
    color?: number; // index into the colours of plots
}

export interface Figure {
    title: string;
    x_label: string;
    y_label: string;
    x_log?: boolean;
    y_log?: boolean;
    x_range?: [number | null, number | null];
    y_range?: [number | null, number | null];
    x_tics?: [string, number][];
    series: FigureSeries[];
    x_text?: (value: number) => string;
    y_text?: (value: number) => string;
}

export const plot_colors = 8;

export function tics(from: number, to: number, most: number, log = false): number[] {
    if (!(to > from)) {
        return [from];
    }
    if (log) {
        const made: number[] = [];
        const steps = Math.log10(to / from) > most ? [1] : Math.log10(to / from) > 3 ? [1] : [1, 2, 5];
        for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++) {
            for (const step of steps) {
                const value = step * 10 ** power;
                if (value >= from * 0.999 && value <= to * 1.001) {
                    made.push(value);
                }
            }
        }
        return made;
    }
    const rough = (to - from) / Math.max(most, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? 10 * power;
    const made: number[] = [];
    for (let value = Math.ceil(from / step) * step; value <= to + step * 1e-6; value += step) {
        made.push(Math.abs(value) < step * 1e-9 ? 0 : value);
    }
    return made;
}

export function short_number(value: number): string {
    const magnitude = Math.abs(value);
    if (magnitude >= 1e15 || (magnitude > 0 && magnitude < 1e-4)) {
        return value.toExponential(1);
    }
    for (const [step, unit] of [
        [1e12, "T"],
        [1e9, "G"],
        [1e6, "M"],
        [1e4, "k"],
    ] as const) {
        if (magnitude >= step) {
            const divisor = unit === "k" ? 1e3 : step;
            return `${+(value / divisor).toPrecision(4)}${unit}`;
        }
    }
    return String(+value.toPrecision(4));
}

// One x for all curves, as uPlot wants it: those of every curve, in order; as often as the curve that has it most often.
export function aligned(series: FigureSeries[]): [number[], ...(number | null)[][]] {
    const most = new Map<number, number>();
    for (const one of series) {
        const counts = new Map<number, number>();
        for (const x of one.x.filter(Number.isFinite)) {
            const times = (counts.get(x) ?? 0) + 1;
            counts.set(x, times);
            most.set(x, Math.max(most.get(x) ?? 0, times));
        }
    }
    const all: number[] = [];
    const place = new Map<number, number>();
    for (const [x, times] of [...most].sort(([one], [other]) => one - other)) {
        place.set(x, all.length);
        for (let time = 0; time < times; time++) {
            all.push(x);
        }
    }
    const columns: (number | null)[][] = [];
    for (const one of series) {
        const spread = (values: number[]) => {
            const column = new Array<number | null>(all.length).fill(undefined as unknown as null);
            const next = new Map(place);
            for (const [index, x] of one.x.entries()) {
                const at = next.get(x);
                if (at !== undefined) {
                    const value = values[index];
                    column[at] = value === undefined || !Number.isFinite(value) ? null : value;
                    next.set(x, at + 1);
                }
            }
            return column;
        };
        columns.push(spread(one.y));
        if (one.low && one.high && one.kind !== "bars") {
            columns.push(spread(one.low), spread(one.high));
        }
    }
    return [all, ...columns];
}

export function extent(figure: Figure): { x: [number, number]; y: [number, number] } {
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const one of figure.series) {
        for (let index = 0; index < one.x.length; index++) {
            const x = one.x[index]!;
            if (Number.isFinite(x) && (!figure.x_log || x > 0)) {
                x0 = Math.min(x0, x);
                x1 = Math.max(x1, x);
            }
            for (const value of [one.y[index], one.low?.[index], one.high?.[index]]) {
                if (value !== undefined && value !== null && Number.isFinite(value) && (!figure.y_log || value > 0)) {
                    y0 = Math.min(y0, value);
                    y1 = Math.max(y1, value);
                }
            }
        }
    }
    if (!(x1 >= x0)) {
        [x0, x1] = figure.x_log ? [1, 10] : [0, 1];
    }
    if (!(y1 >= y0)) {
        [y0, y1] = figure.y_log ? [1, 10] : [0, 1];
    }
    if (!figure.y_log) {
        y0 = Math.min(y0, 0) === 0 && y0 > 0 && y0 < (y1 - y0) * 2 + 1e-300 ? 0 : y0;
        const room = (y1 - y0) * 0.05 || Math.abs(y1) * 0.05 || 1;
        y1 += room;
        y0 = y0 === 0 ? 0 : y0 - room;
    } else if (y0 === y1) {
        [y0, y1] = [y0 / 2, y1 * 2];
    }
    if (x0 === x1) {
        [x0, x1] = figure.x_log ? [x0 / 2, x1 * 2] : [x0 - 0.5, x1 + 0.5];
    }
    const within = (range: [number | null, number | null] | undefined, low: number, high: number): [number, number] => [
        range?.[0] ?? low,
        range?.[1] ?? high,
    ];
    return { x: within(figure.x_range, x0, x1), y: within(figure.y_range, y0, y1) };
}

const ink_colors = ["#1f6fd0", "#c8511b", "#16806a", "#8a4fc7", "#a86a00", "#c2185b", "#4a6572", "#6c7a12"];

function escaped(text: string): string {
    return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

// The figure as a file for a paper: black on white whatever the theme, 720 x 420 unless told.
export function figure_svg(figure: Figure, width = 720, height = 420): string {
    const { x, y } = extent(figure);
    const named = figure.series.filter((one) => one.name);
    const legend_rows = Math.ceil(named.length / 3);
    const [left, right, top, bottom] = [74, 18, figure.title ? 40 : 18, 56 + legend_rows * 18];
    const [plot_width, plot_height] = [width - left - right, height - top - bottom];
    const at_x = (value: number) =>
        left +
        (figure.x_log ? Math.log(value / x[0]) / Math.log(x[1] / x[0]) : (value - x[0]) / (x[1] - x[0])) * plot_width;
    const at_y = (value: number) =>
        top +
        plot_height -
        (figure.y_log ? Math.log(value / y[0]) / Math.log(y[1] / y[0]) : (value - y[0]) / (y[1] - y[0])) * plot_height;
    const n = (value: number) => value.toFixed(2);
    const out: string[] = [
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#111">`,
        `<rect width="${width}" height="${height}" fill="#fff"/>`,
        `<clipPath id="c"><rect x="${left}" y="${top}" width="${plot_width}" height="${plot_height}"/></clipPath>`,
    ];
    if (figure.title) {
        out.push(`<text x="${left}" y="22" font-size="14" font-weight="bold">${escaped(figure.title)}</text>`);
    }
    const x_text = figure.x_text ?? short_number;
    const y_text = figure.y_text ?? short_number;
    const x_tics =
        figure.x_tics ?? tics(x[0], x[1], 7, figure.x_log).map((value): [string, number] => [x_text(value), value]);
    for (const [text, value] of x_tics) {
        const place = n(at_x(value));
        out.push(
            `<path d="M${place} ${top}V${top + plot_height}" stroke="#e3e3e3"/><text x="${place}" y="${top + plot_height + 17}" text-anchor="middle">${escaped(text)}</text>`,
        );
    }
    for (const value of tics(y[0], y[1], 6, figure.y_log)) {
        const place = n(at_y(value));
        out.push(
            `<path d="M${left} ${place}H${left + plot_width}" stroke="#e3e3e3"/><text x="${left - 7}" y="${place}" dy="4" text-anchor="end">${escaped(y_text(value))}</text>`,
        );
    }
    out.push(`<g clip-path="url(#c)">`);
    for (const [index, one] of figure.series.entries()) {
        const color = ink_colors[(one.color ?? index) % plot_colors]!;
        const here = one.x
            .map((value, at) => [value, one.y[at]!] as const)
            .filter(
                ([a, b]) =>
                    Number.isFinite(a) && Number.isFinite(b) && (!figure.x_log || a > 0) && (!figure.y_log || b > 0),
            );
        if (one.low && one.high && one.kind !== "bars") {
            if (one.kind === "points" || one.kind === "linespoints") {
                for (const [at, value] of one.x.entries()) {
                    out.push(
                        `<path d="M${n(at_x(value))} ${n(at_y(one.low[at]!))}V${n(at_y(one.high[at]!))}" stroke="${color}"/>`,
                    );
                }
            } else {
                const up = one.x.map((value, at) => `${n(at_x(value))} ${n(at_y(one.high![at]!))}`);
                const back = one.x.map((value, at) => `${n(at_x(value))} ${n(at_y(one.low![at]!))}`).reverse();
                out.push(`<path d="M${[...up, ...back].join("L")}Z" fill="${color}" opacity="0.2"/>`);
            }
        }
        if (one.kind === "bars") {
            const base = at_y(figure.y_log ? y[0] : Math.max(0, y[0]));
            for (const [at, value] of one.x.entries()) {
                const from = at_x(one.low?.[at] ?? value) + 0.5;
                const to = at_x(one.high?.[at] ?? value + (one.x[at + 1] ?? value) - value) - 0.5;
                const height_px = base - at_y(one.y[at]!);
                out.push(
                    `<rect x="${n(from)}" y="${n(base - Math.max(height_px, 0))}" width="${n(Math.max(to - from, 1))}" height="${n(Math.max(height_px, 0))}" fill="${color}" opacity="0.85"/>`,
                );
            }
        } else if (one.kind !== "points" && one.kind !== "band" && here.length > 0) {
            const parts = here.map(([a, b], at) =>
                at === 0
                    ? `M${n(at_x(a))} ${n(at_y(b))}`
                    : one.kind === "steps"
                      ? `H${n(at_x(a))}V${n(at_y(b))}`
                      : `L${n(at_x(a))} ${n(at_y(b))}`,
            );
            out.push(
                `<path d="${parts.join("")}" fill="none" stroke="${color}" stroke-width="1.5" stroke-linejoin="round"/>`,
            );
        }
        if (one.kind === "points" || one.kind === "linespoints") {
            out.push(
                ...here.map(([a, b]) => `<circle cx="${n(at_x(a))}" cy="${n(at_y(b))}" r="2.6" fill="${color}"/>`),
            );
        }
    }
    out.push(
        `</g><rect x="${left}" y="${top}" width="${plot_width}" height="${plot_height}" fill="none" stroke="#555"/>`,
    );
    out.push(
        `<text x="${left + plot_width / 2}" y="${top + plot_height + 38}" text-anchor="middle">${escaped(figure.x_label)}</text>`,
    );
    out.push(
        `<text transform="translate(16 ${top + plot_height / 2}) rotate(-90)" text-anchor="middle">${escaped(figure.y_label)}</text>`,
    );
    for (const [index, one] of named.entries()) {
        const color = ink_colors[(one.color ?? figure.series.indexOf(one)) % plot_colors]!;
        const [key_x, key_y] = [
            left + (index % 3) * (plot_width / 3),
            top + plot_height + 58 + Math.floor(index / 3) * 18,
        ];
        out.push(
            `<rect x="${n(key_x)}" y="${key_y - 6}" width="16" height="4" fill="${color}"/><text x="${n(key_x + 22)}" y="${key_y}">${escaped(one.name)}</text>`,
        );
    }
    out.push("</svg>");
    return out.join("\n");
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
            canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
        };
        image.onerror = () => reject(new Error("no picture"));
        image.src = address;
    });
}

function csv_cell(text: string | number): string {
    const plain = String(text);
    return /[",\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

export function figure_csv(figure: Figure): string {
    const lines = [["curve", figure.x_label || "x", figure.y_label || "y", "low", "high"].map(csv_cell).join(",")];
    for (const one of figure.series) {
        for (const [at, x] of one.x.entries()) {
            lines.push(
                [one.name, x, one.y[at] ?? "", one.low?.[at] ?? "", one.high?.[at] ?? ""].map(csv_cell).join(","),
            );
        }
    }
    return `${lines.join("\n")}\n`;
}
