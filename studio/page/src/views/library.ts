// SPDX-License-Identifier: Apache-2.0
// The library of scenarios, listed by the questions they answer, and the user's own scenarios.
import { api } from "../core/api";
import { fill, h, type Child, type Scope } from "../core/dom";
import { moment } from "../core/format";
import { go, keep_query, link, type Place } from "../core/router";
import { session } from "../core/session";
import type { Documents, LibraryEntry, SavedDocument } from "../core/types";
import { t, told } from "../i18n/text";
import { badge, button, empty, later, link_button, remove_sheet, search_box, toast, view_head } from "../ui/parts";

// Returns the question that an entry answers, in the language of the page.
export function question_of(entry: LibraryEntry): string {
    const question = told(entry.question);
    return question === entry.question ? question.charAt(0).toUpperCase() + question.slice(1) : question;
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
        "li.card.entry",
        h("a.entry-link", { href: link("edit", study ? "study" : "library", entry.name) }, h("h3", question_of(entry))),
        h(
            "div.row.tight",
            h("code.muted.clip", entry.name),
            study ? badge(words.study, "accent") : null,
            entry.command ? badge(words.command_only) : null,
        ),
        entry.command ? h("code.small", { title: words.command_only_hint }, entry.command) : null,
    );
}

const file_bytes_max = 16 * 1024 * 1024;

function open_file(): void {
    const file = h("input", { type: "file", accept: ".yaml,.yml,.json" });
    const open = async () => {
        const text = (await file.files?.[0]?.text()) ?? "";
        if (text.length > file_bytes_max) {
            toast(t().errors.too_large, { bad: true });
            return;
        }
        sessionStorage.setItem("studio.draft", text);
        go(link("edit", "draft"));
    };
    file.addEventListener("change", () => void open());
    file.click();
}

function by_group(entries: LibraryEntry[]): [string, LibraryEntry[]][] {
    const groups = new Map<string, LibraryEntry[]>();
    for (const entry of entries) {
        const group = groups.get(group_of(entry)) ?? [];
        groups.set(group_of(entry), [...group, entry]);
    }
    return [...groups].sort(([one], [other]) => rank(one) - rank(other));
}

class Library {
    private wanted: string;
    private all: LibraryEntry[] = [];
    private own: SavedDocument[] = [];
    private readonly results = h("div.stack.wide");
    private readonly box: HTMLInputElement;

    constructor(
        private readonly scope: Scope,
        place: Place,
    ) {
        const words = t().shelf;
        this.wanted = place.query.get("q") ?? "";
        const search = () => {
            this.wanted = this.box.value;
            keep_query({ q: this.wanted });
            this.draw();
        };
        this.box = search_box(words.search, search, { value: this.wanted });
    }

    show(): Child {
        const words = t().shelf;
        const tools = [
            button(words.open_file, open_file, { icon: "share" }),
            link_button(words.blank, link("edit", "new"), { kind: "main-action", icon: "plus" }),
        ];
        const head = view_head(words.title, words.lead, session.may_run ? tools : null);
        return [head, this.box, later(this.scope, () => this.load())];
    }

    private async load(): Promise<HTMLElement> {
        const { signal } = this.scope;
        const [{ library }, { documents }] = await Promise.all([
            api.get<{ library: LibraryEntry[] }>("library", undefined, signal),
            api.get<Documents>("documents", { kind: "scenario" }, signal),
        ]);
        this.all = library;
        this.own = documents;
        this.draw();
        return this.results;
    }

    private draw(): void {
        const words = t().shelf;
        const needed = this.wanted.toLowerCase().split(/\s+/).filter(Boolean);
        const fits = (text: string) => needed.every((word) => text.toLowerCase().includes(word));
        const title = (group: string) => words.groups[group] ?? group;
        const text = (entry: LibraryEntry) =>
            [entry.name, entry.question, question_of(entry), title(group_of(entry))].join(" ");
        const found = this.all.filter((entry) => fits(text(entry)));
        const mine = this.own.filter((one) => fits(one.name));
        const own_card = (one: SavedDocument) => this.own_card(one);
        const section = (name: string, cards: HTMLElement[]) =>
            h("section.stack", h("h2", name), h("ul.entries", cards));
        fill(
            this.results,
            mine.length > 0 && section(words.own, mine.map(own_card)),
            by_group(found).map(([group, entries]) => section(title(group), entries.map(entry_card))),
            found.length + mine.length === 0 ? this.nothing() : null,
        );
    }

    private nothing(): HTMLElement {
        const words = t().shelf;
        const show_all = () => {
            this.wanted = "";
            this.box.value = "";
            this.draw();
        };
        return empty(words.nothing, words.nothing_text, button(words.show_all, show_all));
    }

    private own_card(one: SavedDocument): HTMLElement {
        const words = t().shelf;
        const remove = () => remove_sheet(words, one.name, `documents/${one.id}`, () => this.load());
        const label = `${words.remove}: ${one.name}`;
        const href = link("edit", "document", one.id);
        return h(
            "li.card.entry",
            h("a.entry-link", { href }, h("h3", one.name)),
            h(
                "div.row.tight",
                h("span.muted.small.grow", moment(one.changed_ms)),
                one.shared ? badge(t().common.shared) : null,
                button("", remove, { kind: "quiet", small: true, icon: "trash", label }),
            ),
        );
    }
}

export function show_library(scope: Scope, place: Place): Child {
    return new Library(scope, place).show();
}
