// SPDX-License-Identifier: Apache-2.0
// programs/sockets/connect.c - sockets, their names, their options.

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "programs/process/signals.h"
#include "programs/sockets/endpoint.h"
#include "programs/sockets/names.h"
#include "programs/sockets/netlink.h"
#include "programs/system.h"
#include "programs/time/moment.h"
#include "programs/turn.h"

// -- addresses

// Reads an address of the program. Returns 0 or an errno value.
static int name_of(const endpoint_t *socket, const struct sockaddr *address, socklen_t length,
                   program_name_t *name)
{
    if (address == NULL || length < sizeof address->sa_family) {
        return EINVAL;
    }
    if (address->sa_family != socket->domain) {
        return EAFNOSUPPORT;
    }
    return names_read(address, length, name) ? 0 : EINVAL;
}

// -- sockets

static void apply_flags(int descriptor, int flags)
{
    if ((flags & SOCK_NONBLOCK) != 0) {
        system_call(SYS_fcntl, descriptor, F_SETFL, O_NONBLOCK);
    }
    if ((flags & SOCK_CLOEXEC) != 0) {
        system_call(SYS_fcntl, descriptor, F_SETFD, FD_CLOEXEC);
    }
}

static int refuse(int error)
{
    errno = error;
    return -1;
}

