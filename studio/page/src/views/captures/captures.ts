// SPDX-License-Identifier: Apache-2.0
// Captures: the files of a run, and the packets of one of them.
import { api } from "../../core/api";
import { h, type Child, type Scope } from "../../core/dom";
import { go, link, numbers_in, type Place } from "../../core/router";
import { enter_range } from "../../core/time_range";
import { t } from "../../i18n/text";
import { empty, view_head } from "../../ui/parts";
import { no_runs, run_picker } from "../../ui/run_picker";
import { when_imported } from "../run/import";
import { CaptureView, type CaptureFile } from "./file";

async function captures_of(scope: Scope, run: number, place: Place, signal: AbortSignal): Promise<Child> {
    const words = t().captures;
    const { captures } = await api.get<{ captures: CaptureFile[] }>(`runs/${run}/captures`, undefined, signal);
    const chosen = captures.find((one) => one.file === place.words[2]) ?? captures[0];
    if (!chosen) {
        const edit = h("a.button", { href: link("edit", "run", run) }, t().run.edit_again);
        return empty(words.none, words.none_text, edit);
    }
    const view = new CaptureView(scope, run, chosen, place.query.get("filter") ?? "");
    const packet = Number(place.query.get("packet") ?? 0);
    if (packet > 0) {
        view.open_first(packet);
    }
    return view.show(captures);
}

export async function captures_view(scope: Scope, place: Place): Promise<Child> {
    const words = t().captures;
    const named = Number(place.words[1]);
    const wanted = named ? [named] : numbers_in(place, "runs");
    const picker = await run_picker(scope, wanted, (ids) => ids[0] && go(link("captures", ids[0])), 1);
    const run = picker.ids()[0];
    const body = () => {
        if (!run) {
            return no_runs(words.none_text);
        }
        enter_range(run, place);
        return when_imported(scope, run, (signal) => captures_of(scope, run, place, signal));
    };
    return [
        view_head(words.title, words.lead),
        h("div.row", h("span.label-text", t().picker.run), picker.element),
        h("div.stack.wide", body()),
    ];
}
