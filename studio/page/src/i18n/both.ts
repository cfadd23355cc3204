// SPDX-License-Identifier: Apache-2.0
// The two languages of a text stand beside each other. A missing one does not compile.

// Returns the text in the language of the page: the first in English, the second in Chinese.
export interface Both {
    (en: string, zh: string): string;
    <Text>(en: Text, zh: NoInfer<Text>): Text;
}

export const plural = (n: number, one: string, many = `${one}s`) =>
    `${n.toLocaleString("en-GB")} ${n === 1 ? one : many}`;

export const n_of = (n: number) => n.toLocaleString("zh-CN");
