// SPDX-License-Identifier: Apache-2.0
// apps/programs/management/sockets.c - connections between processes: messages and ends.
#define _GNU_SOURCE
#include "apps/programs/management/sockets.h"

#include "apps/programs/management/hub.h"
#include "apps/programs/management/servers.h"
#include "apps/programs/process_verbs.h"
#include "apps/programs/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define FIRST_FREE_PORT 32768u // of ports that nobody asked for
#define CHUNK_BYTES 65536u
#define BACKLOG_MAX 4096u
// Bytes of a connection that its sender may be ahead of the reader's program, besides what the
// system holds, and after how many the sender hears that they were read.
#define WINDOW_BYTES (UINT64_C(4) << 20)
#define TELL_BYTES (UINT64_C(1) << 20)

typedef enum state {
    STATE_NEW,
    STATE_LISTENS,
    STATE_OPENS,  // waits for APP__MESSAGE_OPENED
    STATE_OPEN,   // connected, and known to the process
    STATE_CLOSED, // by the process; nothing refers to it any more
} state_t;

typedef struct host host_t;

struct app__socket {
    host_t *host;
    app__program_t *program;
    state_t state;
    uint32_t id;     // on its host
    uint32_t handle; // of its program; 0: it has none yet
    int end;         // the simulator's; -1: closed
    int other;       // the process's, until it is handed over; -1: it was
    bool datagrams;  // UDP; else TCP
    bool bound;
    bool ended; // the process writes no more
    bool peer_ended;
    int error; // of opening
    program_name_t name;
    program_name_t peer;
    uint32_t peer_host;
    uint32_t peer_id;
    app__socket_t **pending; // of a listening socket: accepted by the host, not by the process
    size_t pending_count;
    size_t pending_capacity;
    uint32_t backlog;
    uint8_t *inbox; // bytes for which the process's end has no room yet
    size_t inbox_bytes;
    size_t inbox_capacity;
    uint64_t ahead_bytes;  // sent, and not known to have been read
    uint64_t untold_bytes; // read, and not told
    uint32_t strays;       // messages that came when the process read no more
};

struct host {
    app__sockets_t *sockets;
    net_node_t *node;
    uint32_t number;
    uint32_t program_count;
    app__socket_t **all; // by id - 1
    size_t count;
    size_t capacity;
    uint32_t next_port;
    app__socket_t **bound; // those that have a port and are not closed
    size_t bound_count;
    size_t bound_capacity;
    app__program_t *server; // of ssh; NULL: none
    app__message_t **held;  // requests for connections that wait until the server listens
    size_t held_count;
    size_t held_capacity;
    app__groups_t groups;
};

struct app__sockets {
    app__hub_t *hub;
    host_t **hosts;
    size_t host_count;
    size_t host_capacity;
    sim_map_t host_of_node; // of node numbers, to index
};

app__sockets_t *app__sockets_create(net_t *net, sim_time_t latency_ps)
{
    app__sockets_t *const sockets = sim_alloc(sizeof(*sockets));
    *sockets = (app__sockets_t){.hub = app__hub_create(net, latency_ps)};
    return sockets;
}

static void free_socket(app__socket_t *socket)
{
    if (socket->end >= 0) {
        close(socket->end);
    }
    if (socket->other >= 0) {
        close(socket->other);
    }
    SIM_FREE_ALL(socket->pending, socket->inbox, socket);
}

void app__sockets_destroy(app__sockets_t *sockets)
{
    if (sockets == NULL) {
        return;
    }
    for (size_t h = 0; h < sockets->host_count; h++) {
        for (size_t i = 0; i < sockets->hosts[h]->count; i++) {
            free_socket(sockets->hosts[h]->all[i]);
        }
        sim_free_each(sockets->hosts[h]->held, sockets->hosts[h]->held_count);
        sim_free((void *)sockets->hosts[h]->held);
        app__groups_fini(&sockets->hosts[h]->groups);
        SIM_FREE_ALL(sockets->hosts[h]->all, sockets->hosts[h]->bound);
        sim_free(sockets->hosts[h]);
    }
    sim_free(sockets->hosts);
    sim_map_fini(&sockets->host_of_node);
    sim_free(sockets);
}

