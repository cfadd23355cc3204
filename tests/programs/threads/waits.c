// SPDX-License-Identifier: Apache-2.0
// tests/programs/threads/waits.c - threads of one program wait for each other, for test_threads.sh.
//
// Usage: waits NAME runs one of the functions in the table at the end.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static atomic_int flag;
static int shared;

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)(time.tv_sec - 3600) * 1e6 + (double)time.tv_nsec / 1e3;
}

static void check(int good, const char *what)
{
    if (!good) {
        printf("wrong: %s\n", what);
        exit(1);
    }
}

static void start_all(pthread_t threads[THREADS], void *(*function)(void *))
{
    for (long i = 0; i < THREADS; i++) {
        check(pthread_create(&threads[i], NULL, function, (void *)i) == 0, "pthread_create");
    }
}

static void join_all(pthread_t threads[THREADS])
{
    for (long i = 0; i < THREADS; i++) {
        void *value;
        check(pthread_join(threads[i], &value) == 0 && value == (void *)i, "pthread_join");
    }
}

// -- a queue of one place between producers and consumers

static int place;
static int is_full;
static long sum;

static void *consume(void *number)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&mutex);
        while (!is_full) {
            pthread_cond_wait(&filled, &mutex);
        }
        is_full = 0;
        sum += place;
        printf("%ld takes %d at %.3f us\n", (long)number, place, now_us());
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&mutex);
        usleep(3);
    }
    return number;
}

static int queue(void)
{
    pthread_t threads[THREADS];
    start_all(threads, consume);
    for (int i = 0; i < 20 * THREADS; i++) {
        pthread_mutex_lock(&mutex);
        while (is_full) {
            pthread_cond_wait(&emptied, &mutex);
        }
        place = i;
        is_full = 1;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&mutex);
    }
    join_all(threads);
    check(sum == 20 * THREADS * (20 * THREADS - 1) / 2, "the sum of what was consumed");
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 500000;
    pthread_mutex_lock(&mutex);
    const double begin = now_us();
    const int error = pthread_cond_timedwait(&filled, &mutex, &time);
    check(error == ETIMEDOUT && now_us() - begin > 499 && now_us() - begin < 502, "timed wait");
    return 0;
}

// -- everything in turn: barrier, lock, semaphore, spin lock

static void *meet(void *number)
{
    for (int round = 0; round < 10; round++) {
        usleep(1 + (unsigned)(long)number * 5);
        pthread_barrier_wait(&barrier);
        pthread_rwlock_rdlock(&rwlock);
        check(shared == round * THREADS, "a reader sees no writer's half");
        pthread_rwlock_unlock(&rwlock);
        pthread_barrier_wait(&barrier);
        pthread_rwlock_wrlock(&rwlock);
        shared++;
        printf("%ld writes %d at %.3f us\n", (long)number, shared, now_us());
        pthread_rwlock_unlock(&rwlock);
        sem_wait(&semaphore);
        usleep(2);
        sem_post(&semaphore);
        pthread_spin_lock(&spin);
        usleep(1);
        pthread_spin_unlock(&spin);
        pthread_barrier_wait(&barrier);
    }
    return number;
}

static int all(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_spin_init(&spin, 0);
    sem_init(&semaphore, 0, 2);
    start_all(threads, meet);
    join_all(threads);
    check(pthread_barrier_destroy(&barrier) == 0, "pthread_barrier_destroy");
    return 0;
}

// -- threads that spin on memory

static atomic_int turn_of;

static void *pass_on(void *number)
{
    for (int round = 0; round < 20; round++) {
        while (atomic_load(&turn_of) != (long)number) {
        }
        printf("%ld at %.3f us\n", (long)number, now_us());
        usleep(1);
        atomic_store(&turn_of, ((int)(long)number + 1) % THREADS);
    }
    return number;
}

// A long way to a number: an iteration that asks has calls, also of functions in memory, and jumps.
static atomic_int token;
static int steps_of[THREADS];

