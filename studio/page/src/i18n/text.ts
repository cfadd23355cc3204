// SPDX-License-Identifier: Apache-2.0
// The texts of the page and of the program in the language of the page.
import { recall, remember, type Language } from "../core/settings";
import type { Both } from "./both";
import { run_texts } from "./run_texts";
import { shell_texts } from "./shell_texts";
import study_names from "./study_names.json";
import { work_texts } from "./work_texts";

const texts = (of: Both) => ({ ...shell_texts(of), ...work_texts(of), ...run_texts(of) });
type Dictionary = ReturnType<typeof texts>;

const dictionaries: Record<Language, Dictionary> = {
    en: texts(<Text>(en: Text) => en),
    zh: texts(<Text>(_: Text, zh: Text) => zh),
};
let language = recall<Language>("language", navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
if (!(language in dictionaries)) {
    language = "en";
}

export function t(): Dictionary {
    return dictionaries[language];
}

export function the_language(): Language {
    return language;
}

export async function set_language(chosen: Language): Promise<void> {
    language = chosen;
    remember("language", chosen);
    await load_catalogue();
}

// Returns the readable name of a column or a parameter of studies, by its name in files.
export function study_name(kind: keyof typeof study_names, name: string): string | undefined {
    const known: Record<string, string[]> = study_names[kind];
    return known[name]?.[language === "zh" ? 1 : 0];
}

// -- texts of the program

interface Pattern {
    known: RegExp;
    text: string;
}

let whole = new Map<string, string>(); // empty in English
let patterns: Pattern[] = [];
let field_names: Record<string, string> = {};

function escaped(text: string): string {
    return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

// Loads the texts of the program in the language of the page, before anything is shown. In the catalogue, {} stands for
// a value of an English sentence, and {1} for its first value in the Chinese one. The pattern with the most words of
// its own wins, after those that only begin a sentence: "no figure: {}".
export async function load_catalogue(): Promise<void> {
    const chinese = language === "zh";
    const texts: Record<string, string> = chinese ? (await import("./told_zh.json")).default : {};
    whole = new Map(Object.entries(texts));
    field_names = chinese ? (await import("./names_zh.json")).default : {};
    const words = (english: string) =>
        english.replaceAll("{}", "").length + 1e6 * Number(/^[^{].*: \{\}$/.test(english));
    patterns = [...whole]
        .filter(([english]) => english.includes("{}"))
        .sort(([one], [other]) => words(other) - words(one))
        .map(([english, text]) => ({ known: new RegExp(`^${english.split("{}").map(escaped).join("(.*?)")}$`), text }));
}

// Returns whether a part of a sentence is a value: a name, a number with its unit, or a list of them.
function is_value(text: string): boolean {
    const few = (item: string) => item.split(" ").length < 3 || /^(rocesim |\[|\d)/.test(item);
    return !text.startsWith("not ") && text.split(",").every((item) => few(item.trim()));
}

// Returns a sentence in the language of the page; null: the catalogue lacks it, or a part of it that is no value.
function find(text: string): string | null {
    const known = whole.get(text);
    if (known !== undefined || patterns.length === 0) {
        return known ?? null;
    }
    for (const pattern of patterns) {
        const found = pattern.known.exec(text);
        const parts = found?.slice(1).map((part) => find(part) ?? (is_value(part) ? part : null));
        if (parts?.every((part) => part !== null)) {
            return pattern.text.replace(/\{(\d+)\}/g, (_, slot) => parts[Number(slot) - 1] ?? "");
        }
    }
    return null;
}

// Returns a sentence of the program in the language of the page. Sentences are found in the catalogue by their words,
// with any values between them; a value may be a text of the catalogue, too. A text that is not there stays English.
export function told(text: string): string {
    const found = find(text);
    if (found !== null) {
        return found;
    }
    const pattern = patterns.find(({ known }) => known.test(text));
    const parts = pattern?.known.exec(text) ?? [];
    return pattern?.text.replace(/\{(\d+)\}/g, (_, slot) => told(parts[Number(slot)] ?? "")) ?? text;
}

// Returns the readable name of a field in the language of the page. Such names are no texts of the catalogue, since
// sentences contain the same words as names of attributes.
export function told_name(name: string): string {
    return field_names[name] ?? name;
}