static host_t *host_of(const app__sockets_t *sockets, const net_node_t *node)
{
    const uint64_t index = sim_map_get(&sockets->host_of_node, node->sim.index);
    return index == SIM_MAP_NONE ? NULL : sockets->hosts[index];
}

static void send_message(host_t *host, app__message_kind_t kind, const app__socket_t *socket,
                         const void *payload, uint32_t bytes)
{
    SIM_CHECK(host != NULL);
    app__message_t *const message = sim_alloc(sizeof(*message) + bytes);
    *message = (app__message_t){
        .kind = kind,
        .from_host = host->number,
        .to_host = socket->peer_host,
        .from_id = socket->id,
        .to_id = socket->peer_id,
        .from_name = socket->name,
        .to_name = socket->peer,
        .bytes = bytes,
    };
    if (bytes != 0) {
        memcpy(message->payload, payload, bytes);
    }
    const sim_time_t now_ps = socket->program != NULL && socket->program->core != NULL
                                  ? nic_core_now_ps(socket->program->core)
                                  : host->node->sim.now_ps;
    app__hub_send(host->sockets->hub, message, now_ps);
}

// -- sockets of a host

// Makes a socket and its pair of ends. Returns NULL if the system gives none.
static app__socket_t *new_socket(host_t *host, app__program_t *program, bool datagrams)
{
    int ends[2];
    const int type = datagrams ? SOCK_SEQPACKET : SOCK_STREAM;
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) {
        return NULL;
    }
    app__socket_t *const socket = sim_alloc(sizeof(*socket));
    *socket = (app__socket_t){
        .host = host,
        .program = program,
        .id = (uint32_t)host->count + 1,
        .end = ends[0],
        .other = ends[1],
        .datagrams = datagrams,
    };
    SIM_APPEND(host->all, host->count, host->capacity, socket);
    return socket;
}

static bool is_any(const uint8_t address[16])
{
    static const uint8_t any[16];
    static const uint8_t any4[16] = {[10] = 0xff, [11] = 0xff};
    return memcmp(address, any, 16) == 0 || memcmp(address, any4, 16) == 0;
}

bool app__is_loopback(const uint8_t address[16])
{
    static const uint8_t loopback6[16] = {[15] = 1};
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    return memcmp(address, loopback6, 16) == 0 ||
           (memcmp(address, mapped, 12) == 0 && address[12] == 127);
}

// Returns the bound socket of the host that has the port; NULL: there is none.
static app__socket_t *find_port(const host_t *host, uint16_t port, bool datagrams, bool listens)
{
    for (size_t i = 0; i < host->bound_count; i++) {
        app__socket_t *const socket = host->bound[i];
        if (socket->name.port == port && socket->datagrams == datagrams &&
            (!listens || socket->state == STATE_LISTENS)) {
            return socket;
        }
    }
    return NULL;
}

static uint16_t free_port(host_t *host, bool datagrams)
{
    for (uint32_t tried = 0; tried < 65536 - FIRST_FREE_PORT; tried++) {
        const uint32_t port =
            FIRST_FREE_PORT + (host->next_port + tried) % (65536 - FIRST_FREE_PORT);
        if (find_port(host, (uint16_t)port, datagrams, false) == NULL) {
            host->next_port = port - FIRST_FREE_PORT + 1;
            return (uint16_t)port;
        }
    }
    return 0;
}

// -- what comes

// Tells the sender that its bytes have left the inbox.
static void tell_read(app__socket_t *socket, size_t bytes)
{
    socket->untold_bytes += bytes;
    if (socket->state == STATE_OPEN && !socket->peer_ended && socket->untold_bytes >= TELL_BYTES) {
        send_message(socket->host, APP__MESSAGE_READ, socket, &socket->untold_bytes,
                     sizeof(socket->untold_bytes));
        socket->untold_bytes = 0;
    }
}

