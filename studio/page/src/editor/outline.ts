// SPDX-License-Identifier: Apache-2.0
// A scenario as a tree with places: the YAML that rocesim reads, patterns such as host[0-15] in {...} included.
//
// It is for a text that is being typed: whatever cannot be understood becomes a scalar, never an exception. The
// real checker is the program's; this one serves completion, help and the form, which edits the text in place so
// that comments stay.

export interface Entry {
    key: string;
    from: number; // where the key begins
    key_to: number;
    to: number;
    value: Value;
}

export interface Value {
    kind: "map" | "list" | "scalar" | "empty";
    flow: boolean;
    from: number;
    to: number;
    indent: number; // of the keys of a map, of the dashes of a list
    text: string; // of a scalar, without quotes
    entries: Entry[];
    items: Value[];
}

interface Line {
    from: number;
    text_from: number;
    indent: number;
    to: number; // without comment and space at the end
}

export type Path = (string | number)[];

function value(kind: Value["kind"], from: number, to: number, indent = 0, flow = false): Value {
    return { kind, from, to, indent, flow, text: "", entries: [], items: [] };
}

// Where the part of a line before its comment ends.
function comment_start(text: string, from: number, to: number): number {
    let quote = "";
    for (let at = from; at < to; at++) {
        const c = text[at]!;
        if (quote) {
            if (c === quote) {
                quote = "";
            } else if (c === "\\" && quote === '"') {
                at++;
            }
        } else if ((c === '"' || c === "'") && (at === from || " \t[{,:-".includes(text[at - 1]!))) {
            quote = c;
        } else if (c === "#" && (at === from || " \t".includes(text[at - 1]!))) {
            return at;
        }
    }
    return to;
}

class Reader {
    private readonly lines: Line[] = [];
    private at = 0;

    constructor(private readonly text: string) {
        let from = 0;
        while (from <= text.length) {
            let end = text.indexOf("\n", from);
            if (end < 0) {
                end = text.length;
            }
            let text_from = from;
            while (text_from < end && text[text_from] === " ") {
                text_from++;
            }
            let to = comment_start(text, text_from, end);
            while (to > text_from && " \t\r".includes(text[to - 1]!)) {
                to--;
            }
            if (to > text_from && !text.startsWith("---", text_from)) {
                this.lines.push({ from, text_from, indent: text_from - from, to });
            }
            from = end + 1;
        }
    }

    read(): Value {
        const whole = this.block(0);
        whole.to = Math.max(whole.to, whole.from);
        return whole;
    }

    private block(least_indent: number): Value {
        const first = this.lines[this.at];
        if (!first || first.indent < least_indent) {
            const place = this.at > 0 ? this.lines[this.at - 1]!.to : 0;
            return value("empty", place, place);
        }
        if (this.is_dash(first)) {
            return this.list(first.indent);
        }
        if (this.key_end(first) >= 0) {
            return this.map(first.indent);
        }
        const scalar = this.inline(first.text_from, first);
        return scalar;
    }

    private is_dash(line: Line): boolean {
        return (
            this.text[line.text_from] === "-" &&
            (line.text_from + 1 === line.to || this.text[line.text_from + 1] === " ")
        );
    }

    // Where the colon after a key is, -1 where the line has none.
    private key_end(line: Line): number {
        let at = line.text_from;
        const first = this.text[at];
        if (first === "{" || first === "[") {
            return -1;
        }
        if (first === '"' || first === "'") {
            at = this.text.indexOf(first, at + 1) + 1;
            if (at <= 0) {
                return -1;
            }
        }
        for (; at < line.to; at++) {
            if (this.text[at] === ":" && (at + 1 >= line.to || this.text[at + 1] === " ")) {
                return at;
            }
        }
        return -1;
    }

    private list(indent: number): Value {
        const made = value("list", this.lines[this.at]!.text_from, 0, indent);
        for (;;) {
            const line = this.lines[this.at];
            if (!line || line.indent !== indent || !this.is_dash(line)) {
                break;
            }
            let content = line.text_from + 1;
            while (content < line.to && this.text[content] === " ") {
                content++;
            }
            let item: Value;
            if (content >= line.to) {
                this.at++;
                item = this.block(indent + 1);
                if (item.kind === "empty") {
                    item.from = item.to = line.to;
                }
            } else {
                // What stands after the dash is a line of its own, as far in as it stands.
                this.lines[this.at] = { from: line.from, text_from: content, indent: content - line.from, to: line.to };
                item = this.block(indent + 1);
            }
            made.items.push(item);
            made.to = Math.max(item.to, line.to);
        }
        return made;
    }

