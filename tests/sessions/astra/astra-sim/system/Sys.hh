// SPDX-License-Identifier: Apache-2.0
// tests/sessions/astra/astra-sim/system/Sys.hh - a stand-in for the system layer of ASTRA-sim: each
// rank sends 64 KiB to its next one in every dimension, and prints when it has got as many.
#include "../../AstraNetworkAPI.hh"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace AstraSim {

class Sys;
struct Workload {
    Sys *sys;
    void fire();
};

class Sys {
  public:
    Sys(int number, const std::string &, const std::string &, const std::string &, void *,
        AstraNetworkAPI *given, const std::vector<int> &dims, const std::vector<int> &, double,
        double, bool)
        : workload(new Workload{this}), rank(number), network(given), dimensions(dims)
    {
    }
    void send_all()
    {
        int stride = 1;
        for (const int count : dimensions) {
            const int place = rank / stride % count;
            const int first = rank - place * stride;
            sim_request request = {};
            network->sim_send(nullptr, 65536, 0, first + (place + 1) % count * stride, 0, &request,
                              nullptr, nullptr);
            network->sim_recv(nullptr, 65536, 0, first + (place + count - 1) % count * stride, 0,
                              &request, got, this);
            stride *= count;
        }
    }
    static void got(void *argument)
    {
        Sys *const sys = static_cast<Sys *>(argument);
        const double now_ns = static_cast<double>(sys->network->sim_get_time().time_val);
        std::printf("sys[%d], Wall time: %.0f\n", sys->rank, now_ns);
        if (++sys->received == sys->dimensions.size()) {
            sys->network->sim_notify_finished();
        }
    }
    std::unique_ptr<Workload> workload;

  private:
    int rank;
    AstraNetworkAPI *network;
    std::vector<int> dimensions;
    size_t received = 0;
};

inline void Workload::fire() { sys->send_all(); }

} // namespace AstraSim
