// SPDX-License-Identifier: Apache-2.0
// tests/programs/pair.h - two programs with a socket and queue pairs between them.
//
// Each function ends the program with a message if something fails. The program without an
// argument is the server, the other one gets the server's name. Every file that includes this is
// a program of its own.
#ifndef TESTS_PROGRAMS_PAIR_H
#define TESTS_PROGRAMS_PAIR_H

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define EXPECT(condition)                                                                     \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

// An end sends this struct about a queue pair and its memory.
typedef struct pair_end {
    union ibv_gid gid;
    uint32_t qp_num;
    uint32_t rkey;
    uint64_t address;
} pair_end_t;

static struct ibv_context *context;
static struct ibv_pd *pd;
static int line;

static void tell(const void *bytes, size_t count)
{
    EXPECT(write(line, bytes, count) == (ssize_t)count);
}

static void hear(void *bytes, size_t count)
{
    EXPECT(recv(line, bytes, count, MSG_WAITALL) == (ssize_t)count);
}

// Waits until the other program is here, too.
static inline void meet(void)
{
    char byte = 'm';
    tell(&byte, 1);
    hear(&byte, 1);
}

static void pair_join(const char *server)
{
    const int end = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(end >= 0);
    if (server != NULL) {
        struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
        struct addrinfo *found = NULL;
        EXPECT(getaddrinfo(server, "7000", &hints, &found) == 0);
        EXPECT(connect(end, found->ai_addr, found->ai_addrlen) == 0);
        freeaddrinfo(found);
        line = end;
        return;
    }
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(7000)};
    EXPECT(bind(end, (struct sockaddr *)&any, sizeof any) == 0 && listen(end, 1) == 0);
    line = accept(end, NULL, NULL);
    EXPECT(line >= 0);
    close(end);
}

// Opens the device and joins the two programs.
static void pair_begin(int argc, char **argv)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    EXPECT(list != NULL && list[0] != NULL);
    context = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    EXPECT(context != NULL);
    pd = ibv_alloc_pd(context);
    EXPECT(pd != NULL);
    pair_join(argc > 1 ? argv[1] : NULL);
}

static inline struct ibv_qp *pair_create(enum ibv_qp_type type, struct ibv_cq *cq,
                                         struct ibv_srq *srq)
{
    struct ibv_qp_init_attr attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .srq = srq,
        .cap = {.max_send_wr = 16,
                .max_recv_wr = 16,
                .max_send_sge = 2,
                .max_recv_sge = 2,
                .max_inline_data = 64},
        .qp_type = type,
    };
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);
    EXPECT(qp != NULL);
    return qp;
}

// Brings an RC queue pair to RTR, with a peer that does the same. mr may be NULL.
static inline pair_end_t pair_to_rtr(struct ibv_qp *qp, const struct ibv_mr *mr)
{
    pair_end_t own = {.qp_num = qp->qp_num,
                      .rkey = mr == NULL ? 0 : mr->rkey,
                      .address = mr == NULL ? 0 : (uintptr_t)mr->addr};
    pair_end_t peer;
    EXPECT(ibv_query_gid(context, 1, 0, &own.gid) == 0);
    tell(&own, sizeof own);
    hear(&peer, sizeof peer);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                                  IBV_ACCESS_REMOTE_ATOMIC};
    EXPECT(ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
           0);
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = peer.qp_num,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = peer.gid, .hop_limit = 64}}};
    EXPECT(ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) ==
           0);
    return peer;
}

static inline void pair_to_rts(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
                               .timeout = 8,
                               .retry_cnt = 2,
                               .rnr_retry = 1,
                               .max_rd_atomic = 1};
    EXPECT(ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

// Brings an RC queue pair to RTS, with a peer that does the same. mr may be NULL.
static inline pair_end_t pair_connect(struct ibv_qp *qp, const struct ibv_mr *mr)
{
    const pair_end_t peer = pair_to_rtr(qp, mr);
    pair_to_rts(qp);
    meet();
    return peer;
}

// Posts a signaled request about one place.
static inline int pair_post(struct ibv_qp *qp, enum ibv_wr_opcode opcode, const struct ibv_mr *mr,
                            size_t offset, uint32_t length, const pair_end_t *peer, unsigned flags)
{
    struct ibv_sge sge = {.addr = (uintptr_t)mr->addr + offset, .length = length, .lkey = mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 77,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = opcode,
                             .send_flags = IBV_SEND_SIGNALED | flags};
    wr.wr.rdma.remote_addr = peer->address;
    wr.wr.rdma.rkey = peer->rkey;
    struct ibv_send_wr *bad = NULL;
    return ibv_post_send(qp, &wr, &bad);
}

static inline void pair_receive(struct ibv_qp *qp, struct ibv_srq *srq, const struct ibv_mr *mr,
                                size_t offset, uint32_t length)
{
    struct ibv_sge sge = {.addr = (uintptr_t)mr->addr + offset, .length = length, .lkey = mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = 33, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad = NULL;
    EXPECT((srq != NULL ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad)) == 0);
}

// Polls until a completion comes.
static inline struct ibv_wc pair_complete(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    int count = 0;
    while ((count = ibv_poll_cq(cq, 1, &wc)) == 0) {
    }
    EXPECT(count == 1);
    return wc;
}

#endif // TESTS_PROGRAMS_PAIR_H
