// SPDX-License-Identifier: Apache-2.0
// apps/herd/report.c - HERD's report: rates, latencies, batches, the store and the log of
// operations.
#include "apps/herd/herd.h"

#include <math.h>
#include <stdlib.h>

#include "apps/herd/client.h"
#include "apps/herd/worker.h"
#include "apps/report_rows.h"

// clang-format off
#define WORKER_ROWS(X) \
    X(answered, U64, "", false, "number of requests that the worker answered") \
    X(mops, REAL, "M/s", false, "answers per second that the worker posted within the measured time") \
    X(busy, REAL, "", false, "share of the time spent in turns that found a request") \
    X(batch_mean, REAL, "", false, "mean number of requests taken in a turn") \
    X(gets, U64, "", false, "number of GETs that the worker served") \
    X(puts, U64, "", false, "number of PUTs that the worker served")
// clang-format on
typedef struct worker_report {
    WORKER_ROWS(APP__MEMBER)
} worker_report_t;

// clang-format off
#define INTERVAL_ROWS(X) \
    X(index, U64, "", false, "number of the interval, from 0") \
    X(start_us, REAL, "us", false, "time at which the interval begins") \
    X(mops, REAL, "M/s", false, "answers per second that clients saw in the interval") \
    X(latency_us_mean, REAL, "us", false, "mean latency of the answers seen in the interval") \
    X(latency_us_max, REAL, "us", false, "highest latency of the answers seen in the interval") \
    X(get_hit_rate, REAL, "", false, "share of the interval's GETs that found their key; null without GETs") \
    X(response_bytes_mean, REAL, "bytes", false, "mean payload of an answer") \
    X(batch_mean, REAL, "", false, "mean number of requests that a worker took in a turn") \
    X(queue_mean, REAL, "", false, "mean number of requests that waited for a worker after its turn") \
    X(cores_busy, REAL, "", false, "number of cores whose whole time went to turns that found a request") \
    X(pcie_bytes_per_operation, REAL, "bytes", false, "bytes over the servers' PCIe per operation, both ways; null with ideal NICs")
// clang-format on
typedef struct interval_report {
    INTERVAL_ROWS(APP__MEMBER)
    sim_report_list_t worker_mops;
} interval_report_t;

typedef struct count_report {
    uint64_t number;
    uint64_t times;
} count_report_t;

// clang-format off
#define POINT_ROWS(X) \
    X(percent, REAL, "", false, "percentage of operations whose latency is at most `ms`") \
    X(ms, REAL, "ms", false, "latency, from an operation's start to the poll that found the answer")
// clang-format on
typedef struct point_report {
    POINT_ROWS(APP__MEMBER)
} point_report_t;

