// SPDX-License-Identifier: Apache-2.0
// examples/astra_network.hh - the network interface of ASTRA-sim and SimAI on a session of rocesim.
//
// Include their AstraNetworkAPI.hh before it (ASTRA-sim 2 and later: astra-sim/common; SimAI:
// astra-sim/system, and RecvPacketEventHadndlerData.hh and SendPacketEventHandlerData.hh, too). A
// rocesim::AstraFabric holds the network and the queue of events; each rank has an AstraNetwork:
//
//     rocesim::AstraFabric fabric("fabric.yaml", 8);
//     rocesim::AstraNetwork network0(fabric, 0);  // hand it to the Sys of rank 0, and so on
//     ...                                         // every Sys fires its workload
//     fabric.run();                               // until nothing is left to happen
//
// Compile as C++11 and link with librocesim. docs/sessions.md tells what follows from this model.
#ifndef ROCESIM_ASTRA_NETWORK_HH
#define ROCESIM_ASTRA_NETWORK_HH

#include "rocesim_session.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

// Their header guards tell the two apart: SimAI's interface is that of ASTRA-sim 1, with flow tags.
#if defined(__ASTRANETWORKAPI_HH__)
#define ROCESIM_ASTRA_SIMAI 1
#endif
#if defined(ROCESIM_ASTRA_SIMAI) && defined(__RECVPACKETEVENTHADNDLERDATA_HH__)
#define ROCESIM_ASTRA_FLOW_TAGS 1
#endif

namespace rocesim {

struct AstraOptions {
    Options session;               // program, server, settings...
    std::vector<uint32_t> hosts;   // by rank: number of its host; empty: rank i is on host i
    // In place of hosts: the names of the NICs by which a source and a destination (ranks) talk.
    std::function<std::pair<std::string, std::string>(int, int)> nics;
    uint64_t slack_ps = 0;         // without effect: completions are exact
    double local_gb_per_s = 450;   // messages between ranks of one host: rate, 10^9 bytes a second
    uint64_t local_delay_ps = 1000000;
    double dimension_gb_per_s = -1; // answer of get_BW_at_dimension
    int priority = -1;              // of all messages; -1: the NIC's
};

// The network that all ranks share, and the events of the front end, in the order of their times.
class AstraFabric {
  public:
    typedef void (*Handler)(void *argument);
    typedef std::tuple<int, int, int> Key; // source, destination, tag

#if defined(ROCESIM_ASTRA_SIMAI)
    typedef AstraSim::ncclFlowTag Tag;
#else
    struct Tag {};
#endif

    AstraFabric(const std::string &scenario, int ranks, const AstraOptions &given = AstraOptions())
        : options(given), session(scenario, given.session), rank_count(ranks)
    {
        if (!options.hosts.empty() && options.hosts.size() < static_cast<size_t>(ranks)) {
            throw SessionError("hosts: expected a host for each rank");
        }
        if (options.hosts.empty() && !options.nics &&
            static_cast<size_t>(ranks) > session.host_count()) {
            throw SessionError("the scenario has fewer hosts than ranks");
        }
        for (uint32_t i = 0; options.nics && i < session.host_count(); i++) {
            numbers[session.host_name(i)] = i;
        }
    }

    int ranks() const { return rank_count; }
    uint64_t now_ps() const { return present_ps; }
    double dimension_gb_per_s() const { return options.dimension_gb_per_s; }
    uint64_t messages() const { return message_count; }
    rocesim::Session &network() { return session; }

    // Calls the handler after a time.
    void schedule(uint64_t delta_ps, Handler handler, void *argument)
    {
        put(present_ps + delta_ps, Event{0, 0, KIND_CALL, handler, argument, 0});
    }

