// SPDX-License-Identifier: Apache-2.0
// nic/objects/fields.c - the fields of NICs, queue pairs and completion queues, a row each.
#include "nic/objects/fields.h"

#include "nic/objects/objects.h"
#include "nic/objects/queues.h"

// clang-format off
#define NIC(member_, repeat_) SIM_FIELD(nic_t, member_, repeat_)
#define NIC_SAME(member_) NIC(member_, FIXED)
static const sim_field_t nic_rows[] = {
    NIC(latest, IGNORE), NIC(latest_numbers, IGNORE), NIC(ready, STATE),
    SIM_FIELD_INNER(nic_t, counters, &nic__counter_fields),
    SIM_FIELD_ARRAY(nic_t, queue_pushed, COUNT), SIM_FIELD_ARRAY(nic_t, queue_popped, COUNT),
    NIC(cnp_next_ps, UNTIL), NIC(arrived_ps, UNTIL), NIC(checked_index, IGNORE),
    NIC(unlabelled, COUNT), NIC(rail_events, COUNT),
    // Fields that do not change, or whose change ends a span.
    NIC_SAME(port), NIC_SAME(host), NIC_SAME(qp_pages), NIC_SAME(qp_page_count), NIC_SAME(ready_classes),
    NIC_SAME(kicked), NIC_SAME(cnp_priority), NIC_SAME(cnp_dscp), NIC_SAME(header_bytes), NIC_SAME(ack_bytes),
    NIC_SAME(frame_bytes_min), NIC_SAME(overhead_bytes), NIC_SAME(ring), NIC_SAME(ack_interval),
    NIC_SAME(trace_points), NIC_SAME(interface), NIC_SAME(detailed), NIC_SAME(contents), NIC_SAME(bound),
    NIC_SAME(refuses), NIC_SAME(plain), NIC_SAME(served), NIC_SAME(shifts), NIC_SAME(gated), NIC_SAME(next_kicked), NIC_SAME(planes),
    NIC_SAME(body_bytes), NIC_SAME(any_mtu), NIC_SAME(odd_answers), NIC_SAME(loop), NIC_SAME(carried), NIC_SAME(accept),
    NIC_SAME(accept_ctx), NIC_SAME(ethernet), NIC_SAME(ethernet_ctx), NIC_SAME(next_qp_num), NIC_SAME(qp_page_capacity), NIC_SAME(active_qps), NIC_SAME(qp_gone),
    NIC_SAME(mrs), NIC_SAME(mr_count), NIC_SAME(mr_capacity), NIC_SAME(mr_free), NIC_SAME(mr_generation), NIC_SAME(pds),
    NIC_SAME(cqs), NIC_SAME(srqs), NIC_SAME(cc_ops), NIC_SAME(cc_config), NIC_SAME(cnp_slots), NIC_SAME(cnp_slot_count),
    NIC_SAME(cnp_slot_capacity), NIC_SAME(listeners), NIC_SAME(device), NIC_SAME(device_state), NIC_SAME(scheduler),
    NIC_SAME(scheduler_state), NIC_SAME(joined), NIC_SAME(reports), NIC_SAME(report_count),
    NIC_SAME(report_capacity), NIC_SAME(transport), NIC_SAME(shares), NIC_SAME(gate), NIC_SAME(exempt), NIC_SAME(draws),
    NIC_SAME(loopback), NIC_SAME(rail),
    // Padding.
    SIM_FIELD_BITS(nic_t, ring, ack_interval), NIC_SAME(state_at),
    SIM_FIELD_BITS(nic_t, odd_answers, state_at), SIM_FIELD_BITS(nic_t, state_at, next_kicked), SIM_FIELD_BITS(nic_t, active_qps, qp_gone),
    SIM_FIELD_BITS(nic_t, draws, unlabelled),
    SIM_FIELD_REST(nic_t, rail_events),
};
const sim_fields_t nic__nic_fields = SIM_FIELDS("NIC", sizeof(nic_t), nic_rows);

// A queue pair at rest, and at work: then positions within messages grow, and messages neither
// begin nor end. The first rows are in the order of the digest.
#define QP(member_, at_rest_, at_work_, uses_) \
    {SIM_FIELD_OF(nic_qp_t, member_, at_rest_, at_work_, uses_)}
