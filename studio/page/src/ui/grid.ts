// SPDX-License-Identifier: Apache-2.0
// A table of any length: rows are fetched page by page while one scrolls, and only visible rows are in the document.
import { was_aborted } from "../core/api";
import { fill, h, on_resize, type Child, type Scope } from "../core/dom";
import { t } from "../i18n/text";
import { problem_text } from "./parts";

export interface GridColumn<Row> {
    name: string;
    title: string;
    help?: string;
    width?: number; // px that its content wants
    fixed?: boolean; // it keeps this width where the grid is narrow
    minor?: boolean; // a very narrow grid, as on a telephone, leaves it out
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
    follow?: boolean; // arrow keys open the row that they reach; otherwise Enter opens it
    sort?: { column: string; descending: boolean };
    on_sort?: (column: string, descending: boolean) => void;
    height?: string;
    empty?: string;
}

const row_px = 29;
const head_px = 31;
const column_px = 72; // a narrow grid shrinks its columns to this at least
const telephone_px = 560; // a grid narrower than this shows no minor columns
const page_rows = 200;
const space_max_px = 12_000_000; // browsers lose precision, and then rows, beyond about 30 million

export interface Grid {
    element: HTMLElement;
    reload: () => void;
    refresh: () => void; // fetches again without leaving the place
    select: (index: number) => void;
}

class RowGrid<Row> implements Grid {
    readonly element: HTMLElement;
    private readonly pages = new Map<number, Row[] | "waiting">();
    private readonly head = h("div", { class: "grid-head", role: "row" });
    private readonly space = h("div", { class: "grid-space", role: "rowgroup" });
    private readonly status = h("div", { class: "loading", role: "status" });
    private readonly box: HTMLElement;
    private readonly every_column: GridColumn<Row>[];
    private readonly chosen_widths = new Map<string, number>(); // by the user's hand
    private columns: GridColumn<Row>[]; // those that are shown
    private wanted: number[] = []; // widths by content, or by the user's hand
    private widths: number[] = []; // widths as drawn
    private control = new AbortController();
    private total = -1; // not known yet
    private chosen = -1;
    private fault = "";

    constructor(
        scope: Scope,
        private readonly options: GridOptions<Row>,
    ) {
        this.every_column = options.columns;
        this.columns = options.columns;
        const attributes = {
            class: "grid",
            role: "table",
            tabindex: 0,
            "aria-label": options.label,
            style: { "max-height": options.height ?? "60vh" },
        };
        const sticky = { position: "sticky", top: "0", "z-index": "2" };
        this.box = h("div", attributes, h("div", { role: "rowgroup", style: sticky }, this.head), this.space);
        this.element = h("div", null, this.box, this.status);
        scope.on_end(() => this.control.abort());
        this.box.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
        this.box.addEventListener("keydown", (event) => this.key_pressed(event));
        on_resize(scope, this.element, () => this.fit());
        this.reload();
    }

    reload(): void {
        this.control.abort();
        this.control = new AbortController();
        this.pages.clear();
        this.total = -1;
        this.chosen = -1;
        this.fault = "";
        this.box.scrollTop = 0;
        this.fit();
        this.fetch_page(0);
    }

    // Shares the width of the grid among its columns: what exceeds it is taken from the widest ones.
    private fit(): void {
        const room = this.element.clientWidth - 12; // a scroll bar
        const narrow = room > 0 && room < telephone_px && this.every_column.some((column) => column.minor);
        this.columns = this.every_column.filter((column) => !narrow || !column.minor);
        this.wanted = this.columns.map((column) => this.chosen_widths.get(column.name) ?? column.width ?? 130);
        const sum = (widths: number[]) => widths.reduce((total, width) => total + width, 0);
        const least = this.columns.map((column, index) =>
            column.fixed ? this.wanted[index]! : Math.min(this.wanted[index]!, column_px),
        );
        const spare = sum(this.wanted) - sum(least);
        const share = spare > 0 ? Math.min(Math.max((room - sum(least)) / spare, 0), 1) : 1;
        this.widths = this.wanted.map((width, index) => Math.floor(least[index]! + (width - least[index]!) * share));
        this.draw_head();
        this.draw();
    }

