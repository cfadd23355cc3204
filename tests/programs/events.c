// SPDX-License-Identifier: Apache-2.0
// tests/programs/events.c - a program that test_events.sh starts on two simulated hosts.
//
// Goal: asynchronous events of queue pairs, shared receive queues and completion queues, and
// completion channels that wait for solicited completions. Method: the client provokes each
// event at the server, which expects it and no other. Prints "ok" at the end.
#include "tests/programs/pair.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>

#define BYTES 65536

static bool serves;
static struct ibv_mr *mr;

static void expect_event(enum ibv_event_type type, const void *element)
{
    struct ibv_async_event event;
    EXPECT(ibv_get_async_event(context, &event) == 0);
    printf("%s\n", ibv_event_type_str(event.event_type));
    EXPECT(event.event_type == type);
    EXPECT(element == NULL || (const void *)event.element.qp == element);
    ibv_ack_async_event(&event);
}

// Expects that no event comes within 1 ms.
static void expect_none(int descriptor)
{
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    EXPECT(poll(&ready, 1, 1) == 0);
}

static struct ibv_cq *make_cq(struct ibv_comp_channel *channel, int entries)
{
    struct ibv_cq *cq = ibv_create_cq(context, entries, NULL, channel, 0);
    EXPECT(cq != NULL);
    return cq;
}

// A WRITE with a wrong key: the responder's queue pair fails, and only the event says so.
static void refuse_access(void)
{
    struct ibv_cq *cq = make_cq(NULL, 16);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    pair_end_t peer = pair_connect(qp, mr);
    if (serves) {
        expect_event(IBV_EVENT_QP_ACCESS_ERR, qp);
    } else {
        peer.rkey ^= 0xff;
        EXPECT(pair_post(qp, IBV_WR_RDMA_WRITE, mr, 0, 8, &peer, 0) == 0);
        EXPECT(pair_complete(cq).status == IBV_WC_REM_ACCESS_ERR);
        expect_none(context->async_fd); // the requester has its completion
    }
    meet();
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    EXPECT(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_ERR);
    EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0);
}

// A queue pair that sends may take the right to write away from its peer.
static void withdraw_access(void)
{
    struct ibv_cq *cq = make_cq(NULL, 16);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    pair_end_t peer = pair_connect(qp, mr);
    if (serves) {
        struct ibv_qp_attr attr = {.qp_access_flags = IBV_ACCESS_REMOTE_READ};
        EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_ACCESS_FLAGS) == 0);
        meet();
        expect_event(IBV_EVENT_QP_ACCESS_ERR, qp);
    } else {
        meet();
        EXPECT(pair_post(qp, IBV_WR_RDMA_READ, mr, 0, 8, &peer, 0) == 0);
        EXPECT(pair_complete(cq).status == IBV_WC_SUCCESS);
        EXPECT(pair_post(qp, IBV_WR_RDMA_WRITE, mr, 0, 8, &peer, 0) == 0);
        EXPECT(pair_complete(cq).status == IBV_WC_REM_ACCESS_ERR);
    }
    meet();
    EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0);
}

// A message that is longer than its receive: the receive's completion says so, and no event.
static void overrun_receive(void)
{
    struct ibv_cq *cq = make_cq(NULL, 16);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    if (serves) {
        struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
        EXPECT(ibv_modify_qp(qp, &attr,
                             IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                                 IBV_QP_ACCESS_FLAGS) == 0);
        pair_receive(qp, NULL, mr, 0, 8);
        attr.qp_state = IBV_QPS_RESET;
        EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0); // which drops the receive
    }
    pair_end_t peer = pair_connect(qp, mr);
    if (serves) {
        pair_receive(qp, NULL, mr, 0, 8);
        meet();
        EXPECT(pair_complete(cq).status == IBV_WC_LOC_LEN_ERR);
        expect_none(context->async_fd);
    } else {
        meet();
        EXPECT(pair_post(qp, IBV_WR_SEND, mr, 0, 9, &peer, 0) == 0);
        EXPECT(pair_complete(cq).status == IBV_WC_REM_INV_REQ_ERR);
    }
    meet();
    EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0);
}

