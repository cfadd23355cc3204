// SPDX-License-Identifier: Apache-2.0
// Draws slices of flows by host, and of stopped ports, downed links and faults, over the chosen time.
import { api, rows_of } from "../../core/api";
import { fill, h, type Child, type Scope } from "../../core/dom";
import { bytes, count, nanoseconds, number } from "../../core/format";
import { keep_query, query_link, type Place } from "../../core/router";
import { choose_range, on_range, range_query, time_range } from "../../core/time_range";
import type { Cell, Run, Tables } from "../../core/types";
import { t } from "../../i18n/text";
import { slice_chart, type Slice } from "../../plot/slices";
import { button, card, empty, link_button, note, problem, select } from "../../ui/parts";
import { plain_table } from "../../ui/table";
import { trace_tools } from "./figures";
import { when_imported } from "./import";
import { summary_of } from "./summary";

const flows_max = 4000;
const open_max = 1000; // flows that failed or did not end, among these
const events_max = 10_000;
const rows_max = 60;
const event_rows_max = 20; // of them where there are more rows of flows than fit
const lanes_max = 4; // of a host, for flows at the same time
const groups = ["src", "dst", "pair", "app"] as const;

type Group = (typeof groups)[number];

interface Flow {
    id: string;
    src: string;
    dst: string;
    app: string;
    bytes: number;
    from_ns: number;
    to_ns: number; // the end of the shown time where it has none
    slowdown: number | null;
    status: string;
}

interface Row {
    name: string;
    slices: Slice[];
}

function row_name(flow: Flow, group: Group): string {
    return group === "pair" ? `${flow.src} → ${flow.dst}` : flow[group];
}

// Puts slices that overlap below each other, as far as there are lanes.
function lanes_of(name: string, slices: Slice[]): Row[] {
    const ends: number[] = [];
    const rows: Row[] = [];
    for (const slice of slices) {
        let lane = ends.findIndex((end) => end <= slice.from);
        if (lane < 0) {
            lane = ends.length < lanes_max ? ends.length : ends.indexOf(Math.min(...ends));
        }
        ends[lane] = Math.max(ends[lane] ?? 0, slice.to);
        rows[lane] ??= { name: lane === 0 ? name : "", slices: [] };
        rows[lane]!.slices.push(slice);
    }
    return rows;
}

function flow_slice(flow: Flow): Slice {
    const words = t().timeline;
    const ended = flow.status === "success";
    const kind = ended ? "flow" : flow.status === "" || flow.status === "unfinished" ? "open" : "failed";
    const time = nanoseconds(flow.to_ns - flow.from_ns);
    return {
        from: flow.from_ns,
        to: flow.to_ns,
        kind,
        text: [
            words.flow(flow.id, flow.src, flow.dst),
            `${bytes(flow.bytes)}, ${time}`,
            flow.slowdown === null ? "" : words.slowdown(number(flow.slowdown)),
            ended ? "" : `${words.kinds[kind] ?? kind}${flow.status ? `: ${flow.status}` : ""}`,
        ].filter(Boolean),
        about: { flow: flow.id, src: flow.src, dst: flow.dst },
    };
}

// The event that ends a state, and the name of the state, by the event that begins it.
const spans: Record<string, { end: string; kind: string }> = {
    paused: { end: "resumed", kind: "pause" },
    link_down: { end: "link_up", kind: "down" },
    fault: { end: "fault_over", kind: "fault" },
    storm: { end: "storm_over", kind: "fault" },
};

// Joins events to the times that they begin and end, by port: stopped, down or at fault.
function event_rows(rows: Cell[][], end_ns: number): Row[] {
    const open = new Map<string, Slice>();
    const by_port = new Map<string, Slice[]>();
    for (const [time, event, port, priority, reason] of rows) {
        const [name, at] = [String(event), Number(time)];
        const span = spans[name];
        if (span) {
            const key = `${span.end} ${port} ${priority ?? ""}`;
            const why = [reason, priority === null ? "" : `${t().timeline.priority} ${priority}`].filter(Boolean);
            const slice: Slice = {
                from: at,
                to: end_ns,
                kind: span.kind,
                text: [`${port}: ${t().timeline.kinds[span.kind] ?? span.kind}`, ...why.map(String)],
                about: { port: String(port) },
            };
            if (!open.has(key)) {
                open.set(key, slice);
                by_port.set(String(port), [...(by_port.get(String(port)) ?? []), slice]);
            }
            continue;
        }
        const key = `${name} ${port} ${priority ?? ""}`;
        const slice = open.get(key);
        if (slice) {
            slice.to = at;
            open.delete(key);
        }
    }
    return [...by_port].map(([name, slices]) => ({ name, slices }));
}

class TimelineTab {
    private readonly told = h("div.stack");
    private readonly info = h("div.stack", { "aria-live": "polite" });
    private readonly chart;
    private flows: Flow[] = [];
    private events: Row[] = [];
    private range: [number, number] = [0, 1];

    constructor(
        private readonly scope: Scope,
        private readonly run: Run,
        private readonly has: Set<string>, // names of the run's tables
        private readonly end_ns: number, // of the run
        private group: Group,
    ) {
        this.chart = slice_chart(scope, `${run.name}-timeline`, t().timeline.kinds, {
            choose: (from, to) => choose_range([from, to]),
            open: (slice) => this.show_slice(slice),
        });
        on_range(scope, () => void this.load().catch((error: unknown) => fill(this.told, problem(error))));
    }

    show(): Child {
        const words = t().timeline;
        const choose = (group: string) => {
            this.group = group as Group;
            keep_query({ group });
            this.draw();
        };
        const by = select(
            groups.map((one): [string, string] => [one, words.groups[one]]),
            this.group,
            choose,
            { "aria-label": words.by },
        );
        return [
            h("div.row", h("div.narrow", by), trace_tools(this.run)),
            this.told,
            card(null, null, this.chart.element),
            this.info,
        ];
    }

