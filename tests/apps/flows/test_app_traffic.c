// SPDX-License-Identifier: Apache-2.0
// labels: threads
// threads: threads_change_nothing
// Goal: the plans of the kinds of traffic are what their descriptions promise, and nothing but the
// seed and the scenario decides them.
// Method: counts and properties that hold for every seed (no fixed points, distinct senders, start
// times); statistics of Poisson arrivals against their distribution with stated tolerance;
// refusals with the promised message; equal digests on several threads.
// Does not pin: which hosts a seed draws.
#include <math.h>
#include <string.h>

#include "tests/app_fixture.h"
#include "tests/check_main.h"

// Builds a world and plans its traffic without running it: flows can be listed all the same.
static app_t *plan(world_t *world, const char *kind, const char *settings)
{
    app_t *const app = world_app(world, kind, settings);
    world_flows(world, app);
    return app;
}

static void star(world_t *world, const char *settings, uint64_t seed)
{
    world_init(world);
    world->options.seed = seed;
    world_build(world, "star", settings);
}

// -- permutation and all-to-all

START_TEST(permutation_has_no_fixed_point)
{
    world_t world;
    star(&world, "hosts=17", (uint64_t)_i);
    plan(&world, "permutation", "bytes=5KB; start=3us; messages=2");
    ck_assert_uint_eq(world.flow_count, 17);
    bool receives[17] = {false};
    bool sends[17] = {false};
    for (size_t i = 0; i < world.flow_count; i++) {
        const app_flow_result_t *const flow = &world.flows[i];
        ck_assert_uint_ne(flow->source, flow->destination);
        ck_assert(!sends[flow->source]);
        ck_assert(!receives[flow->destination]);
        sends[flow->source] = true;
        receives[flow->destination] = true;
        ck_assert_uint_eq(flow->start_ps, 3 * SIM_PS_PER_US);
        ck_assert_uint_eq(flow->bytes, 10000);
        ck_assert_uint_eq(flow->flow_id, i);
        ck_assert_str_eq(flow->label, "permutation");
        ck_assert_uint_ge(flow->udp_source_port, 0xc000);
    }
    world_fini(&world);
}
END_TEST

START_TEST(permutation_keeps_rails_and_strides)
{
    world_t world;
    world_init(&world);
    world_build(&world, "leaf-spine",
                "leaves=4; spines=1; hosts-per-leaf=3; nics-per-host=2; rails=on");
    plan(&world, "permutation", "stride=2");
    ck_assert_uint_eq(world.flow_count, 12);
    for (size_t i = 0; i < world.flow_count; i++) {
        const uint32_t from = world.flows[i].source;
        ck_assert_uint_eq(world.flows[i].destination, (from + 4) % 12);
    }
    plan(&world, "permutation", "hosts=host0|host3|host5");
    ck_assert_uint_eq(world.flow_count, 6);
    for (size_t i = 0; i < world.flow_count; i++) {
        ck_assert_uint_eq(world.flows[i].source % 2, world.flows[i].destination % 2);
    }
    world_fini(&world);
}
END_TEST

START_TEST(all_to_all_has_every_pair_once)
{
    world_t world;
    star(&world, "hosts=6; nics-per-host=2", 1);
    plan(&world, "all-to-all", "bytes=1KB");
    ck_assert_uint_eq(world.flow_count, 6 * 5 * 2);
    bool seen[12][12] = {{false}};
    for (size_t i = 0; i < world.flow_count; i++) {
        const uint32_t from = world.flows[i].source;
        const uint32_t to = world.flows[i].destination;
        ck_assert_uint_ne(from / 2, to / 2);
        ck_assert_uint_eq(from % 2, to % 2);
        ck_assert(!seen[from][to]);
        seen[from][to] = true;
    }
    world_fini(&world);
}
END_TEST

// -- incast