    // Sends a message. The receiver has it when its last byte has arrived; the handler is called when
    // the sender has its acknowledgement.
    void send(int source, int destination, int tag, uint64_t bytes, const Tag &flow, Handler handler, void *argument)
    {
        const uint64_t number = ++message_count;
        check_rank(destination);
        sent.emplace(number,
                     Message{Key(source, destination, tag), bytes, flow, handler, argument});
        const std::pair<uint32_t, uint32_t> ends = ends_of(source, destination);
        if (ends.first == ends.second) {
            const double took_ps = static_cast<double>(bytes) * 1e3 / options.local_gb_per_s;
            put(present_ps + options.local_delay_ps + static_cast<uint64_t>(took_ps),
                Event{0, 0, KIND_LOCAL, nullptr, nullptr, number});
            return;
        }
        rocesim_transfer_t made = transfer(ends.first, ends.second, bytes);
        made.at_ps = present_ps > session.now_ps() ? present_ps : session.now_ps();
        made.priority = options.priority;
        made.tag = number;
        made.delivery = 1;
        session.submit(made);
        open++;
    }

    // Waits for `bytes` from a rank with a tag. Receives of one key are served in their order; the
    // sizes of messages and receives may differ.
    void receive(int source, int destination, int tag, uint64_t bytes, Handler handler, void *argument)
    {
        const Key key(source, destination, tag);
        check_rank(source);
        expected[key].push_back(Receive{bytes, handler, argument});
        match(key);
    }

    void rank_finished(int rank)
    {
        if (finished.empty()) {
            finished.assign(static_cast<size_t>(rank_count), false);
        }
        check_rank(rank);
        finished_count += !finished[static_cast<size_t>(rank)];
        finished[static_cast<size_t>(rank)] = true;
        stopped = stopped || finished_count == rank_count;
    }
    void stop() { stopped = true; }

    // Calls handlers in the order of time until nothing is left, or all ranks have finished. Throws
    // SessionError if the network stands still or a message fails.
    void run()
    {
        stopped = false;
        while (!stopped && !idle()) {
            proceed();
        }
    }

    // Returns whether nothing is left to happen.
    bool idle() const { return open == 0 && events.empty(); }
    // Runs the network up to the next event, and that event. Something has to be left to happen.
    void proceed()
    {
        const uint64_t next_ps = events.empty() ? ROCESIM_NEVER : events.top().time_ps;
        if (open > 0 && next_ps > session.now_ps()) {
            take_completions(next_ps);
        }
        if (events.empty()) {
            throw SessionError("messages are under way, but none of them ends");
        }
        run_event();
    }
    // Lets time pass in which nothing happens.
    void wait(uint64_t delta_ps) { present_ps += delta_ps; }

    // Returns how many messages and receives wait for their other side.
    size_t unmatched() const
    {
        size_t count = 0;
        for (const auto &at : expected) {
            count += at.second.size();
        }
        for (const auto &at : arrived) {
            count += at.second.size();
        }
        return count;
    }

  private:
    enum Kind { KIND_CALL, KIND_ARRIVAL, KIND_ACKNOWLEDGEMENT, KIND_LOCAL }; // LOCAL: both
    struct Event {
        uint64_t time_ps;
        uint64_t order;
        Kind kind;
        Handler handler;
        void *argument;
        uint64_t message;
        bool operator<(const Event &other) const
        {
            return time_ps != other.time_ps ? time_ps > other.time_ps : order > other.order;
        }
    };
    struct Message {
        Key key;
        uint64_t bytes;
        Tag flow;
        Handler handler;
        void *argument;
    };
    struct Receive {
        uint64_t bytes;
        Handler handler;
        void *argument;
    };
    struct Arrival {
        uint64_t bytes;
        Tag flow;
    };

    uint32_t host_of(int rank) const
    {
        return options.hosts.empty() ? static_cast<uint32_t>(rank)
                                     : options.hosts[static_cast<size_t>(rank)];
    }
    // Returns the numbers of the hosts or NICs between which a message goes.
    std::pair<uint32_t, uint32_t> ends_of(int source, int destination) const
    {
        if (!options.nics) {
            return std::make_pair(host_of(source), host_of(destination));
        }
        const std::pair<std::string, std::string> names = options.nics(source, destination);
        const auto from = numbers.find(names.first);
        const auto to = numbers.find(names.second);
        if (from == numbers.end() || to == numbers.end()) {
            throw SessionError("the scenario lacks " + names.first + " or " + names.second);
        }
        return std::make_pair(from->second, to->second);
    }
    void check_rank(int rank) const
    {
        if (rank < 0 || rank >= rank_count) {
            throw SessionError("there is no rank " + std::to_string(rank));
        }
    }
    void put(uint64_t time_ps, Event event)
    {
        event.time_ps = time_ps;
        event.order = order++;
        events.push(event);
    }

