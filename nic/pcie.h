// SPDX-License-Identifier: Apache-2.0
// nic/pcie.h - the PCIe link between a host and its NIC: its transactions, and how long they take.
//
// Each of the two directions is a FIFO server of the link's rate. A transfer is booked at the
// moment it is asked for, which gives the bandwidth away in that order, and a latency is added
// behind it: so no event belongs to a transaction, and waiting for a far answer never blocks the
// link. A core in the middle of its step is ahead of the simulation's time, so its writes wait in
// a list until other transfers or their arrival need them to be booked, in the order of time.
// Transactions are those of the transaction layer (PCI Express Base Specification, ch. 2): posted
// writes (MMIO by the CPU in lines of 64 bytes, DMA by the NIC), and reads, whose data come back in
// completions of at most completion_max_bytes. Acknowledgements and flow control of the link layer
// are overhead_permille of the time. From generation 6 on, the link sends flits of flit_bytes, of
// which NIC_PCIE_FLIT_TLP_BYTES are transactions and the rest acknowledgements, CRC and FEC; a
// transfer is through when the flit with its last byte is, because the CRC covers the whole flit.
//
// Model and notation (Pr, Pc, Crc): Kalia, Kaminsky, Andersen, "Design Guidelines for High
// Performance RDMA Systems", USENIX ATC 2016, sections 2.1, 3.1, 5.2 and appendix A.
#ifndef NIC_PCIE_H
#define NIC_PCIE_H

#include "kernel/base.h"

SIM_C_BEGIN

#define NIC_PCIE_LINE_BYTES 64u
#define NIC_PCIE_DOORBELL_BYTES 8u
#define NIC_PCIE_FLIT_BYTES 256u
#define NIC_PCIE_FLIT_TLP_BYTES 236u

typedef struct nic_pcie_config {
    uint64_t lanes;
    uint64_t lane_rate_bps;           // after line coding
    uint64_t flit_bytes;              // NIC_PCIE_FLIT_BYTES; 0: no flits
    uint64_t request_header_bytes;    // Pr: of a read request or a write
    uint64_t completion_header_bytes; // Pc
    uint64_t completion_max_bytes;    // Crc: data of one completion
    uint64_t payload_max_bytes;       // data of one write of the NIC
    uint64_t read_max_bytes;          // data of one read request
    uint64_t tags;                    // reads outstanding, of read_max_bytes each
    uint64_t ordered_bytes;      // payload under way to memory if writes stay in order; 0: no limit
    uint64_t response_bytes;     // data of READs that a queue pair has asked for; 0: no limit
    uint64_t requested_bytes;    // on the way to the NIC (nic_pcie_ahead_ps); 0: no limit
    uint64_t posted_bytes;       // writes of the NIC waiting for the link (nic_pcie_room_ps)
    sim_time_t read_latency_ps;  // request to first data, idle link
    sim_time_t write_latency_ps; // latency of a posted write, either way
    uint64_t overhead_permille;  // link layer
    uint64_t mmio_overhead_permille; // additional overhead of write-combined lines
} nic_pcie_config_t;

// The purpose of a transaction.
typedef enum nic_pcie_use {
    NIC_PCIE_WQE_MMIO,      // CPU writes WQEs
    NIC_PCIE_DOORBELL,      // CPU writes a Doorbell
    NIC_PCIE_WQE_READ,      // NIC reads WQEs
    NIC_PCIE_PAYLOAD_READ,  // NIC reads what it sends
    NIC_PCIE_CONTEXT_READ,  // a cache missed
    NIC_PCIE_ATOMIC_READ,   // NIC reads the word that an atomic changes
    NIC_PCIE_PAYLOAD_WRITE, // NIC writes what was received or read
    NIC_PCIE_CQE_WRITE,
    NIC_PCIE_ATOMIC_WRITE,
    NIC_PCIE_CONTEXT_WRITE, // a store gives something back, or asks the driver
    NIC_PCIE_USE_COUNT,
} nic_pcie_use_t;

typedef struct nic_pcie_link {
    sim_time_t free_ps;
    uint64_t fraction; // fraction of a picosecond after free_ps, in units of 2^-20
    uint64_t bytes;    // headers included
    sim_time_t busy_ps;
    sim_time_t flit_ps; // time of a flit; 0: no flits
} nic_pcie_link_t;

