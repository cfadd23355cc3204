// SPDX-License-Identifier: Apache-2.0
// labels: clang
// test_pcie.c - bytes and times of PCIe transactions.
//
// Goal: the closed forms of Kalia, Kaminsky, Andersen (USENIX ATC 2016: appendix A, 5.2.1) come out
// of the code that the detailed NIC runs, and booking transfers gives what they say.
// Method: the profile of Connect-IB, its link-layer overheads set to 0 as the paper ignores them;
// bytes counted and times taken of many transfers, compared with arithmetic of this file.
// Not pinned: the fitted latencies and overheads.
#include "nic/detail.h"
#include "nic/pcie.h"
#include "tests/check_main.h"

static nic_pcie_config_t connect_ib(void)
{
    nic_detail_t detail;
    nic_detail_profile(NIC_PROFILE_CONNECT_IB, &detail);
    nic_pcie_config_t config;
    nic_detail_pcie(&detail, &config);
    config.overhead_permille = 0;
    config.mmio_overhead_permille = 0;
    return config;
}

START_TEST(ten_wqes)
{
    const nic_pcie_config_t config = connect_ib();
    ck_assert_uint_eq(10 * nic_pcie_mmio_bytes(&config, 65), 1800);
    // With Doorbells, WQEs lie in slots of 128 bytes, one behind the other.
    const uint64_t doorbell = nic_pcie_doorbell_bytes(&config);
    ck_assert_uint_eq(doorbell + nic_pcie_completion_bytes_at(&config, 0, 10 * 128), 1534);
}
END_TEST

START_TEST(ten_wqes_booked)
{
    const nic_pcie_config_t config = connect_ib();
    nic_pcie_t pcie;
    nic_pcie_init(&pcie, &config);
    nic_pcie_write_t writes[10];
    for (uint32_t i = 0; i < 10; i++) {
        nic_pcie_mmio(&pcie, &writes[i], 0, 65);
    }
    ck_assert_ptr_eq(nic_pcie_take_write(&pcie, SIM_PS_PER_MS), &writes[0]);
    for (uint32_t i = 1; i < 10; i++) {
        ck_assert_ptr_eq(nic_pcie_take_write(&pcie, SIM_PS_PER_MS), &writes[i]);
    }
    ck_assert_uint_eq(pcie.down.bytes, 1800);
    (void)nic_pcie_doorbell(&pcie, 0);
    (void)nic_pcie_read(&pcie, 0, 1280, NIC_PCIE_WQE_READ);
    ck_assert_uint_eq(pcie.down.bytes, 1800 + 1534);
    ck_assert_uint_eq(pcie.counters.transactions[NIC_PCIE_WQE_MMIO], 20);
    ck_assert_uint_eq(pcie.up.bytes, 3 * 26); // three requests of at most 512 bytes
    ck_assert(nic_pcie_conserved(&pcie));
    nic_pcie_fini(&pcie);
}
END_TEST

// Bytes a second of long reads, and lines a second by MMIO, without overheads.
static uint64_t read_rate_of(const nic_pcie_config_t *config)
{
    return config->lanes * config->lane_rate_bps / 8 * config->completion_max_bytes /
           (config->completion_max_bytes + config->completion_header_bytes);
}

static uint64_t line_rate_of(const nic_pcie_config_t *config)
{
    return config->lanes * config->lane_rate_bps / 8 /
           (NIC_PCIE_LINE_BYTES + config->request_header_bytes);
}

START_TEST(rates)
{
    const nic_pcie_config_t config = connect_ib();
    const uint64_t read_rate = read_rate_of(&config);
    ck_assert_uint_eq((read_rate + 500000) / 1000000, 13443); // MB/s
    ck_assert_uint_eq(read_rate / 128 / 1000000, 105);        // UD SENDs of two lines, M/s
    ck_assert_uint_eq((line_rate_of(&config) + 500000) / 1000000, 175);
    ck_assert_uint_eq((line_rate_of(&config) / 2 + 50000) / 100000, 875);
}
END_TEST

