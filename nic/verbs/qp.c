// SPDX-License-Identifier: Apache-2.0
// nic/verbs/qp.c - queue pairs: numbers, life, states, what they are doing.
//
// Numbers are given in rising order and used again only after all others: a packet still under way
// to a destroyed QP does not meet a new one. A QP destroyed during an event of its host keeps its
// memory until the event is over, so that the code that called the application can look at it.
#include <string.h>

#include "nic/rnic_internal.h"

// -- numbers

static nic_qp_t **slot_of(nic_t *nic, uint32_t number)
{
    const uint32_t index = number - ROCE_QPN_FIRST;
    const uint32_t page = index >> NIC_QP_PAGE_BITS;
    if (page >= nic->qp_page_capacity) {
        uint32_t capacity = nic->qp_page_capacity == 0 ? 1 : nic->qp_page_capacity * 2;
        while (capacity <= page) {
            capacity *= 2;
        }
        nic->qp_pages = sim_realloc_array(nic->qp_pages, capacity, sizeof(*nic->qp_pages));
        for (uint32_t i = nic->qp_page_capacity; i < capacity; i++) {
            nic->qp_pages[i] = NULL;
        }
        nic->qp_gone = sim_realloc_array(nic->qp_gone, capacity, sizeof(*nic->qp_gone));
        for (uint32_t i = nic->qp_page_capacity; i < capacity; i++) {
            nic->qp_gone[i] = 0;
        }
        nic->qp_page_capacity = capacity;
    }
    if (page >= nic->qp_page_count) {
        nic->qp_page_count = page + 1;
    }
    if (nic->qp_pages[page] == NULL) {
        nic->qp_pages[page] = sim_alloc_array(NIC_QP_PAGE, sizeof(**nic->qp_pages));
    }
    return &nic->qp_pages[page][index & (NIC_QP_PAGE - 1)];
}

static void forget_number(nic_t *nic, uint32_t number)
{
    const uint32_t index = number - ROCE_QPN_FIRST;
    nic_qp_t **const page = nic->qp_pages[index >> NIC_QP_PAGE_BITS];
    page[index & (NIC_QP_PAGE - 1)] = NULL;
    nic->latest = NULL;
    nic->qp_gone[index >> NIC_QP_PAGE_BITS] |= UINT64_C(1) << (index & (NIC_QP_PAGE - 1));
    for (uint32_t i = 0; i < NIC_QP_PAGE; i++) {
        if (page[i] != NULL) {
            return;
        }
    }
    sim_free(page);
    nic->qp_pages[index >> NIC_QP_PAGE_BITS] = NULL;
}

bool nic__qp_is_gone(const nic_t *nic, uint32_t number)
{
    static_assert(NIC_QP_PAGE == 64, "a page's numbers are the bits of a word");
    const uint32_t index = number - ROCE_QPN_FIRST;
    const uint32_t page = index >> NIC_QP_PAGE_BITS;
    return page < nic->qp_page_count && nic__find_qp(nic, number) == NULL &&
           (nic->qp_gone[page] >> (index & (NIC_QP_PAGE - 1)) & 1) != 0;
}

static uint32_t next_number(nic_t *nic)
{
    for (uint32_t tries = ROCE_QPN_FIRST; tries <= ROCE_QPN_MASK; tries++) {
        const uint32_t number = nic->next_qp_num;
        nic->next_qp_num = number == ROCE_QPN_MASK ? (uint32_t)ROCE_QPN_FIRST : number + 1;
        if (nic__find_qp(nic, number) == NULL) {
            return number;
        }
    }
    return 0;
}

void nic_for_each_qp(const nic_t *nic, nic_qp_visit_fn fn, void *ctx)
{
    for (uint32_t page = 0; page < nic->qp_page_count; page++) {
        for (uint32_t i = 0; nic->qp_pages[page] != NULL && i < NIC_QP_PAGE; i++) {
            const nic_qp_t *const qp = nic->qp_pages[page][i];
            if (qp != NULL) {
                fn(qp, ctx);
            }
        }
    }
}

