// SPDX-License-Identifier: Apache-2.0
// All runs one may see: the queue, what runs with its progress, what ended; groups of a sweep; the trash.
import { api } from "../core/api";
import { debounce, h, type Child, type Scope } from "../core/dom";
import { bytes, moment, seconds } from "../core/format";
import { go, keep_query, link, type Place } from "../core/router";
import { session } from "../core/session";
import { settings_of, type Run, type Runs, type RunState } from "../core/types";
import { t } from "../i18n/text";
import { grid, type Grid } from "../ui/grid";
import {
    badge,
    bar,
    button,
    confirm_sheet,
    input,
    link_button,
    select,
    tell_problem,
    toast,
    view_head,
} from "../ui/parts";

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
    switch (run.state) {
        case "running":
            return h(
                "div",
                { class: "row tight run-progress" },
                h("div", { class: "grow" }, bar(run.progress ?? 0, words.progress)),
                h(
                    "span",
                    { class: "number small" },
                    `${Math.floor((run.progress ?? 0) * 100)} %`,
                    run.eta_s !== null && run.eta_s !== undefined ? ` · ${words.eta(seconds(run.eta_s))}` : "",
                ),
            );
        case "done":
            return run.started_ms && run.ended_ms ? words.took(seconds((run.ended_ms - run.started_ms) / 1000)) : "";
        case "failed":
            return run.message ?? "";
        default:
            return "";
    }
}

export async function trash_run(run: Run, after: () => void): Promise<void> {
    const words = t().runs;
    await confirm_sheet(words.remove, words.remove_text(run.name), words.remove, async () => {
        await api.remove(`runs/${run.id}`);
        after();
        toast(words.removed(run.name), { action: [words.undo, () => api.post(`runs/${run.id}/restore`).then(after)] });
    });
}

