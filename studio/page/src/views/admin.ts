// SPDX-License-Identifier: Apache-2.0
// For administrators: who may enter, what they did, how the server is.
import { api } from "../core/api";
import { h, type Child, type Scope } from "../core/dom";
import { bytes, moment } from "../core/format";
import { keep_query, type Place } from "../core/router";
import { session, type Role } from "../core/session";
import type { AuditRow, Status, UserRow } from "../core/types";
import { t } from "../i18n/text";
import { grid } from "../ui/grid";
import {
    badge,
    bar,
    button,
    card,
    confirm_sheet,
    fact,
    field,
    input,
    later,
    note,
    select,
    sheet,
    tabs,
    toast,
    view_head,
} from "../ui/parts";

const roles: Role[] = ["administrator", "user", "viewer"];

function role_choices(): [string, string][] {
    return roles.map((role) => [role, `${t().roles[role]}: ${t().role_texts[role]}`]);
}

function users_tab(scope: Scope): Child {
    const words = t().admin;
    const place = h("div");
    const change = (row: UserRow, body: object) => api.patch(`users/${row.id}`, body).then(draw);
    const show_link = (name: string, once: string) => {
        const shown = input({ readonly: true, value: once, class: "mono", "aria-label": words.link_for(name) });
        return sheet(
            words.link_for(name),
            [
                note("", words.link_text),
                shown,
                button(
                    t().account.copy,
                    () => navigator.clipboard.writeText(once).then(() => toast(t().account.copied)),
                    { icon: "copy" },
                ),
            ],
            { text: t().common.close },
        );
    };
    const reset = async (row: UserRow) => {
        await confirm_sheet(words.reset, words.reset_text, words.reset, async () => {
            const answer = await api.patch<{ link?: string }>(`users/${row.id}`, { reset: true });
            draw();
            if (answer.link) {
                void show_link(row.name, answer.link);
            }
        });
    };
    const draw = () => {
        later(
            scope,
            async (signal) => {
                const items = (await api.get<{ users: UserRow[] }>("users", undefined, signal)).users;
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
                                [words.name, words.role, words.state, words.last_login, ""].map((text) =>
                                    text ? h("th", { scope: "col" }, text) : h("td"),
                                ),
                            ),
                        ),
                        h(
                            "tbody",
                            null,
                            items.map((row) => {
                                const me = row.id === session.user?.id;
                                return h(
                                    "tr",
                                    null,
                                    h("td", null, row.name),
                                    h(
                                        "td",
                                        null,
                                        me
                                            ? t().roles[row.role]
                                            : select(
                                                  roles.map((role) => [role, t().roles[role]]),
                                                  row.role,
                                                  (role) =>
                                                      void change(row, { role }).catch((error: unknown) => {
                                                          toast(String(error), { bad: true });
                                                          draw();
                                                      }),
                                                  { "aria-label": words.role_of(row.name) },
                                              ),
                                    ),
                                    h(
                                        "td",
                                        null,
                                        row.disabled
                                            ? badge(words.disabled, "warn")
                                            : row.has_password
                                              ? badge(words.active, "good")
                                              : badge(words.invited, "accent"),
                                    ),
                                    h("td", null, moment(row.seen_ms)),
                                    h(
                                        "td",
                                        { class: "right" },
                                        me
                                            ? null
                                            : h(
                                                  "div",
                                                  { class: "row tight actions-right" },
                                                  button(words.reset, () => reset(row), {
                                                      small: true,
                                                      title: words.reset_text,
                                                  }),
                                                  button(
                                                      row.disabled ? words.enable : words.disable,
                                                      () => change(row, { disabled: !row.disabled }),
                                                      { small: true },
                                                  ),
                                              ),
                                    ),
                                );
                            }),
                        ),
                    ),
                );
            },
            place,
        );
    };
    draw();
    const add = () => {
        const name = input({ name: "user-name", required: true, autocapitalize: "none" });
        let role: string = "user";
        return sheet(
            words.add,
            [
                field(words.name, name),
                field(
                    words.role,
                    select(role_choices(), role, (value) => {
                        role = value;
                    }),
                ),
                h("p", { class: "muted small" }, words.add_text),
            ],
            {
                text: words.add,
                done: async () => {
                    const answer = await api.post<{ link?: string }>("users", { name: name.value.trim(), role });
                    draw();
                    if (answer.link) {
                        void show_link(name.value.trim(), answer.link);
                    }
                },
            },
        );
    };
    return card(
        words.users,
        button(words.add, () => void add(), { icon: "plus", kind: "main-action" }),
        place,
    );
}

function audit_tab(scope: Scope): Child {
    const words = t().admin;
    let name = "";
    let rows: AuditRow[] = [];
    let more = true;
    const list = grid<AuditRow>(scope, {
        label: words.audit,
        height: "64vh",
        columns: [
            { name: "time", title: words.time, width: 180, cell: (row) => moment(row.at_ms) },
            { name: "user", title: words.who, width: 150, cell: (row) => row.name ?? "–" },
            { name: "action", title: words.action, width: 220, cell: (row) => row.action },
            { name: "object", title: words.object, width: 320, cell: (row) => row.object ?? "" },
            { name: "address", title: words.address, width: 170, cell: (row) => row.address ?? "" },
        ],
        // The server gives what came before a row: older ones are asked for as one scrolls to them.
        fetch: async (offset, limit, signal) => {
            if (offset === 0) {
                rows = [];
                more = true;
            }
            while (more && rows.length < offset + limit) {
                const last = rows[rows.length - 1];
                const answer = await api.get<{ audit: AuditRow[] }>("audit", { limit, name, before: last?.id }, signal);
                rows.push(...answer.audit);
                more = answer.audit.length === limit;
            }
            return { rows: rows.slice(offset, offset + limit), total: rows.length + (more ? 1 : 0) };
        },
    });
    const box = input({
        type: "search",
        class: "search",
        placeholder: words.search_audit,
        "aria-label": words.search_audit,
        on: {
            change: () => {
                name = box.value.trim();
                list.reload();
            },
        },
    });
    return h("section", { class: "card flush" }, h("header", null, h("h2", null, words.audit), box), list.element);
}

function status_tab(scope: Scope): Child {
    const words = t().admin;
    return later(scope, async (signal) => {
        const status = await api.get<Status>("status", undefined, signal);
        const used = status.disk.whole_bytes ? 1 - status.disk.free_bytes / status.disk.whole_bytes : 0;
        return [
            h(
                "div",
                { class: "facts" },
                fact(words.waiting, status.runs.queued ?? 0),
                fact(words.running, `${status.runs.running ?? 0} / ${status.jobs}`),
                fact(words.free, bytes(status.disk.free_bytes), used > 0.95 ? "bad" : used > 0.85 ? "warn" : ""),
                fact(words.trash, bytes(status.disk.trash_bytes)),
                fact(words.version, status.version),
            ),
            typeof status.blocked === "string" && status.blocked ? note("warn", status.blocked) : null,
            status.disk.whole_bytes ? bar(used, words.disk_used) : null,
        ];
    });
}

export function admin_view(scope: Scope, place: Place): Child {
    const words = t().admin;
    return [
        view_head(words.title, words.lead),
        tabs(
            scope,
            words.title,
            [
                { name: "users", text: words.users, make: users_tab },
                { name: "audit", text: words.audit, make: audit_tab },
                { name: "status", text: words.server, make: status_tab },
            ],
            place.query.get("tab") ?? "users",
            (tab) => keep_query({ tab }),
        ),
    ];
}
