// SPDX-License-Identifier: Apache-2.0
// apps/workload/matrices/application.c - the application `kv-matrix`: sequences of traffic matrices
// that move KV caches, from a file of NIXL's kvbench or made for a model. docs/models/kv-matrix.md
#include "apps/app_internal.h"
#include "apps/hosts.h"
#include "apps/workload/applications.h"
#include "apps/workload/matrices/generate.h"
#include "apps/workload/matrices/models.h"
#include "apps/workload/op_queue.h"
#include "kernel/digits.h"

#define PREFIX "traffic.kv-matrix"

typedef struct matrix_config {
    char *file;
    app__pattern_options_t run;
    app__generator_t generator;
    app__workload_options_t options;
} matrix_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(matrix_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "file", file, "", "configuration of kvbench's sequential-ct-perftest or ct-perftest; empty: the patterns of a model's requests are made"),
    ATTR(COUNT, "iterations", run.iterations, "1", "1", "1000", "number of times that the whole sequence runs; repetitions differ only by what is left in queues and congestion controls"),
    ATTR(COUNT, "isolation-iterations", run.isolated, "1", "0", "1000", "number of times that each pattern runs alone before the sequence, which gives its isolated latency; 0: it is not measured"),
    ATTR(COUNT, "storage-ranks", run.storage_ranks, "0", "0", "100000", "number of ranks behind those of the matrices that keep what is stored; ranks of the matrices take them in turn; 0: each rank has storage of its own"),
    ATTR(RATE, "storage-rate", run.storage_bps, "50Gbps", "1Mbps", "100Tbps", "rate of a rank's own storage"),
    ATTR(TIME, "storage-latency", run.storage_ps, "100us", "0s", "10s", "time before the first byte of a rank's own storage"),
    ATTR(ENUM, "model", generator.model, "llama-70b", APP__KV_MODEL_CHOICES, "model whose KV caches are moved, one of kvbench's"),
    ATTR(COUNT, "requests", generator.requests, "10", "1", "1000000", "number of requests that users send"),
    ATTR(COUNT, "batch", generator.batch, "1", "1", "1000000", "number of requests of a batch, whose caches are one pattern"),
    ATTR(BYTES, "batch-bytes", generator.batch_bytes_max, "100GB", "1", "1000TB", "size of the KV caches of a batch after which it takes no more requests"),
    ATTR(COUNT, "prefill-nodes", generator.prefill_nodes, "1", "1", "100000", "number of nodes that compute prefill"),
    ATTR(COUNT, "decode-nodes", generator.decode_nodes, "1", "1", "100000", "number of nodes that receive caches for decode"),
    ATTR(COUNT, "node-gpus", generator.per_node, "8", "1", "1024", "number of GPUs of a node, each a rank"),
    ATTR(COUNT, "prefill-tp", generator.prefill_tp, "8", "1", "1024", "tensor parallelism of prefill"),
    ATTR(COUNT, "prefill-cp", generator.prefill_cp, "1", "1", "1024", "context parallelism of prefill"),
    ATTR(COUNT, "decode-tp", generator.decode_tp, "8", "1", "1024", "tensor parallelism of decode, a multiple of prefill-tp x prefill-cp"),
    ATTR(COUNT, "input-mean", generator.input_mean, "16000", "1", "100000000", "mean number of tokens of a request's input, which has a normal distribution"),
    ATTR(COUNT, "input-scale", generator.input_scale, "10000", "0", "100000000", "standard deviation of the number of tokens of an input"),
    ATTR(COUNT, "input-min", generator.input_min, "1000", "1", "100000000", "minimum number of tokens of an input"),
    ATTR(COUNT, "input-max", generator.input_max, "128000", "1", "100000000", "maximum number of tokens of an input"),
    ATTR(BOOL, "storage", generator.storage, "false", "whether prefill reads the prefixes that hit from storage and writes the rest"),
    ATTR(RATIO, "prefix-hit-rate", generator.hit_rate, "0.5", "0", "1", "share of a cache that is in storage already, where storage is true"),
    ATTR(COUNT, "tflops", generator.tflops, "1000", "1", "1000000", "speed of a GPU in 10^12 operations a second, for the time of prefill"),
    APP__WORKLOAD_ATTRS(PREFIX, matrix_config_t, options),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", matrix_config_t, attrs);

