// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/captures.c - imports the captures of a run as a table of packets.
//
// A damaged capture is imported up to the damage, with a message. File contents never decide how
// much memory is used; uncompressed copies are limited to STUDIO_CAPTURE_BYTES_MAX.
#include "pcap-out/read.h"
#include "studio/server/data/import/import.h"
#include "studio/server/data/import/table.h"
#include "studio/server/data/packets/packet_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define FILES_MAX 1000u
#define PACKETS_MAX UINT64_C(20000000) // of one capture
#define NOTE_BYTES_MAX (UINT64_C(64) << 20)
#define UNPACKED_AT_ONCE 65536u

typedef enum packet_column {
    COLUMN_FILE,
    COLUMN_N,
    COLUMN_TIME,
    COLUMN_PORT,
    COLUMN_WAY,
    COLUMN_KIND,
    COLUMN_SRC,
    COLUMN_DST,
    COLUMN_SRC_PORT,
    COLUMN_QP,
    COLUMN_PSN,
    COLUMN_ECN,
    COLUMN_PRIORITY,
    COLUMN_BYTES,
    COLUMN_CAPTURED,
    COLUMN_OFFSET,
    COLUMN_NOTE,
    COLUMN_COUNT,
} packet_column_t;

static const struct {
    const char *name;
    const char *unit;
    const char *help;
    studio_type_t type;
} packet_columns[COLUMN_COUNT] = {
    {"file", "", "name of the capture that has the packet", STUDIO_TEXT},
    {"n", "", "number of the packet in its capture, from 1", STUDIO_NUMBER},
    {"time_ns", "ns", "time at which the packet was captured", STUDIO_NUMBER},
    {"port", "", "port that captured the frame; in pcap files, the port that sent it", STUDIO_TEXT},
    {"way", "", "whether the port sent or received the frame (pcapng)", STUDIO_TEXT},
    {"kind", "", "opcode of the packet, or its kind, such as PFC", STUDIO_TEXT},
    {"src", "", "host or address that sent the packet", STUDIO_TEXT},
    {"dst", "", "host or address that receives the packet", STUDIO_TEXT},
    {"src_port", "", "UDP source port of the packet, as in flows", STUDIO_NUMBER},
    {"qp", "", "number of the destination queue pair", STUDIO_NUMBER},
    {"psn", "", "packet sequence number (PSN)", STUDIO_NUMBER},
    {"ecn", "", "ECN field of the packet: 3 is marked", STUDIO_NUMBER},
    {"priority", "", "traffic class, from the VLAN tag or the pause frame", STUDIO_NUMBER},
    {"bytes", "bytes", "size of the frame, in bytes", STUDIO_NUMBER},
    {"captured", "bytes", "bytes of the frame that are in the file", STUDIO_NUMBER},
    {"offset", "", "position of the frame's first byte in the uncompressed file", STUDIO_NUMBER},
    {"note", "", "comment on the frame, up to its first comma, such as a drop", STUDIO_TEXT},
};

typedef struct reader {
    studio_names_t *names;
    studio_table_writer_t *writer;
    studio_progress_t *progress;
    const char *file;
    uint64_t bytes; // of the uncompressed file
    uint64_t packets;
    uint64_t said; // packets with comments
    uint32_t interfaces;
    int64_t first_ns;
    int64_t last_ns;
    sim_message_t trouble;
} reader_t;

static void put_name(reader_t *reader, packet_column_t column, const char *address)
{
    const char *const name = studio_names_of(reader->names, address);
    const char *const text = name != NULL ? name : address;
    studio_table_put_text(reader->writer, column, text, strlen(text));
}

static void put_addresses(reader_t *reader, const studio_brief_t *brief)
{
    char text[64];
    if (brief->has_ip) {
        studio_packet_address(brief->source_ip, brief->ipv6, text);
        put_name(reader, COLUMN_SRC, text);
        studio_packet_address(brief->destination_ip, brief->ipv6, text);
        put_name(reader, COLUMN_DST, text);
        studio_table_put_decimal(reader->writer, COLUMN_SRC_PORT, brief->source_port, 0);
        studio_table_put_decimal(reader->writer, COLUMN_ECN, brief->ecn, 0);
    }
    if (brief->priority != 0xff) {
        studio_table_put_decimal(reader->writer, COLUMN_PRIORITY, brief->priority, 0);
    }
}

