// SPDX-License-Identifier: Apache-2.0
// apps/simbricks/link.c - connects to another process as SimBricks does, and exchanges messages.
#define _GNU_SOURCE // memfd_create
#include "apps/simbricks/link.h"

#include "kernel/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h> // memfd_create
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define VERSION 1u
#define PROTOCOL_NET 1u
#define FLAG_SYNC 1u
#define FLAG_SYNC_FORCE 2u

// Offsets in the introductions, whose fields have 8 bytes each.
enum {
    INTRO_VERSION = 0,
    INTRO_FLAGS = 8,
    LISTENER_QUEUES = 16, // offset, size of an entry and number of entries: to the connecting side,
                          // then to the listening side
    LISTENER_PROTOCOL = 64,
    LISTENER_UPPER = 72,
    LISTENER_BYTES = 80,
    CONNECTER_PROTOCOL = 16,
    CONNECTER_UPPER = 24,
    CONNECTER_BYTES = 32,
    UPPER_BYTES = 4, // introduction of the network protocol, which is empty
};

// Offsets in a message.
enum {
    AT_LENGTH = 0, // of a frame, 16 bits
    AT_PORT = 2,
    AT_TIME = 48,
    AT_OWNER = 63,
    AT_FRAME = 64,
    OWNED_BY_READER = 0x80,
    TYPE_SYNC = 0,
    TYPE_TERMINATE = 1,
    TYPE_FRAME = 0x40,
};

// Queues of a listening side: entries for frames of 4096 bytes.
#define ENTRIES 2048u
#define ENTRY_BYTES (AT_FRAME + 4096u)
#define FRAME_MIN 14u // an Ethernet header

static bool fail(app__link_t *link, const char *format, ...) SIM_PRINTF(2, 3);
static bool fail(app__link_t *link, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(link->error, sizeof(link->error), format, arguments);
    va_end(arguments);
    return false;
}

// -- the socket

static bool address_of(app__link_t *link, struct sockaddr_un *address)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    if (strlen(link->config.path) >= sizeof(address->sun_path)) {
        return fail(link, "the name of the socket has more than %zu bytes",
                    sizeof(address->sun_path) - 1);
    }
    memcpy(address->sun_path, link->config.path, strlen(link->config.path));
    return true;
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

