// SPDX-License-Identifier: Apache-2.0
// One run: while it runs its progress and live series, then what happened, in words, numbers and pictures.
import { api, api_url, ApiError, listen_events } from "../core/api";
import { debounce, fill, h, Scope, type Child } from "../core/dom";
import { bits_per_second, bytes, count, moment, nanoseconds, number, percent, seconds, with_unit } from "../core/format";
import { keep_query, link, go, type Place } from "../core/router";
import { session } from "../core/session";
import type { Summary } from "../core/summary";
import { settings_of, type FigureAnswer, type Live, type MapAnswer, type QueryAnswer, type Run, type Runs, type SeriesAnswer, type Tables, type Topology } from "../core/types";
import { t } from "../i18n/text";
import { short_number, type Figure } from "../plot/figure";
import { plot } from "../plot/plot";
import { heat_legend, topology_map } from "../topology/draw";
import { data_grid } from "../ui/data_grid";
import { bar, button, card, empty, fact, later, link_button, loading, note, problem, select, sheet, tabs, toast, view_head, type Tab } from "../ui/parts";
import { figure_of } from "../plot/served";
import { flow_table, models_tab } from "./report";
import { is_active, state_badge, trash_run } from "./runs";

// Waits until what a run left is imported, with its progress; then gives what make gives.
export function when_imported(scope: Scope, run: number, make: (signal: AbortSignal) => Promise<Child>): HTMLElement {
    const place = h("div", { class: "stack wide" }, loading());
    const words = t().run;
    const attempt = async () => {
        try {
            const made = await make(scope.signal);
            if (!scope.ended) {
                fill(place, h("div", { class: "stack wide appear" }, made));
            }
        } catch (error) {
            if (scope.ended) {
                return;
            }
            const imported = error instanceof ApiError && error.status === 409 ? ((error.body["error"] as Record<string, unknown>)?.["import"] as Record<string, number & string> | undefined) : undefined;
            if (imported && imported["state"] !== "failed") {
                const share = imported["bytes_total"] ? Number(imported["bytes_done"]) / Number(imported["bytes_total"]) : 0;
                fill(place, h("div", { class: "empty" }, h("h2", null, words.importing), h("div", { class: "import-bar" }, bar(share, words.importing)), h("p", { class: "number" }, imported["rows_per_s"] ? words.import_rate(count(Number(imported["rows"])), count(Number(imported["rows_per_s"])), String(imported["part"] ?? "")) : "")));
                window.setTimeout(() => void attempt(), 400);
            } else {
                fill(place, problem(error, () => void attempt()), error instanceof ApiError && error.status === 409 ? button(words.import_again, () => api.post(`runs/${run}/import`).then(attempt)) : null);
            }
        }
    };
    void attempt();
    return place;
}

function sentences(summary: Summary): string[] {
    const words = t().story;
    const flows = summary.flows;
    const said = [words.network(summary.network.hosts, summary.network.nodes - summary.network.hosts, summary.network.links, summary.congestion_control)];
    said.push(words.ended[summary.ended]?.(nanoseconds(summary.sim_time_ps / 1000)) ?? summary.ended);
    if (flows.count > 0) {
        said.push(words.flows(count(flows.completed), count(flows.count), bytes(flows.delivered_bytes ?? summary.bytes_delivered)));
        if (flows.failed > 0) {
            said.push(words.failed(count(flows.failed)));
        }
        if (flows.slowdown?.p50) {
            said.push(words.slowdown(number(flows.slowdown.p50), number(flows.slowdown.p99)));
        }
    }
    const dropped = Object.values(summary.drops).reduce((sum, one) => sum + one, 0);
    said.push(dropped === 0 ? words.no_drops : words.drops(count(dropped), Object.entries(summary.drops).filter(([, number_of]) => number_of > 0).map(([reason, number_of]) => `${reason} ${count(number_of)}`).join(", "), count(summary.retransmitted_packets)));
    const root = summary.pfc.roots?.[0];
    if (summary.pfc.pause_frames > 0) {
        said.push(words.pauses(count(summary.pfc.pause_frames), nanoseconds(summary.pfc.paused_ps / 1000)));
        if (root) {
            said.push(words.root(root.port, nanoseconds(root.first_ps / 1000), root.ports, root.hosts, root.links_away));
        }
    } else {
        said.push(words.no_pauses);
    }
    if (summary.ecn_marked > 0) {
        said.push(words.marks(count(summary.ecn_marked), count(summary.cnp_sent)));
    }
    const hot = summary.hottest_ports[0];
    if (hot) {
        said.push(words.hottest(hot.port, bytes(hot.queue_bytes_max), percent(hot.utilisation)));
    }
    return said;
}

