// SPDX-License-Identifier: Apache-2.0
// nic/path/spray.c - RoCE packets that each take a path of their own: nic.repath reps.
#include "nic/path/spray.h"

#include "nic/path/repath.h"

#define PORTS (UINT32_C(65536) - ROCE_SOURCE_PORT_MIN)

static nic_spray_t *spray_of(const nic_qp_t *qp)
{
    return nic__repath_state(qp);
}

void nic__spray_connect(nic_qp_t *qp)
{
    nic_spray_t *const spray = spray_of(qp);
    *spray = (nic_spray_t){0};
    sim_random_init(&spray->random, sim_options(nic__node(qp->nic)->sim)->seed, nic__qp_stream(qp),
                    "reps");
    nic__cc(qp)->acks_every_packet = true;
}

static void set_port(const nic_qp_t *qp, net_packet_t *packet, uint16_t port)
{
    const net_t *const net = qp->nic->host->node.net;
    packet->udp_source_port = port;
    packet->flow_hash = net_flow_hash(net, packet->source, packet->destination, port);
    packet->route = 0; // switches look the port up by the hash
    packet->sprayed = true;
}

void nic__spray_packet(nic_qp_t *qp, net_packet_t *packet, bool request)
{
    const nic_reps_config_t *const config = &qp->nic->host->config->reps;
    nic_spray_t *const spray = spray_of(qp);
    const uint32_t entropies = config->entropies < PORTS ? (uint32_t)config->entropies : PORTS;
    const uint16_t entropy = nic__reps_next_entropy(&spray->reps, config, &spray->random, entropies,
                                                    nic__node(qp->nic)->now_ps);
    set_port(qp, packet, nic__entropy_port(qp, entropy));
    packet->sprayed = request;
}

void nic__spray_arrived(nic_qp_t *qp, const net_packet_t *packet)
{
    nic_spray_t *const spray = spray_of(qp);
    if (packet->opcode == ROCE_ACKNOWLEDGE) {
        nic__reps_ack(&spray->reps, &qp->nic->host->config->reps,
                      (uint16_t)nic__entropy_of_port(qp, packet->udp_source_port), packet->becn,
                      nic__node(qp->nic)->now_ps);
        return;
    }
    spray->echo = true;
    spray->echo_port = packet->udp_source_port;
    spray->echo_marked = packet->ecn == NET_ECN_CE;
}

void nic__spray_answer(const nic_qp_t *qp, net_packet_t *answer)
{
    nic_spray_t *const spray = spray_of(qp);
    if (spray->echo) {
        spray->echo = false;
        set_port(qp, answer, spray->echo_port);
        answer->becn |= spray->echo_marked;
    }
}

void nic__spray_timeout(nic_qp_t *qp)
{
    const nic_reps_config_t *const config = &qp->nic->host->config->reps;
    (void)nic__reps_timeout(&spray_of(qp)->reps, config, nic__node(qp->nic)->now_ps);
}
