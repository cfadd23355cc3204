// SPDX-License-Identifier: Apache-2.0
// Log query: a filter builder, SQL that only reads, and search in the full text, over any set of runs.
import { api } from "../../core/api";
import { fill, h, type Child, type Scope } from "../../core/dom";
import { keep_query, kept_json, numbers_in, the_place, type Place } from "../../core/router";
import { choose_range, enter_range, time_range } from "../../core/time_range";
import type { Tables } from "../../core/types";
import { t } from "../../i18n/text";
import { tabs, view_head } from "../../ui/parts";
import { no_runs, run_picker } from "../../ui/run_picker";
import { saved_menu } from "../../ui/saved";
import { when_imported } from "../run/import";
import { conditions_of, type Asked, type Query } from "./asked";
import { filter_tab } from "./filter";
import { search_tab } from "./search";
import { sql_tab } from "./sql";

type Saved = Asked & { tab?: string };

function asked_by(place: Place): Asked {
    const of = (name: string) => place.query.get(name) ?? "";
    const table = of("table");
    const kept = kept_json<unknown>(place, "if", []);
    return { table, conditions: conditions_of(kept), where: of("where"), range: null, sql: of("sql"), search: of("q") };
}

export async function query_view(scope: Scope, place: Place): Promise<Child> {
    const words = t().query;
    const asked = asked_by(place);
    let tab = place.query.get("tab") ?? "filter";
    let inner = scope.child();
    const body = h("div.stack.wide");
    const wanted = numbers_in(place, "runs");
    const picker = await run_picker(scope, wanted, (ids) => {
        keep_query({ runs: ids.join(","), from: null, to: null });
        enter_range(ids[0] ?? 0, the_place());
        draw();
    });
    const query: Query = { asked, runs: picker.ids };
    enter_range(picker.ids()[0] ?? 0, place);

    const tab_changed = (name: string) => {
        tab = name;
        keep_query({ tab: name });
    };
    const tabs_of = (here: Scope, tables: Tables) => {
        const all = [
            { name: "filter", text: words.filter, make: (tab_scope: Scope) => filter_tab(tab_scope, query, tables) },
            { name: "sql", text: words.sql, make: (tab_scope: Scope) => sql_tab(tab_scope, query, tables) },
            { name: "search", text: words.full_text, make: (tab_scope: Scope) => search_tab(tab_scope, query) },
        ];
        return tabs(here, words.title, all, tab, tab_changed);
    };
    const draw = () => {
        inner.end();
        inner = scope.child();
        const here = inner;
        const first = picker.ids()[0];
        if (first === undefined) {
            fill(body, no_runs());
            return;
        }
        const made = async (signal: AbortSignal) =>
            tabs_of(here, await api.get<Tables>(`runs/${first}/tables`, undefined, signal));
        fill(body, when_imported(here, first, made));
    };
    const open_saved = (saved: Saved) => {
        Object.assign(asked, saved);
        choose_range(saved.range ?? null);
        tab = saved.tab ?? "filter";
        draw();
    };
    const menu = saved_menu<Saved>(
        "query",
        () => ({ ...asked, range: time_range(), tab }),
        (document) => open_saved(document.body),
    );
    draw();
    const runs = h("div.row", h("span.label-text", t().picker.runs), picker.element);
    return [view_head(words.title, words.lead, menu), runs, body];
}
