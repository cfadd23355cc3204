// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/balance.c - the load balancer "hpcc": murmur3 of addresses and ports as that
// simulator numbers them, seeded with the number of the switch, modulo the paths. Page:
// docs/models/hpcc-compat.md.
//
// A packet's flow_hash is its source port, and above it the destination port that its flow has.
#include "compat/hpcc/hpcc_internal.h"

typedef struct state {
    uint32_t port;         // destination port of flows without one of their own
    const uint32_t *words; // of the addresses, by interface, as scrambled() makes them
} state_t;

static inline uint32_t rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

// What MurmurHash3_x86_32 (A. Appleby, public domain) makes of a word before it is mixed in: of
// addresses that is known before the run.
static inline uint32_t scrambled(uint32_t word)
{
    return rotate(word * 0xcc9e2d51u, 15) * 0x1b873593u;
}

// The hash of three words.
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

static inline uint32_t murmur3_of(const net_switch_t *sw,
                                  uint32_t source,
                                  uint32_t destination,
                                  uint32_t ports)
{
    const state_t *const state = sw->balance_state;
    return murmur3(sw->ecmp_seed,
                   state->words[source],
                   state->words[destination],
                   scrambled(ports));
}

// Source port, and above it the destination port: the flow's own, else the network's.
static inline uint32_t ports_of(uint32_t flow_hash, uint32_t network_port)
{
    return flow_hash >> 16 != 0 ? flow_hash : flow_hash | network_port << 16;
}

// Of what goes against its flow.
static inline uint32_t other_way(uint32_t ports)
{
    return ports >> 16 | ports << 16;
}

static uint32_t flow_hash(uint32_t source,
                          uint32_t destination,
                          uint16_t source_port,
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

static uint32_t path(const net_switch_t *sw,
                     uint32_t source,
                     uint32_t destination,
                     uint32_t flow_hash_,
                     uint32_t count)
{
    const state_t *const state = sw->balance_state;
    return murmur3_of(sw, source, destination, ports_of(flow_hash_, state->port)) % count;
}

uint32_t compat__hpcc_hash(const net_switch_t *sw, const net_packet_t *packet)
{
    const state_t *const state = sw->balance_state;
    const uint32_t ports = ports_of(packet->flow_hash, state->port);
    return murmur3_of(sw,
                      packet->source,
                      packet->destination,
                      compat__is_answer(packet) ? other_way(ports) : ports);
}

static uint32_t choose(net_switch_t *sw,
                       const net_packet_t *packet,
                       const uint32_t *ports,
                       uint32_t count)
{
    if (count == 1) {
        return ports[0];
    }
    const uint32_t hash = compat__hpcc_hash(sw, packet);
    // A division takes as long as the hash.
    const uint32_t port = ports[(count & (count - 1)) == 0 ? hash & (count - 1) : hash % count];
    return sw->node.ports[port].down ? net_switch_choose_live(sw, ports, count, hash) : port;
}

// That simulator gives node i, of 65536 at most, the address 11.(i / 256).(i % 256).1.
static const uint32_t *address_words(compat_hpcc_t *rules)
{
    if (rules->address_words == NULL) {
        const uint32_t count = (uint32_t)net_interface_count(rules->net);
        rules->address_words = sim_alloc_array(count + 1, sizeof(uint32_t));
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t index = net_interface_port(rules->net, i)->node->sim.index;
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
