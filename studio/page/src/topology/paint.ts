// SPDX-License-Identifier: Apache-2.0
// Paints a laid-out network on a canvas: links, with a colour for each direction, then nodes, then their names.
import { the_color } from "../core/settings";
import { t } from "../i18n/text";
import { node_of, type Bundle, type Layout, type PlacedNode } from "./layout";

export interface Heat {
    value: (port: string) => number; // at the transmitting end of a link; NaN: not known
    most: number;
    text: (value: number) => string;
    title: string;
}

export type Picked = { node: PlacedNode } | { bundle: Bundle } | null;

// The view of the canvas: layout units times `scale`, moved by `left` and `top`, in a canvas of CSS pixels.
export interface Viewport {
    scale: number;
    left: number;
    top: number;
    width: number;
    height: number;
}

function parse_color(text: string): [number, number, number] {
    const hex = text.replace("#", "");
    return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];
}

// Returns 64 colours from cold to hot, between the six of the theme.
function heat_colors(): string[] {
    const stops = [0, 1, 2, 3, 4, 5].map((step) => parse_color(the_color(`heat-${step}`)));
    return Array.from({ length: 64 }, (_, index) => {
        const place = (index / 63) * 5;
        const low = stops[Math.floor(place)]!;
        const high = stops[Math.min(Math.floor(place) + 1, 5)]!;
        const share = place - Math.floor(place);
        return `rgb(${low.map((from, channel) => Math.round(from + (high[channel]! - from) * share)).join(" ")})`;
    });
}

const letter_px = 7; // width of a letter of a name

// Returns the greatest value of the bundle's links in one direction; NaN if none is known.
export function worst(layout: Layout, heat: Heat, bundle: Bundle, forward: boolean): number {
    let most = NaN;
    for (const link of bundle.links) {
        const from_a = node_of(layout.by_name, link.a) === bundle.a;
        const value = heat.value(forward === from_a ? link.a_port : link.b_port);
        if (!(value <= most)) {
            most = Number.isNaN(value) ? most : value;
        }
    }
    return most;
}

// One path for each colour, since a canvas strokes a long path faster than many short ones.
class Strokes {
    readonly paths = new Map<string, Path2D>();

    add(style: string, from: [number, number], to: [number, number], bend: number): void {
        let path = this.paths.get(style);
        if (!path) {
            path = new Path2D();
            this.paths.set(style, path);
        }
        path.moveTo(...from);
        if (bend) {
            const middle_y = (from[1] + to[1]) / 2 + Math.abs(to[0] - from[0]) * bend;
            path.quadraticCurveTo((from[0] + to[0]) / 2, middle_y, ...to);
        } else {
            path.lineTo(...to);
        }
    }
}

// One painting: everything that stays the same while it is drawn.
class Painter {
    private readonly colors = heat_colors();
    private readonly line = the_color("line-strong");
    private readonly ink = the_color("ink");
    private readonly surface = the_color("surface");
    private readonly accent = the_color("accent");
    private readonly peak: Float64Array; // by node: the greatest value that it sends
    private readonly tier_sizes: number[] = [];

    constructor(
        private readonly context: CanvasRenderingContext2D,
        private readonly view: Viewport,
        private readonly layout: Layout,
        private readonly heat: Heat | null,
        private readonly picked: Picked,
    ) {
        this.peak = new Float64Array(layout.nodes.length);
        for (const node of layout.nodes) {
            this.tier_sizes[node.tier] = (this.tier_sizes[node.tier] ?? 0) + 1;
        }
    }

    paint(): void {
        this.draw_links();
        this.draw_picked_link();
        for (const [index, node] of this.layout.nodes.entries()) {
            this.draw_node(node, this.peak[index]!);
        }
        this.draw_names();
    }

    private at(node: PlacedNode): [number, number] {
        return [this.view.left + node.x * this.view.scale, this.view.top + node.y * this.view.scale];
    }

    private color_of(value: number): string {
        return this.colors[Math.max(0, Math.min(63, Math.round((value / (this.heat!.most || 1)) * 63)))]!;
    }

    private draw_links(): void {
        const { context, heat, layout, line } = this;
        const count = layout.bundles.length;
        const thin = count > 1500 ? 0.6 : count > 300 ? 1 : 1.6;
        const strokes = new Strokes();
        for (const bundle of layout.bundles) {
            if (heat) {
                this.add_directions(strokes, bundle, heat, thin * 0.85);
            } else {
                strokes.add(line, this.at(layout.nodes[bundle.a]!), this.at(layout.nodes[bundle.b]!), bundle.bend);
            }
        }
        // Links that carry more are drawn over those that carry less.
        const rank = (style: string) => this.colors.indexOf(style);
        for (const [style, path] of [...strokes.paths].sort((one, other) => rank(one[0]) - rank(other[0]))) {
            context.strokeStyle = style;
            context.globalAlpha = heat && rank(style) > 3 ? 1 : count > 600 ? 0.35 : 0.8;
            context.lineWidth = heat && rank(style) > 20 ? thin * 1.5 : thin;
            context.stroke(path);
        }
        context.globalAlpha = 1;
    }

    private add_directions(strokes: Strokes, bundle: Bundle, heat: Heat, apart: number): void {
        const [ax, ay] = this.at(this.layout.nodes[bundle.a]!);
        const [bx, by] = this.at(this.layout.nodes[bundle.b]!);
        const length = Math.hypot(bx - ax, by - ay) || 1;
        const [dx, dy] = [(-(by - ay) / length) * apart, ((bx - ax) / length) * apart];
        for (const forward of [true, false]) {
            const value = worst(this.layout, heat, bundle, forward);
            const sender = forward ? bundle.a : bundle.b;
            this.peak[sender] = Math.max(this.peak[sender]!, value || 0);
            const side = forward ? 1 : -1;
            const style = Number.isNaN(value) ? this.line : this.color_of(value);
            strokes.add(style, [ax + dx * side, ay + dy * side], [bx + dx * side, by + dy * side], bundle.bend);
        }
    }

