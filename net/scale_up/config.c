// SPDX-License-Identifier: Apache-2.0
// net/scale_up/config.c - the attributes of scale-up networks, and the sizes of their protocols.
// docs/models/scale-up.md has the sources.
#include "net/scale_up.h"

#include <inttypes.h>

// The rules by which a protocol packs messages.
typedef struct protocol {
    uint64_t rate_bps;     // of an accelerator in one direction
    uint64_t switches;     // that an accelerator is linked to
    uint32_t packet_bytes; // payload of a packet
    uint32_t packet_max;   // the largest payload that the protocol has
    uint32_t header_bytes; // of each packet on the link
    uint32_t grain_bytes;  // in which payload is sent
    sim_ratio_t framing;   // bytes on the link for a byte of packets
    bool packs;            // messages that wait for one destination share packets
} protocol_t;

static const protocol_t protocols[NET_SCALE_UP_PROTOCOLS] = {
    [NET_SCALE_UP_NVLINK] = {.rate_bps = UINT64_C(3600000000000),
                             .switches = 18,
                             .packet_bytes = 128,
                             .packet_max = 256,
                             .header_bytes = 32,
                             .grain_bytes = 16,
                             .framing = {1, 1}},
    [NET_SCALE_UP_UALINK] = {.rate_bps = UINT64_C(3200000000000),
                             .switches = 4,
                             .packet_bytes = 256,
                             .packet_max = 256,
                             .header_bytes = 14,
                             .grain_bytes = 32,
                             .framing = {640, 628}},
    [NET_SCALE_UP_SUE] = {.rate_bps = UINT64_C(6400000000000),
                          .switches = 8,
                          .packet_bytes = 256,
                          .packet_max = 4096,
                          .header_bytes = 44,
                          .grain_bytes = 1,
                          .framing = {1, 1},
                          .packs = true},
};

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(net_scale_up_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(ENUM, "scale-up.model", model, "formula", "formula|packets", "how messages between accelerators of one host take their time; formula: senders' links alone, shared equally; packets: accelerators and their switches are nodes of the network"),
    ATTR(ENUM, "scale-up.protocol", protocol, "nvlink", "nvlink|ualink|sue", "protocol between accelerators, which decides headers, flits, and the defaults of rates"),
    ATTR(COUNT, "scale-up.accelerators", accelerators, "auto", "1", "4096", "number of accelerators of each host; auto: one for each of its NICs", .auto_ok = true),
    ATTR(COUNT, "scale-up.switches", switches, "auto", "1", "64", "number of scale-up switches of each host, each linked to all its accelerators; auto: 18 for nvlink, 4 for ualink, 8 for sue", .auto_ok = true),
    ATTR(RATE, "scale-up.rate", rate_bps, "auto", "1Mbps", "1000Tbps", "rate of an accelerator's links to all scale-up switches together, in one direction; auto: 3600Gbps for nvlink (H100), 3200Gbps for ualink, 6400Gbps for sue", .auto_ok = true),
    ATTR(TIME, "scale-up.delay", delay_ps, "200ns", "1ps", "1s", "time of a hop between accelerators without that of its bytes: a link, and the way through the switch or accelerator behind it"),
    ATTR(TIME, "scale-up.memory-delay", memory_ps, "300ns", "1ps", "1s", "time between a program and the scale-up links of its accelerator, in each direction"),
    ATTR(BYTES, "scale-up.packet", packet_bytes, "auto", "16", "4096", "payload of a packet between accelerators; auto: 128 for nvlink, the most that a store of a GPU's threads has (copy engines: 256); 256 for ualink, the largest request, and for sue", .auto_ok = true),
    ATTR(BYTES, "scale-up.train", train_bytes, "auto", "16", "32KiB", "payload of consecutive packets of one message that are simulated as one; auto: 4 KiB, or less where credits are few", .auto_ok = true),
    ATTR(BYTES, "scale-up.credits", credit_bytes, "64KiB", "64", "1GiB", "room for packets of each virtual channel behind each scale-up link, for which the sender has credits"),
    ATTR(RATIO, "scale-up.error-rate", error_rate, "0", "0", "0.5", "share of packets between accelerators that a link damages, and sends again with all that followed them"),
    ATTR(TIME, "scale-up.retry-delay", retry_ps, "auto", "0s", "1s", "time from the end of a damaged packet to its repetition by the link; auto: twice scale-up.delay", .auto_ok = true),
    ATTR(BYTES, "scale-up.loads", loads_bytes, "1MiB", "256", "1GiB", "maximum number of bytes of loads for which an accelerator waits at one time"),
    ATTR(RATE, "scale-up.reduce-rate", reduce_bps, "auto", "1Mbps", "1000Tbps", "rate at which the unit of a scale-up switch takes data that it adds up; auto: the rate of all its links", .auto_ok = true),
};
// clang-format on

