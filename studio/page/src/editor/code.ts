// SPDX-License-Identifier: Apache-2.0
// The text editor: CodeMirror in a shadow root, which may have its own styles although the page forbids inline ones.
import {
    autocompletion,
    closeBrackets,
    closeBracketsKeymap,
    completionKeymap,
    type Completion,
    type CompletionContext,
    type CompletionResult,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { sql, SQLite } from "@codemirror/lang-sql";
import {
    bracketMatching,
    HighlightStyle,
    indentOnInput,
    indentUnit,
    StreamLanguage,
    syntaxHighlighting,
} from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import {
    drawSelection,
    EditorView,
    highlightActiveLine,
    highlightActiveLineGutter,
    hoverTooltip,
    keymap,
    lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { h, type Scope } from "../core/dom";
import { t, told } from "../i18n/text";
import type { Change } from "./change";
import { range_text, units_of, type Parameters } from "./parameters";
import { attribute_path, place_at } from "./place";

// Colours keys, values with units and name patterns in the YAML of scenarios.
const scenario_language = StreamLanguage.define<{ quote: string }>({
    name: "scenario",
    startState: () => ({ quote: "" }),
    token(stream) {
        if (stream.eatSpace()) {
            return null;
        }
        const before = stream.pos === 0 ? " " : stream.string[stream.pos - 1]!;
        if (stream.peek() === "#" && /\s/.test(before)) {
            stream.skipToEnd();
            return "comment";
        }
        if (stream.match(/^"(?:[^"\\]|\\.)*"?(?=\s*:(?:\s|$))/) || stream.match(/^[\w.*?[\]\-/>#]+(?=\s*:(?:\s|$))/)) {
            return "propertyName";
        }
        if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'[^']*'?/)) {
            return "string";
        }
        if (stream.match(/^-(?=\s|$)/) || stream.match(/^[{}[\],:]/)) {
            return "punctuation";
        }
        if (stream.match(/^-?\d[\d.]*(?:e-?\d+)?(?:\/\d+|%|[KMGT]?i?B|[KMGT]?bps|[pnum]?s)?(?=[\s,}\]]|$)/)) {
            return "number";
        }
        if (stream.match(/^(?:true|false|on|off|yes|no|auto|never|null)(?=[\s,}\]]|$)/)) {
            return "bool";
        }
        stream.match(/^[^\s,{}\]:]+/) || stream.next();
        return "string";
    },
    languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["[", "{", '"'] } },
});

const colors = HighlightStyle.define([
    { tag: tags.comment, color: "var(--ink-3)", fontStyle: "italic" },
    { tag: [tags.propertyName, tags.keyword], color: "var(--accent)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
    { tag: tags.string, color: "var(--good)" },
    { tag: tags.punctuation, color: "var(--ink-3)" },
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
    ".cm-lintRange-error": {
        backgroundImage: "none",
        textDecoration: "underline wavy var(--bad)",
        textUnderlineOffset: "3px",
    },
    ".cm-lintRange-warning": {
        backgroundImage: "none",
        textDecoration: "underline wavy var(--warn)",
        textUnderlineOffset: "3px",
    },
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

// Offers the user's own files as values of texts, and otherwise the names and values of attributes.
function complete_scenario(known: Parameters, files: string[], context: CompletionContext): CompletionResult | null {
    const text = context.state.doc.toString();
    const place = place_at(text, context.pos);
    if (!place) {
        return null;
    }
    const typed = text.slice(place.from, context.pos);
    if (!context.explicit && typed === "" && place.key === null) {
        return null;
    }
    const words = t().editor.range;
    const holder = attribute_path(place.path);
    if (place.key !== null) {
        const parameter = known.get(attribute_path([...place.path, place.key]));
        if (!parameter) {
            return null;
        }
        const options: Completion[] = [];
        const info = () => about(parameter.path, parameter.help, range_text(parameter, words));
        const numeric = /^-?[\d.]+$/.exec(typed)?.[0];
        for (const unit of numeric ? units_of(parameter.type) : []) {
            options.push({ label: `${numeric}${unit}`, type: "constant", info });
        }
        for (const choice of parameter.choices ?? (parameter.type === "bool" ? ["true", "false"] : [])) {
            options.push({
                label: choice,
                type: "enum",
                info,
                detail: choice === parameter.default ? words.default : undefined,
            });
        }
        if (parameter.default !== "" && !parameter.choices && parameter.type !== "bool") {
            options.push({ label: parameter.default, type: "constant", detail: words.default, info });
        }
        if (parameter.auto && parameter.default !== "auto") {
            options.push({ label: "auto", type: "constant", info });
        }
        for (const name of parameter.type === "string" && !parameter.choices ? files : []) {
            const apply = /^[\w./-]+$/.test(name) ? name : JSON.stringify(name);
            options.push({ label: name, apply, type: "variable", detail: t().files.my_file, info });
        }
        return options.length > 0 ? { from: place.from, options, validFor: /^[\w.\-/%]*$/ } : null;
    }
    const top = place.path.length === 0;
    const names = known.names_in(holder);
    if (top) {
        names.push("nodes", "parameters");
    } else if (place.path[0] === "nodes" && place.path.length === 2) {
        names.splice(0, names.length, "switch", "nic");
    }
    const options = [...new Set(names)]
        .filter((name) => !place.existing.has(name) || name === typed)
        .map((name): Completion => {
            const path = holder ? `${holder}.${name}` : name;
            const parameter = known.get(path);
            const help =
                parameter?.help ??
                t().editor.sections[path as keyof ReturnType<typeof t>["editor"]["sections"]] ??
                t().editor.settings(known.count_in(path));
            return {
                label: name,
                type: parameter ? "property" : "namespace",
                detail: parameter ? parameter.type : "…",
                info: () => about(path, help, parameter ? range_text(parameter, words) : ""),
                apply: `${name}: `,
            };
        });
    return options.length > 0 ? { from: place.from, options, validFor: /^[\w.-]*$/ } : null;
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
            const word = view.state.wordAt(at);
            let from = word?.from ?? at;
            let to = word?.to ?? at;
            while (from > line.from && /[\w-]/.test(text[from - 1]!)) {
                from--;
            }
            while (to < line.to && /[\w-]/.test(text[to]!)) {
                to++;
            }
            name = text.slice(from, to);
        }
        const parameter = known.get(attribute_path([...place.path, name]));
        return parameter
            ? {
                  pos: at,
                  create: () => ({
                      dom: about(parameter.path, parameter.help, range_text(parameter, t().editor.range)),
                  }),
              }
            : null;
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
        return [sql({ dialect: SQLite, schema: language.tables, upperCaseKeywords: false }), autocompletion()];
    }
    const { parameters, files } = language;
    const complete = (context: CompletionContext) => complete_scenario(parameters, files, context);
    return [
        scenario_language,
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
    // Tab indents; Escape and then Tab leaves the editor, as the help sheet says.
    const keys = [
        ...closeBracketsKeymap,
        ...defaultKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...completionKeymap,
        ...lintKeymap,
        indentWithTab,
    ];
    return [
        keymap.of([{ key: "Mod-Enter", run }]),
        lineNumbers(),
        highlightActiveLineGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of("  "),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        syntaxHighlighting(colors),
        keymap.of(keys),
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
