// SPDX-License-Identifier: Apache-2.0
// cli/workload/sizes.c - describes distributions of flow sizes. docs/formats/flow-sizes.md
#include "cli/workload/matrix.h"

#include "cli/command.h"
#include "kernel/words.h"
#include "world/format.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define Q16 65536.0
#define PERCENT_MAX 100.5 // a probability that is a little too large is refused with its place

// Reads past a line without words, or with a comment only.
static bool next_row(sim_words_t *words)
{
    for (;;) {
        sim_words_t ahead = *words;
        sim_word_t word;
        if (sim_words_next_in_line(&ahead, &word) && word.text[0] != '#') {
            return true;
        }
        if (!sim_words_next_line(words)) {
            return false;
        }
    }
}

bool cli_sizes_is(const char *text, size_t size_bytes)
{
    sim_words_t words;
    size_t rows = 0;
    sim_words_init(&words, "", text, size_bytes);
    while (next_row(&words)) {
        sim_word_t word;
        sim_plain_t plain;
        sim_word_t rest;
        for (size_t i = 0; i < 2; i++) {
            if (!sim_words_next_in_line(&words, &word) || !sim_word_plain(&word, &plain, &rest) ||
                rest.size_bytes > 0 || (i == 1 && strtod(plain.text, NULL) > PERCENT_MAX)) {
                return false;
            }
        }
        if (sim_words_next_in_line(&words, &word) && word.text[0] != '#') {
            return false;
        }
        rows++;
        if (!sim_words_next_line(&words)) {
            break;
        }
    }
    return rows > 1;
}

int cli_sizes_check(const char *name, const char *text, size_t size_bytes, bool json)
{
    sim_cdf_t *cdf = NULL;
    sim_message_t message = {.text = ""};
    if (sim_cdf_parse(text, size_bytes, &cdf, &message) != SIM_OK) {
        // The message may begin with "line 3 column 7: ".
        unsigned long place[2] = {1, 1};
        const char *at = message.text;
        char *end = NULL;
        if (strncmp(at, "line ", 5) == 0) {
            place[0] = strtoul(at + 5, &end, 10);
            place[1] = strncmp(end, " column ", 8) == 0 ? strtoul(end + 8, &end, 10) : 1;
            at = strncmp(end, ": ", 2) == 0 ? end + 2 : end;
        }
        fprintf(stderr, "%s:%lu:%lu: %s\n", name, place[0], place[1], at);
        return CLI_EXIT_BAD_INPUT;
    }
    const double mean = (double)sim_cdf_mean_q16(cdf) / Q16;
    if (json) {
        json_t *const object =
            json_pack("{s:s, s:s, s:f}", "file", name, "format", "flow-sizes", "mean_bytes", mean);
        char *const dumped = json_dumps(object, JSON_INDENT(1));
        SIM_CHECK(dumped != NULL);
        puts(dumped);
        free(dumped);
        json_decref(object);
    } else {
        world_text_t size;
        printf("%s: a distribution of flow sizes\n  mean      %s\n  use       poisson and other "
               "traffic read it as sizes: FILE\n",
               name, world_format_size(&size, mean));
    }
    sim_cdf_destroy(cdf);
    return CLI_EXIT_DONE;
}
