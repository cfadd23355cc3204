// SPDX-License-Identifier: Apache-2.0
// programs/sockets/transfer.c - reading and writing.
//
// The kernel does the work without waiting. Where the program would wait, the simulator does.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "programs/process/random.h"
#include "programs/process/signals.h"
#include "programs/sockets/endpoint.h"
#include "programs/threads/threads.h"
#include "programs/time/timerfd.h"
#include "programs/turn.h"

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
        const long got = syscall(SYS_recvmsg, descriptor, message, flags | MSG_DONTWAIT);
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
        const bool nonblocking = (flags & MSG_DONTWAIT) != 0 || endpoint_nonblocking(descriptor);
        if (nonblocking) {
            if (done == 0 && turn_idle_wait(&endpoint_idle)) {
                return syscall(SYS_recvmsg, descriptor, message, flags | MSG_DONTWAIT);
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

static ssize_t receive(int descriptor, struct msghdr *message, int flags)
{
    const endpoint_t *socket = endpoint_socket_of(descriptor);
    if (socket != NULL && !socket->connected) {
        errno = ENOTCONN;
        return -1;
    }
    turn_charge_call();
    threads_meet();
    const ssize_t got = receive_all(socket, descriptor, message, flags);
    if (got >= 0) {
        turn_act();
        threads_touch_descriptors();
    }
    return got;
}

// Returns true if a read is simulated, and the kind of reading is receive().
static bool is_socket(int descriptor)
{
    int type;
    socklen_t length = sizeof type;
    return endpoint_socket_of(descriptor) != NULL ||
           syscall(SYS_getsockopt, descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
}

// Reads from a pipe or the like.
static ssize_t read_pipe(int descriptor, const struct iovec *places, int count)
{
    turn_charge_call();
    threads_meet();
    for (;;) {
        struct pollfd ready = {.fd = descriptor, .events = POLLIN};
        if (syscall(SYS_poll, &ready, 1, 0) != 0) {
            turn_act();
            const ssize_t got = syscall(SYS_readv, descriptor, places, count);
            threads_touch_descriptors();
            return got;
        }
        if (endpoint_nonblocking(descriptor)) {
            if (turn_idle_wait(&endpoint_idle)) {
                return syscall(SYS_readv, descriptor, places, count);
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
    struct iovec copies[64];
    const int used = count < 64 ? count : 64;
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
    const ssize_t got = receive(descriptor, &message, flags);
    if (got >= 0 && length != NULL) {
        *length = 0; // of a stream's peer
    }
    return got;
}

PROGRAM_EXPORT ssize_t recvmsg(int descriptor, struct msghdr *message, int flags)
{
    if (!endpoint_waits(descriptor) || !turn_enter("recvmsg")) {
        return PROGRAM_NEXT(recvmsg)(descriptor, message, flags);
    }
    if (endpoint_socket_of(descriptor) == NULL) {
        return receive(descriptor, message, flags);
    }
    struct msghdr plain = {.msg_iov = message->msg_iov, .msg_iovlen = message->msg_iovlen};
    const ssize_t got = receive(descriptor, &plain, flags);
    message->msg_namelen = 0;
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
    const long flags = syscall(SYS_fcntl, descriptor, F_GETFL);
    const bool waits = (flags & O_NONBLOCK) == 0;
    if (waits) {
        syscall(SYS_fcntl, descriptor, F_SETFL, flags | O_NONBLOCK);
    }
    const ssize_t written = syscall(SYS_writev, descriptor, message->msg_iov, message->msg_iovlen);
    const int error = errno;
    if (waits) {
        syscall(SYS_fcntl, descriptor, F_SETFL, flags);
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
    if (socket != NULL && !socket->connected) {
        errno = ENOTCONN;
        return -1;
    }
    const bool is_pipe = socket == NULL && !is_socket(descriptor);
    turn_charge_call();
    threads_meet();
    for (;;) {
        const long sent = is_pipe ? write_now(descriptor, message)
                                  : syscall(SYS_sendmsg, descriptor, message, flags | MSG_DONTWAIT);
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
                (void)turn_idle_wait(&endpoint_idle);
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

// Returns true if writing to the descriptor passes through: it is neither simulated nor connects
// threads.
static bool passes(const endpoint_t *socket, int descriptor)
{
    return socket == NULL && (!threads_many || !endpoint_waits(descriptor));
}

PROGRAM_EXPORT ssize_t write(int descriptor, const void *bytes, size_t count)
{
    const endpoint_t *socket = endpoint_socket_of(descriptor);
    if (passes(socket, descriptor) || !turn_enter("write")) {
        return PROGRAM_NEXT(write)(descriptor, bytes, count);
    }
    union {
        const void *from;
        void *to;
    } place = {.from = bytes};
    struct iovec places = {.iov_base = place.to, .iov_len = count};
    struct msghdr message = {.msg_iov = &places, .msg_iovlen = 1};
    return transmit(socket, descriptor, &message, 0);
}

static ssize_t transmit_places(const endpoint_t *socket, int descriptor, const struct iovec *places,
                               size_t count, int flags)
{
    struct iovec copies[64];
    const size_t used = count < 64 ? count : 64;
    memcpy(copies, places, used * sizeof *copies);
    struct msghdr message = {.msg_iov = copies, .msg_iovlen = used};
    return transmit(socket, descriptor, &message, flags);
}

PROGRAM_EXPORT ssize_t writev(int descriptor, const struct iovec *places, int count)
{
    const endpoint_t *socket = endpoint_socket_of(descriptor);
    if (passes(socket, descriptor) || count < 0 || !turn_enter("writev")) {
        return PROGRAM_NEXT(writev)(descriptor, places, count);
    }
    return transmit_places(socket, descriptor, places, (size_t)count, 0);
}

PROGRAM_EXPORT ssize_t send(int descriptor, const void *bytes, size_t count, int flags)
{
    const endpoint_t *socket = endpoint_socket_of(descriptor);
    if (passes(socket, descriptor) || !turn_enter("send")) {
        return PROGRAM_NEXT(send)(descriptor, bytes, count, flags);
    }
    union {
        const void *from;
        void *to;
    } place = {.from = bytes};
    const struct iovec places = {.iov_base = place.to, .iov_len = count};
    return transmit_places(socket, descriptor, &places, 1, flags);
}

PROGRAM_EXPORT ssize_t sendto(int descriptor, const void *bytes, size_t count, int flags,
                              __CONST_SOCKADDR_ARG address, socklen_t length)
{
    if (endpoint_socket_of(descriptor) == NULL && (!threads_many || address.__sockaddr__ != NULL)) {
        return PROGRAM_NEXT(sendto)(descriptor, bytes, count, flags, address, length);
    }
    return send(descriptor, bytes, count, flags);
}

PROGRAM_EXPORT ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags)
{
    const endpoint_t *socket = endpoint_socket_of(descriptor);
    if (passes(socket, descriptor) || message->msg_name != NULL || !turn_enter("sendmsg")) {
        return PROGRAM_NEXT(sendmsg)(descriptor, message, flags);
    }
    if (socket == NULL) {
        struct iovec copies[64];
        struct msghdr copy = *message;
        copy.msg_iovlen = copy.msg_iovlen < 64 ? copy.msg_iovlen : 64;
        memcpy(copies, message->msg_iov, copy.msg_iovlen * sizeof *copies);
        copy.msg_iov = copies;
        return transmit(NULL, descriptor, &copy, flags);
    }
    return transmit_places(socket, descriptor, message->msg_iov, message->msg_iovlen, flags);
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
