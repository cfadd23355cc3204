// SPDX-License-Identifier: Apache-2.0
// apps/herd/config.c - attributes of HERD and the values of its presets (docs/models/herd.md).
#include "apps/herd/herd_internal.h"

#define INTERVALS_MAX 1000000u
#define PREFIX "traffic.herd"
#define AT(field) offsetof(app__herd_config_t, field)

// clang-format off
static const sim_attr_t attrs[] = {
    {PREFIX ".server", SIM_ATTR_STRING, false, AT(server), "host0", NULL, NULL, NULL,
     "machines of the servers; several servers share the keys by their hash"},
    {PREFIX ".clients-on", SIM_ATTR_STRING, false, AT(clients_on), "host[1-*]", NULL, NULL, NULL,
     "machines of the clients, on which their threads are spread"},
    {PREFIX ".preset", SIM_ATTR_ENUM, false, AT(preset), "guide", NULL, NULL, "guide|public-code|sigcomm-2014",
     "source of the values that are left at auto; guide: settings chosen for this "
     "model; public-code: the published benchmark; sigcomm-2014: HERD's paper"},
    {PREFIX ".system", SIM_ATTR_ENUM, false, AT(system), "herd", NULL, NULL, "herd|pilaf|farm|farm-var|echo",
     "herd: calls; pilaf: two or more READs for a GET, PUTs by SEND; farm: one large READ, "
     "farm-var: two READs, PUTs by WRITE; echo: calls with `value` bytes and no store"},
    {PREFIX ".service", SIM_ATTR_ENUM, false, AT(service), "mica", NULL, NULL, "mica|model",
     "mica: a store that holds data; model: only the time that a store takes, set by model.*"},
    {PREFIX ".request", SIM_ATTR_ENUM, false, AT(request), "auto", NULL, NULL, "auto|write-uc|write-rc|send|send-rc",
     "transport of requests; send: datagrams; send-rc: over the connection, with one worker per "
     "client; auto: that of the system, for herd write-uc"},
    {PREFIX ".answer", SIM_ATTR_ENUM, false, AT(answer), "auto", NULL, NULL, "auto|write-uc|write-rc|send|send-rc",
     "transport of answers; send: datagrams; send-rc: over the connection; auto: that of the "
     "system, for herd send"},
    {PREFIX ".workers", SIM_ATTR_COUNT, true, AT(workers), "auto", "1", "64", NULL,
     "threads that answer on a server, each on its own core; auto: the preset's (12, 12, 6)"},
    {PREFIX ".clients", SIM_ATTR_COUNT, true, AT(clients), "auto", "1", "4096", NULL,
     "threads that send requests, spread over their machines; auto: the preset's (70, 70, 51)"},
    {PREFIX ".window", SIM_ATTR_COUNT, true, AT(window), "auto", "1", "256", NULL,
     "slots of a client at each worker, and requests between two looks at its answers; auto: the "
     "preset's (32, 32, 4)"},
    {PREFIX ".window-per", SIM_ATTR_ENUM, false, AT(window_per), "auto", NULL, NULL, "auto|worker|client",
     "scope of the window; worker: requests in flight at each worker; client: at all workers "
     "together; auto: the preset's (worker, client, client)"},
    {PREFIX ".gate", SIM_ATTR_ENUM, false, AT(gate), "auto", NULL, NULL, "auto|poll|all|each",
     "when a client takes answers; poll: after each window of sends, a window at most, without "
     "waiting; all: then waits for all; each: polls whenever the window is full; auto: the "
     "preset's (poll, all, each)"},
    {PREFIX ".postlist", SIM_ATTR_COUNT, true, AT(postlist), "auto", "1", "128", NULL,
     "most requests that a worker takes at a time and answers together; auto: the preset's (32, "
     "32, 1)"},
    {PREFIX ".batch", SIM_ATTR_BOOL, false, AT(list), "on", NULL, NULL, NULL,
     "answers are posted with one Doorbell per port; off: each WQE is written into the NIC"},
    {PREFIX ".ports", SIM_ATTR_COUNT, true, AT(ports), "auto", "1", "4", NULL,
     "ports of the server's card that clients are spread over, with queue pairs of their own; "
     "auto: the preset's (2, 2, 1)"},
    {PREFIX ".qps-per-port", SIM_ATTR_COUNT, false, AT(qps_per_port), "1", "1", "64", NULL,
     "UD queue pairs of a worker on each port (NUM_UD_QPS), used in turn"},
    {PREFIX ".unsignaled", SIM_ATTR_COUNT, false, AT(unsignaled), "64", "1", "64", NULL,
     "requests of a client, or answers of a queue pair, per completion (UNSIG_BATCH)"},
    {PREFIX ".signal-all", SIM_ATTR_BOOL, false, AT(signal_all), "off", NULL, NULL, NULL,
     "every request and answer asks for a completion, which workers poll in passing: programs "
     "without the paper's optimisations"},
    {PREFIX ".update-percentage", SIM_ATTR_COUNT, false, AT(update_percentage), "5", "0", "100", NULL,
     "percentage of operations that are PUTs"},
    {PREFIX ".get-head", SIM_ATTR_BYTES, true, AT(get_head), "auto", "0", "16", NULL,
     "bytes before the value in the answer of a GET that hit; auto: the preset's (0, 0, 2: a "
     "length)"},
    {PREFIX ".put-answer", SIM_ATTR_BYTES, true, AT(put_answer), "auto", "0", "64", NULL,
     "bytes of a PUT's answer; auto: the preset's (0, 0, 1), farm: 31"},
    {PREFIX ".key", SIM_ATTR_BYTES, false, AT(key_bytes), "16", "16", "16", NULL,
     "size of a key; HERD's keys are hashes of 16 bytes"},
    {PREFIX ".value", SIM_ATTR_BYTES, true, AT(value_bytes), "32", "4", "1024", NULL,
     "size of a value; auto: depends on the key, 8 to 46"},
    {PREFIX ".keys", SIM_ATTR_COUNT, true, AT(keys), "auto", "1", "67108864", NULL,
     "number of keys, all of which every worker holds; auto: the preset's (1048576, 8388608, "
     "1048576)"},
    {PREFIX ".skew", SIM_ATTR_RATIO, false, AT(skew), "0", "0", "5", NULL,
     "Zipf exponent of the choice of keys, in thousandths; larger: fewer keys get most requests; "
     "0: all alike"},
    {PREFIX ".permutation", SIM_ATTR_BOOL, false, AT(permute), "on", NULL, NULL, NULL,
     "each client has its own random order of the keys, shuffled like the benchmark's"},
    {PREFIX ".worker-by-key", SIM_ATTR_BOOL, false, AT(by_key), "off", NULL, NULL, NULL,
     "each key belongs to one worker; off: requests go to random workers, all of which hold it"},
    {PREFIX ".index-buckets", SIM_ATTR_COUNT, true, AT(buckets), "auto", "1", "1073741824", NULL,
     "buckets of a worker's index, a power of two; auto: a quarter of the keys (sigcomm-2014: four "
     "times), rounded up"},
    {PREFIX ".log-bytes", SIM_ATTR_BYTES, true, AT(log_bytes), "auto", "4KiB", "64GiB", NULL,
     "size of a worker's log; auto: twice the room for all keys, rounded up to a power of two"},
    {PREFIX ".inline-max", SIM_ATTR_BYTES, true, AT(inline_max), "auto", "0", "1KiB", NULL,
     "largest payload that travels in the WQE; the NIC reads longer ones by DMA; auto: 143, as in "
     "the paper's programs"},
    {PREFIX ".verify", SIM_ATTR_BOOL, false, AT(verify), "on", NULL, NULL, NULL,
     "clients check that a GET's value belongs to its key (service: mica)"},
    {PREFIX ".log", SIM_ATTR_BOOL, false, AT(log), "off", NULL, NULL, NULL,
     "each operation becomes a row of flows.csv: bytes of request and answer, service port with "
     "the request's bytes, label with kind and outcome"},
    {PREFIX ".series", SIM_ATTR_TIME, false, AT(series_ps), "0s", "0s", "1s", NULL,
     "length of the intervals in which the report counts answers; 0: no intervals"},
    {PREFIX ".requests", SIM_ATTR_COUNT, true, AT(requests), "auto", "1", "100000000", NULL,
     "requests that each client sends; auto: until the measured time is over"},
    {PREFIX ".interval", SIM_ATTR_TIME, false, AT(interval_ps), "0s", "0s", "1s", NULL,
     "mean time between two operations of a client, which arrive at random and may wait for a "
     "slot; 0: the next one starts as soon as a slot is free"},
    {PREFIX ".timeout", SIM_ATTR_TIME, false, AT(timeout_ps), "1ms", "1us", "1000s", NULL,
     "time after which an unanswered request is written again"},
    {PREFIX ".retries", SIM_ATTR_COUNT, false, AT(retries), "7", "0", "1000", NULL,
     "how often an unanswered request is written again before it counts as lost"},
    {PREFIX ".pipeline", SIM_ATTR_COUNT, true, AT(pipeline), "auto", "0", "4", NULL,
     "stages of a worker's pipeline, in which requests wait while their memory is prefetched; "
     "auto: the preset's (0, 0, 2: bucket, then entry)"},
    {PREFIX ".prefetch", SIM_ATTR_BOOL, false, AT(prefetch), "on", NULL, NULL, NULL,
     "memory is prefetched, for a batch or in the pipeline"},
    {PREFIX ".extra-accesses", SIM_ATTR_COUNT, false, AT(extra_accesses), "0", "0", "64", NULL,
     "random memory accesses of each operation, in addition to the store's"},
    {PREFIX ".cpu.look", SIM_ATTR_TIME, false, AT(look_ps), "2ns", "1ps", "1us", NULL,
     "worker's time to look at a slot without a request, in its first-level cache"},
    {PREFIX ".look-back", SIM_ATTR_COUNT, false, AT(look_back), "64", "0", "1000000", NULL,
     "times that a worker finds a client's expected slot empty before it looks at the client's "
     "other slots; 0: never"},
    {PREFIX ".cpu.request", SIM_ATTR_TIME, false, AT(request_ps), "20ns", "0ps", "1us", NULL,
     "worker's time to take a request, which the NIC put into the last-level cache"},
    {PREFIX ".cpu.overlap", SIM_ATTR_COUNT, false, AT(overlap), "3", "1", "64", NULL,
     "requests taken in one turn whose memory accesses overlap, after the first"},
    {PREFIX ".cpu.operation", SIM_ATTR_TIME, false, AT(operation_ps), "24ns", "0ps", "1us", NULL,
     "worker's time for the instructions of an operation: hash, compare, copy"},
    {PREFIX ".cpu.memory", SIM_ATTR_TIME, true, AT(memory_ps), "auto", "0ps", "1us", NULL,
     "time of a cache miss to memory; a GET has two, bucket and entry, a PUT one; auto: the "
     "preset's (96ns, 96ns, 80ns)"},
    {PREFIX ".cpu.overlapped", SIM_ATTR_COUNT, false, AT(overlapped), "10", "1", "64", NULL,
     "misses that a core can have in flight (its line fill buffers)"},
    {PREFIX ".failed-polls", SIM_ATTR_COUNT, false, AT(failed_polls), "100", "1", "1000000", NULL,
     "looks without a request after which a worker serves the requests in its pipeline"},
    {PREFIX ".cpu.check", SIM_ATTR_TIME, false, AT(check_ps), "10ns", "0ps", "10us", NULL,
     "client's time to check the data that a READ brought"},
    {PREFIX ".model.base", SIM_ATTR_TIME, false, AT(model_base_ps), "0ns", "0ps", "100us", NULL,
     "service model: time of a batch, whatever it holds"},
    {PREFIX ".model.get", SIM_ATTR_TIME, false, AT(model_get_ps), "40ns", "0ps", "100us", NULL,
     "service model: time of each GET (t_mica_get)"},
    {PREFIX ".model.put", SIM_ATTR_TIME, false, AT(model_put_ps), "32ns", "0ps", "100us", NULL,
     "service model: time of each PUT (t_mica_put)"},
    {PREFIX ".model.batch", SIM_ATTR_TIME, false, AT(model_batch_ps), "0ns", "0ps", "100us", NULL,
     "service model: time of a batch per operation in it (f_batch)"},
    {PREFIX ".model.hit", SIM_ATTR_RATIO, false, AT(model_hit), "1", "0", "1", NULL,
     "service model: share of GETs that hit"},
    APP__SPAN_ATTRS(PREFIX, app__herd_config_t),
};