// The summary needs no import: it is a file of the result's folder, and is there as soon as the run has ended.
function summary_of(run: number, signal: AbortSignal): Promise<Summary> {
    return api.get<Summary>(`runs/${run}/files/result/summary.json`, undefined, signal);
}

function summary_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    return later(scope, async (signal) => {
        const summary = await summary_of(run.id, signal);
        const flows = summary.flows;
        const dropped = Object.values(summary.drops).reduce((sum, one) => sum + one, 0);
        const conserved = typeof summary.conservation === "string" ? summary.conservation === "ok" : summary.conservation.ok !== false;
        return [
            card(words.what_happened, null, h("p", { class: "story" }, sentences(summary).join(t().story.between)), conserved ? null : note("bad", typeof summary.conservation === "object" ? (summary.conservation.message ?? "") : summary.conservation)),
            h(
                "div",
                { class: "facts" },
                fact(words.simulated, nanoseconds(summary.sim_time_ps / 1000)),
                flows.count > 0 ? fact(words.flows_done, `${count(flows.completed)} / ${count(flows.count)}`, flows.failed > 0 ? "bad" : "") : null,
                flows.slowdown?.p99 ? fact(words.slowdown_p99, number(flows.slowdown.p99)) : null,
                flows.goodput_gbps?.mean ? fact(words.goodput_mean, `${number(flows.goodput_gbps.mean)} Gbps`) : null,
                fact(words.drops, count(dropped), dropped > 0 ? "warn" : ""),
                fact(words.pauses, count(summary.pfc.pause_frames), summary.pfc.pause_frames > 0 ? "warn" : ""),
                fact(words.marked, count(summary.ecn_marked)),
                fact(words.speed, `${count(summary.wall_packet_hops_per_s)} ${words.hops_per_s}`),
            ),
            flows.count > 0 ? card(words.by_size, null, flow_table(flows)) : null,
            h(
                "div",
                { class: "columns" },
                summary.hottest_ports.length > 0
                    ? card(
                          words.hottest,
                          null,
                          h(
                              "div",
                              { class: "scroll-x", tabindex: 0 },
                              h(
                                  "table",
                                  { class: "plain" },
                                  h("thead", null, h("tr", null, h("th", { scope: "col" }, words.port), [words.queue_max, words.utilisation, words.stopped].map((text) => h("th", { class: "right", scope: "col" }, text)))),
                                  h("tbody", null, summary.hottest_ports.map((row) => h("tr", null, h("td", { class: "mono" }, row.port), h("td", { class: "right nowrap" }, bytes(row.queue_bytes_max)), h("td", { class: "right nowrap" }, percent(row.utilisation)), h("td", { class: "right nowrap" }, nanoseconds(row.paused_ps / 1000))))),
                              ),
                          ),
                      )
                    : null,
                summary.pfc.roots && summary.pfc.roots.length > 0
                    ? card(
                          words.roots,
                          link_button(words.ask_events, `${link("query")}?runs=${run.id}&table=events&where=${encodeURIComponent('event = "paused"')}`, { small: true }),
                          h(
                              "div",
                              { class: "scroll-x", tabindex: 0 },
                              h(
                                  "table",
                                  { class: "plain" },
                                  h("thead", null, h("tr", null, h("th", { scope: "col" }, words.began_at), [words.first, words.pauses, words.stopped, words.ports_stopped].map((text) => h("th", { class: "right", scope: "col" }, text)))),
                                  h("tbody", null, summary.pfc.roots.slice(0, 12).map((row) => h("tr", null, h("td", { class: "mono" }, row.port), h("td", { class: "right nowrap" }, nanoseconds(row.first_ps / 1000)), h("td", { class: "right" }, count(row.pauses)), h("td", { class: "right nowrap" }, nanoseconds(row.paused_ps / 1000)), h("td", { class: "right" }, count(row.ports))))),
                              ),
                          ),
                      )
                    : null,
            ),
            h("p", { class: "muted small" }, words.made_by(summary.version, summary.digest, String(summary.seed), seconds(summary.wall_s))),
        ];
    });
}

