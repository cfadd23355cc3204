// SPDX-License-Identifier: Apache-2.0
// nic/host/listen.h - informs listeners of what happens (nic/trace.h).
#ifndef NIC_HOST_LISTEN_H
#define NIC_HOST_LISTEN_H

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

// Calls all listeners of the point.
void nic__trace_tell(const nic_trace_t *trace);
// Reports to them a value, and the value before; qp may be NULL.
void nic__trace_value(const nic_t *nic, const nic_qp_t *qp, nic_trace_point_t point, uint64_t value,
                      uint64_t before);
// Reports the rate and window to them, if they have changed.
void nic__trace_control(nic_qp_t *qp, uint64_t window_before_bytes);
// Frees the listeners of a QP, or those of the NIC and all its QPs where qp is NULL.
void nic__trace_forget(nic_t *nic, const nic_qp_t *qp);

// Returns true if somebody listens to one of the points (nic_trace_point_t bits).
static inline bool nic__traced(const nic_t *nic, uint32_t points)
{
    return SIM_UNLIKELY((nic->trace_points & points) != 0);
}
static inline void nic__trace(const nic_t *nic, const nic_qp_t *qp, nic_trace_point_t point,
                              uint64_t value, uint64_t before)
{
    if (nic__traced(nic, point)) {
        nic__trace_value(nic, qp, point, value, before);
    }
}

// Reports to listeners that a work request of the queue pair is finished. wc: its completion; NULL:
// it has none.
static inline void nic__trace_completion(const nic_qp_t *qp, const nic_wc_t *wc)
{
    if (nic__traced(qp->nic, NIC_TRACE_COMPLETION)) {
        const nic_trace_t trace = {
            .point = NIC_TRACE_COMPLETION,
            .time_ps = nic__node(qp->nic)->now_ps,
            .nic = qp->nic,
            .qp = qp,
            .wc = wc,
        };
        nic__trace_tell(&trace);
    }
}

#endif // NIC_HOST_LISTEN_H
