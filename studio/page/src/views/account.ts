// SPDX-License-Identifier: Apache-2.0
// The user's own account: password, sessions, and tokens for scripts.
import { api } from "../core/api";
import { h, type Child, type Scope } from "../core/dom";
import { moment } from "../core/format";
import { session } from "../core/session";
import { t } from "../i18n/text";
import { badge, button, card, choices, confirm_sheet, field, input, later, note } from "../ui/parts";
import { select, sheet, show_secret, toast, view_head } from "../ui/parts";
import { plain_table } from "../ui/table";
import { new_password_fields } from "./login";
import type { SessionRow, TokenRow } from "../core/types";

function password_card(): HTMLElement {
    const words = t().account;
    const old = input({ type: "password", name: "old-password", autocomplete: "current-password", required: true });
    const fresh = new_password_fields();
    const form = h("form.stack", { novalidate: true, on: { submit: (event) => event.preventDefault() } });
    form.append(
        field(words.old_password, old),
        ...fresh.fields,
        h(
            "div",
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

function browser_name(agent: string): string {
    return /(Edg|Firefox|Chrome|Safari|curl)[a-z]*\/(\d+)/.exec(agent)?.slice(1, 3).join(" ") ?? agent.slice(0, 40);
}

function sessions_card(scope: Scope): HTMLElement {
    const words = t().account;
    const load = async (signal: AbortSignal) => {
        const { sessions } = await api.get<{ sessions: SessionRow[] }>("me", undefined, signal);
        const cells = (row: SessionRow): Child[] => [
            h("td.nowrap", moment(row.created_ms)),
            h("td.nowrap", moment(row.seen_ms)),
            row.address,
            row.current ? badge(words.this_one, "accent") : browser_name(row.agent),
        ];
        return plain_table([words.begun, words.seen, words.from, words.browser], sessions.map(cells));
    };
    const log_out = () =>
        confirm_sheet(words.everywhere, words.everywhere_text, words.everywhere, async () => {
            await api.post("me/logout-everywhere", { tokens: false });
            session.clear();
            window.dispatchEvent(new Event("studio-session"));
        });
    return card(words.sessions, button(words.everywhere, log_out), later(scope, load, h("div")));
}

function token_cells(row: TokenRow, changed: () => void): Child[] {
    const words = t().account;
    const revoke = () =>
        confirm_sheet(words.revoke, words.revoke_text(row.name), words.revoke, async () => {
            await api.remove(`tokens/${row.id}`);
            changed();
        });
    return [
        row.name,
        moment(row.created_ms),
        moment(row.used_ms),
        row.expires_ms ? moment(row.expires_ms) : words.never,
        h("td.right", button(words.revoke, revoke, { small: true, kind: "danger" })),
    ];
}

function show_token(token: string): Promise<boolean> {
    const words = t().account;
    const example = `curl -H "Authorization: Bearer ${token}" ${location.origin}/api/v1/runs`;
    const code = h("pre.code-block", { tabindex: 0 }, example);
    return show_secret(words.token_made, token, words.new_token, note("warn", words.token_once), code);
}

async function make_token(made: () => void): Promise<void> {
    const words = t().account;
    const name = input({ required: true, name: "token-name" });
    let token = "";
    const days = choices(["7", "90", "365"], (one) => words.days(Number(one)));
    const lasts = select(days, "90", () => undefined);
    const done = async () => {
        const body = { name: name.value.trim() || "token", days: Number(lasts.value) };
        token = (await api.post<{ token: string }>("tokens", body)).token;
    };
    const fields = [field(words.token_name, name, words.token_hint), field(words.expires, lasts)];
    if (await sheet(words.new_token, fields, { text: words.create_token, done })) {
        made();
        await show_token(token);
    }
}

function tokens_card(scope: Scope): HTMLElement {
    const words = t().account;
    const place = h("div");
    const load = async (signal: AbortSignal) => {
        const { tokens } = await api.get<{ tokens: TokenRow[] }>("tokens", undefined, signal);
        if (tokens.length === 0) {
            return h("p.muted", words.no_tokens);
        }
        const head = [words.token_name, words.begun, words.last_used, words.expires, ""];
        const rows = tokens.map((row) => token_cells(row, draw));
        return plain_table(head, rows);
    };
    const draw = () => void later(scope, load, place);
    draw();
    const routes = h("a", { href: "api/v1/openapi.json", target: "_blank", rel: "noopener" }, words.api_page);
    const lead = h("p.muted", words.tokens_text, " ", routes);
    const add = button(words.new_token, () => void make_token(draw), { icon: "plus" });
    return card(words.tokens, add, h("div.stack", lead, place));
}

export function account_view(scope: Scope): Child {
    const user = session.user!;
    return [
        view_head(user.name, t().roles[user.role]),
        h("div.columns", password_card(), sessions_card(scope)),
        tokens_card(scope),
    ];
}
