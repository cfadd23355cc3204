// SPDX-License-Identifier: Apache-2.0
// apps/workload/matrices/plan.c - reads the matrices of a plan: a line for each rank, with its
// bytes for each rank as 0, 1536, 1.5K, 2M or 3G (powers of 1024).
#include "apps/workload/matrices/matrices.h"

#include "kernel/words.h"

#include <stdlib.h>
#include <string.h>

#define PATTERN_BYTES_MAX (UINT64_C(1) << 50)
#define STORED_BYTES UINT64_C(4096) // kvbench stores whole pages, for O_DIRECT

void app_kv_plan_fini(app_kv_plan_t *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        SIM_FREE_ALL(plan->patterns[i].place, plan->patterns[i].file, plan->patterns[i].matrix,
                     plan->patterns[i].storage_read, plan->patterns[i].storage_write);
    }
    sim_free(plan->patterns);
    *plan = (app_kv_plan_t){.patterns = NULL};
}

void app__patterns_fini(app__patterns_t *patterns)
{
    for (size_t i = 0; i < patterns->count; i++) {
        sim_free(patterns->list[i].transfers);
        sim_free(patterns->list[i].stored);
    }
    sim_free(patterns->list);
    *patterns = (app__patterns_t){.list = NULL};
}

// A row of values, grown as they are read.
typedef struct row {
    uint64_t *values;
    size_t count;
    size_t capacity;
} row_t;

// Reads a size and cuts off a fraction of a byte, as kvbench does.
static sim_err_t read_size(const sim_words_t *words, const sim_word_t *word, uint64_t *bytes,
                           sim_message_t *message)
{
    static const struct {
        char unit;
        uint64_t bytes;
    } units[] = {{'b', 1},
                 {'k', UINT64_C(1) << 10},
                 {'m', UINT64_C(1) << 20},
                 {'g', UINT64_C(1) << 30}};
    char text[64];
    uint64_t unit = 1;
    size_t size = word->size_bytes;
    for (size_t i = 0; i < SIM_COUNT_OF(units) && size > 0; i++) {
        if ((word->text[size - 1] | 0x20) == units[i].unit) {
            unit = units[i].bytes;
            size--;
            break;
        }
    }
    bool number = size > 0 && size < sizeof(text);
    for (size_t i = 0; i < size && number; i++) {
        number = strchr("0123456789.eE+", word->text[i]) != NULL;
        text[i] = word->text[i];
    }
    double value = -1;
    if (number) {
        char *end = NULL;
        text[size] = '\0';
        value = strtod(text, &end);
        number = end == text + size;
    }
    if (!number || !(value >= 0 && value * (double)unit <= (double)PATTERN_BYTES_MAX)) {
        sim_word_shown_t shown;
        return sim_word_fail(words, word, message, SIM_ERR_INVALID,
                             "%s is no size, expected bytes up to 1048576G, such as 0, 4096, 1.5K, "
                             "2M or 3G",
                             sim_word_show(word, &shown));
    }
    *bytes = (uint64_t)(value * (double)unit);
    return SIM_OK;
}

static sim_err_t read_row(sim_words_t *words, sim_word_t word, row_t *row, sim_message_t *message)
{
    row->count = 0;
    do {
        SIM_GROW(row->values, row->count, &row->capacity);
        const sim_err_t error = read_size(words, &word, &row->values[row->count], message);
        if (error != SIM_OK) {
            return error;
        }
        row->count++;
    } while (sim_words_next_in_line(words, &word));
    return SIM_OK;
}

// Sets the number of ranks, or checks that a row has one value for each. A list of what is stored
// may have fewer: the ranks at the end store nothing then.
static sim_err_t check_width(const sim_words_t *words, const sim_word_t *word, size_t count,
                             bool list, app__patterns_t *patterns, sim_message_t *message)
{
    if (patterns->ranks == 0 && count <= APP__RANKS_MAX) {
        patterns->ranks = (uint32_t)count;
    }
    if (count == patterns->ranks || (list && count < patterns->ranks)) {
        return SIM_OK;
    }
    return sim_word_fail(words, word, message, SIM_ERR_INVALID,
                         "the line has %zu value%s, expected %s%u, one for each rank", count,
                         sim_plural(count), list ? "at most " : "", patterns->ranks);
}

