// SPDX-License-Identifier: Apache-2.0
// net/switch_setup_internal.h - what switches need while a network is built.
#ifndef NET_SWITCH_SETUP_INTERNAL_H
#define NET_SWITCH_SETUP_INTERNAL_H

#include "net/node.h"

// net/switch/setup.c: fails if a switch's config names a model that is not registered.
SIM_MUST_CHECK sim_err_t net__switch_check_names(const net_node_t *node, sim_message_t *message);
// net/switch/setup.c: selects the loop of a node that got a log.
void net__switch_logged(net_node_t *node);

#endif // NET_SWITCH_SETUP_INTERNAL_H
