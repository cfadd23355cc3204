// SPDX-License-Identifier: Apache-2.0
// cli/import/links.c - reads a plain list of links: CSV with a line for each cable.
//
// The first line may name the columns, in any order; without names they are node, node, rate,
// length. Separators are commas, semicolons or tabs.
#include "cli/import/format.h"

#include "kernel/parse.h"
#include "kernel/words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum column {
    NODE_A,
    PORT_A,
    NODE_B,
    PORT_B,
    RATE,
    LENGTH,
    DELAY,
    COLUMNS,
    OTHER = COLUMNS,
} column_t;

// clang-format off
static const import_key_t keys[] = {
    {"CSV", "a (or source, src, from, node_a, device_a, local_device)", IMPORT_BECAME, "one end of a link"},
    {"CSV", "a_port (or source_port, src_port, port_a, interface_a, local_port)", IMPORT_BECAME, "the port at this end"},
    {"CSV", "b (or destination, dst, to, node_b, device_b, remote_device)", IMPORT_BECAME, "the other end"},
    {"CSV", "b_port (or destination_port, dst_port, port_b, interface_b, remote_port)", IMPORT_BECAME, "the port at the other end"},
    {"CSV", "rate (or speed, bandwidth)", IMPORT_BECAME, "the rate of the link: 100Gbps, 100G, or a number of Gbit/s up to 3200, of Mbit/s from 10000 on"},
    {"CSV", "length (or cable, cable_length)", IMPORT_BECAME, "the delay of the link, at 5 ns a metre: 5m, 5"},
    {"CSV", "delay (or latency)", IMPORT_BECAME, "the delay of the link: 25ns"},
    {"CSV", "", IMPORT_ASSUMED, "a node whose name contains switch, leaf, spine, tor, core, agg, edge or sw, or that has several neighbours, is a switch"},
};
// clang-format on

static const struct {
    column_t column;
    const char *names; // between blanks
} titles[] = {
    {NODE_A, " a source src from node_a device_a local_device node1 endpoint_a "},
    {PORT_A, " a_port source_port src_port port_a interface_a local_port from_port port1 "},
    {NODE_B, " b destination dest dst to node_b device_b remote_device node2 endpoint_b "},
    {PORT_B,
     " b_port destination_port dest_port dst_port port_b interface_b remote_port to_port port2 "},
    {RATE, " rate speed bandwidth "},
    {LENGTH, " length cable cable_length "},
    {DELAY, " delay latency "},
};

