// SPDX-License-Identifier: Apache-2.0
// All runs that the user may see: those that wait, run and have ended, the runs of one sweep, and the trash.
import { api } from "../core/api";
import { debounce, fill, h, type Child, type Scope } from "../core/dom";
import { bytes, moment, seconds } from "../core/format";
import { go, keep_query, link, numbers_in, with_query, type Place } from "../core/router";
import { session } from "../core/session";
import { plain_name, settings_of, short_setting, type Run, type Runs } from "../core/types";
import { t, told } from "../i18n/text";
import { grid, type Grid, type GridColumn, type GridPage } from "../ui/grid";
import { parameters_of, run_lines } from "./run_lines";
import { choose_values, preferred_columns, value_column, value_columns } from "./run_values";
import { badge, bar, button, choices, confirm_sheet, link_button, note } from "../ui/parts";
import { remove_sheet, search_box, select, view_head } from "../ui/parts";

export function state_badge(run: Run): HTMLElement {
    return run.cancelling
        ? badge(t().runs.cancelling, "warn")
        : badge(t().runs.states[run.state] ?? run.state, run.state);
}

export function is_active(run: Run): boolean {
    return run.state === "running" || run.state === "queued";
}

export function run_progress(run: Run): Child {
    const words = t().runs;
    const { state, progress, eta_s, started_ms, ended_ms } = run;
    if (state === "running") {
        const left = typeof eta_s === "number" ? ` · ${words.eta(seconds(eta_s))}` : "";
        const done = h("span.number.small", `${Math.floor((progress ?? 0) * 100)} %`, left);
        return h("div.row.tight.run-progress", h("div.grow", bar(progress ?? 0, words.progress)), done);
    }
    const took = state === "done" && started_ms && ended_ms ? words.took(seconds((ended_ms - started_ms) / 1000)) : "";
    return state === "failed" ? told(run.message ?? "") : took;
}

export function trash_run(run: Run, after: () => void): Promise<boolean> {
    return remove_sheet(t().runs, run.name, `runs/${run.id}`, after);
}

interface Wanted extends Record<string, string> {
    search: string;
    state: string;
    owner: string;
    group: string;
    trash: string;
    sort: string; // name of a column, with - before it from the largest on
    columns: string; // results, separated by commas
}

const quota_told = 0.8; // share of the quota from which on the list says how full it is
const parameters_max = 6; // columns of a sweep; with more, one column has them all
const lines_max = 2000; // runs that are drawn as parallel coordinates

function parameter_column(name: string): GridColumn<Run> {
    const value = (run: Run) => run.set.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
    const title = short_setting(`${name}=`).slice(0, -1);
    return { name: `set ${name}`, title, help: name, width: 150, cell: (run) => value(run) ?? "–" };
}

class RunList {
    private readonly wanted: Wanted;
    private readonly marked = new Set<number>();
    private readonly actions = h("div.row.tight", { "aria-live": "polite" });
    private readonly table = h("section.card.flush");
    private readonly lines = h("div");
    private readonly quota = h("div", { "aria-live": "polite" });
    private parameters: string[] = []; // of a sweep: each is a column
    private list!: Grid;
    private list_scope: Scope;

    constructor(
        private readonly scope: Scope,
        place: Place,
    ) {
        const names = ["search", "state", "owner", "group", "trash", "sort", "columns"];
        this.wanted = Object.fromEntries(names.map((name) => [name, place.query.get(name) ?? ""])) as Wanted;
        this.wanted.group = String(numbers_in(place, "group")[0] ?? "");
        this.list_scope = scope.child();
        this.make_list();
        const draw_results = () => void this.draw_results().catch(() => undefined); // the list says what is wrong
        draw_results();
        scope.listen(window, "studio-run", debounce(scope, 1200, draw_results));
        // A change of a run draws the list again, at most twice a second, unless the user is busy further down.
        const refresh = debounce(scope, 500, () => {
            const top = this.list.element.querySelector(".grid")?.scrollTop ?? 0;
            if (this.marked.size === 0 && !scope.ended && top < 40) {
                this.list.refresh();
            }
        });
        scope.listen(window, "studio-run", refresh);
    }

