// SPDX-License-Identifier: Apache-2.0
// Packets that move over the network of a small run, as hops.csv, or a capture of the fabric, and events.csv
// have recorded them.
import { api, rows_of } from "../../core/api";
import { fill, h, type Child, type Scope } from "../../core/dom";
import { bytes, count, nanoseconds } from "../../core/format";
import { on_range, range_query } from "../../core/time_range";
import type { Cell, Run, Tables, Topology, TopologyLink } from "../../core/types";
import { t } from "../../i18n/text";
import { TopologyMap } from "../../topology/draw";
import { kind_colors, type Drop, type Frame, type Moving } from "../../topology/moving";
import type { Picked } from "../../topology/paint";
import { button, empty, note, problem, select } from "../../ui/parts";
import { plain_table } from "../../ui/table";
import type { CaptureFile } from "../captures/file";
import { when_imported } from "./import";
import { record_button } from "./page/record";

export const hops_setting = "outputs.hops-max";
export const hops_recorded = 20_000; // rows that the page asks for

const frames_max = 40_000;
const wire_bytes = 24; // preamble, FCS and gap of a frame
const page_rows = 10_000;
const events_max = 10_000;
const listed_max = 30;
const crossing_s = 0.5; // of real time, that a frame takes over a link at first
const drop_shown_s = 0.7; // of real time
const slider_steps = 10_000;
// Simulated time in a second.
const speeds_ns = [10, 50, 100, 500, 1e3, 5e3, 1e4, 5e4, 1e5, 5e5, 1e6, 5e6, 1e7, 1e8];

// The table that has the frames.
interface Source {
    table: string;
    topology: Topology;
    columns: string[];
    where?: string;
    frame: (row: Cell[]) => Frame;
}

interface Stop {
    from_ns: number;
    to_ns: number;
    port: string;
}

