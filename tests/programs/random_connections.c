// SPDX-License-Identifier: Apache-2.0
// tests/programs/random_connections.c - random calls of librdmacm, for test_programs_cm.sh.
//
//     random_connections SEED STEPS
//
// Programs on host0, host1 and host2 connect to each other, refuse, leave and destroy at random,
// with right and with wrong calls. Each ends with status 0 and prints its numbers of events.
#include <arpa/inet.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NEW_MAX 12
#define IDS_MAX 60
#define EVENTS 16

static struct rdma_cm_id *ids[IDS_MAX];
static int count;
static unsigned long state;
static unsigned long numbers[EVENTS];
static const char private_data[200] = "random";

static int below(int limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (unsigned long)limit);
}

static uint8_t byte_below(int limit)
{
    return (uint8_t)below(limit);
}

static void destroy(struct rdma_cm_id *id)
{
    for (int i = 0; i < count; i++) {
        if (ids[i] == id) {
            ids[i] = ids[--count];
            break;
        }
    }
    if (id->qp != NULL) {
        rdma_destroy_qp(id);
    }
    rdma_destroy_id(id);
}

static void create_qp(struct rdma_cm_id *id)
{
    struct ibv_qp_init_attr attr = {
        .qp_type = id->ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC,
        .cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
    };
    if (id->qp == NULL) {
        rdma_create_qp(id, NULL, &attr);
    }
}

static void listen_somewhere(struct rdma_cm_id *id)
{
    struct sockaddr_in any = {.sin_family = AF_INET,
                              .sin_port = htons((uint16_t)(7000 + below(3)))};
    rdma_bind_addr(id, (struct sockaddr *)&any);
    rdma_listen(id, below(3));
}

static void resolve_something(struct rdma_cm_id *id)
{
    struct rdma_addrinfo *found;
    char host[16];
    char port[16];
    snprintf(host, sizeof host, "host%d", below(3));
    snprintf(port, sizeof port, "%d", 7000 + below(4));
    if (rdma_getaddrinfo(host, port, NULL, &found) == 0) {
        rdma_resolve_addr(id, NULL, found->ai_dst_addr, below(100));
        rdma_freeaddrinfo(found);
    }
}

// Makes a call that may be wrong in the identifier's state.
static void step(struct rdma_cm_id *id)
{
    struct rdma_conn_param param = {
        .private_data = private_data,
        .private_data_len = byte_below(60),
        .responder_resources = byte_below(20),
        .initiator_depth = byte_below(20),
        .retry_count = byte_below(9),
        .rnr_retry_count = byte_below(9),
        .qp_num = byte_below(100),
    };
    struct ibv_qp_attr attr = {.qp_state = (enum ibv_qp_state)below(5)};
    uint8_t option = byte_below(256);
    int mask;
    switch (below(16)) {
    case 0:
        listen_somewhere(id);
        break;
    case 1:
    case 2:
    case 3:
        resolve_something(id);
        break;
    case 4:
        rdma_resolve_route(id, 10);
        break;
    case 5:
        rdma_connect(id, below(5) != 0 ? &param : NULL);
        break;
    case 6:
        rdma_accept(id, below(5) != 0 ? &param : NULL);
        break;
    case 7:
        rdma_reject(id, private_data, byte_below(150));
        break;
    case 8:
        rdma_disconnect(id);
        break;
    case 9:
        rdma_establish(id);
        break;
    case 10:
        rdma_notify(id, IBV_EVENT_COMM_EST);
        break;
    case 11:
        rdma_init_qp_attr(id, &attr, &mask);
        break;
    case 12:
        rdma_set_option(id, RDMA_OPTION_ID, below(4), &option, sizeof option);
        break;
    case 13:
        if (below(4) == 0) {
            destroy(id);
        }
        break;
    default:
        usleep((useconds_t)(below(4) != 0 ? below(50) : below(20) != 0 ? below(3000) : 6000000));
        break;
    }
}

// Does what a program usually does next.
static void go_on(struct rdma_cm_id *id, enum rdma_cm_event_type what)
{
    struct rdma_conn_param param = {.private_data = private_data,
                                    .private_data_len = 20,
                                    .responder_resources = 2,
                                    .initiator_depth = 2,
                                    .retry_count = 7,
                                    .rnr_retry_count = 7};
    if (what == RDMA_CM_EVENT_ADDR_RESOLVED) {
        rdma_resolve_route(id, 10);
    } else if (what == RDMA_CM_EVENT_ROUTE_RESOLVED) {
        create_qp(id);
        rdma_connect(id, &param);
    } else if (what == RDMA_CM_EVENT_CONNECT_REQUEST) {
        create_qp(id);
        rdma_accept(id, &param);
    } else if (what == RDMA_CM_EVENT_DISCONNECTED) {
        rdma_disconnect(id);
    } else if (what == RDMA_CM_EVENT_CONNECT_ERROR || what == RDMA_CM_EVENT_UNREACHABLE ||
               what == RDMA_CM_EVENT_REJECTED || what == RDMA_CM_EVENT_TIMEWAIT_EXIT) {
        destroy(id);
    }
}

static void take_events(struct rdma_event_channel *channel)
{
    struct rdma_cm_event *event;
    while (rdma_get_cm_event(channel, &event) == 0) {
        struct rdma_cm_id *id = event->id;
        const enum rdma_cm_event_type what = event->event;
        numbers[what]++;
        rdma_ack_cm_event(event);
        if (what == RDMA_CM_EVENT_CONNECT_REQUEST) {
            if (count == IDS_MAX) {
                rdma_destroy_id(id);
                continue;
            }
            ids[count++] = id;
        }
        if (below(8) != 0) {
            go_on(id, what);
        }
        if (below(2) != 0) {
            break;
        }
    }
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    const int steps = argc > 2 ? atoi(argv[2]) : 1000;
    struct rdma_event_channel *channel = rdma_create_event_channel();
    if (channel == NULL || fcntl(channel->fd, F_SETFL, O_NONBLOCK) != 0) {
        return 1;
    }
    for (int i = 0; i < steps; i++) {
        if (count == 0 || (count < NEW_MAX && below(8) == 0)) {
            struct rdma_cm_id *id;
            if (rdma_create_id(channel, &id, NULL, below(4) != 0 ? RDMA_PS_TCP : RDMA_PS_UDP) ==
                0) {
                ids[count++] = id;
            }
        } else {
            step(ids[below(count)]);
        }
        usleep(1);
        take_events(channel);
    }
    for (int i = 0; i < EVENTS; i++) {
        printf("%s %lu\n", rdma_event_str((enum rdma_cm_event_type)i), numbers[i]);
    }
    return 0;
}
