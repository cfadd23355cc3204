// SPDX-License-Identifier: Apache-2.0
// One run: while it runs its progress, then what happened, in words, numbers and pictures.
import { api, listen_events } from "../core/api";
import { fill, h, type Scope, type Child } from "../core/dom";
import { bytes, count, moment, nanoseconds, seconds } from "../core/format";
import { keep_query, link, go, type Place } from "../core/router";
import { session } from "../core/session";
import { enter_range } from "../core/time_range";
import { settings_of, type Live, type Run, type Runs } from "../core/types";
import { t } from "../i18n/text";
import { bar, button, later, link_button, note, tabs, view_head, type Tab } from "../ui/parts";
import { range_bar } from "../ui/range_bar";
import { models_tab } from "./report";
import { figures_tab } from "./run_figures";
import { live_view } from "./run_live";
import { network_tab } from "./run_network";
import { series_tab } from "./run_series";
import { study_live, study_tab } from "./run_study";
import { summary_of, summary_tab } from "./run_summary";
import { files_tab, hosts_tab, log_tab, table_tab } from "./run_tables";
import { is_active, state_badge, trash_run } from "./runs";

export async function run_view(scope: Scope, place: Place): Promise<Child> {
    const id = Number(place.words[1]);
    const words = t().run;
    let run = await api.get<Run>(`runs/${id}`, undefined, scope.signal);
    const in_group = (await api.get<Runs>("runs", { group: run.group, limit: 0 }, scope.signal)).total > 1;
    enter_range(id, place);
    const header = h("div");
    const status = h("div", { "aria-live": "polite" });
    const body = h("div", { class: "stack wide" });
    let inner = scope.child();
    const owner = () => run.owner.id === session.user?.id || session.administrates;

    const draw_header = () => {
        const active = is_active(run);
        fill(
            header,
            view_head(
                run.name,
                h(
                    "span",
                    null,
                    state_badge(run),
                    settings_of(run).map((one) => [" · ", h("code", null, one)]),
                    ` · ${run.owner.name} · ${moment(run.created_ms)}`,
                    run.shared ? ` · ${t().common.shared}` : "",
                ),
                in_group ? link_button(words.group, `${link("runs")}?group=${run.group}`) : null,
                active && owner()
                    ? button(words.cancel, () => api.post(`runs/${id}/cancel`).then(reload), {
                          icon: "stop",
                          kind: "danger",
                      })
                    : null,
                active || !run.has_result
                    ? null
                    : link_button(words.process, `${link("process")}?runs=${id}`, { icon: "process" }),
                active || !session.may_run
                    ? null
                    : button(
                          words.again,
                          async () => {
                              const answer = await api.post<{ runs: { id: number }[] }>(`runs/${id}/again`);
                              go(link("run", answer.runs[0]?.id ?? id));
                          },
                          { icon: "again" },
                      ),
                run.study
                    ? link_button(words.see_study, link("edit", "study", run.study))
                    : link_button(words.edit_again, link("edit", "run", id)),
                owner()
                    ? button(
                          run.shared ? words.unshare : words.share,
                          async () => {
                              await api.patch(`runs/${id}`, { shared: !run.shared });
                              await reload();
                          },
                          { icon: "share" },
                      )
                    : null,
                !active && owner()
                    ? button("", () => trash_run(run, () => go(link("runs"))), {
                          icon: "trash",
                          kind: "quiet",
                          label: t().runs.remove,
                          title: t().runs.remove,
                      })
                    : null,
            ),
        );
    };
    const draw_status = () => {
        if (run.state === "running" && !run.study) {
            const live = run.live;
            const told = [
                live ? words.at_sim(nanoseconds(live.sim_ns)) : "",
                live && live.planned > 0 ? words.transfers(count(live.done), count(live.planned)) : "",
                run.eta_s !== null && run.eta_s !== undefined ? t().runs.eta(seconds(run.eta_s)) : "",
                live ? words.events_per_s(count(live.events_per_s)) : "",
                live && live.longest.bytes > 0 ? words.longest_now(live.longest.port, bytes(live.longest.bytes)) : "",
            ]
                .filter(Boolean)
                .join(" · ");
            fill(
                status,
                h(
                    "section",
                    { class: "card running-card" },
                    h(
                        "div",
                        { class: "row" },
                        h("strong", { class: "number" }, `${((run.progress ?? 0) * 100).toFixed(1)} %`),
                        h("span", { class: "muted number" }, told),
                    ),
                    bar(run.progress ?? 0, t().runs.progress),
                ),
            );
        } else if (run.state === "failed" || run.state === "cancelled") {
            fill(
                status,
                note(
                    run.state === "failed" ? "bad" : "warn",
                    h("strong", null, t().runs.states[run.state]),
                    run.message ? `: ${run.message}` : "",
                ),
            );
        } else {
            fill(status);
        }
    };
    let chosen = place.query.get("tab") ?? "summary";
    let drawn_for = "";
    const draw_body = () => {
        const over = !is_active(run);
        const key = over ? run.state : "live";
        if (key === drawn_for) {
            return;
        }
        drawn_for = key;
        inner.end();
        inner = scope.child();
        if (!over) {
            fill(body, run.study ? study_live(inner, run) : live_view(inner, run));
            return;
        }
        const all: Tab[] = run.has_result
            ? [
                  { name: "summary", text: words.summary, make: (tab) => summary_tab(tab, run) },
                  { name: "network", text: words.network, make: (tab) => network_tab(tab, run, place) },
                  { name: "series", text: words.series, make: (tab) => series_tab(tab, run) },
                  { name: "figures", text: words.figures, make: (tab) => figures_tab(tab, run) },
                  { name: "flows", text: words.flows, make: (tab) => table_tab(tab, run, "flows") },
                  { name: "hosts", text: words.hosts, make: (tab) => hosts_tab(tab, run) },
                  { name: "ports", text: words.ports, make: (tab) => table_tab(tab, run, "ports") },
                  {
                      name: "models",
                      text: words.models,
                      make: (tab) => later(tab, async (signal) => models_tab(tab, await summary_of(id, signal))),
                  },
                  { name: "events", text: words.events, make: (tab) => table_tab(tab, run, "events") },
              ]
            : run.study
              ? [{ name: "study", text: words.study, make: (tab) => study_tab(tab, run) }]
              : [];
        all.push(
            { name: "log", text: words.log, make: (tab) => log_tab(tab, run) },
            { name: "files", text: words.files, make: (tab) => files_tab(tab, run) },
        );
        fill(
            body,
            run.has_result ? range_bar(inner, id, "run") : null,
            tabs(inner, run.name, all, all.some((tab) => tab.name === chosen) ? chosen : all[0]!.name, (name) => {
                chosen = name;
                keep_query({ tab: name });
            }),
        );
    };
    const reload = async () => {
        run = await api.get<Run>(`runs/${id}`, undefined, scope.signal);
        draw();
    };
    const draw = () => {
        draw_header();
        draw_status();
        draw_body();
    };
    draw();
    if (is_active(run)) {
        const live = scope.child();
        listen_events(
            `runs/${id}/events`,
            live.signal,
            (name, data) => {
                if (name === "progress") {
                    const now = data as unknown as Live;
                    run = {
                        ...run,
                        state: "running",
                        live: now,
                        progress: now.share >= 0 ? now.share : null,
                        eta_s: now.left_s >= 0 ? now.left_s : null,
                    };
                    window.dispatchEvent(new CustomEvent("studio-live", { detail: now }));
                    draw_status();
                    return;
                }
                const state = data.state as Run["state"] | undefined;
                if (state && state !== "running" && state !== "queued") {
                    live.end();
                }
                void reload().catch(() => undefined);
            },
            ["state", "progress", "resync"],
        );
    }
    return [header, status, body];
}
