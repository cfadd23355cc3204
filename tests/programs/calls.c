// SPDX-License-Identifier: Apache-2.0
// tests/programs/calls.c - a program that test_calls.sh starts on two simulated hosts.
//
// Goal: what perftest and the pingpongs do not call: ibv_wr_*, ibv_start_poll, atomics, full
// queues, registered stacks, timers, poll() with a time-out, a loop on memory, and calls that are
// refused. Method: one process a host, a socket between them, an RC queue pair. Prints "ok" at the
// end.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(condition)                                                             \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

struct peer {
    union ibv_gid gid;
    uint32_t qp_num;
    uint32_t rkey;
    uint64_t address;
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq_ex *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static struct peer peer;
static int line;
static volatile sig_atomic_t alarms;

static uint64_t now_ns(void)
{
    struct timespec now;
    EXPECT(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void on_alarm(int number)
{
    (void)number;
    alarms = alarms + 1;
}

// -- the two ends find each other

static void join(const char *server)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const int one = 1;
    int end = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(end >= 0);
    EXPECT(setsockopt(end, SOL_SOCKET, SO_REUSEADDR, &one, 1) == -1 && errno == EINVAL);
    EXPECT(setsockopt(end, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0);
    if (server != NULL) {
        EXPECT(getaddrinfo("no-such-host", "7000", &hints, &found) != 0);
        EXPECT(getaddrinfo(server, "7000", &hints, &found) == 0);
        EXPECT(connect(end, found->ai_addr, found->ai_addrlen) == 0);
        freeaddrinfo(found);
        line = end;
        return;
    }
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(7000)};
    EXPECT(bind(end, (struct sockaddr *)&any, sizeof any) == 0);
    EXPECT(listen(end, 1) == 0);
    struct pollfd ready = {.fd = end, .events = POLLIN};
    const uint64_t begin_ns = now_ns();
    EXPECT(poll(&ready, 1, 1) == 0); // the other program starts later
    EXPECT(now_ns() - begin_ns >= 1000000 && now_ns() - begin_ns < 1010000);
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    line = accept(end, (struct sockaddr *)&from, &length);
    EXPECT(line >= 0 && from.sin_family == AF_INET && length == sizeof from);
    close(end);
}

static void tell(const void *bytes, size_t count)
{
    EXPECT(write(line, bytes, count) == (ssize_t)count);
}

static void hear(void *bytes, size_t count)
{
    EXPECT(recv(line, bytes, count, MSG_WAITALL) == (ssize_t)count);
}

static void meet(void)
{
    char byte = 'm';
    tell(&byte, 1);
    hear(&byte, 1);
}

// -- verbs

// Checks that each index of the port's table has the GID of the first entry.
static void check_gids(struct ibv_context *from, const struct ibv_gid_entry *first)
{
    struct ibv_gid_entry table[8];
    union ibv_gid gid;
    EXPECT(ibv_query_gid_table(from, table, 3, 0) < 0);
    const ssize_t count = ibv_query_gid_table(from, table, 8, 0);
    EXPECT(count == 4);
    for (int i = 0; i < count; i++) {
        EXPECT(table[i].gid_index == (uint32_t)i && table[i].gid_type == IBV_GID_TYPE_ROCE_V2);
        EXPECT(ibv_query_gid(from, 1, i, &gid) == 0);
        EXPECT(memcmp(&gid, &first->gid, sizeof gid) == 0);
        EXPECT(memcmp(&gid, &table[i].gid, sizeof gid) == 0);
    }
    EXPECT(ibv_query_gid(from, 1, 4, &gid) != 0 && ibv_query_gid(from, 1, -1, &gid) != 0);
}

static void open_device(void)
{
    int count = 0;
    struct ibv_device **list = ibv_get_device_list(&count);
    EXPECT(count == 1 && strcmp(ibv_get_device_name(list[0]), "rocesim0") == 0);
    context = ibv_open_device(list[0]);
    EXPECT(context != NULL);
    ibv_free_device_list(list);
    pd = ibv_alloc_pd(context);
    EXPECT(pd != NULL);
    struct ibv_port_attr port;
    EXPECT(ibv_query_port(context, 1, &port) == 0 && port.state == IBV_PORT_ACTIVE);
    EXPECT(ibv_query_port(context, 2, &port) != 0);
    struct ibv_gid_entry entry;
    EXPECT(ibv_query_gid_ex(context, 1, 0, &entry, 0) == 0);
    EXPECT(entry.gid_type == IBV_GID_TYPE_ROCE_V2);
    check_gids(context, &entry);
    EXPECT(ibv_alloc_mw(pd, IBV_MW_TYPE_2) == NULL && errno == EOPNOTSUPP);
    EXPECT(ibv_alloc_td(context, &(struct ibv_td_init_attr){0}) == NULL && errno == EOPNOTSUPP);
}

static __attribute__((noinline)) int poll_once(void)
{
    struct ibv_wc completion;
    const int count = ibv_poll_cq(ibv_cq_ex_to_cq(cq), 1, &completion);
    EXPECT(count >= 0);
    return count;
}

// Polls from several places in a row, as one who closes queues does: none of the polls waits.
static void flush(void)
{
    EXPECT(poll_once() == 0);
    EXPECT(poll_once() == 0);
    EXPECT(poll_once() == 0);
}

static void create_queues(void)
{
    struct ibv_cq_init_attr_ex cq_attr = {.cqe = 64,
                                          .wc_flags = IBV_WC_STANDARD_FLAGS |
                                                      IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
    cq = ibv_create_cq_ex(context, &cq_attr);
    EXPECT(cq != NULL);
    struct ibv_qp_init_attr_ex attr = {
        .send_cq = ibv_cq_ex_to_cq(cq),
        .recv_cq = ibv_cq_ex_to_cq(cq),
        .cap = {.max_send_wr = 4,
                .max_recv_wr = 4,
                .max_send_sge = 2,
                .max_recv_sge = 1,
                .max_inline_data = 64},
        .qp_type = IBV_QPT_RC,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .pd = pd,
        .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND_WITH_IMM |
                          IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_RDMA_READ,
    };
    qp = ibv_create_qp_ex(context, &attr);
    EXPECT(qp != NULL && ibv_qp_to_qp_ex(qp) != NULL);
    attr.send_ops_flags = IBV_QP_EX_WITH_BIND_MW;
    EXPECT(ibv_create_qp_ex(context, &attr) == NULL && errno == EOPNOTSUPP);
    attr.comp_mask = IBV_QP_INIT_ATTR_PD;
    attr.cap.max_send_wr = 1u << 30;
    EXPECT(ibv_create_qp_ex(context, &attr) == NULL);
    struct ibv_qp_init_attr plain = {.send_cq = attr.send_cq,
                                     .recv_cq = attr.recv_cq,
                                     .qp_type = IBV_QPT_RAW_PACKET};
    EXPECT(ibv_create_qp(pd, &plain) == NULL);
}

static void connect_queues(void)
{
    struct peer own = {.qp_num = qp->qp_num, .rkey = mr->rkey, .address = (uintptr_t)mr->addr};
    EXPECT(ibv_query_gid(context, 1, 0, &own.gid) == 0);
    tell(&own, sizeof own);
    hear(&peer, sizeof peer);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                                  IBV_ACCESS_REMOTE_ATOMIC};
    struct ibv_send_wr early = {.opcode = IBV_WR_RDMA_WRITE};
    struct ibv_send_wr *bad = NULL;
    EXPECT(ibv_post_send(qp, &early, &bad) != 0 && bad == &early);
    EXPECT(ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
           0);
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = peer.qp_num,
        .rq_psn = 7,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1,
                    .port_num = 1,
                    .grh = {.dgid = peer.gid, .sgid_index = 3, .hop_limit = 64}}};
    attr.ah_attr.grh.sgid_index = 4;
    EXPECT(ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) ==
           EINVAL);
    attr.ah_attr.grh.sgid_index = 3;
    EXPECT(ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) ==
           0);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                .timeout = 14,
                                .retry_cnt = 7,
                                .rnr_retry = 7,
                                .sq_psn = 7,
                                .max_rd_atomic = 1};
    EXPECT(ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
    struct ibv_qp_init_attr init;
    EXPECT(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0);
    EXPECT(attr.qp_state == IBV_QPS_RTS && attr.dest_qp_num == peer.qp_num &&
           attr.path_mtu == IBV_MTU_1024 && init.cap.max_send_wr == 4);
}

