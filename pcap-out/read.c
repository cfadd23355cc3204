// SPDX-License-Identifier: Apache-2.0
// pcap-out/read.c - reads the blocks of capture files.
//
// Sources: IETF drafts draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng.
#include "pcap-out/read.h"

#include "pcap-out/pcapng/ng_layout.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define BLOCK_BYTES_MAX (1u << 24) // longer blocks are taken for broken files
#define INTERFACES_MAX (1u << 22)
#define PCAP_HEADER_BYTES 24u
#define PCAP_RECORD_BYTES 16u
#define MAGIC_MICROSECONDS 0xa1b2c3d4u
#define MAGIC_NANOSECONDS 0xa1b23c4du
#define LINK_TYPE_MASK 0xffffu
#define RESOLUTION_DEFAULT 6u
#define RESOLUTION_BINARY 0x80u
#define S_PER_DAY 86400u
#define DAYS_WITHOUT_DATE 100u // a later first frame has a date

typedef struct interface {
    pcap_out_read_interface_t seen;
    uint64_t units_per_s;
    int64_t offset_s; // added to all times
} interface_t;

struct pcap_out_reader {
    char *path;
    gzFile file;
    bool is_ng;
    bool swapped;
    uint64_t offset; // of the next byte in the file
    uint8_t *block;
    size_t capacity;
    interface_t *interfaces;
    uint32_t interface_count;
    size_t interface_capacity;
    uint32_t section_first; // number of the section's first interface
    bool has_origin;
    uint64_t origin_s;
    char *comment;
    char *texts[PCAP_OUT_NG_COMMENTS_MAX]; // of the present frame
    uint32_t text_count;
};

static sim_err_t broken(const pcap_out_reader_t *reader, const char *what, sim_message_t *message)
{
    return sim_fail(message, SIM_ERR_INVALID,
                    "%s: %s at byte %" PRIu64 ", expected a whole pcap or pcapng file",
                    reader->path, what, reader->offset);
}

static uint32_t u32(const pcap_out_reader_t *reader, const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return reader->swapped ? __builtin_bswap32(value) : value;
}

static uint16_t u16(const pcap_out_reader_t *reader, const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof(value));
    return reader->swapped ? __builtin_bswap16(value) : value;
}

static uint64_t u64(const pcap_out_reader_t *reader, const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return reader->swapped ? __builtin_bswap64(value) : value;
}

// Reads `size` bytes into the block from `at`. Returns false at the end of the file; *short is true
// if some bytes came.
static bool take(pcap_out_reader_t *reader, size_t at, size_t size, bool *is_short)
{
    SIM_RESERVE(reader->block, at + size, &reader->capacity);
    const int got = gzread(reader->file, reader->block + at, (unsigned)size);
    reader->offset += got > 0 ? (uint64_t)got : 0;
    *is_short = got != 0 && (size_t)got != size;
    return size == 0 || (got > 0 && (size_t)got == size);
}

static void set_text(char **text, const uint8_t *bytes, size_t size)
{
    sim_free(*text);
    *text = sim_format("%.*s", (int)size, (const char *)bytes);
}

// -- opening

