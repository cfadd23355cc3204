// SPDX-License-Identifier: Apache-2.0
// The place that the address names: words after #, then parameters of the view after ?.

export interface Place {
    words: string[];
    query: URLSearchParams;
}

export function the_place(): Place {
    const text = location.hash.replace(/^#\/?/, "");
    const [path = "", query = ""] = text.split("?", 2);
    return { words: path.split("/").filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query) };
}

export function link(...words: (string | number)[]): string {
    return `#/${words.map((word) => encodeURIComponent(String(word))).join("/")}`;
}

export function go(address: string): void {
    if (location.hash === address) {
        window.dispatchEvent(new HashChangeEvent("hashchange"));
    } else {
        location.hash = address;
    }
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
    const text = query.toString();
    history.replaceState(null, "", `${link(...words)}${text ? `?${text}` : ""}`);
}