    show(): Child {
        this.draw_actions();
        return [this.head(), this.quota, this.filters(), this.lines, this.table];
    }

    // Shows the results of a sweep, of which more come while its runs end.
    private async draw_results(): Promise<void> {
        const { group, columns, trash } = this.wanted;
        if (!group || trash || this.marked.size > 0) {
            return;
        }
        const found = columns ? [] : preferred_columns(await value_columns(group, this.scope.signal));
        if (found.length > 0) {
            this.set_columns(found);
        } else {
            await this.draw_lines();
        }
    }

    private make_list(): void {
        const words = t().runs;
        this.list_scope.end();
        this.list_scope = this.scope.child();
        this.list = grid<Run>(this.list_scope, {
            label: words.title,
            height: "calc(100vh - 250px)",
            empty: this.wanted.trash ? words.trash_empty : words.none,
            open: (run) => (this.wanted.trash ? undefined : go(link("run", run.id))),
            on_sort: (column, descending) => this.set({ sort: column ? `${descending ? "-" : ""}${column}` : "" }),
            columns: this.columns(),
            fetch: (offset, limit, signal) => this.fetch(offset, limit, signal),
        });
        fill(this.table, this.list.element);
    }

    private value_names(): string[] {
        return this.wanted.columns.split(",").filter(Boolean);
    }

    // Shows these results as columns, and in a sweep as parallel coordinates.
    private set_columns(names: string[]): void {
        this.wanted.columns = names.join(",");
        keep_query(this.wanted);
        this.make_list();
        void this.draw_lines().catch(() => undefined);
    }

    private async choose_columns(): Promise<void> {
        const { group } = this.wanted;
        const columns = await value_columns(group, this.scope.signal);
        await choose_values(columns, this.value_names(), (names) => this.set_columns(names));
    }

    private async draw_lines(): Promise<void> {
        const { group, columns } = this.wanted;
        if (!group) {
            return;
        }
        const { runs } = await api.get<Runs>("runs", { group, columns, limit: lines_max }, this.list_scope.signal);
        const mark = (chosen: Run[]) => {
            this.marked.clear();
            for (const run of chosen) {
                this.marked.add(run.id);
            }
            this.list.refresh();
            this.draw_actions();
        };
        const parameters = parameters_of(runs).map(({ name }) => name);
        if (parameters.join() !== this.parameters.join() && parameters.length <= parameters_max) {
            this.parameters = parameters;
            this.make_list();
        }
        fill(this.lines, run_lines(this.list_scope, runs, this.value_names(), mark));
    }

    private reload(): void {
        keep_query(this.wanted);
        this.list.reload();
        this.draw_actions();
    }

    private set(changes: Partial<Wanted>): void {
        Object.assign(this.wanted, changes);
        this.reload();
    }

    private async fetch(offset: number, limit: number, signal: AbortSignal): Promise<GridPage<Run>> {
        const owner = this.wanted.owner ? session.user?.name : "";
        const trash = this.wanted.trash ? "true" : "";
        const answer = await api.get<Runs>("runs", { ...this.wanted, owner, trash, offset, limit }, signal);
        const { used_bytes, quota_bytes } = answer;
        const told = t().runs.quota(bytes(used_bytes), bytes(quota_bytes));
        fill(this.quota, used_bytes > quota_told * quota_bytes ? note("warn", told) : null);
        return { rows: answer.runs, total: answer.total };
    }

