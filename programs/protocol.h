// SPDX-License-Identifier: Apache-2.0
// programs/protocol.h - what the simulator and the library in a process say to each other.
//
// A program (docs/programs.md) is a process of this machine whose verbs, clock and sockets are
// simulated. Exactly one side has the turn. While the process runs, the simulator waits at its bell
// (programs/bell.h), which the library rings when a call lies in shared memory. The simulator rings
// the bell of the thread when the answer lies there. So a process runs for no simulated time, but
// for what calls cost: `lead_ps` counts it between two calls.
//
// Each thread has a bell of its own, and one of them has the turn: the shared memory is that
// thread's. The others wait for the answers of their calls. Each thread has a control socket, too,
// which carries the descriptors of answers, and nothing else.
//
// The simulator trusts nothing that a process writes: handles, lengths and addresses are checked.
// The process inherits the descriptors PROGRAM_CONTROL_FD (a stream socket), PROGRAM_SHARED_FD (the
// memory of program_shared_t) and PROGRAM_MEMORY_FD (pages of the process that the NIC may reach).
// Byte order and layout are those of the machine: both sides run on it.
#ifndef PROGRAMS_PROTOCOL_H
#define PROGRAMS_PROTOCOL_H

#include <stdint.h>

#define PROGRAM_VERSION 1u
#define PROGRAM_CONTROL_FD 1000
#define PROGRAM_SHARED_FD 1001
#define PROGRAM_MEMORY_FD 1002
#define PROGRAM_ENVIRONMENT "ROCESIM_PROGRAM" // is set, to "1", in the environment of a program
#define PROGRAM_TRACE_ENVIRONMENT "ROCESIM_PROGRAM_TRACE" // path of the file of the trace, if any
#define PROGRAM_STATUS_LOST 137 // exit status of a program that its library ends

#define PROGRAM_DEVICES_MAX 64u     // NICs of a host
#define PROGRAM_SGES_MAX 30u        // places of a work request
#define PROGRAM_POLL_MAX 256u       // completions of one call
#define PROGRAM_POLLS_IN_A_ROW 256u // empty polls that return while other queues have completions
#define PROGRAM_EVENTS_MAX 64u      // events of one answer
// Entries in a port's table of GIDs. All are the port's address, since programs ask for the index
// at which their authors' adapters have that of RoCE v2: 0, 1 or 3.
#define PROGRAM_GIDS 4u
#define PROGRAM_INLINE_MAX 4096u
#define PROGRAM_POSTS_BYTES (UINT32_C(1) << 18)    // of the ring of posts
#define PROGRAM_FORESEEN_MAX 64u                   // completions that are foreseen at a time
#define PROGRAM_FORESEEN_BYTES (UINT32_C(1) << 16) // of their payloads
#define PROGRAM_NEVER UINT64_MAX
#define PROGRAM_NO_THREAD UINT32_MAX
#define PROGRAM_KEY_OF_PROCESSES 1u // is woken when a process that was forked ends
// A key of memory that other programs of the host may share.
#define PROGRAM_KEY_SHARED (UINT64_C(1) << 63)
#define PROGRAM_KEYS 1024u  // counters of waits for keys
#define PROGRAM_BELLS 1025u // that of the simulator, and those of threads that live

// -- calls

