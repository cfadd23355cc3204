// SPDX-License-Identifier: Apache-2.0
// tests/programs/connections.c - a server and clients on librdmacm, as tutorials write them, for
// test_programs_cm.sh.
//
//     connections serve N         answers N requests of clients, then ends
//     connections die             accepts one client and kills itself
//     connections echo HOST TEXT  sends a text over a connection and gets it back
//     connections refused HOST    asks a server that refuses it
//     connections nobody HOST     asks a port where nobody listens
//     connections lost HOST       waits for the end of a connection with a server that dies
//     connections away HOST       asks a host that does not answer
//     connections ask HOST TEXT   looks up a service for datagrams
//     connections look HOST       checks the calls that need no peer
//     connections listen N        accepts N connections with synchronous calls, and reads memory
//     connections read HOST       lets a server read its memory
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PORT "7000"
#define DATAGRAM_PORT "7001"
#define TIMEOUT_MS 2000
#define TEXT_BYTES 64

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            printf("connections.c:%d: %s (%s)\n", __LINE__, #condition, strerror(errno)); \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

typedef struct connection {
    struct rdma_cm_id *id;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    char received[TEXT_BYTES];
    char sent[TEXT_BYTES];
} connection_t;

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static connection_t *build(struct rdma_cm_id *id)
{
    connection_t *made = calloc(1, sizeof *made);
    made->id = id;
    id->context = made;
    made->cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
    struct ibv_qp_init_attr attr = {
        .send_cq = made->cq,
        .recv_cq = made->cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
    };
    CHECK(rdma_create_qp(id, NULL, &attr) == 0);
    made->mr = ibv_reg_mr(id->pd, made->received, 2 * TEXT_BYTES, IBV_ACCESS_LOCAL_WRITE);
    CHECK(made->mr != NULL);
    CHECK(rdma_post_recv(id, NULL, made->received, TEXT_BYTES, made->mr) == 0);
    return made;
}

static void tear_down(connection_t *connection)
{
    rdma_destroy_qp(connection->id);
    CHECK(ibv_dereg_mr(connection->mr) == 0);
    CHECK(ibv_destroy_cq(connection->cq) == 0);
    CHECK(rdma_destroy_id(connection->id) == 0);
    free(connection);
}

static void say(connection_t *connection, const char *text)
{
    snprintf(connection->sent, TEXT_BYTES, "%s", text);
    CHECK(rdma_post_send(connection->id, NULL, connection->sent, TEXT_BYTES, connection->mr,
                         IBV_SEND_SIGNALED) == 0);
}

static struct ibv_wc next_completion(connection_t *connection)
{
    struct ibv_wc wc;
    int count;
    while ((count = ibv_poll_cq(connection->cq, 1, &wc)) == 0) {
    }
    CHECK(count == 1);
    return wc;
}

static struct rdma_cm_event *expect(struct rdma_event_channel *channel,
                                    enum rdma_cm_event_type wanted)
{
    struct rdma_cm_event *event;
    CHECK(rdma_get_cm_event(channel, &event) == 0);
    if (event->event != wanted) {
        printf("expected %s, not %s, status %d\n", rdma_event_str(wanted),
               rdma_event_str(event->event), event->status);
        exit(1);
    }
    return event;
}

// -- the server: an event loop

static void take_request(struct rdma_cm_event *event)
{
    const char *text = event->param.conn.private_data;
    printf("request \"%s\" of %d bytes, resources %d, depth %d\n", text,
           event->param.conn.private_data_len, event->param.conn.responder_resources,
           event->param.conn.initiator_depth);
    CHECK(event->listen_id != NULL && event->id->verbs != NULL);
    CHECK(rdma_get_peer_addr(event->id)->sa_family == AF_INET);
    if (strcmp(text, "refuse me") == 0) {
        CHECK(rdma_reject(event->id, "not today", 10) == 0);
        CHECK(rdma_ack_cm_event(event) == 0);
        CHECK(rdma_ack_cm_event(NULL) == -1 && errno == EINVAL);
        return;
    }
    build(event->id);
    struct rdma_conn_param param = {
        .private_data = "welcome",
        .private_data_len = 8,
        .responder_resources = 2,
        .initiator_depth = 3,
        .rnr_retry_count = 5,
    };
    CHECK(rdma_accept(event->id, &param) == 0);
    CHECK(rdma_ack_cm_event(event) == 0);
}

static struct rdma_cm_id *listen_on(struct rdma_event_channel *channel, enum rdma_port_space space,
                                    const char *port)
{
    struct rdma_cm_id *listener;
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    CHECK(rdma_create_id(channel, &listener, NULL, space) == 0);
    CHECK(rdma_bind_addr(listener, (struct sockaddr *)&any) == 0);
    CHECK(rdma_listen(listener, 10) == 0);
    return listener;
}

static void answer_lookup(struct rdma_cm_event *event, struct rdma_cm_id **service)
{
    printf("lookup \"%s\"\n", (const char *)event->param.ud.private_data);
    if (strcmp(event->param.ud.private_data, "refuse me") == 0) {
        CHECK(rdma_reject(event->id, NULL, 0) == 0);
        struct rdma_cm_id *id = event->id;
        CHECK(rdma_ack_cm_event(event) == 0);
        CHECK(rdma_destroy_id(id) == 0);
        return;
    }
    struct ibv_cq *cq = ibv_create_cq(event->id->verbs, 4, NULL, NULL, 0);
    struct ibv_qp_init_attr attr = {.send_cq = cq,
                                    .recv_cq = cq,
                                    .qp_type = IBV_QPT_UD,
                                    .cap = {2, 2, 1, 1, 0}};
    CHECK(rdma_create_qp(event->id, NULL, &attr) == 0);
    struct rdma_conn_param param = {.private_data = "here", .private_data_len = 5};
    param.qp_num = event->id->qp->qp_num;
    CHECK(rdma_accept(event->id, &param) == 0);
    *service = event->id;
    CHECK(rdma_ack_cm_event(event) == 0);
}

static int serve(int requests)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *listener = listen_on(channel, RDMA_PS_TCP, PORT);
    struct rdma_cm_id *lookups = listen_on(channel, RDMA_PS_UDP, DATAGRAM_PORT);
    struct rdma_cm_id *service = NULL;
    CHECK(fcntl(channel->fd, F_SETFL, O_NONBLOCK) == 0);
    int established = 0;
    while (requests > 0) {
        struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
        CHECK(poll(&ready, 1, -1) == 1);
        struct rdma_cm_event *event;
        while (rdma_get_cm_event(channel, &event) == 0) {
            struct rdma_cm_id *id = event->id;
            if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST && event->listen_id == lookups) {
                answer_lookup(event, &service);
                requests--;
                continue;
            }
            if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
                const bool refused = strcmp(event->param.conn.private_data, "refuse me") == 0;
                take_request(event);
                if (refused) {
                    CHECK(rdma_destroy_id(id) == 0);
                    requests--;
                }
                continue;
            }
            const enum rdma_cm_event_type what = event->event;
            CHECK(rdma_ack_cm_event(event) == 0);
            connection_t *connection = id->context;
            if (what == RDMA_CM_EVENT_ESTABLISHED) {
                established++;
                CHECK(next_completion(connection).opcode == IBV_WC_RECV);
                printf("heard \"%s\"\n", connection->received);
                say(connection, connection->received);
                // The client may leave before it acknowledges: then this one fails.
                CHECK(next_completion(connection).wr_id == 0);
            } else if (what == RDMA_CM_EVENT_DISCONNECTED) {
                CHECK(rdma_disconnect(id) == 0);
                tear_down(connection);
                requests--;
            }
        }
        CHECK(errno == EAGAIN);
    }
    printf("served %d connections\n", established);
    if (service != NULL) {
        rdma_destroy_qp(service);
        rdma_destroy_id(service);
    }
    CHECK(rdma_destroy_id(listener) == 0);
    CHECK(rdma_destroy_id(lookups) == 0);
    rdma_destroy_event_channel(channel);
    return 0;
}

