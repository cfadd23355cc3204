// SPDX-License-Identifier: Apache-2.0
// studio/tests/test_studio_captures.c - damaged captures, and filters of packets.
//
// Goal: a damaged capture is imported up to the damage, with a message; a filter looks no name up.
// Method: captures written byte by byte; the numbers of imported packets and the messages are read.
// Not pinned: decoding of valid captures (test_studio_data).
#define _GNU_SOURCE // RTLD_NEXT NOLINT(bugprone-reserved-identifier)
#include "tests/check_main.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "kernel/bytes.h"
#include "pcap-out/ng_file.h"
#include "studio/server/data/import/import.h"
#include "studio/server/data/import/table.h"
#include "studio/server/data/packets/packet_file.h"

static char folder[64];
static uint64_t capture_bytes_max;

enum { HEAD = 24, RECORD_HEAD = 16 }; // bytes of pcap's headers

static size_t put_head(uint8_t *bytes, uint32_t magic, uint32_t link_type)
{
    memset(bytes, 0, HEAD);
    sim_put_le32(bytes, magic);
    sim_put_le32(bytes + 16, UINT32_MAX); // a snap length that is believed by nobody
    sim_put_le32(bytes + 20, link_type);
    return HEAD;
}

static size_t put_record(uint8_t *bytes, uint32_t captured, uint32_t size, uint32_t there)
{
    memset(bytes, 0, RECORD_HEAD + there);
    sim_put_le32(bytes + 8, captured);
    sim_put_le32(bytes + 12, size);
    return RECORD_HEAD + there;
}

static bool keep_folder; // for the caller of import_bytes, who removes it

static void remove_folder(void)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0); // NOLINT(cert-env33-c)
}

// Imports one capture of these bytes; what the import says of it.
static json_t *import_bytes(const char *name, const uint8_t *bytes, size_t size)
{
    char path[160];
    (void)snprintf(folder, sizeof(folder), "/tmp/test_studio_captures.%d", (int)getpid());
    (void)mkdir(folder, 0700);
    (void)snprintf(path, sizeof(path), "%s/captures", folder);
    (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof(path), "%s/captures/%s", folder, name);
    FILE *const stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(bytes, 1, size, stream), size);
    fclose(stream);
    json_t *const captures = json_array();
    studio_progress_t progress = {.part = "", .capture_bytes_max = capture_bytes_max};
    sim_message_t message = {.text = ""};
    uint64_t rows = 0;
    const sim_err_t code =
        studio_import_captures(folder, folder, captures, &progress, &rows, &message);
    ck_assert_msg(code == SIM_OK, "%s", message.text);
    ck_assert_uint_eq(json_array_size(captures), 1);
    if (!keep_folder) {
        remove_folder();
    }
    return captures;
}

static void ends(const uint8_t *bytes, size_t size, json_int_t packets, const char *needle)
{
    json_t *const captures = import_bytes("x.pcap", bytes, size);
    const json_t *const capture = json_array_get(captures, 0);
    const char *const message = json_string_value(json_object_get(capture, "message"));
    ck_assert_int_eq(json_integer_value(json_object_get(capture, "packets")), packets);
    ck_assert_msg(needle == NULL ? message == NULL
                                 : message != NULL && strstr(message, needle) != NULL,
                  "%s", message != NULL ? message : "(nothing)");
    json_decref(captures);
}

START_TEST(lies_end_in_a_message)
{
    static uint8_t bytes[4096];
    ends(bytes, 0, 0, "the file is empty");
    ends(bytes, 24, 0, "does not begin like a capture");
    size_t size = put_head(bytes, 0xa1b23c4d, 1);
    ends(bytes, size, 0, NULL);
    ends(bytes, size - 1, 0, "ends in its header");
    size += put_record(bytes + size, 60, 60, 60);
    ends(bytes, size, 1, NULL);
    ends(bytes, size - 1, 0, "ends within a frame");
    ends(bytes, 24 + 7, 0, "ends within");
    put_record(bytes + size, UINT32_MAX, UINT32_MAX, 60);
    ends(bytes, size + 76, 1, "impossible length");
    put_record(bytes + size, 0, 0, 60);
    ends(bytes, size + 76, 1, "impossible length");
    put_record(bytes + size, 1000, 1500, 60);
    ends(bytes, size + 76, 1, "ends within a frame");
    put_head(bytes, 0xa1b23c4d, 113);
    ends(bytes, size, 0, "link type 113");
    put_head(bytes, 0x0a0d0d0a, 1);
    ends(bytes, size, 0, "unknown byte order");
}
END_TEST

