// SPDX-License-Identifier: Apache-2.0
// nic/detail.h - the constants of the detailed NIC and of the machine around it: attributes
// nic.detailed.* and nic.host.clock*, and their profiles.
//
// One row per constant: field, path, type, range, its value in each profile, the origins of these
// values, help. An attribute left at "auto" has its profile's value. Origins: M measured on the
// card by the paper of nic/pcie.h or by its benchmark suite; P published by the vendor or in a
// standard; F fitted, so that rates measured on the card come out (docs/models/rnic.md says which);
// D declared, because no public measurement decides it: ConnectX-6's value, or a larger one for a
// faster link. Letters stand for the profiles in order.
//
// Profiles: connectx (PCIe 2.0 x8, 20 Gbps), connectx-3 (PCIe 3.0 x8, 56 Gbps), connect-ib (PCIe
// 3.0 x16, 2 x 56 Gbps), connectx-6 (PCIe 4.0 x16, 200 Gbps), connectx-5 (PCIe 3.0 x16, 100 Gbps:
// Connect-IB's constants, but for two that its READ rates at 125 and 5000 connections gave),
// connectx-7 (PCIe 5.0 x16, 400 Gbps), connectx-8 (PCIe 6.0 x16, 800 Gbps); both: docs/models/
// rnic-400g.md.
#ifndef NIC_DETAIL_H
#define NIC_DETAIL_H

#include "kernel/attribute.h"
#include "nic/pcie.h"

SIM_C_BEGIN

typedef enum nic_profile {
    NIC_PROFILE_CONNECTX,
    NIC_PROFILE_CONNECTX_3,
    NIC_PROFILE_CONNECT_IB,
    NIC_PROFILE_CONNECTX_6,
    NIC_PROFILE_CONNECTX_5,
    NIC_PROFILE_CONNECTX_7,
    NIC_PROFILE_CONNECTX_8
} nic_profile_t;
#define NIC_PROFILE_COUNT 7u
#define NIC_PROFILE_CHOICES \
    "connectx|connectx-3|connect-ib|connectx-6|connectx-5|connectx-7|connectx-8"

#define NIC_DETAIL_PS_MAX "1ms"

