// SPDX-License-Identifier: Apache-2.0
// nic/host/nic_config.c - attributes of a host's NICs, and the rules between them.
#include <stdio.h>
#include <string.h>

#include "kernel/attribute.h"
#include "nic/extra.h"
#include "nic/nic_internal.h"
#include "nic/transport.h"

// clang-format off
#define ATTR(path_, type_, field, default_, min_, max_, help_)                                \
    {.path = "nic." path_, .type = SIM_ATTR_##type_, .offset = offsetof(nic_config_t, field), \
     .default_text = default_, .min_text = min_, .max_text = max_, .help = help_}
#define DETAIL(field, path_, type_, min_, max_, cx_, cx3_, cib_, cx6_, cx5_, origin_, help_)        \
    {.path = "nic.detailed." path_, .type = SIM_ATTR_##type_,                                 \
     .offset = offsetof(nic_config_t, detail.field), .default_text = "auto",                  \
     .min_text = min_, .max_text = max_, .help = help_ "; auto: of the profile", .auto_ok = true},
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
         "path MTU: payload of a full packet; 256, 512, 1024, 2048 or 4096 (see any-mtu)"),
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
     .help = "what counts as one flow for cnp-interval"},
    ATTR("ecn", BOOL, ecn_capable, "true", NULL, NULL,
         "data packets are ECT(0), so that switches may mark them"),
    ATTR("ack-interval", COUNT, ack_interval, "1", "1", "256",
         "packets per requested ACK within a message; its last packet always requests one"),
    ATTR("ack-from", BYTES, ack_from_bytes, "0", NULL, NULL,
         "where each packet of a message is acknowledged: only those that end there or beyond, and some before"),
    ATTR("ack-chunk", BYTES, ack_chunk_bytes, "0", NULL, NULL,
         "before ack-from, packets that end at a multiple of it are acknowledged; 0: none"),
    ATTR_AUTO("window", BYTES, window_bytes, "auto", "1", NULL,
              "unacknowledged payload per queue pair at most; auto: no limit"),
    ATTR_AUTO("bdp", BYTES, bdp_bytes, "auto", "0", NULL,
              "bandwidth-delay product for windows and HPCC; auto: base RTT x line rate; 0: none, which HPCC divides by"),
    {.path = "nic.bdp-window", .type = SIM_ATTR_ENUM, .offset = offsetof(nic_config_t, bdp_window),
     .default_text = "none", .choices = "none|fixed|scaled",
     .help = "a window of base RTT x line rate (fixed) or x current rate (scaled), with any algorithm"},
    ATTR("transport", STRING, transport, "go-back-n", NULL, NULL,
         "how reliable connections repair losses; the same at both ends"),
    {.path = "nic.retransmission", .type = SIM_ATTR_ENUM,
     .offset = offsetof(nic_config_t, retransmission),
     .default_text = "go-back-n", .choices = "go-back-n|go-back-0",
     .help = "after a loss: from the missing packet, or from the start of its message (or chunk)"},
    ATTR("retransmission-chunk", BYTES, chunk_bytes, "0", NULL, "2147483648",
         "go-back-0 goes back to a multiple of it in the message, rounded down to packets; 0: to the start"),
    ATTR("timeout", COUNT, timeout, "14", "0", "31",
         "retransmission timeout is 4.096 us x 2^this; 0: never"),
    ATTR("retry-count", COUNT, retry_count, "7", "0", "7",
         "retransmissions without progress before a request fails"),
    ATTR("rnr-retry", COUNT, rnr_retry, "7", "0", "7",
         "retries after receiver-not-ready before a request fails; 7: no limit"),
    ATTR("min-rnr-timer", COUNT, min_rnr_timer, "12", "0", "31",
         "code of the wait asked for when no receive is posted; 12: 0.64 ms"),
    ATTR("max-rd-atomic", COUNT, max_rd_atomic, "16", "1", "128",
         "READs outstanding per queue pair at most, in each role"),
    ATTR("nak-ends", BOOL, nak_ends, "off", NULL, NULL,
         "the end of a longer message that comes behind a gap makes a NAK, whatever nak-interval says"),
    ATTR("nak-once", BOOL, nak_once, "off", NULL, NULL,
         "NAKs of one packet that come within a round trip of the idle path make the sender go back once"),
    ATTR("recovery-delay", TIME, recovery_delay_ps, "0ps", "0ps", "1s",
         "time from a sequence NAK until the sender goes back: cards need far more than a round trip"),
    ATTR("nak-interval", TIME, nak_interval_ps, "0ps", "0ps", "1s",
         "least time between two sequence NAKs for one gap; 0: one NAK per gap"),
    ATTR("scheduler", STRING, scheduler, "ring", NULL, NULL,
         "which queue pair of a class sends next: ring, those that can, in turn; scan, the first found by looking "
         "through all, as in the HPCC simulator; or a program's own"),
    ATTR("window-overshoot", BOOL, window_overshoot, "false", NULL, NULL,
         "a packet may start while less than the window is in flight, even if it does not fit"),
    ATTR("ack-duplicates", BOOL, ack_duplicates, "true", NULL, NULL,
         "a request that came before is acknowledged again"),
    ATTR("any-mtu", BOOL, any_mtu, "false", NULL, NULL,
         "path MTUs need not be those of the standard"),
    ATTR_AUTO("frame-header", BYTES, frame_header_bytes, "auto", "1", "1000",
              "bytes of a data frame that are not payload, on links; auto: of its headers and pad"),
    ATTR_AUTO("frame-ack", BYTES, frame_ack_bytes, "auto", "1", "1000",
              "bytes of the frame of an ACK or NAK, on links; auto: of its headers"),
    ATTR_AUTO("base-rtt", TIME, base_rtt_ps, "auto", "1ps", "10s",
              "round-trip time without queueing, for congestion control; auto: of the path"),
    {.path = "nic.path-rtt", .type = SIM_ATTR_NAME, .offset = offsetof(nic_config_t, path_rtt),
     .default_text = "frames",
     .help = "what counts as the round trip of an idle path where base-rtt is auto: frames, a full packet and its "
             "ACK; hpcc: delays and the payload, one way, and the slowest link's rate; or a program's own"},
    ATTR("host.sockets", COUNT, host.sockets, "1", "1", "8", "sockets of a host, each with memory"),
    ATTR_AUTO("host.memory-bandwidth", RATE, host.memory_bps, "auto", "1Mbps", NULL,
              "of a socket's memory, reads and writes together; auto: no limit"),
    ATTR_AUTO("host.socket-link", RATE, host.socket_link_bps, "auto", "1Mbps", NULL,
              "from one socket to another, each direction; auto: no limit"),
    ATTR("host.socket-link-latency", TIME, host.socket_link_ps, "0ps", "0ps", "1ms",
         "what a payload from or to another socket's memory takes longer, with the detailed NIC"),
    ATTR("host.nics-per-switch", COUNT, host.nics_per_switch, "0", "0", "64",
         "NICs behind one PCIe switch; 0: each at a root port of its own"),
    ATTR_AUTO("host.switch-uplink", RATE, host.uplink_bps, "auto", "1Mbps", NULL,
              "of a PCIe switch to its socket, each direction; auto: no limit"),
    ATTR_AUTO("host.nic-link", RATE, host.nic_bps, "auto", "1Mbps", NULL,
              "of a NIC's own PCIe link, each direction, besides nic.detailed.pcie; auto: no limit"),
    ATTR("host.gpus", COUNT, host.gpus, "0", "0", "64", "GPUs, whose memory NICs reach directly"),
    ATTR_AUTO("host.gpu-link", RATE, host.gpu_bps, "auto", "1Mbps", NULL,
              "of a GPU's PCIe link, each direction; auto: no limit"),
    ATTR("host.location", STRING, host.location, "cpu:0", NULL, NULL,
         "where memory lies that no program placed: cpu:N, the N-th socket, or cuda:N, the N-th GPU"),
    {.path = "nic.model", .type = SIM_ATTR_ENUM, .offset = offsetof(nic_config_t, model),
     .default_text = "ideal", .choices = "ideal|detailed",
     .help = "whether what happens inside the NIC and its host takes time"},
    {.path = "nic.profile", .type = SIM_ATTR_ENUM, .offset = offsetof(nic_config_t, profile),
     .default_text = "connect-ib", .choices = NIC_PROFILE_CHOICES,
     .help = "the card whose constants a detailed NIC has where nic.detailed does not say"},
    {.path = "nic.detailed.replacement", .type = SIM_ATTR_ENUM,
     .offset = offsetof(nic_config_t, replacement), .default_text = "lru", .choices = "lru|random",
     .help = "which entry of a set a cache of the detailed NIC gives up"},
    {.path = "nic.detailed.sram-shared", .type = SIM_ATTR_BOOL,
     .offset = offsetof(nic_config_t, sram_shared), .default_text = "false",
     .help = "contexts, translations, WQEs and completion queues compete for one cache of all entries"},
    NIC_DETAIL_MAP(DETAIL)
    {.path = "nic.detailed.store", .type = SIM_ATTR_STRING, .offset = offsetof(nic_config_t, store),
     .default_text = "auto",
     .help = "who keeps contexts and memory keys: flat, tiered, or a program's own; auto: tiered where nic.cache.policy is not flat"},
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

