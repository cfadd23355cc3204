// SPDX-License-Identifier: Apache-2.0
// studio/server/data/packets/packet_file.c - summaries of frames, names of addresses, filters.
#include "studio/server/data/packets/packet_file.h"
#include "net/frame.h"

#include "kernel/bytes.h"
#include "net/frame_opcodes.h"
#include "net/wire/layout.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILTER_BYTES_MAX 1000u
#define NAMES_MAX 1000000u

void studio_packet_address(const uint8_t *address, bool ipv6, char *text)
{
    text[0] = '\0';
    (void)inet_ntop(ipv6 ? AF_INET6 : AF_INET, address, text, 64);
}

static void brief_bth(const uint8_t *bth, size_t left, studio_brief_t *brief)
{
    if (left < ROCE_BTH_BYTES) {
        return;
    }
    brief->has_bth = true;
    brief->opcode = bth[ROCE_BTH_AT_OPCODE];
    brief->qp = sim_get_be24(bth + ROCE_BTH_AT_DESTINATION_QP);
    brief->psn = sim_get_be24(bth + ROCE_BTH_AT_PSN);
    const char *name = net_frame_opcode_name(brief->opcode);
    const uint32_t extensions = net_frame_extensions(brief->opcode);
    if ((extensions & NET_EXT_AETH) != 0 && left >= ROCE_BTH_BYTES + ROCE_AETH_BYTES) {
        brief->has_aeth = true;
        brief->syndrome = bth[ROCE_BTH_BYTES + ROCE_AETH_AT_SYNDROME];
    }
    if (brief->opcode == ROCE_ACKNOWLEDGE && brief->has_aeth) {
        const unsigned type = brief->syndrome & 0x60u;
        name = type == ROCE_SYNDROME_NAK       ? "RC NAK"
               : type == ROCE_SYNDROME_RNR_NAK ? "RC RNR NAK"
                                               : name;
    }
    (void)snprintf(brief->kind, sizeof(brief->kind), "%s", name);
}

static void brief_ip(const uint8_t *ip, size_t left, studio_brief_t *brief)
{
    const size_t head = brief->ipv6 ? NET_IPV6_BYTES : NET_IPV4_BYTES;
    const size_t address_bytes = brief->ipv6 ? 16 : 4;
    if (left < head) {
        return;
    }
    brief->has_ip = true;
    if (brief->ipv6) {
        brief->ecn = (uint8_t)(sim_get_be16(ip) >> 4 & 3);
        memcpy(brief->source_ip, ip + NET_IPV6_AT_SOURCE, address_bytes);
        memcpy(brief->destination_ip, ip + NET_IPV6_AT_DESTINATION, address_bytes);
    } else {
        brief->ecn = ip[NET_IPV4_AT_TOS] & 3;
        memcpy(brief->source_ip, ip + NET_IPV4_AT_SOURCE, address_bytes);
        memcpy(brief->destination_ip, ip + NET_IPV4_AT_DESTINATION, address_bytes);
    }
    const uint8_t protocol = ip[brief->ipv6 ? NET_IPV6_AT_NEXT_HEADER : NET_IPV4_AT_PROTOCOL];
    const bool plain = brief->ipv6 || ip[0] == NET_IPV4_VERSION_5_WORDS;
    const uint8_t *const udp = ip + head;
    if (protocol != NET_IP_PROTOCOL_UDP || !plain || left < head + NET_UDP_BYTES) {
        return;
    }
    brief->source_port = sim_get_be16(udp + NET_UDP_AT_SOURCE_PORT);
    if (sim_get_be16(udp + NET_UDP_AT_DESTINATION_PORT) == ROCE_UDP_PORT) {
        brief_bth(udp + NET_UDP_BYTES, left - head - NET_UDP_BYTES, brief);
    }
}