// clang-format off
#define HERD_ROWS(X) \
    X(mops, REAL, "M/s", true, "operations per second that clients saw done within the measured time: measured_operations / measured_us") \
    X(measured_operations, U64, "", false, "number of operations that clients saw done within the measured time") \
    X(measured_us, REAL, "us", false, "measured time, over which rates are computed: `measure`, or shorter if all `requests` were done before its end") \
    X(latency_us, TIMES, "us", true, "latency of operations, from the request's post or arrival to the poll that found the answer") \
    X(batch_mean, REAL, "", true, "mean number of requests that a worker takes in a turn") \
    X(responses_per_batch, REAL, "", false, "mean number of answers posted together, one port's share of a turn") \
    X(get_hit_rate, REAL, "", true, "share of GETs that found their key; null without GETs") \
    X(requests, U64, "", false, "number of operations that clients began in the whole run, warm-up included") \
    X(responses, U64, "", false, "number of operations that clients saw done in the whole run, warm-up included") \
    X(gets, U64, "", false, "number of GETs that clients saw done in the whole run") \
    X(puts, U64, "", false, "number of PUTs that clients saw done in the whole run") \
    X(hits, U64, "", false, "number of GETs that found their key in the whole run") \
    X(answers_outside_gates, U64, "", false, "number of answers that clients took between two gates, in the whole run; a client passes a gate after each window of requests and after its last request") \
    X(client_queue_mean, REAL, "", false, "mean number of answers that wait in a client's receive queue when it looks and finds any") \
    X(client_queue_max, U64, "", false, "highest number of answers that waited in a client's receive queue at a look") \
    X(send_queue_mean, REAL, "", false, "mean number of answers in a server's send queue after a worker posted to it") \
    X(send_queue_max, U64, "", false, "highest number of answers in a server's send queue after a worker posted to it") \
    X(lost, U64, "", true, "number of operations given up after all retries") \
    X(retried, U64, "", true, "number of requests that were written again after a timeout") \
    X(duplicates, U64, "", false, "number of answers to operations that were answered before") \
    X(wrong_values, U64, "", true, "number of answers that cannot belong to their key; an intact store gives 0") \
    X(failed, U64, "", false, "number of completions with an error") \
    X(malformed, U64, "", false, "number of requests that workers could not decode") \
    X(looked_back, U64, "", false, "number of requests found in slots that were not expected next") \
    X(reads, U64, "", false, "number of READs, for the systems whose GETs are READs") \
    X(reads_again, U64, "", false, "number of READs repeated because a PUT changed the data between or during READs") \
    X(request_bytes_mean, REAL, "bytes", false, "mean payload of a request, retries included") \
    X(response_bytes_mean, REAL, "bytes", false, "mean payload of an answer") \
    X(queue_mean, REAL, "", false, "mean number of requests that wait for a worker after its turn") \
    X(queue_max, U64, "", false, "highest number of requests that waited for a worker after its turn") \
    X(cores_busy, REAL, "", true, "number of cores whose whole time went to turns that found a request") \
    X(full_queue_waits, U64, "", false, "number of times that a worker waited for room in a send queue") \
    X(unsent_answers, U64, "", false, "number of answers dropped at a connection's full send queue, whose earlier answers are not acknowledged; the client asks again") \
    X(pcie_bytes_per_operation, REAL, "bytes", false, "bytes over the servers' PCIe per operation, both ways, headers included; null with ideal NICs") \
    X(index_evictions, U64, "", false, "number of entries lost to full buckets in all workers' indexes, population included") \
    X(tag_overwrites, U64, "", false, "number of entries lost to keys of the same tag in all workers' indexes, population included") \
    X(updated_in_place, U64, "", false, "number of PUTs that changed an existing key in place") \
    X(inserted, U64, "", false, "number of entries appended to all workers' logs, population included") \
    X(log_head_bytes, U64, "bytes", false, "offsets of the logs' heads, summed over the workers") \
    X(store_memory_bytes, U64, "bytes", false, "memory of the simulation that the stores take")
// clang-format on
typedef struct herd_report {
    HERD_ROWS(APP__MEMBER)
    sim_report_list_t workers;
    sim_report_list_t series;
    sim_report_list_t batches;
    sim_report_list_t response_sizes;
    point_report_t *latencies; // set where a series or the log is asked for
    size_t latency_count;
    double *worker_mops; // of the series: one interval's workers after another's
} herd_report_t;

static double ratio(double a, double b)
{
    return b > 0.0 || isnan(a) ? a / b : 0.0;
}

// Returns the share of hits; NaN without GETs.
static double hit_rate(uint64_t hits, uint64_t gets)
{
    return gets > 0 ? (double)hits / (double)gets : (double)NAN;
}

// Returns the measured time: the span, or the time until the last answer if every request was
// answered or given up.
static sim_time_t measured_ps(const app__herd_t *herd)
{
    const app__span_t *const span = &herd->config.span;
    sim_time_t last_ps = 0;
    for (uint32_t c = 0; c < herd->client_count; c++) {
        const app__herd_client_t *const client = &herd->clients[c];
        if (client->answered + client->lost < herd->config.requests) {
            return app__span_measured_ps(&herd->app, span);
        }
        last_ps = SIM_MAX(client->last_ps, last_ps);
    }
    const sim_time_t begin_ps = app__span_begin(span);
    const sim_time_t until_ps = last_ps < app__span_end(span) ? last_ps : app__span_end(span);
    return until_ps > begin_ps ? until_ps - begin_ps : span->measure_ps;
}

// Fills the distribution of latencies in steps of 1 %, with the last thousandths.
static void take_latencies(const app__herd_t *herd, sim_sample_set_t *all, herd_report_t *report)
{
    static const uint64_t last[] = {995, 999, 1000};
    const app__herd_config_t *const config = &herd->config;
    if (all->count == 0 || (config->series_ps == 0 && !config->log)) {
        return;
    }
    const size_t count = 99 + SIM_COUNT_OF(last);
    report->latencies = sim_alloc_array(count, sizeof(*report->latencies));
    report->latency_count = count;
    for (size_t i = 0; i < count; i++) {
        const uint64_t permille = i < 99 ? 10 * (i + 1) : last[i - 99];
        report->latencies[i] = (point_report_t){
            .percent = (double)permille / 10,
            .ms = (double)sim_sample_set_percentile(all, permille, 1000) / (double)SIM_PS_PER_MS,
        };
    }
}

