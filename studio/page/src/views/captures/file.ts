// SPDX-License-Identifier: Apache-2.0
// One capture file: the packets that pass a filter, or those of one queue pair in both directions, and their details.
import { api, was_aborted } from "../../core/api";
import { debounce, fill, h, type Child, type Scope } from "../../core/dom";
import { bytes, count, nanoseconds } from "../../core/format";
import { go, keep_query, link, query_link } from "../../core/router";
import { choose_range, on_range, range_query, time_range } from "../../core/time_range";
import type { Packet, PacketDetail } from "../../core/types";
import { t, told } from "../../i18n/text";
import { grid, type Grid, type GridColumn, type GridPage } from "../../ui/grid";
import { figure_of_bins } from "../../plot/figure";
import { plot, type Plot } from "../../plot/plot";
import { badge, button, loading, problem, search_box, select } from "../../ui/parts";
import { range_bar } from "../../ui/range_bar";
import { groups_of, type Grouping } from "./groups";
import { packet_hops } from "./hops";
import { packet_detail } from "./packet";

export interface CaptureFile {
    file: string;
    packets: number;
    bytes: number;
    from_ns: number;
    to_ns: number;
    interfaces?: number; // 1: a pcap file; more: ports of the fabric, each in both directions
    cut?: boolean;
    message?: string;
}

const time_bins = 160;
const ecn_names = ["–", "ECT(1)", "ECT(0)", "CE"];

const arrows = { ">": "→ ", "<": "← " };

function kind_of({ kind, again, gap }: Packet): Child {
    const words = t().captures;
    return [kind, again ? [" ", badge(words.again, "warn")] : null, gap ? [" ", badge(words.gap(gap), "bad")] : null];
}

function columns_of(has_ports: boolean): GridColumn<Packet>[] {
    const words = t().captures;
    const did = (row: Packet) => [row.port, row.way ? ` ${words.ways[row.way]}` : ""].join("");
    const note = (row: Packet) =>
        row.note ? badge(told(row.note), /^(dropped|trimmed)/.test(row.note) ? "bad" : "warn") : "";
    const ports: GridColumn<Packet>[] = [
        { name: "port", title: words.at_port, width: 200, cell: did },
        { name: "note", title: words.note, width: 220, cell: note },
    ];
    return [
        { name: "n", title: "#", width: 70, right: true, cell: (row) => row.n },
        { name: "time", title: words.time, width: 130, right: true, cell: (row) => nanoseconds(row.time_ns, 7) },
        ...(has_ports ? ports : []),
        {
            name: "source",
            title: words.source,
            width: 110,
            cell: (row) => `${row.direction ? arrows[row.direction] : ""}${row.source ?? ""}`,
        },
        { name: "destination", title: words.destination, width: 110, cell: (row) => row.destination },
        {
            name: "kind",
            title: words.kind,
            width: 240,
            cell: kind_of,
        },
        { name: "qp", title: "QP", width: 80, cell: (row) => row.qp ?? "" },
        { name: "psn", title: "PSN", width: 90, right: true, cell: (row) => row.psn ?? "" },
        { name: "bytes", title: words.length, width: 80, right: true, cell: (row) => row.bytes },
        { name: "ecn", title: "ECN", width: 82, cell: (row) => ecn_names[Number(row.ecn)] ?? String(row.ecn ?? "") },
        { name: "info", title: words.info, width: 340, cell: (row) => row.info },
    ];
}

export class CaptureView {
    private readonly base: string;
    private readonly detail = h("div", h("p.muted", t().captures.choose_packet));
    private readonly faults = h("div", { "aria-live": "polite" });
    private readonly told = h("span.muted.small.number");
    private readonly list: Grid;
    private readonly timeline: Plot;
    private readonly groups;
    private readonly hops = h("div", { "aria-live": "polite" });
    private readonly box: HTMLInputElement;
    private readonly all: HTMLButtonElement;
    private readonly only: HTMLButtonElement; // says the chosen port and comment, and takes the choice back
    private port = ""; // that captured the frames shown; "": any
    private note = ""; // in the comments on the frames shown; "": any frame
    private following = 0; // the packet whose queue pair is followed; 0: none
    private detail_scope: Scope;

