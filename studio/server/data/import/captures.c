// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/captures.c - imports the captures of a run as a table of packets.
//
// A damaged capture is imported up to the damage, with a message. File contents never decide how
// much memory is used; uncompressed copies are limited to STUDIO_CAPTURE_BYTES_MAX.
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

typedef enum packet_column {
    COLUMN_FILE,
    COLUMN_N,
    COLUMN_TIME,
    COLUMN_PORT,
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
    {"port", "", "port that sent it on this link, by its MAC address", STUDIO_TEXT},
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
    {"offset", "", "position of the packet in the uncompressed file", STUDIO_NUMBER},
};

typedef struct reader {
    gzFile stream;
    FILE *copy; // uncompressed copy; NULL: the capture was not compressed
    uint64_t offset;
    studio_pcap_t pcap;
    studio_names_t *names;
    studio_table_writer_t *writer;
    studio_progress_t *progress;
    const char *file;
    uint64_t packets;
    int64_t first_ns;
    int64_t last_ns;
    sim_message_t trouble;
} reader_t;

// Reads bytes. Returns SIM_ERR_INVALID at the end of the file; may_end: an end here is no damage,
// so `trouble` stays empty.
static sim_err_t take(reader_t *reader, uint8_t *bytes, uint32_t size, bool may_end)
{
    const int count = size > 0 ? gzread(reader->stream, bytes, size) : 0;
    const int64_t have = SIM_MAX(count, 0);
    SIM_CHECK(have <= (int64_t)size);
    reader->offset += (uint64_t)have;
    if (reader->copy != NULL && have > 0 &&
        fwrite(bytes, 1, (size_t)have, reader->copy) != (size_t)have) {
        return sim_fail(&reader->trouble, SIM_ERR_IO,
                        "there is no room for the uncompressed copy: %s", strerror(errno));
    }
    if (have == (int64_t)size) {
        const uint64_t wanted = reader->progress->capture_bytes_max;
        const uint64_t most = wanted > 0 ? wanted : STUDIO_CAPTURE_BYTES_MAX;
        if (reader->copy != NULL && reader->offset > most) {
            return sim_fail(&reader->trouble, SIM_ERR_INVALID,
                            "the capture has more than %" PRIu64
                            " bytes uncompressed; the rest is left out",
                            most);
        }
        return SIM_OK;
    }
    if (count < 0) {
        int code = 0;
        return sim_fail(&reader->trouble, SIM_ERR_INVALID, "the capture is damaged: %.200s",
                        gzerror(reader->stream, &code));
    }
    if (have == 0 && may_end) {
        return SIM_ERR_INVALID;
    }
    return sim_fail(&reader->trouble, SIM_ERR_INVALID, "the file ends within packet %" PRIu64,
                    reader->packets + 1);
}

static void put_name(reader_t *reader, packet_column_t column, const char *address)
{
    const char *const name = studio_names_of(reader->names, address);
    const char *const text = name != NULL ? name : address;
    studio_table_put_text(reader->writer, column, text, strlen(text));
}

static void put_addresses(reader_t *reader, const studio_brief_t *brief)
{
    char text[64];
    const uint8_t *const mac = brief->source_mac;
    (void)snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
                   mac[3], mac[4], mac[5]);
    put_name(reader, COLUMN_PORT, text);
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

static sim_err_t put_packet(reader_t *reader, const studio_record_t *record, const uint8_t *bytes,
                            sim_message_t *message)
{
    studio_table_writer_t *const writer = reader->writer;
    studio_brief_t brief;
    studio_packet_brief(bytes, record->captured, &brief);
    reader->first_ns = reader->packets == 0 ? record->time_ns : reader->first_ns;
    reader->last_ns = record->time_ns;
    const int64_t number = (int64_t)++reader->packets;
    studio_table_put_text(writer, COLUMN_FILE, reader->file, strlen(reader->file));
    studio_table_put_decimal(writer, COLUMN_N, number, 0);
    studio_table_put_decimal(writer, COLUMN_TIME, record->time_ns, 0);
    studio_table_put_text(writer, COLUMN_KIND, brief.kind, strlen(brief.kind));
    put_addresses(reader, &brief);
    if (brief.has_bth) {
        studio_table_put_decimal(writer, COLUMN_QP, brief.qp, 0);
        studio_table_put_decimal(writer, COLUMN_PSN, brief.psn, 0);
    }
    studio_table_put_decimal(writer, COLUMN_BYTES, record->bytes, 0);
    studio_table_put_decimal(writer, COLUMN_CAPTURED, record->captured, 0);
    studio_table_put_decimal(writer, COLUMN_OFFSET, (int64_t)record->offset, 0);
    return studio_table_end_row(writer, message);
}