    // Runs the network up to the next event, or to the next completions, and puts these among the
    // events.
    void take_completions(uint64_t until_ps)
    {
        for (const rocesim_completion_t &at : session.next_completion(until_ps)) {
            const bool arrival = at.outcome == ROCESIM_DELIVERED;
            if (!arrival && at.outcome != ROCESIM_DONE) {
                throw SessionError("a message has failed");
            }
            open -= !arrival;
            put(at.end_ps > present_ps ? at.end_ps : present_ps,
                Event{0, 0, arrival ? KIND_ARRIVAL : KIND_ACKNOWLEDGEMENT, nullptr, nullptr, at.tag});
        }
        if (session.stalled()) {
            throw SessionError("the network stands still although messages are under way");
        }
    }
    void run_event()
    {
        const Event event = events.top();
        events.pop();
        present_ps = event.time_ps;
        if (event.kind == KIND_CALL) {
            event.handler(event.argument);
        }
        if (event.kind == KIND_ARRIVAL || event.kind == KIND_LOCAL) {
            arrive(sent.at(event.message));
        }
        if (event.kind == KIND_ACKNOWLEDGEMENT || event.kind == KIND_LOCAL) {
            tell_sender(event.message);
        }
    }
    void arrive(const Message &message)
    {
        arrived[message.key].push_back(Arrival{message.bytes, message.flow});
        match(message.key);
    }
    void tell_sender(uint64_t number)
    {
        const Message message = sent.at(number);
        sent.erase(number);
#if defined(ROCESIM_ASTRA_FLOW_TAGS)
        static_cast<AstraSim::SendPacketEventHandlerData *>(message.argument)->flowTag =
            message.flow;
#endif
        if (message.handler != nullptr) {
            message.handler(message.argument);
        }
    }

    // Serves the receives of a key whose bytes are there, at the present time but as events, so that
    // handlers never run within each other.
    void match(const Key &key)
    {
        std::deque<Receive> &waiting = expected[key];
        std::deque<Arrival> &there = arrived[key];
        while (!waiting.empty()) {
            uint64_t needed = waiting.front().bytes;
            uint64_t sum = 0;
            for (const Arrival &at : there) {
                sum += at.bytes;
            }
            if (there.empty() || sum < needed) {
                break;
            }
            Tag flow = there.front().flow;
            while (!there.empty() && needed >= there.front().bytes) {
                needed -= there.front().bytes;
                flow = there.front().flow;
                there.pop_front();
                if (needed == 0) {
                    break;
                }
            }
            if (needed > 0) {
                flow = there.front().flow;
                there.front().bytes -= needed;
            }
            tell_receiver(waiting.front(), flow);
            waiting.pop_front();
        }
        if (waiting.empty()) {
            expected.erase(key);
        }
        if (there.empty()) {
            arrived.erase(key);
        }
    }
    void tell_receiver(const Receive &receive, const Tag &flow)
    {
#if defined(ROCESIM_ASTRA_FLOW_TAGS)
        static_cast<AstraSim::RecvPacketEventHadndlerData *>(receive.argument)->flowTag = flow;
#else
        (void)flow;
#endif
        schedule(0, receive.handler, receive.argument);
    }

