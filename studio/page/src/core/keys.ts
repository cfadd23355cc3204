// SPDX-License-Identifier: Apache-2.0
// Keyboard shortcuts: one key, or g and then a key. They do nothing while one types in a field. The help lists them.
import type { Scope } from "./dom";

interface Shortcut {
    keys: string;
    meaning: () => string;
    work: () => void;
}

const shortcuts: Shortcut[] = [];
let pending = "";
let pending_until_ms = 0;

function typing(target: EventTarget | null): boolean {
    const element = (target as Element | null)?.shadowRoot?.activeElement ?? (target as Element | null);
    return !!element?.closest?.("input, textarea, select, [contenteditable=true], dialog");
}

export function shortcut(scope: Scope, keys: string, meaning: () => string, work: () => void): void {
    const entry = { keys, meaning, work };
    shortcuts.push(entry);
    scope.on_end(() => shortcuts.splice(shortcuts.indexOf(entry), 1));
}

export function all_shortcuts(): readonly Shortcut[] {
    return shortcuts;
}

document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey) {
        return;
    }
    const chord = `${event.ctrlKey || event.metaKey ? "Ctrl " : ""}${event.key}`;
    if (!chord.startsWith("Ctrl ") && typing(event.composedPath()[0] ?? event.target)) {
        return;
    }
    const sequence = performance.now() < pending_until_ms ? `${pending} ${chord}` : chord;
    const found =
        shortcuts.findLast((entry) => entry.keys === sequence) ?? shortcuts.findLast((entry) => entry.keys === chord);
    if (found) {
        event.preventDefault();
        pending_until_ms = 0;
        found.work();
    } else {
        pending = chord;
        pending_until_ms = performance.now() + 1200;
    }
});
