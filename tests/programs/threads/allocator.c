// SPDX-License-Identifier: Apache-2.0
// tests/programs/threads/allocator.c - threads allocate while malloc() calls code that takes locks.
//
//     allocator
//
// The program replaces the code of sbrk(), as UCX's libucm does. malloc() calls it with a lock
// of its own held.

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 4
#define BLOCKS 200
#define BLOCK_BYTES 40000

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static char *end;
static int calls;

// The C library's sbrk(), with a lock.
static void *own_sbrk(intptr_t bytes)
{
    pthread_rwlock_rdlock(&lock);
    char *const before = end;
    end = (char *)syscall(SYS_brk, end + bytes);
    calls++;
    pthread_rwlock_unlock(&lock);
    return before;
}

static void replace_sbrk(void)
{
    uint8_t jump[12] = {0x48, 0xb8, [10] = 0xff, 0xe0}; // movabs $own_sbrk, %rax; jmp *%rax
    void *(*const to)(intptr_t) = own_sbrk;
    uint8_t *const code = (uint8_t *)(uintptr_t)sbrk;
    const uintptr_t page = (uintptr_t)code & ~UINT64_C(4095);
    memcpy(jump + 2, &to, sizeof to);
    end = sbrk(0);
    if (mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        perror("mprotect");
        exit(2);
    }
    memcpy(code, jump, sizeof jump);
}

static void *work(void *unused)
{
    char *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BLOCK_BYTES);
        memset(blocks[i], i, BLOCK_BYTES);
        pthread_rwlock_wrlock(&lock);
        pthread_rwlock_unlock(&lock);
    }
    for (int i = 0; i < BLOCKS; i++) {
        if (blocks[i][BLOCK_BYTES - 1] != (char)i) {
            exit(3);
        }
        free(blocks[i]);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    replace_sbrk();
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%s\n", calls > 10 ? "malloc() called sbrk()" : "malloc() called no sbrk()");
    return calls > 10 ? 0 : 1;
}
