// SPDX-License-Identifier: Apache-2.0
// nic/transport/sdr/code.c - the erasure codes of SDR-RDMA: parity behind each group of chunks.
//
// XOR(k, m): parity chunk j is the exclusive or of the chunks c with c % m == j, and stands for one
// of them. MDS(k, m): any k of the k + m chunks give all. The receiver asks for the packets that
// parity cannot replace when nic.sdr.fallback round trips have passed (the paper's fallback
// time-out). The simulator has no bytes to compute with: it makes a packet that parity stands for
// anew from the group's RETH. Where packets have contents there is no parity.
// Source: "SDR-RDMA", SC 2025 (arXiv 2505.05366), sections on erasure coding and its model.
#include "nic/transport/sdr/sdr_internal.h"

#include "nic/compare_internal.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/wqe.h"

#define BEGINS (1u << 23)
#define HAS_IMMEDIATE (1u << 22)
#define SOLICITED (1u << 21)
#define NUMBER_MASK 0xffffu

static void group_due(sim_node_t *node, sim_timer_t *timer);

void nic__sdr_code_open(nic_sdr_t *sdr)
{
    sim_timer_init(&sdr->fallback_timer, group_due);
}

void nic__sdr_code_close(nic_sdr_t *sdr)
{
    sim_timer_cancel(nic_transport_node(sdr->held.base.qp), &sdr->fallback_timer);
    sim_free(sdr->groups);
}

// -- the sizes of a group

static uint32_t packets_of(const nic_sdr_t *sdr, const nic_sdr_group_t *group)
{
    const uint32_t most = (uint32_t)nic__sdr_config(sdr)->data_chunks * sdr->packets;
    const uint32_t left = nic__packet_count(sdr->held.base.qp, group->left_bytes);
    return SIM_MIN(left, most);
}

// Returns the number of packets of a parity chunk: as many as the group's longest chunk has.
static uint32_t rows_of(const nic_sdr_t *sdr, const nic_sdr_group_t *group)
{
    const uint32_t packets = packets_of(sdr, group);
    return SIM_MIN(packets, sdr->packets);
}

// -- sending

void nic__sdr_code_sent(nic_sdr_t *sdr, const nic_wqe_t *wqe, uint32_t offset,
                        const net_packet_t *packet)
{
    const nic_qp_t *const qp = sdr->held.base.qp;
    nic_sdr_group_t *const group = &sdr->sending;
    const bool write =
        wqe->opcode == NIC_WR_RDMA_WRITE || wqe->opcode == NIC_WR_RDMA_WRITE_WITH_IMM;
    if (nic__sdr_config(sdr)->code == NIC_SDR_PLAIN || !write || packet->contents) {
        sdr->sending_open = false;
        return;
    }
    if (!sdr->sending_open) {
        *group = (nic_sdr_group_t){
            .psn = qp->next_psn - 1,
            .address = wqe->remote_address + offset,
            .rkey = wqe->rkey,
            .left_bytes = wqe->length - offset,
            .immediate = wqe->immediate,
            .begins = offset == 0,
            .has_immediate = wqe->opcode == NIC_WR_RDMA_WRITE_WITH_IMM,
            .solicited = (wqe->flags & NIC_SEND_SOLICITED) != 0,
        };
        sdr->sending_open = true;
        sdr->sent_packets = 0;
    }
    if (++sdr->sent_packets == packets_of(sdr, group)) {
        sdr->parity_next = 0;
        sdr->parity_end = (uint32_t)nic__sdr_config(sdr)->parity_chunks * rows_of(sdr, group);
        sdr->sending_open = false;
    }
}

net_packet_t *nic__sdr_parity(nic_sdr_t *sdr)
{
    nic_qp_t *const qp = sdr->held.base.qp;
    nic_t *const nic = qp->nic;
    const nic_sdr_group_t *const group = &sdr->sending;
    const uint32_t payload_bytes = nic__min(group->left_bytes, qp->mtu_bytes);
    net_packet_t *const packet =
        nic__new_packet(nic, qp, qp->priority, qp->path.ecn,
                        ROCE_RETH_BYTES + ROCE_ROUND_BYTES + ((payload_bytes + 3) & ~3u));
    packet->opcode = ROCE_WRITE_MIDDLE;
    packet->payload_bytes = (uint16_t)payload_bytes;
    packet->psn = (uint32_t)group->psn & ROCE_PSN_MASK;
    packet->addressed = true;
    net_packet_aside_t *const aside = net_packet_aside(packet);
    aside->reth.address = group->address;
    aside->reth.rkey = group->rkey;
    aside->reth.length = group->left_bytes;
    aside->immediate = group->immediate;
    aside->selective.round = NIC_SDR_PARITY_ROUND;
    aside->selective.index = sdr->parity_next++ | (group->begins ? BEGINS : 0) |
                             (group->has_immediate ? HAS_IMMEDIATE : 0) |
                             (group->solicited ? SOLICITED : 0);
    nic__sdr_shared(sdr)->parity++;
    if (sdr->parity_next == sdr->parity_end) {
        sdr->parity_end = 0;
    }
    return packet;
}

