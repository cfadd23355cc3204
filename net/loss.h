// SPDX-License-Identifier: Apache-2.0
// net/loss.h - what happens to frames on a link besides taking time: loss in patterns, loss by a
// list, reordering, duplication.
//
// Each direction of a link has a state and random streams of its own ("loss", "reorder",
// "duplicate"), so what one direction suffers does not change what another does. A frame that is
// lost was sent: captures at its port show it, those at the peer do not, and it counts as
// NET_DROP_LINK_LOSS. Models and their mean rates: docs/models/loss.md.
#ifndef NET_LOSS_H
#define NET_LOSS_H

#include "net/network.h"

SIM_C_BEGIN

// What one direction has done so far. A loss that follows another within an event is no new event.
typedef struct net_loss_counters {
    uint64_t frames; // that were judged
    uint64_t lost;
    uint64_t events;
    uint64_t reordered;
    uint64_t duplicated;
} net_loss_counters_t;
// False: nothing of all this can happen to what the port sends, and the counters are zeros.
bool net_loss_get_counters(const net_port_t *port, net_loss_counters_t *counters);

// A list of losses. Rows of two kinds, which do not mix:
//   n          the n-th data packet that passes is lost, from 1, lost ones counted; ascending, but
//              that the first row may say up to which packet the list is complete
//   k,times    packet k, from 0 in the order in which packets pass first, is lost the first
//              `times` times that it passes
// What follows a # and empty lines are skipped. The message begins "line 3: ".
typedef struct net_loss_trace net_loss_trace_t;
SIM_MUST_CHECK sim_err_t net_loss_trace_parse(const char *text,
                                              size_t size_bytes,
                                              net_loss_trace_t **trace,
                                              sim_message_t *message);
void net_loss_trace_destroy(net_loss_trace_t *trace); // NULL is allowed

// The direction of a link (not NET_LOSS_BOTH) that loses by this list, besides what its
// configuration says. Takes the list. Before net_build.
void net_link_lose(net_t *net,
                   uint32_t link,
                   net_loss_direction_t direction,
                   net_loss_trace_t *trace);

// Values that do not fit each other: a rate that the model cannot reach.
SIM_MUST_CHECK sim_err_t net_loss_check(const net_link_config_t *config, sim_message_t *message);

SIM_C_END

#endif // NET_LOSS_H
