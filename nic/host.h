// SPDX-License-Identifier: Apache-2.0
// nic/host.h - a host: a node with one NIC per link and the programs that run on it.
#ifndef NIC_HOST_H
#define NIC_HOST_H

#include "net/nodes.h"
#include "net/paths.h"
#include "net/ports.h"
#include "net/scale_up.h"
#include "nic/config.h"
#include "nic/counters.h"
#include "nic/live_qps.h"
#include "nic/qp_metrics.h"

SIM_C_BEGIN

// Adds a host to the network, which owns it. config is copied.
net_node_t *nic_host_create(net_t *net, const char *name, const nic_config_t *config);
// Adds a host with the configuration of a host of that network, without comparing the two.
net_node_t *nic_host_create_like(net_t *net, const char *name, net_node_t *host);

// Called in an event of the host when a message comes on a channel that leads to the host at a port
// number from net_node_t.port_count on (sim_channel_create): not a packet, but something that
// applications send each other besides the network. It owns the message.
typedef void (*nic_message_fn)(net_node_t *host, uint32_t port, void *message, void *ctx);
// Sets the function for such messages. After net_build and before the run.
void nic_host_on_message(net_node_t *host, nic_message_fn fn, void *ctx);

// Makes each `planes` consecutive ports of a host one NIC, unless its nic.planes is off. Ports that
// are left over are NICs of their own. Before net_build.
void nic_host_set_planes(net_node_t *host, uint32_t planes);

// Returns the number of a host's NICs, after net_build. NICs are in order of the host's links.
uint32_t nic_count(const net_node_t *host);
uint32_t nic_count_at(const net_t *net, size_t host); // by the node's number; makes no host
nic_t *nic_at(const net_node_t *host, uint32_t index);
// Returns whether the host's NICs exist. Those of hosts that other ranks run (kernel/ranks.h) are
// made by nic_at and nic_of_interface, and have counted nothing before.
bool nic_exists(const net_node_t *host);
// Returns the configuration of an interface's NIC, which need not exist.
const nic_config_t *nic_config_of_interface(const net_t *net, uint32_t interface);
nic_t *nic_of_interface(const net_t *net, uint32_t interface);
const nic_config_t *nic_get_config(const nic_t *nic);
uint64_t nic_rate_bps(const nic_t *nic); // rate of the NIC's link, or sum over those of its planes
// Returns whether the NIC has an inside, unlike the ideal one.
bool nic_is_detailed(const nic_t *nic);

// Returns the NIC's counters.
const nic_counters_t *nic_get_counters(const nic_t *nic);

SIM_C_END

#endif // NIC_HOST_H