// Books a core's write and returns when it arrives.
static sim_time_t write_ps(nic_pcie_t *pcie, sim_time_t time_ps, uint64_t bytes)
{
    nic_pcie_write_t write;
    nic_pcie_mmio(pcie, &write, time_ps, bytes);
    ck_assert_ptr_eq(nic_pcie_take_write(pcie, SIM_PS_PER_S), &write);
    ck_assert_uint_eq(pcie->coming_ps, SIM_TIME_NEVER);
    return write.time_ps;
}

// Returns how many transfers of one kind the link takes in a millisecond if it is never idle.
static uint64_t taken(const nic_pcie_config_t *config, bool mmio, uint64_t bytes)
{
    nic_pcie_t pcie;
    nic_pcie_init(&pcie, config);
    uint64_t count = 0;
    const sim_time_t end_ps =
        SIM_PS_PER_MS + (mmio ? config->write_latency_ps : config->read_latency_ps);
    while ((mmio ? write_ps(&pcie, 0, bytes) : nic_pcie_read(&pcie, 0, bytes, NIC_PCIE_WQE_READ)) <=
           end_ps) {
        count++;
    }
    nic_pcie_fini(&pcie);
    return count;
}

START_TEST(rates_booked)
{
    nic_pcie_config_t config = connect_ib();
    config.tags = 1 << 20;
    // The count is exact within one transfer and the rounding of a byte's time to 2^-20 ps.
    const uint64_t reads = read_rate_of(&config) / 128 / 1000;
    ck_assert_uint_le(taken(&config, false, 128), reads + 1);
    ck_assert_uint_ge(taken(&config, false, 128), reads - 1);
    const uint64_t sends = line_rate_of(&config) / 2 / 1000;
    ck_assert_uint_le(taken(&config, true, 65), sends + 1);
    ck_assert_uint_ge(taken(&config, true, 65), sends - 1);
}
END_TEST

// Two cores write ahead of time, each in its own order. The link serves all of them in the order of
// time, and a read comes behind what was written before it, and not behind what is written later.
START_TEST(writes_in_the_order_of_time)
{
    const nic_pcie_config_t config = connect_ib();
    nic_pcie_t pcie;
    nic_pcie_init(&pcie, &config);
    const sim_time_t line_ps = write_ps(&pcie, 0, 64) - config.write_latency_ps;
    nic_pcie_write_t writes[8];
    const sim_time_t times_ps[] = {100000, 140000, 180000, 220000, 90000, 140000, 150000, 400000};
    const uint32_t order[] = {4, 0, 1, 5, 6, 2, 3, 7};
    for (uint32_t i = 0; i < SIM_COUNT_OF(writes); i++) {
        nic_pcie_mmio(&pcie, &writes[i], times_ps[i], 64);
    }
    ck_assert_uint_eq(pcie.coming_ps, 90000 + line_ps + config.write_latency_ps);
    const sim_time_t read_ps = nic_pcie_read(&pcie, 150000, 64, NIC_PCIE_CONTEXT_READ);
    ck_assert_uint_ge(read_ps, 150000 + line_ps + config.read_latency_ps);
    ck_assert_uint_lt(read_ps, 150000 + 3 * line_ps + config.read_latency_ps);
    ck_assert_ptr_null(nic_pcie_take_write(&pcie, pcie.coming_ps - 1));
    for (uint32_t i = 0; i < SIM_COUNT_OF(writes); i++) {
        const sim_time_t asked_ps = times_ps[order[i]];
        ck_assert_ptr_eq(nic_pcie_take_write(&pcie, SIM_PS_PER_MS), &writes[order[i]]);
        const sim_time_t arrives_ps = writes[order[i]].time_ps - config.write_latency_ps;
        ck_assert_uint_ge(arrives_ps, asked_ps + line_ps);
        ck_assert_uint_le(arrives_ps, asked_ps + 2 * line_ps + 1); // rounded up
    }
    ck_assert_ptr_null(nic_pcie_take_write(&pcie, SIM_PS_PER_MS));
    ck_assert_uint_eq(pcie.coming_ps, SIM_TIME_NEVER);
    ck_assert(nic_pcie_conserved(&pcie));
    nic_pcie_fini(&pcie);
}
END_TEST

