// SPDX-License-Identifier: Apache-2.0
// What models tell of themselves: tiers of a cache, transports and their chains, HERD, Mooncake, any application.
import { h, type Child, type Scope } from "../core/dom";
import { bytes, count, nanoseconds, number, percent, with_unit } from "../core/format";
import type { AppNumbers, Distribution, Summary } from "../core/summary";
import { t } from "../i18n/text";
import { plot } from "../plot/plot";
import { card, empty, fact } from "../ui/parts";

function is_distribution(value: unknown): value is Distribution {
    return typeof value === "object" && value !== null && "p50" in value && "p99" in value && "mean" in value;
}

function unit_text(value: unknown, unit: string | undefined): string {
    if (typeof value === "number" && unit === "ms") {
        return nanoseconds(value * 1e6);
    }
    if (typeof value === "number" && (unit === "M/s" || unit === "GB/s")) {
        return `${number(value, 4)} ${unit}`;
    }
    return with_unit(value, unit) || "–";
}

function readable(name: string): string {
    return name
        .replaceAll("_", " ")
        .replace(/\b(ns|us|ms|ps|gbps)$/, "")
        .trim();
}

function unit_of(name: string, units: Record<string, string> | undefined, path: string): string | undefined {
    return (
        units?.[path] ??
        (/_ns$/.test(name)
            ? "ns"
            : /_us$/.test(name)
              ? "us"
              : /_ms$/.test(name)
                ? "ms"
                : /(^|_)bytes(_|$)/.test(name)
                  ? "bytes"
                  : /gbps$/.test(name)
                    ? "Gbps"
                    : undefined)
    );
}

export function distribution_table(rows: [string, Distribution, string | undefined][]): HTMLElement {
    const words = t().report;
    return h(
        "div",
        { class: "scroll-x", tabindex: 0 },
        h(
            "table",
            { class: "plain" },
            h(
                "thead",
                null,
                h("tr", null, [
                    h("th", { scope: "col" }, words.of),
                    ...[words.samples, words.mean, words.median, "p90", "p99", "p99.9", words.most].map((text) =>
                        h("th", { class: "right", scope: "col" }, text),
                    ),
                ]),
            ),
            h(
                "tbody",
                null,
                rows.map(([name, values, unit]) =>
                    h(
                        "tr",
                        null,
                        h("th", { scope: "row" }, readable(name)),
                        h("td", { class: "right" }, values.count === undefined ? "" : count(values.count)),
                        [values.mean, values.p50, values.p90, values.p99, values.p999, values.max].map((value) =>
                            h("td", { class: "right nowrap" }, value === undefined ? "" : unit_text(value, unit)),
                        ),
                    ),
                ),
            ),
        ),
    );
}

// Any object of numbers: what is one number as pairs, distributions as a table, lists as tables below.
function numbers(
    content: Record<string, unknown>,
    units: Record<string, string> | undefined,
    prefix: string,
    skip: string[],
): Child {
    const pairs: Child[] = [];
    const spread: [string, Distribution, string | undefined][] = [];
    const inner: Child[] = [];
    for (const [name, value] of Object.entries(content)) {
        const path = prefix ? `${prefix}.${name}` : name;
        const unit = unit_of(name, units, path);
        if (skip.includes(name) || value === null || value === undefined) {
            continue;
        }
        if (is_distribution(value)) {
            if (value.count !== 0) {
                spread.push([name, value, unit]);
            }
        } else if (Array.isArray(value)) {
            if (value.length > 0 && typeof value[0] === "object") {
                const columns = Object.keys(value[0] as object).filter(
                    (one) => typeof (value[0] as Record<string, unknown>)[one] !== "object",
                );
                inner.push(
                    h(
                        "details",
                        null,
                        h("summary", null, `${readable(name)} (${value.length})`),
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
                                        columns.map((one) => h("th", { scope: "col" }, readable(one))),
                                    ),
                                ),
                                h(
                                    "tbody",
                                    null,
                                    (value as Record<string, unknown>[]).slice(0, 200).map((row) =>
                                        h(
                                            "tr",
                                            null,
                                            columns.map((one) =>
                                                h(
                                                    "td",
                                                    { class: typeof row[one] === "number" ? "right" : "" },
                                                    typeof row[one] === "number"
                                                        ? unit_text(row[one], unit_of(one, units, `${path}[].${one}`))
                                                        : String(row[one] ?? "").slice(0, 120),
                                                ),
                                            ),
                                        ),
                                    ),
                                ),
                            ),
                        ),
                    ),
                );
            } else if (value.length > 0) {
                pairs.push(
                    h("dt", null, readable(name)),
                    h(
                        "dd",
                        { class: "number" },
                        value
                            .slice(0, 16)
                            .map((one) => unit_text(one, unit))
                            .join(", "),
                        value.length > 16 ? "…" : "",
                    ),
                );
            }
        } else if (typeof value === "object") {
            inner.push(
                h(
                    "details",
                    { open: prefix === "" && Object.keys(value).length < 12 },
                    h("summary", null, readable(name)),
                    numbers(value as Record<string, unknown>, units, path, []),
                ),
            );
        } else {
            pairs.push(
                h("dt", null, readable(name)),
                h(
                    "dd",
                    { class: "number" },
                    typeof value === "number"
                        ? /(_rate|share|fairness|busy)$/.test(name) && value <= 1
                            ? percent(value)
                            : unit_text(value, unit)
                        : String(value),
                ),
            );
        }
    }
    return [
        spread.length > 0 && distribution_table(spread),
        pairs.length > 0 && h("dl", { class: "pairs many" }, pairs),
        inner,
    ];
}

