// SPDX-License-Identifier: Apache-2.0
// programs/sockets/names.c - addresses and names of hosts: those of the scenario, and no others.

#include "programs/sockets/names.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "programs/turn.h"

static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};
static const uint8_t v4_loopback[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};

static bool is_v4(const uint8_t address[16])
{
    return memcmp(address, v4_prefix, sizeof v4_prefix) == 0;
}

bool names_read(const struct sockaddr *address, socklen_t length, program_name_t *name)
{
    memset(name, 0, sizeof *name);
    if (address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        name->port = ntohs(v4.sin_port);
        if (v4.sin_addr.s_addr != htonl(INADDR_ANY)) {
            memcpy(name->address, v4_prefix, sizeof v4_prefix);
            memcpy(name->address + 12, &v4.sin_addr, 4);
        }
        return true;
    }
    if (address->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6) - 4) {
        struct sockaddr_in6 v6 = {0};
        memcpy(&v6, address, length < sizeof v6 ? length : sizeof v6);
        name->port = ntohs(v6.sin6_port);
        memcpy(name->address, &v6.sin6_addr, 16);
        return true;
    }
    return false;
}

socklen_t names_write(int domain, const program_name_t *name, struct sockaddr_storage *address)
{
    memset(address, 0, sizeof *address);
    if (domain == AF_INET) {
        struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(name->port)};
        memcpy(&v4.sin_addr, name->address + 12, 4);
        memcpy(address, &v4, sizeof v4);
        return sizeof v4;
    }
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(name->port)};
    memcpy(&v6.sin6_addr, name->address, 16);
    memcpy(address, &v6, sizeof v6);
    return sizeof v6;
}

void names_put(int domain, const program_name_t *name, struct sockaddr *address, socklen_t *length)
{
    struct sockaddr_storage all;
    if (length == NULL) {
        return;
    }
    const socklen_t bytes = names_write(domain, name, &all);
    if (address != NULL) {
        memcpy(address, &all, *length < bytes ? *length : bytes);
    }
    *length = bytes;
}

// -- the table of hosts, which follows the shared struct

static const program_host_t *host_named(const char *name)
{
    for (uint64_t i = 0; i < turn_shared->host_count; i++) {
        if (strncmp(turn_host(i)->name, name, sizeof turn_host(i)->name) == 0) {
            return turn_host(i);
        }
    }
    return NULL;
}

static const program_host_t *host_with(const uint8_t address[16])
{
    for (uint64_t i = 0; i < turn_shared->host_count; i++) {
        if (memcmp(turn_host(i)->address, address, 16) == 0) {
            return turn_host(i);
        }
    }
    return NULL;
}

bool names_is_host(const uint8_t address[16])
{
    return host_with(address) != NULL;
}

// Finds the address of a name or a number. Returns false if no host has the name.
static bool resolve(const char *node, uint8_t address[16])
{
    struct in_addr v4;
    if (inet_aton(node, &v4) != 0) {
        memcpy(address, v4_prefix, sizeof v4_prefix);
        memcpy(address + 12, &v4, 4);
        return true;
    }
    if (inet_pton(AF_INET6, node, address) == 1) {
        return true;
    }
    const program_host_t *host = host_named(node);
    if (host != NULL) {
        memcpy(address, host->address, 16);
        return true;
    }
    if (strcmp(node, "localhost") == 0) {
        memcpy(address, v4_loopback, 16);
        return true;
    }
    return false;
}

static void print_address(const uint8_t address[16], bool as_v6, char text[INET6_ADDRSTRLEN])
{
    if (is_v4(address) && !as_v6) {
        (void)inet_ntop(AF_INET, address + 12, text, INET6_ADDRSTRLEN);
    } else {
        (void)inet_ntop(AF_INET6, address, text, INET6_ADDRSTRLEN);
    }
}

// -- getaddrinfo: libc does the work with a number instead of the name

