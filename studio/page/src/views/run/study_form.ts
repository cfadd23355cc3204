// SPDX-License-Identifier: Apache-2.0
// The settings of a study: the values of its own parameters, and attributes of its scenarios.
import { fill, h } from "../../core/dom";
import type { StudyParameter } from "../../core/types";
import { parameters } from "../../editor/parameters";
import { t, told } from "../../i18n/text";
import { button, field, input } from "../../ui/parts";

export interface StudyForm {
    element: HTMLElement;
    set: () => string[]; // NAME=VALUE, for an order
    show_defaults: (quick: boolean) => void;
}

// Lets the user add lines NAME = VALUE for attributes.
function attribute_lines(): { element: HTMLElement; set: () => string[] } {
    const words = t().study;
    const lines: { path: HTMLInputElement; value: HTMLInputElement }[] = [];
    const place = h("div.stack");
    const names = h("datalist", { id: "study-paths" });
    const draw = () =>
        fill(
            place,
            lines.map((line) =>
                h(
                    "div.grid-line",
                    line.path,
                    line.value,
                    button(
                        "",
                        () => {
                            lines.splice(lines.indexOf(line), 1);
                            draw();
                        },
                        { kind: "quiet", icon: "close", label: t().editor.remove_setting(line.path.value) },
                    ),
                ),
            ),
        );
    const add = async () => {
        const path = input({
            class: "mono",
            list: "study-paths",
            placeholder: "nic.mtu",
            "aria-label": words.attribute,
        });
        const value = input({ class: "mono", placeholder: "1024", "aria-label": words.value });
        lines.push({ path, value });
        draw();
        path.focus();
        const known = await parameters();
        fill(
            names,
            known.all.map((one) =>
                h("option", { value: one.path.replace(/^traffic\./, "traffic[0].") }, told(one.help).slice(0, 70)),
            ),
        );
    };
    return {
        element: h("div.stack", names, place, h("div", button(words.add, add, { small: true, icon: "plus" }))),
        set: () =>
            lines
                .map(({ path, value }) => [path.value.trim(), value.value.trim()])
                .filter(([path]) => path)
                .map(([path, value]) => `${path}=${value}`),
    };
}

export function study_form(known: StudyParameter[]): StudyForm {
    const words = t().study;
    const fields = known.map((one) => ({ one, box: input({ class: "mono", spellcheck: "false" }) }));
    const attributes = attribute_lines();
    const element = h(
        "div.stack",
        fields.length > 0 ? h("p.muted.small", words.parameters_hint) : null,
        h(
            "div.study-fields",
            fields.map(({ one, box }) => field(t().names.parameters[one.name] ?? one.name, box)),
        ),
        h("div.label-text", words.attributes),
        attributes.element,
    );
    return {
        element,
        set: () => [
            ...fields.filter(({ box }) => box.value.trim()).map(({ one, box }) => `${one.name}=${box.value.trim()}`),
            ...attributes.set(),
        ],
        show_defaults: (quick) => {
            for (const { one, box } of fields) {
                box.placeholder = quick ? one.quick : one.all;
            }
        },
    };
}