typedef enum program_op {
    PROGRAM_HELLO = 1, // the library is loaded; also after exec. out: handle (the thread),
                       // status (the first thread of the parent; -1: this is the first process)
    PROGRAM_BYE,       // the program ends. in: status. The process ends after the answer
    PROGRAM_FLUSH,     // works on the posts and the sockets, and on nothing else. flags (1: this is
                       // no call of the program, and is not counted)
    PROGRAM_YIELD,     // lets the simulation catch up with the program's time
    PROGRAM_WAIT,      // in: wait. Returns when something that wait.mask names has happened
    PROGRAM_TIMER,     // in: timer. Sets or ends the timer of a signal
    PROGRAM_THREAD,    // begins a thread. out: handle (its number), count (its bell), and a
                       // descriptor: its control socket. EAGAIN: there are too many
    PROGRAM_FORK,      // as PROGRAM_THREAD, for the first thread of a process. in: status (the
                       // caller's first thread)
    PROGRAM_FORKED,    // in: handle, status (the kernel's number of the process; -1: none)
    PROGRAM_PROCESS,   // in: handle (of a process's first thread). out: status (the kernel's number
                       // of the process). ESRCH: it is no process of the program, or has ended
    PROGRAM_KILL,      // in: status (the kernel's number of a process; -N: of a group), count (the
                       // signal), handle (the sender's number as programs see it), wait.key (a
                       // value that comes along), flags (the signal's code, which is negative).
                       // Other processes than the caller's get it, and what it kills is dead when
                       // the call returns. ESRCH: there are none; EINVAL, EPERM
    PROGRAM_THREAD_END, // in: status (the kernel's number). The thread ends after the answer
    PROGRAM_WAKE,       // in: wait.key, count (maximum number of threads). out: count. Or in:
                        // handle (a thread's number, plus 1): it looks at its signals again
    PROGRAM_TOUCH,      // threads that wait for descriptors look at them again
    PROGRAM_FILES,      // brings the files of the host's devices up to date. in: flags
                        // (program_files_t). out: files in program_shared_t

    PROGRAM_SHARE, // the process shares memory with other programs of its host

    PROGRAM_SEGMENT_GET, // in: segment (key, bytes, flags, mode, creator). out: handle, which
                         // is 0 for the first segment of the host. EEXIST, EINVAL, ENOENT, ENOMEM
    PROGRAM_SEGMENT_ATTACH, // in: handle. out: segment, and a descriptor of its pages
    PROGRAM_SEGMENT_DETACH, // in: handle
    PROGRAM_SEGMENT_STATUS, // in: handle. out: segment
    PROGRAM_SEGMENT_MODE,   // in: handle, segment (mode)
    PROGRAM_SEGMENT_REMOVE, // in: handle. Its pages stay until nobody has it attached
    PROGRAM_SEGMENT_FILE,   // in: status (a descriptor of a file that the process has mapped). The
                            // file becomes a segment without a key, attached. out: handle

    PROGRAM_ALLOC_PD,   // in: device. out: handle
    PROGRAM_DEALLOC_PD, // in: handle. EBUSY: objects belong to it
    PROGRAM_MAP,        // in: memory (address, length, offset): these pages lie in the memory file,
                        // or, with count != 0, in the segment number count - 1
    PROGRAM_REG_MR,     // in: handle (PD), memory. out: handle, lkey, rkey
    PROGRAM_DEREG_MR,   // in: handle
    PROGRAM_CREATE_CQ,  // in: device, count (entries), flags (1: with times). out: handle
    PROGRAM_RESIZE_CQ,  // in: handle, count. EINVAL: more completions wait
    PROGRAM_DESTROY_CQ, // in: handle. EBUSY: queue pairs use it
    PROGRAM_ARM_CQ,     // in: handle, flags (1: solicited only). One event follows
    PROGRAM_POLL_CQ,    // in: handle, count, wait. out: count, completions
    PROGRAM_CREATE_SRQ, // in: handle (PD), count (receives). out: handle
    PROGRAM_MODIFY_SRQ, // in: handle, count (limit)
    PROGRAM_QUERY_SRQ,  // in: handle. out: count (limit)
    PROGRAM_DESTROY_SRQ,
    PROGRAM_CREATE_QP,  // in: handle (PD), create. out: handle (the QP number)
    PROGRAM_MODIFY_QP,  // in: handle, qp
    PROGRAM_QUERY_QP,   // in: handle. out: qp
    PROGRAM_DESTROY_QP, // in: handle
    PROGRAM_GROUP,      // in: handle (of a QP), qp.gid (the group), flags (1: joins it; else
                        // leaves). EINVAL: it is no member
    PROGRAM_QUERY_PORT, // in: device. out: flags (1: the link is up)

    PROGRAM_SOCKET,  // in: flags (1: of datagrams; else a stream). out: handle, and a descriptor of
                     // this process's end. Before each datagram in it stands the program_name_t to
                     // which it goes (port 0: the peer's), or from which it comes
    PROGRAM_BIND,    // in: handle, name. out: name. EADDRINUSE, EADDRNOTAVAIL
    PROGRAM_LISTEN,  // in: handle, count (backlog). The descriptor holds a byte a connection
    PROGRAM_CONNECT, // in: handle, name. ECONNREFUSED, EHOSTUNREACH, ETIMEDOUT. Waits
    PROGRAM_ACCEPT,  // in: handle. out: handle, name (peer), and a descriptor. EAGAIN: none waits
    PROGRAM_NAMES,   // in: handle. out: name (own), peer

    PROGRAM_CM, // in: handle (an identifier), cm in program_shared_t. out: handle, cm, qp
} program_op_t;

