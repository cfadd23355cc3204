// SPDX-License-Identifier: Apache-2.0
// Where a simulation begins: the library by the questions it answers, and one's own scenarios.
import { api } from "../core/api";
import { h, type Child, type Scope } from "../core/dom";
import { moment } from "../core/format";
import { go, keep_query, link, type Place } from "../core/router";
import { session } from "../core/session";
import type { Documents, LibraryEntry, SavedDocument } from "../core/types";
import { t } from "../i18n/text";
import { badge, button, confirm_sheet, empty, input, later, link_button, toast, view_head } from "../ui/parts";

// Titles of scenarios are their questions; of studies they are names.
function question_of(entry: LibraryEntry): string {
    return entry.title.endsWith("?") || !entry.question ? entry.title : entry.question;
}

function group_of(entry: LibraryEntry): string {
    return entry.group.split("/")[0] ?? "";
}

const group_order = ["", "demo", "cache", "herd", "mooncake", "wan", "guidelines", "papers"];

function rank(group: string): number {
    const place = group_order.indexOf(group);
    return place < 0 ? group_order.length : place;
}

function entry_card(entry: LibraryEntry): HTMLElement {
    const words = t().shelf;
    const study = entry.kind === "study";
    return h(
        "li",
        { class: "card entry" },
        h(
            "a",
            { class: "entry-link", href: link("edit", study ? "study" : "library", entry.name) },
            h("h3", null, question_of(entry)),
        ),
        h(
            "div",
            { class: "row tight" },
            h("code", { class: "muted clip" }, entry.name),
            study ? badge(words.study, "accent") : null,
        ),
    );
}

export function show_library(scope: Scope, place: Place): Child {
    const words = t().shelf;
    let wanted = place.query.get("q") ?? "";
    let all: LibraryEntry[] = [];
    let own: SavedDocument[] = [];
    const results = h("div", { class: "stack wide" });
    const draw = () => {
        const needed = wanted.toLowerCase().split(/\s+/).filter(Boolean);
        const fits = (text: string) => needed.every((word) => text.toLowerCase().includes(word));
        const found = all.filter((entry) =>
            fits(`${entry.name} ${entry.title} ${entry.question} ${words.groups[group_of(entry)] ?? ""}`),
        );
        const mine = own.filter((one) => fits(one.name));
        const groups = new Map<string, LibraryEntry[]>();
        for (const entry of found) {
            const group = groups.get(group_of(entry)) ?? [];
            groups.set(group_of(entry), [...group, entry]);
        }
        results.replaceChildren();
        if (mine.length > 0) {
            results.append(
                h(
                    "section",
                    { class: "stack" },
                    h("h2", null, words.own),
                    h(
                        "ul",
                        { class: "entries" },
                        mine.map((one) =>
                            h(
                                "li",
                                { class: "card entry" },
                                h(
                                    "a",
                                    { class: "entry-link", href: link("edit", "document", one.id) },
                                    h("h3", null, one.name),
                                ),
                                h(
                                    "div",
                                    { class: "row tight" },
                                    h("span", { class: "muted small grow" }, moment(one.changed_ms)),
                                    one.shared ? badge(t().common.shared) : null,
                                    button(
                                        "",
                                        () =>
                                            confirm_sheet(
                                                words.remove,
                                                words.remove_text(one.name),
                                                words.remove,
                                                async () => {
                                                    await api.remove(`documents/${one.id}`);
                                                    toast(t().runs.removed(one.name), {
                                                        action: [
                                                            t().runs.undo,
                                                            () => api.post(`documents/${one.id}/restore`).then(load),
                                                        ],
                                                    });
                                                    await load();
                                                },
                                            ),
                                        {
                                            kind: "quiet",
                                            small: true,
                                            icon: "trash",
                                            label: `${words.remove}: ${one.name}`,
                                        },
                                    ),
                                ),
                            ),
                        ),
                    ),
                ),
            );
        }
        for (const [group, entries] of [...groups].sort(([one], [other]) => rank(one) - rank(other))) {
            results.append(
                h(
                    "section",
                    { class: "stack" },
                    h("h2", null, words.groups[group as keyof typeof words.groups] ?? group),
                    h("ul", { class: "entries" }, entries.map(entry_card)),
                ),
            );
        }
        if (found.length + mine.length === 0) {
            results.append(
                empty(
                    words.nothing,
                    words.nothing_text,
                    button(words.show_all, () => {
                        wanted = "";
                        box.value = "";
                        draw();
                    }),
                ),
            );
        }
    };
    const load = async () => {
        const [{ library }, documents] = await Promise.all([
            api.get<{ library: LibraryEntry[] }>("library", undefined, scope.signal),
            api.get<Documents>("documents", { kind: "scenario" }, scope.signal),
        ]);
        all = library;
        own = documents.documents;
        draw();
        return results;
    };
    const box = input({
        type: "search",
        class: "search",
        value: wanted,
        placeholder: words.search,
        "aria-label": words.search,
        on: {
            input: () => {
                wanted = box.value;
                keep_query({ q: wanted });
                draw();
            },
        },
    });
    const open_file = () => {
        const file = h("input", { type: "file", accept: ".yaml,.yml,.json" });
        file.addEventListener("change", () => {
            void file.files?.[0]?.text().then((text) => {
                if (text.length > 16 * 1024 * 1024) {
                    toast(t().errors.too_large, { bad: true });
                    return;
                }
                sessionStorage.setItem("studio.draft", text);
                go(link("edit", "draft"));
            });
        });
        file.click();
    };
    return [
        view_head(
            words.title,
            words.lead,
            session.may_run
                ? [
                      button(words.open_file, open_file, { icon: "share" }),
                      link_button(words.blank, link("edit", "new"), { kind: "main-action", icon: "plus" }),
                  ]
                : null,
        ),
        box,
        later(scope, load),
    ];
}
