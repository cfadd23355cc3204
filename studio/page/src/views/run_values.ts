// SPDX-License-Identifier: Apache-2.0
// Results of runs as columns of a list: which there are, how they are shown, and a sheet to choose them.
import { api } from "../core/api";
import { h } from "../core/dom";
import { with_unit } from "../core/format";
import { field_title } from "../core/names";
import { name_unit } from "../core/schema";
import type { Run } from "../core/types";
import { t } from "../i18n/text";
import type { GridColumn } from "../ui/grid";
import { choose_names } from "../ui/parts";
import { readable } from "./run/numbers";

export interface ValueColumn {
    name: string; // a path in summary.json
    min: number;
    max: number;
}

export const values_max = 32; // columns that the server adds to a list
const title_max = 14; // characters

// Columns that a sweep shows before the user has chosen any, if its runs differ in them.
const preferred = ["fct_us.p99", "slowdown.p99", "goodput_gbps.mean", "packets.dropped", "pfc.paused_ps"];

export async function value_columns(group: string, signal: AbortSignal): Promise<ValueColumn[]> {
    return (await api.get<{ columns: ValueColumn[] }>("runs/columns", { group }, signal)).columns;
}

export function preferred_columns(columns: ValueColumn[]): string[] {
    const differ = columns.filter((one) => one.max > one.min);
    const found = preferred.map((end) => differ.find((one) => one.name === `flows.${end}` || one.name === end));
    return found.flatMap((one) => (one ? [one.name] : []));
}

// Returns a value with the unit that its path names: flows.fct_us.p99 is in us.
export function value_text(name: string, value: number | undefined): string {
    const units = name.split(".").map(name_unit);
    return value === undefined ? "–" : with_unit(value, units.findLast(Boolean));
}

// Returns a short name for heads and axes: "fct p99" for flows.fct_us.p99.
export function value_title(name: string): string {
    const title = field_title(name).replace(/ ?[（(][^（(]*[）)]$/, ""); // its values have the unit
    return title !== name && title.length <= title_max ? title : name.split(".").slice(-2).map(readable).join(" ");
}

export function value_column(name: string): GridColumn<Run> {
    return {
        name,
        title: value_title(name),
        help: `${field_title(name)} (${name})`,
        width: 120,
        fixed: true,
        right: true,
        sortable: true,
        minor: true,
        cell: (run) => value_text(name, run.values?.[name]),
    };
}

// Opens a sheet in which columns are chosen; `done` gets their names.
export async function choose_values(
    columns: ValueColumn[],
    chosen: string[],
    done: (names: string[]) => void,
): Promise<void> {
    const words = t().runs;
    const by_name = new Map(columns.map((one) => [one.name, one]));
    const text = (name: string) => {
        const { min, max } = by_name.get(name)!;
        const range = min < max ? `${value_text(name, min)} … ${value_text(name, max)}` : value_text(name, min);
        return `${name}: ${range}`;
    };
    const rank = ({ name, min, max }: ValueColumn) => Number(chosen.includes(name)) * 2 + Number(max > min);
    const sorted = [...columns].sort((one, other) => rank(other) - rank(one)).map(({ name }) => name);
    const first = (names: string[]) => done(names.slice(0, values_max));
    const said = {
        title: words.columns,
        find: words.find_column,
        lead: h("p.muted", words.columns_text),
        show: words.show_columns,
    };
    await choose_names(said, sorted, chosen, first, text);
}
