// SPDX-License-Identifier: Apache-2.0
// apps/serving/application.c - creates the application `serving`: its requests, hosts, nodes and
// memory (docs/models/serving.md).
#include "apps/app_internal.h"
#include "apps/hosts.h"
#include "apps/serving/attempt.h"
#include "apps/serving/failures.h"
#include "apps/serving/job.h"
#include "apps/serving/report.h"
#include "apps/serving/router.h"
#include "apps/serving/transfers/cache.h"
#include "apps/serving/transfers/node_channels.h"

#include <string.h>

#define ATTEMPTS 3u // how often a request is placed at most, or more often if more nodes fail
#define ATTEMPTS_MAX 16u
#define PAGE_BYTES UINT64_C(4096)

// -- sizes

// Checks that the GPUs of both kinds of nodes pair up, and sets the flows between them.
static sim_err_t set_flows(app__serving_t *serving, sim_message_t *message)
{
    const uint64_t from = serving->nodes[0].gpus.count;
    const uint64_t to = serving->nodes[serving->node_count - 1].gpus.count;
    SIM_CHECK(from > 0 && to > 0);
    const uint64_t flows = SIM_MAX(from, to);
    if (flows % from != 0 || flows % to != 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "decode-tp",
                              " is %" PRIu64 " beside tp %" PRIu64
                              ", expected that one is a multiple of the other",
                              to, from);
    }
    // Each GPU of the decode node needs the heads that it computes with.
    const uint64_t shares = app__served_kv_shares(&serving->served);
    const uint64_t parts = SIM_MIN(shares, to) * (flows / to);
    const uint64_t bytes = serving->nodes[0].gpus.kv_token_bytes;
    serving->flows = (uint32_t)flows;
    serving->flow_unit_bytes = (bytes + parts - 1) / parts;
    return SIM_OK;
}

static sim_err_t set_memory(app__serving_t *serving, sim_message_t *message)
{
    for (uint32_t n = 0; n < serving->node_count; n++) {
        app__serving_node_t *const node = &serving->nodes[n];
        const uint64_t bytes =
            app__serving_kv_memory(&serving->config, &serving->served, &node->gpus);
        node->pages = bytes / (node->gpus.kv_token_bytes * serving->config.page_tokens);
        if (node->pages == 0 && serving->config.kv_bytes != SIM_AUTO) {
            return sim_fail_about(message, SIM_ERR_RANGE, "kv-memory",
                                  ": %" PRIu64 " bytes hold no page of KV data, which are %" PRIu64
                                  " bytes, expected more, or fewer page-tokens",
                                  bytes, node->gpus.kv_token_bytes * serving->config.page_tokens);
        }
        if (node->pages == 0) {
            return sim_fail_about(
                message, SIM_ERR_RANGE, node->decodes ? "decode-tp" : "tp",
                ": the memory of %" PRIu64 " GPU%s has no room for a page of KV data beside the "
                "weights of %s (%.1f GB), expected more GPUs, or kv-memory",
                node->gpus.count * node->place.stages,
                sim_plural(node->gpus.count * node->place.stages), serving->served.sizes.name,
                (double)app__served_weight_bytes(&serving->served, serving->config.value_bytes,
                                                 node->gpus.expert_nodes) /
                    1e9);
        }
    }
    return SIM_OK;
}

