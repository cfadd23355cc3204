// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/memory.c - the time of accesses to host memory, and the number of maps over
// time.
#include "nic/device.h"
#include "nic/objects/objects.h"
#include "nic/transport/adamap/adamap_internal.h"

#define TLP_BYTES 256u
#define TLP_OVERHEAD_BYTES 20u

// Books an operation on a channel. The channel serves one after the other; the next one does not
// wait for the latency.
static sim_time_t dma_ps(nic_adamap_state_t *state, uint32_t bytes, sim_time_t *busy_ps)
{
    const nic_adamap_config_t *const config = nic__adamap_config(state);
    const uint64_t tlps = (bytes + TLP_BYTES - 1) / TLP_BYTES;
    const uint64_t bits = 8 * (bytes + tlps * TLP_OVERHEAD_BYTES);
    const sim_time_t now_ps = nic__adamap_now(state);
    const sim_time_t start_ps = SIM_MAX(*busy_ps, now_ps);
    *busy_ps = start_ps + bits * SIM_PS_PER_S / config->dma_rate_bps;
    return *busy_ps + config->read_latency_ps;
}

// Adds the parts of the host's fabric that the address needs, where they have limits.
static sim_time_t over_fabric(nic_adamap_state_t *state, uint64_t address, uint32_t bytes,
                              bool to_memory, sim_time_t channel_ps)
{
    nic_t *const nic = state->base.nic;
    if (!nic->bound) {
        return channel_ps;
    }
    const sim_time_t fabric_ps =
        nic_device_dma(nic, address, bytes, to_memory) + nic__adamap_config(state)->read_latency_ps;
    return SIM_MAX(fabric_ps, channel_ps);
}

sim_time_t nic__adamap_read_ps(nic_adamap_state_t *state, uint64_t address, uint32_t bytes)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    shared->counters.dma_reads++;
    shared->counters.dma_read_bytes += bytes;
    if (nic__adamap_config(state)->read_latency_ps == SIM_AUTO) {
        return nic_transport_host_read_ps(state->base.qp, address, bytes);
    }
    const sim_time_t channel_ps = dma_ps(state, bytes, &shared->read_busy_ps);
    return over_fabric(state, address, bytes, false, channel_ps);
}

sim_time_t nic__adamap_write_ps(nic_adamap_state_t *state, uint64_t address, uint32_t bytes)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    shared->counters.dma_writes++;
    shared->counters.dma_write_bytes += bytes;
    if (nic__adamap_config(state)->read_latency_ps == SIM_AUTO) {
        return nic_transport_host_write_ps(state->base.qp, address, bytes);
    }
    const sim_time_t channel_ps = dma_ps(state, bytes, &shared->write_busy_ps);
    return over_fabric(state, address, bytes, true, channel_ps);
}

static void note_sample(nic_adamap_shared_t *shared, uint64_t intervals)
{
    if (shared->nodes_now >= shared->samples_capacity) {
        uint64_t capacity = shared->samples_capacity == 0 ? 64 : shared->samples_capacity;
        while (capacity <= shared->nodes_now) {
            capacity *= 2;
        }
        uint64_t *const samples = sim_alloc_array(capacity, sizeof(*samples));
        for (uint64_t i = 0; i < shared->samples_capacity; i++) {
            samples[i] = shared->samples[i];
        }
        sim_free(shared->samples);
        shared->samples = samples;
        shared->samples_capacity = capacity;
    }
    shared->samples[shared->nodes_now] += intervals;
}

// -- maps over time

static void put_mark(nic_adamap_flight_t *flight, double area)
{
    if (flight->marks == NULL) {
        flight->marks = sim_alloc_array(NIC_ADAMAP_FLIGHT_MARKS, sizeof(*flight->marks));
        flight->step_ps = flight->rtt_ps > 0 ? flight->rtt_ps : SIM_PS_PER_US;
    }
    flight->marks[flight->mark_count++] = area;
    if (flight->mark_count == NIC_ADAMAP_FLIGHT_MARKS) {
        for (uint32_t i = 0; 2 * i < NIC_ADAMAP_FLIGHT_MARKS; i++) {
            flight->marks[i] = flight->marks[2 * i];
        }
        flight->mark_count /= 2;
        flight->step_ps *= 2;
    }
}

// Adds the time at the present number of maps to the curve.
static void extend(nic_adamap_flight_t *flight, uint64_t nodes, sim_time_t now_ps)
{
    if (flight->first_ps == 0 || now_ps == SIM_TIME_NEVER) { // the latter: the run is torn down
        return;
    }
    if (flight->marks == NULL) {
        put_mark(flight, 0.0);
    }
    sim_time_t mark_ps = flight->first_ps + flight->mark_count * flight->step_ps;
    while (mark_ps <= now_ps) {
        put_mark(flight, flight->area + (double)nodes * (double)(mark_ps - flight->counted_ps));
        mark_ps = flight->first_ps + flight->mark_count * flight->step_ps;
    }
    flight->area += (double)nodes * (double)(now_ps - flight->counted_ps);
    flight->counted_ps = now_ps;
}

double nic__adamap_flight_steady(const nic_adamap_flight_t *flight)
{
    if (flight->first_ps == 0 || flight->marks == NULL) {
        return 0.0;
    }
    const uint64_t first = (2 * flight->rtt_ps + flight->step_ps - 1) / flight->step_ps;
    uint64_t last = (flight->new_ps - flight->first_ps) / flight->step_ps;
    last = last < flight->mark_count ? last : flight->mark_count - 1;
    if (last <= first) {
        return 0.0;
    }
    const double span_ps = (double)(last - first) * (double)flight->step_ps;
    return (flight->marks[last] - flight->marks[first]) / span_ps;
}

void nic__adamap_flight_free(nic_adamap_flight_t *flight)
{
    sim_free(flight->marks);
    flight->marks = NULL;
}

void nic__adamap_count_nodes(nic_adamap_state_t *state, int64_t more)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    const uint64_t due = nic__adamap_now(state) / shared->sample_ps;
    extend(&shared->flight, shared->nodes_now, nic__adamap_now(state));
    if (due > shared->sampled) {
        note_sample(shared, due - shared->sampled);
        shared->sampled = due;
    }
    shared->nodes_now = (uint64_t)((int64_t)shared->nodes_now + more);
    if (shared->nodes_now > shared->nodes_peak) {
        shared->nodes_peak = shared->nodes_now;
    }
}
