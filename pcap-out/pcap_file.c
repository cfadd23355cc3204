// SPDX-License-Identifier: Apache-2.0
// pcap-out/pcap_file.c - writes a capture file with libpcap and reports the errors of writing.
//
// libpcap writes to a FILE and ignores errors. Here this FILE is a cookie stream: every byte passes
// through write_all, which remembers the first error with its errno, and zlib can be inserted
// between libpcap and the file.
#define _GNU_SOURCE // fopencookie

#include "pcap-out/pcap_file.h"

#include "kernel/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_BYTES ((size_t)1 << 16)
// Measured with zlib 1.2.13 on full frames of zero payload: 6 us a frame and 1/118 of the size;
// level 6 takes 14 us for 1/209.
#define COMPRESSION_LEVEL 2
#define NS_PER_S UINT64_C(1000000000)

// libpcap writes in the machine's byte order, but the files must be equal on all machines.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "captures are little endian");

struct pcap_out_file {
    char *path;
    pcap_t *pcap; // has link type, snap length and precision, but no device
    pcap_dumper_t *dumper;
    struct bpf_program filter;
    bool has_filter;
    bool has_descriptor; // descriptor, or gz on it, is open
    uint32_t snaplen_bytes;
    int descriptor;
    gzFile gz; // NULL: not compressed
    int error; // errno of the first failure; 0: none
    uint64_t frames;
};

static void remember_error(pcap_out_file_t *file, int error)
{
    if (file->error == 0) {
        file->error = error != 0 ? error : EIO;
    }
}

// -- the far end of the stream

// Returns zlib's last error as an errno.
static int gz_error(const pcap_out_file_t *file, int saved_errno)
{
    int code = Z_OK;
    gzerror(file->gz, &code);
    if (code == Z_ERRNO) {
        return saved_errno;
    }
    return code == Z_MEM_ERROR ? ENOMEM : EIO;
}

static bool write_gz(pcap_out_file_t *file, const char *bytes, size_t size_bytes)
{
    errno = 0;
    if (gzwrite(file->gz, bytes, (unsigned)size_bytes) == (int)size_bytes) {
        return true;
    }
    remember_error(file, gz_error(file, errno));
    return false;
}

static bool write_plain(pcap_out_file_t *file, const char *bytes, size_t size_bytes)
{
    while (size_bytes > 0) {
        const ssize_t written = write(file->descriptor, bytes, size_bytes);
        if (written > 0) {
            bytes += written;
            size_bytes -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            remember_error(file, written == 0 ? EIO : errno);
            return false;
        }
    }
    return true;
}

// Writes all bytes; returns 0, which means an error in a cookie stream, if it cannot.
static ssize_t write_all(void *cookie, const char *bytes, size_t size_bytes)
{
    pcap_out_file_t *const file = cookie;
    SIM_CHECK(size_bytes <= INT32_MAX);
    if (file->error != 0) {
        return 0;
    }
    const bool whole =
        file->gz != NULL ? write_gz(file, bytes, size_bytes) : write_plain(file, bytes, size_bytes);
    return whole ? (ssize_t)size_bytes : 0;
}

// Closes the descriptor. Errors of the system's delayed writes may only show here.
static int close_end(void *cookie)
{
    pcap_out_file_t *const file = cookie;
    if (!file->has_descriptor) {
        return 0;
    }
    file->has_descriptor = false;
    errno = 0;
    const bool closed = file->gz != NULL ? gzclose(file->gz) == Z_OK : close(file->descriptor) == 0;
    if (!closed) {
        remember_error(file, errno);
    }
    return closed ? 0 : EOF;
}

// -- opening and closing

static bool ends_with(const char *text, const char *end)
{
    const size_t text_length = strlen(text);
    const size_t end_length = strlen(end);
    return text_length >= end_length && strcmp(text + text_length - end_length, end) == 0;
}

static sim_err_t compile_filter(pcap_t *pcap,
                                struct bpf_program *filter,
                                const char *text,
                                sim_message_t *message)
{
    if (pcap_compile(pcap, filter, text, 1, PCAP_NETMASK_UNKNOWN) == 0) {
        return SIM_OK;
    }
    return sim_fail(message,
                    SIM_ERR_INVALID,
                    "capture filter \"%.200s\": %.200s",
                    text,
                    pcap_geterr(pcap));
}

static pcap_t *open_dead(uint32_t snaplen_bytes)
{
    pcap_t *const pcap = pcap_open_dead_with_tstamp_precision(DLT_EN10MB,
                                                              (int)snaplen_bytes,
                                                              PCAP_TSTAMP_PRECISION_NANO);
    SIM_CHECKF(pcap != NULL, "libpcap is out of memory");
    return pcap;
}

static bool is_filter(const char *text)
{
    return text != NULL && text[0] != '\0';
}

sim_err_t pcap_out_filter_check(const char *filter_text, sim_message_t *message)
{
    if (!is_filter(filter_text)) {
        return SIM_OK;
    }
    pcap_t *const pcap = open_dead(PCAP_OUT_SNAPLEN_BYTES_MAX);
    struct bpf_program filter;
    const sim_err_t error = compile_filter(pcap, &filter, filter_text, message);
    if (error == SIM_OK) {
        pcap_freecode(&filter);
    }
    pcap_close(pcap);
    return error;
}