static int die(void)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    (void)listen_on(channel, RDMA_PS_TCP, PORT);
    take_request(expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST));
    (void)expect(channel, RDMA_CM_EVENT_ESTABLISHED);
    usleep(1000);
    fflush(stdout);
    kill(getpid(), SIGKILL);
    return 0;
}

// -- clients

static struct rdma_cm_id *resolve(struct rdma_event_channel *channel, const char *host,
                                  const char *port, enum rdma_port_space space)
{
    struct rdma_cm_id *id;
    struct rdma_addrinfo hints = {.ai_port_space = (int)space};
    struct rdma_addrinfo *list;
    CHECK(rdma_getaddrinfo(host, port, &hints, &list) == 0);
    CHECK(rdma_create_id(channel, &id, NULL, space) == 0);
    CHECK(rdma_resolve_addr(id, NULL, list->ai_dst_addr, TIMEOUT_MS) == 0);
    rdma_freeaddrinfo(list);
    CHECK(rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED)) == 0);
    CHECK(id->verbs != NULL && rdma_get_dst_port(id) == htons((uint16_t)atoi(port)));
    CHECK(rdma_resolve_route(id, TIMEOUT_MS) == 0);
    CHECK(rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED)) == 0);
    CHECK(id->route.num_paths == 1);
    return id;
}

