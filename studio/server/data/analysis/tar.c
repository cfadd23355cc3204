// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/tar.c - writes POSIX tar (ustar) without owners and times.
#include "studio/server/data/analysis/tar.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define RECORD_BYTES 512u
#define GZIP_WINDOW_BITS (15 + 16)

typedef struct header {
    char name[100];
    char mode[8];
    char uid[8];
    char gid[8];
    char size[12];
    char mtime[12];
    char checksum[8];
    char type;
    char link[100];
    char magic[6];
    char version[2];
    char rest[247];
} header_t;

static_assert(sizeof(header_t) == RECORD_BYTES, "a tar header is a record");

static void pad(studio_out_t *out)
{
    static const char zeros[RECORD_BYTES] = {0};
    studio_out_bytes(out, zeros, -out->size % RECORD_BYTES);
}

void studio_tar_add(studio_out_t *out, const char *path, const char *bytes, size_t size,
                    bool program)
{
    header_t header;
    memset(&header, 0, sizeof(header));
    SIM_CHECK(strlen(path) < sizeof(header.name) && size < (size_t)1 << 33);
    memcpy(header.name, path, strlen(path));
    memcpy(header.mode, program ? "0000755" : "0000644", 7);
    memcpy(header.uid, "0000000", 7);
    memcpy(header.gid, "0000000", 7);
    char octal[16];
    (void)snprintf(octal, sizeof(octal), "%011zo", size);
    memcpy(header.size, octal, 11);
    memcpy(header.mtime, "00000000000", 11);
    memset(header.checksum, ' ', sizeof(header.checksum));
    header.type = '0';
    memcpy(header.magic, "ustar", 6);
    memcpy(header.version, "00", 2);
    unsigned sum = 0;
    const uint8_t *const all = (const uint8_t *)&header;
    for (size_t i = 0; i < sizeof(header); i++) {
        sum += all[i];
    }
    (void)snprintf(octal, sizeof(octal), "%06o", sum);
    memcpy(header.checksum, octal, 7);
    studio_out_bytes(out, (const char *)&header, sizeof(header));
    studio_out_bytes(out, bytes, size);
    pad(out);
}

void studio_tar_gzip(studio_out_t *tar, studio_out_t *gzip)
{
    static const char end[2 * RECORD_BYTES] = {0};
    studio_out_bytes(tar, end, sizeof(end));
    z_stream stream;
    memset(&stream, 0, sizeof(stream));
    SIM_CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, 8,
                           Z_DEFAULT_STRATEGY) == Z_OK);
    char buffer[65536];
    size_t given = 0;
    int code = Z_OK;
    while (code != Z_STREAM_END) {
        if (stream.avail_in == 0 && given < tar->size) {
            const size_t left = tar->size - given;
            stream.next_in = (Bytef *)tar->bytes + given;
            stream.avail_in = left < 1u << 30 ? (uInt)left : 1u << 30;
            given += stream.avail_in;
        }
        stream.next_out = (Bytef *)buffer;
        stream.avail_out = sizeof(buffer);
        code = deflate(&stream, given == tar->size ? Z_FINISH : Z_NO_FLUSH);
        SIM_CHECK(code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR);
        studio_out_bytes(gzip, buffer, sizeof(buffer) - stream.avail_out);
    }
    (void)deflateEnd(&stream);
}
