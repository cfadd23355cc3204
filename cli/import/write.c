// SPDX-License-Identifier: Apache-2.0
// cli/import/write.c - writes an imported network as a scenario, as a person would write it.
//
// The values that most links and all switches have in common stand once, in `link` and `switch`.
#include "cli/import/write.h"

#include "kernel/buffer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 96u

static void put(sim_buffer_t *out, const char *format, ...) SIM_PRINTF(2, 3);
static void put(sim_buffer_t *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *const text = sim_format_list(format, arguments);
    va_end(arguments);
    sim_buffer_put(out, text, strlen(text));
    sim_free(text);
}

static void put_rate(sim_buffer_t *out, uint64_t rate_bps)
{
    if (rate_bps % 1000000000 == 0) {
        put(out, "%" PRIu64 "Gbps", rate_bps / 1000000000);
    } else {
        put(out, "%" PRIu64 "Mbps", rate_bps / 1000000);
    }
}

// A centimetre takes 50 ps.
static void put_delay(sim_buffer_t *out, uint64_t length_cm)
{
    const uint64_t delay_ps = SIM_MAX(length_cm * 50, UINT64_C(50));
    if (delay_ps % 1000 == 0) {
        put(out, "%" PRIu64 "ns", delay_ps / 1000);
    } else {
        put(out, "%" PRIu64 "ps", delay_ps);
    }
}

// -- nodes and links