// -- life

static const nic_transport_ops_t *transport_of(const nic_t *nic, const nic_qp_init_attr_t *attr)
{
    if (attr->qp_type == NIC_QPT_RC) {
        return attr->transport != NULL ? attr->transport : nic->transport;
    }
    return attr->qp_type == NIC_QPT_UC ? &nic__transport_uc : &nic__transport_ud;
}

sim_err_t nic_qp_create(nic_pd_t *pd, const nic_qp_init_attr_t *attr, nic_qp_t **qp)
{
    nic_t *const nic = pd->nic;
    SIM_CHECK(attr->send_cq != NULL && attr->recv_cq != NULL && attr->max_send_wr >= 1);
    SIM_CHECK(attr->send_cq->nic == nic && attr->recv_cq->nic == nic);
    uint32_t number = attr->qp_num;
    if (number == 0) {
        number = next_number(nic);
        if (number == 0) {
            return SIM_ERR_FULL;
        }
    } else if (number < ROCE_QPN_FIRST || number > ROCE_QPN_MASK) {
        return SIM_ERR_RANGE;
    } else if (nic__find_qp(nic, number) != NULL) {
        return SIM_ERR_EXISTS;
    }
    const nic_transport_ops_t *const ops = transport_of(nic, attr);
    nic_qp_t *const made = sim_alloc_lines(nic__transport_qp_bytes(nic, ops));
    made->ops = ops;
    made->nic = nic;
    made->number = number;
    made->type = (uint8_t)attr->qp_type;
    made->state = NIC_QPS_RESET;
    made->transport = NIC_NO_TRANSPORT;
    made->flags = NIC_QP_CLOSED | (attr->qp_type == NIC_QPT_RC ? 0 : NIC_QP_UNRELIABLE);
    made->pd = pd;
    made->send_cq = attr->send_cq;
    made->recv_cq = attr->recv_cq;
    made->send_wr_max = attr->max_send_wr;
    made->recv_wr_max = attr->max_recv_wr;
    made->wqe_flags = attr->sq_sig_all ? NIC_SEND_SIGNALED : 0;
    made->srq = attr->srq;
    if (attr->srq != NULL) {
        SIM_CHECK(attr->srq->pd->nic == nic);
        made->recv_wr_max = 1; // the one a message is taking
    }
    made->ctx = attr->ctx;
    sim_timer_init(&made->pace_timer, nic__pace_fired);
    sim_timer_init(&made->retry_timer, nic__retry_fired);
    nic__cc(made)->ops = nic->cc_ops;
    made->serial = ++nic->last_serial;
    if (nic->detailed) {
        nic__rnic_place(made);
    }
    *slot_of(nic, number) = made;
    nic->counters.qps_created++;
    nic->counters.qps_live++;
    if (nic->counters.qps_live > nic->counters.qps_peak) {
        nic->counters.qps_peak = nic->counters.qps_live;
    }
    nic__trace(nic, made, NIC_TRACE_LIFE, 1, 0);
    *qp = made;
    return SIM_OK;
}

void nic__qp_free(nic_qp_t *qp)
{
    nic__free_more(qp);
    sim_free(qp->sq);
    sim_free(qp->rq);
    sim_free(qp->reads);
    sim_free(qp->atomics);
    sim_free(qp);
}

void nic__free_dead(nic_host_t *host)
{
    while (host->dead != NULL) {
        nic_qp_t *const qp = host->dead;
        host->dead = qp->ready_next;
        nic__qp_free(qp);
    }
}