// -- configs of algorithms and transports, by their place in nic_cc_all and nic_transport_all

#define ALGORITHMS_MAX SIM_COUNT_OF(((nic_config_t *)NULL)->cc_config)
#define TRANSPORTS_MAX SIM_COUNT_OF(((nic_config_t *)NULL)->transport_config)

static uint32_t algorithm_count(void)
{
    uint32_t count = 0;
    while (nic_cc_all[count] != NULL) {
        count++;
    }
    SIM_CHECK(count <= ALGORITHMS_MAX);
    return count;
}

static uint32_t transport_count(void)
{
    uint32_t count = 0;
    while (nic_transport_all[count] != NULL) {
        count++;
    }
    SIM_CHECK(count <= TRANSPORTS_MAX);
    return count;
}

static void *own_config(const sim_attr_table_t *table, const void *from)
{
    if (table == NULL) {
        return NULL;
    }
    void *const config = sim_alloc(table->config_bytes);
    if (from != NULL) {
        sim_attrs_copy(table, config, from);
    } else {
        sim_attrs_default(table, config);
    }
    return config;
}

// from: to be copied; NULL: defaults.
static void make_own_configs(nic_config_t *config, const nic_config_t *from)
{
    memset(config->cc_config, 0, sizeof(config->cc_config));
    memset(config->transport_config, 0, sizeof(config->transport_config));
    for (uint32_t i = 0; i < algorithm_count(); i++) {
        config->cc_config[i] =
            own_config(nic_cc_all[i]->attrs, from == NULL ? NULL : from->cc_config[i]);
    }
    for (uint32_t i = 0; i < transport_count(); i++) {
        config->transport_config[i] = own_config(nic_transport_all[i]->attrs,
                                                 from == NULL ? NULL : from->transport_config[i]);
    }
}