// A core's write of a WQE by MMIO, until nic_pcie_take_write returns it.
typedef struct nic_pcie_write {
    struct nic_pcie_write *next;
    sim_time_t time_ps; // when the core does it; as soon as it is booked, when it arrives
    uint32_t lines;
} nic_pcie_write_t;

typedef struct nic_pcie_counters {
    uint64_t transactions[NIC_PCIE_USE_COUNT]; // TLPs of requests and writes
    uint64_t bytes[NIC_PCIE_USE_COUNT];        // both directions, headers included
} nic_pcie_counters_t;

// Books a transfer on the parts between the link and the host's memory or cores, where they are
// slow: `bytes` of data for that use occupy them from now_ps on. Returns when they are through.
typedef sim_time_t (*nic_pcie_beyond_fn)(void *ctx, sim_time_t now_ps, uint64_t bytes,
                                         nic_pcie_use_t use);

typedef struct nic_pcie {
    nic_pcie_config_t config;
    // beyond is not called for payloads: whoever moves them knows where they lie. NULL: nothing is
    // slow.
    nic_pcie_beyond_fn beyond;
    void *beyond_ctx;
    nic_pcie_write_t *first; // writes of cores, in the order of time; the booked ones come first
    nic_pcie_write_t *last;
    nic_pcie_write_t *booked;   // the last booked one of these; NULL: none is
    nic_pcie_write_t *inserted; // the last one inserted, while it waits
    sim_time_t waiting_ps;      // time of the first one that is not booked; NEVER
    sim_time_t coming_ps;       // none of them arrives before this; NEVER: there are none
    nic_pcie_link_t down;       // host to NIC
    nic_pcie_link_t up;
    uint64_t byte_time;          // time of one byte, in the unit of `fraction`
    nic_pcie_link_t ordered;     // payload of writes that stay in order, on their way to memory
    uint64_t ordered_byte_time;  // 0: writes may pass one another
    uint64_t response_byte_time; // of one queue pair's answers to READs; 0: no limit
    sim_time_t requested_ps;     // time of config.requested_bytes on the link; NEVER: no limit
    sim_time_t posted_ps;        // time of config.posted_bytes on the link
    uint64_t mmio_byte_time;     // time of one byte within a write-combined line
    sim_time_t *tag_free_ps;     // ring, in the order they were taken
    uint64_t tag_next;
    nic_pcie_counters_t counters;
} nic_pcie_t;

// -- closed forms: bytes on the link, headers included

// Returns the bytes from CPU to NIC, by MMIO: ceil(bytes / 64) lines of 64 + Pr.
uint64_t nic_pcie_mmio_bytes(const nic_pcie_config_t *config, uint64_t bytes);
// Returns the bytes from CPU to NIC of a Doorbell.
uint64_t nic_pcie_doorbell_bytes(const nic_pcie_config_t *config);
// Returns the bytes from NIC to host of the requests of a read.
uint64_t nic_pcie_request_bytes(const nic_pcie_config_t *config, uint64_t bytes);

// -- the link in time

void nic_pcie_init(nic_pcie_t *pcie, const nic_pcie_config_t *config);
void nic_pcie_fini(nic_pcie_t *pcie);

#define NIC_PCIE_FRACTION_BITS 20
#define NIC_PCIE_FRACTION_MASK ((UINT64_C(1) << NIC_PCIE_FRACTION_BITS) - 1)

// Returns the transactions of a transfer. A transfer of no bytes is one transaction too. Most
// transfers are one, and need no division.
static inline uint64_t nic__pcie_chunks(uint64_t bytes, uint64_t chunk_bytes)
{
    return SIM_LIKELY(bytes <= chunk_bytes) ? 1 : (bytes + chunk_bytes - 1) / chunk_bytes;
}

// Returns the bytes of all completions of a read. Each completion but the last ends at a multiple
// of their largest size (PCI Express, 2.3.1.1).
static inline uint64_t nic_pcie_completion_bytes_at(const nic_pcie_config_t *config,
                                                    uint64_t address, uint64_t bytes)
{
    const uint64_t before = address % config->completion_max_bytes;
    return bytes + nic__pcie_chunks(before + bytes, config->completion_max_bytes) *
                       config->completion_header_bytes;
}

