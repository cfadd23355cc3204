// SPDX-License-Identifier: Apache-2.0
// The checker's verdict on a scenario: its errors and warnings, each with a way to its line.
import { fill, h } from "../../core/dom";
import type { CheckAnswer } from "../../core/types";
import { t, told } from "../../i18n/text";

interface Fault {
    line: number; // 0: none
    column?: number;
    warning: boolean;
    text: string;
}

function faults_of(checked: CheckAnswer): Fault[] {
    const errors = checked.errors.map(({ line = 0, column, message, expected }): Fault => {
        const whole = !expected || message.includes(expected);
        return {
            line,
            column,
            warning: false,
            text: whole ? told(message) : `${told(message)} (${t().errors.expected}: ${expected})`,
        };
    });
    const warnings = checked.warnings.map(
        ({ line = 0, message }): Fault => ({ line, warning: true, text: told(message) }),
    );
    return [...errors.sort((one, other) => one.line - other.line), ...warnings];
}

// Shows the answer of the checker; null: it is still asked.
export function show_verdict(
    place: HTMLElement,
    checked: CheckAnswer | null,
    go_to: (line: number, column?: number) => void,
): void {
    const words = t().editor;
    if (!checked) {
        fill(place, h("span.muted", words.checking));
        return;
    }
    const row = (fault: Fault) =>
        h(
            "button",
            {
                type: "button",
                class: `fault-line ${fault.warning ? "warning" : ""}`,
                on: { click: () => go_to(fault.line || 1, fault.column) },
            },
            fault.line > 0 ? h("span.number.fault-place", words.line(fault.line)) : null,
            fault.text,
        );
    fill(
        place,
        checked.errors.length === 0
            ? h("div.verdict-ok", "✓ ", words.sound)
            : h(
                  "div.verdict-bad",
                  checked.all ? words.faults(checked.errors.length) : words.faults_at_least(checked.errors.length),
              ),
        faults_of(checked).map(row),
    );
}
