// SPDX-License-Identifier: Apache-2.0
// The log-in form, and the form that a one-time link opens for the first administrator or an invited user.
import { api, ApiError } from "../core/api";
import { h, type Child, type Scope } from "../core/dom";
import type { Me } from "../core/session";
import { set_theme, is_dark } from "../core/settings";
import { set_language, t, the_language } from "../i18n/text";
import { button, field, input, note, problem_text } from "../ui/parts";

function frame(title: string, lead: string, content: Child): HTMLElement {
    const redraw = () => window.dispatchEvent(new Event("studio-language-and-theme"));
    const other = the_language() === "en" ? "zh" : "en";
    const other_theme = () => {
        set_theme(is_dark() ? "light" : "dark");
        redraw();
    };
    return h(
        "main.door",
        h(
            "div.door-card.appear",
            h(
                "div.door-brand",
                h("img", { src: "assets/icon.svg", alt: "", width: 40, height: 40 }),
                h("div", h("div.door-name", "rocesim studio"), h("div.muted", t().login.tagline)),
            ),
            h("div", h("h1", title), h("p.muted", lead)),
            content,
        ),
        h(
            "div.row.door-foot",
            button(other === "zh" ? "中文" : "English", () => set_language(other).then(redraw), {
                kind: "quiet",
                icon: "language",
            }),
            button(is_dark() ? t().nav.theme_light : t().nav.theme_dark, other_theme, { kind: "quiet", icon: "theme" }),
        ),
    );
}

// Makes a form whose button is off while `work` is done; `refused` gets its error.
function door_form(
    parts: Child,
    action: string,
    work: () => Promise<void>,
    refused: (error: unknown, send: HTMLButtonElement, fault: HTMLElement) => void,
): HTMLFormElement {
    const fault = h("div", { "aria-live": "assertive" });
    const send = h("button.button.main-action", { type: "submit" }, action);
    const submit = (event: SubmitEvent) => {
        event.preventDefault();
        send.disabled = true;
        work().catch((error: unknown) => {
            send.disabled = false;
            refused(error, send, fault);
        });
    };
    return h("form.stack", { on: { submit } }, parts, fault, send);
}

export function login_view(scope: Scope, entered: (me: Me) => void): Child {
    const words = t().login;
    const name = input({ name: "name", autocomplete: "username", autocapitalize: "none", required: true });
    const password = input({ name: "password", type: "password", autocomplete: "current-password", required: true });
    const log_in = () => api.post<Me>("login", { name: name.value.trim(), password: password.value }).then(entered);
    const refused = (error: unknown, send: HTMLButtonElement, fault: HTMLElement) => {
        const status = error instanceof ApiError ? error.status : 0;
        let left = status === 429 ? Math.ceil((error as ApiError).retry_after_s || 30) : 0;
        const text = status === 429 ? words.locked(left) : status === 401 ? words.wrong : problem_text(error);
        const said = h("span", text);
        fault.replaceChildren(note("bad", said));
        password.setAttribute("aria-invalid", "true");
        password.select();
        password.focus();
        send.disabled = left > 0;
        const wait = scope.child();
        const count_down = () => {
            said.textContent = words.locked(--left);
            if (left <= 0) {
                wait.end();
                send.disabled = false;
                fault.replaceChildren();
            }
        };
        if (left > 0) {
            wait.every(1000, count_down);
        }
    };
    const fields = [field(words.name, name), field(words.password, password)];
    const form = door_form(fields, words.log_in, log_in, refused);
    form.append(h("p.muted.small", words.first_start));
    queueMicrotask(() => name.focus());
    return frame(words.title, words.lead, form);
}

// Makes two fields for a new password. `take` returns it, or throws an error that says what is wrong with it.
export function new_password_fields(): { fields: HTMLElement[]; take: () => string } {
    const words = t().login;
    const fresh = { type: "password", autocomplete: "new-password", required: true };
    const one = input({ ...fresh, name: "new-password", minlength: 10 });
    const two = input({ ...fresh, name: "repeat-password" });
    return {
        fields: [field(words.new_password, one, words.password_hint), field(words.repeat_password, two)],
        take: () => {
            if (one.value.length < 10) {
                one.focus();
                throw new Error(words.too_short);
            }
            if (one.value !== two.value) {
                two.focus();
                throw new Error(words.not_same);
            }
            return one.value;
        },
    };
}

// Shows the form of a one-time link. The first administrator chooses a name, too.
export function once_view(_scope: Scope, once: string, entered: (me: Me) => void): Child {
    const words = t().login;
    const name = input({ name: "name", autocomplete: "username", autocapitalize: "none", placeholder: "admin" });
    const password = new_password_fields();
    const make = async () => {
        const named = name.value.trim();
        const body = { link: once, password: password.take(), ...(named ? { name: named } : {}) };
        entered(await api.post<Me>("login", body));
    };
    const refused = (error: unknown, _: HTMLButtonElement, fault: HTMLElement) => {
        const used = error instanceof ApiError && error.status === 401;
        fault.replaceChildren(note("bad", used ? words.link_used : problem_text(error)));
    };
    const fields = [field(words.name, name, words.name_hint), password.fields];
    const form = door_form(fields, words.create, make, refused);
    form.noValidate = true; // take() says what is wrong
    return frame(words.first_title, words.first_lead, form);
}
