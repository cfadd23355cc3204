// SPDX-License-Identifier: Apache-2.0
// net/models_internal.h - the models that are registered, and net's own ones.
#ifndef NET_MODELS_INTERNAL_H
#define NET_MODELS_INTERNAL_H

#include "net/models.h"

typedef struct net_row {
    const char *kind;
    const char *name;
    const void *table;
    const void *config; // NULL: the row has no parameters
} net_row_t;

// net/models.c: registration and look-up of models
void net__registry_free(net_t *net);
void net__extensions_before_build(net_t *net);
void net__extensions_with_ports(net_t *net);

extern const net_routes_ops_t net__routes_shortest; // net/route/search.c
extern const net_buffer_ops_t net__buffer_standard; // net/switch/buffer.c
extern const net_buffer_ops_t net__buffer_channels; // net/switch/channels.c
extern const net_buffer_ops_t net__buffer_trimming; // net/switch/trimming.c
extern const net_buffer_ops_t net__buffer_credits;  // net/switch/credits.c; by link.flow-control
extern const net_marking_ops_t net__marking_red;    // net/switch/marking.c
extern const net_balance_ops_t net__balance_ecmp;   // net/switch/balance/ecmp.c
// net/switch/balance/table.c: adds net's own load balancers.
void net__register_balances(net_t *net);

#endif // NET_MODELS_INTERNAL_H
