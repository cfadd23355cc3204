// SPDX-License-Identifier: Apache-2.0
// A table of any length: rows are fetched by pages as one scrolls, and only those one sees are in the page.
import { was_aborted } from "../core/api";
import { h, on_resize, type Child, type Scope } from "../core/dom";
import { t } from "../i18n/text";
import { problem_text } from "./parts";

export interface GridColumn<Row> {
    name: string;
    title: string;
    help?: string;
    width?: number;
    right?: boolean;
    sortable?: boolean;
    cell: (row: Row) => Child;
}

export interface GridPage<Row> {
    rows: Row[];
    total: number;
}

export interface GridOptions<Row> {
    label: string;
    columns: GridColumn<Row>[];
    fetch: (offset: number, limit: number, signal: AbortSignal) => Promise<GridPage<Row>>;
    open?: (row: Row, index: number) => void;
    sort?: { column: string; descending: boolean };
    on_sort?: (column: string, descending: boolean) => void;
    height?: string;
    empty?: string;
}

const row_px = 29;
const page_rows = 200;
const space_max_px = 12_000_000; // browsers lose precision, and then rows, beyond about 30 million

export interface Grid<Row> {
    element: HTMLElement;
    reload: () => void;
    refresh: () => void; // fetches again without leaving the place
    select: (index: number) => void;
    row: (index: number) => Row | undefined;
}