static __attribute__((noinline)) int read_token(const int *step)
{
    const int now = atomic_load(&token);
    if (now < 0 || *step > 1000000) {
        abort();
    }
    return now == 1000000 ? 0 : now;
}

static int (*volatile reader)(const int *step) = read_token;

static __attribute__((noinline)) int has_token(long number)
{
    const int *step = &steps_of[number];
    if (number < 0 || number >= THREADS) {
        return -1;
    }
    int now = reader(step);
    if (*step % 2 != 0) {
        now += 0 * *step;
    }
    if (now < 0 || step == NULL) {
        return -1;
    }
    return reader(step) % THREADS == number && now % THREADS == number;
}

// Hands the token on without a call, so that the next thread must see that this one has written.
static void *hand_on(void *number)
{
    for (int round = 0; round < 500; round++) {
        int has;
        do {
            has = has_token((long)number);
        } while (has == 0);
        check(has == 1, "has the token");
        steps_of[(long)number]++;
        atomic_fetch_add(&token, 1);
    }
    return number;
}

static void *count_locked(void *number)
{
    for (int i = 0; i < 50; i++) {
        while (atomic_exchange(&flag, 1) != 0) {
            __builtin_ia32_pause();
        }
        shared++;
        usleep(1);
        atomic_store(&flag, 0);
    }
    return number;
}

// Looks at a flag behind a lock, again and again, for 100 ms of simulated time.
static void *look_locked(void *argument)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static int seen;
    if (argument != NULL) {
        usleep(100000);
    }
    for (int done = 0; !done;) {
        pthread_mutex_lock(&mutex);
        seen = argument != NULL ? 1 : seen;
        done = seen;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static atomic_int once_seen;

static void do_nothing(void)
{
}

static void *see_after_1_ms(void *argument)
{
    usleep(1000);
    atomic_store(&once_seen, 1);
    return argument;
}

// Waits for memory in a loop that asks each time whether something was done once.
static void look_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_t setter;
    pthread_create(&setter, NULL, see_after_1_ms, NULL);
    do {
        pthread_once(&once, do_nothing);
    } while (atomic_load(&once_seen) == 0);
    pthread_join(setter, NULL);
}

static int spins(void)
{
    look_once();
    pthread_t setter;
    pthread_create(&setter, NULL, look_locked, &shared);
    look_locked(NULL);
    pthread_join(setter, NULL);
    pthread_t threads[THREADS];
    start_all(threads, pass_on);
    join_all(threads);
    start_all(threads, count_locked);
    join_all(threads);
    check(shared == 50 * THREADS, "a counter behind a lock of atomics");
    printf("%.3f us\n", now_us());
    return 0;
}

static int hands_on(void)
{
    pthread_t threads[THREADS];
    start_all(threads, hand_on);
    join_all(threads);
    check(token == 500 * THREADS, "a token that goes round");
    return 0;
}

static atomic_int asked[THREADS];

static __attribute__((noinline)) int is_asked(int number)
{
    return atomic_load(&asked[number]);
}

// Asks all at once.
static void *ask(void *number)
{
    usleep(3);
    for (int i = 0; i < THREADS; i++) {
        atomic_store(&asked[i], 1);
    }
    return number;
}

// Answers whom it meets first.
static int looks_around(void)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, ask, NULL) == 0, "pthread_create");
    int next = 0;
    while (is_asked(next) == 0) {
        next = (next + 1) % THREADS;
    }
    printf("%d\n", next);
    pthread_join(thread, NULL);
    return 0;
}

// -- descriptors between threads

static int pipe_ends[2];
static int socket_ends[2];
static int event;

static void *write_all(void *number)
{
    char bytes[3000];
    memset(bytes, (int)(long)number, sizeof bytes);
    for (int i = 0; i < 50; i++) {
        check(write(pipe_ends[1], bytes, sizeof bytes) == sizeof bytes, "write into a pipe");
    }
    check(send(socket_ends[1], "s", 1, 0) == 1, "send");
    usleep(100);
    const uint64_t one = 1;
    check(write(event, &one, sizeof one) == sizeof one, "write into an eventfd");
    return number;
}

