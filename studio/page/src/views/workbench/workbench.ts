// SPDX-License-Identifier: Apache-2.0
// The workbench: a scenario as text or as a form, the checker's answer while one types, the network that the scenario
// describes, and the order to run it.
import { api, was_aborted } from "../../core/api";
import { debounce, fill, h, type Child, type Scope } from "../../core/dom";
import { shortcut } from "../../core/keys";
import { own_files } from "../../core/own_files";
import { go, link, the_place, type Place } from "../../core/router";
import { session } from "../../core/session";
import { recall, remember } from "../../core/settings";
import type { CheckAnswer, SavedDocument, Topology } from "../../core/types";
import { editor, type Editor } from "../../editor/code";
import { scenario_form } from "../../editor/form";
import { find, outline } from "../../editor/outline";
import { parameters, type Parameters } from "../../editor/parameters";
import { t, told } from "../../i18n/text";
import { TopologyMap, type Folds } from "../../topology/draw";
import {
    button,
    checkbox,
    field,
    input,
    is_checked,
    note,
    problem_text,
    sheet,
    tell_problem,
    toast,
} from "../../ui/parts";
import { study_view } from "../run/study";
import { Order } from "./order";
import { source_of, Unsaved, type SavedScenario, type Source } from "./source";
import { show_verdict } from "./verdict";

type Mode = "text" | "form";
type Scenario = SavedDocument<SavedScenario>;

function title_of(text: string): string {
    return find(outline(text), ["name"])?.text ?? "";
}

class Workbench {
    private readonly unsaved: Unsaved;
    private readonly kept: { text: string; version?: number } | null;
    private saved: Scenario | null; // with the version that was changed, so that the server sees others' changes
    private saved_text: string;
    private checked: CheckAnswer | null = null;
    private mode = recall<Mode>("editor-mode", "text");
    private readonly code: Editor;
    private readonly order: Order;
    private readonly check: () => void;
    private readonly map: TopologyMap;
    private readonly map_note = h("p.muted.small", { "aria-live": "polite" });
    private readonly verdict = h("div.verdict", { "aria-live": "polite" });
    private readonly form_place = h("div.form-place", { tabindex: 0, "aria-label": t().editor.form });
    private readonly title: HTMLElement;
    private readonly tabs: Record<Mode, HTMLButtonElement>;

    constructor(
        private readonly scope: Scope,
        private readonly place: Place,
        private readonly source: Source,
        private readonly known: Parameters,
        files: string[],
    ) {
        const words = t().editor;
        this.unsaved = new Unsaved(place);
        this.kept = place.words[1] === "draft" ? null : this.unsaved.get();
        this.saved = source.document && { ...source.document, version: this.kept?.version ?? source.document.version };
        this.saved_text = source.text;
        this.check = debounce(scope, 350, (signal) => this.ask_checker(signal));
        const ask = (folds: Folds) => api.post<Topology>("topology", { ...this.sent(), ...folds }, scope.signal);
        this.map = new TopologyMap(scope, { height: "300px", ask });
        this.title = h("h1", source.title);
        this.tabs = {
            text: button(words.text, () => this.set_mode("text"), { pressed: this.mode === "text" }),
            form: button(words.form, () => this.set_mode("form"), { pressed: this.mode === "form" }),
        };
        this.code = editor(scope, {
            text: this.kept?.text ?? source.text,
            label: words.text_of(source.title),
            change: () => this.text_changed(),
            submit: () => this.order.press(),
            language: { kind: "scenario", parameters: known, files },
        });
        this.order = new Order(
            { text: () => this.code.text(), run: () => this.run() },
            title_of(source.text) || source.title,
        );
        this.add_shortcuts();
    }

    show(): Child {
        const line = the_place().query.get("line");
        const elements = this.elements();
        this.set_mode(this.mode);
        this.draw_title();
        this.draw_verdict();
        this.check();
        if (line) {
            this.code.go_to(Number(line));
        }
        return elements;
    }

