// SPDX-License-Identifier: Apache-2.0
// topologies/file_hpcc.c - reads topology files of HPCC's ns-3 simulator and its forks.
//
//     nodes switches links                                                 HPCC, ConWeave
//     nodes switches tors links                                            PowerTCP
//     nodes switches tors links server-rate spine-rate                     Reverie
//     nodes gpus-per-server nvswitches switches links gpu [gpus-per-node]  SimAI
//     ids of the switches (SimAI: of the NVSwitches first)
//     a b rate delay error-rate                                            one per link
//
// Only words count, not lines, as in those simulators' readers; text behind the last link is
// ignored. SimAI's NVSwitches become ordinary switches, which
// workloads know by their mark. Format: docs/formats/peers.md.
#include <string.h>

#include "topologies/file_internal.h"
#include "topologies/file_readers.h"

typedef struct header {
    uint64_t nodes;
    uint64_t switches; // NVSwitches included, which stand first
    uint64_t nvswitches;
    bool is_simai;
    uint64_t links;
    uint32_t line; // line of the counts
} header_t;

// The counts of a header, in the order of the file.
typedef struct count {
    const char *what;
    uint64_t *number;
    uint64_t min;
} count_t;

static sim_err_t read_counts(topo__file_reader_t *reader, const count_t *counts, size_t count,
                             header_t *header, sim_word_t *word)
{
    // Each host has a link in the text, so there cannot be more nodes than bytes of text.
    const uint64_t max = reader->size_bytes;
    sim_err_t error = SIM_OK;
    for (size_t i = 0; i < count && error == SIM_OK; i++) {
        error = sim_words_need_count(&reader->words, counts[i].what, counts[i].min, max,
                                     counts[i].number, word, reader->message);
        header->line = i == 0 ? word->line : header->line;
    }
    return error;
}

// Returns whether the header of six words is Reverie's, whose last two are capacities: SimAI's
// sixth word is the type of a GPU.
static bool ends_in_number(sim_words_t line, size_t count)
{
    sim_word_t word = {0};
    sim_plain_t plain;
    sim_word_t rest;
    for (size_t i = 0; i < count; i++) {
        (void)sim_words_next_in_line(&line, &word);
    }
    return sim_word_plain(&word, &plain, &rest) && rest.size_bytes == 0;
}

static sim_err_t check_counts(topo__file_reader_t *reader, const header_t *header,
                              const sim_word_t *word)
{
    return header->switches <= header->nodes
               ? SIM_OK
               : sim_word_fail(&reader->words, word, reader->message, SIM_ERR_RANGE,
                               "%" PRIu64 " switches of %" PRIu64
                               " nodes, expected fewer: nodes counts hosts and switches",
                               header->switches, header->nodes);
}

static sim_err_t read_header(topo__file_reader_t *reader, header_t *header)
{
    uint64_t ignored = 0;
    const count_t nodes = {"the number of nodes", &header->nodes, 1};
    const count_t switches = {"the number of switches", &header->switches, 0};
    const count_t links = {"the number of links", &header->links, 0};
    const count_t hpcc[] = {nodes, switches, links};
    const count_t datacenter[] = {nodes,
                                  switches,
                                  {"the number of ToR switches", &ignored, 0},
                                  links};
    const count_t simai[] = {nodes,
                             {"the number of GPUs per server", &ignored, 0},
                             {"the number of NVSwitches", &header->nvswitches, 0},
                             switches,
                             links};
    sim_word_t word;
    sim_words_t first_line = reader->words;
    while (sim_words_in_line(first_line) == 0 && sim_words_next_line(&first_line)) {
    }
    const size_t count = sim_words_in_line(first_line);
    sim_words_t second_line = first_line;
    if (count == 1 && sim_words_next_line(&second_line) && sim_words_in_line(second_line) >= 5) {
        (void)sim_words_next(&first_line, &word);
        return sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_INVALID,
                             "the first line has one number, as a list of flows does, expected "
                             "those of nodes, switches and links");
    }
    const bool reverie = count == 6 && ends_in_number(first_line, count);
    sim_err_t error = SIM_OK;
    size_t left = 0;
    if (count == 4 || reverie) {
        error = read_counts(reader, datacenter, SIM_COUNT_OF(datacenter), header, &word);
        left = count - SIM_COUNT_OF(datacenter);
    } else if (count >= 5 && count <= 7) {
        error = read_counts(reader, simai, SIM_COUNT_OF(simai), header, &word);
        left = count - SIM_COUNT_OF(simai);
        header->is_simai = true;
    } else {
        error = read_counts(reader, hpcc, SIM_COUNT_OF(hpcc), header, &word);
    }
    for (size_t i = 0; i < left && error == SIM_OK; i++) {
        error = sim_words_need(&reader->words, &word, reverie ? "a capacity" : "a type of GPU",
                               reader->message);
    }
    header->switches += header->nvswitches;
    return error == SIM_OK ? check_counts(reader, header, &word) : error;
}

