// SPDX-License-Identifier: Apache-2.0
// apps/herd/parameters.h - the attributes of HERD, and its table of batches.
#ifndef APPS_HERD_PARAMETERS_H
#define APPS_HERD_PARAMETERS_H

#include "apps/herd/store/wire.h"
#include "apps/machine_internal.h"

typedef enum { APP__HERD_GUIDE, APP__HERD_PUBLIC, APP__HERD_2014 } app__herd_preset_t;
// HERD; a store read by one-sided READs; or no store at all (echo).
typedef enum {
    APP__HERD_HERD,
    APP__HERD_PILAF,
    APP__HERD_FARM,
    APP__HERD_FARM_VAR,
    APP__HERD_ECHO,
} app__herd_system_t;
typedef enum { APP__HERD_MICA, APP__HERD_MODEL } app__herd_service_t;
// Ways of requests and answers; auto: that of the preset or system.
typedef enum {
    APP__HERD_BY_AUTO,
    APP__HERD_BY_WRITE_UC,
    APP__HERD_BY_WRITE_RC,
    APP__HERD_BY_SEND,    // SEND of datagrams
    APP__HERD_BY_SEND_RC, // SEND over the connection of client and server
} app__herd_by_t;
static inline bool app__herd_sends(uint32_t by)
{
    return by >= APP__HERD_BY_SEND;
}
static inline bool app__herd_is_reliable(uint32_t by)
{
    return by == APP__HERD_BY_WRITE_RC || by == APP__HERD_BY_SEND_RC;
}
typedef enum { APP__HERD_PER_AUTO, APP__HERD_PER_WORKER, APP__HERD_PER_CLIENT } app__herd_per_t;
typedef enum {
    APP__HERD_GATE_AUTO,
    // only after each window of sends: takes the answers that are there, at most a window a look,
    // and stays until all requests of the next window have free slots
    APP__HERD_GATE_STRICT,
    // after each window of sends, without waiting; and whenever a full ring stops the client
    APP__HERD_GATE_RING,
    APP__HERD_GATE_ALL,  // after each window of sends: waits until all are answered
    APP__HERD_GATE_EACH, // polls whenever the window is full
} app__herd_gate_t;

typedef enum { APP__HERD_DRAWS_FIXED, APP__HERD_DRAWS_SEED } app__herd_draws_t;

// The service model's time of a batch by its size, linear between the rows (docs/models/herd.md).
#define APP__HERD_BATCH_ROWS 16u
typedef struct app__herd_batch_row {
    uint64_t size;
    sim_time_t time_ps;
} app__herd_batch_row_t;
typedef struct app__herd_batch_table {
    app__herd_batch_row_t rows[APP__HERD_BATCH_ROWS];
    uint32_t count; // 0: no table
} app__herd_batch_table_t;

typedef struct app__herd_config {
    char *server;
    char *clients_on;
    uint32_t preset;
    uint32_t system;
    uint32_t service;
    uint32_t request;
    uint32_t answer;
    uint64_t workers;
    uint64_t clients;
    uint64_t window;
    uint32_t window_per;
    uint32_t gate;
    uint64_t postlist;
    bool list;
    uint64_t ports;
    uint64_t qps_per_port;
    uint64_t unsignaled;
    bool signal_all;
    uint64_t update_percentage;
    uint64_t get_head;
    uint64_t put_answer;
    uint64_t key_bytes;
    uint64_t value_bytes;
    uint64_t keys;
    sim_ratio_t skew;
    bool permute;
    uint32_t draws;
    bool by_key;
    uint64_t buckets;
    uint64_t log_bytes;
    uint64_t inline_max;
    bool verify;
    bool log;
    sim_time_t series_ps;
    uint64_t requests;
    sim_time_t interval_ps;
    sim_time_t timeout_ps;
    uint64_t retries;
    uint64_t pipeline;
    bool prefetch;
    uint64_t extra_accesses;
    sim_time_t look_ps;
    uint64_t look_back;
    sim_time_t request_ps;
    uint64_t overlap;
    sim_time_t operation_ps;
    sim_time_t memory_ps;
    uint64_t overlapped;
    uint64_t failed_polls;
    sim_time_t check_ps;
    sim_time_t model_base_ps;
    sim_time_t model_get_ps;
    sim_time_t model_put_ps;
    sim_time_t model_batch_ps;
    char *model_batch_table; // text of batch_table
    sim_ratio_t model_hit;
    app__span_t span;
    app__herd_batch_table_t batch_table; // of model_batch_table, from app__herd_resolve
} app__herd_config_t;

extern const sim_attr_table_t app__herd_attrs;
// Fills in the values of the preset and the system. SIM_ERR_RANGE: values contradict each other.
SIM_MUST_CHECK sim_err_t app__herd_resolve(app__herd_config_t *config, sim_message_t *message);
// Reads a table "SIZE TIME, SIZE TIME, ..." with sizes that rise from 1 to at least postlist.
SIM_MUST_CHECK sim_err_t app__herd_read_batch_table(const char *text, uint64_t postlist,
                                                    app__herd_batch_table_t *table,
                                                    sim_message_t *message);
// Returns the time of a batch of `size` requests, from 1 to the table's last size.
sim_time_t app__herd_batch_ps(const app__herd_batch_table_t *table, uint64_t size);

// Returns whether clients keep the strict gate. Open arrivals have no windows of sends: a client
// looks for answers whenever it has nothing to send.
static inline bool app__herd_is_strict(const app__herd_config_t *config)
{
    return config->gate == APP__HERD_GATE_STRICT && config->interval_ps == 0;
}

// Returns the largest value; sizes that depend on the key go up to 46 bytes.
static inline uint64_t app__herd_longest_value(const app__herd_config_t *config)
{
    return config->value_bytes == 0 ? APP_HERD_SMALL_VALUE_MAX : config->value_bytes;
}

#endif // APPS_HERD_PARAMETERS_H
