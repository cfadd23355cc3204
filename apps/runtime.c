// SPDX-License-Identifier: Apache-2.0
// apps/runtime.c - verbs objects and QP numbers that all applications of one network share.
//
// Planning gives out QP numbers in sequence on each NIC, so both ends know a connection's numbers
// without a message. A passive QP is created when its first packet arrives and destroyed some time
// after its last: each creation on a NIC checks two other QPs in turn, so no timer is needed and
// the QPs kept are a small multiple of those in use. A later packet (the last acknowledgement was
// lost) creates the QP again, in the state that answers duplicates.

#include "apps/app_internal.h"
#include "apps/endpoints.h"
#include "apps/programs/cm.h"
#include "apps/programs/files.h"
#include "apps/programs/management/servers.h"
#include "apps/programs/management/sockets.h"
#include "apps/programs/segments.h"
#include "apps/simbricks/peers.h"
#include "kernel/digits.h"

// Number of usable QP numbers: 0 and 1 are for management, 0xffffff means multicast.
#define QPN_COUNT (ROCE_QPN_MASK - ROCE_QPN_FIRST)
#define CQ_CAPACITY (1u << 20)
#define POLL_MAX 16u
#define LOOKED_AT_PER_ACCEPT 2

struct app_runtime {
    net_t *net;
    app__endpoint_t **endpoints; // by interface; NULL: not used yet
    size_t endpoint_count;
    uint64_t flow_id;
    struct app__sockets
        *sockets; // of programs (apps/programs/management/sockets.h); NULL: there are none
    struct app__cmas *managers;     // of programs (apps/programs/cm.h); NULL: there are none
    struct app__files *files;       // of programs (apps/programs/files.h); NULL: there are none
    struct app__segments *segments; // of programs, by host (apps/programs/segments.h)
    struct app__servers
        *servers;             // of ssh (apps/programs/management/servers.h); NULL: there are none
    struct app__peers *peers; // processes of SimBricks (apps/simbricks/peers.h); NULL: none
};

const app_ops_t *const app_all[] = {
    &app_flows,
    &app_poisson,
    &app_incast,
    &app_bulk,
    &app_permutation,
    &app_all_to_all,
    &app_perftest,
    &app_all_to_all_reads,
    &app_verbs_rate,
    &app_sequencer,
    &app_herd,
    &app_drtm_kv,
    &app_mooncake_bench,
    &app_mooncake_replay,
    &app_contexts,
    &app_workload,
    &app_collective,
    &app_accelerators,
    &app_training,
    &app_submitted,
    &app_kv_matrix,
    &app_serving,
    &app_program,
    &app_simbricks,
    NULL,
};

app_runtime_t *app_runtime_create(net_t *net)
{
    app_runtime_t *const runtime = sim_alloc(sizeof(*runtime));
    runtime->net = net;
    runtime->endpoint_count = net_interface_count(net);
    runtime->endpoints = sim_alloc_array(runtime->endpoint_count + 1, sizeof(app__endpoint_t *));
    return runtime;
}

void app_runtime_destroy(app_runtime_t *runtime)
{
    if (runtime == NULL) {
        return;
    }
    app__servers_destroy(runtime->servers);
    app__peers_destroy(runtime->peers);
    app__cmas_destroy(runtime->managers); // before the endpoints
    for (size_t i = 0; i < runtime->endpoint_count; i++) {
        app__endpoint_t *const endpoint = runtime->endpoints[i];
        if (endpoint == NULL) {
            continue;
        }
        sim_free_each(endpoint->passives, endpoint->passive_count);
        SIM_FREE_ALL(endpoint->passives, endpoint->ranges, endpoint);
    }
    app__sockets_destroy(runtime->sockets);
    app__files_destroy(runtime->files);
    app__segments_destroy(runtime->segments);
    sim_free(runtime->endpoints);
    sim_free(runtime);
}

struct app__sockets *app__runtime_sockets(app_runtime_t *runtime, sim_time_t latency_ps)
{
    if (runtime->sockets == NULL) {
        runtime->sockets = app__sockets_create(runtime->net, latency_ps);
    }
    return runtime->sockets;
}

struct app__cmas *app__runtime_managers(app_runtime_t *runtime)
{
    if (runtime->managers == NULL) {
        runtime->managers = app__cmas_create(runtime->net, runtime);
    }
    return runtime->managers;
}

struct app__files *app__runtime_files(app_runtime_t *runtime)
{
    if (runtime->files == NULL) {
        runtime->files = app__files_create(runtime->net);
    }
    return runtime->files;
}

struct app__segments **app__runtime_segments(app_runtime_t *runtime)
{
    return &runtime->segments;
}

