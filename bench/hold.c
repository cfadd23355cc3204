// SPDX-License-Identifier: Apache-2.0
// bench/hold.c - the engine alone: events per second of the hold model.
//
//     hold [--nodes 208] [--messages 24] [--threads 1] [--events 20000000]
//
// The classic yardstick of event sets (Vaucher and Duval 1975; Jones 1986): a constant number of
// messages, each arrival sends one on to a random neighbour after a random delay. Nothing of a
// network is simulated, so the figure bounds what any model on the engine can reach.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel/attribute.h"
#include "kernel/event.h"
#include "kernel/parse.h"

#define PORTS 8u

typedef struct hop_node {
    sim_node_t node; // first
    sim_channel_t *channels[PORTS];
    sim_time_t free_ps[PORTS];
    uint64_t state;
} hop_node_t;

static void run(sim_node_t *node)
{
    hop_node_t *const self = (hop_node_t *)(void *)node;
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        self->state = self->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint32_t port = (uint32_t)(self->state >> 40) % PORTS;
        const sim_time_t least_ps = node->now_ps + SIM_PS_PER_US;
        sim_time_t arrive_ps = least_ps + (self->state >> 44);
        arrive_ps = arrive_ps > self->free_ps[port] ? arrive_ps : self->free_ps[port] + 1;
        self->free_ps[port] = arrive_ps;
        sim_send(node, self->channels[port], arrive_ps,
                 event.kind == SIM_EVENT_ARRIVAL ? event.message : self);
    }
}

static void destroy(sim_node_t *node)
{
    sim_free(node);
}

static const sim_node_ops_t ops = {.kind = "hold", .run = run, .destroy = destroy};

typedef struct limit {
    sim_t *sim;
    uint64_t events;
} limit_t;

static void stop_at(sim_time_t window_end_ps, void *ctx)
{
    const limit_t *const limit = ctx;
    (void)window_end_ps;
    if (sim_events(limit->sim) >= limit->events) {
        sim_interrupt(limit->sim);
    }
}

static uint64_t option(int argc, char **argv, const char *name, uint64_t value)
{
    sim_message_t message = {.text = "expected a number"};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], name) == 0 &&
            sim_parse_count(argv[i + 1], &value, &message) != SIM_OK) {
            (void)fprintf(stderr, "hold: %s: %s\n", name, message.text);
            exit(2);
        }
    }
    return value;
}

int main(int argc, char **argv)
{
    const uint64_t count = option(argc, argv, "--nodes", 208);
    const uint64_t messages = option(argc, argv, "--messages", 24);
    const uint64_t threads = option(argc, argv, "--threads", 1);
    const uint64_t events = option(argc, argv, "--events", 20000000);
    if (count < 2) {
        (void)fprintf(stderr, "hold: --nodes: expected at least 2\n");
        return 2;
    }
    sim_t *const sim = sim_create(
        &(sim_options_t){.seed = 1, .threads = (unsigned)threads, .until_ps = SIM_TIME_NEVER});
    hop_node_t **const nodes = sim_alloc_array(count, sizeof(*nodes));
    for (uint64_t i = 0; i < count; i++) {
        nodes[i] = sim_alloc_lines(sizeof(hop_node_t));
        sim_node_register(sim, &nodes[i]->node, &ops, "node");
        nodes[i]->state = i;
    }
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t p = 0; p < PORTS; p++) {
            hop_node_t *const to =
                nodes[(i + 1 + (sim_mix64(i * PORTS + p) % (count - 1))) % count];
            nodes[i]->channels[p] =
                sim_channel_create(sim, &nodes[i]->node, &to->node, p, SIM_PS_PER_US);
        }
        for (uint64_t m = 0; m < messages; m++) {
            sim_wake(&nodes[i]->node, m * 1000, 0);
        }
    }
    limit_t limit = {sim, events};
    sim_on_window(sim, stop_at, &limit);
    struct timespec start;
    struct timespec end;
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    (void)sim_run(sim);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    const double wall_s =
        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
    (void)printf("{\"bench\": \"hold\", \"nodes\": %" PRIu64 ", \"threads\": %" PRIu64
                 ", \"events\": %" PRIu64 ", \"wall_s\": %.4f, \"events_per_s\": %.0f"
                 ", \"ns_per_event\": %.2f}\n",
                 count, threads, sim_events(sim), wall_s, (double)sim_events(sim) / wall_s,
                 wall_s * 1e9 / (double)sim_events(sim));
    sim_destroy(sim);
    sim_free(nodes);
    return 0;
}
