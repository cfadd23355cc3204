// SPDX-License-Identifier: Apache-2.0
// apps/serving/settings.c - the attributes of the application `serving`, and the model and the GPUs
// that follow from them (docs/models/serving.md).
#include "apps/serving/settings.h"

#include "apps/mooncake/programs/programs.h"

#define PREFIX "traffic.serving"
#define TYPE app__serving_config_t

// clang-format off
#define MODEL_SIZE(path, member, least, most, help_)                                               \
    SIM_ATTR_ROW(TYPE, COUNT, PREFIX "." path, member, "auto", least, most, help_ "; auto: the model's", .auto_ok = true)

#define ATTR(type_, path_, ...) SIM_ATTR_ROW(TYPE, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "hosts", hosts, "*", "hosts, in this order: the router, prefill nodes, decode nodes, storage nodes; further hosts are not used"),
    ATTR(COUNT, "prefill", prefill, "1", "1", "4096", "number of prefill nodes, which compute prompts"),
    ATTR(COUNT, "decode", decode, "1", "0", "4096", "number of decode nodes, which generate tokens; 0: the prefill nodes generate them, too, and no KV data moves"),
    ATTR(ENUM, "route", route, "least-loaded", "least-loaded|round-robin|random|cache-aware", "choice of a request's nodes; least-loaded: the nodes whose unfinished requests have the fewest prompt tokens; cache-aware: the prefill node with the fewest tokens to compute, those of the request included"),
    ATTR(ENUM, "cache", cache, "local", "none|local|peers|store", "KV data of earlier prompts that a prompt with the same beginning uses; local: that of its prefill node; peers: of any prefill node; store: of its prefill node and of the storage nodes"),
    ATTR(ENUM, "cache-policy", cache_policy, "lru", "lru|lfu|length-aware", "block that a full cache evicts: the least recently used, the least frequently used, or of the latter the one furthest back in its prompt"),
    ATTR(BYTES, "cache-memory", cache_bytes, "auto", "0", "1000TB", "KV data of earlier prompts that a prefill node keeps, beside kv-memory; auto: no limit", .auto_ok = true),
    ATTR(COUNT, "storage", storage, "0", "0", "4096", "number of storage nodes of cache: store"),
    ATTR(BYTES, "storage-memory", store_bytes, "auto", "0", "1000000TB", "KV data that all storage nodes keep together; auto: no limit", .auto_ok = true),
    ATTR(COUNT, "storage-nics", storage_nics, "0", "0", "64", "number of NICs of a prefill or decode node, its last ones, that are for storage alone; 0: all NICs are for everything"),
    ATTR(ENUM, "storage-path", storage_path, "direct", "direct|dual|alternate", "way of stored KV data to a prefill node; dual: also by its decode node, if that has less to fetch (DualPath); alternate: by both in turns"),
    ATTR(ENUM, "kv", kv, "layer", "whole|chunk|layer", "when a prefill node sends KV data; whole: after the prompt; chunk: after each step; layer: after each group of layers of a step"),
    ATTR(COUNT, "layer-groups", layer_groups, "auto", "1", "10000", "number of groups of layers, after each of which KV data of kv: layer is sent, and activations go to experts of other nodes; auto: one per layer", .auto_ok = true),
    ATTR(ENUM, "experts", experts, "node", "node|pool", "where the experts of a model with experts are; node: all in each node; pool: spread over all prefill nodes, and over all decode nodes (expert parallelism)"),
    ATTR(ENUM, "transport", transport, "write", "write|mooncake", "how KV data moves; write: RDMA WRITEs on a queue pair between two NICs; mooncake: Mooncake's Transfer Engine"),
    ATTR(ENUM, "first-token", first, "kv", "kv|prefill|step", "event that gives the user the first token; kv: all KV data is at the decode node; prefill: the prompt is computed; step: the decode node's first step, which computes the prompt's last token again"),
    ATTR(COUNT, "token-budget", token_budget, "8192", "1", "10000000", "maximum number of tokens that a step computes"),
    ATTR(COUNT, "batch", batch, "256", "1", "1000000", "maximum number of requests in a step"),
    ATTR(BOOL, "chunked-prefill", chunked, "on", "whether a step may compute a part of a prompt beside tokens of other requests; off: steps of whole prompts come first"),
    ATTR(ENUM, "model", model, "llama3-8b", APP__SERVED_NAMES, "language model; the attributes from layers to kv-rank change it"),
    MODEL_SIZE("layers", layers, "1", "10000", "layers of the model"),
    MODEL_SIZE("hidden", hidden, "1", "1000000", "width of the model"),
    MODEL_SIZE("heads", heads, "1", "10000", "heads of attention"),
    MODEL_SIZE("kv-heads", kv_heads, "1", "10000", "heads of keys and values"),
    MODEL_SIZE("ffn", ffn, "1", "10000000", "inner width of a dense layer's MLP"),
    MODEL_SIZE("vocab", vocab, "1", "10000000", "entries of the vocabulary"),
    MODEL_SIZE("kv-rank", kv_rank, "0", "1000000",
               "values that a token leaves in a layer with latent attention (MLA), 0 where heads "
               "leave them"),
    ATTR(COUNT, "value-bytes", value_bytes, "2", "1", "8", "size of a weight and of an activation"),
    ATTR(COUNT, "kv-value-bytes", kv_value_bytes, "2", "1", "8", "size of a value of KV data"),
    ATTR(COUNT, "tp", tp, "1", "1", "64", "tensor parallelism: number of GPUs of a node, or of each of its pipeline stages, that share each layer"),
    ATTR(COUNT, "decode-tp", decode_tp, "auto", "1", "64", "number of GPUs of a decode node, or of each of its stages; auto: tp", .auto_ok = true),
    ATTR(COUNT, "tp-hosts", tp_hosts, "1", "1", "64", "number of hosts that contain the GPUs of tp; more than 1: they reduce over the fabric, twice after each group of layers"),
    ATTR(COUNT, "decode-tp-hosts", decode_tp_hosts, "auto", "1", "64", "number of hosts that contain the GPUs of decode-tp; auto: tp-hosts", .auto_ok = true),
    ATTR(COUNT, "pp", pp, "1", "1", "1024", "pipeline parallelism: number of stages of a node, each with tp GPUs in tp-hosts hosts of its own, and an equal part of the layers"),
    ATTR(COUNT, "decode-pp", decode_pp, "auto", "1", "1024", "number of stages of a decode node; auto: pp", .auto_ok = true),
    ATTR(COUNT, "micro-batches", micro_batches, "auto", "1", "4096", "number of steps that a node with several stages has in progress, each with an equal share of its requests; auto: as many as stages", .auto_ok = true),
    ATTR(RATIO, "tflops", tflops, "989", "1/1000", "1000000", "peak of a GPU in 10^12 floating-point operations a second; the default is an H100 with 16-bit numbers"),
    ATTR(RATIO, "efficiency", efficiency, "0.5", "1/1000", "1", "share of tflops that a GPU reaches while it computes"),
    ATTR(RATE, "memory-rate", memory_bps, "26800Gbps", "1Mbps", "10000Tbps", "bandwidth of a GPU's memory; the default is an H100 with 3.35 TB/s"),
    ATTR(RATIO, "memory-efficiency", memory_efficiency, "0.7", "1/1000", "1", "share of memory-rate that a GPU reaches"),
    ATTR(TIME, "step-overhead", step_ps, "2ms", "0ps", "100s", "time of a step besides computing and reading memory: scheduling and kernel launches"),
    ATTR(STRING, "step-times", times, "", "CSV file with measured times of steps, in columns tokens (computed in a step), context (tokens whose KV data is read) and us; empty: times follow from the attributes"),
    ATTR(STRING, "decode-step-times", decode_times, "", "CSV file with measured times of decode nodes, as step-times; empty: the file step-times"),
    ATTR(COUNT, "kv-priority", priority, "auto", "0", "7", "class of KV data with transport: write, and of its answers; its DSCP is eight times that; auto: nic.priority and nic.dscp", .auto_ok = true),
    ATTR(RATE, "scale-up-rate", link_bps, "3600Gbps", "0bps", "1000Tbps", "rate at which a GPU sends to the other GPUs of its node; 0: the messages between GPUs of a node take no time"),
    ATTR(TIME, "scale-up-latency", link_ps, "10us", "0ps", "1s", "latency of a collective between the GPUs of a node; a layer has two"),
    ATTR(BYTES, "gpu-memory", gpu_bytes, "80GB", "1MB", "100TB", "memory of a GPU"),
    ATTR(RATIO, "gpu-memory-share", gpu_share, "0.9", "1/1000", "1", "share of a GPU's memory for weights and KV data"),
    ATTR(BYTES, "kv-memory", kv_bytes, "auto", "1KB", "1000TB", "KV data that a node has room for; auto: what the weights leave of the memory of its GPUs", .auto_ok = true),
    ATTR(COUNT, "page-tokens", page_tokens, "16", "1", "65536", "number of tokens of a page, the unit in which memory for KV data is given out"),
    ATTR(TIME, "start", start_ps, "10ms", "0s", "1000s", "time at which the arrivals begin; Mooncake's engine needs a while before it"),
    ATTR(ENUM, "admission", admission, "all", "all|goals", "requests that are taken; goals: those that meet both goals by an estimate when they arrive"),
    ATTR(TIME, "ttft-goal", ttft_goal_ps, "1s", "1ps", NULL, "longest time to the first token (TTFT) of a request that counts as good"),
    ATTR(TIME, "tpot-goal", tpot_goal_ps, "50ms", "1ps", NULL, "longest mean time per further token (TPOT) of a request that counts as good"),
    ATTR(STRING, "fail-host", fail_host, "", "hosts of prefill and decode nodes that lose their power, with blanks between them, @ with its time behind one that does not stop at fail-at, and + with the time until it is back: 'host1 host[4-5]@2s+3s'; empty: none does"),
    ATTR(TIME, "fail-at", fail_ps, "1s", "0s", "100000s", "time at which the hosts of fail-host stop"),
    ATTR(TIME, "fail-detect", fail_detect_ps, "1s", "0s", "10000s", "time after which the router takes a host of fail-host for lost and places its requests on other nodes"),
    ATTR(BOOL, "log", log, "off", "on: `served` of summary.json and apps.csv list each request with its nodes and times"),
    ATTR(BOOL, "operations", operations, "off", "on: the run keeps the steps and transfers of each node for operations.csv and `rocesim timeline`; outputs.operations-max limits the file"),
    APP__REQUESTS_ATTRS(PREFIX, TYPE, requests),
    APP__MC_METADATA_ATTRS(PREFIX, TYPE, metadata),
    APP_MOONCAKE_ATTRS(PREFIX ".engine", TYPE, engine),
};
// clang-format on