// Gives each request a place for its KV data in the memory of each flow, and of each host.
static sim_err_t set_places(app__serving_t *serving, sim_message_t *message)
{
    const uint64_t token_bytes = serving->nodes[0].gpus.kv_token_bytes;
    serving->host_scale =
        serving->storage_count > 0 ? token_bytes / serving->flow_unit_bytes + 1 : 1;
    serving->stage_at = sim_alloc_array(serving->requests.count, sizeof(*serving->stage_at));
    for (uint32_t i = 0; i < serving->requests.count; i++) {
        serving->stage_at[i] = serving->stage_bytes;
        const uint64_t bytes = serving->requests.items[i].prompt_tokens * serving->flow_unit_bytes;
        serving->stage_bytes += (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        if (serving->stage_bytes * serving->host_scale > APP__SERVING_PLACE_BYTES / 2) {
            return sim_fail_about(message, SIM_ERR_RANGE, "requests",
                                  ": the KV data of all prompts is above 256 TiB, expected fewer "
                                  "or shorter requests");
        }
    }
    return SIM_OK;
}

// Returns the tokens that a step computes at most: those of the budget, or without chunks all of
// one request, which is computed again with its output if it has given its memory up.
static uint64_t step_tokens_max(const app__serving_t *serving)
{
    const uint64_t budget = serving->config.token_budget;
    const uint64_t longest = serving->requests.longest;
    return serving->config.chunked || budget > longest ? budget : longest;
}

// Returns the activations of a GPU that other hosts write in a step of this number of tokens: to
// experts, to the next stage, or in an all-reduce.
static uint64_t activation_bytes(const app__serving_t *serving, const app__serving_node_t *node,
                                 uint64_t tokens)
{
    const uint64_t layers = serving->served.sizes.layers / serving->layer_groups + 1;
    uint64_t most = node->gpus.expert_nodes > 1
                        ? app__serving_exchange_bytes(serving, tokens) * (layers + 1)
                        : 0;
    if (node->place.host_count > 1) {
        const uint64_t pass = app__serving_pass_bytes(node, tokens);
        const uint64_t reduce = app__serving_reduce_bytes(node, tokens, layers);
        most = SIM_MAX(most, pass);
        most = SIM_MAX(most, reduce);
    }
    return most;
}

// Makes room for the activations of a step behind the KV data. Checks that experts spread evenly.
static sim_err_t set_exchanges(app__serving_t *serving, sim_message_t *message)
{
    const app__model_t *const sizes = &serving->served.sizes;
    const uint64_t tokens = step_tokens_max(serving);
    serving->exchange_at = serving->stage_bytes;
    for (uint32_t n = 0; n < serving->node_count; n++) {
        const uint64_t nodes = serving->nodes[n].gpus.expert_nodes;
        if (nodes > 1 && sizes->experts % nodes != 0) {
            return sim_fail_about(message, SIM_ERR_RANGE, "experts",
                                  ": %" PRIu64 " experts do not spread evenly over %" PRIu64
                                  " nodes, expected a divisor of the experts, or `experts: node`",
                                  sizes->experts, nodes);
        }
        const uint64_t bytes = activation_bytes(serving, &serving->nodes[n], tokens);
        if (bytes > 0) {
            const uint64_t end =
                serving->exchange_at + bytes / PAGE_BYTES * PAGE_BYTES + PAGE_BYTES;
            serving->stage_bytes = SIM_MAX(end, serving->stage_bytes);
        }
    }
    return SIM_OK;
}

// Numbers the NICs of all nodes, once their hosts are known.
static sim_err_t set_nics(app__serving_t *serving, sim_message_t *message)
{
    const uint64_t storage = serving->config.storage_nics;
    for (uint32_t n = 0; n < serving->all_count; n++) {
        app__serving_node_t *const node = &serving->nodes[n];
        node->nics = nic_count(node->station->host);
        node->first_nic = serving->nic_count;
        serving->nic_count += node->nics;
        if (n < serving->node_count && storage > 0) {
            if (storage >= node->nics) {
                return sim_fail_about(message, SIM_ERR_RANGE, "storage-nics",
                                      " is %" PRIu64 ", and host %s has %u NIC%s; expected that "
                                      "some remain for the GPUs",
                                      storage, node->station->host->sim.name, node->nics,
                                      sim_plural(node->nics));
            }
            node->storage_nics = (uint32_t)storage;
        }
    }
    return SIM_OK;
}

// -- nodes

// Appends a location to a priority matrix: one NIC, or several from `nic` on; others are available.
static char *add_location(char *text, const app__serving_node_t *node, uint32_t place, uint32_t nic,
                          uint32_t nics)
{
    char *lists[2] = {sim_strdup(""), sim_strdup("")};
    for (uint32_t i = 0; i < node->nics; i++) {
        char **const list = &lists[i >= nic && i < nic + nics ? 0 : 1];
        char *const more = sim_format("%s%s\"mlx5_%u\"", *list, (*list)[0] == '\0' ? "" : ", ", i);
        sim_free(*list);
        *list = more;
    }
    char *const location =
        place == APP__SERVING_HOST ? sim_strdup("cpu:0") : sim_format("cuda:%u", place);
    char *const longer = sim_format("%s%s\"%s\": [[%s], [%s]]", text, text[1] == '\0' ? "" : ", ",
                                    location, lists[0], lists[1]);
    SIM_FREE_ALL(location, lists[0], lists[1], text);
    return longer;
}

static char *matrix_of(const app__serving_node_t *node)
{
    char *text = sim_strdup("{");
    for (uint32_t gpu = 0; gpu < node->place.gpus; gpu++) {
        text = add_location(text, node, gpu, app__serving_nic_of_gpu(node, gpu), 1);
    }
    const uint32_t nics = node->storage_nics > 0 ? node->storage_nics : node->nics;
    text = add_location(text, node, APP__SERVING_HOST, node->nics - nics, nics);
    char *const whole = sim_format("%s}", text);
    sim_free(text);
    return whole;
}

static sim_err_t add_memory(const app__serving_t *serving, const app__serving_node_t *node,
                            sim_message_t *message)
{
    sim_err_t error = SIM_OK;
    for (uint32_t gpu = 0; gpu < node->place.gpus && error == SIM_OK; gpu++) {
        char *const location = sim_format("cuda:%u", gpu);
        error =
            app__mc_register_location(node->engine, location, 0, app__serving_address(node, gpu),
                                      serving->stage_bytes, message);
        sim_free(location);
    }
    if (error == SIM_OK && serving->storage_count > 0) {
        error = app__mc_register_location(node->engine, "cpu:0", 0,
                                          app__serving_address(node, APP__SERVING_HOST),
                                          serving->stage_bytes * serving->host_scale, message);
    }
    return error;
}

static sim_err_t make_engine(app__serving_t *serving, app__serving_node_t *node,
                             sim_message_t *message)
{
    char *const matrix = matrix_of(node);
    app_mooncake_config_t settings = serving->config.engine;
    if (settings.verify_stride_bytes == SIM_AUTO) {
        settings.verify_stride_bytes = PAGE_BYTES;
    }
    sim_err_t error =
        app_mooncake_create(serving->cluster, node->station->host, node->station->host->sim.name,
                            matrix, &settings, &node->engine, message);
    sim_free(matrix);
    if (error == SIM_OK) {
        error = add_memory(serving, node, message);
    }
    if (error == SIM_OK) {
        node->engine->verify = false;
    }
    return error;
}

static sim_err_t read_times(app__serving_t *serving, const app_context_t *context,
                            const app__serving_config_t *config, sim_message_t *message)
{
    const char *const own = config->decode_times[0] == '\0' ? config->times : config->decode_times;
    const char *const names[2] = {config->times, own};
    sim_err_t error = SIM_OK;
    for (uint32_t i = 0; i < 2 && error == SIM_OK; i++) {
        char *text = NULL;
        size_t size = 0;
        if (names[i][0] == '\0') {
            continue;
        }
        error = context->read_file(names[i], &text, &size, message, context->ctx);
        if (error != SIM_OK) {
            const sim_message_t why = *message;
            return sim_fail_about(message, error, "step-times", ": %s", why.text);
        }
        error = app__step_times_read(names[i], text, size, &serving->times[i], message);
        sim_free(text);
    }
    return error;
}

static void init_nodes(app__serving_t *serving)
{
    serving->all_count =
        serving->node_count + serving->storage_count + app__serving_member_count(serving);
    serving->nodes = sim_alloc_array(serving->all_count, sizeof(*serving->nodes));
    for (uint32_t n = 0; n < serving->all_count; n++) {
        serving->nodes[n] = (app__serving_node_t){.serving = serving, .index = n};
    }
    app__serving_set_places(serving);
    app__serving_ring_init(serving);
}

// Puts hosts into the order of the nodes: users name all hosts of a node after the other.
static void sort_hosts(const app__serving_t *serving, net_node_t **hosts)
{
    net_node_t **const named = sim_alloc_array(serving->all_count, sizeof(net_node_t *));
    uint32_t at = 0;
    memcpy(named, hosts + 1, serving->all_count * sizeof(net_node_t *));
    for (uint32_t n = 0; n < serving->node_count + serving->storage_count; n++) {
        const uint32_t count = n < serving->node_count ? serving->nodes[n].place.host_count : 1;
        for (uint32_t i = 0; i < count; i++) {
            hosts[1 + (i == 0 ? n : app__serving_host_of(serving, n, i))] = named[at++];
        }
    }
    SIM_CHECK(at == serving->all_count);
    sim_free(named);
}

static sim_err_t find_hosts(const app__serving_t *serving, const app_context_t *context,
                            const app__serving_config_t *config, net_node_t **hosts,
                            sim_message_t *message)
{
    app__places_t places;
    sim_err_t error = app__places_find(context, "hosts", config->hosts, &places, message);
    if (error != SIM_OK) {
        return error;
    }
    const uint64_t wanted = 1 + (uint64_t)serving->all_count;
    if (places.host_count < wanted) {
        const uint32_t more = app__serving_member_count(serving);
        char *const members =
            more > 0 ? sim_format(", and %u further hosts of nodes with pp or tp-hosts", more)
                     : sim_strdup("");
        error = sim_fail_about(message, SIM_ERR_RANGE, "hosts",
                               "%s %u host%s, expected at least %" PRIu64
                               ": a router, %u prefill, %u decode and %u storage nodes%s",
                               strcmp(config->hosts, "*") == 0 ? ": the network has" : " names",
                               places.host_count, sim_plural(places.host_count), wanted,
                               serving->prefill_count, serving->node_count - serving->prefill_count,
                               serving->storage_count, members);
        sim_free(members);
    }
    size_t count = 0;
    for (size_t i = 0; error == SIM_OK && i < places.list.count && count < wanted; i++) {
        net_node_t *const host =
            nic_node(nic_of_interface(context->net, places.list.interfaces[i]));
        if (count == 0 || hosts[count - 1] != host) {
            hosts[count++] = host;
        }
    }
    app__places_fini(&places);
    if (error == SIM_OK) {
        sort_hosts(serving, hosts);
    }
    return error;
}

static sim_err_t build(app__serving_t *serving, const app_context_t *context,
                       const app__serving_config_t *config, net_node_t *const *hosts,
                       sim_message_t *message)
{
    const uint32_t all = serving->all_count;
    const app_mooncake_plan_t plan = {
        .net = context->net,
        .runtime = context->runtime,
        .index = context->index,
        .hosts = hosts,
        .host_count = 1 + (size_t)all,
        .metadata_host = hosts[0],
        .codec = context->mooncake_codec,
        .metadata = config->metadata,
    };
    sim_err_t error = app_mooncake_cluster_create(&plan, &serving->cluster, message);
    if (error == SIM_OK) {
        error = app__mc_import(context, config->records, serving->cluster, message);
    }
    for (uint32_t n = 0; n < all && error == SIM_OK; n++) {
        serving->nodes[n].station = &serving->cluster->stations[1 + n];
        serving->nodes[n].node = serving->nodes[n].station->node;
    }
    if (error == SIM_OK) {
        error = app__serving_failures_find(serving, message);
    }
    if (error == SIM_OK) {
        error = set_nics(serving, message);
    }
    for (uint32_t n = 0; n < all && error == SIM_OK; n++) {
        app__serving_node_init(&serving->nodes[n]);
        if (config->transport == APP__SERVING_MOONCAKE) {
            error = make_engine(serving, &serving->nodes[n], message);
        }
    }
    const bool apart = app__serving_member_count(serving) > 0; // activations need it
    if (error == SIM_OK && (config->transport == APP__SERVING_WRITES || apart)) {
        app__serving_channels_create(serving, context);
    }
    return error;
}

// -- the application

static void serving_destroy(app_t *app)
{
    app__serving_t *const serving = (app__serving_t *)(void *)app;
    for (uint32_t n = 0; n < serving->all_count && serving->nodes != NULL; n++) {
        app__serving_node_fini(&serving->nodes[n]);
    }
    app__serving_ring_fini(serving);
    app_mooncake_cluster_destroy(serving->cluster);
    app__serving_channels_destroy(serving->channels);
    app__serving_router_fini(serving->router);
    app__serving_cache_fini(serving);
    app__requests_fini(&serving->requests);
    app__step_times_fini(&serving->times[0]);
    app__step_times_fini(&serving->times[1]);
    SIM_FREE_ALL(serving->attempts, serving->jobs, serving->nodes, serving->stage_at,
                 serving->failures, serving);
}

// Sets how often a request is placed at most: each failure may hit it once.
static void set_attempts(app__serving_t *serving)
{
    const size_t wanted = serving->failure_count + 1;
    const bool apart = app__serving_member_count(serving) > 0; // a node with members may break
    serving->attempts_max = wanted == 1 && !apart   ? 1
                            : wanted < ATTEMPTS     ? ATTEMPTS
                            : wanted > ATTEMPTS_MAX ? ATTEMPTS_MAX
                                                    : (uint32_t)wanted;
}

// Refuses or notes what has no effect beside other attributes.
static sim_err_t check_effects(const app_context_t *context, const app__serving_config_t *config,
                               sim_message_t *message)
{
    if ((config->cache == APP__SERVING_STORE) != (config->storage > 0)) {
        return sim_fail_about(message, SIM_ERR_INVALID, config->storage > 0 ? "cache" : "storage",
                              config->storage > 0
                                  ? ": storage nodes are used with `cache: store` only, expected "
                                    "it, or `storage: 0`"
                                  : ": `cache: store` needs storage nodes, expected 1 or more");
    }
    if (config->storage_path != APP__SERVING_DIRECT && config->storage == 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "storage-path",
                              " is a way from storage nodes, expected `direct` without them");
    }
    const bool stages = config->pp > 1 || (config->decode_pp != SIM_AUTO && config->decode_pp > 1);
    if (config->micro_batches != SIM_AUTO && !stages && context->note != NULL) {
        context->note("`micro-batches` has no effect, since no node has several stages (pp)",
                      context->ctx);
    }
    return SIM_OK;
}

