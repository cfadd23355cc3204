// SPDX-License-Identifier: Apache-2.0
// cli/workload/peers.c - distinguishes topologies and settings of other programs from workloads.
//
// NCCL's XML of a server is counted; of the others, `rocesim check` says how a scenario uses them.
#include "cli/workload/peers.h"

#include "cli/command.h"
#include "kernel/words.h"

#include <expat.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 64u // that are looked at

// Files that are recognised by the first word of one of their first lines.
static const struct {
    const char *word;
    const char *what;
} peers[] = {
    {"Tiers", "a topology of htsim; a scenario uses it as topology: {file: {path: FILE}}"},
    {"ENABLE_QCN", "settings of HPCC's simulator or SimAI; rocesim hpcc runs them"},
    {"npus_count:", "a network of ASTRA-sim; rocesim params topology lists those that it builds"},
    {"\"logical-dims\":",
     "a network of ASTRA-sim; rocesim params topology lists those that it builds"},
    {"\"scheduling-policy\":", "settings of ASTRA-sim, which have no counterpart here"},
    {"comm_type,comm_group,comm_group_size",
     "a log of AICB; expected its workload text, which AICB writes for SimAI"},
};

// Returns whether a text begins like a topology of HPCC's simulator or SimAI: two lines of numbers,
// and links with a rate and a delay below them.
static bool is_graph(sim_words_t words)
{
    sim_word_t word;
    uint64_t number = 0;
    size_t count = 0;
    for (; count < 3 && sim_words_next_in_line(&words, &word); count++) {
        if (sim_word_count(&words, &word, "", 0, UINT32_MAX, &number, NULL) != SIM_OK) {
            return false;
        }
    }
    while (count >= 3 && sim_words_next_line(&words)) {
        for (count = 0; sim_words_next_in_line(&words, &word); count++) {
            const size_t length = word.size_bytes;
            if (count == 2 && length > 3 && memcmp(word.text + length - 3, "bps", 3) == 0) {
                return true;
            }
        }
        count = 3;
    }
    return false;
}

const char *cli_peer_of(const char *text, size_t size_bytes)
{
    sim_words_t words;
    sim_word_t word;
    sim_words_init(&words, "", text, size_bytes);
    if (is_graph(words)) {
        return "a topology of HPCC's simulator or SimAI; a scenario uses it as topology: {file: "
               "{path: FILE}}";
    }
    for (unsigned line = 0; line < LINES_MAX; line++) {
        if (sim_words_next_in_line(&words, &word)) {
            for (size_t i = 0; i < SIM_COUNT_OF(peers); i++) {
                const size_t length = strlen(peers[i].word);
                if (word.size_bytes >= length && memcmp(word.text, peers[i].word, length) == 0) {
                    return peers[i].what;
                }
            }
        }
        if (!sim_words_next_line(&words)) {
            return NULL;
        }
    }
    return NULL;
}

// -- NCCL

typedef struct nccl_kind {
    const char *element;
    const char *name; // of its count
} nccl_kind_t;

// The elements that are counted.
static const nccl_kind_t kinds[] = {
    {"cpu", "cpus"}, {"pci", "pci"},        {"gpu", "gpus"},         {"nic", "nics"},
    {"net", "nets"}, {"nvlink", "nvlinks"}, {"channel", "channels"},
};

typedef struct nccl {
    uint64_t counts[SIM_COUNT_OF(kinds)];
    char version[16];
} nccl_t;

static void XMLCALL count_element(void *ctx, const XML_Char *name, const XML_Char **attrs)
{
    nccl_t *const nccl = XML_GetUserData((XML_Parser)ctx);
    for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
        nccl->counts[i] += strcmp(name, kinds[i].element) == 0;
    }
    if (nccl->version[0] == '\0') {
        for (; attrs[0] != NULL; attrs += 2) {
            if (strcmp(attrs[0], "version") == 0) {
                snprintf(nccl->version, sizeof(nccl->version), "%.15s", attrs[1]);
            }
        }
    }
}

bool cli_nccl_is(const char *text, size_t size_bytes)
{
    static const char *const roots[] = {"<system", "<graphs"};
    size_t at = 0;
    while (at + 8 < size_bytes) {
        if (size_bytes - at > 4 && memcmp(text + at, "<!--", 4) == 0) {
            do {
                at++;
            } while (at + 8 < size_bytes && memcmp(text + at, "-->", 3) != 0);
            at += 3;
        } else if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n') {
            at++;
        } else {
            return memcmp(text + at, roots[0], 7) == 0 || memcmp(text + at, roots[1], 7) == 0;
        }
    }
    return false;
}

static void print_json(const char *name, const nccl_t *nccl)
{
    json_t *const object = json_object();
    json_object_set_new(object, "file", json_string(name));
    json_object_set_new(object, "format", json_string("nccl-topology"));
    json_object_set_new(object, "version", json_string(nccl->version));
    for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
        json_object_set_new(object, kinds[i].name, json_integer((json_int_t)nccl->counts[i]));
    }
    char *const text = json_dumps(object, JSON_INDENT(1));
    SIM_CHECK(text != NULL);
    puts(text);
    free(text);
    json_decref(object);
}

static void print_nccl(const char *name, const nccl_t *nccl)
{
    printf("%s: the topology of a server, or its channels, as NCCL has them (version %s)\n", name,
           nccl->version);
    for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
        printf("  %-9s %" PRIu64 "\n", kinds[i].name, nccl->counts[i]);
    }
    printf(
        "  use       a run takes no such file; topology.nics-per-host and nvlink-rate say this\n");
}

static void XMLCALL begin_doctype(void *ctx, const XML_Char *name, const XML_Char *system,
                                  const XML_Char *public, int internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    (void)XML_StopParser(ctx, XML_FALSE); // no entities: they can make a small file large
}

int cli_nccl_check(const char *name, const char *text, size_t size_bytes, bool json)
{
    nccl_t nccl = {.version = ""};
    XML_Parser parser = XML_ParserCreate(NULL);
    SIM_CHECK(parser != NULL);
    XML_SetUserData(parser, &nccl);
    XML_SetStartElementHandler(parser, count_element);
    XML_UseParserAsHandlerArg(parser);
    XML_SetStartDoctypeDeclHandler(parser, begin_doctype);
    const bool good = size_bytes < INT32_MAX &&
                      XML_Parse(parser, text, (int)size_bytes, XML_TRUE) == XML_STATUS_OK;
    if (good) {
        json ? print_json(name, &nccl) : print_nccl(name, &nccl);
    } else {
        fprintf(stderr, "%s:%lu:%lu: not valid XML: %s, expected a topology of NCCL\n", name,
                (unsigned long)XML_GetCurrentLineNumber(parser),
                (unsigned long)XML_GetCurrentColumnNumber(parser) + 1,
                XML_ErrorString(XML_GetErrorCode(parser)));
    }
    XML_ParserFree(parser);
    return good ? CLI_EXIT_DONE : CLI_EXIT_BAD_INPUT;
}