// The network coloured by what its ports did, at a moment one chooses or moves through.
function network_tab(scope: Scope, run: Run, place: Place): Child {
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
                    const ports = Object.keys(answer?.ports ?? {}).filter((port) => port.startsWith(`${picked.node.name}->`)).sort((one, other) => value_of(other) - value_of(one));
                    fill(info, port_table(picked.node.name, ports.slice(0, 40)));
                } else {
                    fill(info, port_table(`${picked.bundle.links[0]!.a} – ${picked.bundle.links[0]!.b}`, picked.bundle.links.flatMap((one) => [one.a_port, one.b_port])));
                }
            },
        });
        map.show(topology);
        const value_of = (port: string): number => {
            const values = answer?.ports[port];
            return values ? (values[Math.min(frame, values.length - 1)] ?? NaN) : NaN;
        };
        const text_of = (value: number) => (metric === "utilisation" || metric === "pause" ? percent(value) : metric === "queue" ? bytes(value) : count(value));
        const port_table = (title: string, ports: string[]) => [
            h("h3", null, title),
            h("table", { class: "plain" }, h("tbody", null, ports.map((port) => h("tr", null, h("td", null, h("a", { class: "mono", href: `${link("query")}?runs=${run.id}&table=events&where=${encodeURIComponent(`port = "${port}"`)}`, title: words.events_of(port) }, port)), h("td", { class: "right nowrap" }, Number.isNaN(value_of(port)) ? "–" : text_of(value_of(port))))))),
        ];
        const clock = h("output", { class: "number nowrap" });
        const slider = h("input", { type: "range", min: 0, max: 0, value: "0", "aria-label": words.time_slider, on: { input: () => ((frame = Number(slider.value)), paint()) } });
        const paint = () => {
            if (!answer) {
                return;
            }
            const from = answer.time_ns[frame] ?? answer.from_ns;
            const to = answer.time_ns[frame + 1] ?? answer.to_ns;
            clock.textContent = answer.source === "totals" ? words.whole_run : `${nanoseconds(from)} – ${nanoseconds(to)}`;
            slider.setAttribute("aria-valuetext", clock.textContent);
            map.color({ value: value_of, most: answer.most || 1, text: text_of, title: metric });
            fill(legend, heat_legend(words.metrics[metric as keyof typeof words.metrics] ?? metric, text_of(0), text_of(answer.most || 1)));
            if (answer.note) {
                legend.append(h("p", { class: "muted small" }, answer.note));
            }
        };
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
            answer = await api.get<MapAnswer>(`runs/${run.id}/map`, { metric, frames: 120 }, scope.signal);
            frame = 0;
            slider.max = String(Math.max(answer.time_ns.length - 1, 0));
            slider.value = "0";
            slider.disabled = play.disabled = answer.time_ns.length < 2;
            paint();
        };
        await load();
        const finder = h("input", { class: "input search", type: "search", placeholder: words.find_node, "aria-label": words.find_node, list: "node-names", on: { change: () => map.find(finder.value.trim()) || toast(words.no_such_node(finder.value)) } });
        return [
            h(
                "div",
                { class: "row" },
                h("div", { class: "narrow" }, select(Object.entries(words.metrics) as [string, string][], metric, (chosen) => ((metric = chosen), keep_query({ metric }), void load().catch((error: unknown) => fill(legend, problem(error)))), { "aria-label": words.color_by })),
                finder,
                h("datalist", { id: "node-names" }, topology.nodes.slice(0, 500).map((node) => h("option", { value: node.name }))),
                h("div", { class: "grow" }),
                legend,
            ),
            h("section", { class: "card flush" }, map.element, h("div", { class: "slider-row" }, play, slider, clock)),
            info,
        ];
    });
}

