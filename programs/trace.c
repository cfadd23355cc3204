// SPDX-License-Identifier: Apache-2.0
// programs/trace.c - writes the lines.

#include "programs/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "programs/process/descriptors.h"
#include "programs/system.h"
#include "programs/threads/threads.h"
#include "programs/turn.h"

#define LINE_BYTES 512
#define PS_PER_US UINT64_C(1000000)

bool trace_on;
static int file = -1;
static long bytes_max; // a longer file would end the program

void trace_begin(void)
{
    const char *path = getenv(PROGRAM_TRACE_ENVIRONMENT);
    if (path == NULL || path[0] == '\0') {
        return;
    }
    file = descriptors_hide(
        (int)system_call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC));
    struct rlimit limit = {0};
    system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit);
    bytes_max = limit.rlim_cur > LONG_MAX ? LONG_MAX : (long)limit.rlim_cur - 2 * LINE_BYTES;
    trace_on = file >= 0;
}

void trace_write(const char *format, ...)
{
    char line[LINE_BYTES];
    const int error = errno;
    const uint64_t now_ps = turn_now_ps();
    int length = snprintf(line, sizeof line, "%lu.%06lu %u ", (unsigned long)(now_ps / PS_PER_US),
                          (unsigned long)(now_ps % PS_PER_US), threads_own_number());
    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(line + length, sizeof line - (size_t)length - 1, format, arguments);
    va_end(arguments);
    length = length < LINE_BYTES - 2 ? length : LINE_BYTES - 2;
    line[length] = '\n';
    if (system_call(SYS_lseek, file, 0, SEEK_END) > bytes_max) {
        length = snprintf(line, sizeof line, "# the trace ends here: programs.output-max");
        line[length] = '\n';
        trace_on = false;
    }
    system_call(SYS_write, file, line, (size_t)length + 1);
    errno = error;
}

static const char *name_of_opcode(uint32_t opcode)
{
    static const char *const names[] = {
        [IBV_WR_RDMA_WRITE] = "RDMA_WRITE",
        [IBV_WR_RDMA_WRITE_WITH_IMM] = "RDMA_WRITE_WITH_IMM",
        [IBV_WR_SEND] = "SEND",
        [IBV_WR_SEND_WITH_IMM] = "SEND_WITH_IMM",
        [IBV_WR_RDMA_READ] = "RDMA_READ",
        [IBV_WR_ATOMIC_CMP_AND_SWP] = "ATOMIC_CMP_AND_SWP",
        [IBV_WR_ATOMIC_FETCH_AND_ADD] = "ATOMIC_FETCH_AND_ADD",
    };
    return opcode < sizeof names / sizeof *names ? names[opcode] : "?";
}

static const char *name_of_wc_opcode(const program_completion_t *completion)
{
    switch (completion->opcode) {
    case IBV_WC_SEND:
        return "SEND";
    case IBV_WC_RDMA_WRITE:
        return "RDMA_WRITE";
    case IBV_WC_RDMA_READ:
        return "RDMA_READ";
    case IBV_WC_COMP_SWAP:
        return "COMP_SWAP";
    case IBV_WC_FETCH_ADD:
        return "FETCH_ADD";
    case IBV_WC_RECV:
        return "RECV";
    case IBV_WC_RECV_RDMA_WITH_IMM:
        return "RECV_RDMA_WITH_IMM";
    default:
        return "?";
    }
}

void trace_post(const program_post_t *record, const void *rest)
{
    const program_sge_t *places = rest;
    uint64_t bytes = record->inline_bytes;
    for (uint32_t i = 0; i < record->sge_count; i++) {
        bytes += places[i].length;
    }
    if (record->kind != PROGRAM_SEND) {
        trace_write("%s(%s %u, wr_id 0x%lx, %lu bytes) = 0",
                    record->kind == PROGRAM_RECV ? "ibv_post_recv" : "ibv_post_srq_recv",
                    record->kind == PROGRAM_RECV ? "qp" : "srq", record->handle,
                    (unsigned long)record->wr_id, (unsigned long)bytes);
        return;
    }
    trace_write("ibv_post_send(qp %u, wr_id 0x%lx, %s, %lu bytes%s%s) = 0", record->handle,
                (unsigned long)record->wr_id, name_of_opcode(record->opcode), (unsigned long)bytes,
                (record->flags & IBV_SEND_SIGNALED) != 0 ? ", signaled" : "",
                (record->flags & IBV_SEND_INLINE) != 0 ? ", inline" : "");
}

void trace_completion(uint32_t cq, const program_completion_t *completion)
{
    trace_write("ibv_poll_cq(cq %u) = qp %u, wr_id 0x%lx, %s, %u bytes, %s", cq, completion->qp_num,
                (unsigned long)completion->wr_id, name_of_wc_opcode(completion),
                completion->byte_len, ibv_wc_status_str((enum ibv_wc_status)completion->status));
}
