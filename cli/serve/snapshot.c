// SPDX-License-Identifier: Apache-2.0
// cli/serve/snapshot.c - states of a session to come back to, as processes that wait.
//
// A process that keeps a state has forked a child, which goes on with the session, and waits for
// it. When the client comes back, the child hands over the input that it has read and ends, and the
// parent goes on from its own memory. It cuts the files of the run to the sizes that they had. When
// the client drops the state, the parent ends, and the one above it adopts the child. The first
// process of a session cannot end before it: it waits on, for nothing but the end.
#include "cli/serve/snapshot.h"
#include "cli/serve/limits.h"
#include "cli/serve/lines.h"
#include "cli/serve/serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_BACK 77    // of a child whose client comes back to the parent's state
#define EXIT_DROPPED 78 // of a process whose state was dropped
#define EXIT_REASON 100 // of a copy that had to end: and the reason

// A regular file that is open for writing, and where it stood.
typedef struct kept_file {
    int descriptor;
    off_t offset;
    off_t size;
} kept_file_t;

typedef struct kept_files {
    kept_file_t *items;
    size_t count;
    size_t capacity;
} kept_files_t;

static void keep_file(kept_files_t *files, int descriptor)
{
    struct stat status;
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(descriptor, &status) != 0 ||
        !S_ISREG(status.st_mode)) {
        return;
    }
    SIM_APPEND(files->items, files->count, files->capacity,
               (kept_file_t){descriptor, lseek(descriptor, 0, SEEK_CUR), status.st_size});
}

static kept_files_t keep_files(void)
{
    kept_files_t files = {NULL, 0, 0};
    DIR *const folder = opendir("/proc/self/fd");
    if (folder == NULL) {
        return files;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char *end = NULL;
        const long number = strtol(entry->d_name, &end, 10);
        if (end != entry->d_name && *end == '\0' && number > STDERR_FILENO) {
            keep_file(&files, (int)number);
        }
    }
    (void)closedir(folder);
    return files;
}

// Makes the files what they were. A file that cannot be cut would hold rows of what was undone.
static void restore_files(const kept_files_t *files)
{
    for (size_t i = 0; i < files->count; i++) {
        const kept_file_t *const file = &files->items[i];
        SIM_CHECKF(ftruncate(file->descriptor, file->size) == 0 &&
                       lseek(file->descriptor, file->offset, SEEK_SET) == file->offset,
                   "a file of the session's results cannot be cut: %s", strerror(errno));
    }
}

static bool write_all(int descriptor, const void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t count = write(descriptor, (const char *)bytes + done, size - done);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        done += count > 0 ? (size_t)count : 0;
    }
    return true;
}

// Reads up to `most` bytes until the other end closes; returns their number.
static size_t read_all(int descriptor, void *bytes, size_t most)
{
    size_t done = 0;
    while (done < most) {
        const ssize_t count = read(descriptor, (char *)bytes + done, most - done);
        if (count == 0 || (count < 0 && errno != EINTR)) {
            break;
        }
        done += count > 0 ? (size_t)count : 0;
    }
    return done;
}

// Waits for a child, -1: for any.
static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Waits for the process that goes on with the session; those between may have ended before it.
static int wait_for_session(void)
{
    int status = EXIT_DROPPED;
    while (status == EXIT_DROPPED) {
        status = wait_for(-1);
        serve_pass_signals_to(0);
    }
    return status;
}

// Takes over the input that the child has read and not used.
static void take_input(serve_lines_t *lines, int descriptor)
{
    size_t capacity = (size_t)1 << 16;
    char *input = sim_alloc_array(capacity, 1);
    size_t count = 0;
    for (;;) {
        const size_t more = read_all(descriptor, input + count, capacity - count);
        count += more;
        if (count < capacity) {
            break;
        }
        capacity *= 2;
        input = sim_realloc_array(input, capacity, 1);
    }
    sim_free(lines->input);
    lines->input = input;
    lines->input_count = count;
    lines->input_capacity = capacity;
    lines->taken = 0;
}

