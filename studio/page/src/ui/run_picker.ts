// SPDX-License-Identifier: Apache-2.0
// Which runs a question is about: chips of those chosen, and a sheet to choose among those one may see.
import { api } from "../core/api";
import { debounce, h, type Scope } from "../core/dom";
import { moment } from "../core/format";
import { settings_of, type Run, type Runs } from "../core/types";
import { t } from "../i18n/text";
import { button, input, sheet } from "./parts";

export interface RunPicker {
    element: HTMLElement;
    ids: () => number[];
}

export async function run_picker(
    scope: Scope,
    first: number[],
    change: (ids: number[]) => void,
    most = 64,
): Promise<RunPicker> {
    const words = t().picker;
    const known = new Map<number, Run>();
    let chosen = first.slice(0, most);
    await Promise.all(
        chosen.map((id) =>
            api.get<Run>(`runs/${id}`, undefined, scope.signal).then(
                (run) => void known.set(id, run),
                () => undefined,
            ),
        ),
    );
    chosen = chosen.filter((id) => known.has(id));
    if (chosen.length === 0) {
        const latest = await api.get<Runs>("runs", { state: "done", limit: 1 }, scope.signal);
        for (const run of latest.runs) {
            known.set(run.id, run);
            chosen.push(run.id);
        }
    }
    const place = h("div", { class: "row tight picker" });
    const set = (ids: number[]) => {
        chosen = ids.slice(0, most);
        draw();
        change(chosen);
    };
    const choose = async () => {
        const picked = new Set(chosen);
        const list = h("ul", { class: "pick-list", tabindex: 0 });
        const box = input({ type: "search", placeholder: t().runs.search, "aria-label": t().runs.search });
        const load = () =>
            void api.get<Runs>("runs", { search: box.value, limit: 100 }, scope.signal).then((answer) => {
                list.replaceChildren(
                    ...answer.runs
                        .filter((run) => run.has_result)
                        .map((run) => {
                            known.set(run.id, run);
                            const check = h("input", {
                                type: most === 1 ? "radio" : "checkbox",
                                name: "run",
                                checked: picked.has(run.id),
                                on: {
                                    change: () => {
                                        most === 1 && picked.clear();
                                        check.checked ? picked.add(run.id) : picked.delete(run.id);
                                    },
                                },
                            });
                            return h(
                                "li",
                                null,
                                h(
                                    "label",
                                    { class: "check" },
                                    check,
                                    h(
                                        "span",
                                        { class: "grow" },
                                        run.name,
                                        h(
                                            "span",
                                            { class: "muted small" },
                                            ` #${run.id} · ${settings_of(run).join(" ")} · ${moment(run.created_ms)}`,
                                        ),
                                    ),
                                ),
                            );
                        }),
                );
            });
        box.addEventListener("input", debounce(scope, 200, load));
        load();
        if (await sheet(words.title, [box, list], { text: words.use, done: () => undefined })) {
            set([...picked].sort((one, other) => one - other));
        }
    };
    const draw = () => {
        const chips = chosen.slice(0, 8).map((id) =>
            h(
                "span",
                { class: "chip" },
                h(
                    "a",
                    { href: `#/run/${id}` },
                    known.get(id)?.name ?? `#${id}`,
                    h("span", { class: "muted" }, ` #${id}`),
                ),
                most > 1
                    ? h(
                          "button",
                          {
                              type: "button",
                              "aria-label": words.leave_out(known.get(id)?.name ?? `#${id}`),
                              on: { click: () => set(chosen.filter((one) => one !== id)) },
                          },
                          "×",
                      )
                    : null,
            ),
        );
        place.replaceChildren(
            ...chips,
            chosen.length > 8 ? h("span", { class: "muted small" }, words.more(chosen.length - 8)) : "",
            button(chosen.length === 0 ? words.choose : words.change, () => void choose(), {
                small: true,
                icon: "plus",
            }),
        );
    };
    draw();
    return { element: place, ids: () => chosen };
}