static sim_err_t add_row(const sim_words_t *words, const sim_word_t *word, const row_t *row,
                         uint32_t source, app__pattern_t *pattern, sim_message_t *message)
{
    size_t used = 0;
    for (size_t i = 0; i < row->count; i++) {
        used += row->values[i] > 0;
    }
    if (row->values[source] > 0) {
        return sim_word_fail(words, word, message, SIM_ERR_INVALID,
                             "rank %u sends %" PRIu64 " bytes to itself, expected 0", source,
                             row->values[source]);
    }
    if (used > 0) {
        app__transfer_t *const grown = sim_alloc_array(pattern->count + used, sizeof(*grown));
        if (pattern->count > 0) {
            memcpy(grown, pattern->transfers, pattern->count * sizeof(*grown));
        }
        sim_free(pattern->transfers);
        pattern->transfers = grown;
    }
    for (uint32_t i = 0; i < row->count; i++) {
        if (row->values[i] > 0) {
            pattern->transfers[pattern->count++] = (app__transfer_t){source, i, row->values[i]};
        }
    }
    return SIM_OK;
}

// Adds what ranks read or write, a value for each of the first ranks, in whole pages.
static void add_stored(const row_t *row, bool writes, uint32_t ranks, app__pattern_t *pattern)
{
    app__stored_t *const merged =
        sim_alloc_array(pattern->stored_count + row->count + 1, sizeof(*merged));
    size_t count = 0;
    size_t old = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        const uint64_t bytes = r < row->count ? row->values[r] : 0;
        app__stored_t entry = {.rank = r};
        if (old < pattern->stored_count && pattern->stored[old].rank == r) {
            entry = pattern->stored[old++];
        }
        *(writes ? &entry.write_bytes : &entry.read_bytes) +=
            (bytes + STORED_BYTES - 1) / STORED_BYTES * STORED_BYTES;
        if (entry.read_bytes + entry.write_bytes > 0) {
            merged[count++] = entry;
        }
    }
    sim_free(pattern->stored);
    pattern->stored = merged;
    pattern->stored_count = count;
}

typedef enum section { SECTION_RDMA, SECTION_READ, SECTION_WRITE } section_t;

// Returns whether the word begins a section, which is then in *section.
static bool begins_section(const sim_word_t *word, section_t *section)
{
    static const char *const names[] = {"[rdma]", "[read]", "[write]"};
    for (uint32_t i = 0; i < SIM_COUNT_OF(names); i++) {
        if (sim_word_is(word, names[i])) {
            *section = (section_t)i;
            return true;
        }
    }
    return false;
}

static sim_err_t end_matrix(const sim_words_t *words, const sim_word_t *last, uint32_t rows,
                            uint32_t ranks, sim_message_t *message)
{
    if (rows == 0 || rows == ranks) {
        return SIM_OK;
    }
    message->placed = true;
    return sim_word_fail(words, last, message, SIM_ERR_INVALID,
                         "the matrix ends after %u line%s of %u values, expected as many lines as "
                         "values",
                         rows, sim_plural(rows), ranks);
}

// Fails since a line begins with a bracket, and with none of the sections.
static sim_err_t unknown_section(const sim_words_t *words, const sim_word_t *word,
                                 sim_message_t *message)
{
    sim_word_shown_t shown;
    return sim_word_fail(words, word, message, SIM_ERR_INVALID,
                         "%s is no section, expected [rdma], [read] or [write]",
                         sim_word_show(word, &shown));
}

// Reads a text of rows, which may have sections, into a pattern.
static sim_err_t read_text(sim_words_t *words, section_t section, app__patterns_t *patterns,
                           app__pattern_t *pattern, sim_message_t *message)
{
    row_t row = {.values = NULL};
    sim_word_t word;
    sim_word_t last = {0};
    uint32_t rows = 0;
    const bool list = section != SECTION_RDMA; // of the configuration, not a section of a file
    sim_err_t error = SIM_OK;
    while (error == SIM_OK && sim_words_next(words, &word)) {
        if (begins_section(&word, &section)) {
            continue;
        }
        if (word.text[0] == '[') {
            error = unknown_section(words, &word, message);
            break;
        }
        error = read_row(words, word, &row, message);
        const bool stored = section != SECTION_RDMA;
        if (error == SIM_OK) {
            error = check_width(words, &word, row.count, list, patterns, message);
        }
        if (error != SIM_OK) {
            break;
        }
        if (stored) {
            add_stored(&row, section == SECTION_WRITE, patterns->ranks, pattern);
        } else if (rows < patterns->ranks) {
            last = word;
            error = add_row(words, &word, &row, rows++, pattern, message);
        } else {
            error =
                sim_word_fail(words, &word, message, SIM_ERR_INVALID,
                              "the matrix has a line too many, expected %u lines", patterns->ranks);
        }
    }
    sim_free(row.values);
    return error == SIM_OK ? end_matrix(words, &last, rows, patterns->ranks, message) : error;
}

static sim_err_t read_inner(const char *text, const app_kv_pattern_t *from, section_t section,
                            app__patterns_t *patterns, app__pattern_t *pattern,
                            sim_message_t *message)
{
    if (text == NULL) {
        return SIM_OK;
    }
    static const char *const keys[] = {"matrix", "storage.read", "storage.write"};
    char *const name = sim_format("%s: %s", from->place, keys[section]);
    sim_words_t words;
    sim_words_init(&words, name, text, strlen(text));
    const sim_err_t error = read_text(&words, section, patterns, pattern, message);
    sim_free(name);
    return error;
}