// The events that a program waits for.
enum {
    PROGRAM_ON_POLL = 1 << 0,   // a completion in any queue
    PROGRAM_ON_EVENT = 1 << 1,  // an event for the list below
    PROGRAM_ON_SOCKET = 1 << 2, // bytes, a connection or an end of one came
    PROGRAM_ON_SIGNAL = 1 << 3, // a timer of a signal is due
    PROGRAM_ON_MEMORY = 1 << 4, // the NIC wrote into registered memory
    PROGRAM_ON_KEY = 1 << 5,    // another thread woke those that wait for wait.key
    PROGRAM_ON_TURN = 1 << 6,   // another thread had a turn. Belongs to PROGRAM_ON_MEMORY in masks
};

// Bits of program_call_t.flags in PROGRAM_WAIT.
enum {
    PROGRAM_WAIT_WROTE_NOTHING = 1 << 0, // the thread wrote nothing since its last wait
    PROGRAM_WAIT_TAKES_SIGNALS = 1 << 1, // it waits for signals of the program
    PROGRAM_WAIT_SINCE_LOOK = 1 << 2,    // what came in its calls since its last wait ends it, too
};

// The objects by which threads wait for each other. They only make messages clear.
enum {
    PROGRAM_AT_MUTEX = 1,
    PROGRAM_AT_CONDITION,
    PROGRAM_AT_BARRIER,
    PROGRAM_AT_SEMAPHORE,
    PROGRAM_AT_RWLOCK,
    PROGRAM_AT_SPIN_LOCK,
    PROGRAM_AT_ONCE,
    PROGRAM_AT_FUTEX,
    PROGRAM_AT_END,       // of a thread
    PROGRAM_AT_PROCESSES, // ends of processes
};

typedef struct program_wait {
    uint32_t mask;       // 0 in PROGRAM_POLL_CQ: returns at once
    uint32_t reasons;    // out: bits of mask; 0: the time is over
    uint64_t timeout_ps; // from now on; PROGRAM_NEVER: none
    uint64_t key;        // PROGRAM_ON_KEY: of the process's own choice
    uint32_t object;     // PROGRAM_ON_KEY: PROGRAM_AT_...
    uint32_t other;      // PROGRAM_ON_KEY: number of the thread that holds the object
} program_wait_t;

typedef struct program_timer {
    uint64_t id;       // of the process's own choice
    uint64_t after_ps; // from now on; PROGRAM_NEVER: ends the timer
    uint64_t every_ps; // 0: once
    int32_t signal;    // set in `signals` when due; 0: the timer only wakes (ON_SIGNAL)
    uint64_t left_ps;  // out: time that was left of the timer of this id; 0: it did not run
} program_timer_t;

typedef struct program_name {
    uint8_t address[16]; // IPv6, or IPv4 mapped into it; all zeros: any
    uint16_t port;       // 0 in PROGRAM_BIND: a free one
} program_name_t;

typedef struct program_memory {
    uint64_t address; // in the process
    uint64_t length_bytes;
    uint64_t offset; // PROGRAM_MAP: in the memory file
    uint64_t iova;   // PROGRAM_REG_MR: the address that work requests and peers use for `address`
    uint32_t access; // bits as IBV_ACCESS_LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC
    uint32_t lkey;   // out
    uint32_t rkey;   // out
} program_memory_t;

// A segment of System V.
typedef struct program_segment {
    uint64_t bytes;
    int32_t key;
    uint32_t flags; // IPC_CREAT, IPC_EXCL, SHM_HUGETLB
    uint32_t mode;  // permissions, with SHM_DEST if it was removed
    uint32_t attaches;
    int32_t creator; // number of its process, as processes of the host see it
} program_segment_t;

typedef struct program_create_qp {
    uint32_t type; // as enum ibv_qp_type: IBV_QPT_RC, UC, UD
    uint32_t send_cq;
    uint32_t recv_cq;
    uint32_t srq; // 0: none
    uint32_t max_send_wr;
    uint32_t max_recv_wr;
    uint32_t signal_all;
} program_create_qp_t;