PROGRAM_EXPORT int getaddrinfo(const char *restrict node, const char *restrict service,
                               const struct addrinfo *restrict hints,
                               struct addrinfo **restrict result)
{
    uint8_t address[16];
    char text[INET6_ADDRSTRLEN];
    struct addrinfo wish = {.ai_family = AF_UNSPEC};
    if (hints != NULL) {
        wish = *hints;
    }
    if (!turn_on()) {
        return PROGRAM_NEXT(getaddrinfo)(node, service, hints, result);
    }
    wish.ai_flags &= ~AI_ADDRCONFIG;
    if (node == NULL) {
        return PROGRAM_NEXT(getaddrinfo)(node, service, &wish, result);
    }
    const bool numeric = (wish.ai_flags & AI_NUMERICHOST) != 0;
    if ((numeric && (host_named(node) != NULL || strcmp(node, "localhost") == 0)) ||
        !resolve(node, address) || (wish.ai_family == AF_INET && !is_v4(address))) {
        return EAI_NONAME;
    }
    const bool as_v6 = wish.ai_family == AF_INET6 && is_v4(address);
    if (as_v6 && (wish.ai_flags & AI_V4MAPPED) == 0 && host_with(address) == NULL) {
        return EAI_ADDRFAMILY;
    }
    wish.ai_flags = (wish.ai_flags | AI_NUMERICHOST) & ~AI_V4MAPPED;
    print_address(address, as_v6, text);
    const int error = PROGRAM_NEXT(getaddrinfo)(text, service, &wish, result);
    if (error == 0 && *result != NULL && (*result)->ai_canonname != NULL) {
        char *name = strdup(node);
        if (name != NULL) {
            free((*result)->ai_canonname);
            (*result)->ai_canonname = name;
        }
    }
    return error;
}

PROGRAM_EXPORT int getnameinfo(const struct sockaddr *restrict address, socklen_t length,
                               char *restrict host, socklen_t host_bytes, char *restrict service,
                               socklen_t service_bytes, int flags)
{
    program_name_t name;
    if (!turn_on() || !names_read(address, length, &name)) {
        return PROGRAM_NEXT(getnameinfo)(address, length, host, host_bytes, service, service_bytes,
                                         flags);
    }
    const program_host_t *found = host_with(name.address);
    const bool named = host != NULL && host_bytes != 0 && (flags & NI_NUMERICHOST) == 0;
    if (named && found == NULL && (flags & NI_NAMEREQD) != 0) {
        return EAI_NONAME;
    }
    const int error =
        PROGRAM_NEXT(getnameinfo)(address, length, host, host_bytes, service, service_bytes,
                                  (flags & ~NI_NAMEREQD) | NI_NUMERICHOST);
    if (error == 0 && named && found != NULL) {
        return snprintf(host, host_bytes, "%.64s", found->name) < (int)host_bytes ? 0
                                                                                  : EAI_OVERFLOW;
    }
    return error;
}

// -- the older functions, with one static result

typedef struct answer {
    struct hostent entry;
    char *aliases[1];
    char *addresses[2];
    uint8_t address[16];
    char name[NI_MAXHOST];
} answer_t;

// Fills in the answer. Returns false if the host has no address of this family.
static bool answer_fill(answer_t *answer, const char *name, const uint8_t address[16], int family)
{
    const bool v4 = is_v4(address);
    if (family == AF_INET && !v4) {
        return false;
    }
    memset(answer, 0, sizeof *answer);
    snprintf(answer->name, sizeof answer->name, "%s", name);
    memcpy(answer->address, family == AF_INET ? address + 12 : address, family == AF_INET ? 4 : 16);
    answer->addresses[0] = (char *)answer->address;
    answer->entry = (struct hostent){.h_name = answer->name,
                                     .h_aliases = answer->aliases,
                                     .h_addrtype = family,
                                     .h_length = family == AF_INET ? 4 : 16,
                                     .h_addr_list = answer->addresses};
    return true;
}

