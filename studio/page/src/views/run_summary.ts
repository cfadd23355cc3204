// SPDX-License-Identifier: Apache-2.0
// What happened in a run, in words and numbers.
import { api } from "../core/api";
import { h, type Child, type Scope } from "../core/dom";
import { bytes, count, nanoseconds, number, percent, seconds } from "../core/format";
import { link } from "../core/router";
import type { Summary } from "../core/summary";
import type { Run } from "../core/types";
import { t } from "../i18n/text";
import { card, fact, later, link_button, note } from "../ui/parts";
import { flow_table } from "./report";

function sentences(summary: Summary): string[] {
    const words = t().story;
    const flows = summary.flows;
    const said = [
        words.network(
            summary.network.hosts,
            summary.network.nodes - summary.network.hosts,
            summary.network.links,
            summary.congestion_control,
        ),
    ];
    said.push(words.ended[summary.ended]?.(nanoseconds(summary.sim_time_ps / 1000)) ?? summary.ended);
    if (flows.count > 0) {
        said.push(
            words.flows(
                count(flows.completed),
                count(flows.count),
                bytes(flows.delivered_bytes ?? summary.bytes_delivered),
            ),
        );
        if (flows.failed > 0) {
            said.push(words.failed(count(flows.failed)));
        }
        if (flows.slowdown?.p50) {
            said.push(words.slowdown(number(flows.slowdown.p50), number(flows.slowdown.p99)));
        }
    }
    const dropped = Object.values(summary.drops).reduce((sum, one) => sum + one, 0);
    said.push(
        dropped === 0
            ? words.no_drops
            : words.drops(
                  count(dropped),
                  Object.entries(summary.drops)
                      .filter(([, number_of]) => number_of > 0)
                      .map(([reason, number_of]) => `${reason} ${count(number_of)}`)
                      .join(", "),
                  count(summary.retransmitted_packets),
              ),
    );
    const root = summary.pfc.roots?.[0];
    if (summary.pfc.pause_frames > 0) {
        said.push(words.pauses(count(summary.pfc.pause_frames), nanoseconds(summary.pfc.paused_ps / 1000)));
        if (root) {
            said.push(
                words.root(root.port, nanoseconds(root.first_ps / 1000), root.ports, root.hosts, root.links_away),
            );
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
export function summary_of(run: number, signal: AbortSignal): Promise<Summary> {
    return api.get<Summary>(`runs/${run}/files/result/summary.json`, undefined, signal);
}

export function summary_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    return later(scope, async (signal) => {
        const summary = await summary_of(run.id, signal);
        const flows = summary.flows;
        const dropped = Object.values(summary.drops).reduce((sum, one) => sum + one, 0);
        const conserved =
            typeof summary.conservation === "string"
                ? summary.conservation === "ok"
                : summary.conservation.ok !== false;
        return [
            card(
                words.what_happened,
                null,
                h("p", { class: "story" }, sentences(summary).join(t().story.between)),
                conserved
                    ? null
                    : note(
                          "bad",
                          typeof summary.conservation === "object"
                              ? (summary.conservation.message ?? "")
                              : summary.conservation,
                      ),
            ),
            h(
                "div",
                { class: "facts" },
                fact(words.simulated, nanoseconds(summary.sim_time_ps / 1000)),
                flows.count > 0
                    ? fact(
                          words.flows_done,
                          `${count(flows.completed)} / ${count(flows.count)}`,
                          flows.failed > 0 ? "bad" : "",
                      )
                    : null,
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
                                  h(
                                      "thead",
                                      null,
                                      h(
                                          "tr",
                                          null,
                                          h("th", { scope: "col" }, words.port),
                                          [words.queue_max, words.utilisation, words.stopped].map((text) =>
                                              h("th", { class: "right", scope: "col" }, text),
                                          ),
                                      ),
                                  ),
                                  h(
                                      "tbody",
                                      null,
                                      summary.hottest_ports.map((row) =>
                                          h(
                                              "tr",
                                              null,
                                              h("td", { class: "mono" }, row.port),
                                              h("td", { class: "right nowrap" }, bytes(row.queue_bytes_max)),
                                              h("td", { class: "right nowrap" }, percent(row.utilisation)),
                                              h("td", { class: "right nowrap" }, nanoseconds(row.paused_ps / 1000)),
                                          ),
                                      ),
                                  ),
                              ),
                          ),
                      )
                    : null,
                summary.pfc.roots && summary.pfc.roots.length > 0
                    ? card(
                          words.roots,
                          link_button(
                              words.ask_events,
                              `${link("query")}?runs=${run.id}&table=events&where=${encodeURIComponent('event = "paused"')}`,
                              { small: true },
                          ),
                          h(
                              "div",
                              { class: "scroll-x", tabindex: 0 },
                              h(
                                  "table",
                                  { class: "plain" },
                                  h(
                                      "thead",
                                      null,
                                      h(
                                          "tr",
                                          null,
                                          h("th", { scope: "col" }, words.began_at),
                                          [words.first, words.pauses, words.stopped, words.ports_stopped].map((text) =>
                                              h("th", { class: "right", scope: "col" }, text),
                                          ),
                                      ),
                                  ),
                                  h(
                                      "tbody",
                                      null,
                                      summary.pfc.roots
                                          .slice(0, 12)
                                          .map((row) =>
                                              h(
                                                  "tr",
                                                  null,
                                                  h("td", { class: "mono" }, row.port),
                                                  h("td", { class: "right nowrap" }, nanoseconds(row.first_ps / 1000)),
                                                  h("td", { class: "right" }, count(row.pauses)),
                                                  h("td", { class: "right nowrap" }, nanoseconds(row.paused_ps / 1000)),
                                                  h("td", { class: "right" }, count(row.ports)),
                                              ),
                                          ),
                                  ),
                              ),
                          ),
                      )
                    : null,
            ),
            h(
                "p",
                { class: "muted small" },
                words.made_by(summary.version, summary.digest, String(summary.seed), seconds(summary.wall_s)),
            ),
        ];
    });
}