// Writes the frames of a small fabric: host0 sends, leaf0 receives the frame and drops it.
static void write_fabric(const char *path)
{
    sim_message_t message = {.text = ""};
    pcap_out_ng_t *file = NULL;
    uint8_t bytes[60] = {0};
    ck_assert_int_eq(pcap_out_ng_open(path, "test", "", &file, &message), SIM_OK);
    const pcap_out_ng_interface_t sender = {.name = "host0->leaf0",
                                            .description = "",
                                            .resolution = 9};
    const pcap_out_ng_interface_t receiver = {.name = "leaf0->host0",
                                              .description = "",
                                              .resolution = 9};
    const uint32_t from = pcap_out_ng_interface(file, &sender);
    const uint32_t to = pcap_out_ng_interface(file, &receiver);
    pcap_out_ng_packet_t packet = {.interface = from,
                                   .time_ps = 1500,
                                   .bytes = bytes,
                                   .captured_bytes = 60,
                                   .original_bytes = 60,
                                   .way = PCAP_OUT_NG_SENT};
    pcap_out_ng_packet(file, &packet);
    packet.interface = to;
    packet.time_ps = 3250;
    packet.way = PCAP_OUT_NG_RECEIVED;
    packet.comments[0] = "dropped: shared buffer full, queue 412 KB";
    packet.comment_count = 1;
    pcap_out_ng_packet(file, &packet);
    ck_assert_int_eq(pcap_out_ng_close(file, &message), SIM_OK);
}

START_TEST(captures_of_the_fabric_have_ports_and_notes)
{
    uint8_t bytes[4096];
    char path[64];
    (void)snprintf(path, sizeof(path), "/tmp/test_studio_fabric.%d", (int)getpid());
    write_fabric(path);
    FILE *const stream = fopen(path, "rb");
    ck_assert_ptr_nonnull(stream);
    const size_t size = fread(bytes, 1, sizeof(bytes), stream);
    fclose(stream);
    unlink(path);
    keep_folder = true;
    json_t *const captures = import_bytes("x.pcapng", bytes, size);
    keep_folder = false;
    const json_t *const capture = json_array_get(captures, 0);
    ck_assert_int_eq(json_integer_value(json_object_get(capture, "packets")), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(capture, "interfaces")), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(capture, "notes")), 1);
    json_decref(captures);
    char table_path[96];
    sim_message_t message = {.text = ""};
    studio_table_t *table = NULL;
    (void)snprintf(table_path, sizeof(table_path), "%s/packets.table", folder);
    ck_assert_msg(studio_table_open(table_path, &table, &message) == SIM_OK, "%s", message.text);
    static const struct {
        uint64_t row;
        const char *column;
        const char *text;
    } cells[] = {
        {0, "port", "host0->leaf0"},
        {0, "way", "sent"},
        {1, "port", "leaf0->host0"},
        {1, "way", "received"},
        {1, "note", "dropped: shared buffer full"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cells); i++) {
        const size_t column = studio_table_find(table, cells[i].column);
        ck_assert_str_eq(studio_table_cell(table, column, cells[i].row).text, cells[i].text);
    }
    const size_t time = studio_table_find(table, "time_ns");
    ck_assert_double_eq(studio_table_cell(table, time, 0).real, 1.5);
    ck_assert_double_eq(studio_table_cell(table, time, 1).real, 3.25);
    studio_table_close(table);
    remove_folder();
    for (size_t cut = 1; cut < size;
         cut += 3) { // a cut file gives its whole frames and one message
        json_t *const some = import_bytes("x.pcapng", bytes, cut);
        ck_assert_int_lt(json_integer_value(json_object_get(json_array_get(some, 0), "packets")),
                         3);
        json_decref(some);
    }
}
END_TEST

START_TEST(compressed_ones_are_cut_where_they_are_damaged)
{
    uint8_t bytes[2048];
    uint8_t packed[4096];
    size_t size = put_head(bytes, 0xa1b23c4d, 1);
    for (int i = 0; i < 10; i++) {
        size += put_record(bytes + size, 60, 60, 60);
        for (size_t j = 0; j < 60; j++) {
            bytes[size - 60 + j] = (uint8_t)sim_mix64((uint64_t)i * 60 + j);
        }
    }
    z_stream stream;
    memset(&stream, 0, sizeof(stream));
    ck_assert_int_eq(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = packed;
    stream.avail_out = sizeof(packed);
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    const size_t packed_size = sizeof(packed) - stream.avail_out;
    (void)deflateEnd(&stream);
    for (size_t cut = 3; cut <= packed_size; cut += 41) {
        json_t *const captures = import_bytes("x.pcap.gz", packed, cut);
        const json_t *const capture = json_array_get(captures, 0);
        ck_assert_int_lt(json_integer_value(json_object_get(capture, "packets")), 11);
        json_decref(captures);
    }
    json_t *const captures = import_bytes("x.pcap.gz", packed, packed_size);
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(captures, 0), "packets")),
                     10);
    json_decref(captures);
    packed[packed_size / 2] ^= 0xff;
    json_decref(import_bytes("x.pcap.gz", packed, packed_size));
}
END_TEST

