// SPDX-License-Identifier: Apache-2.0
// studio/server/network/fold.c - the drawing of a large network, with folds.
//
// A set of nodes is divided by tiers: a switch's tier is its distance in links from the nearest
// host. The top tier is taken away, then the next one, until the rest is no longer connected. What
// was taken away is shown node by node, and each connected part of the rest is a fold: the pods
// below the core of a fat-tree, the racks below the spines. Where more than ITEMS_MAX stand beside
// each other, those with the same neighbours are one fold (the hosts of a switch), and then
// neighbours in the order of the network are. An opened fold is divided in the same way.
#include "studio/server/network/network.h"

#include "kernel/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE_NODES 3000u
#define ITEMS_MAX 128u  // of one tier that stand beside each other
#define SHOWN_MAX 2000u // no fold is opened in a drawing of more
#define NONE UINT32_MAX
#define PATH_BYTES 256u

typedef struct fold {
    const studio_network_t *network;
    const char *open;
    uint32_t find;      // NONE: no node
    uint32_t *tiers;    // by node
    uint32_t *ends;     // by node: where its neighbours end
    uint32_t *beside;   // neighbours of all nodes
    uint32_t *unit;     // by node: its part while a set is divided, else itself
    uint32_t *shown_as; // by node: its number in `nodes`
    json_t *nodes;
} fold_t;

typedef struct set {
    const uint32_t *members;
    size_t count;
} set_t;

bool studio_network_is_large(size_t node_count)
{
    return node_count > LARGE_NODES;
}

static uint32_t *neighbours(const fold_t *fold, uint32_t node, size_t *count)
{
    const uint32_t from = node > 0 ? fold->ends[node - 1] : 0;
    *count = fold->ends[node] - from;
    return fold->beside + from;
}

static void find_neighbours(fold_t *fold)
{
    const studio_network_t *const network = fold->network;
    fold->ends = sim_alloc_array(network->node_count + 1, sizeof(*fold->ends));
    fold->beside = sim_alloc_array(2 * network->link_count + 1, sizeof(*fold->beside));
    for (size_t i = 0; i < network->link_count; i++) {
        fold->ends[network->links[i].a + 1]++;
        fold->ends[network->links[i].b + 1]++;
    }
    for (size_t i = 1; i <= network->node_count; i++) {
        fold->ends[i] += fold->ends[i - 1];
    }
    // Each entry is now where the node's neighbours begin, and is moved to where they end.
    for (size_t i = 0; i < network->link_count; i++) {
        const studio_network_link_t *const link = &network->links[i];
        fold->beside[fold->ends[link->a]++] = link->b;
        fold->beside[fold->ends[link->b]++] = link->a;
    }
}

static void find_tiers(fold_t *fold)
{
    const size_t count = fold->network->node_count;
    uint32_t *const queue = sim_alloc_array(count + 1, sizeof(*queue));
    size_t queued = 0;
    uint32_t highest = 0;
    fold->tiers = sim_alloc_array(count + 1, sizeof(*fold->tiers));
    for (uint32_t i = 0; i < count; i++) {
        fold->tiers[i] = fold->network->nodes[i].is_host ? 0 : NONE;
        if (fold->tiers[i] == 0) {
            queue[queued++] = i;
        }
    }
    for (size_t i = 0; i < queued; i++) {
        size_t near = 0;
        const uint32_t *const beside = neighbours(fold, queue[i], &near);
        for (size_t j = 0; j < near; j++) {
            if (fold->tiers[beside[j]] == NONE) {
                fold->tiers[beside[j]] = highest = fold->tiers[queue[i]] + 1;
                queue[queued++] = beside[j];
            }
        }
    }
    for (size_t i = 0; i < count; i++) { // switches without a way to a host
        fold->tiers[i] = fold->tiers[i] == NONE ? highest + 1 : fold->tiers[i];
    }
    sim_free(queue);
}

// -- dividing a set

