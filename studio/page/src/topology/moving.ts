// SPDX-License-Identifier: Apache-2.0
// Paints moving frames on links, stopped ports and drops on top of the network.
import { the_color } from "../core/settings";
import { node_of, type Bundle, type Layout } from "./layout";
import type { Viewport } from "./paint";

export interface Frame {
    from_ns: number;
    to_ns: number; // its last bit arrives
    port: string;
    kind: string; // data, request, ack, nak, cnp, pause, resume
    marked: boolean;
    again: boolean; // a retransmission
    src: string;
    dst: string;
    qp: number | null;
    psn: number | null;
    bytes: number;
}

export interface Drop {
    at_ns: number;
    port: string;
    reason: string;
}

export interface Moving {
    at_ns: number;
    frames: Frame[]; // those on links
    drops: Drop[]; // those of a moment ago
    stopped: Set<string>; // ports
}

// Colours by kind of frame: names of the theme's.
export const kind_colors: Record<string, string> = {
    data: "plot-1",
    request: "plot-4",
    ack: "plot-3",
    nak: "plot-6",
    cnp: "plot-5",
    pause: "bad",
    resume: "plot-8",
};

interface Way {
    bundle: Bundle;
    forward: boolean; // from its end a to its end b
}

const apart_px = 4; // of the two directions of a link from its middle

export class MovingPainter {
    private readonly ways = new Map<string, Way>(); // by port

    constructor(private readonly layout: Layout) {
        for (const bundle of layout.bundles) {
            for (const link of bundle.links) {
                const forward = node_of(layout.by_name, link.a) === bundle.a;
                this.ways.set(link.a_port, { bundle, forward });
                this.ways.set(link.b_port, { bundle, forward: !forward });
            }
        }
    }

    // Returns the point at a share of a port's way to the other end of its link; null for an unknown port.
    point(view: Viewport, port: string, share: number): [number, number] | null {
        const way = this.ways.get(port);
        if (!way) {
            return null;
        }
        const { nodes } = this.layout;
        const place = (index: number): [number, number] => [
            view.left + nodes[index]!.x * view.scale,
            view.top + nodes[index]!.y * view.scale,
        ];
        const [from, to] = [place(way.bundle.a), place(way.bundle.b)];
        const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
        const side = (way.forward ? 1 : -1) * apart_px;
        const [dx, dy] = [(-(to[1] - from[1]) / length) * side, ((to[0] - from[0]) / length) * side];
        const along = way.forward ? share : 1 - share;
        // The curve of paint.ts: its middle point is moved by the bend.
        const middle: [number, number] = [
            (from[0] + to[0]) / 2,
            (from[1] + to[1]) / 2 + Math.abs(to[0] - from[0]) * way.bundle.bend,
        ];
        const at = (axis: 0 | 1) =>
            (1 - along) ** 2 * from[axis] + 2 * along * (1 - along) * middle[axis] + along ** 2 * to[axis];
        return [at(0) + dx, at(1) + dy];
    }

    paint(context: CanvasRenderingContext2D, view: Viewport, moving: Moving): void {
        this.paint_stopped(context, view, moving.stopped);
        for (const frame of moving.frames) {
            this.paint_frame(context, view, frame, moving.at_ns);
        }
        for (const drop of moving.drops) {
            this.paint_drop(context, view, drop);
        }
    }

    private paint_stopped(context: CanvasRenderingContext2D, view: Viewport, ports: Set<string>): void {
        context.strokeStyle = the_color("bad");
        context.lineWidth = 3;
        context.setLineDash([5, 4]);
        for (const port of ports) {
            context.beginPath();
            for (const share of [0.06, 0.25, 0.5, 0.75, 0.94]) {
                const point = this.point(view, port, share);
                if (point) {
                    context.lineTo(...point);
                }
            }
            context.stroke();
        }
        context.setLineDash([]);
    }

    private paint_frame(context: CanvasRenderingContext2D, view: Viewport, frame: Frame, at_ns: number): void {
        const share = (at_ns - frame.from_ns) / (frame.to_ns - frame.from_ns || 1);
        const point = this.point(view, frame.port, Math.max(0, Math.min(1, share)));
        if (!point) {
            return;
        }
        const size = frame.kind === "data" ? Math.max(3, Math.min(5.5, 2.5 + frame.bytes / 1400)) : 3;
        context.fillStyle = the_color(kind_colors[frame.kind] ?? "plot-7");
        context.beginPath();
        if (frame.kind === "pause" || frame.kind === "resume") {
            context.rect(point[0] - 4, point[1] - 4, 8, 8);
        } else {
            context.arc(point[0], point[1], size, 0, 2 * Math.PI);
        }
        context.fill();
        if (frame.again || frame.marked) {
            context.strokeStyle = the_color(frame.again ? "ink" : "plot-2");
            context.lineWidth = frame.again ? 2 : 1.5;
            context.stroke();
        }
    }

    // Crosses out the place near the port that dropped a frame.
    private paint_drop(context: CanvasRenderingContext2D, view: Viewport, drop: Drop): void {
        const point = this.point(view, drop.port, 0.12);
        if (!point) {
            return;
        }
        const [x, y] = point;
        context.strokeStyle = the_color("bad");
        context.lineWidth = 2.5;
        context.beginPath();
        context.moveTo(x - 6, y - 6);
        context.lineTo(x + 6, y + 6);
        context.moveTo(x + 6, y - 6);
        context.lineTo(x - 6, y + 6);
        context.stroke();
    }
}
