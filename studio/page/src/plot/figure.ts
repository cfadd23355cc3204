// SPDX-License-Identifier: Apache-2.0
// A figure: curves with their axes, and the numbers that are needed to draw them.

export interface FigureSeries {
    name: string;
    kind: "lines" | "steps" | "points" | "linespoints" | "bars" | "band";
    x: number[];
    y: number[];
    low?: number[]; // lower ends of a band, of an interval around y, or of bars
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
    note?: string; // a sentence below the figure
    x_text?: (value: number) => string;
    y_text?: (value: number) => string;
}

export const plot_colors = 8;

// Returns round values between `from` and `to`, about `most` of them.
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

// Returns a number as it stands at an axis: four digits and a letter for the power of ten.
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

// Returns one column of x and one of y for each curve, as uPlot wants them. An x that several points of a curve have
// is repeated, so that each of them is drawn.
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

// Returns the ranges of both axes, with some room above and below the values.
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
