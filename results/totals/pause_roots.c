// SPDX-License-Identifier: Apache-2.0
// results/totals/pause_roots.c - follows pauses back to where they began.
//
// The state of a pause is kept at the port that sent it, by class. A pause that is passed on takes
// the root of the one that stopped the queue; where that one was released meanwhile and the word is
// still under way, its last root.
#include "results/totals/pause_roots.h"

#include "net/nodes.h"
#include "net/port_pause.h"
#include "net/port_queue.h"
#include "net/ports.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_PACKETS 16u // of a queue that are looked at
#define SEARCH_EVERY 8u  // pauses of a port: those between go by the queue found last
#define NO_ROOT UINT32_MAX

typedef struct told {
    bool open;           // the port's last word is to stop
    sim_time_t since_ps; // that the peer has been stopped; SIM_TIME_NEVER: it is not
    uint32_t held_root;  // of that stop
    uint32_t root;       // of the pause that was sent last
    uint32_t links_away;
} told_t;

typedef struct root {
    results_pause_root_t seen;
    uint8_t *reached; // a bit per port of the network
} root_t;

// The queue that a port blamed last. Only the turns of the port's node read or write it.
typedef struct found {
    const net_port_t *queue; // NULL: nothing yet
    uint8_t priority;
    uint8_t uses;
} found_t;

struct results_pause_roots {
    const net_t *net;
    found_t *found; // by the port's uid
    size_t port_count;
    told_t **told;          // by the port's uid: NET_PRIORITIES each, made when needed
    uint32_t *root_of_port; // by uid: number of the root, plus 1; 0: none
    root_t *roots;
    size_t count;
    size_t capacity;
};

results_pause_roots_t *results_pause_roots_create(const net_t *net)
{
    results_pause_roots_t *const roots = sim_alloc(sizeof(*roots));
    *roots = (results_pause_roots_t){.net = net};
    roots->port_count = 2 * net_link_count(net);
    roots->told = sim_alloc_array(roots->port_count + 1, sizeof(told_t *));
    roots->root_of_port = sim_alloc_array(roots->port_count + 1, sizeof(uint32_t));
    roots->found = sim_alloc_array(roots->port_count + 1, sizeof(found_t));
    return roots;
}

void results_pause_roots_destroy(results_pause_roots_t *roots)
{
    if (roots == NULL) {
        return;
    }
    sim_free_each(roots->told, roots->port_count);
    for (size_t i = 0; i < roots->count; i++) {
        sim_free(roots->roots[i].reached);
    }
    SIM_FREE_ALL(roots->found, roots->told, roots->root_of_port, roots->roots, roots);
}

// -- in the node's turn

// Bytes of the ingress port in a queue, as its first packets have it.
static double bytes_from(const net_port_t *queue, uint32_t priority, uint32_t ingress_port)
{
    const net_class_t *const held = queue->classes[priority];
    uint64_t seen = 0;
    uint64_t of_ingress = 0;
    net_queued_t first[HEAD_PACKETS];
    const uint32_t count = net_queue_peek(held, first, HEAD_PACKETS);
    for (uint32_t i = 0; i < count; i++) {
        seen += first[i].frame_bytes;
        of_ingress += first[i].ingress_port == ingress_port ? first[i].frame_bytes : 0;
    }
    return seen > 0 ? (double)held->bytes * (double)of_ingress / (double)seen : 0.0;
}

static const net_port_t *longest_of(const net_port_t *port, uint32_t priority)
{
    const net_node_t *const node = port->node;
    const net_port_t *longest = NULL;
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < node->port_count; p++) {
        const net_port_t *const queue = net_port_at(node, p);
        if (queue != port && queue->classes[priority]->bytes > bytes) {
            bytes = queue->classes[priority]->bytes;
            longest = queue;
        }
    }
    return longest;
}

static const net_port_t *queue_of(const net_port_t *port, uint32_t priority)
{
    const net_node_t *const node = port->node;
    const net_port_t *const longest = longest_of(port, priority);
    if (longest == NULL) {
        return NULL;
    }
    const net_port_t *best = longest;
    double best_bytes = bytes_from(longest, priority, port->index);
    for (uint32_t p = 0; p < node->port_count; p++) {
        const net_port_t *const queue = net_port_at(node, p);
        // A queue cannot hold more of the peer's bytes than it holds: few are looked into.
        if (queue == port || (double)queue->classes[priority]->bytes <= best_bytes) {
            continue;
        }
        const double bytes = bytes_from(queue, priority, port->index);
        if (bytes > best_bytes) {
            best_bytes = bytes;
            best = queue;
        }
    }
    return best;
}

// Pauses come in bursts for one cause: looking into packets each time would slow storms down.
static const net_port_t *queue_again(found_t *found, const net_port_t *port, uint32_t priority)
{
    if (found->queue == NULL || found->priority != priority || found->uses >= SEARCH_EVERY ||
        found->queue->classes[priority]->bytes == 0) {
        *found = (found_t){.queue = queue_of(port, priority), .priority = (uint8_t)priority};
    }
    found->uses++;
    return found->queue;
}

void results_pause_word_of(results_pause_roots_t *roots, const net_trace_t *trace,
                           results_pause_word_t *word)
{
    const net_port_t *const port = trace->port;
    *word = (results_pause_word_t){
        .port = port,
        .priority = (uint8_t)trace->detail,
        .stop = trace->point == NET_TRACE_XOFF,
    };
    if (!word->stop || port->node->kind == NET_NODE_HOST) {
        return;
    }
    word->queue = queue_again(&roots->found[port->uid], port, word->priority);
    word->queue_is_stopped =
        word->queue != NULL && (word->queue->paused >> word->priority & 1u) != 0;
}