START_TEST(incast_has_its_bursts)
{
    world_t world;
    star(&world, "hosts=20", (uint64_t)_i);
    plan(&world, "incast", "to=host5; senders=7; bytes=2KB; start=10us; every=100us; stop=1ms");
    // Bursts at 10, 110 .. 910 us.
    ck_assert_uint_eq(world.flow_count, 70);
    bool differs = false;
    for (uint64_t burst = 0; burst < 10; burst++) {
        bool sends[20] = {false};
        for (size_t i = 0; i < 7; i++) {
            const app_flow_result_t *const flow = &world.flows[burst * 7 + i];
            ck_assert_uint_eq(flow->start_ps, (10 + 100 * burst) * SIM_PS_PER_US);
            ck_assert_uint_eq(flow->destination, 5);
            ck_assert_uint_ne(flow->source, 5);
            ck_assert(!sends[flow->source]);
            sends[flow->source] = true;
            differs |= flow->source != world.flows[i].source;
        }
    }
    ck_assert(differs);
    world_fini(&world);
}
END_TEST

START_TEST(incast_fixed_repeats_its_senders)
{
    world_t world;
    star(&world, "hosts=20", 4);
    plan(&world, "incast", "senders=5; every=1us; stop=10us; fixed=on");
    ck_assert_uint_eq(world.flow_count, 50);
    for (size_t i = 5; i < 50; i++) {
        ck_assert_uint_eq(world.flows[i].source, world.flows[i % 5].source);
    }
    world_fini(&world);
}
END_TEST

// Hosts and start times of the bursts of a plan whose bursts have `senders` each.
static void burst_numbers(const world_t *world, size_t senders, size_t hits[5], double *mean_gap_us)
{
    memset(hits, 0, 5 * sizeof(*hits));
    for (size_t i = 0; i < world->flow_count; i++) {
        const app_flow_result_t *const burst = &world->flows[i / senders * senders];
        SIM_CHECK(world->flows[i].start_ps == burst->start_ps);
        SIM_CHECK(world->flows[i].destination == burst->destination);
        hits[burst->destination] += i % senders == 0;
    }
    const uint64_t last_ps = world->flows[world->flow_count - 1].start_ps;
    *mean_gap_us = (double)last_ps / SIM_PS_PER_US / ((double)world->flow_count / (double)senders);
}

// Three numbers lie within 4 standard deviations of what they should be: the mean of 4000 gaps, the
// tenth of the gaps that are longer than 2.3 means, and the fifth of the bursts that each of 5
// targets gets.
START_TEST(incast_at_random)
{
    world_t world;
    star(&world, "hosts=5", (uint64_t)_i);
    plan(&world, "incast",
         "to=host*; senders=2; every=1us; stop=4ms; random-gaps=on; random-target=on");
    ck_assert_uint_gt(world.flows[0].start_ps, 0);
    size_t hits[5];
    double mean_gap_us = 0;
    burst_numbers(&world, 2, hits, &mean_gap_us);
    const double bursts = (double)world.flow_count / 2;
    ck_assert_msg(fabs(bursts - 4000) < 4 * sqrt(4000), "%g bursts", bursts);
    ck_assert_double_eq_tol(mean_gap_us, 1, 4 / sqrt(4000));
    for (size_t i = 0; i < 5; i++) {
        ck_assert_double_eq_tol((double)hits[i], bursts / 5, 4 * sqrt(bursts * 0.2 * 0.8));
    }
    size_t longer = 0;
    for (size_t i = 2; i < world.flow_count; i += 2) {
        longer += world.flows[i].start_ps - world.flows[i - 2].start_ps > 2302585;
    }
    ck_assert_double_eq_tol((double)longer, bursts / 10, 4 * sqrt(bursts * 0.1 * 0.9));
    world_fini(&world);
}
END_TEST

