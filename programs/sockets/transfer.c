// SPDX-License-Identifier: Apache-2.0
// programs/sockets/transfer.c - reading and writing.
//
// The kernel does the work without waiting. Where the program would wait, the simulator does.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "programs/process/random.h"
#include "programs/process/signals.h"
#include "programs/sockets/endpoint.h"
#include "programs/sockets/names.h"
#include "programs/sockets/netlink.h"
#include "programs/system.h"
#include "programs/threads/threads.h"
#include "programs/time/timerfd.h"
#include "programs/turn.h"

#define PLACES_MAX 64       // of one call; more are left out
#define DATAGRAM_MAX 65507u // bytes of UDP over IPv4

// -- from sockets

static size_t total_of(const struct iovec *places, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += places[i].iov_len;
    }
    return total;
}

// Receives what is there. With MSG_WAITALL the message has one place.
static ssize_t receive_all(const endpoint_t *socket, int descriptor, struct msghdr *message,
                           int flags)
{
    ssize_t done = 0;
    for (;;) {
        const long got = system_call(SYS_recvmsg, descriptor, message, flags | MSG_DONTWAIT);
        if (got > 0 && (flags & MSG_PEEK) == 0) {
            endpoint_note_room();
        }
        if (got > 0 && (flags & MSG_WAITALL) != 0 && message->msg_iovlen == 1 &&
            (size_t)got < message->msg_iov->iov_len) {
            done += got;
            message->msg_iov->iov_base = (char *)message->msg_iov->iov_base + got;
            message->msg_iov->iov_len -= (size_t)got;
        } else if (got >= 0 || errno != EAGAIN) {
            return done != 0 ? done + (got > 0 ? got : 0) : got;
        }
        if ((flags & MSG_DONTWAIT) != 0 || endpoint_nonblocking(descriptor)) {
            if (done == 0 && turn_idle_pause(&endpoint_idle)) {
                return system_call(SYS_recvmsg, descriptor, message, flags | MSG_DONTWAIT);
            }
            errno = EAGAIN;
            return done != 0 ? done : -1;
        }
        if (endpoint_await(descriptor, POLLIN,
                           socket == NULL ? PROGRAM_NEVER : socket->receive_timeout_ps) != 0) {
            return done != 0 ? done : -1;
        }
    }
}

// Receives a datagram, which stands behind the name of its sender.
static ssize_t receive_datagram(const endpoint_t *socket, int descriptor, struct msghdr *message,
                                int flags)
{
    program_name_t from;
    struct iovec places[1 + PLACES_MAX] = {{.iov_base = &from, .iov_len = sizeof from}};
    const size_t used = message->msg_iovlen < PLACES_MAX ? message->msg_iovlen : PLACES_MAX;
    memcpy(places + 1, message->msg_iov, used * sizeof *places);
    struct msghdr record = {.msg_iov = places, .msg_iovlen = used + 1};
    const ssize_t got = receive_all(socket, descriptor, &record, flags & ~MSG_WAITALL);
    if (got < (ssize_t)sizeof from) {
        return got < 0 ? -1 : 0; // the socket is shut down
    }
    names_put(socket->domain, &from, message->msg_name, &message->msg_namelen);
    message->msg_flags = record.msg_flags & MSG_TRUNC;
    return got - (ssize_t)sizeof from;
}

static ssize_t receive(int descriptor, struct msghdr *message, int flags)
{
    const endpoint_t *socket = endpoint_socket_of(descriptor);
    const bool is_stream = socket == NULL || !socket->datagrams;
    if (socket != NULL && !socket->connected && is_stream) {
        errno = ENOTCONN;
        return -1;
    }
    turn_charge_call();
    threads_meet();
    if (netlink_has(descriptor)) {
        netlink_answer(endpoint_of(descriptor));
    }
    const ssize_t got = is_stream ? receive_all(socket, descriptor, message, flags)
                                  : receive_datagram(socket, descriptor, message, flags);
    if (got > 0 || (got == 0 && !is_stream)) { // the end of a stream is found again and again
        turn_act();
        threads_touch_descriptors();
    } else if (got == 0) {
        (void)turn_idle_pause(&endpoint_idle);
    }
    return got;
}