function figures_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    return when_imported(scope, run.id, async (signal) => {
        const { kinds } = await api.get<{ kinds: string[] }>("figure/kinds", { runs: run.id }, signal);
        if (kinds.length === 0) {
            return empty(words.no_figures, words.no_figures_text);
        }
        return kinds.map((kind) => {
            const place = h("div", { class: "figures" }, loading());
            api.post<FigureAnswer>("figure", { runs: [run.id], kind }, signal).then(
                (answer) => {
                    fill(place);
                    for (const panel of answer.panels) {
                        const made = figure_of(scope, panel, `${run.name}-${kind}`);
                        place.append(made);
                    }
                    const said = Array.isArray(answer.words) ? answer.words.join(" ") : answer.words;
                    if (said) {
                        place.append(h("p", { class: "muted small" }, said));
                    }
                },
                (error: unknown) => {
                    if (!scope.ended) {
                        // Of a kind that needs more than these runs have (twenty flows, say) the server says what.
                        fill(place, error instanceof ApiError && error.status >= 400 && error.status < 500 ? h("p", { class: "muted" }, error.message) : problem(error));
                    }
                },
            );
            return card(words.figure_kinds[kind as keyof typeof words.figure_kinds] ?? kind, h("div", { class: "row tight" }, ["svg", "png", "gnuplot"].map((format) => h("a", { class: "button small quiet", href: api_url("figure", { body: JSON.stringify({ runs: [run.id], kind, format }) }), download: `${kind}.${format}`, on: { click: (event) => (event.preventDefault(), void save_figure(run, kind, format)) } }, words.as_plot(format)))), place);
        });
    });
}

async function save_figure(run: Run, kind: string, format: string): Promise<void> {
    const { call } = await import("../core/api");
    const { save_file, tell_problem } = await import("../ui/parts");
    try {
        const response = await call("POST", "figure", { body: { runs: [run.id], kind, format } });
        save_file(`${run.name}-${kind}.${format}`, await response.blob());
    } catch (error) {
        tell_problem(error);
    }
}

// Series over time: choose metrics and places; a range chosen in one plot is asked for anew at full detail in all.
function series_tab(scope: Scope, run: Run, place: Place): Child {
    const words = t().run;
    return when_imported(scope, run.id, async (signal) => {
        const tables = await api.get<Tables>(`runs/${run.id}/tables`, undefined, signal);
        if (tables.metrics.length === 0) {
            return empty(words.no_series, words.no_series_text, link_button(words.edit_again, link("edit", "run", run.id)));
        }
        let range: [number, number] | null = place.query.get("from") ? [Number(place.query.get("from")), Number(place.query.get("to"))] : null;
        const reloads: (() => void)[] = [];
        const range_text = h("span", { class: "number muted small" });
        const draw_range = () => {
            range_text.textContent = range ? `${nanoseconds(range[0])} – ${nanoseconds(range[1])}` : words.whole_time;
            all.hidden = events.hidden = !range;
            events.href = `${link("query")}?runs=${run.id}&table=events${range ? `&from=${Math.floor(range[0])}&to=${Math.ceil(range[1])}` : ""}`;
            keep_query({ from: range ? String(Math.floor(range[0])) : null, to: range ? String(Math.ceil(range[1])) : null });
        };
        const set_range = (chosen: [number, number] | null) => {
            range = chosen;
            draw_range();
            for (const reload of reloads) {
                reload();
            }
        };
        const all = button(words.whole_time, () => set_range(null), { small: true, icon: "fit" });
        const events = link_button(words.events_then, "#", { small: true, icon: "query" });
        draw_range();
        const panels = tables.metrics.map((metric) => {
            const shown = new Set(metric.of.slice(0, 8));
            const chart = plot(scope, { height: 240, name: `${run.name}-${metric.metric}`, zoomed: (from, to) => set_range([Math.max(0, from), to]) });
            const reload = debounce(scope, 60, (inner) => {
                api.get<SeriesAnswer>(`runs/${run.id}/series`, { metric: metric.metric, of: [...shown].join(","), from_ns: range?.[0], to_ns: range?.[1], pixels: Math.max(chart.element.clientWidth - 80, 300) }, inner).then(
                    (answer) => chart.show(series_figure(answer, metric.metric)),
                    (error: unknown) => (error as Error).name !== "AbortError" && toast(String(error), { bad: true }),
                );
            });
            reloads.push(reload);
            reload();
            const choose =
                metric.of.length > 1
                    ? button(words.curves(shown.size, metric.of.length), async () => {
                          const boxes = metric.of.slice(0, 400).map((name) => {
                              const box = h("input", { type: "checkbox", checked: shown.has(name), value: name });
                              return [box, h("label", { class: "check mono" }, box, name)] as const;
                          });
                          await sheet(words.which_curves, h("div", { class: "choices" }, boxes.map(([, label]) => label)), {
                              text: words.show,
                              done: () => {
                                  shown.clear();
                                  for (const [box] of boxes) {
                                      if (box.checked) {
                                          shown.add(box.value);
                                      }
                                  }
                                  choose!.textContent = words.curves(shown.size, metric.of.length);
                                  reload();
                              },
                          });
                      }, { small: true })
                    : null;
            return card(h("span", { class: "mono" }, `${metric.kind} ${metric.metric}`), choose, chart.element);
        });
        return [h("div", { class: "row" }, range_text, all, events, h("span", { class: "muted small" }, words.drag_hint)), h("div", { class: "stack" }, panels)];
    });
}