void studio_packet_brief(const uint8_t *bytes, size_t size, studio_brief_t *brief)
{
    *brief = (studio_brief_t){.kind = "other", .priority = 0xff};
    if (size < NET_ETHERNET_BYTES) {
        return;
    }
    memcpy(brief->source_mac, bytes + NET_ETHERNET_AT_SOURCE, NET_MAC_BYTES);
    size_t at = NET_ETHERNET_BYTES;
    uint16_t type = sim_get_be16(bytes + NET_ETHERNET_AT_TYPE);
    if (type == NET_ETHERTYPE_VLAN && size >= at + NET_VLAN_BYTES) {
        brief->priority = (uint8_t)(sim_get_be16(bytes + at) >> NET_VLAN_PCP_SHIFT);
        type = sim_get_be16(bytes + at + 2);
        at += NET_VLAN_BYTES;
    }
    if (type == NET_ETHERTYPE_MAC_CONTROL && size >= at + NET_PFC_BYTES) {
        const uint8_t classes = bytes[at + NET_PFC_AT_CLASSES + 1];
        bool pause = false;
        for (unsigned i = 0; i < NET_PRIORITIES; i++) {
            if ((classes >> i & 1) != 0) {
                brief->priority = brief->priority == 0xff ? (uint8_t)i : brief->priority;
                pause = pause || sim_get_be16(bytes + at + NET_PFC_AT_QUANTA + 2 * (size_t)i) > 0;
            }
        }
        (void)snprintf(brief->kind, sizeof(brief->kind), "%s", pause ? "PFC pause" : "PFC resume");
    } else if (type == NET_ETHERTYPE_IPV4 || type == NET_ETHERTYPE_IPV6) {
        brief->ipv6 = type == NET_ETHERTYPE_IPV6;
        brief_ip(bytes + at, size - at, brief);
    }
}

// -- names

typedef struct name {
    char *address;
    char *name;
} name_t;

struct studio_names {
    name_t *names; // sorted by address
    size_t count;
    size_t capacity;
};

static int by_address(const void *a, const void *b)
{
    return strcmp(((const name_t *)a)->address, ((const name_t *)b)->address);
}

static void read_names(studio_names_t *names, const char *path)
{
    FILE *const stream = fopen(path, "rbe");
    char line[1024];
    while (stream != NULL && fgets(line, sizeof(line), stream) != NULL &&
           names->count < NAMES_MAX) {
        char *const gap = strpbrk(line, " \t");
        if (gap == NULL || line[0] == '#') {
            continue;
        }
        *gap = '\0';
        const char *const name = gap + 1 + strspn(gap + 1, " \t");
        SIM_APPEND(
            names->names, names->count, names->capacity,
            (name_t){sim_strdup(line), sim_format("%.*s", (int)strcspn(name, " \t\r\n"), name)});
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
}

studio_names_t *studio_names_read(const char *result)
{
    static const char *const files[] = {"hosts", "ethers"};
    studio_names_t *const names = sim_alloc(sizeof(*names));
    for (size_t i = 0; i < SIM_COUNT_OF(files); i++) {
        char *const path = sim_format("%s/%s", result, files[i]);
        read_names(names, path);
        sim_free(path);
    }
    SIM_CHECK(names->count <= NAMES_MAX);
    if (names->count > 0) {
        qsort(names->names, names->count, sizeof(*names->names), by_address);
    }
    return names;
}

void studio_names_destroy(studio_names_t *names)
{
    for (size_t i = 0; i < names->count; i++) {
        sim_free(names->names[i].address);
        sim_free(names->names[i].name);
    }
    sim_free(names->names);
    sim_free(names);
}

const char *studio_names_of(const studio_names_t *names, const char *address)
{
    size_t from = 0;
    size_t to = names->count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const int order = strcmp(names->names[middle].address, address);
        if (order == 0) {
            return names->names[middle].name;
        }
        if (order < 0) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return NULL;
}

const char *studio_names_find(const studio_names_t *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->names[i].name, name) == 0) {
            return names->names[i].address;
        }
    }
    return NULL;
}

// -- filters

struct studio_packet_filter {
    struct bpf_program program;
};

