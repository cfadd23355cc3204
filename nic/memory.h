// SPDX-License-Identifier: Apache-2.0
// nic/memory.h - what lies in a host's memory, where someone wrote it.
//
// A host has one address space, which all its NICs and programs share. It is full of zeros: pages
// are made by the first write to them, by a program here or by a NIC that delivers what was written
// elsewhere. SENDs, WRITEs, READs and atomics move what is there into the peer's memory, through
// the regions of nic/verbs.h, and captures show it. Memory that nobody writes stores nothing,
// carries nothing and costs nothing.
//
// A NIC reads a payload when it makes the packet, a retransmission again (inline payloads are those
// of the time of the post), and writes it when the protocol accepts the packet, before any
// completion or callback tells of it. Packet by packet: a program that reads a buffer while a NIC
// writes it sees a part. Calls for a host happen in events of that host, or before the run. They
// cost no time: a program that works on memory spends its core's (nic/core.h).
// Costs: O(1) a page of 4096 bytes.
#ifndef NIC_MEMORY_H
#define NIC_MEMORY_H

#include "net/network.h"

SIM_C_BEGIN

typedef struct nic_memory nic_memory_t;

// The memory of a host of nic_host_create, which owns it.
nic_memory_t *nic_host_memory(net_node_t *host);

// [address, address + length_bytes) must not wrap.
void nic_memory_write(nic_memory_t *memory,
                      uint64_t address,
                      const void *bytes,
                      size_t length_bytes);
// Zeros where nobody wrote.
void nic_memory_read(const nic_memory_t *memory,
                     uint64_t address,
                     void *bytes,
                     size_t length_bytes);
// Sets to zero what is there, or to what the fill says. Makes no pages.
void nic_memory_clear(nic_memory_t *memory, uint64_t address, uint64_t length_bytes);
// The same, and gives back the pages that have nothing else.
void nic_memory_forget(nic_memory_t *memory, uint64_t address, uint64_t length_bytes);
// From now on memory in [address, address + length_bytes) that nobody has written is not zero: at
// each multiple of stride_bytes (a power of two, at least 8) stands the word that fn gives for its
// address, made when it is read. fn reads only what does not change, and is called in events of the
// host. For data that is to be recognised without being stored. Both ends are multiples of 4096;
// areas do not overlap.
typedef uint64_t (*nic_memory_fill_fn)(uint64_t address, const void *ctx);
void nic_memory_set_fill(nic_memory_t *memory,
                         uint64_t address,
                         uint64_t length_bytes,
                         uint64_t stride_bytes,
                         nic_memory_fill_fn fn,
                         const void *ctx);
// Ends a fill that begins there.
void nic_memory_end_fill(nic_memory_t *memory, uint64_t address);
// Whether anything was written, and not cleared, or filled in, in the lines of 64 bytes that these
// bytes touch.
bool nic_memory_has(const nic_memory_t *memory, uint64_t address, uint64_t length_bytes);

// Words as the processor of the host stores them, little-endian: what atomics work on.
static inline uint64_t nic_memory_read64(const nic_memory_t *memory, uint64_t address)
{
    uint8_t bytes[8];
    nic_memory_read(memory, address, bytes, sizeof(bytes));
    uint64_t value = 0;
    for (uint32_t i = 8; i-- > 0;) {
        value = value << 8 | bytes[i];
    }
    return value;
}
static inline void nic_memory_write64(nic_memory_t *memory, uint64_t address, uint64_t value)
{
    uint8_t bytes[8];
    for (uint32_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
    nic_memory_write(memory, address, bytes, sizeof(bytes));
}

// Memory of the simulation's own that contents take.
size_t nic_memory_bytes(const nic_memory_t *memory);

SIM_C_END

#endif // NIC_MEMORY_H
