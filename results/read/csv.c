// SPDX-License-Identifier: Apache-2.0
// results/read/csv.c - reads CSV files row by row.
#include "results/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROW_BYTES_MAX ((size_t)1 << 20)
#define READ_BYTES ((size_t)1 << 18)

struct results_csv {
    int fd;
    char *path;
    int line;
    const char *const *names;
    size_t name_count;
    size_t places[RESULTS_CSV_COLUMNS_MAX]; // of the columns in a row
    size_t column_count;                    // of the first row, and so of all
    results_csv_cell_t *all;                // cells of the row that was read last
    char *row;
    size_t row_size;   // without the line end
    char *block;       // bytes of the file; the row lies in it
    size_t block_from; // first byte that no row has had
    size_t block_to;
    size_t block_capacity;
};

static sim_err_t fail(const results_csv_t *csv, const char *text, world_error_t *error)
{
    const world_place_t place = {csv->path, csv->line, 1};
    return world_fail(error, SIM_ERR_INVALID, &place, "%s", text);
}

// Reads further bytes of the file behind those that no row has had. Returns how many; -1: errno.
static ssize_t read_more(results_csv_t *csv)
{
    const size_t left = csv->block_to - csv->block_from;
    if (left > 0 && csv->block_from > 0) {
        memmove(csv->block, csv->block + csv->block_from, left);
    }
    csv->block_from = 0;
    csv->block_to = left;
    if (csv->block_capacity < left + READ_BYTES) {
        csv->block_capacity = 2 * (left + READ_BYTES);
        csv->block = sim_realloc_array(csv->block, csv->block_capacity, 1);
    }
    ssize_t got = 0;
    do {
        got = read(csv->fd, csv->block + left, csv->block_capacity - left);
    } while (got < 0 && errno == EINTR);
    csv->block_to += got > 0 ? (size_t)got : 0;
    return got;
}

static sim_err_t read_row(results_csv_t *csv, bool *end, world_error_t *error)
{
    size_t seen = 0; // bytes of the row that are no line end
    char *line_end = NULL;
    csv->line++;
    for (;;) {
        const size_t left = csv->block_to - csv->block_from;
        line_end =
            left > seen ? memchr(csv->block + csv->block_from + seen, '\n', left - seen) : NULL;
        seen = line_end != NULL ? (size_t)(line_end - csv->block) - csv->block_from : left;
        if (seen > ROW_BYTES_MAX) {
            return fail(csv, "a row of more than 1 MiB, expected a file of `rocesim run`", error);
        }
        const ssize_t more = line_end != NULL ? 0 : read_more(csv);
        if (more < 0) {
            return world_fail(error, SIM_ERR_IO, WORLD_FILE(csv->path), "cannot read: %s",
                              strerror(errno));
        }
        if (more == 0) {
            break;
        }
    }
    *end = line_end == NULL && seen == 0;
    // Every row ends its line when it is written: what does not may lack digits of its last cell.
    if (line_end == NULL && seen > 0) {
        return fail(csv, "the file ends within this row, expected a file of `rocesim run`", error);
    }
    csv->row = csv->block + csv->block_from;
    csv->block_from += *end ? 0 : seen + 1;
    while (seen > 0 && csv->row[seen - 1] == '\r') {
        seen--;
    }
    csv->row[seen] = '\0';
    csv->row_size = seen;
    return SIM_OK;
}

size_t results_csv_split(char *row, size_t size, results_csv_cell_t *cells, size_t most)
{
    char *const end = row + size;
    size_t count = 0;
    for (char *at = row; at != NULL;) {
        if (count == most) {
            return most + 1;
        }
        results_csv_cell_t *const cell = &cells[count++];
        cell->text = at;
        if (at == end || *at != '"') {
            char *const comma = at < end ? memchr(at, ',', (size_t)(end - at)) : NULL;
            cell->size = (size_t)((comma != NULL ? comma : end) - at);
            at = comma != NULL ? comma + 1 : NULL;
            continue;
        }
        char *to = at;
        bool closed = false;
        for (at++; at < end && !closed; at++) {
            if (*at != '"') {
                *to++ = *at;
            } else if (at + 1 < end && at[1] == '"') {
                *to++ = *at++;
            } else {
                closed = true;
            }
        }
        if (!closed || (at < end && *at != ',')) {
            return most + 1;
        }
        cell->size = (size_t)(to - cell->text);
        at = at < end ? at + 1 : NULL;
    }
    return count;
}

// Splits the row that was read, ends each cell by a zero byte, and returns how many there are.
static size_t split_row(results_csv_t *csv)
{
    const size_t count = results_csv_split(csv->row, csv->row_size, csv->all, csv->column_count);
    for (size_t i = 0; i < count && count <= csv->column_count; i++) {
        csv->all[i].text[csv->all[i].size] = '\0';
    }
    return count;
}

static sim_err_t read_header(results_csv_t *csv, world_error_t *error)
{
    bool end = false;
    const sim_err_t result = read_row(csv, &end, error);
    if (result != SIM_OK) {
        return result;
    }
    csv->column_count = 1;
    for (size_t i = 0; i < csv->row_size; i++) {
        csv->column_count += csv->row[i] == ',';
    }
    csv->all = sim_alloc_array(csv->column_count, sizeof(*csv->all));
    const size_t count = split_row(csv);
    csv->column_count = count <= csv->column_count ? count : 0;
    bool found[RESULTS_CSV_COLUMNS_MAX] = {false};
    for (size_t place = 0; !end && place < csv->column_count; place++) {
        for (size_t i = 0; i < csv->name_count; i++) {
            const char *const name = csv->names[i];
            if (strcmp(csv->all[place].text, name + (name[0] == '?')) == 0) {
                found[i] = true;
                csv->places[i] = place;
            }
        }
    }
    for (size_t i = 0; i < csv->name_count; i++) {
        if (!found[i] && csv->names[i][0] == '?') {
            csv->places[i] = SIZE_MAX;
        } else if (!found[i]) {
            const world_place_t place = {csv->path, 1, 1};
            return world_fail(error, SIM_ERR_INVALID, &place,
                              "no column '%s' in the first row, expected a file of `rocesim run`",
                              csv->names[i]);
        }
    }
    return SIM_OK;
}

