// SPDX-License-Identifier: Apache-2.0
// pcap-out/pcapng/sink.c - writes the bytes of a capture to its file and keeps the first error.
#include "pcap-out/pcapng/sink.h"

#include "kernel/bytes.h"
#include "kernel/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

// Measured with zlib 1.2.13 on full frames of zero payload: 6 us a frame and 1/118 of the size;
// level 6 takes 14 us for 1/209.
#define COMPRESSION_LEVEL 2

// The member of a gzip file that holds a head: header, a stored block, CRC and size (RFC 1951,
// RFC 1952).
#define MEMBER_HEADER_BYTES 10u
#define MEMBER_BLOCK_BYTES 5u
#define MEMBER_TRAILER_BYTES 8u
#define MEMBER_OVERHEAD_BYTES (MEMBER_HEADER_BYTES + MEMBER_BLOCK_BYTES + MEMBER_TRAILER_BYTES)

struct pcap_out_sink {
    char *path;
    int descriptor;
    gzFile gz;       // NULL: not compressed, or nothing was compressed yet
    bool compressed; // the path ends in ".gz"
    int error;       // errno of the first failure; 0: none
};

static void remember_error(pcap_out_sink_t *sink, int error)
{
    if (sink->error == 0) {
        sink->error = error != 0 ? error : EIO;
    }
}

// Returns zlib's last error as an errno.
static int gz_error(const pcap_out_sink_t *sink, int saved_errno)
{
    int code = Z_OK;
    gzerror(sink->gz, &code);
    if (code == Z_ERRNO) {
        return saved_errno;
    }
    return code == Z_MEM_ERROR ? ENOMEM : EIO;
}

static void write_plain(pcap_out_sink_t *sink, const char *bytes, size_t size_bytes)
{
    while (size_bytes > 0 && sink->error == 0) {
        const ssize_t written = write(sink->descriptor, bytes, size_bytes);
        if (written > 0) {
            bytes += written;
            size_bytes -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            remember_error(sink, written == 0 ? EIO : errno);
        }
    }
}

static bool open_gz(pcap_out_sink_t *sink)
{
    char mode[] = "wb0";
    mode[2] = '0' + COMPRESSION_LEVEL;
    errno = 0;
    sink->gz = gzdopen(sink->descriptor, mode);
    if (sink->gz == NULL) {
        remember_error(sink, errno != 0 ? errno : ENOMEM);
    }
    return sink->gz != NULL;
}

static void write_gz(pcap_out_sink_t *sink, const char *bytes, size_t size_bytes)
{
    if (sink->gz == NULL && !open_gz(sink)) {
        return;
    }
    errno = 0;
    if (gzwrite(sink->gz, bytes, (unsigned)size_bytes) != (int)size_bytes) {
        remember_error(sink, gz_error(sink, errno));
    }
}

bool pcap_out_sink_write(pcap_out_sink_t *sink, const void *bytes, size_t size_bytes)
{
    SIM_CHECK(size_bytes <= INT32_MAX);
    if (sink->error == 0 && size_bytes > 0) {
        (sink->compressed ? write_gz : write_plain)(sink, bytes, size_bytes);
    }
    return sink->error == 0;
}

bool pcap_out_sink_good(const pcap_out_sink_t *sink)
{
    return sink->error == 0;
}

// Returns what stands at the begin of the file for these bytes; the caller frees it.
static unsigned char *head_of(const pcap_out_sink_t *sink, const void *bytes, size_t size_bytes,
                              size_t *head_bytes)
{
    static const unsigned char header[MEMBER_HEADER_BYTES] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    SIM_CHECK(size_bytes <= PCAP_OUT_SINK_HEAD_BYTES_MAX);
    *head_bytes = size_bytes + (sink->compressed ? MEMBER_OVERHEAD_BYTES : 0);
    unsigned char *const head = sim_alloc(*head_bytes);
    if (!sink->compressed) {
        memcpy(head, bytes, size_bytes);
        return head;
    }
    memcpy(head, header, sizeof(header));
    unsigned char *at = head + sizeof(header);
    *at = 1; // the last block, stored
    sim_put_le(at + 1, size_bytes, 2);
    sim_put_le(at + 3, ~size_bytes, 2);
    memcpy(at + MEMBER_BLOCK_BYTES, bytes, size_bytes);
    at += MEMBER_BLOCK_BYTES + size_bytes;
    sim_put_le(at, crc32(0, bytes, (unsigned)size_bytes), 4);
    sim_put_le(at + 4, size_bytes, 4);
    return head;
}

void pcap_out_sink_head(pcap_out_sink_t *sink, const void *bytes, size_t size_bytes)
{
    size_t head_bytes = 0;
    unsigned char *const head = head_of(sink, bytes, size_bytes, &head_bytes);
    SIM_CHECK(sink->gz == NULL);
    write_plain(sink, (const char *)head, head_bytes);
    sim_free(head);
}

void pcap_out_sink_change_head(pcap_out_sink_t *sink, const void *bytes, size_t size_bytes)
{
    size_t head_bytes = 0;
    unsigned char *const head = head_of(sink, bytes, size_bytes, &head_bytes);
    size_t done = 0;
    while (done < head_bytes && sink->error == 0) {
        const ssize_t written =
            pwrite(sink->descriptor, head + done, head_bytes - done, (off_t)done);
        if (written > 0) {
            done += (size_t)written;
        } else if (written < 0 && errno == ESPIPE) {
            break;
        } else if (written == 0 || errno != EINTR) {
            remember_error(sink, written == 0 ? EIO : errno);
        }
    }
    sim_free(head);
}

sim_err_t pcap_out_sink_open(const char *path, pcap_out_sink_t **sink, sim_message_t *message)
{
    *sink = NULL;
    const int descriptor = sim_own_file_open(path, O_WRONLY);
    if (descriptor < 0) {
        return sim_fail(message, SIM_ERR_IO, "%s: cannot be created: %s", path,
                        sim_own_file_reason(errno));
    }
    pcap_out_sink_t *const made = sim_alloc(sizeof(*made));
    *made = (pcap_out_sink_t){.path = sim_strdup(path),
                              .descriptor = descriptor,
                              .compressed = sim_ends_with(path, ".gz")};
    *sink = made;
    return SIM_OK;
}

sim_err_t pcap_out_sink_close(pcap_out_sink_t *sink, sim_message_t *message)
{
    // A compressed file without a byte has at least a member, which zlib writes here.
    const bool gz = sink->gz != NULL || (sink->compressed && open_gz(sink));
    errno = 0;
    if (!(gz ? gzclose(sink->gz) == Z_OK : close(sink->descriptor) == 0)) {
        remember_error(sink, errno);
    }
    sim_err_t error = SIM_OK;
    if (sink->error != 0) {
        error =
            sim_fail(message, SIM_ERR_IO, "%s: %s", sink->path, sim_own_file_reason(sink->error));
    }
    sim_free(sink->path);
    sim_free(sink);
    return error;
}
