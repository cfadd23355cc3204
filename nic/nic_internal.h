// SPDX-License-Identifier: Apache-2.0
// nic/nic_internal.h - what the files of nic/ share: steps, and who calls them.
//
// The steps of a work request are functions of their own, so that a NIC whose steps cost something
// has places to put it. In the ideal NIC each takes no time:
//
//     sending                                       receiving
//     nic__doorbell          post to NIC            nic__receive           packet to NIC
//     nic__fetch_wqe         WQE from host memory   nic__find_qp           QP number to QP
//     nic__requester_ready   QP state               nic__write_payload     payload to host memory
//     nic__carry_request     payload from memory    nic__write_cqe         CQE to host memory
//     transmit_qp            packet to the port
//
// Packet sequence numbers are 64 bits inside and their low 24 bits on the wire. Half-open ranges:
// una_psn is the first PSN not acknowledged, next_psn the next one to be sent.
#ifndef NIC_NIC_INTERNAL_H
#define NIC_NIC_INTERNAL_H

#include "net/frame.h"
#include "nic/objects_internal.h"

// trace.c
void nic__trace_tell(const nic_trace_t *trace);
void nic__trace_value(const nic_t *nic,
                      const nic_qp_t *qp,
                      nic_trace_point_t point,
                      uint64_t value,
                      uint64_t before);
void nic__trace_control(nic_qp_t *qp, uint64_t window_before_bytes);
// Frees the listeners of a QP; of the NIC and all its QPs where qp is NULL.
void nic__trace_forget(nic_t *nic, const nic_qp_t *qp);
static inline bool nic__traced(const nic_t *nic, uint32_t points)
{
    return SIM_UNLIKELY((nic->trace_points & points) != 0);
}
static inline void nic__trace(const nic_t *nic,
                              const nic_qp_t *qp,
                              nic_trace_point_t point,
                              uint64_t value,
                              uint64_t before)
{
    if (nic__traced(nic, point)) {
        nic__trace_value(nic, qp, point, value, before);
    }
}

static inline uint32_t nic__min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Of a request with data, what follows the NIC's header; pad included.
static inline uint32_t nic__body_bytes(const nic_t *nic,
                                       uint32_t extension_bytes,
                                       uint32_t payload_bytes)
{
    return SIM_UNLIKELY(nic->body_bytes != NULL) ? nic->body_bytes(extension_bytes, payload_bytes)
                                                 : extension_bytes + ((payload_bytes + 3) & ~3u);
}

static inline uint32_t nic__frame_bytes(const nic_t *nic, uint32_t body_bytes)
{
    const uint32_t bytes = nic->header_bytes + body_bytes;
    return bytes < nic->frame_bytes_min ? nic->frame_bytes_min : bytes;
}

// A packet of a QP, complete but for opcode, PSN, payload and extension headers, which take
// `body_bytes` together (pad included).
static inline net_packet_t *nic__new_packet(nic_t *nic,
                                            const nic_qp_t *qp,
                                            uint8_t priority,
                                            uint8_t ecn,
                                            uint32_t body_bytes)
{
    const uint32_t frame_bytes = nic__frame_bytes(nic, body_bytes);
    net_packet_t *const packet = net_packet_new(&nic->host->node, frame_bytes);
    *packet = (net_packet_t){
        .route = qp->path.route,
        .source = nic->interface,
        .destination = qp->path.destination,
        .flow_hash = qp->path.flow_hash,
        .frame_bytes = (uint16_t)frame_bytes,
        .udp_source_port = qp->path.udp_source_port,
        .kind = NET_PACKET_ROCE,
        .priority = priority,
        .dscp = qp->path.dscp & 63u,
        .ecn = ecn & 3u,
        .ttl = NIC_TTL,
        .destination_qp = qp->path.destination_qp,
        .sent_ps = nic__node(nic)->now_ps,
    };
    return packet;
}

// The packet collects telemetry from here on, or brings back what another collected: `from`.
void nic__add_telemetry(nic_t *nic,
                        net_packet_t *packet,
                        net_telemetry_t kind,
                        const net_packet_t *from);

// Whether a packet's ACK is to say more than that it arrived.
static inline bool nic__wants_feedback(const net_packet_t *packet)
{
    return packet->telemetry != NET_TELEMETRY_NONE || packet->acked_alone || packet->echo_ecn;
}