    // Lets the user set the width of a column with the mouse, or with arrow keys while its edge has the focus.
    private edge(index: number): HTMLElement {
        const column = this.columns[index]!;
        const set = (width: number) => {
            this.chosen_widths.set(column.name, Math.max(40, Math.min(width, 1200)));
            column.fixed = true;
            this.fit();
        };
        const grab = (down: PointerEvent) => {
            down.preventDefault();
            const from = this.widths[index]!;
            const move = (event: PointerEvent) => set(from + event.clientX - down.clientX);
            const end = () => {
                window.removeEventListener("pointermove", move);
                window.removeEventListener("pointerup", end);
            };
            window.addEventListener("pointermove", move);
            window.addEventListener("pointerup", end);
        };
        return h("span", { class: "edge", title: t().common.column_edge, on: { pointerdown: grab } });
    }

    // Keeps the known pages until the new first one is here.
    refresh(): void {
        const { signal } = this.control;
        this.options.fetch(0, page_rows, signal).then(
            (answer) => {
                if (!signal.aborted) {
                    this.pages.clear();
                    this.pages.set(0, answer.rows);
                    this.total = answer.total;
                    this.draw();
                }
            },
            () => undefined,
        );
    }

    select(index: number): void {
        this.chosen = index;
        this.show(index);
        this.draw();
    }

    private at(index: number): Row | undefined {
        const page = this.pages.get(Math.floor(index / page_rows));
        return Array.isArray(page) ? page[index % page_rows] : undefined;
    }

    private fetch_page(page: number): void {
        if (this.pages.has(page)) {
            return;
        }
        this.pages.set(page, "waiting");
        const { signal } = this.control;
        this.options.fetch(page * page_rows, page_rows, signal).then(
            (answer) => {
                if (!signal.aborted) {
                    this.pages.set(page, answer.rows);
                    this.total = answer.total;
                    this.fault = "";
                    this.draw();
                }
            },
            (error: unknown) => {
                if (!was_aborted(error) && !signal.aborted) {
                    this.pages.delete(page);
                    this.fault = problem_text(error);
                    this.total = Math.max(this.total, 0);
                    this.draw();
                }
            },
        );
    }

    // Returns the height of all rows. Beyond space_max_px the scroll bar stands for more rows than its pixels.
    private full_px(): number {
        return Math.max(this.total, 0) * row_px;
    }

    private space_px(): number {
        return Math.min(this.full_px(), space_max_px);
    }

    private first_row(): number {
        const { box } = this;
        if (this.full_px() <= space_max_px) {
            return Math.floor(box.scrollTop / row_px);
        }
        const room = box.clientHeight - head_px;
        const scrollable = Math.max(this.space_px() - room, 1);
        return Math.floor((Math.min(box.scrollTop / scrollable, 1) * (this.full_px() - room)) / row_px);
    }

    private draw_head(): void {
        fill(
            this.head,
            this.columns.map((column, index) => this.head_cell(column, index)),
        );
    }

    private head_cell(column: GridColumn<Row>, index: number): HTMLElement {
        const { sort, on_sort } = this.options;
        const sorted = sort?.column === column.name;
        const descending = sorted && sort?.descending === true;
        const text = `${column.title}${sorted ? (descending ? " ↓" : " ↑") : ""}`;
        const title = [column.title, column.help].filter(Boolean).join(": ");
        const click = () => on_sort?.(column.name, !descending);
        const button = h("button", { type: "button", title, on: { click } }, text);
        return h(
            "div",
            {
                class: `cell ${column.right ? "right" : ""}`,
                role: "columnheader",
                style: { width: `${this.widths[index]}px` },
                "aria-sort": sorted ? (descending ? "descending" : "ascending") : undefined,
            },
            column.sortable && on_sort ? button : h("span", { class: "title", title }, text),
            this.edge(index),
        );
    }

