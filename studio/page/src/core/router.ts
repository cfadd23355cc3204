// SPDX-License-Identifier: Apache-2.0
// Where one is: the part of the address after #, by words; what follows ? are parameters of the view.

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

// Changes the parameters of the present view without leaving it.
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