// The local ACK timeout (9.7.6.1.3): the standard allows up to four times this.
static inline sim_time_t nic__timeout_ps(const nic_qp_t *qp)
{
    return UINT64_C(4096000) << qp->timeout;
}

// nic/transport/transports.c: the round trip of the idle path: propagation, a full frame there and
// an ACK back on
// each link.
sim_time_t nic__idle_rtt_ps(const nic_qp_t *qp);

// How far a wire PSN is from a 64-bit one, within half of the 24-bit space.
static inline int64_t nic__psn_distance(uint32_t wire_psn, uint64_t psn)
{
    return (int32_t)((wire_psn - (uint32_t)psn) << 8) >> 8;
}

static inline nic_wqe_t *nic__wqe(const nic_qp_t *qp, uint32_t index)
{
    return &qp->sq[index & qp->sq_mask];
}
// Places in the ring of a send queue; 0 before the first post.
static inline uint32_t nic__sq_capacity(const nic_qp_t *qp)
{
    return qp->sq_mask + (qp->sq_mask != 0);
}

// The end of a WQE as a 64-bit PSN; `near_psn` is any PSN within 2^31 of it.
static inline uint64_t nic__wqe_end(const nic_wqe_t *wqe, uint64_t near_psn)
{
    return near_psn + (uint64_t)(int64_t)(int32_t)(wqe->end_psn - (uint32_t)near_psn);
}

// A message of no bytes is one packet.
static inline uint32_t nic__packet_count(const nic_qp_t *qp, uint32_t length_bytes)
{
    return SIM_LIKELY(length_bytes <= qp->mtu_bytes)
               ? 1
               : (length_bytes + qp->mtu_bytes - 1) / qp->mtu_bytes;
}

// nic/host/node.c
// Something may be ready to be sent: it will be when this event is over, or when the port is free.
void nic__kick(nic_t *nic);

// scheduler.c
void nic__schedule(nic_qp_t *qp); // the QP may have become able to send
void nic__unschedule(nic_qp_t *qp);
void nic__repace(nic_qp_t *qp); // the rate changed: what is left of the wait goes at the new one
void nic__transmit(nic_t *nic); // the port is free: send what is next
void nic__send(nic_t *nic, net_packet_t *packet);           // an ACK, NAK or CNP, now or when free
void nic__pace_fired(sim_node_t *node, sim_timer_t *timer); // a sim_timer_fn

// schedulers.c
void nic__scheduler_create(nic_t *nic);
void nic__scheduler_destroy(nic_t *nic);
void nic__scheduler_forget(nic_qp_t *qp); // it stops, or drains
void nic__scheduler_reset(nic_qp_t *qp);

// What lies before a queue pair: the scheduler's state of it, then the device's.
static inline size_t nic__bytes_before_qp(const nic_t *nic)
{
    return nic->scheduler->qp_state_bytes + nic->device->qp_state_bytes;
}

// -- what the queue pair's transport does

static inline bool nic__requester_ready(const nic_qp_t *qp)
{
    return qp->ops->ready(qp);
}
static inline bool nic__can_send(const nic_qp_t *qp)
{
    return (qp->flags & NIC_QP_READS) != 0 || nic__requester_ready(qp);
}
static inline net_packet_t *nic__build_request(nic_t *nic, nic_qp_t *qp) // NULL: the WQE failed
{
    return qp->ops->next_packet(nic, qp);
}
// nic/transport/transports.c
size_t nic__transport_qp_bytes(const nic_t *nic, const nic_transport_ops_t *ops);
void nic__transport_open(nic_qp_t *qp);
void nic__transport_close(nic_qp_t *qp);
void nic__transports_free(nic_t *nic);
// unreliable.c
extern const nic_transport_ops_t nic__transport_uc;
extern const nic_transport_ops_t nic__transport_ud;

// acknowledge.c
void nic__retry_fired(sim_node_t *node, sim_timer_t *timer); // a sim_timer_fn
void nic__rest(nic_qp_t *qp); // stops timers if nothing is left to do, when programs were told
void nic__rest_now(nic_qp_t *qp);

