// SPDX-License-Identifier: Apache-2.0
// A scenario as a form: each setting with its help and range. A change edits the text of the scenario in place.
import { h, type Child } from "../core/dom";
import type { Parameter } from "../core/types";
import { t, told } from "../i18n/text";
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

function suggestions(parameters: Parameters, prefix: string, existing: Set<string>): Parameter[] {
    const from = prefix ? prefix.length + 1 : 0;
    const inside = parameters.all.filter((one) => prefix === "" || one.path.startsWith(`${prefix}.`));
    return inside.filter((one) => !existing.has(one.path.slice(from))).slice(0, 400);
}

class Form {
    private readonly tree: Value;
    private readonly faults: Map<number, string>; // by line

    constructor(private readonly options: FormOptions) {
        this.tree = outline(options.text);
        this.faults = new Map(options.faults.map((fault) => [fault.line ?? 0, told(fault.message)]));
    }

    element(): HTMLElement {
        return h("div.form", this.section([], this.tree, t().editor.scenario, 0));
    }

    private apply(change: Change | null): void {
        if (change) {
            this.options.apply(change);
        }
    }

    private remove(path: Path): void {
        this.apply(remove_value(this.options.text, path));
    }

    private control(path: Path, shown: string, parameter: Parameter | undefined): HTMLElement {
        const change = (raw: string) => {
            if (raw.trim() !== shown) {
                this.apply(set_value(this.options.text, path, raw.trim()));
            }
        };
        const choices = parameter?.choices ?? (parameter?.type === "bool" ? ["true", "false"] : null);
        if (choices) {
            const all = choices.includes(shown) ? choices : [shown, ...choices];
            return select(
                all.map((one) => [one, one]),
                shown,
                change,
            );
        }
        const box = input({
            value: shown,
            class: "mono",
            placeholder: parameter?.default,
            on: { change: () => change(box.value) },
        });
        return box;
    }

    // Makes the field of one setting, whose value begins at `from` in the text.
    private setting(path: Path, shown: string, parameter: Parameter | undefined, from: number): HTMLElement {
        const words = t().editor;
        const name = String(path[path.length - 1]);
        const control = this.control(path, shown, parameter);
        control.dataset.path = path.join(".");
        const range = parameter && h("span.range", range_text(parameter, words.range));
        const made = field(name, control, parameter ? [told(parameter.help), " ", range] : null);
        made.classList.add("setting");
        const fault = this.faults.get(line_of(this.options.text, from));
        if (fault) {
            control.setAttribute("aria-invalid", "true");
            made.append(h("span.fault", fault));
        }
        const label = words.remove_setting(name);
        const remove = { kind: "quiet", small: true, icon: "close", label, title: label } as const;
        made.append(button("", () => this.remove(path), remove));
        return made;
    }

    // Makes the field that adds a setting to a map, with its default.
    private adder(path: Path, holder: Value): Child {
        const words = t().editor;
        const { parameters, text } = this.options;
        const prefix = attribute_path(path);
        const known = suggestions(parameters, prefix, new Set(holder.entries.map((entry) => entry.key)));
        if (known.length === 0 || holder.kind !== "map") {
            return null;
        }
        const inner = (one: Parameter) => one.path.slice(prefix ? prefix.length + 1 : 0);
        const all = known.map((one) => h("option", { value: inner(one) }, told(one.help).slice(0, 80)));
        const list = h("datalist", { id: `add-${path.join("-") || "top"}` }, all);
        const add = () => {
            const name = box.value.trim();
            const parameter = parameters.get(prefix ? `${prefix}.${name}` : name);
            const whole = [...path, ...name.split(".")];
            if (!parameter) {
                box.setAttribute("aria-invalid", "true");
            } else if (!find(this.tree, whole)) {
                this.apply(set_value(text, whole, parameter.default || (parameter.choices?.[0] ?? '""')));
            }
        };
        const box = input({
            class: "mono",
            placeholder: words.add_setting,
            "aria-label": words.add_setting_to(prefix || words.scenario),
            list: list.id,
            on: { change: add },
        });
        return h("div.adder", box, list);
    }

    private head(path: Path, title: string, level: number): HTMLElement {
        const words = t().editor;
        const help = level === 1 ? words.sections[attribute_path(path)] : undefined;
        const label = words.remove_setting(title);
        const in_list = typeof path[path.length - 1] === "number";
        const remove = { kind: "quiet", small: true, icon: "trash", label } as const;
        const heading = h(level <= 1 ? "h2" : "h3", { class: "mono" }, title);
        return h(
            "header.row",
            h("div.grow", heading, help ? h("p.muted.small", help) : null),
            in_list ? button("", () => this.remove(path), remove) : null,
        );
    }

    private section(path: Path, node: Value, title: string, level: number): HTMLElement {
        const { text, parameters } = this.options;
        const simple: Child[] = [];
        const deeper: Child[] = [];
        const add = (inner: Path, name: string, value: Value) => {
            const parameter = parameters.get(attribute_path(inner));
            const is_simple =
                value.kind === "scalar" || value.kind === "empty" || (value.kind === "list" && value.flow);
            if (parameter || is_simple) {
                const shown = value.kind === "scalar" ? value.text : text.slice(value.from, value.to);
                simple.push(this.setting(inner, shown, parameter, value.from));
            } else {
                deeper.push(this.section(inner, value, name, level + 1));
            }
        };
        for (const { key, value } of node.entries) {
            add([...path, key], key, value);
        }
        for (const [index, item] of node.items.entries()) {
            add([...path, index], `${title} ${index + 1}`, item);
        }
        return h(
            "section",
            { class: `form-section level-${Math.min(level, 3)}` },
            level > 0 ? this.head(path, title, level) : null,
            simple.length > 0 && h("div.settings", simple),
            deeper,
            this.adder(path, node),
        );
    }
}

export function scenario_form(options: FormOptions): HTMLElement {
    return new Form(options).element();
}