const sim_attr_table_t app__serving_attrs = SIM_ATTR_TABLE(PREFIX, "application", TYPE, attrs);

static double real_of(sim_ratio_t ratio)
{
    return (double)ratio.num / (double)ratio.den;
}

static void take_size(uint64_t value, uint64_t *size)
{
    *size = value == SIM_AUTO ? *size : value;
}

// Refuses shapes of attention that no model has.
static sim_err_t check_heads(const app__served_t *served, sim_message_t *message)
{
    const app__model_t *const sizes = &served->sizes;
    if (sizes->hidden % sizes->heads != 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "heads",
                              ": %" PRIu64 " heads in a width of %" PRIu64
                              ", expected a divisor of the width",
                              sizes->heads, sizes->hidden);
    }
    if (served->kv_rank == 0 && sizes->heads % sizes->kv_heads != 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "kv-heads",
                              ": %" PRIu64 " heads of keys and values beside %" PRIu64
                              " heads, expected a divisor of the heads",
                              sizes->kv_heads, sizes->heads);
    }
    return SIM_OK;
}

// Refuses numbers of GPUs over which the heads of a layer do not spread evenly.
static sim_err_t check_parallelism(const app__serving_config_t *config, const app__served_t *served,
                                   sim_message_t *message)
{
    const app__model_t *const sizes = &served->sizes;
    const bool apart = config->decode_tp != SIM_AUTO && config->decode > 0;
    const uint64_t counts[2] = {config->tp, apart ? config->decode_tp : config->tp};
    for (uint32_t i = 0; i < 2; i++) {
        const char *const attribute = i == 0 ? "tp" : "decode-tp";
        const uint64_t heads = sizes->kv_heads;
        const bool latent = served->kv_rank > 0;
        if (sizes->heads % counts[i] != 0) {
            return sim_fail_about(message, SIM_ERR_RANGE, attribute,
                                  ": %" PRIu64 " GPU%s share the %" PRIu64
                                  " heads of %s, expected a divisor of the heads",
                                  counts[i], sim_plural(counts[i]), sizes->heads, sizes->name);
        }
        if (!latent && heads % counts[i] != 0 && counts[i] % heads != 0) {
            return sim_fail_about(message, SIM_ERR_RANGE, attribute,
                                  ": %" PRIu64 " GPU%s share %" PRIu64
                                  " heads of keys and values, expected a divisor or a multiple of "
                                  "them",
                                  counts[i], sim_plural(counts[i]), heads);
        }
    }
    return SIM_OK;
}

