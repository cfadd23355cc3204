// SPDX-License-Identifier: Apache-2.0
// nic/config/attributes.c - attributes of a host's NICs, and the rules between them.
#include <stdio.h>
#include <string.h>

#include "kernel/attribute.h"
#include "nic/config/layout.h"
#include "nic/config/parts.h"
#include "nic/extra.h"
#include "nic/transport.h"

#define DEFAULT_CONTROL "dcqcn"

// clang-format off
// A constant of nic/detail.h; left at auto it has the value of nic.profile.
#define DETAIL(field, path_, ...) PROFILED(field, "nic.detailed." path_, __VA_ARGS__)
#define CLOCK(field, path_, ...) PROFILED(field, "nic.host." path_, __VA_ARGS__)
#define PROFILED(field, path_, type_, min_, max_, cx_, cx3_, cib_, cx6_, cx5_, cx7_, cx8_, origin_, help_) \
    SIM_ATTR(path_, type_, nic_config_t, detail.field, .auto_ok = true,                        \
             .default_text = "auto", .min_text = min_, .max_text = max_,                       \
             .help = help_ "; auto: the value of nic.profile"),

#define ATTR(...) SIM_ATTR_ROW(nic_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(BYTES, "nic.mtu", mtu_bytes, "4096", "256", "9216", "path MTU: payload of a full packet; 256, 512, 1024, 2048 or 4096; with nic.frames bare any up to 9216, which is in jumbo frames"),
    ATTR(STRING, "nic.congestion-control", congestion_control, DEFAULT_CONTROL, "algorithm that sets each queue pair's rate and window; the transports of Ultra Ethernet and MRC have their own, nic.uec.control and nic.mrc.control, and then this default or none is expected"),
    ATTR(COUNT, "nic.priority", priority, "3", "0", "7", "802.1p class of data packets"),
    ATTR(COUNT, "nic.dscp", dscp, "auto", "0", "63", "DSCP of data packets; auto: priority x 8", .auto_ok = true),
    ATTR(COUNT, "nic.cnp-priority", cnp_priority, "6", "0", "7", "802.1p class of CNPs, sent before all others"),
    ATTR(COUNT, "nic.cnp-dscp", cnp_dscp, "auto", "0", "63", "DSCP of CNPs; auto: cnp-priority x 8", .auto_ok = true),
    ATTR(COUNT, "nic.ack-priority", ack_priority, "auto", "0", "7", "802.1p class of ACKs and NAKs; auto: that of the data", .auto_ok = true),
    ATTR(TIME, "nic.cnp-interval", cnp_interval_ps, "4us", "0ps", "1s", "minimum time between two CNPs for one flow (min_time_between_cnps)"),
    ATTR(ENUM, "nic.cnp-scope", cnp_scope, "qp", "qp|destination|port", "flow for which cnp-interval holds: one queue pair, one destination, or all flows of the port"),
    ATTR(BOOL, "nic.ecn", ecn_capable, "true", "whether data packets are ECT(0), so that switches may mark them"),
    ATTR(COUNT, "nic.ack-interval", ack_interval, "1", "1", "256", "number of packets per requested ACK within a message; the last packet of a message always requests one"),
    ATTR(BYTES, "nic.ack-from", ack_from_bytes, "0", NULL, NULL, "position in a message from which each packet is acknowledged, where there is one ACK per packet"),
    ATTR(BYTES, "nic.ack-chunk", ack_chunk_bytes, "0", NULL, NULL, "number of bytes; of the packets before ack-from, those that end at a multiple of it are acknowledged; 0: none of them is"),
    ATTR(BYTES, "nic.window", window_bytes, "auto", "1", NULL, "largest unacknowledged payload of a queue pair; auto: no limit", .auto_ok = true),
    ATTR(BYTES, "nic.bdp", bdp_bytes, "auto", "0", NULL, "bandwidth-delay product for windows and HPCC; auto: base RTT x line rate; 0: none, which HPCC divides by", .auto_ok = true),
    ATTR(ENUM, "nic.bdp-window", bdp_window, "none", "none|fixed|scaled", "a window of base RTT x line rate (fixed) or x current rate (scaled), with any algorithm"),
    ATTR(STRING, "nic.transport", transport, "go-back-n", "transport by which reliable connections repair losses; it must be equal at both ends"),
    ATTR(ENUM, "nic.retransmission", retransmission, "go-back-n", "go-back-n|go-back-0", "place from which go-back-n sends again: the missing packet, or the start of its message (or chunk)"),
    ATTR(BYTES, "nic.retransmission-chunk", chunk_bytes, "0", NULL, "2147483648", "size of the parts of a message that go-back-0 sends again from their start, rounded down to whole packets; 0: the message is one part"),
    ATTR(COUNT, "nic.timeout", timeout, "14", "0", "31", "retransmission timeout is 4.096 us x 2^this; 0: never"),
    ATTR(COUNT, "nic.retry-count", retry_count, "7", "0", "7", "number of retransmissions without progress before a request fails"),
    ATTR(COUNT, "nic.rnr-retry", rnr_retry, "7", "0", "7", "number of retries after receiver-not-ready before a request fails; 7: no limit"),
    ATTR(COUNT, "nic.min-rnr-timer", min_rnr_timer, "12", "0", "31", "code of the wait that a receiver without a posted receive asks for; 12: 0.64 ms"),
    ATTR(COUNT, "nic.max-rd-atomic", max_rd_atomic, "16", "1", "128", "largest number of outstanding READs of a queue pair, in each role"),
    ATTR(BOOL, "nic.nak-ends", nak_ends, "off", "whether the last packet of a message behind a gap causes a NAK, even within nak-interval"),
    ATTR(BOOL, "nic.nak-once", nak_once, "off", "whether several NAKs of one packet within a round trip of the idle path make the sender go back only once"),
    ATTR(BOOL, "nic.nak-cuts", nak_cuts, "off", "whether the sender takes a sequence NAK for a CNP, too, so that reordering lowers its rate, as in the simulator of ConWeave"),
    ATTR(TIME, "nic.recovery-delay", recovery_delay_ps, "0ps", "0ps", "1s", "time from a sequence NAK until the sender goes back: cards need far more than a round trip"),
    ATTR(TIME, "nic.nak-interval", nak_interval_ps, "0ps", "0ps", "1s", "minimum time between two sequence NAKs for one gap; 0: one NAK per gap"),
    ATTR(ENUM, "nic.repath", repath, "off", "off|plb|flowbender|reps", "rule by which the sender of a reliable connection changes its UDP source port, and so its path; plb, flowbender: after congested round trips and time-outs; reps: with each packet, by ports that came back unmarked; must be reps at both ends"),
    ATTR(RATIO, "nic.plb.marks", plb_marks, "0.5", "0", "1", "share of marked ACKs above which plb takes a round trip for congested; where CNPs report marks, one CNP suffices"),
    ATTR(COUNT, "nic.plb.rounds", plb_rounds, "12", "1", "1000000", "number of congested round trips in a row after which plb changes the path"),
    ATTR(RATIO, "nic.flowbender.marks", flowbender_marks, "0.05", "0", "1", "share of marked ACKs above which flowbender takes a round trip for congested; where CNPs report marks, one CNP suffices"),
    ATTR(COUNT, "nic.flowbender.rounds", flowbender_rounds, "1", "1", "1000000", "number of congested round trips in a row after which flowbender changes the path"),
    ATTR(COUNT, "nic.reps.cache", reps.cache, "8", "0", "64", "number of entropy values of unmarked packets that reps remembers for a connection; 0: each packet takes a random one"),
    ATTR(COUNT, "nic.reps.entropies", reps.entropies, "65536", "1", "65536", "number of different entropies that reps draws from; RoCE has at most 16384, as UDP source ports"),
    ATTR(TIME, "nic.reps.freeze", reps.freeze_ps, "10ms", "0ps", "10s", "time after a time-out in which reps uses only entropies that it remembers; 0: it goes on as before"),
    ATTR(COUNT, "nic.reps.explore", reps.explore, "16", "0", "1000000", "number of packets that take random entropy values when the time nic.reps.freeze is over"),
    ATTR(ENUM, "nic.ooo", ooo, "off", "off|place", "treatment of requests out of order with go-back-n; off: they are dropped and cause a NAK; place: the receiver places them and waits for the others; must be equal at both ends"),
    ATTR(COUNT, "nic.ooo-window", ooo_window, "512", "1", "1048576", "number of packets ahead of the expected one that a receiver places with nic.ooo: place; a packet beyond them causes a NAK"),
    ATTR(ENUM, "nic.planes", planes, "hash", "off|hash|round-robin|least-queue", "port by which a packet leaves a NIC that has one in each plane; hash: all of a queue pair by one port; round-robin: by each in turn; least-queue: by any that is free; off: each port is a NIC of its own"),
    ATTR(STRING, "nic.scheduler", scheduler, "ring", "rule for the next queue pair of a class: ring takes those that can send in turn; scan takes the first in a list of all, as the HPCC simulator does; or a program's own"),
    ATTR(BOOL, "nic.window-overshoot", window_overshoot, "false", "whether a packet may start while less than the window is in flight, even if it does not fit"),
    ATTR(BOOL, "nic.ack-duplicates", ack_duplicates, "true", "whether a duplicate request is acknowledged again"),
    ATTR(STRING, "nic.frames", frames, "standard", "length of frames on links: standard, that of their headers; infiniband, that of InfiniBand frames; bare, one header of fixed size and the payload, of any path MTU; or a program's own"),
    ATTR(TIME, "nic.base-rtt", base_rtt_ps, "auto", "100ns", "10s", "round-trip time without queueing, for congestion control; auto: that of each queue pair's path", .auto_ok = true),
    ATTR(NAME, "nic.path-rtt", path_rtt, "frames", "round trip of an idle path if base-rtt is auto: frames: that of a full packet and its ACK; hpcc: delays and the payload, one way, and the slowest link's rate; or a program's own"),
    ATTR(COUNT, "nic.host.sockets", host.sockets, "1", "1", "8", "number of sockets of a host, each with memory"),
    ATTR(RATE, "nic.host.memory-bandwidth", host.memory_bps, "auto", "1Mbps", NULL, "rate of a socket's memory, reads and writes together; auto: no limit", .auto_ok = true),
    ATTR(RATE, "nic.host.socket-link", host.socket_link_bps, "auto", "1Mbps", NULL, "rate of the link between two sockets, in each direction; auto: no limit", .auto_ok = true),
    ATTR(TIME, "nic.host.socket-link-latency", host.socket_link_ps, "0ps", "0ps", "1ms", "additional time for a payload in another socket's memory, with the detailed NIC"),
    ATTR(COUNT, "nic.host.nics-per-switch", host.nics_per_switch, "0", "0", "64", "number of NICs behind one PCIe switch; 0: each NIC has its own root port"),
    ATTR(STRING, "nic.host.nic-places", host.nic_places, "even", "where each NIC is, in order of the host's links: a list of cpu:N, a root port of that socket, and switch:N, behind that PCIe switch, with lanes of its own after it (switch:0/x8); even: as nics-per-switch says, spread over sockets"),
    ATTR(STRING, "nic.host.switch-places", host.switch_places, "even", "the socket of each PCIe switch, a list of cpu:N; even: spread over sockets"),
    ATTR(STRING, "nic.host.gpu-places", host.gpu_places, "even", "where each GPU is, a list of cpu:N and switch:N; even: spread over switches, or sockets where there are none"),
    ATTR(RATE, "nic.host.switch-uplink", host.uplink_bps, "auto", "1Mbps", NULL, "rate of the link from a PCIe switch to its socket, in each direction; auto: no limit", .auto_ok = true),
    ATTR(RATE, "nic.host.nic-link", host.nic_bps, "auto", "1Mbps", NULL, "rate of a NIC's own PCIe link, in each direction, besides nic.detailed.pcie; auto: no limit", .auto_ok = true),
    ATTR(COUNT, "nic.host.gpus", host.gpus, "0", "0", "64", "number of GPUs of a host, whose memory the NICs reach directly"),
    ATTR(RATE, "nic.host.gpu-link", host.gpu_bps, "auto", "1Mbps", NULL, "rate of a GPU's PCIe link, in each direction; auto: no limit", .auto_ok = true),
    ATTR(ENUM, "nic.host.peer", host.peer, "switch", "switch|root", "way of data between a NIC and a GPU behind the same PCIe switch; root: up to the root and back, as access control services (ACS) redirect them"),
    ATTR(RATE, "nic.host.peer-rate", host.peer_bps, "auto", "1Mbps", "1000Tbps", "rate at which the root of a socket forwards data between its NICs and GPUs; auto: no limit", .auto_ok = true),
    ATTR(STRING, "nic.host.location", host.location, "cpu:0", "where memory lies that no program placed: cpu:N, the N-th socket, or cuda:N, the N-th GPU"),
    ATTR(ENUM, "nic.host.iommu.use", host.iommu, "expands", "off|expands|all", "accesses to host memory that the IOMMU translates and checks; off: none; expands: contexts that the tiered store fetches; all: payloads as well"),
    ATTR(COUNT, "nic.host.iommu.entries", host.iommu_entries, "64", "1", "1048576", "number of translations that the IOTLB holds"),
    ATTR(COUNT, "nic.host.iommu.ways", host.iommu_ways, "64", "1", "1024", "number of ways of a set of the IOTLB; with as many as entries, there is one set"),
    ATTR(TIME, "nic.host.iommu.hit", host.iommu_hit_ps, "0ps", "0ps", "1us", "time of a look-up in the IOTLB"),
    ATTR(BYTES, "nic.host.iommu.page", host.iommu_page_bytes, "4KiB", "4KiB", "1GiB", "size of the pages that the IOMMU maps: 4KiB, 2MiB or 1GiB; a walk reads 4, 3 or 2 levels"),
    ATTR(TIME, "nic.host.iommu.read", host.iommu_read_ps, "82500ps", "0ps", "10us", "time of a page walk's read of one level of the page table in memory"),
    ATTR(COUNT, "nic.host.iommu.walkers", host.iommu_walkers, "5", "1", "1024", "number of page walks at a time"),
    ATTR(COUNT, "nic.host.iommu.ats", host.ats_entries, "0", "0", "1048576", "number of translations that each NIC keeps itself (ATS); only those that it lacks go to the IOMMU; 0: the IOMMU translates each access"),
    ATTR(TIME, "nic.host.iommu.ats-request", host.ats_request_ps, "600ns", "0ps", "1ms", "time of a NIC's translation request to the IOMMU and back over PCIe, without the translation itself"),
    ATTR(STRING, "nic.host.iommu.deny", host.iommu_deny, "none", "memory that NICs may not touch, rounded to pages: none, or a list of ADDRESS+BYTES such as 0x100000+64KiB, or of contexts of the host's first NIC: qp:NUMBER, cq:, srq:, mr: (by key), pd:, mtt: (by line of 8 pages)"),
    NIC_CLOCK_MAP(CLOCK)
    ATTR(NAME, "nic.model", model, "ideal", "the device: ideal, whose inside takes no time; detailed, where what happens in the NIC and its host takes time; or a program's own"),
    ATTR(ENUM, "nic.profile", profile, "connect-ib", NIC_PROFILE_CHOICES, "the card whose constants a detailed NIC has where nic.detailed does not say"),
    ATTR(ENUM, "nic.posting", posting, "free", "free|gpu|proxy", "processor that posts and polls for applications without own cores (flows, collectives, workloads); free: it takes no time; gpu: threads of a GPU, with WQEs and CQEs in its memory; proxy: a core that a GPU asks; gpu and proxy need nic.model detailed"),
    ATTR(ENUM, "nic.detailed.replacement", replacement, "lru", "lru|random", "rule by which a cache of the detailed NIC evicts an entry of a set"),
    ATTR(BOOL, "nic.detailed.sram-shared", sram_shared, "false", "true: contexts, translations, WQEs and completion queues share one cache with all entries; false: each kind has its own"),
    NIC_DETAIL_MAP(DETAIL)
    ATTR(STRING, "nic.detailed.store", store, "auto", "store of contexts and memory keys: flat, tiered, or a program's own; auto: tiered if nic.cache.policy is not flat"),
    ATTR(STRING, "nic.cache.policy", cache.policy, "flat", "flat: the caches of an ordinary NIC; any other name: a tiered cache of compressed tokens, whose L1 evicts by this policy: hybrid, lru, lfu, fifo, sieve, random"),
    ATTR(BOOL, "nic.cache.compression", cache.compression, "true", "true: L1 and L2 hold compressed tokens; false: they hold whole contexts"),
    ATTR(ENUM, "nic.cache.write", cache.write, "back", "back|through", "when a change made in L1 reaches the host; back: when the token is evicted; through: at once"),
    ATTR(ENUM, "nic.cache.waiting", cache.waiting, "wait", "wait|optimistic", "behaviour of an access to a token that is being moved; wait: wait for the end of the move; optimistic: use the old copy and check it afterwards"),
    ATTR(COUNT, "nic.cache.l1.entries", cache.l1_entries, "8192", "1", "16777216", "number of L1 entries for queue pairs, 28 bytes each"),
    ATTR(COUNT, "nic.cache.l1.other-entries", cache.l1_other_entries, "1024", "3", "16777216", "number of L1 entries for protection domains, memory regions and completion queues, 28 bytes each"),
    ATTR(STRING, "nic.cache.other.policy", cache.other_policy, "lru", "policy by which L1 evicts tokens of protection domains, memory regions and completion queues: hybrid, lru, lfu, fifo, sieve, random"),
    ATTR(COUNT, "nic.cache.other.promote.l1", cache.other_promote_l1, "auto", "1", "4294967295", "like promote.l1 (a number of uses), for protection domains, memory regions and completion queues; auto: promote.l1", .auto_ok = true),
    ATTR(COUNT, "nic.cache.other.promote.l2", cache.other_promote_l2, "auto", "1", "4294967295", "like promote.l2 (a number of uses), for protection domains, memory regions and completion queues; auto: promote.l2", .auto_ok = true),
    ATTR(COUNT, "nic.cache.other.staging", cache.other_staging_entries, "16", "0", "1048576", "like l1.staging (a number of entries), for protection domains, memory regions and completion queues"),
    ATTR(ENUM, "nic.cache.other.path", cache.other_path, "direct", "direct|batch", "like l2.path, for protection domains, memory regions and completion queues"),
    ATTR(TIME, "nic.cache.l1.latency", cache.l1_latency_ps, "5ns", "1ps", "1ms", "time of a lookup in L1"),
    ATTR(TIME, "nic.cache.l1.cas", cache.cas_ps, "2ns", "0ps", "1ms", "time of a compare-and-swap of an L1 entry's fields"),
    ATTR(COUNT, "nic.cache.l1.cas-retries", cache.cas_retries, "3", "0", "1000", "number of times that a failed compare-and-swap is tried again before the NIC reads the token directory"),
    ATTR(ENUM, "nic.cache.l1.cas-fallback", cache.cas_fallback, "lock", "lock|path", "how an access goes on after cas-retries; lock: it takes the entry's lock; path: the token leaves L1, and is fetched from L2 (alone or in a batch) or from the host"),
    ATTR(COUNT, "nic.cache.l1.staging", cache.staging_entries, "64", "0", "1048576", "number of entries of the staging area beside L1, which holds copies of tokens that are not promoted; for policies with thresholds"),
    ATTR(ENUM, "nic.cache.l1.staged", cache.staged, "copies", "copies|tokens", "contents of the staging area; copies: copies of tokens that stay in L2 or with the host; tokens: the tokens themselves, which are in L1 for the directory and go back when others need their places"),
    ATTR(ENUM, "nic.cache.l1.wqes", cache.wqes, "apart", "apart|entries", "where the NIC keeps WQEs; apart: in SRAM of their own (nic.detailed.wqe.entries); entries: in L1, 3 entries each, beside the tokens of queue pairs and evicted by the same policy, to L2"),
    ATTR(COUNT, "nic.cache.l1.doorbells", cache.doorbells, "256", "1", "65536", "number of Doorbells that L1 holds while the NIC reads their WQEs; a further Doorbell waits until one is done"),
    ATTR(ENUM, "nic.cache.directory", cache.directory, "auto", "auto|sram|cxl|host", "where the NIC reads the token directory after a miss of L1; auto: in L2 where there is one, else with the host"),
    ATTR(RATIO, "nic.cache.directory-load", cache.directory_load, "0.5", "0.01", "1", "used share of the token directory from which on its number of buckets doubles; a fuller directory takes more reads for each look-up"),
    ATTR(COUNT, "nic.cache.handles", cache.handles, "0", "0", "16777216", "number of entries of an index on the NIC, by which it finds tokens in a table by their 32-bit handles; the driver has the table and L2 a copy; 0: the directory is found by type and key"),
    ATTR(BYTES, "nic.cache.l2.bytes", cache.l2_bytes, "16MiB", "0", "1TiB", "size of L2, in CXL memory, for tokens of queue pairs; 0: there is no L2"),
    ATTR(BYTES, "nic.cache.l2.other-bytes", cache.l2_other_bytes, "auto", "0", "1TiB", "size of L2 for tokens of protection domains, memory regions and completion queues; auto: a quarter of l2.bytes", .auto_ok = true),
    ATTR(BYTES, "nic.cache.l2.page-table", cache.l2_table_bytes, "0", "0", "128GiB", "size of L2 for page tables, kept in lines of 64 bytes with the translations of 8 pages; a missing translation is read there first, else from the host, and its line is kept; 0: always from the host"),
    ATTR(COUNT, "nic.cache.l2.slots", cache.l2_slots, "16", "1", "16", "number of tokens in one page of L2"),
    ATTR(BOOL, "nic.cache.l2.shared", cache.l2_shared, "false", "true: the NICs of a host share one L2, with its bytes and its rate; false: each NIC has an L2 of its own"),
    ATTR(RATIO, "nic.cache.l2.reserve", cache.l2_reserve, "0", "0", "1", "share of a shared L2 (l2.shared) up to which the pages of a NIC are not given to the host's other NICs"),
    ATTR(TIME, "nic.cache.l2.latency", cache.l2_latency_ps, "250ns", "0ps", "1ms", "latency of a load from idle CXL memory"),
    ATTR(RATE, "nic.cache.l2.rate", cache.l2_rate_bps, "208Gbps", "1Mbps", "100000Gbps", "rate of CXL memory in each direction, in lines of 64 bytes"),
    ATTR(ENUM, "nic.cache.l2.access", cache.l2_access, "load", "load|dma", "how the NIC accesses L2; load: by loads and stores; dma: by a light DMA engine"),
    ATTR(TIME, "nic.cache.l2.setup", cache.l2_setup_ps, "100ns", "0ps", "1ms", "additional time of a DMA access to L2, compared with a load (l2.access: dma)"),
    ATTR(ENUM, "nic.cache.l2.path", cache.l2_path, "direct", "direct|batch", "how a token in L2 is fetched; direct: alone; batch: together with other misses, cluster by cluster"),
    ATTR(RATIO, "nic.cache.l2.pressure", cache.l2_pressure, "0.9", "0", "1", "used share of L2 from which on idle tokens are demoted to the host"),
    ATTR(BOOL, "nic.cache.expand.asynchronous", cache.expand_asynchronous, "false", "true: a work request that waits for its context delays its own queue pair only; false: it delays the whole processing unit"),
    ATTR(ENUM, "nic.cache.expand.answer", cache.expand_answer, "nic", "nic|cxl", "how the driver answers a request for a context; nic: the NIC reads it from host memory; cxl: the driver writes it into L2 and the NIC loads it"),
    ATTR(BOOL, "nic.cache.expand.on-nic", cache.decompress_on_nic, "false", "true: the NIC compresses contexts into tokens and back; false: the driver does"),
    ATTR(TIME, "nic.cache.expand.decompress", cache.decompress_ps, "20ns", "0ps", "1ms", "time to compress a context into a token, or to expand it"),
    ATTR(ENUM, "nic.cache.driver.core", cache.driver_core, "own", "own|shared", "core on which the driver works; own: a core that does nothing else; shared: it interrupts the first core of the host's program, which loses the time"),
    ATTR(TIME, "nic.cache.driver.work", cache.driver_ps, "300ns", "0ps", "1ms", "work of the driver's core for one request of the NIC"),
    ATTR(TIME, "nic.cache.driver.iommu", cache.iommu_ps, "250ns", "0ps", "1ms", "time in which the driver maps the page of a context for the NIC (nic.host.iommu)"),
    ATTR(COUNT, "nic.cache.promote.l1", cache.promote_l1, "128", "1", "4294967295", "number of uses within the window from which on a token belongs into L1; for policies with thresholds"),
    ATTR(COUNT, "nic.cache.promote.l2", cache.promote_l2, "16", "1", "4294967295", "number of uses within the window from which on a token belongs into L2; for policies with thresholds", .not_above = "nic.cache.promote.l1"),
    ATTR(TIME, "nic.cache.demote.l1-idle", cache.demote_l1_ps, "1ms", "0ps", "1000s", "idle time after which a token is demoted from L1"),
    ATTR(TIME, "nic.cache.demote.l2-idle", cache.demote_l2_ps, "10ms", "0ps", "1000s", "idle time after which a token is demoted from L2, if L2 is nearly full (l2.pressure)"),
    ATTR(TIME, "nic.cache.window", cache.window_ps, "10ms", "4ps", "1000s", "length of the window in which uses of a token are counted for the thresholds"),
    ATTR(COUNT, "nic.cache.sample-every", cache.sample_every, "1", "1", "65536", "number of accesses for each one that is counted and stands for all of them"),
    ATTR(TIME, "nic.cache.aging", cache.aging_ps, "1ms", "1ns", "1000s", "time between two halvings of the counts of uses in L1"),
    ATTR(RATIO, "nic.cache.alpha", cache.alpha, "1", "0", "1000000", "weight of recency (0 oldest, 1 newest) against one use in the scores of policy hybrid"),
    ATTR(BYTES, "nic.cache.cluster", cache.cluster_bytes, "64KiB", "0", "1GiB", "largest part of host memory or L2 that one transfer of neighbouring tokens covers"),
    ATTR(COUNT, "nic.cache.neighbours", cache.neighbours, "auto", "0", "1048576", "largest number of tokens that move to L2 together with another one of their cluster; auto: the whole cluster", .auto_ok = true),
    ATTR(COUNT, "nic.cache.move.batch", cache.move_batch, "16", "1", "4096", "largest number of tokens that one transfer promotes from L2 to L1, or demotes because they are idle"),
    ATTR(TIME, "nic.cache.move.work", cache.move_work_ps, "0ps", "0ps", "1s", "time that each move takes besides its transfers, such as a copy by firmware"),
    ATTR(RATIO, "nic.cache.promote.along", cache.promote_along, "0.5", "0", "1", "share of promote.l1 from which on a token goes to L1 together with another one of its page of L2"),
    ATTR(COUNT, "nic.cache.driver.prestage", cache.prestage, "0", "0", "1000000", "number of requests for contexts of one cluster within the window from which on the driver stages the rest of the cluster in L2 by itself; 0: it never does"),
    ATTR(TIME, "nic.cache.maintenance.interval", cache.maintenance_ps, "100us", "1ns", "1000s", "time between two runs of the maintenance worker, which demotes idle tokens"),
    ATTR(COUNT, "nic.cache.maintenance.tokens", cache.maintenance_tokens, "64", "0", "16777216", "number of tokens that the maintenance worker examines per run"),
    ATTR(COUNT, "nic.cache.batch.threshold", cache.batch_threshold, "32", "1", "65536", "number of queued misses at which the batch worker starts"),
    ATTR(COUNT, "nic.cache.batch.max", cache.batch_max, "256", "1", "65536", "largest number of misses that the batch worker takes at once"),
    ATTR(TIME, "nic.cache.batch.wait", cache.batch_wait_ps, "1us", "0ps", "1s", "longest time that a queued miss waits before the batch worker starts"),
    ATTR(TIME, "nic.cache.batch.backlog", cache.backlog_ps, "2us", "0ps", "1s", "waiting time for the link of L2 from which on the link counts as saturated"),
    ATTR(ENUM, "nic.cache.batch.saturated", cache.saturated, "delay", "delay|drop", "treatment of neighbours (cluster) while the link of L2 is saturated; delay: they wait; drop: they are not prefetched"),
    ATTR(BOOL, "nic.cache.adaptive.on", cache.adaptive, "false", "true: the promotion thresholds are adapted to the load"),
    ATTR(ENUM, "nic.cache.adaptive.rule", cache.adaptive_rule, "document", "document|shadow", "how policy hybrid adapts; document: thresholds rise while links are full and fall while the driver is busy; shadow: miniature caches try four ways on a sample of the tokens, and L1 follows the one that costs least"),
    ATTR(TIME, "nic.cache.adaptive.interval", cache.adaptive_interval_ps, "100us", "1ns", "1000s", "time between two adaptations of the promotion thresholds"),
    ATTR(RATIO, "nic.cache.adaptive.saturation", cache.saturation, "0.8", "0", "1", "busy share of PCIe or L2 from which on thresholds rise, if the hit ratio is below adaptive.hits"),
    ATTR(RATIO, "nic.cache.adaptive.hits", cache.adaptive_hits, "0.5", "0", "1", "hit ratio of L1 or L2 below which thresholds are adapted"),
    ATTR(RATIO, "nic.cache.adaptive.cpu", cache.adaptive_cpu, "0.5", "0", "1", "busy share of the driver's core from which on thresholds fall, if the hit ratio of L1 is below adaptive.hits"),
    ATTR(COUNT, "nic.cache.pinned", cache.pinned, "0", "0", "16777216", "number of queue pairs, the first ones created, whose tokens always stay in L1"),
    ATTR(TIME, "nic.cache.reset-at", cache.reset_ps, "never", "0ps", NULL, "time at which the NIC is reset: it loses what it holds, and changes that nobody else has are lost"),
    ATTR(BOOL, "nic.cache.record", cache.record, "false", "true: records all accesses and reports the hits of Belady's optimal policy for comparison"),
};
// clang-format on

