// SPDX-License-Identifier: Apache-2.0
// cli/headroom/probe.h - measures the buffers that a lossless class of a port needs, by simulation.
#ifndef CLI_HEADROOM_PROBE_H
#define CLI_HEADROOM_PROBE_H

#include "cli/headroom/bounds.h"
#include "world/error.h"

// The measured bytes: each is the least that suffices in the worst case.
typedef struct cli_probed {
    uint64_t headroom_bytes;
    uint64_t reserve_bytes;
    uint64_t xoff_bytes; // XOFF threshold with which a burst causes no pause
} cli_probed_t;

// Simulates a port with frames of needs->frame_bytes: a peer that sends at its link's rate to a
// port that is stopped and later released, while frames of needs->back_bytes go the other way at
// the worst moment. burst_bytes is the payload of a burst; 0: none.
SIM_MUST_CHECK sim_err_t cli_probe(const cli_port_needs_t *needs, uint64_t burst_bytes,
                                   cli_probed_t *probed, world_error_t *error);

// Frames of a message of one packet have this many bytes more than its payload.
#define CLI_PROBE_HEADER_BYTES 58u

#endif // CLI_HEADROOM_PROBE_H
