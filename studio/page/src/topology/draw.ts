// SPDX-License-Identifier: Apache-2.0
// A network on a canvas that one can zoom, move and pick from. Links have a colour for each direction.
import { h, on_resize, type Scope } from "../core/dom";
import { bits_per_second, nanoseconds } from "../core/format";
import type { Topology } from "../core/types";
import { t } from "../i18n/text";
import { button, problem_text, toast } from "../ui/parts";
import { count_links, lay_out, type Layout } from "./layout";
import { MovingPainter, type Moving } from "./moving";
import { paint, under, worst, type Heat, type Picked, type Viewport } from "./paint";

export interface MapOptions {
    height: string;
    scale_most?: number; // of a small network that is fitted into the room
    pick?: (picked: Picked) => void;
    // Asks for the network; of a large one, with the folds at these paths opened, and those of a node.
    ask?: (folds: Folds) => Promise<Topology>;
    changed?: () => void; // a fold was opened or closed
}

export interface Folds {
    open?: string;
    find?: string;
}

const margin = 44;
const tools_px = 30; // room for the buttons below a small network that fills the map
const [scale_min, scale_max] = [0.005, 12];
const moves: Record<string, [number, number]> = {
    ArrowLeft: [60, 0],
    ArrowRight: [-60, 0],
    ArrowUp: [0, 60],
    ArrowDown: [0, -60],
};

export class TopologyMap {
    readonly element: HTMLElement;
    private readonly canvas = h("canvas.map-canvas", {
        tabindex: 0,
        role: "img",
        "aria-label": t().editor.network,
    });
    private readonly tip = h("div.map-tip", { hidden: true });
    private readonly view: Viewport = { scale: 1, left: 0, top: 0, width: 0, height: 0 };
    private layout: Layout | null = null;
    private heat: Heat | null = null;
    private moving: Moving | null = null;
    private moving_painter: MovingPainter | null = null;
    private chosen: Picked = null;
    private folded = false;
    private open = new Set<string>(); // paths of open folds
    private label = "";
    private readonly fold_button = button("", () => void this.toggle(), { small: true });
    private dragging: { x: number; y: number; moved: boolean } | null = null;
    private frame = 0;

    constructor(
        scope: Scope,
        private readonly options: MapOptions,
    ) {
        this.element = h("div.map", { style: { height: options.height } }, this.canvas, this.tip, this.tools());
        this.listen_to_pointer();
        this.mark(null);
        this.canvas.addEventListener("keydown", (event) => this.key_pressed(event));
        on_resize(scope, this.element, (width, height) => this.resized(width, height));
        scope.listen(window, "studio-theme", () => this.draw());
        scope.on_end(() => cancelAnimationFrame(this.frame));
    }

    folds(): Folds {
        return { open: [...this.open].join(",") };
    }

    names(most: number): string[] {
        return this.layout?.nodes.slice(0, most).map((node) => node.name) ?? [];
    }

    // Says what the network consists of.
    text(): string {
        return this.label;
    }

    // Asks for the network with the folds that are open, and shows it.
    async load(find = ""): Promise<void> {
        this.show(await this.options.ask!({ ...this.folds(), find }));
        this.choose(null);
    }

    // Opens the fold that was picked, or folds what surrounds the node that was picked.
    private async toggle(): Promise<void> {
        const node = this.chosen && "node" in this.chosen ? this.chosen.node : null;
        if (node?.fold) {
            this.open.add(node.fold);
        } else if (node?.in) {
            const closed = [...this.open].filter((path) => path === node.in || path.startsWith(`${node.in}.`));
            for (const path of closed) {
                this.open.delete(path);
            }
        } else {
            return;
        }
        try {
            await this.load();
            this.options.changed?.();
        } catch (error) {
            toast(problem_text(error), { bad: true });
        }
    }

