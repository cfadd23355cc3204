// SPDX-License-Identifier: Apache-2.0
// All numbers that applications report, and those of the inside of NICs.
import { h, type Child, type Scope } from "../../core/dom";
import { count } from "../../core/format";
import type { ResultSchema } from "../../core/schema";
import type { AppNumbers, Summary } from "../../core/summary";
import { t } from "../../i18n/text";
import { card, empty } from "../../ui/parts";
import { flow_table } from "./flow_table";
import { numbers, numbers_table } from "./numbers";

const nics_max = 64;
const app_parts = ["kind", "units", "flows", "local_flows", "transfers_done", "transfers_planned"];

function app_card(app: AppNumbers, index: number, schema: ResultSchema): HTMLElement {
    const words = t().report;
    const { transfers_done, transfers_planned, flows, local_flows } = app;
    const done = transfers_planned === undefined ? "" : words.done_of(count(transfers_done), count(transfers_planned));
    const fields = schema.summary.apps_by_kind?.[app.kind];
    return card(
        `${words.traffic(index)}: ${app.kind}`,
        h("span.muted.small", done),
        h("div.stack", numbers(app, fields, "", app_parts), flows ? flow_table(flows, local_flows) : null),
    );
}

export function models_tab(_: Scope, summary: Summary, schema: ResultSchema): Child {
    const words = t().report;
    if (summary.apps.length + summary.nics.length === 0) {
        return empty(words.nothing, words.nothing_text);
    }
    const { nics_by_part } = schema.summary;
    const cached = summary.nics.filter((nic) => nic.cache).slice(0, nics_max);
    const detailed = summary.nics.filter((nic) => !("cache" in nic));
    const nics = h("span.muted.small", words.nics(detailed.length));
    const inside = numbers_table(detailed.slice(0, nics_max), undefined, "");
    return [
        summary.apps.map((app, index) => app_card(app, index, schema)),
        cached.map(({ name, cache }) => card(name, null, numbers(cache as AppNumbers, nics_by_part?.cache))),
        detailed.length > 0 ? card(words.inside_nics, nics, inside) : null,
    ];
}