    private map(indent: number): Value {
        const made = value("map", this.lines[this.at]!.text_from, 0, indent);
        for (;;) {
            const line = this.lines[this.at];
            if (!line || line.indent !== indent || this.is_dash(line)) {
                break;
            }
            const colon = this.key_end(line);
            const key_to = colon < 0 ? line.to : colon;
            const entry: Entry = {
                key: unquoted(this.text.slice(line.text_from, key_to)),
                from: line.text_from,
                key_to,
                to: line.to,
                value: value("empty", line.to, line.to),
            };
            if (colon < 0) {
                this.at++;
            } else {
                let content = colon + 1;
                while (content < line.to && this.text[content] === " ") {
                    content++;
                }
                if (content < line.to) {
                    entry.value = this.inline(content, line);
                } else {
                    this.at++;
                    const next = this.lines[this.at];
                    if (next && (next.indent > indent || (next.indent === indent && this.is_dash(next)))) {
                        entry.value = this.block(next.indent);
                    }
                }
                entry.to = Math.max(entry.value.to, line.to);
            }
            made.entries.push(entry);
            made.to = entry.to;
        }
        // Lines that stand further in than they may belong to nothing: they are passed over.
        const next = this.lines[this.at];
        if (next && next.indent > indent) {
            this.at++;
            const more = this.lines[this.at];
            if (more && more.indent === indent && !this.is_dash(more)) {
                const rest = this.map(indent);
                made.entries.push(...rest.entries);
                made.to = Math.max(made.to, rest.to);
            }
        }
        return made;
    }

    // A value that begins on a line: in one piece, or {...} over several lines, or a block of text.
    private inline(from: number, line: Line): Value {
        const first = this.text[from];
        if (first === "{" || first === "[") {
            const made = this.flow(from);
            while (this.at < this.lines.length && this.lines[this.at]!.from < made.to) {
                this.at++;
            }
            return made;
        }
        this.at++;
        let to = line.to;
        if (first === "|" || first === ">") {
            const indent = this.text.slice(line.from, line.text_from).length;
            while (this.lines[this.at] && this.lines[this.at]!.indent > indent) {
                to = this.lines[this.at]!.to;
                this.at++;
            }
        }
        const made = value("scalar", from, to);
        made.text = unquoted(this.text.slice(from, to));
        return made;
    }

    private flow(from: number): Value {
        const made = value(this.text[from] === "{" ? "map" : "list", from, from, 0, true);
        const close = made.kind === "map" ? "}" : "]";
        let at = this.skip(from + 1);
        while (at < this.text.length && this.text[at] !== close) {
            const begin = at;
            if (made.kind === "map") {
                const key_to = this.plain_end(at, true);
                const entry: Entry = {
                    key: unquoted(this.text.slice(at, key_to)),
                    from: at,
                    key_to,
                    to: key_to,
                    value: value("empty", key_to, key_to),
                };
                at = this.skip(key_to);
                if (this.text[at] === ":") {
                    entry.value = this.flow_value(this.skip(at + 1));
                    entry.to = Math.max(entry.value.to, at + 1);
                    at = this.skip(entry.to);
                }
                made.entries.push(entry);
            } else {
                const item = this.flow_value(at);
                made.items.push(item);
                at = this.skip(item.to);
            }
            if (this.text[at] === ",") {
                at = this.skip(at + 1);
            } else if (at === begin) {
                break; // not a way forward: what is typed here is not finished
            }
        }
        made.to = Math.min(at + 1, this.text.length);
        return made;
    }

    private flow_value(from: number): Value {
        const first = this.text[from];
        if (first === "{" || first === "[") {
            return this.flow(from);
        }
        const to = this.plain_end(from, false);
        const made = value(to > from ? "scalar" : "empty", from, to);
        made.text = unquoted(this.text.slice(from, to));
        return made;
    }

    private plain_end(from: number, key: boolean): number {
        let at = from;
        const first = this.text[at];
        if (first === '"' || first === "'") {
            const end = this.text.indexOf(first, at + 1);
            return end < 0 ? this.text.length : end + 1;
        }
        let depth = 0;
        for (; at < this.text.length; at++) {
            const c = this.text[at]!;
            if (c === "[") {
                depth++;
            } else if (c === "]" && depth > 0) {
                depth--;
            } else if (c === "\n" || (depth === 0 && (c === "," || c === "}" || c === "]"))) {
                break;
            } else if (key && c === ":" && depth === 0) {
                break;
            } else if (c === "#" && at > from && this.text[at - 1] === " ") {
                break;
            }
        }
        while (at > from && " \t\r".includes(this.text[at - 1]!)) {
            at--;
        }
        return at;
    }

    private skip(at: number): number {
        for (;;) {
            while (at < this.text.length && " \t\r\n".includes(this.text[at]!)) {
                at++;
            }
            if (this.text[at] !== "#") {
                return at;
            }
            const end = this.text.indexOf("\n", at);
            at = end < 0 ? this.text.length : end;
        }
    }
}

function unquoted(text: string): string {
    const quote = text[0];
    if (text.length >= 2 && (quote === '"' || quote === "'") && text.endsWith(quote)) {
        return text.slice(1, -1);
    }
    return text;
}

export function outline(text: string): Value {
    return new Reader(text).read();
}

export function find(tree: Value, path: Path): Value | null {
    let here: Value | undefined = tree;
    for (const step of path) {
        here = typeof step === "number" ? here?.items[step] : here?.entries.find((entry) => entry.key === step)?.value;
        if (!here) {
            return null;
        }
    }
    return here;
}

