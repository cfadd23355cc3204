// SPDX-License-Identifier: Apache-2.0
// The texts of the page in two languages. Both have the same type, so that a missing text does not compile.
import { recall, remember, type Language } from "../core/settings";
import { en, type Dictionary } from "./en";
import { zh } from "./zh";

const dictionaries: Record<Language, Dictionary> = { en, zh };
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

// -- texts of the program

interface Pattern {
    known: RegExp;
    text: string;
}

let whole = new Map<string, string>(); // empty in English
let patterns: Pattern[] = [];

function escaped(text: string): string {
    return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

// Loads the texts of the program in the language of the page, before anything is shown. In the catalogue, {} stands for
// a value of an English sentence, and {1} for its first value in the Chinese one.
export async function load_catalogue(): Promise<void> {
    const texts: Record<string, string> = language === "zh" ? (await import("./told_zh.json")).default : {};
    whole = new Map(Object.entries(texts));
    patterns = [...whole]
        .filter(([english]) => english.includes("{}"))
        .map(([english, text]) => ({ known: new RegExp(`^${english.split("{}").map(escaped).join("(.*?)")}$`), text }));
}

// Returns a sentence of the program in the language of the page. Sentences are found in the catalogue by their words,
// with any values between them; a value may be a text of the catalogue, too. A text that is not there stays English.
export function told(text: string): string {
    const known = whole.get(text);
    if (known !== undefined) {
        return known;
    }
    for (const pattern of patterns) {
        const found = pattern.known.exec(text);
        if (found) {
            return pattern.text.replace(/\{(\d+)\}/g, (_, slot) => told(found[Number(slot)] ?? ""));
        }
    }
    return text;
}