// The tiers of a NIC's cache as what they are: three places, ever larger and slower, and how often each answered.
function cache_card(nic: { name: string } & Record<string, unknown>): HTMLElement {
    const words = t().report;
    const cache = nic.cache as Record<string, number | Distribution> & {
        expands?: { urgent: number; background: number };
        policy?: string;
        migrations?: Record<string, number>;
    };
    const accesses = Number(cache.accesses ?? 0);
    const l3 = Number(cache.expands?.urgent ?? 0) + Number(cache.expands?.background ?? 0);
    const tiers: [string, string, number, Distribution | undefined, string][] = [
        [
            "L1",
            words.l1,
            Number(cache.l1_hits ?? 0),
            cache.l1_ns as Distribution,
            bytes(Number(cache.l1_bytes_peak ?? 0)),
        ],
        [
            "L2",
            words.l2,
            Number(cache.l2_hits ?? 0),
            cache.l2_ns as Distribution,
            bytes(Number(cache.l2_bytes_peak ?? 0)),
        ],
        ["L3", words.l3, l3, cache.expand_ns as Distribution, bytes(Number(cache.directory_bytes ?? 0))],
    ];
    const moves = cache.migrations ?? {};
    return card(
        `${nic.name}: ${words.cache}`,
        h(
            "span",
            { class: "muted small" },
            words.policy(String(cache.policy ?? "")),
            " · ",
            words.accesses(count(accesses)),
        ),
        h(
            "div",
            { class: "stack" },
            h(
                "div",
                { class: "tiers" },
                tiers.map(([name, meaning, hits, times, held]) => {
                    const share = accesses > 0 ? hits / accesses : 0;
                    return h(
                        "div",
                        { class: "tier" },
                        h(
                            "div",
                            { class: "tier-name" },
                            h("strong", null, name),
                            " ",
                            h("span", { class: "muted small" }, meaning),
                        ),
                        h(
                            "div",
                            { class: "tier-bar", role: "img", "aria-label": `${name}: ${percent(share)}` },
                            h("div", {
                                class: `tier-fill ${name.toLowerCase()}`,
                                style: { width: `${Math.max(share * 100, hits > 0 ? 0.5 : 0)}%` },
                            }),
                        ),
                        h("div", { class: "number" }, percent(share, share > 0.999 || share < 0.01 ? 2 : 1)),
                        h(
                            "div",
                            { class: "number muted small" },
                            times?.p50 !== null && times?.p50 !== undefined
                                ? `${words.median} ${nanoseconds(times.p50)} · p99 ${nanoseconds(times.p99)}`
                                : "–",
                            " · ",
                            words.held(held),
                        ),
                    );
                }),
            ),
            h(
                "p",
                { class: "muted small" },
                words.moves(
                    count(Number(moves.to_l1 ?? 0)),
                    count(Number(moves.to_l2 ?? 0)),
                    count(Number(moves.to_l3 ?? 0)),
                ),
            ),
            h(
                "details",
                null,
                h("summary", null, words.all_numbers),
                numbers(cache as Record<string, unknown>, undefined, "cache", ["policy"]),
            ),
        ),
    );
}