// Returns true if a read is simulated, and the kind of reading is receive().
static bool is_socket(int descriptor)
{
    int type;
    socklen_t length = sizeof type;
    return endpoint_socket_of(descriptor) != NULL ||
           system_call(SYS_getsockopt, descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
}

// Reads from a pipe or the like.
static ssize_t read_pipe(int descriptor, const struct iovec *places, int count)
{
    turn_charge_call();
    threads_meet();
    for (;;) {
        struct pollfd ready = {.fd = descriptor, .events = POLLIN};
        if (system_call(SYS_poll, &ready, 1, 0) != 0) {
            turn_act();
            const ssize_t got = system_call(SYS_readv, descriptor, places, count);
            threads_touch_descriptors();
            return got;
        }
        if (endpoint_nonblocking(descriptor)) {
            if (turn_idle_pause(&endpoint_idle)) {
                return system_call(SYS_readv, descriptor, places, count);
            }
            errno = EAGAIN;
            return -1;
        }
        if (endpoint_await(descriptor, POLLIN, PROGRAM_NEVER) != 0) {
            return -1;
        }
    }
}

static ssize_t read_places(int descriptor, struct iovec *places, int count)
{
    endpoint_t *endpoint = endpoint_of(descriptor);
    if (endpoint != NULL && endpoint->kind == ENDPOINT_TIMER) {
        return count == 1 ? timerfd_read(endpoint, descriptor, places->iov_base, places->iov_len)
                          : (errno = EINVAL, -1);
    }
    if (endpoint != NULL && endpoint->kind == ENDPOINT_RANDOM) {
        for (int i = 0; i < count; i++) {
            random_fill(places[i].iov_base, places[i].iov_len);
        }
        return (ssize_t)total_of(places, (size_t)count);
    }
    if (!is_socket(descriptor)) {
        return read_pipe(descriptor, places, count);
    }
    struct msghdr message = {.msg_iov = places, .msg_iovlen = (size_t)count};
    return receive(descriptor, &message, 0);
}

PROGRAM_EXPORT ssize_t read(int descriptor, void *bytes, size_t count)
{
    if (!endpoint_waits(descriptor) || !turn_enter("read")) {
        return PROGRAM_NEXT(read)(descriptor, bytes, count);
    }
    struct iovec place = {.iov_base = bytes, .iov_len = count};
    return read_places(descriptor, &place, 1);
}

ssize_t __read_chk(int descriptor, void *bytes, size_t count, size_t room);
PROGRAM_EXPORT ssize_t __read_chk(int descriptor, void *bytes, size_t count, size_t room)
{
    return room < count ? PROGRAM_NEXT(__read_chk)(descriptor, bytes, count, room)
                        : read(descriptor, bytes, count);
}

PROGRAM_EXPORT ssize_t readv(int descriptor, const struct iovec *places, int count)
{
    if (!endpoint_waits(descriptor) || count <= 0 || count > IOV_MAX || !turn_enter("readv")) {
        return PROGRAM_NEXT(readv)(descriptor, places, count);
    }
    struct iovec copies[PLACES_MAX];
    const int used = count < PLACES_MAX ? count : PLACES_MAX;
    memcpy(copies, places, (size_t)used * sizeof *copies);
    return read_places(descriptor, copies, used);
}

PROGRAM_EXPORT ssize_t recv(int descriptor, void *bytes, size_t count, int flags)
{
    if (!endpoint_waits(descriptor) || !turn_enter("recv")) {
        return PROGRAM_NEXT(recv)(descriptor, bytes, count, flags);
    }
    struct iovec place = {.iov_base = bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &place, .msg_iovlen = 1};
    return receive(descriptor, &message, flags);
}

ssize_t __recv_chk(int descriptor, void *bytes, size_t count, size_t room, int flags);
PROGRAM_EXPORT ssize_t __recv_chk(int descriptor, void *bytes, size_t count, size_t room, int flags)
{
    return room < count ? PROGRAM_NEXT(__recv_chk)(descriptor, bytes, count, room, flags)
                        : recv(descriptor, bytes, count, flags);
}

PROGRAM_EXPORT ssize_t recvfrom(int descriptor, void *restrict bytes, size_t count, int flags,
                                __SOCKADDR_ARG address, socklen_t *restrict length)
{
    if (!endpoint_waits(descriptor) || !turn_enter("recvfrom")) {
        return PROGRAM_NEXT(recvfrom)(descriptor, bytes, count, flags, address, length);
    }
    struct iovec place = {.iov_base = bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &place, .msg_iovlen = 1};
    if (length != NULL) {
        message.msg_name = address.__sockaddr__;
        message.msg_namelen = *length;
    }
    const ssize_t got = receive(descriptor, &message, flags);
    if (got >= 0 && length != NULL) {
        const endpoint_t *socket = endpoint_socket_of(descriptor);
        *length = socket != NULL && socket->datagrams ? message.msg_namelen : 0;
    }
    return got;
}

PROGRAM_EXPORT ssize_t recvmsg(int descriptor, struct msghdr *message, int flags)
{
    if (!endpoint_waits(descriptor) || !turn_enter("recvmsg")) {
        return PROGRAM_NEXT(recvmsg)(descriptor, message, flags);
    }
    if (endpoint_socket_of(descriptor) == NULL) {
        const ssize_t got = receive(descriptor, message, flags);
        if (got >= 0 && netlink_has(descriptor)) {
            message->msg_namelen = sizeof(struct sockaddr_nl);
            netlink_name(0, message->msg_name, &message->msg_namelen);
        }
        return got;
    }
    struct msghdr plain = {.msg_iov = message->msg_iov, .msg_iovlen = message->msg_iovlen};
    const bool has_name = endpoint_socket_of(descriptor)->datagrams && message->msg_name != NULL;
    if (has_name) {
        plain.msg_name = message->msg_name;
        plain.msg_namelen = message->msg_namelen;
    }
    const ssize_t got = receive(descriptor, &plain, flags);
    message->msg_namelen = has_name ? plain.msg_namelen : 0;
    message->msg_controllen = 0;
    message->msg_flags = plain.msg_flags;
    return got;
}

// -- into sockets

static void advance(struct msghdr *message, size_t bytes)
{
    while (bytes != 0 && message->msg_iovlen != 0) {
        struct iovec *place = message->msg_iov;
        const size_t step = bytes < place->iov_len ? bytes : place->iov_len;
        place->iov_base = (char *)place->iov_base + step;
        place->iov_len -= step;
        bytes -= step;
        if (place->iov_len == 0) {
            message->msg_iov++;
            message->msg_iovlen--;
        }
    }
}

// Writes into a pipe or the like as much as there is room for.
static ssize_t write_now(int descriptor, const struct msghdr *message)
{
    const long flags = system_call(SYS_fcntl, descriptor, F_GETFL);
    const bool waits = (flags & O_NONBLOCK) == 0;
    if (waits) {
        system_call(SYS_fcntl, descriptor, F_SETFL, flags | O_NONBLOCK);
    }
    const ssize_t written =
        system_call(SYS_writev, descriptor, message->msg_iov, message->msg_iovlen);
    const int error = errno;
    if (waits) {
        system_call(SYS_fcntl, descriptor, F_SETFL, flags);
    }
    errno = error;
    return written;
}

// Lets others see what was sent.
static void show(const endpoint_t *socket)
{
    turn_act();
    if (socket != NULL) {
        endpoint_flush();
    }
    threads_touch_descriptors();
}

// Sends all bytes, or as many as there is room for if it must not wait. `socket` is NULL for what
// only connects threads and processes of a host.
static ssize_t transmit(const endpoint_t *socket, int descriptor, struct msghdr *message, int flags)
{
    const size_t total = total_of(message->msg_iov, message->msg_iovlen);
    size_t done = 0;
    if (socket != NULL && !socket->connected && !socket->datagrams) {
        errno = ENOTCONN;
        return -1;
    }
    const bool is_pipe = socket == NULL && !is_socket(descriptor);
    turn_charge_call();
    threads_meet();
    for (;;) {
        const long sent = is_pipe
                              ? write_now(descriptor, message)
                              : system_call(SYS_sendmsg, descriptor, message, flags | MSG_DONTWAIT);
        const int error = errno;
        if (sent > 0) {
            done += (size_t)sent;
            show(socket);
            advance(message, (size_t)sent);
            message->msg_controllen = 0; // it went with the first byte
        }
        if (sent < 0 && error != EAGAIN) {
            errno = error;
            return done != 0 ? (ssize_t)done : -1;
        }
        if (done == total) {
            return (ssize_t)done;
        }
        if ((flags & MSG_DONTWAIT) != 0 || endpoint_nonblocking(descriptor)) {
            if (done == 0) {
                (void)turn_idle_pause(&endpoint_idle);
                errno = EAGAIN;
            }
            return done != 0 ? (ssize_t)done : -1;
        }
        if (endpoint_await(descriptor, POLLOUT,
                           socket == NULL ? PROGRAM_NEVER : socket->send_timeout_ps) != 0) {
            return done != 0 ? (ssize_t)done : -1;
        }
    }
}

static struct iovec place_of(const void *bytes, size_t count)
{
    union {
        const void *from;
        void *to;
    } place = {.from = bytes};
    return (struct iovec){.iov_base = place.to, .iov_len = count};
}

// Returns true if writing to the descriptor passes through: it is neither simulated nor connects
// threads.
static bool passes(const endpoint_t *socket, int descriptor)
{
    return socket == NULL && (!threads_many || !endpoint_waits(descriptor));
}

// Sends a datagram behind the name to which it goes: copies[0] has room for that.
static ssize_t transmit_datagram(const endpoint_t *socket, int descriptor, struct iovec *copies,
                                 size_t count, int flags, const struct msghdr *message)
{
    program_name_t to = {0};
    if (message->msg_name == NULL && !socket->connected) {
        errno = EDESTADDRREQ;
        return -1;
    }
    if (message->msg_name != NULL &&
        (message->msg_namelen < sizeof(sa_family_t) ||
         !names_read(message->msg_name, message->msg_namelen, &to) || to.port == 0)) {
        errno = EINVAL;
        return -1;
    }
    if (total_of(copies + 1, count) > DATAGRAM_MAX) {
        errno = EMSGSIZE;
        return -1;
    }
    copies[0] = (struct iovec){.iov_base = &to, .iov_len = sizeof to};
    struct msghdr record = {.msg_iov = copies, .msg_iovlen = count + 1};
    const ssize_t sent = transmit(socket, descriptor, &record, flags);
    return sent < 0 ? -1 : sent - (ssize_t)sizeof to;
}

// Sends what `message` names, without its control data.
static ssize_t transmit_message(const endpoint_t *socket, int descriptor,
                                const struct msghdr *message, int flags)
{
    struct iovec copies[1 + PLACES_MAX];
    const size_t used = message->msg_iovlen < PLACES_MAX ? message->msg_iovlen : PLACES_MAX;
    memcpy(copies + 1, message->msg_iov, used * sizeof *copies);
    if (socket != NULL && socket->datagrams) {
        return transmit_datagram(socket, descriptor, copies, used, flags, message);
    }
    struct msghdr plain = {.msg_iov = copies + 1, .msg_iovlen = used};
    if (socket == NULL) {
        plain.msg_control = message->msg_control;
        plain.msg_controllen = message->msg_controllen;
    }
    return transmit(socket, descriptor, &plain, flags);
}

PROGRAM_EXPORT ssize_t write(int descriptor, const void *bytes, size_t count)
{
    const endpoint_t *socket = endpoint_socket_of(descriptor);
    if (passes(socket, descriptor) || !turn_enter("write")) {
        return PROGRAM_NEXT(write)(descriptor, bytes, count);
    }
    struct iovec place = place_of(bytes, count);
    const struct msghdr message = {.msg_iov = &place, .msg_iovlen = 1};
    return transmit_message(socket, descriptor, &message, 0);
}

PROGRAM_EXPORT ssize_t writev(int descriptor, const struct iovec *places, int count)
{
    const endpoint_t *socket = endpoint_socket_of(descriptor);
    if (passes(socket, descriptor) || count < 0 || !turn_enter("writev")) {
        return PROGRAM_NEXT(writev)(descriptor, places, count);
    }
    union {
        const struct iovec *from;
        struct iovec *to;
    } all = {.from = places};
    const struct msghdr message = {.msg_iov = all.to, .msg_iovlen = (size_t)count};
    return transmit_message(socket, descriptor, &message, 0);
}

PROGRAM_EXPORT ssize_t sendto(int descriptor, const void *bytes, size_t count, int flags,
                              __CONST_SOCKADDR_ARG address, socklen_t length)
{
    const endpoint_t *socket = endpoint_socket_of(descriptor);
    if (netlink_has(descriptor)) {
        address.__sockaddr__ = NULL; // of the kernel
        length = 0;
    }
    const bool is_elsewhere = socket == NULL && address.__sockaddr__ != NULL;
    if (passes(socket, descriptor) || is_elsewhere || !turn_enter("send")) {
        return PROGRAM_NEXT(sendto)(descriptor, bytes, count, flags, address, length);
    }
    struct iovec place = place_of(bytes, count);
    union {
        const struct sockaddr *from;
        void *to;
    } name = {.from = address.__sockaddr__};
    const struct msghdr message = {.msg_name = name.to,
                                   .msg_namelen = length,
                                   .msg_iov = &place,
                                   .msg_iovlen = 1};
    return transmit_message(socket, descriptor, &message, flags);
}

PROGRAM_EXPORT ssize_t send(int descriptor, const void *bytes, size_t count, int flags)
{
    return sendto(descriptor, bytes, count, flags, (__CONST_SOCKADDR_ARG){.__sockaddr__ = NULL}, 0);
}

PROGRAM_EXPORT ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags)
{
    const endpoint_t *socket = endpoint_socket_of(descriptor);
    struct msghdr unnamed = *message;
    if (netlink_has(descriptor)) {
        unnamed.msg_name = NULL; // of the kernel
        unnamed.msg_namelen = 0;
        message = &unnamed;
    }
    const bool is_elsewhere = socket == NULL && message->msg_name != NULL;
    if (passes(socket, descriptor) || is_elsewhere || !turn_enter("sendmsg")) {
        return PROGRAM_NEXT(sendmsg)(descriptor, message, flags);
    }
    return transmit_message(socket, descriptor, message, flags);
}