// Returns what is wrong with a file that begins with four bytes of no capture.
static const char *other_file(const uint8_t *bytes)
{
    static const struct {
        const char *bytes;
        const char *what;
    } others[] = {
        {"\x28\xb5\x2f\xfd", "the file is compressed by zstd, and not by gzip"},
        {"\xfd"
         "7zX",
         "the file is compressed by xz, and not by gzip"},
        {"BZh9", "the file is compressed by bzip2, and not by gzip"},
        {"\x04\x22\x4d\x18", "the file is compressed by lz4, and not by gzip"},
        {"PK\x03\x04", "the file is an archive of zip"},
        {"snoo", "the file is a capture of snoop"},
        {"\xa1\xb2\xcd\x34", "the file is a pcap with more fields (Kuznetzov's)"},
        {"\x34\xcd\xb2\xa1", "the file is a pcap with more fields (Kuznetzov's)"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(others); i++) {
        if (memcmp(bytes, others[i].bytes, 4) == 0) {
            return others[i].what;
        }
    }
    return "the file does not begin like a capture";
}

// Fails for frames other than Ethernet's, with their link type.
static sim_err_t other_frames(const pcap_out_reader_t *reader, uint32_t link_type,
                              sim_message_t *message)
{
    static const struct {
        uint32_t type;
        const char *what;
    } types[] = {
        {0, "of a loopback interface"},
        {12, "IP packets"},
        {101, "IP packets"},
        {105, "of a wireless network"},
        {113, "of several interfaces (tcpdump -i any)"},
        {197, "ERF records"},
        {228, "IP packets"},
        {229, "IP packets"},
        {247, "InfiniBand's"},
        {276, "of several interfaces (tcpdump -i any)"},
    };
    const char *what = "not Ethernet's";
    for (size_t i = 0; i < SIM_COUNT_OF(types); i++) {
        what = types[i].type == link_type ? types[i].what : what;
    }
    return sim_fail(message, SIM_ERR_INVALID,
                    "%s: the frames are %s (link type %" PRIu32 "), expected a capture of one "
                    "Ethernet interface",
                    reader->path, what, link_type);
}

static interface_t *new_interface(pcap_out_reader_t *reader)
{
    SIM_GROW(reader->interfaces, reader->interface_count, &reader->interface_capacity);
    interface_t *const made = &reader->interfaces[reader->interface_count++];
    *made = (interface_t){.seen = {.name = sim_strdup(""),
                                   .description = sim_strdup(""),
                                   .resolution = RESOLUTION_DEFAULT},
                          .units_per_s = 1000000};
    return made;
}

static sim_err_t open_pcap(pcap_out_reader_t *reader, uint32_t magic, sim_message_t *message)
{
    bool is_short = false;
    if (!take(reader, 4, PCAP_HEADER_BYTES - 4, &is_short)) {
        return broken(reader, "the file ends in its header", message);
    }
    const uint32_t link_type = u32(reader, reader->block + 20) & LINK_TYPE_MASK;
    if (link_type != NG_ETHERNET) {
        return other_frames(reader, link_type, message);
    }
    interface_t *const one = new_interface(reader);
    one->seen.resolution = magic == MAGIC_NANOSECONDS ? 9 : 6;
    one->units_per_s = magic == MAGIC_NANOSECONDS ? 1000000000 : 1000000;
    one->seen.snaplen_bytes = u32(reader, reader->block + 16);
    return SIM_OK;
}

sim_err_t pcap_out_reader_open(const char *path, pcap_out_reader_t **reader, sim_message_t *message)
{
    struct stat status;
    *reader = NULL;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        return sim_fail(message, SIM_ERR_INVALID, "%s: is a folder, expected a capture", path);
    }
    errno = 0;
    gzFile const file = gzopen(path, "rb");
    if (file == NULL) {
        return sim_fail(message, SIM_ERR_IO, "%s: cannot be read: %s", path,
                        strerror(errno != 0 ? errno : ENOMEM));
    }
    pcap_out_reader_t *const made = sim_alloc(sizeof(*made));
    *made = (pcap_out_reader_t){.path = sim_strdup(path), .file = file, .comment = sim_strdup("")};
    bool is_short = false;
    sim_err_t error = SIM_OK;
    if (!take(made, 0, 4, &is_short)) {
        error =
            broken(made, is_short ? "the file ends in its header" : "the file is empty", message);
    } else {
        const uint32_t magic = u32(made, made->block);
        const uint32_t turned = __builtin_bswap32(magic);
        made->is_ng = magic == NG_BLOCK_SECTION;
        made->swapped = turned == MAGIC_MICROSECONDS || turned == MAGIC_NANOSECONDS;
        const uint32_t right = made->swapped ? turned : magic;
        if (!made->is_ng) {
            error = right == MAGIC_MICROSECONDS || right == MAGIC_NANOSECONDS
                        ? open_pcap(made, right, message)
                        : broken(made, other_file(made->block), message);
        }
    }
    if (error != SIM_OK) {
        pcap_out_reader_close(made);
        return error;
    }
    *reader = made;
    return SIM_OK;
}

// -- blocks of pcapng

typedef void (*option_fn)(pcap_out_reader_t *reader, uint16_t code, const uint8_t *bytes,
                          size_t size, void *ctx);

static void each_option(pcap_out_reader_t *reader, size_t at, size_t end, option_fn fn, void *ctx)
{
    while (at + NG_OPTION_HEADER_BYTES <= end) {
        const uint16_t code = u16(reader, reader->block + at);
        const size_t size = u16(reader, reader->block + at + 2);
        at += NG_OPTION_HEADER_BYTES;
        if (code == NG_OPTION_END || size > end - at) {
            return;
        }
        fn(reader, code, reader->block + at, size, ctx);
        at += (size + 3) & ~(size_t)3;
    }
}