export function grid<Row>(scope: Scope, options: GridOptions<Row>): Grid<Row> {
    const pages = new Map<number, Row[] | "waiting">();
    let total = -1;
    let control = new AbortController();
    let chosen = -1;
    let fault = "";
    scope.on_end(() => control.abort());

    const head = h("div", { class: "grid-head", role: "row" });
    const space = h("div", { class: "grid-space", role: "rowgroup" });
    const status = h("div", { class: "loading", role: "status" });
    const box = h(
        "div",
        {
            class: "grid",
            role: "table",
            tabindex: 0,
            "aria-label": options.label,
            style: { "max-height": options.height ?? "60vh" },
        },
        h("div", { role: "rowgroup", style: { position: "sticky", top: "0", "z-index": "2" } }, head),
        space,
    );
    const element = h("div", null, box, status);

    const widths = options.columns.map((column) => column.width ?? 130);
    const draw_head = () => {
        head.replaceChildren(
            ...options.columns.map((column, index) => {
                const sorted = options.sort?.column === column.name;
                const text = `${column.title}${sorted ? (options.sort?.descending ? " ↓" : " ↑") : ""}`;
                const title = [column.title, column.help].filter(Boolean).join(": ");
                return h(
                    "div",
                    {
                        class: `cell ${column.right ? "right" : ""}`,
                        role: "columnheader",
                        style: { width: `${widths[index]}px` },
                        "aria-sort": sorted ? (options.sort?.descending ? "descending" : "ascending") : undefined,
                    },
                    column.sortable && options.on_sort
                        ? h(
                              "button",
                              {
                                  type: "button",
                                  title,
                                  on: {
                                      click: () =>
                                          options.on_sort?.(column.name, sorted ? !options.sort?.descending : true),
                                  },
                              },
                              text,
                          )
                        : h("span", { class: "title", title }, text),
                );
            }),
        );
    };

    const at = (index: number): Row | undefined => {
        const page = pages.get(Math.floor(index / page_rows));
        return Array.isArray(page) ? page[index % page_rows] : undefined;
    };

    const fetch_page = (page: number) => {
        if (pages.has(page)) {
            return;
        }
        pages.set(page, "waiting");
        const { signal } = control;
        options.fetch(page * page_rows, page_rows, signal).then(
            (answer) => {
                if (!signal.aborted) {
                    pages.set(page, answer.rows);
                    total = answer.total;
                    fault = "";
                    draw();
                }
            },
            (error: unknown) => {
                if (!was_aborted(error) && !signal.aborted) {
                    pages.delete(page);
                    fault = problem_text(error);
                    total = Math.max(total, 0);
                    draw();
                }
            },
        );
    };

    // Beyond space_max_px the scroll bar stands for more rows than its pixels.
    const full_px = () => Math.max(total, 0) * row_px;
    const space_px = () => Math.min(full_px(), space_max_px);
    const first_row = () => {
        const room = box.clientHeight - 31;
        const scrollable = Math.max(space_px() - room, 1);
        return full_px() <= space_max_px
            ? Math.floor(box.scrollTop / row_px)
            : Math.floor((Math.min(box.scrollTop / scrollable, 1) * (full_px() - room)) / row_px);
    };

    const draw = () => {
        if (total < 0) {
            status.replaceChildren(h("span", { class: "spinner" }), t().common.loading);
            status.hidden = false;
            box.hidden = true;
            return;
        }
        status.hidden = total > 0 && !fault;
        status.replaceChildren(fault || options.empty || t().common.nothing_found);
        status.classList.toggle("fault", !!fault);
        box.hidden = total === 0;
        box.setAttribute("aria-rowcount", String(total + 1));
        space.style.height = `${space_px()}px`;
        space.style.width = `${widths.reduce((sum, width) => sum + width, 0)}px`;
        const first = first_row();
        const rows = Math.ceil(box.clientHeight / row_px) + 2;
        const made: HTMLElement[] = [];
        const offset_px = full_px() <= space_max_px ? first * row_px : box.scrollTop;
        for (let index = first; index < Math.min(first + rows, total); index++) {
            fetch_page(Math.floor(index / page_rows));
            const row = at(index);
            const here = index;
            made.push(
                h(
                    "div",
                    {
                        class: `grid-row ${index % 2 ? "odd" : ""} ${options.open ? "can" : ""} ${index === chosen ? "now" : ""} ${row === undefined ? "waiting" : ""}`,
                        role: "row",
                        "aria-rowindex": index + 2,
                        style: { top: `${offset_px + (index - first) * row_px}px`, height: `${row_px}px` },
                        on: {
                            click: () => {
                                if (window.getSelection()?.toString() === "") {
                                    choose(here);
                                }
                            },
                        },
                    },
                    options.columns.map((column, position) => {
                        const content = row === undefined ? (position === 0 ? "…" : "") : column.cell(row);
                        return h(
                            "div",
                            {
                                class: `cell ${column.right ? "right" : ""}`,
                                role: "cell",
                                style: { width: `${widths[position]}px` },
                                title: typeof content === "string" && content.length > 14 ? content : undefined,
                            },
                            content,
                        );
                    }),
                ),
            );
        }
        space.replaceChildren(...made);
    };

    const choose = (index: number) => {
        const row = at(index);
        if (options.open && row !== undefined) {
            chosen = index;
            options.open(row, index);
            draw();
        }
    };

    const show = (index: number) => {
        const room = box.clientHeight - 40;
        const first = first_row();
        if (index < first || index >= first + Math.floor(room / row_px)) {
            const share = index / Math.max(total - 1, 1);
            box.scrollTop = full_px() <= space_max_px ? Math.max(0, index * row_px - room / 3) : share * space_px();
        }
    };

    box.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
    box.addEventListener("keydown", (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
        if (step !== undefined && options.open) {
            event.preventDefault();
            const next = Math.max(0, Math.min(total - 1, chosen + step));
            show(next);
            choose(next);
        }
    });
    on_resize(scope, box, draw);

    const reload = () => {
        control.abort();
        control = new AbortController();
        pages.clear();
        total = -1;
        chosen = -1;
        fault = "";
        box.scrollTop = 0;
        draw_head();
        draw();
        fetch_page(0);
    };
    // The pages one has stay until the new first one is here.
    const refresh = () => {
        const { signal } = control;
        options.fetch(0, page_rows, signal).then(
            (answer) => {
                if (!signal.aborted) {
                    pages.clear();
                    pages.set(0, answer.rows);
                    total = answer.total;
                    draw();
                }
            },
            () => undefined,
        );
    };
    reload();
    return {
        element,
        reload,
        refresh,
        row: at,
        select: (index) => {
            chosen = index;
            show(index);
            draw();
        },
    };
}
