// SPDX-License-Identifier: Apache-2.0
// apps/herd/config.c - attributes of HERD and the values of its presets (docs/models/herd.md).
#include "apps/herd/parameters.h"

#include "apps/herd/worker.h"

#define INTERVALS_MAX 1000000u
#define PREFIX "traffic.herd"
#define VALUE_BYTES 32u    // of the publications
#define VALUE_BYTES_MIN 4u // a value identifies itself by a stamp

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(app__herd_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "server", server, "host0", "machines of the servers; several servers share the keys by their hash"),
    ATTR(STRING, "clients-on", clients_on, "host[1-*]", "machines of the clients, on which their threads are spread"),
    ATTR(ENUM, "preset", preset, "guide", "guide|public-code|sigcomm-2014", "source of the values that are left at auto; guide: settings chosen for this model; public-code: the published benchmark; sigcomm-2014: HERD's paper"),
    ATTR(ENUM, "system", system, "herd", "herd|pilaf|farm|farm-var|echo", "herd: calls; pilaf: two or more READs for a GET, PUTs by SEND; farm: one large READ, farm-var: two READs, PUTs by WRITE; echo: calls with `value` bytes and no store"),
    ATTR(ENUM, "service", service, "mica", "mica|model", "mica: a store that holds data; model: only the time that a store takes, set by model.*"),
    ATTR(ENUM, "request", request, "auto", "auto|write-uc|write-rc|send|send-rc", "transport of requests; send: datagrams; send-rc: over the connection, with one worker per client; auto: that of the system, for herd write-uc"),
    ATTR(ENUM, "answer", answer, "auto", "auto|write-uc|write-rc|send|send-rc", "transport of answers; send: datagrams; send-rc: over the connection; auto: that of the system, for herd send"),
    ATTR(COUNT, "workers", workers, "auto", "1", "64", "number of threads that answer on a server, each on its own core; auto: the preset's (12, 12, 6)", .auto_ok = true),
    ATTR(COUNT, "clients", clients, "auto", "1", "4096", "number of threads that send requests, spread over their machines; auto: the preset's (70, 70, 51)", .auto_ok = true),
    ATTR(COUNT, "window", window, "auto", "1", "256", "number of slots of a client at each worker, and of requests between two looks at its answers; auto: the preset's (32, 32, 4)", .auto_ok = true),
    ATTR(ENUM, "window-per", window_per, "auto", "auto|worker|client", "scope of the window; worker: requests in flight at each worker; client: at all workers together; auto: the preset's (worker, client, client)"),
    ATTR(ENUM, "gate", gate, "auto", "auto|strict|ring|all|each", "when a client takes answers; strict: only after each window of sends, a window at most per look, until the next window's slots are free; ring: there without waiting, and whenever a full ring stops the client; all: waits for all answers of a window; each: whenever the window is full; auto: the preset's (strict, all, each)"),
    ATTR(COUNT, "postlist", postlist, "auto", "1", "128", "maximum number of requests that a worker takes at a time and answers together; auto: the preset's (32, 32, 1)", .auto_ok = true),
    ATTR(BOOL, "batch", list, "on", "on: answers are posted with one Doorbell per port; off: each WQE is written into the NIC"),
    ATTR(COUNT, "ports", ports, "auto", "1", "4", "number of ports of the server's card that clients are spread over, with queue pairs of their own; auto: the preset's (2, 2, 1)", .auto_ok = true),
    ATTR(COUNT, "qps-per-port", qps_per_port, "1", "1", "64", "number of UD queue pairs of a worker on each port (NUM_UD_QPS), used in turn"),
    ATTR(COUNT, "unsignaled", unsignaled, "64", "1", "64", "number of requests of a client, or of answers of a queue pair, per completion (UNSIG_BATCH)"),
    ATTR(BOOL, "signal-all", signal_all, "off", "on: every request and answer asks for a completion, which workers poll in passing, as in programs without the paper's optimisations"),
    ATTR(COUNT, "update-percentage", update_percentage, "5", "0", "100", "percentage of operations that are PUTs"),
    ATTR(BYTES, "get-head", get_head, "auto", "0", "16", "bytes before the value in the answer of a GET that hit; auto: the preset's (0, 0, 2: a length)", .auto_ok = true),
    ATTR(BYTES, "put-answer", put_answer, "auto", "0", "64", "bytes of a PUT's answer; auto: the preset's (0, 0, 1), farm: 31", .auto_ok = true),
    ATTR(BYTES, "key", key_bytes, "16", "16", "16", "size of a key; HERD's keys are hashes of 16 bytes"),
    ATTR(BYTES, "value", value_bytes, "auto", "0", "1024", "size of a value, at least 4; 0: depends on the key, 8 to 46; auto: the preset's for system herd (0, 32, 32), 32 for the others", .auto_ok = true),
    ATTR(COUNT, "keys", keys, "auto", "1", "67108864", "number of keys; every worker holds all of them; auto: the preset's (1048576, 8388608, 1048576)", .auto_ok = true),
    ATTR(RATIO, "skew", skew, "0", "0", "5", "Zipf exponent of the choice of keys, in thousandths; larger: fewer keys get most requests; 0: all alike"),
    ATTR(BOOL, "permutation", permute, "on", "on: each client has its own random order of the keys, shuffled like the benchmark's"),
    ATTR(ENUM, "draws", draws, "fixed", "fixed|seed", "where the clients' random draws begin; fixed: at the benchmark's seed; seed: at a place that the scenario's seed selects, so seeds differ"),
    ATTR(BOOL, "worker-by-key", by_key, "off", "on: each key belongs to one worker; off: requests go to random workers, and all workers hold the key"),
    ATTR(COUNT, "index-buckets", buckets, "auto", "1", "1073741824", "number of buckets of a worker's index, a power of two; auto: a quarter of the keys (sigcomm-2014: four times), rounded up", .auto_ok = true),
    ATTR(BYTES, "log-bytes", log_bytes, "auto", "4KiB", "64GiB", "size of a worker's log; auto: twice the room for all keys, rounded up to a power of two", .auto_ok = true),
    ATTR(BYTES, "inline-max", inline_max, "auto", "0", "1KiB", "largest payload that travels in the WQE; the NIC reads longer ones by DMA; auto: 143, as in the paper's programs", .auto_ok = true),
    ATTR(BOOL, "verify", verify, "on", "on: clients check that a GET's value belongs to its key (service: mica)"),
    ATTR(BOOL, "log", log, "off", "on: each operation becomes a row of flows.csv: bytes of request and answer, service port with the request's bytes, label with kind and outcome"),
    ATTR(TIME, "series", series_ps, "0s", "0s", "1s", "length of the intervals in which the report counts answers; 0: no intervals"),
    ATTR(COUNT, "requests", requests, "auto", "1", "100000000", "number of requests that each client sends; auto: until the measured time is over", .auto_ok = true),
    ATTR(TIME, "interval", interval_ps, "0s", "0s", "1s", "mean time between two operations of a client, which arrive at random and may wait for a slot; 0: the next one starts as soon as a slot is free"),
    ATTR(TIME, "timeout", timeout_ps, "1ms", "1us", "1000s", "time after which an unanswered request is written again"),
    ATTR(COUNT, "retries", retries, "7", "0", "1000", "number of times that an unanswered request is written again before it counts as lost"),
    ATTR(COUNT, "pipeline", pipeline, "auto", "0", "4", "number of stages of a worker's pipeline, in which requests wait while their memory is prefetched; auto: the preset's (0, 0, 2: bucket, then entry)", .auto_ok = true),
    ATTR(BOOL, "prefetch", prefetch, "on", "on: memory is prefetched, for a batch or in the pipeline"),
    ATTR(COUNT, "extra-accesses", extra_accesses, "0", "0", "64", "number of random memory accesses of each operation, in addition to the store's"),
    ATTR(TIME, "cpu.look", look_ps, "2ns", "1ps", "1us", "worker's time to look at a slot without a request, in its first-level cache"),
    ATTR(COUNT, "look-back", look_back, "64", "0", "1000000", "number of times that a worker finds a client's expected slot empty before it looks at the client's other slots; 0: never"),
    ATTR(TIME, "cpu.request", request_ps, "20ns", "0ps", "1us", "worker's time to take a request, which the NIC put into the last-level cache"),
    ATTR(COUNT, "cpu.overlap", overlap, "3", "1", "64", "divisor of the time to take each further request of a turn, since their memory accesses overlap with the first one's"),
    ATTR(TIME, "cpu.operation", operation_ps, "24ns", "0ps", "1us", "worker's time for the instructions of an operation: hash, compare, copy"),
    ATTR(TIME, "cpu.memory", memory_ps, "auto", "0ps", "1us", "time of a cache miss to memory; a GET has two, bucket and entry, a PUT one; auto: the preset's (96ns, 96ns, 80ns)", .auto_ok = true),
    ATTR(COUNT, "cpu.overlapped", overlapped, "10", "1", "64", "number of cache misses that a core can have in flight (its line fill buffers)"),
    ATTR(COUNT, "failed-polls", failed_polls, "100", "1", "1000000", "number of polls that find no request, after which a worker serves the requests in its pipeline"),
    ATTR(TIME, "cpu.check", check_ps, "10ns", "0ps", "10us", "client's time to check the data that a READ brought"),
    ATTR(TIME, "model.base", model_base_ps, "0ns", "0ps", "100us", "service model: time of a batch, whatever it holds"),
    ATTR(TIME, "model.get", model_get_ps, "40ns", "0ps", "100us", "service model: time of each GET (t_mica_get)"),
    ATTR(TIME, "model.put", model_put_ps, "32ns", "0ps", "100us", "service model: time of each PUT (t_mica_put)"),
    ATTR(TIME, "model.batch", model_batch_ps, "0ns", "0ps", "100us", "service model: time of a batch per operation in it (f_batch, linear)"),
    ATTR(STRING, "model.batch-table", model_batch_table, "", "service model: time of a batch by its size, added to the other times (f_batch as a table), such as \"1 0ns, 8 60ns, 32 150ns\"; sizes rise from 1 to at least postlist, times between are linear; empty: no table"),
    ATTR(RATIO, "model.hit", model_hit, "1", "0", "1", "service model: share of GETs that hit"),
    APP__SPAN_ATTRS(PREFIX, app__herd_config_t),
};

