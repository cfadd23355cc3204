// SPDX-License-Identifier: Apache-2.0
// Goal: with network.model: message HERD runs over one capacity queue a hop: latencies, rates and
// waiting are those of closed forms, and differ from the packet model by headers alone; everything
// that needs packets is refused with its place.
// Method: scenarios on stars; each operation of a log against its bytes; M/D/1; saturated links.
// Does not pin: detailed NICs at the ends (docs/models/message.md compares them).
#include "apps/herd/client.h"
#include "apps/herd/regions.h"
#include "apps/herd/worker.h"
#include "net/frame_opcodes.h"
#include "tests/check_main.h"
#include "world/world.h"

#include <string.h>

#define MESSAGE "network: {model: message, message-overhead: 10}\n"
#define PACKET "network: {model: packet}\n"
#define STAR "topology: {star: {hosts: 4, rate: 10Gbps, delay: 1us}}\n"
#define OVERHEAD UINT64_C(10)
#define BIT_PS UINT64_C(100)
#define CORE_PS (4 * SIM_PS_PER_NS) // a loop of both cores that poll

typedef struct run {
    world_scenario_t *scenario;
    world_t *world;
    const app__herd_t *herd;
} run_t;

static void start(run_t *run, const char *network, const char *rest, const char *herd)
{
    char text[2048];
    (void)snprintf(text, sizeof(text),
                   "%s%snic: {congestion-control: none}\ntraffic: [herd: {server: host0, "
                   "clients-on: 'host[1-*]', keys: 1000, %s}]\n",
                   network, rest, herd);
    world_error_t error;
    ck_assert_msg(
        world_scenario_parse(NULL, "x.yaml", text, strlen(text), &run->scenario, &error) == SIM_OK,
        "%s", error.text);
    ck_assert_msg(world_create(run->scenario, WORLD_BUILD_ALL, &run->world, &error) == SIM_OK, "%s",
                  error.text);
    ck_assert_int_eq(sim_run(run->world->sim), SIM_ENDED_DONE);
    run->herd = (const app__herd_t *)(const void *)run->world->apps[0];
    sim_message_t message;
    ck_assert_msg(net_conservation_ok(run->world->net, &message), "%s", message.text);
}

static double value(const run_t *run, const char *name)
{
    double number = 0;
    const app_t *const app = run->world->apps[0];
    ck_assert_msg(sim_report_number(app->ops->report, app, name, &number), "%s", name);
    return number;
}

static void end(run_t *run)
{
    world_destroy(run->world);
    world_scenario_destroy(run->scenario);
}

// A lone message takes its bytes and the delay at each of two links.
static sim_time_t way_ps(uint64_t bytes)
{
    return 2 * ((bytes + OVERHEAD) * 8 * BIT_PS + SIM_PS_PER_US);
}

START_TEST(a_lone_operation_takes_its_bytes)
{
    run_t run;
    start(&run, MESSAGE, STAR,
          "warm-up: 0s, workers: 1, clients: 1, window: 1, requests: 300, update-percentage: 30, "
          "log: on, "
          "measure: 10ms");
    const app__herd_client_t *const client = &run.herd->clients[0];
    ck_assert_uint_eq(client->record_count, 300);
    uint32_t sizes = 0;
    for (size_t i = 0; i < client->record_count; i++) {
        const app__herd_record_t *const record = &client->records[i];
        const sim_time_t way = way_ps(record->request_bytes) + way_ps(record->answer_bytes);
        ck_assert_uint_ge(record->end_ps - record->start_ps, way);
        ck_assert_uint_le(record->end_ps - record->start_ps, way + CORE_PS);
        sizes |= 1u << record->answer_bytes % 32;
    }
    ck_assert_int_gt(__builtin_popcount(sizes), 10); // values by the key: many lengths
    ck_assert_double_eq(value(&run, "wrong_values"), 0);
    ck_assert_double_eq(value(&run, "lost"), 0);
    end(&run);
}
END_TEST

// The packet model adds the headers and the bytes around frames to the same way.
START_TEST(packets_differ_by_their_headers)
{
    static const char echo[] =
        "warm-up: 0s, system: echo, value: 100, workers: 1, clients: 1, window: 1, "
        "requests: 20, measure: 10ms";
    run_t run;
    start(&run, MESSAGE, STAR, echo);
    const double message_us = value(&run, "latency_us.min");
    ck_assert_double_eq_tol(message_us, 2 * (double)way_ps(100) / 1e6, 1e-9);
    ck_assert_double_le(value(&run, "latency_us.max"), message_us + CORE_PS / 1e6);
    end(&run);
    start(&run, PACKET, STAR, echo);
    const uint32_t request = net_frame_bytes(ROCE_UC | ROCE_WRITE_ONLY, 100, false, false);
    const uint32_t answer = net_frame_bytes(ROCE_UD | ROCE_SEND_ONLY_IMM, 100, false, false);
    // The gap behind a frame delays only the next one.
    const uint64_t bytes = request + answer + 2 * (NET_LINK_OVERHEAD_BYTES - NET_GAP_BYTES);
    const uint64_t more_ps = 2 * (bytes - 2 * (100 + OVERHEAD)) * 8 * BIT_PS;
    ck_assert_double_eq_tol(value(&run, "latency_us.min"), message_us + (double)more_ps / 1e6,
                            CORE_PS / 1e6);
    end(&run);
}
END_TEST