// Sets the unit of each member below a tier to its connected part, numbered from `first` on, and of
// the others to themselves. Returns the number of parts.
static uint32_t find_parts(fold_t *fold, set_t set, uint32_t tier, uint32_t first)
{
    uint32_t *const stack = sim_alloc_array(set.count + 1, sizeof(*stack));
    uint32_t parts = 0;
    for (size_t i = 0; i < set.count; i++) {
        const uint32_t node = set.members[i];
        fold->unit[node] = fold->tiers[node] < tier ? NONE : node;
    }
    for (size_t i = 0; i < set.count; i++) {
        if (fold->unit[set.members[i]] != NONE) {
            continue;
        }
        size_t height = 0;
        stack[height++] = set.members[i];
        fold->unit[set.members[i]] = first + parts;
        while (height > 0) {
            size_t near = 0;
            const uint32_t *const beside = neighbours(fold, stack[--height], &near);
            for (size_t j = 0; j < near; j++) {
                if (fold->unit[beside[j]] == NONE) {
                    fold->unit[beside[j]] = first + parts;
                    stack[height++] = beside[j];
                }
            }
        }
        parts++;
    }
    sim_free(stack);
    return parts;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a;
    const uint32_t other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

// Returns a number that is equal for sets with the same neighbours.
static uint64_t hash_neighbours(const fold_t *fold, set_t set, uint32_t **found, size_t *capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < set.count; i++) {
        size_t near = 0;
        const uint32_t *const beside = neighbours(fold, set.members[i], &near);
        const uint32_t own = fold->unit[set.members[i]];
        SIM_RESERVE(*found, count + near, capacity);
        for (size_t j = 0; j < near; j++) {
            const uint32_t other = fold->unit[beside[j]];
            if (other != own) {
                (*found)[count++] = other;
            }
        }
    }
    if (count == 0) {
        return 0;
    }
    qsort(*found, count, sizeof(**found), by_number);
    size_t kept = 1;
    for (size_t i = 1; i < count; i++) {
        if ((*found)[i] != (*found)[kept - 1]) {
            (*found)[kept++] = (*found)[i];
        }
    }
    return sim_map_hash(*found, kept * sizeof(**found));
}

// Items that stand beside each other: item i has the members from ends[i - 1] to ends[i].
typedef struct items {
    uint32_t *members;
    size_t *ends;
    size_t count;
} items_t;

static set_t item_at(const items_t *items, size_t index)
{
    const size_t from = index > 0 ? items->ends[index - 1] : 0;
    return (set_t){items->members + from, items->ends[index] - from};
}

// Joins items to `count` new ones: item i becomes part of number[i].
static void join(items_t *items, const uint32_t *number, size_t count)
{
    items_t joined = {.members = sim_alloc_array(items->ends[items->count - 1], sizeof(uint32_t)),
                      .ends = sim_alloc_array(count + 1, sizeof(size_t)),
                      .count = count};
    for (size_t i = 0; i < items->count; i++) {
        joined.ends[number[i] + 1] += item_at(items, i).count;
    }
    for (size_t i = 1; i <= count; i++) {
        joined.ends[i] += joined.ends[i - 1];
    }
    for (size_t i = 0; i < items->count; i++) {
        const set_t set = item_at(items, i);
        memcpy(joined.members + joined.ends[number[i]], set.members,
               set.count * sizeof(*set.members));
        joined.ends[number[i]] += set.count;
    }
    sim_free(items->members);
    sim_free(items->ends);
    *items = joined;
}

// Joins items until there are at most ITEMS_MAX. one: they may become one.
static void join_many(const fold_t *fold, items_t *items, bool one)
{
    if (items->count <= ITEMS_MAX) {
        return;
    }
    uint32_t *const number = sim_alloc_array(items->count, sizeof(*number));
    uint32_t *found = NULL;
    size_t capacity = 0;
    sim_map_t known = {.entries = NULL};
    for (size_t i = 0; i < items->count; i++) {
        const uint64_t hash = hash_neighbours(fold, item_at(items, i), &found, &capacity);
        uint64_t place = sim_map_get(&known, hash);
        if (place == SIM_MAP_NONE) {
            place = known.count;
            sim_map_add(&known, hash, place);
        }
        number[i] = (uint32_t)place;
    }
    if ((known.count > 1 || one) && known.count < items->count) {
        join(items, number, known.count);
    }
    sim_map_fini(&known);
    sim_free(found);
    if (items->count > ITEMS_MAX) {
        size_t each = 1;
        while (each * each < items->count || each * ITEMS_MAX < items->count) {
            each++;
        }
        for (size_t i = 0; i < items->count; i++) {
            number[i] = (uint32_t)(i / each);
        }
        join(items, number, (items->count + each - 1) / each);
    }
    sim_free(number);
}

// -- what is shown

static bool is_open(const fold_t *fold, const char *path, set_t set)
{
    const size_t size = strlen(path);
    for (const char *at = fold->open; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, path, size) == 0 && (at[size] == '\0' || at[size] == ',')) {
            return true;
        }
    }
    bool found = false;
    for (size_t i = 0; fold->find != NONE && i < set.count && !found; i++) {
        found = set.members[i] == fold->find;
    }
    return found;
}