// Returns the name of a file that stands beside the plan.
static char *beside(const char *plan_name, const char *file)
{
    const char *const slash = strrchr(plan_name, '/');
    return file[0] == '/' || slash == NULL
               ? sim_strdup(file)
               : sim_format("%.*s/%s", (int)(slash - plan_name), plan_name, file);
}

// Reads the file of a pattern.
static sim_err_t read_file(const app_context_t *context, const char *plan_name,
                           const app_kv_pattern_t *from, app__patterns_t *patterns,
                           app__pattern_t *pattern, sim_message_t *message)
{
    char *const name = beside(plan_name, from->file);
    char *text = NULL;
    size_t size_bytes = 0;
    sim_message_t reason = {.text = ""};
    sim_err_t error = context->read_file(name, &text, &size_bytes, &reason, context->ctx);
    if (error != SIM_OK) {
        (void)sim_fail(message, error, "%s: %s", from->place, reason.text);
        sim_free(name);
        return error;
    }
    sim_words_t words;
    sim_words_init(&words, name, text, size_bytes);
    sim_words_t probe = words;
    sim_word_t first;
    error = sim_words_next(&probe, &first)
                ? read_text(&words, SECTION_RDMA, patterns, pattern, message)
                : sim_fail_in(message, SIM_ERR_INVALID, name, 1, 1,
                              "the file is empty, expected a line of sizes for each rank");
    sim_free(text);
    sim_free(name);
    return error;
}

// Reads the matrix of a pattern, and what its file has beside it.
static sim_err_t read_matrix(const app_context_t *context, const char *plan_name,
                             const app_kv_pattern_t *from, app__patterns_t *patterns,
                             app__pattern_t *pattern, sim_message_t *message)
{
    sim_err_t error = SIM_OK;
    pattern->reads = from->reads;
    pattern->before_ns = (uint64_t)(from->before_s * 1e9 + 0.5);
    pattern->after_ns = (uint64_t)(from->after_s * 1e9 + 0.5);
    if (from->file != NULL) {
        error = read_file(context, plan_name, from, patterns, pattern, message);
        message->placed = error != SIM_OK;
    }
    if (error == SIM_OK) {
        error = read_inner(from->matrix, from, SECTION_RDMA, patterns, pattern, message);
        message->placed = error != SIM_OK;
    }
    return error;
}

static uint32_t word_count(const char *text)
{
    uint32_t count = 0;
    sim_words_t words;
    sim_word_t word;
    sim_words_init(&words, "", text != NULL ? text : "", text != NULL ? strlen(text) : 0);
    while (count < APP__RANKS_MAX && sim_words_next(&words, &word)) {
        count++;
    }
    return count;
}

// Reads what the patterns store. Without any matrix, the length of the longest list is the number
// of ranks.
static sim_err_t read_stored(const app_kv_plan_t *plan, app__patterns_t *patterns,
                             sim_message_t *message)
{
    uint32_t most = 0;
    for (size_t i = 0; i < plan->count && patterns->ranks == 0; i++) {
        const uint32_t reads = word_count(plan->patterns[i].storage_read);
        const uint32_t writes = word_count(plan->patterns[i].storage_write);
        most = SIM_MAX(reads, most);
        most = SIM_MAX(writes, most);
    }
    patterns->ranks = patterns->ranks == 0 ? most : patterns->ranks;
    sim_err_t error = SIM_OK;
    for (size_t i = 0; i < plan->count && error == SIM_OK; i++) {
        const app_kv_pattern_t *const from = &plan->patterns[i];
        app__pattern_t *const to = &patterns->list[i];
        error = read_inner(from->storage_read, from, SECTION_READ, patterns, to, message);
        if (error == SIM_OK) {
            error = read_inner(from->storage_write, from, SECTION_WRITE, patterns, to, message);
        }
        message->placed = error != SIM_OK;
    }
    return error;
}

sim_err_t app__patterns_read(const app_context_t *context, const char *plan_name,
                             const app_kv_plan_t *plan, app__patterns_t *patterns,
                             sim_message_t *message)
{
    sim_err_t error = SIM_OK;
    *patterns = (app__patterns_t){
        .list = sim_alloc_array(plan->count + 1, sizeof(app__pattern_t)),
        .count = plan->count,
    };
    for (size_t i = 0; i < plan->count && error == SIM_OK; i++) {
        error = read_matrix(context, plan_name, &plan->patterns[i], patterns, &patterns->list[i],
                            message);
    }
    return error == SIM_OK ? read_stored(plan, patterns, message) : error;
}