// The first byte that a process gets from the one that goes on.
#define WORD_BACK 'b' // and then the input
#define WORD_DROP 'd'

// Waits in a process that keeps a state. Returns when the client comes back to it.
static void keep(serve_conversation_t *conversation, int descriptor)
{
    serve_lines_t *const lines = &conversation->lines;
    char word = '\0';
    const size_t said = read_all(descriptor, &word, 1);
    if (said == 1 && word == WORD_DROP) {
        (void)close(descriptor);
        _exit(getpid() == conversation->first ? wait_for_session() : EXIT_DROPPED);
    }
    take_input(lines, descriptor); // until the process ends
    (void)close(descriptor);
    const int status = wait_for_session();
    if (status != EXIT_BACK) {
        _exit(status); // the conversation has ended there
    }
}

bool serve_mark(serve_conversation_t *conversation, bool *back)
{
    int ends[2];
    SIM_CHECK(conversation->marks < SERVE_MARKS_MAX);
    serve_flush(&conversation->lines);
    if (pipe(ends) != 0) {
        return false;
    }
    kept_files_t files = keep_files();
    serve_adopt();
    const pid_t child = fork();
    if (child <= 0) {
        (void)close(ends[0]);
        sim_free(files.items);
        if (child < 0) {
            (void)close(ends[1]);
            return false;
        }
        serve_end_with_parent();
        serve_pass_signals_to(0);
        serve_go_on_here();
        serve_watch(conversation->limits, conversation->world->sim, conversation->lines.out);
        conversation->marked_ps[conversation->marks] = app_submitted_now_ps(conversation->session);
        conversation->handovers[conversation->marks++] = ends[1];
        *back = false;
        return true;
    }
    (void)close(ends[1]);
    serve_pass_signals_to(child);
    keep(conversation, ends[0]);
    serve_go_on_here();
    restore_files(&files);
    sim_free(files.items);
    *back = true;
    return true;
}

// Says a word to the process that keeps the latest state.
static int say(serve_conversation_t *conversation, char word)
{
    const int handover = conversation->handovers[--conversation->marks];
    (void)write_all(handover, &word, 1);
    return handover;
}

void serve_back(serve_conversation_t *conversation)
{
    serve_lines_t *const lines = &conversation->lines;
    serve_flush(lines);
    (void)write_all(say(conversation, WORD_BACK), lines->input + lines->taken,
                    lines->input_count - lines->taken);
    _exit(EXIT_BACK);
}

static void leave_parent(void *ctx)
{
    (void)close(say(ctx, WORD_DROP));
}

void serve_drop(serve_conversation_t *conversation)
{
    if (getppid() == conversation->first) {
        leave_parent(conversation); // it stays the parent
    } else {
        serve_change_parent(leave_parent, conversation);
    }
}

bool serve_try(serve_conversation_t *conversation,
               void (*fn)(serve_conversation_t *conversation, const void *ctx, void *result),
               const void *ctx, void *result, size_t size)
{
    int ends[2];
    serve_flush(&conversation->lines);
    if (pipe(ends) != 0) {
        return false;
    }
    kept_files_t files = keep_files();
    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        serve_end_with_parent();
        serve_pass_signals_to(0);
        serve_watch(conversation->limits, conversation->world->sim, conversation->lines.out);
        fn(conversation, ctx, result);
        const serve_reason_t reason = serve_reason();
        if (reason != SERVE_REASON_NONE) {
            _exit(EXIT_REASON + (int)reason);
        }
        _exit(write_all(ends[1], result, size) ? 0 : 1);
    }
    (void)close(ends[1]);
    serve_pass_signals_to(SIM_MAX(child, 0));
    const bool whole = child > 0 && read_all(ends[0], result, size) == size;
    (void)close(ends[0]);
    if (child > 0) {
        const int status = wait_for(child);
        serve_pass_signals_to(0);
        restore_files(&files);
        if (status > EXIT_REASON && status <= EXIT_REASON + (int)SERVE_REASON_STOPPED) {
            serve_note_reason((serve_reason_t)(status - EXIT_REASON));
        }
    }
    sim_free(files.items);
    return whole;
}
