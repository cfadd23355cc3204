// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/search.c - searches words in the tables of runs.
//
// There is no index of words. Each dictionary is searched once, tables without a match are skipped,
// and rows are judged by the numbers of their texts. So new imports and parts of words are found at
// once, and the cost depends on the number of different texts.
#include "studio/server/data/query/search.h"
#include "studio/server/studio.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TABLES_MAX 64u
#define TEXT_COLUMNS_MAX 64u
#define MARKS_MAX 32u

typedef struct word {
    char text[200];
    char column[64]; // "": any column
    bool inverted;
    bool is_number;
    double number;
} word_t;

typedef struct words {
    word_t words[STUDIO_WORDS_MAX];
    size_t count;
} words_t;

typedef struct searching {
    const words_t *words;
    const studio_source_t *source;
    const studio_table_t *table;
    size_t columns[TEXT_COLUMNS_MAX]; // the columns of texts
    size_t column_count;
    uint8_t **verdicts; // [word x column][text]
    uint32_t *ids[TEXT_COLUMNS_MAX];
    double *numbers[STUDIO_WORDS_MAX]; // values of words that name a numeric column
    size_t limit;
    size_t hits;
    bool more;
    const studio_patience_t *patience;
    studio_out_t *out;
} searching_t;

static sim_err_t take_words(const char *text, words_t *words, sim_message_t *message)
{
    while (*(text += strspn(text, " \t")) != '\0') {
        if (words->count == STUDIO_WORDS_MAX) {
            return sim_fail(message, SIM_ERR_INVALID, "the search has more than 16 words");
        }
        word_t *const word = &words->words[words->count++];
        *word = (word_t){.inverted = *text == '-' && text[1] != '\0' && text[1] != ' '};
        text += word->inverted;
        const size_t name = strcspn(text, ": \t\"");
        if (text[name] == ':' && name > 0 && name < sizeof(word->column) && text[name + 1] != ':') {
            memcpy(word->column, text, name);
            text += name + 1;
        }
        const bool quoted = *text == '"';
        text += quoted;
        const size_t size = strcspn(text, quoted ? "\"" : " \t");
        if (size == 0 || size >= sizeof(word->text)) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "a word of the search is empty or has more than 199 characters");
        }
        memcpy(word->text, text, size);
        text += size + (quoted && text[size] == '"');
        char *end = NULL;
        word->number = strtod(word->text, &end);
        word->is_number = *end == '\0';
    }
    return words->count > 0
               ? SIM_OK
               : sim_fail(message, SIM_ERR_INVALID,
                          "the search has no words, expected for example q=drop host5");
}

// Judges the dictionaries; returns false if a required word is in no text of this table.
static bool judge(searching_t *searching)
{
    const studio_table_t *const table = searching->table;
    bool possible = true;
    for (size_t i = 0; i < searching->words->count && possible; i++) {
        const word_t *const word = &searching->words->words[i];
        bool found = false;
        const size_t number =
            word->column[0] != '\0' ? studio_table_find(table, word->column) : table->column_count;
        if (number < table->column_count && table->columns[number].spec.type == STUDIO_NUMBER &&
            word->is_number) {
            searching->numbers[i] = sim_alloc_array(STUDIO_BLOCK_ROWS, sizeof(double));
            continue;
        }
        for (size_t j = 0; j < searching->column_count; j++) {
            const size_t column = searching->columns[j];
            const studio_column_t *const texts = &table->columns[column];
            if (word->column[0] != '\0' && strcmp(word->column, texts->spec.name) != 0) {
                continue;
            }
            uint8_t *const verdict = sim_alloc((size_t)texts->text_count + 1);
            searching->verdicts[i * TEXT_COLUMNS_MAX + j] = verdict;
            for (uint32_t id = 0; id < texts->text_count; id++) {
                verdict[id] = studio_text_has(studio_table_text(table, column, id), word->text);
                found = found || verdict[id];
            }
        }
        possible = found || word->inverted;
    }
    return possible;
}

