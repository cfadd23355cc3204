// SPDX-License-Identifier: Apache-2.0
// A setting that may help: a button runs the scenario with it, and both runs are shown beside each other.
import { api } from "../../../core/api";
import { fill, h, type Child, type Scope } from "../../../core/dom";
import { value_at, unit_at } from "../../../core/pages";
import { link } from "../../../core/router";
import type { ResultSchema } from "../../../core/schema";
import { session } from "../../../core/session";
import type { Summary } from "../../../core/summary";
import type { Run } from "../../../core/types";
import { t, told } from "../../../i18n/text";
import { button, link_button, note, problem } from "../../../ui/parts";
import { number_table } from "../../../ui/table";
import { is_active } from "../../runs";
import { plain_text } from "../numbers";
import { order_again } from "./record";
import { schema_of, summary_of } from "../summary";

const asked_every_ms = 700;

// Returns the settings of a remedy, which may be several options of the command line.
export function settings_of_remedy(set: string): string[] {
    return set.split(/\s+--set\s+/).map((one) => one.trim());
}

function both_table(one: Summary, other: Summary, schema: ResultSchema): HTMLElement {
    const words = t().explain;
    const fields = schema.summary.properties ?? {};
    const text = (summary: Summary, path: string) => {
        const value = value_at(summary, path);
        return typeof value === "number" ? plain_text(path, value, unit_at(fields, path)) : "–";
    };
    const shown = Object.entries(words.compared).filter(
        ([path]) => typeof (value_at(one, path) ?? value_at(other, path)) === "number",
    );
    return number_table(
        [words.value, words.before, words.after],
        shown.map(([path, name]) => [name, text(one, path), text(other, path)]),
    );
}

async function until_ended(id: number, scope: Scope, place: HTMLElement): Promise<Run> {
    for (;;) {
        const run = await api.get<Run>(`runs/${id}`, undefined, scope.signal);
        if (!is_active(run)) {
            return run;
        }
        fill(place, h("p.muted", t().explain.trying(t().runs.states[run.state] ?? run.state)));
        await new Promise((done) => window.setTimeout(done, asked_every_ms));
    }
}

export function remedy_row(scope: Scope, run: Run, { set, why }: { set: string; why: string }): Child {
    const words = t().explain;
    const place = h("div.stack", { "aria-live": "polite" });
    const settings = settings_of_remedy(set);
    const attempt = async () => {
        try {
            const id = await order_again(run, settings, `${run.name}: ${settings.join(", ")}`.slice(0, 200));
            const tried = await until_ended(id, scope, place);
            const open = link_button(words.see_tried, link("run", id), { small: true });
            if (!tried.has_result) {
                fill(place, note("bad", told(tried.message ?? tried.state)), open);
                return;
            }
            const [schema, ...both] = await Promise.all([
                schema_of(id, scope.signal),
                summary_of(run.id, scope.signal),
                summary_of(id, scope.signal),
            ]);
            const compare = link_button(words.see_both, `${link("process")}?runs=${run.id},${id}`, { small: true });
            const table = both_table(both[0]!, both[1]!, schema);
            fill(place, h("h3", words.tried), table, h("div.row.tight", open, compare));
        } catch (error) {
            if (!scope.ended) {
                fill(place, problem(error));
            }
        }
    };
    const attempt_button = session.may_run ? button(words.try_it, attempt, { small: true, icon: "again" }) : null;
    return h("li", h("code", set), ` — ${told(why)} `, attempt_button, place);
}
