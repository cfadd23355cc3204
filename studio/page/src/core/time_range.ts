// SPDX-License-Identifier: Apache-2.0
// The time range that all views of a run show. It can be chosen in any of them and stays until another run is opened
// or the whole run is chosen again.
import type { Scope } from "./dom";
import { keep_query, type Place } from "./router";

export type TimeRange = [from_ns: number, to_ns: number];

let range: TimeRange | null = null;
let of_run = 0;

export function time_range(): TimeRange | null {
    return range;
}

// Returns the time range as parameters of a query.
export function range_query(): { from_ns?: number; to_ns?: number } {
    return range ? { from_ns: range[0], to_ns: range[1] } : {};
}

// Returns a range with whole ends, the earlier one first; null: it has no length.
function in_order([one, other]: TimeRange): TimeRange | null {
    const [from, to] = [Math.max(0, Math.floor(Math.min(one, other))), Math.ceil(Math.max(one, other))];
    return from < to ? [from, to] : null;
}

// Begins a view of a run: takes the range from the address and forgets that of another run.
export function enter_range(run: number, place: Place): void {
    const [from, to] = [place.query.get("from"), place.query.get("to")];
    if (from !== null || to !== null) {
        range = in_order([Number(from ?? 0) || 0, to === null ? Number.MAX_SAFE_INTEGER : Number(to) || 0]);
    } else if (run !== of_run) {
        range = null;
    }
    of_run = run;
    show_in_address();
}

function show_in_address(): void {
    const [from, to] = range ?? [null, null];
    keep_query({
        from: from === null ? null : String(from),
        to: to === null || to === Number.MAX_SAFE_INTEGER ? null : String(to),
    });
}

export function choose_range(chosen: TimeRange | null): void {
    range = chosen && in_order(chosen);
    show_in_address();
    window.dispatchEvent(new Event("studio-range"));
}

export function on_range(scope: Scope, work: () => void): void {
    scope.listen(window, "studio-range", work);
}