// Nothing is sent, timed or answered any more.
static void silence(nic_qp_t *qp)
{
    sim_node_t *const node = nic__node(qp->nic);
    qp->flags |= NIC_QP_CLOSED;
    qp->flags &= (uint16_t) ~(NIC_QP_READS | NIC_QP_RNR_WAIT | NIC_QP_SQ_STOPPED | NIC_QP_PACING);
    qp->read_count = 0;
    qp->reads_ready = 0;
    nic__unschedule(qp);
    nic__scan_forget(qp);
    nic__rnic_forget_early(qp);
    sim_timer_cancel(node, &qp->pace_timer);
    sim_timer_cancel(node, &qp->retry_timer);
    nic__cc_stop(qp);
    nic__transport_close(qp);
}

static void set_state(nic_qp_t *qp, nic_qp_state_t state)
{
    const nic_qp_state_t before = qp->state;
    qp->state = (uint8_t)state;
    nic__trace(qp->nic, qp, NIC_TRACE_STATE, state, before);
    if (qp->nic->detailed) {
        nic__store_change(qp->nic, NIC_STORE_CONTEXT, qp->number);
    }
}

void nic_qp_destroy(nic_qp_t *qp)
{
    nic_t *const nic = qp->nic;
    SIM_CHECK((qp->flags & NIC_QP_DEAD) == 0);
    silence(qp);
    if (nic->detailed) {
        nic->rnic->counters.wqes_completed += qp->sq_posted - qp->sq_done;
        nic__store_remove(nic, NIC_STORE_CONTEXT, qp->number);
    }
    forget_number(nic, qp->number);
    nic->counters.qps_live--;
    nic__trace(nic, qp, NIC_TRACE_LIFE, 0, 0);
    if (nic->listeners != NULL) {
        nic__trace_forget(nic, qp);
    }
    qp->flags |= NIC_QP_DEAD;
    qp->transport = NIC_NO_TRANSPORT;
    if (nic->host->in_event) {
        qp->ready_next = nic->host->dead;
        nic->host->dead = qp;
    } else {
        nic__qp_free(qp);
    }
}

// -- connecting

void nic_qp_attr_default(const nic_t *nic, nic_qp_attr_t *attr)
{
    const nic_config_t *const config = &nic->host->config;
    const uint64_t dscp = config->dscp == SIM_AUTO ? config->priority * 8 : config->dscp;
    *attr = (nic_qp_attr_t){
        .path_mtu = (uint32_t)config->mtu_bytes,
        .timeout = (uint32_t)config->timeout,
        .retry_cnt = (uint32_t)config->retry_count,
        .rnr_retry = (uint32_t)config->rnr_retry,
        .min_rnr_timer = (uint32_t)config->min_rnr_timer,
        .max_rd_atomic = (uint32_t)config->max_rd_atomic,
        .max_dest_rd_atomic = (uint32_t)config->max_rd_atomic,
        .access = NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ |
                  NIC_ACCESS_REMOTE_ATOMIC,
        .priority = (uint8_t)config->priority,
        .dscp = (uint8_t)dscp,
        .rate_max_bps = SIM_AUTO,
        .window_bytes = SIM_AUTO,
    };
}

static sim_err_t check_range(sim_message_t *message,
                             const char *name,
                             uint64_t value,
                             uint64_t min,
                             uint64_t max)
{
    if (value >= min && value <= max) {
        return SIM_OK;
    }
    return sim_fail(message,
                    SIM_ERR_RANGE,
                    "%s: %" PRIu64 " is not in %" PRIu64 "..%" PRIu64,
                    name,
                    value,
                    min,
                    max);
}

static sim_err_t check_peer(const nic_qp_t *qp, const nic_qp_attr_t *attr, sim_message_t *message)
{
    const nic_t *const nic = qp->nic;
    const size_t interfaces = net_interface_count(nic->host->node.net);
    if (qp->type == NIC_QPT_UD) {
        return SIM_OK;
    }
    if (attr->dest_interface >= interfaces) {
        return sim_fail(message,
                        SIM_ERR_UNKNOWN,
                        "dest_interface: no interface %u, there are %zu",
                        attr->dest_interface,
                        interfaces);
    }
    if (attr->dest_interface == nic->interface) {
        return sim_fail(message,
                        SIM_ERR_INVALID,
                        "dest_interface: %u is the queue pair's own",
                        attr->dest_interface);
    }
    return check_range(message, "dest_qp_num", attr->dest_qp_num, ROCE_QPN_FIRST, ROCE_QPN_MASK);
}

