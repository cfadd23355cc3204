// SPDX-License-Identifier: Apache-2.0
// The workbench: a scenario as text or form, what the checker says of it while one types, the network it makes, and
// what a run of it would take, with seeds and a grid of parameters.
import { api, call, was_aborted } from "../core/api";
import { debounce, fill, h, type Child, type Scope } from "../core/dom";
import { bytes, count, nanoseconds, seconds } from "../core/format";
import { shortcut } from "../core/keys";
import { go, link, the_place, type Place } from "../core/router";
import { session } from "../core/session";
import { recall, remember } from "../core/settings";
import type { CheckAnswer, LibraryItem, Parameter, SavedDocument, Topology } from "../core/types";
import { editor } from "../editor/code";
import { scenario_form } from "../editor/form";
import { outline, find } from "../editor/outline";
import { parameters } from "../editor/parameters";
import { t } from "../i18n/text";
import { topology_map } from "../topology/draw";
import { button, checkbox, field, input, note, problem_text, sheet, toast } from "../ui/parts";
import { split_seeds, split_values } from "./grid_values";
import { library_path, study_view } from "./run_study";

const blank = `# What do you want to know?
name: my-scenario
description: what does a 4-to-1 incast do to the queue of the receiver's port?
seed: 1

topology:
  star: {hosts: 5, rate: 100Gbps, delay: 1us}

traffic:
  - incast: {to: host0, from: "host[1-4]", bytes: 1MB}

observe:
  - {series: "port[switch0->host0].queue_bytes", every: 10us}
`;

interface Source {
    text: string;
    title: string;
    lead: string;
    document: SavedDocument<{ yaml: string }> | null;
    from_library?: string; // where its file names start from
}

async function source_of(place: Place, signal: AbortSignal): Promise<Source> {
    const [, kind, name] = place.words;
    const words = t().editor;
    if (kind === "library" && name) {
        const item = await api.get<LibraryItem>(`library/${library_path(name)}`, undefined, signal);
        return {
            text: item.yaml ?? "",
            title: item.name,
            lead: item.question,
            document: null,
            from_library: item.name,
        };
    }
    if (kind === "document" && name) {
        const document = await api.get<SavedDocument<{ yaml: string }>>(`documents/${name}`, undefined, signal);
        return { text: document.body.yaml, title: document.name, lead: words.saved_scenario, document };
    }
    if (kind === "run" && name) {
        const text = await (
            await call("GET", `runs/${encodeURIComponent(name)}/files/scenario.yaml`, { signal })
        ).text();
        return { text, title: words.of_run(name), lead: "", document: null };
    }
    if (kind === "draft") {
        return { text: sessionStorage.getItem("studio.draft") ?? blank, title: words.draft, lead: "", document: null };
    }
    return { text: blank, title: words.new_scenario, lead: words.new_lead, document: null };
}

// What was typed and neither saved nor run is there again after another view, another language, or a reload: in this
// tab, for who typed it.
class Unsaved {
    private readonly key: string;

    constructor(place: Place) {
        this.key = `studio.unsaved.${session.user?.id}.${place.words.slice(1).join("/")}`;
    }

    get(): { text: string; version?: number } | null {
        return JSON.parse(sessionStorage.getItem(this.key) ?? "null") as { text: string; version?: number } | null;
    }

    set(text: string, version: number | undefined): void {
        try {
            sessionStorage.setItem(this.key, JSON.stringify({ text, version }));
        } catch {
            this.drop(); // there is no room for it
        }
    }

    drop(): void {
        sessionStorage.removeItem(this.key);
    }
}

interface GridRow {
    path: string;
    values: string;
}

