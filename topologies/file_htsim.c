// SPDX-License-Identifier: Apache-2.0
// topologies/file_htsim.c - reads htsim's .topo files, which describe fat-trees.
//
//     Nodes 432
//     Tiers 3
//     Podsize 36
//     Tier 0
//     Downlink_speed_Gbps 400
//     Radix_Down 6
//     Radix_Up 6
//     Downlink_Latency_ns 1000
//     ...
//
// A line is a key and a number, in upper or lower case; # begins a comment. Tier 0 are the hosts'
// switches (tor<n>), tier 1 those above (agg<n>), tier 2 the core (core<n>), wired as in htsim.
// Half of a switch's latency is added to each of its links. Format: docs/formats/peers.md.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "topologies/file_internal.h"
#include "topologies/file_readers.h"

#define TIERS_MAX 3u
#define LINKS_MAX 4000000u

typedef enum tier_key {
    SPEED,
    RADIX_DOWN,
    RADIX_UP,
    LINK_LATENCY,
    SWITCH_LATENCY,
    OVERSUBSCRIBED,
    BUNDLE,
    QUEUE_DOWN,
    QUEUE_UP,
    TIER_KEY_COUNT
} tier_key_t;

static const char *const tier_keys[TIER_KEY_COUNT] = {
    "Downlink_speed_Gbps",
    "Radix_Down",
    "Radix_Up",
    "Downlink_Latency_ns",
    "Switch_Latency_ns",
    "Oversubscribed",
    "Bundle",
    "Queue_Down",
    "Queue_Up",
};

enum { NODES, TIERS, PODSIZE, HEAD_KEY_COUNT };
static const char *const head_keys[HEAD_KEY_COUNT] = {"Nodes", "Tiers", "Podsize"};

typedef struct value {
    uint64_t number;
    bool given;
    sim_word_t word; // its place in the file
} value_t;

typedef struct tree {
    value_t head[HEAD_KEY_COUNT];
    value_t tiers[TIERS_MAX][TIER_KEY_COUNT];
    bool tier_given[TIERS_MAX];
    sim_word_t end; // end of the file
    // Counts derived from the values above.
    uint32_t tor_count;
    uint32_t tors_per_pod;
    uint32_t aggs_per_pod;
    uint32_t agg_count;
    uint32_t core_count;
} tree_t;

// -- reading

static int find_key(const sim_word_t *word, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (word->size_bytes == strlen(names[i]) &&
            strncasecmp(word->text, names[i], word->size_bytes) == 0) {
            return i;
        }
    }
    return -1;
}

static sim_err_t read_number(topo__file_reader_t *reader, const char *key, value_t *value)
{
    if (!sim_words_next_in_line(&reader->words, &value->word)) {
        return sim_word_fail(&reader->words, &value->word, reader->message, SIM_ERR_INVALID,
                             "nothing after %s, expected a number", key);
    }
    value->given = true;
    return sim_word_count(&reader->words, &value->word, key, 0, 1000000000, &value->number,
                          reader->message);
}

// Returns whether the key begins with Asymmetric or Failure, as forks of htsim write keys of single
// links.
static bool is_of_links(const sim_word_t *word)
{
    static const char *const begins[] = {"Asymmetric", "Fail", "Degraded"};
    for (size_t i = 0; i < SIM_COUNT_OF(begins); i++) {
        const size_t length = strlen(begins[i]);
        if (word->size_bytes >= length && strncasecmp(word->text, begins[i], length) == 0) {
            return true;
        }
    }
    return false;
}