const sim_attr_table_t nic_config_attrs = {
    .prefix = "nic",
    .scope = "node",
    .config_bytes = sizeof(nic_config_t),
    .attrs = attrs,
    .count = SIM_COUNT_OF(attrs),
};

// -- life

void nic_config_init(nic_config_t *config)
{
    nic_config_init_with(config, NULL, 0);
}

void nic_config_init_with(nic_config_t *config, const nic_extra_t *extras, size_t extra_count)
{
    memset(config, 0, sizeof(*config));
    sim_attrs_default(&nic_config_attrs, config);
    config->extras = extras;
    config->extra_count = extra_count;
    nic__parts_create(config, NULL);
}

void nic_config_copy(nic_config_t *to, const nic_config_t *from)
{
    sim_attrs_copy(&nic_config_attrs, to, from);
    nic__parts_create(to, from);
}

bool nic_config_equal(const nic_config_t *a, const nic_config_t *b)
{
    return sim_attrs_equal(&nic_config_attrs, a, b, offsetof(nic_config_t, parts),
                           sizeof(a->parts)) &&
           nic__parts_equal(a, b);
}

void nic_config_fini(nic_config_t *config)
{
    nic__parts_destroy(config);
    sim_attrs_fini(&nic_config_attrs, config);
}

// -- rules

