// SPDX-License-Identifier: Apache-2.0
// A table of any length. TanStack Table keeps the columns, their widths and the order, TanStack Virtual says which rows
// can be seen. Only those are in the document; rows of the server are fetched page by page while one scrolls.
import {
    columnResizingFeature,
    columnSizingFeature,
    columnVisibilityFeature,
    constructTable,
    createSortedRowModel,
    rowSortingFeature,
    sortFn_alphanumeric,
    sortFn_basic,
    tableFeatures,
    type ColumnDef,
    type Header,
    type Table,
} from "@tanstack/table-core";
import { storeReactivityBindings } from "@tanstack/table-core/store-reactivity-bindings";
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
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
    sortable?: boolean; // the server can sort by it
    value?: (row: Row) => unknown; // rows that are here are sorted by it
    cell: (row: Row) => Child;
}

export interface GridPage<Row> {
    rows: Row[];
    total: number;
}

export interface GridOptions<Row> {
    label: string;
    columns: GridColumn<Row>[];
    rows?: Row[]; // all of them, instead of fetch
    fetch?: (offset: number, limit: number, signal: AbortSignal) => Promise<GridPage<Row>>;
    open?: (row: Row, index: number) => void;
    follow?: boolean; // arrow keys open the row that they reach; otherwise Enter opens it
    on_sort?: (column: string, descending: boolean) => void; // "": in no order
    height?: string;
    empty?: string;
}

const row_px = 29;
const column_px = 72; // a narrow grid shrinks its columns to this at least
const least_px = 40; // the user can make a column as narrow as this
const step_px = 16; // of an arrow key that sets a width
const telephone_px = 560; // a grid narrower than this shows no minor columns
const page_rows = 200;
const places_max = 400_000; // browsers lose precision, and then rows, beyond about 30 million px

export interface Grid {
    element: HTMLElement;
    reload: () => void;
    refresh: () => void; // fetches again without leaving the place
    select: (index: number) => void;
}

interface Item {
    row: unknown;
}

const features = tableFeatures({
    coreReactivityFeature: storeReactivityBindings(),
    columnSizingFeature,
    columnResizingFeature,
    columnVisibilityFeature,
    rowSortingFeature,
    sortedRowModel: createSortedRowModel(),
    sortFns: { alphanumeric: sortFn_alphanumeric, basic: sortFn_basic },
});
type Features = typeof features;

class RowGrid<Row> implements Grid {
    readonly element: HTMLElement;
    private readonly pages = new Map<number, Row[] | "waiting">();
    private readonly head = h("div.grid-head", { role: "row" });
    private readonly space = h("div.grid-space", { role: "rowgroup" });
    private readonly status = h("div.loading", { role: "status" });
    private readonly box: HTMLElement;
    private readonly by_name: Map<string, GridColumn<Row>>;
    private readonly chosen_widths = new Set<string>(); // names of columns that the user has resized
    private readonly table: Table<Features, Item>;
    private readonly seen: Virtualizer<HTMLElement, HTMLElement>;
    private control = new AbortController();
    private total = -1; // not known yet
    private chosen = -1;
    private fault = "";

    constructor(
        scope: Scope,
        private readonly options: GridOptions<Row>,
    ) {
        this.by_name = new Map(options.columns.map((column) => [column.name, column]));
        const attributes = {
            class: "grid",
            role: "table",
            tabindex: 0,
            "aria-label": options.label,
            style: { "max-height": options.height ?? "60vh" },
        };
        const sticky = { position: "sticky", top: "0", "z-index": "2" };
        this.box = h("div", attributes, h("div", { role: "rowgroup", style: sticky }, this.head), this.space);
        this.element = h("div", this.box, this.status);
        this.table = this.make_table();
        this.seen = new Virtualizer(this.window_options());
        scope.on_end(this.seen._didMount());
        scope.on_end(() => this.control.abort());
        this.box.addEventListener("keydown", (event) => this.key_pressed(event));
        on_resize(scope, this.element, () => this.fit());
        const drawn = this.table.store.subscribe(() => this.table_changed());
        scope.on_end(() => drawn.unsubscribe());
        this.reload();
    }