static sim_err_t check_attr(const nic_qp_t *qp, const nic_qp_attr_t *attr, sim_message_t *message)
{
    const struct {
        const char *name;
        uint64_t value;
        uint64_t min;
        uint64_t max;
    } ranges[] = {
        {"rq_psn", attr->rq_psn, 0, ROCE_PSN_MASK},
        {"rq_msn", attr->rq_msn, 0, ROCE_PSN_MASK},
        {"sq_psn", attr->sq_psn, 0, ROCE_PSN_MASK},
        {"path_mtu", attr->path_mtu, 256, 4096},
        {"timeout", attr->timeout, 0, 31},
        {"retry_cnt", attr->retry_cnt, 0, 7},
        {"rnr_retry", attr->rnr_retry, 0, 7},
        {"min_rnr_timer", attr->min_rnr_timer, 0, 31},
        {"max_rd_atomic", attr->max_rd_atomic, 1, 255},
        {"max_dest_rd_atomic", attr->max_dest_rd_atomic, 1, 255},
        {"priority", attr->priority, 0, NET_PRIORITIES - 1},
        {"dscp", attr->dscp, 0, 63},
        {"rate_max_bps", attr->rate_max_bps, 1, UINT64_MAX},
        {"window_bytes", attr->window_bytes, 1, UINT64_MAX},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(ranges); i++) {
        const sim_err_t error =
            check_range(message, ranges[i].name, ranges[i].value, ranges[i].min, ranges[i].max);
        if (error != SIM_OK) {
            return error;
        }
    }
    if ((attr->path_mtu & (attr->path_mtu - 1)) != 0 && !qp->nic->host->config.any_mtu) {
        return sim_fail(message, SIM_ERR_RANGE, "path_mtu: %u is no path MTU", attr->path_mtu);
    }
    return check_peer(qp, attr, message);
}

// A port per QP, spread over the range, for paths to spread over equal routes.
static uint16_t derive_source_port(const nic_qp_t *qp, const nic_qp_attr_t *attr)
{
    const uint64_t ends = (uint64_t)qp->nic->interface << 32 | attr->dest_interface;
    const uint64_t numbers = (uint64_t)qp->number << 32 | attr->dest_qp_num;
    const uint64_t hash = sim_mix64(sim_mix64(ends + UINT64_C(0x9e3779b97f4a7c15)) ^ numbers);
    return (uint16_t)(ROCE_SOURCE_PORT_MIN | (hash & (0xffff - ROCE_SOURCE_PORT_MIN)));
}

static void set_path(nic_qp_t *qp, const nic_qp_attr_t *attr)
{
    const nic_t *const nic = qp->nic;
    const nic_config_t *const config = &nic->host->config;
    const uint16_t port =
        attr->udp_source_port != 0 ? attr->udp_source_port : derive_source_port(qp, attr);
    qp->path = (nic_path_t){
        .source = nic->interface,
        .destination = attr->dest_interface,
        .destination_qp = attr->dest_qp_num,
        .udp_source_port = port,
        .dscp = attr->dscp,
        .ecn = config->ecn_capable ? NET_ECN_ECT0 : NET_ECN_NOT_ECT,
    };
    if (qp->type == NIC_QPT_UD) {
        qp->path.destination = NET_INTERFACES_MAX; // set by each work request
    } else {
        qp->path.flow_hash =
            net_flow_hash(nic->host->node.net, nic->interface, attr->dest_interface, port);
        if (net_get_config(nic->host->node.net)->ecmp == NET_ECMP_MURMUR3) {
            qp->path.flow_hash |= (uint32_t)attr->hashed_port << 16;
        }
    }
    qp->priority = attr->priority;
    qp->ack_priority =
        (uint8_t)(config->ack_priority == SIM_AUTO ? attr->priority : config->ack_priority);
}

