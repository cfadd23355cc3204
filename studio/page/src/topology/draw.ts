// SPDX-License-Identifier: Apache-2.0
// A network drawn on a canvas: zoom, move, pick; links coloured by what they carry, each direction for itself.
import { h, on_resize, type Scope } from "../core/dom";
import { bits_per_second, nanoseconds } from "../core/format";
import { the_color } from "../core/settings";
import type { Topology } from "../core/types";
import { t } from "../i18n/text";
import { button } from "../ui/parts";
import { lay_out, type Bundle, type Layout, type PlacedNode } from "./layout";

export interface Heat {
    value: (port: string) => number; // of the transmitting end of a link; NaN: not known
    most: number;
    text: (value: number) => string;
    title: string;
}

export type Picked = { node: PlacedNode } | { bundle: Bundle } | null;

export interface TopologyMap {
    element: HTMLElement;
    show: (topology: Topology) => void;
    color: (heat: Heat | null) => void;
    find: (name: string) => boolean;
    picked: () => Picked;
}

function parse_color(text: string): [number, number, number] {
    const hex = text.replace("#", "");
    return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];
}

export function heat_colors(): string[] {
    const stops = [0, 1, 2, 3, 4, 5].map((step) => parse_color(the_color(`heat-${step}`)));
    return Array.from({ length: 64 }, (_, index) => {
        const place = (index / 63) * 5;
        const low = stops[Math.floor(place)]!;
        const high = stops[Math.min(Math.floor(place) + 1, 5)]!;
        const share = place - Math.floor(place);
        return `rgb(${low.map((from, channel) => Math.round(from + (high[channel]! - from) * share)).join(" ")})`;
    });
}

