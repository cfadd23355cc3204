// SPDX-License-Identifier: Apache-2.0
// cli/headroom/bounds.c - closed forms of headroom and reserve.
#include "cli/headroom/bounds.h"

#include "net/port.h"

#include <math.h>

#define BIT_PS (8 * SIM_PS_PER_S)
// From the end of a decision to pause to its effect, besides what depends on the port: the pause
// frame up to its FCS (72), and the preamble, FCS and gap of the frame that the peer sends then.
#define AROUND_BYTES 108u
#define CABLE_M_PER_S 198000000.0 // in the vendor's formula; an assumption

// Returns the bytes of link time from a decision to the moment at which it shows at the port,
// times BIT_PS.
static sim_wide_t reach(const cli_port_needs_t *needs)
{
    const uint64_t bytes = needs->frame_bytes + needs->back_bytes + AROUND_BYTES;
    return (sim_wide_t)needs->rate_bps * (2 * needs->delay_ps + needs->response_ps) +
           (sim_wide_t)bytes * BIT_PS;
}

static uint64_t wire_bytes(const cli_port_needs_t *needs)
{
    return needs->frame_bytes + NET_LINK_OVERHEAD_BYTES;
}

uint64_t cli_headroom_cells_bytes(const cli_port_needs_t *needs, uint32_t frame_bytes)
{
    return (frame_bytes + needs->cell_bytes - 1) / needs->cell_bytes * (uint64_t)needs->cell_bytes;
}

uint64_t cli_headroom_bytes(const cli_port_needs_t *needs)
{
    const sim_wide_t frame = (sim_wide_t)wire_bytes(needs) * BIT_PS;
    return cli_headroom_cells_bytes(needs, needs->frame_bytes) *
           (uint64_t)((reach(needs) + frame - 1) / frame);
}

uint64_t cli_headroom_reserve_bytes(const cli_port_needs_t *needs)
{
    // When the first frame comes again, the departures before it have taken this many bytes.
    return cli_headroom_bytes(needs) - cli_headroom_cells_bytes(needs, needs->frame_bytes);
}

// Returns the largest sum of cells of frames that together take at most time_bytes of link time.
//
// The smallest frames with k cells fit best. So this is a knapsack with one item for each k.
// With a capacity of more than the product of the best item's weight and the largest weight, the
// best item is part of the solution, which leaves a capacity that a table has room for.
static uint64_t most_cells_bytes(const cli_port_needs_t *needs, uint32_t least_bytes,
                                 uint64_t time_bytes)
{
    const uint32_t cell = needs->cell_bytes;
    const uint32_t most = (needs->frame_bytes + cell - 1) / cell;
    const uint32_t fewest = (least_bytes + cell - 1) / cell;
    uint64_t best_weight = wire_bytes(needs);
    uint64_t best_value = (uint64_t)most * cell;
    for (uint32_t k = fewest; k <= most; k++) {
        const uint64_t weight = SIM_MAX((k - 1) * cell + 1, least_bytes) + NET_LINK_OVERHEAD_BYTES;
        const uint64_t value = (uint64_t)k * cell;
        if (value * best_weight > best_value * weight) {
            best_weight = weight;
            best_value = value;
        }
    }
    const uint64_t room = best_weight * wire_bytes(needs);
    const uint64_t taken = time_bytes > room ? (time_bytes - room) / best_weight : 0;
    const size_t left = (size_t)(time_bytes - taken * best_weight);
    uint64_t *const sums = sim_alloc_array(left + 1, sizeof(*sums));
    for (size_t t = 1; t <= left; t++) {
        sums[t] = sums[t - 1];
        for (uint32_t k = fewest; k <= most; k++) {
            const size_t weight =
                SIM_MAX((k - 1) * cell + 1, least_bytes) + NET_LINK_OVERHEAD_BYTES;
            if (weight <= t) {
                sums[t] = SIM_MAX(sums[t], sums[t - weight] + (uint64_t)k * cell);
            }
        }
    }
    const uint64_t sum = taken * best_value + sums[left];
    sim_free(sums);
    return sum;
}

uint64_t cli_headroom_any_bytes(const cli_port_needs_t *needs, uint32_t least_bytes)
{
    // All frames but the last together take less than the time until the pause takes effect. They
    // are full ones, or one more of which some are smaller, so that they fill that time.
    const uint64_t time_bytes = (uint64_t)((reach(needs) + BIT_PS - 1) / BIT_PS) - 1;
    if (needs->cell_bytes > 1) {
        return most_cells_bytes(needs, least_bytes, time_bytes) +
               cli_headroom_cells_bytes(needs, needs->frame_bytes);
    }
    const uint64_t full = time_bytes / wire_bytes(needs) * needs->frame_bytes;
    const uint64_t more = (time_bytes / wire_bytes(needs) + 1) * NET_LINK_OVERHEAD_BYTES;
    return SIM_MAX(full, time_bytes - SIM_MIN(more, time_bytes)) + needs->frame_bytes;
}

uint32_t cli_headroom_worst_frame(const cli_port_needs_t *needs, uint32_t least_bytes)
{
    cli_port_needs_t tried = *needs;
    uint32_t worst = needs->frame_bytes;
    uint64_t worst_bytes = 0;
    for (uint32_t bytes = needs->frame_bytes; bytes >= least_bytes; bytes -= 4) {
        tried.frame_bytes = bytes;
        const uint64_t headroom = cli_headroom_bytes(&tried);
        worst = headroom > worst_bytes ? bytes : worst;
        worst_bytes = SIM_MAX(worst_bytes, headroom);
    }
    return worst;
}

// The MTU of ports and the share of small packets are from SONiC's document. It leaves the values
// of ASIC_TABLE open, so the others are assumptions for a chip with cells.
const cli_vendor_switch_t cli_vendor_switch = {
    .cell_bytes = 144,
    .small_percent = 100,
    .lossless_mtu_bytes = 1024,
    .port_mtu_bytes = 9100,
    .mac_phy_bytes = 819.2,
};

uint64_t cli_headroom_vendor_bytes(const cli_vendor_switch_t *chip, uint64_t rate_bps,
                                   double length_m, sim_time_t response_ps)
{
    const double mbps = (double)rate_bps / 1e6;
    const double cell = (double)chip->cell_bytes;
    const double small = (double)chip->small_percent;
    const double factor = chip->cell_bytes > 128 ? cell / 64 : 2 * cell / (1 + cell);
    const double occupancy = (100 - small + small * factor) / 100;
    const double cable = 2 * length_m * mbps * 1e9 / CABLE_M_PER_S / 8192;
    const double response = (double)response_ps / SIM_PS_PER_S * (double)rate_bps / 8;
    const double sum = (double)chip->port_mtu_bytes + cable + chip->mac_phy_bytes + response;
    return (uint64_t)ceil(((double)chip->lossless_mtu_bytes + sum * occupancy) / 1024) * 1024;
}
