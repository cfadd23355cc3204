// SPDX-License-Identifier: Apache-2.0
// Administration: who may log in, what users did, and the state of the server.
import { api } from "../core/api";
import { h, type Child, type Scope } from "../core/dom";
import { bytes, moment } from "../core/format";
import { keep_query, type Place } from "../core/router";
import { session } from "../core/session";
import type { AuditRow, Status, UserRow } from "../core/types";
import { t, told } from "../i18n/text";
import { grid } from "../ui/grid";
import { badge, bar, button, card, confirm_sheet, fact, field, flush_card, input, later, note } from "../ui/parts";
import { search_box, select, sheet, show_secret, tabs, tell_problem, view_head } from "../ui/parts";
import { plain_table } from "../ui/table";

const roles = ["administrator", "user", "viewer"] as const;

function show_link(name: string, once: string): Promise<boolean> {
    const title = t().admin.link_for(name);
    return show_secret(title, once, title, note("", t().admin.link_text));
}

function user_cells(row: UserRow, changed: () => void): Child[] {
    const words = t().admin;
    const me = row.id === session.user?.id;
    const change = async (body: object) => {
        const answer = await api.patch<{ link?: string }>(`users/${row.id}`, body);
        changed();
        return answer;
    };
    const set_role = (role: string) =>
        void change({ role }).catch((error: unknown) => {
            tell_problem(error);
            changed();
        });
    const reset = () =>
        confirm_sheet(words.reset, words.reset_text, words.reset, async () => {
            const { link } = await change({ reset: true });
            if (link) {
                void show_link(row.name, link);
            }
        });
    const named = roles.map((role) => [role, t().roles[role]] as const);
    const role = me
        ? t().roles[row.role]
        : select(named, row.role, set_role, { "aria-label": words.role_of(row.name) });
    const active = row.has_password ? badge(words.active, "good") : badge(words.invited, "accent");
    const able = row.disabled ? words.enable : words.disable;
    const actions = h(
        "div.row.tight.actions-right",
        button(words.reset, reset, { small: true, title: words.reset_text }),
        button(able, () => change({ disabled: !row.disabled }), { small: true }),
    );
    return [
        row.name,
        role,
        row.disabled ? badge(words.disabled, "warn") : active,
        moment(row.seen_ms),
        h("td.right", me ? null : actions),
    ];
}

async function add_user(added: () => void): Promise<void> {
    const words = t().admin;
    const name = input({ name: "user-name", required: true, autocapitalize: "none" });
    const named = roles.map((one) => [one, `${t().roles[one]}: ${t().role_texts[one]}`] as const);
    const role = select(named, "user", () => undefined);
    const done = async () => {
        const answer = await api.post<{ link?: string }>("users", { name: name.value.trim(), role: role.value });
        added();
        if (answer.link) {
            void show_link(name.value.trim(), answer.link);
        }
    };
    const fields = [field(words.name, name), field(words.role, role), h("p.muted.small", words.add_text)];
    await sheet(words.add, fields, { text: words.add, done });
}

function users_tab(scope: Scope): Child {
    const words = t().admin;
    const place = h("div");
    const draw = () => {
        const load = async (signal: AbortSignal) => {
            const { users } = await api.get<{ users: UserRow[] }>("users", undefined, signal);
            const head = [words.name, words.role, words.state, words.last_login, ""];
            const rows = users.map((row) => user_cells(row, draw));
            return plain_table(head, rows);
        };
        later(scope, load, place);
    };
    draw();
    const add = button(words.add, () => void add_user(draw), { icon: "plus", kind: "main-action" });
    return card(words.users, add, place);
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
        // The server lists rows before a given one, so older rows are fetched while one scrolls down.
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
    const search = () => {
        name = box.value.trim();
        list.reload();
    };
    const box = search_box(words.search_audit, () => undefined, { on: { change: search } });
    return flush_card(words.audit, box, list.element);
}

function status_tab(scope: Scope): Child {
    const words = t().admin;
    return later(scope, async (signal) => {
        const status = await api.get<Status>("status", undefined, signal);
        const used = status.disk.whole_bytes ? 1 - status.disk.free_bytes / status.disk.whole_bytes : 0;
        return [
            h(
                "div.facts",
                fact(words.waiting, status.runs.queued ?? 0),
                fact(words.running, `${status.runs.running ?? 0} / ${status.jobs}`),
                fact(words.free, bytes(status.disk.free_bytes), used > 0.95 ? "bad" : used > 0.85 ? "warn" : ""),
                fact(words.trash, bytes(status.disk.trash_bytes)),
                fact(words.version, status.version),
            ),
            typeof status.blocked === "string" && status.blocked ? note("warn", told(status.blocked)) : null,
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