// -- receiving

static bool chunk_came(const nic_sdr_t *sdr, const nic_sdr_group_t *group, uint32_t chunk)
{
    const uint32_t end = packets_of(sdr, group);
    for (uint32_t i = chunk * sdr->packets; i < (chunk + 1) * sdr->packets && i < end; i++) {
        if (!nic__early_has(&sdr->held.kept, group->psn + i)) {
            return false;
        }
    }
    return true;
}

static bool can_decode(const nic_sdr_t *sdr, const nic_sdr_group_t *group)
{
    const nic_sdr_config_t *const config = nic__sdr_config(sdr);
    const uint32_t m = (uint32_t)config->parity_chunks;
    const uint32_t chunks = (packets_of(sdr, group) + sdr->packets - 1) / sdr->packets;
    uint32_t missing[NIC_SDR_PARITY_MAX] = {0};
    uint32_t missing_all = 0;
    for (uint32_t c = 0; c < chunks; c++) {
        if (!chunk_came(sdr, group, c)) {
            missing[c % m]++;
            missing_all++;
        }
    }
    uint32_t came = 0;
    bool each = true;
    for (uint32_t j = 0; j < m; j++) {
        const bool whole = group->rows[j] >= rows_of(sdr, group);
        came += whole;
        each = each && missing[j] <= (uint32_t)whole;
    }
    return config->code == NIC_SDR_XOR ? each : missing_all <= came;
}

// Builds the packet at a place of the group, as the sender built it.
static net_packet_t *make_packet(nic_sdr_t *sdr, const nic_sdr_group_t *group, uint32_t place)
{
    nic_qp_t *const qp = sdr->held.base.qp;
    const uint32_t offset = place * qp->mtu_bytes;
    const uint32_t left = group->left_bytes - offset;
    const bool first = group->begins && place == 0;
    const bool last = left <= qp->mtu_bytes;
    const uint32_t payload_bytes = last ? left : qp->mtu_bytes;
    net_packet_t *const packet =
        nic__new_packet(qp->nic, qp, qp->priority, qp->path.ecn,
                        ROCE_RETH_BYTES + ROCE_IMMDT_BYTES + ((payload_bytes + 3) & ~3u));
    packet->opcode = (uint8_t)((first ? (last ? ROCE_WRITE_ONLY : ROCE_WRITE_FIRST)
                                      : (last ? ROCE_WRITE_LAST : ROCE_WRITE_MIDDLE)) +
                               (last && group->has_immediate));
    packet->payload_bytes = (uint16_t)payload_bytes;
    packet->psn = (uint32_t)(group->psn + place) & ROCE_PSN_MASK;
    packet->destination_qp = qp->number;
    packet->addressed = true;
    nic__sent_again(packet, false);
    packet->ack_request = last;
    packet->solicited = last && group->solicited;
    net_packet_aside_t *const aside = net_packet_aside(packet);
    aside->reth.address = group->address + offset;
    aside->reth.rkey = group->rkey;
    aside->reth.length = left;
    aside->immediate = group->immediate;
    aside->selective.round = 0;
    aside->selective.index = 0;
    return packet;
}

static void drop_group(nic_sdr_t *sdr, size_t at)
{
    for (sdr->group_count--; at < sdr->group_count; at++) {
        sdr->groups[at] = sdr->groups[at + 1];
    }
}

static void arm(nic_sdr_t *sdr)
{
    sim_node_t *const node = nic_transport_node(sdr->held.base.qp);
    if (sdr->group_count == 0) {
        sim_timer_cancel(node, &sdr->fallback_timer);
    } else if (!sim_timer_armed(&sdr->fallback_timer)) {
        const sim_time_t due_ps = sdr->groups[0].due_ps;
        sim_timer_arm(node, &sdr->fallback_timer, SIM_MAX(due_ps, node->now_ps));
    }
}

