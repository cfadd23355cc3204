// SPDX-License-Identifier: Apache-2.0
// test_cache_driver.c - the driver of the tiered cache as a server with two classes of requests.
//
// Goal: urgent requests overtake background ones and never interrupt one; waiting times of Poisson
// arrivals are those of the closed form for two non-preemptive classes (Cobham, Operations Research
// 2(1), 1954) within 3 %, for the server alone and for a whole NIC; what is taken out is not
// served; an access that cannot wait makes a background request urgent.
// Method: the server by hand and under random load; operations over queue pairs whose contexts are
// all with the host, sent (background) and received (urgent).
#include "nic/store/tiered/driver/server.h"
#include "tests/cache_world.h"
#include "tests/check_main.h"

START_TEST(urgent_requests_overtake)
{
    nic_server_t server = {0};
    nic_server_put(&server, 0, 100, 1);
    ck_assert_uint_eq(nic_server_next_ps(&server), 0);
    ck_assert_uint_eq(nic_server_next(&server), 1); // in service until 100
    nic_server_put(&server, 10, 50, 2);
    nic_server_put(&server, 20, 60, 3);
    ck_assert_uint_eq(nic_server_next_ps(&server), 100);
    ck_assert_uint_eq(nic_server_least_end_ps(&server, 3), 210);
    // It waits for the request in service, and not for those in the background.
    ck_assert_uint_eq(nic_server_urgent(&server, 30, 40), 70);
    ck_assert_uint_eq(nic_server_urgent(&server, 40, 5), 100);
    ck_assert_uint_eq(nic_server_next_ps(&server), 145);
    ck_assert(nic_server_take(&server, 2));
    ck_assert(!nic_server_take(&server, 2));
    ck_assert_uint_eq(server.waiting, 1);
    ck_assert_uint_eq(nic_server_next(&server), 3);
    ck_assert_uint_eq(server.free_ps, 205);
    ck_assert(nic_server_next_ps(&server) == SIM_TIME_NEVER);
    ck_assert_uint_eq(server.requests[NIC_SERVER_URGENT], 2);
    ck_assert_uint_eq(server.requests[NIC_SERVER_BACKGROUND], 2); // 1 and 3
    ck_assert_uint_eq(server.waited_ps[NIC_SERVER_BACKGROUND], 125);
    nic_server_fini(&server);
}
END_TEST

// Mean waiting times of Poisson arrivals at rates a[] with services of means s[], mean squares q[].
static void cobham(const double a[2], const double s[2], const double q[2], double wait[2])
{
    const double rest = (a[0] * q[0] + a[1] * q[1]) / 2;
    const double urgent = a[0] * s[0];
    const double all = urgent + a[1] * s[1];
    wait[0] = rest / (1 - urgent);
    wait[1] = rest / ((1 - urgent) * (1 - all));
}

static void assert_near(double measured, double expected)
{
    ck_assert_msg(measured > 0.97 * expected && measured < 1.03 * expected,
                  "%.1f, expected %.1f within 3 %%", measured, expected);
}

static void compare(double load, double urgent_share, uint64_t requests)
{
    const uint64_t gap_ps = 1000000;
    sim_random_t random;
    sim_random_init(&random, 11, 0, "driver");
    nic_server_t server = {0};
    // Urgent services are exponential; those in the background are short or ten times as long.
    const double mean = load * (double)gap_ps;
    const uint64_t little = (uint64_t)(mean / 3);
    uint64_t now_ps = 0;
    for (uint64_t i = 0; i < requests; i++) {
        now_ps += sim_random_exponential(&random, gap_ps);
        while (nic_server_next_ps(&server) <= now_ps) {
            (void)nic_server_next(&server);
        }
        if (sim_random_below(&random, 1000) < (uint64_t)(1000 * urgent_share)) {
            (void)nic_server_urgent(&server, now_ps,
                                    sim_random_exponential(&random, (uint64_t)mean));
        } else {
            const bool is_long = sim_random_below(&random, 9) < 2; // 7/9 x 1 + 2/9 x 10 = 3
            nic_server_put(&server, now_ps, is_long ? 10 * little : little, 0);
        }
    }
    const double rate = 1.0 / (double)gap_ps;
    const double rates[2] = {urgent_share * rate, (1 - urgent_share) * rate};
    const double means[2] = {mean, mean};
    const double squares[2] = {2 * mean * mean,
                               (7.0 + 200.0) / 9 * (double)little * (double)little};
    double wait[2];
    cobham(rates, means, squares, wait);
    for (uint32_t class = 0; class < NIC_SERVER_CLASS_COUNT; class ++) {
        assert_near((double)server.waited_ps[class] / (double)server.requests[class], wait[class]);
    }
    nic_server_fini(&server);
}