static connection_t *call(struct rdma_event_channel *channel, const char *host, const char *port,
                          const char *text)
{
    struct rdma_cm_id *id = resolve(channel, host, port, RDMA_PS_TCP);
    connection_t *connection = build(id);
    struct rdma_conn_param param = {
        .private_data = text,
        .private_data_len = (uint8_t)(strlen(text) + 1),
        .responder_resources = 4,
        .initiator_depth = 1,
        .retry_count = 6,
        .rnr_retry_count = 7,
    };
    uint8_t tos = 104;
    CHECK(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof tos) == 0);
    CHECK(rdma_connect(id, &param) == 0);
    return connection;
}

static int echo(const char *host, const char *text)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    connection_t *connection = call(channel, host, PORT, text);
    struct rdma_cm_event *event = expect(channel, RDMA_CM_EVENT_ESTABLISHED);
    CHECK(strcmp(event->param.conn.private_data, "welcome") == 0);
    // The server accepts this: it answers 2 reads at once, and has 3 under way.
    CHECK(event->param.conn.initiator_depth == 2 && event->param.conn.responder_resources == 3);
    CHECK(rdma_ack_cm_event(event) == 0);
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    CHECK(ibv_query_qp(connection->id->qp, &attr, IBV_QP_STATE, &init) == 0);
    CHECK(attr.qp_state == IBV_QPS_RTS && attr.max_rd_atomic == 2 && attr.max_dest_rd_atomic == 3);
    CHECK(attr.retry_cnt == 6 && attr.rnr_retry == 5 && attr.path_mtu == IBV_MTU_4096);
    CHECK(attr.ah_attr.grh.traffic_class == 104);
    say(connection, text);
    CHECK(next_completion(connection).status == IBV_WC_SUCCESS);
    CHECK(next_completion(connection).status == IBV_WC_SUCCESS);
    printf("echo \"%s\"\n", connection->received);
    CHECK(strcmp(connection->received, text) == 0);
    CHECK(rdma_disconnect(connection->id) == 0);
    CHECK(rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_DISCONNECTED)) == 0);
    CHECK(rdma_disconnect(connection->id) == 0); // it has ended already
    tear_down(connection);
    rdma_destroy_event_channel(channel);
    return 0;
}

