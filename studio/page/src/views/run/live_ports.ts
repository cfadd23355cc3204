// SPDX-License-Identifier: Apache-2.0
// Queues and rates of ports while a run runs: of chosen ports, or of those with the longest queues.
import { api } from "../../core/api";
import { h, type Scope } from "../../core/dom";
import { bits_per_second, bytes } from "../../core/format";
import type { Run } from "../../core/types";
import { t } from "../../i18n/text";
import { figure_over_time } from "../../plot/figure";
import { plot, type Plot } from "../../plot/plot";
import { button, choose_names } from "../../ui/parts";

interface PortNow {
    port: string;
    queued_bytes: number;
    sent_bytes: number;
}

interface History {
    queued: number[]; // in bytes, one for each time
    sent: number[]; // in bytes since the run began
}

const samples_max = 600;
const curves_max = 8;
const chosen_max = 24;
const look_ms = 500;

export class PortSeries {
    readonly element: HTMLElement;
    private chosen: string[] = []; // none: the longest queues of this moment and the ports drawn so far
    private readonly times: number[] = [];
    private readonly seen = new Map<string, History>();
    private readonly queues: Plot;
    private readonly rates: Plot;
    private readonly told = h("span.muted.small");

    constructor(
        private readonly scope: Scope,
        private readonly run: Run,
    ) {
        const words = t().run;
        this.queues = plot(scope, { height: 240, live: true, name: "live-queues" });
        this.rates = plot(scope, { height: 240, live: true, name: "live-rates" });
        const title = h("h2", words.ports_chosen, " ", this.told);
        this.element = h(
            "section.card",
            { hidden: true },
            h(
                "header",
                title,
                button(words.choose_ports, () => this.choose(), { small: true }),
            ),
            h("div.columns", this.queues.element, this.rates.element),
        );
        scope.every(look_ms, () => this.look());
        this.look();
    }

    private look(): void {
        void this.load().catch(() => undefined); // the next look may succeed
    }

    private async load(): Promise<void> {
        const wanted = this.chosen.length > 0 ? this.chosen : [...this.seen.keys()];
        const top = this.chosen.length > 0 ? 0 : Math.max(curves_max - wanted.length, 0);
        const query = { ports: wanted.join(","), top };
        const answer = await api.get<{ sim_ns: number; ports: PortNow[] }>(
            `runs/${this.run.id}/live`,
            query,
            this.scope.signal,
        );
        this.take(answer.sim_ns, answer.ports);
    }

    private take(sim_ns: number, ports: PortNow[]): void {
        const { times, seen } = this;
        if (sim_ns === 0 || sim_ns === times[times.length - 1]) {
            return;
        }
        const unknown = () => new Array<number>(times.length).fill(NaN);
        for (const { port } of ports) {
            if (!seen.has(port)) {
                seen.set(port, { queued: unknown(), sent: unknown() });
            }
        }
        times.push(sim_ns);
        for (const [name, one] of seen) {
            const now = ports.find((port) => port.port === name);
            one.queued.push(now ? now.queued_bytes : NaN);
            one.sent.push(now ? now.sent_bytes : NaN);
        }
        if (times.length > samples_max) {
            times.shift();
            for (const one of seen.values()) {
                one.queued.shift();
                one.sent.shift();
            }
        }
        this.element.hidden = false;
        this.draw();
    }

    private rate(sent: number[]): number[] {
        const { times } = this;
        return sent.map((value, index) => {
            const time_ns = index > 0 ? times[index]! - times[index - 1]! : 0;
            return time_ns > 0 ? ((value - sent[index - 1]!) * 8e9) / time_ns : NaN;
        });
    }

    private draw(): void {
        const words = t().run;
        const { chosen } = this;
        this.show(this.queues, words.live_queue, bytes, (one) => one.queued);
        this.show(this.rates, words.live_port_rate, bits_per_second, (one) => this.rate(one.sent));
        this.told.textContent = chosen.length > 0 ? chosen.join(", ") : words.longest_queues;
    }

    private show(chart: Plot, title: string, y_text: (value: number) => string, values: (one: History) => number[]) {
        const shown = [...this.seen].filter(([name]) => this.chosen.length === 0 || this.chosen.includes(name));
        const series = shown.map(([name, one]) => ({ name, kind: "lines" as const, x: this.times, y: values(one) }));
        chart.show(figure_over_time(title, series, { y_range: [0, null], y_text }));
    }

    private async choose(): Promise<void> {
        const words = t().run;
        const address = `runs/${this.run.id}/live`;
        const { names } = await api.get<{ names: string[] }>(address, { names: true }, this.scope.signal);
        const done = (picked: string[]) => {
            this.chosen = picked.slice(0, chosen_max);
            this.times.length = 0;
            this.seen.clear();
            this.look();
        };
        await choose_names({ title: words.which_ports, find: words.find_port }, names, this.chosen, done);
    }
}
