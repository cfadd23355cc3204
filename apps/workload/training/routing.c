// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/routing.c - makes the matrices of all-to-alls from weights of experts.
#include "apps/workload/training/routing.h"

#include "apps/zipf.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 4096u
#define NUMBER_BYTES_MAX 40u

// -- weights

typedef struct reader {
    const char *name;
    const char *at;
    const char *end;
    uint64_t line;
    size_t count;
    size_t capacity;
    app__routing_t *routing;
} reader_t;

static sim_err_t read_number(reader_t *reader, const char *line_start, sim_message_t *message)
{
    char text[NUMBER_BYTES_MAX + 1];
    size_t size = 0;
    const char *at = reader->at;
    while (at < reader->end && strchr(" \t,\r\n#", *at) == NULL && size < NUMBER_BYTES_MAX) {
        text[size++] = *at++;
    }
    text[size] = '\0';
    char *end;
    const double value = strtod(text, &end);
    if (size == 0 || *end != '\0' || !(value >= 0 && value <= 1e15)) {
        return sim_fail_in(message, SIM_ERR_INVALID, reader->name, reader->line,
                           (uint64_t)(reader->at - line_start) + 1,
                           "\"%s\" is no weight, expected a number from 0 to 1e15", text);
    }
    SIM_APPEND(reader->routing->weights, reader->count, reader->capacity, value);
    reader->at = at;
    return SIM_OK;
}

static sim_err_t read_line(reader_t *reader, sim_message_t *message)
{
    app__routing_t *const routing = reader->routing;
    const char *const start = reader->at;
    const size_t before = reader->count;
    bool comment = false;
    while (reader->at < reader->end && *reader->at != '\n') {
        comment = comment || *reader->at == '#';
        if (comment || strchr(" \t,\r", *reader->at) != NULL) {
            reader->at++;
            continue;
        }
        const sim_err_t error = read_number(reader, start, message);
        if (error != SIM_OK) {
            return error;
        }
    }
    reader->at += reader->at < reader->end;
    const size_t columns = reader->count - before;
    if (columns == 0) {
        return SIM_OK;
    }
    if (columns > COLUMNS_MAX || (routing->rows > 0 && columns != routing->columns)) {
        return sim_fail_in(message, SIM_ERR_INVALID, reader->name, reader->line, 1,
                           "a row has %zu weights, expected %u as in the first row, at most %u",
                           columns, routing->rows > 0 ? routing->columns : COLUMNS_MAX,
                           COLUMNS_MAX);
    }
    double sum = 0;
    for (size_t i = before; i < reader->count; i++) {
        sum += routing->weights[i];
    }
    if (sum <= 0) {
        return sim_fail_in(message, SIM_ERR_INVALID, reader->name, reader->line, 1,
                           "all weights of a row are 0, expected one above 0");
    }
    routing->columns = (uint32_t)columns;
    routing->rows++;
    return SIM_OK;
}

sim_err_t app__routing_read(const char *name, const char *text, size_t size_bytes,
                            app__routing_t *routing, sim_message_t *message)
{
    reader_t reader = {.name = name, .at = text, .end = text + size_bytes, .routing = routing};
    *routing = (app__routing_t){.rows = 0};
    sim_err_t error = SIM_OK;
    while (error == SIM_OK && reader.at < reader.end) {
        reader.line++;
        error = read_line(&reader, message);
    }
    if (error == SIM_OK && routing->rows == 0) {
        error = sim_fail_in(message, SIM_ERR_INVALID, name, 1, 1,
                            "the file is empty, expected rows of weights");
    }
    if (error != SIM_OK) {
        app__routing_fini(routing);
    }
    return error;
}

void app__routing_zipf(uint32_t experts, sim_ratio_t skew, app__routing_t *routing)
{
    app_zipf_t zipf;
    app_zipf_init(&zipf, experts, skew);
    *routing = (app__routing_t){
        .weights = sim_alloc_array(experts, sizeof(*routing->weights)),
        .rows = 1,
        .columns = experts,
    };
    for (uint32_t i = 0; i < experts; i++) {
        routing->weights[i] = (double)(zipf.sums[i] - (i > 0 ? zipf.sums[i - 1] : 0));
    }
    app_zipf_fini(&zipf);
}

void app__routing_fini(app__routing_t *routing)
{
    sim_free(routing->weights);
    *routing = (app__routing_t){.rows = 0};
}

