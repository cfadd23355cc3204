// SPDX-License-Identifier: Apache-2.0
// examples/plugins/parts.c - your own parts of switches and NICs, in one plug-in: a load balancer,
// a marking, a cache policy, a store, a transport and a device.
//
// The parts are simple: the balancer "deal" takes ports in turn, the marking "each" marks one
// packet in `every`, the policy "stack" evicts the slot filled last, the store "dear" charges
// `cost` for each memory key, the transport "twice" is go-back-N under another name, the device
// "late" holds arrivals for `delay`. Scenarios choose them and set their attributes as those of the
// library:
//     rocesim run S.yaml --plugin parts.c --set network.load-balancer=deal
//         --set network.deal.burst=3
#include "net/marking.h"
#include "nic/cache_policy.h"
#include "nic/device.h"
#include "nic/store.h"
#include "nic/transport.h"
#include "world/plugin.h"

typedef struct one_number {
    uint64_t number;
} one_number_t;
#define TABLE(name_, prefix_, type_, default_, help_) \
    static const sim_attr_t name_##_attrs[] = {       \
        SIM_ATTR(prefix_, type_, one_number_t, number, .default_text = default_, .help = help_)}
TABLE(deal, "network.deal.burst", COUNT, "1", "packets in a row that take the same port");
TABLE(each, "network.each.every", COUNT, "50", "number of packets of which one is marked");
TABLE(dear, "nic.dear.cost", TIME, "20ns", "time that each look-up of a memory key takes");
TABLE(late, "nic.late.delay", TIME, "1us", "time from a packet's arrival to the protocol");
static const sim_attr_table_t tables[] = {
    {"network.deal", "simulation", sizeof(one_number_t), deal_attrs, 1},
    {"network.each", "simulation", sizeof(one_number_t), each_attrs, 1},
    {"nic.dear", "node", sizeof(one_number_t), dear_attrs, 1},
    {"nic.late", "node", sizeof(one_number_t), late_attrs, 1},
};

// -- switches

static uint64_t number_of(const net_switch_t *sw, const char *kind, const char *name)
{
    const one_number_t *const config = net_registered_config(sw->node.net, kind, name);
    return config->number == 0 ? 1 : config->number;
}

static void built(net_switch_t *sw)
{
    (void)sw;
}

static uint32_t deal(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                     uint32_t count)
{
    (void)packet;
    const uint64_t turn = (*(uint64_t *)sw->balance_state)++;
    return ports[turn / number_of(sw, NET_BALANCE, "deal") % count];
}

static uint32_t first_path(const net_switch_t *sw, uint32_t source, uint32_t destination,
                           uint32_t flow_hash, uint32_t count)
{
    (void)sw;
    (void)source;
    (void)destination;
    return flow_hash % count;
}

static const net_balance_ops_t balance = {.name = "deal",
                                          .state_bytes = sizeof(uint64_t),
                                          .built = built,
                                          .choose = deal,
                                          .path = first_path};

static void mark(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    uint64_t *const count = sw->marking_state;
    if (++*count % number_of(sw, NET_MARKING, "each") == 0) {
        net_switch_mark(egress, packet);
    }
}

static const net_marking_ops_t marking = {.name = "each",
                                          .state_bytes = sizeof(uint64_t),
                                          .built = built,
                                          .leaves = mark};

// -- a cache policy: it evicts the slot filled last

static void *stack_create(const nic_policy_place_t *place)
{
    (void)place;
    return sim_alloc(sizeof(uint32_t));
}

static void stack_insert(void *policy, uint32_t slot, uint32_t handle, uint64_t uses)
{
    (void)handle;
    (void)uses;
    *(uint32_t *)policy = slot;
}

static void stack_use(void *policy, uint32_t slot, uint64_t uses)
{
    (void)policy;
    (void)slot;
    (void)uses;
}

static uint32_t stack_victim(void *policy)
{
    return *(uint32_t *)policy;
}

static void stack_remove(void *policy, uint32_t slot)
{
    (void)policy;
    (void)slot;
}

