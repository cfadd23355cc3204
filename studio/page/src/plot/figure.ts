// SPDX-License-Identifier: Apache-2.0
// A figure: curves with their axes.
import { nanoseconds } from "../core/format";
import { t } from "../i18n/text";

export interface FigureSeries {
    name: string;
    kind: "lines" | "steps" | "points" | "linespoints" | "bars";
    x: number[];
    y: number[];
    low?: number[]; // lower ends of intervals around y, or of bars
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

// Returns a figure of curves over the simulated time.
export function figure_over_time(title: string, series: FigureSeries[], more: Partial<Figure> = {}): Figure {
    return { title, x_label: t().run.time, y_label: "", x_text: (ns) => nanoseconds(ns), series, ...more };
}

// Returns a figure of counts in equal parts of time.
export function figure_of_bins(title: string, name: string, low: number[], high: number[], y: number[]): Figure {
    return figure_over_time(title, [{ name, kind: "bars", x: low, y, low, high }], { x_label: "" });
}

export const plot_colors = 8;

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
