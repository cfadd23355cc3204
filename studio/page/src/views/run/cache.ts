// SPDX-License-Identifier: Apache-2.0
// The tiered caches of a run's NICs: where accesses found their contexts, what each way cost, what the links and the
// driver carried, which contexts moved, and how these change over time.
import { api } from "../../core/api";
import { h, type Child, type Scope } from "../../core/dom";
import { bytes, count, nanoseconds, number, percent } from "../../core/format";
import { value_at } from "../../core/pages";
import type { ResultSchema } from "../../core/schema";
import type { Distribution, NicNumbers, Summary } from "../../core/summary";
import type { Run, Tables } from "../../core/types";
import { t } from "../../i18n/text";
import { bar_chart } from "../../plot/bars";
import { card, fact, note } from "../../ui/parts";
import { number_table } from "../../ui/table";
import { when_imported } from "./import";
import { numbers } from "./numbers";
import { series_card } from "./series";

const caches_max = 8;
const metrics_max = 12;

type Cache = Record<string, unknown>;

interface Kind {
    type: string;
    lookups: number;
    l1_hits: number;
    l2_hits: number;
    expands: number;
}

// Returns whether a run has a NIC with a tiered cache.
export function has_cache({ nics }: Summary): boolean {
    return (nics ?? []).some((nic) => nic.cache);
}

function value_of(cache: Cache, path: string): number {
    return Number(value_at(cache, path) ?? 0);
}

// Shows the shares of the tiers for each kind of token, stacked to the whole of its lookups.
function shares_chart(scope: Scope, nic: NicNumbers, kinds: Kind[]): HTMLElement {
    const words = t().cache;
    const used = kinds.filter((kind) => kind.lookups > 0);
    const chart = bar_chart(scope, { name: `${nic.name}-tiers`, height: 200 });
    const share = (of: (kind: Kind) => number) => used.map((kind) => of(kind) / kind.lookups);
    chart.show({
        categories: used.map((kind) => `${words.kinds[kind.type] ?? kind.type} (${count(kind.lookups)})`),
        series: [
            { name: words.l1, values: share((kind) => kind.l1_hits) },
            { name: words.l2, values: share((kind) => kind.l2_hits) },
            { name: words.l3, values: share((kind) => kind.expands) },
        ],
        y_label: words.share,
        y_most: 1,
        stacked: true,
        lying: true,
        value_text: (value) => percent(value, value > 0 && value < 0.01 ? 2 : 0),
    });
    return chart.element;
}

// Lists what each way to a context took: the median and the 99th percentile decide what users feel.
function ways_table(cache: Cache): HTMLElement {
    const words = t().cache;
    const ways: [string, string][] = [
        [words.access, "access_ns"],
        [words.l1, "l1_ns"],
        [words.l2, "l2_ns"],
        [words.l3, "expand_ns"],
        [words.urgent_wait, "driver.urgent.wait_ns"],
        [words.background_wait, "driver.background.wait_ns"],
        [words.moving, "migration_ns"],
        [words.met_move, "met_move_ns"],
    ];
    const rows = ways.flatMap(([name, path]): [string, ...string[]][] => {
        const times = value_at(cache, path) as Distribution | undefined;
        const known = times && times.count !== 0 && typeof times.p50 === "number";
        const values = known ? [times.mean, times.p50, times.p99, times.max] : [];
        return known ? [[name, count(times.count), ...values.map((value) => nanoseconds(value))]] : [];
    });
    const { samples, mean, median, most } = t().report;
    return number_table([words.way, samples, mean, median, "p99", most], rows);
}

function facts_of(cache: Cache): HTMLElement {
    const words = t().cache;
    const of = (path: string) => value_of(cache, path);
    const accesses = of("accesses");
    const moves = of("migrations.to_l1") + of("migrations.to_l2") + of("migrations.to_l3");
    return h(
        "div.facts",
        fact(words.accesses, count(accesses)),
        fact(words.hit_rate, percent(accesses > 0 ? (of("l1_hits") + of("l2_hits")) / accesses : 0)),
        of("belady_hits") > 0 ? fact(words.belady, percent(of("belady_hit_rate"))) : null,
        fact(words.dma, `${bytes(of("dma_bytes"))} · ${percent(of("dma_utilisation"), 2)}`),
        fact(words.cxl, `${bytes(of("cxl_bytes"))} · ${percent(of("cxl_utilisation"), 2)}`),
        fact(words.driver, percent(of("driver_utilisation")), of("driver_utilisation") > 0.9 ? "warn" : ""),
        fact(words.moves, count(moves)),
        fact(words.thresholds, `${number(of("promote_l2"))} / ${number(of("promote_l1"))}`),
    );
}

// Says what a user should know before the numbers: a tier that is never used, a driver or a link without room.
function remarks(cache: Cache): Child[] {
    const words = t().cache;
    const of = (path: string) => value_of(cache, path);
    const misses = of("accesses") - of("l1_hits");
    return [
        misses > 100 && of("migrations.to_l1") + of("migrations.to_l2") === 0 ? words.never_moves : "",
        of("driver_utilisation") > 0.9 ? words.driver_full : "",
        of("dma_utilisation") > 0.9 || of("cxl_utilisation") > 0.9 ? words.link_full : "",
    ]
        .filter(Boolean)
        .map((text) => note("warn", text));
}

function cache_card(scope: Scope, nic: NicNumbers, schema: ResultSchema): HTMLElement {
    const words = t().cache;
    const cache = nic.cache as Cache;
    const kinds = (cache.types ?? []) as Kind[];
    const all = numbers(cache, schema.summary.nics_by_part?.cache, "", ["policy"]);
    return card(
        `${nic.name}: ${words.title}`,
        h("span.muted.small", t().report.policy(String(cache.policy ?? ""))),
        h(
            "div.stack",
            remarks(cache),
            facts_of(cache),
            h("h3", words.found_in),
            shares_chart(scope, nic, kinds),
            h("h3", words.costs),
            ways_table(cache),
            h("details", h("summary", t().report.all_numbers), all),
        ),
    );
}

// Shows the sampled metrics of caches over time, such as moves and thresholds.
function over_time(scope: Scope, run: Run): Child {
    const words = t().cache;
    return when_imported(scope, run.id, async (signal) => {
        const { metrics } = await api.get<Tables>(`runs/${run.id}/tables`, undefined, signal);
        const shown = metrics.filter((one) => one.kind === "nic" && /cache/.test(one.metric)).slice(0, metrics_max);
        if (shown.length === 0) {
            return card(words.over_time, null, h("p.muted", words.no_series));
        }
        return shown.map((one) => series_card(scope, run, one, 190));
    });
}

export function cache_tab(scope: Scope, run: Run, summary: Summary, schema: ResultSchema): Child {
    const caches = (summary.nics ?? []).filter((nic) => nic.cache);
    const left = caches.length - caches_max;
    return [
        caches.slice(0, caches_max).map((nic) => cache_card(scope, nic, schema)),
        left > 0 ? h("p.muted", t().cache.more(left)) : null,
        over_time(scope, run),
    ];
}
