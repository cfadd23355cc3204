// SPDX-License-Identifier: Apache-2.0
// Formats numbers, sizes, rates and times in the language of the page.
import { the_language } from "../i18n/text";

const locale = () => (the_language() === "zh" ? "zh-CN" : "en-GB");

export function number(value: number | null | undefined, digits = 3): string {
    if (value === null || value === undefined || Number.isNaN(value)) {
        return "–";
    }
    if (Number.isInteger(value) && Math.abs(value) < 1e15) {
        return value.toLocaleString(locale());
    }
    return value.toLocaleString(locale(), {
        maximumSignificantDigits: Math.max(digits, Math.floor(Math.log10(Math.abs(value) || 1)) + 1),
    });
}

function scaled(value: number, step: number, units: string[], digits = 3): string {
    let magnitude = Math.abs(value);
    let index = 0;
    while (magnitude >= step * 0.9995 && index < units.length - 1) {
        magnitude /= step;
        value /= step;
        index++;
    }
    const text = value === 0 ? "0" : value.toLocaleString(locale(), { maximumSignificantDigits: digits });
    return `${text} ${units[index]}`;
}

export function count(value: number | null | undefined): string {
    if (value === null || value === undefined) {
        return "–";
    }
    return Math.abs(value) < 100000 ? number(value) : scaled(value, 1000, ["", "k", "M", "G", "T"]).replace(/ $/, "");
}

export function bytes(value: number | null | undefined): string {
    return value === null || value === undefined ? "–" : scaled(value, 1000, ["B", "KB", "MB", "GB", "TB", "PB"]);
}

export function bits_per_second(value: number | null | undefined): string {
    return value === null || value === undefined ? "–" : scaled(value, 1000, ["bps", "kbps", "Mbps", "Gbps", "Tbps"]);
}

// Formats a simulated time given in nanoseconds.
export function nanoseconds(value: number | null | undefined, digits = 4): string {
    if (value === null || value === undefined) {
        return "–";
    }
    if (value !== 0 && Math.abs(value) < 1) {
        return `${number(value * 1000)} ps`;
    }
    return scaled(value, 1000, ["ns", "µs", "ms", "s"], digits);
}

// Formats a real time given in seconds.
export function seconds(value: number | null | undefined): string {
    if (value === null || value === undefined || !Number.isFinite(value)) {
        return "–";
    }
    if (value > 0 && value < 0.05) {
        return "< 0.1 s";
    }
    if (value < 60) {
        return `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
    }
    if (value < 3600) {
        return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
    }
    return `${Math.floor(value / 3600)} h ${Math.round((value % 3600) / 60)} min`;
}

export function percent(value: number | null | undefined, digits = 1): string {
    return value === null || value === undefined ? "–" : `${(value * 100).toFixed(digits)} %`;
}

// Formats a date and time given in milliseconds since 1970.
export function moment(value: number | null | undefined): string {
    if (value === null || value === undefined || value === 0) {
        return "–";
    }
    const date = new Date(value);
    const today = new Date().toDateString() === date.toDateString();
    const options: Intl.DateTimeFormatOptions = today
        ? { hour: "2-digit", minute: "2-digit", second: "2-digit" }
        : { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" };
    return date.toLocaleString(locale(), options);
}

const formats: Record<string, (value: number) => string> = {
    ns: nanoseconds,
    us: (value) => nanoseconds(value * 1e3),
    ms: (value) => nanoseconds(value * 1e6),
    ps: (value) => nanoseconds(value / 1e3),
    s: (value) => nanoseconds(value * 1e9),
    bytes,
    "bit/s": bits_per_second,
    GB: (value) => bytes(value * 1e9),
    "GB/s": (value) => `${bytes(value * 1e9)}/s`,
    "1/s": (value) => `${number(value, 4)}/s`,
    "%": (value) => (value > 0 && value < 0.01 ? "< 0.01 %" : `${number(value, 4)} %`),
    Gbps: (value) => `${number(value, 4)} Gbps`,
    "M/s": (value) => `${number(value, 4)} M/s`,
    Mpps: (value) => `${number(value, 4)} Mpps`,
    "1/1000000": (value) => percent(value / 1e6),
};

// Formats a value by the unit of its column or metric.
export function with_unit(value: unknown, unit = ""): string {
    if (typeof value !== "number") {
        return String(value ?? "");
    }
    return formats[unit]?.(value) ?? number(value, 4);
}