struct app__servers **app__runtime_servers(app_runtime_t *runtime)
{
    return &runtime->servers;
}

struct app__peers **app__runtime_peers(app_runtime_t *runtime)
{
    return &runtime->peers;
}

// -- completions

static void send_completed(nic_cq_t *cq, void *ctx)
{
    (void)ctx;
    nic_wc_t completions[POLL_MAX];
    uint32_t count = 0;
    while ((count = nic_poll_cq(cq, POLL_MAX, completions)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            app__active_t *const active = (app__active_t *)(uintptr_t)completions[i].wr_id;
            active->ops->completed(&completions[i]);
        }
    }
}

static void receive_completed(nic_cq_t *cq, void *ctx)
{
    app__endpoint_t *const endpoint = ctx;
    nic_wc_t completions[POLL_MAX];
    uint32_t count = 0;
    while ((count = nic_poll_cq(cq, POLL_MAX, completions)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            app__passive_t *const passive = (app__passive_t *)(uintptr_t)completions[i].wr_id;
            if (completions[i].status == NIC_WC_SUCCESS) {
                passive->ops->received(passive->owner, endpoint, passive, &completions[i]);
            }
        }
    }
}

// -- passive QPs

// Checks the next few passive QPs and destroys those that are finished.
static void look_for_finished(app__endpoint_t *endpoint)
{
    for (int i = 0; i < LOOKED_AT_PER_ACCEPT && endpoint->passive_count > 0; i++) {
        if (endpoint->hand >= endpoint->passive_count) {
            endpoint->hand = 0;
        }
        app__passive_t *const passive = endpoint->passives[endpoint->hand];
        if (!passive->ops->finished(passive->owner, passive)) {
            endpoint->hand++;
            continue;
        }
        if (passive->qp != NULL) {
            nic_qp_destroy(passive->qp);
        }
        sim_free(passive);
        endpoint->passives[endpoint->hand] = endpoint->passives[--endpoint->passive_count];
    }
}