const sim_attr_table_t net_scale_up_attrs =
    SIM_ATTR_TABLE("scale-up", "simulation", net_scale_up_config_t, attrs);

static const protocol_t *protocol_of(const net_scale_up_config_t *config)
{
    return &protocols[config->protocol];
}

uint64_t net_scale_up_packet_bytes(const net_scale_up_config_t *config)
{
    return config->packet_bytes == SIM_AUTO ? protocol_of(config)->packet_bytes
                                            : config->packet_bytes;
}

uint64_t net_scale_up_wire_bytes(const net_scale_up_config_t *config, uint64_t bytes)
{
    const protocol_t *const protocol = protocol_of(config);
    const uint64_t packet_bytes = net_scale_up_packet_bytes(config);
    const uint64_t full = bytes / packet_bytes;
    const uint64_t rest = bytes % packet_bytes;
    const uint64_t grain = protocol->grain_bytes;
    const uint64_t packets = full + (rest != 0 || bytes == 0);
    const uint64_t sum = packets * protocol->header_bytes +
                         full * ((packet_bytes + grain - 1) / grain * grain) +
                         (rest + grain - 1) / grain * grain;
    return (sum * protocol->framing.num + protocol->framing.den - 1) / protocol->framing.den;
}

uint64_t net_scale_up_switches(const net_scale_up_config_t *config)
{
    return config->switches == SIM_AUTO ? protocol_of(config)->switches : config->switches;
}

uint64_t net_scale_up_rate_bps(const net_scale_up_config_t *config)
{
    return config->rate_bps == SIM_AUTO ? protocol_of(config)->rate_bps : config->rate_bps;
}

bool net_scale_up_packs(const net_scale_up_config_t *config)
{
    return protocol_of(config)->packs;
}

uint64_t net_scale_up_train_bytes(const net_scale_up_config_t *config)
{
    if (config->train_bytes != SIM_AUTO) {
        return config->train_bytes;
    }
    const uint64_t packet_bytes = net_scale_up_packet_bytes(config);
    const uint64_t fit = config->credit_bytes / 4 / net_scale_up_wire_bytes(config, packet_bytes);
    const uint64_t most = SIM_MAX(4096 / packet_bytes, 1);
    return packet_bytes * SIM_MAX(SIM_MIN(fit, most), 1);
}

sim_time_t net_scale_up_latency_ps(const net_scale_up_config_t *config)
{
    return 2 * (config->delay_ps + config->memory_ps);
}

sim_err_t net_scale_up_check(const net_scale_up_config_t *config, sim_message_t *message)
{
    const uint64_t train_bytes = net_scale_up_wire_bytes(config, net_scale_up_train_bytes(config));
    const uint64_t packet_max = protocol_of(config)->packet_max;
    if (net_scale_up_packet_bytes(config) > packet_max) {
        return sim_fail_about(message, SIM_ERR_RANGE, "packet",
                              " is %" PRIu64 " bytes: expected %" PRIu64
                              " or fewer with this scale-up.protocol",
                              config->packet_bytes, packet_max);
    }
    if (config->credit_bytes < 2 * train_bytes) {
        return sim_fail_about(message, SIM_ERR_RANGE, "credits",
                              " is %" PRIu64 " bytes: expected room for two trains, %" PRIu64
                              " bytes, or a shorter scale-up.train",
                              config->credit_bytes, 2 * train_bytes);
    }
    if (net_scale_up_rate_bps(config) / net_scale_up_switches(config) == 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "rate",
                              ": each of %" PRIu64 " links has less than 1 bit/s",
                              net_scale_up_switches(config));
    }
    return SIM_OK;
}