// The draws of one switch do not depend on whether the other switch is on.
START_TEST(incast_draws_are_apart)
{
    static const char *const both = "to=host1|host2|host3; senders=1; every=1us; stop=100us; "
                                    "random-target=on; random-gaps=on";
    static const char *const targets = "to=host1|host2|host3; senders=1; every=1us; stop=100us; "
                                       "random-target=on";
    world_t world;
    star(&world, "hosts=5", 3);
    plan(&world, "incast", both);
    uint32_t destinations[50];
    for (size_t i = 0; i < 50; i++) {
        destinations[i] = world.flows[i].destination;
    }
    world_fini(&world);
    star(&world, "hosts=5", 3);
    plan(&world, "incast", targets);
    ck_assert_uint_eq(world.flow_count, 100);
    size_t other = 0;
    for (size_t i = 0; i < 50; i++) {
        ck_assert_uint_eq(world.flows[i].start_ps, i * SIM_PS_PER_US);
        ck_assert_uint_eq(world.flows[i].destination, destinations[i]);
        other += destinations[i] != 1 + i % 3;
    }
    ck_assert_uint_gt(other, 0);
    world_fini(&world);
}
END_TEST

START_TEST(incast_defaults_and_read)
{
    world_t world;
    star(&world, "hosts=9", 4);
    // By default there is one burst, and all other hosts send.
    plan(&world, "incast", "");
    ck_assert_uint_eq(world.flow_count, 8);
    // With READs the target posts the requests.
    plan(&world, "incast", "verb=read; senders=3; to=host2");
    ck_assert_uint_eq(world.flow_count, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(world.flows[i].source, 2);
        ck_assert_uint_ne(world.flows[i].destination, 2);
    }
    // Targets take turns.
    plan(&world, "incast", "to=host1|host2; senders=1; every=1us; stop=4us");
    ck_assert_uint_eq(world.flow_count, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(world.flows[i].destination, 1 + i % 2);
    }
    world_fini(&world);
}
END_TEST

// -- Poisson

// The payload offered is load x rate x time x sources. With n flows of mean size m and standard
// deviation s, the sum deviates by sqrt(n (m^2 + s^2)); five of these deviations are allowed.
START_TEST(poisson_offers_its_load)
{
    static const char *const sizes[] = {"websearch", "fbhadoop", "alistorage"};
    static const unsigned stops_ms[] = {600, 160, 40};
    world_t world;
    star(&world, "hosts=16; rate=100Gbps", 7);
    char settings[128];
    snprintf(settings, sizeof(settings), "load=0.4; stop=%ums; sizes=%s", stops_ms[_i], sizes[_i]);
    plan(&world, "poisson", settings);
    double sum = 0.0;
    double squares = 0.0;
    uint64_t to[16] = {0};
    for (size_t i = 0; i < world.flow_count; i++) {
        const app_flow_result_t *const flow = &world.flows[i];
        sum += (double)flow->bytes;
        squares += (double)flow->bytes * (double)flow->bytes;
        ck_assert_uint_ne(flow->source, flow->destination);
        ck_assert_uint_lt(flow->start_ps, stops_ms[_i] * SIM_PS_PER_MS);
        if (i > 0) {
            ck_assert_uint_ge(flow->start_ps, world.flows[i - 1].start_ps);
        }
        to[flow->destination]++;
    }
    const double expected = 0.4 * 100e9 / 8 * stops_ms[_i] / 1000 * 16;
    const double tolerance = 5.0 * sqrt(squares);
    ck_assert_msg(fabs(sum - expected) < tolerance, "%s: %g bytes, expected %g +- %g", sizes[_i],
                  sum, expected, tolerance);
    ck_assert_double_lt(tolerance, 0.1 * expected);
    // Destinations are uniform: binomial with probability 1/16, six standard deviations.
    const double mean = (double)world.flow_count / 16;
    for (int i = 0; i < 16; i++) {
        ck_assert_double_lt(fabs((double)to[i] - mean), 6.0 * sqrt(mean));
    }
    world_fini(&world);
}
END_TEST

