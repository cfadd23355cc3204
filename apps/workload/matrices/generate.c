// SPDX-License-Identifier: Apache-2.0
// apps/workload/matrices/generate.c - makes matrices of a serving workload as kvbench's generator
// does: requests of random lengths, batches, one prefill worker after the other.
//
// Source: ai-dynamo/nixl, benchmark/kvbench/test/inference_workload_matgen.py. Lengths are normal
// there, too, from another generator of random numbers.
#include "apps/workload/matrices/generate.h"

#include "apps/workload/matrices/models.h"

const app__kv_model_t app__kv_models[] = {
    {"llama-8b", 4096, 32, 32, 8},
    {"llama-70b", 8192, 80, 64, 8},
    {"llama-405b", 16384, 126, 128, 8},
    {"qwen3-30B", 32768, 48, 32, 4},
    {"deepseek-r1-distill-llama-70b", 8192, 80, 64, 8},
    {"deepseek-r1", 12288, 100, 96, 12},
};
static_assert(SIM_COUNT_OF(app__kv_models) == APP__KV_MODELS, "a name for each model");

// Returns a normal number with mean 0 and deviation 1, in units of 2^-32: the sum of twelve uniform
// numbers less 6, which needs no floating point.
static int64_t draw_normal(sim_random_t *random)
{
    int64_t sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += (int64_t)(sim_random_u64(random) >> 32);
    }
    return sum - (INT64_C(6) << 32);
}

static uint64_t draw_input(const app__generator_t *generator, sim_random_t *random)
{
    const double drawn = (double)draw_normal(random) / 4294967296.0;
    const double tokens = (double)generator->input_mean + drawn * (double)generator->input_scale;
    if (tokens <= (double)generator->input_min) {
        return generator->input_min;
    }
    return tokens >= (double)generator->input_max ? generator->input_max : (uint64_t)tokens;
}

static uint64_t token_bytes(const app__kv_model_t *model)
{
    return 2 * (model->hidden / model->heads) * model->kv_heads * model->layers * 2;
}

// Time that the prefill of a batch computes: attention and MLP alone, as the generator has them.
static uint64_t compute_ns(const app__generator_t *generator, uint64_t requests, uint64_t tokens)
{
    const app__kv_model_t *const model = &app__kv_models[generator->model];
    const double b = (double)requests;
    const double s = (double)tokens;
    const double h = (double)model->hidden;
    const double flop = (4 * b * s * s * h + 16 * b * s * h * h) * (double)model->layers;
    const double hits =
        generator->storage ? (double)generator->hit_rate.num / (double)generator->hit_rate.den : 0;
    return (uint64_t)(flop / ((double)generator->tflops * 1e12 * (double)generator->prefill_tp) *
                      (1 - hits) * 1e9);
}

static sim_err_t check(const app__generator_t *generator, sim_message_t *message)
{
    const uint64_t group = generator->prefill_tp * generator->prefill_cp;
    const uint64_t prefills = generator->prefill_nodes * generator->per_node / group;
    const uint64_t decodes = generator->decode_nodes * generator->per_node / generator->decode_tp;
    if (generator->prefill_nodes * generator->per_node % group != 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "prefill-tp",
                              ": prefill-tp x prefill-cp is %" PRIu64 ", expected a divisor of the "
                              "%" PRIu64 " GPUs of the prefill nodes",
                              group, generator->prefill_nodes * generator->per_node);
    }
    if (generator->decode_nodes * generator->per_node % generator->decode_tp != 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "decode-tp",
                              ": %" PRIu64 ", expected a divisor of the %" PRIu64
                              " GPUs of the decode nodes",
                              generator->decode_tp, generator->decode_nodes * generator->per_node);
    }
    if (generator->decode_tp % group != 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "decode-tp",
                              ": %" PRIu64
                              ", expected a multiple of prefill-tp x prefill-cp, %" PRIu64,
                              generator->decode_tp, group);
    }
    if (decodes == 0 || prefills % decodes != 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "prefill-nodes",
                              ": there are %" PRIu64 " groups of prefill GPUs and %" PRIu64
                              " of decode GPUs, expected a multiple",
                              prefills, decodes);
    }
    if (generator->input_min > generator->input_max) {
        return sim_fail_about(message, SIM_ERR_RANGE, "input-min",
                              ": %" PRIu64 ", expected at most input-max, %" PRIu64,
                              generator->input_min, generator->input_max);
    }
    return SIM_OK;
}

// Makes the pattern of a batch: the caches go from prefill worker number `at` to its decode worker.
static void make_pattern(const app__generator_t *generator, size_t at, uint64_t requests,
                         uint64_t tokens, app__pattern_t *pattern)
{
    const uint32_t group = (uint32_t)(generator->prefill_tp * generator->prefill_cp);
    const uint32_t prefill_gpus = (uint32_t)(generator->prefill_nodes * generator->per_node);
    const uint32_t decode_gpus = (uint32_t)(generator->decode_nodes * generator->per_node);
    const uint32_t workers = prefill_gpus / group;
    const uint32_t ratio = workers / (decode_gpus / (uint32_t)generator->decode_tp);
    const uint32_t worker = (uint32_t)(at % workers);
    const uint32_t peers = (uint32_t)generator->decode_tp / group;
    const uint64_t bytes = token_bytes(&app__kv_models[generator->model]) * tokens;
    uint32_t to = prefill_gpus + worker / ratio * (uint32_t)generator->decode_tp;
    *pattern = (app__pattern_t){
        .transfers = sim_alloc_array((size_t)group * peers, sizeof(app__transfer_t)),
        .stored = sim_alloc_array(group, sizeof(app__stored_t)),
        .before_ns = compute_ns(generator, requests, tokens),
    };
    for (uint32_t i = 0; i < group; i++) {
        const uint32_t rank = worker * group + i;
        for (uint32_t k = 0; k < peers; k++) {
            pattern->transfers[pattern->count++] =
                (app__transfer_t){rank, to++, bytes / group / peers};
        }
        if (generator->storage) {
            const uint64_t own = bytes / group;
            const uint64_t hit = own / generator->hit_rate.den * generator->hit_rate.num;
            pattern->stored[pattern->stored_count++] = (app__stored_t){rank, hit, own - hit};
        }
    }
}

sim_err_t app__patterns_generate(const app__generator_t *generator, sim_random_t *random,
                                 app__patterns_t *patterns, sim_message_t *message)
{
    const uint64_t per_token = token_bytes(&app__kv_models[generator->model]);
    const sim_err_t error = check(generator, message);
    *patterns = (app__patterns_t){
        .list = sim_alloc_array((size_t)generator->requests + 1, sizeof(app__pattern_t)),
        .ranks =
            (uint32_t)((generator->prefill_nodes + generator->decode_nodes) * generator->per_node),
    };
    uint64_t tokens = 0;
    uint64_t requests = 0;
    for (uint64_t i = 0; i < generator->requests && error == SIM_OK; i++) {
        tokens += draw_input(generator, random);
        requests++;
        if (tokens * per_token > generator->batch_bytes_max || requests >= generator->batch ||
            i + 1 == generator->requests) {
            make_pattern(generator, patterns->count, requests, tokens,
                         &patterns->list[patterns->count]);
            patterns->count++;
            tokens = 0;
            requests = 0;
        }
    }
    return error;
}