static int descriptors(void)
{
    pthread_t threads[THREADS];
    event = eventfd(0, 0);
    check(pipe(pipe_ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, socket_ends) == 0, "pipes");
    const int epoll = epoll_create1(0);
    const int all_of_them[] = {pipe_ends[0], socket_ends[0], event};
    for (int i = 0; i < 3; i++) {
        struct epoll_event wish = {.events = EPOLLIN, .data.fd = all_of_them[i]};
        check(epoll_ctl(epoll, EPOLL_CTL_ADD, all_of_them[i], &wish) == 0, "epoll_ctl");
    }
    struct epoll_event found[3];
    check(epoll_wait(epoll, found, 3, 1) == 0, "nothing is ready");
    start_all(threads, write_all);
    long bytes = 0;
    uint64_t events = 0;
    int sent = 0;
    while (bytes < THREADS * 150000L || events < THREADS || sent < THREADS) {
        const int count = epoll_wait(epoll, found, 3, 1000);
        check(count > 0, "epoll_wait");
        for (int i = 0; i < count; i++) {
            char some[4096];
            uint64_t value;
            if (found[i].data.fd == pipe_ends[0]) {
                bytes += read(pipe_ends[0], some, sizeof some);
            } else if (found[i].data.fd == event) {
                check(read(event, &value, sizeof value) == sizeof value, "read of an eventfd");
                events += value;
                printf("event %lu at %.3f us\n", (unsigned long)value, now_us());
            } else {
                sent += (int)recv(socket_ends[0], some, sizeof some, 0);
            }
        }
    }
    join_all(threads);
    printf("%ld bytes at %.3f us\n", bytes, now_us());
    return 0;
}

// -- the ends of threads

static void *sleep_long(void *number)
{
    sleep(1000);
    return number;
}

static void *exit_early(void *number)
{
    usleep(10);
    pthread_exit(number);
}

static void *detach_self(void *number)
{
    pthread_detach(pthread_self());
    usleep(5);
    atomic_fetch_add(&flag, 1);
    return number;
}

static int add_one(void *to)
{
    *(int *)to += 1;
    return 7;
}

static atomic_int handled;

static void handle(int number)
{
    handled += number == SIGUSR1;
}

static int ends(void)
{
    pthread_t threads[THREADS];
    void *value;
    start_all(threads, sleep_long);
    usleep(10);
    for (int i = 0; i < THREADS; i++) {
        check(pthread_cancel(threads[i]) == 0, "pthread_cancel");
        check(pthread_join(threads[i], &value) == 0 && value == PTHREAD_CANCELED, "cancelled");
    }
    start_all(threads, exit_early);
    check(pthread_tryjoin_np(threads[0], &value) == EBUSY, "pthread_tryjoin_np");
    join_all(threads);
    start_all(threads, detach_self);
    usleep(100);
    check(flag == THREADS, "detached threads run");
    thrd_t c11;
    int result = 0;
    check(thrd_create(&c11, add_one, &result) == thrd_success &&
              thrd_join(c11, &result) == thrd_success && result == 7,
          "threads of C11");
    check(pthread_create(&threads[0], NULL, sleep_long, NULL) == 0, "pthread_create");
    signal(SIGUSR1, handle);
    usleep(1);
    pthread_kill(threads[0], SIGUSR1);
    check(pthread_join(threads[0], NULL) == 0 && handled == 1, "a signal ends a sleep");
    printf("%.3f us\n", now_us());
    return 0;
}

// -- the system call futex

static int word;

static void *wait_word(void *number)
{
    while (*(volatile int *)&word == 0) {
        syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
    }
    printf("%ld at %.3f us\n", (long)number, now_us());
    return number;
}