// Values as in struct ibv_qp_attr; `mask` has the bits of enum ibv_qp_attr_mask. After
// PROGRAM_QUERY_QP, state, sq_psn and rq_psn are those of now, all others those that were set.
typedef struct program_qp {
    uint32_t mask;
    uint32_t state; // as enum ibv_qp_state
    uint32_t path_mtu_bytes;
    uint32_t qkey;
    uint32_t rq_psn;
    uint32_t sq_psn;
    uint32_t dest_qp_num;
    uint32_t access;
    uint32_t max_rd_atomic;
    uint32_t max_dest_rd_atomic;
    uint32_t min_rnr_timer;
    uint32_t timeout;
    uint32_t retry_cnt;
    uint32_t rnr_retry;
    uint32_t service_level; // of the address vector
    uint32_t traffic_class; // of the address vector's GRH
    uint32_t flow_label;
    uint8_t gid[16];   // of the address vector
    uint32_t draining; // out: the state is SQD, and requests that were begun are unfinished. In: an
                       // event follows when that is over
} program_qp_t;

// The code of a signal that kill() sends. With that of the kernel, SI_USER, no process may name
// another one as the sender.
#define PROGRAM_SIGNAL_OF_KILL (-90)

// Parts of the files of a host, each of which is made when a program asks for it.
typedef enum program_files {
    PROGRAM_FILES_COUNTERS = 1,
    PROGRAM_FILES_NET = 2,
    PROGRAM_FILES_VERBS = 4,
    PROGRAM_FILES_PCI = 8,
    PROGRAM_FILES_NODES = 16,  // of NUMA
    PROGRAM_FILES_SYSTEM = 32, // names of the host
    PROGRAM_FILES_ALL = 63,
    PROGRAM_FILES_ASIDE = 64, // the program asked whether a file is there, which is no call
} program_files_t;

typedef struct program_call {
    uint32_t op;
    int32_t error; // out: an errno value; 0: done
    uint32_t handle;
    uint32_t device;
    uint32_t count;
    uint32_t flags;
    int32_t status;
    program_wait_t wait;
    program_timer_t timer;
    program_memory_t memory;
    program_segment_t segment;
    program_create_qp_t create;
    program_qp_t qp;
    program_name_t name;
    program_name_t peer;
} program_call_t;

// -- the connection manager (librdmacm)

typedef enum program_cm_action {
    PROGRAM_CM_CREATE = 1, // in: port_space, datagrams. out: handle
    PROGRAM_CM_DESTROY,
    PROGRAM_CM_BIND,         // in: own. out: own, device. EADDRINUSE, EADDRNOTAVAIL
    PROGRAM_CM_RESOLVE,      // in: own, peer, timeout_ms. An event follows
    PROGRAM_CM_ROUTE,        // an event follows
    PROGRAM_CM_LISTEN,       // in: backlog. out: own
    PROGRAM_CM_CONNECT,      // in: parameters of the connection. An event follows
    PROGRAM_CM_ACCEPT,       // in: parameters of the connection
    PROGRAM_CM_REJECT,       // in: private data
    PROGRAM_CM_ESTABLISH,    // the queue pair is ready: answers a RDMA_CM_EVENT_CONNECT_RESPONSE
    PROGRAM_CM_DISCONNECT,   // an event follows
    PROGRAM_CM_COMMUNICATES, // the queue pair has received something
    PROGRAM_CM_OPTION,       // in: option, value
    PROGRAM_CM_JOIN,         // in: peer (the group). An event follows: its private data are `peer`
    PROGRAM_CM_ATTRIBUTES,   // in: qp.state of the call. out: qp of the call
    PROGRAM_CM_EVENT,        // out: the first event that was not taken. ENOENT: there is none
} program_cm_action_t;

#define PROGRAM_CM_PRIVATE_MAX 224u
#define PROGRAM_NO_DEVICE UINT32_MAX
#define PROGRAM_EVENT_CM 0x10000u // program_event_t.kind: the identifier `handle` has an event

enum { PROGRAM_CM_TOS, PROGRAM_CM_REUSE, PROGRAM_CM_FAMILY_ONLY, PROGRAM_CM_ACK_TIMEOUT };

typedef struct program_cm {
    uint32_t action; // program_cm_action_t
    uint32_t port_space;
    uint32_t datagrams; // 1: of IBV_QPT_UD
    uint32_t backlog;
    uint32_t timeout_ms;
    uint32_t option;
    uint32_t value;
    uint32_t device;     // PROGRAM_NO_DEVICE: the identifier is bound to none
    program_name_t own;  // address and port of the identifier
    program_name_t peer; // those of the other side
    // of events
    uint32_t event; // as enum rdma_cm_event_type
    int32_t status;
    uint32_t request; // handle of the identifier that a RDMA_CM_EVENT_CONNECT_REQUEST is about
    // parameters of the connection, as in struct rdma_conn_param and rdma_ud_param
    uint32_t qp_num;
    uint32_t qkey;
    uint32_t srq;
    uint32_t responder_resources;
    uint32_t initiator_depth;
    uint32_t flow_control;
    uint32_t retry_count;
    uint32_t rnr_retry_count;
    uint32_t private_bytes;
    uint8_t private_data[PROGRAM_CM_PRIVATE_MAX];
} program_cm_t;