// Returns the number of frames that begin at or before a time.
function begun(frames: Frame[], at_ns: number): number {
    let [low, high] = [0, frames.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (frames[middle]!.from_ns <= at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

function number_or_null(cell: Cell | undefined): number | null {
    return typeof cell === "number" ? cell : null;
}

function frame_of(row: Cell[]): Frame {
    const [from, to, port, kind, src, dst, qp, psn, size, marked, again] = row;
    return {
        from_ns: Number(from),
        to_ns: Number(to),
        port: String(port),
        kind: String(kind),
        src: String(src ?? ""),
        dst: String(dst ?? ""),
        qp: number_or_null(qp),
        psn: number_or_null(psn),
        bytes: Number(size),
        marked: marked === 1,
        again: again === 1,
    };
}

// Returns the kind of a frame as hops.csv names it, by the kind that captures have.
function kind_of(kind: string): string {
    const kinds: [RegExp, string][] = [
        [/pause/, "pause"],
        [/resume/, "resume"],
        [/NAK/, "nak"],
        [/ACK/i, "ack"],
        [/CNP/, "cnp"],
        [/REQUEST|READ REQ|CMP|FETCH/i, "request"],
    ];
    return kinds.find(([pattern]) => pattern.test(kind))?.[1] ?? "data";
}

// Makes a frame of a row of a capture: it is on its link for the time that its bytes and the link's delay take.
function captured_frame(links: Map<string, TopologyLink>): (row: Cell[]) => Frame {
    return ([time, port, kind, src, dst, qp, psn, size, ecn, note]) => {
        const link = links.get(String(port));
        const wire_ns = link ? ((Number(size) + wire_bytes) * 8e9) / link.rate_bps + link.delay_ps / 1000 : 0;
        const ends = [Number(time), Number(time) + wire_ns];
        const again = String(note ?? "").includes("sent again") ? 1 : 0;
        const marked = Number(ecn) === 3 ? 1 : 0;
        return frame_of([...ends, port!, kind_of(String(kind)), src!, dst!, qp!, psn!, size!, marked, again]);
    };
}

const packet_columns = ["src", "dst", "qp", "psn"];

// Returns where the frames of a run are: in hops.csv, else in a capture of the fabric; null: nowhere.
async function source_of(run: Run, { tables }: Tables, signal: AbortSignal): Promise<Source | null> {
    const network = (table: string) => api.get<Topology>(`runs/${run.id}/topology`, { table }, signal);
    if (tables.some((one) => one.name === "hops" && one.rows > 0)) {
        const columns = ["time_ns", "arrives_ns", "port", "kind", ...packet_columns, "frame_bytes", "marked", "again"];
        return { table: "hops", topology: await network("hops"), columns, frame: frame_of };
    }
    const { captures } = await api.get<{ captures: CaptureFile[] }>(`runs/${run.id}/captures`, undefined, signal);
    const capture = captures.find((one) => (one.interfaces ?? 1) > 1 && one.packets > 0);
    if (!capture) {
        return null;
    }
    const topology = await network("packets");
    const links = new Map(topology.links.flatMap((one) => [one.a_port, one.b_port].map((port) => [port, one])));
    return {
        table: "packets",
        topology,
        columns: ["time_ns", "port", "kind", ...packet_columns, "bytes", "ecn", "note"],
        where: `file = ${JSON.stringify(capture.file)} and way = "sent"`,
        frame: captured_frame(links),
    };
}

// Joins the pauses and releases of a port and class to the times in which they stopped it.
function stops_of(rows: Cell[][]): { stops: Stop[]; drops: Drop[] } {
    const open = new Map<string, Stop>();
    const stops: Stop[] = [];
    const drops: Drop[] = [];
    for (const [time, event, port, priority, reason] of rows) {
        const at_ns = Number(time);
        const key = `${port} ${priority}`;
        if (event === "drop") {
            drops.push({ at_ns, port: String(port), reason: String(reason ?? "") });
        } else if (event === "paused" && !open.has(key)) {
            const stop = { from_ns: at_ns, to_ns: Infinity, port: String(port) };
            open.set(key, stop);
            stops.push(stop);
        } else if (event === "resumed") {
            const stop = open.get(key);
            if (stop) {
                stop.to_ns = at_ns;
            }
            open.delete(key);
        }
    }
    return { stops, drops };
}

function legend(): HTMLElement {
    const words = t().packets;
    const sign = (name: string, style: Record<string, string>, text: string) =>
        h("span.key.small", h("i", { class: `frame-key ${name}`, style }), text);
    return h(
        "div.row.tight",
        { role: "group", "aria-label": words.legend },
        Object.entries(kind_colors).map(([kind, color]) =>
            sign(kind, { background: `var(--${color})` }, words.kinds[kind] ?? kind),
        ),
        sign("marked", { border: "2px solid var(--plot-2)" }, words.marked),
        sign("again", { border: "2px solid var(--ink)" }, words.again),
        h("span.key.small", h("b.drop-key", { "aria-hidden": "true" }, "×"), words.drop),
        h("span.key.small", h("i.stop-key"), words.stopped),
    );
}

class PacketsTab {
    private readonly map: TopologyMap;
    private readonly clock = h("output.number.nowrap");
    private readonly told = h("p.muted.small");
    private readonly notes = h("div");
    private readonly info = h("div.stack");
    private readonly slider: HTMLInputElement;
    private readonly play: HTMLButtonElement;
    private readonly speed: HTMLSelectElement;
    private frames: Frame[] = [];
    private longest_ns = 0; // of a frame on a link
    private stops: Stop[] = [];
    private drops: Drop[] = [];
    private range: [number, number] = [0, 1];
    private at_ns = 0;
    private speed_ns = 1e4; // of simulated time in a second
    private request = 0; // for the next picture; 0: nothing is played
    private before_ms = 0;
    private picked: Picked = null;

    constructor(
        private readonly scope: Scope,
        private readonly run: Run,
        private readonly source: Source,
        private readonly has_events: boolean,
    ) {
        const words = t().packets;
        this.map = new TopologyMap(scope, {
            height: "52vh",
            scale_most: 6,
            pick: (picked) => {
                this.picked = picked;
                this.draw();
            },
        });
        this.map.show(source.topology);
        this.slider = h("input", {
            type: "range",
            min: 0,
            max: slider_steps,
            value: "0",
            "aria-label": words.time,
            on: {
                input: () => {
                    const share = Number(this.slider.value) / slider_steps;
                    this.set_time(this.range[0] + share * (this.range[1] - this.range[0]));
                },
            },
        });
        this.play = button(t().run.play, () => (this.request ? this.stop() : this.begin()));
        this.speed = select(
            speeds_ns.map((one): [string, string] => [String(one), words.speed(nanoseconds(one))]),
            String(this.speed_ns),
            (chosen) => {
                this.speed_ns = Number(chosen);
            },
            { "aria-label": words.speed_label },
        );
        scope.on_end(() => this.stop());
        on_range(scope, () => void this.load().catch((error: unknown) => fill(this.notes, problem(error))));
    }

    show(): Child {
        const words = t().packets;
        const small = { small: true };
        const back = button("‹", () => this.step(-1), { ...small, label: words.step_back, title: words.step_back });
        const on = button("›", () => this.step(1), { ...small, label: words.step, title: words.step });
        const time = h("div.slider-row", this.play, back, on, this.slider, this.clock);
        return [
            h("div.row", h("div.narrow", this.speed), legend()),
            this.notes,
            h("section.card.flush", this.map.element, time),
            this.told,
            this.info,
        ];
    }

    async load(): Promise<void> {
        const { from_ns, to_ns } = range_query();
        const ask = (table: string, more: object) => rows_of(this.run.id, table, { to_ns, ...more }, this.scope.signal);
        const { table, columns, where: only, frame } = this.source;
        const rows: Cell[][] = [];
        let matched = 0;
        do {
            const wanted = { columns, where: only, from_ns, offset: rows.length, limit: page_rows };
            const answer = await ask(table, wanted);
            matched = answer.matched;
            rows.push(...answer.rows);
        } while (rows.length < Math.min(matched, frames_max));
        const where = 'event in ("drop", "paused", "resumed")';
        // Ports may have been stopped before the chosen time.
        const event_columns = ["time_ns", "event", "port", "priority", "reason"];
        const events = this.has_events
            ? (await ask("events", { columns: event_columns, where, limit: events_max })).rows
            : [];
        this.frames = rows.map(frame);
        this.longest_ns = this.frames.reduce((most, one) => Math.max(most, one.to_ns - one.from_ns), 0);
        Object.assign(this, stops_of(events));
        const last_ns = this.frames.reduce((most, one) => Math.max(most, one.to_ns), 0);
        this.range = [this.frames[0]?.from_ns ?? 0, Math.max(last_ns, 1)];
        this.speed_ns = speeds_ns.findLast((one) => one <= this.longest_ns / crossing_s) ?? speeds_ns[0]!;
        this.speed.value = String(this.speed_ns);
        const cut = matched > rows.length ? t().packets.cut(count(rows.length), count(matched)) : "";
        fill(this.notes, cut ? note("warn", cut) : null);
        this.set_time(this.range[0]);
    }

    private set_time(at_ns: number): void {
        this.at_ns = Math.max(this.range[0], Math.min(at_ns, this.range[1]));
        this.draw();
    }

    // Moves to the next or previous moment at which a frame begins.
    private step(direction: 1 | -1): void {
        this.stop();
        const index = begun(this.frames, this.at_ns);
        if (direction > 0) {
            this.set_time(this.frames[index]?.from_ns ?? this.range[1]);
            return;
        }
        let before = index - 1;
        while (before >= 0 && this.frames[before]!.from_ns >= this.at_ns) {
            before--;
        }
        this.set_time(this.frames[before]?.from_ns ?? this.range[0]);
    }

    private moving(): Moving {
        const { at_ns, frames } = this;
        const here: Frame[] = [];
        for (let index = begun(frames, at_ns) - 1; index >= 0; index--) {
            const frame = frames[index]!;
            if (frame.from_ns < at_ns - this.longest_ns) {
                break;
            }
            if (frame.to_ns > at_ns) {
                here.push(frame);
            }
        }
        const since_ns = at_ns - drop_shown_s * this.speed_ns;
        return {
            at_ns,
            frames: here.reverse(),
            drops: this.drops.filter((one) => one.at_ns <= at_ns && one.at_ns > since_ns),
            stopped: new Set(
                this.stops.filter((one) => one.from_ns <= at_ns && at_ns < one.to_ns).map((one) => one.port),
            ),
        };
    }

    private draw(): void {
        const words = t().packets;
        const moving = this.moving();
        const [from, to] = this.range;
        this.map.show_moving(moving);
        this.slider.value = String(Math.round(((this.at_ns - from) / (to - from || 1)) * slider_steps));
        this.clock.textContent = nanoseconds(this.at_ns, 6);
        this.slider.setAttribute("aria-valuetext", this.clock.textContent);
        const kinds = new Map<string, number>();
        for (const { kind } of moving.frames) {
            kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        }
        const told = [...kinds].map(([kind, times]) => `${words.kinds[kind] ?? kind} ${count(times)}`).join(", ");
        this.told.textContent = [
            words.on_links(count(moving.frames.length)) + (told ? `: ${told}` : ""),
            words.stopped_ports(count(moving.stopped.size)),
            words.dropped_so_far(count(this.drops.filter((one) => one.at_ns <= this.at_ns).length)),
        ].join(" · ");
        this.list_picked(moving);
    }

    // Lists the frames on the links of what was picked.
    private list_picked({ frames }: Moving): void {
        const { picked } = this;
        if (!picked) {
            fill(this.info);
            return;
        }
        const words = t().packets;
        const ports =
            "bundle" in picked ? new Set(picked.bundle.links.flatMap((one) => [one.a_port, one.b_port])) : null;
        const of_node = (port: string) =>
            "node" in picked && (port.startsWith(`${picked.node.name}->`) || port.endsWith(`->${picked.node.name}`));
        const here = frames.filter(({ port }) => (ports ? ports.has(port) : of_node(port)));
        const title =
            "node" in picked ? picked.node.name : `${picked.bundle.links[0]!.a} – ${picked.bundle.links[0]!.b}`;
        const head = [t().run.port, words.kind, words.from, words.to, "QP", "PSN", words.size];
        const rows = here
            .slice(0, listed_max)
            .map((one) => [
                one.port,
                words.kinds[one.kind] ?? one.kind,
                one.src,
                one.dst,
                String(one.qp ?? ""),
                String(one.psn ?? ""),
                bytes(one.bytes),
            ]);
        fill(this.info, h("h3", `${title}: ${words.on_links(count(here.length))}`), plain_table(head, rows));
    }

    private begin(): void {
        this.play.textContent = t().run.stop;
        if (this.at_ns >= this.range[1]) {
            this.at_ns = this.range[0];
        }
        this.before_ms = performance.now();
        const next = (now_ms: number) => {
            const passed_s = Math.min((now_ms - this.before_ms) / 1000, 0.1);
            this.before_ms = now_ms;
            this.set_time(this.at_ns + passed_s * this.speed_ns);
            if (this.at_ns >= this.range[1]) {
                this.stop();
            } else {
                this.request = requestAnimationFrame(next);
            }
        };
        this.request = requestAnimationFrame(next);
    }

    private stop(): void {
        cancelAnimationFrame(this.request);
        this.request = 0;
        this.play.textContent = t().run.play;
    }
}

// Says how packets are recorded, and offers a new run that records them.
function not_recorded(run: Run): Child {
    const words = t().packets;
    const record = record_button(run, `${hops_setting}=${hops_recorded}`, "packets");
    return empty(words.none, words.none_text(count(hops_recorded)), record);
}

export function packets_tab(scope: Scope, run: Run): Child {
    return when_imported(scope, run.id, async (signal) => {
        const tables = await api.get<Tables>(`runs/${run.id}/tables`, undefined, signal);
        const source = await source_of(run, tables, signal);
        if (!source) {
            return not_recorded(run);
        }
        const has_events = tables.tables.some((one) => one.name === "events");
        const tab = new PacketsTab(scope, run, source, has_events);
        await tab.load();
        return tab.show();
    });
}
