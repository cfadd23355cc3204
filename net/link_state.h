// SPDX-License-Identifier: Apache-2.0
// net/link_state.h - links that go down and up during the run.
#ifndef NET_LINK_STATE_H
#define NET_LINK_STATE_H

#include "net/network.h"

SIM_C_BEGIN

// Takes both directions of a link down (up) at time_ps. Frames that have not wholly arrived when it
// goes down are lost; they count as lost when and where they were sent. Routes change
// net_config_t.convergence_ps later. Before net_build, or between two steps (kernel/steps.h): then
// not before net_link_quiet_ps, so that all that happens is as if the change had been known before.
void net_link_change_at(net_t *net, uint32_t link, sim_time_t time_ps, bool up);
// Returns the first time, not before now_ps, at which all frames that were sent on the link have
// arrived.
sim_time_t net_link_quiet_ps(const net_t *net, uint32_t link, sim_time_t now_ps);

// Returns whether any link changes in this run, as far as it is known.
bool net_changes_links(const net_t *net);
// Returns whether routing, as it is at now_ps, leads from a host's port to an interface: neither of
// their links was down network.convergence ago, and there is a route. Any node may call it.
bool net_leads_to(const net_t *net, const net_port_t *port, uint32_t to, sim_time_t now_ps);

SIM_C_END

#endif // NET_LINK_STATE_H
