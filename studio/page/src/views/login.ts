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
            button(
                other === "zh" ? "中文" : "English",
                async () => {
                    await set_language(other);
                    redraw();
                },
                { kind: "quiet", icon: "language" },
            ),
            button(
                is_dark() ? t().nav.theme_light : t().nav.theme_dark,
                () => {
                    set_theme(is_dark() ? "light" : "dark");
                    redraw();
                },
                { kind: "quiet", icon: "theme" },
            ),
        ),
    );
}

export function login_view(scope: Scope, entered: (me: Me) => void): Child {
    const words = t().login;
    const name = input({ name: "name", autocomplete: "username", autocapitalize: "none", required: true });
    const password = input({ name: "password", type: "password", autocomplete: "current-password", required: true });
    const fault = h("div", { "aria-live": "assertive" });
    const send = h("button.button.main-action", { type: "submit" }, words.log_in);
    const refuse = (text: Child) => {
        fault.replaceChildren(note("bad", text));
        password.setAttribute("aria-invalid", "true");
        password.select();
        password.focus();
    };
    const locked = (seconds: number) => {
        let left = Math.ceil(seconds);
        const text = h("span", words.locked(left));
        refuse(text);
        send.disabled = true;
        const timer = window.setInterval(() => {
            text.textContent = words.locked(--left);
            if (left <= 0) {
                window.clearInterval(timer);
                send.disabled = false;
                fault.replaceChildren();
            }
        }, 1000);
        scope.on_end(() => window.clearInterval(timer));
    };
    const form = h(
        "form.stack",
        {
            on: {
                submit: (event) => {
                    event.preventDefault();
                    send.disabled = true;
                    api.post<Me>("login", { name: name.value.trim(), password: password.value }).then(
                        entered,
                        (error: unknown) => {
                            send.disabled = false;
                            if (error instanceof ApiError && error.status === 429) {
                                locked(error.retry_after_s || 30);
                            } else if (error instanceof ApiError && error.status === 401) {
                                refuse(words.wrong);
                            } else {
                                refuse(problem_text(error));
                            }
                        },
                    );
                },
            },
        },
        field(words.name, name),
        field(words.password, password),
        fault,
        send,
        h("p.muted.small", words.first_start),
    );
    queueMicrotask(() => name.focus());
    return frame(words.title, words.lead, form);
}

// Makes two fields for a new password. `take` returns it, or throws an error that says what is wrong with it.
export function new_password_fields(): { fields: HTMLElement[]; take: () => string } {
    const words = t().login;
    const one = input({
        name: "new-password",
        type: "password",
        autocomplete: "new-password",
        required: true,
        minlength: 10,
    });
    const two = input({ name: "repeat-password", type: "password", autocomplete: "new-password", required: true });
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
    const fault = h("div", { "aria-live": "assertive" });
    const send = h("button.button.main-action", { type: "submit" }, words.create);
    const form = h(
        "form.stack",
        {
            novalidate: true,
            on: {
                submit: (event) => {
                    event.preventDefault();
                    send.disabled = true;
                    const make = async () => {
                        const body: Record<string, string> = { link: once, password: password.take() };
                        if (name.value.trim()) {
                            body.name = name.value.trim();
                        }
                        entered(await api.post<Me>("login", body));
                    };
                    make().catch((error: unknown) => {
                        send.disabled = false;
                        fault.replaceChildren(
                            note(
                                "bad",
                                error instanceof ApiError && error.status === 401
                                    ? words.link_used
                                    : problem_text(error),
                            ),
                        );
                    });
                },
            },
        },
        field(words.name, name, words.name_hint),
        password.fields,
        fault,
        send,
    );
    return frame(words.first_title, words.first_lead, form);
}
