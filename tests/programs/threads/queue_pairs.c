// SPDX-License-Identifier: Apache-2.0
// tests/programs/threads/queue_pairs.c - threads with queue pairs of their own, for
// test_program_threads.sh.
//
// Usage: queue_pairs [SERVER]. Each thread of the client writes into memory of the server and polls
// its own completion queue; the last two share one. Last, each sends a message. The server takes
// the messages in one thread, which sleeps in epoll_wait() on a completion channel and an eventfd
// that says when to stop.
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define WRITES 40
#define BYTES 16384

typedef struct peer {
    uint32_t qpn;
    uint32_t rkey;
    uint64_t address;
    union ibv_gid gid;
} peer_t;

typedef struct link {
    long number;
    int socket;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    peer_t peer;
    char *memory;
} link_t;

static struct ibv_context *device;
static struct ibv_pd *pd;
static union ibv_gid gid;
static link_t links[THREADS];
static atomic_int messages;
static int stop_event;

static void check(int good, const char *what)
{
    if (!good) {
        printf("wrong: %s\n", what);
        exit(1);
    }
}

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)(time.tv_sec - 3600) * 1e6 + (double)time.tv_nsec / 1e3;
}

static void open_device(void)
{
    int count;
    struct ibv_device **list = ibv_get_device_list(&count);
    check(list != NULL && count > 0, "a device");
    device = ibv_open_device(list[0]);
    pd = ibv_alloc_pd(device);
    ibv_query_gid(device, 1, 0, &gid);
}