    show(topology: Topology): void {
        this.layout = lay_out(topology);
        this.moving_painter = new MovingPainter(this.layout);
        this.folded = topology.folded === true;
        const paths = topology.nodes.map((node) => node.in?.split(".") ?? []);
        this.open = new Set(paths.flatMap((path) => path.map((_, end) => path.slice(0, end + 1).join("."))));
        this.open.delete("");
        const hosts = topology.hosts ?? topology.nodes.filter((node) => node.kind === "host").length;
        const switches = topology.switches ?? topology.nodes.length - hosts;
        this.label = t().map.label(hosts, switches, topology.all_links ?? topology.links.length);
        this.canvas.setAttribute("aria-label", this.label);
        this.mark(null);
        this.fit();
        this.draw();
    }

    color(heat: Heat | null): void {
        this.heat = heat;
        this.draw();
    }

    show_moving(moving: Moving): void {
        this.moving = moving;
        this.draw();
    }

    // Picks the node of this name, and opens the folds around it; returns false if there is none.
    async find(name: string): Promise<boolean> {
        if (this.folded && !this.layout?.by_name.has(name)) {
            await this.load(name);
            this.options.changed?.();
        }
        const index = this.layout?.by_name.get(name);
        if (!this.layout || index === undefined) {
            return false;
        }
        this.choose({ node: this.layout.nodes[index]! });
        return true;
    }

    private tools(): HTMLElement {
        const show_all = () => {
            this.fit();
            this.draw();
        };
        return h(
            "div.map-tools",
            this.fold_button,
            button("+", () => this.zoom(1.4), { small: true, label: t().map.zoom_in }),
            button("−", () => this.zoom(1 / 1.4), { small: true, label: t().map.zoom_out }),
            button("", show_all, { small: true, icon: "fit", label: t().map.fit }),
        );
    }

    private choose(picked: Picked): void {
        this.mark(picked);
        this.options.pick?.(picked);
        this.draw();
    }

    private mark(picked: Picked): void {
        this.chosen = picked;
        const node = picked && "node" in picked ? picked.node : null;
        this.fold_button.textContent = node?.fold ? t().map.open : t().map.close;
        this.fold_button.hidden = !node?.fold && !node?.in;
    }

    private draw(): void {
        cancelAnimationFrame(this.frame);
        this.frame = requestAnimationFrame(() => this.paint());
    }

    private paint(): void {
        paint(this.canvas, this.view, this.layout, this.heat, this.chosen);
        if (this.moving) {
            this.moving_painter?.paint(this.canvas.getContext("2d")!, this.view, this.moving);
        }
    }

    private fit(): void {
        const { layout, view } = this;
        if (!layout || view.width === 0) {
            return;
        }
        const below = this.options.scale_most ? tools_px : 0;
        const [room_x, room_y] = [view.width - 2 * margin, view.height - 2 * margin - below];
        const most = Math.min(
            room_x / layout.width,
            room_y / Math.max(layout.height, 40),
            this.options.scale_most ?? 2.6,
        );
        view.scale = Math.max(most, scale_min);
        view.left = (view.width - layout.width * view.scale) / 2;
        view.top = (view.height - below - layout.height * view.scale) / 2;
    }

    private zoom(factor: number, x = this.view.width / 2, y = this.view.height / 2): void {
        const { view } = this;
        const next = Math.max(scale_min, Math.min(view.scale * factor, scale_max));
        view.left = x - ((x - view.left) * next) / view.scale;
        view.top = y - ((y - view.top) * next) / view.scale;
        view.scale = next;
        this.draw();
    }

    private move(dx: number, dy: number): void {
        this.view.left += dx;
        this.view.top += dy;
        this.draw();
    }

    private resized(width: number, height: number): void {
        const { view, canvas } = this;
        const changed = width !== view.width || height !== view.height;
        view.width = width;
        view.height = height;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
        if (changed) {
            this.fit();
        }
        this.paint();
    }

