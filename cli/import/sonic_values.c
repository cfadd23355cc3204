// SPDX-License-Identifier: Apache-2.0
// cli/import/sonic_values.c - the values of a scenario for a switch, from its tables of SONiC.
//
// A switch of a scenario has one threshold for all ports: the one that most ports have.
#include "cli/import/sonic.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

// Adds a value that is a mask of classes.
static void value_classes(import_node_t *node, const char *path, uint32_t mask, const char *source)
{
    char *text = sim_format("[");
    for (uint32_t c = 0; c < IMPORT_CLASSES; c++) {
        if ((mask >> c & 1u) != 0) {
            char *const more = sim_format("%s%s%u", text, text[1] != '\0' ? ", " : "", c);
            sim_free(text);
            text = more;
        }
    }
    char *const whole = sim_format("%s]", text);
    sim_free(text);
    import_node_value(node, path, whole, source);
}

static char *alpha_text(const import_sonic_reader_t *reader, int exponent)
{
    if (exponent > 6) {
        import_note(
            reader->fabric, IMPORT_ASSUMED, NULL,
            "a dynamic threshold above 2^6 is 2^6: a queue may use nearly all of the buffer");
        exponent = 6;
    }
    return exponent < 0 ? sim_format("1/%d", 1 << -exponent) : sim_format("%d", 1 << exponent);
}

// Returns the port whose values most ports of the switch have, by one of their values; NULL: no
// port has one. Notes that others differ.
typedef bool (*same_fn)(const import_limits_t *a, const import_limits_t *b);
typedef bool (*has_fn)(const import_limits_t *limits);

static const import_port_t *usual(import_sonic_reader_t *reader, const char *what, has_fn has,
                                  same_fn same)
{
    const import_node_t *const node = &reader->fabric->nodes[reader->node];
    const import_port_t *best = NULL;
    size_t best_count = 0;
    size_t all = 0;
    for (size_t p = 0; p < node->port_count; p++) {
        const import_port_t *const port = &node->ports[p];
        size_t count = 0;
        if (!has(&port->set)) {
            continue;
        }
        all++;
        for (size_t q = 0; q < node->port_count; q++) {
            count += has(&node->ports[q].set) && same(&node->ports[q].set, &port->set);
        }
        if (count > best_count) {
            best = port;
            best_count = count;
        }
    }
    if (best != NULL && best_count < all && what != NULL) {
        import_note(reader->fabric, IMPORT_ASSUMED, &best->place,
                    "the ports of a switch differ in %s: all have that of most ports", what);
    }
    return best;
}

static bool has_lossless(const import_limits_t *limits)
{
    return limits->lossless != 0;
}
static bool same_lossless(const import_limits_t *a, const import_limits_t *b)
{
    return a->lossless == b->lossless;
}
static bool has_alpha(const import_limits_t *limits)
{
    return limits->alpha_exponent != INT_MAX || limits->threshold_bytes != SIM_AUTO;
}
static bool same_alpha(const import_limits_t *a, const import_limits_t *b)
{
    return a->alpha_exponent == b->alpha_exponent && a->threshold_bytes == b->threshold_bytes;
}
static bool has_reserved(const import_limits_t *limits)
{
    return limits->reserved_bytes != SIM_AUTO;
}
static bool same_reserved(const import_limits_t *a, const import_limits_t *b)
{
    return a->reserved_bytes == b->reserved_bytes;
}
static bool has_offset(const import_limits_t *limits)
{
    return limits->xon_offset_bytes != SIM_AUTO;
}
static bool same_offset(const import_limits_t *a, const import_limits_t *b)
{
    return a->xon_offset_bytes == b->xon_offset_bytes;
}
static bool has_headroom(const import_limits_t *limits)
{
    return limits->headroom_bytes != SIM_AUTO;
}
static bool same_headroom(const import_limits_t *a, const import_limits_t *b)
{
    return a->headroom_bytes == b->headroom_bytes;
}

