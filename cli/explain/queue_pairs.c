// SPDX-License-Identifier: Apache-2.0
// cli/explain/queue_pairs.c - names the queue pairs behind a finding.
#include "cli/explain/explain_internal.h"
#include "cli/explain/print.h"
#include "cli/explain/run_data.h"
#include "world/names.h"

#include "world/format.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS_PRINTED_MAX 8u
#define PAIRS_PRINTED_OF_MINOR 2u
#define PAIRS_JSON_MAX 1000u

// Returns whether the flow's data made the finding, or was hit by it. A host that stops its switch
// also slows flows to other hosts; those are its victims.
static bool is_behind(const explain_t *explain, const explain_finding_t *finding,
                      const explain_flow_t *flow)
{
    if (finding->kind != EXPLAIN_PAUSE_STORM && finding->kind != EXPLAIN_SLOW_RECEIVER) {
        return true;
    }
    return finding->root_count == 0 ||
           world_host_of(explain->world, &explain->world->nics[flow->destination]) ==
               explain->roots[finding->roots[0]].node;
}

static int by_queue_pair(const void *a, const void *b)
{
    const explain_pair_t *const x = a;
    const explain_pair_t *const y = b;
    const uint32_t keys[][2] = {{x->source, y->source},
                                {x->source_qp, y->source_qp},
                                {x->destination, y->destination},
                                {x->destination_qp, y->destination_qp},
                                {x->source_port, y->source_port}};
    for (size_t i = 0; i < SIM_COUNT_OF(keys); i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    const explain_pair_t *const x = a;
    const explain_pair_t *const y = b;
    return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : by_queue_pair(a, b);
}

static int by_retransmitted(const void *a, const void *b)
{
    const explain_pair_t *const x = a;
    const explain_pair_t *const y = b;
    return x->retransmitted != y->retransmitted ? (x->retransmitted > y->retransmitted ? -1 : 1)
                                                : by_bytes(a, b);
}

// Adds up the flows of each queue pair. Returns how many there are.
static size_t sum_pairs(const explain_t *explain, const explain_finding_t *finding,
                        explain_pair_t *pairs)
{
    size_t count = 0;
    uint32_t *const places = sim_alloc_array(explain->pair_count + 1, sizeof(*places)); // 0: none
    for (size_t i = 0; i < finding->flow_count; i++) {
        const explain_flow_t *const flow = &explain->flows[finding->flows[i]];
        if (!is_behind(explain, finding, flow)) {
            continue;
        }
        uint32_t *const place = &places[flow->pair];
        if (*place == 0) {
            *place = (uint32_t)++count;
            pairs[*place - 1] = (explain_pair_t){.source = flow->source,
                                                 .destination = flow->destination,
                                                 .source_qp = flow->source_qp,
                                                 .destination_qp = flow->destination_qp,
                                                 .source_port = flow->source_port};
        }
        explain_pair_t *const pair = &pairs[*place - 1];
        pair->flows++;
        pair->bytes += flow->bytes;
        pair->retransmitted += flow->retransmitted;
    }
    sim_free(places);
    return count;
}

// Moves the first `most` pairs by an order to the front, in that order, and may lose the others.
static void sort_first(explain_pair_t *pairs, size_t count, size_t most,
                       int (*order)(const void *a, const void *b))
{
    size_t kept = SIM_MIN(2 * most, count);
    qsort(pairs, kept, sizeof(*pairs), order);
    for (size_t i = kept; i < count; i++) {
        kept = kept == 2 * most ? most : kept;
        if (order(&pairs[i], &pairs[most - 1]) < 0) {
            pairs[kept++] = pairs[i];
        }
        if (kept == 2 * most || i + 1 == count) {
            qsort(pairs, kept, sizeof(*pairs), order);
        }
    }
}

// Returns the queue pairs whose data made the finding, or which it hit; the first `most` of them
// are the heaviest: by packets sent again if the finding is about losses, else by bytes. The caller
// frees them.
static explain_pair_t *pairs_of(const explain_t *explain, const explain_finding_t *finding,
                                size_t most, size_t *count)
{
    explain_pair_t *const pairs = sim_alloc_array(finding->flow_count + 1, sizeof(*pairs));
    const bool losses = finding->kind == EXPLAIN_RETRANSMISSION ||
                        finding->kind == EXPLAIN_CORRUPTING_LINK ||
                        finding->kind == EXPLAIN_LINK_DOWN;
    *count = sum_pairs(explain, finding, pairs);
    sort_first(pairs, *count, most, losses ? by_retransmitted : by_bytes);
    return pairs;
}

// Writes "host1 QP 3", or the name alone if the number is not known.
static void print_end(const explain_t *explain, uint32_t interface, uint32_t qp, FILE *out)
{
    fputs(world_interface_name(explain->world, interface), out);
    if (qp != 0) {
        fprintf(out, " QP %u", qp);
    }
}

void cli__explain_print_pairs(const explain_t *explain, const explain_finding_t *finding, FILE *out)
{
    size_t count = 0;
    const size_t most = finding->minor ? PAIRS_PRINTED_OF_MINOR : PAIRS_PRINTED_MAX;
    explain_pair_t *const pairs = pairs_of(explain, finding, most, &count);
    if (count > 0) {
        fputs("  queue pairs behind it:\n", out);
    }
    for (size_t i = 0; i < count && i < most; i++) {
        world_text_t bytes;
        fputs("    ", out);
        print_end(explain, pairs[i].source, pairs[i].source_qp, out);
        fputs(" to ", out);
        print_end(explain, pairs[i].destination, pairs[i].destination_qp, out);
        fprintf(out, " (UDP port %u): %s in %u flow%s", pairs[i].source_port,
                world_format_bytes(&bytes, pairs[i].bytes), pairs[i].flows,
                pairs[i].flows == 1 ? "" : "s");
        if (pairs[i].retransmitted > 0) {
            fprintf(out, ", %" PRIu64 " packets sent again", pairs[i].retransmitted);
        }
        fputc('\n', out);
    }
    if (count > most) {
        fprintf(out, "    and %zu more\n", count - most);
    }
    sim_free(pairs);
}

json_t *cli__explain_pairs_json(const explain_t *explain, const explain_finding_t *finding)
{
    size_t count = 0;
    explain_pair_t *const pairs = pairs_of(explain, finding, PAIRS_JSON_MAX, &count);
    json_t *const list = json_array();
    for (size_t i = 0; i < count && i < PAIRS_JSON_MAX; i++) {
        json_t *const one = json_pack("{s:s, s:s, s:i, s:i, s:I, s:I}", "host",
                                      world_interface_name(explain->world, pairs[i].source), "peer",
                                      world_interface_name(explain->world, pairs[i].destination),
                                      "src_port", (int)pairs[i].source_port, "flows",
                                      (int)pairs[i].flows, "bytes", (json_int_t)pairs[i].bytes,
                                      "retransmitted_packets", (json_int_t)pairs[i].retransmitted);
        if (pairs[i].source_qp != 0) {
            json_object_set_new(one, "qp", json_integer(pairs[i].source_qp));
            json_object_set_new(one, "peer_qp", json_integer(pairs[i].destination_qp));
        }
        json_array_append_new(list, one);
    }
    sim_free(pairs);
    return list;
}
