// SPDX-License-Identifier: Apache-2.0
// The settings of a study: the values of its own parameters, and attributes of its scenarios.
import { h } from "../../core/dom";
import type { StudyParameter } from "../../core/types";
import { SettingLines } from "../../editor/setting_lines";
import { study_name, t } from "../../i18n/text";
import { field, input } from "../../ui/parts";

export interface StudyForm {
    element: HTMLElement;
    set: () => string[]; // NAME=VALUE, for an order
    show_defaults: (quick: boolean) => void;
}

export function study_form(known: StudyParameter[]): StudyForm {
    const words = t().study;
    const fields = known.map((one) => ({ one, box: input({ class: "mono", spellcheck: "false" }) }));
    const attributes = new SettingLines({
        add: words.add,
        path: [words.attribute, "nic.mtu"],
        value: [words.value, "1024"],
    });
    const element = h(
        "div.stack",
        fields.length > 0 ? h("p.muted.small", words.parameters_hint) : null,
        h(
            "div.study-fields",
            fields.map(({ one, box }) => field(study_name("parameters", one.name) ?? one.name, box)),
        ),
        h("div.label-text", words.attributes),
        attributes.element,
    );
    return {
        element,
        set: () => [
            ...fields.filter(({ box }) => box.value.trim()).map(({ one, box }) => `${one.name}=${box.value.trim()}`),
            ...attributes.entries().flatMap(([path, value]) => (path ? [`${path}=${value}`] : [])),
        ],
        show_defaults: (quick) => {
            for (const { one, box } of fields) {
                box.placeholder = quick ? one.quick : one.all;
            }
        },
    };
}
