// SPDX-License-Identifier: Apache-2.0
// studio/server/data/packets/packet_file.h - filters and decodes untrusted frames of captures.
#ifndef STUDIO_SERVER_DATA_PACKETS_PACKET_FILE_H
#define STUDIO_SERVER_DATA_PACKETS_PACKET_FILE_H

#include "kernel/base.h"

#include <jansson.h>

#define STUDIO_PACKET_BYTES_MAX 65536u // longer than any frame of rocesim or of Ethernet
#define STUDIO_CAPTURE_BYTES_MAX (UINT64_C(1) << 30) // bytes of one uncompressed capture

// The summary of a frame for lists and tables.
typedef struct studio_brief {
    char kind[40]; // "RC WRITE MIDDLE", "PFC", "CNP"; "other"
    bool has_ip;
    bool has_bth;
    uint8_t source_mac[6];
    uint8_t source_ip[16];
    uint8_t destination_ip[16];
    bool ipv6;
    uint16_t source_port;
    uint8_t ecn;
    uint8_t priority; // of the VLAN tag, or the first class of PFC; 0xff: none
    uint32_t qp;
    uint32_t psn;
    uint8_t opcode;
    uint8_t syndrome;
    bool has_aeth;
} studio_brief_t;

// Summarises a frame; reads only bytes that exist.
void studio_packet_brief(const uint8_t *bytes, size_t size, studio_brief_t *brief);
// Writes an address such as "10.0.0.1"; text has 64 bytes.
void studio_packet_address(const uint8_t *address, bool ipv6, char *text);

// The names of addresses in a result folder: hosts and ethers.
typedef struct studio_names studio_names_t;
studio_names_t *studio_names_read(const char *result);
void studio_names_destroy(studio_names_t *names);
// Returns the name of an address; NULL if it has none.
const char *studio_names_of(const studio_names_t *names, const char *address);
// Returns the address of a host; NULL if there is no such host.
const char *studio_names_find(const studio_names_t *names, const char *name);

// Returns the layers of a frame with the bytes of each field, as a JSON array. message says why the
// codec of net/ rejects the frame; it is "" if the codec accepts the frame or the capture cut it.
// transport is the run's nic.transport, or NULL; it identifies the headers of selective transports.
json_t *studio_packet_layers(const uint8_t *bytes, size_t captured, size_t size,
                             const char *transport, const studio_names_t *names,
                             sim_message_t *message);
// Writes one line about the frame.
void studio_packet_info(const uint8_t *bytes, size_t size, char *text, size_t text_size);

// A libpcap filter in which host names of the run stand for their addresses. No other name is
// looked up. Creating it returns NULL, with a message, for a bad filter.
typedef struct studio_packet_filter studio_packet_filter_t;
studio_packet_filter_t *studio_packet_filter_compile(const char *text, const studio_names_t *names,
                                                     sim_message_t *message);
bool studio_packet_filter_matches(const studio_packet_filter_t *filter, const uint8_t *bytes,
                                  uint32_t captured, uint32_t size);
void studio_packet_filter_destroy(studio_packet_filter_t *filter); // NULL is allowed

#endif // STUDIO_SERVER_DATA_PACKETS_PACKET_FILE_H