// Books `bytes` of the link from now_ps on; returns when the last of them is through.
static inline sim_time_t nic__pcie_book(nic_pcie_link_t *link, sim_time_t now_ps, uint64_t bytes,
                                        uint64_t time_per_byte)
{
    const bool idle = link->free_ps < now_ps;
    const uint64_t work = bytes * time_per_byte + (idle ? 0 : link->fraction);
    const sim_time_t free_ps = (idle ? now_ps : link->free_ps) + (work >> NIC_PCIE_FRACTION_BITS);
    link->fraction = work & NIC_PCIE_FRACTION_MASK;
    link->free_ps = free_ps;
    link->busy_ps += work >> NIC_PCIE_FRACTION_BITS;
    link->bytes += bytes;
    if (SIM_LIKELY(link->flit_ps == 0)) {
        return free_ps;
    }
    return (free_ps + link->flit_ps - 1) / link->flit_ps * link->flit_ps;
}

static inline void nic__pcie_count(nic_pcie_t *pcie, nic_pcie_use_t use, uint64_t transactions,
                                   uint64_t bytes)
{
    pcie->counters.transactions[use] += transactions;
    pcie->counters.bytes[use] += bytes;
}

// Books the parts beyond the link for a transfer that the link ends at link_ps. Returns when link
// and parts are through.
static inline sim_time_t nic__pcie_and_beyond(nic_pcie_t *pcie, sim_time_t now_ps, uint64_t bytes,
                                              nic_pcie_use_t use, sim_time_t link_ps)
{
    if (SIM_LIKELY(pcie->beyond == NULL) || use == NIC_PCIE_PAYLOAD_READ ||
        use == NIC_PCIE_PAYLOAD_WRITE) {
        return link_ps;
    }
    const sim_time_t beyond_ps = pcie->beyond(pcie->beyond_ctx, now_ps, bytes, use);
    return SIM_MAX(beyond_ps, link_ps);
}

// Adds a core's write of a WQE, which it does at time_ps, not before the simulation's time.
void nic_pcie_mmio(nic_pcie_t *pcie, nic_pcie_write_t *write, sim_time_t time_ps, uint64_t bytes);
// Returns the next write that has arrived by now_ps and removes it; NULL: there is none. Its
// time_ps is that of its arrival.
nic_pcie_write_t *nic_pcie_take_write(nic_pcie_t *pcie, sim_time_t now_ps);
// Books the writes that cores do until now_ps.
void nic__pcie_book_writes(nic_pcie_t *pcie, sim_time_t now_ps);

// Books `bytes` of the way to the NIC, behind what cores have written until then.
static inline sim_time_t nic__pcie_book_down(nic_pcie_t *pcie, sim_time_t now_ps, uint64_t bytes)
{
    if (SIM_UNLIKELY(pcie->waiting_ps <= now_ps)) {
        nic__pcie_book_writes(pcie, now_ps);
    }
    return nic__pcie_book(&pcie->down, now_ps, bytes, pcie->byte_time);
}

// Each books a transfer that is asked for at `now_ps` and returns when it is through: all its bytes
// at the other end. Calls of one direction come in the order in which the link is to serve them.
sim_time_t nic_pcie_doorbell(nic_pcie_t *pcie, sim_time_t now_ps);
sim_time_t nic_pcie_read(nic_pcie_t *pcie, sim_time_t now_ps, uint64_t bytes, nic_pcie_use_t use);
// Books a read that was asked for a packet of this size ahead of its use. Its only latency is that
// of the link's own queue, and it is through earlier by the time of its bytes: perhaps before
// `now_ps`.
sim_time_t nic_pcie_prefetched(nic_pcie_t *pcie, sim_time_t now_ps, uint64_t address,
                               uint64_t bytes);

// Returns how far apart the data of a queue pair's answers to READs arrive, for that many bytes: it
// has no more than config.response_bytes on their way, each for the latency of a read.
static inline sim_time_t nic_pcie_response_ps(const nic_pcie_t *pcie, uint64_t bytes)
{
    return bytes * pcie->response_byte_time >> NIC_PCIE_FRACTION_BITS;
}

