// SPDX-License-Identifier: Apache-2.0
// topologies/scale_up.h - adds accelerators and their switches to the hosts of any topology.
#ifndef TOPOLOGIES_SCALE_UP_H
#define TOPOLOGIES_SCALE_UP_H

#include "net/scale_up.h"
#include "topologies/topology.h"

SIM_C_BEGIN

// Gives each host its accelerators, and links each of them to each scale-up switch of the host.
// Hosts with one accelerator get none: it has nobody to talk to. After the topology has been built,
// before net_build. config is borrowed. Fails if no host gets any; the message begins with an
// attribute's name.
SIM_MUST_CHECK sim_err_t topo_scale_up_build(const topo_plan_t *plan,
                                             const net_scale_up_config_t *config,
                                             sim_message_t *message);

SIM_C_END

#endif // TOPOLOGIES_SCALE_UP_H