static bool answer_find(answer_t *answer, const char *name, int family)
{
    uint8_t address[16];
    return resolve(name, address) && answer_fill(answer, name, address, family);
}

static answer_t last_answer;

PROGRAM_EXPORT struct hostent *gethostbyname2(const char *name, int family)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(gethostbyname2)(name, family);
    }
    if (answer_find(&last_answer, name, family)) {
        return &last_answer.entry;
    }
    h_errno = HOST_NOT_FOUND;
    return NULL;
}

PROGRAM_EXPORT struct hostent *gethostbyname(const char *name)
{
    return turn_on() ? gethostbyname2(name, AF_INET) : PROGRAM_NEXT(gethostbyname)(name);
}

PROGRAM_EXPORT int gethostbyname2_r(const char *restrict name, int family,
                                    struct hostent *restrict entry, char *restrict room,
                                    size_t room_bytes, struct hostent **restrict result,
                                    int *restrict error)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(gethostbyname2_r)(name, family, entry, room, room_bytes, result, error);
    }
    const size_t skip = (16 - (uintptr_t)room % 16) % 16;
    *result = NULL;
    if (room_bytes < sizeof(answer_t) + skip) {
        *error = NETDB_INTERNAL;
        return ERANGE;
    }
    answer_t *answer = (answer_t *)(void *)(room + skip);
    if (!answer_find(answer, name, family)) {
        *error = HOST_NOT_FOUND;
        return 0;
    }
    *entry = answer->entry;
    *result = entry;
    return 0;
}

PROGRAM_EXPORT int gethostbyname_r(const char *restrict name, struct hostent *restrict entry,
                                   char *restrict room, size_t room_bytes,
                                   struct hostent **restrict result, int *restrict error)
{
    return turn_on() ? gethostbyname2_r(name, AF_INET, entry, room, room_bytes, result, error)
                     : PROGRAM_NEXT(gethostbyname_r)(name, entry, room, room_bytes, result, error);
}

PROGRAM_EXPORT struct hostent *gethostbyaddr(const void *address, socklen_t length, int family)
{
    uint8_t all[16];
    if (!turn_on()) {
        return PROGRAM_NEXT(gethostbyaddr)(address, length, family);
    }
    if (family == AF_INET && length == 4) {
        memcpy(all, v4_prefix, sizeof v4_prefix);
        memcpy(all + 12, address, 4);
    } else if (family == AF_INET6 && length == 16) {
        memcpy(all, address, 16);
    } else {
        h_errno = NO_RECOVERY;
        return NULL;
    }
    const program_host_t *host = host_with(all);
    if (host == NULL || !answer_fill(&last_answer, host->name, all, family)) {
        h_errno = HOST_NOT_FOUND;
        return NULL;
    }
    return &last_answer.entry;
}

// -- the program's own host

PROGRAM_EXPORT int gethostname(char *name, size_t bytes)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(gethostname)(name, bytes);
    }
    if (snprintf(name, bytes, "%.63s", turn_shared->host_name) >= (int)bytes) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}

int __gethostname_chk(char *name, size_t bytes, size_t room);
PROGRAM_EXPORT int __gethostname_chk(char *name, size_t bytes, size_t room)
{
    return gethostname(name, bytes < room ? bytes : room);
}

// Texts are the same on every machine, so that what programs print is, too.
PROGRAM_EXPORT int uname(struct utsname *name)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(uname)(name);
    }
    memset(name, 0, sizeof *name);
    (void)snprintf(name->sysname, sizeof name->sysname, "Linux");
    (void)snprintf(name->nodename, sizeof name->nodename, "%.63s", turn_shared->host_name);
    (void)snprintf(name->release, sizeof name->release, "6.1.0-rocesim");
    (void)snprintf(name->version, sizeof name->version, "#1 SMP rocesim");
    (void)snprintf(name->machine, sizeof name->machine, "x86_64");
    (void)snprintf(name->domainname, sizeof name->domainname, "(none)");
    return 0;
}