static sim_err_t unknown_key(topo__file_reader_t *reader, const sim_word_t *word)
{
    if (is_of_links(word)) {
        sim_word_shown_t key;
        return sim_word_fail(&reader->words, word, reader->message, SIM_ERR_UNKNOWN,
                             "'%s' changes single links, expected a tree of equal links here and "
                             "the others in the scenario: links: {agg0--core0: {rate: 50Gbps}}",
                             sim_word_show(word, &key));
    }
    sim_word_shown_t shown;
    const char *names[HEAD_KEY_COUNT + TIER_KEY_COUNT];
    memcpy(names, head_keys, sizeof(head_keys));
    memcpy(names + HEAD_KEY_COUNT, tier_keys, sizeof(tier_keys));
    const char *const text = sim_word_show(word, &shown);
    const char *const near = sim_nearest_name(text, names, SIM_COUNT_OF(names));
    return sim_word_fail(&reader->words, word, reader->message, SIM_ERR_UNKNOWN,
                         "unknown key '%s'%s%s%s, expected Nodes, Tiers, Podsize, Tier or a value "
                         "of a tier such as Radix_Down",
                         text, near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                         near != NULL ? "'?" : "");
}

static sim_err_t read_line(topo__file_reader_t *reader, tree_t *tree, int *tier)
{
    static const char *const tier_word[] = {"Tier"};
    sim_word_t word;
    if (!sim_words_next_in_line(&reader->words, &word) || word.text[0] == '#') {
        return SIM_OK;
    }
    const int head = find_key(&word, head_keys, HEAD_KEY_COUNT);
    if (head >= 0) {
        return read_number(reader, head_keys[head], &tree->head[head]);
    }
    if (find_key(&word, tier_word, 1) == 0) {
        value_t number = {0};
        const sim_err_t error = read_number(reader, tier_word[0], &number);
        if (error == SIM_OK && number.number >= TIERS_MAX) {
            return sim_word_fail(&reader->words, &number.word, reader->message, SIM_ERR_RANGE,
                                 "tier %" PRIu64 ", expected 0, 1 or 2", number.number);
        }
        if (error == SIM_OK) {
            *tier = (int)number.number;
            tree->tier_given[*tier] = true;
        }
        return error;
    }
    const int key = find_key(&word, tier_keys, TIER_KEY_COUNT);
    if (key < 0) {
        return unknown_key(reader, &word);
    }
    if (*tier < 0) {
        return sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_INVALID,
                             "%s before any tier, expected 'Tier 0' first", tier_keys[key]);
    }
    return read_number(reader, tier_keys[key], &tree->tiers[*tier][key]);
}

// -- checking

static uint64_t number_of(const tree_t *tree, uint32_t tier, tier_key_t key)
{
    return tree->tiers[tier][key].number;
}

static sim_err_t fail_at(const topo__file_reader_t *reader, const tree_t *tree,
                         const value_t *value, const char *text)
{
    return sim_word_fail(&reader->words, value->given ? &value->word : &tree->end, reader->message,
                         SIM_ERR_RANGE, "%s", text);
}

static sim_err_t check_given(topo__file_reader_t *reader, tree_t *tree)
{
    static const tier_key_t needed[] = {SPEED, RADIX_DOWN, LINK_LATENCY, RADIX_UP};
    for (int i = 0; i < HEAD_KEY_COUNT; i++) {
        if (tree->head[i].number == 0) {
            char text[96];
            snprintf(text, sizeof(text), "no %s, expected a number above 0", head_keys[i]);
            return fail_at(reader, tree, &tree->head[i], text);
        }
    }
    const uint64_t tiers = tree->head[TIERS].number;
    if (tiers < 2 || tiers > TIERS_MAX) {
        return fail_at(reader, tree, &tree->head[TIERS], "Tiers: expected 2 or 3");
    }
    for (uint32_t t = 0; t < tiers; t++) {
        const size_t count = SIM_COUNT_OF(needed) - (t + 1 == tiers);
        for (size_t i = 0; i < count; i++) {
            if (number_of(tree, t, needed[i]) == 0) {
                char text[96];
                snprintf(text, sizeof(text), "no %s of tier %u, expected a number above 0",
                         tier_keys[needed[i]], t);
                return fail_at(reader, tree, &tree->tiers[t][needed[i]], text);
            }
        }
        value_t *const bundle = &tree->tiers[t][BUNDLE];
        bundle->number = bundle->given ? bundle->number : 1;
        if (bundle->number == 0) {
            return fail_at(reader, tree, bundle, "Bundle: expected 1 or more");
        }
        if (number_of(tree, t, QUEUE_DOWN) + number_of(tree, t, QUEUE_UP) > 0) {
            sim_word_note(&reader->words, &tree->tiers[t][QUEUE_DOWN].word, reader->note,
                          reader->ctx,
                          "sizes of queues are not used: switches share switch.buffer");
        }
    }
    return SIM_OK;
}