static int futexes(void)
{
    pthread_t threads[THREADS];
    start_all(threads, wait_word);
    usleep(50);
    word = 1;
    check(syscall(SYS_futex, &word, FUTEX_WAKE, 100, NULL, NULL, 0) == THREADS, "FUTEX_WAKE");
    join_all(threads);
    const struct timespec time = {.tv_nsec = 100000};
    const double begin = now_us();
    check(syscall(SYS_futex, &word, FUTEX_WAIT, 1, &time, NULL, 0) == -1 && errno == ETIMEDOUT &&
              now_us() - begin > 99 && now_us() - begin < 102,
          "FUTEX_WAIT with a time");
    return 0;
}

// -- processes that share memory

typedef struct common {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    sem_t semaphore;
    atomic_int spin;
    int count;
    int turn;
} common_t;

static void child(common_t *common, int number, int write_end)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&common->mutex);
        while (common->turn != number) {
            pthread_cond_wait(&common->changed, &common->mutex);
        }
        common->turn = (number + 1) % THREADS;
        common->count++;
        pthread_cond_broadcast(&common->changed);
        pthread_mutex_unlock(&common->mutex);
        usleep(3);
    }
    while (atomic_load(&common->spin) == 0) {
    }
    sem_wait(&common->semaphore);
    char text[64];
    const int length = snprintf(text, sizeof text, "%d ends at %.3f us\n", number, now_us());
    check(write(write_end, text, (size_t)length) == length, "write into a pipe");
    exit(number);
}

static int forks(void)
{
    common_t *common =
        mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t mutex_attributes;
    pthread_condattr_t condition_attributes;
    pthread_mutexattr_init(&mutex_attributes);
    pthread_mutexattr_setpshared(&mutex_attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&common->mutex, &mutex_attributes);
    pthread_condattr_init(&condition_attributes);
    pthread_condattr_setpshared(&condition_attributes, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&common->changed, &condition_attributes);
    sem_init(&common->semaphore, 1, 0);
    pid_t children[THREADS];
    check(pipe(pipe_ends) == 0, "pipe");
    for (int i = 0; i < THREADS; i++) {
        children[i] = fork();
        check(children[i] >= 0, "fork");
        if (children[i] == 0) {
            child(common, i, pipe_ends[1]);
        }
    }
    close(pipe_ends[1]);
    usleep(200);
    check(common->count == THREADS * 5, "what the children counted");
    atomic_store(&common->spin, 1);
    for (int i = 0; i < THREADS; i++) {
        sem_post(&common->semaphore);
        usleep(10);
    }
    char text[256];
    ssize_t got;
    while ((got = read(pipe_ends[0], text, sizeof text)) > 0) {
        fwrite(text, 1, (size_t)got, stdout);
    }
    for (int i = 0; i < THREADS; i++) {
        int status = 0;
        check(waitpid(children[i], &status, 0) == children[i] && WIFEXITED(status) &&
                  WEXITSTATUS(status) == i,
              "waitpid");
    }
    int status = 0;
    const pid_t killed = fork();
    if (killed == 0) {
        pause();
    }
    usleep(10);
    check(kill(killed, SIGTERM) == 0 && wait(&status) == killed && WIFSIGNALED(status), "kill");
    check(wait(NULL) == -1 && errno == ECHILD, "no child is left");
    // NOLINTNEXTLINE(cert-env33-c)
    status = system("exit 3");
    check(WIFEXITED(status) && WEXITSTATUS(status) == 3, "system");
    printf("%.3f us\n", now_us());
    return 0;
}

// -- what can never end

static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;

static void *lock_both(void *number)
{
    pthread_mutex_lock(&other);
    usleep(10);
    pthread_mutex_lock(&mutex);
    return number;
}

static void *sleep_again(void *number)
{
    for (;;) {
        usleep(10000);
    }
    return number;
}

static int deadlock(void)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, lock_both, NULL) == 0, "pthread_create");
    pthread_mutex_lock(&mutex);
    usleep(10);
    pthread_mutex_lock(&other);
    return 0;
}

// Another thread goes on, so the simulation does not end by itself.
static int deadlock_beside(void)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, sleep_again, NULL) == 0, "pthread_create");
    return deadlock();
}

static void *lock_both_others(void *argument)
{
    (void)argument;
    pthread_spin_lock(&spin);
    usleep(10);
    pthread_rwlock_wrlock(&rwlock);
    return NULL;
}