// A packet of zeros again and again: a thousand bytes of it are a million when they are read.
START_TEST(a_gzip_bomb_ends_at_its_limit)
{
    enum { RECORDS = 64, RECORD = 16000 };
    const size_t most = HEAD + (size_t)RECORDS * (RECORD_HEAD + RECORD);
    uint8_t *const bytes = sim_alloc(most);
    uint8_t *const packed = sim_alloc(most);
    size_t size = put_head(bytes, 0xa1b23c4d, 1);
    for (int i = 0; i < RECORDS; i++) {
        size += put_record(bytes + size, RECORD, RECORD, RECORD);
    }
    z_stream stream;
    memset(&stream, 0, sizeof(stream));
    ck_assert_int_eq(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = packed;
    stream.avail_out = (uInt)most;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    const size_t packed_size = most - stream.avail_out;
    (void)deflateEnd(&stream);
    ck_assert_uint_lt(packed_size, size / 100);
    capture_bytes_max = 100000;
    json_t *const captures = import_bytes("x.pcap.gz", packed, packed_size);
    capture_bytes_max = 0;
    const json_t *const capture = json_array_get(captures, 0);
    ck_assert_int_eq(json_integer_value(json_object_get(capture, "packets")),
                     100000 / (RECORD + RECORD_HEAD));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(capture, "message")),
                                 "more than 100000 bytes uncompressed"));
    json_decref(captures);
    sim_free(packed);
    sim_free(bytes);
}
END_TEST

// Takes the place of the C library's: libpcap asks here, also for addresses in figures, which are
// no question to anybody else.
static unsigned looked_up;
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **result)
{
    typedef int (*ask_fn)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    struct in6_addr address;
    ask_fn ask = NULL;
    void *const known = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&ask, &known, sizeof(ask));
    *result = NULL;
    if (ask != NULL && node != NULL && inet_pton(AF_INET6, node, &address) == 1) {
        return ask(node, service, hints, result);
    }
    looked_up++;
    return EAI_NONAME;
}

START_TEST(filters_look_no_name_up)
{
    static const struct {
        const char *text;
        const char *needle; // NULL: it is one
    } cases[] = {
        {"udp port 4791 and not ether proto 0x8808", NULL},
        {"ip[1] & 3 = 3", NULL},
        {"src host 10.0.0.1 and dst host 10.0.0.6", NULL},
        {"ether host 02:00:00:00:00:0a", NULL},
        {"ip6[48] = 0x81 or host fe80::1", NULL},
        {"len >= 100 && vlan", NULL},
        {"host example.com", "no word of the filter language"},
        {"port http", "no word of the filter language"},
        {"gateway x", "no word of the filter language"},
        {"net localnet", "no word of the filter language"},
        {"udp port", "libpcap"},
        {"'; drop", "not allowed there"},
        {"host 300.1.1.1", "no word of the filter language"},
        {"host 1.2.3.4.5", "no word of the filter language"},
        {"host 1.2.3.4.", "no word of the filter language"},
        {"host 1-2", "libpcap"},
        {"host 10.0.0.1-2", "libpcap"},
        {"net 1..2", "no word of the filter language"},
        {"port 4791-4792-1", "libpcap"},
        {"ether host 1:2:3", "no word of the filter language"},
        {"host 4:2", "no word of the filter language"},
        {"host 0x1g", "no word of the filter language"},
        {"udp portrange 4791-4792", NULL},
        {"net 10.0/16 or net 10.0.0.0/8", NULL},
        {"ip6[40:2] - 1 = 3 or ip[2:2]-20 > 4", NULL},
        {"ip6 net fe80::/10", NULL},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        sim_message_t message = {.text = ""};
        studio_packet_filter_t *const filter =
            studio_packet_filter_compile(cases[i].text, NULL, &message);
        ck_assert_msg((filter != NULL) == (cases[i].needle == NULL) &&
                          (filter != NULL || strstr(message.text, cases[i].needle) != NULL),
                      "%s: %s", cases[i].text, message.text);
        studio_packet_filter_destroy(filter);
    }
    ck_assert_uint_eq(looked_up, 0);
    char deep[900];
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    sim_message_t message = {.text = ""};
    ck_assert_ptr_null(studio_packet_filter_compile(deep, NULL, &message));
}
END_TEST

CHECK_MAIN(CHECK_TEST(lies_end_in_a_message),
           CHECK_TEST(captures_of_the_fabric_have_ports_and_notes),
           CHECK_TEST(compressed_ones_are_cut_where_they_are_damaged),
           CHECK_TEST(a_gzip_bomb_ends_at_its_limit), CHECK_TEST(filters_look_no_name_up))