// Returns the number of messages that were sent or received before one failed; -1: the first one.
static int count_of(unsigned int done, ssize_t last)
{
    return done == 0 && last < 0 ? -1 : (int)done;
}

PROGRAM_EXPORT int sendmmsg(int descriptor, struct mmsghdr *messages, unsigned int count, int flags)
{
    if (passes(endpoint_socket_of(descriptor), descriptor)) {
        return PROGRAM_NEXT(sendmmsg)(descriptor, messages, count, flags);
    }
    unsigned int done = 0;
    ssize_t sent = 0;
    while (done < count && (sent = sendmsg(descriptor, &messages[done].msg_hdr, flags)) >= 0) {
        messages[done++].msg_len = (unsigned int)sent;
    }
    return count_of(done, sent);
}

PROGRAM_EXPORT int recvmmsg(int descriptor, struct mmsghdr *messages, unsigned int count, int flags,
                            struct timespec *timeout)
{
    if (!endpoint_waits(descriptor)) {
        return PROGRAM_NEXT(recvmmsg)(descriptor, messages, count, flags, timeout);
    }
    unsigned int done = 0;
    ssize_t got = 0;
    while (done < count) {
        // MSG_WAITFORONE: only the first one is waited for.
        const bool waits = done == 0 || (flags & MSG_WAITFORONE) == 0;
        got = recvmsg(descriptor, &messages[done].msg_hdr,
                      (flags & ~MSG_WAITFORONE) | (waits ? 0 : MSG_DONTWAIT));
        if (got < 0) {
            break;
        }
        messages[done++].msg_len = (unsigned int)got;
    }
    return count_of(done, got);
}

// -- eventfd

PROGRAM_EXPORT int eventfd_read(int descriptor, eventfd_t *value)
{
    return read(descriptor, value, sizeof *value) == (ssize_t)sizeof *value ? 0 : -1;
}

PROGRAM_EXPORT int eventfd_write(int descriptor, eventfd_t value)
{
    return write(descriptor, &value, sizeof value) == (ssize_t)sizeof value ? 0 : -1;
}