START_TEST(waiting_is_that_of_the_closed_form)
{
    compare(0.5, 0.3, 2000000);
    compare(0.7, 0.5, 2000000);
    compare(0.8, 0.8, 3000000);
}
END_TEST

static world_t world;

// Leaves the cache to host 0 alone, so that its peer sends at the times that were drawn.
static void make_peer_plain(const char *name, nic_config_t *config)
{
    sim_message_t message = {.text = ""};
    if (strcmp(name, "host0") != 0) {
        ck_assert_int_eq(world_set(&nic_config_attrs, config, "cache.policy=flat", &message),
                         SIM_OK);
    }
}

static void run(const char *nic, const char *program)
{
    world_init(&world);
    world.tweak_nic = make_peer_plain;
    cache_world_run(&world, nic, program);
}

static double cache(const char *path)
{
    return cache_number(nic_of_interface(world.net, 0), path);
}

// Work requests that host 0 sends wait alone for their contexts; packets that it receives keep a
// unit waiting. Both kinds come at random, and nearly all contexts are with the host.
START_TEST(a_nic_waits_as_the_closed_form_says)
{
    run("profile=connect-ib; cache.policy=lru; cache.l1.entries=64; cache.l2.bytes=0; "
        "detailed.pu.count=256; "
        "cache.expand.asynchronous=true; cache.directory=sram",
        "tokens=4000; pattern=uniform; direction=both; outstanding=4096; warm-up=2000; "
        "operations=40000; interval=2000ns; arrivals=poisson");
    const double requests[2] = {cache("driver.urgent.requests"),
                                cache("driver.background.requests")};
    ck_assert(requests[0] > 39000 && requests[1] > 39000);
    const double load = cache("driver_utilisation");
    ck_assert(load > 0.5 && load < 0.6);
    // 300 ns of work, 250 ns of the IOMMU, 20 ns to compress.
    const double s[2] = {570, 570};
    const double q[2] = {570.0 * 570, 570.0 * 570};
    const double all = requests[0] + requests[1];
    const double a[2] = {load / 570 * requests[0] / all, load / 570 * requests[1] / all};
    double wait[2];
    cobham(a, s, q, wait);
    assert_near(cache("driver.urgent.wait_ns.mean"), wait[0]);
    assert_near(cache("driver.background.wait_ns.mean"), wait[1]);
    world_fini(&world);
}
END_TEST

// Moves to L2 are requests in the background. An access that meets one makes it urgent.
START_TEST(accesses_hurry_what_they_need)
{
    run("cache.policy=hybrid; cache.promote.l2=1; cache.promote.l1=1000; cache.l1.staging=0; "
        "cache.neighbours=4; cache.driver.work=3us; detailed.pu.count=64",
        "transport=uc; tokens=256; outstanding=64; warm-up=0; operations=2000");
    ck_assert(cache("driver.hurried") > 0);
    ck_assert(cache("driver.queue_peak") > 1);
    ck_assert(cache("driver.background.wait_ns.mean") > 0);
    world_fini(&world);
}
END_TEST

CHECK_MAIN(CHECK_TEST(urgent_requests_overtake), CHECK_TEST(waiting_is_that_of_the_closed_form),
           CHECK_TEST(a_nic_waits_as_the_closed_form_says),
           CHECK_TEST(accesses_hurry_what_they_need))
