// SPDX-License-Identifier: Apache-2.0
// One run: its progress while it runs, then what happened, in words, numbers and pictures.
import { api } from "../../core/api";
import { fill, h, type Child, type Scope } from "../../core/dom";
import { listen_events } from "../../core/events";
import { bytes, count, moment, nanoseconds, seconds } from "../../core/format";
import { go, keep_query, link, type Place } from "../../core/router";
import { pages_of, type RunPage } from "../../core/pages";
import type { ResultSchema } from "../../core/schema";
import { session } from "../../core/session";
import type { Summary } from "../../core/summary";
import { enter_range } from "../../core/time_range";
import { plain_name, settings_of, type Live, type Run, type Runs } from "../../core/types";
import { t, told } from "../../i18n/text";
import { bar, button, field, input, later, link_button, note, sheet, tabs, view_head, type Tab } from "../../ui/parts";
import { range_bar } from "../../ui/range_bar";
import { is_active, state_badge, trash_run } from "../runs";
import { page_tab } from "./page/page";
import { explain_tab } from "./explain";
import { figures_tab } from "./figures";
import { live_view } from "./live";
import { models_tab } from "./models";
import { network_tab } from "./network";
import { packets_tab } from "./packets";
import { series_tab } from "./series";
import { study_live, study_tab } from "./study";
import { schema_of, summary_of, summary_tab } from "./summary";
import { files_tab, hosts_tab, log_tab, table_tab } from "./tables";
import { timeline_tab } from "./timeline";

class RunView {
    private readonly header = h("div");
    private readonly status = h("div", { "aria-live": "polite" });
    private readonly body = h("div.stack.wide");
    private inner: Scope;
    private chosen: string;
    private drawn_for = ""; // the state that the body shows

    constructor(
        private readonly scope: Scope,
        private readonly place: Place,
        private run: Run,
        private readonly in_group: boolean,
        private pages: RunPage[], // of its traffic
    ) {
        this.inner = scope.child();
        this.chosen = place.query.get("tab") ?? "";
        this.draw();
        this.listen();
    }

    show(): Child {
        return [this.header, this.status, this.body];
    }

    private async reload(): Promise<void> {
        this.run = await api.get<Run>(`runs/${this.run.id}`, undefined, this.scope.signal);
        this.pages = await own_pages(this.run, this.scope.signal);
        this.draw();
    }

    private draw(): void {
        this.draw_header();
        this.draw_status();
        this.draw_body();
    }

    // Follows the run, which ends, is renamed or moves to the trash, perhaps in another window.
    private listen(): void {
        const ask = () => void this.reload().catch(() => undefined);
        listen_events(this.scope.signal, (name, data) => {
            if (name === "progress" && data.id === this.run.id) {
                this.take_progress(data as unknown as Live);
            } else if (name === "resync" || (name === "state" && data.id === this.run.id)) {
                ask();
            }
        });
        if (is_active(this.run)) {
            ask(); // the run may have ended before
        }
    }

    private take_progress(now: Live): void {
        const progress = now.share >= 0 ? now.share : null;
        const eta_s = now.left_s >= 0 ? now.left_s : null;
        this.run = { ...this.run, state: "running", live: now, progress, eta_s };
        window.dispatchEvent(new CustomEvent("studio-live", { detail: now }));
        this.draw_status();
    }

