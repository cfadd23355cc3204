// SPDX-License-Identifier: Apache-2.0
// nic/fabric.h - the parts between a host's NICs and its memory: sockets and the links between
// them, PCIe switches, GPUs.
//
//     NIC --- switch --- uplink --- socket 0 --- socket link --- socket 1
//     NIC ---/   \--- GPU             | memory                     | memory
//
// Attributes "nic.host." say how many there are, where each is and how fast it is. By default no
// part has a limit, and the fabric costs nothing. NICs (or, with nics-per-switch, the switches) are
// spread evenly over sockets in order of their links, GPUs over switches, or sockets where there
// are none; nic-places, switch-places and gpu-places put them one by one. A transfer of a NIC
// occupies each part of its way: its own link (with the detailed NIC those are its lanes,
// nic.detailed.pcie), the uplink of its switch, the socket link, and the memory of a socket, which
// reads and writes share, or the link of a GPU. To a GPU behind its own switch it takes no uplink.
// WQEs, CQEs and contexts of a detailed NIC lie in the memory of its own socket. Each part is a
// FIFO server that books a transfer when it is asked for; the slowest says when it is done.
// docs/models/host.md
#ifndef NIC_FABRIC_H
#define NIC_FABRIC_H

#include "nic/memory.h"
#include "nic/verbs.h"

SIM_C_BEGIN

#define NIC_GPUS_MAX 64u

// The place of a piece of memory: a socket, or a GPU.
typedef struct nic_location {
    bool gpu;
    uint32_t index; // of the socket or the GPU
} nic_location_t;

// Checks that nic.host.nic-places, switch-places and gpu-places fit the host's links. To be called
// when the host has all its links; net_build ends the program if they do not fit. The message names
// the attribute.
SIM_MUST_CHECK sim_err_t nic_host_check(const net_node_t *host, sim_message_t *message);
// Returns how many bytes the caches and tables of a host's NICs will take in this program's memory,
// as far as they are made at once. Call it before net_build.
uint64_t nic_host_memory_bytes(const net_node_t *host);

// Parses "cpu:N" or "cuda:N". Returns SIM_ERR_UNKNOWN with a message if the host has no such part.
SIM_MUST_CHECK sim_err_t nic_location_parse(const net_node_t *host, const char *text,
                                            nic_location_t *location, sim_message_t *message);

// Places the bytes of [address, address + length_bytes) at a location; all others lie at
// nic.host.location. A later call overrides an earlier one.
void nic_memory_place(net_node_t *host, uint64_t address, uint64_t length_bytes,
                      nic_location_t location);
// Returns where the byte at an address lies.
nic_location_t nic_memory_location(const net_node_t *host, uint64_t address);

// The distance from a NIC to a place of memory, for programs that choose among NICs.
typedef enum nic_distance {
    NIC_SAME_SWITCH, // a GPU behind the NIC's own
    NIC_SAME_SOCKET,
    NIC_OTHER_SOCKET,
} nic_distance_t;
nic_distance_t nic_distance(const nic_t *nic, nic_location_t location);

// The use of one part that has a limit. Names are "cpu:0", "cpu:0->1", "switch:0 up" (towards the
// socket), "switch:0 down", "nic:0 up", "cuda:0 down"...
typedef struct nic_part {
    char name[32];
    uint64_t rate_bps;
    uint64_t bytes;
    sim_time_t busy_ps;
} nic_part_t;
// Fills in the part of that index, among those that have a limit. Returns false if there is none.
bool nic_host_part(const net_node_t *host, uint32_t index, nic_part_t *part);

SIM_C_END

#endif // NIC_FABRIC_H