static void put_nodes(sim_buffer_t *out, const import_fabric_t *fabric, import_kind_t kind)
{
    size_t column = 0;
    bool first = true;
    for (size_t n = 0; n < fabric->node_count; n++) {
        const import_node_t *const node = &fabric->nodes[n];
        bool joined = false;
        for (size_t p = 0; p < node->port_count; p++) {
            joined = joined || node->ports[p].link != IMPORT_NONE;
        }
        if (node->kind != kind || !joined) {
            continue;
        }
        const size_t size = strlen(node->name) + 2;
        if (first) {
            put(out, "      - %s: [", kind == IMPORT_HOST ? "host" : "switch");
            column = 20;
        } else if (column + size > WIDTH) {
            put(out, ",\n          ");
            column = 10;
        } else {
            put(out, ", ");
        }
        put(out, "%s", node->name);
        column += size;
        first = false;
    }
    if (!first) {
        put(out, "]\n");
    }
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Returns the value that most of them have, the smallest one of several.
static uint64_t usual_of(uint64_t *values, size_t count)
{
    uint64_t best = 0;
    size_t best_count = 0;
    qsort(values, count, sizeof(*values), by_size);
    for (size_t i = 0, run = 0; i < count; i++) {
        run = i > 0 && values[i] == values[i - 1] ? run + 1 : 1;
        if (run > best_count) {
            best = values[i];
            best_count = run;
        }
    }
    return best;
}

static const char *value_at(const import_node_t *node, const char *path)
{
    for (size_t v = 0; v < node->value_count; v++) {
        if (strcmp(node->values[v].path, path) == 0) {
            return node->values[v].text;
        }
    }
    return NULL;
}

// Writes the headroom of a port where it is not the one of its switch.
static void put_headroom(sim_buffer_t *out, const import_fabric_t *fabric,
                         const import_link_t *link, size_t end, const char *name)
{
    const import_node_t *const node = &fabric->nodes[link->nodes[end]];
    const uint64_t bytes = node->ports[link->ports[end]].set.headroom_bytes;
    const char *const usual = value_at(node, "pfc.headroom");
    if (bytes == SIM_AUTO || usual == NULL || strtoull(usual, NULL, 10) == bytes) {
        return;
    }
    put(out, ", %s: %" PRIu64 "B", name, SIM_MAX(bytes, UINT64_C(1)));
}

static void put_links(sim_buffer_t *out, const import_fabric_t *fabric, uint64_t rate_bps,
                      uint64_t length_cm)
{
    put(out, "    links:\n");
    for (size_t i = 0; i < fabric->link_count; i++) {
        const import_link_t *const link = &fabric->links[i];
        sim_buffer_t more = {0};
        if (link->rate_bps != rate_bps) {
            put(&more, ", rate: ");
            put_rate(&more, link->rate_bps);
        }
        if (link->length_cm != length_cm) {
            put(&more, ", delay: ");
            put_delay(&more, link->length_cm);
        }
        put_headroom(&more, fabric, link, 1, "headroom");
        put_headroom(&more, fabric, link, 0, "backward-headroom");
        const char *const a = fabric->nodes[link->nodes[0]].name;
        const char *const b = fabric->nodes[link->nodes[1]].name;
        if (more.count == 0) {
            put(out, "      - %s--%s\n", a, b);
        } else {
            put(out, "      - {between: %s--%s%.*s}\n", a, b, (int)more.count,
                (const char *)more.bytes);
        }
        sim_free(more.bytes);
    }
}

// -- values of switches

// Writes values as a tree of two levels: those of one group, such as pfc, stand together.
static void put_values(sim_buffer_t *out, const import_value_t *const *values, size_t count,
                       unsigned indent)
{
    const char *group = "";
    size_t group_size = 0;
    for (size_t v = 0; v < count; v++) {
        const char *const path = values[v]->path;
        const char *const dot = strchr(path, '.');
        const size_t size = dot != NULL ? (size_t)(dot - path) : 0;
        if (size > 0 && (size != group_size || strncmp(group, path, size) != 0)) {
            put(out, "%*s%.*s:\n", (int)indent, "", (int)size, path);
        }
        group = path;
        group_size = size;
        char *const line = sim_format("%*s%s: %s", (int)(indent + (size > 0 ? 2 : 0)), "",
                                      size > 0 ? dot + 1 : path, values[v]->text);
        put(out, "%-40s # %s\n", line, values[v]->source);
        sim_free(line);
    }
}

// Returns whether all switches that a file configures have this value.
static bool in_common(const import_fabric_t *fabric, const import_value_t *value)
{
    for (size_t n = 0; n < fabric->node_count; n++) {
        const import_node_t *const node = &fabric->nodes[n];
        const char *const text = node->value_count > 0 ? value_at(node, value->path) : value->text;
        if (text == NULL || strcmp(text, value->text) != 0) {
            return false;
        }
    }
    return true;
}

static void put_switches(sim_buffer_t *out, import_fabric_t *fabric)
{
    const import_value_t **values = NULL;
    size_t count = 0;
    size_t capacity = 0;
    bool headed = false;
    for (size_t n = 0; n < fabric->node_count && count == 0; n++) {
        for (size_t v = 0; v < fabric->nodes[n].value_count; v++) {
            const import_value_t *const value = &fabric->nodes[n].values[v];
            if (in_common(fabric, value)) {
                SIM_APPEND(values, count, capacity, value);
            }
        }
        if (fabric->nodes[n].value_count > 0) {
            break;
        }
    }
    if (count > 0) {
        put(out, "switch:\n");
        put_values(out, values, count, 2);
    }
    for (size_t n = 0; n < fabric->node_count; n++) {
        const import_node_t *const node = &fabric->nodes[n];
        count = 0;
        for (size_t v = 0; v < node->value_count; v++) {
            if (!in_common(fabric, &node->values[v])) {
                SIM_APPEND(values, count, capacity, &node->values[v]);
            }
        }
        if (count > 0) {
            put(out, "%s  %s:\n    switch:\n", headed ? "" : "nodes:\n", node->name);
            put_values(out, values, count, 6);
            headed = true;
        }
    }
    sim_free((void *)values);
}

// Data must be in a class that PFC protects, where one is known: the first of them.
static void put_nics(sim_buffer_t *out, const import_fabric_t *fabric)
{
    uint32_t classes = UINT32_MAX;
    bool known = false;
    for (size_t n = 0; n < fabric->node_count; n++) {
        const char *const text = value_at(&fabric->nodes[n], "pfc.priorities");
        uint32_t mask = 0;
        for (const char *p = text; p != NULL && *p != '\0'; p++) {
            mask |= *p >= '0' && *p <= '7' ? 1u << (*p - '0') : 0;
        }
        known = known || mask != 0;
        classes &= mask != 0 ? mask : UINT32_MAX;
    }
    const bool other = known && classes != 0 && (classes & 1u << 3) == 0;
    if (!other && fabric->host_values == NULL) {
        return;
    }
    put(out, "nic:\n");
    if (other) {
        put(out, "  priority: %d # a class with PFC\n", __builtin_ctz(classes));
    }
    if (fabric->host_values != NULL) {
        put(out, "  host:\n");
        for (const char *line = fabric->host_values; *line != '\0';) {
            const size_t size = strcspn(line, "\n");
            put(out, "    %.*s\n", (int)size, line);
            line += size + (line[size] == '\n');
        }
    }
}

// Returns the number of the part of the network that a node is in, by halving the ways to it.
static uint32_t part_of(uint32_t *parents, uint32_t node)
{
    while (parents[node] != node) {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    return node;
}

// The hosts of the part of the network that has the most hosts.
typedef struct part {
    uint32_t *hosts;
    size_t count;
    size_t all;      // hosts of all parts
    bool equal_nics; // each of them has as many NICs
} part_t;

static size_t nics_of(const import_node_t *node)
{
    size_t joined = 0;
    for (size_t p = 0; node->kind == IMPORT_HOST && p < node->port_count; p++) {
        joined += node->ports[p].link != IMPORT_NONE;
    }
    return joined;
}

// Finds that part. Free its hosts with sim_free.
static part_t largest_part(const import_fabric_t *fabric)
{
    uint32_t *const parents = sim_alloc_array(fabric->node_count, sizeof(*parents));
    uint32_t *const hosts_in = sim_alloc_array(fabric->node_count, sizeof(*hosts_in));
    part_t part = {.hosts = sim_alloc_array(fabric->node_count, sizeof(*part.hosts)),
                   .equal_nics = true};
    uint32_t best = 0;
    for (uint32_t n = 0; n < fabric->node_count; n++) {
        parents[n] = n;
    }
    for (size_t i = 0; i < fabric->link_count; i++) {
        const uint32_t a = part_of(parents, fabric->links[i].nodes[0]);
        const uint32_t b = part_of(parents, fabric->links[i].nodes[1]);
        parents[SIM_MAX(a, b)] = SIM_MIN(a, b);
    }
    for (uint32_t n = 0; n < fabric->node_count; n++) {
        const bool is_host = nics_of(&fabric->nodes[n]) > 0;
        const uint32_t root = part_of(parents, n);
        part.all += is_host;
        hosts_in[root] += is_host;
        best = hosts_in[root] > hosts_in[best] ? root : best;
    }
    for (uint32_t n = 0; n < fabric->node_count; n++) {
        const size_t nics = nics_of(&fabric->nodes[n]);
        if (nics == 0 || part_of(parents, n) != best) {
            continue;
        }
        part.hosts[part.count++] = n;
        part.equal_nics = part.equal_nics && nics == nics_of(&fabric->nodes[part.hosts[0]]);
    }
    sim_free(parents);
    sim_free(hosts_in);
    return part;
}

// Writes `count` hosts of a part, from the one numbered `first` on.
static void put_hosts(sim_buffer_t *out, const import_fabric_t *fabric, const part_t *part,
                      size_t first, size_t count)
{
    size_t column = 40;
    put(out, "[");
    for (size_t i = first; i < first + count; i++) {
        const char *const name = fabric->nodes[part->hosts[i]].name;
        const bool wraps = column + strlen(name) + 2 > WIDTH;
        put(out, "%s%s%s", i > first ? "," : "", wraps ? "\n      " : i > first ? " " : "", name);
        column = wraps ? 6 : column + strlen(name) + 2;
    }
    put(out, "]");
}

// Writes an example of traffic: a permutation needs hosts with equal numbers of NICs, and all need
// hosts with a path between them.
static void put_traffic(sim_buffer_t *out, import_fabric_t *fabric)
{
    const part_t part = largest_part(fabric);
    const bool whole = part.count == part.all;
    if (part.count >= 2) {
        put(out, "traffic: # An example. Replace it by the traffic of your question.\n");
    }
    if (part.count >= 2 && part.equal_nics) {
        put(out, "  - permutation: {bytes: 1MB");
        if (!whole) {
            put(out, ", hosts: ");
            put_hosts(out, fabric, &part, 0, part.count);
        }
        put(out, "}\n");
    } else if (part.count >= 2) {
        const size_t senders = SIM_MIN(part.count - 1, (size_t)8);
        put(out, "  - incast: {to: %s, senders: %zu, bytes: 1MB", fabric->nodes[part.hosts[0]].name,
            senders);
        if (!whole) {
            put(out, ", from: ");
            put_hosts(out, fabric, &part, 1, part.count - 1);
        }
        put(out, "}\n");
    }
    if (!whole && part.count >= 2) {
        import_note(fabric, IMPORT_ASSUMED, NULL,
                    "the files describe parts of a network without a cable between them: the "
                    "example's traffic is in the one with the most hosts");
    }
    sim_free(part.hosts);
}

char *import_scenario_text(import_fabric_t *fabric, const char *sources)
{
    sim_buffer_t out = {0};
    uint64_t *const values = sim_alloc_array(fabric->link_count, sizeof(*values));
    for (size_t i = 0; i < fabric->link_count; i++) {
        values[i] = fabric->links[i].rate_bps;
    }
    const uint64_t rate_bps = usual_of(values, fabric->link_count);
    for (size_t i = 0; i < fabric->link_count; i++) {
        values[i] = fabric->links[i].length_cm;
    }
    const uint64_t length_cm = usual_of(values, fabric->link_count);
    sim_free(values);
    put(&out, "# The network of %s.\n", sources);
    put(&out, "# docs/formats/import.md says what became of each part of these files.\n");
    put(&out, "topology:\n  graph:\n    nodes:\n");
    put_nodes(&out, fabric, IMPORT_SWITCH);
    put_nodes(&out, fabric, IMPORT_HOST);
    put_links(&out, fabric, rate_bps, length_cm);
    put(&out, "link:\n  rate: ");
    put_rate(&out, rate_bps);
    put(&out, "\n  delay: ");
    put_delay(&out, length_cm);
    put(&out, "\n");
    put_switches(&out, fabric);
    put_nics(&out, fabric);
    put_traffic(&out, fabric);
    sim_buffer_put(&out, "", 1);
    return (char *)out.bytes;
}
