// SPDX-License-Identifier: Apache-2.0
// Saved work of one kind, such as queries or analyses: a menu to open it, and a way to keep the present work.
import { api } from "../core/api";
import { h } from "../core/dom";
import { session } from "../core/session";
import type { Documents, SavedDocument } from "../core/types";
import { t } from "../i18n/text";
import { button, checkbox, field, input, is_checked, remove_sheet, sheet, toast } from "./parts";

function document_row(one: SavedDocument<unknown>, open: () => Promise<void>): HTMLElement {
    const words = t().saved;
    const remove = () =>
        remove_sheet(words, one.name, `documents/${one.id}`, (gone) => {
            row.hidden = gone;
        });
    const label = `${words.remove}: ${one.name}`;
    const row: HTMLElement = h(
        "li.row",
        h(
            "button.button.quiet.grow.left",
            { type: "button", on: { click: () => void open() } },
            one.name,
            one.shared ? h("span.muted.small", t().common.shared) : null,
        ),
        button("", remove, { small: true, kind: "quiet", icon: "trash", label }),
    );
    return row;
}

async function choose<Body>(kind: string, open: (document: SavedDocument<Body>) => void): Promise<void> {
    const words = t().saved;
    const { documents } = await api.get<Documents<Body>>("documents", { kind });
    const open_one = async (id: number) => {
        const whole = await api.get<SavedDocument<Body>>(`documents/${id}`);
        list.closest("dialog")?.close();
        open(whole);
    };
    const rows = documents.map((one) => document_row(one, () => open_one(one.id)));
    const list = h("ul.pick-list", { tabindex: 0 }, rows);
    const content = rows.length > 0 ? list : h("p.muted", words.none);
    await sheet(words.open, content, { text: t().common.close });
}

async function keep(kind: string, body: unknown): Promise<void> {
    const words = t().saved;
    const name = input({ required: true, name: "saved-name" });
    const share = checkbox(t().common.share_with_all);
    const done = async () => {
        const shared = is_checked(share);
        await api.post("documents", { kind, name: name.value.trim() || words.unnamed, shared, body });
        toast(words.kept);
    };
    const fields = [field(words.name, name), share];
    await sheet(words.save, fields, { text: words.save, done });
}

// Makes the menu; `present` gives the work as it is now, `open` takes the saved one.
export function saved_menu<Body>(
    kind: string,
    present: () => Body,
    open: (document: SavedDocument<Body>) => void,
): HTMLElement {
    const words = t().saved;
    return h(
        "div.row.tight",
        button(words.open, () => choose(kind, open)),
        session.may_run ? button(words.save, () => void keep(kind, present()), { icon: "save" }) : null,
    );
}