// clang-format off
#define NIC_DETAIL_MAP(X)                                                                          \
    /* field                path                       type   min    max      CX         CX3           CIB           CX6          CX5 CX7 CX8 origin  help */ \
    X(lanes,                "pcie.lanes",              COUNT, "1",   "32",    "8",       "8",          "16",         "16", "16", "16", "16", "MMMPPPP", "lanes of the PCIe link") \
    X(lane_rate_bps,        "pcie.lane-rate",          RATE,  "1Gbps","1000Gbps","4Gbps","7876.8Mbps", "7876.8Mbps", "15752Mbps", "7876.8Mbps", "31508Mbps", "64Gbps", "PPPPPPP", "rate of one PCIe lane, after line coding") \
    X(flit_bytes,           "pcie.flit",               BYTES, "0",   "256",  "0",       "0",          "0",          "0", "0", "0", "256", "PPPPPPP", "size of the flits in which the PCIe link sends: 256 from generation 6 on, with 236 bytes of TLPs each; 0: no flits") \
    X(request_header_bytes, "pcie.request-header",     BYTES, "0",   "64",    "24",      "26",         "26",         "26", "26", "26", "16", "PPPPPPP", "TLP header and framing of a read request or a write") \
    X(completion_header_bytes,"pcie.completion-header",BYTES, "0",   "64",    "20",      "22",         "22",         "22", "22", "22", "12", "PPPPPPP", "TLP header and framing of a read completion") \
    X(completion_max_bytes, "pcie.completion-max",     BYTES, "64",  "4096",  "128",     "128",        "128",        "128", "128", "256", "256", "PMMFFDD", "largest data size of one read completion") \
    X(payload_max_bytes,    "pcie.payload-max",        BYTES, "64",  "4096",  "128",     "256",        "256",        "256", "256", "256", "512", "FFFFFDD", "largest data size of one write of the NIC") \
    X(read_max_bytes,       "pcie.read-request-max",   BYTES, "64",  "4096",  "512",     "512",        "512",        "512", "512", "4096", "4096", "FFFFFDD", "largest data size that one read request asks for") \
    X(tags,                 "pcie.tags",               COUNT, "1",   "65536", "32",      "64",         "256",        "512", "256", "768", "768", "FFFFFPP", "largest number of outstanding read requests") \
    X(ordered_bytes,        "pcie.ordered-max",        BYTES, "0",   "1MiB",  "0", "0", "0", "0", "0", "0", "0", "DDDDDDD", "largest amount of payload that is under way to memory while the NIC's writes must stay in order; 0: they may pass one another (relaxed ordering)") \
    X(requested_bytes,      "pcie.requested-max",      BYTES, "0",   "16MiB", "0", "0", "0", "512KiB", "512KiB", "128KiB", "128KiB", "DDDDDDD", "largest amount of data on its way to the NIC at which a processing unit still requests the payload of a further WQE; 0: no limit") \
    X(response_bytes,       "pcie.response-max",       BYTES, "0",   "1MiB",  "0", "0", "0", "0", "0", "28KiB", "24KiB", "DDDDDFF", "largest amount of data that a queue pair has requested over PCIe for its answers to READs: they need pcie.read-latency for it; 0: no limit") \
    X(posted_bytes,         "pcie.posted-max",         BYTES, "256", "1MiB",  "16KiB",   "16KiB",      "16KiB",      "16KiB", "16KiB", "32KiB", "64KiB", "FFFFFDD", "largest amount of the NIC's writes that waits for the PCIe link; beyond it received packets wait in the receive buffer") \
    X(read_latency_ps,      "pcie.read-latency",       TIME,  "0ps", NIC_DETAIL_PS_MAX, "500ns","330ns","420ns",    "400ns", "420ns", "700ns", "700ns", "FFFFFDD", "time from a read request to its data on an idle PCIe link") \
    X(write_latency_ps,     "pcie.write-latency",      TIME,  "0ps", NIC_DETAIL_PS_MAX, "300ns","300ns","400ns",    "200ns", "400ns", "270ns", "270ns", "FFFFFFD", "time until a posted write is visible, on an idle PCIe link") \
    X(overhead_permille,    "pcie.overhead",           COUNT, "0",   "1000",  "33",      "88",         "33",         "33", "33", "33", "3", "FPFFFDD", "thousandths that the link layer adds to the time of each byte") \
    X(mmio_overhead_permille,"pcie.mmio-overhead",     COUNT, "0",   "1000",  "60",      "571",        "60",         "60", "60", "60", "60", "FFFFFDD", "thousandths that write-combined MMIO lines take in addition") \
    X(wqe_header_bytes,     "wqe.header",              BYTES, "16",  "192",   "36",      "36",         "36",         "36", "36", "36", "36", "MMMPFPP", "size of a WQE without inline payload, for RC and UC") \
    X(datagram_header_bytes,"wqe.datagram-header",     BYTES, "16",  "192",   "68",      "68",         "68",         "68", "68", "68", "68", "MMMPFPP", "size of a WQE without inline payload, for UD") \
    X(pointer_bytes,        "wqe.pointer",             BYTES, "0",   "64",    "16",      "16",         "16",         "16", "16", "16", "16", "PPPPFPP", "size of the part of a WQE that says where a payload lies") \
    X(block_header_bytes,   "wqe.block-header",        BYTES, "0",   "16",    "0",       "4",          "0",          "0", "0", "0", "0", "FMFFFDD", "header of each further line of 64 bytes that an inline payload reaches into") \
    X(atomic_bytes,         "wqe.atomic",              BYTES, "0",   "64",    "16",      "16",         "16",         "16", "16", "16", "16", "PPPPFPP", "size of the operands in the WQE of an atomic") \
    X(inline_max_bytes,     "wqe.inline-max",          BYTES, "0",   "1024",  "256",     "256",        "256",        "256", "256", "256", "256", "FFFFFDD", "largest inline payload of a work request") \
    X(recv_wqe_bytes,       "wqe.receive",             BYTES, "16",  "64",    "16",      "16",         "16",         "16", "16", "16", "16", "PPPPFPP", "size of a receive's WQE in host memory") \
    X(recv_fetch_count,     "wqe.receive-fetch",       COUNT, "1",   "64",    "4",       "4",          "4",          "4", "4", "4", "4", "FFFFFDD", "number of receives that the NIC reads from host memory at once") \
    X(cqe_bytes,            "cqe.bytes",               BYTES, "16",  "256",   "64",      "64",         "64",         "64", "64", "64", "64", "PPPPFPP", "size of a CQE in host memory") \
    X(recv_inline_bytes,    "cqe.inline-receive",      BYTES, "0",   "128",   "0",       "0",          "0",          "0", "0", "0", "0", "FFFFFDD", "largest payload that a receive's CQE carries inline, without a write of its own; 0: none") \
    X(pu_count,             "pu.count",                COUNT, "1",   "256",   "4",       "8",          "26",         "64", "26", "64", "64", "FFFFFDD", "number of processing units to send, and as many to receive; a queue pair uses the units that its number selects") \
    X(pu_send_ps,           "pu.send",                 TIME,  "0ps", NIC_DETAIL_PS_MAX, "220ns","110ns","70ns",     "50ns", "70ns", "50ns", "50ns", "FFFFFDD", "time of a processing unit for a WQE that came by MMIO") \
    X(pu_send_fetched_ps,   "pu.send-fetched",         TIME,  "0ps", NIC_DETAIL_PS_MAX, "320ns","160ns","120ns",    "70ns", "120ns", "70ns", "70ns", "FFFMFDD", "time of a processing unit for a WQE that the NIC read after a Doorbell") \
    X(pu_receive_ps,        "pu.receive",              TIME,  "0ps", NIC_DETAIL_PS_MAX, "160ns","100ns","72ns",    "50ns", "72ns", "50ns", "50ns", "FFFFFDD", "time of a processing unit for a received packet") \
    X(tx_send_ps,           "tx.send",                 TIME,  "0ps", NIC_DETAIL_PS_MAX, "80ns","26.3ns","6.37ns",    "4.65ns", "6.37ns", "2.86ns", "2.86ns", "FFMPFPD", "time of the shared sending side for a packet of a SEND or WRITE, but for the first one of a request over RC") \
    X(tx_request_ps,        "tx.request",              TIME,  "0ps", NIC_DETAIL_PS_MAX, "90ns","36ns", "6.37ns",    "4.65ns", "6.37ns", "2.86ns", "2.86ns", "FFFPFPD", "time of the shared sending side for a READ or atomic request, and for the first packet of any request over RC") \
    X(tx_response_ps,       "tx.response",             TIME,  "0ps", NIC_DETAIL_PS_MAX, "80ns","28ns", "6.37ns",    "4.65ns", "6.37ns", "2.86ns", "2.86ns", "FFFPFPD", "time of the shared sending side for a response packet of a READ or atomic") \
    X(tx_ack_ps,            "tx.ack",                  TIME,  "0ps", NIC_DETAIL_PS_MAX, "80ns","28ns", "6.37ns",    "4.65ns", "6.37ns", "2.86ns", "2.86ns", "FFFFFPD", "time of the shared sending side for an ACK or NAK, the same as for any packet without payload") \
    X(tx_answer_latency_ps, "tx.answer-latency",       TIME,  "0ps", NIC_DETAIL_PS_MAX, "0ns","520ns","0ns",     "0ns", "0ns", "0ns", "0ns", "FFFFFDD", "additional latency of an ACK, NAK or response on the sending side; other packets do not wait for it") \
    X(tx_line_ps,           "tx.line",                 TIME,  "0ps", NIC_DETAIL_PS_MAX, "0ns","3ns",  "0ns",       "0ns", "0ns", "0ns", "0ns", "FFFFFDD", "time of the shared sending side for each started 64 bytes of a packet's payload read from host memory") \
    X(tx_long_ps,           "tx.long",                 TIME,  "0ps", NIC_DETAIL_PS_MAX, "0ns","12ns", "0ns",       "0ns", "0ns", "0ns", "0ns", "FFFFFDD", "additional time of the shared sending side for a payload that arrives in more than one read completion (split at multiples of pcie.completion-max)") \
    X(rx_request_ps,        "rx.request",              TIME,  "0ps", NIC_DETAIL_PS_MAX, "80ns","38.5ns","8.2ns",   "4.65ns", "8.2ns", "2.86ns", "2.86ns", "FMMPFPD", "time of the shared receiving side for a request other than WRITEs and atomics") \
    X(rx_put_ps,            "rx.put",                  TIME,  "0ps", NIC_DETAIL_PS_MAX, "80ns","25.9ns","8.2ns",   "4.65ns", "8.2ns", "2.86ns", "2.86ns", "FFMPFPD", "time of the shared receiving side for a packet of a WRITE") \
    X(rx_put_line_ps,       "rx.put-line",             TIME,  "0ps", NIC_DETAIL_PS_MAX, "0ns","3ns",  "0ns",       "0ns", "0ns", "0ns", "0ns", "FFFFFDD", "time of the shared receiving side for each started 64 bytes of a WRITE's packet") \
    X(rx_response_ps,       "rx.response",             TIME,  "0ps", NIC_DETAIL_PS_MAX, "110ns","42ns","11.36ns",   "8ns", "22.4ns", "4.9ns", "4.9ns", "FFMFFDD", "time of the shared receiving side for a response of a READ or atomic") \
    X(rx_long_ps,           "rx.long",                 TIME,  "0ps", NIC_DETAIL_PS_MAX, "0ns","43ns", "0ns",       "0ns", "0ns", "0ns", "0ns", "FFFFFDD", "additional time of the shared receiving side for a READ response with more payload than one PCIe write takes (pcie.payload-max)") \
    X(rx_long_line_ps,      "rx.long-line",            TIME,  "0ps", NIC_DETAIL_PS_MAX, "0ns","7ns",  "0ns",       "0ns", "0ns", "0ns", "0ns", "FFFFFDD", "time of the shared receiving side for each started 64 bytes of a READ response beyond the first PCIe write") \
    X(rx_ack_ps,            "rx.ack",                  TIME,  "0ps", NIC_DETAIL_PS_MAX, "30ns","12ns", "4ns",       "3ns", "4ns", "1.8ns", "1.8ns", "FFFFFDD", "time of the shared receiving side for an ACK, NAK or CNP") \
    X(rx_write_ps,          "rx.write",                TIME,  "0ps", NIC_DETAIL_PS_MAX, "20ns","7ns",  "4ns",       "2ns", "4ns", "1.2ns", "1.2ns", "FMMFFDD", "additional time of the shared receiving side for a SEND whose payload and CQE are written separately") \
    X(rx_cqe_ps,            "rx.cqe",                  TIME,  "0ps", NIC_DETAIL_PS_MAX, "0ns","7ns",  "0ns",       "0ns", "0ns", "0ns", "0ns", "FFFFFDD", "time of the shared receiving side for the CQE of a work request that a response or an ACK completes") \
    X(rx_atomic_ps,         "rx.atomic",               TIME,  "0ps", NIC_DETAIL_PS_MAX, "110ns","0ns", "19.2ns",    "190ns", "19.2ns", "190ns", "190ns", "FFMMFDD", "time of the shared receiving side for an atomic request") \
    X(rx_latency_ps,        "rx.latency",              TIME,  "0ps", NIC_DETAIL_PS_MAX, "100ns","100ns","120ns",  "50ns", "120ns", "600ns", "600ns", "FFFFFFD", "additional latency of a packet on the receiving side; other packets do not wait for it") \
    X(atomic_locks,         "atomic.locks",            COUNT, "1",   "65536", "1",       "1",          "4096",       "4096", "4096", "4096", "4096", "FMMFFDD", "number of locks for atomics, chosen by the low bits of the address; 1: one lock for all addresses") \
    X(atomic_hold_ps,       "atomic.hold",             TIME,  "0ps", NIC_DETAIL_PS_MAX, "60ns","40ns", "26ns",      "60ns", "26ns", "60ns", "60ns", "FMMFFDD", "time that an atomic holds its lock in addition to its PCIe read") \
    X(atomic_stalls,        "atomic.stalls",           COUNT, "0",   "1",     "1",       "1",          "0",          "0", "0", "0", "0", "FFFFFDD", "1: the receiving side stops while an atomic's lock is held; 0: it goes on") \
    X(memory_cache_bytes,   "memory.cache",            BYTES, "0",   "1TiB",  "2MiB",    "20MiB",      "35MiB",      "32MiB", "35MiB", "32MiB", "32MiB", "PPPFFDD", "size of the processor's cache; atomics on larger memory regions find their words in DRAM") \
    X(memory_latency_ps,    "memory.latency",          TIME,  "0ps", NIC_DETAIL_PS_MAX, "75ns","75ns",  "75ns",      "75ns", "75ns", "75ns", "75ns", "FFPFFDD", "additional latency of DRAM compared with the processor's cache (memory.cache), for atomics") \
    X(context_entries,      "context.entries",         COUNT, "1",   "16777216", "256",  "180",        "2560",       "8192", "2560", "8192", "8192", "FFFFFDD", "number of contexts in the context cache; each queue pair has two, to send and to receive") \
    X(context_ways,         "context.ways",            COUNT, "1",   "64",    "8",       "12",         "8",          "4", "8", "4", "4", "FFFFFDD", "associativity of the context cache") \
    X(context_stall_ps,     "context.stall",           TIME,  "0ps", NIC_DETAIL_PS_MAX, "500ns","430ns","6ns",      "12ns", "19.7ns", "12ns", "12ns", "FFFFFDD", "time that a miss of the context cache occupies its side of the NIC") \
    X(uc_context_entries,  "context.uc-entries",      COUNT, "0",   "16777216", "0",    "328",        "0",          "0", "0", "0", "0", "FFFFFDD", "number of contexts of unreliable connections in a cache of their own, which evicts at random; 0: they share the context cache") \
    X(put_context_stall_ps, "context.put-stall",       TIME,  "0ps", NIC_DETAIL_PS_MAX, "0ns","150ns", "0ns",       "0ns", "0ns", "0ns", "0ns", "FFFFFDD", "time that a miss of a receiver's context occupies its side of the NIC, where unreliable connections have a cache of their own (context.uc-entries)") \
    X(near_entries,         "context.near-entries",    COUNT, "1",   "65000", "32",      "32",         "128",         "256", "128", "256", "256", "FFFFFDD", "number of RC contexts that each side of the NIC keeps next to its processing units") \
    X(near_ways,            "context.near-ways",       COUNT, "1",   "64",    "4",       "4",          "8",          "8", "8", "8", "8", "FFFFFDD", "associativity of the memory for contexts next to the processing units") \
    X(near_stall_ps,        "context.near-stall",      TIME,  "0ps", NIC_DETAIL_PS_MAX, "0ns","0ns",  "6ns",      "1ns", "6ns", "1ns", "1ns", "FFFFFDD", "time that a context which is not next to the processing units occupies its side of the NIC") \
    X(page_bytes,           "translation.page",        BYTES, "4KiB","1GiB",  "2MiB",    "2MiB",       "2MiB",       "2MiB", "2MiB", "2MiB", "2MiB", "FFFFFDD", "page size of registered memory: 4 KiB, 2 MiB or 1 GiB") \
    X(translation_entries,  "translation.entries",     COUNT, "1",   "16777216", "2048", "2048",       "4096",       "16384", "4096", "16384", "16384", "FFFFFDD", "number of page translations in the translation cache") \
    X(translation_ways,     "translation.ways",        COUNT, "1",   "64",    "4",       "4",          "4",          "8", "4", "8", "8", "FFFFFDD", "associativity of the translation cache") \
    X(translation_stall_ps, "translation.stall",       TIME,  "0ps", NIC_DETAIL_PS_MAX, "200ns","120ns","17ns",     "12ns", "17ns", "12ns", "12ns", "FFFFFDD", "time that a miss of the translation cache occupies its side of the NIC") \
    X(wqe_entries,          "wqe.entries",             COUNT, "1",   "16777216", "320",  "320",        "4096",       "8192", "4096", "8192", "8192", "FFFFFDD", "number of WQEs in the WQE cache") \
    X(wqe_ways,             "wqe.ways",                COUNT, "1",   "64",    "16",       "16",          "8",          "4", "8", "4", "4", "FFFFFDD", "associativity of the WQE cache") \
    X(wqe_stall_ps,         "wqe.stall",               TIME,  "0ps", NIC_DETAIL_PS_MAX, "60ns","25ns", "0ns",       "0ns", "0ns", "0ns", "0ns", "FFFFFDD", "time that a miss of the WQE cache occupies its side of the NIC") \
    X(cq_entries,           "cq.entries",              COUNT, "1",   "16777216", "128",  "256",        "1024",       "4096", "1024", "4096", "4096", "FFFFFDD", "number of contexts of completion queues and shared receive queues in their cache") \
    X(cq_ways,              "cq.ways",                 COUNT, "1",   "64",    "4",       "4",          "4",          "4", "4", "4", "4", "FFFFFDD", "associativity of the cache of completion queues") \
    X(cq_stall_ps,          "cq.stall",                TIME,  "0ps", NIC_DETAIL_PS_MAX, "200ns","120ns","17ns",     "12ns", "17ns", "12ns", "12ns", "FFFFFDD", "time that a miss of the cache of completion queues occupies its side of the NIC") \
    X(key_entries,          "key.entries",             COUNT, "0",   "16777216", "0",    "0",          "0",          "0", "0", "0", "0", "FFFFFDD", "number of memory keys in the key cache; 0: every key is found at once") \
    X(key_ways,             "key.ways",                COUNT, "1",   "64",    "4",       "4",          "4",          "4", "4", "4", "4", "FFFFFDD", "associativity of the key cache") \
    X(key_stall_ps,         "key.stall",               TIME,  "0ps", NIC_DETAIL_PS_MAX, "200ns","120ns","17ns",     "12ns", "17ns", "12ns", "12ns", "FFFFFDD", "time that a miss of the key cache occupies its side of the NIC") \
    X(buffer_bytes,         "receive-buffer.bytes",    BYTES, "16KB","1GB",   "128KB",   "256KB",      "512KB",      "1MB", "512KB", "2MB", "4MB", "FFFFFDD", "size of the receive buffer for packets that wait to be processed; packets beyond it are dropped") \
    X(pause_bytes,          "receive-buffer.pause",    BYTES, "1KB", "1GB",   "64KB",    "2200",      "256KB",      "512KB", "256KB", "1MB", "2MB", "FFFFFDD", "fill of the receive buffer at which the NIC pauses its link") \
    X(resume_bytes,         "receive-buffer.resume",   BYTES, "0",   "1GB",   "48KB",    "1400",       "192KB",      "384KB", "192KB", "768KB", "1536KB", "FFFFFDD", "fill of the receive buffer at which the NIC resumes its paused link") \
    X(gpu_channels,         "gpu.channels",            COUNT, "1",   "4096",  "8", "8", "8", "8", "8", "8", "8", "DDDDDDD", "number of groups of a GPU's threads that post (nic.posting: gpu), each for the queue pairs that its number selects") \
    X(gpu_post_ps,          "gpu.post",                TIME,  "0ps", NIC_DETAIL_PS_MAX, "44ns", "44ns", "44ns", "44ns", "44ns", "44ns", "44ns", "DDDFDDD", "time of a group of a GPU's threads to write a WQE into GPU memory") \
    X(gpu_fence_ps,         "gpu.fence",               TIME,  "0ps", NIC_DETAIL_PS_MAX, "3us", "3us", "3us", "3us", "3us", "3us", "3us", "DDDDDFD", "time from a GPU's write of WQEs until its Doorbell leaves: fences that order them; other WQEs do not wait for it") \
    X(gpu_read_ps,          "gpu.read",                TIME,  "0ps", NIC_DETAIL_PS_MAX, "500ns", "500ns", "500ns", "500ns", "500ns", "500ns", "500ns", "DDDDDDD", "additional latency of the NIC's reads of GPU memory compared with host memory") \
    X(gpu_poll_ps,          "gpu.poll",                TIME,  "1ps", NIC_DETAIL_PS_MAX, "1us", "1us", "1us", "1us", "1us", "1us", "1us", "DDDDDDD", "time from a CQE or a flag in GPU memory until the GPU's thread that polls has seen it") \
    X(proxy_cores,          "proxy.cores",             COUNT, "1",   "1024",  "1", "1", "1", "1", "1", "1", "1", "DDDDDDD", "number of cores that post for a GPU (nic.posting: proxy), each for the queue pairs that its number selects") \
    X(proxy_request_ps,     "proxy.request",           TIME,  "0ps", NIC_DETAIL_PS_MAX, "588ns", "588ns", "588ns", "588ns", "588ns", "588ns", "588ns", "DDDFDDD", "time of the proxy's core for a work request, its completion included") \
    X(proxy_hop_ps,         "proxy.hop",               TIME,  "0ps", NIC_DETAIL_PS_MAX, "1us", "1us", "1us", "1us", "1us", "1us", "1us", "DDDDDDD", "time of a descriptor from a GPU to the proxy's core, or of a notice back: a write over PCIe and a poll") \
    X(cpu_post_ps,          "cpu.post",                TIME,  "0ps", NIC_DETAIL_PS_MAX, "20ns","12ns", "23ns",      "8ns", "23ns", "8ns", "8ns", "FFFFFDD", "time of a core to build a WQE") \
    X(cpu_copy_ps,          "cpu.copy",                TIME,  "0ps", NIC_DETAIL_PS_MAX, "0ns","0ns",  "2.9ns",     "0ns", "2.9ns", "0ns", "0ns", "FFFFFDD", "time of a core to copy 16 bytes of an inline payload into the WQE") \
    X(cpu_line_ps,          "cpu.mmio-line",           TIME,  "0ps", NIC_DETAIL_PS_MAX, "60ns","45ns", "37.5ns",      "40ns", "37.5ns", "40ns", "40ns", "FFFFFDD", "time of a core to write a line of a WQE into the NIC") \
    X(cpu_doorbell_ps,      "cpu.doorbell",            TIME,  "0ps", NIC_DETAIL_PS_MAX, "60ns","45ns", "45ns",      "40ns", "45ns", "40ns", "40ns", "FFFFFDD", "time of a core to ring a Doorbell") \
    X(cpu_fence_ps,         "cpu.mmio-fence",          TIME,  "0ps", NIC_DETAIL_PS_MAX, "0ns", "0ns", "0ns", "180ns", "0ns", "250ns", "250ns", "DDDFDFD", "time that a core waits after a WQE by MMIO or a Doorbell until the write has left it") \
    X(cpu_receive_ps,       "cpu.post-receive",        TIME,  "0ps", NIC_DETAIL_PS_MAX, "12ns","8ns",  "8ns",       "5ns", "8ns", "5ns", "5ns", "FFFFFDD", "time of a core to build a receive") \
    X(cpu_poll_ps,          "cpu.poll",                TIME,  "1ps", NIC_DETAIL_PS_MAX, "15ns","10ns", "10ns",      "8ns", "10ns", "8ns", "8ns", "FFFFFDD", "time of a core to poll a completion queue once") \
    X(cpu_cqe_ps,           "cpu.cqe",                 TIME,  "0ps", NIC_DETAIL_PS_MAX, "12ns","8ns",  "8ns",       "5ns", "8ns", "5ns", "5ns", "FFFFFDD", "time of a core to take a CQE out of a completion queue") \
    X(cpu_line_wait_ps,     "cpu.line",                TIME,  "0ps", NIC_DETAIL_PS_MAX, "20ns","20ns", "20ns",      "20ns", "20ns", "20ns", "20ns", "FFPFFDD", "time of a core to fetch a cache line that the NIC wrote or read; once for CQEs taken together, and for receives posted together")

