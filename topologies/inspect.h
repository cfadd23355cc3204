// SPDX-License-Identifier: Apache-2.0
// topologies/inspect.h - findings about a built network, and its drawing.
#ifndef TOPOLOGIES_INSPECT_H
#define TOPOLOGIES_INSPECT_H

#include "net/network.h"

SIM_C_BEGIN

// Findings about a built network.
typedef enum topo_severity { TOPO_NOTE, TOPO_WARNING, TOPO_ERROR } topo_severity_t;
typedef void (*topo_finding_fn)(topo_severity_t severity, const char *text, void *ctx);
// Calls fn once per finding, in a fixed order: unconnected nodes, parallel links of different
// rates, unreachable pairs (counted, with an example), switches whose buffer cannot hold their
// headroom, over-subscription by tier, paths of more switches than there are virtual channels, a
// circle of links in which PFC can deadlock. Only the buffers are an error, since a lossless class
// may drop. A rank (kernel/ranks.h) has only the buffers of its own switches checked. Cost:
// O(links log links), and for the circle switches x ports^2 x leaves / 64, at most 10^8.
void topo_lint(const net_t *net, topo_finding_fn fn, void *ctx);
// Calls fn if paths have more switches than there are virtual channels, so that packets are
// dropped: one of topo_lint's findings, for a run's warnings. It makes no hosts and ports of other
// ranks.
void topo_lint_channels(const net_t *net, topo_finding_fn fn, void *ctx);

// Writes the network in Graphviz DOT: hosts and switches by tier, rates and delays at the edges.
// More than TOPO_DOT_HOSTS_MAX hosts with equal links are drawn as one node, "32 hosts".
#define TOPO_DOT_HOSTS_MAX 16u
void topo_write_dot(const net_t *net, void (*write)(const char *text, void *ctx), void *ctx);
// Like topo_write_dot with the caller's limit; UINT32_MAX draws every host.
void topo_write_dot_hosts(const net_t *net, uint32_t hosts_max,
                          void (*write)(const char *text, void *ctx), void *ctx);

SIM_C_END

#endif // TOPOLOGIES_INSPECT_H
