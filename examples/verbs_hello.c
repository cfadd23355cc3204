// SPDX-License-Identifier: Apache-2.0
// examples/verbs_hello.c - a program with plain libibverbs: the client writes a text into the
// memory of the server. It runs on real cards and on simulated hosts (docs/programs.md):
//
//     cc -o verbs_hello examples/verbs_hello.c -libverbs
//     verbs_hello            on the server
//     verbs_hello SERVER     on the client; both exit with status 0
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT "18515"
#define BYTES 64u

// The data that each side has to know of the other.
typedef struct side {
    uint64_t address;
    uint32_t rkey;
    uint32_t qp_num;
    union ibv_gid gid;
} side_t;

static void need(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

// Returns a connection to the server, or one from a client if server is NULL.
static int meet(const char *server)
{
    const struct addrinfo hints = {.ai_family = AF_INET,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = server ? 0 : AI_PASSIVE};
    struct addrinfo *found = NULL;
    need(getaddrinfo(server, PORT, &hints, &found) == 0, "getaddrinfo");
    const int made = socket(found->ai_family, found->ai_socktype, 0);
    need(made >= 0, "socket");
    int connection = made;
    if (server != NULL) {
        need(connect(made, found->ai_addr, found->ai_addrlen) == 0, "connect");
    } else {
        const int on = 1;
        (void)setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        need(bind(made, found->ai_addr, found->ai_addrlen) == 0, "bind");
        need(listen(made, 1) == 0, "listen");
        connection = accept(made, NULL, NULL);
        need(connection >= 0, "accept");
    }
    freeaddrinfo(found);
    return connection;
}

static void join(struct ibv_qp *qp, const side_t *peer)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    const int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    need(ibv_modify_qp(qp, &attr, init) == 0, "to INIT");
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = peer->qp_num,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = peer->gid, .hop_limit = 64}},
    };
    const int rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    need(ibv_modify_qp(qp, &attr, rtr) == 0, "to RTR");
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                .timeout = 14,
                                .retry_cnt = 7,
                                .rnr_retry = 7,
                                .max_rd_atomic = 1};
    const int rts = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
    need(ibv_modify_qp(qp, &attr, rts) == 0, "to RTS");
}

static struct ibv_wc wait_for(struct ibv_cq *cq)
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

int main(int argc, char **argv)
{
    static char text[BYTES];
    struct ibv_device **const devices = ibv_get_device_list(NULL);
    need(devices != NULL && devices[0] != NULL, "no verbs device");
    struct ibv_context *const context = ibv_open_device(devices[0]);
    need(context != NULL, "open");
    struct ibv_pd *const pd = ibv_alloc_pd(context);
    struct ibv_mr *const mr =
        ibv_reg_mr(pd, text, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_cq *const cq = ibv_create_cq(context, 4, NULL, NULL, 0);
    struct ibv_qp_init_attr init = {.send_cq = cq,
                                    .recv_cq = cq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {1, 1, 1, 1, 0}};
    struct ibv_qp *const qp = ibv_create_qp(pd, &init);
    need(mr != NULL && qp != NULL, "queue pair");
    struct ibv_recv_wr *bad_recv;
    struct ibv_recv_wr recv = {.wr_id = 1};
    side_t own = {.address = (uintptr_t)text, .rkey = mr->rkey, .qp_num = qp->qp_num};
    need(ibv_query_gid(context, 1, 0, &own.gid) == 0, "GID");

    const int connection = meet(argc > 1 ? argv[1] : NULL);
    side_t peer;
    need(write(connection, &own, sizeof(own)) == sizeof(own), "write");
    need(read(connection, &peer, sizeof(peer)) == sizeof(peer), "read");
    join(qp, &peer);
    char ready = 'r';
    if (argc > 1) {
        need(read(connection, &ready, 1) == 1, "read"); // the server has posted its receive
        (void)snprintf(text, sizeof(text), "hello over RDMA");
        struct ibv_sge sge = {(uintptr_t)text, BYTES, mr->lkey};
        struct ibv_send_wr *bad;
        struct ibv_send_wr wr = {.sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                                 .send_flags = IBV_SEND_SIGNALED,
                                 .imm_data = htonl(7),
                                 .wr.rdma = {peer.address, peer.rkey}};
        need(ibv_post_send(qp, &wr, &bad) == 0, "post");
        (void)wait_for(cq);
        printf("written\n");
    } else {
        need(ibv_post_recv(qp, &recv, &bad_recv) == 0, "post");
        need(write(connection, &ready, 1) == 1, "write");
        const struct ibv_wc wc = wait_for(cq);
        printf("%s, immediate %u\n", text, ntohl(wc.imm_data));
    }
    (void)close(connection);
    need(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0 &&
             ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0,
         "release");
    ibv_free_device_list(devices);
    return 0;
}