// Removes a socket that no process listens at any more.
static void remove_stale(const struct sockaddr_un *address)
{
    struct stat found;
    const int probe = new_socket();
    if (probe >= 0 && lstat(address->sun_path, &found) == 0 && S_ISSOCK(found.st_mode) &&
        connect(probe, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
        errno == ECONNREFUSED) {
        (void)unlink(address->sun_path);
    }
    if (probe >= 0) {
        (void)close(probe);
    }
}

static bool make_memory(app__link_t *link)
{
    const size_t half = (size_t)ENTRIES * ENTRY_BYTES;
    link->memory = memfd_create("rocesim-simbricks", MFD_CLOEXEC);
    if (link->memory < 0 || ftruncate(link->memory, (off_t)(2 * half)) != 0 ||
        !app__shared_map(&link->shared, link->memory, 2 * half)) {
        return fail(link, "no shared memory: %s", strerror(errno));
    }
    link->out = (app__queue_t){link->shared.base, ENTRY_BYTES, ENTRIES, 0};
    link->in = (app__queue_t){link->shared.base + half, ENTRY_BYTES, ENTRIES, 0};
    return true;
}

bool app__link_begin(app__link_t *link, const app__link_config_t *config)
{
    *link = (app__link_t){.config = *config, .listener = -1, .socket = -1, .memory = -1};
    struct sockaddr_un address;
    if (!address_of(link, &address)) {
        return false;
    }
    link->state = APP__LINK_WAITS;
    if (!config->listens) {
        return true;
    }
    link->listener = new_socket();
    remove_stale(&address);
    if (link->listener < 0 ||
        bind(link->listener, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)fail(link, "cannot listen: %s", strerror(errno));
        if (link->listener >= 0) {
            (void)close(link->listener); // the file, if there is one, is another program's
        }
        link->listener = -1;
        return false;
    }
    return listen(link->listener, 1) == 0 ? make_memory(link)
                                          : fail(link, "cannot listen: %s", strerror(errno));
}

// -- introductions

static bool send_intro(app__link_t *link)
{
    uint8_t bytes[LISTENER_BYTES + UPPER_BYTES] = {0};
    const bool listens = link->config.listens;
    const size_t size = listens ? LISTENER_BYTES : CONNECTER_BYTES;
    sim_put_le64(bytes + INTRO_VERSION, VERSION);
    sim_put_le64(bytes + INTRO_FLAGS, FLAG_SYNC | FLAG_SYNC_FORCE);
    sim_put_le64(bytes + (listens ? LISTENER_PROTOCOL : CONNECTER_PROTOCOL), PROTOCOL_NET);
    sim_put_le64(bytes + (listens ? LISTENER_UPPER : CONNECTER_UPPER), size);
    const app__queue_t *const queues[2] = {&link->out, &link->in};
    for (size_t i = 0; i < 2 && listens; i++) {
        uint8_t *const at = bytes + LISTENER_QUEUES + i * 24;
        sim_put_le64(at, (uint64_t)(queues[i]->entries - link->shared.base));
        sim_put_le64(at + 8, queues[i]->entry_bytes);
        sim_put_le64(at + 16, queues[i]->count);
    }
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {{0}};
    struct iovec part = {bytes, size + UPPER_BYTES};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (listens) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.head), &link->memory, sizeof(int));
    }
    return sendmsg(link->socket, &message, MSG_NOSIGNAL) == (ssize_t)part.iov_len ||
           errno == EPIPE || // receive_intro says so
           fail(link, "cannot send the introduction: %s", strerror(errno));
}

// Receives bytes of the introduction, and the file of shared memory that comes with them. Returns
// false if the link has failed.
static bool receive_intro(app__link_t *link)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {{0}};
    struct iovec part = {link->intro + link->intro_bytes, sizeof(link->intro) - link->intro_bytes};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    const ssize_t got = recvmsg(link->socket, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) { // nothing yet
        return true;
    }
    if (got <= 0) {
        return fail(link, "the other side went before its introduction was whole");
    }
    const struct cmsghdr *const head = CMSG_FIRSTHDR(&message);
    if (head != NULL && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int))) {
        int file = -1;
        memcpy(&file, CMSG_DATA(head), sizeof(file));
        if (link->memory < 0) {
            link->memory = file;
        } else {
            (void)close(file);
        }
    }
    link->intro_bytes += (size_t)got;
    return true;
}

// Maps the memory of a listening side, and finds the two queues in it.
static bool map_memory(app__link_t *link)
{
    struct stat found;
    if (link->memory < 0 || fstat(link->memory, &found) != 0 || found.st_size <= 0) {
        return fail(link, "the introduction came without shared memory");
    }
    const size_t size = (size_t)found.st_size;
    app__queue_t *const queues[2] = {&link->in, &link->out};
    uint64_t offsets[2];
    for (size_t i = 0; i < 2; i++) {
        const uint8_t *const at = link->intro + LISTENER_QUEUES + i * 24;
        offsets[i] = sim_get_le64(at);
        queues[i]->entry_bytes = sim_get_le64(at + 8);
        queues[i]->count = sim_get_le64(at + 16);
        if (queues[i]->entry_bytes < AT_FRAME + FRAME_MIN || queues[i]->count == 0 ||
            queues[i]->entry_bytes % 8 != 0 || offsets[i] % 8 != 0 || offsets[i] > size ||
            queues[i]->count > (size - offsets[i]) / queues[i]->entry_bytes) {
            return fail(link,
                        "its queue %zu has %" PRIu64 " entries of %" PRIu64 " bytes at %" PRIu64
                        ", which do not lie in its %zu bytes of shared memory",
                        i, queues[i]->count, queues[i]->entry_bytes, offsets[i], size);
        }
    }
    if (!app__shared_map(&link->shared, link->memory, size)) {
        return fail(link, "the shared memory of the process cannot be mapped: %s", strerror(errno));
    }
    link->in.entries = link->shared.base + offsets[0];
    link->out.entries = link->shared.base + offsets[1];
    return true;
}