// Says something, and leaves at once. What was said arrives.
static int hurry(const char *host, const char *text)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    connection_t *connection = call(channel, host, PORT, text);
    CHECK(rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_ESTABLISHED)) == 0);
    say(connection, text);
    CHECK(rdma_disconnect(connection->id) == 0);
    CHECK(rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_DISCONNECTED)) == 0);
    tear_down(connection);
    rdma_destroy_event_channel(channel);
    return 0;
}

static int be_refused(const char *host, const char *port, const char *text)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    connection_t *connection = call(channel, host, port, text);
    struct rdma_cm_event *event = expect(channel, RDMA_CM_EVENT_REJECTED);
    printf("refused, reason %d \"%s\"\n", event->status,
           (const char *)event->param.conn.private_data);
    CHECK(rdma_ack_cm_event(event) == 0);
    struct ibv_wc wc = next_completion(connection); // the queue pair fails
    CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
    tear_down(connection);
    rdma_destroy_event_channel(channel);
    return 0;
}

static int be_left(const char *host)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    connection_t *connection = call(channel, host, PORT, "stay");
    CHECK(rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_ESTABLISHED)) == 0);
    say(connection, "are you there?");
    CHECK(next_completion(connection).status == IBV_WC_SUCCESS);
    CHECK(rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_DISCONNECTED)) == 0);
    say(connection, "are you still there?");
    struct ibv_wc wc = next_completion(connection);
    printf("left: %s\n", ibv_wc_status_str(wc.status));
    CHECK(wc.status == IBV_WC_RETRY_EXC_ERR);
    CHECK(rdma_disconnect(connection->id) == 0);
    CHECK(rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_TIMEWAIT_EXIT)) == 0);
    tear_down(connection);
    return 0;
}

static int find_nobody(const char *host)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    const double begin_s = now_s();
    connection_t *connection = call(channel, host, PORT, "hello?");
    struct rdma_cm_event *event = expect(channel, RDMA_CM_EVENT_UNREACHABLE);
    printf("unreachable, status %d, after %.3f s\n", event->status, now_s() - begin_s);
    CHECK(rdma_ack_cm_event(event) == 0);
    tear_down(connection);
    return 0;
}

static int ask(const char *host, const char *port, const char *text)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *id = resolve(channel, host, port, RDMA_PS_UDP);
    struct rdma_conn_param param = {.private_data = text,
                                    .private_data_len = (uint8_t)(strlen(text) + 1),
                                    .qp_num = 77};
    CHECK(rdma_connect(id, &param) == 0);
    struct rdma_cm_event *event;
    CHECK(rdma_get_cm_event(channel, &event) == 0);
    printf("%s, status %d, \"%s\"\n", rdma_event_str(event->event), event->status,
           (const char *)event->param.ud.private_data);
    if (event->event == RDMA_CM_EVENT_ESTABLISHED) {
        CHECK(event->param.ud.qkey == RDMA_UDP_QKEY && event->param.ud.qp_num > 1);
        CHECK(event->param.ud.ah_attr.is_global == 1 && event->param.ud.ah_attr.port_num == 1);
    }
    CHECK(rdma_ack_cm_event(event) == 0);
    CHECK(rdma_destroy_id(id) == 0);
    return 0;
}

// -- calls that need no peer

