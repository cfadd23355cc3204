// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/frames.c - the frames "bare": every data frame has a header of the same size, every
// acknowledgement has the same size. Page: docs/models/hpcc-compat.md.
#include "compat/hpcc/rules.h"

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(compat_hpcc_bare_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(BYTES, "nic.bare.header", header_bytes, "48", "1", "1000", "bytes that a data frame takes on links besides its payload"),
    ATTR(BYTES, "nic.bare.ack", answer_bytes, "60", "1", "1000", "bytes that the frame of an ACK or NAK takes on links; telemetry is added to them"),
};
const sim_attr_table_t compat_hpcc_bare_config_attrs = {
    "nic.bare", "node", sizeof(compat_hpcc_bare_config_t), attrs, SIM_COUNT_OF(attrs),
};
// clang-format on

static void sizes(const void *config, nic_frame_sizes_t *sizes)
{
    const compat_hpcc_bare_config_t *const bare = config;
    sizes->header_bytes = (uint32_t)bare->header_bytes;
    sizes->answer_bytes = (uint32_t)bare->answer_bytes;
    sizes->least_bytes = 0;
}

static uint32_t body_bytes(uint32_t extension_bytes, uint32_t payload_bytes)
{
    (void)extension_bytes;
    return payload_bytes;
}

const nic_frames_ops_t compat_hpcc_bare = {
    .name = "bare",
    .attrs = &compat_hpcc_bare_config_attrs,
    .any_mtu = true,
    .sizes = sizes,
    .body_bytes = body_bytes,
};