// The path of the attribute that a place in a scenario sets: traffic[0].poisson.load is traffic.poisson.load,
// nodes.spine*.switch.buffer is switch.buffer, links.a--b.rate is link.rate.
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
    path: Path; // of the map (or list) in which the cursor stands
    key: string | null; // whose value is being typed; null: a key is
    from: number; // where the word under the cursor begins
    existing: Set<string>;
    flow: boolean;
}

function flow_place(node: Value, path: Path, at: number, text: string): Place {
    for (const entry of node.entries) {
        if (entry.value.flow && at > entry.value.from && at < entry.value.to) {
            return flow_place(entry.value, [...path, entry.key], at, text);
        }
        if (
            at > entry.key_to &&
            at <= Math.max(entry.to, entry.value.to) &&
            text.slice(entry.key_to, at).includes(":")
        ) {
            return { path, key: entry.key, from: Math.min(entry.value.from, at), existing: new Set(), flow: true };
        }
    }
    for (const [index, item] of node.items.entries()) {
        if (item.flow && at > item.from && at < item.to) {
            return flow_place(item, [...path, index], at, text);
        }
    }
    let from = at;
    while (from > node.from + 1 && /[\w.\-*[\]]/.test(text[from - 1]!)) {
        from--;
    }
    const upto = text.slice(node.from, from);
    const open_value = /:\s*$/.exec(upto);
    if (open_value && node.kind === "map") {
        const key = /([\w.\-*]+)\s*:\s*$/.exec(upto)?.[1] ?? "";
        return { path, key, from, existing: new Set(), flow: true };
    }
    if (node.kind === "list") {
        return {
            path: path.slice(0, -1),
            key: String(path[path.length - 1] ?? ""),
            from,
            existing: new Set(),
            flow: true,
        };
    }
    return { path, key: null, from, existing: new Set(node.entries.map((entry) => entry.key)), flow: true };
}

function find_flow(node: Value, path: Path, at: number, text: string): Place | null {
    if (node.flow) {
        return at > node.from && (at < node.to || !"}]".includes(text[node.to - 1] ?? ""))
            ? flow_place(node, path, at, text)
            : null;
    }
    for (const entry of node.entries) {
        if (at >= entry.from && at <= entry.to) {
            return find_flow(entry.value, [...path, entry.key], at, text);
        }
    }
    for (const [index, item] of node.items.entries()) {
        if (at >= item.from && at <= item.to) {
            return find_flow(item, [...path, index], at, text);
        }
    }
    return null;
}

// Where in the tree of names a place of the text is, whatever is typed there.
export function place_at(text: string, at: number, tree: Value = outline(text)): Place {
    const flow = find_flow(tree, [], at, text);
    if (flow) {
        return flow;
    }
    const line_from = text.lastIndexOf("\n", at - 1) + 1;
    const before = text.slice(line_from, at);
    const stripped = /^(\s*(?:- +)*)(.*)$/.exec(before)!;
    const indent = stripped[1]!.length;
    const typed = stripped[2]!;
    const colon = /^("[^"]*"|'[^']*'|[^\s:#][^:#]*?)\s*:(?:\s+|$)/.exec(typed);
    // The parents: lines above that stand less far in.
    const path: Path = [];
    let limit = stripped[1]!.includes("-") ? stripped[1]!.indexOf("-") : indent;
    const steps: Path = [];
    if (stripped[1]!.includes("-")) {
        steps.unshift(0);
    }
    const above = text.slice(0, line_from).split("\n").slice(0, -1);
    for (let index = above.length - 1; index >= 0 && (limit > 0 || steps[0] === 0); index--) {
        const line = above[index]!;
        if (/^\s*(#|$)/.test(line)) {
            continue;
        }
        const match = /^(\s*)((?:- +)*)(.*)$/.exec(line)!;
        const outer = match[1]!.length;
        const inner = outer + match[2]!.length;
        const key = /^("[^"]*"|'[^']*'|[^\s:#][^:#]*?)\s*:(?:\s|$)/.exec(match[3]!);
        const in_list = steps[0] === 0;
        if (key && (inner < limit || (in_list && inner <= limit && !match[2]))) {
            steps.unshift(unquoted(key[1]!));
            limit = inner;
        }
        if (match[2] && outer < limit) {
            steps.unshift(0);
            limit = outer;
        }
        if (limit === 0 && steps[0] !== 0) {
            break;
        }
    }
    path.push(...steps);
    const node = find(tree, path);
    const existing = new Set(node?.entries.map((entry) => entry.key) ?? []);
    if (colon) {
        const from = line_from + indent + colon[0].length;
        return { path, key: unquoted(colon[1]!), from: Math.min(from, at), existing, flow: false };
    }
    return { path, key: null, from: line_from + indent, existing, flow: false };
}

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

// The change of the text that gives a path a value, which may be new there; comments and all else stay.
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

// The change that takes a setting out of the text.
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
