// SPDX-License-Identifier: Apache-2.0
// Waits for the import of a run's results, which must be done before they can be queried, and shows its progress.
import { api, ApiError } from "../../core/api";
import { fill, h, type Child, type Scope } from "../../core/dom";
import { count } from "../../core/format";
import { t } from "../../i18n/text";
import { bar, button, loading, problem } from "../../ui/parts";

// Returns a place that shows the progress of the import and then the content that `make` returns.
export function when_imported(scope: Scope, run: number, make: (signal: AbortSignal) => Promise<Child>): HTMLElement {
    const place = h("div.stack.wide", loading());
    const words = t().run;
    const attempt = async () => {
        try {
            const made = await make(scope.signal);
            if (!scope.ended) {
                fill(place, h("div.stack.wide.appear", made));
            }
        } catch (error) {
            if (scope.ended) {
                return;
            }
            const imported =
                error instanceof ApiError && error.status === 409
                    ? ((error.body.error as Record<string, unknown>)?.import as
                          | Record<string, number & string>
                          | undefined)
                    : undefined;
            if (imported && imported.state !== "failed") {
                const share = imported.bytes_total ? Number(imported.bytes_done) / Number(imported.bytes_total) : 0;
                fill(
                    place,
                    h(
                        "div.empty",
                        h("h2", words.importing),
                        h("div.import-bar", bar(share, words.importing)),
                        h(
                            "p.number",
                            imported.rows_per_s
                                ? words.import_rate(
                                      count(Number(imported.rows)),
                                      count(Number(imported.rows_per_s)),
                                      String(imported.part ?? ""),
                                  )
                                : "",
                        ),
                    ),
                );
                window.setTimeout(() => void attempt(), 400);
            } else {
                fill(
                    place,
                    problem(error, () => void attempt()),
                    error instanceof ApiError && error.status === 409
                        ? button(words.import_again, () => api.post(`runs/${run}/import`).then(attempt))
                        : null,
                );
            }
        }
    };
    void attempt();
    return place;
}
