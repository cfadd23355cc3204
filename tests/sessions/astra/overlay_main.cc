// SPDX-License-Identifier: Apache-2.0
// tests/sessions/astra/overlay_main.cc NETWORK.yml - uses the overlay of LLMServingSim as its main
// does: each NPU sends 64 KiB to the next one, and time passes when nothing is left to happen.
#include "congestion_aware/CongestionAwareNetworkApi.hh"
#include <astra-network-analytical/common/EventQueue.h>
#include <astra-network-analytical/common/NetworkParser.h>
#include <astra-network-analytical/congestion_aware/Helper.h>

#include <cstdio>

using namespace AstraSimAnalyticalCongestionAware;
using namespace NetworkAnalytical;
using namespace NetworkAnalyticalCongestionAware;

static int received = 0;
static double received_ns = 0;

static void got(void *argument)
{
    AstraSim::AstraNetworkAPI *const npu = static_cast<CongestionAwareNetworkApi *>(argument);
    received_ns = static_cast<double>(npu->sim_get_time().time_val);
    received++;
}

int main(int argc, char **argv)
{
    const auto event_queue = std::make_shared<EventQueue>();
    Topology::set_event_queue(event_queue);
    const auto network_parser = NetworkParser(argc > 1 ? argv[1] : "net.yml");
    const auto topology = construct_topology(network_parser);
    const int count = topology->get_npus_count();
    CongestionAwareNetworkApi::set_event_queue(event_queue);
    CongestionAwareNetworkApi::set_topology(topology);
    std::vector<std::unique_ptr<CongestionAwareNetworkApi>> npus;
    AstraSim::sim_request request = {};
    for (int i = 0; i < count; i++) {
        npus.push_back(std::make_unique<CongestionAwareNetworkApi>(i));
        npus[i]->sim_send(nullptr, 65536, 0, (i + 1) % count, 0, &request, nullptr, nullptr);
        npus[i]->sim_recv(nullptr, 65536, 0, (i + count - 1) % count, 0, &request, got,
                          npus[i].get());
    }
    while (!event_queue->finished()) {
        event_queue->proceed();
    }
    const double end_ns = static_cast<double>(npus[0]->sim_get_time().time_val);
    event_queue->add_current_time();
    const double later_ns = static_cast<double>(npus[0]->sim_get_time().time_val);
    std::printf("%d %.0f %.0f\n", received, received_ns, later_ns - end_ns);
    return topology->get_dims_count() != 1 || topology->get_npus_count_per_dim()[0] != count;
}