static void destroy(pcap_out_file_t *file)
{
    if (file->has_filter) {
        pcap_freecode(&file->filter);
    }
    pcap_close(file->pcap);
    sim_free(file->path);
    sim_free(file);
}

static sim_err_t open_descriptor(pcap_out_file_t *file)
{
    file->descriptor = sim_own_file_open(file->path, O_WRONLY);
    if (file->descriptor < 0) {
        remember_error(file, errno);
        return SIM_ERR_IO;
    }
    file->has_descriptor = true;
    if (!ends_with(file->path, ".gz")) {
        return SIM_OK;
    }
    char mode[] = "wb0";
    mode[2] = '0' + COMPRESSION_LEVEL;
    errno = 0;
    file->gz = gzdopen(file->descriptor, mode);
    if (file->gz == NULL) {
        remember_error(file, errno != 0 ? errno : ENOMEM);
        return SIM_ERR_IO;
    }
    return SIM_OK;
}

// Opens the stream and writes libpcap's header. The caller closes what is open after a failure.
static sim_err_t open_dumper(pcap_out_file_t *file)
{
    const cookie_io_functions_t ends = {.write = write_all, .close = close_end};
    FILE *const stream = fopencookie(file, "wb", ends);
    if (stream == NULL) {
        remember_error(file, errno);
        return SIM_ERR_IO;
    }
    // Only one thread at a time writes a capture, so libpcap's calls need no locks.
    __fsetlocking(stream, FSETLOCKING_BYCALLER);
    setvbuf(stream, NULL, _IOFBF, BUFFER_BYTES);
    // The link type is valid for files and the header fits the buffer, so this cannot fail.
    file->dumper = pcap_dump_fopen(file->pcap, stream);
    SIM_CHECK(file->dumper != NULL);
    return SIM_OK;
}

sim_err_t pcap_out_file_open(const char *path,
                             uint32_t snaplen_bytes,
                             const char *filter_text,
                             pcap_out_file_t **file,
                             sim_message_t *message)
{
    *file = NULL;
    if (snaplen_bytes > PCAP_OUT_SNAPLEN_BYTES_MAX) {
        return sim_fail(message,
                        SIM_ERR_RANGE,
                        "snap length %" PRIu32 ", must be 0 (whole frames) to %u bytes",
                        snaplen_bytes,
                        PCAP_OUT_SNAPLEN_BYTES_MAX);
    }
    pcap_out_file_t *const made = sim_alloc(sizeof(*made));
    made->path = sim_strdup(path);
    made->snaplen_bytes = snaplen_bytes != 0 ? snaplen_bytes : PCAP_OUT_SNAPLEN_BYTES_MAX;
    made->pcap = open_dead(made->snaplen_bytes);

    sim_err_t error = SIM_OK;
    if (is_filter(filter_text)) {
        error = compile_filter(made->pcap, &made->filter, filter_text, message);
        made->has_filter = error == SIM_OK;
    }
    if (error != SIM_OK) {
        destroy(made);
        return error;
    }
    error = open_descriptor(made);
    if (error == SIM_OK) {
        error = open_dumper(made);
    }
    if (error != SIM_OK) {
        error = sim_fail(message,
                         SIM_ERR_IO,
                         "%s: cannot be created: %s",
                         path,
                         sim_own_file_reason(made->error));
        close_end(made);
        destroy(made);
        return error;
    }
    *file = made;
    return SIM_OK;
}

bool pcap_out_file_matches(const pcap_out_file_t *file,
                           const uint8_t *bytes,
                           uint32_t captured_bytes,
                           uint32_t original_bytes)
{
    SIM_CHECK(captured_bytes > 0);
    SIM_CHECK(captured_bytes <= original_bytes);
    const struct pcap_pkthdr header = {.caplen = captured_bytes, .len = original_bytes};
    return !file->has_filter || pcap_offline_filter(&file->filter, &header, bytes) != 0;
}

void pcap_out_file_append(pcap_out_file_t *file,
                          sim_time_t time_ps,
                          const uint8_t *bytes,
                          uint32_t captured_bytes,
                          uint32_t original_bytes)
{
    SIM_CHECK(captured_bytes > 0);
    SIM_CHECK(captured_bytes <= original_bytes);
    file->frames++;
    if (file->error != 0) {
        return;
    }
    const uint64_t time_ns = time_ps / SIM_PS_PER_NS;
    const struct pcap_pkthdr header = {
        .ts = {.tv_sec = (time_t)(time_ns / NS_PER_S),
               // In nanoseconds, as the file's precision says.
               .tv_usec = (suseconds_t)(time_ns % NS_PER_S)},
        .caplen = captured_bytes < file->snaplen_bytes ? captured_bytes : file->snaplen_bytes,
        .len = original_bytes,
    };
    pcap_dump((u_char *)file->dumper, &header, bytes);
}

uint64_t pcap_out_file_frames(const pcap_out_file_t *file)
{
    return file->frames;
}

sim_err_t pcap_out_file_close(pcap_out_file_t *file, sim_message_t *message)
{
    pcap_dump_close(file->dumper);
    SIM_CHECK(!file->has_descriptor);
    sim_err_t error = SIM_OK;
    if (file->error != 0) {
        error =
            sim_fail(message, SIM_ERR_IO, "%s: %s", file->path, sim_own_file_reason(file->error));
    }
    destroy(file);
    return error;
}
