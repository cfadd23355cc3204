// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/folder.c - imports a result folder.
//
// Every CSV file of the folder becomes a table, whether or not schema.json describes it.
// summary.json with version and digest identifies a result folder and must exist.
#include "studio/server/data/import/import.h"

#include "studio/server/data/import/points.h"
#include "studio/server/data/import/table.h"
#include "studio/server/network/network.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILES_MAX 200u
#define JSON_BYTES_MAX ((off_t)256 << 20)

typedef struct importing {
    const char *result;
    const char *log;
    char *folder; // the new index folder
    json_t *schema;
    json_t *summary;
    json_t *state;
    json_t *tables; // table name -> number of rows
    studio_progress_t *progress;
    sim_message_t *message;
} importing_t;

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void part(const importing_t *importing, const char *name)
{
    atomic_store(&importing->progress->part, name);
}

static json_t *read_json(const char *folder, const char *file)
{
    char *const path = sim_format("%s/%s", folder, file);
    struct stat status;
    const bool there =
        stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size < JSON_BYTES_MAX;
    json_t *const json = there ? json_load_file(path, 0, NULL) : NULL;
    sim_free(path);
    return json;
}

// -- folders

static void remove_folder(const char *folder)
{
    DIR *const directory = opendir(folder);
    const struct dirent *entry = NULL;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            (void)unlinkat(dirfd(directory), entry->d_name, 0);
        }
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    (void)rmdir(folder);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Lists the CSV files of the folder, sorted by name.
static size_t list_tables(const char *folder, char **files)
{
    size_t count = 0;
    DIR *const directory = opendir(folder);
    const struct dirent *entry = NULL;
    while (directory != NULL && count < FILES_MAX && (entry = readdir(directory)) != NULL) {
        const size_t size = strlen(entry->d_name);
        char *const path = sim_format("%s/%s", folder, entry->d_name);
        struct stat status;
        if (size > 4 && size < 100 && strcmp(entry->d_name + size - 4, ".csv") == 0 &&
            entry->d_name[0] != '.' && lstat(path, &status) == 0 && S_ISREG(status.st_mode)) {
            files[count++] = sim_strdup(entry->d_name);
        }
        sim_free(path);
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    qsort(files, count, sizeof(*files), by_text);
    return count;
}

static uint64_t size_of(const char *folder, const char *file)
{
    char *const path = sim_format("%s/%s", folder, file);
    struct stat status;
    const uint64_t size = stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
    sim_free(path);
    return size;
}

static uint64_t capture_bytes(const char *result)
{
    char *const folder = sim_format("%s/captures", result);
    uint64_t sum = 0;
    DIR *const directory = opendir(folder);
    const struct dirent *entry = NULL;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        sum += entry->d_name[0] != '.' ? size_of(folder, entry->d_name) : 0;
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    sim_free(folder);
    return sum;
}

// -- the parts

static void add_table(const importing_t *importing, const char *name, uint64_t rows)
{
    json_object_set_new(importing->tables, name, json_integer((json_int_t)rows));
}

static sim_err_t import_points(const importing_t *importing)
{
    char *const table_path = sim_format("%s/series.table", importing->folder);
    char *const path = sim_format("%s/series.points", importing->folder);
    studio_table_t *table = NULL;
    atomic_ullong done = 0;
    part(importing, "series by path");
    sim_err_t result = studio_table_open(table_path, &table, importing->message);
    if (result == SIM_OK) {
        result = studio_points_write(table, path, &done, importing->message);
        studio_table_close(table);
    }
    sim_free(path);
    sim_free(table_path);
    return result;
}

// Returns a constant for the progress, which must outlive the import.
static const char *known_part(const char *file)
{
    static const char *const files[] = {"flows.csv", "ports.csv", "events.csv", "series.csv"};
    for (size_t i = 0; i < SIM_COUNT_OF(files); i++) {
        if (strcmp(file, files[i]) == 0) {
            return files[i];
        }
    }
    return "other tables";
}

// Imports one file. A foreign file that is no table is left out with a note; the run's own files
// must be complete.
static sim_err_t import_table(const importing_t *importing, const char *file)
{
    char *const name = sim_format("%.*s", (int)(strlen(file) - 4), file);
    char *const path = sim_format("%s/%s", importing->result, file);
    char *const table_path = sim_format("%s/%s.table", importing->folder, name);
    const json_t *const schema =
        json_object_get(json_object_get(importing->schema, "tables"), file);
    uint64_t rows = 0;
    const char *const known = known_part(file);
    part(importing, known);
    sim_err_t result = studio_import_csv(path, table_path, name, schema, importing->progress, &rows,
                                         importing->message);
    if (result == SIM_OK) {
        add_table(importing, name, rows);
        if (strcmp(name, "series") == 0) {
            result = import_points(importing);
        }
    } else if (result == SIM_ERR_INVALID && strcmp(known, "other tables") == 0) {
        (void)unlink(table_path);
        json_object_set_new(json_object_get(importing->state, "left_out"), file,
                            json_string(importing->message->text));
        result = SIM_OK;
    }
    SIM_FREE_ALL(table_path, path, name);
    return result;
}

static sim_err_t import_tables(const importing_t *importing)
{
    char *files[FILES_MAX];
    const size_t count = list_tables(importing->result, files);
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < count; i++) {
        const char *const name = files[i];
        // The studio itself makes tables of these names.
        const bool taken = strcmp(name, "packets.csv") == 0 || strcmp(name, "log.csv") == 0 ||
                           strcmp(name, "summary.csv") == 0 || strcmp(name, "runs.csv") == 0;
        result = result == SIM_OK && !taken ? import_table(importing, name) : result;
        sim_free(files[i]);
    }
    return result;
}

