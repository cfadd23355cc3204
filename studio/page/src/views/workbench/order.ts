// SPDX-License-Identifier: Apache-2.0
// The ordered runs: a scenario with each of its seeds and each combination of a grid's values, and their cost.
import { fill, h, type Child } from "../../core/dom";
import { bytes, count, nanoseconds, seconds } from "../../core/format";
import { session } from "../../core/session";
import type { CheckAnswer, Parameter } from "../../core/types";
import { find, outline } from "../../editor/outline";
import type { Parameters } from "../../editor/parameters";
import { t, told } from "../../i18n/text";
import { button, checkbox, field, input, note } from "../../ui/parts";
import { hops_recorded, hops_setting } from "../run/packets";
import { split_seeds, split_values } from "./values";

const small_hops = 5000; // a run with at most so many frames on links records them

interface GridRow {
    path: string;
    values: string;
}

export interface OrderOptions {
    parameters: Parameters;
    text: () => string;
    run: () => Promise<void>;
}

export interface OrderBody {
    seeds: number[] | null;
    grid: Record<string, string[]>;
    shared: boolean;
    set: string[];
}

type Estimate = NonNullable<CheckAnswer["estimate"]>;
type Limits = NonNullable<CheckAnswer["limits"]>;

function limits_exceeded(total: number, estimate: Partial<Estimate>, limits: Partial<Limits>): string[] {
    const words = t().editor;
    const over = (value: number | null | undefined, limit: number | null | undefined): boolean =>
        !!limit && !!value && value > limit;
    return [
        over(total, limits.runs) && words.over_runs(total, limits.runs!),
        over(estimate.cpu_s, limits.wall_s) && words.over_time(seconds(estimate.cpu_s), seconds(limits.wall_s)),
        over(estimate.memory_bytes, limits.memory_bytes) &&
            words.over_memory(bytes(estimate.memory_bytes), bytes(limits.memory_bytes)),
        over(estimate.result_bytes, limits.result_bytes) &&
            words.over_disk(bytes(estimate.result_bytes), bytes(limits.result_bytes)),
    ].filter((text) => text !== false);
}

function estimate_list(total: number, estimate: Estimate, limits: Partial<Limits>): HTMLElement {
    const words = t().editor;
    const part = (name: string, value: string, limit: string | null = null) => [
        h("dt", name),
        h("dd.number", value, limit ? h("span.muted", ` / ${limit}`) : null),
    ];
    const times = total > 1 ? ` × ${total}` : "";
    const until = estimate.until_ns ? nanoseconds(estimate.until_ns) : "";
    const { transfers, packet_hops, cpu_s, cpu_s_min, cpu_s_max, memory_bytes, result_bytes } = estimate;
    return h(
        "dl.pairs",
        transfers ? part(words.traffic, words.transfers(count(transfers), until)) : null,
        packet_hops ? part(words.work, words.hops(count(packet_hops))) : null,
        typeof cpu_s === "number"
            ? part(
                  words.time,
                  `≈ ${seconds(cpu_s)} (${seconds(cpu_s_min)} – ${seconds(cpu_s_max)})${times}`,
                  limits.wall_s ? seconds(limits.wall_s) : null,
              )
            : null,
        memory_bytes
            ? part(words.memory, `≈ ${bytes(memory_bytes)}`, limits.memory_bytes ? bytes(limits.memory_bytes) : null)
            : null,
        result_bytes
            ? part(
                  words.disk,
                  `≈ ${bytes(result_bytes)}${times}`,
                  limits.result_bytes ? bytes(limits.result_bytes) : null,
              )
            : null,
    );
}

export class Order {
    readonly name: HTMLInputElement;
    private readonly rows: GridRow[] = [];
    private readonly seeds: HTMLInputElement; // empty: the scenario's own
    private shared = false;
    private record: boolean | null = null; // null: the user has not chosen
    private readonly record_box = checkbox(t().packets.record_order, false, (on) => {
        this.record = on;
    });
    private checked: CheckAnswer | null = null;
    private readonly plan = h("div.stack");
    private readonly grid_place = h("div.stack");
    private readonly path_list = h("datalist", { id: "grid-paths" });
    private readonly run_button: HTMLButtonElement;

    constructor(
        private readonly options: OrderOptions,
        name: string,
    ) {
        const words = t().editor;
        this.name = input({ placeholder: name, "aria-label": words.run_name });
        this.seeds = input({ class: "mono", "aria-label": words.seeds, on: { input: () => this.draw_plan() } });
        this.run_button = button(words.run, () => options.run(), { kind: "main-action" });
        this.draw_grid();
        this.draw_plan();
    }

    // Takes the checker's answer, whose estimate and limits belong to the text of now.
    set_checked(answer: CheckAnswer): void {
        this.checked = answer;
        this.draw_plan();
    }