// Puts the interface of the frame, or the port that a pcap file shows by the sender's MAC address.
static void put_port(reader_t *reader, const pcap_out_reader_t *file,
                     const pcap_out_read_frame_t *frame, const studio_brief_t *brief)
{
    static const char *const ways[] = {"", "received", "sent"};
    const char *const name = pcap_out_reader_interface(file, frame->interface)->name;
    if (name[0] == '\0') {
        char text[64];
        const uint8_t *const mac = brief->source_mac;
        (void)snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
                       mac[3], mac[4], mac[5]);
        put_name(reader, COLUMN_PORT, text);
    } else {
        studio_table_put_text(reader->writer, COLUMN_PORT, name, strlen(name));
    }
    if (frame->way < SIM_COUNT_OF(ways) && frame->way != PCAP_OUT_NG_UNKNOWN) {
        studio_table_put_text(reader->writer, COLUMN_WAY, ways[frame->way],
                              strlen(ways[frame->way]));
    }
}

// Puts the comments up to their first commas: the rest says values of the one frame. After
// NOTE_BYTES_MAX of different texts, only their first words are kept.
static void put_note(reader_t *reader, const pcap_out_read_frame_t *frame)
{
    const bool is_full = studio_table_writer_text_bytes(reader->writer) > NOTE_BYTES_MAX;
    char text[512];
    size_t size = 0;
    for (uint32_t i = 0; i < frame->comment_count; i++) {
        const char *const comment = frame->comments[i];
        const size_t length = SIM_MIN(strcspn(comment, is_full ? ":" : ",\n"), sizeof(text) / 4);
        if (size + length + 2 <= sizeof(text)) {
            size += size > 0 ? (size_t)snprintf(text + size, 3, "; ") : 0;
            memcpy(text + size, comment, length);
            size += length;
        }
    }
    if (frame->comment_count > 0) {
        studio_table_put_text(reader->writer, COLUMN_NOTE, text, size);
        reader->said++;
    }
}

// Puts the time since the start of a simulation, in ps for pcapng, or since 1970. Returns it in ns.
static int64_t put_time(reader_t *reader, const pcap_out_reader_t *file,
                        const pcap_out_read_frame_t *frame)
{
    const int64_t origin_ns = (int64_t)pcap_out_reader_origin_s(file) * INT64_C(1000000000);
    const int64_t time_ns = origin_ns + (int64_t)(frame->time_ps / SIM_PS_PER_NS);
    if (origin_ns == 0 && frame->time_ps % SIM_PS_PER_NS != 0 && frame->time_ps <= INT64_MAX) {
        studio_table_put_decimal(reader->writer, COLUMN_TIME, (int64_t)frame->time_ps, 3);
    } else {
        studio_table_put_decimal(reader->writer, COLUMN_TIME, time_ns, 0);
    }
    return time_ns;
}

static sim_err_t put_packet(reader_t *reader, const pcap_out_reader_t *file,
                            const pcap_out_read_frame_t *frame, sim_message_t *message)
{
    studio_table_writer_t *const writer = reader->writer;
    studio_brief_t brief;
    studio_packet_brief(frame->bytes, frame->captured_bytes, &brief);
    reader->last_ns = put_time(reader, file, frame);
    reader->first_ns = reader->packets == 0 ? reader->last_ns : reader->first_ns;
    const int64_t number = (int64_t)++reader->packets;
    studio_table_put_text(writer, COLUMN_FILE, reader->file, strlen(reader->file));
    studio_table_put_decimal(writer, COLUMN_N, number, 0);
    studio_table_put_text(writer, COLUMN_KIND, brief.kind, strlen(brief.kind));
    put_port(reader, file, frame, &brief);
    put_addresses(reader, &brief);
    if (brief.has_bth) {
        studio_table_put_decimal(writer, COLUMN_QP, brief.qp, 0);
        studio_table_put_decimal(writer, COLUMN_PSN, brief.psn, 0);
    }
    studio_table_put_decimal(writer, COLUMN_BYTES, frame->original_bytes, 0);
    studio_table_put_decimal(writer, COLUMN_CAPTURED, frame->captured_bytes, 0);
    studio_table_put_decimal(writer, COLUMN_OFFSET, (int64_t)frame->offset, 0);
    put_note(reader, frame);
    return studio_table_end_row(writer, message);
}

// Keeps the reader's message without the path in front of it, which is the server's own.
static void refuse(reader_t *reader, const char *path, const sim_message_t *message)
{
    const size_t before = strlen(path);
    const bool has_path =
        strncmp(message->text, path, before) == 0 && strncmp(message->text + before, ": ", 2) == 0;
    (void)sim_fail(&reader->trouble, SIM_ERR_INVALID, "%s",
                   has_path ? message->text + before + 2 : "the capture cannot be read");
}

