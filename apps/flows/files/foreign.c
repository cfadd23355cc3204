// SPDX-License-Identifier: Apache-2.0
// apps/flows/files/foreign.c - recognises files that people give as flows and that list none:
// workloads, traces and configurations of other programs. docs/formats/peers.md lists them.
#include <string.h>

#include "apps/flows/files/foreign.h"
#include "apps/request_trace.h"

#define LOOKED_AT_BYTES ((size_t)1 << 16)

// Returns whether the text stands in the first bytes of the file.
static bool has(const char *text, size_t size, const char *what)
{
    const size_t length = strlen(what);
    for (size_t i = 0; i + length <= size; i++) {
        if (memcmp(text + i, what, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_any(const char *text, size_t size, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (has(text, size, words[i])) {
            return true;
        }
    }
    return false;
}

static size_t skip_blanks(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size &&
           (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n')) {
        at++;
    }
    return at;
}

// A workload of SimAI or ASTRA-sim: a first line with the kind of parallelism, then a row per layer
// with the collectives of its passes.
static bool is_workload(const char *text, size_t size)
{
    static const char *const kinds[] = {
        "HYBRID_", "TRANSFORMER", "DATA\n", "MODEL\n", "MICRO\n", "DLRM", "DISTRIBUTED_INFERENCE"};
    static const char *const collectives[] = {"ALLREDUCE", "ALLGATHER", "REDUCESCATTER",
                                              "ALLTOALL"};
    const char *const end = memchr(text, '\n', size);
    const size_t first = end == NULL ? size : (size_t)(end - text) + 1;
    return has(text, first, "model_parallel_NPU_group") ||
           (has_any(text, first, kinds, SIM_COUNT_OF(kinds)) &&
            has_any(text, size, collectives, SIM_COUNT_OF(collectives)));
}

// Returns whether the bytes begin like a Chakra trace: the length of a message, then its version as
// field 1, such as "0.0.4".
static bool is_chakra(const char *text, size_t size)
{
    const size_t at = size > 1 && ((unsigned char)text[0] & 0x80u) != 0 ? 2 : 1;
    return size > at + 4 && text[at] == '\n' && text[at + 1] > 0 && text[at + 1] < 32 &&
           text[at + 2] >= '0' && text[at + 2] <= '9' && text[at + 3] == '.';
}

static const char *of_json(const char *text, size_t size)
{
    if (has(text, size, "chakra") || has(text, size, "ctrl_deps") || has(text, size, "data_deps")) {
        return "a Chakra trace, whose nodes are operations of a program";
    }
    if (has(text, size, "hash_ids") || has(text, size, "\"timestamp\"")) {
        return "a trace of requests, which traffic of kinds mooncake-trace and serving reads";
    }
    return "JSON";
}

const char *app__flow_foreign(const char *text, size_t size_bytes)
{
    size_t size = SIM_MIN(size_bytes, LOOKED_AT_BYTES);
    if (is_chakra(text, size)) {
        return "a Chakra trace, whose nodes are operations of a program";
    }
    if (memchr(text, '\0', size) != NULL) {
        return "a binary file, such as a GOAL schedule or a Chakra trace";
    }
    const size_t blanks = skip_blanks(text, size);
    text += blanks;
    size -= blanks;
    if (size > 0 && (text[0] == '{' || (text[0] == '[' && has(text, size, "{")))) {
        return of_json(text, size);
    }
    if (has(text, size, "num_ranks") && has(text, size, "rank ")) {
        return "a GOAL file, whose ranks send, receive and calculate";
    }
    if (app__trace_detect(text, size) != APP__TRACE_NONE) {
        return "a trace of requests, which traffic of kind serving reads";
    }
    if (is_workload(text, size)) {
        return "a workload of SimAI or ASTRA-sim, whose rows are layers and their collectives";
    }
    if (has(text, size, "FLOW_FILE") && has(text, size, "TOPOLOGY_FILE")) {
        return "a configuration of HPCC's simulator, which `rocesim hpcc` runs";
    }
    return NULL;
}