static void add_thresholds(import_sonic_reader_t *reader, import_node_t *node)
{
    const import_port_t *const alpha =
        usual(reader, "the threshold of XOFF", has_alpha, same_alpha);
    if (alpha != NULL && alpha->set.threshold_bytes != SIM_AUTO) {
        import_node_value(node, "pfc.threshold",
                          sim_format("%" PRIu64 "B", alpha->set.threshold_bytes), "static_th");
    } else if (alpha != NULL) {
        import_node_value(node, "pfc.alpha", alpha_text(reader, alpha->set.alpha_exponent),
                          "dynamic_th");
    }
    const import_port_t *const offset = usual(reader, "xon_offset", has_offset, same_offset);
    if (offset != NULL) {
        import_node_value(node, "pfc.xon-offset",
                          sim_format("%" PRIu64 "B", offset->set.xon_offset_bytes), "xon_offset");
    }
    const import_port_t *const reserved =
        usual(reader, "the reserved bytes", has_reserved, same_reserved);
    if (reserved != NULL) {
        import_node_value(node, "pfc.reserved",
                          sim_format("%" PRIu64 "B", reserved->set.reserved_bytes), "size");
    }
    const import_port_t *const headroom = usual(reader, NULL, has_headroom, same_headroom);
    if (headroom != NULL) {
        import_node_value(node, "pfc.headroom",
                          sim_format("%" PRIu64 "B", headroom->set.headroom_bytes), "xoff");
    }
    if (reader->headroom_pool_bytes != SIM_AUTO) {
        import_node_value(node, "pfc.headroom-pool",
                          sim_format("%" PRIu64 "B", reader->headroom_pool_bytes),
                          "xoff of BUFFER_POOL");
    }
}

// The pool is shared; reserved bytes and headroom come on top. Headroom that the program computes
// is not known here: a pool of headroom is taken in full.
static void add_buffer(import_sonic_reader_t *reader, import_node_t *node, uint32_t lossless)
{
    const uint64_t pool =
        reader->pool_bytes != SIM_AUTO ? reader->pool_bytes : reader->egress_pool_bytes;
    if (pool == SIM_AUTO) {
        import_note(reader->fabric, IMPORT_ASSUMED, &node->place,
                    "no file says the size of a switch's buffer: it has the default");
        return;
    }
    const uint64_t classes = (uint64_t)__builtin_popcount(lossless);
    uint64_t bytes = pool;
    uint64_t headroom = 0;
    for (size_t p = 0; p < node->port_count; p++) {
        const import_limits_t *const set = &node->ports[p].set;
        headroom += set->headroom_bytes != SIM_AUTO           ? classes * set->headroom_bytes
                    : reader->headroom_pool_bytes != SIM_AUTO ? reader->headroom_pool_bytes
                                                              : 0;
        bytes += classes * (set->reserved_bytes != SIM_AUTO ? set->reserved_bytes : 0);
    }
    bytes += SIM_MIN(headroom, reader->headroom_pool_bytes);
    import_node_value(node, "buffer", sim_format("%" PRIu64 "B", bytes),
                      "BUFFER_POOL and the profiles of all ports");
}

static void add_pfc(import_sonic_reader_t *reader, import_node_t *node)
{
    const import_port_t *const pfc =
        usual(reader, "their lossless classes", has_lossless, same_lossless);
    add_buffer(reader, node, pfc != NULL ? pfc->set.lossless : 0);
    if (pfc == NULL) {
        import_node_value(node, "pfc.enabled", sim_format("false"), "no port has pfc_enable");
        return;
    }
    char *const source = sim_format("pfc_enable%s%s", reader->dscps != NULL ? "; " : "",
                                    reader->dscps != NULL ? reader->dscps : "");
    value_classes(node, "pfc.priorities", pfc->set.lossless, source);
    sim_free(source);
    add_thresholds(reader, node);
    if (reader->watchdog != NULL && strcmp(reader->watchdog, "off") != 0) {
        import_node_value(node, "pfc.watchdog", sim_format("%s", reader->watchdog), "PFC_WD");
        if (reader->detect_ms != SIM_AUTO) {
            import_node_value(node, "pfc.watchdog-detect",
                              sim_format("%" PRIu64 "ms", reader->detect_ms), "detection_time");
        }
        if (reader->restore_ms != SIM_AUTO) {
            import_node_value(node, "pfc.watchdog-restore",
                              sim_format("%" PRIu64 "ms", reader->restore_ms), "restoration_time");
        }
    }
}