const sim_attr_table_t app__herd_attrs = SIM_ATTR_TABLE(PREFIX, "application", app__herd_config_t, attrs);
// clang-format on

typedef struct preset {
    uint64_t workers;
    uint64_t clients;
    uint64_t window;
    uint32_t window_per;
    uint32_t gate;
    uint64_t postlist;
    uint64_t ports;
    uint64_t keys;
    uint64_t pipeline;
    uint64_t memory_ps;
    uint64_t get_head;
    uint64_t put_answer;
    uint64_t value_bytes;       // 0: by the key
    uint64_t buckets_numerator; // buckets per key
    uint64_t buckets_denominator;
} preset_t;

// Time of a random memory access: 96 ns on the Xeon E5 v3 of the 2016 benchmark (local: Molka et
// al., ICPP 2015), and 80 ns in the middle of the 60 to 120 ns that the 2014 paper gives.
#define HASWELL_PS (96 * SIM_PS_PER_NS)
#define APT_PS (80 * SIM_PS_PER_NS)

static const preset_t presets[] = {
    [APP__HERD_GUIDE] =
        {
            .workers = 12,
            .clients = 70,
            .window = 32,
            .window_per = APP__HERD_PER_WORKER,
            .gate = APP__HERD_GATE_STRICT,
            .postlist = 32,
            .ports = 2,
            .keys = 1u << 20,
            .memory_ps = HASWELL_PS,
            .buckets_numerator = 1,
            .buckets_denominator = 4,
        },
    [APP__HERD_PUBLIC] =
        {
            .workers = 12,
            .clients = 70,
            .window = 32,
            .window_per = APP__HERD_PER_CLIENT,
            .gate = APP__HERD_GATE_ALL,
            .postlist = 32,
            .ports = 2,
            .keys = 1u << 23,
            .memory_ps = HASWELL_PS,
            .value_bytes = VALUE_BYTES,
            .buckets_numerator = 1,
            .buckets_denominator = 4,
        },
    [APP__HERD_2014] =
        {
            .workers = 6,
            .clients = 51,
            .window = 4,
            .window_per = APP__HERD_PER_CLIENT,
            .gate = APP__HERD_GATE_EACH,
            .postlist = 1,
            .ports = 1,
            .keys = 1u << 20,
            .pipeline = 2,
            .memory_ps = APT_PS,
            .get_head = 2,
            .put_answer = 1,
            .value_bytes = VALUE_BYTES,
            .buckets_numerator = 4,
            .buckets_denominator = 1,
        },
};

