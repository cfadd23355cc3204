# SPDX-License-Identifier: Apache-2.0
# small_config.sh - a small input of the other simulator: three hosts on a switch, with DCQCN.
#
# Sourced after tests/script.sh; it goes to $work and sets $program. config LINES... writes config.txt with
# further lines; the test writes flow.txt.
# shellcheck disable=SC2034,SC2154 # $program is for the tests; $work and $ROCESIM are theirs
program=$(realpath "$ROCESIM")
cd "$work" || exit 1
printf '4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n' >topo.txt

config() {
    cat >config.txt <<'END'
ENABLE_QCN 1
TOPOLOGY_FILE topo.txt
FLOW_FILE flow.txt
SIMULATOR_STOP_TIME 4.00
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 50Mb/s
RATE_HAI 100Mb/s
MIN_RATE 100Mb/s
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
HAS_WIN 0
KMAX_MAP 1 100000000000 400
KMIN_MAP 1 100000000000 100
PMAX_MAP 1 100000000000 0.2
END
    printf '%s\n' "$@" >>config.txt
}