static void take_clients(const app__herd_t *herd, herd_report_t *report)
{
    sim_sample_set_t all;
    sim_sample_set_init(&all);
    uint64_t request_bytes = 0;
    uint64_t answer_bytes = 0;
    uint64_t looks = 0;
    uint64_t waiting = 0;
    for (uint32_t c = 0; c < herd->client_count; c++) {
        const app__herd_client_t *const client = &herd->clients[c];
        sim_sample_set_add_all(&all, &client->latencies);
        report->measured_operations += client->thread.counted;
        report->requests += client->sent;
        report->responses += client->answered;
        report->gets += client->gets;
        report->puts += client->puts;
        report->hits += client->hits;
        report->lost += client->lost;
        report->retried += client->retried;
        report->duplicates += client->duplicates;
        report->wrong_values += client->wrong;
        report->failed += client->thread.failed;
        report->reads += client->reads;
        report->reads_again += client->reads_again;
        report->answers_outside_gates += client->outside_gates;
        looks += client->looks;
        waiting += client->waiting_sum;
        if (client->waiting_max > report->client_queue_max) {
            report->client_queue_max = client->waiting_max;
        }
        request_bytes += client->request_bytes;
        answer_bytes += client->answer_bytes;
    }
    const sim_time_t span_ps = measured_ps(herd);
    report->latency_us = sim_percentiles(&all, SIM_PS_PER_US);
    take_latencies(herd, &all, report);
    report->mops = (double)report->measured_operations * (double)SIM_PS_PER_US / (double)span_ps;
    report->measured_us = (double)span_ps / (double)SIM_PS_PER_US;
    report->client_queue_mean = ratio((double)waiting, (double)looks);
    report->get_hit_rate = hit_rate(report->hits, report->gets);
    report->request_bytes_mean = ratio((double)request_bytes, (double)report->requests);
    report->response_bytes_mean = ratio((double)answer_bytes, (double)report->responses);
    sim_sample_set_fini(&all);
}

static void take_worker(const app__herd_worker_t *worker, sim_time_t span_ps, sim_time_t run_ps,
                        worker_report_t *row)
{
    row->answered = worker->thread.total;
    row->mops = (double)worker->thread.counted * (double)SIM_PS_PER_US / (double)span_ps;
    row->busy = ratio((double)nic_core_busy_ps(worker->thread.core), (double)run_ps);
    row->batch_mean = ratio((double)worker->taken, (double)worker->turns);
    row->gets = worker->gets;
    row->puts = worker->puts;
}

static void take_workers(const app__herd_t *herd, herd_report_t *report)
{
    const uint32_t count = herd->server_count * herd->worker_count;
    worker_report_t *const rows = sim_alloc_array(count, sizeof(*rows));
    const sim_time_t span_ps = measured_ps(herd);
    const sim_time_t run_ps = span_ps + herd->config.span.warm_ps;
    uint64_t turns = 0;
    uint64_t taken = 0;
    uint64_t queue_sum = 0;
    uint64_t lists = 0;
    uint64_t listed = 0;
    uint64_t send_sum = 0;
    for (uint32_t w = 0; w < count; w++) {
        const app__herd_worker_t *const worker = &herd->workers[w];
        take_worker(worker, span_ps, run_ps, &rows[w]);
        report->cores_busy += rows[w].busy;
        turns += worker->turns;
        taken += worker->taken;
        lists += worker->lists;
        listed += worker->listed;
        send_sum += worker->send_sum;
        if (worker->send_max > report->send_queue_max) {
            report->send_queue_max = worker->send_max;
        }
        queue_sum += worker->queue_sum;
        report->queue_max = SIM_MAX(worker->queue_max, report->queue_max);
        report->full_queue_waits += worker->waited;
        report->unsent_answers += worker->unsent;
        report->malformed += worker->malformed;
        report->looked_back += worker->looked_back;
        report->failed += worker->thread.failed;
        if (worker->mica != NULL) {
            const app_mica_stats_t stats = app_mica_stats(worker->mica);
            report->index_evictions += stats.evictions;
            report->tag_overwrites += stats.overwrites;
            report->updated_in_place += stats.updated;
            report->inserted += stats.inserted;
            report->log_head_bytes += stats.log_head_bytes;
            report->store_memory_bytes += app_mica_bytes(worker->mica);
        }
    }
    report->batch_mean = ratio((double)taken, (double)turns);
    report->responses_per_batch = ratio((double)listed, (double)lists);
    report->queue_mean = ratio((double)queue_sum, (double)turns);
    report->send_queue_mean = ratio((double)send_sum, (double)lists);
    report->workers = (sim_report_list_t){rows, count};
}