function transport_card(scope: Scope, app: AppNumbers): HTMLElement | null {
    const words = t().report;
    const transport = app.transport as Record<string, number | number[]> | undefined;
    if (!transport) {
        return null;
    }
    const rounds = (transport.by_round as number[] | undefined) ?? [];
    const facts = [
        fact(words.retransmitted, count(transport.retransmitted as number)),
        fact(words.repaired, count(transport.repaired as number)),
        fact(words.repair_time, nanoseconds(Number(transport.repair_us_mean ?? 0) * 1e3)),
        fact(
            words.chain_nodes,
            `${number(Number(transport.nodes_mean ?? 0), 3)} / ${count(transport.nodes_peak as number)}`,
        ),
        fact(words.nic_memory, bytes(transport.nic_bytes_per_qp_max as number)),
        fact(words.host_memory, bytes(transport.host_bytes_max as number)),
    ];
    const chart = plot(scope, { height: 190, name: "rounds", legend: false });
    if (rounds.some((one) => one > 0)) {
        chart.show({
            title: words.by_round,
            x_label: words.round,
            y_label: words.packets,
            series: [{ name: words.packets, kind: "bars", x: rounds.map((_, index) => index + 1), y: rounds }],
        });
    }
    const chain = [
        words.chain_bitmap,
        words.chain_nic(String(transport.nodes_peak ?? 0)),
        words.chain_host(bytes(transport.host_bytes_max as number)),
    ];
    return card(
        words.transport,
        null,
        h(
            "div",
            { class: "stack" },
            h("div", { class: "facts" }, facts),
            h(
                "ol",
                { class: "chain", "aria-label": words.chain },
                chain.map((text) => h("li", null, text)),
            ),
            rounds.some((one) => one > 0) ? chart.element : h("p", { class: "muted" }, words.no_repairs),
            h(
                "details",
                null,
                h("summary", null, words.all_numbers),
                numbers(transport as Record<string, unknown>, app.units, "transport", []),
            ),
        ),
    );
}

function headline(app: AppNumbers): HTMLElement[] {
    const words = t().report;
    const latency = app.latency_us as Distribution | undefined;
    const facts: HTMLElement[] = [];
    const add = (name: string, field: string, text: (value: number) => string) => {
        const value = app[field];
        if (typeof value === "number") {
            facts.push(fact(name, text(value)));
        }
    };
    add(words.throughput, "mops", (value) => `${number(value, 4)} M/s`);
    add(words.throughput, "gbytes_per_s", (value) => `${number(value, 4)} GB/s`);
    add(words.goodput, "goodput_gbps", (value) => `${number(value, 4)} Gbps`);
    if (latency?.p50 !== null && latency?.p50 !== undefined) {
        facts.push(
            fact(words.latency, `${nanoseconds(latency.p50 * 1e3, 3)}`),
            fact(words.latency_p99, nanoseconds((latency.p99 ?? 0) * 1e3, 3)),
        );
    }
    const ttft = app.ttft_ms as Distribution | undefined;
    if (ttft?.p50 !== null && ttft?.p50 !== undefined) {
        facts.push(
            fact(words.ttft, nanoseconds(ttft.p50 * 1e6, 3)),
            fact(words.ttft_p99, nanoseconds((ttft.p99 ?? 0) * 1e6, 3)),
        );
    }
    const transfer = app.transfer_ms as Distribution | undefined;
    if (transfer?.p50 !== null && transfer?.p50 !== undefined) {
        facts.push(fact(words.transfer, nanoseconds(transfer.p50 * 1e6, 3)));
    }
    add(words.get_hit_rate, "get_hit_rate", (value) => percent(value));
    add(words.block_hit_rate, "block_hit_rate", (value) => percent(value));
    add(words.batch, "batch_mean", (value) => number(value));
    add(words.cores_busy, "cores_busy", (value) => number(value));
    add(words.recovery, "recovery_ms", (value) => nanoseconds(value * 1e6));
    add(words.failed, "failed", (value) => count(value));
    return facts.slice(0, 8);
}