static sim_err_t prepare(app__serving_t *serving, const app_context_t *context,
                         const app__serving_config_t *config, sim_message_t *message)
{
    sim_err_t error = check_effects(context, config, message);
    if (error == SIM_OK) {
        error = app__serving_model(config, &serving->served, message);
    }
    if (error == SIM_OK) {
        error = app__serving_check_shapes(serving, message);
    }
    if (error == SIM_OK) {
        error = app__serving_failures_read(serving, context, config->fail_host, message);
        set_attempts(serving);
    }
    if (error == SIM_OK) {
        const uint64_t each_bytes =
            serving->attempts_max * (sizeof(app__serving_attempt_t) + sizeof(app__serving_jobs_t)) +
            48;
        error = app__requests_create(context, &config->requests, each_bytes, &serving->requests,
                                     message);
    }
    if (error != SIM_OK) {
        return error;
    }
    const uint64_t layers = serving->served.sizes.layers;
    serving->layer_groups = SIM_MIN(config->layer_groups, layers);
    app__serving_attempts_init(serving);
    error = read_times(serving, context, config, message);
    if (error != SIM_OK) {
        return error;
    }
    init_nodes(serving);
    error = set_flows(serving, message);
    if (error == SIM_OK) {
        error = set_memory(serving, message);
    }
    if (error == SIM_OK) {
        error = set_places(serving, message);
    }
    return error == SIM_OK ? set_exchanges(serving, message) : error;
}

