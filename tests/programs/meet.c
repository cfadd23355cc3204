// SPDX-License-Identifier: Apache-2.0
// tests/programs/meet.c - processes of different programs of one host meet in shared memory, for
// test_programs_segments.sh.
//
// Usage: meet first|second|fork. The memory lies at another address in each process. Both take
// turns by a mutex, a condition variable, a barrier, and two semaphores with names.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 100
#define BYTES 8192

typedef struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_barrier_t barrier;
    int turn;
    long sum;
} shared_t;

static void check(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

// Maps the memory with a distance from the last mapping that differs between processes.
static shared_t *map(int number)
{
    const int file = shm_open("/meet", O_RDWR | O_CREAT, 0600);
    check(file >= 0 && ftruncate(file, BYTES) == 0, "shm_open");
    void *gap =
        mmap(NULL, 4096 * (size_t)(number + 1), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    shared_t *shared = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    check(gap != MAP_FAILED && shared != MAP_FAILED, "mmap");
    return shared;
}

static void init(shared_t *shared)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t changed;
    pthread_barrierattr_t barrier;
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_condattr_init(&changed);
    pthread_condattr_setpshared(&changed, PTHREAD_PROCESS_SHARED);
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    check(pthread_mutex_init(&shared->mutex, &mutex) == 0, "pthread_mutex_init");
    check(pthread_cond_init(&shared->changed, &changed) == 0, "pthread_cond_init");
    check(pthread_barrier_init(&shared->barrier, &barrier, 2) == 0, "pthread_barrier_init");
}

static void take_turns(shared_t *shared, int number)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&shared->mutex);
        while (shared->turn != number) {
            pthread_cond_wait(&shared->changed, &shared->mutex);
        }
        shared->sum = shared->sum * 3 + number;
        shared->turn = 1 - number;
        pthread_cond_signal(&shared->changed);
        pthread_mutex_unlock(&shared->mutex);
    }
}

static void play(int number)
{
    sem_t *ready = sem_open("/ready", O_CREAT, 0600, 0);
    sem_t *done = sem_open("done", O_CREAT, 0600, 0);
    check(ready != SEM_FAILED && done != SEM_FAILED, "sem_open");
    check(sem_open("/ready", O_CREAT, 0600, 0) == ready, "sem_open");
    check(sem_open("/none", 0) == SEM_FAILED, "sem_open of none");
    shared_t *shared = map(number);
    if (number == 0) {
        init(shared);
        usleep(5000);
        check(sem_post(ready) == 0, "sem_post");
    } else {
        check(sem_wait(ready) == 0, "sem_wait");
    }
    take_turns(shared, number);
    pthread_barrier_wait(&shared->barrier);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%d: sum %ld at %ld.%09ld\n", number, shared->sum, now.tv_sec, now.tv_nsec);
    fflush(stdout);
    if (number == 1) {
        sem_post(done);
    } else {
        sem_wait(done);
        check(sem_unlink("done") == 0 && shm_unlink("/meet") == 0, "unlink");
    }
    sem_close(ready);
    sem_close(done);
}

int main(int count, char **words)
{
    int status = 0;
    if (count == 2 && strcmp(words[1], "fork") == 0) {
        const pid_t child = fork();
        play(child == 0 ? 1 : 0);
        return child == 0 ? 0 : waitpid(child, &status, 0) == child ? status : 1;
    }
    play(count == 2 && strcmp(words[1], "second") == 0);
    return 0;
}