    constructor(
        private readonly scope: Scope,
        private readonly run: number,
        private readonly chosen: CaptureFile,
        private filter: string,
    ) {
        const words = t().captures;
        const has_ports = (chosen.interfaces ?? 1) > 1;
        this.base = `runs/${run}/captures/${encodeURIComponent(chosen.file)}`;
        this.detail_scope = scope.child();
        this.all = button(words.all_packets, () => this.follow(0), { small: true, icon: "back" });
        this.all.hidden = true;
        this.only = button("", () => this.choose_port("", ""), { small: true, title: words.all_ports });
        this.only.hidden = true;
        const filter_soon = debounce(scope, 300, () => this.apply_filter());
        const props = { class: "search mono wide", value: filter, placeholder: words.filter_example };
        this.box = search_box(words.filter, filter_soon, props);
        this.list = grid<Packet>(scope, {
            label: chosen.file,
            height: "40vh",
            columns: columns_of(has_ports),
            open: (row) => this.open(row.n),
            follow: true,
            empty: words.no_packets,
            fetch: (offset, limit, signal) => this.fetch(offset, limit, signal),
        });
        this.timeline = plot(scope, {
            height: 110,
            legend: false,
            name: chosen.file,
            zoomed: (from, to) => choose_range([from, to]),
        });
        const conversation: Grouping = {
            title: words.conversations,
            by: [
                ["src", words.source],
                ["dst", words.destination],
                ["src_port", words.port],
            ],
            filter: () => this.in_file(),
            choose: ([from, to, port]) => {
                const ports = typeof port === "number" ? ` and udp src port ${port}` : "";
                this.set_filter(`src host ${from} and dst host ${to}${ports}`);
            },
        };
        const of_ports: Grouping = {
            title: words.ports,
            by: [
                ["port", words.at_port],
                ["way", words.did],
                ["note", words.note],
            ],
            filter: () => this.in_file(),
            choose: ([port, , note]) => this.choose_port(String(port ?? ""), String(note ?? "")),
        };
        const groupings = has_ports ? [conversation, of_ports] : [conversation];
        this.groups = groupings.map((one) => groups_of(scope, run, one));
        const draw = () => void this.draw_timeline().catch(() => undefined); // the list says what is wrong
        on_range(scope, () => {
            this.list.reload();
            draw();
            for (const one of this.groups) {
                one.ask();
            }
        });
        draw();
    }

    private chosen_frames(): Record<string, string> {
        return { filter: this.filter, port: this.port, note: this.note };
    }

    // Shows the frames of one port, and those with a comment; "" stands for any.
    private choose_port(port: string, note: string): void {
        this.port = port;
        this.note = note;
        this.only.hidden = !port && !note;
        this.only.textContent = `${[port, note].filter(Boolean).join(" · ")} ×`;
        this.apply_filter();
        this.box.scrollIntoView({ block: "center" });
    }

    private in_file(): object[] {
        return [{ column: "file", op: "=", value: this.chosen.file }];
    }

    // Draws how many packets pass the filter over time.
    private async draw_timeline(): Promise<void> {
        const [from_ns, to_ns] = time_range() ?? [this.chosen.from_ns, this.chosen.to_ns];
        if (!(to_ns > from_ns)) {
            return;
        }
        const query = { ...this.chosen_frames(), limit: 0, bins: time_bins, from_ns, to_ns };
        const { bins } = await api.get<{ bins: number[] }>(this.base, query, this.scope.signal);
        const width = (to_ns - from_ns) / bins.length;
        const low = bins.map((_, index) => from_ns + index * width);
        const high = low.map((value) => value + width);
        this.timeline.show(figure_of_bins(t().captures.over_time, t().captures.count, low, high, bins));
    }

    private set_filter(wanted: string): void {
        this.box.value = wanted;
        this.apply_filter();
    }

    // Opens a packet that a link leads to, once the list is there.
    open_first(packet: number): void {
        this.open(packet);
        window.setTimeout(() => !this.scope.ended && this.mark(packet), 250);
    }