// Refuses settings that would have no effect.
static sim_err_t check_effects(const app__serving_config_t *config, const app__served_t *served,
                               sim_message_t *message)
{
    if (config->experts == 1 && served->sizes.experts == 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "experts",
                              ": %s has no experts, expected `experts: node`, or a model with "
                              "experts such as mixtral-8x7b",
                              served->sizes.name);
    }
    if (config->transport == APP__SERVING_MOONCAKE && config->priority != SIM_AUTO) {
        return sim_fail_about(message, SIM_ERR_INVALID, "kv-priority",
                              ": %" PRIu64 ", expected auto with `transport: mooncake`, whose "
                              "engine sends in the class of nic.priority",
                              config->priority);
    }
    if (config->decode == 0 && config->decode_tp != SIM_AUTO && config->decode_tp != config->tp) {
        return sim_fail_about(message, SIM_ERR_INVALID, "decode-tp",
                              ": %" PRIu64 ", expected auto or tp with `decode: 0`, where prefill "
                              "nodes decode",
                              config->decode_tp);
    }
    return SIM_OK;
}

sim_err_t app__serving_model(const app__serving_config_t *config, app__served_t *served,
                             sim_message_t *message)
{
    app__served_model(config->model, served);
    app__model_t *const sizes = &served->sizes;
    const uint64_t rank = served->kv_rank;
    take_size(config->layers, &sizes->layers);
    take_size(config->hidden, &sizes->hidden);
    take_size(config->heads, &sizes->heads);
    take_size(config->kv_heads, &sizes->kv_heads);
    take_size(config->ffn, &sizes->ffn);
    take_size(config->vocab, &sizes->vocab);
    take_size(config->kv_rank, &served->kv_rank);
    if (rank != served->kv_rank || config->hidden != SIM_AUTO) {
        served->attention_width = 0;
    }
    sim_err_t error = check_heads(served, message);
    if (error == SIM_OK) {
        error = check_parallelism(config, served, message);
    }
    return error == SIM_OK ? check_effects(config, served, message) : error;
}