export function series_figure(answer: SeriesAnswer, title: string): Figure {
    const unit = answer.unit || (/_bytes/.test(title) ? "bytes" : /_bps/.test(title) ? "bit/s" : "");
    return {
        title: "",
        x_label: t().run.time,
        y_label: title,
        x_text: (value) => nanoseconds(value),
        y_text: unit === "bytes" || unit === "bit/s" ? (value) => with_unit(value, unit) : short_number,
        series: answer.curves.map((curve) => {
            const wide = curve.min.some((low, index) => low !== curve.max[index]);
            return { name: curve.of, kind: "steps", x: curve.time_ns, y: curve.last, ...(wide ? { low: curve.min, high: curve.max } : {}) };
        }),
    };
}

function table_tab(scope: Scope, run: Run, table: string): Child {
    const words = t().run;
    return when_imported(scope, run.id, async (signal) => {
        const tables = await api.get<Tables>(`runs/${run.id}/tables`, undefined, signal);
        const known = tables.tables.find((one) => one.name === table);
        if (!known || known.rows === 0) {
            return empty(words.no_rows(table), known?.help ?? words.no_rows_text);
        }
        const list = data_grid(scope, { label: table, columns: known.columns, height: "64vh", query: () => ({ runs: [run.id], table }) });
        return h("section", { class: "card flush" }, h("header", null, h("h2", null, words.rows(count(known.rows))), h("span", { class: "grow muted small" }, known.help), link_button(words.ask, `${link("query")}?runs=${run.id}&table=${table}`, { small: true, icon: "query" }), h("a", { class: "button small", href: api_url("query", { body: JSON.stringify({ runs: [run.id], table, format: "csv" }) }), download: `${run.name}-${table}.csv` }, "CSV")), list.element);
    });
}

// Hosts: flows by the host that sends, told by the server's analysis, so that a million flows stay there.
function hosts_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    return when_imported(scope, run.id, async (signal) => {
        const take = [
            { function: "count", column: "flow_id", as: "flows" },
            { function: "sum", column: "bytes", as: "bytes" },
            { function: "median", column: "slowdown", as: "slowdown_p50" },
            { function: "p99", column: "slowdown", as: "slowdown_p99" },
            { function: "max", column: "fct_ns", as: "fct_max" },
            { function: "sum", column: "retransmitted_packets", as: "retransmitted" },
        ];
        const answer = await api.post<{ steps: (QueryAnswer & { count: number })[] }>("analysis", { runs: [run.id], steps: [{ do: "choose", table: "flows" }, { do: "group", by: ["src"], take }, { do: "sort", by: [{ column: "slowdown_p99", descending: true }] }] }, signal);
        const last = answer.steps[answer.steps.length - 1]!;
        if (last.rows.length === 0) {
            return empty(words.no_rows("flows"), words.no_rows_text);
        }
        const units: Record<string, string> = { bytes: "bytes", fct_max: "ns" };
        return h("section", { class: "card flush" }, h("header", null, h("h2", null, words.hosts_lead)), h("div", { class: "scroll-x", tabindex: 0 }, h("table", { class: "plain" }, h("thead", null, h("tr", null, last.columns.map((column) => h("th", { class: column.name === "src" ? "" : "right", scope: "col" }, words.host_columns[column.name as keyof typeof words.host_columns] ?? column.name)))), h("tbody", null, last.rows.slice(0, 1000).map((row) => h("tr", null, row.map((cell, index) => h("td", { class: index === 0 ? "mono" : "right nowrap" }, index === 0 ? String(cell) : with_unit(cell, units[last.columns[index]!.name])))))))));
    });
}