PROGRAM_EXPORT int socket(int domain, int type, int protocol)
{
    const int flags = type & (SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (domain == AF_UNIX || !turn_enter("socket")) {
        return PROGRAM_NEXT(socket)(domain, type, protocol);
    }
    if (domain == AF_NETLINK && protocol == NETLINK_ROUTE) {
        const int routes = netlink_open();
        apply_flags(routes, flags);
        return routes;
    }
    if (domain != AF_INET && domain != AF_INET6) {
        return refuse(EAFNOSUPPORT);
    }
    const bool datagrams = (type & ~flags) == SOCK_DGRAM;
    if ((!datagrams && (type & ~flags) != SOCK_STREAM) ||
        (protocol != 0 && protocol != (datagrams ? IPPROTO_UDP : IPPROTO_TCP))) {
        return refuse(EPROTONOSUPPORT);
    }
    program_call_t call = {.op = PROGRAM_SOCKET, .flags = datagrams};
    int descriptor;
    turn_charge_call();
    const int error = turn_call_descriptor(&call, &descriptor);
    if (error != 0 || descriptor < 0) {
        return refuse(error != 0 ? error : EMFILE);
    }
    endpoint_t *endpoint = endpoint_create(descriptor, ENDPOINT_SOCKET);
    if (endpoint == NULL) {
        system_call(SYS_close, descriptor);
        return -1;
    }
    endpoint->handle = call.handle;
    endpoint->domain = domain;
    endpoint->datagrams = datagrams;
    apply_flags(descriptor, flags);
    return descriptor;
}

PROGRAM_EXPORT int bind(int descriptor, __CONST_SOCKADDR_ARG address, socklen_t length)
{
    if (netlink_has(descriptor)) {
        return 0;
    }
    endpoint_t *endpoint = endpoint_socket_of(descriptor);
    if (endpoint == NULL || !turn_enter("bind")) {
        return PROGRAM_NEXT(bind)(descriptor, address, length);
    }
    program_call_t call = {.op = PROGRAM_BIND, .handle = endpoint->handle};
    int error = name_of(endpoint, address.__sockaddr__, length, &call.name);
    turn_charge_call();
    error = error == 0 ? turn_call(&call) : error;
    return error == 0 ? 0 : refuse(error);
}

PROGRAM_EXPORT int listen(int descriptor, int backlog)
{
    endpoint_t *endpoint = endpoint_socket_of(descriptor);
    if (endpoint == NULL || !turn_enter("listen")) {
        return PROGRAM_NEXT(listen)(descriptor, backlog);
    }
    program_call_t call = {.op = PROGRAM_LISTEN,
                           .handle = endpoint->handle,
                           .count = backlog < 1 ? 1 : (uint32_t)backlog};
    turn_charge_call();
    int error = turn_call(&call);
    if (error == EINVAL && !endpoint->listens && !endpoint->datagrams) {
        // A socket that was not bound gets a free port.
        program_call_t any = {.op = PROGRAM_BIND, .handle = endpoint->handle};
        error = turn_call(&any) == 0 ? turn_call(&call) : error;
    }
    if (error != 0) {
        return refuse(error);
    }
    endpoint->listens = true;
    return 0;
}

// Connections that programs open outside of the scenario are refused with their reason.
PROGRAM_EXPORT int connect(int descriptor, __CONST_SOCKADDR_ARG address, socklen_t length)
{
    endpoint_t *endpoint = endpoint_socket_of(descriptor);
    if (endpoint == NULL && turn_on() && address.__sockaddr__ != NULL &&
        address.__sockaddr__->sa_family == AF_UNIX) {
        return refuse(EACCES);
    }
    if (endpoint == NULL || !turn_enter("connect")) {
        return PROGRAM_NEXT(connect)(descriptor, address, length);
    }
    program_call_t call = {.op = PROGRAM_CONNECT, .handle = endpoint->handle};
    int error = name_of(endpoint, address.__sockaddr__, length, &call.name);
    const program_name_t name = call.name;
    const uint64_t before = signals_interrupts;
    turn_charge_call();
    while (error == 0 || error == EINPROGRESS) {
        const bool waited = error == EINPROGRESS;
        call = (program_call_t){.op = PROGRAM_CONNECT, .handle = endpoint->handle, .name = name};
        error = turn_call(&call);
        // The connection may also have come while a handler of a signal ran.
        if (error == 0 || (waited && error == EISCONN)) {
            endpoint->connected = true;
            return 0;
        }
        if (error == EINPROGRESS && signals_interrupts != before) {
            error = EINTR;
        }
    }
    return refuse(error);
}

// Takes a connection that waits. Returns its descriptor, or -1 with an errno.
static int take_connection(const endpoint_t *listener, int listening, program_name_t *peer)
{
    program_call_t call = {.op = PROGRAM_ACCEPT, .handle = listener->handle};
    int descriptor;
    const int error = turn_call_descriptor(&call, &descriptor);
    if (error != 0 || descriptor < 0) {
        return refuse(error != 0 ? error : EMFILE);
    }
    char byte;
    system_call(SYS_recvfrom, listening, &byte, 1, MSG_DONTWAIT, NULL, NULL);
    endpoint_t *endpoint = endpoint_create(descriptor, ENDPOINT_SOCKET);
    if (endpoint == NULL) {
        system_call(SYS_close, descriptor);
        return -1;
    }
    endpoint->handle = call.handle;
    endpoint->domain = listener->domain;
    endpoint->connected = true;
    *peer = call.name;
    return descriptor;
}

PROGRAM_EXPORT int accept4(int listening, __SOCKADDR_ARG address, socklen_t *restrict length,
                           int flags)
{
    endpoint_t *endpoint = endpoint_socket_of(listening);
    if (endpoint == NULL || !turn_enter("accept")) {
        return PROGRAM_NEXT(accept4)(listening, address, length, flags);
    }
    if (!endpoint->listens) {
        return refuse(EINVAL);
    }
    turn_charge_call();
    const uint64_t timeout_ps = endpoint->receive_timeout_ps;
    for (;;) {
        program_name_t peer;
        const int descriptor = take_connection(endpoint, listening, &peer);
        if (descriptor >= 0) {
            apply_flags(descriptor, flags);
            names_put(endpoint->domain, &peer, address.__sockaddr__, length);
            turn_act();
            return descriptor;
        }
        if (errno != EAGAIN) {
            return -1;
        }
        if (endpoint_nonblocking(listening)) {
            if (turn_idle_pause(&endpoint_idle)) {
                continue;
            }
            return refuse(EAGAIN);
        }
        if (endpoint_await(listening, POLLIN, timeout_ps) != 0) {
            return -1;
        }
    }
}

PROGRAM_EXPORT int accept(int listening, __SOCKADDR_ARG address, socklen_t *restrict length)
{
    if (endpoint_socket_of(listening) == NULL) {
        return PROGRAM_NEXT(accept)(listening, address, length);
    }
    return accept4(listening, address, length, 0);
}

PROGRAM_EXPORT int shutdown(int descriptor, int how)
{
    const endpoint_t *endpoint = endpoint_socket_of(descriptor);
    if (endpoint == NULL || !turn_enter("shutdown")) {
        return PROGRAM_NEXT(shutdown)(descriptor, how);
    }
    if (!endpoint->connected) {
        return refuse(ENOTCONN);
    }
    turn_charge_call();
    const long error = system_call(SYS_shutdown, descriptor, how);
    endpoint_flush();
    return (int)error;
}

// Asks for the names of both ends.
static int ask_names(const endpoint_t *endpoint, program_call_t *call)
{
    *call = (program_call_t){.op = PROGRAM_NAMES, .handle = endpoint->handle};
    turn_charge_call();
    return turn_call(call);
}

PROGRAM_EXPORT int getsockname(int descriptor, __SOCKADDR_ARG address, socklen_t *restrict length)
{
    if (netlink_has(descriptor)) {
        netlink_name((uint32_t)getpid(), address.__sockaddr__, length);
        return 0;
    }
    const endpoint_t *endpoint = endpoint_socket_of(descriptor);
    if (endpoint == NULL || !turn_enter("getsockname")) {
        return PROGRAM_NEXT(getsockname)(descriptor, address, length);
    }
    program_call_t call;
    if (ask_names(endpoint, &call) != 0) {
        memset(&call.name, 0, sizeof call.name); // a socket without a name
    }
    names_put(endpoint->domain, &call.name, address.__sockaddr__, length);
    return 0;
}

PROGRAM_EXPORT int getpeername(int descriptor, __SOCKADDR_ARG address, socklen_t *restrict length)
{
    const endpoint_t *endpoint = endpoint_socket_of(descriptor);
    if (endpoint == NULL || !turn_enter("getpeername")) {
        return PROGRAM_NEXT(getpeername)(descriptor, address, length);
    }
    program_call_t call;
    const int error = endpoint->connected ? ask_names(endpoint, &call) : ENOTCONN;
    if (error != 0) {
        return refuse(error);
    }
    names_put(endpoint->domain, &call.peer, address.__sockaddr__, length);
    return 0;
}

// -- options

// Returns true if the socket may have the option, though it changes nothing here.
static bool is_known(int level, int name)
{
    static const int of_socket[] = {SO_REUSEADDR, SO_REUSEPORT,   SO_KEEPALIVE, SO_BROADCAST,
                                    SO_DONTROUTE, SO_LINGER,      SO_OOBINLINE, SO_PRIORITY,
                                    SO_RCVBUF,    SO_SNDBUF,      SO_RCVLOWAT,  SO_SNDLOWAT,
                                    SO_BUSY_POLL, SO_INCOMING_CPU};
    static const int of_tcp[] = {TCP_NODELAY,  TCP_CORK,         TCP_KEEPIDLE, TCP_KEEPINTVL,
                                 TCP_KEEPCNT,  TCP_USER_TIMEOUT, TCP_QUICKACK, TCP_DEFER_ACCEPT,
                                 TCP_FASTOPEN, TCP_SYNCNT,       TCP_MAXSEG,   TCP_LINGER2};
    const int *names = level == SOL_SOCKET ? of_socket : of_tcp;
    const size_t count = level == SOL_SOCKET    ? sizeof of_socket / sizeof *of_socket
                         : level == IPPROTO_TCP ? sizeof of_tcp / sizeof *of_tcp
                                                : 0;
    for (size_t i = 0; i < count; i++) {
        if (names[i] == name) {
            return true;
        }
    }
    return (level == IPPROTO_IP && (name == IP_TOS || name == IP_TTL)) ||
           (level == IPPROTO_IPV6 && (name == IPV6_V6ONLY || name == IPV6_TCLASS));
}

static endpoint_option_t *find_option(endpoint_t *endpoint, int level, int name)
{
    for (uint32_t i = 0; i < endpoint->option_count; i++) {
        if (endpoint->options[i].level == level && endpoint->options[i].name == name) {
            return &endpoint->options[i];
        }
    }
    return NULL;
}

PROGRAM_EXPORT int setsockopt(int descriptor, int level, int name, const void *value,
                              socklen_t length)
{
    endpoint_t *endpoint = endpoint_socket_of(descriptor);
    if (endpoint == NULL) {
        return PROGRAM_NEXT(setsockopt)(descriptor, level, name, value, length);
    }
    if (level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO)) {
        struct timeval time;
        if (length < sizeof time) {
            return refuse(EINVAL);
        }
        memcpy(&time, value, sizeof time);
        const uint64_t time_ps = moment_of_timeval(&time);
        *(name == SO_RCVTIMEO ? &endpoint->receive_timeout_ps : &endpoint->send_timeout_ps) =
            time_ps == 0 ? PROGRAM_NEVER : time_ps;
        return 0;
    }
    if (!is_known(level, name)) {
        return refuse(ENOPROTOOPT);
    }
    int number = 0;
    if (length < (level == IPPROTO_IP ? 1 : sizeof number)) { // IP_TOS may be one byte
        return refuse(EINVAL);
    }
    memcpy(&number, value, length < sizeof number ? length : sizeof number);
    endpoint_option_t *option = find_option(endpoint, level, name);
    if (option == NULL && endpoint->option_count < ENDPOINT_OPTIONS_MAX) {
        option = &endpoint->options[endpoint->option_count++];
    }
    if (option != NULL) {
        *option = (endpoint_option_t){.level = level, .name = name, .value = number};
    }
    return 0;
}

