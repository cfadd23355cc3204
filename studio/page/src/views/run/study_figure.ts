// SPDX-License-Identifier: Apache-2.0
// The figure of a study, drawn by the page from its data.csv as figure.json says (scenarios/study_lib.sh).
import { h, type Child, type Scope } from "../../core/dom";
import { column_title } from "../../core/names";
import { bar_chart } from "../../plot/bars";
import type { FigureSeries } from "../../plot/figure";
import { heat_map } from "../../plot/heat";
import { plot } from "../../plot/plot";

export interface StudyFigure {
    kind: "lines" | "bars" | "heat";
    columns: string[]; // names of the values: a panel for each
    x?: number; // number of the column along x
    x_label?: string;
    x_log?: boolean;
    y_log?: boolean;
    y?: number; // of a heat map: the column along y
    labels?: number; // of bars: so many first columns name a bar
    most?: number; // of a heat map: the end of its colours
}

const units: Record<string, number> = {
    ...{ ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 },
    ...{ KB: 1e3, MB: 1e6, GB: 1e9, "": 1 },
};

// Returns a number with or without a unit, such as 10ms; NaN for a word.
function number_of(text: string): number {
    const [, digits = "", unit = ""] = /^(-?[\d.]+(?:e[+-]?\d+)?)([a-zA-Z]*)$/i.exec(text) ?? [];
    return digits && unit in units ? Number(digits) * units[unit]! : NaN;
}

function unique(texts: string[]): string[] {
    return [...new Set(texts)];
}

function lines_of(scope: Scope, figure: StudyFigure, head: string[], rows: string[][], name: string): Child {
    const x_at = figure.x ?? 1;
    const curves = unique(rows.map((row) => row[0]!));
    const words = rows.some((row) => Number.isNaN(number_of(row[x_at]!)));
    const places = words ? unique(rows.map((row) => row[x_at]!)) : [];
    const x_of = (text: string) => (words ? places.indexOf(text) + 1 : number_of(text));
    // Values with units keep their spelling as tics.
    const with_unit = !words && rows.some((row) => /[a-zA-Z]$/.test(row[x_at]!));
    const spelled = words || with_unit ? unique(rows.map((row) => row[x_at]!)) : [];
    const x_label = figure.x_label ?? head[x_at]!;
    return figure.columns.map((column) => {
        const y_at = head.indexOf(column);
        const series = curves.map((curve): FigureSeries => {
            const points = rows
                .filter((row) => row[0] === curve && row[y_at] !== "-" && row[y_at] !== undefined)
                .map((row): [number, number] => [x_of(row[x_at]!), Number(row[y_at])])
                .sort(([one], [other]) => one - other);
            return { name: curve, kind: "linespoints", x: points.map(([x]) => x), y: points.map(([, y]) => y) };
        });
        const chart = plot(scope, { height: 300, name: `${name}-${column}` });
        chart.show({
            title: column_title(column),
            x_label: column_title(x_label),
            y_label: column_title(column),
            x_log: figure.x_log && !words,
            y_log: figure.y_log,
            y_range: figure.y_log ? undefined : [0, null],
            x_tics: spelled.length > 0 ? spelled.map((text): [string, number] => [text, x_of(text)]) : undefined,
            series,
        });
        return chart.element;
    });
}

function bars_of(scope: Scope, figure: StudyFigure, head: string[], rows: string[][], name: string): Child {
    const { labels, x = 1 } = figure;
    return figure.columns.map((column) => {
        const y_at = head.indexOf(column);
        const chart = bar_chart(scope, { name: `${name}-${column}`, height: 300 });
        const value = (row: string[] | undefined) => (row && row[y_at] !== "-" ? Number(row[y_at]) : null);
        const y_label = column_title(column);
        if (labels) {
            const categories = rows.map((row) => row.slice(0, labels).join(" "));
            chart.show({ categories, series: [{ name: y_label, values: rows.map(value) }], y_label });
        } else {
            const categories = unique(rows.map((row) => row[x]!));
            const series = unique(rows.map((row) => row[0]!)).map((curve) => ({
                name: curve,
                values: categories.map((one) => value(rows.find((row) => row[0] === curve && row[x] === one))),
            }));
            chart.show({ categories, series, x_label: column_title(head[x]!), y_label });
        }
        return chart.element;
    });
}

function heats_of(scope: Scope, figure: StudyFigure, head: string[], rows: string[][], name: string): Child {
    const [x_at, y_at, column] = [figure.x ?? 1, figure.y ?? 2, figure.columns[0]!];
    const value_at = head.indexOf(column);
    const curves = unique(rows.map((row) => row[0]!));
    return curves.map((curve) => {
        const own = rows.filter((row) => row[0] === curve);
        const [x, y] = [unique(own.map((row) => row[x_at]!)), unique(own.map((row) => row[y_at]!))];
        return h(
            "figure.figure",
            h("figcaption", h("strong", curve)),
            heat_map(scope, `${name}-${curve}`, {
                x_label: column_title(head[x_at]!),
                y_label: column_title(head[y_at]!),
                x,
                y,
                values: own
                    .filter((row) => Number.isFinite(Number(row[value_at])))
                    .map((row) => [x.indexOf(row[x_at]!), y.indexOf(row[y_at]!), Number(row[value_at])]),
                value_label: column_title(column),
                most: figure.most ?? 100,
            }),
        );
    });
}

const drawers = { lines: lines_of, bars: bars_of, heat: heats_of };

// Draws the figure; null if it names columns that the data do not have.
export function study_figure(scope: Scope, figure: StudyFigure, rows: string[][], name: string): HTMLElement | null {
    const [head = [], ...values] = rows;
    const draw = drawers[figure.kind];
    if (!draw || values.length === 0 || figure.columns.some((column) => !head.includes(column))) {
        return null;
    }
    return h("div.figures", draw(scope, figure, head, values, name));
}
