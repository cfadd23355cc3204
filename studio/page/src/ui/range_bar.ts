// SPDX-License-Identifier: Apache-2.0
// A bar that shows and changes the time range of all views of a run.
import { fill, h, type Scope } from "../core/dom";
import { nanoseconds } from "../core/format";
import { link, query_link, with_query } from "../core/router";
import { choose_range, on_range, time_range } from "../core/time_range";
import { time_ns } from "../core/time_text";
import { t } from "../i18n/text";
import type { IconName } from "./icons";
import { button, input, link_button } from "./parts";

// Makes the bar; `here` is the view it stands in, to which it has no link.
export function range_bar(scope: Scope, run: number, here: "run" | "query" | "captures"): HTMLElement {
    const words = t().range;
    const element = h("div.range-bar.row.tight", { role: "group", "aria-label": words.title });
    const draw = () => {
        const range = time_range();
        const text = (ns: number | undefined) =>
            ns === undefined || ns === Number.MAX_SAFE_INTEGER ? "" : nanoseconds(ns, 7);
        const from = input({ class: "mono", value: text(range?.[0]), placeholder: "0", "aria-label": words.from });
        const to = input({ class: "mono", value: text(range?.[1]), placeholder: words.end, "aria-label": words.to });
        const take = () => {
            const [begin, end] = [time_ns(from.value), time_ns(to.value)];
            choose_range(begin === null && end === null ? null : [begin ?? 0, end ?? Number.MAX_SAFE_INTEGER]);
        };
        from.addEventListener("change", take);
        to.addEventListener("change", take);
        const until = range?.[1] === Number.MAX_SAFE_INTEGER ? undefined : range?.[1];
        const asked = { from: range?.[0], to: until };
        const there: [string, string, string, IconName][] = [
            ["query", words.events, query_link(run, "events", "", asked), "query"],
            ["captures", words.packets, with_query(link("captures", run), asked), "captures"],
            ["run", words.plots, with_query(link("run", run), { tab: "series", ...asked }), "process"],
        ];
        const others = there.filter(([view]) => range && view !== here);
        fill(
            element,
            h("span.label-text", words.title),
            from,
            h("span.muted", { "aria-hidden": "true" }, "–"),
            to,
            range
                ? button(words.whole, () => choose_range(null), { small: true, icon: "fit" })
                : h("span.muted.small", words.hint),
            others.map(([, said, address, icon]) => link_button(said, address, { small: true, icon })),
        );
    };
    on_range(scope, draw);
    draw();
    return element;
}
