// SPDX-License-Identifier: Apache-2.0
// The runs that a question is about: a chip for each chosen run, and a sheet to choose among those one may see.
import { api } from "../core/api";
import { debounce, fill, h, type Scope } from "../core/dom";
import { moment } from "../core/format";
import { link } from "../core/router";
import { plain_name, settings_of, short_setting, type Run, type Runs } from "../core/types";
import { t } from "../i18n/text";
import { button, empty, link_button, search_box, sheet } from "./parts";

export interface RunPicker {
    element: HTMLElement;
    ids: () => number[];
}

const chips_max = 8;

class Picker implements RunPicker {
    readonly element = h("div.row.tight.picker");
    private readonly known = new Map<number, Run>();
    private chosen: number[] = [];

    constructor(
        private readonly scope: Scope,
        private readonly change: (ids: number[]) => void,
        private readonly most: number,
    ) {}

    ids = () => this.chosen;

    // Chooses the first runs that exist, or the newest that is done.
    async begin(first: number[]): Promise<void> {
        const { known, scope } = this;
        const look_up = async (id: number) => {
            try {
                known.set(id, await api.get<Run>(`runs/${id}`, undefined, scope.signal));
            } catch {
                // A run that is gone or not shared is left out.
            }
        };
        const wanted = first.slice(0, this.most);
        await Promise.all(wanted.map(look_up));
        this.chosen = wanted.filter((id) => known.has(id));
        if (this.chosen.length === 0) {
            const latest = await api.get<Runs>("runs", { state: "done", limit: 1 }, scope.signal);
            for (const run of latest.runs) {
                known.set(run.id, run);
                this.chosen.push(run.id);
            }
        }
        this.draw();
    }

    private set(ids: number[]): void {
        this.chosen = ids.slice(0, this.most);
        this.draw();
        this.change(this.chosen);
    }

    private choice(run: Run, picked: Set<number>): HTMLElement {
        const change = () => {
            if (this.most === 1) {
                picked.clear();
            }
            if (check.checked) {
                picked.add(run.id);
            } else {
                picked.delete(run.id);
            }
        };
        const check = h("input", {
            type: this.most === 1 ? "radio" : "checkbox",
            name: "run",
            checked: picked.has(run.id),
            on: { change },
        });
        const about = ` #${run.id} · ${settings_of(run).join(" ")} · ${moment(run.created_ms)}`;
        const name = h("span.grow", plain_name(run), h("span.muted.small", about));
        return h("li", h("label.check", check, name));
    }

    private async choose(): Promise<void> {
        const words = t().picker;
        const picked = new Set(this.chosen);
        const list = h("ul.pick-list", { tabindex: 0 });
        const load = async () => {
            const answer = await api.get<Runs>("runs", { search: box.value, limit: 100 }, this.scope.signal);
            const runs = answer.runs.filter((run) => run.has_result);
            for (const run of runs) {
                this.known.set(run.id, run);
            }
            const rows = runs.map((run) => this.choice(run, picked));
            fill(list, rows);
        };
        const box: HTMLInputElement = search_box(
            t().runs.search,
            debounce(this.scope, 200, () => void load()),
        );
        void load();
        if (await sheet(words.title, [box, list], { text: words.use, done: () => undefined })) {
            this.set([...picked].sort((one, other) => one - other));
        }
    }

    // Returns the settings of a run that distinguish it from the other chosen runs.
    private own_settings(run: Run): string[] {
        const others = this.chosen.filter((id) => id !== run.id).map((id) => this.known.get(id));
        const shared = (one: string) => others.every((other) => other && settings_of(other).includes(one));
        return others.length === 0 ? [] : settings_of(run).filter((one) => !shared(one));
    }

    private chip(id: number): HTMLElement {
        const run_of = this.known.get(id);
        const name = run_of ? plain_name(run_of) : `#${id}`;
        const settings = run_of ? this.own_settings(run_of) : [];
        const leave_out = h(
            "button",
            {
                type: "button",
                "aria-label": t().picker.leave_out(name),
                on: { click: () => this.set(this.chosen.filter((one) => one !== id)) },
            },
            "×",
        );
        // A chip has no room for the names of many settings, so it shows their values alone.
        const short = (one: string) => (settings.length > 1 ? one.slice(one.indexOf("=") + 1) : short_setting(one));
        const about = h("span.muted", ` ${settings.map(short).join(" · ") || `#${id}`}`);
        const run = h("a", { href: `#/run/${id}`, title: `#${id} ${settings.join(" ")}` }, name, about);
        return h("span.chip", run, this.most > 1 ? leave_out : null);
    }

    private draw(): void {
        const words = t().picker;
        const { chosen } = this;
        const more = chosen.length - chips_max;
        const text = chosen.length === 0 ? words.choose : words.change;
        fill(
            this.element,
            chosen.slice(0, chips_max).map((id) => this.chip(id)),
            more > 0 ? h("span.muted.small", words.more(more)) : null,
            button(text, () => void this.choose(), { small: true, icon: "plus" }),
        );
    }
}

// Says that there is no run that could be asked.
export function no_runs(text = t().query.no_runs_text): HTMLElement {
    const simulate = link_button(t().nav.simulate, link("simulate"), { kind: "main-action" });
    return empty(t().query.no_runs, text, simulate);
}

export async function run_picker(
    scope: Scope,
    first: number[],
    change: (ids: number[]) => void,
    most = 64,
): Promise<RunPicker> {
    const picker = new Picker(scope, change, most);
    await picker.begin(first);
    return picker;
}