static const char *name_of(const fold_t *fold, uint32_t node)
{
    return fold->network->texts + fold->network->nodes[node].name;
}

// Shows a set as one node. Its name has the first and last node of its highest tier.
static void show(fold_t *fold, set_t set, const char *path, const char *parent)
{
    uint32_t highest = 0;
    uint32_t lowest = NONE;
    size_t hosts = 0;
    uint32_t first = set.members[0];
    uint32_t last = first;
    for (size_t i = 0; i < set.count; i++) {
        const uint32_t node = set.members[i];
        const uint32_t tier = fold->tiers[node];
        first = i == 0 || tier > highest ? node : first;
        highest = SIM_MAX(highest, tier);
        last = tier == highest ? node : last;
        lowest = SIM_MIN(lowest, tier);
        hosts += fold->network->nodes[node].is_host;
        fold->shown_as[node] = (uint32_t)json_array_size(fold->nodes);
    }
    char *const name = set.count == 1  ? sim_strdup(name_of(fold, first))
                       : first == last ? sim_format("%s (%zu)", name_of(fold, first), set.count)
                                       : sim_format("%s … %s (%zu)", name_of(fold, first),
                                                    name_of(fold, last), set.count);
    json_t *const json =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:s}", "name", name, "kind",
                  hosts > 0 ? "host" : "switch", "tier", (json_int_t)lowest, "hosts",
                  (json_int_t)hosts, "switches", (json_int_t)(set.count - hosts), "in", parent);
    if (set.count > 1) {
        (void)json_object_set_new(json, "fold", json_string(path));
    }
    (void)json_array_append_new(fold->nodes, json);
    sim_free(name);
}

static void divide(fold_t *fold, set_t set, const char *path);

// Shows items, whose paths begin with that of their set, or opens them.
static void show_items(fold_t *fold, const items_t *items, const char *parent, unsigned *number)
{
    for (size_t i = 0; i < items->count; i++) {
        const set_t item = item_at(items, i);
        char path[PATH_BYTES];
        const int size = snprintf(path, sizeof(path), "%s%s%u", parent,
                                  parent[0] == '\0' ? "" : ".", (*number)++);
        const bool fits = size > 0 && (size_t)size < sizeof(path);
        if (item.count > 1 && fits && json_array_size(fold->nodes) < SHOWN_MAX &&
            is_open(fold, path, item)) {
            divide(fold, item, path);
        } else {
            show(fold, item, path, parent);
        }
    }
}

// Takes the items of a row: parts of a set (below is true), or its nodes of one tier.
static items_t take_row(const fold_t *fold, set_t set, bool below, uint32_t tier, uint32_t first,
                        size_t parts)
{
    items_t items = {.members = sim_alloc_array(set.count, sizeof(uint32_t)),
                     .ends = sim_alloc_array(set.count, sizeof(size_t))};
    uint32_t *const number = sim_alloc_array(set.count, sizeof(*number));
    for (size_t i = 0; i < set.count; i++) {
        const uint32_t node = set.members[i];
        if (below ? fold->tiers[node] < tier : fold->tiers[node] == tier) {
            items.members[items.count] = node;
            number[items.count] = below ? fold->unit[node] - first : 0;
            items.ends[items.count] = items.count + 1;
            items.count++;
        }
    }
    if (below && items.count > 0) {
        join(&items, number, parts);
    }
    sim_free(number);
    return items;
}

static void divide(fold_t *fold, set_t set, const char *path)
{
    uint32_t highest = 0;
    uint32_t lowest = NONE;
    for (size_t i = 0; i < set.count; i++) {
        highest = SIM_MAX(highest, fold->tiers[set.members[i]]);
        lowest = SIM_MIN(lowest, fold->tiers[set.members[i]]);
    }
    const uint32_t first = (uint32_t)fold->network->node_count;
    uint32_t tier = highest;
    uint32_t parts = find_parts(fold, set, tier, first);
    while (parts == 1 && tier > lowest) {
        parts = find_parts(fold, set, --tier, first);
    }
    // All rows are made before the first is opened, which changes units.
    const size_t row_count = (size_t)highest - tier + 2;
    items_t *const rows = sim_alloc_array(row_count, sizeof(*rows));
    for (size_t row = 0; row < row_count; row++) {
        const uint32_t shown = tier + (row > 0 ? (uint32_t)row - 1 : 0);
        rows[row] = take_row(fold, set, row == 0, shown, first, parts);
        join_many(fold, &rows[row], row > 0 && rows[row].count < set.count);
    }
    for (size_t i = 0; i < set.count; i++) {
        fold->unit[set.members[i]] = set.members[i];
    }
    unsigned number = 0;
    for (size_t row = 0; row < row_count; row++) {
        show_items(fold, &rows[row], path, &number);
        sim_free(rows[row].members);
        sim_free(rows[row].ends);
    }
    sim_free(rows);
}

