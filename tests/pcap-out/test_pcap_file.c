// SPDX-License-Identifier: Apache-2.0
// tests/pcap-out/test_pcap_file.c - capture files (pcap-out/pcap_file.h).
//
// Goal: what was written is what any reader of pcap gets back, bytes are a function of the calls,
// and no trouble goes unreported.
// Method: whole files compared with bytes written out by hand after the format's description
// (draft-ietf-opsawg-pcap); the same files read by libpcap; gzip undone by zlib; files that cannot
// be opened, and /dev/full, which takes no byte.
// Not pinned: how well it compresses; what libpcap's filter language means.
#include "pcap-out/pcap_file.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "kernel/bytes.h"
#include "net/frame.h"
#include "net/frame_opcodes.h"
#include "net/packets.h"
#include "tests/check_main.h"

// Appends a frame if the filter accepts it; returns whether it did.
static bool write_matching(pcap_out_file_t *file, sim_time_t time_ps, const uint8_t *bytes,
                           uint32_t captured_bytes, uint32_t original_bytes)
{
    const bool matches = pcap_out_file_matches(file, bytes, captured_bytes, original_bytes);
    if (matches) {
        pcap_out_file_append(file, time_ps, bytes, captured_bytes, original_bytes);
    }
    return matches;
}

#define PATH_BYTES 256

