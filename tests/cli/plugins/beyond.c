// SPDX-License-Identifier: Apache-2.0
// tests/cli/plugins/beyond.c - parts of switches and NICs that write past their states.
//
// Each part copies one that works, or is the smallest one. $BEYOND_BYTES is the number of bytes
// that it writes there.
#include "net/marking.h"
#include "net/switch_model.h"
#include "nic/scheduler.h"
#include "nic/transport.h"
#include "world/plugin.h"

#include <stdlib.h>
#include <string.h>

#define STATE_BYTES 24u

static size_t bytes; // written behind a state

static void write_behind(void *state, size_t size)
{
    memset((char *)state + size, 0x5a, bytes);
}

static void built(net_switch_t *sw)
{
    (void)sw;
}

static uint32_t choose(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                       uint32_t count)
{
    (void)packet;
    (void)count;
    write_behind(sw->balance_state, STATE_BYTES);
    return ports[0];
}

static uint32_t path(const net_switch_t *sw, uint32_t source, uint32_t destination,
                     uint32_t flow_hash, uint32_t count)
{
    (void)sw;
    (void)source;
    (void)destination;
    (void)flow_hash;
    (void)count;
    return 0;
}

static const net_balance_ops_t balance = {.name = "beyond",
                                          .state_bytes = STATE_BYTES,
                                          .built = built,
                                          .choose = choose,
                                          .path = path};

static void leaves(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    (void)egress;
    (void)packet;
    write_behind(sw->marking_state, STATE_BYTES);
}

static const net_marking_ops_t marking = {.name = "beyond",
                                          .state_bytes = STATE_BYTES,
                                          .built = built,
                                          .leaves = leaves};

static bool admit(net_switch_t *sw, const net_port_t *egress, const net_packet_t *packet,
                  net_drop_reason_t *reason)
{
    (void)egress;
    (void)packet;
    (void)reason;
    write_behind(sw->buffer_state, STATE_BYTES);
    return true;
}

static void release(net_switch_t *sw, uint32_t ingress, uint32_t priority, uint32_t size)
{
    (void)sw;
    (void)ingress;
    (void)priority;
    (void)size;
}

static void dedicated(const net_switch_t *sw, uint64_t *headroom, uint64_t *reserved)
{
    (void)sw;
    *headroom = 0;
    *reserved = 0;
}

static const net_buffer_ops_t buffer = {.name = "beyond",
                                        .state_bytes = STATE_BYTES,
                                        .built = built,
                                        .admit = admit,
                                        .release = release,
                                        .dedicated = dedicated};

// -- a scheduler that writes past its state of a NIC, or of a queue pair

typedef struct one {
    nic_qp_t *qps[64];
    size_t count;
} one_t;

static void join(nic_t *nic, nic_qp_t *qp)
{
    one_t *const one = nic_scheduler_state(nic);
    one->qps[one->count++] = qp;
}

static void leave(nic_t *nic, nic_qp_t *qp)
{
    one_t *const one = nic_scheduler_state(nic);
    size_t to = 0;
    for (size_t i = 0; i < one->count; i++) {
        one->qps[to] = one->qps[i];
        to += one->qps[i] != qp;
    }
    one->count = to;
}

static nic_qp_t *next(nic_t *nic, uint32_t priority)
{
    (void)priority;
    one_t *const one = nic_scheduler_state(nic);
    write_behind(one, sizeof(*one));
    return one->qps[0];
}

static nic_qp_t *next_of_qp(nic_t *nic, uint32_t priority)
{
    (void)priority;
    nic_qp_t *const qp = ((one_t *)nic_scheduler_state(nic))->qps[0];
    write_behind(nic_scheduler_qp_state(qp), 64);
    return qp;
}

static const nic_scheduler_ops_t scheduler = {.name = "beyond",
                                              .state_bytes = sizeof(one_t),
                                              .join = join,
                                              .leave = leave,
                                              .next = next};
static const nic_scheduler_ops_t of_qp = {.name = "beyond-qp",
                                          .state_bytes = sizeof(one_t),
                                          .qp_state_bytes = 64,
                                          .join = join,
                                          .leave = leave,
                                          .next = next_of_qp};

// -- go-back-N that writes past its state of a queue pair, or of the NIC

static net_packet_t *next_packet(nic_t *nic, nic_qp_t *qp)
{
    net_packet_t *const packet = nic_transport_gbn.next_packet(nic, qp);
    write_behind(nic_transport_of(qp), nic_transport_gbn.state_bytes);
    return packet;
}

static void request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    nic_transport_gbn.request(nic, qp, packet);
    write_behind(nic_transport_of(qp)->nic_state, nic_transport_gbn.nic_state_bytes);
}

WORLD_PLUGIN
{
    static nic_transport_ops_t transport;
    static nic_transport_ops_t of_nic;
    const char *const text = getenv("BEYOND_BYTES");
    bytes = text != NULL ? strtoul(text, NULL, 10) : 1;
    transport = nic_transport_gbn;
    transport.name = "beyond";
    transport.next_packet = next_packet;
    of_nic = nic_transport_gbn;
    of_nic.name = "beyond-nic";
    of_nic.request = request;
    const world_network_part_t parts[] = {
        {WORLD_NETWORK_BALANCE, balance.name, NULL, &balance},
        {WORLD_NETWORK_MARKING, marking.name, NULL, &marking},
        {WORLD_NETWORK_BUFFER, buffer.name, NULL, &buffer},
    };
    const nic_extra_t rows[] = {
        {NIC_EXTRA_SCHEDULER, scheduler.name, NULL, &scheduler},
        {NIC_EXTRA_SCHEDULER, of_qp.name, NULL, &of_qp},
        {NIC_EXTRA_TRANSPORT, transport.name, NULL, &transport},
        {NIC_EXTRA_TRANSPORT, of_nic.name, NULL, &of_nic},
    };
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < SIM_COUNT_OF(parts) && result == SIM_OK; i++) {
        result = world_registry_add_network_part(registry, &parts[i], error);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(rows) && result == SIM_OK; i++) {
        result = world_registry_add_nic_part(registry, &rows[i], error);
    }
    return result;
}
