// SPDX-License-Identifier: Apache-2.0
// Waits for the import of a run's results, which must be done before they can be queried, and shows its progress.
import { api, ApiError } from "../../core/api";
import { fill, h, type Child, type Scope } from "../../core/dom";
import { count } from "../../core/format";
import { t } from "../../i18n/text";
import { bar, button, loading, problem } from "../../ui/parts";

interface Import {
    state: string;
    bytes_done: number;
    bytes_total: number;
    rows: number;
    rows_per_s: number;
    part?: string;
}

function progress({ bytes_done, bytes_total, rows, rows_per_s, part = "" }: Import): HTMLElement {
    const words = t().run;
    const rate = rows_per_s ? words.import_rate(count(rows), count(rows_per_s), part) : "";
    const share = bar(bytes_total ? bytes_done / bytes_total : 0, words.importing);
    return h("div.empty", h("h2", words.importing), h("div.import-bar", share), h("p.number", rate));
}

// Returns a place that shows the progress of the import and then the content that `make` returns.
export function when_imported(scope: Scope, run: number, make: (signal: AbortSignal) => Promise<Child>): HTMLElement {
    const place = h("div.stack.wide", loading());
    const failed = (error: unknown) => {
        const waits = error instanceof ApiError && error.status === 409;
        const imported = waits ? (error.body.error as { import?: Import })?.import : undefined;
        if (imported && imported.state !== "failed") {
            fill(place, progress(imported));
            window.setTimeout(attempt, 400);
        } else {
            const again = () => api.post(`runs/${run}/import`).then(attempt);
            fill(place, problem(error, attempt), waits ? button(t().run.import_again, again) : null);
        }
    };
    const attempt = () =>
        void make(scope.signal).then(
            (made) => !scope.ended && fill(place, h("div.stack.wide.appear", made)),
            (error: unknown) => !scope.ended && failed(error),
        );
    attempt();
    return place;
}