// A directory of its own for each test; the files made in it are removed by name.
static void make_directory(char *directory)
{
    const char *const base = getenv("TMPDIR");
    snprintf(directory, PATH_BYTES, "%s/rocesim-pcap-XXXXXX", base != NULL ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void join(char *path, const char *directory, const char *name)
{
    ck_assert_int_lt(snprintf(path, PATH_BYTES, "%s/%s", directory, name), PATH_BYTES);
}

static size_t read_file(const char *path, uint8_t *bytes, size_t capacity)
{
    FILE *const file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
    const size_t size = fread(bytes, 1, capacity, file);
    ck_assert_int_eq(fgetc(file), EOF);
    fclose(file);
    return size;
}

static size_t read_gz(const char *path, uint8_t *bytes, unsigned capacity)
{
    gzFile file = gzopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    const int size = gzread(file, bytes, capacity);
    ck_assert_int_ge(size, 0);
    ck_assert_int_eq(gzclose(file), Z_OK); // Z_BUF_ERROR if it was cut
    return (size_t)size;
}

static pcap_out_file_t *open_or_die(const char *path, uint32_t snaplen, const char *filter)
{
    pcap_out_file_t *file = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_msg(pcap_out_file_open(path, snaplen, filter, &file, &message) == SIM_OK, "%s",
                  message.text);
    return file;
}

static void close_or_die(pcap_out_file_t *file)
{
    sim_message_t message = {.text = ""};
    ck_assert_msg(pcap_out_file_close(file, &message) == SIM_OK, "%s", message.text);
}

// A CNP of 74 bytes, or a WRITE with payload of 100 (174 bytes).
static uint32_t make_frame(uint8_t opcode, uint8_t *bytes)
{
    const net_frame_t frame = {
        .ttl = 64,
        .source_ip = {10, 0, 0, 1},
        .destination_ip = {10, 0, 0, 2},
        .udp_source_port = 0xc000,
        .opcode = opcode,
        .pkey = 0xffff,
        .becn = opcode == ROCE_CNP,
        .destination_qp = 17,
        .payload_bytes = opcode == ROCE_CNP ? 0 : 100,
    };
    return (uint32_t)net_frame_build(&frame, bytes, NET_FRAME_BYTES_MAX);
}

static uint32_t make_pfc(uint8_t *bytes)
{
    const net_frame_t frame = {
        .destination_mac = {0x01, 0x80, 0xc2, 0, 0, 1},
        .is_pfc = true,
        .pfc_classes = 8,
        .pfc_quanta = {[3] = 65535},
    };
    return (uint32_t)net_frame_build(&frame, bytes, NET_FRAME_BYTES_MAX);
}

START_TEST(file_is_right_byte_by_byte)
{
    static const uint8_t expected[] = {
        0x4d, 0x3c, 0xb2, 0xa1, 2,    0,    4,    0,    0,   0, 0, 0, // magic, version 2.4
        0,    0,    0,    0,    0xff, 0xff, 0,    0,    1,   0, 0, 0, // snap length, Ethernet
        3,    0,    0,    0,    0xb1, 0x68, 0xde, 0x3a, 5,   0, 0, 0, // 3.987654321 s
        60,   0,    0,    0,    'a',  'b',  'c',  'd',  'e',          // 5 of 60 bytes
    };
    char directory[PATH_BYTES];
    char path[PATH_BYTES];
    make_directory(directory);
    join(path, directory, "a.pcap");
    pcap_out_file_t *const file = open_or_die(path, 0, NULL);
    // The last 999 ps of the nanosecond are cut off, not rounded up.
    ck_assert(write_matching(file, UINT64_C(3987654321999), (const uint8_t *)"abcde", 5, 60));
    ck_assert_uint_eq(pcap_out_file_frames(file), 1);
    close_or_die(file);

    uint8_t bytes[256];
    ck_assert_uint_eq(read_file(path, bytes, sizeof(bytes)), sizeof(expected));
    ck_assert_mem_eq(bytes, expected, sizeof(expected));
    unlink(path);
    rmdir(directory);
}
END_TEST

START_TEST(file_without_frames_is_a_header)
{
    char directory[PATH_BYTES];
    char path[PATH_BYTES];
    make_directory(directory);
    join(path, directory, "empty.pcap.gz");
    close_or_die(open_or_die(path, 96, "udp"));
    uint8_t bytes[64];
    ck_assert_uint_eq(read_gz(path, bytes, sizeof(bytes)), 24);
    ck_assert_uint_eq(sim_get_le32(bytes + 16), 96);
    unlink(path);
    rmdir(directory);
}
END_TEST

START_TEST(libpcap_reads_back_what_was_written)
{
    enum { FRAMES = 1000 };
    char directory[PATH_BYTES];
    char path[PATH_BYTES];
    uint8_t bytes[NET_FRAME_BYTES_MAX];
    make_directory(directory);
    join(path, directory, "many.pcap");
    // 213 days: the last second of the simulation's clock.
    const sim_time_t first_ps = UINT64_MAX - UINT64_MAX % SIM_PS_PER_S - SIM_PS_PER_S;
    pcap_out_file_t *const file = open_or_die(path, 0, NULL);
    for (uint32_t i = 0; i < FRAMES; i++) {
        const uint32_t size = make_frame(i % 2 == 0 ? ROCE_CNP : ROCE_WRITE_ONLY, bytes);
        bytes[0] = (uint8_t)i;
        write_matching(file, first_ps + i * UINT64_C(1234567), bytes, size, size);
    }
    close_or_die(file);

    char trouble[PCAP_ERRBUF_SIZE];
    pcap_t *const pcap =
        pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, trouble);
    ck_assert_msg(pcap != NULL, "%s", trouble);
    ck_assert_int_eq(pcap_datalink(pcap), DLT_EN10MB);
    for (uint32_t i = 0; i < FRAMES; i++) {
        struct pcap_pkthdr *header;
        const u_char *data;
        ck_assert_int_eq(pcap_next_ex(pcap, &header, &data), 1);
        const uint32_t size = make_frame(i % 2 == 0 ? ROCE_CNP : ROCE_WRITE_ONLY, bytes);
        bytes[0] = (uint8_t)i;
        const uint64_t time_ns = (first_ps + i * UINT64_C(1234567)) / 1000;
        ck_assert_uint_eq((uint64_t)header->ts.tv_sec, time_ns / 1000000000);
        ck_assert_uint_eq((uint64_t)header->ts.tv_usec, time_ns % 1000000000);
        ck_assert_uint_eq(header->caplen, size);
        ck_assert_uint_eq(header->len, size);
        ck_assert_mem_eq(data, bytes, size);
    }
    struct pcap_pkthdr *header;
    const u_char *data;
    ck_assert_int_eq(pcap_next_ex(pcap, &header, &data), PCAP_ERROR_BREAK);
    pcap_close(pcap);
    unlink(path);
    rmdir(directory);
}
END_TEST

static void write_some(const char *path)
{
    uint8_t bytes[NET_FRAME_BYTES_MAX];
    pcap_out_file_t *const file = open_or_die(path, 0, "");
    for (uint32_t i = 0; i < 3000; i++) {
        const uint32_t size = make_frame(i % 3 == 0 ? ROCE_CNP : ROCE_WRITE_ONLY, bytes);
        write_matching(file, i * SIM_PS_PER_US, bytes, size, size);
    }
    close_or_die(file);
}

// Compressed, the same bytes; and compressed twice, the same file: no name, no time inside.
START_TEST(gzip_holds_the_same_file)
{
    enum { CAPACITY = 1 << 20 };
    char directory[PATH_BYTES];
    char paths[3][PATH_BYTES];
    static uint8_t bytes[3][CAPACITY];
    make_directory(directory);
    join(paths[0], directory, "a.pcap");
    join(paths[1], directory, "a.pcap.gz");
    join(paths[2], directory, "b.pcap.gz");
    for (int i = 0; i < 3; i++) {
        write_some(paths[i]);
    }
    const size_t plain = read_file(paths[0], bytes[0], CAPACITY);
    ck_assert_uint_eq(plain, 24 + 1000 * (16 + 74) + 2000 * (16 + 174));
    ck_assert_uint_eq(read_gz(paths[1], bytes[1], CAPACITY), plain);
    ck_assert_mem_eq(bytes[0], bytes[1], plain);

    const size_t packed = read_file(paths[1], bytes[1], CAPACITY);
    ck_assert_uint_lt(packed, plain / 10);
    ck_assert_uint_eq(read_file(paths[2], bytes[2], CAPACITY), packed);
    ck_assert_mem_eq(bytes[1], bytes[2], packed);
    ck_assert_mem_eq(bytes[1], "\x1f\x8b\x08\0\0\0\0\0", 8); // no flags, no time (RFC 1952)
    for (int i = 0; i < 3; i++) {
        unlink(paths[i]);
    }
    rmdir(directory);
}
END_TEST

START_TEST(filter_chooses_frames)
{
    static const struct {
        const char *filter;
        uint64_t frames; // of a CNP, a WRITE and a PFC frame
    } rows[] = {
        {NULL, 3},
        {"", 3},
        {"udp port 4791", 2},
        {"udp[8] = 0x81", 1},
        {"ether proto 0x8808", 1},
        {"greater 100", 1},
        {"host 10.0.0.2 and not udp[8] = 0x81", 1},
        {"tcp", 0},
    };
    char directory[PATH_BYTES];
    char path[PATH_BYTES];
    uint8_t bytes[3][NET_FRAME_BYTES_MAX];
    const uint32_t sizes[3] = {make_frame(ROCE_CNP, bytes[0]),
                               make_frame(ROCE_WRITE_ONLY, bytes[1]), make_pfc(bytes[2])};
    make_directory(directory);
    join(path, directory, "filtered.pcap");
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        ck_assert_int_eq(pcap_out_filter_check(rows[i].filter, NULL), SIM_OK);
        pcap_out_file_t *const file = open_or_die(path, 0, rows[i].filter);
        uint64_t taken = 0;
        size_t size_bytes = 24;
        for (size_t k = 0; k < 3; k++) {
            if (write_matching(file, k, bytes[k], sizes[k], sizes[k])) {
                taken++;
                size_bytes += 16 + sizes[k];
            }
        }
        ck_assert_uint_eq(taken, rows[i].frames);
        ck_assert_uint_eq(pcap_out_file_frames(file), rows[i].frames);
        close_or_die(file);
        static uint8_t contents[4096];
        ck_assert_uint_eq(read_file(path, contents, sizeof(contents)), size_bytes);
    }
    unlink(path);
    rmdir(directory);
}
END_TEST

