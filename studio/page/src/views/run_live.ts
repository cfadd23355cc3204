// SPDX-License-Identifier: Apache-2.0
// A run while it runs: totals as they come, and ports that one chooses.
import { api } from "../core/api";
import { fill, h, type Child, type Scope } from "../core/dom";
import { bits_per_second, bytes, nanoseconds } from "../core/format";
import type { Live, Run } from "../core/types";
import { t } from "../i18n/text";
import type { Figure } from "../plot/figure";
import { plot } from "../plot/plot";
import { button, empty, sheet } from "../ui/parts";

// A run that is not over: how far it is, how long it will take, and what goes on in it as it goes on.
export function live_view(scope: Scope, run: Run): Child {
    const words = t().run;
    const samples: Live[] = run.live ? [run.live] : [];
    const chart = (title: string, text?: (value: number) => string) => {
        const made = plot(scope, { height: 190, legend: false, name: title });
        const draw = (value: (sample: Live, before: Live | undefined) => number) => {
            const most = Math.max(
                ...samples.map((sample, index) => value(sample, samples[index - 1])).filter(Number.isFinite),
                0,
            );
            made.show({
                y_range: [0, most * 1.1 || 1],
                title,
                x_label: words.time,
                y_label: "",
                x_text: (ns) => nanoseconds(ns),
                y_text: text,
                series: [
                    {
                        name: title,
                        kind: "lines",
                        x: samples.map((sample) => sample.sim_ns),
                        y: samples.map((sample, index) => value(sample, samples[index - 1])),
                    },
                ],
            });
        };
        return { element: h("section", { class: "card" }, made.element), draw };
    };
    const rate = chart(words.live.rate, (value) => bits_per_second(value));
    const queued = chart(words.live.queued, (value) => bytes(value));
    const paused = chart(words.live.paused);
    const drops = chart(words.live.drops);
    const place = h("div", { class: "columns" }, rate.element, queued.element, paused.element, drops.element);
    const waits = empty(words.waits, words.waits_text);
    const draw = () => {
        place.hidden = samples.length < 2;
        waits.hidden = samples.length > 0 || run.state === "running";
        if (samples.length >= 2) {
            rate.draw((sample, before) =>
                before && sample.sim_ns > before.sim_ns
                    ? ((sample.sent_bytes - before.sent_bytes) * 8e9) / (sample.sim_ns - before.sim_ns)
                    : NaN,
            );
            queued.draw((sample) => sample.queued_bytes);
            paused.draw((sample) => sample.paused_ports);
            drops.draw((sample) => sample.drops);
        }
    };
    scope.listen(window, "studio-live", (event: CustomEvent<Live>) => {
        samples.push(event.detail);
        // Every second sample goes when there are more than a plot can show.
        if (samples.length > 2000) {
            samples.splice(0, samples.length, ...samples.filter((_, index) => index % 2 === 0));
        }
        draw();
    });
    draw();
    return [waits, place, port_series(scope, run), h("p", { class: "muted small" }, words.live_hint)];
}

interface PortNow {
    port: string;
    queued_bytes: number;
    sent_bytes: number;
    drops: number;
    paused: boolean;
}

const kept_samples = 600;
const most_curves = 8;

