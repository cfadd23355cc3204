// SPDX-License-Identifier: Apache-2.0
// docs/labs/lab.h - what the programs of all exercises begin with: a device, memory, and queue
// pairs that are connected by TCP. It is plain libibverbs; the exercises are about what comes then.
#ifndef DOCS_LABS_LAB_H
#define DOCS_LABS_LAB_H

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LAB_PORT "18517"
#define LAB_DEPTH 512

// The first device of the machine, and registered memory.
typedef struct lab_device {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *cq;
} lab_device_t;

// Numbers that a side sends about itself.
typedef struct lab_side {
    uint64_t address; // of its registered memory
    uint32_t rkey;
    uint32_t qp_num;
    union ibv_gid gid;
} lab_side_t;

// A queue pair that is connected, and a TCP connection to the same peer.
typedef struct lab_peer {
    struct ibv_qp *qp;
    struct ibv_ah *ah; // datagrams only
    lab_side_t side;   // of the peer
    int connection;
} lab_peer_t;

static inline void lab_need(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

static inline double lab_now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static inline lab_device_t lab_open(void *memory, size_t bytes)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);
    lab_device_t device = {0};
    lab_need(devices != NULL && devices[0] != NULL, "no verbs device");
    device.context = ibv_open_device(devices[0]);
    lab_need(device.context != NULL, "open");
    device.pd = ibv_alloc_pd(device.context);
    device.mr = ibv_reg_mr(device.pd, memory, bytes,
                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                               IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
    device.cq = ibv_create_cq(device.context, 2 * LAB_DEPTH, NULL, NULL, 0);
    lab_need(device.mr != NULL && device.cq != NULL, "memory");
    return device;
}

// Returns a socket to a server, or one that listens if server is NULL.
static inline int lab_socket(const char *server)
{
    const struct addrinfo hints = {.ai_family = AF_INET,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = server != NULL ? 0 : AI_PASSIVE};
    struct addrinfo *found = NULL;
    const int on = 1;
    lab_need(getaddrinfo(server, LAB_PORT, &hints, &found) == 0, "getaddrinfo");
    const int made = socket(found->ai_family, found->ai_socktype, 0);
    lab_need(made >= 0, "socket");
    if (server != NULL) {
        lab_need(connect(made, found->ai_addr, found->ai_addrlen) == 0, "connect");
    } else {
        (void)setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        lab_need(bind(made, found->ai_addr, found->ai_addrlen) == 0, "bind");
        lab_need(listen(made, 64) == 0, "listen");
    }
    freeaddrinfo(found);
    return made;
}

static inline void lab_to_init(struct ibv_qp *qp)
{
    const int is_ud = qp->qp_type == IBV_QPT_UD;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qkey = 17,
                               .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                                  IBV_ACCESS_REMOTE_ATOMIC};
    lab_need(ibv_modify_qp(qp, &attr,
                           IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                               (is_ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)) == 0,
             "to INIT");
}

static inline void lab_to_rts(struct ibv_qp *qp, const lab_side_t *peer)
{
    const int is_ud = qp->qp_type == IBV_QPT_UD;
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = peer->qp_num,
        .max_dest_rd_atomic = 16,
        .min_rnr_timer = 1,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = peer->gid, .hop_limit = 64}},
    };
    lab_need(ibv_modify_qp(qp, &attr,
                           IBV_QP_STATE | (is_ud ? 0
                                                 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                                       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                                                       IBV_QP_MIN_RNR_TIMER)) == 0,
             "to RTR");
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                .timeout = 8,
                                .retry_cnt = 7,
                                .rnr_retry = 7,
                                .max_rd_atomic = 16};
    lab_need(ibv_modify_qp(qp, &attr,
                           IBV_QP_STATE | IBV_QP_SQ_PSN |
                               (is_ud ? 0
                                      : IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                            IBV_QP_MAX_QP_RD_ATOMIC)) == 0,
             "to RTS");
}

static inline void lab_send_all(int connection, const void *bytes, size_t count)
{
    lab_need(write(connection, bytes, count) == (ssize_t)count, "the peer is gone");
}

static inline void lab_receive_all(int connection, void *bytes, size_t count)
{
    size_t got = 0;
    while (got < count) {
        const ssize_t more = read(connection, (char *)bytes + got, count - got);
        lab_need(more > 0, "the peer is gone");
        got += (size_t)more;
    }
}

// Connects a queue pair over a TCP connection: an RC queue pair, or one for datagrams.
static inline lab_peer_t lab_join(const lab_device_t *device, int connection, enum ibv_qp_type type)
{
    struct ibv_qp_init_attr init = {.send_cq = device->cq,
                                    .recv_cq = device->cq,
                                    .qp_type = type,
                                    .cap = {.max_send_wr = LAB_DEPTH,
                                            .max_recv_wr = LAB_DEPTH,
                                            .max_send_sge = 1,
                                            .max_recv_sge = 1}};
    lab_peer_t peer = {.qp = ibv_create_qp(device->pd, &init), .connection = connection};
    lab_need(peer.qp != NULL, "queue pair");
    lab_to_init(peer.qp);
    lab_side_t own = {.address = (uintptr_t)device->mr->addr,
                      .rkey = device->mr->rkey,
                      .qp_num = peer.qp->qp_num};
    lab_need(ibv_query_gid(device->context, 1, 0, &own.gid) == 0, "GID");
    lab_send_all(connection, &own, sizeof(own));
    lab_receive_all(connection, &peer.side, sizeof(peer.side));
    lab_to_rts(peer.qp, &peer.side);
    if (type == IBV_QPT_UD) {
        struct ibv_ah_attr attr = {.is_global = 1,
                                   .port_num = 1,
                                   .grh = {.dgid = peer.side.gid, .hop_limit = 64}};
        peer.ah = ibv_create_ah(device->pd, &attr);
        lab_need(peer.ah != NULL, "address handle");
    }
    return peer;
}

// Waits until the peer has come to the same call.
static inline void lab_meet(const lab_peer_t *peer)
{
    char byte = 'm';
    lab_send_all(peer->connection, &byte, 1);
    lab_receive_all(peer->connection, &byte, 1);
}

// Returns the next completion. One that failed ends the program.
static inline struct ibv_wc lab_completion(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    while (ibv_poll_cq(cq, 1, &wc) == 0) {
    }
    if (wc.status != IBV_WC_SUCCESS) {
        fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc.status));
        exit(1);
    }
    return wc;
}

#endif // DOCS_LABS_LAB_H