static void take_pcie(const app__herd_t *herd, herd_report_t *report)
{
    double bytes = (double)NAN;
    for (uint32_t s = 0; s < herd->server_count; s++) {
        nic_rnic_counters_t counters;
        if (nic_get_rnic_counters(herd->machines[s].endpoint->nic, &counters)) {
            bytes = (isnan(bytes) ? 0 : bytes) +
                    (double)(counters.pcie_up_bytes + counters.pcie_down_bytes);
        }
    }
    report->pcie_bytes_per_operation = ratio(bytes, (double)report->responses);
}

// Fills each worker's rate in each interval.
static void take_worker_rates(const app__herd_t *herd, herd_report_t *report,
                              interval_report_t *rows, size_t count)
{
    const size_t workers = (size_t)herd->server_count * herd->worker_count;
    const double every_us = (double)herd->config.series_ps / (double)SIM_PS_PER_US;
    report->worker_mops = sim_alloc_array(count * workers, sizeof(*report->worker_mops));
    for (size_t i = 0; i < count; i++) {
        double *const rates = &report->worker_mops[i * workers];
        for (size_t w = 0; w < workers; w++) {
            const app__herd_bins_t *const series = &herd->workers[w].series;
            rates[w] = i < series->count ? (double)series->items[i].done / every_us : 0;
        }
        rows[i].worker_mops = (sim_report_list_t){rates, workers};
    }
}

static void take_series(const app__herd_t *herd, herd_report_t *report)
{
    app__herd_bins_t clients = {0};
    app__herd_bins_t workers = {0};
    for (uint32_t c = 0; c < herd->client_count; c++) {
        app__herd_bins_add(&clients, &herd->clients[c].series);
    }
    for (uint32_t w = 0; w < herd->server_count * herd->worker_count; w++) {
        app__herd_bins_add(&workers, &herd->workers[w].series);
    }
    const size_t count = SIM_MAX(clients.count, workers.count);
    if (count == 0) {
        return;
    }
    (void)app__herd_bin_at(&clients, count - 1, 1);
    (void)app__herd_bin_at(&workers, count - 1, 1);
    interval_report_t *const rows = sim_alloc_array(count, sizeof(*rows));
    const double us = (double)SIM_PS_PER_US;
    const double every_us = (double)herd->config.series_ps / us;
    for (size_t i = 0; i < count; i++) {
        const app__herd_bin_t *const seen = &clients.items[i];
        const app__herd_bin_t *const served = &workers.items[i];
        rows[i] = (interval_report_t){
            .index = i,
            .start_us = (double)herd->config.span.start_ps / us + every_us * (double)i,
            .mops = (double)seen->done / every_us,
            .latency_us_mean = ratio((double)seen->latency_ps / us, (double)seen->done),
            .latency_us_max = (double)seen->latency_max_ps / us,
            .get_hit_rate = hit_rate(seen->hits, seen->gets),
            .response_bytes_mean = ratio((double)seen->answer_bytes, (double)seen->done),
            .batch_mean = ratio((double)served->done, (double)served->turns),
            .queue_mean = ratio((double)served->queue, (double)served->turns),
            .cores_busy = (double)served->busy_ps / (double)herd->config.series_ps,
            .pcie_bytes_per_operation = isnan(report->pcie_bytes_per_operation)
                                            ? (double)NAN
                                            : ratio((double)served->pcie_bytes, (double)seen->done),
        };
    }
    take_worker_rates(herd, report, rows, count);
    report->series = (sim_report_list_t){rows, count};
    app__herd_bins_fini(&clients);
    app__herd_bins_fini(&workers);
}

