// SPDX-License-Identifier: Apache-2.0
// nic/host/find.c - finds hosts, NICs and their parts by each other. It calls nothing above it.
#include "net/nodes.h"
#include "nic/host/contents.h"
#include "nic/objects/objects.h"
#include "nic/objects/plane_set.h"

const char nic__host_kind[] = "host";

nic_host_t *nic__host_of(const net_node_t *node)
{
    SIM_CHECKF(node->sim.ops->kind == nic__host_kind, "%s is no host with NICs", node->sim.name);
    return (nic_host_t *)(void *)(uintptr_t)node;
}

nic_memory_t *nic_host_memory(net_node_t *host)
{
    return &nic__host_of(host)->memory;
}

void nic__note_contents(nic_memory_t *memory)
{
    const nic_host_t *const host = SIM_CONTAINER_OF(memory, nic_host_t, memory);
    for (uint32_t i = 0; host->nics != NULL && i < host->nic_count; i++) {
        host->nics[i].contents = true;
    }
}

uint32_t nic_count(const net_node_t *host)
{
    const nic_host_t *const nics = nic__host_of(host);
    return nic__index_of_port(nics, host->port_count - 1) + 1;
}

uint32_t nic_count_at(const net_t *net, size_t host)
{
    const uint32_t ports = net_ports_of(net, host);
    return nic__index_in(net_planes_of(net, host), ports, ports - 1) + 1;
}

nic_t *nic_at(const net_node_t *host, uint32_t index)
{
    SIM_CHECK(index < nic_count(host));
    nic_host_t *const nics = nic__host_of(host);
    if (SIM_UNLIKELY(!nic_exists(host))) {
        net_node_complete(&nics->node);
    }
    return &nics->nics[index];
}

bool nic_exists(const net_node_t *host)
{
    return __atomic_load_n(&host->complete, __ATOMIC_ACQUIRE);
}

const nic_config_t *nic_config_of_interface(const net_t *net, uint32_t interface)
{
    return nic__host_of(net_node_like(net, net_interface_node_number(net, interface)))->config;
}

nic_t *nic_of_interface(const net_t *net, uint32_t interface)
{
    const net_port_t *const port = net_interface_port(net, interface);
    return nic_at(port->node, nic__index_of_port(nic__host_of(port->node), port->index));
}

uint64_t nic_rate_bps(const nic_t *nic)
{
    return nic->planes == NULL ? nic->port->line->rate_bps : nic__planes_rate_bps(nic);
}

const nic_config_t *nic_get_config(const nic_t *nic)
{
    return nic->host->config;
}

net_node_t *nic_node(const nic_t *nic)
{
    return &nic->host->node;
}

uint32_t nic_interface(const nic_t *nic)
{
    return nic->interface;
}

bool nic_is_detailed(const nic_t *nic)
{
    return nic->detailed;
}

const nic_counters_t *nic_get_counters(const nic_t *nic)
{
    return &nic->counters;
}