export function runs_view(scope: Scope, place: Place): Child {
    const words = t().runs;
    const wanted = {
        search: place.query.get("search") ?? "",
        state: place.query.get("state") ?? "",
        owner: place.query.get("owner") ?? "",
        group: place.query.get("group") ?? "",
        trash: place.query.get("trash") ?? "",
    };
    const marked = new Map<number, Run>();
    const actions = h("div", { class: "row tight", "aria-live": "polite" });
    const seen = new Map<number, Run>();
    let list: Grid<Run> | null = null;

    const draw_actions = () => {
        const ids = [...marked.keys()].sort((one, other) => one - other);
        actions.replaceChildren();
        if (ids.length === 0) {
            actions.append(h("span", { class: "muted small" }, words.mark_hint));
            return;
        }
        actions.append(
            h("span", { class: "small" }, words.marked(ids.length)),
            link_button(words.compare, `${link("process")}?runs=${ids.join(",")}`, { small: true, icon: "process" }),
            link_button(words.query, `${link("query")}?runs=${ids.join(",")}`, { small: true, icon: "query" }),
            button(
                words.cancel,
                () =>
                    Promise.all(
                        [...marked.values()]
                            .filter((run) => is_active(run))
                            .map((run) => api.post(`runs/${run.id}/cancel`)),
                    ).then(reload),
                { small: true, icon: "stop" },
            ),
            button(
                words.remove,
                () =>
                    confirm_sheet(words.remove, words.remove_many(ids.length), words.remove, () =>
                        Promise.all(ids.map((id) => api.remove(`runs/${id}`))).then(() => {
                            marked.clear();
                            reload();
                        }),
                    ),
                { small: true, icon: "trash", kind: "danger" },
            ),
            button(
                words.unmark,
                () => {
                    marked.clear();
                    reload();
                },
                { small: true, kind: "quiet" },
            ),
        );
    };
    const reload = () => {
        keep_query(wanted);
        seen.clear();
        list?.reload();
        draw_actions();
    };

    const mark = (run: Run) => {
        const box = h("input", {
            type: "checkbox",
            checked: marked.has(run.id),
            "aria-label": words.mark(run.name),
            on: {
                click: (event) => event.stopPropagation(),
                change: () => {
                    box.checked ? marked.set(run.id, run) : marked.delete(run.id);
                    draw_actions();
                },
            },
        });
        return h("span", { class: "mark" }, box);
    };
    list = grid<Run>(scope, {
        label: words.title,
        height: "calc(100vh - 250px)",
        empty: wanted.trash ? words.trash_empty : words.none,
        open: (run) => (wanted.trash ? undefined : go(link("run", run.id))),
        columns: [
            { name: "mark", title: "", width: 40, cell: mark },
            {
                name: "name",
                title: words.name,
                width: 230,
                cell: (run) => [
                    h("a", { href: link("run", run.id), on: { click: (event) => event.stopPropagation() } }, run.name),
                    run.study ? [" ", badge(t().shelf.study, "accent")] : null,
                ],
            },
            { name: "state", title: words.state, width: 110, cell: (run) => state_badge(run) },
            { name: "progress", title: words.progress, width: 230, cell: run_progress },
            { name: "set", title: words.parameters, width: 250, cell: (run) => settings_of(run).join("  ") },
            { name: "created", title: words.created, width: 150, cell: (run) => moment(run.created_ms) },
            {
                name: "owner",
                title: words.owner,
                width: 110,
                cell: (run) => [run.owner.name, run.shared ? ` · ${t().common.shared}` : ""].join(""),
            },
            {
                name: "more",
                title: "",
                width: 120,
                cell: (run) =>
                    wanted.trash
                        ? button(
                              words.restore,
                              (event) => {
                                  event.stopPropagation();
                                  api.post(`runs/${run.id}/restore`).then(reload);
                              },
                              { small: true },
                          )
                        : is_active(run) && (run.owner.id === session.user?.id || session.administrates)
                          ? button(
                                words.cancel,
                                (event) => {
                                    event.stopPropagation();
                                    api.post(`runs/${run.id}/cancel`);
                                },
                                { small: true },
                            )
                          : run.size_bytes > 0
                            ? h("span", { class: "muted small" }, bytes(run.size_bytes))
                            : null,
            },
        ],
        fetch: async (offset, limit, signal) => {
            const answer = await api.get<Runs>(
                "runs",
                {
                    ...wanted,
                    owner: wanted.owner ? session.user?.name : "",
                    trash: wanted.trash ? "true" : "",
                    offset,
                    limit,
                },
                signal,
            );
            return { rows: answer.runs, total: answer.total };
        },
    });
    // A change of a run that one sees draws the list again, at most twice a second.
    const refresh = debounce(scope, 500, () => {
        if (marked.size === 0 && !scope.ended) {
            const top = list!.element.querySelector(".grid")?.scrollTop ?? 0;
            if (top < 40) {
                list!.refresh();
            }
        }
    });
    scope.listen(window, "studio-run", refresh);

    const states: [string, string][] = [
        ["", words.all_states],
        ...(["queued", "running", "done", "failed", "cancelled"] as RunState[]).map((state): [string, string] => [
            state,
            words.states[state] ?? state,
        ]),
    ];
    const box = input({
        type: "search",
        class: "search",
        value: wanted.search,
        placeholder: words.search,
        "aria-label": words.search,
    });
    box.addEventListener(
        "input",
        debounce(scope, 250, () => {
            wanted.search = box.value;
            reload();
        }),
    );
    draw_actions();
    return [
        view_head(
            wanted.trash ? words.trash : wanted.group ? words.group(wanted.group) : words.title,
            wanted.trash ? words.trash_lead : words.lead,
            wanted.group
                ? [
                      link_button(words.compare_group, `${link("process")}?group=${wanted.group}`, {
                          icon: "process",
                          kind: "main-action",
                      }),
                      button(
                          words.cancel_all,
                          () =>
                              confirm_sheet(words.cancel_all, words.cancel_all_text, words.cancel_all, async () => {
                                  const { runs } = await api.get<Runs>("runs", { group: wanted.group, limit: 10000 });
                                  await Promise.all(
                                      runs
                                          .filter(is_active)
                                          .map((run) => api.post(`runs/${run.id}/cancel`).catch(tell_problem)),
                                  );
                              }),
                          { icon: "stop" },
                      ),
                  ]
                : null,
            wanted.trash || wanted.group
                ? link_button(words.title, link("runs"), { icon: "back" })
                : link_button(words.trash, `${link("runs")}?trash=1`, { icon: "trash" }),
            wanted.trash || wanted.group || !session.may_run
                ? null
                : link_button(t().shelf.new_run, link("simulate"), { kind: "main-action", icon: "plus" }),
        ),
        h(
            "div",
            { class: "row" },
            box,
            h(
                "div",
                { class: "narrow" },
                select(
                    states,
                    wanted.state,
                    (state) => {
                        wanted.state = state;
                        reload();
                    },
                    {
                        "aria-label": words.state,
                    },
                ),
            ),
            h(
                "div",
                { class: "narrow" },
                select(
                    [
                        ["", words.everyone],
                        ["me", words.mine],
                    ],
                    wanted.owner,
                    (owner) => {
                        wanted.owner = owner;
                        reload();
                    },
                    { "aria-label": words.owner },
                ),
            ),
            h("div", { class: "grow" }),
            actions,
        ),
        h("section", { class: "card flush" }, list.element),
    ];
}
