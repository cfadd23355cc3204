// SPDX-License-Identifier: Apache-2.0
// The place that the address names: words after #, then parameters of the view after ?.

export interface Place {
    words: string[];
    query: URLSearchParams;
}

// Returns a word of an address, which somebody may have typed.
function decoded(word: string): string {
    try {
        return decodeURIComponent(word);
    } catch {
        return word;
    }
}

export function the_place(): Place {
    const text = location.hash.replace(/^#\/?/, "");
    const [path = "", query = ""] = text.split("?", 2);
    return { words: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

export function link(...words: (string | number)[]): string {
    return `#/${words.map((word) => encodeURIComponent(String(word))).join("/")}`;
}

// Returns the address with parameters of the view; those without a value are left out.
export function with_query(
    address: string,
    parameters: Record<string, string | number | boolean | undefined | null>,
): string {
    const given = Object.entries(parameters).filter(
        ([, value]) => value !== undefined && value !== null && value !== "",
    );
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return text ? `${address}?${text}` : address;
}

// Returns the address of the log query for the rows of a run's table that fit a condition.
export function query_link(
    runs: number,
    table: string,
    where = "",
    more: Record<string, number | undefined> = {},
): string {
    return with_query(link("query"), { runs, table, where, ...more });
}

export function go(address: string): void {
    if (location.hash === address) {
        window.dispatchEvent(new HashChangeEvent("hashchange"));
    } else {
        location.hash = address;
    }
}

// Returns the numbers of runs, or of a group of runs, in a parameter; what is no such number is left out.
export function numbers_in({ query }: Place, name: string): number[] {
    const numbers = (query.get(name) ?? "").split(",").map(Number);
    return numbers.filter((one) => Number.isSafeInteger(one) && one > 0);
}

// Reads a parameter that keep_query wrote as JSON; returns the fallback if it is absent or no JSON.
export function kept_json<T>(place: Place, name: string, fallback: T): T {
    try {
        return (JSON.parse(place.query.get(name) ?? "null") as T | null) ?? fallback;
    } catch {
        return fallback;
    }
}

// Changes the parameters of the present view in the address without leaving the view.
export function keep_query(changes: Record<string, string | null | undefined>): void {
    const { words, query } = the_place();
    for (const [name, value] of Object.entries(changes)) {
        if (value) {
            query.set(name, value);
        } else {
            query.delete(name);
        }
    }
    history.replaceState(null, "", with_query(link(...words), Object.fromEntries(query)));
}