// Gaps at one source are exponential: of n gaps, n / e are above the mean, n / e^2 above twice it.
START_TEST(poisson_gaps_are_exponential)
{
    world_t world;
    world_init(&world);
    world.file_text = "1000 100\n";
    world_build(&world, "star", "hosts=2; rate=100Gbps");
    plan(&world, "poisson", "from=host0; to=host1; sizes=file; load=0.5; max-flows=20000");
    ck_assert_uint_eq(world.flow_count, 20000);
    // The mean gap of flows of 8 x 1000 bits at half of 100 Gbps is 160 ns.
    const double mean_ps = 160000.0;
    unsigned above_one = 0;
    unsigned above_two = 0;
    for (size_t i = 0; i < world.flow_count; i++) {
        ck_assert_uint_eq(world.flows[i].bytes, 1000);
        const sim_time_t before_ps = i == 0 ? 0 : world.flows[i - 1].start_ps;
        const double gap_ps = (double)(world.flows[i].start_ps - before_ps);
        above_one += gap_ps > mean_ps;
        above_two += gap_ps > 2 * mean_ps;
    }
    const double total_ps = (double)world.flows[19999].start_ps;
    ck_assert_double_lt(fabs(total_ps / 20000 / mean_ps - 1.0), 5.0 / sqrt(20000.0));
    ck_assert_double_lt(fabs(above_one / 20000.0 - exp(-1.0)), 5.0 * sqrt(0.368 * 0.632 / 20000));
    ck_assert_double_lt(fabs(above_two / 20000.0 - exp(-2.0)), 5.0 * sqrt(0.135 * 0.865 / 20000));
    world_fini(&world);
}
END_TEST

typedef struct flow_key {
    uint32_t source;
    uint32_t destination;
    uint64_t bytes;
    sim_time_t start_ps;
} flow_key_t;

static size_t keys_of(const world_t *world, uint32_t source, flow_key_t *keys, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < world->flow_count && count < capacity; i++) {
        const app_flow_result_t *const flow = &world->flows[i];
        if (flow->source == source) {
            keys[count++] =
                (flow_key_t){flow->source, flow->destination, flow->bytes, flow->start_ps};
        }
    }
    return count;
}

// A source draws the same numbers whoever else sends. With another seed, or at another place in the
// list of traffic, it draws others.
START_TEST(poisson_streams_are_their_own)
{
    flow_key_t keys[4][100] = {{{0}}};
    size_t counts[4];
    for (int i = 0; i < 4; i++) {
        world_t world;
        star(&world, "hosts=8", i == 2 ? 2 : 1);
        if (i == 3) {
            plan(&world, "permutation", "");
        }
        plan(&world, "poisson", i == 1 ? "from=host3; stop=5ms" : "stop=5ms");
        counts[i] = keys_of(&world, 3, keys[i], 100);
        ck_assert_uint_gt(counts[i], 5);
        world_fini(&world);
    }
    ck_assert_uint_eq(counts[0], counts[1]);
    ck_assert_int_eq(memcmp(keys[0], keys[1], counts[0] * sizeof(flow_key_t)), 0);
    ck_assert_int_ne(memcmp(keys[0], keys[2], 5 * sizeof(flow_key_t)), 0);
    ck_assert_int_ne(memcmp(keys[0], keys[3], 5 * sizeof(flow_key_t)), 0);
}
END_TEST

START_TEST(poisson_ends_with_the_run_or_at_a_number)
{
    world_t world;
    world_init(&world);
    world.options.until_ps = 3 * SIM_PS_PER_MS;
    world_build(&world, "star", "hosts=8");
    plan(&world, "poisson", "start=2ms");
    ck_assert_uint_gt(world.flow_count, 0);
    for (size_t i = 0; i < world.flow_count; i++) {
        ck_assert_uint_ge(world.flows[i].start_ps, 2 * SIM_PS_PER_MS);
        ck_assert_uint_lt(world.flows[i].start_ps, 3 * SIM_PS_PER_MS);
    }
    const size_t without_limit = world.flow_count;
    const sim_time_t third_ps = world.flows[2].start_ps;
    ck_assert_uint_gt(without_limit, 3);
    // This is another application, so its draws differ: only the number of flows is checked.
    plan(&world, "poisson", "start=2ms; max-flows=3");
    ck_assert_uint_eq(world.flow_count, 3);
    ck_assert_uint_gt(third_ps, 0);
    world_fini(&world);
}
END_TEST

// -- lists