START_TEST(idle_latency)
{
    const nic_pcie_config_t config = connect_ib();
    nic_pcie_t pcie;
    nic_pcie_init(&pcie, &config);
    // 86 bytes of completion take longer than the 26 of the request.
    const sim_time_t bytes_ps = 86 * 8 * SIM_PS_PER_S / (config.lanes * config.lane_rate_bps);
    const sim_time_t done_ps = nic_pcie_read(&pcie, 1000, 64, NIC_PCIE_CONTEXT_READ);
    ck_assert_uint_ge(done_ps, 1000 + bytes_ps + config.read_latency_ps);
    ck_assert_uint_le(done_ps, 1001 + bytes_ps + config.read_latency_ps);
    // A long round trip does not occupy the link: the next transfer starts at once.
    const sim_time_t next_ps = nic_pcie_write(&pcie, 10000, 64, NIC_PCIE_CQE_WRITE);
    ck_assert_uint_lt(next_ps, 10000 + bytes_ps + config.write_latency_ps + 1000);
    nic_pcie_fini(&pcie);
}
END_TEST

// Each completion but the last ends at a multiple of 128, so one more comes where a payload
// crosses one more of them (PCI Express, 2.3.1.1).
START_TEST(completions_end_at_multiples)
{
    const nic_pcie_config_t config = connect_ib();
    ck_assert_uint_eq(nic_pcie_completion_bytes_at(&config, 0, 256), 256 + 2 * 22);
    ck_assert_uint_eq(nic_pcie_completion_bytes_at(&config, 128, 256), 256 + 2 * 22);
    ck_assert_uint_eq(nic_pcie_completion_bytes_at(&config, 1, 256), 256 + 3 * 22);
    ck_assert_uint_eq(nic_pcie_completion_bytes_at(&config, 127, 2), 2 + 2 * 22);
    ck_assert_uint_eq(nic_pcie_completion_bytes_at(&config, 120, 8), 8 + 22);
    nic_pcie_t pcie;
    nic_pcie_init(&pcie, &config);
    (void)nic_pcie_read_at(&pcie, 0, 4095, 130, NIC_PCIE_PAYLOAD_READ);
    ck_assert_uint_eq(pcie.down.bytes, 130 + 3 * 22);
    (void)nic_pcie_prefetched(&pcie, 0, 4096, 128);
    ck_assert_uint_eq(pcie.down.bytes, 130 + 3 * 22 + 128 + 22);
    nic_pcie_fini(&pcie);
}
END_TEST

START_TEST(tags)
{
    nic_pcie_config_t config = connect_ib();
    config.tags = 4;
    nic_pcie_t pcie;
    nic_pcie_init(&pcie, &config);
    sim_time_t done_ps = 0;
    for (uint32_t i = 0; i < 40; i++) {
        done_ps = nic_pcie_read(&pcie, 0, 64, NIC_PCIE_CONTEXT_READ);
    }
    // With four outstanding at a time it takes at least ten round trips, and fewer than eleven.
    ck_assert_uint_ge(done_ps, 10 * config.read_latency_ps);
    ck_assert_uint_lt(done_ps, 11 * config.read_latency_ps);
    nic_pcie_fini(&pcie);
}
END_TEST

// clang-format off
#define ORIGIN(field_, path_, type_, min_, max_, cx_, cx3_, cib_, cx6_, cx5_, cx7_, cx8_, origin_, help_) origin_,
static const char *const origins[] = {NIC_DETAIL_MAP(ORIGIN) NIC_CLOCK_MAP(ORIGIN)};
#undef ORIGIN
// clang-format on

START_TEST(profiles_are_sound)
{
    for (uint32_t profile = 0; profile < NIC_PROFILE_COUNT; profile++) {
        nic_detail_t detail;
        sim_message_t message;
        nic_detail_profile(profile, &detail);
        ck_assert_msg(nic_detail_check(&detail, &message) == SIM_OK, "%s", message.text);
        for (uint32_t i = 0; i < SIM_COUNT_OF(origins); i++) {
            const char origin = origins[i][profile];
            ck_assert_msg(origin == 'M' || origin == 'P' || origin == 'F' || origin == 'D',
                          "row %u", i);
        }
    }
}
END_TEST

