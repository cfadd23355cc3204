// SPDX-License-Identifier: Apache-2.0
// examples/failover.c - a client writes records into a server's memory and, when its path fails,
// moves its queue pair to the next port. Both machines have two ports in two networks.
//
//     cc -o failover examples/failover.c -libverbs
//     failover                      on the server
//     failover SERVER [RECORDS]     on the client; both exit with status 0
//
// A queue pair has one port for its life, so moving means a new one: the client makes it on the
// other device, exchanges its number over TCP, and posts again what has no completion. Records
// carry their number, so that the server sees each at its place, whichever attempt brought it.
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PORT "18516"
#define RECORD_BYTES 4096u
#define RECORDS_MAX 4096u
#define IN_FLIGHT 16u
#define DEVICES_MAX 8

// Numbers that each side sends about a queue pair. A client that has no more to write says 0.
typedef struct side {
    uint32_t device; // number among the devices of its machine
    uint32_t qp_num;
    uint64_t address;
    uint32_t rkey;
    union ibv_gid gid;
} side_t;

// A path: a device with all that belongs to it.
typedef struct path {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *cq;
    struct ibv_qp *qp; // NULL: none is connected
} path_t;

static uint8_t records[RECORDS_MAX][RECORD_BYTES];

static void need(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

// Returns the time since the first call.
static double now_ms(void)
{
    static struct timespec begin;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    if (begin.tv_sec == 0) {
        begin = time;
    }
    return (double)(time.tv_sec - begin.tv_sec) * 1e3 +
           (double)(time.tv_nsec - begin.tv_nsec) / 1e6;
}

static int meet(const char *server)
{
    const struct addrinfo hints = {.ai_family = AF_INET,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = server ? 0 : AI_PASSIVE};
    struct addrinfo *found = NULL;
    need(getaddrinfo(server, PORT, &hints, &found) == 0, "getaddrinfo");
    const int made = socket(found->ai_family, found->ai_socktype, 0);
    int connection = made;
    need(made >= 0, "socket");
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

static void open_path(path_t *path, struct ibv_device *device)
{
    path->context = ibv_open_device(device);
    need(path->context != NULL, "open");
    path->pd = ibv_alloc_pd(path->context);
    path->mr = ibv_reg_mr(path->pd, records, sizeof(records),
                          IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    path->cq = ibv_create_cq(path->context, 2 * IN_FLIGHT, NULL, NULL, 0);
    need(path->mr != NULL && path->cq != NULL, "memory");
}

static side_t make_queue_pair(path_t *path, uint32_t device)
{
    struct ibv_qp_init_attr init = {
        .send_cq = path->cq,
        .recv_cq = path->cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = IN_FLIGHT, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    path->qp = ibv_create_qp(path->pd, &init);
    need(path->qp != NULL, "queue pair");
    need(ibv_modify_qp(path->qp, &attr,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
         "to INIT");
    side_t own = {.device = device,
                  .qp_num = path->qp->qp_num,
                  .address = (uintptr_t)records,
                  .rkey = path->mr->rkey};
    need(ibv_query_gid(path->context, 1, 0, &own.gid) == 0, "GID");
    return own;
}

// A timeout of 67 us, 3 retries: a path that is gone is known after half a millisecond.
static void join_queue_pair(struct ibv_qp *qp, const side_t *peer)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = peer->qp_num,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = peer->gid, .hop_limit = 64}},
    };
    need(ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
         "to RTR");
    attr =
        (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 4, .retry_cnt = 3, .rnr_retry = 7};
    need(ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
         "to RTS");
}

static void give(int connection, const side_t *side)
{
    need(write(connection, side, sizeof(*side)) == sizeof(*side), "the peer is gone");
}

static int take(int connection, side_t *side)
{
    size_t got = 0;
    while (got < sizeof(*side)) {
        const ssize_t more = read(connection, (char *)side + got, sizeof(*side) - got);
        if (more <= 0) {
            return 0;
        }
        got += (size_t)more;
    }
    return 1;
}

// -- the client

typedef struct client {
    path_t *paths;
    uint32_t path_count;
    uint32_t at; // number of the path in use
    int connection;
    side_t peer;
    uint32_t posted;
    uint32_t done; // all before are in the server's memory
} client_t;

static int is_up(const path_t *path)
{
    struct ibv_port_attr port;
    return ibv_query_port(path->context, 1, &port) == 0 && port.state == IBV_PORT_ACTIVE;
}

// Connects a queue pair of the next path whose port is up.
static void move(client_t *client)
{
    path_t *const old = &client->paths[client->at];
    if (old->qp != NULL) {
        struct ibv_wc wc;
        need(ibv_destroy_qp(old->qp) == 0, "destroy");
        old->qp = NULL;
        while (ibv_poll_cq(old->cq, 1, &wc) > 0) {
        }
    }
    uint32_t tries = 0;
    do {
        client->at = (client->at + 1) % client->path_count;
        if (tries++ >= client->path_count) {
            usleep(1000); // all ports are down: one may come back
        }
    } while (!is_up(&client->paths[client->at]));
    const side_t own = make_queue_pair(&client->paths[client->at], client->at);
    give(client->connection, &own);
    need(take(client->connection, &client->peer), "the server is gone");
    join_queue_pair(client->paths[client->at].qp, &client->peer);
    client->posted = client->done; // again from the first record without a completion
    printf("%.3f ms: on device %u from record %u on\n", now_ms(), client->at, client->done);
}

static void post(client_t *client)
{
    const path_t *const path = &client->paths[client->at];
    uint8_t *const record = records[client->posted];
    memset(record, (int)(client->posted * 7 + 1), RECORD_BYTES);
    struct ibv_sge sge = {(uintptr_t)record, RECORD_BYTES, path->mr->lkey};
    struct ibv_send_wr *bad;
    struct ibv_send_wr wr = {
        .wr_id = client->posted,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE,
        .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = {client->peer.address + (uint64_t)client->posted * RECORD_BYTES,
                    client->peer.rkey}};
    need(ibv_post_send(path->qp, &wr, &bad) == 0, "post");
    client->posted++;
}

static void run_client(client_t *client, uint32_t count)
{
    client->at = client->path_count - 1;
    move(client);
    while (client->done < count) {
        while (client->posted < count && client->posted - client->done < IN_FLIGHT) {
            post(client);
        }
        struct ibv_wc wc;
        const int got = ibv_poll_cq(client->paths[client->at].cq, 1, &wc);
        need(got >= 0, "poll");
        if (got > 0 && wc.status == IBV_WC_SUCCESS) {
            client->done++;
        } else if (got > 0) {
            printf("%.3f ms: record %u: %s\n", now_ms(), client->done,
                   ibv_wc_status_str(wc.status));
            move(client);
        }
    }
    const side_t end = {.qp_num = 0};
    give(client->connection, &end);
    printf("%.3f ms: %u records written\n", now_ms(), count);
}

// -- the server

static void run_server(path_t *paths, uint32_t path_count, int connection)
{
    side_t peer;
    need(take(connection, &peer), "no client");
    while (peer.qp_num != 0) {
        need(peer.device < path_count, "device of the client");
        path_t *const path = &paths[peer.device];
        if (path->qp != NULL) {
            need(ibv_destroy_qp(path->qp) == 0, "destroy");
        }
        const side_t own = make_queue_pair(path, peer.device);
        join_queue_pair(path->qp, &peer);
        give(connection, &own);
        need(take(connection, &peer), "the client is gone");
    }
    uint32_t good = 0;
    while (good < RECORDS_MAX && records[good][0] == (uint8_t)(good * 7 + 1) &&
           memcmp(records[good], records[good] + 1, RECORD_BYTES - 1) == 0) {
        good++;
    }
    printf("%u records arrived\n", good);
}

int main(int argc, char **argv)
{
    static path_t paths[DEVICES_MAX];
    int count = 0;
    struct ibv_device **const devices = ibv_get_device_list(&count);
    need(devices != NULL && count > 0, "no verbs device");
    count = count < DEVICES_MAX ? count : DEVICES_MAX;
    setvbuf(stdout, NULL, _IOLBF, 0);
    (void)now_ms();
    for (int i = 0; i < count; i++) {
        open_path(&paths[i], devices[i]);
    }
    const int connection = meet(argc > 1 ? argv[1] : NULL);
    if (argc > 1) {
        const long wish = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
        client_t client = {.paths = paths, .path_count = (uint32_t)count, .connection = connection};
        need(wish > 0 && wish <= (long)RECORDS_MAX, "number of records");
        run_client(&client, (uint32_t)wish);
    } else {
        run_server(paths, (uint32_t)count, connection);
    }
    (void)close(connection);
    return 0;
}