START_TEST(list_and_file_read_the_same_rows)
{
    static const char rows[] = "src,dst,bytes,start,priority\n"
                               "# two of them at one instant\n"
                               "host0,host1,64KB,5us\n"
                               "\n"
                               "host2\thost0  1000 0.5us 4 # late in the file, first in time\n"
                               "host1 host2 1MB 5us";
    static const char *const lists[] = {
        "file=x",
        "list=[host0 host1 64KB 5us, host2 host0 1000 500ns 4, host1 host2 1MB 5000ns]",
    };
    world_t world;
    world_init(&world);
    world.file_text = rows;
    world_build(&world, "star", "hosts=3");
    plan(&world, "flows", lists[_i]);
    ck_assert_uint_eq(world.flow_count, 3);
    const flow_key_t expected[] = {{2, 0, 1000, 500 * SIM_PS_PER_NS},
                                   {0, 1, 64000, 5 * SIM_PS_PER_US},
                                   {1, 2, 1000000, 5 * SIM_PS_PER_US}};
    for (size_t i = 0; i < 3; i++) {
        const app_flow_result_t *const flow = &world.flows[i];
        ck_assert_uint_eq(flow->source, expected[i].source);
        ck_assert_uint_eq(flow->destination, expected[i].destination);
        ck_assert_uint_eq(flow->bytes, expected[i].bytes);
        ck_assert_uint_eq(flow->start_ps, expected[i].start_ps);
        ck_assert_uint_eq(flow->flow_id, i);
    }
    ck_assert_uint_eq(world.flows[0].priority, 4);
    world_fini(&world);
}
END_TEST

START_TEST(nic_of_a_host_can_be_named)
{
    world_t world;
    star(&world, "hosts=2; nics-per-host=3", 1);
    plan(&world, "flows", "list=[host0:2 host1:1 1KB 0us, host0 host1 1KB 1us]");
    ck_assert_uint_eq(world.flows[0].source, 2);
    ck_assert_uint_eq(world.flows[0].destination, 4);
    ck_assert_uint_eq(world.flows[1].source, 0);
    ck_assert_uint_eq(world.flows[1].destination, 3);
    world_fini(&world);
}
END_TEST

// -- refusals

typedef struct refusal {
    const char *kind;
    const char *settings;
    const char *file;
    const char *text; // the message begins with it
} refusal_t;

static const refusal_t refusals[] = {
    {"flows", "", NULL, "file: neither file nor list is given"},
    {"flows", "file=none.csv", NULL, "file: none.csv: no such file"},
    {"flows", "file=f", "# nothing\n\n", "file: it lists no flow"},
    {"flows", "file=f", "host0 host1 1KB", "file: f line 1: 3 fields, expected source"},
    {"flows", "file=f", "\nhost0 host1 1KB 0us 3 4", "file: f line 2: 6 fields, expected source"},
    {"flows", "list=[host0, host1, 1KB, 0us]", NULL,
     "list: row 1: 1 field, expected source destination bytes start [priority], as in list: [host0 "
     "host1 1MB 0us]"},
    {"flows", "list=[host0 host9 1KB 0us]", NULL, "list: row 1: host: no host matches \"host9\""},
    {"flows", "list=[host0 host* 1KB 0us]", NULL, "list: row 1: host: \"host*\" names several"},
    {"flows", "list=[host0 host1 1KX 0us]", NULL, "list: row 1: bytes: "},
    {"flows", "list=[host0 host1 0 0us]", NULL, "list: row 1: bytes is 0, expected a size"},
    {"flows", "list=[host0 host1 1KB 5 parsecs]", NULL, "list: row 1: "},
    {"flows", "list=[host0 host1 1KB never]", NULL, "list: row 1: start: "},
    {"flows", "list=[host0 host1 1KB 0us 8]", NULL, "list: row 1: priority is 8, expected"},
    {"flows", "list=[a b 1KB 0us, host0 host0 1KB 0us]", NULL, "list: row 1: host: "},
    {"flows", "list=[host0 host0 1KB 0us]", NULL,
     "list: row 1: flow: from host0 to itself, expected"},
    {"flows", "stop=5us; list=host0 host1 1KB 5us", NULL, "stop: no flow starts before it"},
    {"flows", "stop=0us; list=host0 host1 1KB 5us", NULL, "stop: nothing starts before it"},
    {"permutation", "start=2us; stop=2us", NULL, "stop: nothing starts before it"},
    {"all-to-all", "start=2us; stop=1us", NULL, "stop: nothing starts before it"},
    {"poisson", "", NULL, "stop: arrivals have no end"},
    {"poisson", "stop=1ms; sizes=websaerch", NULL,
     "sizes: websaerch: no such file, or one of websearch,"},
    {"poisson", "stop=1ms; sizes=f", "10 20\n5 100\n", "sizes: f: line 2"},
    {"poisson", "stop=100ms; from=host1; to=host1", NULL, "to: none of its hosts can be reached"},
    {"poisson", "stop=1ms; from=rack*", NULL, "from: no host matches"},
    {"poisson", "stop=1ms; to=rack*", NULL, "to: no host matches"},
    {"incast", "every=1us", NULL, "stop: bursts repeat without an end"},
    {"incast", "random-gaps=on; stop=1ms", NULL,
     "every: random-gaps needs a mean time between bursts, expected"},
    {"incast", "senders=4", NULL, "senders: `from` has 3 hosts besides host0, expected at least 4"},
    {"incast", "from=host0", NULL,
     "senders: `from` has 0 hosts besides host0, expected at least 1"},
    {"incast", "to=nobody", NULL, "to: no host matches"},
    {"permutation", "hosts=host2", NULL, "hosts names 1 host, expected at least 2"},
    {"permutation", "stride=8", NULL, "stride is 8, expected a number that is no multiple"},
    {"all-to-all", "hosts=host2", NULL, "hosts names 1 host, expected at least 2"},
};

