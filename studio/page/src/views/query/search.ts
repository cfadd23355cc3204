// SPDX-License-Identifier: Apache-2.0
// Search in the full text of events, flows and program logs.
import { api } from "../../core/api";
import { debounce, fill, h, type Child, type Scope } from "../../core/dom";
import { count, nanoseconds, number } from "../../core/format";
import { keep_query } from "../../core/router";
import type { Column, SearchHit } from "../../core/types";
import { t } from "../../i18n/text";
import { empty, problem, search_box } from "../../ui/parts";
import type { Query } from "./asked";
import { show_row } from "./row";

interface SearchAnswer {
    hits: SearchHit[];
    more: boolean;
    seconds: number;
}

function marked(hit: SearchHit): Child[] {
    const parts: Child[] = [];
    let at = 0;
    for (const [from, to] of hit.marks) {
        parts.push(hit.text.slice(at, from), h("mark", hit.text.slice(from, to)));
        at = to;
    }
    return [...parts, hit.text.slice(at)];
}

function hit_line(hit: SearchHit, runs: () => number[]): HTMLElement {
    const columns = Object.keys(hit.columns ?? {}).map((name): Column => {
        return { name, unit: name.endsWith("_ns") ? "ns" : undefined };
    });
    const open = () => show_row([{ name: "run" }, ...columns], [hit.run, ...Object.values(hit.columns ?? {})], runs());
    const time = typeof hit.time_ns === "number" ? ` · ${nanoseconds(hit.time_ns)}` : "";
    const where = h("span.hit-where.muted.small.number", `#${hit.run} ${hit.table}`, time);
    return h("li", h("button.hit", { type: "button", on: { click: open } }, where, h("span.mono", marked(hit))));
}

function answer_list(answer: SearchAnswer, runs: () => number[]): Child {
    const words = t().query;
    const took = ` · ${number(answer.seconds * 1000, 2)} ms`;
    const lines = answer.hits.map((hit) => hit_line(hit, runs));
    return [
        h("p.muted.small.number", words.hits(count(answer.hits.length), answer.more), took),
        lines.length > 0 ? h("ul.hits.card.flush", lines) : empty(words.no_rows, words.search_hint),
    ];
}

export function search_tab(scope: Scope, { asked, runs }: Query): Child {
    const words = t().query;
    const hint = () => h("p.muted", words.search_hint);
    const results = h("div.stack", hint());
    const run = debounce(scope, 250, (signal) => {
        asked.search = box.value.trim();
        keep_query({ q: asked.search, tab: "search" });
        if (!asked.search) {
            fill(results, hint());
            return;
        }
        const query = { q: asked.search, runs: runs().join(","), limit: 200 };
        api.get<SearchAnswer>("search", query, signal).then(
            (answer) => fill(results, answer_list(answer, runs)),
            (error: unknown) => !signal.aborted && fill(results, problem(error)),
        );
    });
    const box = search_box(words.search, run, { value: asked.search });
    if (asked.search) {
        run();
    }
    return [box, results];
}
