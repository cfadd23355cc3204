// SPDX-License-Identifier: Apache-2.0
// Buttons, fields, cards, dialogs, tabs and other parts that views are built from.
import { api, ApiError, was_aborted } from "../core/api";
import { fill, h, new_id, type Scope, type Child, type Props } from "../core/dom";
import { t, told } from "../i18n/text";
import { icon, type IconName } from "./icons";

interface ButtonOptions {
    icon?: IconName;
    kind?: "main-action" | "danger" | "quiet";
    small?: boolean;
    title?: string;
    pressed?: boolean;
    disabled?: boolean;
    label?: string;
}

function button_props({ kind, small, title, label }: ButtonOptions): Props {
    return { class: ["button", kind, small && "small"].filter(Boolean).join(" "), title, "aria-label": label };
}

// Makes a button. It cannot be pressed again while its work is not done, and a failure is shown.
export function button(
    text: Child,
    work: (event: MouseEvent) => unknown,
    options: ButtonOptions = {},
): HTMLButtonElement {
    const click = (event: MouseEvent) => {
        const done = work(event);
        if (done instanceof Promise) {
            made.setAttribute("aria-busy", "true");
            made.disabled = true;
            done.catch(tell_problem).finally(() => {
                made.removeAttribute("aria-busy");
                made.disabled = false;
            });
        }
    };
    const { pressed, disabled } = options;
    const state = { "aria-pressed": pressed === undefined ? undefined : String(pressed), disabled };
    const props = { type: "button", ...button_props(options), ...state, on: { click } };
    const made = h("button", props, options.icon && icon(options.icon), text);
    return made;
}

export function link_button(text: Child, href: string, options: ButtonOptions = {}): HTMLAnchorElement {
    return h("a", { href, ...button_props(options) }, options.icon && icon(options.icon), text);
}

export function field(label: string, input: HTMLElement, hint?: Child): HTMLElement {
    input.id ||= new_id("field");
    const hint_id = new_id("hint");
    if (hint) {
        input.setAttribute("aria-describedby", hint_id);
    }
    return h(
        "div.field",
        h("label", { for: input.id }, label),
        input,
        hint ? h("span.hint", { id: hint_id }, hint) : null,
    );
}

export function input(props: Props = {}): HTMLInputElement {
    return h("input", { autocomplete: "off", spellcheck: "false", ...props, class: `input ${props.class ?? ""}` });
}

export function search_box(label: string, change: (event: Event) => void, props: Props = {}): HTMLInputElement {
    const on = { input: change };
    return input({ type: "search", class: "search", placeholder: label, "aria-label": label, on, ...props });
}

export type Choice = readonly [value: string, text: string];

// Returns the choices of these values, which are shown as `text` says.
export function choices(values: readonly string[], text: (value: string) => string = String): Choice[] {
    return values.map((value) => [value, text(value)]);
}

export function select(
    choices: readonly Choice[],
    value: string,
    change: (value: string) => void,
    props: Props = {},
): HTMLSelectElement {
    const made = h(
        "select",
        { ...props, class: `select ${props.class ?? ""}`, on: { change: () => change(made.value) } },
        choices.map(([one, text]) => h("option", { value: one, selected: one === value }, text)),
    );
    return made;
}

export function checkbox(
    text: string,
    checked = false,
    change: (checked: boolean) => void = () => undefined,
): HTMLLabelElement {
    const box = h("input", { type: "checkbox", checked, on: { change: () => change(box.checked) } });
    return h("label.check", box, text);
}

export function is_checked(box: HTMLLabelElement): boolean {
    return (box.control as HTMLInputElement).checked;
}

export function badge(text: string, kind = ""): HTMLElement {
    return h("span", { class: `badge ${kind}` }, text);
}

export function note(kind: "" | "bad" | "warn" | "good", ...children: Child[]): HTMLElement {
    return h("div", { class: `note ${kind}`, role: kind === "bad" ? "alert" : "note" }, h("div.grow", children));
}

export function empty(title: string, text: Child, ...actions: Child[]): HTMLElement {
    return h("div.empty", h("h2", title), h("p", text), actions.length > 0 && h("div.row", actions));
}

export function loading(): HTMLElement {
    return h("div.loading", { role: "status" }, h("span.spinner"), t().common.loading);
}

export function bar(share: number, label: string): HTMLElement {
    const percent = Math.round(Math.max(0, Math.min(1, share)) * 100);
    return h(
        "div.bar",
        {
            role: "progressbar",
            "aria-label": label,
            "aria-valuemin": 0,
            "aria-valuemax": 100,
            "aria-valuenow": percent,
        },
        h("div", { style: { width: `${percent}%` } }),
    );
}