START_TEST(wrong_value_is_refused)
{
    const refusal_t *const refusal = &refusals[_i];
    world_t world;
    world_init(&world);
    world.file_text = refusal->file;
    world_build(&world, "star", "hosts=4");
    sim_message_t message = {.text = ""};
    app_t *app = NULL;
    ck_assert_int_ne(world_try_app(&world, refusal->kind, refusal->settings, &app, &message),
                     SIM_OK);
    ck_assert_ptr_null(app);
    ck_assert_msg(strncmp(message.text, refusal->text, strlen(refusal->text)) == 0, "%s",
                  message.text);
    world_fini(&world);
}
END_TEST

START_TEST(did_you_mean_for_sizes)
{
    world_t world;
    star(&world, "hosts=4", 1);
    sim_message_t message = {.text = ""};
    app_t *app = NULL;
    ck_assert_int_ne(world_try_app(&world, "poisson", "stop=1ms; sizes=websaerch", &app, &message),
                     SIM_OK);
    ck_assert_ptr_nonnull(strstr(message.text, "did you mean websearch?"));
    world_fini(&world);
}
END_TEST

START_TEST(unequal_hosts_cannot_permute)
{
    world_t world;
    world_init(&world);
    world_begin(&world);
    const topo_plan_t builder = world_plan(&world);
    topo_graph_t *const graph = topo_graph_create();
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    static const char *const links[][2] = {{"a", "s"}, {"b", "s"}, {"b", "s"}};
    ck_assert_int_eq(topo_graph_node(graph, "a", NET_NODE_HOST, NULL), SIM_OK);
    ck_assert_int_eq(topo_graph_node(graph, "b", NET_NODE_HOST, NULL), SIM_OK);
    ck_assert_int_eq(topo_graph_node(graph, "s", NET_NODE_SWITCH, NULL), SIM_OK);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(topo_graph_link(graph, links[i][0], links[i][1], &link, NULL), SIM_OK);
    }
    ck_assert_int_eq(topo_graph_build(graph, &builder, NULL), SIM_OK);
    world_complete(&world);
    sim_message_t message = {.text = ""};
    app_t *app = NULL;
    ck_assert_int_eq(world_try_app(&world, "permutation", "hosts=*", &app, &message),
                     SIM_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(message.text, "expected hosts with the same number of NICs"));
    topo_graph_destroy(graph);
    sim_attrs_fini(&net_link_config_attrs, &link);
    world_fini(&world);
}
END_TEST

