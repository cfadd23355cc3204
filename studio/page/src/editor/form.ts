// SPDX-License-Identifier: Apache-2.0
// A scenario as a form: every setting of the file with its help and range. A change edits the text in place.
import { h, type Child } from "../core/dom";
import type { Parameter } from "../core/types";
import { t } from "../i18n/text";
import { button, field, input, select } from "../ui/parts";
import { remove_value, set_value, type Change } from "./change";
import { find, outline, type Path, type Value } from "./outline";
import { range_text, type Parameters } from "./parameters";
import { attribute_path } from "./place";

interface FormOptions {
    text: string;
    parameters: Parameters;
    apply: (change: Change) => void;
    faults: { line?: number; message: string }[];
}

function line_of(text: string, at: number): number {
    return text.slice(0, at).split("\n").length;
}

export function scenario_form(options: FormOptions): HTMLElement {
    const { text, parameters } = options;
    const words = t().editor;
    const tree = outline(text);
    const fault_lines = new Map(options.faults.map((fault) => [fault.line ?? 0, fault.message]));
    const apply = (change: Change | null) => change && options.apply(change);

    const widget = (path: Path, shown: string, parameter: Parameter | undefined, from: number): HTMLElement => {
        const change = (raw: string) => raw.trim() !== shown && apply(set_value(text, path, raw.trim()));
        const label = String(path[path.length - 1]);
        let control: HTMLElement;
        if (parameter?.choices || parameter?.type === "bool") {
            const choices = parameter.choices ?? ["true", "false"];
            const all = choices.includes(shown) ? choices : [shown, ...choices];
            control = select(
                all.map((one) => [one, one]),
                shown,
                change,
            );
        } else {
            const box = input({
                value: shown,
                class: "mono",
                placeholder: parameter?.default,
                on: { change: () => change(box.value) },
            });
            control = box;
        }
        control.dataset.path = path.join(".");
        const fault = fault_lines.get(line_of(text, from));
        if (fault) {
            control.setAttribute("aria-invalid", "true");
        }
        const hint: Child = parameter
            ? [parameter.help, " ", h("span", { class: "range" }, range_text(parameter, words.range))]
            : null;
        const made = field(label, control, hint);
        made.classList.add("setting");
        if (fault) {
            made.append(h("span", { class: "fault" }, fault));
        }
        made.append(
            button("", () => apply(remove_value(text, path)), {
                kind: "quiet",
                small: true,
                icon: "close",
                label: words.remove_setting(label),
                title: words.remove_setting(label),
            }),
        );
        return made;
    };

    const adder = (path: Path, holder: Value): Child => {
        const prefix = attribute_path(path);
        const existing = new Set(holder.entries.map((entry) => entry.key));
        const names = parameters.all.filter(
            (one) =>
                (prefix === "" || one.path.startsWith(`${prefix}.`)) &&
                !existing.has(
                    one.path.slice(prefix ? prefix.length + 1 : 0).split(".")[0] ===
                        one.path.slice(prefix ? prefix.length + 1 : 0)
                        ? one.path.slice(prefix ? prefix.length + 1 : 0)
                        : "\0",
                ),
        );
        if (names.length === 0 || holder.kind !== "map") {
            return null;
        }
        const list = h(
            "datalist",
            { id: `add-${path.join("-") || "top"}` },
            names
                .slice(0, 400)
                .map((one) =>
                    h("option", { value: one.path.slice(prefix ? prefix.length + 1 : 0) }, one.help.slice(0, 80)),
                ),
        );
        const box = input({
            class: "mono",
            placeholder: words.add_setting,
            "aria-label": words.add_setting_to(prefix || words.scenario),
            list: list.id,
        });
        const add = () => {
            const name = box.value.trim();
            const parameter = parameters.get(prefix ? `${prefix}.${name}` : name);
            if (parameter) {
                const known = find(tree, [...path, ...name.split(".")]);
                if (!known) {
                    apply(
                        set_value(
                            text,
                            [...path, ...name.split(".")],
                            parameter.default === "" ? (parameter.choices?.[0] ?? '""') : parameter.default,
                        ),
                    );
                }
            } else {
                box.setAttribute("aria-invalid", "true");
            }
        };
        box.addEventListener("change", add);
        return h("div", { class: "adder" }, box, list);
    };

    const section = (path: Path, node: Value, title: string, level: number): HTMLElement => {
        const simple: Child[] = [];
        const deeper: Child[] = [];
        const walk = (inner_path: Path, name: string, value: Value) => {
            const parameter = parameters.get(attribute_path(inner_path));
            if (
                parameter ||
                value.kind === "scalar" ||
                value.kind === "empty" ||
                (value.kind === "list" && value.flow)
            ) {
                simple.push(
                    widget(
                        inner_path,
                        value.kind === "scalar" ? value.text : text.slice(value.from, value.to),
                        parameter,
                        value.from,
                    ),
                );
            } else {
                deeper.push(section(inner_path, value, name, level + 1));
            }
        };
        for (const entry of node.entries) {
            walk([...path, entry.key], entry.key, entry.value);
        }
        for (const [index, item] of node.items.entries()) {
            walk([...path, index], `${title} ${index + 1}`, item);
        }
        const help = words.sections[attribute_path(path) as keyof typeof words.sections];
        const heading = h(level <= 1 ? "h2" : "h3", { class: "mono" }, title);
        const last = path[path.length - 1];
        return h(
            "section",
            { class: `form-section level-${Math.min(level, 3)}` },
            level > 0
                ? h(
                      "header",
                      { class: "row" },
                      h(
                          "div",
                          { class: "grow" },
                          heading,
                          help && level === 1 ? h("p", { class: "muted small" }, help) : null,
                      ),
                      typeof last === "number"
                          ? button("", () => apply(remove_value(text, path)), {
                                kind: "quiet",
                                small: true,
                                icon: "trash",
                                label: words.remove_setting(title),
                            })
                          : null,
                  )
                : null,
            simple.length > 0 && h("div", { class: "settings" }, simple),
            deeper,
            adder(path, node),
        );
    };
    return h("div", { class: "form" }, section([], tree, words.scenario, 0));
}