// The filter reads byte 42 of a frame of which 14 are kept.
START_TEST(snap_length_cuts_after_the_filter)
{
    char directory[PATH_BYTES];
    char path[PATH_BYTES];
    uint8_t frame[NET_FRAME_BYTES_MAX];
    uint8_t bytes[256];
    make_directory(directory);
    join(path, directory, "cut.pcap");
    pcap_out_file_t *const file = open_or_die(path, 14, "udp[8] = 0x81");
    const uint32_t size = make_frame(ROCE_CNP, frame);
    ck_assert(write_matching(file, 0, frame, size, size));
    close_or_die(file);
    ck_assert_uint_eq(read_file(path, bytes, sizeof(bytes)), 24 + 16 + 14);
    ck_assert_uint_eq(sim_get_le32(bytes + 16), 14);
    ck_assert_uint_eq(sim_get_le32(bytes + 24 + 8), 14);
    ck_assert_uint_eq(sim_get_le32(bytes + 24 + 12), size);
    ck_assert_mem_eq(bytes + 40, frame, 14);
    unlink(path);
    rmdir(directory);
}
END_TEST

START_TEST(wrong_filter_is_refused_before_the_file_exists)
{
    char directory[PATH_BYTES];
    char path[PATH_BYTES];
    make_directory(directory);
    join(path, directory, "never.pcap");
    sim_message_t message = {.text = ""};
    pcap_out_file_t *file = NULL;
    ck_assert_int_eq(pcap_out_file_open(path, 0, "udp prot 4791", &file, &message),
                     SIM_ERR_INVALID);
    ck_assert_ptr_null(file);
    ck_assert_msg(strstr(message.text, "capture filter \"udp prot 4791\": ") != NULL &&
                      strstr(message.text, "syntax error") != NULL,
                  "%s", message.text);
    ck_assert_int_ne(access(path, F_OK), 0);
    rmdir(directory);

    ck_assert_int_eq(pcap_out_filter_check("port", &message), SIM_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(message.text, "capture filter \"port\": "));
    ck_assert_int_eq(pcap_out_filter_check("port", NULL), SIM_ERR_INVALID);
}
END_TEST

