// SPDX-License-Identifier: Apache-2.0
// tests/apps/simbricks/peer.c - a synthetic host of SimBricks, written from its protocol.
//
//     peer connect=PATH|listen=PATH [KEY=NUMBER...] [kind=roce|ipv4|ipv6|vlan|other] [fault=WORD]
//
// The program sends `frames` frames of `bytes` bytes, one each `gap` ps, from the MAC address `mac`
// to `to`, and takes frames until `until` ps. At the end it prints how many it sent and took, how
// many of these had the mark CE or another TTL than `ttl`, and when the first and the last came. It
// ends with status 1 if a frame comes with another content than it was sent with.
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { ENTRIES = 512, ENTRY = 4224, HEAD = 64, OWN = 0x80, SYNC = 0, END = 1, FRAME = 0x40 };

static const char *kind = "roce", *fault = "none", *path = "";
static bool listens;
static uint64_t mac = 1, to = 2, frames, bytes = 1024, gap = 100000, start = 1000000, dscp = 24,
                ecn = 2, ttl = 64, until = 100000000, latency = 500000, interval = 500000,
                fault_at = 20000000;
static uint8_t *memory, *in, *out;
static uint64_t in_bytes = ENTRY, in_count = ENTRIES, out_bytes = ENTRY, out_count = ENTRIES, in_at,
                out_at;
static uint64_t now, said;
static int connection, file = -1;

static void die(const char *why)
{
    fprintf(stderr, "peer %s: %s\n", path, why);
    exit(1);
}

static uint64_t *number(const char *key)
{
    static const struct {
        const char *key;
        uint64_t *value;
    } keys[] = {{"mac", &mac},          {"to", &to},           {"frames", &frames},
                {"bytes", &bytes},      {"gap", &gap},         {"start", &start},
                {"dscp", &dscp},        {"ecn", &ecn},         {"ttl", &ttl},
                {"until", &until},      {"latency", &latency}, {"interval", &interval},
                {"fault_at", &fault_at}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(key, keys[i].key) == 0) {
            return keys[i].value;
        }
    }
    die("unknown key");
    return NULL;
}

// -- connecting

static void map(int shared, size_t size)
{
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    if (memory == MAP_FAILED) {
        die("no memory");
    }
}

static void greet(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    connection = socket(AF_UNIX, SOCK_STREAM, 0);
    if (listens) {
        const int listener = connection;
        unlink(path);
        if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
            listen(listener, 1) != 0) {
            die("cannot listen");
        }
        connection = accept(listener, NULL, NULL);
        file = memfd_create("peer", 0);
        if (ftruncate(file, 2 * ENTRIES * ENTRY) != 0) {
            die("no memory");
        }
        map(file, 2 * ENTRIES * ENTRY);
        out = memory;
        in = memory + ENTRIES * ENTRY;
    } else {
        for (int i = 0; connect(connection, (struct sockaddr *)&address, sizeof(address)) != 0;
             i++) {
            if (i == 1000) {
                die("cannot connect");
            }
            usleep(10000);
        }
    }
    const uint64_t version = strcmp(fault, "version") == 0 ? 2 : 1;
    const uint64_t protocol = strcmp(fault, "protocol") == 0 ? 2 : 1;
    const uint64_t flags = strcmp(fault, "nosync") == 0 ? 0 : 1;
    const uint64_t there = strcmp(fault, "outside") == 0 ? UINT64_C(1) << 40 : ENTRIES * ENTRY;
    uint64_t hello[11] = {version, flags, 0, ENTRY, ENTRIES, there, ENTRY, ENTRIES, protocol, 80};
    if (!listens) {
        hello[2] = protocol;
        hello[3] = 32;
    }
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {hello, (listens ? 80 : 32) + 4};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (listens && strcmp(fault, "nomemory") != 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        struct cmsghdr *const head = CMSG_FIRSTHDR(&message);
        *head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(head), &file, sizeof(file));
    }
    if (strcmp(fault, "short") == 0) {
        part.iov_len = 20;
        (void)sendmsg(connection, &message, 0);
        exit(0);
    }
    if (sendmsg(connection, &message, 0) < 0) {
        die("cannot send");
    }
    uint64_t answer[16];
    struct iovec space = {answer, sizeof(answer)};
    struct msghdr got = {.msg_iov = &space,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    if (recvmsg(connection, &got, 0) < 32 || answer[0] != 1) {
        die("no answer");
    }
    if (!listens) {
        struct stat found;
        memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&got)), sizeof(file));
        fstat(file, &found);
        map(file, (size_t)found.st_size);
        in = memory + answer[2];
        in_bytes = answer[3];
        in_count = answer[4];
        out = memory + answer[5];
        out_bytes = answer[6];
        out_count = answer[7];
    }
}

