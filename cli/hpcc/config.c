// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/config.c - reads config files of the HPCC ns-3 simulator.
#include "cli/hpcc/config.h"

#include "world/yaml_tree.h"

#include <stdio.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)16 << 20)
#define ROWS_MAX 4096u
#define UNKNOWN_MAX 64u

static const struct {
    const char *name;
    cli_hpcc_type_t type;
    const char *absent;
} keys[CLI_HPCC_KEY_COUNT] = {
#define KEY(name, type, absent) {#name, CLI_HPCC_##type, absent},
    CLI_HPCC_KEYS(KEY)
#undef KEY
};

typedef struct reader {
    cli_hpcc_config_t *config;
    sim_words_t words;
    sim_message_t *message;
} reader_t;

const char *cli_hpcc_key_name(cli_hpcc_key_t key)
{
    return keys[key].name;
}

const cli_hpcc_row_t *cli_hpcc_find(const cli_hpcc_table_t *table, uint64_t rate_bps)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].rate_bps == rate_bps) {
            return &table->rows[i];
        }
    }
    return NULL;
}

static world_place_t place_of(const reader_t *reader, const sim_word_t *word)
{
    return (world_place_t){reader->config->file_name, (int)word->line, (int)word->column};
}

static char *copy_word(const sim_word_t *word)
{
    return sim_format("%.*s", (int)word->size_bytes, word->text);
}

// -- values

static sim_err_t read_number(reader_t *reader, const char *what, uint64_t *number, sim_word_t *word)
{
    const sim_err_t error = sim_words_need(&reader->words, word, what, reader->message);
    return error == SIM_OK ? sim_word_count(&reader->words, word, what, 0,
                                            UINT64_C(1000000000000000), number, reader->message)
                           : error;
}

static sim_err_t read_row(reader_t *reader, const char *what, bool share, cli_hpcc_table_t *table)
{
    sim_word_t word;
    cli_hpcc_row_t row = {0};
    sim_err_t error = read_number(reader, "the rate of a port in bit/s", &row.rate_bps, &word);
    if (error == SIM_OK) {
        error = sim_words_need(&reader->words, &word, what, reader->message);
    }
    if (error == SIM_OK && share) {
        error = sim_word_ratio(&reader->words, &word, what, &row.number, reader->message);
    } else if (error == SIM_OK) {
        row.number.den = 1;
        error = sim_word_count(&reader->words, &word, what, 0, 4000000, &row.number.num,
                               reader->message);
    }
    if (error != SIM_OK) {
        return error;
    }
    row.place = place_of(reader, &word);
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].rate_bps == row.rate_bps) {
            table->rows[i] = row;
            return SIM_OK;
        }
    }
    SIM_APPEND(table->rows, table->count, table->capacity, row);
    return SIM_OK;
}

static sim_err_t read_table(reader_t *reader, cli_hpcc_key_t key)
{
    cli_hpcc_config_t *const config = reader->config;
    cli_hpcc_table_t *const table = key == CLI_HPCC_KMAX_MAP   ? &config->kmax
                                    : key == CLI_HPCC_KMIN_MAP ? &config->kmin
                                                               : &config->pmax;
    const bool share = key == CLI_HPCC_PMAX_MAP;
    const char *const what = share ? "a probability" : "a threshold in thousands of bytes";
    uint64_t count = 0;
    sim_word_t word;
    sim_err_t error = read_number(reader, "the number of rates in the table", &count, &word);
    if (error == SIM_OK && count > ROWS_MAX) {
        error = sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_RANGE,
                              "a table of %" PRIu64 " rates, expected at most %u", count, ROWS_MAX);
    }
    config->values[key].place = place_of(reader, &word);
    for (uint64_t i = 0; i < count && error == SIM_OK; i++) {
        error = read_row(reader, what, share, table);
    }
    return error;
}

static sim_err_t read_down(reader_t *reader)
{
    cli_hpcc_config_t *const config = reader->config;
    sim_word_t word;
    sim_err_t error = read_number(reader, "a time in us", &config->down_us, &word);
    config->values[CLI_HPCC_LINK_DOWN].place = place_of(reader, &word);
    if (error == SIM_OK) {
        error = read_number(reader, "a node of the link", &config->down_a, &word);
    }
    if (error == SIM_OK) {
        error = read_number(reader, "a node of the link", &config->down_b, &word);
    }
    return error;
}