typedef enum kind { KIND_HOST, KIND_SWITCH, KIND_NVSWITCH } kind_t;

static sim_err_t read_switches(topo__file_reader_t *reader, const header_t *header, kind_t *kinds)
{
    const uint64_t id_max = header->nodes - 1;
    for (uint64_t i = 0; i < header->switches; i++) {
        sim_word_t word;
        uint64_t id = 0;
        const sim_err_t error = sim_words_need_count(&reader->words, "the id of a switch (a node)",
                                                     0, id_max, &id, &word, reader->message);
        if (error != SIM_OK) {
            return error;
        }
        if (kinds[id] != KIND_HOST) {
            return sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_EXISTS,
                                 "switch %" PRIu64 " is listed before, expected %" PRIu64
                                 " different ids",
                                 id, header->switches);
        }
        kinds[id] = i < header->nvswitches ? KIND_NVSWITCH : KIND_SWITCH;
    }
    // If the line had more ids than declared, they would be read as a link.
    const size_t left = sim_words_in_line(reader->words);
    if (header->switches > 0 && left > 0 && left != 5) {
        sim_word_t word;
        (void)sim_words_next_in_line(&reader->words, &word);
        return sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_INVALID,
                             "%zu more words on the line of switch ids, expected %" PRIu64
                             " ids as line %u says",
                             left, header->switches, header->line);
    }
    return SIM_OK;
}

static sim_err_t read_end(topo__file_reader_t *reader, const header_t *header, uint64_t number,
                          const char *what, uint32_t *node, sim_word_t *word)
{
    if (!sim_words_next(&reader->words, word)) {
        return sim_word_fail(&reader->words, word, reader->message, SIM_ERR_INVALID,
                             "the file ends after %" PRIu64 " links, expected %" PRIu64
                             " as line %u says",
                             number, header->links, header->line);
    }
    uint64_t id = 0;
    const sim_err_t error =
        sim_word_count(&reader->words, word, what, 0, header->nodes - 1, &id, reader->message);
    *node = (uint32_t)id;
    return error;
}

static sim_err_t read_values(topo__file_reader_t *reader, topo_file_link_t *link)
{
    const sim_words_t *const words = &reader->words;
    sim_word_t word;
    sim_err_t error = sim_words_need(&reader->words, &word, "the rate of a link", reader->message);
    if (error == SIM_OK) {
        error = sim_word_rate(words, &word, "the rate of a link", &link->rate_bps, reader->message);
    }
    if (error == SIM_OK) {
        error = sim_words_need(&reader->words, &word, "the delay of a link", reader->message);
    }
    if (error == SIM_OK) {
        error = sim_word_time(words, &word, "the delay of a link", "s", &link->delay_ps,
                              reader->message);
    }
    if (error == SIM_OK && link->delay_ps > SIM_PS_PER_S) {
        error = sim_word_fail(words, &word, reader->message, SIM_ERR_RANGE,
                              "a delay of more than 1 s, expected 1ps to 1s");
    }
    if (error == SIM_OK && link->delay_ps == 0) {
        sim_word_note(&reader->words, &word, reader->note, reader->ctx,
                      "a link without delay is given 1 ps, the least there is");
        link->delay_ps = 1;
    }
    if (error == SIM_OK) {
        error = sim_words_need(&reader->words, &word, "the error rate of a link", reader->message);
    }
    if (error == SIM_OK) {
        error = sim_word_ratio(words, &word, "an error rate", &link->loss_rate, reader->message);
    }
    return error;
}

// Skips words that are no numbers behind a link's error rate: forks of ASTRA-sim name the kind of a
// link there. `noted` says that a note has been printed.
static void skip_names(topo__file_reader_t *reader, bool *noted)
{
    sim_words_t ahead = reader->words;
    sim_word_t word;
    sim_plain_t plain;
    sim_word_t rest;
    while (sim_words_next_in_line(&ahead, &word) &&
           !(sim_word_plain(&word, &plain, &rest) && rest.size_bytes == 0)) {
        if (!*noted) {
            sim_word_note(&reader->words, &word, reader->note, reader->ctx,
                          "words behind the error rate of a link are left out, here '%.*s'",
                          (int)SIM_MIN(word.size_bytes, 40u), word.text);
        }
        *noted = true;
        reader->words = ahead;
    }
}