static bool row_has(const searching_t *searching, size_t index, size_t row)
{
    const word_t *const word = &searching->words->words[index];
    if (searching->numbers[index] != NULL) {
        const double value = searching->numbers[index][row];
        return value >= word->number && value <= word->number;
    }
    for (size_t j = 0; j < searching->column_count; j++) {
        const uint8_t *const verdict = searching->verdicts[index * TEXT_COLUMNS_MAX + j];
        const uint32_t id = searching->ids[j][row];
        if (verdict != NULL && id != STUDIO_TEXT_MISSING && verdict[id]) {
            return true;
        }
    }
    return false;
}

static void write_marks(const searching_t *searching, const char *text)
{
    size_t count = 0;
    studio_out_text(searching->out, ",\"marks\":[");
    for (size_t i = 0; i < searching->words->count && count < MARKS_MAX; i++) {
        const word_t *const word = &searching->words->words[i];
        const size_t size = strlen(word->text);
        size_t signs = 0;
        for (const char *at = text; *at != '\0' && count < MARKS_MAX && !word->inverted; at++) {
            if (strncasecmp(at, word->text, size) == 0) {
                studio_out_format(searching->out, "%s[%zu,%zu]", count++ > 0 ? "," : "", signs,
                                  signs + size);
            }
            signs += ((uint8_t)*at & 0xc0) != 0x80;
        }
    }
    studio_out_text(searching->out, "]");
}

static void write_hit(searching_t *searching, uint64_t row)
{
    const studio_table_t *const table = searching->table;
    studio_out_t *const out = searching->out;
    studio_out_format(out,
                      "%s{\"run\":%" PRId64 ",\"table\":", searching->hits++ > 0 ? ",\n" : "\n",
                      searching->source->run);
    studio_out_json(out, table->name);
    studio_out_format(out, ",\"row\":%" PRIu64 ",\"columns\":{", row);
    studio_out_t text = {.bytes = NULL};
    studio_out_text(&text, "");
    size_t shown = 0;
    studio_cell_t time = {.kind = STUDIO_CELL_MISSING};
    for (size_t i = 0; i < table->column_count && i < 40; i++) {
        const studio_cell_t cell = studio_table_cell(table, i, row);
        const char *const name = table->columns[i].spec.name;
        if (cell.kind == STUDIO_CELL_MISSING) {
            continue;
        }
        if (strcmp(name, "time_ns") == 0 || strcmp(name, "start_ns") == 0) {
            time = cell;
        }
        studio_out_text(out, shown > 0 ? "," : "");
        studio_out_json(out, name);
        studio_out_text(out, ":");
        studio_out_cell(out, &cell, false);
        studio_out_text(&text, shown++ > 0 ? " " : "");
        if (cell.kind == STUDIO_CELL_TEXT) {
            studio_out_text(&text, cell.text);
        } else {
            studio_out_cell(&text, &cell, true);
        }
    }
    studio_out_text(out, "},\"text\":");
    studio_out_json(out, text.bytes);
    if (time.kind != STUDIO_CELL_MISSING) {
        studio_out_text(out, ",\"time_ns\":");
        studio_out_cell(out, &time, false);
    }
    write_marks(searching, text.bytes);
    studio_out_text(out, "}");
    studio_out_fini(&text);
}