static void free_own_config(const sim_attr_table_t *table, void **config)
{
    if (*config != NULL) {
        sim_attrs_fini(table, *config);
        sim_free(*config);
        *config = NULL;
    }
}

void nic_config_init(nic_config_t *config)
{
    memset(config, 0, sizeof(*config));
    sim_attrs_default(&nic_config_attrs, config);
    make_own_configs(config, NULL);
}

void nic_config_copy(nic_config_t *to, const nic_config_t *from)
{
    sim_attrs_copy(&nic_config_attrs, to, from);
    make_own_configs(to, from);
    nic__extras_copy(to, from);
}

void nic_config_fini(nic_config_t *config)
{
    for (uint32_t i = 0; i < algorithm_count(); i++) {
        free_own_config(nic_cc_all[i]->attrs, &config->cc_config[i]);
    }
    for (uint32_t i = 0; i < transport_count(); i++) {
        free_own_config(nic_transport_all[i]->attrs, &config->transport_config[i]);
    }
    nic__extras_fini(config);
    sim_attrs_fini(&nic_config_attrs, config);
}

// -- rules

typedef struct name_list {
    const char *attribute; // that chooses among them
    const char *what;      // they are
    const char **names;
    size_t count;
    size_t capacity;
} name_list_t;

static void add_name(name_list_t *list, const char *name)
{
    SIM_GROW(list->names, list->count, &list->capacity);
    list->names[list->count++] = name;
}

// Whether name is one of them, or of the program's own of that kind. Frees the list.
static sim_err_t check_name(name_list_t *list,
                            const nic_config_t *config,
                            nic_extra_kind_t kind,
                            const char *name,
                            sim_message_t *message)
{
    for (size_t i = 0; i < config->extra_count; i++) {
        if (config->extras[i].kind == kind) {
            add_name(list, config->extras[i].name);
        }
    }
    bool known = false;
    char text[256] = "";
    for (size_t i = 0; i < list->count; i++) {
        const size_t length = strlen(text);
        known = known || strcmp(list->names[i], name) == 0;
        (void)snprintf(text + length,
                       sizeof(text) - length,
                       "%s%s",
                       i == 0 ? "" : ", ",
                       list->names[i]);
    }
    const char *const nearest = sim_nearest_name(name, list->names, list->count);
    sim_free((void *)list->names);
    if (known) {
        return SIM_OK;
    }
    return nearest != NULL ? sim_fail(message,
                                      SIM_ERR_UNKNOWN,
                                      "%s: no %s \"%s\", did you mean \"%s\"?",
                                      list->attribute,
                                      list->what,
                                      name,
                                      nearest)
                           : sim_fail(message,
                                      SIM_ERR_UNKNOWN,
                                      "%s: no %s \"%s\", expected one of %s",
                                      list->attribute,
                                      list->what,
                                      name,
                                      text);
}