static uint64_t preset_of(uint64_t value, uint64_t preset)
{
    return value == SIM_AUTO ? preset : value;
}

static uint64_t power_above(uint64_t value)
{
    uint64_t power = 1;
    while (power < value) {
        power *= 2;
    }
    return power;
}

static void resolve_ways(app__herd_config_t *config)
{
    static const struct {
        uint32_t request;
        uint32_t answer;
    } ways[] = {
        [APP__HERD_HERD] = {APP__HERD_BY_WRITE_UC, APP__HERD_BY_SEND},
        [APP__HERD_PILAF] = {APP__HERD_BY_SEND, APP__HERD_BY_SEND},
        [APP__HERD_FARM] = {APP__HERD_BY_WRITE_UC, APP__HERD_BY_WRITE_UC},
        [APP__HERD_FARM_VAR] = {APP__HERD_BY_WRITE_UC, APP__HERD_BY_WRITE_UC},
        [APP__HERD_ECHO] = {APP__HERD_BY_WRITE_UC, APP__HERD_BY_SEND},
    };
    if (config->request == APP__HERD_BY_AUTO) {
        config->request = ways[config->system].request;
    }
    if (config->answer == APP__HERD_BY_AUTO) {
        config->answer = ways[config->system].answer;
    }
}

// Chooses the size of values and reads the service model's table.
static sim_err_t resolve_values(app__herd_config_t *config, sim_message_t *message)
{
    const preset_t *const preset = &presets[config->preset];
    config->value_bytes = preset_of(
        config->value_bytes, config->system == APP__HERD_HERD ? preset->value_bytes : VALUE_BYTES);
    if (config->value_bytes != 0 && config->value_bytes < VALUE_BYTES_MIN) {
        return sim_fail_about(message, SIM_ERR_RANGE, "value",
                              " is %" PRIu64 " bytes, expected at least %u, or 0 for sizes that "
                              "depend on the key",
                              config->value_bytes, VALUE_BYTES_MIN);
    }
    return app__herd_read_batch_table(config->model_batch_table, config->postlist,
                                      &config->batch_table, message);
}