// Derives the counts of switches from the file's values; every division must have no remainder.
static sim_err_t derive(const topo__file_reader_t *reader, tree_t *tree)
{
    const uint64_t nodes = tree->head[NODES].number;
    const uint64_t pod = tree->head[PODSIZE].number;
    const bool three = tree->head[TIERS].number == 3;
    const uint64_t down = number_of(tree, 0, RADIX_DOWN);
    const uint64_t up = number_of(tree, 0, RADIX_UP);
    const uint64_t bundle = number_of(tree, 1, BUNDLE);
    SIM_CHECK(pod > 0 && down > 0 && up > 0 && bundle > 0); // check_given
    if (nodes > NET_INTERFACES_MAX || nodes % pod != 0 || (!three && nodes != pod)) {
        return fail_at(reader, tree, &tree->head[PODSIZE],
                       three ? "Podsize: expected a divisor of Nodes"
                             : "Podsize: expected as many as Nodes where there are two tiers");
    }
    if (number_of(tree, 0, BUNDLE) != 1) {
        return fail_at(reader, tree, &tree->tiers[0][BUNDLE], "Bundle of tier 0: expected 1");
    }
    if (pod % down != 0) {
        return fail_at(reader, tree, &tree->tiers[0][RADIX_DOWN],
                       "Radix_Down of tier 0: expected a divisor of Podsize");
    }
    if (up % bundle != 0) {
        return fail_at(reader, tree, &tree->tiers[0][RADIX_UP],
                       "Radix_Up of tier 0: expected a multiple of tier 1's Bundle");
    }
    tree->tor_count = (uint32_t)(nodes / down);
    tree->tors_per_pod = (uint32_t)(pod / down);
    tree->aggs_per_pod = (uint32_t)(up / bundle);
    tree->agg_count = (uint32_t)(nodes / pod * tree->aggs_per_pod);
    if (tree->tors_per_pod * bundle != number_of(tree, 1, RADIX_DOWN)) {
        return fail_at(reader, tree, &tree->tiers[1][RADIX_DOWN],
                       "Radix_Down of tier 1: expected Bundle x Podsize / tier 0's Radix_Down");
    }
    if (!three) {
        return SIM_OK;
    }
    const uint64_t agg_up = number_of(tree, 1, RADIX_UP);
    const uint64_t core_bundle = number_of(tree, 2, BUNDLE);
    SIM_CHECK(core_bundle > 0);
    if (agg_up % core_bundle != 0) {
        return fail_at(reader, tree, &tree->tiers[1][RADIX_UP],
                       "Radix_Up of tier 1: expected a multiple of tier 2's Bundle");
    }
    tree->core_count = (uint32_t)(tree->aggs_per_pod * (agg_up / core_bundle));
    if (nodes / pod * core_bundle != number_of(tree, 2, RADIX_DOWN)) {
        return fail_at(reader, tree, &tree->tiers[2][RADIX_DOWN],
                       "Radix_Down of tier 2: expected Bundle x Nodes / Podsize");
    }
    return SIM_OK;
}

// Checks the numbers of ports and links, because a few words can describe a huge network.
static sim_err_t check_size(const topo__file_reader_t *reader, const tree_t *tree)
{
    uint64_t links = tree->head[NODES].number + tree->tor_count * number_of(tree, 0, RADIX_UP);
    if (tree->head[TIERS].number == 3) {
        links += tree->agg_count * number_of(tree, 1, RADIX_UP);
    }
    if (links > LINKS_MAX) {
        return fail_at(reader, tree, &tree->head[NODES],
                       "a network of more than 4000000 links, expected fewer");
    }
    for (uint32_t t = 0; t < tree->head[TIERS].number; t++) {
        if (number_of(tree, t, RADIX_DOWN) + number_of(tree, t, RADIX_UP) >
            SIM_PORTS_PER_NODE_MAX) {
            return fail_at(reader, tree, &tree->tiers[t][RADIX_DOWN],
                           "a switch with more than 65535 ports, expected fewer");
        }
        if (number_of(tree, t, LINK_LATENCY) + number_of(tree, t, SWITCH_LATENCY) > 500000000) {
            return fail_at(reader, tree, &tree->tiers[t][LINK_LATENCY],
                           "latencies of more than half a second, expected less");
        }
    }
    return SIM_OK;
}