static sim_report_list_t list_counts(const app__herd_counts_t *counts)
{
    count_report_t *const rows = sim_alloc_array(counts->count + 1, sizeof(*rows));
    size_t used = 0;
    for (size_t i = 0; i < counts->count; i++) {
        if (counts->items[i] != 0) {
            rows[used++] = (count_report_t){i, counts->items[i]};
        }
    }
    return (sim_report_list_t){rows, used};
}

static void take_distributions(const app__herd_t *herd, herd_report_t *report)
{
    app__herd_counts_t batches = {0};
    app__herd_counts_t sizes = {0};
    for (uint32_t w = 0; w < herd->server_count * herd->worker_count; w++) {
        app__herd_counts_add(&batches, &herd->workers[w].batches);
    }
    for (uint32_t c = 0; c < herd->client_count; c++) {
        app__herd_counts_add(&sizes, &herd->clients[c].answer_sizes);
    }
    report->batches = list_counts(&batches);
    report->response_sizes = list_counts(&sizes);
    app__herd_counts_fini(&batches);
    app__herd_counts_fini(&sizes);
}

static void fill(const void *object, void *into)
{
    const app__herd_t *const herd = object;
    herd_report_t *const report = into;
    take_clients(herd, report);
    take_workers(herd, report);
    take_pcie(herd, report);
    take_series(herd, report);
    take_distributions(herd, report);
    if (herd->image != NULL) {
        report->store_memory_bytes += app_mica_image_bytes(herd->image);
    }
    if (herd->table_image != NULL) {
        report->store_memory_bytes += app_herd_table_image_bytes(herd->table_image);
        report->index_evictions = app_herd_table_left_out(herd->table_image);
    }
}

static void fini(void *object)
{
    herd_report_t *const report = object;
    sim_free((void *)(uintptr_t)report->workers.items);
    sim_free((void *)(uintptr_t)report->series.items);
    sim_free((void *)(uintptr_t)report->batches.items);
    sim_free((void *)(uintptr_t)report->response_sizes.items);
    sim_free(report->worker_mops);
    sim_free(report->latencies);
}

// clang-format off
#define WORKER(...) APP__ROW(worker_report_t, __VA_ARGS__)
static const sim_report_row_t worker_rows[] = {WORKER_ROWS(WORKER)};
static const sim_report_table_t worker_table = APP__TABLE(worker_rows, worker_report_t);
#define INTERVAL(...) APP__ROW(interval_report_t, __VA_ARGS__)
static const sim_report_row_t interval_rows[] = {
    INTERVAL_ROWS(INTERVAL)
    {"worker_mops", SIM_REPORT_LIST, "M/s", "answers per second of each worker in the interval", .offset = offsetof(interval_report_t, worker_mops), .of = SIM_REPORT_REAL},
};
static const sim_report_table_t interval_table = APP__TABLE(interval_rows, interval_report_t);
#define POINT(...) APP__ROW(point_report_t, __VA_ARGS__)
static const sim_report_row_t point_rows[] = {POINT_ROWS(POINT)};
static const sim_report_table_t point_table = APP__TABLE(point_rows, point_report_t);
static const sim_report_row_t batch_rows[] = {
    {"requests", SIM_REPORT_U64, "", "number of requests taken in a turn", .offset = offsetof(count_report_t, number)},
    {"turns", SIM_REPORT_U64, "", "turns with this number of requests, within the measured time", .offset = offsetof(count_report_t, times)},
};
static const sim_report_table_t batch_table = APP__TABLE(batch_rows, count_report_t);
static const sim_report_row_t size_rows[] = {
    {"bytes", SIM_REPORT_U64, "bytes", "size of an answer", .offset = offsetof(count_report_t, number)},
    {"responses", SIM_REPORT_U64, "", "number of answers of this size, within the measured time", .offset = offsetof(count_report_t, times)},
};
static const sim_report_table_t size_table = APP__TABLE(size_rows, count_report_t);
#define HERD(...) APP__ROW(herd_report_t, __VA_ARGS__)
static const sim_report_row_t report_rows[] = {
    HERD_ROWS(HERD)
    APP__LIST(herd_report_t, workers, worker_table, "one row per worker")
    APP__ARRAY(herd_report_t, latency_cdf, latencies, latency_count, point_table, true, "distribution of latency_us, if a series or the log is asked for")
    APP__LIST(herd_report_t, batches, batch_table, "distribution of the number of requests per turn")
    APP__LIST(herd_report_t, response_sizes, size_table, "distribution of the size of answers")
    APP__LIST(herd_report_t, series, interval_table, "results per interval of traffic.herd.series")
};

