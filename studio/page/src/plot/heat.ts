// SPDX-License-Identifier: Apache-2.0
// A map of coloured cells: one number for each pair of categories.
import type { Scope } from "../core/dom";
import { axis, echart } from "./chart";
import { short_number } from "./figure";

export interface Heat {
    x_label: string;
    y_label: string;
    x: string[];
    y: string[];
    values: [x: number, y: number, value: number][]; // places in x and y
    value_label: string;
    most: number; // the end of the scale of colours; a negative one: small values are good
}

const row_px = 40;
const good_to_bad = ["#2166ac", "#f7f7f7", "#b2182b"];

function options_of(heat: Heat) {
    return {
        grid: { left: 70, right: 24, top: 12, bottom: 50 },
        tooltip: {},
        visualMap: {
            show: false,
            min: 0,
            max: Math.abs(heat.most),
            inRange: { color: heat.most < 0 ? good_to_bad : [...good_to_bad].reverse() },
        },
        xAxis: axis("category", heat.x_label, 28, { data: heat.x }),
        yAxis: axis("category", heat.y_label, 46, { data: heat.y }),
        series: [
            {
                type: "heatmap",
                name: heat.value_label,
                data: heat.values,
                label: {
                    show: true,
                    color: "#111",
                    formatter: ({ value }: { value: number[] }) => short_number(+value[2]!.toPrecision(3)),
                },
            },
        ],
    };
}

export function heat_map(scope: Scope, name: string, heat: Heat): HTMLElement {
    const chart = echart(scope, name);
    const told = heat.values.slice(0, 20).map(([x, y, value]) => `${heat.x[x]}, ${heat.y[y]}: ${short_number(value)}`);
    chart.show({
        options: () => options_of(heat),
        height: heat.y.length * row_px + 80,
        words: `${heat.value_label}: ${told.join("; ")}`,
        rows: [
            [heat.x_label, heat.y_label, heat.value_label],
            ...heat.values.map(([x, y, value]) => [heat.x[x]!, heat.y[y]!, value]),
        ],
    });
    return chart.element;
}