PROGRAM_EXPORT int getsockopt(int descriptor, int level, int name, void *restrict value,
                              socklen_t *restrict length)
{
    endpoint_t *endpoint = endpoint_socket_of(descriptor);
    if (endpoint == NULL) {
        return PROGRAM_NEXT(getsockopt)(descriptor, level, name, value, length);
    }
    int number = 0;
    const endpoint_option_t *option = find_option(endpoint, level, name);
    if (option != NULL) {
        number = option->value;
    } else if (level == SOL_SOCKET && (name == SO_RCVBUF || name == SO_SNDBUF)) {
        number = 212992;
    } else if (level == SOL_SOCKET && name == SO_TYPE) {
        number = endpoint->datagrams ? SOCK_DGRAM : SOCK_STREAM;
    } else if (level == SOL_SOCKET && name == SO_DOMAIN) {
        number = endpoint->domain;
    } else if (level == SOL_SOCKET && name == SO_PROTOCOL) {
        number = IPPROTO_TCP;
    } else if (level == SOL_SOCKET && name == SO_ACCEPTCONN) {
        number = endpoint->listens;
    } else if (level == IPPROTO_TCP && name == TCP_MAXSEG) {
        number = 1448;
    } else if (!is_known(level, name) && (level != SOL_SOCKET || name != SO_ERROR)) {
        return refuse(ENOPROTOOPT);
    }
    const socklen_t bytes = *length < sizeof number ? *length : (socklen_t)sizeof number;
    memcpy(value, &number, bytes);
    *length = bytes;
    return 0;
}