static void section_option(pcap_out_reader_t *reader, uint16_t code, const uint8_t *bytes,
                           size_t size, void *ctx)
{
    (void)ctx;
    if (code == NG_OPTION_COMMENT) {
        set_text(&reader->comment, bytes, size);
    }
}

static void interface_option(pcap_out_reader_t *reader, uint16_t code, const uint8_t *bytes,
                             size_t size, void *ctx)
{
    interface_t *const interface = ctx;
    if (code == NG_OPTION_INTERFACE_NAME || code == NG_OPTION_INTERFACE_DESCRIPTION) {
        const char **const text =
            code == NG_OPTION_INTERFACE_NAME ? &interface->seen.name : &interface->seen.description;
        char *made = (char *)(uintptr_t)*text;
        set_text(&made, bytes, size);
        *text = made;
    } else if (code == NG_OPTION_INTERFACE_SPEED && size == 8) {
        interface->seen.rate_bps = u64(reader, bytes);
    } else if (code == NG_OPTION_INTERFACE_RESOLUTION && size == 1) {
        interface->seen.resolution = bytes[0];
    } else if (code == NG_OPTION_INTERFACE_OFFSET && size == 8) {
        interface->offset_s = (int64_t)u64(reader, bytes);
    }
}

static sim_err_t take_interface(pcap_out_reader_t *reader, size_t end, sim_message_t *message)
{
    if (end < 16 || reader->interface_count >= INTERFACES_MAX) {
        return broken(reader, "a short interface, or too many of them", message);
    }
    if (u16(reader, reader->block + 8) != NG_ETHERNET) {
        return other_frames(reader, u16(reader, reader->block + 8), message);
    }
    interface_t *const made = new_interface(reader);
    made->seen.snaplen_bytes = u32(reader, reader->block + 12);
    each_option(reader, 16, end, interface_option, made);
    const bool binary = (made->seen.resolution & RESOLUTION_BINARY) != 0;
    const uint32_t exponent = made->seen.resolution & ~RESOLUTION_BINARY;
    if (exponent > (binary ? 63u : 19u)) {
        return broken(reader, "an interface has times in units of less than 10^-19 s", message);
    }
    made->units_per_s = 1;
    for (uint32_t i = 0; i < exponent; i++) {
        made->units_per_s *= binary ? 2 : 10;
    }
    made->seen.resolution = binary ? 9 : (uint8_t)SIM_MIN(exponent, 12u);
    return SIM_OK;
}

static void packet_option(pcap_out_reader_t *reader, uint16_t code, const uint8_t *bytes,
                          size_t size, void *ctx)
{
    pcap_out_read_frame_t *const frame = ctx;
    if (code == NG_OPTION_COMMENT && reader->text_count < PCAP_OUT_NG_COMMENTS_MAX) {
        set_text(&reader->texts[reader->text_count], bytes, size);
        frame->comments[frame->comment_count++] = reader->texts[reader->text_count++];
    } else if (code == NG_OPTION_PACKET_FLAGS && size == 4) {
        frame->way = (pcap_out_ng_way_t)(u32(reader, bytes) & 3u);
    } else if (code == NG_OPTION_PACKET_DROPS && size == 8) {
        frame->drop_count = u64(reader, bytes);
    } else if (code == NG_OPTION_CUSTOM && size == NG_CUSTOM_BYTES &&
               u32(reader, bytes) == NG_ENTERPRISE && u16(reader, bytes + 4) == NG_PICOSECONDS) {
        frame->time_ps += u16(reader, bytes + 6) % SIM_PS_PER_NS;
    }
}

static sim_err_t far_away(const pcap_out_reader_t *reader, uint64_t time_s, sim_message_t *message)
{
    return sim_fail(message, SIM_ERR_RANGE,
                    "%s: a frame has the time %" PRIu64 " s since 1970 at byte %" PRIu64
                    ", expected frames within %u days of the first one",
                    reader->path, time_s, reader->offset, PCAP_OUT_READ_DAYS_MAX);
}

static bool is_near(uint64_t time_s, uint64_t origin_s)
{
    return time_s >= origin_s && time_s - origin_s < (uint64_t)PCAP_OUT_READ_DAYS_MAX * S_PER_DAY;
}