static int look(const char *host)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *ids[3];
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(7100)};
    int count = 0;
    struct ibv_context **list = rdma_get_devices(&count);
    CHECK(list != NULL && count == 1 && list[0] != NULL && list[1] == NULL);
    rdma_free_devices(list);
    for (int i = 0; i < 3; i++) {
        CHECK(rdma_create_id(channel, &ids[i], NULL, RDMA_PS_TCP) == 0);
    }
    CHECK(rdma_bind_addr(ids[0], (struct sockaddr *)&name) == 0);
    CHECK(rdma_get_src_port(ids[0]) == htons(7100) && ids[0]->verbs == NULL);
    CHECK(rdma_bind_addr(ids[1], (struct sockaddr *)&name) == -1 && errno == EADDRINUSE);
    name.sin_port = 0;
    name.sin_addr.s_addr = htonl(0x0a0000fe);
    CHECK(rdma_bind_addr(ids[1], (struct sockaddr *)&name) == -1 && errno == EADDRNOTAVAIL);
    name.sin_addr.s_addr = 0;
    CHECK(rdma_bind_addr(ids[1], (struct sockaddr *)&name) == 0);
    CHECK(ntohs(rdma_get_src_port(ids[1])) >= 1024);
    CHECK(rdma_bind_addr(ids[1], (struct sockaddr *)&name) == -1 && errno == EINVAL);
    int yes = 1;
    CHECK(rdma_set_option(ids[2], RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, 4) == 0);
    CHECK(rdma_set_option(ids[2], RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &yes, 4) == -1);
    CHECK(rdma_connect(ids[2], NULL) == -1 && errno == EINVAL);
    CHECK(rdma_accept(ids[2], NULL) == -1 && rdma_disconnect(ids[2]) == -1);
    CHECK(rdma_listen(ids[2], 1) == 0 && rdma_get_src_port(ids[2]) != 0); // any port
    CHECK(rdma_join_multicast(ids[2], (struct sockaddr *)&name, NULL) == -1 && errno == EINVAL);
    struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};
    CHECK(rdma_create_qp(ids[2], NULL, &attr) == -1 && errno == EINVAL); // bound to no device

    // Nobody has the address; another channel gets the event.
    struct rdma_event_channel *other = rdma_create_event_channel();
    name.sin_addr.s_addr = htonl(0x0a0000fe);
    name.sin_port = htons(1);
    CHECK(rdma_resolve_addr(ids[1], NULL, (struct sockaddr *)&name, 10) == 0);
    CHECK(rdma_migrate_id(ids[1], other) == 0);
    struct rdma_cm_event *event = expect(other, RDMA_CM_EVENT_ADDR_ERROR);
    CHECK(event->status == -ETIMEDOUT && rdma_ack_cm_event(event) == 0);

    // An event of an identifier that is destroyed does not come any more.
    struct rdma_addrinfo *found;
    CHECK(rdma_getaddrinfo(host, "1", NULL, &found) == 0);
    CHECK(rdma_resolve_addr(ids[0], NULL, found->ai_dst_addr, 10) == 0);
    struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
    CHECK(poll(&ready, 1, 0) == 1);
    CHECK(rdma_destroy_id(ids[0]) == 0);
    CHECK(poll(&ready, 1, 0) == 0);

    // Queue pairs with queues of their own; too much private data.
    struct rdma_cm_id *id = resolve(channel, host, "7100", RDMA_PS_TCP);
    CHECK(rdma_create_qp(id, NULL, &attr) == 0);
    CHECK(id->send_cq != NULL && id->recv_cq_channel != NULL && id->qp->state == IBV_QPS_INIT);
    struct rdma_conn_param param = {.private_data = &param, .private_data_len = 57};
    CHECK(rdma_connect(id, &param) == -1 && errno == EINVAL);
    param.private_data_len = 56;
    CHECK(rdma_connect(id, &param) == 0);
    CHECK(rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_REJECTED)) == 0);
    rdma_destroy_qp(id);
    CHECK(id->send_cq == NULL && rdma_destroy_id(id) == 0);
    rdma_freeaddrinfo(found);
    printf("looked\n");
    return 0;
}

// -- synchronous calls

