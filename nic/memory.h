// SPDX-License-Identifier: Apache-2.0
// nic/memory.h - the contents of a host's memory, where someone wrote it.
//
// A host has one address space, which all its NICs and programs share. It is full of zeros: the
// first write to a page makes it, by a program here or by a NIC that delivers data written
// elsewhere. SENDs, WRITEs, READs and atomics move contents into the peer's memory, through the
// regions of nic/verbs.h, and captures show them. Memory that nobody writes stores nothing, carries
// nothing and costs nothing.
//
// A NIC reads a payload when it makes the packet, and again for a retransmission; inline payloads
// are those of the time of the post. It writes a payload when the protocol accepts the packet,
// before any completion or callback reports it. This happens packet by packet: a program that reads
// a buffer while a NIC writes it sees a part. Calls for a host happen in events of that host, or
// before the run. They cost no time: a program that works on memory spends its core's time
// (nic/core.h).
// Costs: O(1) a page of 4096 bytes. Areas of nic_memory_map cost O(log areas) a call.
#ifndef NIC_MEMORY_H
#define NIC_MEMORY_H

#include "net/node.h"

SIM_C_BEGIN

typedef struct nic_memory nic_memory_t;

// Returns the memory of a host of nic_host_create. The host owns it.
nic_memory_t *nic_host_memory(net_node_t *host);

// Writes bytes. [address, address + length_bytes) must not wrap.
void nic_memory_write(nic_memory_t *memory, uint64_t address, const void *bytes,
                      size_t length_bytes);
// Reads bytes: zeros where nobody wrote.
void nic_memory_read(const nic_memory_t *memory, uint64_t address, void *bytes,
                     size_t length_bytes);
// Returns whether nic_memory_read would read these bytes.
bool nic_memory_equals(const nic_memory_t *memory, uint64_t address, const void *bytes,
                       size_t length_bytes);
// Sets bytes to zero, or to the fill's words where there is a fill. Makes no pages.
void nic_memory_clear(nic_memory_t *memory, uint64_t address, uint64_t length_bytes);
// Clears bytes like nic_memory_clear, and frees the pages that hold nothing else.
void nic_memory_forget(nic_memory_t *memory, uint64_t address, uint64_t length_bytes);
// Returns the word at an address that a fill covers. It reads only data that does not change, and
// is called in events of the host.
typedef uint64_t (*nic_memory_fill_fn)(uint64_t address, const void *ctx);
// Fills memory in [address, address + length_bytes) that nobody has written, from now on: at each
// multiple of stride_bytes (a power of two, at least 8) stands the word that fn gives for its
// address, made when it is read. This serves data that is to be recognised without being stored.
// Both ends are multiples of 4096; areas do not overlap.
void nic_memory_set_fill(nic_memory_t *memory, uint64_t address, uint64_t length_bytes,
                         uint64_t stride_bytes, nic_memory_fill_fn fn, const void *ctx);
// Ends a fill that begins there.
void nic_memory_end_fill(nic_memory_t *memory, uint64_t address);
// Returns whether anything was written and not cleared, or filled in, in the lines of 64 bytes that
// these bytes touch.
bool nic_memory_has(const nic_memory_t *memory, uint64_t address, uint64_t length_bytes);

// Each reads or writes a word as the processor of the host stores it, little-endian. Atomics work
// on such words.
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

// Lets the memory in [address, address + length_bytes), both multiples of 4096, be `bytes`, which
// the caller owns: the pages of a process that runs on the host, say. They count as written. What
// was written there before is forgotten.
void nic_memory_map(nic_memory_t *memory, uint64_t address, uint64_t length_bytes, void *bytes);
// Ends nic_memory_map for these pages. They are as if nobody had written to them.
void nic_memory_unmap(nic_memory_t *memory, uint64_t address, uint64_t length_bytes);

// Returns the memory of the simulation's own that the contents take, without the few pages that are
// kept for the next contents.
size_t nic_memory_bytes(const nic_memory_t *memory);

SIM_C_END

#endif // NIC_MEMORY_H