// Returns whether a word belongs to libpcap's language; libpcap would look up any other word as the
// name of a host, network or port.
static bool is_word_of_pcap(const char *word)
{
    static const char *const words[] = {
        "and",   "or",   "not",  "host",    "src", "dst",       "net",       "port", "portrange",
        "ether", "ip",   "ip6",  "udp",     "tcp", "icmp",      "icmp6",     "arp",  "rarp",
        "proto", "vlan", "less", "greater", "len", "broadcast", "multicast", "mask", "protochain",
    };
    for (size_t i = 0; i < SIM_COUNT_OF(words); i++) {
        if (strcmp(words[i], word) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_decimal(const char *text, size_t size, size_t digits, unsigned most)
{
    unsigned long value = 0;
    for (size_t i = 0; i < size; i++) {
        if (isdigit((unsigned char)text[i]) == 0) {
            return false;
        }
        value = 10 * value + (unsigned long)(text[i] - '0');
    }
    return size > 0 && size <= digits && value <= most;
}

// Returns whether text is empty or a prefix length of an address, such as "/24".
static bool is_prefix(const char *text, unsigned most)
{
    return *text == '\0' || (*text == '/' && is_decimal(text + 1, strlen(text + 1), 3, most));
}

// Returns whether a word is an IPv4 address: 10, 10.0, 10.0.0 or 10.0.0.1, with an optional prefix.
static bool is_dotted(const char *word)
{
    for (int part = 0; part < 4; part++) {
        const size_t size = strcspn(word, "./");
        if (!is_decimal(word, size, 3, 255)) {
            return false;
        }
        word += size;
        if (*word != '.') {
            return is_prefix(word, 32);
        }
        word++;
    }
    return false;
}

// Returns whether a word is an Ethernet address, aa:bb:cc:dd:ee:ff.
static bool is_mac(const char *word)
{
    for (int part = 0; part < 6; part++) {
        const size_t size = strspn(word, "0123456789abcdefABCDEF");
        if (size == 0 || size > 2 || word[size] != (part < 5 ? ':' : '\0')) {
            return false;
        }
        word += size + 1;
    }
    return true;
}

static bool is_ipv6(const char *word)
{
    char text[64];
    struct in6_addr address;
    const size_t size = strcspn(word, "/");
    if (size >= sizeof(text) || !is_prefix(word + size, 128)) {
        return false;
    }
    memcpy(text, word, size);
    text[size] = '\0';
    return inet_pton(AF_INET6, text, &address) == 1;
}

// Returns whether a word gives bytes of a packet by two numbers, as in ip6[40:2].
static bool is_slice(const char *word)
{
    const size_t size = strcspn(word, ":");
    return word[size] == ':' && is_decimal(word, size, 5, 65535) &&
           is_decimal(word + size + 1, strlen(word + size + 1), 5, 65535);
}

// Returns whether a word is a number or an address in a form that libpcap recognises. libpcap would
// look up other words of digits, such as 1.2.3.4.5, as names.
static bool is_number_or_address(const char *word, bool in_brackets)
{
    if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) {
        const size_t size = strlen(word + 2);
        return size > 0 && size <= 8 && strspn(word + 2, "0123456789abcdefABCDEF") == size;
    }
    return is_decimal(word, strlen(word), 9, 999999999) || is_dotted(word) || is_mac(word) ||
           is_ipv6(word) || (in_brackets && is_slice(word));
}

static sim_err_t take_word(char *to, size_t *size, const char *from, size_t word_size,
                           const studio_names_t *names, bool in_brackets, sim_message_t *message)
{
    char word[256];
    if (word_size >= sizeof(word)) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "the filter has a word of more than 255 characters");
    }
    memcpy(word, from, word_size);
    word[word_size] = '\0';
    const char *put = word;
    if (!is_word_of_pcap(word) && !is_number_or_address(word, in_brackets)) {
        put = names != NULL ? studio_names_find(names, word) : NULL;
        if (put == NULL) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "'%.40s' is no word of the filter language and no host of this run; an "
                            "example is: udp port 4791 and host host1",
                            word);
        }
    }
    const size_t put_size = strlen(put);
    if (*size + put_size + 1 > 4 * FILTER_BYTES_MAX) {
        return sim_fail(message, SIM_ERR_INVALID, "the filter is too long");
    }
    memcpy(to + *size, put, put_size + 1);
    *size += put_size;
    return SIM_OK;
}