static void set_transport(nic_qp_t *qp, const nic_qp_attr_t *attr)
{
    static const uint8_t transports[] = {
        [NIC_QPT_RC] = ROCE_RC,
        [NIC_QPT_UC] = ROCE_UC,
        [NIC_QPT_UD] = ROCE_UD,
    };
    qp->transport = transports[qp->type];
    qp->mtu_bytes = (uint16_t)attr->path_mtu;
    qp->rx_mtu_bytes = qp->mtu_bytes;
    qp->ack_countdown = qp->nic->ack_interval;
    qp->first_psn = attr->sq_psn;
    qp->next_psn = qp->una_psn = qp->max_psn = attr->sq_psn;
    qp->expected_psn = attr->rq_psn;
    qp->msn = attr->rq_msn;
    qp->timeout = (uint8_t)attr->timeout;
    qp->retry_count = (uint8_t)attr->retry_cnt;
    qp->rnr_retry = (uint8_t)attr->rnr_retry;
    qp->min_rnr_timer = (uint8_t)attr->min_rnr_timer;
    qp->reads_max = (uint8_t)attr->max_rd_atomic;
    qp->reads_accepted_max = (uint8_t)attr->max_dest_rd_atomic;
    qp->access = attr->access;
    qp->qkey = attr->qkey;
}

// All but sending: packets of the peer are taken and answered.
static sim_err_t open_to_receive(nic_qp_t *qp, const nic_qp_attr_t *attr, sim_message_t *message)
{
    const sim_err_t error = check_attr(qp, attr, message);
    if (error != SIM_OK) {
        return error;
    }
    const uint64_t port_bps = qp->nic->port->rate_bps;
    const uint64_t line_bps = attr->rate_max_bps < port_bps ? attr->rate_max_bps : port_bps;
    const uint64_t configured = qp->nic->host->config.window_bytes;
    const uint64_t window = attr->window_bytes == SIM_AUTO ? configured : attr->window_bytes;
    set_path(qp, attr);
    set_transport(qp, attr);
    qp->state = NIC_QPS_RTR;
    if (qp->nic->detailed) {
        nic__rnic_gate(qp);
    }
    nic__cc_create(qp, line_bps, window == SIM_AUTO ? NIC_WINDOW_UNLIMITED : window);
    nic__transport_open(qp);
    return SIM_OK;
}

sim_err_t nic_qp_connect(nic_qp_t *qp, const nic_qp_attr_t *attr, sim_message_t *message)
{
    if (qp->state != NIC_QPS_RESET) {
        return sim_fail(message, SIM_ERR_STATE, "QP %u is connected already", qp->number);
    }
    const sim_err_t error = open_to_receive(qp, attr, message);
    if (error != SIM_OK) {
        return error;
    }
    qp->state = NIC_QPS_RTS;
    qp->flags &= (uint16_t)~NIC_QP_CLOSED;
    nic__trace(qp->nic, qp, NIC_TRACE_STATE, NIC_QPS_RTS, NIC_QPS_RESET);
    if (qp->nic->detailed) {
        nic__store_change(qp->nic, NIC_STORE_CONTEXT, qp->number);
    }
    return SIM_OK;
}

