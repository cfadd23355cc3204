// SPDX-License-Identifier: Apache-2.0
// Saved work of a kind (queries, analyses): a menu to open one, and a way to keep the present one.
import { api } from "../core/api";
import { h, type Scope } from "../core/dom";
import { session } from "../core/session";
import type { Documents, SavedDocument } from "../core/types";
import { t } from "../i18n/text";
import { button, checkbox, confirm_sheet, field, input, sheet, toast } from "./parts";

export function saved_menu<Body>(
    _scope: Scope,
    kind: string,
    present: () => Body,
    open: (document: SavedDocument<Body>) => void,
): HTMLElement {
    const words = t().saved;
    const choose = async () => {
        const items = (await api.get<Documents<Body>>("documents", { kind })).documents;
        const list = h("ul", { class: "pick-list", tabindex: 0 });
        const close = () => list.closest("dialog")?.close();
        for (const one of items) {
            const row: HTMLLIElement = h(
                "li",
                { class: "row" },
                h(
                    "button",
                    {
                        type: "button",
                        class: "button quiet grow left",
                        on: {
                            click: () =>
                                void api.get<SavedDocument<Body>>(`documents/${one.id}`).then((whole) => {
                                    close();
                                    open(whole);
                                }),
                        },
                    },
                    one.name,
                    one.shared ? h("span", { class: "muted small" }, t().common.shared) : null,
                ),
                button(
                    "",
                    () =>
                        confirm_sheet(words.remove, words.remove_text(one.name), words.remove, async () => {
                            await api.remove(`documents/${one.id}`);
                            row.hidden = true;
                            toast(t().runs.removed(one.name), {
                                action: [
                                    t().runs.undo,
                                    () =>
                                        api.post(`documents/${one.id}/restore`).then(() => {
                                            row.hidden = false;
                                        }),
                                ],
                            });
                        }),
                    { small: true, kind: "quiet", icon: "trash", label: `${words.remove}: ${one.name}` },
                ),
            );
            list.append(row);
        }
        await sheet(words.open, items.length > 0 ? list : h("p", { class: "muted" }, words.none), {
            text: t().common.close,
        });
    };
    const keep = async () => {
        const name = input({ required: true, name: "saved-name" });
        let shared = false;
        await sheet(
            words.save,
            [
                field(words.name, name),
                checkbox(t().common.share_with_all, false, (on) => {
                    shared = on;
                }),
            ],
            {
                text: words.save,
                done: async () => {
                    await api.post("documents", {
                        kind,
                        name: name.value.trim() || words.unnamed,
                        shared,
                        body: present(),
                    });
                    toast(words.kept);
                },
            },
        );
    };
    return h(
        "div",
        { class: "row tight" },
        button(words.open, () => choose()),
        session.may_run ? button(words.save, () => void keep(), { icon: "save" }) : null,
    );
}