// Sets the frame's time from its stamp. The first frame of a reader sets the origin.
static sim_err_t set_time(pcap_out_reader_t *reader, pcap_out_read_frame_t *frame, uint64_t units,
                          sim_message_t *message)
{
    const interface_t *const interface = &reader->interfaces[frame->interface];
    const uint64_t stamp_s = units / interface->units_per_s;
    const uint64_t rest = units % interface->units_per_s;
    const uint64_t time_s = stamp_s + (uint64_t)interface->offset_s; // modulo 2^64, if negative
    if (interface->offset_s < 0 && time_s > stamp_s) {
        return broken(reader, "a frame of a time before 1970", message);
    }
    if (!reader->has_origin) {
        const bool dated = time_s >= (uint64_t)DAYS_WITHOUT_DATE * S_PER_DAY;
        reader->origin_s = dated ? time_s - S_PER_DAY : 0;
        reader->has_origin = true;
    }
    if (!is_near(time_s, reader->origin_s)) {
        return far_away(reader, time_s, message);
    }
    frame->time_ps = (time_s - reader->origin_s) * SIM_PS_PER_S +
                     (sim_time_t)((sim_wide_t)rest * SIM_PS_PER_S / interface->units_per_s);
    return SIM_OK;
}

static sim_err_t take_packet(pcap_out_reader_t *reader, size_t end, bool is_old,
                             pcap_out_read_frame_t *frame, sim_message_t *message)
{
    if (end < 8 + NG_PACKET_HEADER_BYTES) {
        return broken(reader, "a short packet", message);
    }
    const uint8_t *const at = reader->block + 8;
    // An old packet has a number of drops in the upper half of its interface's number.
    const uint32_t interface = is_old ? u16(reader, at) : u32(reader, at);
    *frame = (pcap_out_read_frame_t){.interface = reader->section_first + interface,
                                     .captured_bytes = u32(reader, at + 12),
                                     .original_bytes = u32(reader, at + 16),
                                     .bytes = at + NG_PACKET_HEADER_BYTES};
    frame->offset = reader->offset - 4 - end + (uint64_t)(frame->bytes - reader->block);
    frame->original_bytes = SIM_MAX(frame->original_bytes, frame->captured_bytes);
    if (frame->interface >= reader->interface_count || frame->captured_bytes == 0 ||
        frame->captured_bytes > end - 8 - NG_PACKET_HEADER_BYTES) {
        return broken(reader, "a packet of no interface, or longer than its block", message);
    }
    const uint64_t units = (uint64_t)u32(reader, at + 4) << 32 | u32(reader, at + 8);
    const sim_err_t error = set_time(reader, frame, units, message);
    if (error != SIM_OK) {
        return error;
    }
    const size_t options = 8 + NG_PACKET_HEADER_BYTES + ((frame->captured_bytes + 3u) & ~(size_t)3);
    reader->text_count = 0;
    each_option(reader, options, end, packet_option, frame);
    return SIM_OK;
}

// Reads the rest of a block whose first 4 bytes, its type, are read. *end becomes the offset of its
// trailing length.
static sim_err_t take_block(pcap_out_reader_t *reader, size_t *end, sim_message_t *message)
{
    bool is_short = false;
    if (!take(reader, 4, 8, &is_short)) {
        return broken(reader, "the file ends within a block", message);
    }
    uint32_t type = 0;
    memcpy(&type, reader->block, sizeof(type));
    if (type == NG_BLOCK_SECTION) {
        uint32_t order = 0;
        memcpy(&order, reader->block + 8, sizeof(order));
        reader->swapped = order != NG_BYTE_ORDER;
        if (reader->swapped && __builtin_bswap32(order) != NG_BYTE_ORDER) {
            return broken(reader, "a section of unknown byte order", message);
        }
        reader->section_first = reader->interface_count;
    }
    const uint32_t size = u32(reader, reader->block + 4);
    if (size < NG_BLOCK_OVERHEAD_BYTES || size > BLOCK_BYTES_MAX || size % 4 != 0) {
        return broken(reader, "a block of impossible length", message);
    }
    if (size > 12 && !take(reader, 12, size - 12, &is_short)) {
        return broken(reader, "the file ends within a block", message);
    }
    if (u32(reader, reader->block + size - 4) != size) {
        return broken(reader, "a block whose two lengths differ", message);
    }
    *end = size - 4;
    return SIM_OK;
}