    private make_table(): Table<Features, Item> {
        const { columns, rows, on_sort } = this.options;
        return constructTable<Features, Item>({
            features,
            data: (rows ?? []).map((row): Item => ({ row })),
            columns: columns.map(
                (column): ColumnDef<Features, Item> => ({
                    id: column.name,
                    accessorFn: ({ row }) => (column.value ?? column.cell)(row as Row),
                    size: column.width ?? 130,
                    minSize: least_px,
                    maxSize: 1200,
                    enableSorting: rows
                        ? column.value !== undefined
                        : column.sortable === true && on_sort !== undefined,
                    sortFn: column.right ? "basic" : "alphanumeric",
                    sortDescFirst: false,
                    sortUndefined: "last",
                }),
            ),
            columnResizeMode: "onChange",
            manualSorting: rows === undefined,
        });
    }

    private window_options() {
        return {
            count: Math.min(Math.max(this.total, 0), places_max),
            getScrollElement: () => this.box,
            estimateSize: () => row_px,
            scrollToFn: elementScroll,
            observeElementRect,
            observeElementOffset,
            overscan: 2,
            onChange: () => this.draw(),
        };
    }

    // Draws what a change of widths or of the order concerns.
    private table_changed(): void {
        const resized = this.table.atoms.columnResizing.get().isResizingColumn;
        if (resized) {
            this.chosen_widths.add(resized);
        }
        this.draw_head();
        this.draw();
    }

    private sort_by(name: string): void {
        const column = this.table.getColumn(name);
        column?.toggleSorting();
        this.chosen = -1;
        if (!this.options.rows) {
            const [order] = this.table.atoms.sorting.get();
            this.options.on_sort?.(order?.id ?? "", order?.desc ?? false);
        }
    }

    reload(): void {
        this.control.abort();
        this.control = new AbortController();
        this.pages.clear();
        this.total = this.options.rows?.length ?? -1;
        this.chosen = -1;
        this.fault = "";
        this.box.scrollTop = 0;
        this.fit();
        if (!this.options.rows) {
            this.fetch_page(0);
        }
    }

    // Shares the width of the grid among its columns: what exceeds it is taken from the widest ones.
    private fit(): void {
        const room = this.element.clientWidth - 12; // a scroll bar
        const all = this.options.columns;
        const narrow = room > 0 && room < telephone_px && all.some((column) => column.minor);
        this.table.setColumnVisibility(Object.fromEntries(all.map((one) => [one.name, !narrow || !one.minor])));
        const sizes = this.table.atoms.columnSizing.get();
        const shown = all.filter((column) => !narrow || !column.minor);
        const keeps = (column: GridColumn<Row>) => column.fixed || this.chosen_widths.has(column.name);
        const wanted = shown.map((one) => (this.chosen_widths.has(one.name) ? sizes[one.name]! : (one.width ?? 130)));
        const least = shown.map((one, index) => (keeps(one) ? wanted[index]! : Math.min(wanted[index]!, column_px)));
        const sum = (widths: number[]) => widths.reduce((total, width) => total + width, 0);
        const spare = sum(wanted) - sum(least);
        const share = spare > 0 ? Math.min(Math.max((room - sum(least)) / spare, 0), 1) : 1;
        const fitted = shown.map((one, index): [string, number] => [
            one.name,
            Math.floor(least[index]! + (wanted[index]! - least[index]!) * share),
        ]);
        this.table.setColumnSizing(Object.fromEntries(fitted));
        this.draw_head();
        this.draw();
    }

    // Keeps the known pages until the new first one is here.
    refresh(): void {
        this.fetch_page(0, true);
    }

    select(index: number): void {
        this.chosen = index;
        this.show(index);
        this.draw();
    }

    private at(index: number): Row | undefined {
        if (this.options.rows) {
            return this.table.getRowModel().rows[index]?.original.row as Row | undefined;
        }
        const page = this.pages.get(Math.floor(index / page_rows));
        return Array.isArray(page) ? page[index % page_rows] : undefined;
    }

    // Fetches a page that is not known; `again`: fetches it anyway and forgets the others.
    private fetch_page(page: number, again = false): void {
        if (!this.options.fetch || (this.pages.has(page) && !again)) {
            return;
        }
        if (!again) {
            this.pages.set(page, "waiting");
        }
        const { signal } = this.control;
        const take = ({ rows, total }: GridPage<Row>) => {
            if (signal.aborted) {
                return;
            }
            if (again) {
                this.pages.clear();
            }
            this.pages.set(page, rows);
            this.total = total;
            this.fault = "";
        };
        const failed = (error: unknown) => {
            if (!was_aborted(error) && !signal.aborted && !again) {
                this.pages.delete(page);
                this.fault = problem_text(error);
                this.total = Math.max(this.total, 0);
            }
        };
        const fetched = this.options.fetch(page * page_rows, page_rows, signal);
        void fetched.then(take, failed).then(() => !signal.aborted && this.draw());
    }

