// SPDX-License-Identifier: Apache-2.0
// cli/ranks/mpi.c - the operations of kernel/ranks.h by MPI.
//
// Neighbours swap one message per window: a persistent receive of fixed size is posted before the
// send. What does not fit follows in a second message, whose size the first one tells.
#include "cli/ranks/ranks.h"

#include "world/error.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

unsigned cli_ranks_processes(void)
{
    // Open MPI's mpirun; srun with PMIx or PMI-2.
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        const char *const text = getenv(names[i]);
        const unsigned long count = text != NULL ? strtoul(text, NULL, 10) : 0;
        if (count > 0 && count < UINT32_MAX) {
            return (unsigned)count;
        }
    }
    const char *const tasks = getenv("SLURM_NTASKS");
    if (getenv("PMIX_RANK") != NULL && tasks != NULL) {
        return (unsigned)strtoul(tasks, NULL, 10);
    }
    return 1;
}

#ifdef ROCESIM_HAS_MPI

// The library's header casts constants to pointers.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-align"
#pragma GCC diagnostic ignored "-Wcast-qual"
#include <mpi.h>
#pragma GCC diagnostic pop

enum { TAG_WINDOW = 1, TAG_REST, TAG_COLLECT };
#define FIRST_BYTES 65536u            // of the first message of a window, the total size included
#define PIECE_BYTES ((size_t)1 << 30) // MPI counts in int
#define NUMBERS (SIM_RANKS_LEAST + SIM_RANKS_SUMS)

static_assert(sizeof(sim_ranks_view_t) == NUMBERS * sizeof(uint64_t), "numbers and nothing else");

typedef struct peer {
    int rank;
    unsigned char *to;   // FIRST_BYTES each
    unsigned char *from; //
} peer_t;

struct cli_ranks {
    sim_ranks_t ranks;
    peer_t *peers;
    size_t peer_count;
    MPI_Request *receives; // persistent, by peer
    MPI_Request *sends;    // two by peer
    MPI_Datatype view;
    MPI_Op agree;
};

char *cli_ranks_library(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int size = 0;
    (void)MPI_Get_library_version(text, &size);
    text[strcspn(text, ",\n")] = '\0';
    // Open MPI puts a 'v' before its number.
    char *const v = strstr(text, " v");
    if (v != NULL) {
        memmove(v + 1, v + 2, strlen(v + 2) + 1);
    }
    return sim_strdup(text);
}

static void combine(void *from, void *into, int *count, MPI_Datatype *type)
{
    const sim_ranks_view_t *const a = from;
    sim_ranks_view_t *const b = into;
    (void)type;
    for (int v = 0; v < *count; v++) {
        for (size_t i = 0; i < SIM_RANKS_LEAST; i++) {
            b[v].least[i] = a[v].least[i] < b[v].least[i] ? a[v].least[i] : b[v].least[i];
        }
        for (size_t i = 0; i < SIM_RANKS_SUMS; i++) {
            b[v].sums[i] += a[v].sums[i];
        }
    }
}

static void agree(void *ctx, sim_ranks_view_t *view)
{
    const cli_ranks_t *const mpi = ctx;
    (void)MPI_Allreduce(MPI_IN_PLACE, view, 1, mpi->view, mpi->agree, MPI_COMM_WORLD);
}