static const nic_policy_ops_t policy = {.name = "stack",
                                        .help = "evicts the slot filled last",
                                        .installs_on_miss = true,
                                        .create = stack_create,
                                        .destroy = sim_free,
                                        .insert = stack_insert,
                                        .use = stack_use,
                                        .victim = stack_victim,
                                        .remove = stack_remove};

// -- a store: memory keys cost time; everything else stays with the flat caches

typedef struct dear_store {
    nic_store_t store; // first
    sim_time_t cost_ps;
} dear_store_t;

static nic_store_t *dear_create(const nic_store_place_t *place)
{
    dear_store_t *const dear = sim_alloc(sizeof(*dear));
    dear->cost_ps = ((const one_number_t *)place->config)->number;
    return &dear->store;
}

static void dear_look_up(nic_store_t *store, nic_store_lookup_t *lookup)
{
    lookup->stall_ps += ((const dear_store_t *)store)->cost_ps;
}

static const nic_store_ops_t store = {.name = "dear",
                                      .help = "charges a time for each look-up of a memory key",
                                      .kinds = 1u << NIC_STORE_KEY,
                                      .create = dear_create,
                                      .look_up = dear_look_up};

// -- a transport: go-back-N, whose operations it calls

static net_packet_t *next_packet(nic_t *nic, nic_qp_t *qp)
{
    return nic_transport_gbn.next_packet(nic, qp);
}

// -- a device: arrivals are held for a time

typedef struct late {
    sim_timer_t timer;
    nic_t *nic;
    sim_time_t delay_ps;
    net_packet_t *first;
    net_packet_t *last;
    sim_time_t due_ps[4096]; // per held packet, in order
    uint32_t head;
    uint32_t count;
} late_t;

static void late_fired(sim_node_t *node, sim_timer_t *timer)
{
    late_t *const late = SIM_CONTAINER_OF(timer, late_t, timer);
    net_packet_t *const packet = late->first;
    late->first = packet->next;
    late->head++;
    late->count--;
    if (late->count > 0) {
        sim_timer_arm(node, timer, late->due_ps[late->head % 4096]);
    }
    nic_device_receive(late->nic, packet);
}

static void *late_create(nic_t *nic, const void *config)
{
    late_t *const late = sim_alloc(sizeof(*late));
    sim_timer_init(&late->timer, late_fired);
    late->nic = nic;
    late->delay_ps = ((const one_number_t *)config)->number;
    return late;
}

static void late_destroy(nic_t *nic)
{
    sim_free(nic_device_state(nic));
}

static void late_arrive(nic_t *nic, net_packet_t *packet)
{
    late_t *const late = nic_device_state(nic);
    sim_node_t *const node = nic_device_node(nic);
    SIM_CHECK(late->count < 4096);
    packet->next = NULL;
    if (late->count == 0) {
        late->first = packet;
        sim_timer_arm(node, &late->timer, node->now_ps + late->delay_ps);
    } else {
        late->last->next = packet;
    }
    late->last = packet;
    late->due_ps[(late->head + late->count++) % 4096] = node->now_ps + late->delay_ps;
}

static const nic_device_ops_t device = {.name = "late",
                                        .create = late_create,
                                        .destroy = late_destroy,
                                        .arrive = late_arrive};

// -- the rows

WORLD_PLUGIN
{
    static nic_transport_ops_t twice; // (a plug-in may have globals; the library has none)
    twice = nic_transport_gbn;
    twice.name = "twice";
    twice.next_packet = next_packet;
    const world_network_part_t network[] = {
        {WORLD_NETWORK_BALANCE, balance.name, &tables[0], &balance},
        {WORLD_NETWORK_MARKING, marking.name, &tables[1], &marking},
    };
    const nic_extra_t parts[] = {
        {NIC_EXTRA_POLICY, policy.name, NULL, &policy},
        {NIC_EXTRA_STORE, store.name, &tables[2], &store},
        {NIC_EXTRA_TRANSPORT, twice.name, NULL, &twice},
        {NIC_EXTRA_DEVICE, device.name, &tables[3], &device},
    };
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < SIM_COUNT_OF(network) && result == SIM_OK; i++) {
        result = world_registry_add_network_part(registry, &network[i], error);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(parts) && result == SIM_OK; i++) {
        result = world_registry_add_nic_part(registry, &parts[i], error);
    }
    return result;
}