export function problem_text(error: unknown): string {
    if (error instanceof ApiError) {
        const words = t().errors;
        if (error.status === 0) {
            return words.offline;
        }
        const known: Partial<Record<number, string>> = {
            403: words.forbidden,
            413: words.too_large,
            507: words.disk_full,
        };
        const text = told(error.message) || known[error.status] || words.unknown;
        return error.expected ? `${text} (${words.expected}: ${error.expected})` : text;
    }
    return (error as Error)?.message ?? String(error);
}

export function problem(error: unknown, again?: () => void): HTMLElement {
    return h(
        "div.note.bad",
        { role: "alert" },
        h("div.grow", problem_text(error)),
        again && button(t().common.try_again, again, { small: true }),
    );
}

export function view_head(title: Child, lead: Child, ...tools: Child[]): HTMLElement {
    return h(
        "header.view-head",
        h("div.words", h("h1", title), lead ? h("p.lead", lead) : null),
        h("div.tools", tools),
    );
}

export function card(title: Child, tools: Child, ...children: Child[]): HTMLElement {
    return h("section.card", title || tools ? h("header", h("h2", title), tools) : null, children);
}

// Makes a card that a table fills up to its edges.
export function flush_card(title: Child, tools: Child, content: Child): HTMLElement {
    return h("section.card.flush", h("header", title instanceof Node ? title : h("h2", title), tools), content);
}

export function fact(name: string, value: Child, kind = ""): HTMLElement {
    return h("div", { class: `fact ${kind}` }, h("div.value", value), h("div.name", name));
}

// Fills a place with the result of `work`. Until then it says that it loads; after a failure it offers another try.
export function later(
    scope: Scope,
    work: (signal: AbortSignal) => Promise<Child>,
    place: HTMLElement = h("div.stack.wide"),
): HTMLElement {
    const begin = () => {
        place.replaceChildren(loading());
        work(scope.signal).then(
            (child) => {
                if (!scope.ended) {
                    fill(place, h("div.stack.wide.appear", child));
                }
            },
            (error: unknown) => {
                if (!scope.ended && !was_aborted(error)) {
                    place.replaceChildren(problem(error, begin));
                }
            },
        );
    };
    begin();
    return place;
}

const toasts = h("div.toasts", { role: "status", "aria-live": "polite" });

export function toast(text: string, options: { bad?: boolean; action?: [string, () => unknown] } = {}): void {
    if (!toasts.isConnected) {
        document.body.append(toasts);
    }
    const made = h("div", { class: `toast appear ${options.bad ? "bad" : ""}` }, h("span.grow", text));
    if (options.action) {
        const [label, work] = options.action;
        made.append(
            button(label, () => {
                made.remove();
                return work();
            }),
        );
    }
    toasts.append(made);
    window.setTimeout(() => made.remove(), options.action ? 10000 : options.bad ? 8000 : 4000);
}

export function tell_problem(error: unknown): void {
    if (!was_aborted(error)) {
        toast(problem_text(error), { bad: true });
    }
}