sim_err_t results_csv_open(const char *path, const char *const *names, size_t name_count,
                           results_csv_t **csv, world_error_t *error)
{
    SIM_CHECK(name_count <= RESULTS_CSV_COLUMNS_MAX);
    // A pipe or a device is no file that a run has written, and may never end.
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return world_fail(error, SIM_ERR_INVALID, WORLD_FILE(path),
                          "is no regular file, expected one of `rocesim run -o`");
    }
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return world_fail(error, SIM_ERR_IO, WORLD_FILE(path),
                          "cannot open: %s, expected a file of `rocesim run -o`", strerror(errno));
    }
    results_csv_t *const made = sim_alloc(sizeof(*made));
    made->fd = fd;
    made->path = sim_strdup(path);
    made->names = names;
    made->name_count = name_count;
    const sim_err_t result = read_header(made, error);
    if (result != SIM_OK) {
        results_csv_close(made);
        return result;
    }
    *csv = made;
    return SIM_OK;
}

sim_err_t results_csv_next(results_csv_t *csv, bool *end, world_error_t *error)
{
    const sim_err_t result = read_row(csv, end, error);
    if (result != SIM_OK || *end) {
        return result;
    }
    if (split_row(csv) != csv->column_count) {
        return fail(csv,
                    "not as many cells as the first row, or quotes that do not end, expected a "
                    "file of `rocesim run`",
                    error);
    }
    return SIM_OK;
}

void results_csv_close(results_csv_t *csv)
{
    if (csv != NULL) {
        (void)close(csv->fd);
        SIM_FREE_ALL(csv->path, csv->block, csv->all, csv);
    }
}

sim_err_t results_csv_rows(const char *folder, const char *file, const char *const *names,
                           size_t name_count, results_csv_row_fn fn, void *ctx,
                           world_error_t *error)
{
    char *const path = sim_format("%s/%s", folder, file);
    results_csv_t *csv = NULL;
    bool end = access(path, R_OK) != 0;
    sim_err_t result = end ? SIM_OK : results_csv_open(path, names, name_count, &csv, error);
    sim_free(path);
    while (result == SIM_OK && !end) {
        SIM_CHECK(csv != NULL);
        result = results_csv_next(csv, &end, error);
        if (result == SIM_OK && !end) {
            result = fn(csv, ctx, error);
        }
    }
    results_csv_close(csv);
    return result;
}

const char *results_csv_text(const results_csv_t *csv, size_t index)
{
    SIM_CHECK(index < csv->name_count);
    if (csv->places[index] == SIZE_MAX) {
        return "";
    }
    SIM_CHECK(csv->places[index] < csv->column_count);
    return csv->all[csv->places[index]].text;
}

// Sums of digits below this one, and their products with `one`, are below 2^64.
#define SURELY_FITS (UINT64_C(1) << 40)

static bool parse_number(const char *text, uint64_t one, uint64_t *value)
{
    uint64_t sum = 0;
    uint64_t digit = 0;
    const char *p = text;
    for (; (digit = (uint64_t)(unsigned char)*p - '0') <= 9; p++) {
        if (sum >= SURELY_FITS && sum > (UINT64_MAX / one - digit) / 10) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    sum *= one;
    if (*p == '.' && p > text) {
        uint64_t digit_value = one;
        for (p++; (digit = (uint64_t)(unsigned char)*p - '0') <= 9; p++) {
            digit_value /= 10;
            if (digit_value == 0 && digit != 0) {
                return false;
            }
            if (sum > UINT64_MAX - digit * digit_value) {
                return false;
            }
            sum += digit * digit_value;
        }
    }
    *value = sum;
    return *p == '\0' && p > text && p[-1] != '.';
}

sim_err_t results_csv_number(const results_csv_t *csv, size_t index, uint64_t one, uint64_t *value,
                             world_error_t *error)
{
    const char *const text = results_csv_text(csv, index);
    if (parse_number(text, one, value)) {
        return SIM_OK;
    }
    world_shown_t shown;
    const world_place_t place = {csv->path, csv->line, 1};
    return world_fail(error, SIM_ERR_INVALID, &place, "%s is '%s', expected a number",
                      csv->names[index], world_show(&shown, text));
}

sim_err_t results_csv_time(const results_csv_t *csv, size_t index, sim_time_t *before_ps,
                           world_error_t *error)
{
    sim_time_t time_ps = 0;
    const sim_err_t result = results_csv_number(csv, index, SIM_PS_PER_NS, &time_ps, error);
    if (result != SIM_OK) {
        return result;
    }
    if (time_ps < *before_ps || time_ps >= UINT64_C(1) << 62) {
        const world_place_t place = {csv->path, csv->line, 1};
        return world_fail(error, SIM_ERR_RANGE, &place,
                          "%s is %s, expected rows in order of time, below 2^62 ps",
                          csv->names[index], results_csv_text(csv, index));
    }
    *before_ps = time_ps;
    return SIM_OK;
}