static inline uint64_t nic__pcie_next_tag(const nic_pcie_t *pcie, uint64_t tag)
{
    return tag + 1 == pcie->config.tags ? 0 : tag + 1;
}

// Returns when the next tags, one for each of several requests, are all free: now_ps at least.
sim_time_t nic__pcie_take_tags(const nic_pcie_t *pcie, sim_time_t now_ps, uint64_t requests);
// Occupies these tags until free_ps.
void nic__pcie_give_tags(nic_pcie_t *pcie, sim_time_t free_ps, uint64_t requests);
// Books a read of `bytes` at an address.
static SIM_ALWAYS_INLINE sim_time_t nic_pcie_read_at(nic_pcie_t *pcie, sim_time_t now_ps,
                                                     uint64_t address, uint64_t bytes,
                                                     nic_pcie_use_t use)
{
    const uint64_t requests = nic__pcie_chunks(bytes, pcie->config.read_max_bytes);
    const uint64_t up_bytes = requests * pcie->config.request_header_bytes;
    const uint64_t down_bytes = nic_pcie_completion_bytes_at(&pcie->config, address, bytes);
    nic__pcie_count(pcie, use, requests, up_bytes + down_bytes);
    sim_time_t *const tag_ps = &pcie->tag_free_ps[pcie->tag_next];
    const bool once = SIM_LIKELY(requests == 1);
    const sim_time_t held_ps = once ? *tag_ps : nic__pcie_take_tags(pcie, now_ps, requests);
    const sim_time_t asked_ps = nic__pcie_book(&pcie->up, now_ps, up_bytes, pcie->byte_time);
    const sim_time_t data_ps = nic__pcie_book_down(pcie, now_ps, down_bytes);
    const sim_time_t link_ps =
        nic__pcie_and_beyond(pcie, now_ps, bytes, use, SIM_MAX(asked_ps, data_ps));
    const sim_time_t done_ps = SIM_MAX(link_ps, held_ps) + pcie->config.read_latency_ps;
    if (once) {
        *tag_ps = done_ps;
        pcie->tag_next = nic__pcie_next_tag(pcie, pcie->tag_next);
    } else {
        nic__pcie_give_tags(pcie, done_ps, requests);
    }
    return done_ps;
}

// Books a posted write of the NIC.
static inline sim_time_t nic_pcie_write(nic_pcie_t *pcie, sim_time_t now_ps, uint64_t bytes,
                                        nic_pcie_use_t use)
{
    const uint64_t writes = nic__pcie_chunks(bytes, pcie->config.payload_max_bytes);
    const uint64_t sent_bytes = bytes + writes * pcie->config.request_header_bytes;
    nic__pcie_count(pcie, use, writes, sent_bytes);
    sim_time_t link_ps = nic__pcie_book(&pcie->up, now_ps, sent_bytes, pcie->byte_time);
    if (SIM_UNLIKELY(pcie->ordered_byte_time != 0) && use == NIC_PCIE_PAYLOAD_WRITE) {
        const sim_time_t ordered_ps =
            nic__pcie_book(&pcie->ordered, now_ps, bytes, pcie->ordered_byte_time);
        link_ps = SIM_MAX(ordered_ps, link_ps);
    }
    return nic__pcie_and_beyond(pcie, now_ps, bytes, use, link_ps) + pcie->config.write_latency_ps;
}

// Returns from when on no more than config.posted_bytes of the NIC's writes wait for the link. The
// NIC waits until then before it writes more.
static inline sim_time_t nic_pcie_room_ps(const nic_pcie_t *pcie)
{
    const sim_time_t free_ps = SIM_MAX(pcie->up.free_ps, pcie->ordered.free_ps);
    return free_ps > pcie->posted_ps ? free_ps - pcie->posted_ps : 0;
}

// Returns from when on no more than config.requested_bytes wait for the link to the NIC. The NIC
// requests no payload ahead of its use before that.
static inline sim_time_t nic_pcie_ahead_ps(const nic_pcie_t *pcie)
{
    return pcie->down.free_ps > pcie->requested_ps ? pcie->down.free_ps - pcie->requested_ps : 0;
}

// Returns true if the bytes of both directions are those of all uses together.
bool nic_pcie_conserved(const nic_pcie_t *pcie);

SIM_C_END

#endif // NIC_PCIE_H
