// SPDX-License-Identifier: Apache-2.0
// One's own account: password, sessions, tokens for scripts.
import { api } from "../core/api";
import { h, type Child, type Scope } from "../core/dom";
import { moment } from "../core/format";
import { session } from "../core/session";
import { t } from "../i18n/text";
import {
    badge,
    button,
    card,
    confirm_sheet,
    field,
    input,
    later,
    note,
    select,
    sheet,
    toast,
    view_head,
} from "../ui/parts";
import { new_password_fields } from "./login";
import type { SessionRow, TokenRow } from "../core/types";

function password_card(): HTMLElement {
    const words = t().account;
    const old = input({ type: "password", name: "old-password", autocomplete: "current-password", required: true });
    const fresh = new_password_fields();
    const form = h("form", { class: "stack", novalidate: true, on: { submit: (event) => event.preventDefault() } });
    form.append(
        field(words.old_password, old),
        ...fresh.fields,
        h(
            "div",
            null,
            button(
                words.change_password,
                async () => {
                    const password = fresh.take();
                    await api.put("me/password", { old: old.value, new: password });
                    form.reset();
                    toast(words.password_changed);
                },
                { kind: "main-action" },
            ),
        ),
    );
    return card(words.password, null, form);
}

function sessions_card(scope: Scope): HTMLElement {
    const words = t().account;
    const place = h("div");
    const browser_name = (agent: string) =>
        /(Edg|Firefox|Chrome|Safari|curl)[a-z]*\/(\d+)/.exec(agent)?.slice(1, 3).join(" ") ?? agent.slice(0, 40);
    const draw = () =>
        later(
            scope,
            async (signal) => {
                const items = (await api.get<{ sessions: SessionRow[] }>("me", undefined, signal)).sessions;
                return h(
                    "div",
                    { class: "scroll-x", tabindex: 0 },
                    h(
                        "table",
                        { class: "plain" },
                        h(
                            "thead",
                            null,
                            h(
                                "tr",
                                null,
                                [words.begun, words.seen, words.from, words.browser].map((text) =>
                                    text ? h("th", { scope: "col" }, text) : h("td"),
                                ),
                            ),
                        ),
                        h(
                            "tbody",
                            null,
                            items.map((row) =>
                                h(
                                    "tr",
                                    null,
                                    h("td", { class: "nowrap" }, moment(row.created_ms)),
                                    h("td", { class: "nowrap" }, moment(row.seen_ms)),
                                    h("td", null, row.address),
                                    h(
                                        "td",
                                        null,
                                        row.current ? badge(words.this_one, "accent") : browser_name(row.agent),
                                    ),
                                ),
                            ),
                        ),
                    ),
                );
            },
            place,
        );
    draw();
    return card(
        words.sessions,
        button(words.everywhere, () =>
            confirm_sheet(words.everywhere, words.everywhere_text, words.everywhere, async () => {
                await api.post("me/logout-everywhere", { tokens: false });
                session.clear();
                window.dispatchEvent(new Event("studio-session"));
            }),
        ),
        place,
    );
}

function tokens_card(scope: Scope): HTMLElement {
    const words = t().account;
    const place = h("div");
    const draw = (): HTMLElement =>
        later(
            scope,
            async (signal) => {
                const items = (await api.get<{ tokens: TokenRow[] }>("tokens", undefined, signal)).tokens;
                if (items.length === 0) {
                    return h("p", { class: "muted" }, words.no_tokens);
                }
                return h(
                    "div",
                    { class: "scroll-x", tabindex: 0 },
                    h(
                        "table",
                        { class: "plain" },
                        h(
                            "thead",
                            null,
                            h(
                                "tr",
                                null,
                                [words.token_name, words.begun, words.last_used, words.expires, ""].map((text) =>
                                    text ? h("th", { scope: "col" }, text) : h("td"),
                                ),
                            ),
                        ),
                        h(
                            "tbody",
                            null,
                            items.map((row) =>
                                h(
                                    "tr",
                                    null,
                                    h("td", null, row.name),
                                    h("td", null, moment(row.created_ms)),
                                    h("td", null, moment(row.used_ms)),
                                    h("td", null, row.expires_ms ? moment(row.expires_ms) : words.never),
                                    h(
                                        "td",
                                        { class: "right" },
                                        button(
                                            words.revoke,
                                            () =>
                                                confirm_sheet(
                                                    words.revoke,
                                                    words.revoke_text(row.name),
                                                    words.revoke,
                                                    () => api.remove(`tokens/${row.id}`).then(draw),
                                                ),
                                            { small: true, kind: "danger" },
                                        ),
                                    ),
                                ),
                            ),
                        ),
                    ),
                );
            },
            place,
        );
    draw();
    const make = async () => {
        const name = input({ required: true, name: "token-name" });
        let days = "90";
        const lasts = select(
            [
                ["7", words.days(7)],
                ["90", words.days(90)],
                ["365", words.days(365)],
            ],
            days,
            (value) => {
                days = value;
            },
        );
        let made = "";
        if (
            await sheet(
                words.new_token,
                [field(words.token_name, name, words.token_hint), field(words.expires, lasts)],
                {
                    text: words.create_token,
                    done: async () => {
                        made = (
                            await api.post<{ token: string }>("tokens", {
                                name: name.value.trim() || "token",
                                days: Number(days),
                            })
                        ).token;
                    },
                },
            )
        ) {
            draw();
            const shown = input({ readonly: true, value: made, class: "mono", "aria-label": words.new_token });
            const example = `curl -H "Authorization: Bearer ${made}" ${location.origin}/api/v1/runs`;
            await sheet(
                words.token_made,
                [
                    note("warn", words.token_once),
                    shown,
                    h("pre", { class: "code-block", tabindex: 0 }, example),
                    button(words.copy, () => navigator.clipboard.writeText(made).then(() => toast(words.copied)), {
                        icon: "copy",
                    }),
                ],
                { text: t().common.close },
            );
        }
    };
    return card(
        words.tokens,
        button(words.new_token, () => void make(), { icon: "plus" }),
        h(
            "div",
            { class: "stack" },
            h(
                "p",
                { class: "muted" },
                words.tokens_text,
                " ",
                h("a", { href: "api/v1/openapi.json", target: "_blank", rel: "noopener" }, words.api_page),
            ),
            place,
        ),
    );
}

export function account_view(scope: Scope): Child {
    const user = session.user!;
    return [
        view_head(user.name, t().roles[user.role]),
        h("div", { class: "columns" }, password_card(), sessions_card(scope)),
        tokens_card(scope),
    ];
}