// Opens a dialog with a form and calls `done` when it is sent. An error of `done` is shown and keeps the dialog open.
export function sheet(
    title: string,
    content: Child,
    actions: { text: string; kind?: ButtonOptions["kind"]; done?: () => unknown },
    wide = false,
): Promise<boolean> {
    return new Promise((resolve) => {
        const fault = h("div", { "aria-live": "assertive" });
        const send = h("button", { class: `button ${actions.kind ?? "main-action"}`, type: "submit" }, actions.text);
        const submit = (event: SubmitEvent) => {
            event.preventDefault();
            send.disabled = true;
            const sent = () => {
                resolve(true);
                dialog.close();
            };
            Promise.resolve()
                .then(() => actions.done?.())
                .then(sent, (error: unknown) => fault.replaceChildren(problem(error)))
                .finally(() => {
                    send.disabled = false;
                });
        };
        const cancel = actions.done ? button(t().common.cancel, () => dialog.close()) : null;
        const parts = [h("h2", title), content, fault, h("div.actions", cancel, send)];
        const form = h("form", { method: "dialog", novalidate: true, on: { submit } }, parts);
        const dialog: HTMLDialogElement = h(
            "dialog",
            { class: `sheet ${wide ? "wide" : ""}`, "aria-label": title },
            form,
        );
        dialog.addEventListener("close", () => {
            resolve(false);
            dialog.remove();
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}

export function confirm_sheet(title: string, text: Child, action: string, work: () => unknown): Promise<boolean> {
    return sheet(title, h("p", text), { text: action, kind: "danger", done: work });
}

// Asks whether to remove what can be restored, removes it and offers to take that back; `after` is told of both.
export function remove_sheet(
    words: { remove: string; remove_text: (name: string) => string },
    name: string,
    path: string,
    after: (gone: boolean) => unknown,
): Promise<boolean> {
    return confirm_sheet(words.remove, words.remove_text(name), words.remove, async () => {
        await api.remove(path);
        const restore = () => api.post(`${path}/restore`).then(() => after(false));
        toast(t().runs.removed(name), { action: [t().runs.undo, restore] });
        await after(true);
    });
}

const offered_max = 400; // names in a sheet

// Opens a sheet in which some of many names are chosen; `text` says more of a name, and `done` gets those chosen.
export async function choose_names(
    words: { title: string; find: string; lead?: Child; show?: string },
    names: string[],
    chosen: Iterable<string>,
    done: (names: string[]) => void,
    text: (name: string) => string = String,
): Promise<void> {
    const picked = new Set(chosen);
    const list = h("div.choices", { tabindex: 0, role: "group", "aria-label": words.title });
    const show = () => {
        const parts = box.value.toLowerCase().split(/\s+/).filter(Boolean);
        const fits = (name: string) => parts.every((part) => text(name).toLowerCase().includes(part));
        const found = names.filter((name) => picked.has(name) || fits(name)).slice(0, offered_max);
        const check = (name: string) =>
            checkbox(text(name), picked.has(name), (on) => (on ? picked.add(name) : picked.delete(name)));
        fill(list, found.map(check));
    };
    const box = search_box(words.find, show);
    show();
    const action = { text: words.show ?? t().run.show, done: () => done([...picked]) };
    await sheet(words.title, [words.lead, box, list], action, true);
}

// Shows a text that the server cannot show again, with a button that copies it.
export function show_secret(title: string, secret: string, label: string, note_of: HTMLElement, more: Child = null) {
    const { copy, copied } = t().account;
    const copy_it = () => navigator.clipboard.writeText(secret).then(() => toast(copied));
    const shown = input({ readonly: true, value: secret, class: "mono", "aria-label": label });
    return sheet(title, [note_of, shown, more, button(copy, copy_it, { icon: "copy" })], { text: t().common.close });
}

export interface Tab {
    name: string;
    text: string;
    make: (scope: Scope) => Child;
}

// Makes tabs. The content of a tab is made when it is opened and its scope ends when it is left.
export function tabs(
    scope: Scope,
    label: string,
    all: Tab[],
    chosen: string,
    change: (name: string) => void,
): HTMLElement {
    const panel = h("div.tab-panel", { role: "tabpanel", tabindex: 0 });
    panel.id = new_id("panel");
    let inner: Scope | null = null;
    const open = (name: string, focus: boolean) => {
        const tab = all.find((one) => one.name === name) ?? all[0];
        if (!tab) {
            return;
        }
        inner?.end();
        inner = scope.child();
        for (const [index, element] of buttons.entries()) {
            const now = all[index] === tab;
            element.setAttribute("aria-selected", String(now));
            element.tabIndex = now ? 0 : -1;
            if (now) {
                panel.setAttribute("aria-labelledby", element.id);
                // On a telephone it may stand beyond the edge.
                requestAnimationFrame(() => element.scrollIntoView({ block: "nearest", inline: "nearest" }));
                if (focus) {
                    element.focus();
                }
            }
        }
        fill(panel, h("div.stack.wide", tab.make(inner)));
    };
    const buttons = all.map((tab, index) => {
        const go_to = (name: string, focus: boolean) => {
            history.pushState(null, ""); // the browser's Back leads to the tab before
            change(name);
            open(name, focus);
        };
        const keydown = (event: KeyboardEvent) => {
            const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1 }[event.key];
            if (to !== undefined) {
                go_to(all.at(to % all.length)!.name, true);
            }
        };
        const on = { click: () => go_to(tab.name, false), keydown };
        const props = { type: "button", role: "tab", id: new_id("tab"), "aria-controls": panel.id, on };
        return h("button", props, tab.text);
    });
    open(chosen, false);
    return h("div.stack.wide", h("div.tabs", { role: "tablist", "aria-label": label }, buttons), panel);
}

// Lets the browser save bytes as a file.
export function save_file(name: string, content: Blob): void {
    const address = URL.createObjectURL(content);
    const anchor = h("a", { href: address, download: name });
    document.body.append(anchor);
    anchor.click();
    anchor.remove();
    window.setTimeout(() => URL.revokeObjectURL(address), 10000);
}
