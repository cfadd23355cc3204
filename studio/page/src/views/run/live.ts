// SPDX-License-Identifier: Apache-2.0
// A run while it runs: totals of the network, and the queues and rates of ports, as they change.
import { h, type Child, type Scope } from "../../core/dom";
import { bits_per_second, bytes } from "../../core/format";
import type { Live, Run } from "../../core/types";
import { t } from "../../i18n/text";
import { figure_over_time } from "../../plot/figure";
import { plot } from "../../plot/plot";
import { empty } from "../../ui/parts";
import { PortSeries } from "./live_ports";

const samples_max = 2000; // of a plot

type Value = (sample: Live, before: Live | undefined) => number;

function sent_bps(sample: Live, before: Live | undefined): number {
    const time_ns = before ? sample.sim_ns - before.sim_ns : 0;
    return time_ns > 0 ? ((sample.sent_bytes - before!.sent_bytes) * 8e9) / time_ns : NaN;
}

// A curve of one value over the simulated time, from 0 on.
function chart(scope: Scope, samples: Live[], title: string, value: Value, y_text?: (value: number) => string) {
    const made = plot(scope, { height: 190, legend: false, live: true, name: title });
    const draw = () => {
        const y = samples.map((sample, index) => value(sample, samples[index - 1]));
        const x = samples.map((sample) => sample.sim_ns);
        made.show(figure_over_time(title, [{ name: title, kind: "lines", x, y }], { y_range: [0, null], y_text }));
    };
    return { element: h("section.card", made.element), draw };
}

// Shows a run that is not over: totals of its network, and its ports, as they change.
export function live_view(scope: Scope, run: Run): Child {
    const words = t().run;
    const samples: Live[] = run.live ? [run.live] : [];
    const charts = [
        chart(scope, samples, words.live.rate, sent_bps, bits_per_second),
        chart(scope, samples, words.live.queued, (sample) => sample.queued_bytes, bytes),
        chart(scope, samples, words.live.paused, (sample) => sample.paused_ports),
        chart(scope, samples, words.live.drops, (sample) => sample.drops),
    ];
    const place = h("div.columns");
    place.append(...charts.map((one) => one.element));
    const waits = empty(words.waits, words.waits_text);
    const draw = () => {
        place.hidden = samples.length < 2;
        waits.hidden = samples.length > 0 || run.state === "running";
        for (const one of samples.length >= 2 ? charts : []) {
            one.draw();
        }
    };
    scope.listen(window, "studio-live", (event: CustomEvent<Live>) => {
        samples.push(event.detail);
        if (samples.length > samples_max) {
            samples.splice(0, samples.length, ...samples.filter((_, index) => index % 2 === 0));
        }
        draw();
    });
    draw();
    const ports = new PortSeries(scope, run);
    return [waits, place, ports.element, h("p.muted.small", words.live_hint)];
}