// -- making

static void add_links(topo_file_t *file, const tree_t *tree,
                      uint32_t tier, // tier of the upper node
                      uint32_t lower, uint32_t upper)
{
    const uint64_t lower_ns = tier > 0 ? number_of(tree, tier - 1, SWITCH_LATENCY) : 0;
    const uint64_t halves_ns = lower_ns + number_of(tree, tier, SWITCH_LATENCY);
    const topo_file_link_t link = {
        .a = lower,
        .b = upper,
        .rate_bps = number_of(tree, tier, SPEED) * UINT64_C(1000000000),
        .delay_ps =
            number_of(tree, tier, LINK_LATENCY) * SIM_PS_PER_NS + halves_ns * (SIM_PS_PER_NS / 2),
        .loss_rate = {0, 1},
    };
    for (uint64_t i = 0; i < number_of(tree, tier, BUNDLE); i++) {
        topo__file_add_link(file, &link);
    }
}

static void make(topo_file_t *file, const tree_t *tree)
{
    const uint32_t nodes = (uint32_t)tree->head[NODES].number;
    const uint32_t hosts_per_tor = (uint32_t)number_of(tree, 0, RADIX_DOWN);
    SIM_CHECK(hosts_per_tor > 0 && tree->tors_per_pod > 0 && tree->aggs_per_pod > 0);
    for (uint32_t i = 0; i < nodes; i++) {
        topo__file_add_node(file, "host", i, NET_NODE_HOST);
    }
    const uint32_t first_tor = nodes;
    for (uint32_t i = 0; i < tree->tor_count; i++) {
        topo__file_add_node(file, "tor", i, NET_NODE_SWITCH);
    }
    const uint32_t first_agg = nodes + tree->tor_count;
    for (uint32_t i = 0; i < tree->agg_count; i++) {
        topo__file_add_node(file, "agg", i, NET_NODE_SWITCH);
    }
    const uint32_t first_core = first_agg + tree->agg_count;
    for (uint32_t i = 0; i < tree->core_count; i++) {
        topo__file_add_node(file, "core", i, NET_NODE_SWITCH);
    }
    SIM_CHECK(file->node_count == first_core + tree->core_count);
    for (uint32_t i = 0; i < nodes; i++) {
        add_links(file, tree, 0, i, first_tor + i / hosts_per_tor);
    }
    for (uint32_t t = 0; t < tree->tor_count; t++) {
        const uint32_t pod = t / tree->tors_per_pod;
        for (uint32_t a = 0; a < tree->aggs_per_pod; a++) {
            add_links(file, tree, 1, first_tor + t, first_agg + pod * tree->aggs_per_pod + a);
        }
    }
    for (uint32_t a = 0; a < tree->agg_count && tree->core_count > 0; a++) {
        for (uint32_t c = a % tree->aggs_per_pod; c < tree->core_count; c += tree->aggs_per_pod) {
            add_links(file, tree, 2, first_agg + a, first_core + c);
        }
    }
}

sim_err_t topo__file_read_htsim(topo__file_reader_t *reader)
{
    tree_t tree = {0};
    int tier = -1;
    sim_err_t error = SIM_OK;
    do {
        error = read_line(reader, &tree, &tier);
    } while (error == SIM_OK && sim_words_next_line(&reader->words));
    (void)sim_words_next_in_line(&reader->words, &tree.end);
    if (error == SIM_OK) {
        error = check_given(reader, &tree);
    }
    if (error == SIM_OK) {
        error = derive(reader, &tree);
    }
    if (error == SIM_OK) {
        error = check_size(reader, &tree);
    }
    if (error == SIM_OK) {
        make(reader->file, &tree);
    }
    return error;
}
