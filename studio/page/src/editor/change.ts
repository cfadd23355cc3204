// SPDX-License-Identifier: Apache-2.0
// Changes of a scenario's text: setting and removing one value. Everything else, comments included, stays as it is.
import { find, outline, type Path, type Value } from "./outline";

export interface Change {
    from: number;
    to: number;
    insert: string;
}

function written(text: string): string {
    return text === "" || /^[\s#&!|>%@`"'{}]|: |:$| #|[\n,]/.test(text) || /^\s|\s$/.test(text)
        ? /^[[{]/.test(text)
            ? text
            : JSON.stringify(text)
        : text;
}

function nested(path: Path, text: string, indent: number): string {
    const [first, ...rest] = path;
    const name = `${" ".repeat(indent)}${first}:`;
    return rest.length === 0 ? `${name} ${text}` : `${name}\n${nested(rest, text, indent + 2)}`;
}

// Returns the change of the text that gives a path a value, which may be new there; null if that is impossible.
export function set_value(text: string, path: Path, raw: string): Change | null {
    const tree = outline(text);
    const fresh = written(raw);
    const old = find(tree, path);
    if (old && old.kind !== "empty") {
        return { from: old.from, to: old.to, insert: fresh };
    }
    let known = path.length;
    let holder: Value | null = null;
    while (known > 0 && !holder) {
        known--;
        holder = find(tree, path.slice(0, known));
    }
    const rest = path.slice(known);
    if (!holder || rest.some((step) => typeof step === "number")) {
        return null;
    }
    if (holder.flow && holder.kind === "map") {
        const inner = rest.slice(1).reduceRight((made, step) => `{${String(step)}: ${made}}`, fresh);
        const last = holder.entries[holder.entries.length - 1];
        const place = last ? last.to : holder.from + 1;
        return { from: place, to: place, insert: `${last ? ", " : ""}${String(rest[0])}: ${inner}` };
    }
    if (holder.kind === "map") {
        const entry = holder.entries.find((one) => one.key === rest[0]);
        if (entry) {
            return {
                from: entry.key_to,
                to: entry.to,
                insert: rest.length === 1 ? `: ${fresh}` : `:\n${nested(rest.slice(1), fresh, holder.indent + 2)}`,
            };
        }
        const line_end = end_of_line(text, holder.to);
        return { from: line_end, to: line_end, insert: `\n${nested(rest, fresh, holder.indent)}` };
    }
    if (holder.kind === "empty") {
        if (known === 0) {
            return {
                from: text.length,
                to: text.length,
                insert: `${text && !text.endsWith("\n") ? "\n" : ""}${nested(rest, fresh, 0)}\n`,
            };
        }
        const outer = find(tree, path.slice(0, known - 1));
        const entry = outer?.entries.find((one) => one.key === path[known - 1]);
        return entry
            ? { from: entry.key_to, to: entry.to, insert: `:\n${nested(rest, fresh, (outer?.indent ?? 0) + 2)}` }
            : null;
    }
    return null;
}

function end_of_line(text: string, at: number): number {
    const end = text.indexOf("\n", at);
    return end < 0 ? text.length : end;
}

// Returns the change that removes a setting from the text; null if there is none at this path.
export function remove_value(text: string, path: Path): Change | null {
    const tree = outline(text);
    const holder = find(tree, path.slice(0, -1));
    const last = path[path.length - 1];
    if (!holder || last === undefined) {
        return null;
    }
    if (typeof last === "number") {
        const item = holder.items[last];
        if (!item || holder.flow) {
            return null;
        }
        const from = text.lastIndexOf("\n", text.lastIndexOf("-", item.from)) + 1;
        return { from, to: Math.min(end_of_line(text, item.to) + 1, text.length), insert: "" };
    }
    const index = holder.entries.findIndex((one) => one.key === last);
    const entry = holder.entries[index];
    if (!entry) {
        return null;
    }
    if (holder.flow) {
        const next = holder.entries[index + 1];
        const previous = holder.entries[index - 1];
        return next
            ? { from: entry.from, to: next.from, insert: "" }
            : { from: previous ? previous.to : entry.from, to: entry.to, insert: "" };
    }
    if (holder.entries.length === 1) {
        return path.length === 1
            ? { from: entry.from, to: entry.to, insert: "" }
            : { from: entry.from, to: entry.to, insert: "{}" };
    }
    const line_from = text.lastIndexOf("\n", entry.from - 1) + 1;
    if (text.slice(line_from, entry.from).trim() !== "") {
        const next = holder.entries[index + 1]!;
        return { from: entry.from, to: next.from, insert: "" };
    }
    return { from: line_from, to: Math.min(end_of_line(text, entry.to) + 1, text.length), insert: "" };
}