// -- messages

static void say(uint8_t type, const uint8_t *frame, uint16_t size, uint64_t time)
{
    uint8_t *const entry = out + out_at * out_bytes;
    while ((__atomic_load_n(entry + 63, __ATOMIC_ACQUIRE) & OWN) != 0) {
        usleep(10);
    }
    const uint64_t arrival = time + latency;
    memcpy(entry, &size, 2);
    memcpy(entry + 48, &arrival, 8);
    if (frame != NULL) {
        memcpy(entry + HEAD, frame, size < bytes ? size : bytes);
    }
    __atomic_store_n(entry + 63, OWN | type, __ATOMIC_RELEASE);
    out_at = (out_at + 1) % out_count;
    said = time;
}

static uint16_t sum_of(const uint8_t *ip)
{
    uint32_t sum = 0;
    for (int i = 0; i < 20; i += 2) {
        sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
    }
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t) ~((sum & 0xffff) + (sum >> 16));
}

// Makes frame number `count`. Returns the offset of its IP header; 0: it has none.
static size_t make(uint8_t *frame, uint64_t count)
{
    for (size_t i = 0; i < bytes; i++) {
        frame[i] = (uint8_t)(count * 7 + i);
    }
    memset(frame, 2, 12);
    frame[5] = (uint8_t)to;
    frame[11] = (uint8_t)mac;
    if (to == 255) {
        memset(frame, 255, 6);
    }
    size_t at = 12;
    if (strcmp(kind, "vlan") == 0) {
        memcpy(frame + 12, (uint8_t[]){0x81, 0, (uint8_t)(dscp / 8 << 5), 5}, 4);
        at += 4;
    }
    const bool ipv6 = strcmp(kind, "ipv6") == 0;
    memcpy(frame + at, strcmp(kind, "other") == 0 ? "\x88\xb5" : ipv6 ? "\x86\xdd" : "\x08\x00", 2);
    at += 2;
    if (strcmp(kind, "other") == 0) {
        return 0;
    }
    uint8_t *const ip = frame + at;
    const uint8_t class = (uint8_t)(dscp << 2 | ecn);
    const uint16_t length = (uint16_t)(bytes - at - (ipv6 ? 40 : 0));
    if (ipv6) {
        memcpy(ip,
               (uint8_t[]){(uint8_t)(0x60 | class >> 4), (uint8_t)(class << 4), 0, 0,
                           (uint8_t)(length >> 8), (uint8_t)length, 17, (uint8_t)ttl},
               8);
    } else {
        memcpy(ip,
               (uint8_t[]){0x45,
                           class,
                           (uint8_t)(length >> 8),
                           (uint8_t)length,
                           0,
                           0,
                           0x40,
                           0,
                           (uint8_t)ttl,
                           17,
                           0,
                           0,
                           10,
                           0,
                           0,
                           (uint8_t)mac,
                           10,
                           0,
                           0,
                           (uint8_t)to},
               20);
        const uint16_t sum = sum_of(ip);
        ip[10] = (uint8_t)(sum >> 8);
        ip[11] = (uint8_t)sum;
    }
    uint8_t *const udp = ip + (ipv6 ? 40 : 20);
    const uint16_t rest = (uint16_t)(frame + bytes - udp);
    memcpy(udp,
           (uint8_t[]){0xc0, (uint8_t)count, 18, strcmp(kind, "ipv4") == 0 ? 1 : 183,
                       (uint8_t)(rest >> 8), (uint8_t)rest, 0, 0},
           8);
    memcpy(udp + 8,
           (uint8_t[]){count % 100 == 99 ? 0x81 : 0x04, 0x40, 0xff, 0xff, 0, 0, 0, 17, 0, 0, 0,
                       (uint8_t)count},
           12);
    return at;
}

static uint64_t taken, marked, aged, first_ps, last_ps;