export function topology_map(scope: Scope, options: { height: string; pick?: (picked: Picked) => void }): TopologyMap {
    const canvas = h("canvas", { class: "map-canvas", tabindex: 0, role: "img", "aria-label": t().editor.network });
    const tip = h("div", { class: "map-tip", hidden: true });
    const box = h(
        "div",
        { class: "map", style: { height: options.height } },
        canvas,
        tip,
        h(
            "div",
            { class: "map-tools" },
            button("+", () => zoom(1.4), { small: true, label: t().map.zoom_in }),
            button("−", () => zoom(1 / 1.4), { small: true, label: t().map.zoom_out }),
            button(
                "",
                () => {
                    fit();
                    draw();
                },
                { small: true, icon: "fit", label: t().map.fit },
            ),
        ),
    );
    const context = canvas.getContext("2d")!;
    let layout: Layout | null = null;
    let heat: Heat | null = null;
    let picked: Picked = null;
    let scale = 1;
    let left = 0;
    let top = 0;
    let width = 0;
    let height = 0;
    let frame = 0;

    const fit = () => {
        if (!layout || width === 0) {
            return;
        }
        const margin = 44;
        scale = Math.min((width - 2 * margin) / layout.width, (height - 2 * margin) / Math.max(layout.height, 40), 2.6);
        scale = Math.max(scale, 0.005);
        left = (width - layout.width * scale) / 2;
        top = (height - layout.height * scale) / 2;
    };
    const draw = () => {
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(paint);
    };
    const zoom = (factor: number, x = width / 2, y = height / 2) => {
        const next = Math.max(0.005, Math.min(scale * factor, 12));
        left = x - ((x - left) * next) / scale;
        top = y - ((y - top) * next) / scale;
        scale = next;
        draw();
    };

    const worst = (bundle: Bundle, forward: boolean): number => {
        let most = NaN;
        for (const link of bundle.links) {
            const from_a =
                layout!.by_name.get(link.a) === bundle.a || layout!.by_name.get(link.a.split("/")[0]!) === bundle.a;
            const value = heat!.value(forward === from_a ? link.a_port : link.b_port);
            if (!(value <= most)) {
                most = Number.isNaN(value) ? most : value;
            }
        }
        return most;
    };

    const paint = () => {
        const ratio = window.devicePixelRatio || 1;
        if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
            canvas.width = Math.round(width * ratio);
            canvas.height = Math.round(height * ratio);
        }
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, height);
        if (!layout) {
            return;
        }
        const { nodes, bundles } = layout;
        const colors = heat_colors();
        const color_of = (value: number) =>
            colors[Math.max(0, Math.min(63, Math.round((value / (heat!.most || 1)) * 63)))]!;
        const line = the_color("line-strong");
        const ink = the_color("ink");
        const surface = the_color("surface");
        const accent = the_color("accent");
        const at_x = (node: PlacedNode) => left + node.x * scale;
        const at_y = (node: PlacedNode) => top + node.y * scale;
        const peak = new Float64Array(nodes.length);
        const strokes = new Map<string, Path2D>();
        const stroke = (style: string, a_x: number, a_y: number, b_x: number, b_y: number, bend: number) => {
            let path = strokes.get(style);
            if (!path) {
                path = new Path2D();
                strokes.set(style, path);
            }
            path.moveTo(a_x, a_y);
            if (bend) {
                path.quadraticCurveTo((a_x + b_x) / 2, (a_y + b_y) / 2 + Math.abs(b_x - a_x) * bend, b_x, b_y);
            } else {
                path.lineTo(b_x, b_y);
            }
        };
        const thin = bundles.length > 1500 ? 0.6 : bundles.length > 300 ? 1 : 1.6;
        for (const bundle of bundles) {
            const a = nodes[bundle.a]!;
            const b = nodes[bundle.b]!;
            const [ax, ay, bx, by] = [at_x(a), at_y(a), at_x(b), at_y(b)];
            if (!heat) {
                stroke(line, ax, ay, bx, by, bundle.bend);
                continue;
            }
            const length = Math.hypot(bx - ax, by - ay) || 1;
            const apart = thin * 0.85;
            const [dx, dy] = [(-(by - ay) / length) * apart, ((bx - ax) / length) * apart];
            for (const forward of [true, false]) {
                const value = worst(bundle, forward);
                const sender = forward ? bundle.a : bundle.b;
                peak[sender] = Math.max(peak[sender]!, value || 0);
                const side = forward ? 1 : -1;
                stroke(
                    Number.isNaN(value) ? line : color_of(value),
                    ax + dx * side,
                    ay + dy * side,
                    bx + dx * side,
                    by + dy * side,
                    bundle.bend,
                );
            }
        }
        context.lineWidth = thin;
        // What carries more is drawn over what carries less.
        const rank = (style: string) => colors.indexOf(style);
        for (const [style, path] of [...strokes].sort((one, other) => rank(one[0]) - rank(other[0]))) {
            context.strokeStyle = style;
            context.globalAlpha = heat ? 1 : bundles.length > 600 ? 0.35 : 0.8;
            context.lineWidth = heat && rank(style) > 20 ? thin * 1.5 : thin;
            context.stroke(path);
        }
        context.globalAlpha = 1;
        const chosen = picked && "bundle" in picked ? picked.bundle : null;
        if (chosen) {
            context.strokeStyle = accent;
            context.lineWidth = 4;
            context.beginPath();
            context.moveTo(at_x(nodes[chosen.a]!), at_y(nodes[chosen.a]!));
            context.lineTo(at_x(nodes[chosen.b]!), at_y(nodes[chosen.b]!));
            context.stroke();
        }
        const tier_sizes: number[] = [];
        for (const node of nodes) {
            tier_sizes[node.tier] = (tier_sizes[node.tier] ?? 0) + 1;
        }
        for (const [index, node] of nodes.entries()) {
            const [x, y] = [at_x(node), at_y(node)];
            const size = Math.max(
                node.size * Math.min(scale, 1.8),
                node.kind === "host" ? 0.6 : Math.min(3, (layout.width * scale) / (tier_sizes[node.tier] ?? 1) / 3, 3),
            );
            if (x < -20 || y < -20 || x > width + 20 || y > height + 20) {
                continue;
            }
            context.fillStyle = heat ? color_of(peak[index]!) : node.kind === "host" ? line : accent;
            context.beginPath();
            if (node.kind === "host") {
                context.rect(x - size, y - size, 2 * size, 2 * size);
            } else {
                context.roundRect(x - size * 1.3, y - size * 0.85, size * 2.6, size * 1.7, size * 0.4);
            }
            context.fill();
            if (picked && "node" in picked && picked.node === node) {
                context.strokeStyle = ink;
                context.lineWidth = 2;
                context.stroke();
            }
        }
        // Names where there is room for them.
        context.font = "11px sans-serif";
        context.textAlign = "center";
        for (const node of nodes) {
            const x = at_x(node);
            const room =
                node.kind === "host" ? 16 * scale : (layout.width * scale) / Math.max(tier_sizes[node.tier] ?? 1, 1);
            const text_px = node.name.length * 6.4;
            if (nodes.length < 3000 && room > text_px && x > -50 && x < width + 50) {
                const y =
                    node.kind === "host"
                        ? at_y(node) + Math.max(node.size * scale, 4) + 13
                        : at_y(node) - node.size * Math.min(scale, 1.8) - 5;
                context.lineWidth = 3;
                context.strokeStyle = surface;
                context.strokeText(node.name, x, y);
                context.fillStyle = ink;
                context.fillText(node.name, x, y);
            }
        }
    };

    const under = (x: number, y: number): Picked => {
        if (!layout) {
            return null;
        }
        let best: Picked = null;
        let nearest = 12;
        for (const node of layout.nodes) {
            const apart = Math.hypot(left + node.x * scale - x, top + node.y * scale - y);
            if (apart < Math.max(nearest, 0) && apart < Math.max(8, node.size * scale * 1.4)) {
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
            const along = Math.max(
                0,
                Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1)),
            );
            const apart = Math.hypot(ax + along * (bx - ax) - x, ay + along * (by - ay) - y);
            if (apart < nearest) {
                nearest = apart;
                best = { bundle };
            }
        }
        return best;
    };

    const tell = (what: Picked): string[] => {
        if (!what || !layout) {
            return [];
        }
        if ("node" in what) {
            const words = what.node.kind === "host" ? t().map.host : t().map.switch;
            return [`${what.node.name} · ${words}, ${t().map.links(what.node.links)}`];
        }
        const { bundle } = what;
        const first = bundle.links[0]!;
        const lines = [
            `${first.a} – ${first.b} · ${bundle.links.length > 1 ? `${bundle.links.length} × ` : ""}${bits_per_second(first.rate_bps)}, ${nanoseconds(first.delay_ps / 1000)}`,
        ];
        if (heat) {
            for (const forward of [true, false]) {
                const value = worst(bundle, forward);
                const [from, to] = forward ? [bundle.a, bundle.b] : [bundle.b, bundle.a];
                lines.push(
                    `${layout.nodes[from]!.name} → ${layout.nodes[to]!.name}: ${Number.isNaN(value) ? "–" : heat.text(value)}`,
                );
            }
        }
        return lines;
    };

    let dragging: { x: number; y: number; moved: boolean } | null = null;
    canvas.addEventListener("pointerdown", (event) => {
        dragging = { x: event.offsetX, y: event.offsetY, moved: false };
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
        if (dragging) {
            const [dx, dy] = [event.offsetX - dragging.x, event.offsetY - dragging.y];
            if (dragging.moved || Math.abs(dx) + Math.abs(dy) > 4) {
                left += dx;
                top += dy;
                dragging = { x: event.offsetX, y: event.offsetY, moved: true };
                draw();
            }
            return;
        }
        const lines = tell(under(event.offsetX, event.offsetY));
        tip.hidden = lines.length === 0;
        tip.replaceChildren(...lines.map((text) => h("div", null, text)));
        tip.style.left = `${Math.min(event.offsetX + 14, Math.max(width - 230, 0))}px`;
        tip.style.top = `${event.offsetY + 14}px`;
    });
    canvas.addEventListener("pointerup", (event) => {
        if (dragging && !dragging.moved) {
            picked = under(event.offsetX, event.offsetY);
            options.pick?.(picked);
            draw();
        }
        dragging = null;
    });
    canvas.addEventListener("pointerleave", () => {
        tip.hidden = true;
    });
    canvas.addEventListener(
        "wheel",
        (event) => {
            if (event.ctrlKey || event.metaKey || document.activeElement === canvas) {
                event.preventDefault();
                zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
            }
        },
        { passive: false },
    );
    canvas.addEventListener("keydown", (event) => {
        const moves: Record<string, [number, number]> = {
            ArrowLeft: [60, 0],
            ArrowRight: [-60, 0],
            ArrowUp: [0, 60],
            ArrowDown: [0, -60],
        };
        const move = moves[event.key];
        if (move) {
            left += move[0];
            top += move[1];
            draw();
        } else if (event.key === "+" || event.key === "=") {
            zoom(1.4);
        } else if (event.key === "-") {
            zoom(1 / 1.4);
        } else if (event.key === "0") {
            fit();
            draw();
        } else {
            return;
        }
        event.preventDefault();
    });
    on_resize(scope, box, (new_width, new_height) => {
        const first = width === 0;
        const changed = new_width !== width || new_height !== height;
        width = new_width;
        height = new_height;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
        if (first || changed) {
            fit();
        }
        paint();
    });
    scope.listen(window, "studio-theme", draw);
    scope.on_end(() => cancelAnimationFrame(frame));

    return {
        element: box,
        picked: () => picked,
        show: (topology) => {
            layout = lay_out(topology);
            picked = null;
            const hosts = topology.nodes.filter((node) => node.kind === "host").length;
            canvas.setAttribute(
                "aria-label",
                t().map.label(hosts, topology.nodes.length - hosts, topology.links.length),
            );
            fit();
            draw();
        },
        color: (chosen) => {
            heat = chosen;
            draw();
        },
        find: (name) => {
            const index = layout?.by_name.get(name);
            if (layout === null || index === undefined) {
                return false;
            }
            picked = { node: layout.nodes[index]! };
            options.pick?.(picked);
            draw();
            return true;
        },
    };
}

// What the colours mean.
export function heat_legend(title: string, low: string, high: string): HTMLElement {
    return h(
        "div",
        { class: "heat-legend" },
        h("span", { class: "small muted" }, title),
        h("span", { class: "small number" }, low),
        h("span", { class: "heat-ramp", "aria-hidden": "true" }),
        h("span", { class: "small number" }, high),
    );
}