// -- matrices

// Computes the share of row `row` that goes to each rank of the expert group. order: the expert
// that stands at each place of the layer.
static void shares_of(const app__routing_t *routing, uint32_t row, const uint32_t *order,
                      uint32_t ranks, double *shares)
{
    const double *const weights =
        routing->weights + (size_t)(routing->rows > 1 ? row : 0) * routing->columns;
    const uint32_t each = routing->columns / ranks;
    double sum = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        shares[i] = 0;
    }
    for (uint32_t i = 0; i < routing->columns; i++) {
        shares[i / each] += weights[order[i]];
        sum += weights[order[i]];
    }
    for (uint32_t i = 0; i < ranks; i++) {
        shares[i] /= sum;
    }
}

// Makes the matrices of a layer's two all-to-alls, or of those of a piece of its tokens, and the
// loads of its experts.
static void make_layer(const app__routing_t *routing, const uint32_t *order,
                       const app__iteration_t *plan, uint64_t *there, uint64_t *back, double *load)
{
    const double tokens_bytes = (double)app__iteration_tokens(plan) * (double)plan->model.hidden *
                                (double)plan->activation_bytes * (double)plan->model.top_k /
                                plan->tp / SIM_MAX(plan->expert_pieces, 1);
    double *const shares = sim_alloc_array(plan->ep, sizeof(*shares));
    for (uint32_t source = 0; source < plan->ep; source++) {
        shares_of(routing, source, order, plan->ep, shares);
        for (uint32_t i = 0; i < plan->ep; i++) {
            const uint64_t bytes = (uint64_t)(shares[i] * tokens_bytes + 0.5);
            there[(size_t)source * plan->ep + i] = bytes;
            back[(size_t)i * plan->ep + source] = bytes;
            load[i] += shares[i]; // 1: the mean of ep sources with 1 / ep each
        }
    }
    sim_free(shares);
}

sim_err_t app__routing_apply(const app__routing_t *routing, bool permute, app__iteration_t *plan,
                             sim_message_t *message)
{
    const uint32_t ranks = plan->ep;
    if ((routing->rows != 1 && routing->rows != ranks) ||
        (routing->columns != ranks && routing->columns != plan->model.experts)) {
        return sim_fail_about(message, SIM_ERR_INVALID, "routing",
                              ": the matrix has %u rows of %u weights, expected 1 or %u rows of "
                              "%" PRIu64 " or %u",
                              routing->rows, routing->columns, ranks, plan->model.experts, ranks);
    }
    const size_t cells = (size_t)ranks * ranks;
    const uint64_t **const list = sim_alloc_array(2 * plan->model.layers, sizeof(*list));
    uint32_t *const order = sim_alloc_array(routing->columns, sizeof(*order));
    plan->load = sim_alloc_array(plan->model.layers * ranks, sizeof(*plan->load));
    for (uint64_t layer = 0; layer < plan->model.layers; layer++) {
        if (!app__model_has_experts(&plan->model, layer)) {
            continue;
        }
        sim_random_t random;
        sim_random_init(&random, plan->seed, layer, "training-routing");
        for (uint32_t i = 0; i < routing->columns; i++) {
            order[i] = i;
        }
        if (permute) {
            sim_random_permutation(&random, order, routing->columns);
        }
        uint64_t *const there = sim_alloc_array(cells, sizeof(*there));
        uint64_t *const back = sim_alloc_array(cells, sizeof(*back));
        make_layer(routing, order, plan, there, back, plan->load + layer * ranks);
        list[2 * layer] = there;
        list[2 * layer + 1] = back;
    }
    sim_free(order);
    plan->matrices = list;
    return SIM_OK;
}

void app__routing_hand_over(app__iteration_t *plan, app__schedule_t *schedule)
{
    for (uint64_t i = 0; plan->matrices != NULL && i < 2 * plan->model.layers; i++) {
        union {
            const uint64_t *in;
            void *out;
        } matrix = {.in = plan->matrices[i]};
        if (matrix.in != NULL) {
            app__schedule_keep(schedule, matrix.out);
        }
    }
    union {
        const uint64_t *const *in;
        void *out;
    } list = {.in = plan->matrices};
    sim_free(list.out);
    sim_free(plan->load);
    plan->matrices = NULL;
    plan->load = NULL;
}