function files_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    return later(scope, async (signal) => {
        const answer = await api.get<{ files: { path: string; size_bytes: number }[] }>(`runs/${run.id}/files`, undefined, signal);
        const address = (name: string) => `api/v1/runs/${run.id}/files/${name.split("/").map(encodeURIComponent).join("/")}`;
        return [
            card(words.files, null, answer.files.length === 0 ? h("p", { class: "muted" }, words.no_files) : h("table", { class: "plain" }, h("tbody", null, answer.files.map((file) => h("tr", null, h("td", null, h("a", { class: "mono", href: address(file.path), download: file.path.split("/").pop() }, file.path)), h("td", { class: "right nowrap" }, bytes(file.size_bytes)), h("td", { class: "muted small" }, words.file_help[file.path.split("/").pop() ?? ""] ?? "")))))),
            h("p", { class: "muted small" }, words.files_text(run.id)),
        ];
    });
}

function log_tab(scope: Scope, run: Run): Child {
    return later(scope, async (signal) => {
        const { call } = await import("../core/api");
        const response = await call("GET", `runs/${run.id}/log`, { signal });
        const body = await response.text();
        return body ? h("pre", { class: "code-block tall", tabindex: 0, "aria-label": t().run.log }, body) : empty(t().run.no_log, "");
    });
}