// The clock of a host's cores: attributes nic.host.*, of the machine that a profile's card was in.
#define NIC_CLOCK_MAP(X)                                                                           \
    X(cpu_clock_mhz,        "clock",               COUNT, "1",   "100000", "2200",   "2900",       "3000",       "3000", "3000", "3000", "3000", "PPPFFDD", "clock rate of the host's cores in MHz while at most two work; all costs of cores are given for this rate") \
    X(cpu_clock_all_mhz,    "clock-all",           COUNT, "1",   "100000", "2200",   "2500",       "2500",       "3000", "2500", "3000", "3000", "PPPFFDD", "clock rate in MHz of each core when clock-all-from or more work; between two and that number it is interpolated") \
    X(cpu_clock_all_from,   "clock-all-from",      COUNT, "3",   "4096",  "3",       "5",          "6",          "3", "6", "3", "3", "PPPFFDD", "number of working cores from which on the clock rate is clock-all")
// clang-format on

typedef struct nic_detail {
#define NIC_DETAIL_FIELD(field, ...) uint64_t field;
    NIC_DETAIL_MAP(NIC_DETAIL_FIELD)
    NIC_CLOCK_MAP(NIC_DETAIL_FIELD)
#undef NIC_DETAIL_FIELD
} nic_detail_t;

struct nic_config;
// Fills in the constants of a host: those that are set, and the profile's for the rest.
void nic_detail_resolve(const struct nic_config *config, nic_detail_t *detail);
// Returns how many bytes the caches and tables inside a NIC take in this program's memory, as far
// as they are made at once; 0 if the NIC is not detailed.
uint64_t nic_detail_memory_bytes(const struct nic_config *config);
// Fills in the constants of a profile alone. profile < NIC_PROFILE_COUNT.
void nic_detail_profile(uint32_t profile, nic_detail_t *detail);
void nic_detail_pcie(const nic_detail_t *detail, nic_pcie_config_t *pcie);
// Checks the rules between constants. The message names the attribute.
SIM_MUST_CHECK sim_err_t nic_detail_check(const nic_detail_t *detail, sim_message_t *message);

// Returns a profile's value for the attribute of that path, as the table above writes it, or NULL
// if it is no constant of the detailed NIC.
const char *nic_detail_text(const char *path, uint32_t profile);

SIM_C_END

#endif // NIC_DETAIL_H
