// SPDX-License-Identifier: Apache-2.0
// The reports of models: transports and their chains, HERD, Mooncake, any other application, and the inside of NICs.
import { h, type Child, type Scope } from "../../core/dom";
import { bytes, count, nanoseconds, number, percent } from "../../core/format";
import type { ResultSchema } from "../../core/schema";
import type { AppNumbers, Distribution, Summary } from "../../core/summary";
import { t } from "../../i18n/text";
import { plot } from "../../plot/plot";
import { card, empty, fact } from "../../ui/parts";
import { flow_table } from "./flow_table";
import { fields_of_units, numbers, numbers_table } from "./numbers";

const nics_max = 64;
const app_parts = ["kind", "units", "flows", "transport", "transfers_done", "transfers_planned", "series"];

function rounds_chart(scope: Scope, rounds: number[]): HTMLElement {
    const words = t().report;
    if (!rounds.some((one) => one > 0)) {
        return h("p", { class: "muted" }, words.no_repairs);
    }
    const chart = plot(scope, { height: 190, name: "rounds", legend: false });
    const x = rounds.map((_, index) => index + 1);
    chart.show({
        title: words.by_round,
        x_label: words.round,
        y_label: words.packets,
        series: [{ name: words.packets, kind: "bars", x, y: rounds }],
    });
    return chart.element;
}

function transport_card(scope: Scope, app: AppNumbers): HTMLElement | null {
    const words = t().report;
    const transport = app.transport as Record<string, unknown> | undefined;
    if (!transport) {
        return null;
    }
    const of = (name: string) => Number(transport[name] ?? 0);
    const host_bytes = bytes(of("host_bytes_max"));
    const facts = [
        fact(words.retransmitted, count(of("retransmitted"))),
        fact(words.repaired, count(of("repaired"))),
        fact(words.repair_time, nanoseconds(of("repair_us_mean") * 1e3)),
        fact(words.chain_nodes, `${number(of("nodes_mean"), 3)} / ${count(of("nodes_peak"))}`),
        fact(words.nic_memory, bytes(of("nic_bytes_per_qp_max"))),
        fact(words.host_memory, host_bytes),
    ];
    const chain = [words.chain_bitmap, words.chain_nic(count(of("nodes_peak"))), words.chain_host(host_bytes)];
    const places = chain.map((text) => h("li", null, text));
    const all = numbers(transport, fields_of_units(app.units), "transport.");
    return card(
        words.transport,
        null,
        h(
            "div",
            { class: "stack" },
            h("div", { class: "facts" }, facts),
            h("ol", { class: "chain", "aria-label": words.chain }, places),
            rounds_chart(scope, (transport.by_round as number[] | undefined) ?? []),
            h("details", null, h("summary", null, words.all_numbers), all),
        ),
    );
}

// Returns the numbers that one looks at first, as far as an application reports them.
export function headline(app: AppNumbers): HTMLElement[] {
    const words = t().report;
    const of = (field: string, text: (value: number) => string): string | null => {
        const value = app[field];
        return typeof value === "number" ? text(value) : null;
    };
    const part = (field: string, name: "p50" | "p99", ns: number): string | null => {
        const value = (app[field] as Distribution | undefined)?.[name];
        return typeof value === "number" ? nanoseconds(value * ns, 3) : null;
    };
    const all: [string, string | null][] = [
        [words.throughput, of("mops", (value) => `${number(value, 4)} M/s`)],
        [words.throughput, of("gbytes_per_s", (value) => `${number(value, 4)} GB/s`)],
        [words.throughput, of("mops_per_machine", (value) => `${number(value, 4)} M/s`)],
        [words.throughput, of("message_rate", (value) => `${number(value, 4)} M/s`)],
        [words.goodput, of("goodput_gbps", (value) => `${number(value, 4)} Gbps`)],
        [words.goodput, of("bw_average", (value) => `${number(value, 4)} Gbps`)],
        [words.goodput, of("bw_average_max", (value) => `${number(value, 4)} Gbps`)],
        [words.latency, of("t_typical", (value) => nanoseconds(value * 1e3, 3))],
        [words.latency, of("t_typical_min", (value) => nanoseconds(value * 1e3, 3))],
        [words.latency_p99, of("t_p99", (value) => nanoseconds(value * 1e3, 3))],
        [words.latency, part("latency_us", "p50", 1e3)],
        [words.latency_p99, part("latency_us", "p99", 1e3)],
        [words.ttft, part("ttft_ms", "p50", 1e6)],
        [words.ttft_p99, part("ttft_ms", "p99", 1e6)],
        [words.transfer, part("transfer_ms", "p50", 1e6)],
        [words.get_hit_rate, of("get_hit_rate", percent)],
        [words.block_hit_rate, of("block_hit_rate", percent)],
        [words.batch, of("batch_mean", number)],
        [words.cores_busy, of("cores_busy", number)],
        [words.recovery, of("recovery_ms", (value) => nanoseconds(value * 1e6))],
        [words.failed, of("failed", count)],
    ];
    const known = all.filter((one): one is [string, string] => one[1] !== null);
    return known.slice(0, 8).map(([name, value]) => fact(name, value));
}

function app_card(app: AppNumbers, index: number, schema: ResultSchema): HTMLElement {
    const words = t().report;
    const facts = headline(app);
    const { transfers_done, transfers_planned, flows, units } = app;
    const done = transfers_planned === undefined ? "" : words.done_of(count(transfers_done), count(transfers_planned));
    const fields = { ...fields_of_units(units), ...schema.summary.apps_by_kind?.[app.kind] };
    return card(
        `${words.traffic(index)}: ${app.kind}`,
        h("span", { class: "muted small" }, done),
        h(
            "div",
            { class: "stack" },
            facts.length > 0 && h("div", { class: "facts" }, facts),
            numbers(app, fields, "", app_parts),
            flows ? flow_table(flows) : null,
        ),
    );
}

export function models_tab(scope: Scope, summary: Summary, schema: ResultSchema): Child {
    const words = t().report;
    if (summary.apps.length + summary.nics.length === 0) {
        return empty(words.nothing, words.nothing_text);
    }
    const detailed = summary.nics.filter((nic) => !("cache" in nic));
    const nics = h("span", { class: "muted small" }, words.nics(detailed.length));
    const inside = numbers_table(detailed.slice(0, nics_max), undefined, "");
    return [
        summary.apps.map((app, index) => [app_card(app, index, schema), transport_card(scope, app)]),
        detailed.length > 0 ? card(words.inside_nics, nics, inside) : null,
    ];
}