static bool same_ecn(const import_port_t *a, const import_port_t *b)
{
    return a->set.kmin_bytes == b->set.kmin_bytes && a->set.kmax_bytes == b->set.kmax_bytes &&
           a->set.pmax_percent == b->set.pmax_percent;
}

// Adds the thresholds of ECN: one for all ports, or one for each rate of ports.
static void add_ecn(import_sonic_reader_t *reader, import_node_t *node)
{
    const import_port_t *rates[8] = {NULL};
    size_t count = 0;
    bool one = true;
    for (size_t p = 0; p < node->port_count; p++) {
        const import_port_t *const port = &node->ports[p];
        if (port->set.kmin_bytes == SIM_AUTO) {
            continue;
        }
        size_t r = 0;
        while (r < count && rates[r]->rate_bps != port->rate_bps) {
            r++;
        }
        if (r < count && !same_ecn(rates[r], port)) {
            import_note(reader->fabric, IMPORT_ASSUMED, &port->place,
                        "ports of one speed have different ECN thresholds: all have those of the "
                        "first port");
        } else if (r == count && count < SIM_COUNT_OF(rates)) {
            rates[count++] = port;
            one = one && same_ecn(rates[0], port);
        }
    }
    if (count == 0) {
        import_node_value(node, "ecn.enabled", sim_format("false"), "no queue has an ECN profile");
        return;
    }
    value_classes(node, "ecn.priorities", reader->ecn_classes, "QUEUE wred_profile");
    import_node_value(node, "ecn.scale", sim_format("false"), "thresholds are those of the file");
    if (one) {
        const import_limits_t *const set = &rates[0]->set;
        import_node_value(node, "ecn.kmin", sim_format("%" PRIu64 "B", set->kmin_bytes),
                          "green_min_threshold");
        import_node_value(node, "ecn.kmax", sim_format("%" PRIu64 "B", set->kmax_bytes),
                          "green_max_threshold");
        import_node_value(node, "ecn.pmax", sim_format("%u%%", set->pmax_percent),
                          "green_drop_probability");
        return;
    }
    char *text = sim_format("[");
    for (size_t r = 0; r < count; r++) {
        const import_limits_t *const set = &rates[r]->set;
        char *const more = sim_format("%s%s%" PRIu64 "Mbps %" PRIu64 "B %" PRIu64 "B %u%%", text,
                                      r > 0 ? ", " : "", rates[r]->rate_bps / 1000000,
                                      set->kmin_bytes, set->kmax_bytes, set->pmax_percent);
        sim_free(text);
        text = more;
    }
    char *const whole = sim_format("%s]", text);
    sim_free(text);
    import_node_value(node, "ecn.profiles", whole, "WRED_PROFILE");
}

static void add_scheduling(import_sonic_reader_t *reader, import_node_t *node)
{
    if (reader->scheduler_count == 0) {
        return;
    }
    value_classes(node, "strict-priorities", reader->strict_classes, "SCHEDULER STRICT");
    char *text = sim_format("[");
    bool given = false;
    for (uint32_t c = 0; c < IMPORT_CLASSES; c++) {
        given = given || reader->weights[c] != 0;
        char *const more =
            sim_format("%s%s%u", text, c > 0 ? ", " : "", SIM_MAX(reader->weights[c], 1u));
        sim_free(text);
        text = more;
    }
    char *const whole = sim_format("%s]", text);
    sim_free(text);
    if (given) {
        import_node_value(node, "weights", whole, "SCHEDULER weight");
    } else {
        sim_free(whole);
    }
}

void import_sonic_add_values(import_sonic_reader_t *reader)
{
    import_node_t *const node = &reader->fabric->nodes[reader->node];
    add_pfc(reader, node);
    if (reader->lossy_exponent != INT_MAX) {
        import_node_value(node, "lossy-alpha", alpha_text(reader, reader->lossy_exponent),
                          "dynamic_th of lossy queues");
    }
    add_ecn(reader, node);
    add_scheduling(reader, node);
}
