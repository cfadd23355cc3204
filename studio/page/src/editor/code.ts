// SPDX-License-Identifier: Apache-2.0
// The text editor: CodeMirror in a shadow root, which may have its own styles although the page forbids inline ones.
import {
    autocompletion,
    type Completion,
    type CompletionContext,
    type CompletionResult,
} from "@codemirror/autocomplete";
import { indentWithTab } from "@codemirror/commands";
import { sql, SQLite } from "@codemirror/lang-sql";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, hoverTooltip, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";
import { h, type Scope } from "../core/dom";
import type { Parameter } from "../core/types";
import { t, told } from "../i18n/text";
import type { Change } from "./change";
import { range_text, units_of, type Parameters } from "./parameters";
import { attribute_path, place_at, type Place } from "./place";

const colors = HighlightStyle.define([
    { tag: tags.comment, color: "var(--ink-3)", fontStyle: "italic" },
    { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.keyword], color: "var(--accent)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
    { tag: [tags.string, tags.content], color: "var(--good)" },
    { tag: [tags.punctuation, tags.separator], color: "var(--ink-3)" },
]);

const theme = EditorView.theme({
    "&": { height: "100%", fontSize: "13px", backgroundColor: "var(--surface)", color: "var(--ink)" },
    "&.cm-focused": { outline: "none" },
    ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
    ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
    ".cm-cursor": { borderLeftColor: "var(--ink)" },
    ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--ink-3)", border: "none" },
    ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
        backgroundColor: "color-mix(in srgb, var(--accent) 24%, transparent)",
    },
    ".cm-tooltip": {
        backgroundColor: "var(--surface)",
        color: "var(--ink)",
        border: "1px solid var(--line)",
        borderRadius: "6px",
        boxShadow: "var(--shadow)",
        maxWidth: "480px",
    },
    ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--accent-ink)" },
    ".cm-completionDetail": { color: "var(--ink-3)", fontStyle: "normal", fontSize: "12px" },
    "li[aria-selected] .cm-completionDetail": { color: "inherit" },
    ".cm-completionInfo": { padding: "8px 12px", fontFamily: "var(--sans)", lineHeight: "1.5", maxWidth: "360px" },
    ".about": { padding: "8px 12px", fontFamily: "var(--sans)", lineHeight: "1.5" },
    ".about .range": { color: "var(--ink-3)", fontSize: "12px" },
    ".about .name": { fontFamily: "var(--mono)", fontWeight: "600" },
    ".cm-diagnostic": {
        padding: "6px 12px",
        fontFamily: "var(--sans)",
        borderLeftWidth: "4px",
        whiteSpace: "pre-wrap",
    },
    ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
    ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
    ".cm-lintRange": { backgroundImage: "none !important", textUnderlineOffset: "3px" },
    ".cm-lintRange-error": { textDecoration: "underline wavy var(--bad)" },
    ".cm-lintRange-warning": { textDecoration: "underline wavy var(--warn)" },
    ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--ink)" },
    ".cm-button": {
        backgroundImage: "none",
        backgroundColor: "var(--surface)",
        border: "1px solid var(--line-strong)",
        borderRadius: "4px",
    },
    ".cm-textfield": { backgroundColor: "var(--surface)", border: "1px solid var(--line-strong)", borderRadius: "4px" },
    ".cm-searchMatch": { backgroundColor: "var(--warn-soft)" },
    ".cm-searchMatch-selected, .cm-selectionMatch": {
        backgroundColor: "color-mix(in srgb, var(--warn) 30%, transparent)",
    },
    ".cm-matchingBracket": { backgroundColor: "color-mix(in srgb, var(--accent) 20%, transparent) !important" },
});

function about(name: string, help: string, range: string): HTMLElement {
    return h("div.about", h("div.name", name), h("div", told(help)), h("div.range", range));
}

// Offers what a value of an attribute may be: numbers with units, choices, the default, and the user's own files.
function values_of(parameter: Parameter, typed: string, files: string[]): Completion[] {
    const words = t().editor.range;
    const { path, help, type, default: usual, auto } = parameter;
    const info = () => about(path, help, range_text(parameter, words));
    const choices = parameter.choices ?? (type === "bool" ? ["true", "false"] : null);
    const listed = [...new Set([...(choices ?? [usual]), auto ? "auto" : ""])].filter(Boolean);
    const numeric = /^-?[\d.]+$/.exec(typed)?.[0];
    const own = type === "string" && !choices ? files : [];
    return [
        ...(numeric ? units_of(type) : []).map((unit) => ({ label: `${numeric}${unit}`, type: "constant", info })),
        ...listed.map((label) => {
            return { label, type: choices ? "enum" : "constant", info, detail: label === usual ? words.default : "" };
        }),
        ...own.map((label) => {
            const apply = /^[\w./-]+$/.test(label) ? label : JSON.stringify(label);
            return { label, apply, type: "variable", detail: t().files.my_file, info };
        }),
    ];
}

// Offers the names that may stand in a map.
function names_of(known: Parameters, { path, existing }: Place, typed: string): Completion[] {
    const holder = attribute_path(path);
    const more = path.length === 0 ? ["nodes", "parameters"] : [];
    const of_node = path[0] === "nodes" && path.length === 2;
    const names = new Set(of_node ? ["switch", "nic"] : [...known.names_in(holder), ...more]);
    const sections: Record<string, string> = t().editor.sections;
    return [...names]
        .filter((name) => !existing.has(name) || name === typed)
        .map((name): Completion => {
            const whole = holder ? `${holder}.${name}` : name;
            const parameter = known.get(whole);
            const help = parameter?.help ?? sections[whole] ?? t().editor.settings(known.count_in(whole));
            const range = parameter ? range_text(parameter, t().editor.range) : "";
            return {
                label: name,
                type: parameter ? "property" : "namespace",
                detail: parameter?.type ?? "…",
                info: () => about(whole, help, range),
                apply: `${name}: `,
            };
        });
}