// -- posts: the library puts them into shared memory; the next call of any kind works on them first

typedef enum program_post_kind {
    PROGRAM_SEND = 1,
    PROGRAM_RECV,
    PROGRAM_SRQ_RECV,
    PROGRAM_EMPTY_POLL, // handle: of the CQ. The library knew that it would find nothing
} program_post_kind_t;

typedef struct program_sge {
    uint64_t address;
    uint32_t length;
    uint32_t lkey;
} program_sge_t;

// Followed by sge_count places, or by inline_bytes of payload padded to 8 bytes.
typedef struct program_post {
    uint32_t bytes;   // of this record with all that follows, a multiple of 8
    uint32_t kind;    // program_post_kind_t
    uint32_t handle;  // of the QP, or of the SRQ
    uint32_t opcode;  // as enum ibv_wr_opcode
    uint32_t flags;   // as enum ibv_send_flags
    uint32_t chained; // 1: the next record is of the same list, for one Doorbell
    uint32_t sge_count;
    uint32_t inline_bytes;
    uint64_t wr_id;
    uint64_t lead_ps; // lead_ps when it was posted
    uint64_t remote_address;
    uint64_t compare_add;
    uint64_t swap;
    uint32_t rkey;
    uint32_t immediate;  // in host byte order
    uint32_t remote_qpn; // UD
    uint32_t remote_qkey;
    uint32_t service_level; // UD
    uint32_t traffic_class; // UD
    uint8_t remote_gid[16]; // UD
} program_post_t;

// -- completions and events

typedef struct program_completion {
    uint64_t wr_id;
    uint32_t status; // as enum ibv_wc_status
    uint32_t opcode; // as enum ibv_wc_opcode
    uint32_t byte_len;
    uint32_t immediate; // in host byte order
    uint32_t flags;     // as enum ibv_wc_flags
    uint32_t qp_num;
    uint32_t src_qp;
    uint32_t is_send;    // the completion of a send work request; else of a receive
    uint8_t src_gid[16]; // UD
    uint32_t src_lid;    // UD, on InfiniBand
    uint64_t time_ps;    // when the NIC wrote it, in a queue with times; else when it was polled
} program_completion_t;

typedef struct program_event {
    uint32_t kind;   // 0: a completion queue that was armed; PROGRAM_EVENT_CM; else 1 + enum
                     // ibv_event_type
    uint32_t handle; // of the CQ, QP, SRQ or identifier; for events of ports the device
} program_event_t;

// An arrival that comes if the thread only posts receives and waits until then: the completion of a
// receive, or a WRITE of a peer.
typedef struct program_foreseen {
    uint64_t time_ps;
    uint64_t address; // of its payload in the process
    uint32_t payload; // place in foreseen_payload
    uint32_t bytes;   // of the payload
    uint32_t cq;      // 0: a WRITE
    program_completion_t completion;
} program_foreseen_t;

// A call that waits (PROGRAM_POLL_CQ or PROGRAM_WAIT), and that the library has answered itself by
// what was foreseen.
typedef struct program_answered {
    uint64_t lead_ps; // when it was made
    uint64_t now_ps;  // of the answer
    program_wait_t wait;
    uint32_t op;
    uint32_t posts_bytes;
    uint32_t handle;
    uint32_t wanted; // completions
    uint32_t flags;
    uint32_t count;  // of completions in the answer
    uint32_t events; // of those foreseen that came until the answer
} program_answered_t;

// -- the shared memory

typedef struct program_device {
    char name[16]; // "rocesim0"
    uint8_t gid[16];
    uint8_t mac[8]; // the first 6
    uint64_t guid;
    uint64_t rate_bps;
    uint32_t mtu_bytes; // of the path, nic.mtu: the active MTU
    uint32_t inline_max;
    uint32_t atomics; // 1: atomics work
    uint32_t max_rd_atomic;
    uint32_t lid; // of the host entry N: N + 1. 0: ports are of Ethernet, and have none
} program_device_t;

typedef struct program_host {
    char name[64];
    uint8_t address[16]; // of one of its NICs: IPv6, or IPv4 mapped into it
} program_host_t;

