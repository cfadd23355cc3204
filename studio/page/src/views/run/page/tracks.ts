// SPDX-License-Identifier: Apache-2.0
// The operations of each rank over time, as operations.csv has recorded them.
import { rows_of } from "../../../core/api";
import { fill, h, type Child, type Scope } from "../../../core/dom";
import { bytes, count, nanoseconds } from "../../../core/format";
import { choose_range, on_range, range_query } from "../../../core/time_range";
import type { Cell, Run } from "../../../core/types";
import { t } from "../../../i18n/text";
import { slice_chart, type Slice } from "../../../plot/slices";
import { note } from "../../../ui/parts";

const columns = ["rank", "cpu", "kind", "dimension", "name", "bytes", "start_ns", "end_ns"];
const slices_max = 8000;
const rows_max = 48;

function slice_of([rank, cpu, kind, dimension, name, size, from, to]: Cell[]): Slice {
    const [begin, end] = [Number(from), to === null || to === "" ? Number(from) : Number(to)];
    const what = [kind, name, dimension === "none" ? "" : dimension].filter(Boolean).join(", ");
    const amount = Number(size) > 0 ? bytes(Number(size)) : "";
    return {
        from: begin,
        to: end,
        kind: kind === "calc" ? "calc" : String(dimension),
        text: [what, [amount, nanoseconds(end - begin)].filter(Boolean).join(", "), `rank ${rank}, stream ${cpu}`],
        about: {},
    };
}

// Draws the operations of the chosen time, the first ones if there are more than fit.
export function tracks(scope: Scope, run: Run, all: number): Child {
    const told = h("div");
    const choose = (from: number, to: number) => choose_range([from, to]);
    const chart = slice_chart(scope, `${run.name}-operations`, t().report.dimensions, { choose });
    const load = async () => {
        const order = [{ column: "start_ns", descending: false }];
        const where = `rank < ${rows_max}`;
        const question = { columns, where, limit: slices_max, order, ...range_query() };
        const answer = await rows_of(run.id, "operations", question, scope.signal);
        const rows = new Map<string, Slice[]>();
        const collator = new Intl.Collator("en", { numeric: true });
        for (const row of answer.rows) {
            const name = `${row[0]}.${row[1]}`;
            rows.set(name, [...(rows.get(name) ?? []), slice_of(row)]);
        }
        const named = [...rows].sort(([one], [other]) => collator.compare(one, other)).slice(0, rows_max);
        const slices = named.flatMap(([, own]) => own);
        const range = [Math.min(...slices.map(({ from }) => from)), Math.max(...slices.map(({ to }) => to))] as const;
        chart.show({ rows: named.map(([name, own]) => ({ name, slices: own })), range: [range[0], range[1]] });
        const cut = answer.matched > answer.rows.length || rows.size > named.length;
        const text = t().report.tracks_cut(count(slices.length), count(Math.max(answer.matched, all)));
        fill(told, cut || answer.matched < all ? note("", text) : null);
    };
    on_range(scope, () => void load().catch(() => undefined));
    void load().catch(() => undefined);
    return [told, chart.element];
}
