// SPDX-License-Identifier: Apache-2.0
// nic/config/attributes.c - attributes of a host's NICs, and the rules between them.
#include <stdio.h>
#include <string.h>

#include "kernel/attribute.h"
#include "nic/config/parts.h"
#include "nic/extra.h"
#include "nic/host/layout.h"
#include "nic/transport.h"

// clang-format off
#define ATTR(path_, type_, field, default_, min_, max_, help_)                                \
    {.path = "nic." path_, .type = SIM_ATTR_##type_, .offset = offsetof(nic_config_t, field), \
     .default_text = default_, .min_text = min_, .max_text = max_, .help = help_}
#define DETAIL(field, path_, ...) PROFILED(field, "nic.detailed." path_, __VA_ARGS__)
#define CLOCK(field, path_, ...) PROFILED(field, "nic.host." path_, __VA_ARGS__)
#define PROFILED(field, path_, type_, min_, max_, cx_, cx3_, cib_, cx6_, cx5_, origin_, help_)      \
    {.path = path_, .type = SIM_ATTR_##type_,                                 \
     .offset = offsetof(nic_config_t, detail.field), .default_text = "auto",                  \
     .min_text = min_, .max_text = max_, .help = help_ "; auto: the value of nic.profile", .auto_ok = true},
#define ATTR_AUTO(path_, type_, field, default_, min_, max_, help_)                           \
    {.path = "nic." path_, .type = SIM_ATTR_##type_, .offset = offsetof(nic_config_t, field), \
     .default_text = default_, .min_text = min_, .max_text = max_, .help = help_,             \
     .auto_ok = true}

#define CACHE(path_, type_, field, default_, min_, max_, help_)                                   \
    {.path = "nic.cache." path_, .type = SIM_ATTR_##type_,                                        \
     .offset = offsetof(nic_config_t, cache.field), .default_text = default_, .min_text = min_,   \
     .max_text = max_, .help = help_},
#define CACHE_CHOICE(path_, field, default_, choices_, help_)                                     \
    {.path = "nic.cache." path_, .type = SIM_ATTR_ENUM,                                           \
     .offset = offsetof(nic_config_t, cache.field), .default_text = default_,                     \
     .choices = choices_, .help = help_},
#define CACHE_AUTO(path_, type_, field, min_, max_, help_)                                        \
    {.path = "nic.cache." path_, .type = SIM_ATTR_##type_,                                        \
     .offset = offsetof(nic_config_t, cache.field), .default_text = "auto", .min_text = min_,     \
     .max_text = max_, .help = help_, .auto_ok = true},