    // Returns the number of the row at a place of the window. Where there are more rows than places, the scroll bar
    // moves through them in larger steps.
    private first_row(place: number, shown: number): number {
        const places = Math.min(this.total, places_max);
        return places === this.total ? place : Math.round((place / Math.max(places - shown, 1)) * (this.total - shown));
    }

    private draw_head(): void {
        const cells = this.table.getFlatHeaders().map((header) => this.head_cell(header));
        fill(this.head, cells);
    }

    private head_cell(header: Header<Features, Item>): HTMLElement {
        const column = this.by_name.get(header.id)!;
        const order = header.column.getIsSorted();
        const arrow = { asc: " ↑", desc: " ↓" };
        const text = `${column.title}${order ? arrow[order] : ""}`;
        const title = [column.title, column.help].filter(Boolean).join(": ");
        const click = () => this.sort_by(column.name);
        return h(
            "div",
            {
                class: `cell ${column.right ? "right" : ""}`,
                role: "columnheader",
                style: { width: `${header.getSize()}px` },
                "aria-sort": order ? { asc: "ascending", desc: "descending" }[order] : undefined,
            },
            header.column.getCanSort()
                ? h("button", { type: "button", title, on: { click } }, text)
                : h("span.title", { title }, text),
            this.edge(header),
        );
    }

    // Lets the user set the width of a column with the mouse or a finger, or with arrow keys on its head.
    private edge(header: Header<Features, Item>): HTMLElement {
        const begin = header.getResizeHandler();
        const grab = (event: Event) => {
            event.preventDefault();
            begin(event);
        };
        return h("span.edge", {
            title: t().common.column_edge,
            on: { mousedown: grab, touchstart: grab },
        });
    }

    // Makes the column wider or narrower whose head has the focus.
    private set_width(event: KeyboardEvent, step: number): void {
        const cell = (event.target as HTMLElement).closest(".cell");
        const header = this.table.getFlatHeaders()[[...this.head.children].indexOf(cell!)];
        if (header) {
            event.preventDefault();
            this.chosen_widths.add(header.id);
            const width = Math.max(header.getSize() + step, least_px);
            this.table.setColumnSizing((all) => ({ ...all, [header.id]: width }));
            const made = this.head.children[header.index]?.querySelector("button");
            made?.focus();
        }
    }

    private draw(): void {
        const { box, space, status, total, fault } = this;
        if (total < 0) {
            fill(status, h("span.spinner"), t().common.loading);
            status.hidden = false;
            box.hidden = true;
            return;
        }
        status.hidden = total > 0 && !fault;
        fill(status, fault || this.options.empty || t().common.nothing_found);
        status.classList.toggle("fault", !!fault);
        box.hidden = total === 0;
        box.setAttribute("aria-rowcount", String(total + 1));
        this.seen.setOptions(this.window_options());
        this.seen._willUpdate();
        space.style.height = `${this.seen.getTotalSize()}px`;
        space.style.width = `${this.table.getTotalSize()}px`;
        const places = this.seen.getVirtualItems();
        const first = this.first_row(places[0]?.index ?? 0, places.length);
        fill(
            space,
            places.map(({ start }, offset) => {
                this.fetch_page(Math.floor((first + offset) / page_rows));
                return this.row(first + offset, start);
            }),
        );
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
            this.table
                .getFlatHeaders()
                .map((header, position) =>
                    this.cell(this.by_name.get(header.id)!, header.getSize(), row, position === 0 ? "…" : ""),
                ),
        );
    }

    private cell(column: GridColumn<Row>, width: number, row: Row | undefined, waiting: string): HTMLElement {
        const content = row === undefined ? waiting : column.cell(row);
        return h(
            "div",
            {
                class: `cell ${column.right ? "right" : ""}`,
                role: "cell",
                style: { width: `${width}px` },
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
        const shown = this.seen.getVirtualItems().length;
        const places = Math.min(this.total, places_max);
        const place =
            places === this.total ? index : Math.round((index / Math.max(this.total - shown, 1)) * (places - shown));
        this.seen.scrollToIndex(Math.max(0, Math.min(place, places - 1)), { align: "auto" });
    }

    private key_pressed(event: KeyboardEvent): void {
        const { follow } = this.options;
        if (event.altKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
            this.set_width(event, event.key === "ArrowLeft" ? -step_px : step_px);
        }
        if (event.target !== this.box || this.total < 1) {
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
