// SPDX-License-Identifier: Apache-2.0
// cli/ranks/mpi.c - the operations of kernel/ranks.h by MPI.
//
// Neighbours swap one message per window, straight from and into the kernel's buffers. A receive is
// posted for the largest message so far. What does not fit follows in a second message, and both
// sides expect larger ones from then on.
#include "cli/ranks/ranks.h"

#include "cli/ranks/watch.h"
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
#define FIRST_BYTES 65536u            // of a first message, at the beginning
#define PIECE_BYTES ((size_t)1 << 30) // MPI counts in int
#define AWAY_MS 100                   // between two looks of a rank that waits
#define NUMBERS (sizeof(sim_ranks_view_t) / sizeof(uint64_t)) // and nothing else

// Stands at the beginning of a buffer.
typedef struct head {
    uint64_t total; // bytes of the buffer, this head included
    sim_ranks_view_t view;
} head_t;
static_assert(sizeof(head_t) <= SIM_RANKS_HEAD, "the kernel leaves room for it");

typedef struct peer {
    int rank;
    size_t most_out; // bytes that a first message has at most; the peer knows the same numbers
    size_t most_in;
} peer_t;

struct cli_ranks {
    sim_ranks_t ranks;
    peer_t *peers;
    size_t peer_count;
    bool complete;         // every rank is a neighbour of all others
    MPI_Request *receives; // by peer
    MPI_Request *sends;    // by peer; then those of what did not fit
    // The exchange that was begun.
    sim_buffer_t *in;
    sim_ranks_view_t *view;
    sim_ranks_view_t agreed;
    MPI_Request agreement;
    MPI_Datatype view_type;
    MPI_Op agree;
    int64_t away_ms; // for which this rank got no processor while it waited
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
        sim_ranks_combine(&a[v], &b[v]);
    }
}

static void agree(void *ctx, sim_ranks_view_t *view)
{
    const cli_ranks_t *const mpi = ctx;
    (void)MPI_Allreduce(MPI_IN_PLACE, view, 1, mpi->view_type, mpi->agree, MPI_COMM_WORLD);
}