// receive.c: takes the packet
void nic__receive(nic_t *nic, net_packet_t *packet);
void nic__receive_for(nic_t *nic, nic_qp_t *qp, net_packet_t *packet); // whose QP is known

// responses.c: READs and atomics to be answered
net_packet_t *nic__build_response(nic_t *nic, nic_qp_t *qp);
// answer.c
void nic__responses_sent(nic_qp_t *qp); // the last response of all is on its way
bool nic__ack_still_queued(const nic_qp_t *qp);

// receive_queue.c
bool nic__take_shared(nic_qp_t *qp); // false: none is there
void nic__free_receives(nic_recv_wqe_t *ring, uint32_t capacity);
void nic__srqs_free(nic_t *nic);
// Whether a message that begins finds a receive: the QP's oldest is it then.
static inline bool nic__receive_posted(nic_qp_t *qp)
{
    return SIM_LIKELY(qp->rq_done != qp->rq_posted) || (qp->srq != NULL && nic__take_shared(qp));
}

static inline const nic_recv_wqe_t *nic__oldest_receive(const nic_qp_t *qp)
{
    return &qp->rq[qp->rq_done & (qp->rq_capacity - 1)];
}
// Where the message being received goes.
static inline nic_place_t nic__rx_place(const nic_qp_t *qp, nic_rx_kind_t kind)
{
    return kind == NIC_RX_SEND ? nic__receive_place(nic__oldest_receive(qp))
                               : (nic_place_t){.address = qp->rx_address, .count = 1};
}

// Frees a packet that reached its end.
static inline void nic__consume(nic_t *nic, net_packet_t *packet)
{
    net_packet_deliver(&nic->host->node, packet);
}

static inline void nic__consume_empty(nic_t *nic, net_packet_t *packet)
{
    net_packet_deliver_empty(&nic->host->node, packet);
}

// qp_check.c: each aborts where something does not hold
void nic__qp_check(const nic_qp_t *qp);
void nic__cq_check(const nic_cq_t *cq);
void nic__check(const nic_t *nic);       // all of it
void nic__check_after_event(nic_t *nic); // a part

// notice.c
void nic__notice(nic_host_t *host, const nic_notice_t *notice);
void nic__hand_over(nic_host_t *host);         // at the end of an event
void nic__hand_over_outside(nic_host_t *host); // of a call before the run

// completion.c
// The queue pair fails if the queue overflows: look at the state afterwards.
void nic__write_cqe(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc);
void nic__complete_send(nic_qp_t *qp, const nic_wqe_t *wqe, nic_wc_status_t status);
void nic__complete_fetch(nic_qp_t *qp, const nic_wqe_t *wqe, uint64_t original); // success

// memory.c
static inline bool nic__access_ok(const nic_pd_t *pd,
                                  uint32_t key,
                                  uint64_t address,
                                  uint64_t length_bytes,
                                  uint32_t access)
{
    if (length_bytes == 0) {
        return true; // keys are not looked at then (9.7.4.1.5, 10.6.7)
    }
    const nic_t *const nic = pd->nic;
    const uint32_t index = key >> 8;
    if (index >= nic->mr_count) {
        return false;
    }
    const nic_mr_t *const mr = nic->mrs[index];
    return mr != NULL && mr->key == key && mr->pd == pd && (mr->access & access) == access &&
           address - mr->address <= mr->length_bytes && // not before it, either
           mr->length_bytes - (address - mr->address) >= length_bytes;
}
// The region of a key; NULL: there is none.
nic_mr_t *nic__region(const nic_t *nic, uint32_t key);
bool nic__list_ok(const nic_pd_t *pd, const nic_sge_t *list, uint32_t count, uint32_t access);
// The number of the protection domain of a key; 0: there is no such key.
uint32_t nic__pd_number(const nic_t *nic, uint32_t key);

// gather.c: work requests with several places
nic_sge_t *nic__copy_list(const nic_sge_t *list, uint32_t count);
// The whole length; false: too many places, or too long.
bool nic__list_length(const nic_sge_t *sge, const nic_sge_t *list, uint32_t count, uint64_t *bytes);
static inline bool nic__place_ok(const nic_pd_t *pd,
                                 const nic_place_t *place,
                                 uint64_t length_bytes,
                                 uint32_t access)
{
    return SIM_LIKELY(place->list == NULL)
               ? nic__access_ok(pd, place->key, place->address, length_bytes, access)
               : nic__list_ok(pd, place->list, place->count, access);
}
// The first piece of at most `bytes` bytes that is in one place, from `offset` on.
nic_sge_t nic__first_piece(const nic_place_t *place, uint64_t offset, uint64_t bytes);

