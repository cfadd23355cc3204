// SPDX-License-Identifier: Apache-2.0
// apps/channel/pair.c - makes and connects queue pairs, and posts to them.
#include "apps/channel/pair.h"

nic_qp_t *app__qp_create(app__endpoint_t *endpoint, nic_qp_type_t type, uint32_t number,
                         uint32_t sends, uint32_t receives, const app__queues_t *queues)
{
    static const app__queues_t none = {NULL, NULL, NULL, false};
    const app__queues_t *const own = queues != NULL ? queues : &none;
    const nic_qp_init_attr_t init = {
        .qp_type = type,
        .send_cq = own->send_cq != NULL ? own->send_cq : endpoint->send_cq,
        .recv_cq = own->recv_cq != NULL ? own->recv_cq
                   : receives > 0 || own->srq != NULL || endpoint->recv_cq != NULL
                       ? app__recv_cq(endpoint)
                       : endpoint->send_cq, // no completion of a receive comes
        .srq = own->srq,
        .max_send_wr = sends,
        .max_recv_wr = receives,
        .sq_sig_all = own->all_signaled,
        .qp_num = number,
    };
    nic_qp_t *qp = NULL;
    const sim_err_t error = nic_qp_create(endpoint->pd, &init, &qp);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", number, sim_err_text(error));
    return qp;
}

void app__qp_connect(nic_qp_t *qp, const nic_qp_attr_t *attr)
{
    sim_message_t message = {.text = ""};
    const sim_err_t error = nic_qp_connect(qp, attr, &message);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", nic_qp_num(qp), message.text);
}

nic_qp_t *app__pair_make(const app__pair_t *pair, app__side_of_pair_t side, uint32_t sends,
                         uint32_t receives)
{
    const app__side_of_pair_t other = side == APP__REQUESTER ? APP__RESPONDER : APP__REQUESTER;
    app__endpoint_t *const own = pair->ends[side];
    nic_qp_attr_t attr;
    nic_qp_t *const qp =
        app__qp_create(own, pair->type, pair->numbers[side], sends, receives, pair->queues);
    nic_qp_attr_default(own->nic, &attr);
    attr.dest_interface = pair->ends[other]->interface;
    attr.dest_qp_num = pair->numbers[other];
    attr.sq_psn = pair->first_psn;
    attr.rq_psn = pair->first_psn;
    if (side == APP__RESPONDER) {
        attr.rq_psn = (pair->first_psn + pair->received_packets) & ROCE_PSN_MASK;
        attr.rq_msn = pair->received_messages & ROCE_PSN_MASK;
    }
    attr.path_mtu = pair->mtu_bytes != 0 ? pair->mtu_bytes : attr.path_mtu;
    attr.udp_source_port = pair->source_port;
    attr.hashed_port = pair->hashed_port;
    attr.access = pair->access;
    if (pair->priority != APP__AS_THE_NIC) {
        attr.priority = pair->priority;
        attr.dscp = pair->dscp;
    }
    app__qp_connect(qp, &attr);
    return qp;
}

void app__qp_post(nic_qp_t *qp, const nic_send_wr_t *wr)
{
    const sim_err_t error = nic_post_send(qp, wr);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", nic_qp_num(qp), sim_err_text(error));
}

void app__qp_post_receive(nic_qp_t *qp, const nic_recv_wr_t *wr)
{
    const sim_err_t error = nic_post_recv(qp, wr);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", nic_qp_num(qp), sim_err_text(error));
}

void app__srq_post_receive(nic_srq_t *srq, const nic_recv_wr_t *wr)
{
    const sim_err_t error = nic_post_srq_recv(srq, wr, 1, NULL);
    SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
}

void app__qp_receive(nic_qp_t *qp, const app__endpoint_t *endpoint, uint64_t wr_id, uint64_t bytes,
                     uint32_t count)
{
    const uint32_t number = nic_qp_num(qp);
    nic_recv_wr_t wr = {.wr_id = wr_id};
    if (count > 0 && bytes != APP__NO_BUFFER) {
        wr.sge = (nic_sge_t){app__address_of_qp(number), bytes, app__buffer_key(endpoint, number)};
    }
    for (uint32_t i = 0; i < count; i++) {
        app__qp_post_receive(qp, &wr);
    }
}

// -- the rule of flows and of submitted transfers

uint64_t app__pair_key(const net_t *net, uint32_t source, uint32_t destination, uint8_t priority)
{
    const uint64_t pair = (uint64_t)source * net_interface_count(net) + destination;
    return pair * APP__PRIORITIES + app__priority_place(priority);
}

uint32_t app__pair_mtu_bytes(const net_t *net, uint32_t source, uint32_t destination)
{
    const uint64_t one = nic_config_of_interface(net, source)->mtu_bytes;
    const uint64_t two = nic_config_of_interface(net, destination)->mtu_bytes;
    return (uint32_t)SIM_MIN(one, two);
}

uint8_t app__priority_of(const net_t *net, uint32_t source, uint8_t priority)
{
    return priority != APP__AS_THE_NIC ? priority
                                       : (uint8_t)nic_config_of_interface(net, source)->priority;
}

uint8_t app__dscp_of(const net_t *net, uint32_t source, uint8_t priority, uint8_t dscp)
{
    const nic_config_t *const config = nic_config_of_interface(net, source);
    if (dscp != APP__AS_THE_NIC) {
        return dscp;
    }
    if (priority == APP__AS_THE_NIC && config->dscp != SIM_AUTO) {
        return (uint8_t)config->dscp;
    }
    return (uint8_t)(app__priority_of(net, source, priority) * 8);
}
