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
static const sim_attr_t attrs[] = {
    SIM_ATTR(PREFIX ".file", STRING, matrix_config_t, file,
             .default_text = "",
             .help = "configuration of kvbench's sequential-ct-perftest or ct-perftest; empty: the "
                     "patterns of a model's requests are made"),
    SIM_ATTR(PREFIX ".iterations", COUNT, matrix_config_t, run.iterations,
             .default_text = "1", .min_text = "1", .max_text = "1000",
             .help = "number of times that the whole sequence runs; repetitions differ only by "
                     "what is left in queues and congestion controls"),
    SIM_ATTR(PREFIX ".isolation-iterations", COUNT, matrix_config_t, run.isolated,
             .default_text = "1", .min_text = "0", .max_text = "1000",
             .help = "number of times that each pattern runs alone before the sequence, which "
                     "gives its isolated latency; 0: it is not measured"),
    SIM_ATTR(PREFIX ".storage-ranks", COUNT, matrix_config_t, run.storage_ranks,
             .default_text = "0", .min_text = "0", .max_text = "100000",
             .help = "number of ranks behind those of the matrices that keep what is stored; ranks "
                     "of the matrices take them in turn; 0: each rank has storage of its own"),
    SIM_ATTR(PREFIX ".storage-rate", RATE, matrix_config_t, run.storage_bps,
             .default_text = "50Gbps", .min_text = "1Mbps", .max_text = "100Tbps",
             .help = "rate of a rank's own storage"),
    SIM_ATTR(PREFIX ".storage-latency", TIME, matrix_config_t, run.storage_ps,
             .default_text = "100us", .min_text = "0s", .max_text = "10s",
             .help = "time before the first byte of a rank's own storage"),
    SIM_ATTR(PREFIX ".model", ENUM, matrix_config_t, generator.model,
             .default_text = "llama-70b", .choices = APP__KV_MODEL_CHOICES,
             .help = "model whose KV caches are moved, one of kvbench's"),
    SIM_ATTR(PREFIX ".requests", COUNT, matrix_config_t, generator.requests,
             .default_text = "10", .min_text = "1", .max_text = "1000000",
             .help = "number of requests that users send"),
    SIM_ATTR(PREFIX ".batch", COUNT, matrix_config_t, generator.batch,
             .default_text = "1", .min_text = "1", .max_text = "1000000",
             .help = "number of requests of a batch, whose caches are one pattern"),
    SIM_ATTR(PREFIX ".batch-bytes", BYTES, matrix_config_t, generator.batch_bytes_max,
             .default_text = "100GB", .min_text = "1", .max_text = "1000TB",
             .help = "size of the KV caches of a batch after which it takes no more requests"),
    SIM_ATTR(PREFIX ".prefill-nodes", COUNT, matrix_config_t, generator.prefill_nodes,
             .default_text = "1", .min_text = "1", .max_text = "100000",
             .help = "number of nodes that compute prefill"),
    SIM_ATTR(PREFIX ".decode-nodes", COUNT, matrix_config_t, generator.decode_nodes,
             .default_text = "1", .min_text = "1", .max_text = "100000",
             .help = "number of nodes that receive caches for decode"),
    SIM_ATTR(PREFIX ".node-gpus", COUNT, matrix_config_t, generator.per_node,
             .default_text = "8", .min_text = "1", .max_text = "1024",
             .help = "number of GPUs of a node, each a rank"),
    SIM_ATTR(PREFIX ".prefill-tp", COUNT, matrix_config_t, generator.prefill_tp,
             .default_text = "8", .min_text = "1", .max_text = "1024",
             .help = "tensor parallelism of prefill"),
    SIM_ATTR(PREFIX ".prefill-cp", COUNT, matrix_config_t, generator.prefill_cp,
             .default_text = "1", .min_text = "1", .max_text = "1024",
             .help = "context parallelism of prefill"),
    SIM_ATTR(PREFIX ".decode-tp", COUNT, matrix_config_t, generator.decode_tp,
             .default_text = "8", .min_text = "1", .max_text = "1024",
             .help = "tensor parallelism of decode, a multiple of prefill-tp x prefill-cp"),
    SIM_ATTR(PREFIX ".input-mean", COUNT, matrix_config_t, generator.input_mean,
             .default_text = "16000", .min_text = "1", .max_text = "100000000",
             .help = "mean number of tokens of a request's input, which has a normal distribution"),
    SIM_ATTR(PREFIX ".input-scale", COUNT, matrix_config_t, generator.input_scale,
             .default_text = "10000", .min_text = "0", .max_text = "100000000",
             .help = "standard deviation of the number of tokens of an input"),
    SIM_ATTR(PREFIX ".input-min", COUNT, matrix_config_t, generator.input_min,
             .default_text = "1000", .min_text = "1", .max_text = "100000000",
             .help = "minimum number of tokens of an input"),
    SIM_ATTR(PREFIX ".input-max", COUNT, matrix_config_t, generator.input_max,
             .default_text = "128000", .min_text = "1", .max_text = "100000000",
             .help = "maximum number of tokens of an input"),
    SIM_ATTR(PREFIX ".storage", BOOL, matrix_config_t, generator.storage,
             .default_text = "false",
             .help = "whether prefill reads the prefixes that hit from storage and writes the rest"),
    SIM_ATTR(PREFIX ".prefix-hit-rate", RATIO, matrix_config_t, generator.hit_rate,
             .default_text = "0.5", .min_text = "0", .max_text = "1",
             .help = "share of a cache that is in storage already, where storage is true"),
    SIM_ATTR(PREFIX ".tflops", COUNT, matrix_config_t, generator.tflops,
             .default_text = "1000", .min_text = "1", .max_text = "1000000",
             .help = "speed of a GPU in 10^12 operations a second, for the time of prefill"),
    APP__WORKLOAD_ATTRS(PREFIX, matrix_config_t, options),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX, "application", sizeof(matrix_config_t), attrs,
                                            SIM_COUNT_OF(attrs)};

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
