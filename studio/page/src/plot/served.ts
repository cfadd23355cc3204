// SPDX-License-Identifier: Apache-2.0
// Shows a panel of a figure that the server computes. `rocesim plot` gives the same numbers to gnuplot.
import type { Scope } from "../core/dom";
import type { FigurePanel } from "../core/types";
import { t, told, told_name } from "../i18n/text";
import { boxes_of } from "./boxes";
import type { Figure } from "./figure";
import { plot } from "./plot";

// Returns the label of an axis, such as "queue of leaf0->host5, class 3 (KB)", in the language of the page.
function label_of(label: string): string {
    const [, metric = "", of = "", , priority, unit = ""] =
        /^(.+?)( of \S+?)?(, class (\d))?(?: \((\S+)\))?$/.exec(label) ?? [];
    const name = told_name(metric);
    const more = priority ? `, ${t().timeline.priority} ${priority}` : "";
    return name === metric ? told(label) : `${name}${of.replace(" of", "")}${more}${unit && ` (${told_name(unit)})`}`;
}

export function figure_of(scope: Scope, panel: FigurePanel, name: string): HTMLElement {
    if (panel.curves.some((curve) => curve.style === "boxes" && curve.columns.length >= 6)) {
        return boxes_of(scope, panel, name);
    }
    const figure: Figure = {
        ...panel,
        title: told(panel.title),
        x_label: told(panel.x_label),
        y_label: label_of(panel.y_label),
        x_range: panel.x_range ?? undefined,
        y_range: panel.y_range ?? undefined,
        series: panel.curves.map((curve) => ({
            name: told(curve.name),
            kind: curve.style === "boxes" ? "bars" : curve.style,
            x: curve.columns[0] ?? [],
            y: curve.columns[1] ?? [],
        })),
    };
    const made = plot(scope, { height: 280, name });
    made.show(figure);
    return made.element;
}
