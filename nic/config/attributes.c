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

static const sim_attr_t attrs[] = {
    SIM_ATTR("nic.mtu", BYTES, nic_config_t, mtu_bytes,
             .default_text = "4096", .min_text = "256", .max_text = "9216",
             .help = "path MTU: payload of a full packet; 256, 512, 1024, 2048 or 4096; with "
                     "nic.frames bare any up to 9216, which is in jumbo frames"),
    SIM_ATTR("nic.congestion-control", STRING, nic_config_t, congestion_control,
             .default_text = DEFAULT_CONTROL,
             .help = "algorithm that sets each queue pair's rate and window; the transports of Ultra "
                     "Ethernet and MRC have their own, nic.uec.control and nic.mrc.control, and then "
                     "this default or none is expected"),
    SIM_ATTR("nic.priority", COUNT, nic_config_t, priority,
             .default_text = "3", .min_text = "0", .max_text = "7",
             .help = "802.1p class of data packets"),
    SIM_ATTR("nic.dscp", COUNT, nic_config_t, dscp,
             .auto_ok = true, .default_text = "auto", .min_text = "0", .max_text = "63",
             .help = "DSCP of data packets; auto: priority x 8"),
    SIM_ATTR("nic.cnp-priority", COUNT, nic_config_t, cnp_priority,
             .default_text = "6", .min_text = "0", .max_text = "7",
             .help = "802.1p class of CNPs, sent before all others"),
    SIM_ATTR("nic.cnp-dscp", COUNT, nic_config_t, cnp_dscp,
             .auto_ok = true, .default_text = "auto", .min_text = "0", .max_text = "63",
             .help = "DSCP of CNPs; auto: cnp-priority x 8"),
    SIM_ATTR("nic.ack-priority", COUNT, nic_config_t, ack_priority,
             .auto_ok = true, .default_text = "auto", .min_text = "0", .max_text = "7",
             .help = "802.1p class of ACKs and NAKs; auto: that of the data"),
    SIM_ATTR("nic.cnp-interval", TIME, nic_config_t, cnp_interval_ps,
             .default_text = "4us", .min_text = "0ps", .max_text = "1s",
             .help = "minimum time between two CNPs for one flow (min_time_between_cnps)"),
    SIM_ATTR("nic.cnp-scope", ENUM, nic_config_t, cnp_scope,
             .default_text = "qp", .choices = "qp|destination|port",
             .help = "flow for which cnp-interval holds: one queue pair, one destination, or all "
                     "flows of the port"),
    SIM_ATTR("nic.ecn", BOOL, nic_config_t, ecn_capable,
             .default_text = "true",
             .help = "whether data packets are ECT(0), so that switches may mark them"),
    SIM_ATTR("nic.ack-interval", COUNT, nic_config_t, ack_interval,
             .default_text = "1", .min_text = "1", .max_text = "256",
             .help = "number of packets per requested ACK within a message; the last packet of a "
                     "message always requests one"),
    SIM_ATTR("nic.ack-from", BYTES, nic_config_t, ack_from_bytes,
             .default_text = "0",
             .help = "position in a message from which each packet is acknowledged, where there is "
"one ACK per packet"),
    SIM_ATTR("nic.ack-chunk", BYTES, nic_config_t, ack_chunk_bytes,
             .default_text = "0",
             .help = "number of bytes; of the packets before ack-from, those that end at a multiple "
                     "of it are acknowledged; 0: none of them is"),
    SIM_ATTR("nic.window", BYTES, nic_config_t, window_bytes,
             .auto_ok = true, .default_text = "auto", .min_text = "1",
             .help = "largest unacknowledged payload of a queue pair; auto: no limit"),
    SIM_ATTR("nic.bdp", BYTES, nic_config_t, bdp_bytes,
             .auto_ok = true, .default_text = "auto", .min_text = "0",
             .help = "bandwidth-delay product for windows and HPCC; auto: base RTT x line rate; 0: "
                     "none, which HPCC divides by"),
    SIM_ATTR("nic.bdp-window", ENUM, nic_config_t, bdp_window,
             .default_text = "none", .choices = "none|fixed|scaled",
             .help = "a window of base RTT x line rate (fixed) or x current rate (scaled), with "
                     "any algorithm"),
    SIM_ATTR("nic.transport", STRING, nic_config_t, transport,
             .default_text = "go-back-n",
             .help = "transport by which reliable connections repair losses; it must be equal at "
                     "both ends"),
    SIM_ATTR("nic.retransmission", ENUM, nic_config_t, retransmission,
             .default_text = "go-back-n", .choices = "go-back-n|go-back-0",
             .help = "place from which go-back-n sends again: the missing packet, or the start of "
                     "its message (or chunk)"),
    SIM_ATTR("nic.retransmission-chunk", BYTES, nic_config_t, chunk_bytes,
             .default_text = "0", .max_text = "2147483648",
             .help = "size of the parts of a message that go-back-0 sends again from their start, "
                     "rounded down to whole packets; 0: the message is one part"),
    SIM_ATTR("nic.timeout", COUNT, nic_config_t, timeout,
             .default_text = "14", .min_text = "0", .max_text = "31",
             .help = "retransmission timeout is 4.096 us x 2^this; 0: never"),
    SIM_ATTR("nic.retry-count", COUNT, nic_config_t, retry_count,
             .default_text = "7", .min_text = "0", .max_text = "7",
             .help = "number of retransmissions without progress before a request fails"),
    SIM_ATTR("nic.rnr-retry", COUNT, nic_config_t, rnr_retry,
             .default_text = "7", .min_text = "0", .max_text = "7",
             .help = "number of retries after receiver-not-ready before a request fails; 7: no limit"),
    SIM_ATTR("nic.min-rnr-timer", COUNT, nic_config_t, min_rnr_timer,
             .default_text = "12", .min_text = "0", .max_text = "31",
             .help = "code of the wait that a receiver without a posted receive asks for; 12: 0.64 "
                     "ms"),
    SIM_ATTR("nic.max-rd-atomic", COUNT, nic_config_t, max_rd_atomic,
             .default_text = "16", .min_text = "1", .max_text = "128",
             .help = "largest number of outstanding READs of a queue pair, in each role"),
    SIM_ATTR("nic.nak-ends", BOOL, nic_config_t, nak_ends,
             .default_text = "off",
             .help = "whether the last packet of a message behind a gap causes a NAK, even within "
                     "nak-interval"),
    SIM_ATTR("nic.nak-once", BOOL, nic_config_t, nak_once,
             .default_text = "off",
             .help = "whether several NAKs of one packet within a round trip of the idle path make "
                     "the sender go back only once"),
    SIM_ATTR("nic.nak-cuts", BOOL, nic_config_t, nak_cuts,
             .default_text = "off",
             .help = "whether the sender takes a sequence NAK for a CNP, too, so that reordering "
                     "lowers its rate, as in the simulator of ConWeave"),
    SIM_ATTR("nic.recovery-delay", TIME, nic_config_t, recovery_delay_ps,
             .default_text = "0ps", .min_text = "0ps", .max_text = "1s",
             .help = "time from a sequence NAK until the sender goes back: cards need far more "
                     "than a round trip"),
    SIM_ATTR("nic.nak-interval", TIME, nic_config_t, nak_interval_ps,
             .default_text = "0ps", .min_text = "0ps", .max_text = "1s",
             .help = "minimum time between two sequence NAKs for one gap; 0: one NAK per gap"),
    SIM_ATTR("nic.repath", ENUM, nic_config_t, repath,
             .default_text = "off", .choices = "off|plb|flowbender|reps",
             .help = "rule by which the sender of a reliable connection changes its UDP source "
                     "port, and so its path; plb, flowbender: after congested round trips and "
                     "time-outs; reps: with each packet, by ports that came back unmarked; must be "
                     "reps at both ends"),
    SIM_ATTR("nic.plb.marks", RATIO, nic_config_t, plb_marks,
             .default_text = "0.5", .min_text = "0", .max_text = "1",
             .help = "share of marked ACKs above which plb takes a round trip for congested; where "
                     "CNPs report marks, one CNP suffices"),
    SIM_ATTR("nic.plb.rounds", COUNT, nic_config_t, plb_rounds,
             .default_text = "12", .min_text = "1", .max_text = "1000000",
             .help = "number of congested round trips in a row after which plb changes the path"),
    SIM_ATTR("nic.flowbender.marks", RATIO, nic_config_t, flowbender_marks,
             .default_text = "0.05", .min_text = "0", .max_text = "1",
             .help = "share of marked ACKs above which flowbender takes a round trip for "
                     "congested; where CNPs report marks, one CNP suffices"),
    SIM_ATTR("nic.flowbender.rounds", COUNT, nic_config_t, flowbender_rounds,
             .default_text = "1", .min_text = "1", .max_text = "1000000",
             .help = "number of congested round trips in a row after which flowbender changes the path"),
    SIM_ATTR("nic.reps.cache", COUNT, nic_config_t, reps.cache,
             .default_text = "8", .min_text = "0", .max_text = "64",
             .help = "number of entropy values of unmarked packets that reps remembers for a "
                     "connection; 0: each packet takes a random one"),
    SIM_ATTR("nic.reps.entropies", COUNT, nic_config_t, reps.entropies,
             .default_text = "65536", .min_text = "1", .max_text = "65536",
             .help = "number of different entropies that reps draws from; RoCE has at most 16384, "
                     "as UDP source ports"),
    SIM_ATTR("nic.reps.freeze", TIME, nic_config_t, reps.freeze_ps,
             .default_text = "10ms", .min_text = "0ps", .max_text = "10s",
             .help = "time after a time-out in which reps uses only entropies that it remembers; 0: "
                     "it goes on as before"),
    SIM_ATTR("nic.reps.explore", COUNT, nic_config_t, reps.explore,
             .default_text = "16", .min_text = "0", .max_text = "1000000",
             .help = "number of packets that take random entropy values when the time nic.reps.freeze is over"),
    SIM_ATTR("nic.ooo", ENUM, nic_config_t, ooo,
             .default_text = "off", .choices = "off|place",
             .help = "treatment of requests out of order with go-back-n; off: they are dropped and "
                     "cause a NAK; place: the receiver places them and waits for the others; must "
                     "be equal at both ends"),
    SIM_ATTR("nic.ooo-window", COUNT, nic_config_t, ooo_window,
             .default_text = "512", .min_text = "1", .max_text = "1048576",
             .help = "number of packets ahead of the expected one that a receiver places with "
                     "nic.ooo: place; a packet beyond them causes a NAK"),
    SIM_ATTR("nic.planes", ENUM, nic_config_t, planes,
             .default_text = "hash", .choices = "off|hash|round-robin|least-queue",
             .help = "port by which a packet leaves a NIC that has one in each plane; hash: all of "
                     "a queue pair by one port; round-robin: by each in turn; least-queue: by any "
                     "that is free; off: each port is a NIC of its own"),
    SIM_ATTR("nic.scheduler", STRING, nic_config_t, scheduler,
             .default_text = "ring",
             .help = "rule for the next queue pair of a class: ring takes those that can send in "
                     "turn; scan takes the first in a list of all, as the HPCC simulator does; or "
                     "a program's own"),
    SIM_ATTR("nic.window-overshoot", BOOL, nic_config_t, window_overshoot,
             .default_text = "false",
             .help = "whether a packet may start while less than the window is in flight, even if "
                     "it does not fit"),
    SIM_ATTR("nic.ack-duplicates", BOOL, nic_config_t, ack_duplicates,
             .default_text = "true",
             .help = "whether a duplicate request is acknowledged again"),
    SIM_ATTR("nic.frames", STRING, nic_config_t, frames,
             .default_text = "standard",
             .help = "length of frames on links: standard, that of their headers; infiniband, that "
                     "of InfiniBand frames; bare, one header of fixed size and the payload, of any "
                     "path MTU; or a program's own"),
    SIM_ATTR("nic.base-rtt", TIME, nic_config_t, base_rtt_ps,
             .auto_ok = true, .default_text = "auto", .min_text = "100ns", .max_text = "10s",
             .help = "round-trip time without queueing, for congestion control; auto: that of each "
                     "queue pair's path"),
    SIM_ATTR("nic.path-rtt", NAME, nic_config_t, path_rtt,
             .default_text = "frames",
             .help = "round trip of an idle path if base-rtt is auto: frames: that of a full "
                     "packet and its ACK; hpcc: delays and the payload, one way, and the slowest "
                     "link's rate; or a program's own"),
    SIM_ATTR("nic.host.sockets", COUNT, nic_config_t, host.sockets,
             .default_text = "1", .min_text = "1", .max_text = "8",
             .help = "number of sockets of a host, each with memory"),
    SIM_ATTR("nic.host.memory-bandwidth", RATE, nic_config_t, host.memory_bps,
             .auto_ok = true, .default_text = "auto", .min_text = "1Mbps",
             .help = "rate of a socket's memory, reads and writes together; auto: no limit"),
    SIM_ATTR("nic.host.socket-link", RATE, nic_config_t, host.socket_link_bps,
             .auto_ok = true, .default_text = "auto", .min_text = "1Mbps",
             .help = "rate of the link between two sockets, in each direction; auto: no limit"),
    SIM_ATTR("nic.host.socket-link-latency", TIME, nic_config_t, host.socket_link_ps,
             .default_text = "0ps", .min_text = "0ps", .max_text = "1ms",
             .help = "additional time for a payload in another socket's memory, with the detailed "
                     "NIC"),
    SIM_ATTR("nic.host.nics-per-switch", COUNT, nic_config_t, host.nics_per_switch,
             .default_text = "0", .min_text = "0", .max_text = "64",
             .help = "number of NICs behind one PCIe switch; 0: each NIC has its own root port"),
    SIM_ATTR("nic.host.nic-places", STRING, nic_config_t, host.nic_places,
             .default_text = "even",
             .help = "where each NIC is, in order of the host's links: a list of cpu:N, a root "
                     "port of that socket, and switch:N, behind that PCIe switch, with lanes of "
                     "its own after it (switch:0/x8); even: as nics-per-switch says, spread over "
                     "sockets"),
    SIM_ATTR("nic.host.switch-places", STRING, nic_config_t, host.switch_places,
             .default_text = "even",
             .help = "the socket of each PCIe switch, a list of cpu:N; even: spread over sockets"),
    SIM_ATTR("nic.host.gpu-places", STRING, nic_config_t, host.gpu_places,
             .default_text = "even",
             .help = "where each GPU is, a list of cpu:N and switch:N; even: spread over switches, "
                     "or sockets where there are none"),
    SIM_ATTR("nic.host.switch-uplink", RATE, nic_config_t, host.uplink_bps,
             .auto_ok = true, .default_text = "auto", .min_text = "1Mbps",
             .help = "rate of the link from a PCIe switch to its socket, in each direction; auto: "
                     "no limit"),
    SIM_ATTR("nic.host.nic-link", RATE, nic_config_t, host.nic_bps,
             .auto_ok = true, .default_text = "auto", .min_text = "1Mbps",
             .help = "rate of a NIC's own PCIe link, in each direction, besides nic.detailed.pcie; "
                     "auto: no limit"),
    SIM_ATTR("nic.host.gpus", COUNT, nic_config_t, host.gpus,
             .default_text = "0", .min_text = "0", .max_text = "64",
             .help = "number of GPUs of a host, whose memory the NICs reach directly"),
    SIM_ATTR("nic.host.gpu-link", RATE, nic_config_t, host.gpu_bps,
             .auto_ok = true, .default_text = "auto", .min_text = "1Mbps",
             .help = "rate of a GPU's PCIe link, in each direction; auto: no limit"),
    SIM_ATTR("nic.host.peer", ENUM, nic_config_t, host.peer,
             .default_text = "switch", .choices = "switch|root",
             .help = "way of data between a NIC and a GPU behind the same PCIe switch; root: up to "
                     "the root and back, as access control services (ACS) redirect them"),
    SIM_ATTR("nic.host.peer-rate", RATE, nic_config_t, host.peer_bps,
             .auto_ok = true, .default_text = "auto", .min_text = "1Mbps", .max_text = "1000Tbps",
             .help = "rate at which the root of a socket forwards data between its NICs and GPUs; "
                     "auto: no limit"),
    SIM_ATTR("nic.host.location", STRING, nic_config_t, host.location,
             .default_text = "cpu:0",
             .help = "where memory lies that no program placed: cpu:N, the N-th socket, or cuda:N, "
                     "the N-th GPU"),
    SIM_ATTR("nic.host.iommu.use", ENUM, nic_config_t, host.iommu,
             .default_text = "expands", .choices = "off|expands|all",
             .help = "accesses to host memory that the IOMMU translates and checks; off: none; "
                     "expands: contexts that the tiered store fetches; all: payloads as well"),
    SIM_ATTR("nic.host.iommu.entries", COUNT, nic_config_t, host.iommu_entries,
             .default_text = "64", .min_text = "1", .max_text = "1048576",
             .help = "number of translations that the IOTLB holds"),
    SIM_ATTR("nic.host.iommu.ways", COUNT, nic_config_t, host.iommu_ways,
             .default_text = "64", .min_text = "1", .max_text = "1024",
             .help = "number of ways of a set of the IOTLB; with as many as entries, there is one set"),
    SIM_ATTR("nic.host.iommu.hit", TIME, nic_config_t, host.iommu_hit_ps,
             .default_text = "0ps", .min_text = "0ps", .max_text = "1us",
             .help = "time of a look-up in the IOTLB"),
    SIM_ATTR("nic.host.iommu.page", BYTES, nic_config_t, host.iommu_page_bytes,
             .default_text = "4KiB", .min_text = "4KiB", .max_text = "1GiB",
             .help = "size of the pages that the IOMMU maps: 4KiB, 2MiB or 1GiB; a walk reads 4, 3 or 2 levels"),
    SIM_ATTR("nic.host.iommu.read", TIME, nic_config_t, host.iommu_read_ps,
             .default_text = "82500ps", .min_text = "0ps", .max_text = "10us",
             .help = "time of a page walk's read of one level of the page table in memory"),
    SIM_ATTR("nic.host.iommu.walkers", COUNT, nic_config_t, host.iommu_walkers,
             .default_text = "5", .min_text = "1", .max_text = "1024",
             .help = "number of page walks at a time"),
    SIM_ATTR("nic.host.iommu.ats", COUNT, nic_config_t, host.ats_entries,
             .default_text = "0", .min_text = "0", .max_text = "1048576",
             .help = "number of translations that each NIC keeps itself (ATS); only those that it "
                     "lacks go to the IOMMU; 0: the IOMMU translates each access"),
    SIM_ATTR("nic.host.iommu.ats-request", TIME, nic_config_t, host.ats_request_ps,
             .default_text = "600ns", .min_text = "0ps", .max_text = "1ms",
             .help = "time of a NIC's translation request to the IOMMU and back over PCIe, without "
                     "the translation itself"),
    SIM_ATTR("nic.host.iommu.deny", STRING, nic_config_t, host.iommu_deny,
             .default_text = "none",
             .help = "memory that NICs may not touch, rounded to pages: none, or a list of "
                     "ADDRESS+BYTES such as 0x100000+64KiB, or of contexts of the host's first NIC: "
                     "qp:NUMBER, cq:, srq:, mr: (by key), pd:, mtt: (by line of 8 pages)"),
    NIC_CLOCK_MAP(CLOCK)
    SIM_ATTR("nic.model", NAME, nic_config_t, model,
             .default_text = "ideal",
             .help = "the device: ideal, whose inside takes no time; detailed, where what happens "
                     "in the NIC and its host takes time; or a program's own"),
    SIM_ATTR("nic.profile", ENUM, nic_config_t, profile,
             .default_text = "connect-ib", .choices = NIC_PROFILE_CHOICES,
             .help = "the card whose constants a detailed NIC has where nic.detailed does not say"),
    SIM_ATTR("nic.posting", ENUM, nic_config_t, posting,
             .default_text = "free", .choices = "free|gpu|proxy",
             .help = "processor that posts and polls for applications without own cores (flows, "
                     "collectives, workloads); free: it takes no time; gpu: threads of a GPU, with "
                     "WQEs and CQEs in its memory; proxy: a core that a GPU asks; gpu and proxy "
                     "need nic.model detailed"),
    SIM_ATTR("nic.detailed.replacement", ENUM, nic_config_t, replacement,
             .default_text = "lru", .choices = "lru|random",
             .help = "rule by which a cache of the detailed NIC evicts an entry of a set"),
    SIM_ATTR("nic.detailed.sram-shared", BOOL, nic_config_t, sram_shared,
             .default_text = "false",
             .help = "true: contexts, translations, WQEs and completion queues share one cache "
                     "with all entries; false: each kind has its own"),
    NIC_DETAIL_MAP(DETAIL)
    SIM_ATTR("nic.detailed.store", STRING, nic_config_t, store,
             .default_text = "auto",
             .help = "store of contexts and memory keys: flat, tiered, or a program's own; auto: "
                     "tiered if nic.cache.policy is not flat"),
    SIM_ATTR("nic.cache.policy", STRING, nic_config_t, cache.policy,
             .default_text = "flat",
             .help = "flat: the caches of an ordinary NIC; any other name: a tiered cache of "
                     "compressed tokens, whose L1 evicts by this policy: hybrid, lru, lfu, fifo, "
                     "sieve, random"),
    SIM_ATTR("nic.cache.compression", BOOL, nic_config_t, cache.compression,
             .default_text = "true",
             .help = "true: L1 and L2 hold compressed tokens; false: they hold whole contexts"),
    SIM_ATTR("nic.cache.write", ENUM, nic_config_t, cache.write,
             .default_text = "back", .choices = "back|through",
             .help = "when a change made in L1 reaches the host; back: when the token is evicted; "
                     "through: at once"),
    SIM_ATTR("nic.cache.waiting", ENUM, nic_config_t, cache.waiting,
             .default_text = "wait", .choices = "wait|optimistic",
             .help = "behaviour of an access to a token that is being moved; wait: wait for the "
                     "end of the move; optimistic: use the old copy and check it afterwards"),
    SIM_ATTR("nic.cache.l1.entries", COUNT, nic_config_t, cache.l1_entries,
             .default_text = "8192", .min_text = "1", .max_text = "16777216",
             .help = "number of L1 entries for queue pairs, 28 bytes each"),
    SIM_ATTR("nic.cache.l1.other-entries", COUNT, nic_config_t, cache.l1_other_entries,
             .default_text = "1024", .min_text = "3", .max_text = "16777216",
             .help = "number of L1 entries for protection domains, memory regions and completion "
                     "queues, 28 bytes each"),
    SIM_ATTR("nic.cache.other.policy", STRING, nic_config_t, cache.other_policy,
             .default_text = "lru",
             .help = "policy by which L1 evicts tokens of protection domains, memory regions and "
                     "completion queues: hybrid, lru, lfu, fifo, sieve, random"),
    SIM_ATTR("nic.cache.other.promote.l1", COUNT, nic_config_t, cache.other_promote_l1,
             .auto_ok = true, .default_text = "auto", .min_text = "1", .max_text = "4294967295",
             .help = "like promote.l1 (a number of uses), for protection domains, memory regions "
                     "and completion queues; auto: promote.l1"),
    SIM_ATTR("nic.cache.other.promote.l2", COUNT, nic_config_t, cache.other_promote_l2,
             .auto_ok = true, .default_text = "auto", .min_text = "1", .max_text = "4294967295",
             .help = "like promote.l2 (a number of uses), for protection domains, memory regions "
                     "and completion queues; auto: promote.l2"),
    SIM_ATTR("nic.cache.other.staging", COUNT, nic_config_t, cache.other_staging_entries,
             .default_text = "16", .min_text = "0", .max_text = "1048576",
             .help = "like l1.staging (a number of entries), for protection domains, memory "
                     "regions and completion queues"),
    SIM_ATTR("nic.cache.other.path", ENUM, nic_config_t, cache.other_path,
             .default_text = "direct", .choices = "direct|batch",
             .help = "like l2.path, for protection domains, memory regions and completion queues"),
    SIM_ATTR("nic.cache.l1.latency", TIME, nic_config_t, cache.l1_latency_ps,
             .default_text = "5ns", .min_text = "1ps", .max_text = "1ms",
             .help = "time of a lookup in L1"),
    SIM_ATTR("nic.cache.l1.cas", TIME, nic_config_t, cache.cas_ps,
             .default_text = "2ns", .min_text = "0ps", .max_text = "1ms",
             .help = "time of a compare-and-swap of an L1 entry's fields"),
    SIM_ATTR("nic.cache.l1.cas-retries", COUNT, nic_config_t, cache.cas_retries,
             .default_text = "3", .min_text = "0", .max_text = "1000",
             .help = "number of times that a failed compare-and-swap is tried again before the NIC "
                     "reads the token directory"),
    SIM_ATTR("nic.cache.l1.cas-fallback", ENUM, nic_config_t, cache.cas_fallback,
             .default_text = "lock", .choices = "lock|path",
             .help = "how an access goes on after cas-retries; lock: it takes the entry's lock; "
                     "path: the token leaves L1, and is fetched from L2 (alone or in a batch) or "
                     "from the host"),
    SIM_ATTR("nic.cache.l1.staging", COUNT, nic_config_t, cache.staging_entries,
             .default_text = "64", .min_text = "0", .max_text = "1048576",
             .help = "number of entries of the staging area beside L1, which holds copies of "
                     "tokens that are not promoted; for policies with thresholds"),
    SIM_ATTR("nic.cache.l1.staged", ENUM, nic_config_t, cache.staged,
             .default_text = "copies", .choices = "copies|tokens",
             .help = "contents of the staging area; copies: copies of tokens that stay in L2 or "
                     "with the host; tokens: the tokens themselves, which are in L1 for the "
                     "directory and go back when others need their places"),
    SIM_ATTR("nic.cache.l1.wqes", ENUM, nic_config_t, cache.wqes,
             .default_text = "apart", .choices = "apart|entries",
             .help = "where the NIC keeps WQEs; apart: in SRAM of their own "
                     "(nic.detailed.wqe.entries); entries: in L1, 3 entries each, beside the "
                     "tokens of queue pairs and evicted by the same policy, to L2"),
    SIM_ATTR("nic.cache.l1.doorbells", COUNT, nic_config_t, cache.doorbells,
             .default_text = "256", .min_text = "1", .max_text = "65536",
             .help = "number of Doorbells that L1 holds while the NIC reads their WQEs; a further "
                     "Doorbell waits until one is done"),
    SIM_ATTR("nic.cache.directory", ENUM, nic_config_t, cache.directory,
             .default_text = "auto", .choices = "auto|sram|cxl|host",
             .help = "where the NIC reads the token directory after a miss of L1; auto: in L2 "
                     "where there is one, else with the host"),
    SIM_ATTR("nic.cache.directory-load", RATIO, nic_config_t, cache.directory_load,
             .default_text = "0.5", .min_text = "0.01", .max_text = "1",
             .help = "used share of the token directory from which on its number of buckets "
                     "doubles; a fuller directory takes more reads for each look-up"),
    SIM_ATTR("nic.cache.handles", COUNT, nic_config_t, cache.handles,
             .default_text = "0", .min_text = "0", .max_text = "16777216",
             .help = "number of entries of an index on the NIC, by which it finds tokens in a "
                     "table by their 32-bit handles; the driver has the table and L2 a copy; 0: "
                     "the directory is found by type and key"),
    SIM_ATTR("nic.cache.l2.bytes", BYTES, nic_config_t, cache.l2_bytes,
             .default_text = "16MiB", .min_text = "0", .max_text = "1TiB",
             .help = "size of L2, in CXL memory, for tokens of queue pairs; 0: there is no L2"),
    SIM_ATTR("nic.cache.l2.other-bytes", BYTES, nic_config_t, cache.l2_other_bytes,
             .auto_ok = true, .default_text = "auto", .min_text = "0", .max_text = "1TiB",
             .help = "size of L2 for tokens of protection domains, memory regions and completion "
                     "queues; auto: a quarter of l2.bytes"),
    SIM_ATTR("nic.cache.l2.page-table", BYTES, nic_config_t, cache.l2_table_bytes,
             .default_text = "0", .min_text = "0", .max_text = "128GiB",
             .help = "size of L2 for page tables, kept in lines of 64 bytes with the translations "
                     "of 8 pages; a missing translation is read there first, else from the host, "
                     "and its line is kept; 0: always from the host"),
    SIM_ATTR("nic.cache.l2.slots", COUNT, nic_config_t, cache.l2_slots,
             .default_text = "16", .min_text = "1", .max_text = "16",
             .help = "number of tokens in one page of L2"),
    SIM_ATTR("nic.cache.l2.shared", BOOL, nic_config_t, cache.l2_shared,
             .default_text = "false",
             .help = "true: the NICs of a host share one L2, with its bytes and its rate; false: "
                     "each NIC has an L2 of its own"),
    SIM_ATTR("nic.cache.l2.reserve", RATIO, nic_config_t, cache.l2_reserve,
             .default_text = "0", .min_text = "0", .max_text = "1",
             .help = "share of a shared L2 (l2.shared) up to which the pages of a NIC are not "
                     "given to the host's other NICs"),
    SIM_ATTR("nic.cache.l2.latency", TIME, nic_config_t, cache.l2_latency_ps,
             .default_text = "250ns", .min_text = "0ps", .max_text = "1ms",
             .help = "latency of a load from idle CXL memory"),
    SIM_ATTR("nic.cache.l2.rate", RATE, nic_config_t, cache.l2_rate_bps,
             .default_text = "208Gbps", .min_text = "1Mbps", .max_text = "100000Gbps",
             .help = "rate of CXL memory in each direction, in lines of 64 bytes"),
    SIM_ATTR("nic.cache.l2.access", ENUM, nic_config_t, cache.l2_access,
             .default_text = "load", .choices = "load|dma",
             .help = "how the NIC accesses L2; load: by loads and stores; dma: by a light DMA "
                     "engine"),
    SIM_ATTR("nic.cache.l2.setup", TIME, nic_config_t, cache.l2_setup_ps,
             .default_text = "100ns", .min_text = "0ps", .max_text = "1ms",
             .help = "additional time of a DMA access to L2, compared with a load (l2.access: "
                     "dma)"),
    SIM_ATTR("nic.cache.l2.path", ENUM, nic_config_t, cache.l2_path,
             .default_text = "direct", .choices = "direct|batch",
             .help = "how a token in L2 is fetched; direct: alone; batch: together with other "
                     "misses, cluster by cluster"),
    SIM_ATTR("nic.cache.l2.pressure", RATIO, nic_config_t, cache.l2_pressure,
             .default_text = "0.9", .min_text = "0", .max_text = "1",
             .help = "used share of L2 from which on idle tokens are demoted to the host"),
    SIM_ATTR("nic.cache.expand.asynchronous", BOOL, nic_config_t, cache.expand_asynchronous,
             .default_text = "false",
             .help = "true: a work request that waits for its context delays its own queue pair "
                     "only; false: it delays the whole processing unit"),
    SIM_ATTR("nic.cache.expand.answer", ENUM, nic_config_t, cache.expand_answer,
             .default_text = "nic", .choices = "nic|cxl",
             .help = "how the driver answers a request for a context; nic: the NIC reads it from "
                     "host memory; cxl: the driver writes it into L2 and the NIC loads it"),
    SIM_ATTR("nic.cache.expand.on-nic", BOOL, nic_config_t, cache.decompress_on_nic,
             .default_text = "false",
             .help = "true: the NIC compresses contexts into tokens and back; false: the driver "
                     "does"),
    SIM_ATTR("nic.cache.expand.decompress", TIME, nic_config_t, cache.decompress_ps,
             .default_text = "20ns", .min_text = "0ps", .max_text = "1ms",
             .help = "time to compress a context into a token, or to expand it"),
    SIM_ATTR("nic.cache.driver.core", ENUM, nic_config_t, cache.driver_core,
             .default_text = "own", .choices = "own|shared",
             .help = "core on which the driver works; own: a core that does nothing else; "
                     "shared: it interrupts the first core of the host's program, which loses the "
                     "time"),
    SIM_ATTR("nic.cache.driver.work", TIME, nic_config_t, cache.driver_ps,
             .default_text = "300ns", .min_text = "0ps", .max_text = "1ms",
             .help = "work of the driver's core for one request of the NIC"),
    SIM_ATTR("nic.cache.driver.iommu", TIME, nic_config_t, cache.iommu_ps,
             .default_text = "250ns", .min_text = "0ps", .max_text = "1ms",
             .help = "time in which the driver maps the page of a context for the NIC "
                     "(nic.host.iommu)"),
    SIM_ATTR("nic.cache.promote.l1", COUNT, nic_config_t, cache.promote_l1,
             .default_text = "128", .min_text = "1", .max_text = "4294967295",
             .help = "number of uses within the window from which on a token belongs into L1; for "
                     "policies with thresholds"),
    SIM_ATTR("nic.cache.promote.l2", COUNT, nic_config_t, cache.promote_l2,
             .not_above = "nic.cache.promote.l1",
             .default_text = "16", .min_text = "1", .max_text = "4294967295",
             .help = "number of uses within the window from which on a token belongs into L2; for "
                     "policies with thresholds"),
    SIM_ATTR("nic.cache.demote.l1-idle", TIME, nic_config_t, cache.demote_l1_ps,
             .default_text = "1ms", .min_text = "0ps", .max_text = "1000s",
             .help = "idle time after which a token is demoted from L1"),
    SIM_ATTR("nic.cache.demote.l2-idle", TIME, nic_config_t, cache.demote_l2_ps,
             .default_text = "10ms", .min_text = "0ps", .max_text = "1000s",
             .help = "idle time after which a token is demoted from L2, if L2 is nearly full "
                     "(l2.pressure)"),
    SIM_ATTR("nic.cache.window", TIME, nic_config_t, cache.window_ps,
             .default_text = "10ms", .min_text = "4ps", .max_text = "1000s",
             .help = "length of the window in which uses of a token are counted for the "
                     "thresholds"),
    SIM_ATTR("nic.cache.sample-every", COUNT, nic_config_t, cache.sample_every,
             .default_text = "1", .min_text = "1", .max_text = "65536",
             .help = "number of accesses for each one that is counted and stands for all of them"),
    SIM_ATTR("nic.cache.aging", TIME, nic_config_t, cache.aging_ps,
             .default_text = "1ms", .min_text = "1ns", .max_text = "1000s",
             .help = "time between two halvings of the counts of uses in L1"),
    SIM_ATTR("nic.cache.alpha", RATIO, nic_config_t, cache.alpha,
             .default_text = "1", .min_text = "0", .max_text = "1000000",
             .help = "weight of recency (0 oldest, 1 newest) against one use in the scores of "
                     "policy hybrid"),
    SIM_ATTR("nic.cache.cluster", BYTES, nic_config_t, cache.cluster_bytes,
             .default_text = "64KiB", .min_text = "0", .max_text = "1GiB",
             .help = "largest part of host memory or L2 that one transfer of neighbouring tokens "
                     "covers"),
    SIM_ATTR("nic.cache.neighbours", COUNT, nic_config_t, cache.neighbours,
             .auto_ok = true, .default_text = "auto", .min_text = "0", .max_text = "1048576",
             .help = "largest number of tokens that move to L2 together with another one of their "
                     "cluster; auto: the whole cluster"),
    SIM_ATTR("nic.cache.move.batch", COUNT, nic_config_t, cache.move_batch,
             .default_text = "16", .min_text = "1", .max_text = "4096",
             .help = "largest number of tokens that one transfer promotes from L2 to L1, or "
                     "demotes because they are idle"),
    SIM_ATTR("nic.cache.move.work", TIME, nic_config_t, cache.move_work_ps,
             .default_text = "0ps", .min_text = "0ps", .max_text = "1s",
             .help = "time that each move takes besides its transfers, such as a copy by firmware"),
    SIM_ATTR("nic.cache.promote.along", RATIO, nic_config_t, cache.promote_along,
             .default_text = "0.5", .min_text = "0", .max_text = "1",
             .help = "share of promote.l1 from which on a token goes to L1 together with another "
                     "one of its page of L2"),
    SIM_ATTR("nic.cache.driver.prestage", COUNT, nic_config_t, cache.prestage,
             .default_text = "0", .min_text = "0", .max_text = "1000000",
             .help = "number of requests for contexts of one cluster within the window from which "
                     "on the driver stages the rest of the cluster in L2 by itself; 0: it never "
                     "does"),
    SIM_ATTR("nic.cache.maintenance.interval", TIME, nic_config_t, cache.maintenance_ps,
             .default_text = "100us", .min_text = "1ns", .max_text = "1000s",
             .help = "time between two runs of the maintenance worker, which demotes idle tokens"),
    SIM_ATTR("nic.cache.maintenance.tokens", COUNT, nic_config_t, cache.maintenance_tokens,
             .default_text = "64", .min_text = "0", .max_text = "16777216",
             .help = "number of tokens that the maintenance worker examines per run"),
    SIM_ATTR("nic.cache.batch.threshold", COUNT, nic_config_t, cache.batch_threshold,
             .default_text = "32", .min_text = "1", .max_text = "65536",
             .help = "number of queued misses at which the batch worker starts"),
    SIM_ATTR("nic.cache.batch.max", COUNT, nic_config_t, cache.batch_max,
             .default_text = "256", .min_text = "1", .max_text = "65536",
             .help = "largest number of misses that the batch worker takes at once"),
    SIM_ATTR("nic.cache.batch.wait", TIME, nic_config_t, cache.batch_wait_ps,
             .default_text = "1us", .min_text = "0ps", .max_text = "1s",
             .help = "longest time that a queued miss waits before the batch worker starts"),
    SIM_ATTR("nic.cache.batch.backlog", TIME, nic_config_t, cache.backlog_ps,
             .default_text = "2us", .min_text = "0ps", .max_text = "1s",
             .help = "waiting time for the link of L2 from which on the link counts as saturated"),
    SIM_ATTR("nic.cache.batch.saturated", ENUM, nic_config_t, cache.saturated,
             .default_text = "delay", .choices = "delay|drop",
             .help = "treatment of neighbours (cluster) while the link of L2 is saturated; delay: "
                     "they wait; drop: they are not prefetched"),
    SIM_ATTR("nic.cache.adaptive.on", BOOL, nic_config_t, cache.adaptive,
             .default_text = "false",
             .help = "true: the promotion thresholds are adapted to the load"),
    SIM_ATTR("nic.cache.adaptive.rule", ENUM, nic_config_t, cache.adaptive_rule,
             .default_text = "document", .choices = "document|shadow",
             .help = "how policy hybrid adapts; document: thresholds rise while links are full and "
                     "fall while the driver is busy; shadow: miniature caches try four ways on a "
                     "sample of the tokens, and L1 follows the one that costs least"),
    SIM_ATTR("nic.cache.adaptive.interval", TIME, nic_config_t, cache.adaptive_interval_ps,
             .default_text = "100us", .min_text = "1ns", .max_text = "1000s",
             .help = "time between two adaptations of the promotion thresholds"),
    SIM_ATTR("nic.cache.adaptive.saturation", RATIO, nic_config_t, cache.saturation,
             .default_text = "0.8", .min_text = "0", .max_text = "1",
             .help = "busy share of PCIe or L2 from which on thresholds rise, if the hit ratio is "
                     "below adaptive.hits"),
    SIM_ATTR("nic.cache.adaptive.hits", RATIO, nic_config_t, cache.adaptive_hits,
             .default_text = "0.5", .min_text = "0", .max_text = "1",
             .help = "hit ratio of L1 or L2 below which thresholds are adapted"),
    SIM_ATTR("nic.cache.adaptive.cpu", RATIO, nic_config_t, cache.adaptive_cpu,
             .default_text = "0.5", .min_text = "0", .max_text = "1",
             .help = "busy share of the driver's core from which on thresholds fall, if the hit "
                     "ratio of L1 is below adaptive.hits"),
    SIM_ATTR("nic.cache.pinned", COUNT, nic_config_t, cache.pinned,
             .default_text = "0", .min_text = "0", .max_text = "16777216",
             .help = "number of queue pairs, the first ones created, whose tokens always stay in "
                     "L1"),
    SIM_ATTR("nic.cache.reset-at", TIME, nic_config_t, cache.reset_ps,
             .default_text = "never", .min_text = "0ps",
             .help = "time at which the NIC is reset: it loses what it holds, and changes that "
                     "nobody else has are lost"),
    SIM_ATTR("nic.cache.record", BOOL, nic_config_t, cache.record,
             .default_text = "false",
             .help = "true: records all accesses and reports the hits of Belady's optimal policy "
                     "for comparison"),
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