    private columns(): GridColumn<Run>[] {
        const words = t().runs;
        const stop = (event: Event) => event.stopPropagation();
        const { group, trash } = this.wanted;
        const state_of = (run: Run) => words.states[run.state] ?? run.state;
        const name = (run: Run): Child => [
            // A telephone has no column for the state: a mark before the name shows it.
            h("i", { class: `state-mark ${run.state}`, role: "img", "aria-label": state_of(run) }),
            h("a", { href: link("run", run.id), title: run.name, on: { click: stop } }, plain_name(run)),
            run.study ? [" ", badge(t().shelf.study, "accent")] : null,
        ];
        const owner = (run: Run) => [run.owner.name, run.shared ? ` · ${t().common.shared}` : ""].join("");
        const created = (run: Run) => moment(run.created_ms);
        const settings = (run: Run) =>
            h("span", { title: settings_of(run).join("  ") }, settings_of(run).map(short_setting).join(" · "));
        const set = { name: "set", title: words.parameters, width: group ? 420 : 300, minor: !group, cell: settings };
        const results = this.value_names().map(value_column);
        const [fixed, minor] = [{ fixed: true }, { sortable: true, minor: true }];
        const all: GridColumn<Run>[] = [
            { name: "mark", title: "", width: 40, ...fixed, cell: (run) => this.mark_box(run) },
            { name: "name", title: words.name, width: 230, sortable: true, minor: !!group, cell: name },
            { name: "state", title: words.state, width: 96, ...fixed, ...minor, cell: state_badge },
            { name: "wall_ms", title: words.progress, width: 160, ...minor, cell: run_progress },
            ...(this.parameters.length > 0 ? this.parameters.map(parameter_column) : [set]),
            ...results,
            { name: "created_ms", title: words.created, width: 150, ...minor, cell: created },
            { name: "owner", title: words.owner, width: 110, ...minor, cell: owner },
            { name: "more", title: "", width: 100, ...fixed, minor: !trash, cell: (run) => this.row_action(run) },
        ];
        // Results take the room of what says little about them.
        return all.filter(({ name: one }) => results.length === 0 || !/^(wall_ms|created_ms|owner)$/.test(one));
    }

    private mark_box(run: Run): HTMLElement {
        const change = () => {
            this.marked[box.checked ? "add" : "delete"](run.id);
            this.draw_actions();
        };
        const box = h("input", {
            type: "checkbox",
            checked: this.marked.has(run.id),
            "aria-label": t().runs.mark(run.name),
            on: { click: (event) => event.stopPropagation(), change },
        });
        return h("span.mark", box);
    }

    private row_action(run: Run): Child {
        const words = t().runs;
        const may_cancel = run.owner.id === session.user?.id || session.administrates;
        const post = async (event: Event, what: string) => {
            event.stopPropagation();
            await api.post(`runs/${run.id}/${what}`);
            if (this.wanted.trash) {
                this.reload();
            }
        };
        if (this.wanted.trash) {
            return button(words.restore, (event) => post(event, "restore"), { small: true });
        }
        if (is_active(run) && may_cancel) {
            return button(words.cancel, (event) => post(event, "cancel"), { small: true });
        }
        return run.size_bytes > 0 ? h("span.muted.small", bytes(run.size_bytes)) : null;
    }

    // Shows the actions for the marked runs.
    private draw_actions(): void {
        const words = t().runs;
        const { marked } = this;
        const ids = [...marked].sort((one, other) => one - other);
        if (ids.length === 0) {
            fill(this.actions, h("span.muted.small", words.mark_hint));
            return;
        }
        const unmark = () => {
            marked.clear();
            this.reload();
        };
        if (this.wanted.trash) {
            const title = words.remove_forever;
            const remove = () => this.remove_forever(title, ids);
            const tool = button(title, remove, { small: true, icon: "trash", kind: "danger" });
            fill(this.actions, h("span.small", words.marked(ids.length)), tool);
            return;
        }
        const cancel = async () => {
            await api.post("runs/cancel", { runs: ids });
            this.reload();
        };
        const remove = () =>
            confirm_sheet(words.remove, words.remove_many(ids.length), words.remove, async () => {
                await api.post("runs/delete", { runs: ids });
                unmark();
            });
        const runs = `?runs=${ids.join(",")}`;
        fill(
            this.actions,
            h("span.small", words.marked(ids.length)),
            link_button(words.compare, `${link("process")}${runs}`, { small: true, icon: "process" }),
            link_button(words.query, `${link("query")}${runs}`, { small: true, icon: "query" }),
            button(words.cancel, cancel, { small: true, icon: "stop" }),
            button(words.remove, remove, { small: true, icon: "trash", kind: "danger" }),
            button(words.unmark, unmark, { small: true, kind: "quiet" }),
        );
    }

