// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/balance.c - the load balancer "hpcc": murmur3 of addresses and ports, modulo the
// number of paths. Addresses are those of the HPCC simulator, and the seed is the switch's number.
// Page: docs/models/hpcc-compat.md.
//
// A packet's flow_hash holds its source port in the low half and its flow's own destination port in
// the high half (0: the flow has none).
#include "compat/hpcc/hpcc_internal.h"
#include "net/nodes.h"
#include "net/switch_model.h"

typedef struct state {
    uint32_t port;         // destination port of flows that have none of their own
    const uint32_t *words; // scrambled() addresses by interface
} state_t;

static inline uint32_t rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

// Returns a word as MurmurHash3_x86_32 (A. Appleby, public domain) scrambles it before mixing it
// in. For addresses this is computed once, before the run.
static inline uint32_t scrambled(uint32_t word)
{
    return rotate(word * 0xcc9e2d51u, 15) * 0x1b873593u;
}

// Returns the hash of three scrambled words.
static inline uint32_t murmur3(uint32_t seed, uint32_t first, uint32_t second, uint32_t third)
{
    uint32_t hash = rotate(seed ^ first, 13) * 5 + 0xe6546b64u;
    hash = rotate(hash ^ second, 13) * 5 + 0xe6546b64u;
    hash = rotate(hash ^ third, 13) * 5 + 0xe6546b64u;
    hash ^= 12; // bytes
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

static inline uint32_t murmur3_of(const net_switch_t *sw, uint32_t source, uint32_t destination,
                                  uint32_t ports)
{
    const state_t *const state = sw->balance_state;
    return murmur3(sw->ecmp_seed, state->words[source], state->words[destination],
                   scrambled(ports));
}

// Returns source port and destination port in one word; the latter is the network's by default.
static inline uint32_t ports_of(uint32_t flow_hash, uint32_t network_port)
{
    return flow_hash >> 16 != 0 ? flow_hash : flow_hash | network_port << 16;
}

// Returns the ports of a packet that travels against its flow.
static inline uint32_t other_way(uint32_t ports)
{
    return ports >> 16 | ports << 16;
}

static uint32_t flow_hash(uint32_t source, uint32_t destination, uint16_t source_port,
                          uint16_t hashed_port)
{
    (void)source;
    (void)destination;
    return source_port | (uint32_t)hashed_port << 16;
}

static uint32_t answer_hash(const net_t *net, uint32_t flow_hash_)
{
    return other_way(ports_of(flow_hash_, (uint32_t)compat__hpcc_of(net)->config.ecmp_port));
}

static uint32_t path(const net_switch_t *sw, uint32_t source, uint32_t destination,
                     uint32_t flow_hash_, uint32_t count)
{
    const state_t *const state = sw->balance_state;
    return murmur3_of(sw, source, destination, ports_of(flow_hash_, state->port)) % count;
}

uint32_t compat__hpcc_hash(const net_switch_t *sw, const net_packet_t *packet)
{
    const state_t *const state = sw->balance_state;
    const uint32_t ports = ports_of(packet->flow_hash, state->port);
    return murmur3_of(sw, packet->source, packet->destination,
                      compat__is_answer(packet) ? other_way(ports) : ports);
}

static uint32_t choose(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                       uint32_t count)
{
    if (count == 1) {
        return ports[0];
    }
    const uint32_t hash = compat__hpcc_hash(sw, packet);
    // A division would take as long as the hash.
    const uint32_t port = ports[(count & (count - 1)) == 0 ? hash & (count - 1) : hash % count];
    return sw->node.ports[port].down ? net_switch_choose_live(sw, ports, count, hash) : port;
}

// Returns the hashed address of each interface. The HPCC simulator gives node i, of at most 65536,
// the address 11.(i / 256).(i % 256).1.
static const uint32_t *address_words(compat_hpcc_t *rules)
{
    if (rules->address_words == NULL) {
        const uint32_t count = (uint32_t)net_interface_count(rules->net);
        rules->address_words = sim_alloc_array(count + 1, sizeof(uint32_t));
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t index = net_interface_node(rules->net, i)->sim.index;
            rules->address_words[i] =
                scrambled(0x0b000001u + (index >> 8 << 16) + ((index & 0xff) << 8));
        }
    }
    return rules->address_words;
}

static void built(net_switch_t *sw)
{
    compat_hpcc_t *const rules = compat__hpcc_of(sw->node.net);
    state_t *const state = sw->balance_state;
    state->port = (uint32_t)rules->config.ecmp_port;
    state->words = address_words(rules);
    const uint64_t seed = sw->config.ecmp_seed;
    sw->ecmp_seed = seed == SIM_AUTO ? sw->node.sim.index : (uint32_t)seed;
}

const net_balance_ops_t compat__hpcc_balance = {
    .name = "hpcc",
    .state_bytes = sizeof(state_t),
    .built = built,
    .flow_hash = flow_hash,
    .answer_hash = answer_hash,
    .choose = choose,
    .path = path,
};