// A program that was compiled with AddressSanitizer, whose runtime reserves addresses: so
// memory_max_bytes limits the memory that is used. One with a sanitizer that is not supported.
enum { PROGRAM_SANITIZED = 1, PROGRAM_SANITIZED_WRONGLY };

typedef struct program_shared {
    // filled in before the process starts
    uint32_t version;
    uint32_t device_count;
    program_device_t devices[PROGRAM_DEVICES_MAX];
    char host_name[64];
    uint64_t host_count; // entries of program_host_t that follow this struct
    uint64_t epoch_ns;   // Unix time at which the simulation begins
    uint64_t tsc_hz;     // rate of the time stamp counter
    uint64_t clock_ps;   // cost of looking at a clock
    uint64_t call_ps;    // cost of every other call that is simulated, posts and polls excepted
    uint64_t post_ps;    // cost of a post; PROGRAM_NEVER: only the simulator knows it
    uint64_t poll_ps;    // cost of a poll; PROGRAM_NEVER: only the simulator knows it
    uint64_t compute_permille; // cost of computation: factor of the processor time; 0: none
    uint64_t ahead_ps;         // lead_ps at which the library yields
    uint64_t seed;             // for getrandom and the like
    uint32_t cores;            // of the host, as the program sees it
    uint32_t huge_pages;       // 1: the host has some
    uint64_t memory_max_bytes; // address space of a process; 0: no limit
    // who has the turn writes these
    uint64_t signal_ps; // by the simulator: when the next timer of a signal is due; PROGRAM_NEVER
    uint64_t now_ps;    // by the simulator: the program's time at its answer
    uint64_t lead_ps;   // by the library: cost since then. 0 at each answer
    uint64_t signals;   // by the simulator: bit n is set if signal n is due. Cleared by the library
    uint32_t sockets_written;   // by the library: it wrote to, closed or shut down a socket
    uint64_t memory_used_bytes; // by the library: of the memory file, by all processes
    uint32_t many;              // by the library: there is more than one thread or process
    uint32_t killed;            // by the simulator: the run ends, and so does the process
    uint32_t sanitized;         // by the library: PROGRAM_SANITIZED
    uint32_t undecoded;         // by the library: there is no capstone to find loops that count
    int32_t tid;                // by the library: the kernel's number of the thread that has the
                                // turn. 0 at each answer, until the thread is awake
    uint32_t bell;              // by the simulator: of the thread that has the turn
    uint32_t with_descriptor; // by the simulator: the answer's descriptor is in the control socket
    uint32_t spins;           // by the simulator: looks at a bell before the thread sleeps
    uint32_t quiet;           // by both: until the next call, no queue has a completion
    uint32_t alone;           // by the simulator: no other thread can run before the next call
    uint32_t watched;         // by the simulator: a shell may send signals at any time
    uint32_t put_off;         // by the library: yields that the program made without a call
    uint32_t acted;           // by the library: the thread may have written since its last wait
    uint32_t at_descriptors;  // by the simulator: number of other threads that wait for descriptors
    uint32_t key_waits[PROGRAM_KEYS]; // by the library: threads that wait for keys, by their hash
    uint32_t bells[PROGRAM_BELLS];    // programs/bell.h; the first is the simulator's
    program_call_t call;
    program_cm_t cm;      // of PROGRAM_CM
    char files[512];      // of PROGRAM_FILES: a folder of this machine that stands for the host's /
    uint32_t event_count; // by the simulator, with each answer
    program_event_t events[PROGRAM_EVENTS_MAX];
    program_completion_t completions[PROGRAM_POLL_MAX]; // call.count of them
    // An answer foresees what follows (apps/programs/verbs/foresight.c): nothing else happens to
    // the process before foreseen_until_ps.
    uint64_t foreseen_until_ps; // by the simulator
    uint64_t turn_ps;           // by both: when the thread's turn began
    uint32_t foreseen_count;    // by the simulator. The library forgets them by reducing it
    uint32_t foreseen_used;     // by the library
    uint32_t answered_count;    // by the library: calls that it has answered. 0 at each answer
    program_foreseen_t foreseen[PROGRAM_FORESEEN_MAX];
    program_answered_t answered[PROGRAM_FORESEEN_MAX];
    uint8_t foreseen_payload[PROGRAM_FORESEEN_BYTES];
    uint32_t posts_bytes; // filled, in posts; 0 at each answer
    uint8_t posts[PROGRAM_POSTS_BYTES];
} program_shared_t;

#endif // PROGRAMS_PROTOCOL_H
