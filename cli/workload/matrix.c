// SPDX-License-Identifier: Apache-2.0
// cli/workload/matrix.c - describes htsim's connection matrices (.cm) and flow files of HPCC's
// simulator. docs/formats/peers.md
#include "cli/workload/matrix.h"

#include "apps/flow_file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "world/format.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX (1u << 24)

typedef struct counts {
    uint64_t bytes;
    uint64_t sources;
    uint64_t destinations;
    uint64_t fan_in_max;
    uint64_t fan_out_max;
    uint64_t depth; // connections on the longest chain of triggers
    uint64_t bytes_min;
    uint64_t bytes_max;
    uint64_t received;  // connections with recv_done_trigger
    uint64_t unstarted; // connections that no trigger starts
    bool hpcc;          // flows of HPCC's simulator, which have no words
} counts_t;

// -- counting

static void count_ends(const app_flow_file_t *file, counts_t *counts)
{
    uint64_t *const in = sim_alloc_array((size_t)file->nodes + 1, sizeof(*in));
    uint64_t *const out = sim_alloc_array((size_t)file->nodes + 1, sizeof(*out));
    for (size_t i = 0; i < file->count; i++) {
        const app_flow_row_t *const row = &file->rows[i];
        counts->destinations += in[row->destination]++ == 0;
        counts->sources += out[row->source]++ == 0;
        counts->bytes += row->bytes;
        counts->received += row->chain.received != 0;
        if (i == 0 || row->bytes < counts->bytes_min) {
            counts->bytes_min = row->bytes;
        }
        counts->bytes_max = SIM_MAX(row->bytes, counts->bytes_max);
    }
    for (uint64_t n = 0; n < file->nodes; n++) {
        counts->fan_in_max = SIM_MAX(in[n], counts->fan_in_max);
        counts->fan_out_max = SIM_MAX(out[n], counts->fan_out_max);
    }
    sim_free(in);
    sim_free(out);
}

// The connections that wait for a trigger, and those that activate it.
typedef struct waits {
    size_t first;  // connection that the trigger starts, or SIZE_MAX; the others follow in next[]
    uint64_t left; // connections that activate it and are not yet done
    uint64_t depth;
} waits_t;

// Ends a connection of this depth: a trigger whose connections have all ended starts others.
static void activate(waits_t *waits, uint32_t trigger, uint64_t depth, size_t *queue,
                     size_t *filled, const size_t *next)
{
    if (trigger == 0) {
        return;
    }
    waits_t *const at = &waits[trigger];
    at->depth = SIM_MAX(depth, at->depth);
    if (--at->left > 0) {
        return;
    }
    for (size_t row = at->first; row != SIZE_MAX; row = next[row]) {
        queue[(*filled)++] = row;
    }
}

// Follows the chains of triggers from the connections that have a start.
static void count_chains(const app_flow_file_t *file, counts_t *counts)
{
    waits_t *const waits = sim_alloc_array(file->trigger_count + 1, sizeof(*waits));
    size_t *const next = sim_alloc_array(file->count + 1, sizeof(*next));
    size_t *const queue = sim_alloc_array(file->count + 1, sizeof(*queue));
    size_t filled = 0;
    for (size_t t = 0; t <= file->trigger_count; t++) {
        waits[t] = (waits_t){.first = SIZE_MAX};
    }
    for (size_t i = 0; i < file->count; i++) {
        const app_flow_chain_t *const chain = &file->rows[i].chain;
        waits[chain->sent].left++;
        waits[chain->received].left++;
        if (chain->started_by == 0) {
            queue[filled++] = i;
        } else {
            next[i] = waits[chain->started_by].first;
            waits[chain->started_by].first = i;
        }
    }
    for (size_t at = 0; at < filled; at++) {
        const app_flow_chain_t *const chain = &file->rows[queue[at]].chain;
        const uint64_t depth = waits[chain->started_by].depth * (chain->started_by != 0) + 1;
        counts->depth = SIM_MAX(depth, counts->depth);
        activate(waits, chain->sent, depth, queue, &filled, next);
        activate(waits, chain->received, depth, queue, &filled, next);
    }
    counts->unstarted = file->count - filled;
    SIM_FREE_ALL(waits, next, queue);
}

static bool has_arrow(const char *at, const char *end)
{
    while (at + 1 < end && (at[0] != '-' || at[1] != '>')) {
        at++;
    }
    return at + 1 < end;
}

// Returns the words of the connections, each once, in alphabetical order. Free with sim_free.
static char *words_of(const char *text, size_t size)
{
    static const char *const known[] = {
        "id", "msg", "prio", "recv_done_trigger", "send_done_trigger", "size", "start", "trigger"};
    bool used[SIM_COUNT_OF(known)] = {false};
    for (const char *line = text; line < text + size;) {
        const char *const newline = memchr(line, '\n', (size_t)(text + size - line));
        const char *const end = newline != NULL ? newline : text + size;
        const bool connects = *line != '#' && has_arrow(line, end);
        for (const char *at = line; connects && at < end;) {
            const char *const begin = at;
            while (at < end && !isspace((unsigned char)*at)) {
                at++;
            }
            for (size_t i = 0; i < SIM_COUNT_OF(known); i++) {
                used[i] = used[i] || ((size_t)(at - begin) == strlen(known[i]) &&
                                      memcmp(begin, known[i], strlen(known[i])) == 0);
            }
            at += at < end;
        }
        line = end + 1;
    }
    char *words = sim_strdup("");
    for (size_t i = 0; i < SIM_COUNT_OF(known); i++) {
        if (used[i]) {
            char *const longer = sim_format("%s%s%s", words, words[0] != '\0' ? " " : "", known[i]);
            sim_free(words);
            words = longer;
        }
    }
    return words;
}