    AstraOptions options;
    Session session;
    int rank_count;
    std::unordered_map<std::string, uint32_t> numbers; // of hosts or NICs, by name, for options.nics
    uint64_t present_ps = 0;
    uint64_t order = 0;
    uint64_t open = 0; // messages in the network
    uint64_t message_count = 0;
    bool stopped = false;
    std::vector<bool> finished;
    int finished_count = 0;
    std::priority_queue<Event> events;
    std::unordered_map<uint64_t, Message> sent; // under way, by number
    std::map<Key, std::deque<Receive>> expected;
    std::map<Key, std::deque<Arrival>> arrived;
};

// The network as one rank sees it.
class AstraNetwork : public AstraSim::AstraNetworkAPI {
  public:
    // first: what is added to the ranks that the front end names, where several jobs share a fabric.
    AstraNetwork(AstraFabric &shared, int number, int first = 0)
        : AstraNetworkAPI(number), fabric(shared), first_rank(first)
    {
    }

    int sim_send(void *buffer,
                 uint64_t count,
                 int type,
                 int dst,
                 int tag,
                 AstraSim::sim_request *request,
                 void (*msg_handler)(void *fun_arg),
                 void *fun_arg) override
    {
        (void)buffer;
        (void)type;
#if defined(ROCESIM_ASTRA_FLOW_TAGS)
        fabric.send(rank, dst + first_rank, request->flowTag.tag_id, count, request->flowTag, msg_handler, fun_arg);
        (void)tag;
#else
        (void)request;
        fabric.send(rank, dst + first_rank, tag, count, AstraFabric::Tag(), msg_handler, fun_arg);
#endif
        return 0;
    }

    int sim_recv(void *buffer,
                 uint64_t count,
                 int type,
                 int src,
                 int tag,
                 AstraSim::sim_request *request,
                 void (*msg_handler)(void *fun_arg),
                 void *fun_arg) override
    {
        (void)buffer;
        (void)type;
        (void)request;
#if defined(ROCESIM_ASTRA_FLOW_TAGS)
        tag = static_cast<AstraSim::RecvPacketEventHadndlerData *>(fun_arg)->flowTag.tag_id;
#endif
        fabric.receive(src + first_rank, rank, tag, count, msg_handler, fun_arg);
        return 0;
    }

    void sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void *fun_arg), void *fun_arg) override
    {
        fabric.schedule(picoseconds(delta), fun_ptr, fun_arg);
    }

    AstraSim::timespec_t sim_get_time() override
    {
        AstraSim::timespec_t time = {};
        time.time_res = AstraSim::NS;
        time.time_val = static_cast<decltype(time.time_val)>(fabric.now_ps()) / 1000;
        return time;
    }

    BackendType get_backend_type() override { return BackendType::NotSpecified; }

    double get_BW_at_dimension(int dim) override
    {
        (void)dim;
        return fabric.dimension_gb_per_s();
    }

    // Newer versions of ASTRA-sim call it when the workload of the rank has ended. Older interfaces do
    // not have it, so it does not say `override`.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winconsistent-missing-override"
#endif
    virtual void sim_notify_finished() { fabric.rank_finished(rank); }
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#if defined(ROCESIM_ASTRA_SIMAI)
    int sim_comm_size(AstraSim::sim_comm comm, int *size) override
    {
        (void)comm;
        *size = fabric.ranks();
        return 0;
    }
    int sim_finish() override
    {
        fabric.rank_finished(rank);
        return 0;
    }
    double sim_time_resolution() override { return 1; } // ns
    int sim_init(AstraSim::AstraMemoryAPI *memory) override
    {
        (void)memory;
        return 0;
    }
#endif

  private:
    static uint64_t picoseconds(const AstraSim::timespec_t &time)
    {
        const long double value = time.time_val;
        switch (time.time_res) {
        case AstraSim::SE:
            return static_cast<uint64_t>(value * 1e12L + 0.5L);
        case AstraSim::MS:
            return static_cast<uint64_t>(value * 1e9L + 0.5L);
        case AstraSim::US:
            return static_cast<uint64_t>(value * 1e6L + 0.5L);
        case AstraSim::FS:
            return static_cast<uint64_t>(value / 1e3L + 0.5L);
        default:
            return static_cast<uint64_t>(value * 1e3L + 0.5L);
        }
    }
    AstraFabric &fabric;
    int first_rank;
};

} // namespace rocesim

#endif // ROCESIM_ASTRA_NETWORK_HH
