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

export function set_language(chosen: Language): void {
    language = chosen;
    remember("language", chosen);
}

// Returns a text of the program in the language of the page.
export function told(text: string): string {
    return text;
}