static sim_err_t read_plan(const app_context_t *context, const char *file,
                           app__patterns_t *patterns, sim_message_t *message)
{
    char *text = NULL;
    size_t size_bytes = 0;
    app_kv_plan_t plan = {.patterns = NULL};
    if (context->read_kv_plan == NULL) {
        return sim_fail_about(message, SIM_ERR_STATE, "file", ": this program cannot read YAML");
    }
    sim_err_t error = context->read_file(file, &text, &size_bytes, message, context->ctx);
    if (error == SIM_OK) {
        error = context->read_kv_plan(file, text, size_bytes, &plan, message);
        message->placed = error != SIM_OK;
        sim_free(text);
    }
    if (error == SIM_OK) {
        error = app__patterns_read(context, file, &plan, patterns, message);
    }
    app_kv_plan_fini(&plan);
    return error;
}

static sim_err_t make_patterns(const app_context_t *context, const matrix_config_t *config,
                               app__patterns_t *patterns, sim_message_t *message)
{
    if (config->file[0] != '\0') {
        return read_plan(context, config->file, patterns, message);
    }
    sim_random_t random;
    app__random_init(&random, context, 0, "kv-matrix");
    return app__patterns_generate(&config->generator, &random, patterns, message);
}

// Refuses patterns that make more operations than the memory holds.
static sim_err_t check_size(const app_context_t *context, const matrix_config_t *config,
                            const app__patterns_t *patterns, sim_message_t *message)
{
    double operations = 0;
    for (size_t i = 0; i < patterns->count; i++) {
        operations += 4.0 * (double)patterns->list[i].count + 6.0 * (double)patterns->ranks;
    }
    const uint64_t rounds = config->run.iterations + config->run.isolated;
    if ((double)patterns->count * (double)rounds > 1e8) {
        return sim_fail_about(message, SIM_ERR_RANGE, "iterations",
                              ": %zu patterns in %" PRIu64 " rounds are too many, expected at most "
                              "100000000 in all",
                              patterns->count, rounds);
    }
    return app__check_memory(context, "iterations", operations * (double)rounds,
                             sizeof(app__op_t) + sizeof(app__op_state_t) + 4 * sizeof(uint32_t),
                             "operations of all ranks", message);
}

// Says what the patterns come to, before anything runs.
static void tell(const app_context_t *context, const app__patterns_t *patterns)
{
    double bytes = 0;
    size_t transfers = 0;
    double stored = 0;
    for (size_t i = 0; i < patterns->count; i++) {
        const app__pattern_t *const pattern = &patterns->list[i];
        transfers += pattern->count;
        for (size_t t = 0; t < pattern->count; t++) {
            bytes += (double)pattern->transfers[t].bytes;
        }
        for (size_t t = 0; t < pattern->stored_count; t++) {
            stored += (double)(pattern->stored[t].read_bytes + pattern->stored[t].write_bytes);
        }
    }
    char *const text =
        sim_format("traffic[%u].kv-matrix: %zu pattern%s of %u rank%s, %zu transfer%s of "
                   "%s GB together; %s GB read from or written to storage",
                   context->index, patterns->count, sim_plural(patterns->count), patterns->ranks,
                   sim_plural(patterns->ranks), transfers, sim_plural(transfers),
                   SIM_DIGITS(bytes / 1e9, 4), SIM_DIGITS(stored / 1e9, 4));
    if (context->note != NULL) {
        context->note(text, context->ctx);
    }
    sim_free(text);
}

static sim_err_t matrix_create(const app_context_t *context, const void *config_void, app_t **app,
                               sim_message_t *message)
{
    const matrix_config_t *const config = config_void;
    app__patterns_t patterns = {.list = NULL};
    app__workload_t *workload = NULL;
    app__workload_options_t options = config->options;
    options.title = config->file[0] != '\0' ? config->file : "the matrices";
    sim_err_t error = make_patterns(context, config, &patterns, message);
    if (error == SIM_OK && patterns.ranks == 0) {
        error = sim_fail_about(message, SIM_ERR_INVALID, "file",
                               ": no pattern has a matrix or storage, expected a line of sizes for "
                               "each rank");
    }
    error = error == SIM_OK ? check_size(context, config, &patterns, message) : error;
    if (error == SIM_OK) {
        tell(context, &patterns);
        app__schedule_t *const schedule = app__patterns_schedule(&patterns, &config->run);
        error =
            app__workload_create(context, &app_kv_matrix, &options, schedule, &workload, message);
    }
    app__patterns_fini(&patterns);
    if (error == SIM_OK) {
        *app = &workload->app;
    }
    return error;
}

const app_ops_t app_kv_matrix = {
    .name = "kv-matrix",
    .help =
        "KV caches between prefill and decode by traffic matrices, from a file of NIXL's kvbench "
        "or for a model",
    .attrs = &attr_table,
    .create = matrix_create,
    APP__WORKLOAD_OPS_WITH(&app__pattern_report),
};
