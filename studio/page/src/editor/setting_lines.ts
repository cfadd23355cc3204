// SPDX-License-Identifier: Apache-2.0
// Lines that a user adds: the name of an attribute beside its value or values.
import { fill, h, new_id } from "../core/dom";
import { t, told } from "../i18n/text";
import { button, input } from "../ui/parts";
import { parameters } from "./parameters";

interface Line {
    path: HTMLInputElement;
    value: HTMLInputElement;
}

interface Options {
    add: string;
    path: [label: string, example: string];
    value: [label: string, example: string];
    hint?: string; // below the lines
    own?: () => string[]; // further names that are offered
    changed?: () => void;
}

export class SettingLines {
    readonly element: HTMLElement;
    private readonly lines: Line[] = [];
    private readonly place = h("div.stack");
    private readonly names = h("datalist", { id: new_id("paths") });
    private readonly hint: HTMLElement;

    constructor(private readonly options: Options) {
        this.hint = h("span.muted.small", { hidden: true }, options.hint);
        const adder = button(options.add, () => this.add(), { small: true, icon: "plus" });
        this.element = h("div.stack", this.names, this.place, h("div.row", adder, this.hint));
    }

    // Returns the names and values of all lines; some may be empty.
    entries(): [path: string, value: string][] {
        return this.lines.map(({ path, value }) => [path.value.trim(), value.value.trim()]);
    }

    private draw(): void {
        const rows = this.lines.map((line) => this.row(line));
        fill(this.place, rows);
        this.hint.hidden = this.lines.length === 0;
        this.options.changed?.();
    }

    private row(line: Line): HTMLElement {
        const remove = () => {
            this.lines.splice(this.lines.indexOf(line), 1);
            this.draw();
        };
        const label = t().editor.remove_setting(line.path.value || this.options.path[0]);
        return h("div.grid-line", line.path, line.value, button("", remove, { kind: "quiet", icon: "close", label }));
    }

    private async add(): Promise<void> {
        const { path, value, own, changed } = this.options;
        const on = { input: () => changed?.() };
        const made = ([label, placeholder]: [string, string], list?: string) =>
            input({ class: "mono", placeholder, "aria-label": label, list, on });
        const line = { path: made(path, this.names.id), value: made(value) };
        this.lines.push(line);
        this.draw();
        line.path.focus();
        const { all } = await parameters();
        const varied = all.filter((one) => !/^(name|description|folder)$/.test(one.path));
        fill(
            this.names,
            own?.().map((name) => h("option", { value: name }, t().editor.own_parameter)),
            varied.map((one) =>
                h("option", { value: one.path.replace(/^traffic\./, "traffic[0].") }, told(one.help).slice(0, 70)),
            ),
        );
    }
}