    show(captures: CaptureFile[]): Child {
        const words = t().captures;
        const { chosen, run } = this;
        const named = captures.map((one): [string, string] => [one.file, `${one.file} (${count(one.packets)})`]);
        const choose = (file: string) => go(link("captures", run, file));
        const href = `api/v1/runs/${run}/files/result/captures/${encodeURIComponent(chosen.file)}`;
        const download = { class: "button", href, download: chosen.file };
        const tools = h(
            "div.row",
            h("div.narrow", select(named, chosen.file, choose, { "aria-label": words.file })),
            this.box,
            this.only,
            this.told,
            this.all,
            h("span.grow"),
            h("a", download, words.download, ` (${bytes(chosen.bytes)})`),
        );
        const cut = chosen.cut || chosen.message;
        return [
            range_bar(this.scope, run, "captures"),
            tools,
            this.faults,
            cut ? h("p.small", badge(words.cut, "warn"), " ", told(chosen.message ?? "")) : null,
            h("section.card.tight-card", this.timeline.element),
            h("section.card.flush", this.list.element),
            this.detail,
            this.hops,
            this.groups.map((one) => one.element),
        ];
    }

    private apply_filter(): void {
        this.filter = this.box.value.trim();
        keep_query({ filter: this.filter });
        this.follow(0);
        void this.draw_timeline().catch(() => undefined);
    }

    // Shows the packets of one packet's queue pair; 0: shows all packets.
    private follow(packet: number): void {
        this.following = packet;
        this.all.hidden = packet === 0;
        this.list.reload();
    }

    // Selects a packet in the list. Only a list of all packets has each one at its number.
    private mark(packet: number): void {
        if (!this.filter && !this.port && !this.note && !this.following && !time_range()) {
            this.list.select(packet - 1);
        }
    }

    private async fetch(offset: number, limit: number, signal: AbortSignal): Promise<GridPage<Packet>> {
        if (this.following) {
            return this.fetch_followed(offset, limit, signal);
        }
        try {
            const query = { ...this.chosen_frames(), offset, limit, ...range_query() };
            const answer = await api.get<{ matched: number; packets: Packet[] }>(this.base, query, signal);
            fill(this.faults);
            this.box.removeAttribute("aria-invalid");
            this.told.textContent = t().captures.packets(count(answer.matched));
            return { rows: answer.packets, total: answer.matched };
        } catch (error) {
            if (!this.filter || was_aborted(error)) {
                throw error;
            }
            this.box.setAttribute("aria-invalid", "true");
            fill(this.faults, problem(error));
            return { rows: [], total: 0 };
        }
    }

    private async fetch_followed(offset: number, limit: number, signal: AbortSignal): Promise<GridPage<Packet>> {
        type Followed = { a: string; b: string; packets: Packet[] };
        const { a, b, packets } = await api.get<Followed>(`${this.base}/follow`, { n: this.following }, signal);
        this.told.textContent = t().captures.between(a, b, count(packets.length));
        return { rows: packets.slice(offset, offset + limit), total: packets.length };
    }

    private async open(packet: number): Promise<void> {
        this.detail_scope.end();
        this.detail_scope = this.scope.child();
        const here = this.detail_scope;
        keep_query({ packet: String(packet) });
        fill(this.hops);
        fill(this.detail, loading());
        try {
            const answer = await api.get<PacketDetail>(`${this.base}/${packet}`, undefined, here.signal);
            fill(this.detail, packet_detail(answer, this.actions(answer)));
        } catch (error) {
            if (!here.ended) {
                fill(this.detail, problem(error));
            }
        }
    }

    private async show_hops(packet: number): Promise<void> {
        const open = (n: number) => void this.open(n);
        fill(this.hops, await packet_hops(this.base, this.run, packet, open, this.detail_scope.signal));
        this.hops.scrollIntoView({ block: "nearest" });
    }

    private actions({ n, way, previous, next, flow_id }: PacketDetail): Child {
        const words = t().captures;
        const step = (to: number | null | undefined, text: string, icon: "back" | "next") => {
            const show = () => {
                if (to) {
                    this.mark(to);
                    void this.open(to);
                }
            };
            return button("", show, { small: true, icon, label: text, title: text, disabled: !to });
        };
        const flow = query_link(this.run, "flows", `flow_id = ${flow_id}`);
        return [
            step(previous, words.previous, "back"),
            step(next, words.next, "next"),
            way ? button(words.follow_hops, () => this.show_hops(n), { small: true }) : null,
            button(words.follow, () => this.follow(n), { small: true }),
            flow_id !== undefined ? h("a.button.small", { href: flow }, words.flow(flow_id)) : null,
        ];
    }
}