// Tells the sender that its bytes find nobody, when a second message of them has come: the last
// word to a program that has ended needs no answer.
static void tell_reset(app__socket_t *socket)
{
    socket->strays++;
    if (socket->strays == 2) {
        app__socket_t nobody = *socket;
        nobody.program = NULL; // it may have ended
        send_message(socket->host, APP__MESSAGE_RESET, &nobody, NULL, 0);
    }
}

// Moves what has come to the process's end, as far as it has room. Returns true if anything moved.
static bool fill_end(app__socket_t *socket)
{
    size_t done = 0;
    while (socket->end >= 0 && done < socket->inbox_bytes) {
        const ssize_t sent = send(socket->end, socket->inbox + done, socket->inbox_bytes - done,
                                  MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent < 0 && errno != EAGAIN) {
            done = socket->inbox_bytes; // the process reads no more
            tell_reset(socket);
        }
        if (sent <= 0) {
            break;
        }
        done += (size_t)sent;
    }
    if (done > 0) {
        socket->inbox_bytes -= done;
        memmove(socket->inbox, socket->inbox + done, socket->inbox_bytes);
        tell_read(socket, done);
    }
    if (socket->peer_ended && socket->inbox_bytes == 0 && socket->end >= 0) {
        (void)shutdown(socket->end, SHUT_WR);
    }
    return done > 0;
}

static void put_bytes(app__socket_t *socket, const void *bytes, size_t count)
{
    SIM_RESERVE(socket->inbox, socket->inbox_bytes + count, &socket->inbox_capacity);
    memcpy(socket->inbox + socket->inbox_bytes, bytes, count);
    socket->inbox_bytes += count;
    (void)fill_end(socket);
}

static void refuse(host_t *host, const app__message_t *message)
{
    const app__socket_t nobody = {.peer_host = message->from_host, .peer_id = message->from_id};
    send_message(host, APP__MESSAGE_REFUSED, &nobody, NULL, 0);
}

static void take_open(host_t *host, const app__message_t *message)
{
    app__socket_t *const listener = find_port(host, message->to_name.port, false, true);
    app__socket_t *const socket = listener == NULL || listener->pending_count >= listener->backlog
                                      ? NULL
                                      : new_socket(host, listener->program, false);
    if (socket == NULL) {
        refuse(host, message);
        return;
    }
    socket->state = STATE_OPEN;
    socket->name = message->to_name;
    socket->peer = message->from_name;
    socket->peer_host = message->from_host;
    socket->peer_id = message->from_id;
    SIM_APPEND(listener->pending, listener->pending_count, listener->pending_capacity, socket);
    put_bytes(listener, "c", 1);
    send_message(host, APP__MESSAGE_OPENED, socket, NULL, 0);
    app__program_notice(listener->program, PROGRAM_ON_SOCKET);
}

// Keeps a request for a connection until the server that it is for listens. Returns false if no
// server is to come.
static bool hold(host_t *host, app__message_t *message)
{
    if (message->kind != APP__MESSAGE_OPEN || message->to_name.port != APP__SERVER_PORT ||
        host->server == NULL || find_port(host, APP__SERVER_PORT, false, true) != NULL ||
        !app__server_starts(host->server)) {
        return false;
    }
    SIM_APPEND(host->held, host->held_count, host->held_capacity, message);
    return true;
}

// Takes the requests that waited for a server that listens now, or has ended.
static void release(host_t *host)
{
    for (size_t i = 0; i < host->held_count; i++) {
        take_open(host, host->held[i]);
        sim_free(host->held[i]);
    }
    host->held_count = 0;
}