static sim_err_t check_algorithm(const nic_config_t *config, sim_message_t *message)
{
    name_list_t list = {.attribute = "nic.congestion-control", .what = "algorithm"};
    for (uint32_t i = 0; nic_cc_all[i] != NULL; i++) {
        add_name(&list, nic_cc_all[i]->name);
    }
    return check_name(&list, config, NIC_EXTRA_CC, config->congestion_control, message);
}

static sim_err_t check_transport(const nic_config_t *config, sim_message_t *message)
{
    name_list_t list = {.attribute = "nic.transport", .what = "transport"};
    for (uint32_t i = 0; nic_transport_all[i] != NULL; i++) {
        add_name(&list, nic_transport_all[i]->name);
    }
    return check_name(&list, config, NIC_EXTRA_TRANSPORT, config->transport, message);
}

static sim_err_t check_scheduler(const nic_config_t *config, sim_message_t *message)
{
    const void *own;
    const nic_scheduler_ops_t *const ops = nic__config_scheduler(config, &own);
    if (ops == NULL) {
        name_list_t list = {.attribute = "nic.scheduler", .what = "scheduler"};
        for (uint32_t i = 0; nic_scheduler_all[i] != NULL; i++) {
            add_name(&list, nic_scheduler_all[i]->name);
        }
        return check_name(&list, config, NIC_EXTRA_SCHEDULER, config->scheduler, message);
    }
    if (ops->loop != NULL && (config->model == NIC_DETAILED || config->custom_device != NULL)) {
        return sim_fail(message,
                        SIM_ERR_INVALID,
                        "nic.scheduler: %s goes with nic.model ideal, expected ring",
                        ops->name);
    }
    return SIM_OK;
}

static sim_err_t check_stores(const nic_config_t *config, sim_message_t *message)
{
    name_list_t stores = {.attribute = "nic.detailed.store", .what = "store"};
    add_name(&stores, "auto");
    for (uint32_t i = 0; nic_store_all[i] != NULL; i++) {
        add_name(&stores, nic_store_all[i]->name);
    }
    const sim_err_t error = check_name(&stores, config, NIC_EXTRA_STORE, config->store, message);
    if (error != SIM_OK) {
        return error;
    }
    name_list_t policies = {.attribute = "nic.cache.policy", .what = "policy"};
    add_name(&policies, "flat");
    for (uint32_t i = 0; nic_policy_all[i] != NULL; i++) {
        add_name(&policies, nic_policy_all[i]->name);
    }
    return check_name(&policies, config, NIC_EXTRA_POLICY, config->cache.policy, message);
}

sim_err_t nic_config_check(const nic_config_t *config, sim_message_t *message)
{
    if (config->mtu_bytes < 256 || config->mtu_bytes > 4096 ||
        ((config->mtu_bytes & (config->mtu_bytes - 1)) != 0 && !config->any_mtu)) {
        return sim_fail(message,
                        SIM_ERR_RANGE,
                        "nic.mtu: %" PRIu64 " bytes, expected 256, 512, 1024, 2048 or 4096",
                        config->mtu_bytes);
    }
    const sim_err_t scheduler = check_scheduler(config, message);
    if (scheduler != SIM_OK) {
        return scheduler;
    }
    nic_location_t location;
    const sim_err_t nowhere =
        nic__location_of(&config->host, config->host.location, &location, message);
    if (nowhere != SIM_OK) {
        return nowhere;
    }
    nic_detail_t detail;
    nic_detail_resolve(config, &detail);
    const sim_err_t error = nic_detail_check(&detail, message);
    if (error != SIM_OK) {
        return error;
    }
    const sim_err_t wrong = nic_cache_check(&config->cache, message);
    if (wrong != SIM_OK) {
        return wrong;
    }
    const sim_err_t unknown = check_stores(config, message);
    if (unknown != SIM_OK) {
        return unknown;
    }
    const sim_err_t transport = check_transport(config, message);
    return transport != SIM_OK ? transport : check_algorithm(config, message);
}