    private draw_picked_link(): void {
        if (!this.picked || !("bundle" in this.picked)) {
            return;
        }
        const { a, b } = this.picked.bundle;
        const { context, layout } = this;
        context.strokeStyle = this.accent;
        context.lineWidth = 4;
        context.beginPath();
        context.moveTo(...this.at(layout.nodes[a]!));
        context.lineTo(...this.at(layout.nodes[b]!));
        context.stroke();
    }

    // Returns the width in CSS pixels that a node has for itself.
    private room_of(node: PlacedNode): number {
        return this.layout.gaps[node.tier]! * this.view.scale;
    }

    private draw_node(node: PlacedNode, peak: number): void {
        const { context, view } = this;
        const [x, y] = this.at(node);
        if (x < -20 || y < -20 || x > view.width + 20 || y > view.height + 20) {
            return;
        }
        const is_host = node.kind === "host";
        const least = is_host ? 0.6 : Math.min(3, this.room_of(node) / 3);
        const size = Math.max(node.size * Math.min(view.scale, 1.8), least);
        const inside = (node.fold && this.heat?.value(node.name)) || 0;
        context.fillStyle = this.heat ? this.color_of(Math.max(peak, inside)) : is_host ? this.line : this.accent;
        context.beginPath();
        if (node.fold) {
            // Two sheets: what lies behind looks out.
            context.strokeStyle = this.ink;
            context.lineWidth = 1;
            context.strokeRect(x - size * 0.7, y - size * 1.3, size * 2, size * 2);
        }
        if (is_host) {
            context.rect(x - size, y - size, 2 * size, 2 * size);
        } else {
            context.roundRect(x - size * 1.3, y - size * 0.85, size * 2.6, size * 1.7, size * 0.4);
        }
        context.fill();
        if (this.picked && "node" in this.picked && this.picked.node === node) {
            context.strokeStyle = this.ink;
            context.lineWidth = 2;
            context.stroke();
        }
    }

    // Writes names where there is room for them. A tier of a folded network without room gets the sum of what it shows.
    private draw_names(): void {
        const { context, view, layout } = this;
        if (layout.nodes.length >= 3000) {
            return;
        }
        context.font = "11px sans-serif";
        context.textAlign = "center";
        const unnamed: PlacedNode[][] = []; // by tier
        for (const node of layout.nodes) {
            const [x] = this.at(node);
            if (this.room_of(node) <= node.name.length * letter_px) {
                const row = unnamed[node.tier] ?? [];
                row.push(node);
                unnamed[node.tier] = row;
            } else if (x > -50 && x < view.width + 50) {
                this.write(node.name, node, x);
            }
        }
        for (const nodes of layout.folded
            ? unnamed.filter((row) => row.length === this.tier_sizes[row[0]!.tier])
            : []) {
            const sum = (of: "hosts" | "switches") => nodes.reduce((total, node) => total + (node[of] ?? 0), 0);
            const lowest = nodes.reduce((one, other) => (other.y > one.y ? other : one));
            const text = t().map.tier(sum("hosts"), sum("switches"), nodes.length);
            this.write(text, lowest, view.left + (layout.width / 2) * view.scale);
        }
    }

    // Writes below a host, or above a switch.
    private write(text: string, node: PlacedNode, x: number): void {
        const { context, view } = this;
        const y = this.at(node)[1];
        const size = node.size * Math.min(view.scale, 1.8);
        const at = node.kind === "host" ? y + Math.max(size, 4) + 13 : y - size * (node.fold ? 1.3 : 1) - 5;
        context.lineWidth = 3;
        context.strokeStyle = this.surface;
        context.strokeText(text, x, at);
        context.fillStyle = this.ink;
        context.fillText(text, x, at);
    }
}

// Clears the canvas and paints the network, sharp on every screen.
export function paint(
    canvas: HTMLCanvasElement,
    view: Viewport,
    layout: Layout | null,
    heat: Heat | null,
    picked: Picked,
): void {
    const context = canvas.getContext("2d")!;
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(view.width * ratio) || canvas.height !== Math.round(view.height * ratio)) {
        canvas.width = Math.round(view.width * ratio);
        canvas.height = Math.round(view.height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    if (layout) {
        new Painter(context, view, layout, heat, picked).paint();
    }
}

// Returns what stands at a point of the canvas: a node, or else a link close to it.
export function under(layout: Layout, view: Viewport, x: number, y: number): Picked {
    const { left, top, scale } = view;
    let best: Picked = null;
    let nearest = Infinity;
    for (const node of layout.nodes) {
        const apart = Math.hypot(left + node.x * scale - x, top + node.y * scale - y);
        if (apart < nearest && apart < Math.max(8, node.size * scale * 1.4)) {
            nearest = apart;
            best = { node };
        }
    }
    if (best) {
        return best;
    }
    nearest = 5;
    for (const bundle of layout.bundles) {
        const a = layout.nodes[bundle.a]!;
        const b = layout.nodes[bundle.b]!;
        const [ax, ay, bx, by] = [left + a.x * scale, top + a.y * scale, left + b.x * scale, top + b.y * scale];
        const share = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1);
        const along = Math.max(0, Math.min(1, share));
        const apart = Math.hypot(ax + along * (bx - ax) - x, ay + along * (by - ay) - y);
        if (apart < nearest) {
            nearest = apart;
            best = { bundle };
        }
    }
    return best;
}