// The link of the server carries answers back to back: its rate is theirs. Queues have no limit,
// pauses or losses, whatever the section `switch` says.
START_TEST(a_saturated_link_gives_its_rate)
{
    run_t run;
    start(&run, MESSAGE, STAR "switch: {buffer: 20KB, pfc: {enabled: false}}\n",
          "system: echo, value: 1000, workers: 4, clients: 30, window: 8, gate: each, "
          "warm-up: 200us, measure: 2ms");
    const double expected = 1e6 / (double)((1000 + OVERHEAD) * 8 * BIT_PS); // M/s
    ck_assert_double_eq_tol(value(&run, "mops"), expected, 0.001 * expected);
    ck_assert_double_eq(value(&run, "retried"), 0);
    end(&run);
}
END_TEST

// Requests arrive at random at the link to the server, which takes the same time for each: a queue
// M/D/1. Client machines are fast, and answers are never two at once.
START_TEST(waiting_is_that_of_a_capacity_queue)
{
    static const double loads[] = {0.3, 0.6, 0.8};
    run_t run;
    char herd[512];
    const double load = loads[_i];
    const uint64_t service_ps = (990 + OVERHEAD) * 8 * BIT_PS;
    const uint64_t gap_ps = (uint64_t)(300.0 * (double)service_ps / load);
    (void)snprintf(herd, sizeof(herd),
                   "system: echo, value: 990, workers: 1, clients: 300, window: 16, postlist: 1, "
                   "interval: %" PRIu64
                   "ps, warm-up: 1ms, measure: 250ms, cpu: {request: 0ps, look: 1ps}, "
                   "timeout: 1s",
                   gap_ps);
    start(&run, MESSAGE, STAR "links: {'host[1-3]--switch0': {rate: 100Tbps}}\n", herd);
    // two delays there and back, the links of the server both ways, those of clients at 100 Tbps
    const double alone_us =
        4.0 + 2 * (double)service_ps / 1e6 + 2 * (double)service_ps / 1e6 / 10000;
    const double waiting_us = value(&run, "latency_us.mean") - alone_us;
    const double expected_us = load / (2 * (1 - load)) * (double)service_ps / 1e6;
    ck_assert_double_eq_tol(waiting_us, expected_us, 0.05 * expected_us);
    end(&run);
}
END_TEST

START_TEST(threads_change_nothing)
{
    static const char fabric[] =
        "topology: {leaf-spine: {leaves: 3, spines: 2, hosts-per-leaf: 2, delay: 1us}}\n";
    uint64_t digests[2];
    for (int i = 0; i < 2; i++) {
        char rest[256];
        (void)snprintf(rest, sizeof(rest), "%sthreads: %d\n", fabric, 1 + 2 * i);
        run_t run;
        start(&run, MESSAGE, rest,
              "warm-up: 0s, workers: 3, clients: 9, requests: 200, measure: 10ms");
        digests[i] = sim_digest(run.world->sim);
        ck_assert_double_eq(value(&run, "wrong_values"), 0);
        end(&run);
    }
    ck_assert_uint_eq(digests[0], digests[1]);
}
END_TEST

#define HERD "traffic: [herd: {server: host0, clients-on: host1, keys: 100}]\n"

static const struct {
    const char *text; // behind MESSAGE and STAR
    const char *message;
} wrong[] = {
    {"traffic: [incast: {to: host0, senders: 3}]\n", "x.yaml:3:11: traffic.incast: network.model"},
    {"traffic: [herd: {system: pilaf}]\n", "x.yaml:3:26: traffic.herd: system: network.model"},
    {"traffic: [herd: {request: write-rc}]\n", "x.yaml:3:27: traffic.herd: request: network.model"},
    {"traffic: [herd: {answer: send-rc}]\n", "x.yaml:3:26: traffic.herd: answer: network.model"},
    {"nic: {mtu: 256}\ntraffic: [herd: {value: 1000}]\n", "x.yaml:4:25: traffic.herd: value makes"},
    {"link: {loss-rate: 1%}\n" HERD, "x.yaml:3:1: link.loss-rate: links of network.model"},
    {"links: {host1--switch0: {reorder-rate: 1%}}\n" HERD, "x.yaml:3:1: link.reorder-rate"},
    {"links: {host1--switch0: {down: {at: 1us}}}\n" HERD, "x.yaml:3:1: link.down"},
    {"faults: [{part: host1--switch0, at: 1us}]\n" HERD, "faults: a network of messages has no"},
    {"captures: [{ports: host1->switch0}]\n" HERD, "x.yaml:3:20: captures: messages"},
};

START_TEST(what_needs_packets_is_refused)
{
    char text[2048];
    (void)snprintf(text, sizeof(text), "%s%s%s", MESSAGE, STAR, wrong[_i].text);
    world_error_t error;
    world_scenario_t *scenario = NULL;
    world_t *world = NULL;
    sim_err_t result = world_scenario_parse(NULL, "x.yaml", text, strlen(text), &scenario, &error);
    ck_assert_msg(result == SIM_OK, "%s", error.text);
    result = world_create(scenario, WORLD_BUILD_ALL, &world, &error);
    ck_assert_int_ne(result, SIM_OK);
    ck_assert_msg(strstr(error.text, wrong[_i].message) != NULL, "%s", error.text);
    ck_assert_msg(strstr(error.text, "expected") != NULL, "%s", error.text);
    world_scenario_destroy(scenario);
}
END_TEST

CHECK_MAIN(CHECK_TEST(a_lone_operation_takes_its_bytes),
           CHECK_TEST(packets_differ_by_their_headers), CHECK_TEST(a_saturated_link_gives_its_rate),
           CHECK_LOOP_FEW(waiting_is_that_of_a_capacity_queue, 0, 3, 1),
           CHECK_TEST(threads_change_nothing),
           CHECK_LOOP(what_needs_packets_is_refused, 0, SIM_COUNT_OF(wrong)))