// Chooses the sizes of the index and the log.
static sim_err_t resolve_store(app__herd_config_t *config, sim_message_t *message)
{
    const preset_t *const preset = &presets[config->preset];
    const uint64_t value = app__herd_longest_value(config);
    const bool large = value > APP_HERD_SMALL_VALUE_MAX;
    const uint64_t entry =
        (app_herd_request_bytes(true, (uint32_t)value, large) + 7) & ~UINT64_C(7);
    const uint64_t wanted =
        (config->keys * preset->buckets_numerator + preset->buckets_denominator - 1) /
        preset->buckets_denominator;
    config->buckets = preset_of(config->buckets, power_above(wanted));
    config->log_bytes = preset_of(config->log_bytes, power_above(2 * config->keys * entry));
    if ((config->buckets & (config->buckets - 1)) != 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "index-buckets",
                              " is %" PRIu64 ", expected a power of two", config->buckets);
    }
    config->log_bytes &= ~UINT64_C(7);
    if (config->log_bytes < entry) {
        return sim_fail_about(message, SIM_ERR_RANGE, "log-bytes",
                              " is %" PRIu64 ", expected room for at least one entry of %" PRIu64
                              " bytes",
                              config->log_bytes, entry);
    }
    return SIM_OK;
}

sim_err_t app__herd_resolve(app__herd_config_t *config, sim_message_t *message)
{
    const preset_t *const preset = &presets[config->preset];
    config->workers = preset_of(config->workers, preset->workers);
    config->clients = preset_of(config->clients, preset->clients);
    config->window = preset_of(config->window, preset->window);
    config->postlist = preset_of(config->postlist, preset->postlist);
    config->ports = preset_of(config->ports, preset->ports);
    config->keys = preset_of(config->keys, preset->keys);
    config->pipeline = preset_of(config->pipeline, preset->pipeline);
    config->memory_ps = preset_of(config->memory_ps, preset->memory_ps);
    config->inline_max = preset_of(config->inline_max, 143);
    config->get_head = preset_of(config->get_head, preset->get_head);
    // FaRM's answers to PUTs are messages that take as many lines as 32-byte echoes.
    const bool farm = config->system == APP__HERD_FARM || config->system == APP__HERD_FARM_VAR;
    config->put_answer = preset_of(config->put_answer, farm ? 31 : preset->put_answer);
    if (config->window_per == APP__HERD_PER_AUTO) {
        config->window_per = preset->window_per;
    }
    if (config->gate == APP__HERD_GATE_AUTO) {
        config->gate = preset->gate;
    }
    resolve_ways(config);
    sim_err_t error = resolve_values(config, message);
    if (error == SIM_OK) {
        error = resolve_store(config, message);
    }
    if (error != SIM_OK) {
        return error;
    }
    if (config->by_key && config->request == APP__HERD_BY_SEND_RC) {
        return sim_fail_about(message, SIM_ERR_INVALID, "worker-by-key",
                              ": on, but requests by send-rc go to one worker of each server, "
                              "expected off or another request");
    }
    const sim_time_t span_ps = config->span.warm_ps + config->span.measure_ps;
    if (config->series_ps != 0 && span_ps / config->series_ps > INTERVALS_MAX) {
        return sim_fail_about(message, SIM_ERR_RANGE, "series",
                              ": warm-up and measure contain more than %u intervals, expected a "
                              "longer interval",
                              INTERVALS_MAX);
    }
    if (config->system == APP__HERD_ECHO) {
        config->service = APP__HERD_MODEL;
        config->get_head = 0;
    }
    return SIM_OK;
}