// Gives a datagram to the socket that has its port, if there is one that takes it, and has room.
static void take_datagram(const host_t *host, const app__message_t *message)
{
    app__socket_t *const socket = find_port(host, message->to_name.port, true, false);
    const bool takes =
        socket != NULL && socket->end >= 0 &&
        (socket->state != STATE_OPEN ||
         (socket->peer_host == message->from_host && socket->peer.port == message->from_name.port));
    if (takes) {
        const struct iovec places[] = {
            {.iov_base = (void *)(uintptr_t)&message->from_name, .iov_len = sizeof(program_name_t)},
            {.iov_base = (void *)(uintptr_t)message->payload, .iov_len = message->bytes},
        };
        const struct msghdr record = {.msg_iov = (struct iovec *)(uintptr_t)places,
                                      .msg_iovlen = SIM_COUNT_OF(places)};
        if (sendmsg(socket->end, &record, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
            socket->program->socket_bytes += message->bytes;
            app__program_notice(socket->program, PROGRAM_ON_SOCKET);
        }
    }
}

static void drain_end(app__socket_t *socket, bool all);

// Takes what the reader of this socket's bytes says.
static void take_news(app__socket_t *socket, const app__message_t *message)
{
    uint64_t bytes = 0;
    if (message->kind == APP__MESSAGE_READ) {
        memcpy(&bytes, message->payload, sizeof(bytes));
        socket->ahead_bytes -= bytes;
        drain_end(socket, false);
    } else if (socket->end >= 0) { // writes end with EPIPE
        close(socket->end);
        socket->end = -1;
        socket->ended = true;
        socket->peer_ended = true;
    }
}

static void take_message(net_node_t *node, uint32_t port, void *taken, void *ctx)
{
    (void)node;
    (void)port;
    host_t *const host = ctx;
    app__message_t *const message = taken;
    app__socket_t *const socket =
        message->to_id - 1 < host->count ? host->all[message->to_id - 1] : NULL;
    if (hold(host, message)) {
        return;
    }
    if (message->kind == APP__MESSAGE_OPEN) {
        take_open(host, message);
    } else if (message->kind == APP__MESSAGE_DATAGRAM) {
        take_datagram(host, message);
    } else if (message->kind == APP__MESSAGE_JOINS || message->kind == APP__MESSAGE_LEAVES) {
        app__member_t member;
        memcpy(&member, message->payload, sizeof(member));
        (void)app__groups_change(&host->groups, &member, message->kind == APP__MESSAGE_JOINS);
    } else if (socket != NULL && socket->state != STATE_CLOSED) {
        switch (message->kind) {
        case APP__MESSAGE_OPENED:
            socket->state = STATE_OPEN;
            socket->peer_id = message->from_id;
            break;
        case APP__MESSAGE_REFUSED:
            socket->error = ECONNREFUSED;
            socket->state = STATE_NEW;
            break;
        case APP__MESSAGE_DATA:
            put_bytes(socket, message->payload, message->bytes);
            socket->program->socket_bytes += message->bytes;
            break;
        case APP__MESSAGE_READ:
        case APP__MESSAGE_RESET:
            take_news(socket, message);
            break;
        case APP__MESSAGE_OPEN:
        case APP__MESSAGE_DATAGRAM:
        case APP__MESSAGE_JOINS:
        case APP__MESSAGE_LEAVES:
        case APP__MESSAGE_END:
            socket->peer_ended = true;
            (void)fill_end(socket);
            break;
        }
        app__program_notice(socket->program, PROGRAM_ON_SOCKET);
    } else if (socket != NULL && message->kind == APP__MESSAGE_DATA) {
        tell_reset(socket);
    } else if (socket != NULL && message->kind == APP__MESSAGE_OPENED) {
        // The process closed it before the connection was there: the peer must not wait for bytes.
        socket->peer_id = message->from_id;
        socket->strays = 1;
        tell_reset(socket);
    }
    sim_free(message);
}

void app__sockets_join(app__sockets_t *sockets, net_node_t *node)
{
    if (host_of(sockets, node) != NULL) {
        return;
    }
    host_t *const host = sim_alloc(sizeof(*host));
    *host = (host_t){.sockets = sockets, .node = node};
    host->number = app__hub_join(sockets->hub, node, take_message, host);
    sim_map_add(&sockets->host_of_node, node->sim.index, sockets->host_count);
    SIM_APPEND(sockets->hosts, sockets->host_count, sockets->host_capacity, host);
}

void app__sockets_serve(app__sockets_t *sockets, const net_node_t *node, app__program_t *server)
{
    host_t *const host = host_of(sockets, node);
    SIM_CHECK(host != NULL);
    host->server = server;
}

uint32_t app__sockets_number(app__sockets_t *sockets, const net_node_t *node)
{
    host_t *const host = host_of(sockets, node);
    SIM_CHECK(host != NULL);
    return host->program_count++;
}

// -- names

static int bind_socket(app__program_t *program, app__socket_t *socket, program_name_t *name)
{
    if (socket->bound || socket->state != STATE_NEW) {
        return EINVAL;
    }
    if (!is_any(name->address) && !app__is_loopback(name->address)) {
        const uint32_t interface = app__interface_of_gid(program->app.net, name->address);
        if (interface == UINT32_MAX ||
            net_interface_node(program->app.net, interface) != program->node) {
            return EADDRNOTAVAIL;
        }
    }
    if (name->port == 0) {
        name->port = free_port(socket->host, socket->datagrams);
    } else if (find_port(socket->host, name->port, socket->datagrams, false) != NULL) {
        return EADDRINUSE;
    }
    if (name->port == 0) {
        return EADDRINUSE;
    }
    socket->name = *name;
    socket->bound = true;
    host_t *const host = socket->host;
    SIM_APPEND(host->bound, host->bound_count, host->bound_capacity, socket);
    return 0;
}

// Finds the host of an address, by its number; UINT32_MAX: one without programs. Returns an errno
// value.
static int find_peer(const app__program_t *program, const app__socket_t *socket,
                     const program_name_t *name, uint32_t *number)
{
    if (is_any(name->address) || app__is_loopback(name->address)) {
        *number = socket->host->number;
        return 0;
    }
    const uint32_t interface = app__interface_of_gid(program->app.net, name->address);
    if (interface == UINT32_MAX) {
        return EHOSTUNREACH;
    }
    const host_t *const host =
        host_of(program->sockets, net_interface_node(program->app.net, interface));
    *number = host == NULL ? UINT32_MAX : host->number;
    return 0;
}

// Gives a socket that sends an address and a port, if it has none.
static int name_socket(app__program_t *program, app__socket_t *socket)
{
    if (!socket->bound) {
        program_name_t any = {0};
        if (bind_socket(program, socket, &any) != 0) {
            return EADDRNOTAVAIL;
        }
    }
    if (is_any(socket->name.address)) {
        app__gid_of_interface(program->app.net, nic_interface(nic_at(program->node, 0)),
                              socket->name.address);
    }
    return 0;
}

// -- groups

int app__sockets_change_group(app__program_t *program, const app__member_t *member, bool joins)
{
    host_t *const host = host_of(program->sockets, program->node);
    SIM_CHECK(host != NULL);
    if (!app__groups_change(&host->groups, member, joins)) {
        return joins ? 0 : EINVAL;
    }
    const app__socket_t all = {.program = program, .peer_host = host->number};
    send_message(host, joins ? APP__MESSAGE_JOINS : APP__MESSAGE_LEAVES, &all, member,
                 sizeof(*member));
    return 0;
}

void app__sockets_leave_groups(app__program_t *program, uint32_t interface, uint32_t qp_num)
{
    const host_t *const host = host_of(program->sockets, program->node);
    for (size_t i = 0; host != NULL && i < host->groups.count;) {
        const app__member_t member = host->groups.members[i];
        if (member.interface == interface && member.qp_num == qp_num) {
            (void)app__sockets_change_group(program, &member, false);
        } else {
            i++;
        }
    }
}

const app__member_t *app__sockets_group(const app__program_t *program, const uint8_t group[16],
                                        size_t *count)
{
    return app__groups_find(&host_of(program->sockets, program->node)->groups, group, count);
}

// -- what a process writes and closes

static void close_socket(app__socket_t *socket)
{
    host_t *const host = socket->host;
    for (size_t i = 0; i < host->bound_count; i++) {
        if (host->bound[i] == socket) {
            host->bound[i] = host->bound[--host->bound_count];
        }
    }
    for (size_t i = 0; i < socket->pending_count; i++) {
        app__socket_t *const pending = socket->pending[i];
        send_message(pending->host, APP__MESSAGE_RESET, pending, NULL, 0); // the peer is connected
        pending->state = STATE_CLOSED;
    }
    socket->pending_count = 0;
    if (socket->state == STATE_OPEN && socket->inbox_bytes > 0) {
        socket->strays = 1; // the sender may wait for these bytes to be read
        tell_reset(socket);
    }
    socket->state = STATE_CLOSED;
    if (socket->end >= 0) {
        close(socket->end);
        socket->end = -1;
    }
}

// Sends a datagram with the name before it. As on a real network, nobody knows if it gets lost.
static void send_datagram(app__socket_t *socket, const uint8_t *record, size_t bytes)
{
    app__program_t *const program = socket->program;
    app__socket_t from = {.program = program};
    if (bytes < sizeof(from.peer) || name_socket(program, socket) != 0) {
        return;
    }
    memcpy(&from.peer, record, sizeof(from.peer));
    if (from.peer.port == 0) {
        from.peer = socket->peer;
    }
    from.name = socket->name;
    if (find_peer(program, socket, &from.peer, &from.peer_host) == 0 &&
        from.peer_host != UINT32_MAX) {
        send_message(socket->host, APP__MESSAGE_DATAGRAM, &from, record + sizeof(from.peer),
                     (uint32_t)(bytes - sizeof(from.peer)));
    }
}

// Sends what the process has written: all of it, or as far as the window is open. Returns when
// nothing is left, or the process has ended.
static void drain_end(app__socket_t *socket, bool all)
{
    uint8_t bytes[CHUNK_BYTES];
    while (socket->end >= 0 && !socket->ended && socket->state != STATE_CLOSED &&
           (all || socket->ahead_bytes < WINDOW_BYTES)) {
        const ssize_t got = recv(socket->end, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && errno == EAGAIN) {
            return;
        }
        if (got > 0 && socket->datagrams) {
            send_datagram(socket, bytes, (size_t)got);
        } else if (got > 0 && socket->state == STATE_OPEN) {
            send_message(socket->host, APP__MESSAGE_DATA, socket, bytes, (uint32_t)got);
            socket->ahead_bytes += (uint64_t)got;
        } else if (got <= 0) {
            socket->ended = true;
            if (socket->state == STATE_OPEN && !socket->datagrams) {
                send_message(socket->host, APP__MESSAGE_END, socket, NULL, 0);
            } else {
                close_socket(socket);
            }
        }
    }
}

// Sends what the process has written to its sockets: all of it, or as far as windows are open.
static void look(app__program_t *program, bool all)
{
    app__socket_list_t *const own = &program->own_sockets;
    size_t kept = 0;
    for (size_t i = 0; i < own->count; i++) {
        app__socket_t *const socket = own->sockets[i];
        drain_end(socket, all);
        if (fill_end(socket)) { // the process has read, and may wait for more now
            app__program_notice(program, PROGRAM_ON_SOCKET);
        }
        if (socket->ended && socket->peer_ended && socket->state == STATE_OPEN) {
            close_socket(socket);
        }
        if (socket->state != STATE_CLOSED) {
            own->sockets[kept++] = socket;
        }
    }
    own->count = kept;
}

void app__sockets_look(app__program_t *program)
{
    look(program, false);
}

void app__sockets_close_all(app__program_t *program)
{
    look(program, true);
    for (size_t i = 0; i < program->own_sockets.count; i++) {
        close_socket(program->own_sockets.sockets[i]);
    }
    host_t *const host = host_of(program->sockets, program->node);
    if (program->serves && host != NULL) {
        release(host);
    }
}

// -- calls

static app__socket_t *find_socket(const app__program_t *program, uint32_t handle)
{
    const app__socket_list_t *const own = &program->own_sockets;
    size_t i = 0;
    while (i < own->count && own->sockets[i]->handle != handle) {
        i++;
    }
    return i == own->count || own->sockets[i]->state == STATE_CLOSED ? NULL : own->sockets[i];
}

static uint32_t hand_over(app__program_t *program, app__socket_t *socket, int *descriptor)
{
    *descriptor = socket->other;
    socket->other = -1;
    SIM_APPEND(program->own_sockets.sockets, program->own_sockets.count,
               program->own_sockets.capacity, socket);
    socket->handle = ++program->own_sockets.handles;
    return socket->handle;
}

static int connect_socket(app__program_t *program, app__socket_t *socket,
                          const program_name_t *name)
{
    if (socket->state == STATE_OPENS) {
        return EINPROGRESS;
    }
    if (socket->state != STATE_NEW && !socket->datagrams) {
        return EISCONN;
    }
    uint32_t peer_host;
    int error = find_peer(program, socket, name, &peer_host);
    if (error != 0) {
        return error;
    }
    error = name_socket(program, socket);
    if (error != 0) {
        return error;
    }
    socket->peer = *name;
    socket->peer_host = peer_host;
    if (socket->datagrams) {
        socket->state = STATE_OPEN;
        return 0;
    }
    socket->peer_id = 0;
    socket->error = 0;
    socket->state = STATE_OPENS;
    send_message(socket->host, APP__MESSAGE_OPEN, socket, NULL, 0);
    return EINPROGRESS;
}

int app__socket_connected(app__program_t *program, program_call_t *call)
{
    const app__socket_t *const socket = find_socket(program, call->handle);
    if (socket == NULL) {
        return EBADF;
    }
    return socket->state == STATE_OPENS ? EINPROGRESS : socket->error;
}

static int accept_socket(app__program_t *program, app__socket_t *listener, program_call_t *call,
                         int *descriptor)
{
    if (listener->state != STATE_LISTENS) {
        return EINVAL;
    }
    if (listener->pending_count == 0) {
        return EAGAIN;
    }
    app__socket_t *const socket = listener->pending[0];
    listener->pending_count--;
    memmove(listener->pending, listener->pending + 1,
            listener->pending_count * sizeof(*listener->pending));
    call->handle = hand_over(program, socket, descriptor);
    call->name = socket->peer;
    return 0;
}

int app__socket_call(app__program_t *program, program_call_t *call, int *descriptor)
{
    if (call->op == PROGRAM_SOCKET) {
        app__socket_t *const made =
            new_socket(host_of(program->sockets, program->node), program, call->flags == 1);
        if (made == NULL) {
            return errno;
        }
        call->handle = hand_over(program, made, descriptor);
        return 0;
    }
    app__socket_t *const socket = find_socket(program, call->handle);
    if (socket == NULL) {
        return EBADF;
    }
    switch (call->op) {
    case PROGRAM_BIND:
        return bind_socket(program, socket, &call->name);
    case PROGRAM_LISTEN:
        if (socket->datagrams) {
            return EOPNOTSUPP;
        }
        if (!socket->bound || (socket->state != STATE_NEW && socket->state != STATE_LISTENS)) {
            return EINVAL;
        }
        socket->state = STATE_LISTENS;
        socket->backlog = SIM_MIN(SIM_MAX(call->count, 1u), BACKLOG_MAX);
        if (program->serves) {
            release(socket->host);
        }
        return 0;
    case PROGRAM_CONNECT:
        return connect_socket(program, socket, &call->name);
    case PROGRAM_ACCEPT:
        return accept_socket(program, socket, call, descriptor);
    default: // PROGRAM_NAMES
        call->name = socket->name;
        call->peer = socket->peer;
        return socket->state == STATE_OPEN || socket->state == STATE_LISTENS || socket->bound
                   ? 0
                   : ENOTCONN;
    }
}