// As it was made, but for its number and its memory. What is on its way to it meets a stranger.
static void reset(nic_qp_t *qp)
{
    nic_t *const nic = qp->nic;
    SIM_CHECK((qp->flags & NIC_QP_DEAD) == 0);
    silence(qp);
    if (nic->detailed) {
        nic->rnic->counters.wqes_completed += qp->sq_posted - qp->sq_done;
    }
    qp->transport = NIC_NO_TRANSPORT;
    qp->serial = ++nic->last_serial;
    qp->flags = NIC_QP_CLOSED | (qp->flags & NIC_QP_UNRELIABLE);
    qp->sq_done = qp->sq_send = qp->sq_ready = qp->sq_here = qp->sq_posted;
    qp->rq_done = qp->rq_posted;
    qp->send_offset = qp->una_offset = 0;
    qp->in_flight_bytes = 0;
    qp->retries_used = qp->rnr_retries_used = qp->reads_outstanding = 0;
    qp->rx_kind = NIC_RX_NONE;
    qp->rx_flags = 0;
    qp->rx_bytes = qp->rx_left_bytes = qp->msn = 0;
    qp->queued_ack = NULL;
    qp->cnp_next_ps = qp->next_send_ps = qp->ready_ps = qp->response_ps = 0;
    qp->pace_remainder = 0;
    qp->waiting = NULL;
    qp->waiting_packet = NULL;
    sim_free(qp->atomics);
    qp->atomics = NULL;
    qp->atomics_next = 0;
    memset(nic__cc(qp), 0, nic->cc_ops->state_bytes);
    nic__cc(qp)->ops = nic->cc_ops;
    qp->wqe_flags &= (uint8_t)~NIC_WQE_HELD;
    set_state(qp, NIC_QPS_RESET);
}

// What was not begun is held from now on. It may have had the next turn.
static void drain(nic_qp_t *qp)
{
    for (uint32_t i = qp->sq_send; i != qp->sq_posted; i++) {
        nic__wqe(qp, i)->flags |= NIC_WQE_HELD;
    }
    qp->wqe_flags |= NIC_WQE_HELD;
    set_state(qp, NIC_QPS_SQD);
    nic__unschedule(qp);
    nic__scan_forget(qp);
    nic__schedule(qp);
}

bool nic_qp_drained(const nic_qp_t *qp)
{
    return qp->state == NIC_QPS_SQD && qp->sq_done == qp->sq_send && qp->una_psn == qp->max_psn;
}

sim_err_t nic_qp_modify(nic_qp_t *qp,
                        nic_qp_state_t state,
                        const nic_qp_attr_t *attr,
                        sim_message_t *message)
{
    const nic_qp_state_t from = nic_qp_state(qp);
    if (state == NIC_QPS_ERR && from != NIC_QPS_RESET) {
        nic_qp_to_error(qp);
        return SIM_OK;
    }
    if (state == NIC_QPS_RESET) {
        reset(qp);
        return SIM_OK;
    }
    if (from == NIC_QPS_RESET && state == NIC_QPS_INIT) {
        set_state(qp, state);
        return SIM_OK;
    }
    if (from == NIC_QPS_INIT && state == NIC_QPS_RTR && attr != NULL) {
        const sim_err_t error = open_to_receive(qp, attr, message);
        if (error == SIM_OK) {
            nic__trace(qp->nic, qp, NIC_TRACE_STATE, state, from);
            if (qp->nic->detailed) {
                nic__store_change(qp->nic, NIC_STORE_CONTEXT, qp->number);
            }
        }
        return error;
    }
    if (from == NIC_QPS_RTS && state == NIC_QPS_SQD) {
        drain(qp);
        return SIM_OK;
    }
    if (from == NIC_QPS_SQD && state == NIC_QPS_RTS) {
        qp->wqe_flags &= (uint8_t)~NIC_WQE_HELD;
        set_state(qp, state);
        nic__schedule(qp);
        return SIM_OK;
    }
    if ((from == NIC_QPS_RTR || from == NIC_QPS_SQE) && state == NIC_QPS_RTS) {
        qp->flags &= (uint16_t)~NIC_QP_CLOSED;
        set_state(qp, state);
        return SIM_OK;
    }
    return sim_fail(message, SIM_ERR_STATE, "QP %u: no such transition", qp->number);
}

// -- failing

