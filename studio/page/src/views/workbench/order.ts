// SPDX-License-Identifier: Apache-2.0
// The ordered runs: a scenario with each of its seeds and each combination of a grid's values, and their cost.
import { fill, h } from "../../core/dom";
import { bytes, count, nanoseconds, seconds } from "../../core/format";
import { session } from "../../core/session";
import type { CheckAnswer } from "../../core/types";
import { find, outline } from "../../editor/outline";
import { SettingLines } from "../../editor/setting_lines";
import { t, told } from "../../i18n/text";
import { button, checkbox, field, input, is_checked, note } from "../../ui/parts";
import { hops_recorded, hops_setting } from "../run/packets";
import { split_seeds, split_values } from "./values";

const small_hops = 5000; // a run with at most so many frames on links records them

export interface OrderOptions {
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

// Returns a sentence for each limit that the ordered runs exceed.
function limits_exceeded(total: number, estimate: Partial<Estimate>, limits: Partial<Limits>): string[] {
    const words = t().editor;
    const { cpu_s, memory_bytes, result_bytes } = estimate;
    const all: [number | null | undefined, number | null | undefined, (value: number, limit: number) => string][] = [
        [total, limits.runs, words.over_runs],
        [cpu_s, limits.wall_s, (value, limit) => words.over_time(seconds(value), seconds(limit))],
        [memory_bytes, limits.memory_bytes, (value, limit) => words.over_memory(bytes(value), bytes(limit))],
        [result_bytes, limits.result_bytes, (value, limit) => words.over_disk(bytes(value), bytes(limit))],
    ];
    return all.flatMap(([value, limit, text]) => (value && limit && value > limit ? [text(value, limit)] : []));
}

function estimate_list(total: number, estimate: Estimate, limits: Partial<Limits>): HTMLElement {
    const words = t().editor;
    const times = total > 1 ? ` × ${total}` : "";
    const until = estimate.until_ns ? nanoseconds(estimate.until_ns) : "";
    const { transfers, packet_hops, cpu_s, cpu_s_min, cpu_s_max, memory_bytes, result_bytes } = estimate;
    const time = `≈ ${seconds(cpu_s)} (${seconds(cpu_s_min)} – ${seconds(cpu_s_max)})${times}`;
    const parts: [known: unknown, name: string, value: string, limit?: string | null | 0][] = [
        [transfers, words.traffic, words.transfers(count(transfers), until)],
        [packet_hops, words.work, words.hops(count(packet_hops))],
        [typeof cpu_s === "number", words.time, time, limits.wall_s && seconds(limits.wall_s)],
        [memory_bytes, words.memory, `≈ ${bytes(memory_bytes)}`, limits.memory_bytes && bytes(limits.memory_bytes)],
        [
            result_bytes,
            words.disk,
            `≈ ${bytes(result_bytes)}${times}`,
            limits.result_bytes && bytes(limits.result_bytes),
        ],
    ];
    const shown = parts.filter(([known]) => known);
    const row = ([, name, value, limit]: (typeof parts)[0]) => [
        h("dt", name),
        h("dd.number", value, limit ? h("span.muted", ` / ${limit}`) : null),
    ];
    return h("dl.pairs", shown.map(row));
}

export class Order {
    readonly name: HTMLInputElement;
    private readonly grid: SettingLines;
    private readonly seeds: HTMLInputElement; // empty: the scenario's own
    private readonly share = checkbox(t().common.share_with_all);
    private record: boolean | null = null; // null: the user has not chosen
    private readonly record_box = checkbox(t().packets.record_order, false, (on) => {
        this.record = on;
    });
    private checked: CheckAnswer | null = null;
    private readonly plan = h("div.stack");
    private readonly run_button: HTMLButtonElement;

    constructor(options: OrderOptions, name: string) {
        const words = t().editor;
        this.name = input({ placeholder: name, "aria-label": words.run_name });
        this.seeds = input({ class: "mono", "aria-label": words.seeds, on: { input: () => this.draw_plan() } });
        this.run_button = button(words.run, () => options.run(), { kind: "main-action" });
        this.grid = new SettingLines({
            add: words.add_grid,
            path: [words.grid_path, "nic.cache.l1.bytes"],
            value: [words.grid_values, "64KB, 128KB, 256KB"],
            hint: words.grid_hint,
            own: () => find(outline(options.text()), ["parameters"])?.entries.map((entry) => entry.key) ?? [],
            changed: () => this.draw_plan(),
        });
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
        const named = this.grid.entries().filter(([path, values]) => path || split_values(values).length > 0);
        const paths = named.map(([path]) => path);
        return [
            split_seeds(this.seeds.value) === null && words.bad_seeds,
            paths.includes("") && words.grid_without_path,
            ...named
                .filter(([path, values]) => path && split_values(values).length === 0)
                .map(([path]) => words.grid_without_values(path)),
            ...new Set(paths.filter((path, index) => path && paths.indexOf(path) < index).map(words.grid_twice)),
        ].filter((fault) => fault !== false);
    }

    body(): OrderBody {
        const named = this.grid.entries().map(([path, values]) => [path, split_values(values)] as const);
        const grid = Object.fromEntries(named.filter(([path, values]) => path && values.length > 0));
        const set = this.records() ? [`${hops_setting}=${hops_recorded}`] : [];
        return { seeds: split_seeds(this.seeds.value), grid, shared: is_checked(this.share), set };
    }

    // Orders as the button does, which takes no second order before the first one is answered.
    press(): void {
        this.run_button.click();
    }

    element(): HTMLElement {
        const words = t().editor;
        return h(
            "div.stack",
            h(
                "div.row.top",
                h("div.grow", field(words.run_name, this.name)),
                h("div.grow", field(words.seeds, this.seeds, words.seeds_hint)),
            ),
            h("div", h("div.label-text", words.grid), this.grid.element),
            this.plan,
            h("div.row", this.run_button, this.share, this.record_box),
            session.may_run ? null : note("warn", words.viewer),
        );
    }

    // Whether the run records its packets: what the user chose, or otherwise for a single small run.
    private records(): boolean {
        const hops = this.checked?.estimate?.packet_hops ?? Infinity;
        return this.record ?? (hops <= small_hops && this.runs_planned() === 1);
    }

    private runs_planned(): number {
        const sizes = this.grid.entries().map(([, values]) => Math.max(split_values(values).length, 1));
        const points = sizes.reduce((product, size) => product * size, 1);
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
}