export async function workbench_view(scope: Scope, place: Place): Promise<Child> {
    if (place.words[1] === "study" && place.words[2]) {
        return study_view(place.words[2], scope.signal);
    }
    const words = t().editor;
    const [source, known] = await Promise.all([source_of(place, scope.signal), parameters()]);
    const in_library = source.from_library ? { library: source.from_library } : {};
    const unsaved = new Unsaved(place);
    const kept = place.words[1] === "draft" ? null : unsaved.get();
    // The version that was changed, so that a change by somebody else in between is told.
    let saved = source.document && { ...source.document, version: kept?.version ?? source.document.version };
    let saved_text = source.text;
    let faults: CheckAnswer["errors"] = [];
    let checked: CheckAnswer | null = null;
    let mode = recall<"text" | "form">("editor-mode", "text");
    let seeds = ""; // the scenario's own
    let shared = false;
    const rows: GridRow[] = [];

    // What the checker says.
    const verdict = h("div", { class: "verdict", "aria-live": "polite" });
    const plan = h("div", { class: "stack" });
    const map = topology_map(scope, { height: "300px" });
    const map_note = h("p", { class: "muted small", "aria-live": "polite" });
    const form_place = h("div", { class: "form-place", tabindex: 0, "aria-label": words.form });

    const code = editor(scope, {
        text: kept?.text ?? source.text,
        label: words.text_of(source.title),
        change: () => {
            if (place.words[1] === "draft") {
                sessionStorage.setItem("studio.draft", code.text());
            } else if (code.text() === saved_text) {
                unsaved.drop();
            } else {
                unsaved.set(code.text(), saved?.version);
            }
            draw_title();
            check();
            if (mode === "form") {
                draw_form();
            }
        },
        submit: () => void run(),
        language: { kind: "scenario", parameters: known },
    });

    const draw_form = () => {
        const focused = (document.activeElement as HTMLElement | null)?.dataset.path;
        const scrolled = form_place.scrollTop;
        fill(form_place, scenario_form({ text: code.text(), parameters: known, apply: code.apply, faults }));
        form_place.scrollTop = scrolled;
        if (focused) {
            form_place.querySelector<HTMLElement>(`[data-path="${CSS.escape(focused)}"]`)?.focus();
        }
    };

    const draw_verdict = () => {
        if (!checked) {
            fill(verdict, h("span", { class: "muted" }, words.checking));
            return;
        }
        const lines = [
            ...checked.errors
                .toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0))
                .map((fault) => ({
                    line: fault.line ?? 0,
                    column: fault.column,
                    warning: false,
                    text:
                        fault.expected && !fault.message.includes(fault.expected)
                            ? `${fault.message} (${t().errors.expected}: ${fault.expected})`
                            : fault.message,
                })),
            ...checked.warnings.map((fault) => ({
                line: fault.line ?? 0,
                column: undefined,
                warning: true,
                text: fault.message,
            })),
        ];
        fill(
            verdict,
            checked.errors.length === 0
                ? h("div", { class: "verdict-ok" }, "✓ ", words.sound)
                : h("div", { class: "verdict-bad" }, words.faults(checked.errors.length)),
            lines.map((fault) =>
                h(
                    "button",
                    {
                        type: "button",
                        class: `fault-line ${fault.warning ? "warning" : ""}`,
                        on: {
                            click: () => {
                                set_mode("text");
                                code.go_to(fault.line || 1, fault.column);
                            },
                        },
                    },
                    fault.line > 0 ? h("span", { class: "number fault-place" }, words.line(fault.line)) : null,
                    fault.text,
                ),
            ),
        );
    };

    const check = debounce(scope, 350, (signal) => {
        const text = code.text();
        api.post<CheckAnswer>("check", { yaml: text, set: [], ...in_library }, signal).then(
            (answer) => {
                checked = answer;
                faults = answer.errors;
                code.show_faults([
                    ...answer.errors.map((one) => ({ ...one, line: one.line ?? 1 })),
                    ...answer.warnings
                        .filter((one) => one.line)
                        .map((one) => ({ line: one.line!, message: one.message, warning: true })),
                ]);
                draw_verdict();
                draw_plan();
                if (mode === "form") {
                    draw_form();
                }
                if (answer.errors.length === 0) {
                    api.post<Topology>("topology", { yaml: text, set: [], ...in_library }, signal).then(
                        (topology) => {
                            map.show(topology);
                            const hosts = topology.nodes.filter((node) => node.kind === "host").length;
                            map_note.textContent =
                                t().map.label(hosts, topology.nodes.length - hosts, topology.links.length) +
                                (topology.left_out ? `; ${t().map.left_out(topology.left_out)}` : "");
                        },
                        (error: unknown) => {
                            if (!was_aborted(error)) {
                                map_note.textContent = problem_text(error);
                            }
                        },
                    );
                } else {
                    map_note.textContent = words.map_of_last_sound;
                }
            },
            (error: unknown) => {
                if (!was_aborted(error)) {
                    fill(verdict, h("span", { class: "muted" }, problem_text(error)));
                    window.setTimeout(() => !scope.ended && check(), 3000);
                }
            },
        );
    });

    // What would be run.
    const points = () => rows.reduce((product, row) => product * Math.max(split_values(row.values).length, 1), 1);
    const runs_planned = () => points() * Math.max(split_seeds(seeds)?.length ?? 1, 1);
    // What would be left out of an order without a word.
    const order_faults = () => {
        const named = rows.filter((row) => row.path || split_values(row.values).length > 0);
        const paths = named.map((row) => row.path);
        return [
            split_seeds(seeds) === null && words.bad_seeds,
            named.some((row) => !row.path) && words.grid_without_path,
            ...named
                .filter((row) => row.path && split_values(row.values).length === 0)
                .map((row) => words.grid_without_values(row.path)),
            ...new Set(paths.filter((path, index) => path && paths.indexOf(path) < index).map(words.grid_twice)),
        ].filter((fault) => fault !== false);
    };
    const draw_plan = () => {
        const total = runs_planned();
        const estimate = checked?.estimate;
        const limits = checked?.limits;
        const over: string[] = [];
        const wrong = order_faults();
        seed_box.placeholder = checked?.estimate?.seed === undefined ? "" : String(checked.estimate.seed);
        if (limits?.runs && total > limits.runs) {
            over.push(words.over_runs(total, limits.runs));
        }
        if (limits?.wall_s && estimate?.wall_s && estimate.wall_s > limits.wall_s) {
            over.push(words.over_time(seconds(estimate.wall_s), seconds(limits.wall_s)));
        }
        if (limits?.memory_bytes && estimate?.memory_bytes && estimate.memory_bytes > limits.memory_bytes) {
            over.push(words.over_memory(bytes(estimate.memory_bytes), bytes(limits.memory_bytes)));
        }
        if (limits?.result_bytes && estimate?.result_bytes && estimate.result_bytes > limits.result_bytes) {
            over.push(words.over_disk(bytes(estimate.result_bytes), bytes(limits.result_bytes)));
        }
        const part = (name: string, value: string, limit: string | null) => [
            h("dt", null, name),
            h("dd", { class: "number" }, value, limit ? h("span", { class: "muted" }, ` / ${limit}`) : null),
        ];
        fill(
            plan,
            estimate
                ? h(
                      "dl",
                      { class: "pairs" },
                      estimate.transfers
                          ? part(
                                words.traffic,
                                words.transfers(
                                    count(estimate.transfers),
                                    estimate.until_ns ? nanoseconds(estimate.until_ns) : "",
                                ),
                                null,
                            )
                          : null,
                      estimate.packet_hops ? part(words.work, words.hops(count(estimate.packet_hops)), null) : null,
                      estimate.wall_s !== undefined && estimate.wall_s !== null
                          ? part(
                                words.time,
                                `≈ ${seconds(estimate.wall_s)}${total > 1 ? ` × ${total}` : ""}`,
                                limits?.wall_s ? seconds(limits.wall_s) : null,
                            )
                          : null,
                      estimate.memory_bytes
                          ? part(
                                words.memory,
                                `≈ ${bytes(estimate.memory_bytes)}`,
                                limits?.memory_bytes ? bytes(limits.memory_bytes) : null,
                            )
                          : null,
                      estimate.result_bytes
                          ? part(
                                words.disk,
                                `≈ ${bytes(estimate.result_bytes)}${total > 1 ? ` × ${total}` : ""}`,
                                limits?.result_bytes ? bytes(limits.result_bytes) : null,
                            )
                          : null,
                  )
                : null,
            wrong.map((text) => note("bad", text)),
            over.map((text) => note("warn", text)),
        );
        run_button.textContent = total === 1 ? words.run : words.run_many(total);
        run_button.disabled = !session.may_run || faults.length > 0 || wrong.length > 0;
    };

    const grid_place = h("div", { class: "stack" });
    const path_list = h("datalist", { id: "grid-paths" });
    const draw_grid = () => {
        const own = find(outline(code.text()), ["parameters"])?.entries.map((entry) => entry.key) ?? [];
        fill(path_list, [
            ...own.map((name) => h("option", { value: name }, words.own_parameter)),
            ...known.all
                .filter((one: Parameter) => !/^(name|description|folder)$/.test(one.path))
                .map((one) =>
                    h(
                        "option",
                        {
                            value: one.path.startsWith("traffic.")
                                ? one.path.replace("traffic.", "traffic[0].")
                                : one.path,
                        },
                        one.help.slice(0, 70),
                    ),
                ),
        ]);
        fill(
            grid_place,
            rows.map((row, index) => {
                const path = input({
                    value: row.path,
                    class: "mono",
                    list: "grid-paths",
                    placeholder: "nic.cache.l1.bytes",
                    "aria-label": words.grid_path,
                    on: {
                        change: () => {
                            row.path = path.value.trim();
                            draw_plan();
                        },
                    },
                });
                const values = input({
                    value: row.values,
                    class: "mono",
                    placeholder: "64KB, 128KB, 256KB",
                    "aria-label": words.grid_values,
                    on: {
                        input: () => {
                            row.values = values.value;
                            draw_plan();
                        },
                    },
                });
                return h(
                    "div",
                    { class: "grid-line" },
                    path,
                    values,
                    button(
                        "",
                        () => {
                            rows.splice(index, 1);
                            draw_grid();
                            draw_plan();
                        },
                        {
                            kind: "quiet",
                            icon: "close",
                            label: words.remove_setting(row.path || words.grid_path),
                        },
                    ),
                );
            }),
            h(
                "div",
                { class: "row" },
                button(
                    words.add_grid,
                    () => {
                        rows.push({ path: "", values: "" });
                        draw_grid();
                        grid_place.querySelectorAll("input")[(rows.length - 1) * 2]?.focus();
                    },
                    { small: true, icon: "plus" },
                ),
                rows.length > 0 ? h("span", { class: "muted small" }, words.grid_hint) : null,
            ),
        );
    };

    const run = async () => {
        if (!session.may_run) {
            toast(t().errors.forbidden, { bad: true });
            return;
        }
        const wrong = order_faults();
        if (wrong.length > 0) {
            toast(wrong[0]!, { bad: true });
            return;
        }
        const grid: Record<string, string[]> = {};
        for (const row of rows) {
            const values = split_values(row.values);
            if (row.path && values.length > 0) {
                grid[row.path] = values;
            }
        }
        const name = run_name.value.trim() || title_of(code.text()) || source.title;
        const answer = await api.post<{ group: number; runs: { id: number }[] }>("runs", {
            name,
            yaml: code.text(),
            set: [],
            seeds: split_seeds(seeds),
            grid,
            shared,
            ...(source.from_library ? { library: source.from_library } : {}),
        });
        unsaved.drop();
        go(answer.runs.length === 1 ? link("run", answer.runs[0]!.id) : `${link("runs")}?group=${answer.group}`);
    };
    const title_of = (text: string) => find(outline(text), ["name"])?.text ?? "";

    const run_button = button(words.run, () => run(), { kind: "main-action" });
    const run_name = input({ placeholder: title_of(source.text) || source.title, "aria-label": words.run_name });
    const seed_box = input({
        value: seeds,
        class: "mono",
        "aria-label": words.seeds,
        on: {
            input: () => {
                seeds = seed_box.value;
                draw_plan();
            },
        },
    });

    const save = async (as_new: boolean) => {
        if (saved && !as_new) {
            saved = await api.put<SavedDocument<{ yaml: string }>>(`documents/${saved.id}`, {
                name: saved.name,
                shared: saved.shared,
                version: saved.version,
                body: { yaml: code.text() },
            });
            saved_text = code.text();
            unsaved.drop();
            draw_title();
            toast(words.saved);
            return;
        }
        const name = input({ value: title_of(code.text()) || source.title, required: true });
        let public_too = false;
        await sheet(
            words.save_as,
            [
                field(words.name, name),
                checkbox(t().common.share_with_all, false, (on) => {
                    public_too = on;
                }),
            ],
            {
                text: words.save,
                done: async () => {
                    const made = await api.post<{ id: number }>("documents", {
                        kind: "scenario",
                        name: name.value.trim(),
                        shared: public_too,
                        body: { yaml: code.text() },
                    });
                    saved_text = code.text();
                    unsaved.drop();
                    go(link("edit", "document", made.id));
                },
            },
        );
    };

    const title = h("h1", null, source.title);
    const draw_title = () => title.classList.toggle("changed", code.text() !== saved_text);
    const text_tab = button(words.text, () => set_mode("text"), { pressed: mode === "text" });
    const form_tab = button(words.form, () => set_mode("form"), { pressed: mode === "form" });
    const set_mode = (chosen: "text" | "form") => {
        mode = chosen;
        remember("editor-mode", mode);
        text_tab.setAttribute("aria-pressed", String(mode === "text"));
        form_tab.setAttribute("aria-pressed", String(mode === "form"));
        code.element.hidden = mode !== "text";
        form_place.hidden = mode !== "form";
        if (mode === "form") {
            draw_form();
        }
    };
    shortcut(
        scope,
        "Ctrl s",
        () => words.save,
        () => void save(false).catch((error: unknown) => toast(problem_text(error), { bad: true })),
    );
    shortcut(
        scope,
        "Ctrl Enter",
        () => words.run,
        () => void run().catch((error: unknown) => toast(problem_text(error), { bad: true })),
    );
    shortcut(
        scope,
        "e",
        () => words.text,
        () => {
            set_mode("text");
            code.focus();
        },
    );
    shortcut(
        scope,
        "f",
        () => words.form,
        () => set_mode("form"),
    );

    const kept_note: HTMLElement | null =
        kept && kept.text !== source.text
            ? note(
                  "",
                  words.unsaved,
                  " ",
                  button(
                      words.discard,
                      () => {
                          saved = source.document;
                          code.set_text(source.text);
                          kept_note?.remove();
                      },
                      { small: true },
                  ),
              )
            : null;
    set_mode(mode);
    draw_title();
    draw_verdict();
    draw_grid();
    draw_plan();
    check();
    if (the_place().query.get("line")) {
        code.go_to(Number(the_place().query.get("line")));
    }
    return [
        h(
            "header",
            { class: "view-head" },
            h(
                "div",
                { class: "words" },
                h("a", { href: link("simulate"), class: "small" }, "← ", t().shelf.title),
                title,
                source.lead ? h("p", { class: "lead" }, source.lead) : null,
            ),
            h(
                "div",
                { class: "tools" },
                session.may_run
                    ? [
                          button(words.save, () => save(false), { icon: "save" }),
                          saved ? button(words.save_as, () => save(true)) : null,
                      ]
                    : null,
            ),
        ),
        kept_note,
        h(
            "div",
            { class: "bench" },
            h(
                "section",
                { class: "card flush bench-text", "aria-label": words.scenario },
                h(
                    "header",
                    null,
                    h("div", { class: "row tight" }, text_tab, form_tab),
                    h("span", { class: "grow" }),
                    h("span", { class: "muted small" }, words.keys),
                ),
                code.element,
                form_place,
                verdict,
            ),
            h(
                "div",
                { class: "stack bench-side" },
                h("section", { class: "card" }, h("header", null, h("h2", null, words.network), map_note), map.element),
                h(
                    "section",
                    { class: "card" },
                    h("header", null, h("h2", null, words.run_it)),
                    h(
                        "div",
                        { class: "stack" },
                        h(
                            "div",
                            { class: "row top" },
                            h("div", { class: "grow" }, field(words.run_name, run_name)),
                            h("div", { class: "grow" }, field(words.seeds, seed_box, words.seeds_hint)),
                        ),
                        h("div", null, h("div", { class: "label-text" }, words.grid), path_list, grid_place),
                        plan,
                        h(
                            "div",
                            { class: "row" },
                            run_button,
                            checkbox(t().common.share_with_all, false, (on) => {
                                shared = on;
                            }),
                        ),
                        session.may_run ? null : note("warn", words.viewer),
                    ),
                ),
            ),
        ),
    ];
}