    private tools(): Child[] {
        const words = t().run;
        const { run } = this;
        const { id } = run;
        if (run.trashed_ms) {
            return [];
        }
        const active = is_active(run);
        const cancel = () => api.post(`runs/${id}/cancel`).then(() => this.reload());
        const again = async () => {
            const answer = await api.post<{ runs: { id: number }[] }>(`runs/${id}/again`);
            go(link("run", answer.runs[0]?.id ?? id));
        };
        const share = async () => {
            await api.patch(`runs/${id}`, { shared: !run.shared });
            await this.reload();
        };
        const rename = () => edit_words(run, () => this.reload());
        const remove = () => trash_run(run, () => go(link("runs")));
        const bin = { icon: "trash", kind: "quiet", label: t().runs.remove, title: t().runs.remove } as const;
        const own = run.owner.id === session.user?.id || session.administrates;
        const process = `${link("process")}?runs=${id}`;
        return [
            this.in_group ? link_button(words.group, `${link("runs")}?group=${run.group}`) : null,
            active && own ? button(words.cancel, cancel, { icon: "stop", kind: "danger" }) : null,
            !active && run.has_result ? link_button(words.process, process, { icon: "process" }) : null,
            !active && session.may_run ? button(words.again, again, { icon: "again" }) : null,
            run.study
                ? link_button(words.see_study, link("edit", "study", run.study))
                : link_button(words.edit_again, link("edit", "run", id)),
            own ? button(words.rename, rename) : null,
            own ? button(run.shared ? words.unshare : words.share, share, { icon: "share" }) : null,
            !active && own ? button("", remove, bin) : null,
        ];
    }

    private draw_header(): void {
        const { run } = this;
        const settings = settings_of(run).map((one) => [" · ", h("code", one)]);
        const shared = run.shared ? ` · ${t().common.shared}` : "";
        const about = [settings, ` · ${run.owner.name} · ${moment(run.created_ms)}`, shared];
        const notes = run.notes ? h("p.notes", run.notes) : null;
        fill(this.header, view_head(plain_name(run), h("span", state_badge(run), about, notes), ...this.tools()));
    }

    private progress_text(): string {
        const words = t().run;
        const { live, eta_s } = this.run;
        const left = eta_s !== null && eta_s !== undefined ? t().runs.eta(seconds(eta_s)) : "";
        const told = live
            ? [
                  words.at_sim(nanoseconds(live.sim_ns)),
                  live.planned > 0 ? words.transfers(count(live.done), count(live.planned)) : "",
                  left,
                  words.events_per_s(count(live.events_per_s)),
                  live.longest.bytes > 0 ? words.longest_now(live.longest.port, bytes(live.longest.bytes)) : "",
              ]
            : [left];
        return told.filter(Boolean).join(" · ");
    }

    private draw_status(): void {
        const { run, status } = this;
        if (run.state === "running" && !run.study) {
            const share = run.progress ?? 0;
            const percent = h("strong.number", `${(share * 100).toFixed(1)} %`);
            const text = h("span.muted.number", this.progress_text());
            const line = h("div.row", percent, text);
            fill(status, h("section.card.running-card", line, bar(share, t().runs.progress)));
        } else if (run.state === "failed" || run.state === "cancelled") {
            const state = h("strong", t().runs.states[run.state]);
            fill(
                status,
                note(run.state === "failed" ? "bad" : "warn", state, run.message ? `: ${told(run.message)}` : ""),
            );
        } else {
            fill(status);
        }
    }

    private result_tabs(): Tab[] {
        const words = t().run;
        const { run, place } = this;
        type Made = (tab: Scope, summary: Summary, schema: ResultSchema) => Child;
        const of_summary = (make: Made) => (tab: Scope) =>
            later(tab, async (signal) => {
                const [summary, schema] = await Promise.all([summary_of(run.id, signal), schema_of(run.id, signal)]);
                return make(tab, summary, schema);
            });
        const pages = (first: boolean): Tab[] =>
            this.pages
                .filter(({ page }) => page.first === first)
                .map(({ page, subjects }) => ({
                    name: page.name,
                    text: told(page.title),
                    make: (tab) => page_tab(tab, run, page, subjects),
                }));
        return [
            ...pages(true),
            { name: "summary", text: words.summary, make: (tab) => summary_tab(tab, run) },
            { name: "causes", text: words.causes, make: (tab) => explain_tab(tab, run) },
            ...pages(false),
            { name: "network", text: words.network, make: (tab) => network_tab(tab, run, place) },
            { name: "packets", text: words.packets, make: (tab) => packets_tab(tab, run) },
            { name: "timeline", text: words.timeline, make: (tab) => timeline_tab(tab, run, place) },
            { name: "series", text: words.series, make: (tab) => series_tab(tab, run) },
            { name: "figures", text: words.figures, make: (tab) => figures_tab(tab, run) },
            { name: "flows", text: words.flows, make: (tab) => table_tab(tab, run, "flows") },
            { name: "hosts", text: words.hosts, make: (tab) => hosts_tab(tab, run) },
            { name: "ports", text: words.ports, make: (tab) => table_tab(tab, run, "ports") },
            { name: "models", text: words.models, make: of_summary(models_tab) },
            { name: "events", text: words.events, make: (tab) => table_tab(tab, run, "events") },
        ];
    }

