// SPDX-License-Identifier: Apache-2.0
// nic/frames.h - how long the frames of a NIC's packets are, as a table of operations.
//
// "standard": as the headers that a packet has make it, padded to Ethernet's least. "infiniband":
// as long as the same packet is there, for what was measured on it. Other rows are for agreement
// with simulators that count otherwise: a program adds them by name (nic/extra.h), and nic.frames
// chooses one. What is in a captured frame is the standard's in any case.
#ifndef NIC_FRAMES_H
#define NIC_FRAMES_H

#include "kernel/attribute.h"

SIM_C_BEGIN

typedef struct nic_frame_sizes {
    uint32_t header_bytes; // of a frame without extension headers, payload and pad; ICRC included
    uint32_t least_bytes;  // shorter ones are filled up
    uint32_t answer_bytes; // of an ACK's or NAK's; 0: as its headers are
} nic_frame_sizes_t;

typedef struct nic_frames_ops {
    const char *name;              // "standard"
    const sim_attr_table_t *attrs; // "nic.<name>."; NULL: no parameters
    bool any_mtu;                  // path MTUs need not be those of the standard
    // Changes the standard's sizes.
    void (*sizes)(const void *config, nic_frame_sizes_t *sizes);
    // The bytes that follow the header of a request. Nothing that a transport adds to a packet
    // later makes its frame longer.
    uint32_t (*body_bytes)(uint32_t extension_bytes, uint32_t payload_bytes);
} nic_frames_ops_t;

// By name; ends with NULL.
extern const nic_frames_ops_t *const nic_frames_all[];
extern const nic_frames_ops_t nic_frames_standard; // without operations
extern const nic_frames_ops_t nic_frames_infiniband;

SIM_C_END

#endif // NIC_FRAMES_H