static void make(link_t *link, struct ibv_cq *cq)
{
    link->cq = cq;
    link->memory = aligned_alloc(4096, BYTES);
    memset(link->memory, 0, BYTES);
    link->mr =
        ibv_reg_mr(pd, link->memory, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    link->qp = ibv_create_qp(pd, &init);
    check(link->mr != NULL && link->qp != NULL, "a region and a queue pair");
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    check(ibv_modify_qp(link->qp, &attr,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
          "INIT");
    const peer_t own = {link->qp->qp_num, link->mr->rkey, (uintptr_t)link->memory, gid};
    check(write(link->socket, &own, sizeof own) == sizeof own, "write");
    check(recv(link->socket, &link->peer, sizeof own, MSG_WAITALL) == sizeof own, "recv");
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                                .path_mtu = IBV_MTU_1024,
                                .dest_qp_num = link->peer.qpn,
                                .max_dest_rd_atomic = 1,
                                .min_rnr_timer = 12,
                                .ah_attr = {.is_global = 1,
                                            .port_num = 1,
                                            .grh = {.dgid = link->peer.gid, .hop_limit = 64}}};
    check(ibv_modify_qp(link->qp, &attr,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
          "RTR");
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                .timeout = 14,
                                .retry_cnt = 7,
                                .rnr_retry = 7,
                                .max_rd_atomic = 1};
    check(ibv_modify_qp(link->qp, &attr,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                            IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
          "RTS");
}

static void post(link_t *link, enum ibv_wr_opcode opcode)
{
    struct ibv_sge place = {(uintptr_t)link->memory, BYTES, link->mr->lkey};
    struct ibv_send_wr wr = {.wr_id = (uint64_t)link->number,
                             .sg_list = &place,
                             .num_sge = 1,
                             .opcode = opcode,
                             .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr *bad;
    wr.wr.rdma.remote_addr = link->peer.address;
    wr.wr.rdma.rkey = link->peer.rkey;
    check(ibv_post_send(link->qp, &wr, &bad) == 0, "ibv_post_send");
}

static void post_receive(link_t *link)
{
    struct ibv_sge place = {(uintptr_t)link->memory, BYTES, link->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = (uint64_t)link->number, .sg_list = &place, .num_sge = 1};
    struct ibv_recv_wr *bad;
    check(ibv_post_recv(link->qp, &wr, &bad) == 0, "ibv_post_recv");
}

// -- the client: the last two threads share a completion queue, and count what comes for each

static atomic_int completed[THREADS];

static void complete(link_t *link)
{
    const int before = completed[link->number];
    struct ibv_wc wc;
    while (completed[link->number] == before) {
        if (ibv_poll_cq(link->cq, 1, &wc) == 1) {
            check(wc.status == IBV_WC_SUCCESS, "a completion");
            completed[wc.wr_id]++;
        }
    }
}

static void *write_all(void *of)
{
    link_t *link = of;
    for (int i = 0; i < WRITES; i++) {
        memset(link->memory, i + 1, BYTES);
        post(link, IBV_WR_RDMA_WRITE);
        complete(link);
    }
    post(link, IBV_WR_SEND);
    complete(link);
    printf("thread %ld ends at %.3f us\n", link->number, now_us());
    return NULL;
}

static int client(const char *server)
{
    struct addrinfo *address;
    pthread_t threads[THREADS];
    struct ibv_cq *shared = ibv_create_cq(device, 64, NULL, NULL, 0);
    check(getaddrinfo(server, "7000", NULL, &address) == 0, "the server's name");
    for (long i = 0; i < THREADS; i++) {
        links[i] = (link_t){.number = i, .socket = socket(address->ai_family, SOCK_STREAM, 0)};
        check(connect(links[i].socket, address->ai_addr, address->ai_addrlen) == 0, "connect");
        make(&links[i], i < THREADS - 2 ? ibv_create_cq(device, 64, NULL, NULL, 0) : shared);
    }
    char byte;
    for (long i = 0; i < THREADS; i++) {
        check(read(links[i].socket, &byte, 1) == 1, "the server is ready");
    }
    for (long i = 0; i < THREADS; i++) {
        check(pthread_create(&threads[i], NULL, write_all, &links[i]) == 0, "pthread_create");
    }
    for (long i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}

// -- the server

static void *take_messages(void *of)
{
    struct ibv_comp_channel *channel = of;
    const int epoll = epoll_create1(0);
    struct epoll_event wishes[] = {{.events = EPOLLIN, .data.fd = channel->fd},
                                   {.events = EPOLLIN, .data.fd = stop_event}};
    epoll_ctl(epoll, EPOLL_CTL_ADD, channel->fd, &wishes[0]);
    epoll_ctl(epoll, EPOLL_CTL_ADD, stop_event, &wishes[1]);
    for (;;) {
        struct epoll_event found;
        check(epoll_wait(epoll, &found, 1, -1) == 1, "epoll_wait");
        if (found.data.fd == stop_event) {
            printf("stops at %.3f us\n", now_us());
            return NULL;
        }
        struct ibv_cq *cq;
        void *context;
        struct ibv_wc wc;
        check(ibv_get_cq_event(channel, &cq, &context) == 0, "ibv_get_cq_event");
        ibv_ack_cq_events(cq, 1);
        ibv_req_notify_cq(cq, 0);
        while (ibv_poll_cq(cq, 1, &wc) == 1) {
            check(wc.status == IBV_WC_SUCCESS && links[wc.wr_id].memory[BYTES - 1] == WRITES,
                  "the bytes of a message");
            printf("message of %lu at %.3f us\n", (unsigned long)wc.wr_id, now_us());
            messages++;
        }
    }
}

static int serve(void)
{
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(7000)};
    pthread_t thread;
    struct ibv_comp_channel *channel = ibv_create_comp_channel(device);
    struct ibv_cq *cq = ibv_create_cq(device, 64, NULL, channel, 0);
    ibv_req_notify_cq(cq, 0);
    stop_event = eventfd(0, 0);
    check(bind(listener, (const struct sockaddr *)&any, sizeof any) == 0, "bind");
    check(listen(listener, THREADS) == 0, "listen");
    check(pthread_create(&thread, NULL, take_messages, channel) == 0, "pthread_create");
    for (long i = 0; i < THREADS; i++) {
        links[i] = (link_t){.number = i, .socket = accept(listener, NULL, NULL)};
        make(&links[i], cq);
        post_receive(&links[i]);
    }
    for (long i = 0; i < THREADS; i++) {
        check(write(links[i].socket, "r", 1) == 1, "write");
    }
    while (messages < THREADS) { // a loop on memory that another thread changes
    }
    usleep(100);
    eventfd_write(stop_event, 1);
    pthread_join(thread, NULL);
    return 0;
}

int main(int count, char **words)
{
    open_device();
    return count > 1 ? client(words[1]) : serve();
}