const sim_attr_table_t app__herd_attrs = {
    PREFIX, "application", sizeof(app__herd_config_t), attrs, SIM_COUNT_OF(attrs)};
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
            .gate = APP__HERD_GATE_POLL,
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
    const uint64_t value =
        config->value_bytes == SIM_AUTO ? APP_HERD_SMALL_VALUE_MAX : config->value_bytes;
    const bool large = value > APP_HERD_SMALL_VALUE_MAX;
    const uint64_t entry =
        (app_herd_request_bytes(true, (uint32_t)value, large) + 7) & ~UINT64_C(7);
    const uint64_t wanted =
        (config->keys * preset->buckets_numerator + preset->buckets_denominator - 1) /
        preset->buckets_denominator;
    config->buckets = preset_of(config->buckets, power_above(wanted));
    config->log_bytes = preset_of(config->log_bytes, power_above(2 * config->keys * entry));
    if ((config->buckets & (config->buckets - 1)) != 0) {
        return sim_fail_about(message,
                              SIM_ERR_RANGE,
                              "index-buckets",
                              " is %" PRIu64 ", expected a power of two",
                              config->buckets);
    }
    config->log_bytes &= ~UINT64_C(7);
    if (config->log_bytes < entry) {
        return sim_fail_about(message,
                              SIM_ERR_RANGE,
                              "log-bytes",
                              " is %" PRIu64 ", expected room for at least one entry of %" PRIu64
                              " bytes",
                              config->log_bytes,
                              entry);
    }
    if (config->by_key && config->request == APP__HERD_BY_SEND_RC) {
        return sim_fail_about(message,
                              SIM_ERR_INVALID,
                              "worker-by-key",
                              ": on, but requests by send-rc go to one worker of each server, "
                              "expected off or another request");
    }
    const sim_time_t span_ps = config->span.warm_ps + config->span.measure_ps;
    if (config->series_ps != 0 && span_ps / config->series_ps > INTERVALS_MAX) {
        return sim_fail_about(message,
                              SIM_ERR_RANGE,
                              "series",
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