    async load(): Promise<void> {
        const range = range_query();
        // A slice that lasts into the chosen time may have begun before it.
        const ask = (table: string, columns: string[], limit: number, where: string, order: string, before = false) => {
            const descending = order.startsWith("-");
            const by = [{ column: order.slice(Number(descending)), descending }];
            const from_ns = before ? undefined : range.from_ns;
            const question = { columns, where, limit, order: by, ...range, from_ns };
            return rows_of(this.run.id, table, question, this.scope.signal);
        };
        const flow_columns = ["flow_id", "src", "dst", "app", "bytes", "start_ns", "end_ns", "slowdown", "status"];
        const event_columns = ["time_ns", "event", "port", "priority", "reason"];
        const where = `event in ("${Object.entries(spans)
            .flatMap(([name, { end }]) => [name, end])
            .join('", "')}")`;
        const none = { rows: [] as Cell[][], matched: 0 };
        const [flows, events] = await Promise.all([
            this.has.has("flows") ? ask("flows", flow_columns, flows_max, "", "start_ns") : none,
            this.has.has("events") ? ask("events", event_columns, events_max, where, "time_ns", true) : none,
        ]);
        // The longest of many flows are drawn, and those without an end.
        const thinned = flows.matched > flows.rows.length;
        if (thinned) {
            const [open, ended] = ['status != "success"', 'status = "success"'];
            const without_end = await ask("flows", flow_columns, open_max, open, "start_ns");
            const longest = await ask("flows", flow_columns, flows_max - without_end.rows.length, ended, "-fct_ns");
            flows.rows = [...without_end.rows, ...longest.rows].sort((one, other) => Number(one[5]) - Number(other[5]));
        }
        const number_of = (cell: Cell | undefined) => (typeof cell === "number" ? cell : null);
        const chosen = time_range();
        const last = Math.max(this.end_ns, 1);
        this.range = [chosen?.[0] ?? 0, chosen && chosen[1] < Number.MAX_SAFE_INTEGER ? chosen[1] : last];
        this.flows = flows.rows.map(([id, src, dst, app, size, from, to, slowdown, status]) => ({
            id: String(id),
            src: String(src),
            dst: String(dst),
            app: String(app ?? ""),
            bytes: Number(size),
            from_ns: Number(from),
            to_ns: number_of(to) ?? this.range[1],
            slowdown: number_of(slowdown),
            status: String(status ?? ""),
        }));
        this.events = event_rows(events.rows, this.range[1]);
        const { flows_cut, events_cut } = t().timeline;
        fill(
            this.told,
            thinned && note("warn", flows_cut(count(flows.rows.length), count(flows.matched))),
            events.matched > events.rows.length &&
                note("warn", events_cut(count(events.rows.length), count(events.matched))),
        );
        this.draw();
    }

    private draw(): void {
        const by_name = new Map<string, Slice[]>();
        for (const flow of this.flows) {
            const name = row_name(flow, this.group);
            by_name.set(name, [...(by_name.get(name) ?? []), flow_slice(flow)]);
        }
        const collator = new Intl.Collator("en", { numeric: true });
        const busy = (slices: Slice[]) => slices.reduce((sum, one) => sum + one.to - one.from, 0);
        const named = [...by_name]
            .sort(([, one], [, other]) => busy(other) - busy(one))
            .slice(0, rows_max)
            .sort(([one], [other]) => collator.compare(one, other));
        const flows = named.flatMap(([name, slices]) => lanes_of(name, slices));
        const { events } = this;
        const rows = [...flows.slice(0, rows_max - Math.min(events.length, event_rows_max)), ...events];
        this.chart.show({ rows: rows.slice(0, rows_max), range: this.range });
        const all = Math.max(by_name.size, flows.length) + events.length;
        fill(this.info, all > rows_max ? note("", t().timeline.rows_cut(count(rows_max), count(all))) : null);
    }

    // Shows a slice in words, with ways to what happened in its time.
    private show_slice(slice: Slice): void {
        const words = t().timeline;
        const { flow, port } = slice.about;
        const where = flow ? `flow_id = ${flow}` : `port = "${port}"`;
        const query = query_link(this.run.id, flow ? "flows" : "events", where);
        const time = [nanoseconds(slice.from, 6), nanoseconds(slice.to, 6)].join(" – ");
        fill(
            this.info,
            h("h3", slice.text[0]),
            plain_table(null, [
                [words.time, time],
                [words.about, slice.text.slice(1).join("; ")],
            ]),
            h(
                "div.row.tight",
                button(words.only_this, () => choose_range([slice.from, slice.to]), { small: true }),
                link_button(flow ? words.to_flow : t().run.events_of(port ?? ""), query, { small: true }),
            ),
        );
    }
}

export function timeline_tab(scope: Scope, run: Run, place: Place): Child {
    return when_imported(scope, run.id, async (signal) => {
        const [{ tables }, summary] = await Promise.all([
            api.get<Tables>(`runs/${run.id}/tables`, undefined, signal),
            summary_of(run.id, signal),
        ]);
        const has = new Set(tables.filter((one) => one.rows > 0).map((one) => one.name));
        if (!has.has("flows") && !has.has("events")) {
            return empty(t().timeline.none, t().timeline.none_text);
        }
        const asked = place.query.get("group");
        const group = groups.find((one) => one === asked) ?? "src";
        const tab = new TimelineTab(scope, run, has, summary.sim_time_ps / 1000, group);
        await tab.load();
        return tab.show();
    });
}
