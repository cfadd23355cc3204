// SPDX-License-Identifier: Apache-2.0
// A list of values as one types it: commas between them, not those in [] or {} or quotes; 1..5 and 1-5 are ranges.

// Null: there is something that is no seed.
export function split_seeds(text: string): number[] | null {
    const values = split_values(text);
    return values.every((one) => /^\d+$/.test(one) && Number.isSafeInteger(Number(one))) ? values.map(Number) : null;
}

export function split_values(text: string): string[] {
    const found: string[] = [];
    let depth = 0;
    let quote = "";
    let word = "";
    for (const c of `${text},`) {
        if (quote) {
            quote = c === quote ? "" : quote;
        } else if (c === '"' || c === "'") {
            quote = c;
        } else if (c === "[" || c === "{") {
            depth++;
        } else if (c === "]" || c === "}") {
            depth--;
        } else if (c === "," && depth === 0) {
            const value = word.trim();
            const range = /^(\d+)\s*(?:\.\.|-)\s*(\d+)$/.exec(value);
            if (range && Number(range[2]) >= Number(range[1]) && Number(range[2]) - Number(range[1]) < 10000) {
                for (let number = Number(range[1]); number <= Number(range[2]); number++) {
                    found.push(String(number));
                }
            } else if (value) {
                found.push(value);
            }
            word = "";
            continue;
        }
        word += c;
    }
    return found;
}