// Queue and rate of ports: those one chooses, or the longest queues of this moment and those drawn so far.
function port_series(scope: Scope, run: Run): HTMLElement {
    const words = t().run;
    let chosen: string[] = [];
    const times: number[] = [];
    const seen = new Map<string, { queued: number[]; sent: number[] }>();
    const queues = plot(scope, { height: 240, name: "live-queues" });
    const rates = plot(scope, { height: 240, name: "live-rates" });
    const told = h("span", { class: "muted small" });
    const element = h("section", { class: "card", hidden: true });

    const draw = () => {
        const shown = [...seen].filter(([name]) => chosen.length === 0 || chosen.includes(name));
        const from_zero = (figure: Figure): Figure => ({
            ...figure,
            y_range: [0, Math.max(...figure.series.flatMap((one) => one.y.filter(Number.isFinite)), 0) * 1.1 || 1],
        });
        const curve = (values: (one: { queued: number[]; sent: number[] }) => number[]) =>
            shown.map(([name, one]) => ({ name, kind: "lines" as const, x: times, y: values(one) }));
        queues.show(
            from_zero({
                title: words.live_queue,
                x_label: words.time,
                y_label: "",
                x_text: (ns) => nanoseconds(ns),
                y_text: (value) => bytes(value),
                series: curve((one) => one.queued),
            }),
        );
        rates.show(
            from_zero({
                title: words.live_port_rate,
                x_label: words.time,
                y_label: "",
                x_text: (ns) => nanoseconds(ns),
                y_text: (value) => bits_per_second(value),
                series: curve((one) =>
                    one.sent.map((value, index) =>
                        index > 0 && times[index]! > times[index - 1]!
                            ? ((value - one.sent[index - 1]!) * 8e9) / (times[index]! - times[index - 1]!)
                            : NaN,
                    ),
                ),
            }),
        );
        told.textContent = chosen.length > 0 ? chosen.join(", ") : words.longest_queues;
    };
    const take = (sim_ns: number, ports: PortNow[]) => {
        if (sim_ns === 0 || sim_ns === times[times.length - 1]) {
            return;
        }
        times.push(sim_ns);
        for (const port of ports) {
            if (!seen.has(port.port)) {
                seen.set(port.port, {
                    queued: new Array<number>(times.length - 1).fill(NaN),
                    sent: new Array<number>(times.length - 1).fill(NaN),
                });
            }
        }
        for (const [name, one] of seen) {
            const now = ports.find((port) => port.port === name);
            one.queued.push(now ? now.queued_bytes : NaN);
            one.sent.push(now ? now.sent_bytes : NaN);
        }
        if (times.length > kept_samples) {
            times.shift();
            for (const one of seen.values()) {
                one.queued.shift();
                one.sent.shift();
            }
        }
        element.hidden = false;
        draw();
    };
    const load = async () => {
        // Those that are drawn go on; new ones come while there is room.
        const wanted = chosen.length > 0 ? chosen : [...seen.keys()];
        const top = chosen.length > 0 ? 0 : Math.max(most_curves - wanted.length, 0);
        const answer = await api.get<{ sim_ns: number; ports: PortNow[] }>(
            `runs/${run.id}/live`,
            { ports: wanted.join(","), top },
            scope.signal,
        );
        take(answer.sim_ns, answer.ports);
    };
    const choose = async () => {
        const { names } = await api.get<{ names: string[] }>(`runs/${run.id}/live`, { names: true }, scope.signal);
        const picked = new Set(chosen);
        const list = h("div", { class: "choices" });
        const box = h("input", {
            class: "input search",
            type: "search",
            placeholder: words.find_port,
            "aria-label": words.find_port,
        });
        const show = () =>
            fill(
                list,
                names
                    .filter((name) => picked.has(name) || name.includes(box.value.trim()))
                    .slice(0, 400)
                    .map((name) => {
                        const check = h("input", {
                            type: "checkbox",
                            checked: picked.has(name),
                            on: { change: () => (check.checked ? picked.add(name) : picked.delete(name)) },
                        });
                        return h("label", { class: "check mono" }, check, name);
                    }),
            );
        box.addEventListener("input", show);
        show();
        await sheet(words.which_ports, [box, list], {
            text: words.show,
            done: () => {
                chosen = [...picked].slice(0, 24);
                times.length = 0;
                seen.clear();
                void load().catch(() => undefined);
            },
        });
    };
    fill(
        element,
        h(
            "header",
            null,
            h("h2", null, words.ports_chosen, " ", told),
            button(words.choose_ports, choose, { small: true }),
        ),
        h("div", { class: "columns" }, queues.element, rates.element),
    );
    const look = () => void load().catch(() => undefined);
    scope.every(500, look);
    look();
    return element;
}