static sim_err_t check_host(const nic_host_config_t *config, sim_message_t *message)
{
    nic_layout_t layout;
    const sim_err_t result = nic__layout_create(config, NIC_LAYOUT_ANY_NICS, &layout, message);
    if (result != SIM_OK) {
        return result;
    }
    nic__layout_destroy(&layout);
    nic_location_t location;
    const sim_err_t nowhere = nic__location_of(config, config->location, &location, message);
    return nowhere != SIM_OK ? nowhere : nic__iommu_check(config, message);
}

sim_err_t nic_config_check(const nic_config_t *config, sim_message_t *message)
{
    const sim_err_t unknown = nic__check_parts(config, message);
    if (unknown != SIM_OK) {
        return unknown;
    }
    const void *part;
    const bool any_mtu = nic__config_frames(config, &part)->any_mtu;
    const uint64_t most = any_mtu ? ROCE_MTU_BYTES_MAX : ROCE_MTU_STANDARD_MAX;
    if (config->mtu_bytes < 256 || config->mtu_bytes > most ||
        ((config->mtu_bytes & (config->mtu_bytes - 1)) != 0 && !any_mtu)) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.mtu",
                              ": %" PRIu64 " bytes, expected 256, 512, 1024, 2048 or 4096 (any up "
                              "to 9216 with nic.frames bare)",
                              config->mtu_bytes);
    }
    if (config->ooo == NIC_OOO_PLACE &&
        (config->retransmission == NIC_GO_BACK_0 || strcmp(config->transport, "go-back-n") != 0)) {
        return sim_fail_about(
            message, SIM_ERR_INVALID, "nic.ooo",
            ": place is for nic.transport go-back-n with nic.retransmission "
            "go-back-n; expected these (other transports keep packets anyway), or "
            "off");
    }
    const sim_err_t nowhere = check_host(&config->host, message);
    if (nowhere != SIM_OK) {
        return nowhere;
    }
    if (config->posting != NIC_POSTING_FREE &&
        (config->custom_device != NULL || strcmp(config->model.text, NIC_DETAILED.text) != 0)) {
        return sim_fail_about(message, SIM_ERR_INVALID, "nic.posting",
                              ": %s, expected free: only nic.model detailed knows how long posting "
                              "takes",
                              config->posting == NIC_POSTING_GPU ? "gpu" : "proxy");
    }
    nic_detail_t detail;
    const nic_transport_ops_t *const transport = nic__config_transport(config);
    if (transport != NULL && transport->own_control &&
        strcmp(config->congestion_control, "none") != 0 &&
        strcmp(config->congestion_control, DEFAULT_CONTROL) != 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "nic.congestion-control",
                              ": %s, expected none: nic.transport %s has a congestion control of "
                              "its own (nic.uec.control, nic.mrc.control)",
                              config->congestion_control, transport->name);
    }
    if (transport != NULL && transport->check_config != NULL) {
        const sim_err_t wrong =
            transport->check_config(nic_config_part(config, transport->attrs), message);
        if (wrong != SIM_OK) {
            return wrong;
        }
    }
    nic_detail_resolve(config, &detail);
    const sim_err_t error = nic_detail_check(&detail, message);
    if (error != SIM_OK) {
        return error;
    }
    return nic_cache_check(&config->cache, message);
}
