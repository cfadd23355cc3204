// SPDX-License-Identifier: Apache-2.0
// nic/frames.h - the length of the frames of a NIC's packets, as a table of operations.
//
// "standard" adds up the headers that a packet has, and pads to Ethernet's least. "infiniband" has
// the length of the same packet on InfiniBand, for comparison with measurements there. Other rows
// are for agreement with simulators that count otherwise: a program adds them by name
// (nic/extra.h), and nic.frames chooses one. Captured frames always have the standard's contents.
#ifndef NIC_FRAMES_H
#define NIC_FRAMES_H

#include "kernel/attribute.h"

SIM_C_BEGIN

typedef struct nic_frame_sizes {
    uint32_t header_bytes; // frame without extension headers, payload and pad; with ICRC
    uint32_t least_bytes;  // shorter frames are padded to this
    uint32_t answer_bytes; // frame of an ACK or NAK; 0: its headers make it
} nic_frame_sizes_t;

typedef struct nic_frames_ops {
    const char *name;              // "standard"
    const sim_attr_table_t *attrs; // "nic.<name>."; NULL: no parameters
    bool any_mtu;                  // path MTUs need not be those of the standard
    // Changes the standard's sizes, which *sizes holds when it is called.
    void (*sizes)(const void *config, nic_frame_sizes_t *sizes);
    // Returns the bytes that follow the header of a request. Nothing that a transport adds to a
    // packet later makes its frame longer.
    uint32_t (*body_bytes)(uint32_t extension_bytes, uint32_t payload_bytes);
} nic_frames_ops_t;

// All rows of the library, found by name; ends with NULL.
extern const nic_frames_ops_t *const nic_frames_all[];
extern const nic_frames_ops_t nic_frames_standard; // without operations
extern const nic_frames_ops_t nic_frames_infiniband;

SIM_C_END

#endif // NIC_FRAMES_H
