// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/timing.c - timing and framing "hpcc": times are cut to whole nanoseconds, and frames
// take only their own bytes. Page: docs/models/hpcc-compat.md.
#include "compat/hpcc/hpcc_internal.h"

// Computes bytes x 8 / rate seconds as a double, cuts its fraction to 64 bits, and cuts its product
// with 10^9 to a whole number. These are the roundings of ns-3's DataRate and Time. They differ
// from integer arithmetic if the quotient is a whole number of ns but its double lies just below.
sim_time_t compat_hpcc_time_ps(uint64_t bytes, uint64_t rate_bps)
{
    const double seconds = (double)bytes * 8.0 / (double)rate_bps;
    const uint64_t whole = (uint64_t)seconds;
    const uint64_t fraction = (uint64_t)((seconds - (double)whole) * 0x1p64);
    const uint64_t ns = (uint64_t)((sim_wide_t)fraction * 1000000000 >> 64);
    return whole * SIM_PS_PER_S + ns * SIM_PS_PER_NS;
}

// Returns compat_hpcc_time_ps by integers where that is safe. Below a second a double errs by far
// less than a picosecond, so only a quotient that is a whole number of nanoseconds may lose one.
static sim_time_t time_ps(const net_port_t *port, uint64_t bytes)
{
    const uint64_t exact_ps = bytes * port->line->exact_ps_per_byte;
    const uint64_t cut_ps = exact_ps % SIM_PS_PER_NS;
    if (SIM_LIKELY(cut_ps != 0 && exact_ps < SIM_PS_PER_S)) {
        return exact_ps - cut_ps;
    }
    return compat_hpcc_time_ps(bytes, port->line->rate_bps);
}

const net_timing_ops_t compat__hpcc_timing = {
    .name = "hpcc",
    .time_ps = time_ps,
    .rate_time_ps = compat_hpcc_time_ps,
    .cuts_to_ns = true,
};

// Returns the propagation both ways plus the payload's time one way, and the slowest link's rate.
static sim_time_t path_rtt_ps(const net_path_t *path, uint32_t payload_bytes, uint64_t *rate_bps)
{
    sim_time_t rtt_ps = 2 * path->delay_ps;
    *rate_bps = path->ports[0]->line->rate_bps;
    for (uint32_t h = 0; h < path->hop_count; h++) {
        const uint64_t hop_bps = path->ports[h]->line->rate_bps;
        rtt_ps += payload_bytes * UINT64_C(8000000000) / hop_bps * SIM_PS_PER_NS;
        *rate_bps = SIM_MIN(hop_bps, *rate_bps);
    }
    return rtt_ps;
}

const nic_path_rtt_ops_t compat__hpcc_path_rtt = {.name = "hpcc", .rtt_ps = path_rtt_ps};
const net_framing_t compat__hpcc_framing = {.name = "hpcc", .pause_bytes = 43};