// -- all kinds at once, on any number of threads

typedef struct outcome {
    uint64_t digest;
    uint64_t flows_hash;
} outcome_t;

static outcome_t run_mixed(uint64_t seed, unsigned threads)
{
    world_t world;
    world_init(&world);
    world.options.seed = seed;
    world.options.threads = threads;
    world.nic.mtu_bytes = 1024;
    world_build(&world, "leaf-spine", "leaves=4; spines=2; hosts-per-leaf=4");
    app_t *const apps[] = {
        world_app(&world, "poisson", "load=0.3; stop=200us; verb=send; sizes=fbhadoop"),
        world_app(&world, "incast", "to=host3; senders=8; bytes=20KB; every=50us; stop=200us"),
        world_app(&world, "permutation", "bytes=100KB; verb=read"),
        world_app(&world, "all-to-all", "bytes=3KB; start=20us; messages=3"),
        world_app(&world, "flows", "list=[host0 host15 1MB 10us, host15 host0 1MB 10us 1]"),
    };
    world_run(&world);
    ck_assert_int_eq(world.ended, SIM_ENDED_DONE);
    ck_assert_uint_eq(sim_work_outstanding(world.sim), 0);
    sim_digest_t hash = {0};
    uint64_t next_id = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(apps); i++) {
        world_flows(&world, apps[i]);
        for (size_t j = 0; j < world.flow_count; j++) {
            const app_flow_result_t *const flow = &world.flows[j];
            ck_assert_uint_eq(flow->flow_id, next_id++);
            ck_assert_int_eq(flow->status, NIC_WC_SUCCESS);
            ck_assert_uint_ne(flow->end_ps, SIM_TIME_NEVER);
            ck_assert_msg(flow->end_ps - flow->start_ps >= flow->ideal_ps,
                          "%s %" PRIu64 " bytes: %" PRIu64 " ps, ideal %" PRIu64, flow->label,
                          flow->bytes, flow->end_ps - flow->start_ps, flow->ideal_ps);
            sim_digest_add(&hash, flow->end_ps);
        }
    }
    const outcome_t outcome = {sim_digest(world.sim), hash.value};
    world_fini(&world);
    return outcome;
}

START_TEST(threads_change_nothing)
{
    const outcome_t one = run_mixed(11, 1);
    for (unsigned threads = 2; threads <= 4; threads += 2) {
        const outcome_t more = run_mixed(11, threads);
        ck_assert_uint_eq(more.digest, one.digest);
        ck_assert_uint_eq(more.flows_hash, one.flows_hash);
    }
    const outcome_t other = run_mixed(12, 1);
    ck_assert_uint_ne(other.digest, one.digest);
}
END_TEST

CHECK_MAIN(CHECK_LOOP_FEW(permutation_has_no_fixed_point, 0, 20, 2),
           CHECK_TEST(permutation_keeps_rails_and_strides),
           CHECK_TEST(all_to_all_has_every_pair_once), CHECK_LOOP(incast_has_its_bursts, 0, 5),
           CHECK_TEST(incast_fixed_repeats_its_senders), CHECK_LOOP_FEW(incast_at_random, 0, 5, 1),
           CHECK_TEST(incast_draws_are_apart), CHECK_TEST(incast_defaults_and_read),
           CHECK_LOOP_FEW(poisson_offers_its_load, 0, 3, 1),
           CHECK_TEST(poisson_gaps_are_exponential), CHECK_TEST(poisson_streams_are_their_own),
           CHECK_TEST(poisson_ends_with_the_run_or_at_a_number),
           CHECK_LOOP(list_and_file_read_the_same_rows, 0, 2),
           CHECK_TEST(nic_of_a_host_can_be_named),
           CHECK_LOOP(wrong_value_is_refused, 0, (int)SIM_COUNT_OF(refusals)),
           CHECK_TEST(did_you_mean_for_sizes), CHECK_TEST(unequal_hosts_cannot_permute),
           CHECK_TEST(threads_change_nothing))