function complete_scenario(known: Parameters, files: string[], context: CompletionContext): CompletionResult | null {
    const text = context.state.doc.toString();
    const place = place_at(text, context.pos);
    const typed = text.slice(place?.from, context.pos);
    if (!place || (!context.explicit && typed === "" && place.key === null)) {
        return null;
    }
    const parameter = place.key === null ? undefined : known.get(attribute_path([...place.path, place.key]));
    const values = parameter ? values_of(parameter, typed, files) : [];
    const options = place.key === null ? names_of(known, place, typed) : values;
    return options.length > 0 ? { from: place.from, options, validFor: /^[\w.\-/%]*$/ } : null;
}

function hover_help(known: Parameters): Extension {
    return hoverTooltip((view, at) => {
        const text = view.state.doc.toString();
        const line = view.state.doc.lineAt(at);
        const place = place_at(text, Math.min(at, line.to));
        if (!place) {
            return null;
        }
        let name = place.key;
        if (name === null) {
            const [before = ""] = /[\w-]*$/.exec(text.slice(line.from, at)) ?? [];
            const [after = ""] = /^[\w-]*/.exec(text.slice(at, line.to)) ?? [];
            name = before + after;
        }
        const parameter = known.get(attribute_path([...place.path, name]));
        if (!parameter) {
            return null;
        }
        const dom = about(parameter.path, parameter.help, range_text(parameter, t().editor.range));
        return { pos: at, create: () => ({ dom }) };
    });
}

interface Fault {
    line: number;
    column?: number;
    message: string;
    warning?: boolean;
}

export interface Editor {
    element: HTMLElement;
    text: () => string;
    set_text: (text: string) => void;
    apply: (change: Change) => void;
    show_faults: (faults: Fault[]) => void;
    go_to: (line: number, column?: number) => void;
    focus: () => void;
}

interface EditorOptions {
    text: string;
    label: string;
    change?: (text: string) => void;
    submit?: () => void;
    language:
        | { kind: "scenario"; parameters: Parameters; files: string[] }
        | { kind: "sql"; tables: Record<string, string[]> };
}

function of_language(language: EditorOptions["language"]): Extension[] {
    if (language.kind === "sql") {
        return [sql({ dialect: SQLite, schema: language.tables, upperCaseKeywords: false })];
    }
    const { parameters, files } = language;
    const complete = (context: CompletionContext) => complete_scenario(parameters, files, context);
    return [
        yaml(),
        lintGutter(),
        hover_help(parameters),
        autocompletion({ override: [complete], activateOnTyping: true }),
    ];
}

function extensions_of({ submit, change, label, language }: EditorOptions): Extension[] {
    const run = () => {
        submit?.();
        return submit !== undefined;
    };
    return [
        keymap.of([{ key: "Mod-Enter", run }]),
        basicSetup,
        keymap.of([indentWithTab]), // Escape and then Tab leaves the editor, as the help sheet says
        indentUnit.of("  "),
        syntaxHighlighting(colors),
        theme,
        of_language(language),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", spellcheck: "false" }),
        EditorView.lineWrapping,
        EditorView.updateListener.of((update) => {
            if (update.docChanged) {
                change?.(update.state.doc.toString());
            }
        }),
    ];
}

// Returns the offset of a line and column, which count from 1 and may be outside of the text.
function position({ state }: EditorView, line: number, column = 1): number {
    const found = state.doc.line(Math.max(1, Math.min(line, state.doc.lines)));
    return Math.min(found.from + Math.max(column, 1) - 1, found.to);
}

// Marks the word at the fault, or else its whole line.
function diagnostic(view: EditorView, fault: Fault): Diagnostic {
    const from = position(view, fault.line, fault.column);
    const line = view.state.doc.lineAt(from);
    const word = /^[^\s,:{}[\]]+/.exec(line.text.slice(from - line.from));
    const to = word ? from + word[0].length : line.to;
    return {
        from: to > from ? from : line.from,
        to: Math.max(to, Math.min(from + 1, line.to)),
        severity: fault.warning ? "warning" : "error",
        message: told(fault.message),
    };
}

export function editor(scope: Scope, options: EditorOptions): Editor {
    const host = h("div.editor");
    const shadow = host.attachShadow({ mode: "open" });
    const place = h("div", { style: { height: "100%" } });
    shadow.append(place);
    const state = EditorState.create({ doc: options.text, extensions: extensions_of(options) });
    const view = new EditorView({ root: shadow, parent: place, state });
    scope.on_end(() => view.destroy());
    return {
        element: host,
        text: () => view.state.doc.toString(),
        set_text: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
        apply: (change) => view.dispatch({ changes: change, userEvent: "input" }),
        show_faults: (faults) => {
            const all = faults.map((fault) => diagnostic(view, fault)).sort((one, other) => one.from - other.from);
            view.dispatch(setDiagnostics(view.state, all));
        },
        go_to: (line, column) => {
            const at = position(view, line, column);
            view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
            view.focus();
        },
        focus: () => view.focus(),
    };
}