// Reads the next frame; returns false at the end of the file, and at its first damage, which
// `trouble` then says.
static bool next_frame(reader_t *reader, pcap_out_reader_t *file, const char *path,
                       pcap_out_read_frame_t *frame)
{
    sim_message_t message = {.text = ""};
    bool is_end = false;
    if (pcap_out_reader_next(file, frame, &is_end, &message) != SIM_OK) {
        refuse(reader, path, &message);
        return false;
    }
    if (!is_end && frame->captured_bytes > STUDIO_PACKET_BYTES_MAX) {
        (void)sim_fail(&reader->trouble, SIM_ERR_INVALID,
                       "frame %" PRIu64 " has %" PRIu32 " bytes, expected at most %u",
                       reader->packets + 1, frame->captured_bytes, STUDIO_PACKET_BYTES_MAX);
        return false;
    }
    if (!is_end && reader->packets == PACKETS_MAX) {
        (void)sim_fail(&reader->trouble, SIM_ERR_INVALID,
                       "the capture has more than 20 million packets; the rest is left out");
        return false;
    }
    return !is_end;
}

static sim_err_t read_packets(reader_t *reader, const char *path, sim_message_t *message)
{
    pcap_out_reader_t *file = NULL;
    pcap_out_read_frame_t frame;
    sim_message_t refused = {.text = ""};
    sim_err_t result = SIM_OK;
    uint64_t done = 0;
    if (pcap_out_reader_open(path, &file, &refused) != SIM_OK) {
        refuse(reader, path, &refused);
        return SIM_OK;
    }
    while (result == SIM_OK && next_frame(reader, file, path, &frame)) {
        result = put_packet(reader, file, &frame, message);
        if (reader->packets % 4096 == 0) {
            atomic_fetch_add(&reader->progress->rows, 4096);
            atomic_fetch_add(&reader->progress->bytes_done, frame.offset - done);
            done = frame.offset;
            if (atomic_load(&reader->progress->stop)) {
                result = sim_fail(message, SIM_ERR_STATE, "the import was stopped");
            }
        }
    }
    reader->interfaces = pcap_out_reader_interface_count(file);
    pcap_out_reader_close(file);
    return result;
}

static bool is_compressed(const char *path)
{
    FILE *const stream = fopen(path, "rbe");
    const bool compressed = stream != NULL && fgetc(stream) == 0x1f && fgetc(stream) == 0x8b;
    if (stream != NULL) {
        (void)fclose(stream);
    }
    return compressed;
}

// Unpacks a compressed capture up to its damage or limit, which `trouble` then says.
static sim_err_t unpack(reader_t *reader, const char *path, const char *copy_path,
                        sim_message_t *message)
{
    const uint64_t wanted = reader->progress->capture_bytes_max;
    const uint64_t most = wanted > 0 ? wanted : STUDIO_CAPTURE_BYTES_MAX;
    const gzFile stream = gzopen(path, "rbe");
    FILE *const copy = fopen(copy_path, "wbe");
    uint8_t *const bytes = sim_alloc(UNPACKED_AT_ONCE);
    sim_err_t result = SIM_OK;
    uint64_t size = 0;
    int count = 0;
    if (stream == NULL || copy == NULL) {
        result = sim_fail(message, SIM_ERR_IO, "%s: %s", copy_path, strerror(errno));
    }
    while (result == SIM_OK && size < most &&
           (count = gzread(stream, bytes, (unsigned)SIM_MIN(UNPACKED_AT_ONCE, most - size))) > 0) {
        size += (uint64_t)count;
        if (fwrite(bytes, 1, (size_t)count, copy) != (size_t)count) {
            result = sim_fail(message, SIM_ERR_IO,
                              "there is no room for an uncompressed capture: %s", strerror(errno));
        } else if (atomic_load(&reader->progress->stop)) {
            result = sim_fail(message, SIM_ERR_STATE, "the import was stopped");
        }
    }
    int code = Z_OK;
    const char *const why = stream != NULL ? gzerror(stream, &code) : "";
    if (code != Z_OK && code != Z_STREAM_END) {
        (void)sim_fail(&reader->trouble, SIM_ERR_INVALID, "the capture is damaged: %.200s",
                       code == Z_BUF_ERROR ? "the file ends too early" : why);
    } else if (size >= most && gzgetc(stream) >= 0) {
        (void)sim_fail(
            &reader->trouble, SIM_ERR_INVALID,
            "the capture has more than %" PRIu64 " bytes uncompressed; the rest is left out", most);
    }
    if (copy != NULL && fclose(copy) != 0 && result == SIM_OK) {
        result = sim_fail(message, SIM_ERR_IO, "%s: %s", copy_path, strerror(errno));
    }
    if (stream != NULL) {
        (void)gzclose(stream);
    }
    sim_free(bytes);
    return result;
}

