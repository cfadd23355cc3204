// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/values.c - stores and lists the numbers of runs' summaries.
#include "studio/server/runs/values.h"

#include "studio/server/store/database.h"

#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 400u // of one run
#define DEPTH_MAX 6u
#define APPS_MAX 4u // applications whose numbers are columns

typedef struct keeping {
    studio_t *studio;
    int64_t run;
    size_t count;
    bool good;
} keeping_t;

static void walk(keeping_t *keeping, const char *path, const json_t *value, unsigned depth)
{
    if (!keeping->good || keeping->count >= VALUES_MAX || depth > DEPTH_MAX) {
        return;
    }
    if (json_is_object(value)) {
        const char *key;
        json_t *inner;
        json_object_foreach((json_t *)(uintptr_t)value, key, inner)
        {
            char *const longer = sim_format("%s%s%s", path, path[0] != '\0' ? "." : "", key);
            walk(keeping, longer, inner, depth + 1);
            sim_free(longer);
        }
    } else if (json_is_array(value) && strcmp(path, "apps") == 0) {
        for (size_t i = 0; i < json_array_size(value) && i < APPS_MAX; i++) {
            char *const longer = sim_format("%s[%zu]", path, i);
            walk(keeping, longer, json_array_get(value, i), depth + 1);
            sim_free(longer);
        }
    } else if (json_is_number(value)) {
        keeping->count++;
        keeping->good = studio_store_do(keeping->studio->store,
                                        "INSERT OR REPLACE INTO run_values VALUES (?, ?, ?)", "isd",
                                        keeping->run, path, json_number_value(value));
    }
}

bool studio_values_keep(studio_t *studio, int64_t run, const char *folder)
{
    char *const path = sim_format("%s/result/summary.json", folder);
    json_t *const summary = json_load_file(path, 0, NULL);
    keeping_t keeping = {.studio = studio, .run = run, .good = true};
    sim_free(path);
    walk(&keeping, "", summary, 0);
    json_decref(summary);
    return keeping.good;
}

int64_t studio_values_fill(studio_t *studio, int64_t after)
{
    const int64_t run =
        studio_store_int(studio->store, 0,
                         "SELECT min(id) FROM runs WHERE id > ? AND ended IS NOT NULL AND NOT"
                         " EXISTS (SELECT 1 FROM run_values WHERE run = runs.id)",
                         "i", after);
    char *const folder = sim_format("%s/runs/%" PRId64, studio->options.data, run);
    if (run > 0 && studio_store_begin(studio->store)) {
        if (studio_values_keep(studio, run, folder)) {
            (void)studio_store_commit(studio->store);
        } else {
            studio_store_rollback(studio->store);
        }
    }
    sim_free(folder);
    return run;
}

void studio_values_add(studio_t *studio, json_t *runs, const json_t *columns)
{
    char *const names = json_dumps(columns, JSON_COMPACT);
    for (size_t i = 0; names != NULL && i < json_array_size(runs); i++) {
        json_t *const run = json_array_get(runs, i);
        json_t *const values = json_object();
        studio_rows_t *const rows =
            studio_rows_open(studio->store,
                             "SELECT name, value FROM run_values WHERE run = ? AND name IN"
                             " (SELECT value FROM json_each(?))",
                             "is", (int64_t)json_integer_value(json_object_get(run, "id")), names);
        while (studio_rows_next(rows)) {
            (void)json_object_set_new(values, studio_rows_text(rows, 0),
                                      json_real(studio_rows_real(rows, 1)));
        }
        (void)studio_rows_close(rows);
        (void)json_object_set_new(run, "values", values);
    }
    free(names);
}

json_t *studio_values_columns(studio_t *studio, const studio_user_t *user, int64_t group)
{
    json_t *const list = json_array();
    studio_rows_t *const rows = studio_rows_open(
        studio->store,
        "SELECT v.name, count(*), min(v.value), max(v.value) FROM run_values v"
        " JOIN runs r ON r.id = v.run WHERE r.trashed_ms IS NULL AND (? OR r.owner = ? OR r.shared)"
        " AND (? = 0 OR r.run_group = ?) GROUP BY v.name ORDER BY v.name",
        "iiii", (int64_t)(user->role == STUDIO_ROLE_ADMINISTRATOR), user->id, group, group);
    while (studio_rows_next(rows)) {
        (void)json_array_append_new(
            list, json_pack("{s:s, s:I, s:f, s:f}", "name", studio_rows_text(rows, 0), "runs",
                            (json_int_t)studio_rows_int(rows, 1), "min", studio_rows_real(rows, 2),
                            "max", studio_rows_real(rows, 3)));
    }
    (void)studio_rows_close(rows);
    return list;
}
