// SPDX-License-Identifier: Apache-2.0
// Finds where in the tree of names a cursor stands, for completion and help.
import { outline, type Entry, type Path, type Value } from "./outline";

// Returns the path of the attribute that a place in a scenario sets: traffic[0].poisson.load is
// traffic.poisson.load, nodes.spine*.switch.buffer is switch.buffer, links.a--b.rate is link.rate.
export function attribute_path(path: Path): string {
    const [first, ...rest] = path;
    let names: Path = path;
    if (first === "nodes") {
        names = rest.slice(1);
    } else if (first === "links") {
        names = ["link", ...rest.slice(1)];
    }
    const text = names.filter((name) => typeof name === "string").join(".");
    return text.replace(/^link\.down\b/, "links.down");
}

export interface Place {
    path: Path; // of the map or list that the cursor stands in
    key: string | null; // the key whose value is being typed; null: a key is being typed
    from: number; // start of the word or value that the cursor stands in
    existing: Set<string>; // the other keys of the same map
}

// Marks the cursor in the text that is parsed. It counts as a letter, so it becomes part of the word typed there.
const cursor = "\ue010";

interface Found {
    place: Place;
    unfinished: boolean; // a word alone on its line, which may become a key when its colon is typed
}

function in_entry(entry: Entry, holder: Value, path: Path, text: string): Found | null {
    if (text.slice(entry.from, entry.key_to).includes(cursor)) {
        const others = holder.entries.filter((one) => one !== entry).map((one) => one.key);
        const lines = text.slice(entry.from, entry.key_to).includes("\n");
        return { place: { path, key: null, from: entry.from, existing: new Set(others) }, unfinished: lines };
    }
    const { value } = entry;
    if (value.kind !== "scalar") {
        return search(value, [...path, entry.key], text);
    }
    if (!text.slice(value.from, value.to).includes(cursor)) {
        return null;
    }
    if (!holder.flow && text.slice(entry.key_to, value.from).includes("\n")) {
        return alone(value, [...path, entry.key]);
    }
    return { place: { path, key: entry.key, from: value.from, existing: new Set() }, unfinished: false };
}

function alone(value: Value, path: Path): Found {
    return { place: { path, key: null, from: value.from, existing: new Set() }, unfinished: true };
}

function search(node: Value, path: Path, text: string): Found | null {
    if (node.kind === "scalar" && text.slice(node.from, node.to).includes(cursor)) {
        return alone(node, path);
    }
    for (const entry of node.entries) {
        const found = in_entry(entry, node, path, text);
        if (found) {
            return found;
        }
    }
    for (const [index, item] of node.items.entries()) {
        const found = search(item, [...path, index], text);
        if (found?.unfinished && item.kind === "scalar" && node.flow) {
            const key = String(path[path.length - 1] ?? "");
            return { place: { ...found.place, path: path.slice(0, -1), key }, unfinished: false };
        }
        if (found) {
            return found;
        }
    }
    return null;
}

// Returns the place of an offset in the text, however unfinished the text is; null in a comment.
export function place_at(text: string, at: number): Place | null {
    const parsed = (inserted: string) => {
        const marked = text.slice(0, at) + inserted + text.slice(at);
        return search(outline(marked), [], marked);
    };
    const found = parsed(cursor);
    if (!found?.unfinished) {
        return found?.place ?? null;
    }
    // With its colon the word is a key, and the lines below it are no part of it.
    const finished = parsed(`${cursor}:`);
    return finished && !finished.unfinished && finished.place.key === null ? finished.place : found.place;
}
