// SPDX-License-Identifier: Apache-2.0
// The network of a run, coloured by what its ports did, at a moment that one chooses or moves through.
import { api } from "../../core/api";
import { fill, h, type Child, type Scope } from "../../core/dom";
import { bytes, count, nanoseconds, percent } from "../../core/format";
import { keep_query, query_link, type Place } from "../../core/router";
import { choose_range, on_range, range_query } from "../../core/time_range";
import type { MapAnswer, Run, Topology } from "../../core/types";
import { t, told } from "../../i18n/text";
import { heat_legend, TopologyMap } from "../../topology/draw";
import type { Picked } from "../../topology/paint";
import { button, problem, search_box, select, toast } from "../../ui/parts";
import { plain_table } from "../../ui/table";
import { when_imported } from "./import";

const frames_max = 120;
const frame_ms = 250; // of real time, while frames are played
const ports_max = 40;
const names_max = 500; // that the search proposes

class NetworkTab {
    private readonly map: TopologyMap;
    private readonly legend = h("div");
    private readonly info = h("div.stack", { "aria-live": "polite" });
    private readonly clock = h("output.number.nowrap");
    private readonly slider: HTMLInputElement;
    private readonly play: HTMLButtonElement;
    private readonly only: HTMLButtonElement;
    private answer: MapAnswer | null = null;
    private frame = 0;
    private timer = 0; // 0: frames are not played

    constructor(
        private readonly scope: Scope,
        private readonly run: Run,
        private metric: string,
    ) {
        const words = t().run;
        const slide = () => {
            this.frame = Number(this.slider.value);
            this.paint();
        };
        this.slider = h("input", {
            type: "range",
            min: 0,
            max: 0,
            value: "0",
            "aria-label": words.time_slider,
            on: { input: slide },
        });
        const choose = () => choose_range(this.frame_range());
        this.only = button(words.this_moment, choose, { small: true, title: words.this_moment_hint });
        this.play = button(words.play, () => (this.timer ? this.stop() : this.begin()));
        this.map = new TopologyMap(scope, {
            height: "56vh",
            pick: (picked) => this.show_picked(picked),
            ask: (folds) => api.get<Topology>(`runs/${run.id}/topology`, { ...folds }, scope.signal),
            changed: () => this.reload(),
        });
        scope.on_end(() => this.stop());
        on_range(scope, () => this.reload());
    }

    async load(): Promise<void> {
        if (!this.answer) {
            await this.map.load();
        }
        const query = { metric: this.metric, frames: frames_max, ...this.map.folds(), ...range_query() };
        const answer = await api.get<MapAnswer>(`runs/${this.run.id}/map`, query, this.scope.signal);
        const frames = answer.time_ns.length;
        this.answer = answer;
        this.frame = 0;
        this.slider.max = String(Math.max(frames - 1, 0));
        this.slider.value = "0";
        for (const control of [this.slider, this.play, this.only]) {
            control.disabled = frames < 2;
        }
        this.paint();
    }

    show(): Child {
        const words = t().run;
        const find = async () => (await this.map.find(finder.value.trim())) || toast(words.no_such_node(finder.value));
        const on = { change: () => void find().catch((error: unknown) => fill(this.legend, problem(error))) };
        const finder = search_box(words.find_node, () => undefined, { list: "node-names", on });
        const choose = (metric: string) => {
            this.metric = metric;
            keep_query({ metric });
            this.reload();
        };
        const metrics = select(Object.entries(words.metrics), this.metric, choose, { "aria-label": words.color_by });
        const names = this.map.names(names_max).map((name) => h("option", { value: name }));
        const head = h(
            "div.row",
            h("div.narrow", metrics),
            finder,
            h("datalist", { id: "node-names" }, names),
            h("div.grow"),
            this.legend,
        );
        const time = h("div.slider-row", this.play, this.slider, this.clock, this.only);
        return [head, h("section.card.flush", this.map.element, time), this.info];
    }

    private reload(): void {
        void this.load().catch((error: unknown) => fill(this.legend, problem(error)));
    }

    private frame_range(): [number, number] | null {
        const { answer, frame } = this;
        return answer && [answer.time_ns[frame] ?? answer.from_ns, answer.time_ns[frame + 1] ?? answer.to_ns];
    }

    private value(port: string): number {
        const values = this.answer?.ports[port];
        return values ? (values[Math.min(this.frame, values.length - 1)] ?? NaN) : NaN;
    }

    private text(value: number): string {
        if (Number.isNaN(value)) {
            return "–";
        }
        switch (this.metric) {
            case "utilisation":
            case "pause":
                return percent(value);
            case "queue":
                return bytes(value);
            default:
                return count(value);
        }
    }

    private paint(): void {
        const words = t().run;
        const { answer, metric, clock } = this;
        const range = this.frame_range();
        if (!answer || !range) {
            return;
        }
        const whole = answer.source === "totals";
        clock.textContent = whole ? words.whole_run : `${nanoseconds(range[0])} – ${nanoseconds(range[1])}`;
        this.slider.setAttribute("aria-valuetext", clock.textContent);
        const most = answer.most || 1;
        const text = (value: number) => this.text(value);
        this.map.color({ value: (port) => this.value(port), most, text, title: metric });
        const from_capture = answer.source === "capture" ? words.from_capture : "";
        const note = (whole && words.totals[metric]) || from_capture || told(answer.note ?? "");
        fill(
            this.legend,
            heat_legend(words.metrics[metric] ?? metric, text(0), text(most)),
            note ? h("p.muted.small", note) : null,
        );
    }

    private begin(): void {
        this.play.textContent = t().run.stop;
        this.timer = window.setInterval(() => {
            this.frame = (this.frame + 1) % Math.max(this.answer?.time_ns.length ?? 1, 1);
            this.slider.value = String(this.frame);
            this.paint();
        }, frame_ms);
    }

    private stop(): void {
        window.clearInterval(this.timer);
        this.timer = 0;
        this.play.textContent = t().run.play;
    }

    private show_picked(picked: Picked): void {
        if (!picked) {
            fill(this.info);
        } else if ("node" in picked) {
            const { name } = picked.node;
            const of_node = (port: string) => port.startsWith(`${name}->`) || port.startsWith(`${name}/`);
            this.show_ports(name, Object.keys(this.answer?.ports ?? {}).filter(of_node));
        } else {
            const { links } = picked.bundle;
            const ports = links.flatMap((one) => [one.a_port, one.b_port]);
            this.show_ports(`${links[0]!.a} – ${links[0]!.b}`, ports);
        }
    }

    private show_ports(title: string, all: string[]): void {
        const worst = all.sort((one, other) => this.value(other) - this.value(one)).slice(0, ports_max);
        const rows = worst.map((port) => {
            const href = query_link(this.run.id, "events", `port = "${port}"`);
            const is_port = !port.includes("("); // and not the links between two folds
            return [
                is_port ? h("a.mono", { href, title: t().run.events_of(port) }, port) : port,
                h("td.right.nowrap", this.text(this.value(port))),
            ];
        });
        fill(this.info, h("h3", title), plain_table(null, rows));
    }
}

export function network_tab(scope: Scope, run: Run, place: Place): Child {
    return when_imported(scope, run.id, async () => {
        const tab = new NetworkTab(scope, run, place.query.get("metric") ?? "utilisation");
        await tab.load();
        return tab.show();
    });
}