static sim_err_t read_packets(reader_t *reader, sim_message_t *message)
{
    uint8_t *const bytes = sim_alloc(STUDIO_PACKET_BYTES_MAX);
    sim_err_t result = SIM_OK;
    uint64_t told = 0;
    if (take(reader, bytes, STUDIO_PCAP_HEAD_BYTES, true) != SIM_OK) {
        (void)sim_fail(&reader->trouble, SIM_ERR_INVALID,
                       "no capture: the file is too short, or damaged");
    } else if (studio_pcap_head(bytes, STUDIO_PCAP_HEAD_BYTES, &reader->pcap, &reader->trouble) ==
               SIM_OK) {
        while (result == SIM_OK) {
            studio_record_t record = {.offset = reader->offset};
            if (take(reader, bytes, STUDIO_RECORD_HEAD_BYTES, true) != SIM_OK ||
                studio_pcap_record(&reader->pcap, bytes, &record, &reader->trouble) != SIM_OK ||
                take(reader, bytes, record.captured, false) != SIM_OK) {
                break;
            }
            if (reader->packets == PACKETS_MAX) {
                (void)sim_fail(
                    &reader->trouble, SIM_ERR_INVALID,
                    "the capture has more than 20 million packets; the rest is left out");
                break;
            }
            result = put_packet(reader, &record, bytes, message);
            if (reader->packets % 4096 == 0) {
                atomic_fetch_add(&reader->progress->rows, 4096);
                const z_off_t at = gzoffset(reader->stream);
                if (at > 0 && (uint64_t)at > told) {
                    atomic_fetch_add(&reader->progress->bytes_done, (uint64_t)at - told);
                    told = (uint64_t)at;
                }
                if (atomic_load(&reader->progress->stop)) {
                    result = sim_fail(message, SIM_ERR_STATE, "the import was stopped");
                }
            }
        }
    }
    sim_free(bytes);
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

static json_t *told_of(const reader_t *reader, const char *copy)
{
    json_t *const told =
        json_pack("{s:s,s:I,s:I,s:b}", "file", reader->file, "packets", (json_int_t)reader->packets,
                  "bytes", (json_int_t)reader->offset, "cut", reader->trouble.text[0] != '\0');
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
    reader->stream = gzopen(path, "rbe");
    reader->copy = compressed ? fopen(copy_path, "wbe") : NULL;
    reader->offset = reader->packets = 0;
    reader->trouble.text[0] = '\0';
    sim_err_t result = SIM_OK;
    if (reader->stream == NULL) {
        (void)sim_fail(&reader->trouble, SIM_ERR_IO, "the capture cannot be read: %s",
                       strerror(errno));
    } else if (compressed && reader->copy == NULL) {
        result = sim_fail(message, SIM_ERR_IO, "%s: %s", copy_path, strerror(errno));
    } else {
        (void)gzbuffer(reader->stream, 1u << 18);
        result = read_packets(reader, message);
    }
    if (reader->copy != NULL && fclose(reader->copy) != 0 && result == SIM_OK) {
        result = sim_fail(message, SIM_ERR_IO, "%s: %s", copy_path, strerror(errno));
    }
    if (reader->stream != NULL) {
        (void)gzclose(reader->stream);
    }
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
        sim_free(columns[i].name);
        sim_free(columns[i].unit);
        sim_free(columns[i].help);
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
    for (size_t i = 0; i < count; i++) {
        sim_free(files[i]);
    }
    sim_free(files);
    studio_names_destroy(reader.names);
    sim_free(folder);
    return result;
}