static sim_err_t serving_create(const app_context_t *context, const void *config_void, app_t **app,
                                sim_message_t *message)
{
    const app__serving_config_t *const config = config_void;
    if (context->mooncake_codec == NULL) {
        return sim_fail_about(message, SIM_ERR_INVALID, "hosts",
                              ": this program has no codec for Mooncake's descriptions, expected "
                              "one in app_context_t");
    }
    app__serving_t *const serving = sim_alloc(sizeof(*serving));
    *serving = (app__serving_t){
        .app = {&app_serving, context->net, context->index},
        .config = *config,
        .prefill_count = (uint32_t)config->prefill,
        .node_count = (uint32_t)(config->prefill + config->decode),
        .storage_count = (uint32_t)config->storage,
        .attempts_max = 1,
    };
    sim_err_t error = prepare(serving, context, config, message);
    if (error == SIM_OK) {
        net_node_t **const hosts = sim_alloc_array(1 + (size_t)serving->all_count, sizeof(*hosts));
        error = find_hosts(serving, context, config, hosts, message);
        if (error == SIM_OK) {
            error = build(serving, context, config, hosts, message);
        }
        sim_free(hosts);
    }
    if (error != SIM_OK) {
        serving_destroy(&serving->app);
        return error;
    }
    app__serving_cache_init(serving);
    app__serving_router_begin(serving, context);
    app__serving_failure_begin(serving);
    *app = &serving->app;
    return SIM_OK;
}

static void serving_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const app__serving_t *const serving = (const app__serving_t *)(const void *)app;
    *planned = serving->requests.count;
    *done = serving->router->settled;
}

static void serving_places(const app_t *app, app_place_fn fn, void *ctx)
{
    const app__serving_t *const serving = (const app__serving_t *)(const void *)app;
    for (uint32_t n = 0; n < serving->all_count; n++) {
        const app__serving_node_t *const node = &serving->nodes[n];
        if (node->place.gpus > 0) {
            fn(app__serving_number_of(node), nic_interface(nic_at(node->station->host, 0)), ctx);
        }
    }
}

const app_ops_t app_serving = {
    .name = "serving",
    .help = "serves requests to a language model: prefill and decode nodes, and their KV data",
    .attrs = &app__serving_attrs,
    .posts = "SENDs",
    .tally = app__tally_report,
    .create = serving_create,
    .destroy = serving_destroy,
    .progress = serving_progress,
    .operations = app__serving_operations,
    .places = serving_places,
    .place_word = "node",
    .carry = app__serving_carry,
    .describe = app__serving_describe,
    .report = &app__serving_report,
    .warn = app__serving_warn,
};