static struct rdma_cm_id *make_end(const char *host, int flags)
{
    struct rdma_cm_id *id;
    struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP, .ai_flags = flags};
    struct rdma_addrinfo *found;
    CHECK(rdma_getaddrinfo(host, "7002", &hints, &found) == 0);
    struct ibv_qp_init_attr attr = {.cap = {4, 4, 1, 1, 0}, .sq_sig_all = 1};
    CHECK(rdma_create_ep(&id, found, NULL, &attr) == 0);
    rdma_freeaddrinfo(found);
    return id;
}

typedef struct place {
    uint64_t address;
    uint32_t rkey;
} place_t;

static int listen_to(int count)
{
    char text[TEXT_BYTES] = "";
    struct rdma_cm_id *listener = make_end(NULL, RAI_PASSIVE);
    CHECK(rdma_listen(listener, 0) == 0);
    for (int i = 0; i < count; i++) {
        struct rdma_cm_id *id;
        struct ibv_wc wc;
        place_t place;
        CHECK(rdma_get_request(listener, &id) == 0);
        memcpy(&place, id->event->param.conn.private_data, sizeof place);
        struct ibv_mr *mr = rdma_reg_msgs(id, text, sizeof text);
        CHECK(rdma_accept(id, NULL) == 0);
        CHECK(rdma_post_read(id, NULL, text, sizeof text, mr, 0, place.address, place.rkey) == 0);
        CHECK(rdma_get_send_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
        printf("read \"%s\"\n", text);
        CHECK(rdma_post_send(id, NULL, text, 4, mr, 0) == 0);
        CHECK(rdma_get_send_comp(id, &wc) == 1);
        CHECK(rdma_disconnect(id) == 0);
        CHECK(rdma_dereg_mr(mr) == 0);
        rdma_destroy_ep(id);
    }
    rdma_destroy_ep(listener);
    return 0;
}

static int be_read(const char *host)
{
    char text[TEXT_BYTES] = "written by the client";
    char done[4];
    struct ibv_wc wc;
    struct rdma_cm_id *id = make_end(host, 0);
    struct ibv_mr *mr = rdma_reg_read(id, text, sizeof text);
    struct ibv_mr *done_mr = rdma_reg_msgs(id, done, sizeof done);
    const place_t place = {(uintptr_t)text, mr->rkey};
    struct rdma_conn_param param = {
        .private_data = &place,
        .private_data_len = sizeof place,
        .responder_resources = RDMA_MAX_RESP_RES,
        .initiator_depth = RDMA_MAX_INIT_DEPTH,
        .retry_count = 7,
        .rnr_retry_count = 7,
    };
    CHECK(rdma_post_recv(id, NULL, done, sizeof done, done_mr) == 0);
    CHECK(rdma_connect(id, &param) == 0);
    CHECK(rdma_get_recv_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
    CHECK(rdma_disconnect(id) == 0);
    rdma_destroy_ep(id);
    printf("was read\n");
    return 0;
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    const char *host = count > 2 ? words[2] : "";
    const char *text = count > 3 ? words[3] : "";
    if (strcmp(what, "serve") == 0) {
        return serve(atoi(host));
    } else if (strcmp(what, "die") == 0) {
        return die();
    } else if (strcmp(what, "echo") == 0) {
        return echo(host, text);
    } else if (strcmp(what, "hurry") == 0) {
        return hurry(host, text);
    } else if (strcmp(what, "refused") == 0) {
        return be_refused(host, PORT, "refuse me");
    } else if (strcmp(what, "nobody") == 0) {
        return be_refused(host, "7999", "hello?");
    } else if (strcmp(what, "lost") == 0) {
        return be_left(host);
    } else if (strcmp(what, "away") == 0) {
        return find_nobody(host);
    } else if (strcmp(what, "ask") == 0) {
        return ask(host, count > 4 ? words[4] : DATAGRAM_PORT, text);
    } else if (strcmp(what, "look") == 0) {
        return look(host);
    } else if (strcmp(what, "listen") == 0) {
        return listen_to(atoi(host));
    } else if (strcmp(what, "read") == 0) {
        return be_read(host);
    }
    return 2;
}
