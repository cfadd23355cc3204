// SPDX-License-Identifier: Apache-2.0
// results/reference/pages.h - pages that show a result of one kind: which numbers come first, and
// which charts are drawn of what.
//
// They are data, written once into schema.json. The studio draws each page from it and knows no
// application, so a new page or chart is a new row here.
#ifndef RESULTS_REFERENCE_PAGES_H
#define RESULTS_REFERENCE_PAGES_H

#include "kernel/base.h"

#define RESULTS_PAGE_VALUES_MAX 12u
#define RESULTS_PAGE_CHARTS_MAX 8u

// A number of a report by its dotted path, with its name for people. The report gives the unit.
typedef struct results_page_value {
    const char *path;
    const char *label;
} results_page_value_t;

// A chart. Members that a kind does not use are NULL.
typedef struct results_page_chart {
    // lines, bars and stack: `values` over `x` of the items of `rows`; stack lays them on each
    // other, and shares as parts of their sum. cdf: each value is a list of points, of a percentage
    // and a time. parts: one stacked bar of single values. table: the items of `rows`. times: a row
    // for each value, which is a distribution. tracks: rows of operations.csv over time.
    const char *kind;
    const char *title;
    const char *help; // a sentence for people below the title
    const char *rows; // list in the report
    const char *x;
    const char *x_label;
    const char *by;     // one curve for each value of this member
    const char *log;    // "x", "y" or "xy": logarithmic axes
    const char *record; // setting with which a run writes the rows that it lacks
    results_page_value_t values[RESULTS_PAGE_VALUES_MAX];
} results_page_chart_t;

typedef struct results_page {
    const char *name;
    const char *title;
    const char *of;    // apps: of an application; nics: of the NICs' part `needs`; summary: the run
    const char *kinds; // of applications, separated by |; NULL: any
    const char *needs; // path that the report must have, and not as 0; NULL: none
    bool first;        // a run that has the page opens on it
    results_page_value_t facts[RESULTS_PAGE_VALUES_MAX]; // numbers that come first
    results_page_chart_t charts[RESULTS_PAGE_CHARTS_MAX];
} results_page_t;

extern const results_page_t results_pages[];
extern const size_t results_page_count;

#endif // RESULTS_REFERENCE_PAGES_H
