// SPDX-License-Identifier: Apache-2.0
// tests/programs/segments.c - programs that share a segment of System V, as HERD's do.
//
// "master" makes a segment with a key and registers it; a peer writes into it. "worker" is another
// program of the host, and waits for each word in a loop without a call, and answers in the next
// word, which the master waits for. Method: the words must come in order; the calls must give the
// errors of Linux. "peer HOST" is the other end of the master's queue pair. "file-master" and
// "file-worker" do so in a file that both map. "hooked" replaces functions of the C library.
#define _GNU_SOURCE
#include "tests/programs/pair.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#define KEY 24
#define BYTES 8192
#define HUGE_BYTES ((uintptr_t)2 << 20)
#define WORDS 50

static int segment(size_t bytes, int flags, int error)
{
    errno = 0;
    const int id = shmget(KEY, bytes, flags);
    EXPECT(errno == error && (id == -1) == (error != 0));
    return id;
}

static void check_calls(int id, const char *memory)
{
    struct shmid_ds status;
    // The worker has it, too.
    EXPECT(segment(BYTES, IPC_CREAT | 0666, 0) == id);
    (void)segment(BYTES + 1, 0666, EINVAL);
    (void)segment(BYTES, IPC_CREAT | IPC_EXCL | 0666, EEXIST);
    EXPECT(shmctl(id, IPC_STAT, &status) == 0);
    EXPECT(status.shm_segsz == BYTES && status.shm_nattch == 2 && status.shm_cpid == getpid());
    EXPECT((status.shm_perm.mode & 0777) == 0600 && status.shm_perm.__key == KEY);
    // A second place of the same pages.
    char *again = shmat(id, NULL, SHM_RDONLY);
    EXPECT(again != (void *)-1 && again != memory && ((uintptr_t)again & (HUGE_BYTES - 1)) == 0);
    EXPECT(shmctl(id, IPC_STAT, &status) == 0 && status.shm_nattch == 3);
    EXPECT(ibv_reg_mr(pd, again, BYTES, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EFAULT);
    EXPECT(shmdt(again) == 0);
    EXPECT(shmdt(again) == -1 && errno == EINVAL);
    EXPECT(shmat(id + 1, NULL, 0) == (void *)-1 && errno == EINVAL);
    EXPECT(shmget(KEY + 1, BYTES, 0666) == -1 && errno == ENOENT);
    EXPECT(shmget(IPC_PRIVATE, 0, 0666) == -1 && errno == EINVAL);
    // Pages of a segment that is removed stay until it is detached.
    const int other = shmget(IPC_PRIVATE, 100, IPC_CREAT | 0600);
    char *place = shmat(other, NULL, 0);
    EXPECT(other != id && place != (void *)-1 && shmctl(other, IPC_RMID, NULL) == 0);
    struct ibv_mr *mr = ibv_reg_mr(pd, place, 100, IBV_ACCESS_LOCAL_WRITE);
    EXPECT(mr != NULL && ibv_dereg_mr(mr) == 0);
    strcpy(place, "here");
    EXPECT(strcmp(place, "here") == 0 && shmdt(place) == 0 && shmat(other, NULL, 0) == (void *)-1);
}

// Maps a file that both programs of the host know by its name.
static void *map_file(void)
{
    const int file = shm_open("/words", O_RDWR | O_CREAT, 0600);
    EXPECT(file >= 0 && ftruncate(file, BYTES - 100) == 0);
    void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    EXPECT(memory != MAP_FAILED);
    return memory;
}

static void run_master(int argc, char **argv, bool has_file)
{
    const int id = has_file ? -1 : segment(BYTES, IPC_CREAT | IPC_EXCL | SHM_HUGETLB | 0600, 0);
    void *const memory = has_file ? map_file() : shmat(id, NULL, 0);
    volatile uint64_t *words = memory;
    EXPECT(memory != (void *)-1);
    pair_begin(argc, argv);
    if (!has_file) {
        check_calls(id, memory);
    }
    struct ibv_mr *mr =
        ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    EXPECT(mr != NULL);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    (void)pair_connect(pair_create(IBV_QPT_RC, cq, NULL), mr);
    for (uint64_t i = 1; i <= WORDS; i++) {
        while (words[i * 2 + 1] != i * 7) {
        }
    }
    meet();
    if (!has_file) {
        EXPECT(shmctl(id, IPC_RMID, NULL) == 0);
        (void)segment(BYTES, 0666, ENOENT);
    }
}

static void run_worker(bool has_file)
{
    void *const memory =
        has_file ? map_file() : shmat(segment(BYTES, SHM_HUGETLB | 0666, 0), NULL, 0);
    volatile uint64_t *words = memory;
    EXPECT(words != (void *)-1);
    for (uint64_t i = 1; i <= WORDS; i++) {
        while (words[i * 2] != i) {
        }
        words[i * 2 + 1] = i * 7;
    }
}

static void run_peer(int argc, char **argv)
{
    static uint64_t word;
    // Segments belong to a host.
    (void)segment(BYTES, 0666, ENOENT);
    pair_begin(argc, argv);
    struct ibv_mr *mr = ibv_reg_mr(pd, &word, sizeof word, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    pair_end_t peer = pair_connect(qp, mr);
    const uint64_t begin = peer.address;
    for (word = 1; word <= WORDS; word++) {
        peer.address = begin + word * 16;
        EXPECT(pair_post(qp, IBV_WR_RDMA_WRITE, mr, 0, sizeof word, &peer, 0) == 0);
        EXPECT(pair_complete(cq).status == IBV_WC_SUCCESS);
    }
    meet();
}

static char *map_huge(void *wish, int flags)
{
    errno = 0;
    return mmap(wish, BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | flags, -1, 0);
}

// Memory in huge pages lies where they would, and works as any other.
static void run_huge(void)
{
    char *two = map_huge(NULL, 0);
    char *gigabyte = map_huge(NULL, 30 << MAP_HUGE_SHIFT);
    EXPECT(two != MAP_FAILED && ((uintptr_t)two & (HUGE_BYTES - 1)) == 0);
    EXPECT(gigabyte != MAP_FAILED && ((uintptr_t)gigabyte & ((1 << 30) - 1)) == 0);
    EXPECT(map_huge(two + 4096, MAP_FIXED) == MAP_FAILED && errno == EINVAL);
    EXPECT(map_huge(two, MAP_FIXED) == two && two[0] == 0);
    struct ibv_device **list = ibv_get_device_list(NULL);
    EXPECT(list != NULL && (context = ibv_open_device(list[0])) != NULL);
    EXPECT((pd = ibv_alloc_pd(context)) != NULL);
    struct ibv_mr *mr = ibv_reg_mr(pd, two, BYTES, IBV_ACCESS_LOCAL_WRITE);
    EXPECT(mr != NULL);
    two[BYTES - 1] = 7;
    EXPECT(ibv_dereg_mr(mr) == 0 && two[BYTES - 1] == 7);
    EXPECT(munmap(two, HUGE_BYTES) == 0);
}

// -- functions of the C library that begin with a jump to others, as UCX's libucm makes them

static int seen[4];

static void *see_mmap(void *wish, size_t bytes, int protection, int flags, int file, off_t offset)
{
    seen[0]++;
    return (void *)syscall(SYS_mmap, wish, bytes, protection, flags, file, offset);
}

static int see_munmap(void *place, size_t bytes)
{
    seen[1]++;
    return (int)syscall(SYS_munmap, place, bytes);
}

static void *see_shmat(int id, const void *wish, int flags)
{
    seen[2]++;
    return (void *)syscall(SYS_shmat, id, wish, flags);
}

static int see_shmdt(const void *place)
{
    seen[3]++;
    return (int)syscall(SYS_shmdt, place);
}

static void replace(const char *name, uintptr_t other)
{
    uint8_t jump[] = {0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0xe3}; // by r11
    uint8_t *code = dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), name);
    const uintptr_t page = (uintptr_t)code & ~(uintptr_t)4095;
    memcpy(jump + 2, &other, sizeof other);
    EXPECT(mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
    memcpy(code, jump, sizeof jump);
}

static void run_hooked(void)
{
    replace("mmap", (uintptr_t)see_mmap);
    replace("munmap", (uintptr_t)see_munmap);
    replace("shmat", (uintptr_t)see_shmat);
    replace("shmdt", (uintptr_t)see_shmdt);
    void *place = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(place != MAP_FAILED && munmap(place, 4096) == 0);
    place = shmat(segment(BYTES, IPC_CREAT | 0666, 0), NULL, 0);
    EXPECT(place != (void *)-1 && shmdt(place) == 0);
    EXPECT(seen[0] > 0 && seen[1] > 0 && seen[2] == 1 && seen[3] == 1);
}

int main(int argc, char **argv)
{
    const char *part = argv[1];
    const bool has_file = strncmp(part, "file-", 5) == 0;
    part += has_file ? 5 : 0;
    if (strcmp(part, "master") == 0) {
        run_master(argc - 1, argv + 1, has_file);
    } else if (strcmp(part, "worker") == 0) {
        run_worker(has_file);
    } else if (strcmp(part, "peer") == 0) {
        run_peer(argc - 1, argv + 1);
    } else if (strcmp(part, "huge") == 0) {
        run_huge();
    } else if (strcmp(part, "hooked") == 0) {
        run_hooked();
    } else { // without huge pages
        EXPECT(map_huge(NULL, 0) == MAP_FAILED && errno == ENOMEM);
        (void)segment(BYTES, IPC_CREAT | SHM_HUGETLB | 0666, ENOMEM);
        (void)segment(BYTES, IPC_CREAT | 0666, 0);
    }
    puts("ok");
    return 0;
}