static sim_err_t take_real(reader_t *reader, const sim_word_t *word, cli_hpcc_value_t *value)
{
    sim_plain_t plain;
    sim_word_t rest;
    sim_word_shown_t shown;
    if (!sim_word_plain(word, &plain, &rest) || rest.size_bytes > 0 || plain.text[0] == '-') {
        return sim_word_fail(&reader->words, word, reader->message, SIM_ERR_INVALID,
                             "'%s' is no value of a number, expected one such as 0.5",
                             sim_word_show(word, &shown));
    }
    value->text = sim_strdup(plain.text);
    return SIM_OK;
}

// Reads a number. If only a few numbers are valid, the message lists them.
static sim_err_t take_count(reader_t *reader, cli_hpcc_key_t key, const sim_word_t *word,
                            uint64_t *number)
{
    char what[64];
    (void)snprintf(what, sizeof(what), "a value of %s", keys[key].name);
    const bool flag = keys[key].type == CLI_HPCC_FLAG;
    const bool few = flag || key == CLI_HPCC_CC_MODE;
    const sim_err_t error =
        sim_word_count(&reader->words, word, what, 0, UINT64_C(1000000000000000), number,
                       few ? NULL : reader->message);
    if (error == SIM_OK || !few) {
        return error;
    }
    sim_word_shown_t shown;
    return sim_word_fail(&reader->words, word, reader->message, error,
                         "'%s' is not %s, expected %s", sim_word_show(word, &shown), what,
                         flag ? "0 or 1" : CLI_HPCC_CC_MODES);
}

// Reads the value or values of a key; the key was the last word read.
static sim_err_t read_value(reader_t *reader, cli_hpcc_key_t key)
{
    const cli_hpcc_type_t type = keys[key].type;
    cli_hpcc_value_t *const value = &reader->config->values[key];
    if (type == CLI_HPCC_TABLE) {
        return read_table(reader, key);
    }
    if (type == CLI_HPCC_DOWN) {
        return read_down(reader);
    }
    sim_word_t word;
    char what[64];
    (void)snprintf(what, sizeof(what), "a value of %s", keys[key].name);
    sim_err_t error = sim_words_need(&reader->words, &word, what, reader->message);
    if (error != SIM_OK) {
        return error;
    }
    value->place = place_of(reader, &word);
    sim_free(value->text);
    value->text = NULL;
    switch (type) {
    case CLI_HPCC_FLAG:
    case CLI_HPCC_COUNT:
        return take_count(reader, key, &word, &value->number);
    case CLI_HPCC_RATE:
        return sim_word_rate(&reader->words, &word, what, &value->number, reader->message);
    case CLI_HPCC_REAL:
        return take_real(reader, &word, value);
    case CLI_HPCC_NAME:
        value->text = copy_word(&word);
        return SIM_OK;
    case CLI_HPCC_TABLE:
    case CLI_HPCC_DOWN:
    case CLI_HPCC_UNUSED:
        break;
    }
    return SIM_OK;
}

// -- keys