static bool read_intro(app__link_t *link)
{
    const bool listens = link->config.listens;
    const uint64_t version = sim_get_le64(link->intro + INTRO_VERSION);
    const uint64_t protocol =
        sim_get_le64(link->intro + (listens ? CONNECTER_PROTOCOL : LISTENER_PROTOCOL));
    if (version != VERSION) {
        return fail(link,
                    "the process speaks version %" PRIu64 " of SimBricks' protocol, expected %u",
                    version, VERSION);
    }
    if (protocol != PROTOCOL_NET) {
        return fail(
            link, "the process speaks the protocol %" PRIu64 " of SimBricks, expected %u (network)",
            protocol, PROTOCOL_NET);
    }
    if ((sim_get_le64(link->intro + INTRO_FLAGS) & (FLAG_SYNC | FLAG_SYNC_FORCE)) == 0) {
        return fail(link, "the process does not synchronise its time, expected sync=true there");
    }
    if (!listens && !map_memory(link)) {
        return false;
    }
    link->state = APP__LINK_OPEN;
    return true;
}

bool app__link_greet(app__link_t *link)
{
    if (link->state == APP__LINK_WAITS && link->config.listens) {
        link->socket = accept4(link->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } else if (link->state == APP__LINK_WAITS) {
        struct sockaddr_un address;
        const int made = address_of(link, &address) ? new_socket() : -1;
        if (made >= 0 && connect(made, (const struct sockaddr *)&address, sizeof(address)) == 0) {
            link->socket = made;
        } else if (made >= 0) {
            const int why = errno;
            (void)close(made);
            if (why != ENOENT && why != ECONNREFUSED && why != EAGAIN && why != EINTR) {
                return fail(link, "cannot connect: %s", strerror(why));
            }
        }
    }
    if (link->state == APP__LINK_WAITS && link->socket >= 0) {
        link->state = APP__LINK_GREETS;
        if (!send_intro(link)) {
            return false;
        }
    }
    if (link->state != APP__LINK_GREETS) {
        return true;
    }
    const size_t whole = link->config.listens ? CONNECTER_BYTES : LISTENER_BYTES;
    return receive_intro(link) && (link->intro_bytes < whole || read_intro(link));
}

// -- messages

static uint8_t *entry_at(const app__queue_t *queue)
{
    return queue->entries + queue->at * queue->entry_bytes;
}

static uint8_t owner_of(const uint8_t *entry)
{
    return __atomic_load_n(entry + AT_OWNER, __ATOMIC_ACQUIRE);
}

app__link_got_t app__link_take(app__link_t *link, app__link_frame_t *frame)
{
    const uint8_t *const entry = entry_at(&link->in);
    const uint8_t owner = owner_of(entry);
    const uint32_t type = owner & ~(uint32_t)OWNED_BY_READER;
    const uint64_t time_ps = sim_get_le64(entry + AT_TIME);
    const uint32_t size_bytes = sim_get_le16(entry + AT_LENGTH);
    if (app__shared_is_cut(&link->shared)) {
        (void)fail(link, "the process made its shared memory of %zu bytes smaller",
                   link->shared.size);
        return APP__LINK_FAILED;
    }
    if ((owner & OWNED_BY_READER) == 0) {
        return APP__LINK_NOTHING;
    }
    if (type == TYPE_TERMINATE) { // its time may be any
        link->state = APP__LINK_ENDED;
        return APP__LINK_OTHER;
    }
    if (type != TYPE_SYNC && type != TYPE_FRAME) {
        (void)fail(link, "the process sent a message of the unknown type 0x%02x", type);
        return APP__LINK_FAILED;
    }
    // Some simulators say the time before they send what was due earlier (sims/net/pktgen).
    const uint64_t least_ps = link->heard_ps - SIM_MIN(link->heard_ps, link->config.latency_ps);
    if (time_ps < least_ps || time_ps >= SIM_TIME_END) {
        (void)fail(link,
                   "its time went back: it sent a message for %" PRIu64 " ps, expected %" PRIu64
                   " ps or later",
                   time_ps, least_ps);
        return APP__LINK_FAILED;
    }
    link->late += time_ps < link->heard_ps;
    link->heard_ps = SIM_MAX(time_ps, link->heard_ps);
    if (type == TYPE_SYNC) {
        return APP__LINK_OTHER;
    }
    const uint64_t most = link->in.entry_bytes - AT_FRAME;
    if (size_bytes < FRAME_MIN || size_bytes > most) {
        (void)fail(link, "the process sent a frame of %" PRIu32 " bytes, expected %u to %" PRIu64,
                   size_bytes, FRAME_MIN, most);
        return APP__LINK_FAILED;
    }
    *frame = (app__link_frame_t){entry + AT_FRAME, size_bytes};
    return APP__LINK_FRAME;
}

void app__link_done(app__link_t *link)
{
    uint8_t *const entry = entry_at(&link->in);
    __atomic_store_n(entry + AT_OWNER, (uint8_t)(entry[AT_OWNER] & ~OWNED_BY_READER),
                     __ATOMIC_RELEASE);
    link->in.at = (link->in.at + 1) % link->in.count;
}

bool app__link_is_dead(const app__link_t *link)
{
    struct pollfd look = {.fd = link->socket, .events = POLLRDHUP};
    return poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

bool app__link_has_room(const app__link_t *link)
{
    return (owner_of(entry_at(&link->out)) & OWNED_BY_READER) == 0;
}

static void put(app__link_t *link, sim_time_t now_ps, uint8_t type)
{
    uint8_t *const entry = entry_at(&link->out);
    sim_put_le64(entry + AT_TIME, now_ps + link->config.latency_ps);
    __atomic_store_n(entry + AT_OWNER, (uint8_t)(OWNED_BY_READER | type), __ATOMIC_RELEASE);
    link->out.at = (link->out.at + 1) % link->out.count;
    link->sent_ps = now_ps;
    link->sent = true;
}

uint32_t app__link_frame_max(const app__link_t *link)
{
    return (uint32_t)SIM_MIN(link->out.entry_bytes - AT_FRAME, (uint64_t)UINT16_MAX);
}

void app__link_send(app__link_t *link, sim_time_t now_ps, const uint8_t *bytes, uint32_t size_bytes)
{
    uint8_t *const entry = entry_at(&link->out);
    sim_put_le16(entry + AT_LENGTH, (uint16_t)size_bytes);
    entry[AT_PORT] = 0;
    memcpy(entry + AT_FRAME, bytes, size_bytes);
    put(link, now_ps, TYPE_FRAME);
}

bool app__link_sync_is_due(const app__link_t *link, sim_time_t now_ps)
{
    return !link->sent || now_ps - link->sent_ps >= link->config.sync_ps;
}

void app__link_sync(app__link_t *link, sim_time_t now_ps)
{
    put(link, now_ps, TYPE_SYNC);
}

void app__link_end(app__link_t *link)
{
    if (link->state == APP__LINK_OPEN && link->error[0] == '\0' && app__link_has_room(link)) {
        put(link, SIM_TIME_END, TYPE_TERMINATE);
    }
    if (link->listener >= 0) {
        (void)unlink(link->config.path);
        (void)close(link->listener);
    }
    if (link->socket >= 0) {
        (void)close(link->socket);
    }
    app__shared_unmap(&link->shared);
    if (link->memory >= 0) {
        (void)close(link->memory);
    }
    link->listener = link->socket = link->memory = -1;
    link->state = APP__LINK_CLOSED;
}