// -- printing

static void print_json(const char *name, const app_flow_file_t *file, const counts_t *counts,
                       const char *words)
{
    json_t *const object = json_object();
    json_object_set_new(object, "file", json_string(name));
    json_object_set_new(object, "format", json_string(counts->hpcc ? "hpcc-flows" : "htsim-cm"));
    cli_json_set(object, "nodes", file->nodes);
    cli_json_set(object, "connections", file->count);
    cli_json_set(object, "triggers", file->trigger_count);
    cli_json_set(object, "bytes", counts->bytes);
    cli_json_set(object, "sources", counts->sources);
    cli_json_set(object, "destinations", counts->destinations);
    cli_json_set(object, "max_fan_in", counts->fan_in_max);
    cli_json_set(object, "max_fan_out", counts->fan_out_max);
    cli_json_set(object, "trigger_depth", counts->depth);
    cli_json_set(object, "min_size", counts->bytes_min);
    cli_json_set(object, "max_size", counts->bytes_max);
    cli_json_set(object, "recv_done_triggers", counts->received);
    cli_json_set(object, "never_started", counts->unstarted);
    json_object_set_new(object, "words", json_string(words));
    cli_print_json(object);
}

static void print_text(const char *name, const app_flow_file_t *file, const counts_t *counts,
                       const char *words)
{
    world_text_t texts[3];
    printf("%s: %s\n", name,
           counts->hpcc ? "flows of HPCC's simulator" : "connection matrix of htsim");
    printf("  nodes        %" PRIu64 "; %" PRIu64 " send, to at most %" PRIu64
           " connection%s each; %" PRIu64 " receive, from at most %" PRIu64 "\n",
           file->nodes, counts->sources, counts->fan_out_max, sim_plural(counts->fan_out_max),
           counts->destinations, counts->fan_in_max);
    printf("  connections  %zu, of %s to %s, %s in all\n", file->count,
           world_format_bytes(&texts[0], counts->bytes_min),
           world_format_bytes(&texts[1], counts->bytes_max),
           world_format_bytes(&texts[2], counts->bytes));
    printf("  triggers     %zu; the longest chain has %" PRIu64 " connection%s\n",
           file->trigger_count, counts->depth, sim_plural(counts->depth));
    printf("  %s%s\n",
           counts->hpcc ? "use          a scenario reads them as traffic: [{flows: {file: FILE}}]"
                        : "words        ",
           words);
}

static void print_note(const char *text, void *ctx)
{
    (void)ctx;
    fprintf(stderr, "note: %s\n", text);
}

// Returns whether a text is a count and rows of five or six numbers.
static bool is_hpcc(const char *text, size_t size_bytes)
{
    sim_words_t words;
    sim_word_t word;
    sim_plain_t plain;
    sim_word_t rest;
    sim_words_init(&words, "", text, size_bytes);
    (void)sim_words_next(&words, &word);
    const size_t count = sim_words_in_next_line(words);
    bool numbers =
        app_flow_file_detect(text, size_bytes) == APP_FLOW_HPCC && (count == 5 || count == 6);
    for (size_t i = 0; i < count && numbers; i++) {
        numbers = sim_words_next(&words, &word) && sim_word_plain(&word, &plain, &rest);
    }
    return numbers;
}

bool cli_matrix_is(const char *text, size_t size_bytes)
{
    return app_flow_file_detect(text, size_bytes) == APP_FLOW_HTSIM || is_hpcc(text, size_bytes);
}

// Counts the nodes of a file that does not say how many there are. Returns false if one of them has
// a number that no network of this size would have.
static bool count_nodes(const char *name, app_flow_file_t *file)
{
    for (size_t i = 0; i < file->count; i++) {
        const app_flow_row_t *const row = &file->rows[i];
        const uint64_t last = row->source > row->destination ? row->source : row->destination;
        file->nodes = last + 1 > file->nodes ? last + 1 : file->nodes;
        if (last >= NODES_MAX) {
            fprintf(stderr, "%s:%u:%u: a flow of node %" PRIu64 ", expected nodes below %u\n", name,
                    row->line, row->column, last, NODES_MAX);
            return false;
        }
    }
    return true;
}

int cli_matrix_check(const char *name, const char *text, size_t size_bytes, bool json)
{
    app_flow_file_t file;
    counts_t counts = {.hpcc = is_hpcc(text, size_bytes)};
    sim_message_t message = {.text = ""};
    int status = CLI_EXIT_DONE;
    if (app_flow_file_parse(app_flow_file_detect(text, size_bytes), name, text, size_bytes,
                            print_note, NULL, &file, &message) != SIM_OK) {
        fprintf(stderr, "%s\n", message.text);
        status = CLI_EXIT_BAD_INPUT;
    } else if (counts.hpcc && !count_nodes(name, &file)) {
        status = CLI_EXIT_BAD_INPUT;
    } else {
        char *const words = words_of(text, size_bytes);
        count_ends(&file, &counts);
        count_chains(&file, &counts);
        (json ? print_json : print_text)(name, &file, &counts, words);
        sim_free(words);
        if (counts.received > 0) {
            fprintf(stderr,
                    "note: %s: %" PRIu64 " connection%s recv_done_trigger, which htsim itself "
                    "never fires; rocesim does\n",
                    name, counts.received, counts.received == 1 ? " has" : "s have");
        }
        if (counts.unstarted > 0) {
            fprintf(stderr,
                    "warning: %s: %" PRIu64 " connection%s never: no connection activates the "
                    "trigger\n",
                    name, counts.unstarted, counts.unstarted == 1 ? " starts" : "s start");
        }
    }
    app_flow_file_fini(&file);
    return status == CLI_EXIT_DONE ? cli_finish_output(status) : status;
}
