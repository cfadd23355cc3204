// SPDX-License-Identifier: Apache-2.0
// topologies/fabrics/racks.c - builds segments of hosts whose NICs are spread over leaf switches.
//
// A NIC has `sides` ports, each linked to a leaf of another side. With rails, NIC n of every host
// of a segment has leaves of its own. All leaves are linked to all spines, or those of side s to
// the spines of plane s. Hosts, their NICs and the sides of a NIC give the order of a leaf's and a
// host's ports; a link to an NVSwitch is the last port of a host.
#include "topologies/fabrics/racks.h"
#include "topologies/builder_internal.h"

static uint64_t rails_of(const topo__racks_t *racks)
{
    return racks->rails ? racks->nics : 1;
}

static uint64_t segments_of(const topo__racks_t *racks)
{
    return (racks->hosts + racks->hosts_of_segment - 1) / racks->hosts_of_segment;
}

static uint64_t leaves_of(const topo__racks_t *racks)
{
    return segments_of(racks) * rails_of(racks) * racks->sides;
}

static uint64_t planes_of(const topo__racks_t *racks)
{
    return racks->planes ? racks->sides : 1;
}

sim_err_t topo__racks_check(const topo__racks_t *racks, sim_message_t *message)
{
    const uint64_t down = racks->hosts_of_segment * racks->nics / rails_of(racks);
    const uint64_t up = racks->spines * racks->links_per_spine;
    sim_err_t error =
        topo__check_ports(racks->count_name, racks->hosts_of_segment, down + up, message);
    if (error == SIM_OK && racks->spines > 0) {
        error = topo__check_ports(racks->name, racks->hosts,
                                  leaves_of(racks) / planes_of(racks) * racks->links_per_spine,
                                  message);
    }
    if (error == SIM_OK) {
        const uint64_t more = racks->nvlink.count * (racks->single ? racks->nics : 1);
        error = topo__check_interfaces(racks->name, racks->hosts,
                                       racks->hosts * (racks->nics * racks->sides + more), message);
    }
    return error;
}

void topo__racks_size(const topo__racks_t *racks, topo_size_t *size)
{
    const uint64_t hosts = racks->hosts * (racks->single ? racks->nics : 1);
    const uint64_t leaves = leaves_of(racks);
    const uint64_t nvswitches = racks->nvlink.count > 0 ? racks->hosts : 0;
    *size = (topo_size_t){
        .hosts = hosts,
        .switches = leaves + racks->spines * planes_of(racks) + nvswitches,
        .links = racks->hosts * racks->nics * racks->sides + hosts * racks->nvlink.count +
                 leaves * racks->spines * racks->links_per_spine,
    };
}

// Adds the switch of a tier with this number, named by its plane if planes have names.
static net_node_t *add_switch(const topo_plan_t *plan, const topo__racks_t *racks, uint64_t plane,
                              const char *tier, uint64_t number)
{
    if (!racks->plane_names) {
        return topo__switch(plan, tier, number);
    }
    char *const planes_tier = sim_format("plane%" PRIu64 "-%s", plane, tier);
    net_node_t *const node = topo__switch(plan, planes_tier, number);
    sim_free(planes_tier);
    return node;
}

// Links one NIC of a server to its leaves, a port for each side.
static void connect_nic(const topo_plan_t *plan, const topo__racks_t *racks, net_node_t *host,
                        uint64_t nic, net_node_t **leaves)
{
    const uint64_t rail = racks->rails ? nic : 0;
    for (uint64_t side = 0; side < racks->sides; side++) {
        topo__connect(plan, leaves[rail * racks->sides + side], host, &racks->host_cable);
    }
}

// Creates a server: one host, or one for each of its NICs; and its NVSwitch, if it has one.
static void build_server(const topo_plan_t *plan, const topo__racks_t *racks, uint64_t server,
                         net_node_t **leaves, topo__last_t *last)
{
    net_node_t *const nvswitch =
        racks->nvlink.count > 0 ? topo__switch(plan, "nvswitch", server) : NULL;
    if (nvswitch != NULL) {
        nvswitch->scale_up = true;
    }
    const uint64_t hosts = racks->single ? racks->nics : 1;
    const uint64_t nics = racks->nics / hosts;
    for (uint64_t h = 0; h < hosts; h++) {
        net_node_t *const host = topo__next_host(plan, server * hosts + h, last);
        for (uint64_t nic = 0; nic < nics; nic++) {
            connect_nic(plan, racks, host, h * nics + nic, leaves);
        }
        if (racks->sides > 1) {
            nic_host_set_planes(host, (uint32_t)racks->sides);
        }
        if (nvswitch != NULL) {
            topo__connect(plan, nvswitch, host, &racks->nvlink);
        }
    }
}

// Creates a segment's leaves, stored rail by rail, and its servers.
static void build_segment(const topo_plan_t *plan, const topo__racks_t *racks, uint64_t segment,
                          net_node_t **leaves)
{
    const uint64_t rails = rails_of(racks);
    const uint64_t count = rails * racks->sides;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t side = i % racks->sides;
        const uint64_t number =
            racks->plane_names ? segment * rails + i / racks->sides : segment * count + i;
        leaves[i] = add_switch(plan, racks, side, "leaf", number);
    }
    const uint64_t first = segment * racks->hosts_of_segment;
    topo__last_t last = {0};
    for (uint64_t i = 0; i < racks->hosts_of_segment && first + i < racks->hosts; i++) {
        build_server(plan, racks, first + i, leaves, &last);
    }
}

void topo__racks_build(const topo_plan_t *plan, const topo__racks_t *racks)
{
    net_know_scale_up(plan->net);
    const topo__start_t start = topo__start(plan);
    const uint64_t count = leaves_of(racks);
    net_node_t **const leaves = sim_alloc_array(count, sizeof(net_node_t *));
    const uint64_t of_segment = rails_of(racks) * racks->sides;
    for (uint64_t segment = 0; segment < segments_of(racks); segment++) {
        build_segment(plan, racks, segment, &leaves[segment * of_segment]);
    }
    const uint64_t planes = planes_of(racks);
    for (uint64_t i = 0; i < racks->spines * planes; i++) {
        const uint64_t plane = i / racks->spines;
        const uint64_t number = racks->plane_names ? i % racks->spines : i;
        net_node_t *const spine = add_switch(plan, racks, plane, "spine", number);
        for (uint64_t leaf = 0; leaf < count; leaf++) {
            if (planes == 1 || leaf % racks->sides == plane) {
                topo__connect(plan, leaves[leaf], spine, &racks->fabric_cable);
            }
        }
    }
    sim_free(leaves);
    topo_size_t size;
    topo__racks_size(racks, &size);
    topo__check_added(plan, start, &size);
}