    private draw(): void {
        const { box, space, status, total, fault } = this;
        if (total < 0) {
            fill(status, h("span", { class: "spinner" }), t().common.loading);
            status.hidden = false;
            box.hidden = true;
            return;
        }
        status.hidden = total > 0 && !fault;
        fill(status, fault || this.options.empty || t().common.nothing_found);
        status.classList.toggle("fault", !!fault);
        box.hidden = total === 0;
        box.setAttribute("aria-rowcount", String(total + 1));
        space.style.height = `${this.space_px()}px`;
        space.style.width = `${this.widths.reduce((sum, width) => sum + width, 0)}px`;
        const first = this.first_row();
        const last = Math.min(first + Math.ceil(box.clientHeight / row_px) + 2, total);
        const offset_px = this.full_px() <= space_max_px ? first * row_px : box.scrollTop;
        const rows: HTMLElement[] = [];
        for (let index = first; index < last; index++) {
            this.fetch_page(Math.floor(index / page_rows));
            rows.push(this.row(index, offset_px + (index - first) * row_px));
        }
        fill(space, rows);
    }

    private row(index: number, top_px: number): HTMLElement {
        const row = this.at(index);
        const classes = [
            "grid-row",
            index % 2 && "odd",
            this.options.open && "can",
            index === this.chosen && "now",
            row === undefined && "waiting",
        ];
        const click = () => {
            if (window.getSelection()?.toString() === "") {
                this.choose(index);
            }
        };
        return h(
            "div",
            {
                class: classes.filter(Boolean).join(" "),
                role: "row",
                "aria-rowindex": index + 2,
                style: { top: `${top_px}px`, height: `${row_px}px` },
                on: { click },
            },
            this.columns.map((column, position) => this.cell(column, position, row)),
        );
    }

    private cell(column: GridColumn<Row>, position: number, row: Row | undefined): HTMLElement {
        const waiting = position === 0 ? "…" : "";
        const content = row === undefined ? waiting : column.cell(row);
        return h(
            "div",
            {
                class: `cell ${column.right ? "right" : ""}`,
                role: "cell",
                style: { width: `${this.widths[position]}px` },
                title: typeof content === "string" && content.length > 14 ? content : undefined,
            },
            content,
        );
    }

    private choose(index: number): void {
        const row = this.at(index);
        if (this.options.open && row !== undefined) {
            this.chosen = index;
            this.options.open(row, index);
            this.draw();
        }
    }

    // Scrolls to a row that cannot be seen.
    private show(index: number): void {
        const { box } = this;
        const room = box.clientHeight - 40;
        const first = this.first_row();
        if (index < first || index >= first + Math.floor(room / row_px)) {
            const share = index / Math.max(this.total - 1, 1);
            const exact = this.full_px() <= space_max_px;
            box.scrollTop = exact ? Math.max(0, index * row_px - room / 3) : share * this.space_px();
        }
    }

    private key_pressed(event: KeyboardEvent): void {
        const { open, follow } = this.options;
        if (!open || event.target !== this.box || this.total < 1) {
            return;
        }
        if (event.key === "Enter" && this.chosen >= 0) {
            event.preventDefault();
            this.choose(this.chosen);
            return;
        }
        const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 };
        const step = event.key === "Home" ? -this.total : event.key === "End" ? this.total : steps[event.key];
        if (step !== undefined) {
            event.preventDefault();
            const next = Math.max(0, Math.min(this.total - 1, this.chosen + step));
            this.select(next);
            if (follow) {
                this.choose(next);
            }
        }
    }
}

export function grid<Row>(scope: Scope, options: GridOptions<Row>): Grid {
    return new RowGrid(scope, options);
}
