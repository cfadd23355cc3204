// SPDX-License-Identifier: Apache-2.0
// tests/sessions/astra/front_end.cc SCENARIO - a small front end on examples/astra_network.hh: a
// ring, an all-to-all, schedules, and receives that do not fit their messages. Exits with 0 if all
// is right.
#include "AstraNetworkAPI.hh"

#include "astra_network.hh"

#include <cmath>
#include <cstdio>
#include <memory>

using AstraSim::AstraNetworkAPI;

static int failures = 0;

#define EXPECT(condition)                                             \
    do {                                                              \
        if (!(condition)) {                                           \
            std::printf("FAIL: line %d: %s\n", __LINE__, #condition); \
            failures++;                                               \
        }                                                             \
    } while (0)

static double now_ns(AstraNetworkAPI *network)
{
    const AstraSim::timespec_t time = network->sim_get_time();
    EXPECT(time.time_res == AstraSim::NS);
    return static_cast<double>(time.time_val);
}

// What a handler gets, in the place where SimAI has its flow tags.
#if STAND_IN == 1
struct ReceiveData : AstraSim::RecvPacketEventHadndlerData {
    struct Rank *rank = nullptr;
};
struct SendData : AstraSim::SendPacketEventHandlerData {
    struct Rank *rank = nullptr;
};
#else
struct ReceiveData {
    struct Rank *rank = nullptr;
};
typedef ReceiveData SendData;
#endif

// A rank of a ring, or of an all-to-all: it sends its next message when it has received the last.
struct Rank {
    AstraNetworkAPI *network = nullptr;
    int number = 0;
    int ranks = 0;
    bool ring = true;
    uint64_t bytes = 0;
    int steps = 0;
    int received = 0;
    int acknowledged = 0;
    double end_ns = 0;
    ReceiveData receive;
    SendData send;

    void message(int to, int from, int tag)
    {
        AstraSim::sim_request request = {};
        request.reqCount = bytes;
#if STAND_IN == 1
        request.flowTag.tag_id = tag;
        request.flowTag.current_flow_id = 100 + number;
        receive.flowTag.tag_id = tag;
        receive.flowTag.current_flow_id = -1;
#endif
        network->sim_send(nullptr, bytes, AstraSim::UINT8, to, tag, &request, sent, &send);
        network->sim_recv(nullptr, bytes, AstraSim::UINT8, from, tag, &request, got, &receive);
    }
    void step()
    {
        const int distance = ring ? 1 : received + 1;
        message((number + distance) % ranks, (number + ranks - distance) % ranks, received);
    }
    static void sent(void *argument)
    {
        static_cast<SendData *>(argument)->rank->acknowledged++;
    }
    static void got(void *argument)
    {
        Rank *const rank = static_cast<ReceiveData *>(argument)->rank;
#if STAND_IN == 1
        const int distance = rank->ring ? 1 : rank->received + 1;
        EXPECT(rank->receive.flowTag.current_flow_id ==
               100 + (rank->number + rank->ranks - distance) % rank->ranks);
#endif
        rank->end_ns = now_ns(rank->network);
        if (++rank->received < rank->steps) {
            rank->step();
        }
    }
    static void fire(void *argument)
    {
        static_cast<Rank *>(argument)->step();
    }
};

static double run_ranks(const char *scenario, rocesim::AstraOptions options, int count, bool ring,
                        uint64_t bytes)
{
    rocesim::AstraFabric fabric(scenario, count, options);
    std::vector<std::unique_ptr<rocesim::AstraNetwork>> networks;
    std::vector<Rank> ranks(static_cast<size_t>(count));
    double end_ns = 0;
    for (int i = 0; i < count; i++) {
        networks.emplace_back(new rocesim::AstraNetwork(fabric, i));
        Rank &rank = ranks[static_cast<size_t>(i)];
        rank.network = networks.back().get();
        rank.number = i;
        rank.ranks = count;
        rank.ring = ring;
        rank.bytes = bytes;
        rank.steps = ring ? 2 * (count - 1) : count - 1;
        rank.receive.rank = &rank;
        rank.send.rank = &rank;
        AstraSim::timespec_t delta = {};
        delta.time_res = AstraSim::US;
        delta.time_val = 5;
        EXPECT(rank.network->sim_comm_get_rank() == i);
        rank.network->sim_schedule(delta, Rank::fire, &rank);
    }
    fabric.run();
    for (const Rank &rank : ranks) {
        EXPECT(rank.received == rank.steps && rank.acknowledged == rank.steps);
        end_ns = rank.end_ns > end_ns ? rank.end_ns : end_ns;
    }
    EXPECT(fabric.unmatched() == 0);
    return end_ns - 5000;
}

// -- microbenchmarks

static void test_ring_and_all_to_all(const char *scenario)
{
    const uint64_t bytes = 65536;
    rocesim::Session alone(scenario);
    const std::vector<rocesim_transfer_t> one = {rocesim::transfer(0, 1, bytes)};
    const rocesim_estimate_t estimate = alone.estimate(one)[0];
    const double one_ns = static_cast<double>(estimate.delivered_ps - estimate.start_ps) / 1e3;
    rocesim::AstraOptions options;
    const double ring_ns = run_ranks(scenario, options, 8, true, bytes);
    // A rank takes each step when it has received; its sends are acknowledged later.
    EXPECT(ring_ns >= 14 * one_ns && ring_ns < 14 * one_ns * 1.05);
    const double all_ns = run_ranks(scenario, options, 8, false, bytes);
    EXPECT(all_ns >= 7 * one_ns && all_ns < 7 * one_ns * 1.3);
    options.slack_ps = 200000;
    const double slack_ns = run_ranks(scenario, options, 8, true, bytes);
    EXPECT(slack_ns >= ring_ns && slack_ns <= ring_ns + 14 * 200);
    // Two ranks on each host: half of the steps stay within a host.
    options.slack_ps = 0;
    options.hosts = {0, 0, 1, 1, 2, 2, 3, 3};
    const double local_ns = run_ranks(scenario, options, 8, true, bytes);
    EXPECT(local_ns >= 7 * one_ns && local_ns < ring_ns * 1.05);
    // The NICs named one by one: the same network, and the same times.
    options.hosts.clear();
    options.nics = [](int from, int to) {
        return std::make_pair("host" + std::to_string(from), "host" + std::to_string(to));
    };
    EXPECT(run_ranks(scenario, options, 8, true, bytes) == ring_ns);
    options.nics = [](int, int to) {
        return std::make_pair(std::string("host0"), "host" + std::to_string(8 + to));
    };
    try {
        (void)run_ranks(scenario, options, 8, true, bytes);
        EXPECT(false);
    } catch (const rocesim::SessionError &error) {
        EXPECT(std::string(error.what()).find("the scenario lacks host0 or host") == 0);
    }
    std::printf("one message %.3f us, ring %.3f us, all-to-all %.3f us, slack %.3f us\n",
                one_ns / 1e3, ring_ns / 1e3, all_ns / 1e3, slack_ns / 1e3);
}

// -- time

struct Tick {
    AstraNetworkAPI *network;
    double time_ns;
};

static void ticked(void *argument)
{
    Tick *const tick = static_cast<Tick *>(argument);
    tick->time_ns = now_ns(tick->network);
}

static void test_schedule(const char *scenario)
{
    rocesim::AstraFabric fabric(scenario, 2);
    rocesim::AstraNetwork network(fabric, 0);
    const AstraSim::time_type_e units[] = {AstraSim::SE, AstraSim::MS, AstraSim::US, AstraSim::NS,
                                           AstraSim::FS};
    const double values[] = {0.001, 0.25, 3, 17, 2000000};
    const double times_ns[] = {1e6, 250000, 3000, 17, 2};
    Tick ticks[5];
    for (int i = 0; i < 5; i++) {
        AstraSim::timespec_t delta = {};
        delta.time_res = units[i];
        delta.time_val = values[i];
        ticks[i] = Tick{&network, -1};
        network.sim_schedule(delta, ticked, &ticks[i]);
    }
    fabric.run();
    for (int i = 0; i < 5; i++) {
        EXPECT(std::fabs(ticks[i].time_ns - times_ns[i]) < 1e-6);
    }
}

// -- messages and receives of other sizes

static std::string order;

struct Named {
#if STAND_IN == 1
    AstraSim::RecvPacketEventHadndlerData data;
#endif
    const char *name = "";
};

static void note(void *argument)
{
    order += static_cast<Named *>(argument)->name;
}

static void test_sizes(const char *scenario)
{
    rocesim::AstraFabric fabric(scenario, 3);
    rocesim::AstraNetwork zero(fabric, 0);
    rocesim::AstraNetwork one(fabric, 1);
    Named names[6];
    const char *const texts[] = {"s", "t", "a", "b", "c", "u"};
    for (int i = 0; i < 6; i++) {
        names[i].name = texts[i];
    }
    AstraSim::sim_request request = {};
    order.clear();
    // Two messages of 3000 bytes for three receives of 2000; the tag of another is in between.
    one.sim_recv(nullptr, 2000, 0, 0, 0, &request, note, &names[2]);
    zero.sim_send(nullptr, 3000, 0, 1, 0, &request, note, &names[0]);
    fabric.run();
    EXPECT(order == "as"); // the bytes are there before the sender knows it
    EXPECT(fabric.unmatched() == 1);
    zero.sim_send(nullptr, 3000, 0, 1, 0, &request, note, &names[1]);
    fabric.run();
    one.sim_recv(nullptr, 2000, 0, 0, 0, &request, note, &names[3]);
    one.sim_recv(nullptr, 2000, 0, 0, 0, &request, note, &names[4]);
    fabric.run();
    EXPECT(order == "astbc");
    EXPECT(fabric.unmatched() == 0);
    // A message to the rank itself.
    zero.sim_send(nullptr, 10, 0, 0, 0, &request, note, &names[5]);
    fabric.run();
    EXPECT(order == "astbcu");
    EXPECT(fabric.messages() == 3);
    try {
        zero.sim_send(nullptr, 1, 0, 3, 0, &request, note, &names[0]);
        EXPECT(false);
    } catch (const rocesim::SessionError &error) {
        EXPECT(std::string(error.what()) == "there is no rank 3");
    }
}

// -- the end

static void test_end(const char *scenario)
{
    rocesim::AstraFabric fabric(scenario, 2);
    rocesim::AstraNetwork networks[2] = {{fabric, 0}, {fabric, 1}};
    Tick late = {&networks[0], -1};
    AstraSim::timespec_t delta = {};
    delta.time_res = AstraSim::MS;
    delta.time_val = 1;
    networks[0].sim_schedule(delta, ticked, &late);
    networks[0].sim_notify_finished();
    networks[1].sim_notify_finished();
    fabric.run();
    EXPECT(late.time_ns == 1e6); // finished before it began to run: there is something left
    networks[0].sim_schedule(
        delta,
        [](void *argument) {
            rocesim::AstraFabric *const at = static_cast<rocesim::AstraFabric *>(argument);
            at->stop();
        },
        &fabric);
    late.time_ns = -1;
    delta.time_val = 2;
    networks[0].sim_schedule(delta, ticked, &late);
    fabric.run();
    EXPECT(late.time_ns == -1);
#if STAND_IN == 1
    int size = 0;
    EXPECT(networks[0].sim_comm_size(AstraSim::sim_comm(), &size) == 0 && size == 2);
    EXPECT(networks[0].sim_time_resolution() == 1 && networks[0].sim_init(nullptr) == 0);
    EXPECT(networks[0].sim_finish() == 0);
#endif
    EXPECT(networks[0].get_backend_type() == AstraNetworkAPI::BackendType::NotSpecified);
    EXPECT(networks[0].get_BW_at_dimension(0) == -1);
}

int main(int argc, char **argv)
{
    const char *const scenario = argc > 1 ? argv[1] : "star.yaml";
    test_ring_and_all_to_all(scenario);
    test_schedule(scenario);
    test_sizes(scenario);
    test_end(scenario);
    return failures != 0;
}