// A run that is not over: how far it is, how long it will take, and what goes on in it as it goes on.
function live_view(scope: Scope, run: Run): Child {
    const words = t().run;
    const samples: Live[] = run.live ? [run.live] : [];
    const chart = (title: string, text?: (value: number) => string) => {
        const made = plot(scope, { height: 190, legend: false, name: title });
        const draw = (value: (sample: Live, before: Live | undefined) => number) => {
            made.show({ title, x_label: words.time, y_label: "", x_text: (ns) => nanoseconds(ns), y_text: text, series: [{ name: title, kind: "lines", x: samples.map((sample) => sample.sim_ns), y: samples.map((sample, index) => value(sample, samples[index - 1])) }] });
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
            rate.draw((sample, before) => (before && sample.sim_ns > before.sim_ns ? ((sample.sent_bytes - before.sent_bytes) * 8e9) / (sample.sim_ns - before.sim_ns) : NaN));
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
    return [waits, place, h("p", { class: "muted small" }, words.live_hint)];
}

export async function run_view(scope: Scope, place: Place): Promise<Child> {
    const id = Number(place.words[1]);
    const words = t().run;
    let run = await api.get<Run>(`runs/${id}`, undefined, scope.signal);
    const in_group = (await api.get<Runs>("runs", { group: run.group, limit: 0 }, scope.signal)).total > 1;
    const header = h("div");
    const status = h("div", { "aria-live": "polite" });
    const body = h("div", { class: "stack wide" });
    let inner = scope.child();
    const owner = () => run.owner.id === session.user?.id || session.administrates;

    const draw_header = () => {
        const active = is_active(run);
        fill(
            header,
            view_head(
                run.name,
                h("span", null, state_badge(run), settings_of(run).map((one) => [" · ", h("code", null, one)]), ` · ${run.owner.name} · ${moment(run.created_ms)}`, run.shared ? ` · ${t().common.shared}` : ""),
                in_group ? link_button(words.group, `${link("runs")}?group=${run.group}`) : null,
                active && owner() ? button(words.cancel, () => api.post(`runs/${id}/cancel`).then(reload), { icon: "stop", kind: "danger" }) : null,
                active ? null : link_button(words.process, `${link("process")}?runs=${id}`, { icon: "process" }),
                active || !session.may_run ? null : button(words.again, async () => {
                    const answer = await api.post<{ runs: { id: number }[] }>(`runs/${id}/again`);
                    go(link("run", answer.runs[0]?.id ?? id));
                }, { icon: "again" }),
                link_button(words.edit_again, link("edit", "run", id)),
                owner() ? button(run.shared ? words.unshare : words.share, async () => {
                    await api.patch(`runs/${id}`, { shared: !run.shared });
                    await reload();
                }, { icon: "share" }) : null,
                !active && owner() ? button("", () => trash_run(run, () => go(link("runs"))), { icon: "trash", kind: "quiet", label: t().runs.remove, title: t().runs.remove }) : null,
            ),
        );
    };
    const draw_status = () => {
        if (run.state === "running") {
            const live = run.live;
            const told = [
                live ? words.at_sim(nanoseconds(live.sim_ns)) : "",
                live && live.planned > 0 ? words.transfers(count(live.done), count(live.planned)) : "",
                run.eta_s !== null && run.eta_s !== undefined ? t().runs.eta(seconds(run.eta_s)) : "",
                live ? words.events_per_s(count(live.events_per_s)) : "",
                live && live.longest.bytes > 0 ? words.longest_now(live.longest.port, bytes(live.longest.bytes)) : "",
            ].filter(Boolean).join(" · ");
            fill(
                status,
                h("section", { class: "card running-card" }, h("div", { class: "row" }, h("strong", { class: "number" }, `${((run.progress ?? 0) * 100).toFixed(1)} %`), h("span", { class: "muted number" }, told)), bar(run.progress ?? 0, t().runs.progress)),
            );
        } else if (run.state === "failed" || run.state === "cancelled") {
            fill(status, note(run.state === "failed" ? "bad" : "warn", h("strong", null, t().runs.states[run.state]), run.message ? `: ${run.message}` : ""));
        } else {
            fill(status);
        }
    };
    let chosen = place.query.get("tab") ?? "summary";
    let drawn_for = "";
    const draw_body = () => {
        const over = !is_active(run);
        const key = over ? run.state : "live";
        if (key === drawn_for) {
            return;
        }
        drawn_for = key;
        inner.end();
        inner = scope.child();
        if (!over) {
            fill(body, live_view(inner, run));
            return;
        }
        const with_results = run.has_result;
        const all: Tab[] = with_results
            ? [
                  { name: "summary", text: words.summary, make: (tab) => summary_tab(tab, run) },
                  { name: "network", text: words.network, make: (tab) => network_tab(tab, run, place) },
                  { name: "series", text: words.series, make: (tab) => series_tab(tab, run, place) },
                  { name: "figures", text: words.figures, make: (tab) => figures_tab(tab, run) },
                  { name: "flows", text: words.flows, make: (tab) => table_tab(tab, run, "flows") },
                  { name: "hosts", text: words.hosts, make: (tab) => hosts_tab(tab, run) },
                  { name: "ports", text: words.ports, make: (tab) => table_tab(tab, run, "ports") },
                  { name: "models", text: words.models, make: (tab) => later(tab, async (signal) => models_tab(tab, await summary_of(id, signal))) },
                  { name: "events", text: words.events, make: (tab) => table_tab(tab, run, "events") },
              ]
            : [];
        all.push({ name: "log", text: words.log, make: (tab) => log_tab(tab, run) }, { name: "files", text: words.files, make: (tab) => files_tab(tab, run) });
        fill(
            body,
            tabs(inner, run.name, all, all.some((tab) => tab.name === chosen) ? chosen : all[0]!.name, (name) => {
                chosen = name;
                keep_query({ tab: name });
            }),
        );
    };
    const reload = async () => {
        run = await api.get<Run>(`runs/${id}`, undefined, scope.signal);
        draw();
    };
    const draw = () => {
        draw_header();
        draw_status();
        draw_body();
    };
    draw();
    if (is_active(run)) {
        const live = scope.child();
        listen_events(
            `runs/${id}/events`,
            live.signal,
            (name, data) => {
                if (name === "progress") {
                    const now = data as unknown as Live;
                    run = { ...run, state: "running", live: now, progress: now.share >= 0 ? now.share : null, eta_s: now.left_s >= 0 ? now.left_s : null };
                    window.dispatchEvent(new CustomEvent("studio-live", { detail: now }));
                    draw_status();
                    return;
                }
                const state = data["state"] as Run["state"] | undefined;
                if (state && state !== "running" && state !== "queued") {
                    live.end();
                }
                void reload().catch(() => undefined);
            },
            ["state", "progress", "resync"],
        );
    }
    return [header, status, body];
}
