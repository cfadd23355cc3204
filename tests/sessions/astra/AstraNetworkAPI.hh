// SPDX-License-Identifier: Apache-2.0
// tests/sessions/astra/AstraNetworkAPI.hh - a stand-in for the interface of ASTRA-sim, for the test
// of examples/astra_network.hh: the names and types that front ends and networks share, no more.
//
// STAND_IN chooses: 2: ASTRA-sim 2; 3: with sim_notify_finished; 1: SimAI, with flow tags.
#ifndef TESTS_SESSIONS_ASTRA_HH
#define TESTS_SESSIONS_ASTRA_HH

#include <cstdint>
#include <string>
#include <vector>

#if STAND_IN == 1
#define __ASTRANETWORKAPI_HH__
#define __RECVPACKETEVENTHADNDLERDATA_HH__
#else
#define __ASTRA_NETWORK_API_HH__
#endif

namespace AstraSim {

enum time_type_e { SE = 0, MS, US, NS, FS };
enum req_type_e { UINT8 = 0, BFLOAT16, FP32 };

struct timespec_t {
    time_type_e time_res;
#if STAND_IN == 1
    double time_val;
#else
    long double time_val;
#endif
};

#if STAND_IN == 1
class AstraMemoryAPI;
struct sim_comm {
    std::string comm_name;
};
struct ncclFlowTag {
    int channel_id = 0;
    int current_flow_id = 0;
    int tag_id = 0;
    uint64_t flow_size = 0;
    std::vector<int> tree_flow_list;
};
// What handlers of SimAI get begins with other members; a network touches flowTag alone.
struct RecvPacketEventHadndlerData {
    void *owner = nullptr;
    ncclFlowTag flowTag;
};
struct SendPacketEventHandlerData {
    void *owner = nullptr;
    ncclFlowTag flowTag;
};
#endif

struct sim_request {
    uint32_t srcRank;
    uint32_t dstRank;
    uint32_t tag;
    req_type_e reqType;
    uint64_t reqCount;
    uint32_t vnet;
    uint32_t layerNum;
#if STAND_IN == 1
    ncclFlowTag flowTag;
#endif
};

class AstraNetworkAPI {
  public:
    enum class BackendType { NotSpecified = 0, Garnet, NS3, Analytical };
    explicit AstraNetworkAPI(int number) : rank(number) {}
    virtual ~AstraNetworkAPI() {}
    virtual int sim_send(void *buffer,
                         uint64_t count,
                         int type,
                         int dst,
                         int tag,
                         sim_request *request,
                         void (*msg_handler)(void *fun_arg),
                         void *fun_arg) = 0;
    virtual int sim_recv(void *buffer,
                         uint64_t count,
                         int type,
                         int src,
                         int tag,
                         sim_request *request,
                         void (*msg_handler)(void *fun_arg),
                         void *fun_arg) = 0;
    virtual void sim_schedule(timespec_t delta, void (*fun_ptr)(void *fun_arg), void *fun_arg) = 0;
    virtual BackendType get_backend_type() { return BackendType::NotSpecified; }
    virtual int sim_comm_get_rank() { return rank; }
    virtual int sim_comm_set_rank(int number)
    {
        rank = number;
        return rank;
    }
    virtual timespec_t sim_get_time() = 0;
    virtual double get_BW_at_dimension(int dim)
    {
        (void)dim;
        return -1;
    }
#if STAND_IN == 3
    virtual void sim_notify_finished() {}
#endif
#if STAND_IN == 1
    bool enabled = true;
    virtual int sim_comm_size(sim_comm comm, int *size) = 0;
    virtual int sim_finish() = 0;
    virtual double sim_time_resolution() = 0;
    virtual int sim_init(AstraMemoryAPI *memory) = 0;

  protected:
#endif
    int rank;
};

} // namespace AstraSim

#endif // TESTS_SESSIONS_ASTRA_HH