static void send_all(const void *bytes, size_t size, int rank, int tag)
{
    for (size_t at = 0; at < size; at += PIECE_BYTES) {
        const size_t piece = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;
        (void)MPI_Send((const char *)bytes + at, (int)piece, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
    }
}

static void receive_all(void *bytes, size_t size, int rank, int tag)
{
    for (size_t at = 0; at < size; at += PIECE_BYTES) {
        const size_t piece = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;
        (void)MPI_Recv((char *)bytes + at,
                       (int)piece,
                       MPI_BYTE,
                       rank,
                       tag,
                       MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
    }
}

// Makes the buffers and the persistent receives, at the first window.
static void meet(cli_ranks_t *mpi, const unsigned *others, size_t count)
{
    mpi->peers = sim_alloc_array(count + 1, sizeof(*mpi->peers));
    mpi->receives = sim_alloc_array(count + 1, sizeof(*mpi->receives));
    mpi->sends = sim_alloc_array(count + 1, sizeof(*mpi->sends));
    mpi->peer_count = count;
    for (size_t i = 0; i < count; i++) {
        peer_t *const peer = &mpi->peers[i];
        peer->rank = (int)others[i];
        peer->to = sim_alloc(FIRST_BYTES);
        peer->from = sim_alloc(FIRST_BYTES);
        (void)MPI_Recv_init(peer->from,
                            (int)FIRST_BYTES,
                            MPI_BYTE,
                            peer->rank,
                            TAG_WINDOW,
                            MPI_COMM_WORLD,
                            &mpi->receives[i]);
    }
}

// Starts sending the first part of a buffer, behind its whole size. Returns the part's size.
static size_t send_first(cli_ranks_t *mpi, size_t i, const sim_buffer_t *out)
{
    const peer_t *const peer = &mpi->peers[i];
    const uint64_t total = out->count;
    const size_t room = FIRST_BYTES - sizeof(total);
    const size_t first = out->count < room ? out->count : room;
    memcpy(peer->to, &total, sizeof(total));
    if (first > 0) {
        memcpy(peer->to + sizeof(total), out->bytes, first);
    }
    (void)MPI_Isend(peer->to,
                    (int)(sizeof(total) + first),
                    MPI_BYTE,
                    peer->rank,
                    TAG_WINDOW,
                    MPI_COMM_WORLD,
                    &mpi->sends[i]);
    return first;
}

// Swaps what did not fit, one pair of ranks after the other. The lower rank sends first, and pairs
// come in the order of ranks everywhere, so no ranks wait for each other in a circle.
static void swap_rest(cli_ranks_t *mpi, const sim_buffer_t *out, sim_buffer_t *in)
{
    const size_t room = FIRST_BYTES - sizeof(uint64_t);
    for (size_t i = 0; i < mpi->peer_count; i++) {
        const peer_t *const peer = &mpi->peers[i];
        uint64_t total;
        memcpy(&total, peer->from, sizeof(total));
        const size_t first = total < room ? (size_t)total : room;
        const size_t rest_in = (size_t)total - first;
        const size_t rest_out = out[i].count > room ? out[i].count - room : 0;
        unsigned char *const to = sim_buffer_room(&in[i], (size_t)total);
        if (first > 0) {
            memcpy(to, peer->from + sizeof(total), first);
        }
        in[i].count += (size_t)total;
        const bool sends_first = (int)mpi->ranks.rank < peer->rank;
        if (rest_out > 0 && sends_first) {
            send_all(out[i].bytes + room, rest_out, peer->rank, TAG_REST);
        }
        if (rest_in > 0) {
            receive_all(to + first, rest_in, peer->rank, TAG_REST);
        }
        if (rest_out > 0 && !sends_first) {
            send_all(out[i].bytes + room, rest_out, peer->rank, TAG_REST);
        }
    }
}

static void exchange(void *ctx,
                     const unsigned *others,
                     size_t count,
                     const sim_buffer_t *out,
                     sim_buffer_t *in)
{
    cli_ranks_t *const mpi = ctx;
    if (mpi->peers == NULL) {
        meet(mpi, others, count);
    }
    SIM_CHECK(count == mpi->peer_count);
    if (count == 0) {
        return;
    }
    (void)MPI_Startall((int)count, mpi->receives);
    for (size_t i = 0; i < count; i++) {
        (void)send_first(mpi, i, &out[i]);
    }
    (void)MPI_Waitall((int)count, mpi->receives, MPI_STATUSES_IGNORE);
    swap_rest(mpi, out, in);
    (void)MPI_Waitall((int)count, mpi->sends, MPI_STATUSES_IGNORE);
}

static void collect(void *ctx,
                    const void *bytes,
                    size_t size,
                    sim_ranks_take_fn take,
                    void *take_ctx)
{
    const cli_ranks_t *const mpi = ctx;
    const unsigned count = mpi->ranks.count;
    const uint64_t own = size;
    uint64_t *const sizes = sim_alloc_array(count, sizeof(*sizes));
    (void)MPI_Gather(&own, 1, MPI_UINT64_T, sizes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (mpi->ranks.rank > 0) {
        send_all(bytes, size, 0, TAG_COLLECT);
    } else {
        take(0, bytes, size, take_ctx);
    }
    for (unsigned r = 1; r < count && mpi->ranks.rank == 0; r++) {
        unsigned char *const theirs = sim_alloc_lines((size_t)sizes[r] + SIM_CACHE_LINE);
        receive_all(theirs, (size_t)sizes[r], (int)r, TAG_COLLECT);
        take(r, theirs, (size_t)sizes[r], take_ctx);
        sim_free(theirs);
    }
    sim_free(sizes);
}

static const sim_ranks_ops_t ops = {.exchange = exchange, .agree = agree, .collect = collect};

sim_err_t cli_ranks_join(cli_ranks_t **ranks, world_error_t *error)
{
    int provided = 0;
    int rank = 0;
    int count = 0;
    (void)error;
    // A rank ends with the process that started it: mpirun, or its daemon on another machine.
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Thread 0, which calls MPI, is the one that called main.
    (void)MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &count);
    cli_ranks_t *const made = sim_alloc(sizeof(*made));
    made->ranks = (sim_ranks_t){&ops, made, (unsigned)rank, (unsigned)count};
    (void)MPI_Type_contiguous((int)NUMBERS, MPI_UINT64_T, &made->view);
    (void)MPI_Type_commit(&made->view);
    (void)MPI_Op_create(combine, 1, &made->agree);
    *ranks = made;
    return SIM_OK;
}

void cli_ranks_leave(cli_ranks_t *ranks)
{
    if (ranks == NULL) {
        return;
    }
    for (size_t i = 0; i < ranks->peer_count; i++) {
        (void)MPI_Request_free(&ranks->receives[i]);
        sim_free(ranks->peers[i].to);
        sim_free(ranks->peers[i].from);
    }
    (void)MPI_Op_free(&ranks->agree);
    (void)MPI_Type_free(&ranks->view);
    (void)MPI_Finalize();
    sim_free(ranks->peers);
    sim_free(ranks->receives);
    sim_free(ranks->sends);
    sim_free(ranks);
}

#else

char *cli_ranks_library(void)
{
    return NULL;
}

sim_err_t cli_ranks_join(cli_ranks_t **ranks, world_error_t *error)
{
    *ranks = NULL;
    return world_fail(error,
                      SIM_ERR_STATE,
                      NULL,
                      "rocesim: %u processes run together, but this build has no MPI; expected a "
                      "build with libopenmpi-dev installed, or one process",
                      cli_ranks_processes());
}

void cli_ranks_leave(cli_ranks_t *ranks)
{
    (void)ranks;
}

#endif

const sim_ranks_t *cli_ranks_of(const cli_ranks_t *ranks)
{
#ifdef ROCESIM_HAS_MPI
    return ranks == NULL ? NULL : &ranks->ranks;
#else
    (void)ranks;
    return NULL;
#endif
}
