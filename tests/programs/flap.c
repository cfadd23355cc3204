// SPDX-License-Identifier: Apache-2.0
// tests/programs/flap.c - a program that test_events.sh starts on two simulated hosts.
//
// The client writes 20 MB with one work request, and prints how that ended. The server prints
// the events of its port with their times in ns, and its port's state after each.
#include "tests/programs/pair.h"

#include <sys/mman.h>
#include <time.h>

#define BYTES 20000000u

int main(int argc, char **argv)
{
    pair_begin(argc, argv);
    char *bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ibv_mr *mr =
        ibv_reg_mr(pd, bytes, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    EXPECT(mr != NULL);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    const pair_end_t peer = pair_connect(qp, mr);
    if (argc > 1) {
        EXPECT(pair_post(qp, IBV_WR_RDMA_WRITE, mr, 0, BYTES, &peer, 0) == 0);
        const struct ibv_wc wc = pair_complete(cq);
        printf("%s\n", ibv_wc_status_str(wc.status));
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        struct ibv_async_event event;
        struct ibv_port_attr port;
        struct timespec now;
        EXPECT(ibv_get_async_event(context, &event) == 0);
        EXPECT(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
        EXPECT(ibv_query_port(context, event.element.port_num, &port) == 0);
        printf("%ld %s, port %d, %s\n", now.tv_nsec, ibv_event_type_str(event.event_type),
               event.element.port_num, ibv_port_state_str(port.state));
        ibv_ack_async_event(&event);
    }
    return 0;
}