// -- in order of time

static uint32_t root_at(results_pause_roots_t *roots, const net_port_t *port)
{
    uint32_t *const index = &roots->root_of_port[port->uid];
    if (*index == 0) {
        SIM_GROW(roots->roots, roots->count, &roots->capacity);
        *index = (uint32_t)++roots->count;
        root_t *const root = &roots->roots[*index - 1];
        const size_t size = roots->port_count / 8 + 1;
        *root = (root_t){.reached = sim_alloc_array(size, 1)};
        memset(root->reached, 0, size);
        root->seen.port = port;
        root->seen.is_host = port->node->kind == NET_NODE_HOST;
    }
    return *index - 1;
}

static told_t *told_by(results_pause_roots_t *roots, const net_port_t *port, uint32_t priority)
{
    told_t **const told = &roots->told[port->uid];
    if (*told == NULL) {
        *told = sim_alloc_array(NET_PRIORITIES, sizeof(told_t));
        for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
            (*told)[p] = (told_t){.since_ps = SIM_TIME_NEVER, .root = NO_ROOT};
        }
    }
    return &(*told)[priority];
}

static void find_root(results_pause_roots_t *roots, told_t *told, const results_pause_word_t *word)
{
    const told_t *const cause =
        word->queue_is_stopped ? told_by(roots, net_port_peer(word->queue), word->priority) : NULL;
    if (cause != NULL && cause->root != NO_ROOT) {
        told->root = cause->root;
        told->links_away = cause->links_away + 1;
    } else {
        told->root = root_at(roots, word->queue != NULL ? word->queue : word->port);
        told->links_away = 1;
    }
}

void results_pause_roots_take(results_pause_roots_t *roots, const results_pause_word_t *word)
{
    told_t *const told = told_by(roots, word->port, word->priority);
    if (word->stop && !told->open) {
        find_root(roots, told, word);
    }
    told->open = word->stop;
}

static void end(results_pause_roots_t *roots, told_t *told, sim_time_t time_ps)
{
    if (told->since_ps != SIM_TIME_NEVER) {
        roots->roots[told->held_root].seen.paused_ps += time_ps - told->since_ps;
        told->since_ps = SIM_TIME_NEVER;
    }
}

void results_pause_roots_stopped(results_pause_roots_t *roots, sim_time_t time_ps,
                                 const net_port_t *port, uint32_t priority, bool stopped)
{
    told_t *const told = told_by(roots, net_port_peer(port), priority);
    end(roots, told, time_ps);
    if (!stopped || told->root == NO_ROOT) {
        return;
    }
    root_t *const root = &roots->roots[told->root];
    const uint8_t bit = (uint8_t)(1u << port->uid % 8);
    told->since_ps = time_ps;
    told->held_root = told->root;
    if (root->seen.pauses++ == 0) {
        root->seen.first_ps = time_ps;
    }
    root->seen.links_away = SIM_MAX(root->seen.links_away, told->links_away);
    if ((root->reached[port->uid / 8] & bit) == 0) {
        root->reached[port->uid / 8] |= bit;
        root->seen.ports++;
        root->seen.hosts += port->node->kind == NET_NODE_HOST;
    }
}

const results_pause_root_t *results_pause_root_of(const results_pause_roots_t *roots,
                                                  const net_port_t *stopped, uint32_t priority)
{
    const told_t *const told = roots->told[net_port_peer(stopped)->uid];
    return told != NULL && told[priority].root != NO_ROOT ? &roots->roots[told[priority].root].seen
                                                          : NULL;
}

// -- after the run

static int compare_roots(const void *a, const void *b)
{
    const results_pause_root_t *const x = &((const root_t *)a)->seen;
    const results_pause_root_t *const y = &((const root_t *)b)->seen;
    return 2 * SIM_COMPARE(y->paused_ps, x->paused_ps) + SIM_COMPARE(x->port->uid, y->port->uid);
}

void results_pause_roots_end(results_pause_roots_t *roots, sim_time_t end_ps)
{
    for (size_t i = 0; i < roots->port_count; i++) {
        for (uint32_t p = 0; roots->told[i] != NULL && p < NET_PRIORITIES; p++) {
            end(roots, &roots->told[i][p], end_ps);
        }
    }
    // A word that was withdrawn before its frame left stopped nobody.
    size_t kept = 0;
    for (size_t i = 0; i < roots->count; i++) {
        if (roots->roots[i].seen.pauses > 0) {
            roots->roots[kept++] = roots->roots[i];
        } else {
            sim_free(roots->roots[i].reached);
        }
    }
    roots->count = kept;
    if (kept > 0) {
        qsort(roots->roots, kept, sizeof(*roots->roots), compare_roots);
    }
}

size_t results_pause_roots_count(const results_pause_roots_t *roots)
{
    return roots->count;
}

const results_pause_root_t *results_pause_roots_at(const results_pause_roots_t *roots, size_t index)
{
    SIM_CHECK(index < roots->count);
    return &roots->roots[index].seen;
}

const char *results_pause_root_name(const results_pause_root_t *root)
{
    return root->is_host ? root->port->node->sim.name : net_port_name(root->port);
}
