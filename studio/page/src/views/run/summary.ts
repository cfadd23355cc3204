// SPDX-License-Identifier: Apache-2.0
// The summary of a run: in sentences, in a few numbers, and in all counters that the run's schema lists.
import { api, or_else } from "../../core/api";
import { h, type Child, type Scope } from "../../core/dom";
import { bytes, count, nanoseconds, number, percent, seconds } from "../../core/format";
import { pages_of } from "../../core/pages";
import { query_link } from "../../core/router";
import type { FieldSchema, ResultSchema } from "../../core/schema";
import type { Summary } from "../../core/summary";
import type { Run } from "../../core/types";
import { t, told } from "../../i18n/text";
import { card, fact, later, link_button, note } from "../../ui/parts";
import { number_table } from "../../ui/table";
import { flow_table } from "./flow_table";
import { numbers } from "./numbers";
import { page_facts } from "./page/page";

const roots_max = 12;
// Parts of the summary that have a place of their own on this page, or say what was run.
const own_place = [
    ...["version", "scenario", "description", "seed", "tie_seed", "digest", "ended", "congestion_control"],
    ...["flows", "hottest_ports", "apps", "nics", "conservation", "notes", "warnings", "story"],
];

function ps(value: number): string {
    return nanoseconds(value / 1000);
}

// Returns what is wrong with the counts of packets and bytes, or null.
function imbalance({ conservation }: Summary): string | null {
    if (typeof conservation === "string") {
        return conservation === "ok" ? null : conservation;
    }
    return conservation.ok === false ? told(conservation.message ?? "") : null;
}

function facts(summary: Summary): HTMLElement {
    const words = t().run;
    const { flows, pfc } = summary;
    const lost = summary.packets.dropped;
    const trimmed = summary.trimmed ?? 0;
    const left_out = flows.left_out ?? 0;
    const done = `${count(flows.completed)} / ${count(flows.count)}`;
    return h(
        "div.facts",
        fact(words.simulated, ps(summary.sim_time_ps)),
        flows.count > 0 ? fact(words.flows_done, done, flows.failed > 0 ? "bad" : "") : null,
        left_out > 0 ? fact(words.flows_left_out, count(left_out), "warn") : null,
        flows.slowdown?.p99 ? fact(words.slowdown_p99, number(flows.slowdown.p99)) : null,
        flows.goodput_gbps?.mean ? fact(words.goodput_mean, `${number(flows.goodput_gbps.mean)} Gbps`) : null,
        fact(words.drops, count(lost), lost > 0 ? "warn" : ""),
        trimmed > 0 ? fact(words.trimmed, count(trimmed), "warn") : null,
        fact(words.pauses, count(pfc.pauses), pfc.pauses > 0 ? "warn" : ""),
        fact(words.speed, count(summary.wall_packet_hops_per_s)),
    );
}

// Returns the first numbers of each kind of traffic.
function page_cards(summary: Summary, schema: ResultSchema): HTMLElement[] {
    return pages_of(summary, schema)
        .filter(({ page }) => page.of === "apps")
        .flatMap(({ page, subjects }) =>
            subjects.map((subject) =>
                card(subject.title || told(page.title), null, h("div.facts", page_facts(page, subject))),
            ),
        );
}

function flows_card({ flows, local_flows }: Summary): HTMLElement | null {
    const table = flow_table(flows, local_flows);
    return table && card(t().run.by_size, null, table);
}

function hottest_card({ hottest_ports }: Summary): HTMLElement | null {
    const words = t().run;
    const rows = hottest_ports.map(({ port, queue_bytes_max, utilisation, paused_ps }): [Child, ...string[]] => {
        return [h("span.mono", port), bytes(queue_bytes_max), percent(utilisation), ps(paused_ps)];
    });
    const head = [words.port, words.queue_max, words.utilisation, words.stopped];
    return rows.length > 0 ? card(words.hottest, null, number_table(head, rows)) : null;
}

function roots_card({ pfc }: Summary, run: Run): HTMLElement | null {
    const words = t().run;
    const roots = (pfc.roots ?? []).slice(0, roots_max);
    const rows = roots.map(({ port, first_ps, pauses, paused_ps, ports }): [Child, ...string[]] => {
        return [h("span.mono", port), ps(first_ps), count(pauses), ps(paused_ps), count(ports)];
    });
    const head = [words.began_at, words.first, words.pauses, words.stopped, words.ports_stopped];
    const ask = link_button(words.ask_events, query_link(run.id, "events", 'event = "paused"'), { small: true });
    return rows.length > 0 ? card(words.roots, ask, number_table(head, rows)) : null;
}

function counters_card(summary: Summary, fields: Record<string, FieldSchema> | undefined): HTMLElement {
    const all = numbers(summary as unknown as Record<string, unknown>, fields, "", own_place);
    const lead = h("p.muted.small", t().run.counters_text);
    return card(t().run.counters, null, h("div.stack", lead, all));
}

// Reads the summary, which needs no import: it is a file of the result folder, there as soon as the run has ended.
export function summary_of(run: number, signal: AbortSignal): Promise<Summary> {
    return api.get<Summary>(`runs/${run}/files/result/summary.json`, undefined, signal);
}

// Reads the schema of a run's result; results of other programs may have none.
export function schema_of(run: number, signal: AbortSignal): Promise<ResultSchema> {
    const found = api.get<ResultSchema>(`runs/${run}/files/result/schema.json`, undefined, signal);
    return or_else(found, { summary: {} });
}

export function summary_tab(scope: Scope, run: Run): Child {
    const words = t().run;
    return later(scope, async (signal) => {
        const [summary, schema] = await Promise.all([summary_of(run.id, signal), schema_of(run.id, signal)]);
        const { version, digest, seed, wall_s } = summary;
        const wrong = imbalance(summary);
        const story = h("p.story", (summary.story ?? []).map(told).join(words.between_sentences));
        return [
            card(
                words.what_happened,
                null,
                story,
                wrong === null ? null : note("bad", wrong),
                ...(summary.warnings ?? []).map(({ text }) => note("warn", told(text))),
                ...(summary.notes ?? []).map((text) => note("", told(text))),
            ),
            facts(summary),
            page_cards(summary, schema),
            flows_card(summary),
            hottest_card(summary),
            roots_card(summary, run),
            counters_card(summary, schema.summary.properties),
            h("p.muted.small", words.made_by(version, digest, String(seed), seconds(wall_s))),
        ];
    });
}
