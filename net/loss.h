// SPDX-License-Identifier: Apache-2.0
// net/loss.h - loss in patterns, loss by a list, reordering and duplication of frames on a link.
//
// Each direction of a link has its own state and random streams ("loss", "reorder", "duplicate"),
// so the directions do not influence each other. A lost frame counts as sent and as
// NET_DROP_LINK_LOSS; captures at its port show it, captures at the peer do not. Models and their
// mean rates: docs/models/loss.md.
#ifndef NET_LOSS_H
#define NET_LOSS_H

#include "net/node.h"

SIM_C_BEGIN

// Counters of one direction so far. A further loss within an event does not start a new event.
typedef struct net_loss_counters {
    uint64_t frames; // frames that the model decided on
    uint64_t lost;
    uint64_t events;
    uint64_t reordered;
    uint64_t duplicated;
} net_loss_counters_t;
// Fills in the counters of the frames that the port sends. Returns false, with zeros, if nothing of
// this file applies to the port.
bool net_loss_get_counters(const net_port_t *port, net_loss_counters_t *counters);

// A list of losses. A file has rows of one of two kinds:
//   n          The n-th data packet that passes is lost, counted from 1, lost ones included. Rows
//              ascend, except that a first row may say up to which packet the list is complete.
//   k,times    Packet k, counted from 0 in the order of first passes, is lost the first `times`
//              times that it passes.
// Text after a # and empty lines are ignored. Parsing fails with SIM_ERR_INVALID and a message that
// begins "line 3: ". The caller owns *trace.
typedef struct net_loss_trace net_loss_trace_t;
SIM_MUST_CHECK sim_err_t net_loss_trace_parse(const char *text, size_t size_bytes,
                                              net_loss_trace_t **trace, sim_message_t *message);
void net_loss_trace_destroy(net_loss_trace_t *trace); // NULL is allowed

// Makes one direction of a link (not NET_LOSS_BOTH) lose the packets of a list, besides the losses
// of its configuration. Takes ownership of the list. Before net_build.
void net_link_lose(net_t *net, uint32_t link, net_loss_direction_t direction,
                   net_loss_trace_t *trace);

// Fails with SIM_ERR_RANGE if values do not fit each other: a rate that the model cannot reach, a
// burst that is too short for it.
SIM_MUST_CHECK sim_err_t net_loss_check(const net_link_config_t *config, sim_message_t *message);

SIM_C_END

#endif // NET_LOSS_H
