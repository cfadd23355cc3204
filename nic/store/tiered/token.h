// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/token.h - compressed tokens of verbs objects, byte for byte, and the full
// contexts that they stand for (docs/models/tiered-cache.md).
//
// A token has the fields that a NIC needs to take a work request up; a context has all of them.
// Codecs write the packed layout below in little-endian order whatever the machine is; what does
// not fit in a token (an index above 16 bits, a PD or CQ index above 8, more than 65,535 pages,
// more CQ entries that are no power of two) is refused, and the object stays uncompressed. The
// round trip is exact for the fields that a token has: the others come back as they were in the
// context that is expanded. In L1 the same fields lie in an entry of 28 bytes.
//
// Layout of tokens: the user's design, section "metadata compression". Sizes of contexts: those of
// mlx5 (QPC 232 bytes, CQC and memory key contexts 64; a PD is 16 in this model).
#ifndef NIC_STORE_TIERED_TOKEN_H
#define NIC_STORE_TIERED_TOKEN_H

#include <assert.h>

#include "kernel/base.h"

SIM_C_BEGIN

typedef enum nic_token_type {
    NIC_TOKEN_PD,
    NIC_TOKEN_MR,
    NIC_TOKEN_CQ,
    NIC_TOKEN_QP,
    NIC_TOKEN_TYPE_COUNT
} nic_token_type_t;
const char *nic_token_type_name(nic_token_type_t type); // "pd", "mr", "cq", "qp"

// -- what lies in memories, packed

#pragma pack(push, 1)
typedef struct nic_token_header {
    uint8_t type;    // nic_token_type_t
    uint8_t version; // NIC_TOKEN_VERSION: of this layout
    uint16_t index;  // in the pool of its type
} nic_token_header_t;

typedef struct nic_pd_token {
    nic_token_header_t header;
    uint32_t pdn;
} nic_pd_token_t;

typedef struct nic_mr_token {
    nic_token_header_t header;
    uint32_t lkey;
    uint8_t access_flags;
    uint8_t page_bits; // page shift
    uint16_t page_count;
} nic_mr_token_t;

typedef struct nic_cq_token {
    nic_token_header_t header;
    uint32_t cqn;
    uint16_t cqe; // entries; with NIC_CQ_LOG their logarithm
    uint8_t comp_vector;
    uint8_t flags; // NIC_CQ_
} nic_cq_token_t;

typedef struct nic_qp_token {
    nic_token_header_t header;
    uint32_t qpn;
    uint8_t qp_type;
    uint8_t state;
    uint8_t pd_index;
    uint8_t send_cq_index;
    uint8_t recv_cq_index;
    uint8_t access_flags;
} nic_qp_token_t;

// An entry of the token directory, which the driver and the NIC share.
typedef struct nic_directory_entry {
    uint32_t token_offset; // in the tier of `layer`
    uint8_t layer;         // 1, 2, 3
    uint8_t flags;         // NIC_DIRECTORY_
    uint16_t check;        // nic_token_check of the bytes in L2; 0 in other tiers
    uint32_t version;      // rises with each move, and when rights or states change
} nic_directory_entry_t;

// Numbers are little-endian, as in tokens: use the functions below.
typedef struct nic_l1_entry {
    uint32_t token_id;     // nic_handle: type, and index in its pool
    uint64_t small_fields; // QP, CQ: the hot word; MR: key, rights, pages; PD: its number
    uint32_t metadata;     // QP: type, PD, CQs, rights; CQ: entries, vector, flags
    uint32_t freq;         // uses that the policy counts, at most UINT32_MAX
    uint64_t last_access_ps;
} nic_l1_entry_t;

typedef struct nic_page_header {
    uint32_t page_id;
    uint16_t used_slots;
    uint16_t slot_bitmap;
} nic_page_header_t;