static const sim_attr_t attrs[] = {
    ATTR("mtu", BYTES, mtu_bytes, "4096", "256", "4096",
         "path MTU: payload of a full packet; 256, 512, 1024, 2048 or 4096; any with nic.frames bare"),
    ATTR("congestion-control", STRING, congestion_control, "dcqcn", NULL, NULL,
         "algorithm that sets each queue pair's rate and window"),
    ATTR("priority", COUNT, priority, "3", "0", "7",
         "802.1p class of data packets"),
    ATTR_AUTO("dscp", COUNT, dscp, "auto", "0", "63",
              "DSCP of data packets; auto: priority x 8"),
    ATTR("cnp-priority", COUNT, cnp_priority, "6", "0", "7",
         "802.1p class of CNPs, sent before all others"),
    ATTR_AUTO("cnp-dscp", COUNT, cnp_dscp, "auto", "0", "63",
              "DSCP of CNPs; auto: cnp-priority x 8"),
    ATTR_AUTO("ack-priority", COUNT, ack_priority, "auto", "0", "7",
              "802.1p class of ACKs and NAKs; auto: that of the data"),
    ATTR("cnp-interval", TIME, cnp_interval_ps, "4us", "0ps", "1s",
         "least time between two CNPs for one flow (min_time_between_cnps)"),
    {.path = "nic.cnp-scope", .type = SIM_ATTR_ENUM, .offset = offsetof(nic_config_t, cnp_scope),
     .default_text = "qp", .choices = "qp|destination|port",
     .help = "flow for which cnp-interval holds: one queue pair, one destination, or all flows of the port"},
    ATTR("ecn", BOOL, ecn_capable, "true", NULL, NULL,
         "whether data packets are ECT(0), so that switches may mark them"),
    ATTR("ack-interval", COUNT, ack_interval, "1", "1", "256",
         "packets per requested ACK within a message; its last packet always requests one"),
    ATTR("ack-from", BYTES, ack_from_bytes, "0", NULL, NULL,
         "with one ACK per packet: first position in a message from which each packet is acknowledged"),
    ATTR("ack-chunk", BYTES, ack_chunk_bytes, "0", NULL, NULL,
         "before ack-from, only packets that end at a multiple of this are acknowledged; 0: none"),
    ATTR_AUTO("window", BYTES, window_bytes, "auto", "1", NULL,
              "largest unacknowledged payload of a queue pair; auto: no limit"),
    ATTR_AUTO("bdp", BYTES, bdp_bytes, "auto", "0", NULL,
              "bandwidth-delay product for windows and HPCC; auto: base RTT x line rate; 0: none, which HPCC divides by"),
    {.path = "nic.bdp-window", .type = SIM_ATTR_ENUM, .offset = offsetof(nic_config_t, bdp_window),
     .default_text = "none", .choices = "none|fixed|scaled",
     .help = "a window of base RTT x line rate (fixed) or x current rate (scaled), with any algorithm"},
    ATTR("transport", STRING, transport, "go-back-n", NULL, NULL,
         "transport by which reliable connections repair losses; it must be equal at both ends"),
    {.path = "nic.retransmission", .type = SIM_ATTR_ENUM,
     .offset = offsetof(nic_config_t, retransmission),
     .default_text = "go-back-n", .choices = "go-back-n|go-back-0",
     .help = "place from which go-back-n sends again: the missing packet, or the start of its message (or chunk)"},
    ATTR("retransmission-chunk", BYTES, chunk_bytes, "0", NULL, "2147483648",
         "go-back-0 goes back to a multiple of it in the message, rounded down to packets; 0: to the start"),
    ATTR("timeout", COUNT, timeout, "14", "0", "31",
         "retransmission timeout is 4.096 us x 2^this; 0: never"),
    ATTR("retry-count", COUNT, retry_count, "7", "0", "7",
         "retransmissions without progress before a request fails"),
    ATTR("rnr-retry", COUNT, rnr_retry, "7", "0", "7",
         "retries after receiver-not-ready before a request fails; 7: no limit"),
    ATTR("min-rnr-timer", COUNT, min_rnr_timer, "12", "0", "31",
         "code of the wait that a receiver without a posted receive asks for; 12: 0.64 ms"),
    ATTR("max-rd-atomic", COUNT, max_rd_atomic, "16", "1", "128",
         "largest number of outstanding READs of a queue pair, in each role"),
    ATTR("nak-ends", BOOL, nak_ends, "off", NULL, NULL,
         "whether the last packet of a message behind a gap causes a NAK, even within nak-interval"),
    ATTR("nak-once", BOOL, nak_once, "off", NULL, NULL,
         "whether several NAKs of one packet within a round trip of the idle path make the sender go back only once"),
    ATTR("recovery-delay", TIME, recovery_delay_ps, "0ps", "0ps", "1s",
         "time from a sequence NAK until the sender goes back: cards need far more than a round trip"),
    ATTR("nak-interval", TIME, nak_interval_ps, "0ps", "0ps", "1s",
         "least time between two sequence NAKs for one gap; 0: one NAK per gap"),
    ATTR("scheduler", STRING, scheduler, "ring", NULL, NULL,
         "rule for the next queue pair of a class: ring takes those that can send in turn; scan takes the first in a "
         "list of all, as the HPCC simulator does; or a program's own"),
    ATTR("window-overshoot", BOOL, window_overshoot, "false", NULL, NULL,
         "whether a packet may start while less than the window is in flight, even if it does not fit"),
    ATTR("ack-duplicates", BOOL, ack_duplicates, "true", NULL, NULL,
         "whether a duplicate request is acknowledged again"),
    ATTR("frames", STRING, frames, "standard", NULL, NULL,
         "length of frames on links: standard, that of their headers; infiniband, that of InfiniBand frames; bare, one header of fixed size and the "
         "payload, of any path MTU; or a program's own"),
    ATTR_AUTO("base-rtt", TIME, base_rtt_ps, "auto", "1ps", "10s",
              "round-trip time without queueing, for congestion control; auto: that of each queue pair's path"),
    {.path = "nic.path-rtt", .type = SIM_ATTR_NAME, .offset = offsetof(nic_config_t, path_rtt),
     .default_text = "frames",
     .help = "round trip of an idle path if base-rtt is auto: frames: that of a full packet and its ACK; hpcc: delays and "
             "the payload, one way, and the slowest link's rate; or a program's own"},
    ATTR("host.sockets", COUNT, host.sockets, "1", "1", "8", "number of sockets of a host, each with memory"),
    ATTR_AUTO("host.memory-bandwidth", RATE, host.memory_bps, "auto", "1Mbps", NULL,
              "rate of a socket's memory, reads and writes together; auto: no limit"),
    ATTR_AUTO("host.socket-link", RATE, host.socket_link_bps, "auto", "1Mbps", NULL,
              "rate of the link between two sockets, in each direction; auto: no limit"),
    ATTR("host.socket-link-latency", TIME, host.socket_link_ps, "0ps", "0ps", "1ms",
         "additional time for a payload in another socket's memory, with the detailed NIC"),
    ATTR("host.nics-per-switch", COUNT, host.nics_per_switch, "0", "0", "64",
         "NICs behind one PCIe switch; 0: each NIC has its own root port"),
    ATTR("host.nic-places", STRING, host.nic_places, "even", NULL, NULL,
         "where each NIC is, in order of the host's links: a list of cpu:N, a root port of that socket, and switch:N, "
         "behind that PCIe switch, with lanes of its own after it (switch:0/x8); even: as nics-per-switch says, spread "
         "over sockets"),
    ATTR("host.switch-places", STRING, host.switch_places, "even", NULL, NULL,
         "the socket of each PCIe switch, a list of cpu:N; even: spread over sockets"),
    ATTR("host.gpu-places", STRING, host.gpu_places, "even", NULL, NULL,
         "where each GPU is, a list of cpu:N and switch:N; even: spread over switches, or sockets where there are none"),
    ATTR_AUTO("host.switch-uplink", RATE, host.uplink_bps, "auto", "1Mbps", NULL,
              "rate of the link from a PCIe switch to its socket, in each direction; auto: no limit"),
    ATTR_AUTO("host.nic-link", RATE, host.nic_bps, "auto", "1Mbps", NULL,
              "rate of a NIC's own PCIe link, in each direction, besides nic.detailed.pcie; auto: no limit"),
    ATTR("host.gpus", COUNT, host.gpus, "0", "0", "64", "number of GPUs of a host, whose memory the NICs reach directly"),
    ATTR_AUTO("host.gpu-link", RATE, host.gpu_bps, "auto", "1Mbps", NULL,
              "rate of a GPU's PCIe link, in each direction; auto: no limit"),
    ATTR("host.location", STRING, host.location, "cpu:0", NULL, NULL,
         "where memory lies that no program placed: cpu:N, the N-th socket, or cuda:N, the N-th GPU"),
    NIC_CLOCK_MAP(CLOCK)
    {.path = "nic.model", .type = SIM_ATTR_NAME, .offset = offsetof(nic_config_t, model),
     .default_text = "ideal",
     .help = "the device: ideal, whose inside takes no time; detailed, where what happens in the NIC and its host "
             "takes time; or a program's own"},
    {.path = "nic.profile", .type = SIM_ATTR_ENUM, .offset = offsetof(nic_config_t, profile),
     .default_text = "connect-ib", .choices = NIC_PROFILE_CHOICES,
     .help = "the card whose constants a detailed NIC has where nic.detailed does not say"},
    {.path = "nic.detailed.replacement", .type = SIM_ATTR_ENUM,
     .offset = offsetof(nic_config_t, replacement), .default_text = "lru", .choices = "lru|random",
     .help = "rule by which a cache of the detailed NIC evicts an entry of a set"},
    {.path = "nic.detailed.sram-shared", .type = SIM_ATTR_BOOL,
     .offset = offsetof(nic_config_t, sram_shared), .default_text = "false",
     .help = "contexts, translations, WQEs and completion queues compete for one cache of all entries"},
    NIC_DETAIL_MAP(DETAIL)
    {.path = "nic.detailed.store", .type = SIM_ATTR_STRING, .offset = offsetof(nic_config_t, store),
     .default_text = "auto",
     .help = "store of contexts and memory keys: flat, tiered, or a program's own; auto: tiered if nic.cache.policy is not flat"},
    NIC_CACHE_MAP(CACHE, CACHE_CHOICE, CACHE_AUTO)
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
    return sim_attrs_equal(&nic_config_attrs,
                           a,
                           b,
                           offsetof(nic_config_t, parts),
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
    return nic__location_of(config, config->location, &location, message);
}

sim_err_t nic_config_check(const nic_config_t *config, sim_message_t *message)
{
    const sim_err_t unknown = nic__check_parts(config, message);
    if (unknown != SIM_OK) {
        return unknown;
    }
    const void *part;
    const bool any_mtu = nic__config_frames(config, &part)->any_mtu;
    if (config->mtu_bytes < 256 || config->mtu_bytes > 4096 ||
        ((config->mtu_bytes & (config->mtu_bytes - 1)) != 0 && !any_mtu)) {
        return sim_fail_about(message,
                              SIM_ERR_RANGE,
                              "nic.mtu",
                              ": %" PRIu64 " bytes, expected 256, 512, 1024, 2048 or 4096",
                              config->mtu_bytes);
    }
    const sim_err_t nowhere = check_host(&config->host, message);
    if (nowhere != SIM_OK) {
        return nowhere;
    }
    nic_detail_t detail;
    nic_detail_resolve(config, &detail);
    const sim_err_t error = nic_detail_check(&detail, message);
    if (error != SIM_OK) {
        return error;
    }
    return nic_cache_check(&config->cache, message);
}