static json_t *told_of(const reader_t *reader, const char *copy)
{
    json_t *const told = json_pack(
        "{s:s,s:I,s:I,s:b,s:I,s:I}", "file", reader->file, "packets", (json_int_t)reader->packets,
        "bytes", (json_int_t)reader->bytes, "cut", reader->trouble.text[0] != '\0', "interfaces",
        (json_int_t)reader->interfaces, "notes", (json_int_t)reader->said);
    if (told != NULL && reader->packets > 0) {
        json_object_set_new(told, "from_ns", json_integer(reader->first_ns));
        json_object_set_new(told, "to_ns", json_integer(reader->last_ns));
    }
    if (told != NULL && reader->trouble.text[0] != '\0') {
        json_object_set_new(told, "message", json_string(reader->trouble.text));
    }
    if (told != NULL && copy != NULL) {
        json_object_set_new(told, "copy", json_string(copy));
    }
    return told;
}

static sim_err_t import_file(reader_t *reader, const char *path, const char *index,
                             json_t *captures, sim_message_t *message)
{
    char *const copy = sim_format("capture-%zu.pcap", json_array_size(captures));
    char *const copy_path = sim_format("%s/%s", index, copy);
    const bool compressed = is_compressed(path);
    const char *const plain = compressed ? copy_path : path;
    struct stat status = {.st_size = 0};
    reader->packets = reader->said = 0;
    reader->interfaces = 0;
    reader->trouble.text[0] = '\0';
    sim_err_t result = compressed ? unpack(reader, path, copy_path, message) : SIM_OK;
    const sim_message_t damage = reader->trouble;
    if (result == SIM_OK) {
        result = read_packets(reader, plain, message);
    }
    if (damage.text[0] != '\0') {
        reader->trouble = damage; // why the uncompressed copy ends within a frame
    }
    reader->bytes = stat(plain, &status) == 0 ? (uint64_t)status.st_size : 0;
    json_t *const told = told_of(reader, compressed ? copy : NULL);
    if (told != NULL) {
        json_array_append_new(captures, told);
    }
    sim_free(copy_path);
    sim_free(copy);
    return result;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Lists the plain files in captures/, sorted by name.
static size_t list_captures(const char *folder, char ***files)
{
    size_t count = 0;
    size_t capacity = 0;
    *files = NULL;
    DIR *const directory = opendir(folder);
    const struct dirent *entry = NULL;
    while (directory != NULL && count < FILES_MAX && (entry = readdir(directory)) != NULL) {
        char *const path = sim_format("%s/%s", folder, entry->d_name);
        struct stat status;
        if (entry->d_name[0] != '.' && lstat(path, &status) == 0 && S_ISREG(status.st_mode)) {
            SIM_GROW(*files, count, &capacity);
            (*files)[count++] = sim_strdup(entry->d_name);
        }
        sim_free(path);
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    if (count > 0) {
        qsort(*files, count, sizeof(**files), by_text);
    }
    return count;
}

static sim_err_t open_table(const char *index, studio_table_writer_t **writer,
                            sim_message_t *message)
{
    studio_column_spec_t columns[COLUMN_COUNT];
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        columns[i] = (studio_column_spec_t){
            sim_strdup(packet_columns[i].name), sim_strdup(packet_columns[i].unit),
            sim_strdup(packet_columns[i].help), packet_columns[i].type};
    }
    char *const path = sim_format("%s/packets.table", index);
    const sim_err_t result =
        studio_table_writer_open(path, "packets", "A row per packet of the captures.", columns,
                                 COLUMN_COUNT, writer, message);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        SIM_FREE_ALL(columns[i].name, columns[i].unit, columns[i].help);
    }
    sim_free(path);
    return result;
}

sim_err_t studio_import_captures(const char *result_folder, const char *index, json_t *captures,
                                 studio_progress_t *progress, uint64_t *rows,
                                 sim_message_t *message)
{
    char *const folder = sim_format("%s/captures", result_folder);
    char **files = NULL;
    const size_t count = list_captures(folder, &files);
    reader_t reader = {.progress = progress};
    sim_err_t result = count > 0 ? open_table(index, &reader.writer, message) : SIM_OK;
    reader.names = studio_names_read(result_folder);
    *rows = 0;
    for (size_t i = 0; i < count && result == SIM_OK; i++) {
        char *const path = sim_format("%s/%s", folder, files[i]);
        reader.file = files[i];
        result = import_file(&reader, path, index, captures, message);
        sim_free(path);
    }
    if (reader.writer != NULL && result == SIM_OK) {
        *rows = studio_table_writer_rows(reader.writer);
        result = studio_table_writer_close(reader.writer, message);
    } else {
        studio_table_writer_abandon(reader.writer);
    }
    sim_free_each(files, count);
    sim_free(files);
    studio_names_destroy(reader.names);
    sim_free(folder);
    return result;
}