#define QP_SAME(member_) QP(member_, FIXED, FIXED, 0)
static const sim_field_t qp_rows[] = {
    QP(number, FIXED, FIXED, SIM_DIGESTED), QP(state, FIXED, FIXED, SIM_DIGESTED),
    QP(next_psn, COUNT, COUNT, SIM_DIGESTED), QP(una_psn, COUNT, COUNT, SIM_DIGESTED),
    QP(expected_psn, COUNT, COUNT, SIM_DIGESTED), QP(msn, COUNT, FIXED, SIM_DIGESTED),
    QP(ready_next, IGNORE, IGNORE, 0), QP(ready_previous, IGNORE, IGNORE, 0),
    QP(window_bytes, STATE, FIXED, 0), QP(sq_send, COUNT, FIXED, 0),
    QP(send_offset, STATE, COUNT, 0), QP(flags, STATE, FIXED, 0),
    QP(ack_countdown, STATE, FIXED, 0), QP(max_psn, COUNT, COUNT, 0),
    QP(sq_posted, COUNT, FIXED, 0), QP(sq_done, COUNT, FIXED, 0),
    QP(una_offset, STATE, COUNT, 0), QP(queued_ack, IGNORE, IGNORE, 0),
    QP(retry_base_ps, UNTIL, UNTIL, 0), QP(cnp_next_ps, UNTIL, UNTIL, 0),
    QP(rx_left_bytes, STATE, COUNT, 0), QP(rx_bytes, STATE, COUNT, 0),
    QP(rx_kind, STATE, FIXED, 0), QP(rx_flags, STATE, FIXED, 0),
    QP(queued_ack_class, IGNORE, IGNORE, 0), QP(next_send_ps, UNTIL, UNTIL, 0),
    QP(pace_remainder, LAST, FIXED, 0), QP(pace_bps, LAST, FIXED, 0),
    QP(pace_timer, IGNORE, IGNORE, 0), QP(retry_timer, IGNORE, IGNORE, 0),
    QP(rq_posted, COUNT, FIXED, 0), QP(rq_done, COUNT, FIXED, 0),
    QP(rx_address, STATE, FIXED, 0), QP(rx_key, STATE, FIXED, 0), QP(held_psn, LAST, FIXED, 0), QP(held_aeth, LAST, FIXED, 0),
    QP(held_sent_ps, UNTIL, UNTIL, 0), QP(retransmitted_packets, COUNT, COUNT, 0),
    QP(traced_rate_bps, LAST, FIXED, 0), QP(queued_ack_number, IGNORE, IGNORE, 0),
    // Fields that do not change, or whose change ends a span.
    QP_SAME(sq), QP_SAME(in_flight_bytes), QP_SAME(mtu_bytes), QP_SAME(priority), QP_SAME(transport), QP_SAME(ops),
    QP_SAME(sq_mask), QP_SAME(path), QP_SAME(nic), QP_SAME(rx_mtu_bytes), QP_SAME(ack_priority),
    QP_SAME(read_count), QP_SAME(read_first), QP_SAME(read_capacity), QP_SAME(timeout), QP_SAME(retry_count),
    QP_SAME(rnr_retry), QP_SAME(reads_outstanding), QP_SAME(send_cq), QP_SAME(recv_cq), QP_SAME(rq),
    QP_SAME(reads), QP_SAME(pd), QP_SAME(rq_capacity), QP_SAME(send_wr_max), QP_SAME(access), QP_SAME(type),
    QP_SAME(wqe_flags), QP_SAME(reads_max), QP_SAME(reads_accepted_max), QP_SAME(srq), QP_SAME(ctx),
    QP_SAME(on_write), QP_SAME(on_write_ctx), QP_SAME(recv_wr_max), QP_SAME(first_psn),
    QP_SAME(sq_more), QP_SAME(atomics), QP_SAME(stopped_status), QP_SAME(atomics_next), QP_SAME(transport_open),
    QP_SAME(sq_failed), QP_SAME(reads_ready), QP_SAME(min_rnr_timer), QP_SAME(plane), QP_SAME(answer_route),
    // Retries used, and padding.
    SIM_FIELD_BITS(nic_qp_t, read_count, next_send_ps),
    SIM_FIELD_BITS(nic_qp_t, held_aeth, held_sent_ps),
};
#define QP_TABLE(name_, at_work_)                                                            \
    {                                                                                        \
        .name = (name_), .bytes = sizeof(nic_qp_t), .rows = qp_rows, .at_work = (at_work_),  \
        .row_count = SIM_COUNT_OF(qp_rows), .row_bytes = sizeof(sim_field_t)                 \
    }
const sim_fields_t nic__qp_fields = QP_TABLE("queue pair", false);
const sim_fields_t nic__qp_fields_at_work = QP_TABLE("queue pair at work", true);

#define CQ(member_, repeat_) SIM_FIELD(nic_cq_t, member_, repeat_)
static const sim_field_t cq_rows[] = {
    CQ(nic, FIXED), CQ(ring, FIXED), CQ(seen_ps, FIXED), CQ(core, FIXED),
    CQ(last_seen_ps, UNTIL), CQ(ring_capacity, FIXED), CQ(room, FIXED), CQ(first, IGNORE),
    CQ(count, FIXED), CQ(number, FIXED), CQ(context_slot, FIXED), CQ(fn, FIXED), CQ(ctx, FIXED),
    CQ(next, FIXED), CQ(next_of_core, FIXED), CQ(capacity, FIXED), CQ(overflowed, FIXED),
    CQ(noted, FIXED), SIM_FIELD_REST(nic_cq_t, noted),
};
const sim_fields_t nic__cq_fields = SIM_FIELDS("completion queue", sizeof(nic_cq_t), cq_rows);
// clang-format on