    private text_changed(): void {
        const text = this.code.text();
        if (this.place.words[1] === "draft") {
            sessionStorage.setItem("studio.draft", text);
        } else if (text === this.saved_text) {
            this.unsaved.drop();
        } else {
            this.unsaved.set(text, this.saved?.version);
        }
        this.draw_title();
        this.check();
        this.draw_form();
    }

    private draw_title(): void {
        this.title.classList.toggle("changed", this.code.text() !== this.saved_text);
    }

    private draw_verdict(): void {
        show_verdict(this.verdict, this.checked, (line, column) => {
            this.set_mode("text");
            this.code.go_to(line, column);
        });
    }

    // Draws the form, where it is shown, without losing the place and the focus.
    private draw_form(): void {
        if (this.mode !== "form") {
            return;
        }
        const focused = (document.activeElement as HTMLElement | null)?.dataset.path;
        const scrolled = this.form_place.scrollTop;
        fill(
            this.form_place,
            scenario_form({
                text: this.code.text(),
                parameters: this.known,
                apply: this.code.apply,
                faults: this.checked?.errors ?? [],
            }),
        );
        this.form_place.scrollTop = scrolled;
        if (focused) {
            this.form_place.querySelector<HTMLElement>(`[data-path="${CSS.escape(focused)}"]`)?.focus();
        }
    }

    private set_mode(mode: Mode): void {
        this.mode = mode;
        remember("editor-mode", mode);
        this.tabs.text.setAttribute("aria-pressed", String(mode === "text"));
        this.tabs.form.setAttribute("aria-pressed", String(mode === "form"));
        this.code.element.hidden = mode !== "text";
        this.form_place.hidden = mode !== "form";
        this.draw_form();
    }

    // Returns the scenario as the server takes it, with where its file names start.
    private sent(): SavedScenario & { set: string[] } {
        return { yaml: this.code.text(), set: [], ...this.source.start };
    }

    private async ask_checker(signal: AbortSignal): Promise<void> {
        try {
            const answer = await api.post<CheckAnswer>("check", this.sent(), signal);
            this.show_checked(answer);
            if (answer.errors.length > 0) {
                this.map_note.textContent = t().editor.map_of_last_sound;
            } else {
                await this.ask_topology(signal);
            }
        } catch (error) {
            if (!was_aborted(error)) {
                fill(this.verdict, h("span.muted", problem_text(error)));
                window.setTimeout(() => !this.scope.ended && this.check(), 3000);
            }
        }
    }

    private show_checked(answer: CheckAnswer): void {
        this.checked = answer;
        const errors = answer.errors.map((one) => ({ ...one, line: one.line ?? 1 }));
        const warnings = answer.warnings
            .filter((one) => one.line)
            .map((one) => ({ line: one.line!, message: told(one.message), warning: true }));
        this.code.show_faults([...errors, ...warnings]);
        this.draw_verdict();
        this.order.set_checked(answer);
        this.draw_form();
    }

    private async ask_topology(signal: AbortSignal): Promise<void> {
        try {
            this.map.show(await api.post<Topology>("topology", { ...this.sent(), ...this.map.folds() }, signal));
            this.map_note.textContent = this.map.text();
        } catch (error) {
            if (!was_aborted(error)) {
                this.map_note.textContent = problem_text(error);
            }
        }
    }

    private async run(): Promise<void> {
        const name = this.order.name.value.trim() || title_of(this.code.text()) || this.source.title;
        const body = { name, ...this.sent(), ...this.order.body() };
        const answer = await api.post<{ group: number; runs: { id: number }[] }>("runs", body);
        this.unsaved.drop();
        go(answer.runs.length === 1 ? link("run", answer.runs[0]!.id) : `${link("runs")}?group=${answer.group}`);
    }

