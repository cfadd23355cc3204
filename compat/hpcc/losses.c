// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/losses.c - losses drawn in the order of the HPCC project's simulator: when frames
// arrive, from one stream of numbers for all links that share a rate.
#include "compat/hpcc/losses.h"
#include "compat/hpcc/hpcc_internal.h"
#include "kernel/order/fifo.h"
#include "net/ports.h"

#define LOSS_STREAM 50 // a constant of that simulator

// Links that share a stream of numbers and a loss rate.
typedef struct turns {
    compat_draws_stream_t *stream; // NULL: there are no such links
    double chance;
} turns_t;

typedef struct compat_losses {
    turns_t *turns; // [0]: links without a rate of their own; [i + 1]: link i
    size_t turns_count;
} compat_losses_t;

static bool is_lost(const net_port_t *port)
{
    const turns_t *const turns = port->rare->arrival_loss_ctx;
    SIM_ASSERT(turns->stream != NULL);
    return compat_draws_stream_next(turns->stream) < turns->chance;
}

// -- set-up

static void set_up_link(compat_hpcc_t *rules, size_t index)
{
    compat_losses_t *const losses = rules->losses;
    const net_link_t link = net_link_at(rules->net, index);
    const sim_ratio_t rate = link.config->loss_rate;
    turns_t *const turns = &losses->turns[link.config->loss_own ? index + 1 : 0];
    if (turns->stream == NULL) {
        const uint64_t run = sim_options(net_sim(rules->net))->seed;
        turns->stream = compat_draws_stream_create(run, LOSS_STREAM);
        turns->chance = (double)rate.num / (double)rate.den;
    }
    net_port_t *const ends[2] = {net_port_at(link.a, link.a_port),
                                 net_port_at(link.b, link.b_port)};
    for (int e = 0; e < 2; e++) {
        ends[e]->rare->is_lost_on_arrival = is_lost;
        ends[e]->rare->arrival_loss_ctx = turns;
        ends[e]->loses_arrivals = true;
    }
}

static compat_losses_t *losses_create(const compat_hpcc_t *rules)
{
    compat_losses_t *const losses = sim_alloc(sizeof(*losses));
    losses->turns_count = net_link_count(rules->net) + 1;
    losses->turns = sim_alloc_array(losses->turns_count, sizeof(*losses->turns));
    return losses;
}

// Links that share a rate share a stream; each link with its own rate has a stream of its own, with
// equal numbers.
void compat__losses_prepare(compat_hpcc_t *rules)
{
    if (rules->draws == NULL) {
        return;
    }
    for (size_t i = 0; i < net_link_count(rules->net); i++) {
        if (net_link_config(rules->net, i)->loss_rate.num == 0) {
            continue;
        }
        if (rules->losses == NULL) {
            sim_need_one_list(net_sim(rules->net));
            rules->losses = losses_create(rules);
        }
        set_up_link(rules, i);
    }
}

void compat__losses_free(compat_hpcc_t *rules)
{
    compat_losses_t *const losses = rules->losses;
    if (losses == NULL) {
        return;
    }
    for (size_t i = 0; i < losses->turns_count; i++) {
        compat_draws_stream_destroy(losses->turns[i].stream);
    }
    sim_free(losses->turns);
    sim_free(losses);
}
