// SPDX-License-Identifier: Apache-2.0
// A short table that is completely in the page. grid.ts is for long ones.
import { h, type Child } from "../core/dom";

function cell(content: Child): HTMLElement {
    return content instanceof HTMLTableCellElement ? content : h("td", content);
}

// Makes a table with a head, which scrolls where the page is narrow. An empty title makes no column header. A cell
// that needs attributes is made as a <td> by the caller.
export function plain_table(head: Child[] | null, rows: Child[][], style = ""): HTMLElement {
    const titles = head?.map((title) => {
        if (title instanceof HTMLTableCellElement) {
            return title;
        }
        return title ? h("th", { scope: "col" }, title) : h("td");
    });
    return h(
        "div.scroll-x",
        { tabindex: 0 },
        h(
            "table",
            { class: `plain ${style}`.trim() },
            titles ? h("thead", h("tr", titles)) : null,
            h(
                "tbody",
                rows.map((row) => h("tr", row.map(cell))),
            ),
        ),
    );
}

// Makes a table whose rows have a name, and numbers at the right of it.
export function number_table(head: Child[], rows: [name: Child, ...numbers: Child[]][]): HTMLElement {
    const titles = head.map((title, at) => (at === 0 ? title : h("th.right", { scope: "col" }, title)));
    const cells = rows.map(([name, ...numbers]) => [
        h("th", { scope: "row" }, name),
        ...numbers.map((text) => h("td.right.nowrap", text)),
    ]);
    return plain_table(titles, cells);
}
