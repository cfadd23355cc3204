// SPDX-License-Identifier: Apache-2.0
// Analyses to begin with; each can be changed step by step.
import type { Step } from "../../core/types";

// Results of runs that a recipe shows along y; other recipes show the result that most people look at first.
export const recipe_results: Record<string, string> = {
    cache_hits: "nics[*].cache.l1_hit_rate",
    cache_times: "nics[*].cache.access_ns.p99",
    cache_rate: "nics[*].cache.accesses_mops",
};

export const recipes: Record<string, Step[]> = {
    compare: [{ do: "compare", base: 0 }],
    cdf: [
        { do: "choose", table: "flows" },
        { do: "cdf", column: "slowdown", by: ["run_name"], points: 500 },
    ],
    percentiles: [
        { do: "choose", table: "flows" },
        { do: "percentiles", column: "fct_ns", by: ["run_name"], points: [50, 90, 99, 99.9] },
    ],
    histogram: [
        { do: "choose", table: "flows" },
        { do: "histogram", column: "bytes", by: [], bins: 40, scale: "log" },
    ],
    goodput: [
        { do: "choose", table: "flows" },
        { do: "derive", name: "goodput", expression: "bytes * 8 / fct_ns", unit: "Gbps" },
        {
            do: "group",
            by: ["src"],
            take: [
                { function: "mean", column: "goodput", as: "mean_goodput" },
                { function: "count", column: "goodput", as: "flows" },
            ],
        },
        { do: "sort", by: [{ column: "mean_goodput", descending: true }] },
    ],
    fit: [
        { do: "choose", table: "flows" },
        { do: "fit", x: "bytes", y: "fct_ns", kind: "linear", by: ["run_name"] },
    ],
    outliers: [
        { do: "choose", table: "flows" },
        { do: "outliers", column: "slowdown", method: "iqr", k: 3, keep: "outliers" },
        { do: "sort", by: [{ column: "slowdown", descending: true }] },
    ],
    sweep: [{ do: "choose", table: "runs" }],
    cache_hits: [{ do: "choose", table: "runs" }],
    cache_times: [{ do: "choose", table: "runs" }],
    cache_rate: [{ do: "choose", table: "runs" }],
};