// Returns whether a word looks like a key: it is in capitals. Other words are values of an unknown
// key.
static bool looks_like_key(const sim_word_t *word)
{
    bool letters = false;
    for (size_t i = 0; i < word->size_bytes; i++) {
        const char c = word->text[i];
        letters = letters || (c >= 'A' && c <= 'Z');
        if (!((c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9'))) {
            return word->size_bytes > 5 && memcmp(word->text, "ns3::", 5) == 0;
        }
    }
    return letters && word->size_bytes > 2;
}

static void keep_unknown(reader_t *reader, const sim_word_t *word)
{
    cli_hpcc_config_t *const config = reader->config;
    if (!looks_like_key(word) || config->unknown_count == UNKNOWN_MAX) {
        return;
    }
    for (size_t i = 0; i < config->unknown_count; i++) {
        if (sim_word_is(word, config->unknown[i])) {
            return;
        }
    }
    if (config->unknown_count == 0) {
        config->unknown_place = place_of(reader, word);
    }
    SIM_APPEND(config->unknown, config->unknown_count, config->unknown_capacity, copy_word(word));
}

// Reads the keys and values. A value that is refused is kept with its message, because --set may
// stand over it.
static void read_words(reader_t *reader)
{
    sim_word_t word;
    while (sim_words_next(&reader->words, &word)) {
        cli_hpcc_key_t key = 0;
        while (key < CLI_HPCC_KEY_COUNT && !sim_word_is(&word, keys[key].name)) {
            key++;
        }
        if (key == CLI_HPCC_KEY_COUNT) {
            keep_unknown(reader, &word);
            continue;
        }
        cli_hpcc_value_t *const value = &reader->config->values[key];
        const uint64_t number = value->number;
        const bool read = read_value(reader, key) == SIM_OK;
        sim_free(value->wrong);
        value->wrong = NULL;
        if (!read) {
            value->wrong = sim_strdup(reader->message->text);
            value->number = number;
            value->text = value->text == NULL && keys[key].type == CLI_HPCC_REAL ? sim_strdup("0")
                                                                                 : value->text;
        }
        value->given = true;
        value->has = value->has || read;
    }
}

// Sets the driver's own default for each key that the file lacks.
static void fill_absent(cli_hpcc_config_t *config)
{
    sim_message_t message;
    for (cli_hpcc_key_t key = 0; key < CLI_HPCC_KEY_COUNT; key++) {
        config->values[key].place = (world_place_t){config->file_name, 1, 1};
        if (keys[key].absent == NULL) {
            continue;
        }
        reader_t reader = {.config = config, .message = &message};
        sim_words_init(&reader.words, "", keys[key].absent, strlen(keys[key].absent));
        const sim_err_t error = read_value(&reader, key);
        SIM_CHECKF(error == SIM_OK, "%s: %s", keys[key].name, message.text);
        config->values[key].place = (world_place_t){config->file_name, 1, 1};
        config->values[key].has = true;
    }
}

cli_hpcc_config_t *cli_hpcc_config_parse(const char *file_name, const char *bytes, size_t size)
{
    cli_hpcc_config_t *const made = sim_alloc(sizeof(*made));
    sim_message_t message = {.text = ""};
    made->file_name = sim_strdup(file_name);
    fill_absent(made);
    reader_t reader = {.config = made, .message = &message};
    sim_words_init(&reader.words, file_name, bytes, size);
    read_words(&reader);
    made->values[CLI_HPCC_PACKET_PAYLOAD_SIZE].uses++; // maxRtt and maxBdp follow from it, too
    return made;
}

sim_err_t cli_hpcc_config_check(const cli_hpcc_config_t *config, world_error_t *error)
{
    const cli_hpcc_value_t *first = NULL;
    for (cli_hpcc_key_t key = 0; key < CLI_HPCC_KEY_COUNT; key++) {
        const cli_hpcc_value_t *const value = &config->values[key];
        const bool replaced = value->uses > 0 && value->replaced == value->uses;
        if (value->wrong != NULL && !replaced &&
            (first == NULL || value->place.line < first->place.line)) {
            first = value;
        }
    }
    return first == NULL ? SIM_OK : world_fail(error, SIM_ERR_INVALID, NULL, "%s", first->wrong);
}

sim_err_t cli_hpcc_config_load(const char *file_name, cli_hpcc_config_t **config,
                               world_error_t *error)
{
    char *bytes = NULL;
    size_t size = 0;
    const sim_err_t result = world_read_file(file_name, FILE_BYTES_MAX, &bytes, &size, error);
    if (result == SIM_OK) {
        *config = cli_hpcc_config_parse(file_name, bytes, size);
        sim_free(bytes);
    }
    return result;
}

void cli_hpcc_config_destroy(cli_hpcc_config_t *config)
{
    if (config == NULL) {
        return;
    }
    for (size_t i = 0; i < CLI_HPCC_KEY_COUNT; i++) {
        sim_free(config->values[i].text);
        sim_free(config->values[i].wrong);
    }
    sim_free_each(config->unknown, config->unknown_count);
    SIM_FREE_ALL(config->unknown, config->kmax.rows, config->kmin.rows, config->pmax.rows,
                 config->file_name, config);
}
