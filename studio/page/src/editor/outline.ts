// SPDX-License-Identifier: Apache-2.0
// A scenario as a tree with positions, made by the yaml package from a text that is being typed.
//
// Nothing here throws: a part that cannot be understood becomes a scalar or is left out. The program checks
// scenarios; this tree serves completion, help and the form.
import {
    isMap,
    isScalar,
    isSeq,
    parseDocument,
    type Node,
    type Pair,
    type Scalar,
    type YAMLMap,
    type YAMLSeq,
} from "yaml";

export interface Entry {
    key: string;
    from: number; // start of the key
    key_to: number;
    to: number;
    value: Value;
}

export interface Value {
    kind: "map" | "list" | "scalar" | "empty";
    flow: boolean; // written with {} or []
    from: number;
    to: number;
    indent: number; // column of a map's keys or of a list's dashes
    text: string; // of a scalar, without quotes
    entries: Entry[];
    items: Value[];
}

export type Path = (string | number)[];

// Name patterns such as host[0,4-7] and spine*, and expressions such as $(min(8, gpus)), stand without quotes in
// scenarios, although [ ] , and * structure YAML. As in world/yaml/name_patterns.c, private characters replace them
// before parsing. Positions stay the same.
const plain = "*[],";
const shields = "\ue000\ue001\ue002\ue003";

function shielded(text: string): string {
    const shield = (part: string) => part.replace(/[*[\],]/g, (one) => shields[plain.indexOf(one)]!);
    return text
        .replace(/\$\((?:[^()\n]|\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\))*\)/g, shield)
        .replace(
            /([\w*?\ue010])(\[[\w*?,\->\ue010]*\])/g,
            (_, before: string, bracket: string) => before + shield(bracket),
        )
        .replace(/([\w*?\ue010])\[/g, (_, before: string) => before + shield("["))
        .replaceAll("*", shield);
}

function unshielded(text: string): string {
    return text.replace(/[\ue000-\ue003]/g, (one) => plain[shields.indexOf(one)]!);
}

function made(kind: Value["kind"], from: number, to: number, flow = false): Value {
    return { kind, from, to, indent: 0, flow, text: "", entries: [], items: [] };
}

function column(text: string, at: number): number {
    return at - (text.lastIndexOf("\n", at - 1) + 1);
}

function scalar_of(node: Scalar, text: string): Value {
    const [from, end] = node.range!;
    const to = from + text.slice(from, end).trimEnd().length;
    const value = made(to > from ? "scalar" : "empty", from, to);
    value.text = unshielded(String(node.value ?? ""));
    return value;
}

function entry_of(pair: Pair<Node, Node | null>, text: string): Entry {
    const [from, key_to] = pair.key.range!;
    const key = unshielded(isScalar(pair.key) ? String(pair.key.value ?? "") : text.slice(from, key_to));
    const colon = /^\s*:/.exec(text.slice(key_to));
    const colon_to = key_to + (colon?.[0].length ?? 0);
    const value = pair.value ? value_of(pair.value, text) : made("empty", colon_to, colon_to);
    if (value.kind === "empty") {
        value.from = value.to = colon_to;
    }
    return { key, from, key_to, to: Math.max(value.to, colon_to), value };
}

function map_of(node: YAMLMap<Node, Node | null>, text: string): Value {
    const [from, to] = node.range!;
    const value = made("map", from, to, node.flow);
    value.entries = node.items.filter((pair) => pair.key?.range).map((pair) => entry_of(pair, text));
    const first = value.entries[0];
    if (!node.flow && first) {
        value.from = first.from;
        value.to = value.entries[value.entries.length - 1]!.to;
        value.indent = column(text, first.from);
    }
    return value;
}

function list_of(node: YAMLSeq<Node | null>, text: string): Value {
    const [from, to] = node.range!;
    const value = made("list", from, to, node.flow);
    value.items = node.items.filter((item) => item?.range).map((item) => value_of(item!, text));
    const first = value.items[0];
    if (!node.flow && first) {
        value.from = Math.max(text.lastIndexOf("-", first.from - 1), 0);
        value.to = value.items[value.items.length - 1]!.to;
        value.indent = column(text, value.from);
    }
    return value;
}

function value_of(node: Node, text: string): Value {
    if (isMap<Node, Node | null>(node)) {
        return map_of(node, text);
    }
    if (isSeq<Node | null>(node)) {
        return list_of(node, text);
    }
    return scalar_of(node as Scalar, text);
}

// Returns the tree of a scenario's text. All scalars are text: the program knows their types.
export function outline(text: string): Value {
    const document = parseDocument<Node>(shielded(text), {
        schema: "failsafe",
        strict: false,
        uniqueKeys: false,
        logLevel: "silent",
    });
    return document.contents?.range ? value_of(document.contents, text) : made("empty", text.length, text.length);
}

// Returns the value at a path of keys and indices, or null.
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
