// SPDX-License-Identifier: Apache-2.0
// apps/herd/batch_table.c - the service model's time of a batch as a table of sizes and times
// (docs/models/herd.md): reading and looking up.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "apps/herd/parameters.h"
#include "kernel/attribute.h"
#include "kernel/parse.h"

#define ATTRIBUTE "model.batch-table"
#define WORD_MAX 31u

// Copies the next word, up to white space or a comma, and moves *text behind it. Returns false if
// there is none or it is too long.
static bool next_word(const char **text, char word[WORD_MAX + 1])
{
    while (isspace((unsigned char)**text)) {
        (*text)++;
    }
    const size_t length = strcspn(*text, " \t\n,");
    if (length == 0 || length > WORD_MAX) {
        return false;
    }
    memcpy(word, *text, length);
    word[length] = '\0';
    *text += length;
    return true;
}

static sim_err_t refuse_row(const app__herd_batch_table_t *table, sim_message_t *message)
{
    return sim_fail_about(
        message, SIM_ERR_INVALID, ATTRIBUTE,
        ": row %u cannot be read, expected a size and a time, such as \"8 60ns\", "
        "and a comma between rows",
        table->count + 1);
}

// Reads one row and the comma behind it.
static sim_err_t read_row(const char **text, app__herd_batch_table_t *table, sim_message_t *message)
{
    char size[WORD_MAX + 1];
    char time[WORD_MAX + 1];
    sim_message_t unused;
    app__herd_batch_row_t row;
    if (!next_word(text, size) || sim_parse_count(size, &row.size, &unused) != SIM_OK ||
        !next_word(text, time) || sim_parse_time(time, &row.time_ps, &unused) != SIM_OK ||
        row.time_ps > SIM_PS_PER_MS) {
        return refuse_row(table, message);
    }
    while (isspace((unsigned char)**text)) {
        (*text)++;
    }
    if (**text != '\0' && **text != ',') {
        return refuse_row(table, message);
    }
    *text += **text == ',';
    if (table->count == APP__HERD_BATCH_ROWS) {
        return sim_fail_about(message, SIM_ERR_RANGE, ATTRIBUTE,
                              " has more than %u rows, expected at most that many",
                              APP__HERD_BATCH_ROWS);
    }
    const uint64_t before = table->count == 0 ? 0 : table->rows[table->count - 1].size;
    if (row.size <= before || (table->count == 0 && row.size != 1)) {
        return sim_fail_about(message, SIM_ERR_RANGE, ATTRIBUTE,
                              ": row %u has the size %" PRIu64
                              ", expected 1 in the first row and rising sizes",
                              table->count + 1, row.size);
    }
    table->rows[table->count++] = row;
    return SIM_OK;
}

sim_err_t app__herd_read_batch_table(const char *text, uint64_t postlist,
                                     app__herd_batch_table_t *table, sim_message_t *message)
{
    *table = (app__herd_batch_table_t){0};
    while (*text != '\0') {
        const sim_err_t error = read_row(&text, table, message);
        if (error != SIM_OK) {
            return error;
        }
    }
    if (table->count != 0 && table->rows[table->count - 1].size < postlist) {
        return sim_fail_about(message, SIM_ERR_RANGE, ATTRIBUTE,
                              " ends at the size %" PRIu64 ", expected a row for postlist (%" PRIu64
                              ") or above",
                              table->rows[table->count - 1].size, postlist);
    }
    return SIM_OK;
}

sim_time_t app__herd_batch_ps(const app__herd_batch_table_t *table, uint64_t size)
{
    uint32_t i = 0;
    while (i + 1 < table->count && table->rows[i].size < size) {
        i++;
    }
    const app__herd_batch_row_t *const above = &table->rows[i];
    SIM_CHECK(size >= 1 && size <= above->size);
    if (i == 0 || size == above->size) {
        return above->time_ps;
    }
    const app__herd_batch_row_t *const below = &table->rows[i - 1];
    const uint64_t width = above->size - below->size;
    // weights of both rows, so that falling times need no negative numbers
    return (below->time_ps * (above->size - size) + above->time_ps * (size - below->size)) / width;
}