// -- links

static json_t *link_json(const fold_t *fold, const studio_network_link_t *link, size_t count)
{
    const char *const texts = fold->network->texts;
    const char *ends[2];
    const uint32_t nodes[2] = {fold->shown_as[link->a], fold->shown_as[link->b]};
    for (size_t i = 0; i < 2; i++) {
        ends[i] = json_string_value(json_object_get(json_array_get(fold->nodes, nodes[i]), "name"));
    }
    const bool named = count == 1 && texts[link->a_port] != '\0';
    char *const there = sim_format("%s->%s", ends[0], ends[1]);
    char *const back = sim_format("%s->%s", ends[1], ends[0]);
    json_t *const json =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "a", ends[0], "b", ends[1], "a_port",
                  named ? texts + link->a_port : there, "b_port",
                  named ? texts + link->b_port : back, "rate_bps", (json_int_t)link->rate_bps,
                  "delay_ps", (json_int_t)link->delay_ps, "count", (json_int_t)count);
    sim_free(there);
    sim_free(back);
    return json;
}

// Joins the links between the same two nodes of the drawing.
static json_t *join_links(const fold_t *fold, uint32_t *link_of)
{
    const studio_network_t *const network = fold->network;
    sim_map_t known = {.entries = NULL};
    size_t *const counts = sim_alloc_array(network->link_count + 1, sizeof(*counts));
    size_t *const first = sim_alloc_array(network->link_count + 1, sizeof(*first));
    for (size_t i = 0; i < network->link_count; i++) {
        const uint32_t a = fold->shown_as[network->links[i].a];
        const uint32_t b = fold->shown_as[network->links[i].b];
        link_of[i] = NONE;
        if (a == b) {
            continue;
        }
        const uint64_t key = (uint64_t)SIM_MIN(a, b) << 32 | SIM_MAX(a, b);
        uint64_t place = sim_map_get(&known, key);
        if (place == SIM_MAP_NONE) {
            place = known.count;
            sim_map_add(&known, key, place);
            first[place] = i;
        }
        counts[place]++;
        const bool reversed = a != fold->shown_as[network->links[first[place]].a];
        link_of[i] = 2 * (uint32_t)place + reversed;
    }
    json_t *const links = json_array();
    for (size_t i = 0; i < known.count; i++) {
        (void)json_array_append_new(links, link_json(fold, &network->links[first[i]], counts[i]));
    }
    sim_map_fini(&known);
    sim_free(counts);
    sim_free(first);
    return links;
}

void studio_drawing_init(studio_drawing_t *drawing, const studio_network_t *network,
                         const char *open, const char *find)
{
    const size_t count = network->node_count;
    fold_t fold = {.network = network, .open = open, .find = NONE, .nodes = json_array()};
    uint32_t *const all = sim_alloc_array(count + 1, sizeof(*all));
    fold.unit = sim_alloc_array(count + 1, sizeof(*fold.unit));
    fold.shown_as = sim_alloc_array(count + 1, sizeof(*fold.shown_as));
    size_t hosts = 0;
    for (uint32_t i = 0; i < count; i++) {
        all[i] = fold.unit[i] = i;
        hosts += network->nodes[i].is_host;
        fold.find = find != NULL && strcmp(name_of(&fold, i), find) == 0 ? i : fold.find;
    }
    find_neighbours(&fold);
    find_tiers(&fold);
    divide(&fold, (set_t){all, count}, "");
    drawing->node_of = fold.shown_as;
    drawing->link_of = sim_alloc_array(network->link_count + 1, sizeof(*drawing->link_of));
    json_t *const links = join_links(&fold, drawing->link_of);
    drawing->json = json_pack("{s:o, s:o, s:I, s:I, s:I, s:b}", "nodes", fold.nodes, "links", links,
                              "hosts", (json_int_t)hosts, "switches", (json_int_t)(count - hosts),
                              "all_links", (json_int_t)network->link_count, "folded", 1);
    SIM_FREE_ALL(all, fold.unit, fold.ends, fold.beside, fold.tiers);
}

void studio_drawing_fini(studio_drawing_t *drawing)
{
    json_decref(drawing->json);
    sim_free(drawing->node_of);
    sim_free(drawing->link_of);
}
