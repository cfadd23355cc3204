// SPDX-License-Identifier: Apache-2.0
// world/yaml/unpack.c - decompresses files of gzip, and refuses files that are no text by their
// names: other compression, captures, tables of other programs.
#include <string.h>

#include "world/yaml/yaml_internal.h"

#include <zlib.h>

#define GZIP_OR_ZLIB (15 + 32) // windowBits of inflateInit2: a header of either

// Kinds of files that begin with fixed bytes.
static const struct {
    size_t at; // where the bytes are
    size_t size;
    const char *bytes;
    const char *what;
    const char *expected;
} kinds[] = {
    {0, 4, "\x28\xb5\x2f\xfd", "compressed by zstd", "the file that `zstd -d` makes of it"},
    {0, 6,
     "\xfd"
     "7zXZ\0",
     "compressed by xz", "the file that `xz -d` makes of it"},
    {0, 3, "BZh", "compressed by bzip2", "the file that `bzip2 -d` makes of it"},
    {0, 4, "\x04\x22\x4d\x18", "compressed by lz4", "the file that `lz4 -d` makes of it"},
    {0, 4, "LZIP", "compressed by lzip", "the file that `lzip -d` makes of it"},
    {0, 2, "\x1f\x9d", "compressed by compress", "the file that `uncompress` makes of it"},
    {0, 6, "7z\xbc\xaf\x27\x1c", "an archive of 7-Zip", "one of the files that it holds"},
    {0, 4, "PK\x03\x04", "an archive of zip", "one of the files that it holds"},
    {257, 5, "ustar", "an archive of tar", "one of the files that it holds"},
    {0, 4, "\xd4\xc3\xb2\xa1", "a capture of packets (pcap)", "a text"},
    {0, 4, "\xa1\xb2\xc3\xd4", "a capture of packets (pcap)", "a text"},
    {0, 4, "\x4d\x3c\xb2\xa1", "a capture of packets (pcap)", "a text"},
    {0, 4, "\xa1\xb2\x3c\x4d", "a capture of packets (pcap)", "a text"},
    {0, 4, "\x0a\x0d\x0d\x0a", "a capture of packets (pcapng)", "a text"},
    {0, 6, "snoop\0", "a capture of packets (snoop)", "a text"},
    {0, 4, "PAR1", "a table of Parquet", "the table as CSV"},
    {0, 16, "SQLite format 3", "a database of SQLite, such as Nsight Systems exports", "a text"},
    {0, 8, "\x89HDF\r\n\x1a\n", "a file of HDF5", "a text"},
    {0, 6, "\x93NUMPY", "an array of NumPy", "a text"},
    {0, 5, "%PDF-", "a PDF", "a text"},
    {0, 8, "\x89PNG\r\n\x1a\n", "a picture (PNG)", "a text"},
    {0, 4,
     "\x7f"
     "ELF",
     "a program or library (ELF)", "a text"},
};

// Returns whether a file begins with the byte order mark of UTF-16 and a letter of ASCII.
static bool is_utf16(const char *bytes, size_t size)
{
    return size >= 4 && ((memcmp(bytes, "\xff\xfe", 2) == 0 && bytes[3] == '\0') ||
                         (memcmp(bytes, "\xfe\xff", 2) == 0 && bytes[2] == '\0'));
}

static bool is_gzip(const char *bytes, size_t size)
{
    return size > 2 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0;
}

// Inflates all members of a gzip file, up to size_max + 1 bytes. Returns false if it is broken.
static bool inflate_all(const char *bytes, size_t size, size_t size_max, char **made, size_t *count)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size};
    size_t capacity = (size_t)1 << 16;
    char *buffer = sim_alloc(capacity + 1);
    size_t used = 0;
    int status = inflateInit2(&stream, GZIP_OR_ZLIB);
    while (status == Z_OK && used <= size_max) {
        if (used == capacity) {
            capacity *= 2;
            buffer = sim_realloc_array(buffer, capacity + 1, 1);
        }
        const size_t room = capacity - used;
        stream.next_out = (Bytef *)buffer + used;
        stream.avail_out = (uInt)(room < UINT32_MAX ? room : UINT32_MAX);
        const uInt before = stream.avail_out;
        status = inflate(&stream, Z_NO_FLUSH);
        used += before - stream.avail_out;
        if (status == Z_STREAM_END && stream.avail_in > 0) { // another member follows
            status = inflateReset(&stream);
        }
    }
    (void)inflateEnd(&stream);
    buffer[used] = '\0';
    *made = buffer;
    *count = used;
    return status == Z_STREAM_END || used > size_max;
}

static sim_err_t unpack_gzip(const char *file_name, size_t size_max, char **bytes, size_t *size,
                             world_error_t *error)
{
    const world_place_t place = {file_name, 1, 1};
    char *made = NULL;
    size_t count = 0;
    if (*size > UINT32_MAX || !inflate_all(*bytes, *size, size_max, &made, &count)) {
        sim_free(made);
        return world_fail(
            error, SIM_ERR_INVALID, &place,
            "the file is compressed by gzip and broken, expected a whole file of gzip");
    }
    if (count > size_max) {
        sim_free(made);
        return world_fail(error, SIM_ERR_RANGE, &place,
                          "the file is too large behind gzip, expected at most %zu MiB",
                          size_max >> 20);
    }
    sim_free(*bytes);
    *bytes = made;
    *size = count;
    return SIM_OK;
}

sim_err_t world__unpack(const char *file_name, size_t size_max, char **bytes, size_t *size,
                        world_error_t *error)
{
    const world_place_t place = {file_name, 1, 1};
    if (is_gzip(*bytes, *size)) {
        const sim_err_t result = unpack_gzip(file_name, size_max, bytes, size, error);
        if (result != SIM_OK) {
            return result;
        }
    }
    if (is_utf16(*bytes, *size)) {
        return world_fail(error, SIM_ERR_INVALID, &place,
                          "the file is a text in UTF-16, expected UTF-8, which "
                          "`iconv -f UTF-16 -t UTF-8` makes of it");
    }
    for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
        if (*size >= kinds[i].at + kinds[i].size &&
            memcmp(*bytes + kinds[i].at, kinds[i].bytes, kinds[i].size) == 0) {
            return world_fail(error, SIM_ERR_INVALID, &place, "the file is %s, expected %s%s",
                              kinds[i].what, kinds[i].expected,
                              strstr(kinds[i].what, "(pcap") != NULL
                                  ? "; `rocesim capture` works on captures"
                                  : "");
        }
    }
    return SIM_OK;
}
