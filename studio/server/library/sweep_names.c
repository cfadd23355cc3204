// SPDX-License-Identifier: Apache-2.0
// studio/server/library/sweep_names.c - reads runs.csv of a sweep.
//
// Its columns are run, point, seed, the variant and the parameters, ended, and results.
#include "studio/server/library/sweep_names.h"

#include "studio/server/library/library.h"

#include "results/csv.h"

#include <string.h>

#define TABLE_BYTES_MAX ((size_t)16 << 20)
#define COLUMNS_MAX 64u
#define NAME_BYTES_MAX 150u

typedef struct row {
    results_csv_cell_t cells[COLUMNS_MAX];
    size_t count;
} row_t;

// Splits the line at *text and moves *text behind it. Returns false at the end of the text.
static bool next_row(char **text, row_t *row)
{
    const size_t length = strcspn(*text, "\n");
    const bool ends = (*text)[length] == '\0';
    if (length > 0) {
        row->count =
            SIM_MIN(results_csv_split(*text, length, row->cells, COLUMNS_MAX), COLUMNS_MAX);
        *text += length + !ends;
    }
    return length > 0;
}

static bool is(const results_csv_cell_t *cell, const char *text)
{
    return cell->size == strlen(text) && memcmp(cell->text, text, cell->size) == 0;
}

static bool equal(const results_csv_cell_t *one, const results_csv_cell_t *other)
{
    return one->size == other->size && memcmp(one->text, other->text, one->size) == 0;
}

// Returns the name of the row `own`, where `varies` says in which columns rows differ.
static char *compose(const row_t *heads, const row_t *own, const bool *varies)
{
    char *name = sim_strdup("");
    for (size_t column = 2; column < SIM_MIN(heads->count, own->count); column++) {
        const results_csv_cell_t *const head = &heads->cells[column];
        const results_csv_cell_t *const cell = &own->cells[column];
        if (is(head, "ended")) {
            break;
        }
        if (!varies[column] || cell->size == 0) {
            continue;
        }
        const bool seed = is(head, "seed");
        const bool bare = is(head, "variant");
        char *const part = sim_format("%.*s%s%.*s", bare ? 0 : (int)head->size, head->text,
                                      bare   ? ""
                                      : seed ? " "
                                             : "=",
                                      (int)cell->size, cell->text);
        // The seed is the first of the columns and stands last.
        char *const longer = seed || name[0] == '\0' ? sim_format("%s%s", name, part)
                                                     : sim_format("%s, %s", name, part);
        sim_free(part);
        sim_free(name);
        name = longer;
    }
    return name;
}

char *studio_sweep_run_name(const char *table, const char *run)
{
    char *const text = studio_read_text(table, TABLE_BYTES_MAX);
    char *rest = text;
    row_t heads;
    row_t first = {.count = 0};
    row_t own = {.count = 0};
    row_t row;
    bool varies[COLUMNS_MAX] = {false};
    if (text == NULL || !next_row(&rest, &heads) || !is(&heads.cells[0], "run")) {
        sim_free(text);
        return NULL;
    }
    while (next_row(&rest, &row)) {
        first = first.count == 0 ? row : first;
        own = is(&row.cells[0], run) ? row : own;
        for (size_t column = 0; column < SIM_MIN(first.count, row.count); column++) {
            varies[column] = varies[column] || !equal(&first.cells[column], &row.cells[column]);
        }
    }
    char *name = own.count == 0 ? NULL : compose(&heads, &own, varies);
    if (name != NULL && (name[0] == '\0' || strlen(name) > NAME_BYTES_MAX)) {
        sim_free(name);
        name = NULL;
    }
    sim_free(text);
    return name;
}