    // Returns a sentence for everything that is wrong with seeds and grid, and would be left out silently.
    faults(): string[] {
        const words = t().editor;
        const named = this.rows.filter((row) => row.path || split_values(row.values).length > 0);
        const paths = named.map((row) => row.path);
        return [
            split_seeds(this.seeds.value) === null && words.bad_seeds,
            named.some((row) => !row.path) && words.grid_without_path,
            ...named
                .filter((row) => row.path && split_values(row.values).length === 0)
                .map((row) => words.grid_without_values(row.path)),
            ...new Set(paths.filter((path, index) => path && paths.indexOf(path) < index).map(words.grid_twice)),
        ].filter((fault) => fault !== false);
    }

    body(): OrderBody {
        const grid: Record<string, string[]> = {};
        for (const row of this.rows) {
            const values = split_values(row.values);
            if (row.path && values.length > 0) {
                grid[row.path] = values;
            }
        }
        const set = this.records() ? [`${hops_setting}=${hops_recorded}`] : [];
        return { seeds: split_seeds(this.seeds.value), grid, shared: this.shared, set };
    }

    element(): HTMLElement {
        const words = t().editor;
        const share = (on: boolean) => {
            this.shared = on;
        };
        return h(
            "div.stack",
            h(
                "div.row.top",
                h("div.grow", field(words.run_name, this.name)),
                h("div.grow", field(words.seeds, this.seeds, words.seeds_hint)),
            ),
            h("div", h("div.label-text", words.grid), this.path_list, this.grid_place),
            this.plan,
            h("div.row", this.run_button, checkbox(t().common.share_with_all, false, share), this.record_box),
            session.may_run ? null : note("warn", words.viewer),
        );
    }

    // Whether the run records its packets: what the user chose, or otherwise for a single small run.
    private records(): boolean {
        const hops = this.checked?.estimate?.packet_hops ?? Infinity;
        return this.record ?? (hops <= small_hops && this.runs_planned() === 1);
    }

    private runs_planned(): number {
        const points = this.rows.reduce((product, row) => product * Math.max(split_values(row.values).length, 1), 1);
        return points * Math.max(split_seeds(this.seeds.value)?.length ?? 1, 1);
    }

    private draw_plan(): void {
        const words = t().editor;
        const total = this.runs_planned();
        const wrong = this.faults();
        const { estimate, errors = [], refusal } = this.checked ?? {};
        const limits = this.checked?.limits ?? {};
        this.seeds.placeholder = estimate?.seed === undefined ? "" : String(estimate.seed);
        fill(
            this.plan,
            estimate ? estimate_list(total, estimate, limits) : null,
            wrong.map((text) => note("bad", text)),
            limits_exceeded(total, estimate ?? {}, limits).map((text) => note("warn", text)),
            refusal ? note("warn", told(refusal)) : null,
        );
        this.record_box.querySelector("input")!.checked = this.records();
        this.run_button.textContent = total === 1 ? words.run : words.run_many(total);
        this.run_button.disabled = !session.may_run || errors.length > 0 || !!refusal || wrong.length > 0;
    }

    private path_options(): Child[] {
        const own = find(outline(this.options.text()), ["parameters"])?.entries.map((entry) => entry.key) ?? [];
        const varied = this.options.parameters.all.filter((one) => !/^(name|description|folder)$/.test(one.path));
        const path = (one: Parameter) => one.path.replace(/^traffic\./, "traffic[0].");
        return [
            own.map((name) => h("option", { value: name }, t().editor.own_parameter)),
            varied.map((one) => h("option", { value: path(one) }, told(one.help).slice(0, 70))),
        ];
    }

    private draw_grid(): void {
        const words = t().editor;
        const add = () => {
            this.rows.push({ path: "", values: "" });
            this.draw_grid();
            this.grid_place.querySelectorAll("input")[(this.rows.length - 1) * 2]?.focus();
        };
        fill(this.path_list, this.path_options());
        fill(
            this.grid_place,
            this.rows.map((row) => this.grid_line(row)),
            h(
                "div.row",
                button(words.add_grid, add, { small: true, icon: "plus" }),
                this.rows.length > 0 ? h("span.muted.small", words.grid_hint) : null,
            ),
        );
    }

    private grid_line(row: GridRow): HTMLElement {
        const words = t().editor;
        const change_path = () => {
            row.path = path.value.trim();
            this.draw_plan();
        };
        const change_values = () => {
            row.values = values.value;
            this.draw_plan();
        };
        const remove = () => {
            this.rows.splice(this.rows.indexOf(row), 1);
            this.draw_grid();
            this.draw_plan();
        };
        const path = input({
            value: row.path,
            class: "mono",
            list: "grid-paths",
            placeholder: "nic.cache.l1.bytes",
            "aria-label": words.grid_path,
            on: { change: change_path },
        });
        const values = input({
            value: row.values,
            class: "mono",
            placeholder: "64KB, 128KB, 256KB",
            "aria-label": words.grid_values,
            on: { input: change_values },
        });
        const label = words.remove_setting(row.path || words.grid_path);
        return h("div.grid-line", path, values, button("", remove, { kind: "quiet", icon: "close", label }));
    }
}