    // Removes runs in the trash for good.
    private remove_forever(title: string, ids: number[]): Promise<boolean> {
        return confirm_sheet(title, t().runs.remove_forever_text(ids.length), title, async () => {
            await api.post("runs/remove", { runs: ids });
            this.marked.clear();
            this.reload();
        });
    }

    // Empties the trash: removes all runs in it that the user may remove.
    private async empty_trash(): Promise<void> {
        const { runs } = await api.get<Runs>("runs", { trash: true, limit: 10000 });
        if (runs.length > 0) {
            const ids = runs.map((run) => run.id);
            await this.remove_forever(t().runs.empty_trash, ids);
        }
    }

    private sweep_tools(): Child {
        const words = t().runs;
        const { group } = this.wanted;
        const cancel_all = () =>
            confirm_sheet(words.cancel_all, words.cancel_all_text, words.cancel_all, async () => {
                const { runs } = await api.get<Runs>("runs", { group, limit: 10000 });
                await api.post("runs/cancel", { runs: runs.filter(is_active).map((run) => run.id) });
            });
        const compare = with_query(link("process"), { group });
        return [
            link_button(words.compare_group, compare, { icon: "process", kind: "main-action" }),
            button(words.cancel_all, cancel_all, { icon: "stop" }),
        ];
    }

    private head(): HTMLElement {
        const words = t().runs;
        const { trash, group } = this.wanted;
        if (trash || group) {
            const title = trash ? words.trash : words.group(group);
            const back = link_button(words.title, link("runs"), { icon: "back" });
            const tools = trash
                ? button(words.empty_trash, () => this.empty_trash(), { icon: "trash" })
                : this.sweep_tools();
            return view_head(title, trash ? words.trash_lead : words.lead, tools, back);
        }
        const fresh = link_button(t().shelf.new_run, link("simulate"), { kind: "main-action", icon: "plus" });
        const to_trash = link_button(words.trash, with_query(link("runs"), { trash: 1 }), { icon: "trash" });
        return view_head(words.title, words.lead, to_trash, session.may_run ? fresh : null);
    }

    private filters(): HTMLElement {
        const words = t().runs;
        const all = ["queued", "running", "done", "failed", "cancelled"];
        const states = choices(["", ...all], (state) => (state ? (words.states[state] ?? state) : words.all_states));
        const owners = choices(["", "me"], (owner) => (owner ? words.mine : words.everyone));
        const search = debounce(this.scope, 250, () => this.set({ search: box.value }));
        const box = search_box(words.search, search, { value: this.wanted.search });
        const labelled = (label: string) => ({ "aria-label": label });
        const { wanted } = this;
        const state = select(states, wanted.state, (one) => this.set({ state: one }), labelled(words.state));
        const owner = select(owners, wanted.owner, (one) => this.set({ owner: one }), labelled(words.owner));
        return h(
            "div.row",
            box,
            h("div.narrow", state),
            h("div.narrow", owner),
            button(words.columns, () => this.choose_columns(), { title: words.columns_text }),
            h("div.grow"),
            this.actions,
        );
    }
}

export function runs_view(scope: Scope, place: Place): Child {
    return new RunList(scope, place).show();
}