static void group_due(sim_node_t *node, sim_timer_t *timer)
{
    nic_sdr_t *const sdr = SIM_CONTAINER_OF(timer, nic_sdr_t, fallback_timer);
    while (sdr->group_count > 0 && sdr->groups[0].due_ps <= node->now_ps) {
        const nic_sdr_group_t group = sdr->groups[0];
        const uint64_t end_psn = group.psn + packets_of(sdr, &group);
        drop_group(sdr, 0);
        bool any = false;
        for (uint64_t psn = group.psn; psn < end_psn;) {
            uint32_t count = 0;
            while (psn + count < end_psn && !nic__early_has(&sdr->held.kept, psn + count)) {
                count++;
            }
            if (count != 0) {
                nic__single_acks_mark(&sdr->held, psn, count, true, SIM_TIME_NEVER);
                any = true;
            }
            psn += count + 1;
        }
        nic__sdr_shared(sdr)->fallbacks += any;
    }
    arm(sdr);
}

static nic_sdr_group_t *find_group(nic_sdr_t *sdr, const net_packet_t *packet, uint64_t psn)
{
    for (size_t i = sdr->group_count; i-- > 0;) {
        if (sdr->groups[i].psn == psn) {
            return &sdr->groups[i];
        }
    }
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const nic_qp_t *const qp = sdr->held.base.qp;
    SIM_GROW(sdr->groups, sdr->group_count, &sdr->group_capacity);
    nic_sdr_group_t *const group = &sdr->groups[sdr->group_count++];
    *group = (nic_sdr_group_t){
        .psn = psn,
        .address = aside->reth.address,
        .rkey = aside->reth.rkey,
        .left_bytes = aside->reth.length,
        .immediate = aside->immediate,
        .begins = (aside->selective.index & BEGINS) != 0,
        .has_immediate = (aside->selective.index & HAS_IMMEDIATE) != 0,
        .solicited = (aside->selective.index & SOLICITED) != 0,
    };
    const nic_sdr_config_t *const config = nic__sdr_config(sdr);
    const uint64_t frame_bytes = (uint64_t)qp->mtu_bytes + qp->nic->header_bytes + 44;
    const uint64_t permille = config->fallback.num * 1000 / config->fallback.den;
    group->due_ps = nic_transport_node(qp)->now_ps + sdr->held.rtt_ps / 1000 * permille +
                    config->parity_chunks * rows_of(sdr, group) * frame_bytes * 8 * SIM_PS_PER_S /
                        nic_rate_bps(qp->nic);
    return group;
}

void nic__sdr_take_parity(nic_sdr_t *sdr, net_packet_t *packet)
{
    nic_qp_t *const qp = sdr->held.base.qp;
    const uint64_t psn = nic_transport_psn(packet->psn, sdr->held.kept.first_psn);
    const uint32_t number = net_packet_aside(packet)->selective.index & NUMBER_MASK;
    nic_sdr_group_t probe = {.left_bytes = net_packet_aside(packet)->reth.length};
    const uint64_t end_psn = psn + packets_of(sdr, &probe);
    const uint32_t chunk = number / rows_of(sdr, &probe);
    if (nic__sdr_config(sdr)->code == NIC_SDR_PLAIN || chunk >= NIC_SDR_PARITY_MAX ||
        end_psn <= sdr->held.kept.first_psn ||
        end_psn > sdr->held.kept.first_psn + NIC_PSN_WINDOW ||
        (qp->rx_flags & NIC_RX_STOPPED) != 0) {
        nic_transport_consume(qp, packet);
        return;
    }
    nic_sdr_group_t *const group = find_group(sdr, packet, psn);
    if (number >= group->next_number) { // not a duplicate; one that is late counts as lost
        group->next_number = number + 1;
        group->rows[chunk]++;
    }
    nic_transport_consume(qp, packet);
    if (!can_decode(sdr, group)) {
        arm(sdr);
        return;
    }
    const nic_sdr_group_t whole = *group;
    drop_group(sdr, (size_t)(group - sdr->groups));
    arm(sdr);
    for (uint32_t i = 0; psn + i < end_psn && (qp->rx_flags & NIC_RX_STOPPED) == 0; i++) {
        if (!nic__early_has(&sdr->held.kept, psn + i)) {
            nic__sdr_shared(sdr)->decoded++;
            nic__sdr_take(sdr, make_packet(sdr, &whole, i));
        }
    }
}