// Imports topology.json as INDEX/network. A run without one has no such file.
static sim_err_t import_network(const importing_t *importing)
{
    part(importing, "topology.json");
    json_t *const topology = read_json(importing->result, "topology.json");
    if (topology == NULL) {
        return SIM_OK;
    }
    studio_network_t network;
    studio_network_of_json(topology, &network);
    json_decref(topology);
    char *const path = sim_format("%s/network", importing->folder);
    const bool saved = studio_network_save(&network, path);
    const int reason = errno;
    sim_free(path);
    studio_network_fini(&network);
    return saved ? SIM_OK
                 : sim_fail(importing->message, SIM_ERR_IO, "the index cannot be written: %s",
                            strerror(reason));
}

static sim_err_t import_rest(const importing_t *importing)
{
    uint64_t rows = 0;
    char *path = sim_format("%s/summary.table", importing->folder);
    part(importing, "summary.json");
    sim_err_t result = studio_import_summary(importing->summary, path, &rows, importing->message);
    sim_free(path);
    add_table(importing, "summary", rows);
    if (result == SIM_OK && importing->log != NULL && access(importing->log, R_OK) == 0) {
        part(importing, "log");
        path = sim_format("%s/log.table", importing->folder);
        result =
            studio_import_log(importing->log, path, importing->progress, &rows, importing->message);
        sim_free(path);
        add_table(importing, "log", rows);
    }
    if (result == SIM_OK) {
        part(importing, "captures");
        json_t *const captures = json_object_get(importing->state, "captures");
        result = studio_import_captures(importing->result, importing->folder, captures,
                                        importing->progress, &rows, importing->message);
        if (result == SIM_OK && json_array_size(captures) > 0) {
            add_table(importing, "packets", rows);
        }
    }
    return result;
}

// Returns a fingerprint that distinguishes these results from later ones in the same folder.
static json_t *print_of(const char *result, const json_t *summary)
{
    static const char *const files[] = {"summary.json", "flows.csv", "ports.csv", "events.csv",
                                        "series.csv"};
    json_t *const print = json_object();
    const json_t *const digest = json_object_get(summary, "digest");
    json_object_set(print, "digest", json_object_get(summary, "digest"));
    for (size_t i = 0; digest != NULL && i < SIM_COUNT_OF(files); i++) {
        json_object_set_new(print, files[i], json_integer((json_int_t)size_of(result, files[i])));
    }
    return print;
}

