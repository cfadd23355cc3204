// SPDX-License-Identifier: Apache-2.0
// pcap-out/pcap_file.c - writes a capture file with libpcap and reports the errors of writing.
//
// libpcap writes to a FILE and ignores errors. Here this FILE is a cookie stream: every byte passes
// into a sink, which remembers the first error and may compress.
#define _GNU_SOURCE // fopencookie

#include "pcap-out/pcap_file.h"

#include "pcap-out/pcapng/sink.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/types.h>

#define BUFFER_BYTES ((size_t)1 << 16)
#define NS_PER_S UINT64_C(1000000000)

// libpcap writes in the machine's byte order, but the files must be equal on all machines.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "captures are little endian");

struct pcap_out_file {
    pcap_t *pcap; // has link type, snap length and precision, but no device
    pcap_dumper_t *dumper;
    struct bpf_program filter;
    bool has_filter;
    uint32_t snaplen_bytes;
    pcap_out_sink_t *sink;
    uint64_t frames;
    uint64_t origin_s; // seconds since 1970 from which times count
};

// Writes all bytes; returns 0, which means an error in a cookie stream, if it cannot.
static ssize_t write_all(void *cookie, const char *bytes, size_t size_bytes)
{
    return pcap_out_sink_write(cookie, bytes, size_bytes) ? (ssize_t)size_bytes : 0;
}

// -- opening and closing

static sim_err_t compile_filter(pcap_t *pcap, struct bpf_program *filter, const char *text,
                                sim_message_t *message)
{
    if (pcap_compile(pcap, filter, text, 1, PCAP_NETMASK_UNKNOWN) == 0) {
        return SIM_OK;
    }
    return sim_fail(message, SIM_ERR_INVALID, "capture filter \"%.200s\": %.200s", text,
                    pcap_geterr(pcap));
}