static void search_rows(searching_t *searching)
{
    const studio_table_t *const table = searching->table;
    for (size_t block = 0; block < table->block_count && !searching->more; block++) {
        if (studio_is_over(searching->patience)) {
            return;
        }
        for (size_t j = 0; j < searching->column_count; j++) {
            studio_table_texts(table, searching->columns[j], block, searching->ids[j]);
        }
        for (size_t i = 0; i < searching->words->count; i++) {
            if (searching->numbers[i] != NULL) {
                studio_table_numbers(table,
                                     studio_table_find(table, searching->words->words[i].column),
                                     block, searching->numbers[i]);
            }
        }
        for (size_t row = 0; row < studio_table_block_rows(table, block); row++) {
            bool holds = true;
            for (size_t i = 0; i < searching->words->count && holds; i++) {
                holds = row_has(searching, i, row) != searching->words->words[i].inverted;
            }
            if (!holds) {
                continue;
            }
            if (searching->hits == searching->limit) {
                searching->more = true;
                return;
            }
            write_hit(searching, (uint64_t)block * STUDIO_BLOCK_ROWS + row);
        }
    }
}

static void search_table(searching_t *searching, const studio_table_t *table)
{
    searching->table = table;
    searching->column_count = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].spec.type == STUDIO_TEXT &&
            searching->column_count < TEXT_COLUMNS_MAX) {
            searching->ids[searching->column_count] =
                sim_alloc_array(STUDIO_BLOCK_ROWS, sizeof(uint32_t));
            searching->columns[searching->column_count++] = i;
        }
    }
    SIM_CHECK(searching->column_count <= TEXT_COLUMNS_MAX);
    SIM_CHECK(searching->words->count <= STUDIO_WORDS_MAX);
    const size_t verdicts = STUDIO_WORDS_MAX * TEXT_COLUMNS_MAX;
    searching->verdicts = sim_alloc_array(verdicts, sizeof(*searching->verdicts));
    if (judge(searching)) {
        search_rows(searching);
    }
    sim_free_each(searching->verdicts, verdicts);
    sim_free(searching->verdicts);
    sim_free_each(searching->ids, searching->column_count);
    for (size_t i = 0; i < STUDIO_WORDS_MAX; i++) {
        sim_free(searching->numbers[i]);
        searching->numbers[i] = NULL;
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Searches events and the log first: the other tables have many rows and few words.
static void search_run(searching_t *searching)
{
    char *names[TABLES_MAX];
    size_t count = 0;
    DIR *const directory = opendir(searching->source->index);
    const struct dirent *entry = NULL;
    while (directory != NULL && (entry = readdir(directory)) != NULL && count < TABLES_MAX) {
        const size_t size = strlen(entry->d_name);
        if (size > 6 && strcmp(entry->d_name + size - 6, ".table") == 0) {
            names[count++] = sim_strdup(entry->d_name);
        }
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    qsort(names, count, sizeof(*names), by_text);
    for (size_t i = 0; i < count; i++) {
        char *const path = sim_format("%s/%s", searching->source->index, names[i]);
        studio_table_t *table = NULL;
        sim_message_t message;
        if (!searching->more && studio_table_open(path, &table, &message) == SIM_OK) {
            search_table(searching, table);
            studio_table_close(table);
        }
        sim_free(path);
        sim_free(names[i]);
    }
}

sim_err_t studio_search(const studio_sources_t *sources, const char *text, size_t limit,
                        const studio_patience_t *patience, studio_out_t *out,
                        sim_message_t *message)
{
    words_t *const words = sim_alloc(sizeof(*words));
    const sim_err_t code = take_words(text, words, message);
    if (code == SIM_OK) {
        const double began_s = studio_seconds();
        searching_t *const searching = sim_alloc(sizeof(*searching));
        searching->words = words;
        searching->limit = SIM_MIN(limit, STUDIO_HITS_MAX);
        searching->patience = patience;
        searching->out = out;
        studio_out_text(out, "{\"hits\":[");
        for (size_t i = 0; i < sources->count && !searching->more; i++) {
            searching->source = &sources->sources[i];
            search_run(searching);
        }
        studio_out_format(out, "],\"more\":%s,\"seconds\":%.6f}\n",
                          searching->more ? "true" : "false", studio_seconds() - began_s);
        sim_free(searching);
    }
    sim_free(words);
    return code;
}