#define WORD_SIGNS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/"

// Returns the length of the word at `at`: of a host of the run, whose name may contain '-', or of a
// plain word.
static size_t word_size(const char *at, const studio_names_t *names)
{
    const size_t word = strspn(at, WORD_SIGNS);
    const size_t longer = strcspn(at, " \t\n()[]&|!=<>+*");
    char whole[256];
    if (longer > word && longer < sizeof(whole) && names != NULL) {
        memcpy(whole, at, longer);
        whole[longer] = '\0';
        if (studio_names_find(names, whole) != NULL) {
            return longer;
        }
    }
    return word;
}

// Returns whether this '-' belongs to "portrange 1-2". Any other '-' is a minus and must stand
// alone, because libpcap takes 1-2 for a name.
static bool is_range(const char *text, const char *at)
{
    while (at > text && isdigit((unsigned char)at[-1]) != 0) {
        at--;
    }
    while (at > text && (at[-1] == ' ' || at[-1] == '\t')) {
        at--;
    }
    return at - text >= 9 && strncmp(at - 9, "portrange", 9) == 0;
}

static sim_err_t with_addresses(const char *text, const studio_names_t *names, char *to,
                                sim_message_t *message)
{
    size_t size = 0;
    unsigned depth = 0;
    bool in_brackets = false;
    for (const char *at = text; *at != '\0';) {
        const size_t word = strspn(at, WORD_SIGNS) > 0 ? word_size(at, names) : 0;
        if (word > 0) {
            const sim_err_t error = take_word(to, &size, at, word, names, in_brackets, message);
            if (error != SIM_OK) {
                return error;
            }
            at += word;
            continue;
        }
        depth += *at == '(' || *at == '!';
        in_brackets = *at == '[' || (in_brackets && *at != ']');
        if (depth > 50) {
            return sim_fail(message, SIM_ERR_INVALID, "the filter has more than 50 parentheses");
        }
        if (size + 4 > 4 * FILTER_BYTES_MAX || strchr(" \t\n()[]&|!=<>+-*%^", *at) == NULL) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "the filter contains '%c', which is not allowed there", *at);
        }
        const bool apart = *at == '-' && !is_range(text, at);
        to[size] = ' ';
        size += apart;
        to[size++] = *at++;
        to[size] = ' ';
        size += apart;
    }
    to[size] = '\0';
    return SIM_OK;
}

studio_packet_filter_t *studio_packet_filter_compile(const char *text, const studio_names_t *names,
                                                     sim_message_t *message)
{
    char expression[4 * FILTER_BYTES_MAX + 1];
    if (strlen(text) > FILTER_BYTES_MAX) {
        (void)sim_fail(message, SIM_ERR_INVALID, "the filter has more than 1000 characters");
        return NULL;
    }
    if (with_addresses(text, names, expression, message) != SIM_OK) {
        return NULL;
    }
    pcap_t *const pcap = pcap_open_dead(DLT_EN10MB, (int)STUDIO_PACKET_BYTES_MAX);
    studio_packet_filter_t *filter = sim_alloc(sizeof(*filter));
    if (pcap == NULL ||
        pcap_compile(pcap, &filter->program, expression, 1, PCAP_NETMASK_UNKNOWN) != 0) {
        (void)sim_fail(message, SIM_ERR_INVALID, "libpcap refuses the filter: %s",
                       pcap != NULL ? pcap_geterr(pcap) : "libpcap cannot start");
        sim_free(filter);
        filter = NULL;
    }
    if (pcap != NULL) {
        pcap_close(pcap);
    }
    return filter;
}

bool studio_packet_filter_matches(const studio_packet_filter_t *filter, const uint8_t *bytes,
                                  uint32_t captured, uint32_t size)
{
    const struct pcap_pkthdr head = {.caplen = captured, .len = size};
    return pcap_offline_filter(&filter->program, &head, bytes) != 0;
}

void studio_packet_filter_destroy(studio_packet_filter_t *filter)
{
    if (filter != NULL) {
        pcap_freecode(&filter->program);
        sim_free(filter);
    }
}