static pcap_t *open_dead(uint32_t snaplen_bytes)
{
    pcap_t *const pcap = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, (int)snaplen_bytes,
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

struct pcap_out_filter {
    struct bpf_program program;
    uint32_t reach_bytes;
};

#define IPV4_BYTES 20u // what a filter's index register holds: the length of the IP header

// Returns where the last load of a program ends.
static uint32_t reach_of(const struct bpf_program *program)
{
    uint64_t reach = 0;
    for (unsigned i = 0; i < program->bf_len; i++) {
        const struct bpf_insn *const one = &program->bf_insns[i];
        const unsigned class = BPF_CLASS(one->code);
        const unsigned mode = BPF_MODE(one->code);
        const unsigned size = BPF_SIZE(one->code);
        if ((class == BPF_LDX && mode != BPF_MSH) ||
            (class == BPF_MISC && BPF_MISCOP(one->code) == BPF_TAX)) {
            return UINT32_MAX; // another index
        }
        if ((class == BPF_LD || class == BPF_LDX) &&
            (mode == BPF_ABS || mode == BPF_IND || mode == BPF_MSH)) {
            const uint64_t end = (uint64_t)one->k + (mode == BPF_IND ? IPV4_BYTES : 0) +
                                 (size == BPF_W   ? 4
                                  : size == BPF_H ? 2
                                                  : 1);
            reach = SIM_MAX(end, reach);
        }
    }
    return reach < UINT32_MAX ? (uint32_t)reach : UINT32_MAX;
}

uint32_t pcap_out_filter_reach_bytes(const pcap_out_filter_t *filter)
{
    return filter->reach_bytes;
}

sim_err_t pcap_out_filter_open(const char *filter_text, pcap_out_filter_t **filter,
                               sim_message_t *message)
{
    *filter = NULL;
    if (!is_filter(filter_text)) {
        return SIM_OK;
    }
    pcap_t *const pcap = open_dead(PCAP_OUT_SNAPLEN_BYTES_MAX);
    pcap_out_filter_t *const made = sim_alloc(sizeof(*made));
    const sim_err_t error = compile_filter(pcap, &made->program, filter_text, message);
    pcap_close(pcap);
    if (error != SIM_OK) {
        sim_free(made);
        return error;
    }
    made->reach_bytes = reach_of(&made->program);
    *filter = made;
    return SIM_OK;
}

bool pcap_out_filter_matches(const pcap_out_filter_t *filter, const uint8_t *bytes,
                             uint32_t size_bytes)
{
    const struct pcap_pkthdr header = {.caplen = size_bytes, .len = size_bytes};
    return filter == NULL || pcap_offline_filter(&filter->program, &header, bytes) != 0;
}

void pcap_out_filter_close(pcap_out_filter_t *filter)
{
    if (filter != NULL) {
        pcap_freecode(&filter->program);
        sim_free(filter);
    }
}

static void destroy(pcap_out_file_t *file)
{
    if (file->has_filter) {
        pcap_freecode(&file->filter);
    }
    pcap_close(file->pcap);
    sim_free(file);
}

// Opens the stream and writes libpcap's header into it.
static bool open_dumper(pcap_out_file_t *file)
{
    const cookie_io_functions_t ends = {.write = write_all};
    FILE *const stream = fopencookie(file->sink, "wb", ends);
    if (stream == NULL) {
        return false;
    }
    // Only one thread at a time writes a capture, so libpcap's calls need no locks.
    __fsetlocking(stream, FSETLOCKING_BYCALLER);
    setvbuf(stream, NULL, _IOFBF, BUFFER_BYTES);
    // The link type is valid for files and the header fits the buffer, so this cannot fail.
    file->dumper = pcap_dump_fopen(file->pcap, stream);
    SIM_CHECK(file->dumper != NULL);
    return true;
}

sim_err_t pcap_out_file_open(const char *path, uint32_t snaplen_bytes, const char *filter_text,
                             pcap_out_file_t **file, sim_message_t *message)
{
    *file = NULL;
    if (snaplen_bytes > PCAP_OUT_SNAPLEN_BYTES_MAX) { // libpcap reads no more
        return sim_fail(message, SIM_ERR_RANGE,
                        "snap length %" PRIu32 ", must be 0 (whole frames) to %u bytes",
                        snaplen_bytes, PCAP_OUT_SNAPLEN_BYTES_MAX);
    }
    pcap_out_file_t *const made = sim_alloc(sizeof(*made));
    made->snaplen_bytes = snaplen_bytes != 0 ? snaplen_bytes : PCAP_OUT_SNAPLEN_BYTES;
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
    error = pcap_out_sink_open(path, &made->sink, message);
    if (error == SIM_OK && !open_dumper(made)) {
        error = sim_fail(message, SIM_ERR_IO, "%s: cannot be created: %s", path, strerror(errno));
        sim_message_t ignored;
        const sim_err_t closed = pcap_out_sink_close(made->sink, &ignored);
        (void)closed;
    }
    if (error != SIM_OK) {
        destroy(made);
        return error;
    }
    *file = made;
    return SIM_OK;
}

bool pcap_out_file_matches(const pcap_out_file_t *file, const uint8_t *bytes,
                           uint32_t captured_bytes, uint32_t original_bytes)
{
    SIM_CHECK(captured_bytes > 0);
    SIM_CHECK(captured_bytes <= original_bytes);
    const struct pcap_pkthdr header = {.caplen = captured_bytes, .len = original_bytes};
    return !file->has_filter || pcap_offline_filter(&file->filter, &header, bytes) != 0;
}

void pcap_out_file_set_origin(pcap_out_file_t *file, uint64_t origin_s)
{
    SIM_CHECK(origin_s < UINT32_MAX - (UINT32_C(1) << 25));
    file->origin_s = origin_s;
}

void pcap_out_file_append(pcap_out_file_t *file, sim_time_t time_ps, const uint8_t *bytes,
                          uint32_t captured_bytes, uint32_t original_bytes)
{
    SIM_CHECK(captured_bytes > 0);
    SIM_CHECK(captured_bytes <= original_bytes);
    file->frames++;
    if (!pcap_out_sink_good(file->sink)) {
        return;
    }
    const uint64_t time_ns = time_ps / SIM_PS_PER_NS;
    const struct pcap_pkthdr header = {
        .ts = {.tv_sec = (time_t)(file->origin_s + time_ns / NS_PER_S),
               // In nanoseconds, as the file's precision says.
               .tv_usec = (suseconds_t)(time_ns % NS_PER_S)},
        .caplen = SIM_MIN(captured_bytes, file->snaplen_bytes),
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
    const sim_err_t error = pcap_out_sink_close(file->sink, message);
    destroy(file);
    return error;
}