static void send_all(const void *bytes, size_t size, int rank, int tag)
{
    for (size_t at = 0; at < size; at += PIECE_BYTES) {
        const size_t piece = SIM_MIN(size - at, PIECE_BYTES);
        (void)MPI_Send((const char *)bytes + at, (int)piece, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
    }
}

static void receive_all(void *bytes, size_t size, int rank, int tag)
{
    for (size_t at = 0; at < size; at += PIECE_BYTES) {
        const size_t piece = SIM_MIN(size - at, PIECE_BYTES);
        (void)MPI_Recv((char *)bytes + at, (int)piece, MPI_BYTE, rank, tag, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
    }
}

// Makes the peers at the first window.
static void meet(cli_ranks_t *mpi, const unsigned *others, size_t count)
{
    mpi->peers = sim_alloc_array(count + 1, sizeof(*mpi->peers));
    mpi->receives = sim_alloc_array(count + 1, sizeof(*mpi->receives));
    mpi->sends = sim_alloc_array(2 * count + 1, sizeof(*mpi->sends));
    mpi->peer_count = count;
    // Two ranks may have all others as neighbours while a third one has not.
    const int own = count + 1 == mpi->ranks.count;
    int everyone = 0;
    (void)MPI_Allreduce(&own, &everyone, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    mpi->complete = everyone != 0;
    for (size_t i = 0; i < count; i++) {
        mpi->peers[i] = (peer_t){(int)others[i], FIRST_BYTES, FIRST_BYTES};
    }
}

// Returns the size of later first messages, when one buffer had `total` bytes.
static size_t grown(size_t most, size_t total)
{
    while (most < total && most < PIECE_BYTES / 2) {
        most *= 2;
    }
    return most;
}

static void start_receive(cli_ranks_t *mpi, size_t i, sim_buffer_t *in)
{
    const peer_t *const peer = &mpi->peers[i];
    in->count = 0;
    (void)MPI_Irecv(sim_buffer_room(in, peer->most_in), (int)peer->most_in, MPI_BYTE, peer->rank,
                    TAG_WINDOW, MPI_COMM_WORLD, &mpi->receives[i]);
}

static void start_send(cli_ranks_t *mpi, size_t i, sim_buffer_t *out, const sim_ranks_view_t *view)
{
    peer_t *const peer = &mpi->peers[i];
    const head_t head = {out->count, *view};
    memcpy(out->bytes, &head, sizeof(head));
    const size_t first = SIM_MIN(out->count, peer->most_out);
    (void)MPI_Isend(out->bytes, (int)first, MPI_BYTE, peer->rank, TAG_WINDOW, MPI_COMM_WORLD,
                    &mpi->sends[2 * i]);
    mpi->sends[2 * i + 1] = MPI_REQUEST_NULL;
    SIM_CHECK(out->count - first <= PIECE_BYTES);
    if (out->count > first) {
        (void)MPI_Isend(out->bytes + first, (int)(out->count - first), MPI_BYTE, peer->rank,
                        TAG_REST, MPI_COMM_WORLD, &mpi->sends[2 * i + 1]);
    }
    peer->most_out = grown(peer->most_out, out->count);
}

// Starts to receive what did not fit into the first message of a peer.
static void start_rest(cli_ranks_t *mpi, size_t i, sim_buffer_t *in, const head_t *head)
{
    peer_t *const peer = &mpi->peers[i];
    const size_t first = SIM_MIN(head->total, peer->most_in);
    in->count = first;
    mpi->receives[i] = MPI_REQUEST_NULL;
    if (head->total > first) {
        (void)MPI_Irecv(sim_buffer_room(in, head->total - first), (int)(head->total - first),
                        MPI_BYTE, peer->rank, TAG_REST, MPI_COMM_WORLD, &mpi->receives[i]);
    }
    in->count = head->total;
    peer->most_in = grown(peer->most_in, head->total);
}

// Waits for the requests. A rank that is stopped meanwhile, or gets no processor, does not wait for
// others: they wait for it.
static void wait_all(cli_ranks_t *mpi, size_t count, MPI_Request *requests)
{
    int64_t seen_ms = cli_ranks_now_ms();
    int done = 0;
    while (done == 0) {
        (void)MPI_Testall((int)count, requests, &done, MPI_STATUSES_IGNORE);
        const int64_t now = cli_ranks_now_ms();
        mpi->away_ms += now - seen_ms >= AWAY_MS ? now - seen_ms : 0;
        seen_ms = now;
    }
}

// Where every rank is a neighbour of all, the views that come with the buffers are those of all
// ranks. Elsewhere the ranks agree at the same time.
static void begin_exchange(void *ctx, const unsigned *others, size_t count, sim_buffer_t *out,
                           sim_buffer_t *in, sim_ranks_view_t *view)
{
    cli_ranks_t *const mpi = ctx;
    if (mpi->peers == NULL) {
        meet(mpi, others, count);
    }
    SIM_CHECK(count == mpi->peer_count);
    mpi->in = in;
    mpi->view = view;
    mpi->agreed = *view;
    mpi->agreement = MPI_REQUEST_NULL;
    if (!mpi->complete) {
        (void)MPI_Iallreduce(view, &mpi->agreed, 1, mpi->view_type, mpi->agree, MPI_COMM_WORLD,
                             &mpi->agreement);
    }
    for (size_t i = 0; i < count; i++) {
        start_receive(mpi, i, &in[i]);
    }
    for (size_t i = 0; i < count; i++) {
        start_send(mpi, i, &out[i], view);
    }
    // finish_exchange() waits for the agreement.
} // NOLINT(clang-analyzer-optin.mpi.MPI-Checker)

// MPI moves bytes while it is called, whatever the call asks for.
static void poll_messages(void *ctx)
{
    const cli_ranks_t *const mpi = ctx;
    int done = 0;
    (void)MPI_Testall((int)mpi->peer_count, mpi->receives, &done, MPI_STATUSES_IGNORE);
}

static void finish_exchange(void *ctx)
{
    cli_ranks_t *const mpi = ctx;
    const size_t count = mpi->peer_count;
    wait_all(mpi, count, mpi->receives);
    for (size_t i = 0; i < count; i++) {
        head_t head;
        memcpy(&head, mpi->in[i].bytes, sizeof(head));
        start_rest(mpi, i, &mpi->in[i], &head);
        if (mpi->complete) {
            sim_ranks_combine(&head.view, &mpi->agreed);
        }
    }
    wait_all(mpi, count, mpi->receives);
    wait_all(mpi, 2 * count, mpi->sends);
    wait_all(mpi, 1, &mpi->agreement);
    *mpi->view = mpi->agreed;
}

static void collect(void *ctx, const void *bytes, size_t size, sim_ranks_take_fn take,
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

static const sim_ranks_ops_t ops = {
    .begin_exchange = begin_exchange,
    .poll = poll_messages,
    .finish_exchange = finish_exchange,
    .agree = agree,
    .collect = collect,
};

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
    (void)MPI_Type_contiguous((int)NUMBERS, MPI_UINT64_T, &made->view_type);
    (void)MPI_Type_commit(&made->view_type);
    (void)MPI_Op_create(combine, 1, &made->agree);
    *ranks = made;
    return SIM_OK;
}

void cli_ranks_leave(cli_ranks_t *ranks)
{
    if (ranks == NULL) {
        return;
    }
    (void)MPI_Op_free(&ranks->agree);
    (void)MPI_Type_free(&ranks->view_type);
    (void)MPI_Finalize();
    SIM_FREE_ALL(ranks->peers, ranks->receives, ranks->sends, ranks);
}

double cli_ranks_away_s(const sim_ranks_t *ranks)
{
    const cli_ranks_t *const mpi = ranks->ctx;
    return (double)mpi->away_ms / 1e3;
}

#else

char *cli_ranks_library(void)
{
    return NULL;
}

sim_err_t cli_ranks_join(cli_ranks_t **ranks, world_error_t *error)
{
    *ranks = NULL;
    return world_fail(error, SIM_ERR_STATE, NULL,
                      "rocesim: %u processes run together, but this build has no MPI; expected a "
                      "build with libopenmpi-dev installed, or one process",
                      cli_ranks_processes());
}

void cli_ranks_leave(cli_ranks_t *ranks)
{
    (void)ranks;
}

double cli_ranks_away_s(const sim_ranks_t *ranks)
{
    (void)ranks;
    return 0.0;
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