    private async save(): Promise<void> {
        if (!this.saved) {
            await this.save_as();
            return;
        }
        const { id, name, shared, version } = this.saved;
        const body = { name, shared, version, body: { yaml: this.code.text(), ...this.source.start } };
        this.saved = await api.put<Scenario>(`documents/${id}`, body);
        this.saved_text = this.code.text();
        this.unsaved.drop();
        this.draw_title();
        toast(t().editor.saved);
    }

    private async save_as(): Promise<void> {
        const words = t().editor;
        const name = input({ value: title_of(this.code.text()) || this.source.title, required: true });
        const share = checkbox(t().common.share_with_all);
        const done = async () => {
            const text = this.code.text();
            const scenario = { yaml: text, ...this.source.start };
            const body = { kind: "scenario", name: name.value.trim(), shared: is_checked(share), body: scenario };
            const made = await api.post<{ id: number }>("documents", body);
            this.saved_text = text;
            this.unsaved.drop();
            go(link("edit", "document", made.id));
        };
        const fields = [field(words.name, name), share];
        await sheet(words.save_as, fields, { text: words.save, done });
    }

    private add_shortcuts(): void {
        const words = t().editor;
        const show_text = () => {
            this.set_mode("text");
            this.code.focus();
        };
        const all: [string, string, () => void][] = [
            ["Ctrl s", words.save, () => void this.save().catch(tell_problem)],
            ["Ctrl Enter", words.run, () => this.order.press()],
            ["e", words.text, show_text],
            ["f", words.form, () => this.set_mode("form")],
        ];
        for (const [keys, meaning, work] of all) {
            shortcut(this.scope, keys, () => meaning, work);
        }
    }

    private kept_note(): HTMLElement | null {
        const { kept, source } = this;
        if (!kept || kept.text === source.text) {
            return null;
        }
        const discard = () => {
            this.saved = source.document;
            this.code.set_text(source.text);
            made.remove();
        };
        const made = note("", t().editor.unsaved, " ", button(t().editor.discard, discard, { small: true }));
        return made;
    }

    private head(): HTMLElement {
        const words = t().editor;
        const tools = [
            button(words.save, () => this.save(), { icon: "save" }),
            this.saved ? button(words.save_as, () => this.save_as()) : null,
        ];
        return h(
            "header.view-head",
            h(
                "div.words",
                h("a.small", { href: link("simulate") }, "← ", t().shelf.title),
                this.title,
                this.source.lead ? h("p.lead", this.source.lead) : null,
            ),
            h("div.tools", session.may_run ? tools : null),
        );
    }

    private elements(): Child {
        const words = t().editor;
        const text_card = h(
            "section.card.flush.bench-text",
            { "aria-label": words.scenario },
            h(
                "header",
                h("div.row.tight", this.tabs.text, this.tabs.form),
                h("span.grow"),
                h("span.muted.small", words.keys),
            ),
            this.code.element,
            this.form_place,
            this.verdict,
        );
        const network_head = h("header", h("h2", words.network), this.map_note);
        const side = h(
            "div.stack.bench-side",
            h("section.card", network_head, this.map.element),
            h("section.card", h("header", h("h2", words.run_it)), this.order.element()),
        );
        return [this.head(), this.kept_note(), h("div.bench", text_card, side)];
    }
}

export async function workbench_view(scope: Scope, place: Place): Promise<Child> {
    if (place.words[1] === "study" && place.words[2]) {
        return study_view(place.words[2], scope.signal);
    }
    const [source, known, { files }] = await Promise.all([
        source_of(place, scope.signal),
        parameters(),
        own_files(scope.signal),
    ]);
    // Names as the scenario writes them: from its folder on.
    const from = source.start.folder ? `${source.start.folder}/` : "";
    const names = files.map((file) => file.path).filter((path) => path.startsWith(from));
    return new Workbench(
        scope,
        place,
        source,
        known,
        names.map((path) => path.slice(from.length)),
    ).show();
}