// Returns the bytes of data a second that a direction of a profile's link carries, link layer
// included, if each transaction has so many bytes of data and of header.
static double data_rate(const nic_pcie_config_t *config, double data_bytes, double header_bytes)
{
    const double flits = config->flit_bytes != 0 ? 236.0 / 256 : 1;
    return (double)config->lanes * (double)config->lane_rate_bps / 8 * flits * data_bytes /
           (data_bytes + header_bytes) / (1 + (double)config->overhead_permille / 1000);
}

// Generation 5 has 128b/130b at 32 GT/s, generation 6 flits at 64 GT/s; both carry the link's rate
// in writes and in reads, as fast as encoding, headers and flits leave it.
START_TEST(generations_5_and_6)
{
    static const struct {
        nic_profile_t profile;
        double network_bps;
    } cards[] = {{NIC_PROFILE_CONNECTX_7, 400e9}, {NIC_PROFILE_CONNECTX_8, 800e9}};
    for (size_t i = 0; i < SIM_COUNT_OF(cards); i++) {
        nic_detail_t detail;
        nic_detail_profile(cards[i].profile, &detail);
        nic_pcie_config_t config;
        nic_detail_pcie(&detail, &config);
        nic_pcie_t pcie;
        nic_pcie_init(&pcie, &config);
        const uint64_t bytes = UINT64_C(1) << 26;
        const double write_s = (double)(nic_pcie_write(&pcie, 0, bytes, NIC_PCIE_PAYLOAD_WRITE) -
                                        config.write_latency_ps) *
                               1e-12;
        const double written = data_rate(&config, (double)config.payload_max_bytes,
                                         (double)config.request_header_bytes);
        ck_assert_double_eq_tol((double)bytes / write_s, written, written * 1e-4);
        ck_assert_double_gt(written * 8, cards[i].network_bps);
        nic_pcie_fini(&pcie);
        nic_pcie_init(&pcie, &config); // requests of reads share a direction with writes
        // A read is asked for ahead by its own size: the first is there at once (or at the end of a
        // flit), and the link limits the second.
        ck_assert_uint_le(nic_pcie_prefetched(&pcie, 0, 0, bytes),
                          config.flit_bytes == 0 ? 0 : 2000);
        const double read_s = (double)nic_pcie_prefetched(&pcie, 0, 0, bytes) * 1e-12;
        const double read = data_rate(&config, (double)config.completion_max_bytes,
                                      (double)config.completion_header_bytes);
        ck_assert_double_eq_tol((double)bytes / read_s, read, read * 1e-4);
        nic_pcie_fini(&pcie);
    }
}
END_TEST

// A transfer on an idle link of generation 6 is through when its flit is: 2 ns with 16 lanes.
START_TEST(flits_are_whole)
{
    nic_detail_t detail;
    nic_detail_profile(NIC_PROFILE_CONNECTX_8, &detail);
    nic_pcie_config_t config;
    nic_detail_pcie(&detail, &config);
    nic_pcie_t pcie;
    nic_pcie_init(&pcie, &config);
    ck_assert_uint_eq(pcie.down.flit_ps, 2000);
    ck_assert_uint_eq(nic_pcie_doorbell(&pcie, 0), 2000 + config.write_latency_ps);
    ck_assert_uint_eq(nic_pcie_doorbell(&pcie, 0), 2000 + config.write_latency_ps);
    ck_assert_uint_eq(nic_pcie_doorbell(&pcie, 2001), 4000 + config.write_latency_ps);
    nic_pcie_fini(&pcie);
}
END_TEST

CHECK_MAIN(CHECK_TEST(ten_wqes), CHECK_TEST(ten_wqes_booked), CHECK_TEST(rates),
           CHECK_TEST(rates_booked), CHECK_TEST(writes_in_the_order_of_time),
           CHECK_TEST(idle_latency), CHECK_TEST(completions_end_at_multiples), CHECK_TEST(tags),
           CHECK_TEST(profiles_are_sound), CHECK_TEST(generations_5_and_6),
           CHECK_TEST(flits_are_whole))
