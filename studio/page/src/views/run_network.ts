// SPDX-License-Identifier: Apache-2.0
// The network of a run, coloured by what its ports did over time.
import { api } from "../core/api";
import { fill, h, type Child, type Scope } from "../core/dom";
import { bytes, count, nanoseconds, percent } from "../core/format";
import { keep_query, link, type Place } from "../core/router";
import { choose_range, on_range, range_query } from "../core/time_range";
import type { MapAnswer, Run, Topology } from "../core/types";
import { t } from "../i18n/text";
import { heat_legend, topology_map } from "../topology/draw";
import { button, problem, select, toast } from "../ui/parts";
import { when_imported } from "./run_import";

// The network coloured by what its ports did, at a moment one chooses or moves through.
export function network_tab(scope: Scope, run: Run, place: Place): Child {
    const words = t().run;
    return when_imported(scope, run.id, async (signal) => {
        const topology = await api.get<Topology>(`runs/${run.id}/topology`, undefined, signal);
        let metric = place.query.get("metric") ?? "utilisation";
        let answer: MapAnswer | null = null;
        let frame = 0;
        let timer = 0;
        const legend = h("div");
        const info = h("div", { class: "stack", "aria-live": "polite" });
        const map_scope = scope;
        const map = topology_map(map_scope, {
            height: "56vh",
            pick: (picked) => {
                if (!picked) {
                    fill(info);
                } else if ("node" in picked) {
                    const ports = Object.keys(answer?.ports ?? {})
                        .filter((port) => port.startsWith(`${picked.node.name}->`))
                        .sort((one, other) => value_of(other) - value_of(one));
                    fill(info, port_table(picked.node.name, ports.slice(0, 40)));
                } else {
                    fill(
                        info,
                        port_table(
                            `${picked.bundle.links[0]!.a} – ${picked.bundle.links[0]!.b}`,
                            picked.bundle.links.flatMap((one) => [one.a_port, one.b_port]),
                        ),
                    );
                }
            },
        });
        map.show(topology);
        const value_of = (port: string): number => {
            const values = answer?.ports[port];
            return values ? (values[Math.min(frame, values.length - 1)] ?? NaN) : NaN;
        };
        const text_of = (value: number) =>
            metric === "utilisation" || metric === "pause"
                ? percent(value)
                : metric === "queue"
                  ? bytes(value)
                  : count(value);
        const port_table = (title: string, ports: string[]) => [
            h("h3", null, title),
            h(
                "table",
                { class: "plain" },
                h(
                    "tbody",
                    null,
                    ports.map((port) =>
                        h(
                            "tr",
                            null,
                            h(
                                "td",
                                null,
                                h(
                                    "a",
                                    {
                                        class: "mono",
                                        href: `${link("query")}?runs=${run.id}&table=events&where=${encodeURIComponent(`port = "${port}"`)}`,
                                        title: words.events_of(port),
                                    },
                                    port,
                                ),
                            ),
                            h(
                                "td",
                                { class: "right nowrap" },
                                Number.isNaN(value_of(port)) ? "–" : text_of(value_of(port)),
                            ),
                        ),
                    ),
                ),
            ),
        ];
        const clock = h("output", { class: "number nowrap" });
        const slider = h("input", {
            type: "range",
            min: 0,
            max: 0,
            value: "0",
            "aria-label": words.time_slider,
            on: {
                input: () => {
                    frame = Number(slider.value);
                    paint();
                },
            },
        });
        const paint = () => {
            if (!answer) {
                return;
            }
            const from = answer.time_ns[frame] ?? answer.from_ns;
            const to = answer.time_ns[frame + 1] ?? answer.to_ns;
            clock.textContent =
                answer.source === "totals" ? words.whole_run : `${nanoseconds(from)} – ${nanoseconds(to)}`;
            slider.setAttribute("aria-valuetext", clock.textContent);
            map.color({ value: value_of, most: answer.most || 1, text: text_of, title: metric });
            fill(
                legend,
                heat_legend(
                    words.metrics[metric as keyof typeof words.metrics] ?? metric,
                    text_of(0),
                    text_of(answer.most || 1),
                ),
            );
            const note = (answer.source === "totals" && words.totals[metric]) || answer.note;
            if (note) {
                legend.append(h("p", { class: "muted small" }, note));
            }
        };
        const only = button(
            words.this_moment,
            () =>
                answer &&
                choose_range([answer.time_ns[frame] ?? answer.from_ns, answer.time_ns[frame + 1] ?? answer.to_ns]),
            { small: true, title: words.this_moment_hint },
        );
        const play = button(words.play, () => {
            if (timer) {
                stop();
                return;
            }
            play.textContent = words.stop;
            timer = window.setInterval(() => {
                frame = (frame + 1) % Math.max(answer?.time_ns.length ?? 1, 1);
                slider.value = String(frame);
                paint();
            }, 250);
        });
        const stop = () => {
            window.clearInterval(timer);
            timer = 0;
            play.textContent = words.play;
        };
        scope.on_end(stop);
        const load = async () => {
            answer = await api.get<MapAnswer>(
                `runs/${run.id}/map`,
                { metric, frames: 120, ...range_query() },
                scope.signal,
            );
            frame = 0;
            slider.max = String(Math.max(answer.time_ns.length - 1, 0));
            slider.value = "0";
            slider.disabled = play.disabled = only.disabled = answer.time_ns.length < 2;
            paint();
        };
        on_range(scope, () => void load().catch((error: unknown) => fill(legend, problem(error))));
        await load();
        const finder = h("input", {
            class: "input search",
            type: "search",
            placeholder: words.find_node,
            "aria-label": words.find_node,
            list: "node-names",
            on: { change: () => map.find(finder.value.trim()) || toast(words.no_such_node(finder.value)) },
        });
        return [
            h(
                "div",
                { class: "row" },
                h(
                    "div",
                    { class: "narrow" },
                    select(
                        Object.entries(words.metrics) as [string, string][],
                        metric,
                        (chosen) => {
                            metric = chosen;
                            keep_query({ metric });
                            void load().catch((error: unknown) => fill(legend, problem(error)));
                        },
                        { "aria-label": words.color_by },
                    ),
                ),
                finder,
                h(
                    "datalist",
                    { id: "node-names" },
                    topology.nodes.slice(0, 500).map((node) => h("option", { value: node.name })),
                ),
                h("div", { class: "grow" }),
                legend,
            ),
            h(
                "section",
                { class: "card flush" },
                map.element,
                h("div", { class: "slider-row" }, play, slider, clock, only),
            ),
            info,
        ];
    });
}