// Returns the first line that is no comment, and its separator.
static const char *first_line(const char *text, char *separator)
{
    const char *at = text;
    while (*at == '#' || *at == '\n' || *at == '\r') {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    const size_t size = strcspn(at, "\n");
    *separator = memchr(at, ',', size) != NULL    ? ','
                 : memchr(at, ';', size) != NULL  ? ';'
                 : memchr(at, '\t', size) != NULL ? '\t'
                                                  : '\0';
    return at;
}

static column_t column_of(const sim_word_t *title)
{
    char name[48];
    if (title->size_bytes == 0 || title->size_bytes > sizeof(name) - 3) {
        return OTHER;
    }
    (void)snprintf(name, sizeof(name), " %.*s ", (int)title->size_bytes, title->text);
    for (char *p = name + 1; p < name + title->size_bytes + 1; p++) {
        *p = (char)(*p == ' ' || *p == '-' ? '_' : *p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(titles); i++) {
        if (strstr(titles[i].names, name) != NULL) {
            return titles[i].column;
        }
    }
    return OTHER;
}

static bool is_links(const import_file_t *file)
{
    char separator;
    const char *const line = first_line(file->text, &separator);
    return separator != '\0' && file->json == NULL && line[0] != '<' && line[0] != '{' &&
           memchr(line, ':', strcspn(line, separator == ',' ? "," : ";\t")) == NULL;
}

static char *text_of(const sim_word_t *cell)
{
    return cell->size_bytes > 0
               ? sim_format("%.*s", (int)SIM_MIN(cell->size_bytes, (size_t)200), cell->text)
               : NULL;
}

// Reads "100Gbps", "100G", "100000" (Mbit/s), "100" (Gbit/s). False: it is none.
static bool rate_of(const char *text, uint64_t *rate_bps)
{
    sim_message_t message;
    if (sim_parse_rate(text, rate_bps, &message) == SIM_OK && strpbrk(text, "bB") != NULL) {
        return true;
    }
    char *end = NULL;
    const double number = strtod(text, &end);
    if (end == text || number <= 0 || number > 1e8) {
        return false;
    }
    while (*end == ' ') {
        end++;
    }
    const bool giga = strncasecmp(end, "g", 1) == 0 || (*end == '\0' && number <= 3200);
    const bool mega = strncasecmp(end, "m", 1) == 0 || (*end == '\0' && number >= 10000);
    *rate_bps = (uint64_t)(number * (giga ? 1e9 : 1e6));
    return giga || mega;
}

static sim_err_t bad_cell(const sim_words_t *words, const sim_word_t *cell, const char *what,
                          const char *expected, world_error_t *error)
{
    sim_word_shown_t shown;
    const world_place_t place = {words->name, (int)cell->line, (int)cell->column};
    return world_fail(error, SIM_ERR_INVALID, &place, "%s is '%s', expected %s", what,
                      sim_word_show(cell, &shown), expected);
}

static sim_err_t take_cable(import_port_t *port, const sim_words_t *words,
                            const sim_word_t cells[COLUMNS], world_error_t *error)
{
    char *const rate = text_of(&cells[RATE]);
    char *const length = text_of(&cells[LENGTH]);
    char *const delay = text_of(&cells[DELAY]);
    sim_err_t result = SIM_OK;
    sim_time_t delay_ps = 0;
    sim_message_t message;
    if (rate != NULL && !rate_of(rate, &port->rate_bps)) {
        result = bad_cell(words, &cells[RATE], "a rate", "such as 100Gbps, 100G or 100", error);
    }
    if (result == SIM_OK && length != NULL) {
        char *end = NULL;
        const double metres = strtod(length, &end);
        port->length_cm = (uint64_t)(metres * 100 + 0.5);
        if (end == length || metres < 0 || metres > 1e6 ||
            (*end != '\0' && strcasecmp(end, "m") != 0)) {
            result = bad_cell(words, &cells[LENGTH], "a length", "metres, such as 5m", error);
        }
    }
    if (result == SIM_OK && delay != NULL) {
        if (sim_parse_time(delay, &delay_ps, &message) != SIM_OK || delay_ps == 0) {
            result = bad_cell(words, &cells[DELAY], "a delay", "a time, such as 25ns", error);
        }
        port->length_cm = delay_ps / 50; // 5 ns are a metre
    }
    SIM_FREE_ALL(rate, length, delay);
    return result;
}

static bool sounds_like_switch(const char *name)
{
    static const char *const words[] = {"switch", "leaf", "spine", "tor",    "core",
                                        "agg",    "edge", "sw",    "border", "fabric"};
    char *const small = sim_format("%s", name);
    bool found = false;
    for (char *p = small; *p != '\0'; p++) {
        *p = (char)tolower((unsigned char)*p);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(words); i++) {
        found = found || strstr(small, words[i]) != NULL;
    }
    sim_free(small);
    return found;
}

static sim_err_t take_link(import_fabric_t *fabric, const sim_words_t *words,
                           const sim_word_t cells[COLUMNS], world_error_t *error)
{
    const world_place_t place = {words->name, (int)cells[NODE_A].line, (int)cells[NODE_A].column};
    char *const a = text_of(&cells[NODE_A]);
    char *const b = text_of(&cells[NODE_B]);
    if (a == NULL || b == NULL) {
        sim_free(a);
        sim_free(b);
        return world_fail(
            error, SIM_ERR_INVALID, &place,
            "a link without two nodes, expected a line such as leaf1,host3,100Gbps,5m");
    }
    const uint32_t near = import_fabric_node(fabric, a, &place);
    const uint32_t far = import_fabric_node(fabric, b, &place);
    char *a_port = text_of(&cells[PORT_A]);
    char *b_port = text_of(&cells[PORT_B]);
    if (a_port == NULL) {
        a_port = sim_format("port%zu", fabric->nodes[near].port_count);
    }
    if (b_port == NULL) {
        b_port = sim_format("port%zu", fabric->nodes[far].port_count);
    }
    sim_err_t result = SIM_OK;
    if (near == far) {
        result = world_fail(error, SIM_ERR_INVALID, &place,
                            "a link from a node to itself, expected two nodes");
    } else {
        (void)import_fabric_port(&fabric->nodes[far], b_port, &place);
        import_port_t *const port = import_fabric_port(&fabric->nodes[near], a_port, &place);
        if (!import_port_peer(port, b, b_port, NULL)) {
            world_shown_t shown;
            result = world_fail(error, SIM_ERR_INVALID, &place,
                                "port %s has two links, expected one", world_show(&shown, a_port));
        } else {
            result = take_cable(port, words, cells, error);
        }
    }
    SIM_FREE_ALL(a, b, a_port, b_port);
    return result;
}

// A node is a switch by its name or because it has several neighbours.
static void decide_kinds(import_fabric_t *fabric)
{
    uint32_t *const neighbours = sim_alloc_array(fabric->node_count, sizeof(*neighbours));
    for (size_t n = 0; n < fabric->node_count; n++) {
        neighbours[n] = 0;
    }
    for (size_t n = 0; n < fabric->node_count; n++) {
        const char *last = "";
        for (size_t p = 0; p < fabric->nodes[n].port_count; p++) {
            const import_port_t *const port = &fabric->nodes[n].ports[p];
            if (port->peer != NULL && strcmp(port->peer, last) != 0) {
                const uint32_t far = import_fabric_node(fabric, port->peer, &port->place);
                neighbours[n]++;
                neighbours[far]++;
                last = port->peer;
            }
        }
    }
    bool any = false;
    for (size_t n = 0; n < fabric->node_count; n++) {
        any = any || sounds_like_switch(fabric->nodes[n].name);
    }
    for (size_t n = 0; n < fabric->node_count; n++) {
        import_node_t *const node = &fabric->nodes[n];
        if (node->kind == IMPORT_UNKNOWN) {
            const bool is_switch = any ? sounds_like_switch(node->name) : neighbours[n] > 1;
            node->kind = is_switch ? IMPORT_SWITCH : IMPORT_HOST;
        }
    }
    sim_free(neighbours);
}

static sim_err_t read_links(import_fabric_t *fabric, const import_file_t *file,
                            world_error_t *error)
{
    char separator;
    sim_words_t words;
    column_t order[32] = {NODE_A, NODE_B, RATE, LENGTH};
    size_t columns = 4;
    bool first = true;
    sim_err_t result = SIM_OK;
    const char *const begin = first_line(file->text, &separator);
    sim_words_init(&words, file->name, file->text, file->size_bytes);
    (void)begin;
    do {
        sim_word_t row[SIM_COUNT_OF(order)] = {0};
        sim_word_t cells[COLUMNS] = {0};
        size_t count = 0;
        bool more = true;
        if (words.at == words.end || *words.at == '#' || *words.at == '\n' || *words.at == '\r') {
            continue;
        }
        while (more && count < SIM_COUNT_OF(order)) {
            more = sim_words_next_cell(&words, separator, &row[count++]);
        }
        bool names = false;
        for (size_t c = 0; first && c < count; c++) {
            names = names || column_of(&row[c]) == NODE_A || column_of(&row[c]) == NODE_B;
        }
        if (first && names) {
            for (columns = 0; columns < count; columns++) {
                order[columns] = column_of(&row[columns]);
                if (order[columns] == OTHER) {
                    sim_word_shown_t shown;
                    const world_place_t place = {file->name, (int)row[columns].line,
                                                 (int)row[columns].column};
                    import_note(fabric, IMPORT_IGNORED, &place, "column %s: not used",
                                sim_word_show(&row[columns], &shown));
                }
            }
        } else {
            cells[NODE_A] = row[0];
            for (size_t c = 0; c < count && c < columns; c++) {
                if (order[c] != OTHER) {
                    cells[order[c]] = row[c];
                }
            }
            result = take_link(fabric, &words, cells, error);
        }
        first = false;
    } while (result == SIM_OK && sim_words_next_line(&words));
    if (result == SIM_OK) {
        decide_kinds(fabric);
        for (size_t k = 0; k < SIM_COUNT_OF(keys); k++) {
            if (k == 0 || k == 2 || k == SIM_COUNT_OF(keys) - 1) {
                import_note_key(fabric, &import_links, keys[k].table, keys[k].field,
                                WORLD_FILE(file->name));
            }
        }
    }
    return result;
}

const import_format_t import_links = {
    .name = "a list of links (CSV)",
    .is = is_links,
    .read = read_links,
    .keys = keys,
    .key_count = SIM_COUNT_OF(keys),
};