static sim_err_t read_links(topo__file_reader_t *reader, const header_t *header, uint32_t *degree)
{
    bool noted = false;
    for (uint64_t i = 0; i < header->links; i++) {
        topo_file_link_t link = {.loss_rate = {0, 1}};
        sim_word_t a;
        sim_word_t b;
        sim_err_t error = read_end(reader, header, i, "a node of a link", &link.a, &a);
        if (error == SIM_OK) {
            error = read_end(reader, header, i, "a node of a link", &link.b, &b);
        }
        if (error == SIM_OK && link.a == link.b) {
            error = sim_word_fail(&reader->words, &b, reader->message, SIM_ERR_INVALID,
                                  "a link from node %u to itself, expected two nodes", link.a);
        }
        if (error == SIM_OK) {
            error = read_values(reader, &link);
        }
        if (error != SIM_OK) {
            return error;
        }
        if (i + 1 < header->links) {
            skip_names(reader, &noted);
        }
        degree[link.a]++;
        degree[link.b]++;
        topo__file_add_link(reader->file, &link);
    }
    return SIM_OK;
}

// Notes how many lines behind the last declared link look like links. They are ignored.
static void note_more_links(topo__file_reader_t *reader, const header_t *header)
{
    sim_words_t words = reader->words;
    sim_word_t first = {0};
    uint64_t more = 0;
    while (sim_words_next_line(&words)) {
        sim_words_t line = words;
        sim_word_t word;
        uint64_t id = 0;
        sim_plain_t plain;
        sim_word_t rest;
        const bool node = sim_words_next_in_line(&line, &word) &&
                          sim_word_count(&line, &word, "", 0, header->nodes, &id, NULL) == SIM_OK;
        const sim_word_t begin = word;
        if (node && sim_words_in_line(line) == 4 && sim_words_next_in_line(&line, &word) &&
            sim_word_plain(&word, &plain, &rest) && rest.size_bytes == 0) {
            first = more == 0 ? begin : first;
            more++;
        }
    }
    if (more > 0) {
        sim_word_note(&reader->words, &first, reader->note, reader->ctx,
                      "%" PRIu64 " more link%s than the %" PRIu64
                      " that line %u declares: they are ignored",
                      more, sim_plural(more), header->links, header->line);
    }
}

static sim_err_t check_degrees(topo__file_reader_t *reader, const kind_t *kinds,
                               const uint32_t *degree)
{
    sim_word_t end;
    sim_words_t words = reader->words;
    (void)sim_words_next(&words, &end);
    for (size_t i = 0; i < reader->file->node_count; i++) {
        if (degree[i] == 0 && kinds[i] == KIND_HOST) {
            return sim_word_fail(&reader->words, &end, reader->message, SIM_ERR_INVALID,
                                 "node %zu is a host that no link joins, expected a link for each "
                                 "host (are the numbers of nodes and switches right?)",
                                 i);
        }
        if (degree[i] == 0) {
            sim_word_note(&reader->words, &end, reader->note, reader->ctx,
                          "no link joins switch %zu", i);
        }
        if (degree[i] > SIM_PORTS_PER_NODE_MAX) {
            return sim_word_fail(&reader->words, &end, reader->message, SIM_ERR_RANGE,
                                 "node %zu has %u links, expected at most %u", i, degree[i],
                                 SIM_PORTS_PER_NODE_MAX);
        }
    }
    return SIM_OK;
}

sim_err_t topo__file_read_hpcc(topo__file_reader_t *reader)
{
    header_t header = {0};
    sim_err_t error = read_header(reader, &header);
    if (error != SIM_OK) {
        return error;
    }
    reader->file->names_nvswitches = header.is_simai;
    kind_t *const kinds = sim_alloc_array(header.nodes + 1, sizeof(*kinds));
    uint32_t *const degree = sim_alloc_array(header.nodes + 1, sizeof(*degree));
    error = read_switches(reader, &header, kinds);
    for (uint32_t i = 0; i < header.nodes && error == SIM_OK; i++) {
        topo__file_add_node(reader->file, kinds[i] != KIND_HOST ? "switch" : "host", i,
                            kinds[i] != KIND_HOST ? NET_NODE_SWITCH : NET_NODE_HOST);
        reader->file->nodes[i].nvswitch = kinds[i] == KIND_NVSWITCH;
    }
    if (error == SIM_OK) {
        error = read_links(reader, &header, degree);
    }
    if (error == SIM_OK) {
        SIM_CHECK(reader->file->node_count == header.nodes);
        SIM_CHECK(reader->file->link_count == header.links);
        note_more_links(reader, &header);
        error = check_degrees(reader, kinds, degree);
    }
    sim_free(kinds);
    sim_free(degree);
    return error;
}