    private describe(what: Picked): string[] {
        const { layout, heat } = this;
        if (!what || !layout) {
            return [];
        }
        if ("node" in what) {
            const { name, kind, links, fold, hosts, switches } = what.node;
            if (fold) {
                const inside = heat ? `${heat.text(heat.value(name))} · ` : "";
                return [name, t().map.label(hosts!, switches!, links), inside + t().map.open_hint];
            }
            return [`${name} · ${kind === "host" ? t().map.host : t().map.switch}, ${t().map.links(links)}`];
        }
        const { bundle } = what;
        const first = bundle.links[0]!;
        const times = count_links(bundle) > 1 ? `${count_links(bundle)} × ` : "";
        const link = `${bits_per_second(first.rate_bps)}, ${nanoseconds(first.delay_ps / 1000)}`;
        const lines = [`${first.a} – ${first.b} · ${times}${link}`];
        for (const forward of heat ? [true, false] : []) {
            const value = worst(layout, heat!, bundle, forward);
            const [from, to] = forward ? [bundle.a, bundle.b] : [bundle.b, bundle.a];
            const said = Number.isNaN(value) ? "–" : heat!.text(value);
            lines.push(`${layout.nodes[from]!.name} → ${layout.nodes[to]!.name}: ${said}`);
        }
        return lines;
    }

    private under(event: PointerEvent): Picked {
        return this.layout && under(this.layout, this.view, event.offsetX, event.offsetY);
    }

    private listen_to_pointer(): void {
        const { canvas, tip } = this;
        canvas.addEventListener("pointerdown", (event) => {
            this.dragging = { x: event.offsetX, y: event.offsetY, moved: false };
            canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener("pointermove", (event) => this.pointer_moved(event));
        canvas.addEventListener("pointerup", (event) => {
            if (this.dragging && !this.dragging.moved) {
                this.choose(this.under(event));
            }
            this.dragging = null;
        });
        canvas.addEventListener("dblclick", () => void this.toggle());
        canvas.addEventListener("pointerleave", () => {
            tip.hidden = true;
        });
        const wheel = (event: WheelEvent) => {
            if (event.ctrlKey || event.metaKey || document.activeElement === canvas) {
                event.preventDefault();
                this.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
            }
        };
        canvas.addEventListener("wheel", wheel, { passive: false });
    }

    private pointer_moved(event: PointerEvent): void {
        const { dragging, tip } = this;
        if (dragging) {
            const [dx, dy] = [event.offsetX - dragging.x, event.offsetY - dragging.y];
            if (dragging.moved || Math.abs(dx) + Math.abs(dy) > 4) {
                this.dragging = { x: event.offsetX, y: event.offsetY, moved: true };
                this.move(dx, dy);
            }
            return;
        }
        const lines = this.describe(this.under(event));
        tip.hidden = lines.length === 0;
        tip.replaceChildren(...lines.map((text) => h("div", text)));
        tip.style.left = `${Math.min(event.offsetX + 14, Math.max(this.view.width - 230, 0))}px`;
        tip.style.top = `${event.offsetY + 14}px`;
    }

    private key_pressed(event: KeyboardEvent): void {
        const move = moves[event.key];
        if (move) {
            this.move(...move);
        } else if (event.key === "+" || event.key === "=") {
            this.zoom(1.4);
        } else if (event.key === "-") {
            this.zoom(1 / 1.4);
        } else if (event.key === "Enter") {
            void this.toggle();
        } else if (event.key === "0") {
            this.fit();
            this.draw();
        } else {
            return;
        }
        event.preventDefault();
    }
}

// Returns the scale of a map's colours, from `low` to `high`.
export function heat_legend(title: string, low: string, high: string): HTMLElement {
    return h(
        "div.heat-legend",
        h("span.small.muted", title),
        h("span.small.number", low),
        h("span.heat-ramp", { "aria-hidden": "true" }),
        h("span.small.number", high),
    );
}