static sim_err_t next_ng(pcap_out_reader_t *reader, pcap_out_read_frame_t *frame, bool *end,
                         sim_message_t *message)
{
    for (;;) {
        bool is_short = false;
        if (reader->offset > 4 && !take(reader, 0, 4, &is_short)) {
            *end = true;
            return is_short ? broken(reader, "the file ends within a block", message) : SIM_OK;
        }
        size_t block_end = 0;
        sim_err_t error = take_block(reader, &block_end, message);
        if (error != SIM_OK) {
            return error;
        }
        switch (u32(reader, reader->block)) {
        case NG_BLOCK_SECTION:
            set_text(&reader->comment, reader->block, 0);
            each_option(reader, 24, block_end, section_option, NULL);
            break;
        case NG_BLOCK_INTERFACE:
            error = take_interface(reader, block_end, message);
            break;
        case NG_BLOCK_PACKET:
            return take_packet(reader, block_end, false, frame, message);
        case NG_BLOCK_OLD_PACKET:
            return take_packet(reader, block_end, true, frame, message);
        case NG_BLOCK_SIMPLE:
            return broken(reader, "a simple packet, which has no time,", message);
        default:
            break; // statistics, names and others say nothing about frames
        }
        if (error != SIM_OK) {
            return error;
        }
    }
}

// -- frames

sim_err_t pcap_out_reader_next(pcap_out_reader_t *reader, pcap_out_read_frame_t *frame, bool *end,
                               sim_message_t *message)
{
    *end = false;
    if (reader->is_ng) {
        return next_ng(reader, frame, end, message);
    }
    bool is_short = false;
    if (!take(reader, 0, PCAP_RECORD_BYTES, &is_short)) {
        *end = true;
        return is_short ? broken(reader, "the file ends within a frame", message) : SIM_OK;
    }
    const uint8_t *const at = reader->block;
    const uint64_t units_per_s = reader->interfaces[0].units_per_s;
    const uint64_t units = u32(reader, at) * units_per_s + u32(reader, at + 4);
    *frame = (pcap_out_read_frame_t){.captured_bytes = u32(reader, at + 8),
                                     .original_bytes = u32(reader, at + 12),
                                     .offset = reader->offset};
    const sim_err_t error = set_time(reader, frame, units, message);
    if (error != SIM_OK) {
        return error;
    }
    if (frame->captured_bytes == 0 || frame->captured_bytes > BLOCK_BYTES_MAX) {
        return broken(reader, "a frame of impossible length", message);
    }
    if (!take(reader, 0, frame->captured_bytes, &is_short)) {
        return broken(reader, "the file ends within a frame", message);
    }
    frame->original_bytes = SIM_MAX(frame->original_bytes, frame->captured_bytes);
    frame->bytes = reader->block;
    return SIM_OK;
}

const pcap_out_read_interface_t *pcap_out_reader_interface(const pcap_out_reader_t *reader,
                                                           uint32_t index)
{
    SIM_CHECK(index < reader->interface_count);
    return &reader->interfaces[index].seen;
}

uint32_t pcap_out_reader_interface_count(const pcap_out_reader_t *reader)
{
    return reader->interface_count;
}

const char *pcap_out_reader_comment(const pcap_out_reader_t *reader)
{
    return reader->comment;
}

uint64_t pcap_out_reader_origin_s(const pcap_out_reader_t *reader)
{
    return reader->origin_s;
}

sim_err_t pcap_out_reader_move_origin(pcap_out_reader_t *reader, uint64_t origin_s,
                                      pcap_out_read_frame_t *frame, sim_message_t *message)
{
    SIM_CHECK(origin_s <= reader->origin_s);
    const uint64_t frame_s = reader->origin_s + frame->time_ps / SIM_PS_PER_S;
    if (!is_near(frame_s, origin_s)) {
        return far_away(reader, frame_s, message);
    }
    frame->time_ps += (reader->origin_s - origin_s) * SIM_PS_PER_S;
    reader->origin_s = origin_s;
    return SIM_OK;
}

void pcap_out_reader_close(pcap_out_reader_t *reader)
{
    if (reader == NULL) {
        return;
    }
    (void)gzclose(reader->file);
    for (uint32_t i = 0; i < reader->interface_count; i++) {
        sim_free((char *)(uintptr_t)reader->interfaces[i].seen.name);
        sim_free((char *)(uintptr_t)reader->interfaces[i].seen.description);
    }
    sim_free_each(reader->texts, PCAP_OUT_NG_COMMENTS_MAX);
    SIM_FREE_ALL(reader->interfaces, reader->block, reader->comment, reader->path, reader);
}