// Waits for a completion, checks its opcode and returns its number.
static uint64_t complete(enum ibv_wc_opcode opcode)
{
    struct ibv_poll_cq_attr attr = {0};
    while (ibv_start_poll(cq, &attr) == ENOENT) {
    }
    EXPECT(cq->status == IBV_WC_SUCCESS && ibv_wc_read_opcode(cq) == opcode);
    EXPECT(ibv_wc_read_completion_ts(cq) != 0 && ibv_wc_read_qp_num(cq) == qp->qp_num);
    const uint64_t id = cq->wr_id;
    if (opcode == IBV_WC_RECV) {
        EXPECT(ibv_wc_read_byte_len(cq) == 5 && ntohl(ibv_wc_read_imm_data(cq)) == 99);
        EXPECT((ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM) != 0);
    }
    ibv_end_poll(cq);
    return id;
}

static void receive_one(char *buffer)
{
    struct ibv_sge sge = {.addr = (uintptr_t)buffer, .length = 64, .lkey = mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = 3, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad = NULL;
    EXPECT(ibv_post_recv(qp, &wr, &bad) == 0);
    meet();
    EXPECT(complete(IBV_WC_RECV) == 3 && memcmp(buffer, "hello", 5) == 0);
}

static void send_one(void)
{
    struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
    char hello[5] = "hello";
    meet();
    ibv_wr_start(ex);
    ex->wr_id = 5;
    ex->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_send_imm(ex, htonl(99));
    ibv_wr_set_inline_data(ex, hello, sizeof hello);
    EXPECT(ibv_wr_complete(ex) == 0);
    memset(hello, 0, sizeof hello);
    EXPECT(complete(IBV_WC_SEND) == 5);
}

// Adds 5 to a word of the peer, and expects that the queue of 4 requests is full after 4.
static void add_and_fill(uint64_t *words)
{
    struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
    ibv_wr_start(ex);
    ex->wr_id = 1;
    ex->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_atomic_fetch_add(ex, peer.rkey, peer.address + 1024, 5);
    ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)&words[200], 8);
    EXPECT(ibv_wr_complete(ex) == 0);
    EXPECT(complete(IBV_WC_FETCH_ADD) == 1 && words[200] == 1000);
    struct ibv_sge sge = {.addr = (uintptr_t)&words[200], .length = 8, .lkey = mr->lkey};
    for (uint64_t i = 0; i < 5; i++) {
        struct ibv_send_wr wr = {.wr_id = i,
                                 .sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = IBV_WR_RDMA_WRITE,
                                 .send_flags = i == 3 ? IBV_SEND_SIGNALED : 0,
                                 .wr.rdma = {peer.address + 2048, peer.rkey}};
        struct ibv_send_wr *bad = NULL;
        EXPECT(ibv_post_send(qp, &wr, &bad) == (i == 4 ? ENOMEM : 0));
    }
    EXPECT(complete(IBV_WC_RDMA_WRITE) == 3); // and there is room for four again
    ibv_wr_start(ex);
    ibv_wr_rdma_write(ex, peer.rkey, peer.address + 2048);
    ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)&words[200], 8);
    ibv_wr_abort(ex);
}

