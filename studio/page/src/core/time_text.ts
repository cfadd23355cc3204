// SPDX-License-Identifier: Apache-2.0
// Parses simulated times as they are typed: 10us, 1.5ms, 2s, or nanoseconds without a unit.

const factors: Record<string, number> = { ps: 1e-3, ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, "": 1 };

export function time_ns(text: string): number | null {
    const match = /^\s*([\d.]+(?:e[+-]?\d+)?)\s*(ps|ns|us|µs|ms|s|)\s*$/i.exec(text);
    const value = match ? Number(match[1]) * factors[match[2]!.toLowerCase()]! : NaN;
    return Number.isFinite(value) ? value : null;
}