// contents.c
void nic__memory_fini(nic_memory_t *memory);
// nic/host/node.c
void nic__note_contents(nic_memory_t *memory); // from now on there are some

nic_host_t *nic__host_of(const net_node_t *node);

// fabric.c
sim_err_t nic__location_of(const nic_host_config_t *config,
                           const char *text,
                           nic_location_t *location,
                           sim_message_t *message);
void nic__fabric_build(nic_host_t *host);
void nic__fabric_destroy(nic_host_t *host);
// A NIC with limits reads or writes host memory from now on; returns when that is done.
sim_time_t nic__dma(nic_t *nic, uint64_t address, uint64_t bytes, bool to_memory);
// It does with what its driver keeps for it in the memory of its own socket: rings, contexts.
sim_time_t nic__dma_own(nic_t *nic, sim_time_t now_ps, uint64_t bytes, bool to_memory);
// A core of its socket writes into the NIC.
sim_time_t nic__dma_from_core(nic_t *nic, sim_time_t now_ps, uint64_t bytes);
// The PCIe lanes that its place has; 0: not said.
uint32_t nic__fabric_lanes(const nic_t *nic);
// From when on no more than so much that was written waits.
sim_time_t nic__dma_room_ps(const nic_t *nic, uint64_t waiting_bytes);
// An ideal one: whether it still reads what it sent last; it will be kicked then.
bool nic__dma_holds_back(nic_t *nic);
void nic__dma_write_ideal(nic_t *nic, uint64_t address, uint64_t bytes, uint8_t priority);

// payload.c: contents of a packet, taken from memory and put there
void nic__carry(nic_t *nic, net_packet_t *packet, uint64_t address);
void nic__carry_request(nic_qp_t *qp, uint32_t index, uint32_t offset, net_packet_t *packet);
// The contents go to a place, from `offset` of it on.
void nic__keep(nic_t *nic, const net_packet_t *packet, const nic_place_t *place, uint64_t offset);
// The contents of a request go where its message goes if it is accepted; the packet has none left.
void nic__take_contents(const nic_qp_t *qp,
                        net_packet_t *packet,
                        nic_rx_kind_t kind,
                        bool accepted);
static inline bool nic__keeps(const nic_t *nic, const net_packet_t *packet)
{
    return SIM_UNLIKELY((packet->contents | nic->contents) != 0);
}
// What a work request has besides its WQE.
void nic__set_more(nic_qp_t *qp, uint32_t index, const nic_send_wr_t *wr);
void nic__grow_more(nic_qp_t *qp, uint32_t capacity);
void nic__free_more(nic_qp_t *qp);
static inline bool nic__needs_more(const nic_qp_t *qp, const nic_send_wr_t *wr)
{
    return SIM_UNLIKELY(qp->sq_more != NULL) || SIM_UNLIKELY(nic__is_atomic((uint8_t)wr->opcode)) ||
           (SIM_UNLIKELY(qp->nic->contents) && (wr->send_flags & NIC_SEND_INLINE) != 0) ||
           SIM_UNLIKELY(wr->num_sge > 1);
}

// qp.c
// Whether a QP of this number existed and does not exist any more.
bool nic__qp_is_gone(const nic_t *nic, uint32_t number);
static inline nic_qp_t *nic__find_qp(const nic_t *nic, uint32_t number) // NULL: there is none
{
    const uint32_t index = number - ROCE_QPN_FIRST;
    const uint32_t page = index >> NIC_QP_PAGE_BITS;
    if (SIM_UNLIKELY(page >= nic->qp_page_count || nic->qp_pages[page] == NULL)) {
        return NULL;
    }
    return nic->qp_pages[page][index & (NIC_QP_PAGE - 1)];
}
void nic__free_dead(nic_host_t *host);
void nic__qp_free(nic_qp_t *qp);
void nic__flush_late(nic_qp_t *qp); // what was posted in an error completes as flushed, a bit later
void nic__flush(nic_qp_t *qp);      // now
// The oldest work request fails with status, and the QP with it.
void nic__fail_request(nic_qp_t *qp, nic_wc_status_t status);