export function models_tab(scope: Scope, summary: Summary): Child {
    const words = t().report;
    const caches = summary.nics.filter((nic) => "cache" in nic);
    const detailed = summary.nics.filter((nic) => !("cache" in nic));
    const apps = summary.apps.map((app, index) => {
        const facts = headline(app);
        return [
            card(
                `${words.traffic(index)}: ${app.kind}`,
                h(
                    "span",
                    { class: "muted small" },
                    app.transfers_planned !== undefined
                        ? words.done_of(count(app.transfers_done), count(app.transfers_planned))
                        : "",
                ),
                h(
                    "div",
                    { class: "stack" },
                    facts.length > 0 && h("div", { class: "facts" }, facts),
                    numbers(app, app.units, "", [
                        "kind",
                        "units",
                        "flows",
                        "transport",
                        "transfers_done",
                        "transfers_planned",
                        "series",
                    ]),
                    app.flows ? flow_table(app.flows) : null,
                ),
            ),
            transport_card(scope, app),
        ];
    });
    if (apps.length + summary.nics.length === 0) {
        return empty(words.nothing, words.nothing_text);
    }
    return [
        apps,
        caches.slice(0, 8).map(cache_card),
        caches.length > 8 ? h("p", { class: "muted" }, words.more_nics(caches.length - 8)) : null,
        detailed.length > 0
            ? card(
                  words.inside_nics,
                  h("span", { class: "muted small" }, words.nics(detailed.length)),
                  nic_table(detailed),
              )
            : null,
    ];
}

function nic_table(nics: ({ name: string } & Record<string, unknown>)[]): HTMLElement {
    const columns = Object.keys(nics[0]!).filter((name) => typeof nics[0]![name] === "number");
    return h(
        "div",
        { class: "scroll-x", tabindex: 0, role: "region", "aria-label": t().report.inside_nics },
        h(
            "table",
            { class: "plain" },
            h(
                "thead",
                null,
                h(
                    "tr",
                    null,
                    h("th", { scope: "col" }, "NIC"),
                    columns.map((name) => h("th", { class: "right", scope: "col" }, readable(name))),
                ),
            ),
            h(
                "tbody",
                null,
                nics.slice(0, 64).map((nic) =>
                    h(
                        "tr",
                        null,
                        h("th", { scope: "row" }, nic.name),
                        columns.map((name) =>
                            h("td", { class: "right" }, unit_text(nic[name], unit_of(name, undefined, name))),
                        ),
                    ),
                ),
            ),
        ),
    );
}

export function flow_table(flows: {
    by_size: Summary["flows"]["by_size"];
    count: number;
    completed: number;
    fct_us: Distribution | null;
    slowdown: Distribution | null;
}): HTMLElement | null {
    const words = t().report;
    const rows = [
        ...flows.by_size.filter((row) => row.count > 0),
        {
            size: words.all,
            count: flows.count,
            completed: flows.completed,
            fct_us: flows.fct_us,
            slowdown: flows.slowdown,
        },
    ];
    if (flows.count === 0) {
        return null;
    }
    return h(
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
                    h("th", { scope: "col" }, words.flow_size),
                    [
                        words.flows,
                        words.completed,
                        `FCT ${words.median}`,
                        "FCT p99",
                        `${words.slowdown} ${words.median}`,
                        `${words.slowdown} p99`,
                    ].map((text) => h("th", { class: "right", scope: "col" }, text)),
                ),
            ),
            h(
                "tbody",
                null,
                rows.map((row) =>
                    h(
                        "tr",
                        null,
                        h("th", { scope: "row", class: "nowrap" }, row.size),
                        [
                            count(row.count),
                            count(row.completed),
                            nanoseconds((row.fct_us?.p50 ?? NaN) * 1e3),
                            nanoseconds((row.fct_us?.p99 ?? NaN) * 1e3),
                            number(row.slowdown?.p50, 3),
                            number(row.slowdown?.p99, 3),
                        ].map((text) => h("td", { class: "right nowrap" }, text.startsWith("NaN") ? "–" : text)),
                    ),
                ),
            ),
        ),
    );
}
