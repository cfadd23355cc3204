// SPDX-License-Identifier: Apache-2.0
// cli/headroom/bounds.h - closed forms of the buffers that one lossless class of one port needs.
//
// docs/headroom.md derives them. A byte takes 8 / rate; all frames of the class have one size.
#ifndef CLI_HEADROOM_BOUNDS_H
#define CLI_HEADROOM_BOUNDS_H

#include "kernel/base.h"

// Numbers that decide how much buffer a lossless class of a port needs.
typedef struct cli_port_needs {
    uint64_t rate_bps;
    sim_time_t delay_ps;    // of the cable, one way
    sim_time_t response_ps; // of the peer to a pause
    uint32_t frame_bytes;   // of the class, without FCS
    uint32_t back_bytes;    // frames that a pause may have to wait for
    uint32_t cell_bytes;    // each frame takes whole cells of the buffer; 1: bytes
} cli_port_needs_t;

// Returns the bytes of the cells that a frame takes.
uint64_t cli_headroom_cells_bytes(const cli_port_needs_t *needs, uint32_t frame_bytes);

// Returns the least headroom without a drop, in whole cells.
uint64_t cli_headroom_bytes(const cli_port_needs_t *needs);
// Returns the least number of bytes that must be left when the peer may continue, so that the
// port at which they leave does not rest.
uint64_t cli_headroom_reserve_bytes(const cli_port_needs_t *needs);
// Returns the least headroom for frames of any sizes from least_bytes up to needs->frame_bytes,
// also mixed.
uint64_t cli_headroom_any_bytes(const cli_port_needs_t *needs, uint32_t least_bytes);
// Returns the frame size from least_bytes to needs->frame_bytes, in steps of 4, whose headroom is
// the largest.
uint32_t cli_headroom_worst_frame(const cli_port_needs_t *needs, uint32_t least_bytes);

// Parameters of the vendor's formula (SONiC, doc/qos/dynamically-headroom-calculation.md).
typedef struct cli_vendor_switch {
    uint64_t cell_bytes;
    uint64_t small_percent; // of the packets have 64 bytes
    uint64_t lossless_mtu_bytes;
    uint64_t port_mtu_bytes;
    double mac_phy_bytes;
} cli_vendor_switch_t;
extern const cli_vendor_switch_t cli_vendor_switch;

// Returns the headroom (xoff) by the vendor's formula, for a cable of that length.
uint64_t cli_headroom_vendor_bytes(const cli_vendor_switch_t *chip, uint64_t rate_bps,
                                   double length_m, sim_time_t response_ps);

#endif // CLI_HEADROOM_BOUNDS_H