// Management data that the driver keeps behind a context. The NIC does not fetch them.
typedef struct nic_record {
    uint64_t made_ps;
    uint64_t written_ps;    // last write of the hot word
    uint64_t changes;       // number of accesses that had changed the hot word by then
    uint64_t finished;      // QP: number of work requests that were finished by then
    uint64_t retransmitted; // QP: number of packets sent again by then
    uint32_t fetches;       // number of moves to L1 or L2
    uint32_t owner;         // protection domain; 0: none
} nic_record_t;
#pragma pack(pop)

enum {
    NIC_DIRECTORY_PINNED = 1 << 0,
    NIC_DIRECTORY_DIRTY = 1 << 1,
    NIC_DIRECTORY_MIGRATING = 1 << 2,
    NIC_DIRECTORY_UNCOMPRESSED = 1 << 3,
};

static_assert(sizeof(nic_token_header_t) == 4, "a token's header is packed");
static_assert(sizeof(nic_pd_token_t) == 8, "a PD's token is 8 bytes");
static_assert(sizeof(nic_mr_token_t) == 12, "an MR's token is 12 bytes");
static_assert(sizeof(nic_cq_token_t) == 12, "a CQ's token is 12 bytes");
static_assert(sizeof(nic_qp_token_t) == 14, "a QP's token is 14 bytes");
static_assert(sizeof(nic_directory_entry_t) == 12, "a directory entry is 12 bytes");
static_assert(sizeof(nic_l1_entry_t) == 28, "an L1 entry is 28 bytes");
static_assert(sizeof(nic_record_t) == 48, "a record is 48 bytes");
static_assert(sizeof(nic_page_header_t) == 8, "a page's header is 8 bytes");

enum {
    NIC_CQ_POLLED = 1 << 0,     // a core polls it: comp_vector is that core's
    NIC_CQ_SHARED = 1 << 1,     // a shared receive queue, whose context is of this kind, too
    NIC_CQ_OVERFLOWED = 1 << 2, // it lost completions
    NIC_CQ_LOG = 1 << 7,        // only in tokens: cqe is the logarithm of the number of entries
};

#define NIC_TOKEN_VERSION 1u
#define NIC_TOKEN_BYTES_MAX 14u
#define NIC_CONTEXT_BYTES_MAX 232u
#define NIC_SMALL_FIELDS_BYTES 8u
uint32_t nic_token_bytes(nic_token_type_t type);   // 8, 12, 12, 14
uint32_t nic_context_bytes(nic_token_type_t type); // 16, 64, 64, 232

// -- full contexts

typedef struct nic_pd_context {
    uint32_t index;
    uint32_t pdn;
    uint32_t owner; // host, which runs one program
} nic_pd_context_t;

typedef struct nic_mr_context {
    uint32_t index;
    uint32_t lkey;
    uint32_t access_flags;
    uint32_t page_bits;
    uint64_t page_count;
    uint64_t address; // not in the token
    uint64_t length_bytes;
    uint64_t table_address; // of its page list
    uint32_t pdn;
} nic_mr_context_t;

typedef struct nic_cq_context {
    uint32_t index;
    uint32_t cqn;
    uint32_t cqe;
    uint32_t comp_vector;
    uint32_t flags;
    uint64_t ring_address; // not in the token
    uint32_t producer;
    uint32_t consumer;
} nic_cq_context_t;

typedef struct nic_qp_context {
    uint32_t index;
    uint32_t qpn;
    uint32_t qp_type;
    uint32_t state;
    uint32_t pd_index;
    uint32_t send_cq_index;
    uint32_t recv_cq_index;
    uint32_t access_flags;
    uint64_t small_fields;    // not in the token, and in an L1 entry beside it
    uint8_t address_path[44]; // NIC_PATH_; zeros: it is not connected, or each request has its own
    uint64_t queue_address;
    uint32_t remote_qpn;
    uint32_t mtu_bytes;
    uint32_t timeout; // exponent, and number of retries
    uint32_t retry;
    uint32_t rnr_timer;
    uint32_t rnr_retry;
    uint32_t udp_source_port; // when it was connected
    uint32_t hop_limit;
    uint32_t dscp;
    uint8_t rest[104]; // congestion control, reserved
} nic_qp_context_t;