// Compares a frame with the one that the other peer has made: all but ECN, TTL and checksum.
static void take(const uint8_t *entry, uint64_t time)
{
    uint16_t size;
    static uint8_t got[ENTRY], made[ENTRY];
    memcpy(&size, entry, 2);
    memcpy(got, entry + HEAD, size);
    const uint64_t own = mac;
    const uint64_t theirs = got[11];
    const uint64_t destination = got[0] == 255 ? 255 : got[5];
    mac = theirs;
    const uint64_t goal = to;
    to = destination;
    const size_t ip = make(made, (uint64_t)(uint8_t)(got[bytes - 1] - (bytes - 1)) * 183);
    mac = own;
    to = goal;
    if (ip != 0 && got[ip] >> 4 == 4) {
        if (sum_of(got + ip) != 0) {
            die("a frame with a wrong checksum");
        }
        marked += (got[ip + 1] & 3) == 3;
        aged += got[ip + 8] != ttl;
        got[ip + 1] = (uint8_t)((got[ip + 1] & ~3) | ecn);
        memcpy(got + ip + 8, made + ip + 8, 1);
        memcpy(got + ip + 10, made + ip + 10, 2);
    } else if (ip != 0) {
        marked += (got[ip + 1] >> 4 & 3) == 3;
        aged += got[ip + 7] != ttl;
        got[ip + 1] = (uint8_t)((got[ip + 1] & ~0x30) | ecn << 4);
        got[ip + 7] = made[ip + 7];
    }
    const size_t numbered =
        ip == 0 ? 14 : ip + 60; // the headers have more bits of the number than the rest
    if (size != (bytes < 60 ? 60 : bytes) || memcmp(got, made, ip == 0 ? 14 : ip + 4) != 0 ||
        (bytes > numbered && memcmp(got + numbered, made + numbered, bytes - numbered) != 0)) {
        die("a frame with another content");
    }
    first_ps = taken++ == 0 ? time : first_ps;
    last_ps = time;
}

// Takes what has come up to now, waits for the next message, and returns its time.
static uint64_t hear(void)
{
    for (int waits = 0;;) {
        uint8_t *const entry = in + in_at * in_bytes;
        uint64_t time;
        if ((__atomic_load_n(entry + 63, __ATOMIC_ACQUIRE) & OWN) == 0) {
            char byte;
            if (++waits % 100 == 0 && recv(connection, &byte, 1, MSG_DONTWAIT) == 0) {
                die("the network is gone");
            }
            usleep(10);
            continue;
        }
        memcpy(&time, entry + 48, 8);
        if ((entry[63] & 0x7f) == END) {
            return UINT64_MAX;
        }
        if (time > now) {
            return time;
        }
        if ((entry[63] & 0x7f) == FRAME) {
            take(entry, time);
        }
        __atomic_store_n(entry + 63, entry[63] & 0x7f, __ATOMIC_RELEASE);
        in_at = (in_at + 1) % in_count;
    }
}

static void misbehave(void)
{
    static const uint8_t nothing[ENTRY];
    if (strcmp(fault, "die") == 0) {
        exit(3);
    } else if (strcmp(fault, "length") == 0) {
        say(FRAME, nothing, 60000, now);
    } else if (strcmp(fault, "empty") == 0) {
        say(FRAME, nothing, 0, now);
    } else if (strcmp(fault, "back") == 0) {
        say(SYNC, NULL, 0, now - 10 * latency);
    } else if (strcmp(fault, "type") == 0) {
        say(0x23, NULL, 0, now);
    } else if (strcmp(fault, "mute") == 0) {
        sleep(1000);
    } else if (strcmp(fault, "shrink") == 0 || strcmp(fault, "trim") == 0) {
        (void)!ftruncate(file, fault[0] == 's' ? 0 : 4096); // an access would end this process
        sleep(1000);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *const value = strchr(argv[i], '=') + 1;
        value[-1] = '\0';
        if (strcmp(argv[i], "connect") == 0 || strcmp(argv[i], "listen") == 0) {
            path = value;
            listens = argv[i][0] == 'l';
        } else if (strcmp(argv[i], "kind") == 0) {
            kind = value;
        } else if (strcmp(argv[i], "fault") == 0) {
            fault = value;
        } else {
            *number(argv[i]) = strtoull(value, NULL, 10);
        }
    }
    if (bytes > ENTRY - HEAD) {
        die("too long");
    }
    greet();
    uint64_t sent = 0;
    bool faulty = strcmp(fault, "none") != 0;
    say(SYNC, NULL, 0, 0);
    while (now < until) {
        const uint64_t heard = hear();
        if (heard == UINT64_MAX) {
            break;
        }
        const uint64_t send = sent < frames ? start + sent * gap : UINT64_MAX;
        uint64_t next = heard < send ? heard : send;
        next = next < said + interval ? next : said + interval;
        now = next < until ? next : until;
        if (faulty && now >= fault_at) {
            faulty = false;
            misbehave();
        }
        if (now == send) {
            uint8_t frame[ENTRY];
            (void)make(frame, sent++);
            say(FRAME, frame, (uint16_t)bytes, now);
        } else if (now - said >= interval) {
            say(SYNC, NULL, 0, now);
        }
    }
    if (strcmp(fault, "silent") != 0) {
        say(END, NULL, 0, now);
    }
    printf("sent %llu took %llu marked %llu aged %llu first %llu last %llu\n",
           (unsigned long long)sent, (unsigned long long)taken, (unsigned long long)marked,
           (unsigned long long)aged, (unsigned long long)first_ps, (unsigned long long)last_ps);
    if (listens) {
        unlink(path);
    }
    return 0;
}
