// SPDX-License-Identifier: Apache-2.0
// apps/serving/settings.c - the attributes of the application `serving`, and the model and the GPUs
// that follow from them (docs/models/serving.md).
#include "apps/serving/settings.h"

#include "apps/mooncake/programs/programs.h"

#define PREFIX "traffic.serving"
#define TYPE app__serving_config_t

// clang-format off
#define MODEL_SIZE(path, member, least, most, help_)                                               \
    SIM_ATTR(PREFIX "." path, COUNT, TYPE, member,                                                 \
             .auto_ok = true, .default_text = "auto", .min_text = least, .max_text = most,         \
             .help = help_ "; auto: the model's")

static const sim_attr_t attrs[] = {
    SIM_ATTR(PREFIX ".hosts", STRING, TYPE, hosts,
             .default_text = "*",
             .help = "hosts, in this order: the router, prefill nodes, decode nodes, storage nodes; "
                     "further hosts are not used"),
    SIM_ATTR(PREFIX ".prefill", COUNT, TYPE, prefill,
             .default_text = "1", .min_text = "1", .max_text = "4096",
             .help = "number of prefill nodes, which compute prompts"),
    SIM_ATTR(PREFIX ".decode", COUNT, TYPE, decode,
             .default_text = "1", .min_text = "0", .max_text = "4096",
             .help = "number of decode nodes, which generate tokens; 0: the prefill nodes generate "
                     "them, too, and no KV data moves"),
    SIM_ATTR(PREFIX ".route", ENUM, TYPE, route,
             .default_text = "least-loaded",
             .choices = "least-loaded|round-robin|random|cache-aware",
             .help = "choice of a request's nodes; least-loaded: the nodes whose unfinished "
                     "requests have the fewest prompt tokens; cache-aware: the prefill node with "
                     "the fewest tokens to compute, those of the request included"),
    SIM_ATTR(PREFIX ".cache", ENUM, TYPE, cache,
             .default_text = "local", .choices = "none|local|peers|store",
             .help = "KV data of earlier prompts that a prompt with the same beginning uses; local: "
                     "that of its prefill node; peers: of any prefill node; store: of its prefill "
                     "node and of the storage nodes"),
    SIM_ATTR(PREFIX ".cache-policy", ENUM, TYPE, cache_policy,
             .default_text = "lru", .choices = "lru|lfu|length-aware",
             .help = "block that a full cache evicts: the least recently used, the least "
                     "frequently used, or of the latter the one furthest back in its prompt"),
    SIM_ATTR(PREFIX ".cache-memory", BYTES, TYPE, cache_bytes,
             .default_text = "auto", .min_text = "0", .max_text = "1000TB", .auto_ok = true,
             .help = "KV data of earlier prompts that a prefill node keeps, beside kv-memory; auto: "
                     "no limit"),
    SIM_ATTR(PREFIX ".storage", COUNT, TYPE, storage,
             .default_text = "0", .min_text = "0", .max_text = "4096",
             .help = "number of storage nodes of cache: store"),
    SIM_ATTR(PREFIX ".storage-memory", BYTES, TYPE, store_bytes,
             .default_text = "auto", .min_text = "0", .max_text = "1000000TB", .auto_ok = true,
             .help = "KV data that all storage nodes keep together; auto: no limit"),
    SIM_ATTR(PREFIX ".storage-nics", COUNT, TYPE, storage_nics,
             .default_text = "0", .min_text = "0", .max_text = "64",
             .help = "number of NICs of a prefill or decode node, its last ones, that are for "
                     "storage alone; 0: all NICs are for everything"),
    SIM_ATTR(PREFIX ".storage-path", ENUM, TYPE, storage_path,
             .default_text = "direct", .choices = "direct|dual|alternate",
             .help = "way of stored KV data to a prefill node; dual: also by its decode node, if "
                     "that has less to fetch (DualPath); alternate: by both in turns"),
    SIM_ATTR(PREFIX ".kv", ENUM, TYPE, kv,
             .default_text = "layer", .choices = "whole|chunk|layer",
             .help = "when a prefill node sends KV data; whole: after the prompt; chunk: after each "
                     "step; layer: after each group of layers of a step"),
    SIM_ATTR(PREFIX ".layer-groups", COUNT, TYPE, layer_groups,
             .default_text = "auto", .min_text = "1", .max_text = "10000", .auto_ok = true,
             .help = "number of groups of layers, after each of which KV data of kv: layer is "
                     "sent, and activations go to experts of other nodes; auto: one per layer"),
    SIM_ATTR(PREFIX ".experts", ENUM, TYPE, experts,
             .default_text = "node", .choices = "node|pool",
             .help = "where the experts of a model with experts are; node: all in each node; pool: "
                     "spread over all prefill nodes, and over all decode nodes (expert "
                     "parallelism)"),
    SIM_ATTR(PREFIX ".transport", ENUM, TYPE, transport,
             .default_text = "write", .choices = "write|mooncake",
             .help = "how KV data moves; write: RDMA WRITEs on a queue pair between two NICs; "
                     "mooncake: Mooncake's Transfer Engine"),
    SIM_ATTR(PREFIX ".first-token", ENUM, TYPE, first,
             .default_text = "kv", .choices = "kv|prefill|step",
             .help = "event that gives the user the first token; kv: all KV data is at the decode "
                     "node; prefill: the prompt is computed; step: the decode node's first step, "
                     "which computes the prompt's last token again"),
    SIM_ATTR(PREFIX ".token-budget", COUNT, TYPE, token_budget,
             .default_text = "8192", .min_text = "1", .max_text = "10000000",
             .help = "maximum number of tokens that a step computes"),
    SIM_ATTR(PREFIX ".batch", COUNT, TYPE, batch,
             .default_text = "256", .min_text = "1", .max_text = "1000000",
             .help = "maximum number of requests in a step"),
    SIM_ATTR(PREFIX ".chunked-prefill", BOOL, TYPE, chunked,
             .default_text = "on",
             .help = "whether a step may compute a part of a prompt beside tokens of other "
                     "requests; off: steps of whole prompts come first"),
    SIM_ATTR(PREFIX ".model", ENUM, TYPE, model,
             .default_text = "llama3-8b", .choices = APP__SERVED_NAMES,
             .help = "language model; the attributes from layers to kv-rank change it"),
    MODEL_SIZE("layers", layers, "1", "10000", "layers of the model"),
    MODEL_SIZE("hidden", hidden, "1", "1000000", "width of the model"),
    MODEL_SIZE("heads", heads, "1", "10000", "heads of attention"),
    MODEL_SIZE("kv-heads", kv_heads, "1", "10000", "heads of keys and values"),
    MODEL_SIZE("ffn", ffn, "1", "10000000", "inner width of a dense layer's MLP"),
    MODEL_SIZE("vocab", vocab, "1", "10000000", "entries of the vocabulary"),
    MODEL_SIZE("kv-rank", kv_rank, "0", "1000000",
               "values that a token leaves in a layer with latent attention (MLA), 0 where heads "
               "leave them"),
    SIM_ATTR(PREFIX ".value-bytes", COUNT, TYPE, value_bytes,
             .default_text = "2", .min_text = "1", .max_text = "8",
             .help = "size of a weight and of an activation"),
    SIM_ATTR(PREFIX ".kv-value-bytes", COUNT, TYPE, kv_value_bytes,
             .default_text = "2", .min_text = "1", .max_text = "8",
             .help = "size of a value of KV data"),
    SIM_ATTR(PREFIX ".tp", COUNT, TYPE, tp,
             .default_text = "1", .min_text = "1", .max_text = "64",
             .help = "tensor parallelism: number of GPUs of a node, or of each of its pipeline "
                     "stages, that share each layer"),
    SIM_ATTR(PREFIX ".decode-tp", COUNT, TYPE, decode_tp,
             .default_text = "auto", .min_text = "1", .max_text = "64", .auto_ok = true,
             .help = "number of GPUs of a decode node, or of each of its stages; auto: tp"),
    SIM_ATTR(PREFIX ".tp-hosts", COUNT, TYPE, tp_hosts,
             .default_text = "1", .min_text = "1", .max_text = "64",
             .help = "number of hosts that contain the GPUs of tp; more than 1: they reduce over "
                     "the fabric, twice after each group of layers"),
    SIM_ATTR(PREFIX ".decode-tp-hosts", COUNT, TYPE, decode_tp_hosts,
             .default_text = "auto", .min_text = "1", .max_text = "64", .auto_ok = true,
             .help = "number of hosts that contain the GPUs of decode-tp; auto: tp-hosts"),
    SIM_ATTR(PREFIX ".pp", COUNT, TYPE, pp,
             .default_text = "1", .min_text = "1", .max_text = "1024",
             .help = "pipeline parallelism: number of stages of a node, each with tp GPUs in "
                     "tp-hosts hosts of its own, and an equal part of the layers"),
    SIM_ATTR(PREFIX ".decode-pp", COUNT, TYPE, decode_pp,
             .default_text = "auto", .min_text = "1", .max_text = "1024", .auto_ok = true,
             .help = "number of stages of a decode node; auto: pp"),
    SIM_ATTR(PREFIX ".micro-batches", COUNT, TYPE, micro_batches,
             .default_text = "auto", .min_text = "1", .max_text = "4096", .auto_ok = true,
             .help = "number of steps that a node with several stages has in progress, each with "
                     "an equal share of its requests; auto: as many as stages"),
    SIM_ATTR(PREFIX ".tflops", RATIO, TYPE, tflops,
             .default_text = "989", .min_text = "1/1000", .max_text = "1000000",
             .help = "peak of a GPU in 10^12 floating-point operations a second; the default is an "
                     "H100 with 16-bit numbers"),
    SIM_ATTR(PREFIX ".efficiency", RATIO, TYPE, efficiency,
             .default_text = "0.5", .min_text = "1/1000", .max_text = "1",
             .help = "share of tflops that a GPU reaches while it computes"),
    SIM_ATTR(PREFIX ".memory-rate", RATE, TYPE, memory_bps,
             .default_text = "26800Gbps", .min_text = "1Mbps", .max_text = "10000Tbps",
             .help = "bandwidth of a GPU's memory; the default is an H100 with 3.35 TB/s"),
    SIM_ATTR(PREFIX ".memory-efficiency", RATIO, TYPE, memory_efficiency,
             .default_text = "0.7", .min_text = "1/1000", .max_text = "1",
             .help = "share of memory-rate that a GPU reaches"),
    SIM_ATTR(PREFIX ".step-overhead", TIME, TYPE, step_ps,
             .default_text = "2ms", .min_text = "0ps", .max_text = "100s",
             .help = "time of a step besides computing and reading memory: scheduling and kernel "
                     "launches"),
    SIM_ATTR(PREFIX ".step-times", STRING, TYPE, times,
             .default_text = "",
             .help = "CSV file with measured times of steps, in columns tokens (computed in a "
                     "step), context (tokens whose KV data is read) and us; empty: times follow "
                     "from the attributes"),
    SIM_ATTR(PREFIX ".decode-step-times", STRING, TYPE, decode_times,
             .default_text = "",
             .help = "CSV file with measured times of decode nodes, as step-times; empty: the file "
                     "step-times"),
    SIM_ATTR(PREFIX ".kv-priority", COUNT, TYPE, priority,
             .default_text = "auto", .min_text = "0", .max_text = "7", .auto_ok = true,
             .help = "class of KV data with transport: write, and of its answers; its DSCP is eight "
                     "times that; auto: nic.priority and nic.dscp"),
    SIM_ATTR(PREFIX ".scale-up-rate", RATE, TYPE, link_bps,
             .default_text = "3600Gbps", .min_text = "0bps", .max_text = "1000Tbps",
             .help = "rate at which a GPU sends to the other GPUs of its node; 0: the messages "
                     "between GPUs of a node take no time"),
    SIM_ATTR(PREFIX ".scale-up-latency", TIME, TYPE, link_ps,
             .default_text = "10us", .min_text = "0ps", .max_text = "1s",
             .help = "latency of a collective between the GPUs of a node; a layer has two"),
    SIM_ATTR(PREFIX ".gpu-memory", BYTES, TYPE, gpu_bytes,
             .default_text = "80GB", .min_text = "1MB", .max_text = "100TB",
             .help = "memory of a GPU"),
    SIM_ATTR(PREFIX ".gpu-memory-share", RATIO, TYPE, gpu_share,
             .default_text = "0.9", .min_text = "1/1000", .max_text = "1",
             .help = "share of a GPU's memory for weights and KV data"),
    SIM_ATTR(PREFIX ".kv-memory", BYTES, TYPE, kv_bytes,
             .default_text = "auto", .min_text = "1KB", .max_text = "1000TB", .auto_ok = true,
             .help = "KV data that a node has room for; auto: what the weights leave of the "
                     "memory of its GPUs"),
    SIM_ATTR(PREFIX ".page-tokens", COUNT, TYPE, page_tokens,
             .default_text = "16", .min_text = "1", .max_text = "65536",
             .help = "number of tokens of a page, the unit in which memory for KV data is given out"),
    SIM_ATTR(PREFIX ".start", TIME, TYPE, start_ps,
             .default_text = "10ms", .min_text = "0s", .max_text = "1000s",
             .help = "time at which the arrivals begin; Mooncake's engine needs a while before it"),
    SIM_ATTR(PREFIX ".admission", ENUM, TYPE, admission,
             .default_text = "all", .choices = "all|goals",
             .help = "requests that are taken; goals: those that meet both goals by an estimate "
                     "when they arrive"),
    SIM_ATTR(PREFIX ".ttft-goal", TIME, TYPE, ttft_goal_ps,
             .default_text = "1s", .min_text = "1ps",
             .help = "longest time to the first token (TTFT) of a request that counts as good"),
    SIM_ATTR(PREFIX ".tpot-goal", TIME, TYPE, tpot_goal_ps,
             .default_text = "50ms", .min_text = "1ps",
             .help = "longest mean time per further token (TPOT) of a request that counts as good"),
    SIM_ATTR(PREFIX ".fail-host", STRING, TYPE, fail_host,
             .default_text = "",
             .help = "hosts of prefill and decode nodes that lose their power, with blanks between "
                     "them, @ with its time behind one that does not stop at fail-at, and + with the "
                     "time until it is back: 'host1 host[4-5]@2s+3s'; empty: none does"),
    SIM_ATTR(PREFIX ".fail-at", TIME, TYPE, fail_ps,
             .default_text = "1s", .min_text = "0s", .max_text = "100000s",
             .help = "time at which the hosts of fail-host stop"),
    SIM_ATTR(PREFIX ".fail-detect", TIME, TYPE, fail_detect_ps,
             .default_text = "1s", .min_text = "0s", .max_text = "10000s",
             .help = "time after which the router takes a host of fail-host for lost and places its "
                     "requests on other nodes"),
    SIM_ATTR(PREFIX ".log", BOOL, TYPE, log,
             .default_text = "off",
             .help = "on: `served` of summary.json and apps.csv list each request with its nodes "
                     "and times"),
    SIM_ATTR(PREFIX ".operations", BOOL, TYPE, operations,
             .default_text = "off",
             .help = "on: the run keeps the steps and transfers of each node for operations.csv "
                     "and `rocesim timeline`; outputs.operations-max limits the file"),
    APP__REQUESTS_ATTRS(PREFIX, TYPE, requests),
    APP__MC_METADATA_ATTRS(PREFIX, TYPE, metadata),
    APP_MOONCAKE_ATTRS(PREFIX ".engine", TYPE, engine),
};
// clang-format on

const sim_attr_table_t app__serving_attrs = {PREFIX, "application", sizeof(TYPE), attrs,
                                             SIM_COUNT_OF(attrs)};

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