// congestion.c
void nic__cc_create(nic_qp_t *qp, uint64_t line_bps, uint64_t window_bytes);
void nic__cc_sync(nic_qp_t *qp); // after an operation: the QP follows rate and window
void nic__cc_start(nic_qp_t *qp);
void nic__cc_stop(nic_qp_t *qp);
void nic__cc_ack(nic_qp_t *qp, const net_packet_t *packet, uint64_t acked_bytes, bool nak);
// An ACK of what is acknowledged already: another path was shorter. end_psn: what it says.
void nic__cc_late_ack(nic_qp_t *qp, const net_packet_t *packet, uint64_t end_psn);

// -- the device (nic/device.h)

// Calls an operation of it, if it has that one.
#define NIC_DEVICE(nic_, operation, ...)                                           \
    do {                                                                           \
        if (SIM_UNLIKELY((nic_)->detailed) && (nic_)->device->operation != NULL) { \
            (nic_)->device->operation(__VA_ARGS__);                                \
        }                                                                          \
    } while (0)
// device.c
void nic__device_create(nic_t *nic);
void nic__device_destroy(nic_t *nic);
// completion.c: into the queue, now or to be seen later
void nic__add_completion(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc, sim_time_t seen_ps);

// core.c
void nic__core_notice(nic_core_t *core, sim_time_t seen_ps);
void nic__cores_free(nic_host_t *host);
void nic__cores_set_clock(nic_host_t *host); // from the config

// The payload of a packet goes to host memory.
static inline void nic__write_payload(nic_t *nic, uint32_t bytes)
{
    nic->counters.rx_data_bytes += bytes;
    NIC_DEVICE(nic, payload, nic, bytes);
}

// A WRITE lies whole in memory.
static inline void nic__tell_write(nic_qp_t *qp)
{
    const nic_t *const nic = qp->nic;
    if (SIM_UNLIKELY(nic->detailed) && nic->device->wrote != NULL) {
        nic->device->wrote(qp, qp->rx_address, qp->rx_bytes);
    } else {
        nic__notice(nic->host,
                    &(nic_notice_t){.qp = qp, .address = qp->rx_address, .bytes = qp->rx_bytes});
    }
}

// extra.c
void nic__parts_create(nic_config_t *to, const nic_config_t *from); // NULL: defaults
bool nic__parts_equal(const nic_config_t *a, const nic_config_t *b);
void nic__parts_destroy(nic_config_t *config);
SIM_MUST_CHECK sim_err_t nic__check_parts(const nic_config_t *config, sim_message_t *message);
// What a config chooses, and its own config in *part (NULL: it has none). NULL: the name is
// unknown.
const nic_cc_ops_t *nic__config_cc(const nic_config_t *config, const void **part);
const nic_scheduler_ops_t *nic__config_scheduler(const nic_config_t *config, const void **part);
const nic_device_ops_t *nic__config_device(const nic_config_t *config, const void **part);
const nic_frames_ops_t *nic__config_frames(const nic_config_t *config, const void **part);
const nic_path_rtt_ops_t *nic__config_path_rtt(const nic_config_t *config);
const nic_transport_ops_t *nic__config_transport(const nic_config_t *config);

// frames.c
void nic__frames_create(nic_t *nic);
// A transport adds something to a packet that its opcode does not have. What fills the shortest
// frames up to their least makes room for it.
static inline void nic__grow_frame(nic_t *nic, net_packet_t *packet, uint32_t bytes)
{
    if (SIM_UNLIKELY(nic->body_bytes != NULL)) {
        return;
    }
    if (SIM_UNLIKELY(packet->payload_bytes == 0)) {
        const uint32_t whole = nic->header_bytes + net_frame_extension_bytes(packet->opcode);
        const uint32_t fill = whole < nic->frame_bytes_min ? nic->frame_bytes_min - whole : 0;
        bytes -= fill < bytes ? fill : bytes;
    }
    net_packet_grow(&nic->host->node, packet, bytes);
}

#endif // NIC_NIC_INTERNAL_H