// The limit of a shared receive queue, and the last receive of a queue pair that fails.
static void share_receives(void)
{
    struct ibv_cq *cq = make_cq(NULL, 16);
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(pd, &init);
    EXPECT(srq != NULL);
    for (int i = 0; i < 4; i++) {
        pair_receive(NULL, srq, mr, 0, 64);
    }
    struct ibv_srq_attr limit = {.srq_limit = 3};
    EXPECT(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT) == 0);
    EXPECT(ibv_query_srq(srq, &limit) == 0 && limit.srq_limit == 3);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, srq);
    pair_end_t peer = pair_connect(qp, mr);
    if (serves) {
        expect_event(IBV_EVENT_SRQ_LIMIT_REACHED, srq);
        EXPECT(ibv_query_srq(srq, &limit) == 0 && limit.srq_limit == 0); // it disarms itself
        meet();
        struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
        EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
        expect_event(IBV_EVENT_QP_LAST_WQE_REACHED, qp);
    } else {
        for (int i = 0; i < 2; i++) {
            EXPECT(pair_post(qp, IBV_WR_SEND, mr, 0, 64, &peer, 0) == 0);
            EXPECT(pair_complete(cq).status == IBV_WC_SUCCESS);
        }
        meet();
    }
    meet();
    EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_srq(srq) == 0 && ibv_destroy_cq(cq) == 0);
}

// A completion queue that overflows: it and its queue pair fail.
static void overflow(void)
{
    struct ibv_cq *cq = make_cq(NULL, 4);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    pair_end_t peer = pair_connect(qp, mr);
    if (!serves) {
        for (int i = 0; i < 12; i++) {
            EXPECT(pair_post(qp, IBV_WR_RDMA_WRITE, mr, 0, 8, &peer, 0) == 0);
        }
        expect_event(IBV_EVENT_CQ_ERR, cq);
        expect_event(IBV_EVENT_QP_FATAL, qp);
    }
    meet();
    EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0);
}

// A queue that is armed for solicited completions rings for the third message only.
static void solicit(void)
{
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    EXPECT(channel != NULL);
    struct ibv_cq *cq = make_cq(channel, 16);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    pair_end_t peer = pair_connect(qp, mr);
    if (serves) {
        for (int i = 0; i < 4; i++) {
            pair_receive(qp, NULL, mr, 0, 64);
        }
        EXPECT(ibv_req_notify_cq(cq, 1) == 0);
        meet();
        meet(); // two messages have come
        expect_none(channel->fd);
        meet();
        struct ibv_cq *which = NULL;
        void *cookie = NULL;
        EXPECT(ibv_get_cq_event(channel, &which, &cookie) == 0 && which == cq);
        for (int i = 0; i < 3; i++) {
            EXPECT(pair_complete(cq).status == IBV_WC_SUCCESS);
        }
        // Armed for any completion, which a later call for solicited ones does not restrict. The
        // event comes although the program polls the completion itself.
        EXPECT(ibv_req_notify_cq(cq, 0) == 0 && ibv_req_notify_cq(cq, 1) == 0);
        meet();
        EXPECT(pair_complete(cq).status == IBV_WC_SUCCESS);
        EXPECT(ibv_get_cq_event(channel, &which, &cookie) == 0);
        ibv_ack_cq_events(cq, 2);
    } else {
        meet();
        for (int i = 0; i < 4; i++) {
            EXPECT(pair_post(qp, IBV_WR_SEND, mr, 0, 64, &peer, i == 2 ? IBV_SEND_SOLICITED : 0) ==
                   0);
            EXPECT(pair_complete(cq).status == IBV_WC_SUCCESS);
            if (i == 1) {
                meet();
            }
            if (i == 1 || i == 2) {
                meet();
            }
        }
    }
    meet();
    EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 &&
           ibv_destroy_comp_channel(channel) == 0);
}

int main(int argc, char **argv)
{
    serves = argc == 1;
    pair_begin(argc, argv);
    char *bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mr = ibv_reg_mr(pd, bytes, BYTES,
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    EXPECT(mr != NULL);
    refuse_access();
    withdraw_access();
    overrun_receive();
    share_receives();
    overflow();
    solicit();
    expect_none(context->async_fd);
    EXPECT(ibv_dereg_mr(mr) == 0 && ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
    printf("ok\n");
    return 0;
}