// Does so with a read-write lock that is held twice for a time, and a spin lock.
static int deadlock_locks(void)
{
    pthread_t threads[2];
    pthread_spin_init(&spin, 0);
    check(pthread_create(&threads[0], NULL, sleep_again, NULL) == 0, "pthread_create");
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    check(pthread_create(&threads[1], NULL, lock_both_others, NULL) == 0, "pthread_create");
    usleep(10);
    pthread_spin_lock(&spin);
    return 0;
}

static int too_many(void)
{
    pthread_t thread;
    int count = 0;
    while (pthread_create(&thread, NULL, sleep_long, NULL) == 0) {
        count++;
    }
    printf("%d\n", count);
    return count == 1023 ? 0 : 1;
}

// -- files of threads, by the numbers that the program sees

static pthread_barrier_t named;
static pthread_barrier_t looked;
static pid_t named_tid;

static void *name_itself(void *unused)
{
    named_tid = gettid();
    (void)pthread_setname_np(pthread_self(), "second");
    (void)pthread_barrier_wait(&named);
    (void)pthread_barrier_wait(&looked);
    return unused;
}

// Returns true if the file of a thread can be read and begins with the text.
static bool begins(pid_t pid, pid_t tid, const char *file, const char *text)
{
    char path[64];
    char line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, tid, file);
    if (pid == 0) {
        snprintf(path, sizeof path, "/proc/self/task/%d/%s", tid, file);
    }
    FILE *stream = fopen(path, "r");
    const bool is_read = stream != NULL && fgets(line, sizeof line, stream) != NULL;
    if (stream != NULL) {
        fclose(stream);
    }
    return is_read && strncmp(line, text, strlen(text)) == 0;
}

static int files(void)
{
    pthread_t thread;
    pthread_barrier_init(&named, NULL, 2);
    pthread_barrier_init(&looked, NULL, 2);
    check(begins(0, getpid(), "comm", "waits\n"), "a process's only thread");
    check(pthread_create(&thread, NULL, name_itself, NULL) == 0, "pthread_create");
    (void)pthread_barrier_wait(&named);
    for (int i = 0; i < 2; i++) {
        const pid_t pid = i == 0 ? 0 : getpid();
        check(begins(pid, named_tid, "comm", "second\n"), "comm");
        check(begins(pid, named_tid, "status", "Name:\tsecond\n"), "status");
        check(begins(pid, named_tid, "stat", "") && begins(pid, named_tid, "maps", ""), "maps");
        check(begins(pid, gettid(), "comm", "waits\n"), "the first thread");
        check(!begins(pid, named_tid + 900, "comm", ""), "a thread that is not there");
    }
    int found = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        found += entry->d_name[0] != '.';
        check(entry->d_name[0] == '.' || atoi(entry->d_name) == named_tid ||
                  atoi(entry->d_name) == gettid(),
              "the folder of threads");
    }
    closedir(folder);
    check(found == 2, "the number of threads");
    (void)pthread_barrier_wait(&looked);
    return pthread_join(thread, NULL);
}

// Waits in a system call that is not simulated.
static int lock_file(void)
{
    const int first = fileno(tmpfile());
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", first);
    const int second = open(name, O_RDWR);
    check(flock(first, LOCK_EX) == 0, "flock");
    flock(second, LOCK_EX);
    return 0;
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        int (*function)(void);
    } functions[] = {
        {"queue", queue},
        {"all", all},
        {"spins", spins},
        {"hands_on", hands_on},
        {"looks_around", looks_around},
        {"ends", ends},
        {"futexes", futexes},
        {"descriptors", descriptors},
        {"deadlock", deadlock},
        {"too_many", too_many},
        {"lock_file", lock_file},
        {"forks", forks},
        {"files", files},
        {"deadlock_beside", deadlock_beside},
        {"deadlock_locks", deadlock_locks},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (count == 2 && strcmp(words[1], functions[i].name) == 0) {
            return functions[i].function();
        }
    }
    return 2;
}