// -- memory

static void register_memory(void)
{
    char *none = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(none != MAP_FAILED);
    EXPECT(ibv_reg_mr(pd, none, 8192, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EFAULT);
    munmap(none, 8192);
    EXPECT(ibv_reg_mr(pd, none, 8192, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EFAULT);
    EXPECT(ibv_reg_mr(pd, &none, 8, IBV_ACCESS_REMOTE_WRITE) == NULL && errno == EINVAL);
    // The page of the stack in use, and memory that is mapped anew at an address.
    char text[64];
    strcpy(text, "on the stack");
    struct ibv_mr *on_stack = ibv_reg_mr(pd, text, sizeof text, IBV_ACCESS_LOCAL_WRITE);
    EXPECT(on_stack != NULL && strcmp(text, "on the stack") == 0);
    EXPECT(ibv_dereg_mr(on_stack) == 0);
    for (int i = 0; i < 50; i++) {
        const size_t bytes = 1u << 20;
        char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT(pages != MAP_FAILED && pages[5000] == 0);
        memset(pages, i + 1, bytes);
        struct ibv_mr *region = ibv_reg_mr(pd, pages, bytes, IBV_ACCESS_LOCAL_WRITE);
        EXPECT(region != NULL && pages[0] == i + 1 && pages[bytes - 1] == i + 1);
        EXPECT(ibv_dereg_mr(region) == 0);
        munmap(pages, bytes);
    }
}

// -- time

// A program that looks at a clock and does nothing else gets its signal when that is due.
static void look_until_signal(void)
{
    static const long times_us[] = {500, 10000, 300000};
    for (int i = 0; i < 3; i++) {
        const int before = alarms;
        const uint64_t begin_ns = now_ns();
        const struct itimerval once = {.it_value = {.tv_usec = times_us[i]}};
        EXPECT(setitimer(ITIMER_REAL, &once, NULL) == 0);
        uint64_t end_ns = begin_ns;
        while (alarms == before) {
            end_ns = now_ns();
        }
        EXPECT(end_ns - begin_ns - (uint64_t)times_us[i] * 1000 < 3000);
    }
}

static void sleep_and_wake(void)
{
    uint64_t begin_ns = now_ns();
    usleep(1500);
    EXPECT(now_ns() - begin_ns >= 1500000 && now_ns() - begin_ns < 1510000);
    signal(SIGALRM, on_alarm);
    EXPECT(alarm(2) == 0);
    begin_ns = now_ns();
    EXPECT(sleep(10) == 8 && alarms == 1);
    EXPECT(now_ns() - begin_ns >= 2000000000 && now_ns() - begin_ns < 2000010000);
    const struct itimerval often = {{0, 1000}, {0, 1000}};
    EXPECT(setitimer(ITIMER_REAL, &often, NULL) == 0);
    while (alarms < 5) {
        pause();
    }
    const struct itimerval off = {{0, 0}, {0, 0}};
    EXPECT(setitimer(ITIMER_REAL, &off, NULL) == 0);
    look_until_signal();
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    const struct itimerspec times = {{0, 500000}, {0, 500000}};
    uint64_t expirations = 0;
    EXPECT(timer >= 0 && timerfd_settime(timer, 0, &times, NULL) == 0);
    struct pollfd ready = {.fd = timer, .events = POLLIN};
    begin_ns = now_ns();
    EXPECT(poll(&ready, 1, -1) == 1 && now_ns() - begin_ns < 510000);
    usleep(1000);
    EXPECT(read(timer, &expirations, sizeof expirations) == 8 && expirations == 3);
    close(timer);
    const uint64_t first = now_ns();
    while (now_ns() - first < 3000000) { // nothing but looks at the clock
    }
}

// Attempts that find nothing, which a register counts, come to their end.
static void attempt_ten_times(void)
{
    int ends[2];
    char byte;
    struct ibv_cq *ready;
    void *of;
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    struct epoll_event event;
    const int group = epoll_create1(0);
    const uint64_t begin_ns = now_ns();
    EXPECT(channel != NULL && pipe2(ends, O_NONBLOCK) == 0 && group >= 0);
    EXPECT(fcntl(channel->fd, F_SETFL, O_NONBLOCK) == 0);
    int found = 0;
    for (int i = 0; i < 10; i++) {
        found += ibv_get_cq_event(channel, &ready, &of) == 0;
    }
    for (int i = 0; i < 10; i++) {
        found += read(ends[0], &byte, 1) == 1;
    }
    for (int i = 0; i < 10; i++) {
        found += epoll_wait(group, &event, 1, 0) == 1;
    }
    EXPECT(found == 0 && now_ns() - begin_ns < 2000000);
    close(ends[0]);
    close(ends[1]);
    close(group);
    EXPECT(ibv_destroy_comp_channel(channel) == 0);
}

// -- the time stamp counter

// Reads the counter by rdtscp between other instructions. Returns what is wrong: bit 0 the flags,
// 1 a register, 2 the bytes below the stack pointer, 3 a vector register, 4 ecx.
static uint64_t read_counter(uint64_t *value)
{
    uint64_t wrong = 0;
    uint64_t low = 0;
    uint64_t high = 0;
    const uint64_t mark = 0x0123456789abcdef;
    __asm__ volatile("sub $256, %%rsp\n"
                     "mov %[mark], -8(%%rsp)\n"
                     "mov %[mark], -128(%%rsp)\n"
                     "movq %[mark], %%xmm7\n"
                     "mov %[mark], %%r9\n"
                     "xor %%r8, %%r8\n"
                     "mov $-1, %%rcx\n"
                     "stc\n"
                     "rdtscp\n"
                     "mov %%rcx, %%r10\n"
                     "adc $0, %%r8\n"
                     "xor $1, %%r8\n" // 0: the flag was kept
                     "movq %%xmm7, %%r11\n"
                     "cmp %[mark], %%r11\n"
                     "je 1f\n"
                     "or $8, %%r8\n"
                     "1: cmp %[mark], %%r9\n"
                     "je 2f\n"
                     "or $2, %%r8\n"
                     "2: cmp %[mark], -8(%%rsp)\n"
                     "jne 3f\n"
                     "cmp %[mark], -128(%%rsp)\n"
                     "je 4f\n"
                     "3: or $4, %%r8\n"
                     "4: cmp $-1, %%r10\n"
                     "jne 5f\n"
                     "or $16, %%r8\n"
                     "5: mov %%r8, %[wrong]\n"
                     "add $256, %%rsp\n"
                     : "=a"(low), "=d"(high), [wrong] "=&S"(wrong)
                     : [mark] "D"(mark)
                     : "rcx", "r8", "r9", "r10", "r11", "xmm7", "cc", "memory");
    *value = high << 32 | low;
    return wrong;
}

static void read_counters(void)
{
    uint64_t last = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t value = 0;
        EXPECT(read_counter(&value) == 0);
        EXPECT(value > last);
        last = value;
    }
}

// -- what is refused

static void try_others(void)
{
    // NOLINTNEXTLINE(cert-env33-c)
    FILE *const child = popen("true", "r");
    EXPECT(child != NULL && pclose(child) == 0);
    // NOLINTNEXTLINE(cert-env33-c)
    EXPECT(system("exit 2") == 2 << 8);
    EXPECT(socket(AF_INET, SOCK_RAW, 0) == -1 && errno == EPROTONOSUPPORT);
    for (int i = 3; i < 2000; i++) {
        if (i != line && i != context->async_fd) {
            close(i); // among them the library's own
        }
    }
    uint32_t number = 0;
    EXPECT(getrandom(&number, sizeof number, 0) == sizeof number);
    const int random = open("/dev/urandom", O_RDONLY);
    EXPECT(random >= 0 && read(random, &number, sizeof number) == sizeof number);
    close(random);
}

// Makes system calls by their numbers: they show the same host as the functions of their names.
static void call_by_numbers(void)
{
    struct timespec now;
    uint64_t number = 0;
    const uint64_t before_ns = now_ns();
    EXPECT(syscall(SYS_getpid) == getpid() && syscall(SYS_gettid) == gettid());
    EXPECT(syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 3000000}, NULL) == 0);
    EXPECT(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) == 0);
    const uint64_t slept_ns =
        (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - before_ns;
    EXPECT(slept_ns >= 3000000 && slept_ns < 3010000);
    EXPECT(syscall(SYS_getrandom, &number, sizeof number, 0) == sizeof number);
    EXPECT(syscall(SYS_tgkill, getpid(), gettid(), 0) == 0);
    printf("thread %ld, random %llx\n", syscall(SYS_gettid), (unsigned long long)number);
}

int main(int count, char **words)
{
    const char *server = count > 1 ? words[1] : NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    join(server);
    open_device();
    try_others();
    call_by_numbers();
    read_counters();
    register_memory();
    uint64_t *words64 = aligned_alloc(4096, 65536);
    EXPECT(words64 != NULL);
    memset(words64, 0, 65536);
    words64[128] = 1000;
    mr = ibv_reg_mr(pd, words64, 65536,
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                        IBV_ACCESS_REMOTE_ATOMIC);
    EXPECT(mr != NULL);
    create_queues();
    connect_queues();
    meet();
    if (server == NULL) {
        receive_one((char *)words64 + 8192);
        volatile uint64_t *polled = &words64[256];
        while (*polled == 0) { // the WRITE of the client ends this loop
        }
        EXPECT(*polled == 1000 && words64[128] == 1005);
    } else {
        send_one();
        add_and_fill(words64);
    }
    meet();
    sleep_and_wake();
    attempt_ten_times();
    flush();
    EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0);
    EXPECT(ibv_dereg_mr(mr) == 0 && ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
    close(line);
    printf("ok %d\n", (int)getpid());
    return 0;
}