static void flush_send_queue(nic_qp_t *qp)
{
    qp->una_psn = qp->next_psn;
    qp->in_flight_bytes = 0;
    while (qp->sq_done != qp->sq_posted && (qp->flags & NIC_QP_DEAD) == 0) {
        const nic_wqe_t wqe = *nic__wqe(qp, qp->sq_done);
        qp->sq_done++;
        nic__complete_send(qp, &wqe, NIC_WC_WR_FLUSH_ERR);
    }
    qp->sq_send = qp->sq_done;
}

static void flush_receive_queue(nic_qp_t *qp)
{
    while (qp->rq_done != qp->rq_posted && (qp->flags & NIC_QP_DEAD) == 0) {
        const nic_recv_wqe_t receive = qp->rq[qp->rq_done & (qp->rq_capacity - 1)];
        qp->rq_done++;
        const nic_wc_t wc = {
            .wr_id = receive.wr_id,
            .status = NIC_WC_WR_FLUSH_ERR,
            .opcode = NIC_WC_RECV,
            .qp_num = qp->number,
        };
        nic__write_cqe(qp, qp->recv_cq, &wc);
    }
}

void nic_qp_to_error(nic_qp_t *qp)
{
    if (qp->state == NIC_QPS_ERR || (qp->flags & NIC_QP_DEAD) != 0) {
        return;
    }
    silence(qp);
    qp->transport = NIC_NO_TRANSPORT;
    set_state(qp, NIC_QPS_ERR);
    flush_send_queue(qp);
    flush_receive_queue(qp);
}

void nic__fail_request(nic_qp_t *qp, nic_wc_status_t status)
{
    SIM_CHECK(qp->sq_done != qp->sq_posted);
    const nic_wqe_t wqe = *nic__wqe(qp, qp->sq_done);
    silence(qp);
    qp->sq_done++;
    if (qp->type == NIC_QPT_RC) {
        nic__complete_send(qp, &wqe, status);
        nic_qp_to_error(qp);
        return;
    }
    // Nothing is lost but the send queue: receiving goes on (10.3.1).
    set_state(qp, NIC_QPS_SQE);
    nic__complete_send(qp, &wqe, status);
    if (qp->state == NIC_QPS_SQE) {
        flush_send_queue(qp);
    }
}

// -- asking

uint32_t nic_qp_destination(const nic_qp_t *qp)
{
    return qp->state == NIC_QPS_RESET ? NET_INTERFACES_MAX : qp->path.destination;
}

uint32_t nic_qp_num(const nic_qp_t *qp)
{
    return qp->number;
}

nic_qp_state_t nic_qp_state(const nic_qp_t *qp)
{
    return (nic_qp_state_t)qp->state;
}

void *nic_qp_ctx(const nic_qp_t *qp)
{
    return qp->ctx;
}

nic_t *nic_qp_nic(const nic_qp_t *qp)
{
    return qp->nic;
}

uint32_t nic_qp_flow_hash(const nic_qp_t *qp)
{
    return qp->path.flow_hash;
}

void nic_qp_on_write(nic_qp_t *qp, nic_write_fn fn, void *ctx)
{
    qp->on_write = fn;
    qp->on_write_ctx = ctx;
}

uint32_t nic_qp_rq_psn(const nic_qp_t *qp)
{
    return (uint32_t)qp->expected_psn & ROCE_PSN_MASK;
}

uint64_t nic_qp_retransmitted_packets(const nic_qp_t *qp)
{
    return qp->retransmitted_packets;
}

bool nic_qp_quiet(const nic_qp_t *qp)
{
    return qp->sq_done == qp->sq_posted && qp->read_count == 0 &&
           (qp->rx_flags & NIC_RX_HELD) == 0 && !nic__ack_still_queued(qp);
}

size_t nic_qp_memory_bytes(const nic_qp_t *qp)
{
    return nic__transport_qp_bytes(qp->nic, qp->ops) + qp->sq_capacity * sizeof(nic_wqe_t) +
           qp->rq_capacity * sizeof(nic_recv_wqe_t) + qp->read_capacity * sizeof(nic_read_t);
}
