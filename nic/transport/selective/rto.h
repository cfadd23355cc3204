// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/rto.h - a time-out that is never shorter than the round trips measured.
//
// A transport's own time-out is of the idle path. Where packets wait in a queue for longer than
// that, they would be sent again while they wait, before new ones, and the queue would never end.
// So the time-out is at least SRTT + 4 RTTVAR. SRTT begins with the idle path's round trip and
// RTTVAR with 0, since the path is known: on an idle path nothing changes. Packets sent more than
// once are not measured (Karn). From the second time-out in a row without a word of the peer on, an
// allowance for queues joins it: the own time-out, at most 1 ms, then 3, 7, 15... times as much, at
// most 20 ms, and all of it up to the QP's time-out (nic.timeout). It ends when a round trip is
// measured again, or the silence ends within an own time-out of the last asking: an answer to what
// was asked long before would hardly come just then. RFC 6298 doubles the whole: but here
// propagation is known, and where it is most of a round trip a burst of losses would cost seconds.
// Source: RFC 6298, sections 2, 3 and 5.
// Cost: O(1); no memory beyond the struct.
#ifndef NIC_TRANSPORT_SELECTIVE_RTO_H
#define NIC_TRANSPORT_SELECTIVE_RTO_H

#include "nic/objects/qp.h"

typedef struct nic_rto {
    sim_time_t own_ps;    // the transport's, of the idle path
    sim_time_t smooth_ps; // SRTT
    sim_time_t spread_ps; // RTTVAR
    uint32_t doublings;   // 0: none
} nic_rto_t;

#define NIC_RTO_STEP_MAX_PS SIM_PS_PER_MS
#define NIC_RTO_MORE_MAX_PS (20 * SIM_PS_PER_MS)

static inline void nic__rto_open(nic_rto_t *rto, sim_time_t idle_rtt_ps, sim_time_t own_ps)
{
    *rto = (nic_rto_t){.own_ps = own_ps, .smooth_ps = idle_rtt_ps};
}

// Takes in a round trip of a packet that was sent once.
static inline void nic__rto_measured(nic_rto_t *rto, sim_time_t rtt_ps)
{
    const sim_time_t apart_ps =
        rtt_ps > rto->smooth_ps ? rtt_ps - rto->smooth_ps : rto->smooth_ps - rtt_ps;
    rto->spread_ps = rto->spread_ps - rto->spread_ps / 4 + apart_ps / 4;
    rto->smooth_ps = rto->smooth_ps - rto->smooth_ps / 8 + rtt_ps / 8;
    rto->doublings = 0;
}

// Takes in an answer that echoes sent_ps; SIM_TIME_NEVER: it echoes no time.
static inline void nic__rto_echoed(nic_rto_t *rto, sim_time_t now_ps, sim_time_t sent_ps)
{
    if (sent_ps != SIM_TIME_NEVER) {
        nic__rto_measured(rto, now_ps - sent_ps);
    }
}

// Counts a time-out, the `silent`-th in a row without an answer.
static inline void nic__rto_passed(nic_rto_t *rto, uint32_t silent)
{
    rto->doublings += silent > 1 && rto->doublings < 20;
}

// Notes an answer, `since_ps` after the last of `silent` time-outs in a row.
static inline void nic__rto_heard(nic_rto_t *rto, uint32_t silent, sim_time_t since_ps)
{
    if (SIM_UNLIKELY(silent != 0) && since_ps < rto->own_ps) {
        rto->doublings = 0;
    }
}

// Returns a time that hardly any round trip exceeds: SRTT + 4 RTTVAR.
static inline sim_time_t nic__rto_usual_ps(const nic_rto_t *rto)
{
    return rto->smooth_ps + 4 * rto->spread_ps;
}

// Returns the present time-out.
static inline sim_time_t nic__rto_ps(const nic_rto_t *rto, const nic_qp_t *qp)
{
    const sim_time_t measured_ps = nic__rto_usual_ps(rto);
    const sim_time_t least_ps = SIM_MAX(rto->own_ps, measured_ps);
    if (SIM_LIKELY(rto->doublings == 0)) {
        return least_ps;
    }
    const sim_time_t step_ps = SIM_MIN(rto->own_ps, NIC_RTO_STEP_MAX_PS);
    const sim_time_t grown_ps = (step_ps << rto->doublings) - step_ps;
    const sim_time_t more_ps = SIM_MIN(grown_ps, NIC_RTO_MORE_MAX_PS);
    const sim_time_t most_ps = nic__timeout_ps(qp) > least_ps ? nic__timeout_ps(qp) : least_ps;
    return SIM_MIN(least_ps + more_ps, most_ps);
}

#endif // NIC_TRANSPORT_SELECTIVE_RTO_H