const sim_report_table_t app__herd_report = APP__FILLED(report_rows, herd_report_t, fill, .fini = fini);
// clang-format on

void app__herd_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const app__herd_t *const herd = (const app__herd_t *)(const void *)app;
    *done = 0;
    for (uint32_t c = 0; c < herd->client_count; c++) {
        *done += herd->clients[c].thread.stopped;
    }
    *planned = herd->client_count;
}

// -- in ranks

static void carry_client(app__herd_client_t *client, sim_carry_t *carry)
{
    if (!app__thread_carry(carry, &client->thread)) {
        return;
    }
    SIM_CARRY_FIELDS(carry, client, sent, last_ps);
    sim_sample_set_carry(&client->latencies, carry);
    SIM_CARRY_LIST(carry, client->records, client->record_count, client->record_capacity);
    SIM_CARRY_LIST(carry, client->series.items, client->series.count, client->series.capacity);
    SIM_CARRY_LIST(carry, client->answer_sizes.items, client->answer_sizes.count,
                   client->answer_sizes.capacity);
}

static void carry_worker(app__herd_worker_t *worker, sim_carry_t *carry)
{
    if (!app__thread_carry(carry, &worker->thread)) {
        return;
    }
    nic_core_carry(worker->thread.core, carry);
    SIM_CARRY_FIELDS(carry, worker, waited, send_max);
    SIM_CARRY(carry, worker->looked_back);
    SIM_CARRY_LIST(carry, worker->series.items, worker->series.count, worker->series.capacity);
    SIM_CARRY_LIST(carry, worker->batches.items, worker->batches.count, worker->batches.capacity);
    if (worker->mica != NULL) {
        app_mica_carry(worker->mica, carry);
    }
}

void app__herd_carry(app_t *app, sim_carry_t *carry)
{
    app__herd_t *const herd = (app__herd_t *)(void *)app;
    for (uint32_t c = 0; c < herd->client_count; c++) {
        carry_client(&herd->clients[c], carry);
    }
    for (uint32_t w = 0; w < herd->server_count * herd->worker_count; w++) {
        carry_worker(&herd->workers[w], carry);
    }
}

// -- the log of operations

static int by_start(const void *left, const void *right)
{
    const app_flow_result_t *const a = left;
    const app_flow_result_t *const b = right;
    return 2 * SIM_COMPARE(a->start_ps, b->start_ps) + SIM_COMPARE(a->flow_id, b->flow_id);
}

static const char *label(const app__herd_record_t *record)
{
    if (record->end_ps == SIM_TIME_NEVER) {
        return record->put ? "put-lost" : "get-lost";
    }
    return record->put ? "put" : record->hit ? "get" : "get-miss";
}

void app__herd_flows(const app_t *app, app_flow_fn fn, void *ctx)
{
    const app__herd_t *const herd = (const app__herd_t *)(const void *)app;
    size_t count = 0;
    for (uint32_t c = 0; c < herd->client_count; c++) {
        count += herd->clients[c].record_count;
    }
    if (count == 0) {
        return;
    }
    app_flow_result_t *const rows = sim_alloc_array(count, sizeof(*rows));
    size_t at = 0;
    for (uint32_t c = 0; c < herd->client_count; c++) {
        const app__herd_client_t *const client = &herd->clients[c];
        for (size_t i = 0; i < client->record_count; i++, at++) {
            const app__herd_record_t *const record = &client->records[i];
            const uint32_t workers = herd->server_count * herd->worker_count;
            const uint32_t server = record->worker < workers ? record->worker / herd->worker_count
                                                             : record->worker - workers;
            rows[at] = (app_flow_result_t){
                .flow_id = at,
                .source = client->thread.machine->endpoint->interface,
                .destination = herd->machines[server].endpoint->interface,
                .service_port = record->request_bytes,
                .bytes = (uint64_t)record->request_bytes + record->answer_bytes,
                .start_ps = record->start_ps,
                .end_ps = record->end_ps,
                .label = label(record),
            };
        }
    }
    qsort(rows, count, sizeof(*rows), by_start);
    for (size_t i = 0; i < count; i++) {
        fn(&rows[i], ctx);
    }
    sim_free(rows);
}