START_TEST(snap_length_has_a_range)
{
    sim_message_t message = {.text = ""};
    pcap_out_file_t *file = NULL;
    ck_assert_int_eq(pcap_out_file_open("/dev/null", 262145, NULL, &file, &message), SIM_ERR_RANGE);
    ck_assert_ptr_nonnull(strstr(message.text, "snap length 262145"));
    close_or_die(open_or_die("/dev/null", 262144, NULL));
}
END_TEST

START_TEST(file_that_cannot_be_created_is_an_error)
{
    static const char *const paths[] = {"/nowhere/at/all.pcap", "/nowhere/at/all.pcap.gz", "/tmp"};
    for (size_t i = 0; i < SIM_COUNT_OF(paths); i++) {
        sim_message_t message = {.text = ""};
        pcap_out_file_t *file = NULL;
        ck_assert_int_eq(pcap_out_file_open(paths[i], 0, NULL, &file, &message), SIM_ERR_IO);
        ck_assert_ptr_null(file);
        ck_assert_msg(strncmp(message.text, paths[i], strlen(paths[i])) == 0, "%s", message.text);
        ck_assert_ptr_nonnull(strstr(message.text, "cannot be created: "));
    }
}
END_TEST

// Each frame for itself fits the buffers; the error comes at close. Many show it while writing.
START_TEST(full_disk_is_an_error)
{
    char directory[PATH_BYTES];
    char packed[PATH_BYTES];
    make_directory(directory);
    join(packed, directory, "full.pcap.gz");
    ck_assert_int_eq(symlink("/dev/full", packed), 0);
    const char *const paths[] = {"/dev/full", packed};
    static uint8_t noise[4096];
    for (uint32_t i = 0; i < sizeof(noise); i++) {
        noise[i] = (uint8_t)(sim_mix64(i) >> 32);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(paths); i++) {
        for (uint32_t frames = 0; frames <= 1000; frames += 500) {
            pcap_out_file_t *const file = open_or_die(paths[i], 0, NULL);
            for (uint32_t k = 0; k < frames; k++) {
                noise[k % sizeof(noise)]++;
                write_matching(file, k, noise, sizeof(noise), sizeof(noise));
            }
            ck_assert_uint_eq(pcap_out_file_frames(file), frames);
            char expected[2 * PATH_BYTES];
            snprintf(expected, sizeof(expected), "%s: %s", paths[i], strerror(ENOSPC));
            sim_message_t message = {.text = ""};
            ck_assert_int_eq(pcap_out_file_close(file, &message), SIM_ERR_IO);
            ck_assert_str_eq(message.text, expected);
        }
    }
    unlink(packed);
    rmdir(directory);
}
END_TEST

CHECK_MAIN(CHECK_TEST(file_is_right_byte_by_byte), CHECK_TEST(file_without_frames_is_a_header),
           CHECK_TEST(libpcap_reads_back_what_was_written), CHECK_TEST(gzip_holds_the_same_file),
           CHECK_TEST(filter_chooses_frames), CHECK_TEST(snap_length_cuts_after_the_filter),
           CHECK_TEST(wrong_filter_is_refused_before_the_file_exists),
           CHECK_TEST(snap_length_has_a_range), CHECK_TEST(file_that_cannot_be_created_is_an_error),
           CHECK_TEST(full_disk_is_an_error))