// Returns the index of the first range that may hold a QP number: 0 if ranges overlap, else that of
// the only one.
static size_t first_to_look(const app__endpoint_t *endpoint, uint32_t qp_num)
{
    const uint64_t wanted = (uint64_t)qp_num - ROCE_QPN_FIRST;
    size_t low = 0;
    size_t high = endpoint->overlaps ? 1 : endpoint->range_count;
    while (high - low > 1 && high > 0) {
        const size_t middle = low + (high - low) / 2;
        if (endpoint->ranges[middle].first <= wanted) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Finds the range that a packet for a QP number belongs to. Numbers repeat after 2^24 QPs; of
// several ranges the one that started last is taken.
static const app__range_t *find_passive(const app__endpoint_t *endpoint, uint32_t qp_num,
                                        uint64_t *offset)
{
    const app__range_t *found = NULL;
    sim_time_t found_ps = 0;
    const size_t from = first_to_look(endpoint, qp_num);
    const size_t end =
        endpoint->overlaps || endpoint->range_count == 0 ? endpoint->range_count : from + 1;
    for (size_t i = from; i < end; i++) {
        const app__range_t *const range = &endpoint->ranges[i];
        const uint64_t first = range->first % QPN_COUNT;
        const uint64_t wanted = qp_num - ROCE_QPN_FIRST;
        uint64_t at = wanted >= first ? wanted - first : wanted + QPN_COUNT - first;
        for (; range->ops != NULL && at < range->count; at += QPN_COUNT) {
            const sim_time_t from_ps =
                range->ops->passive_from_ps(range->owner, endpoint->interface, at);
            if (from_ps <= endpoint->node->now_ps && (found == NULL || from_ps >= found_ps)) {
                found = range;
                found_ps = from_ps;
                *offset = at;
            }
        }
    }
    return found;
}

static nic_qp_t *accept_qp(nic_t *nic, uint32_t qp_num, void *ctx)
{
    app__endpoint_t *const endpoint = ctx;
    SIM_CHECK(nic == endpoint->nic);
    if (qp_num == ROCE_QPN_GSI && endpoint->manager != NULL) {
        return app__cma_qp(endpoint->manager, nic);
    }
    if (qp_num < ROCE_QPN_FIRST || qp_num >= ROCE_QPN_MASK) {
        return NULL;
    }
    uint64_t offset = 0;
    const app__range_t *const range = find_passive(endpoint, qp_num, &offset);
    if (range == NULL) {
        return NULL;
    }
    look_for_finished(endpoint);
    app__passive_t *const passive = sim_alloc(sizeof(*passive));
    passive->ops = range->ops;
    passive->owner = range->owner;
    passive->endpoint = endpoint;
    range->ops->accept(range->owner, endpoint, offset, passive);
    SIM_APPEND(endpoint->passives, endpoint->passive_count, endpoint->passive_capacity, passive);
    return passive->qp;
}

// -- endpoints

nic_cq_t *app__recv_cq(app__endpoint_t *endpoint)
{
    if (endpoint->recv_cq == NULL) {
        endpoint->recv_cq = nic_cq_create(endpoint->nic, CQ_CAPACITY, receive_completed, endpoint);
    }
    return endpoint->recv_cq;
}

static app__endpoint_t *create_endpoint(net_t *net, uint32_t interface)
{
    app__endpoint_t *const endpoint = sim_alloc(sizeof(*endpoint));
    nic_t *const nic = nic_of_interface(net, interface);
    endpoint->net = net;
    endpoint->nic = nic;
    endpoint->node = &nic_node(nic)->sim;
    endpoint->interface = interface;
    endpoint->pd = nic_pd_alloc(nic);
    endpoint->send_cq = nic_cq_create(nic, CQ_CAPACITY, send_completed, endpoint);
    if (nic_is_detailed(nic)) {
        (void)app__recv_cq(endpoint); // its number is that of a context
    }
    nic_on_unknown_qp(nic, accept_qp, endpoint);
    return endpoint;
}

app__endpoint_t *app__endpoint_of(app_runtime_t *runtime, uint32_t interface)
{
    SIM_CHECKF(interface < runtime->endpoint_count, "interface %u", interface);
    if (runtime->endpoints[interface] == NULL) {
        runtime->endpoints[interface] = create_endpoint(runtime->net, interface);
    }
    return runtime->endpoints[interface];
}

// Inserts a range where its first number belongs. Ranges that no longer fit side by side stay in
// the order in which they came.
static void add_range(app__endpoint_t *endpoint, const app__range_t *range)
{
    SIM_GROW(endpoint->ranges, endpoint->range_count, &endpoint->range_capacity);
    size_t at = endpoint->range_count++;
    while (at > 0 && !endpoint->overlaps && endpoint->ranges[at - 1].first > range->first) {
        endpoint->ranges[at] = endpoint->ranges[at - 1];
        at--;
    }
    endpoint->ranges[at] = *range;
    endpoint->range_added = at;
    const bool before =
        at > 0 && endpoint->ranges[at - 1].first + endpoint->ranges[at - 1].count > range->first;
    const bool after = at + 1 < endpoint->range_count &&
                       endpoint->ranges[at + 1].first < range->first + range->count;
    endpoint->overlaps =
        endpoint->overlaps || before || after || range->first + range->count > QPN_COUNT;
}

uint64_t app__reserve_qps(app__endpoint_t *endpoint, const app__range_ops_t *ops, void *owner,
                          uint64_t count)
{
    const uint64_t kept_end = endpoint->kept_first + endpoint->kept_count;
    if (endpoint->position < kept_end && endpoint->position + count > endpoint->kept_first) {
        endpoint->position = kept_end;
    }
    const app__range_t range = {ops, owner, endpoint->position, count, NULL, 0};
    add_range(endpoint, &range);
    endpoint->position += count;
    return range.first;
}

uint64_t app__reserve_qps_at(app__endpoint_t *endpoint, const app__range_ops_t *ops, void *owner,
                             uint64_t first, uint64_t count)
{
    SIM_CHECK(endpoint->kept_count == 0);
    endpoint->kept_first = SIM_MAX(endpoint->position, first);
    endpoint->kept_count = count;
    const app__range_t range = {ops, owner, endpoint->kept_first, count, NULL, 0};
    add_range(endpoint, &range);
    return range.first;
}

// Numbers wrap around after the last one: a range that wraps registers the buffers of all numbers.
void app__register_buffers(app__endpoint_t *endpoint)
{
    SIM_CHECK(endpoint->range_count > 0);
    app__range_t *const range = &endpoint->ranges[endpoint->range_added];
    const uint64_t first = range->first % QPN_COUNT;
    const bool whole = first + range->count > QPN_COUNT;
    const uint64_t address = app__address_of_qp(app__qp_number(whole ? 0 : first));
    const uint64_t buffers = whole ? QPN_COUNT : range->count;
    nic_mr_t *region = NULL;
    const sim_err_t error = nic_mr_register(endpoint->pd, address, buffers * app__address_of_qp(1),
                                            NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE |
                                                NIC_ACCESS_REMOTE_READ | NIC_ACCESS_REMOTE_ATOMIC,
                                            &region);
    SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
    SIM_CHECK(nic_mr_lkey(region) == nic_mr_rkey(region));
    range->region = region;
    range->key = nic_mr_rkey(region);
}

void app__return_qps(app__endpoint_t *endpoint, const void *owner)
{
    size_t kept = 0;
    for (size_t i = 0; i < endpoint->range_count; i++) {
        const app__range_t range = endpoint->ranges[i];
        if (range.owner != owner) {
            endpoint->ranges[kept++] = range;
            continue;
        }
        endpoint->position = SIM_MIN(range.first, endpoint->position);
        if (range.region != NULL) {
            nic_mr_deregister(range.region);
        }
    }
    endpoint->range_count = kept;
}

static bool has_buffer(const app__range_t *range, uint32_t qp_num)
{
    const uint64_t first = range->first % QPN_COUNT;
    const uint64_t at = ((uint64_t)qp_num - ROCE_QPN_FIRST + QPN_COUNT - first) % QPN_COUNT;
    return range->key != 0 && at < range->count;
}

uint32_t app__buffer_key(const app__endpoint_t *endpoint, uint32_t qp_num)
{
    const size_t from = first_to_look(endpoint, qp_num);
    for (size_t i = from; i < endpoint->range_count; i++) {
        if (has_buffer(&endpoint->ranges[i], qp_num)) {
            return endpoint->ranges[i].key;
        }
    }
    SIM_CHECKF(false, "QP %u has no buffer", qp_num);
    return 0;
}

uint32_t app__qp_number(uint64_t position)
{
    return ROCE_QPN_FIRST + (uint32_t)(position % QPN_COUNT);
}

uint64_t app__reserve_flow_ids(app_runtime_t *runtime, uint64_t count)
{
    runtime->flow_id += count;
    return runtime->flow_id - count;
}

void app__return_flow_ids(app_runtime_t *runtime, uint64_t first)
{
    SIM_CHECK(first <= runtime->flow_id);
    runtime->flow_id = first;
}

uint64_t app__address_of_qp(uint32_t qp_num)
{
    return (uint64_t)qp_num << 31;
}

sim_err_t app__check_memory(const app_context_t *context, const char *attribute, double count,
                            uint64_t each_bytes, const char *what, sim_message_t *message)
{
    const double needed_bytes = count * (double)each_bytes;
    const uint64_t most_bytes = context->memory_max_bytes;
    if (most_bytes == 0 || most_bytes == SIM_AUTO || needed_bytes <= (double)most_bytes) {
        return SIM_OK;
    }
    return sim_fail_about(message, SIM_ERR_RANGE, attribute,
                          ": %s %s of %" PRIu64 " bytes each take some %s GB of memory, "
                          "expected at most %s GB: fewer of them, a higher memory-max, or --yes",
                          SIM_DIGITS(count, 4), what, each_bytes, SIM_DIGITS(needed_bytes / 1e9, 3),
                          SIM_DIGITS((double)most_bytes / 1e9, 3));
}

void app__tally_report(const app_t *app, app_tally_t *tally)
{
    double requests = 0;
    double failed = 0;
    (void)sim_report_number(app->ops->report, app, "requests", &requests);
    (void)sim_report_number(app->ops->report, app, "failed", &failed);
    *tally = (app_tally_t){.succeeded = (uint64_t)requests, .failed = (uint64_t)failed};
}

// Returns whether the program has ended, and fills its tally.
static bool ended_with(const app_t *app, app_tally_t *tally)
{
    uint64_t done = 0;
    uint64_t planned = 0;
    *tally = (app_tally_t){0};
    if (app->ops->tally == NULL) {
        return false;
    }
    app->ops->progress(app, &done, &planned);
    app->ops->tally(app, tally);
    return done >= planned && planned > 0;
}

// Returns whether nothing succeeded and something was lost: a program that stopped after its
// measured span does not see what fails later. Where nothing was lost, the span is too short.
static bool is_in_vain(const app_t *app, const app_tally_t *tally)
{
    net_tally_t sums;
    uint64_t in_flight = 0;
    net_conservation(app->net, &sums, &in_flight);
    return tally->succeeded == 0 && (tally->failed > 0 || (tally->spans && sums.dropped > 0));
}

const char *app_failure(const app_t *app)
{
    app_tally_t tally;
    if (app->ops->failure != NULL) {
        return app->ops->failure(app);
    }
    return ended_with(app, &tally) && is_in_vain(app, &tally) ? "none of its requests succeeded"
                                                              : NULL;
}

bool app_measured_nothing(const app_t *app)
{
    app_tally_t tally;
    return ended_with(app, &tally) && tally.spans && tally.measured == 0 &&
           !is_in_vain(app, &tally);
}