// Offsets in nic_qp_context_t.address_path. An IPv4 address is the first four of its 16 bytes.
enum {
    NIC_PATH_TO_MAC = 0,
    NIC_PATH_FROM_MAC = 6,
    NIC_PATH_TO_IP = 12,
    NIC_PATH_FROM_IP = 28,
};

typedef struct nic_context {
    nic_token_type_t type;
    union {
        nic_pd_context_t pd;
        nic_mr_context_t mr;
        nic_cq_context_t cq;
        nic_qp_context_t qp;
    };
} nic_context_t;

// The hot word of a queue pair, which an access reads and changes with one compare-and-swap. That
// of a CQ has its producer in the low half and its consumer in the high half.
typedef struct nic_small_fields {
    uint32_t send_psn;    // 24 bits: the next packet to send
    uint32_t receive_psn; // 24 bits: the next packet expected
    uint32_t state;       // 4 bits: nic_qp_state_t
    uint32_t sequence;    // 12 bits: changes, so that an old word never equals a new one
} nic_small_fields_t;
uint64_t nic_small_fields_pack(const nic_small_fields_t *fields);
nic_small_fields_t nic_small_fields_unpack(uint64_t packed);

// -- codecs; buffers hold nic_token_bytes and nic_context_bytes of the type

// Encodes a context as a token. Returns false, and writes nothing, if the context does not fit.
bool nic_token_encode(const nic_context_t *context, uint8_t *bytes);
// Fills the fields of *context that a token has; the others stay. False: no token of this type and
// version, or not `size_bytes` of one; *context is unchanged.
bool nic_token_decode(const uint8_t *bytes, size_t size_bytes, nic_context_t *context);
// Reads type and version of a token. Returns false if the type is unknown.
bool nic_token_header(const uint8_t *bytes, size_t size_bytes, nic_token_type_t *type,
                      uint8_t *version, uint16_t *index);
// Encodes a context as it lies in host memory.
void nic_context_encode(const nic_context_t *context, uint8_t *bytes);
bool nic_context_decode(nic_token_type_t type, const uint8_t *bytes, size_t size_bytes,
                        nic_context_t *context);

// Returns the offset of the hot word in an encoded context; UINT32_MAX: objects of the type have
// none.
uint32_t nic_context_hot_offset(nic_token_type_t type);
// Returns a check of the bytes of a token or context (CRC-16-CCITT): a change of one byte, or of up
// to 16 adjacent bits, changes it.
uint16_t nic_token_check(const uint8_t *bytes, size_t size_bytes);

// -- entries of L1

// Packs the fields of a token into *entry; freq and last access stay. Returns false, and writes
// nothing, if they do not fit; then the object stays uncompressed.
bool nic_l1_entry_pack(const nic_context_t *context, nic_l1_entry_t *entry);
// Fills the fields of *context, whose type is set, from an entry. `number` is the object's, which
// the NIC's index has for the entry's token_id.
void nic_l1_entry_unpack(const nic_l1_entry_t *entry, uint32_t number, nic_context_t *context);
static inline uint8_t *nic_l1_word(nic_l1_entry_t *entry)
{
    return (uint8_t *)entry + offsetof(nic_l1_entry_t, small_fields);
}

// -- handles: 32 bits, what the outside knows an object by

#define NIC_HANDLE_INDEX_BITS 28u
#define NIC_HANDLE_NONE UINT32_MAX
static inline uint32_t nic_handle(nic_token_type_t type, uint32_t index)
{
    SIM_ASSERT(index < 1u << NIC_HANDLE_INDEX_BITS);
    return (uint32_t)type << NIC_HANDLE_INDEX_BITS | index;
}
static inline nic_token_type_t nic_handle_type(uint32_t handle)
{
    return (nic_token_type_t)(handle >> NIC_HANDLE_INDEX_BITS);
}
static inline uint32_t nic_handle_index(uint32_t handle)
{
    return handle & ((1u << NIC_HANDLE_INDEX_BITS) - 1);
}

SIM_C_END

#endif // NIC_STORE_TIERED_TOKEN_H
