// SPDX-License-Identifier: Apache-2.0
// tests/programs/threads/unload.c - a library that starts threads in its constructor.
//
// Goal: threads begin, open files and end while another one has the lock of the C library's loader.
// Method: the file is the program, and with -DLIBRARY the library. dlopen() calls the constructor,
// which waits for one thread and leaves another one. dlclose() calls the destructor, which tells
// that one to end and sleeps.
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#ifdef LIBRARY

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool stop;

static void *run(void *unused)
{
    pthread_mutex_lock(&mutex);
    while (!stop) {
        pthread_cond_wait(&condition, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *open_file(void *unused)
{
    FILE *file = fopen("/proc/self/comm", "r");
    if (file != NULL) {
        fclose(file);
    }
    return unused;
}

__attribute__((constructor)) static void load(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, open_file, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, run, NULL);
    pthread_detach(thread);
}

__attribute__((destructor)) static void unload(void)
{
    pthread_mutex_lock(&mutex);
    stop = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

#else

int main(int count, char **arguments)
{
    void *library = count < 2 ? NULL : dlopen(arguments[1], RTLD_NOW);
    if (library == NULL || dlclose(library) != 0) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return 0;
}

#endif