void app__serving_gpus(const app__serving_config_t *config, const app__served_t *served,
                       const app__serving_shape_t *shape, uint64_t nodes, app__gpus_t *gpus)
{
    const uint64_t layers = served->sizes.layers;
    const uint64_t most = (layers + shape->stages - 1) / shape->stages;
    *gpus = (app__gpus_t){
        .count = shape->tp,
        .local = shape->tp / shape->tp_hosts,
        .stage_share = (double)most / (double)layers,
        .flops = real_of(config->tflops) * 1e12 * real_of(config->efficiency),
        .memory_bytes_per_s = (double)config->memory_bps / 8.0 * real_of(config->memory_efficiency),
        .link_bytes_per_s = (double)config->link_bps / 8.0,
        .link_ps = config->link_ps,
        .step_ps = config->step_ps,
        .value_bytes = config->value_bytes,
        .expert_nodes = config->experts == 1 && served->sizes.experts > 0 ? nodes : 1,
        .kv_token_bytes = app__served_kv_values(served) * config->kv_value_bytes,
    };
}

uint64_t app__serving_kv_memory(const app__serving_config_t *config, const app__served_t *served,
                                const app__gpus_t *gpus)
{
    if (config->kv_bytes != SIM_AUTO) {
        return config->kv_bytes;
    }
    const double all = (double)gpus->count * (double)config->gpu_bytes * real_of(config->gpu_share);
    // The first stage has most layers: its memory bounds the tokens.
    const double weights =
        (double)app__served_weight_bytes(served, config->value_bytes, gpus->expert_nodes) *
        gpus->stage_share;
    const uint64_t shares = app__served_kv_shares(served);
    // GPUs that compute with equal heads hold equal KV data.
    const double copies = shares < gpus->count ? (double)gpus->count / (double)shares : 1.0;
    return all > weights ? (uint64_t)((all - weights) / copies / gpus->stage_share) : 0;
}
