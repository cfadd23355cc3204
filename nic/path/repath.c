// SPDX-License-Identifier: Apache-2.0
// nic/path/repath.c - PLB and FlowBender: a queue pair whose round trips are congested takes
// another UDP source port. Sources: docs/models/plb.md.
//
// A round trip is congested if more than a share of its ACKs echo a mark or, where the receiver
// sends CNPs instead, if a CNP came in it.
#include "nic/path/repath.h"

#include "nic/path/spray.h"
#include "nic/schedule/eligible.h"
#include "nic/schedule/planes.h"

#define PORTS (UINT32_C(65536) - ROCE_SOURCE_PORT_MIN)

size_t nic__repath_bytes(const nic_t *nic)
{
    const nic_repath_rule_t rule = nic->host->config->repath;
    return rule == NIC_REPATH_OFF    ? 0
           : rule == NIC_REPATH_REPS ? sizeof(nic_spray_t)
                                     : sizeof(nic_repath_t);
}

void *nic__repath_state(const nic_qp_t *qp)
{
    const nic_t *const nic = qp->nic;
    const size_t before_bytes = nic__bytes_before_qp(nic) + nic__repath_bytes(nic);
    return (char *)(uintptr_t)qp - before_bytes;
}

static nic_repath_t *repath_of(nic_qp_t *qp)
{
    return nic__repath_state(qp);
}

static void begin_round(nic_qp_t *qp, nic_repath_t *repath)
{
    repath->round_psn = qp->next_psn;
    repath->acks = repath->marks = 0;
    repath->cnp = false;
}

static void move(nic_qp_t *qp, nic_repath_t *repath)
{
    const nic_t *const nic = qp->nic;
    const net_t *const net = nic->host->node.net;
    qp->path.udp_source_port =
        (uint16_t)(ROCE_SOURCE_PORT_MIN + sim_random_below(&repath->random, PORTS));
    qp->path.flow_hash =
        net_flow_hash(net, nic->interface, qp->path.destination, qp->path.udp_source_port);
    qp->path.route =
        net_source_route(net, nic->interface, qp->path.destination, qp->path.flow_hash);
    if (nic->planes != NULL) {
        nic__planes_connect(qp);
    }
    repath->congested = 0;
    begin_round(qp, repath);
}

void nic__repath_connect(nic_qp_t *qp)
{
    if (nic__sprays(qp)) {
        nic__spray_connect(qp);
    }
    if (!nic__repaths(qp)) {
        return;
    }
    nic_repath_t *const repath = repath_of(qp);
    *repath = (nic_repath_t){
        .round_psn = qp->next_psn,
        .control_hears = nic__cc(qp)->hears_acks,
    };
    nic__cc(qp)->hears_acks = true;
    sim_random_init(&repath->random, sim_options(nic__node(qp->nic)->sim)->seed, nic__qp_stream(qp),
                    "repath");
}

bool nic__repath_ack(nic_qp_t *qp, const net_packet_t *packet)
{
    const nic_config_t *const config = qp->nic->host->config;
    const bool plb = config->repath == NIC_REPATH_PLB;
    nic_repath_t *const repath = repath_of(qp);
    repath->acks++;
    repath->marks += packet->becn;
    repath->round_psn = SIM_MIN(qp->next_psn, repath->round_psn);
    if (qp->una_psn < repath->round_psn) {
        return repath->control_hears;
    }
    const sim_ratio_t share = plb ? config->plb_marks : config->flowbender_marks;
    const bool congested = nic__cc_const(qp)->echoes_ecn
                               ? repath->marks * share.den > share.num * repath->acks
                               : repath->cnp;
    repath->congested = congested ? repath->congested + 1 : 0;
    begin_round(qp, repath);
    if (repath->congested >= (plb ? config->plb_rounds : config->flowbender_rounds)) {
        move(qp, repath);
    }
    return repath->control_hears;
}

void nic__repath_cnp(nic_qp_t *qp)
{
    if (nic__repaths(qp)) {
        repath_of(qp)->cnp = true;
    }
}

void nic__repath_timeout(nic_qp_t *qp)
{
    if (nic__repaths(qp)) {
        move(qp, repath_of(qp));
    } else if (nic__sprays(qp)) {
        nic__spray_timeout(qp);
    }
}
