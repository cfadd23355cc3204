// SPDX-License-Identifier: Apache-2.0
// Shows a panel of a figure that the server computes. `rocesim plot` gives the same numbers to gnuplot.
import type { Scope } from "../core/dom";
import type { FigurePanel } from "../core/types";
import { told } from "../i18n/text";
import { boxes_of } from "./boxes";
import type { Figure } from "./figure";
import { plot } from "./plot";

export function figure_of(scope: Scope, panel: FigurePanel, name: string): HTMLElement {
    if (panel.curves.some((curve) => curve.style === "boxes" && curve.columns.length >= 6)) {
        return boxes_of(scope, panel, name);
    }
    const figure: Figure = {
        ...panel,
        title: told(panel.title),
        x_label: told(panel.x_label),
        y_label: told(panel.y_label),
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
