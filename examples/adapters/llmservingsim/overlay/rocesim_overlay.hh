// SPDX-License-Identifier: Apache-2.0
// examples/adapters/llmservingsim/overlay/rocesim_overlay.hh - the names of the analytical back end
// that LLMServingSim's main of ASTRA-sim uses, on a network of rocesim (README.md).
//
// This folder stands before the back end's own headers, so main.cc is compiled as it is. The network is
// the scenario of the environment's FABRIC, where NPU n is host n; else it follows from the .yml.
#ifndef ROCESIM_OVERLAY_HH
#define ROCESIM_OVERLAY_HH

#include "astra-sim/common/AstraNetworkAPI.hh"

#include "astra_network.hh"

#include "analytical_network.hh"

#include <memory>

namespace NetworkAnalytical {

struct NetworkParser {
    explicit NetworkParser(const std::string &path)
    {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        dimensions = rocesim::dimensions_of(text.str());
        if (dimensions.counts.empty()) {
            throw rocesim::SessionError(path + ": expected npus_count");
        }
    }
    rocesim::Dimensions dimensions;
};

// Time and the events that are left, which the network knows.
struct EventQueue {
    std::shared_ptr<rocesim::AstraFabric> fabric;

    bool finished() const { return fabric->idle(); }
    void proceed() { fabric->proceed(); }
    // Lets 100 ns pass while ASTRA-sim waits for its next work, as the analytical back end does.
    void add_current_time() { fabric->wait(100000); }
};

} // namespace NetworkAnalytical

namespace NetworkAnalyticalCongestionAware {

class Topology {
  public:
    explicit Topology(const NetworkAnalytical::NetworkParser &parser)
        : dimensions(parser.dimensions), planes(parser.dimensions)
    {
    }
    static void set_event_queue(std::shared_ptr<NetworkAnalytical::EventQueue>) {}
    int get_npus_count() const { return dimensions.ranks(); }
    int get_dims_count() const { return static_cast<int>(dimensions.counts.size()); }
    std::vector<int> get_npus_count_per_dim() const { return dimensions.counts; }

    std::shared_ptr<rocesim::AstraFabric> open()
    {
        const char *const scenario = std::getenv("FABRIC");
        rocesim::AstraOptions options;
        if (scenario != nullptr) {
            return std::make_shared<rocesim::AstraFabric>(scenario, get_npus_count(), options);
        }
        options.nics = [this](int from, int to) { return planes.nics(from, to); };
        const std::string name = planes.write();
        const auto made =
            std::make_shared<rocesim::AstraFabric>(name, get_npus_count(), options);
        (void)unlink(name.c_str());
        return made;
    }

  private:
    rocesim::Dimensions dimensions;
    rocesim::Planes planes;
};

inline std::shared_ptr<Topology> construct_topology(const NetworkAnalytical::NetworkParser &parser)
{
    return std::make_shared<Topology>(parser);
}

} // namespace NetworkAnalyticalCongestionAware

namespace AstraSimAnalyticalCongestionAware {

class CongestionAwareNetworkApi : public rocesim::AstraNetwork {
  public:
    explicit CongestionAwareNetworkApi(int number) : AstraNetwork(*shared()->fabric, number) {}
    static void set_event_queue(std::shared_ptr<NetworkAnalytical::EventQueue> events)
    {
        shared() = events;
    }
    static void set_topology(std::shared_ptr<NetworkAnalyticalCongestionAware::Topology> topology)
    {
        shared()->fabric = topology->open();
    }

  private:
    static std::shared_ptr<NetworkAnalytical::EventQueue> &shared()
    {
        static std::shared_ptr<NetworkAnalytical::EventQueue> events;
        return events;
    }
};

} // namespace AstraSimAnalyticalCongestionAware

#endif // ROCESIM_OVERLAY_HH