static sim_err_t write_state(const importing_t *importing, double began_s, uint64_t bytes)
{
    const double seconds = now_s() - began_s;
    const char *name = NULL;
    json_t *rows = NULL;
    json_int_t sum = 0;
    json_object_foreach(importing->tables, name, rows)
    {
        sum += json_integer_value(rows);
    }
    json_object_set_new(importing->state, "rows", json_integer(sum));
    json_object_set_new(importing->state, "bytes", json_integer((json_int_t)bytes));
    json_object_set_new(importing->state, "seconds", json_real(seconds));
    char *const path = sim_format("%s/import.json", importing->folder);
    const bool written = json_dump_file(importing->state, path, JSON_COMPACT) == 0;
    sim_free(path);
    return written ? SIM_OK
                   : sim_fail(importing->message, SIM_ERR_IO, "the index cannot be written: %s",
                              strerror(errno));
}

static sim_err_t begin(importing_t *importing, const char *index)
{
    importing->folder = sim_format("%s.new", index);
    remove_folder(importing->folder);
    importing->summary = read_json(importing->result, "summary.json");
    if (json_object_get(importing->summary, "digest") == NULL ||
        json_object_get(importing->summary, "version") == NULL) {
        return sim_fail(importing->message, SIM_ERR_INVALID,
                        "these are no results of rocesim: summary.json with version and digest is "
                        "missing or damaged");
    }
    if (mkdir(importing->folder, 0700) != 0) {
        return sim_fail(importing->message, SIM_ERR_IO, "%s cannot be created: %s",
                        importing->folder, strerror(errno));
    }
    importing->schema = read_json(importing->result, "schema.json");
    importing->tables = json_object();
    importing->state = json_pack("{s:i,s:o,s:O,s:[],s:{}}", "format", STUDIO_IMPORT_FORMAT, "print",
                                 print_of(importing->result, importing->summary), "tables",
                                 importing->tables, "captures", "left_out");
    return SIM_OK;
}

// Moves the new folder into its place. After a crash between the two renames there is no index, and
// the run is imported again.
static sim_err_t finish(const importing_t *importing, const char *index)
{
    char *const old = sim_format("%s.old", index);
    remove_folder(old);
    (void)rename(index, old);
    const bool renamed = rename(importing->folder, index) == 0;
    const int reason = errno;
    remove_folder(old);
    sim_free(old);
    return renamed ? SIM_OK
                   : sim_fail(importing->message, SIM_ERR_IO, "%s cannot be created: %s", index,
                              strerror(reason));
}

sim_err_t studio_import(const char *result_folder, const char *log, const char *index,
                        studio_progress_t *progress, sim_message_t *message)
{
    importing_t importing = {.result = result_folder,
                             .log = log,
                             .progress = progress,
                             .message = message};
    const double began_s = now_s();
    const uint64_t bytes = size_of(result_folder, "flows.csv") +
                           size_of(result_folder, "ports.csv") +
                           size_of(result_folder, "events.csv") +
                           size_of(result_folder, "series.csv") + capture_bytes(result_folder);
    atomic_store(&progress->bytes_total, bytes);
    atomic_store(&progress->bytes_done, 0);
    atomic_store(&progress->rows, 0);
    sim_err_t result = begin(&importing, index);
    if (result == SIM_OK) {
        result = import_tables(&importing);
    }
    if (result == SIM_OK) {
        result = import_network(&importing);
    }
    if (result == SIM_OK) {
        result = import_rest(&importing);
    }
    if (result == SIM_OK) {
        result = write_state(&importing, began_s, bytes);
    }
    if (result == SIM_OK) {
        result = finish(&importing, index);
    }
    if (result != SIM_OK) {
        remove_folder(importing.folder);
    }
    json_decref(importing.schema);
    json_decref(importing.summary);
    json_decref(importing.state);
    json_decref(importing.tables);
    sim_free(importing.folder);
    return result;
}

json_t *studio_import_state(const char *result_folder, const char *index)
{
    json_t *state = read_json(index, "import.json");
    json_t *const summary = read_json(result_folder, "summary.json");
    json_t *const print = print_of(result_folder, summary);
    if (json_integer_value(json_object_get(state, "format")) != STUDIO_IMPORT_FORMAT ||
        !json_equal(print, json_object_get(state, "print"))) {
        json_decref(state);
        state = NULL;
    }
    json_decref(summary);
    json_decref(print);
    return state;
}