    private all_tabs(): Tab[] {
        const words = t().run;
        const { run } = this;
        const study: Tab[] = run.study
            ? [{ name: "study", text: words.study, make: (tab) => study_tab(tab, run) }]
            : [];
        return [
            ...(run.has_result ? this.result_tabs() : study),
            { name: "log", text: words.log, make: (tab) => log_tab(tab, run) },
            { name: "files", text: words.files, make: (tab) => files_tab(tab, run) },
        ];
    }

    // Draws the body again when the run has begun or ended; progress does not change it.
    private draw_body(): void {
        const { run, body } = this;
        const state = is_active(run) ? "live" : run.trashed_ms ? "trash" : run.state;
        if (state === this.drawn_for) {
            return;
        }
        this.drawn_for = state;
        this.inner.end();
        this.inner = this.scope.child();
        if (state === "live") {
            fill(body, run.study ? study_live(this.inner, run) : live_view(this.inner, run));
            return;
        }
        if (state === "trash") {
            const restore = () => api.post(`runs/${run.id}/restore`).then(() => this.reload());
            fill(body, note("warn", t().runs.removed(run.name)), button(t().runs.restore, restore));
            return;
        }
        const all = this.all_tabs();
        const first = all.find((tab) => tab.name === this.chosen) ?? all[0]!;
        const choose = (name: string) => {
            this.chosen = name;
            keep_query({ tab: name });
        };
        fill(
            body,
            run.has_result ? range_bar(this.inner, run.id, "run") : null,
            tabs(this.inner, run.name, all, first.name, choose),
        );
    }
}

// Lets the user change the name and the notes of a run.
async function edit_words(run: Run, done: () => Promise<void>): Promise<void> {
    const words = t().run;
    const name = input({ value: run.name, required: true, maxlength: 200 });
    const notes = h("textarea", { rows: 6, maxlength: 5000 }, run.notes);
    const save = async () => {
        await api.patch(`runs/${run.id}`, { name: name.value.trim(), notes: notes.value });
        await done();
    };
    await sheet(words.rename, [field(words.name, name), field(words.notes, notes)], {
        text: words.keep,
        done: save,
    });
}

// Returns the pages that the program describes for a run's traffic.
async function own_pages(run: Run, signal: AbortSignal): Promise<RunPage[]> {
    if (!run.has_result || run.study || run.trashed_ms) {
        return [];
    }
    const [summary, schema] = await Promise.all([summary_of(run.id, signal), schema_of(run.id, signal)]);
    return pages_of(summary, schema);
}

export async function run_view(scope: Scope, place: Place): Promise<Child> {
    const id = Number(place.words[1]);
    const run = await api.get<Run>(`runs/${id}`, undefined, scope.signal);
    if (run.ended === "capture") {
        go(link("captures", id)); // a capture of the user's files, which has no other result
        return null;
    }
    const { total } = await api.get<Runs>("runs", { group: run.group, limit: 0 }, scope.signal);
    enter_range(id, place);
    return new RunView(scope, place, run, total > 1, await own_pages(run, scope.signal)).show();
}
