# SPDX-License-Identifier: Apache-2.0
# tests/labs/solve.py - fills in the gaps of the exercises of docs/labs: solve.py FROM TO.
#
# Each entry replaces a text of a file by that of the solution, and each text must be there.
import pathlib
import sys

SOLUTIONS = {
    "first_write.c": [
        ("IBV_WR_SEND, // GAP 1", "IBV_WR_RDMA_WRITE, // GAP 1"),
        (".send_flags = 0}", ".send_flags = IBV_SEND_SIGNALED}"),
        ("    // GAP 3", "    request.wr.rdma.remote_addr = peer->side.address;\n"
                         "    request.wr.rdma.rkey = peer->side.rkey;\n    // GAP 3"),
        ("\"post\");\n", "\"post\");\n    (void)lab_completion(device->cq);\n"),
    ],
    "cc.c": [
        ("    // GAP 1", "    cc->rate_bps = SIM_MAX(cc->rate_bps / 2, cc->line_bps / 100); // GAP 1"),
        ("    // GAP 2",
         "    cc->rate_bps = SIM_MIN(cc->rate_bps + cc->line_bps / 200, cc->line_bps); // GAP 2"),
    ],
    "incast.c": [("while (posted < total) {", "while (posted < total && posted - done < 4) {")],
    "storm.c": [
        ("symbol_error\")", "port_xmit_wait\") / 1e3"),
        ("took_us * 0 + paused_before_us * 0", "100 * (paused_us() - paused_before_us) / took_us"),
    ],
    "storm.yaml": [("#   pfc: {...}", "  pfc: {watchdog: drop, watchdog-detect: 200us, watchdog-restore: 200us}")],
    "lossy.c": [
        ("        if (receive_number(device, TIMEOUT_US, &answer)) {\n"
         "            post_receive(device, peer);\n        }\n",
         "        while (answer != number) {\n"
         "            if (receive_number(device, TIMEOUT_US, &answer)) {\n"
         "                post_receive(device, peer);\n"
         "            } else {\n"
         "                send_number(device, peer, number);\n"
         "                again++;\n            }\n        }\n"),
        ("        sum += number;\n        count++;\n",
         "        if (number == count) {\n            sum += number;\n            count++;\n        }\n"),
    ],
    "store.c": [
        ("peer->side.address + key * 0", "peer->side.address + key % BUCKETS * sizeof(bucket_t)"),
        ("    return key * 0;\n",
         "    post(peer, IBV_WR_RDMA_READ, &table[0], sizeof table[0], address_of(peer, key));\n"
         "    return table[0].key == key ? table[0].value : 0;\n"),
        ("    (void)address;\n",
         "    do {\n"
         "        post(peer, IBV_WR_ATOMIC_CMP_AND_SWP, &table[1].lock, sizeof table[1].lock, address);\n"
         "    } while (table[1].lock != 0);\n"),
    ],
}

source, target = (pathlib.Path(argument) for argument in sys.argv[1:])
for name, gaps in SOLUTIONS.items():
    text = (source / name).read_text()
    for gap, solution in gaps:
        if gap not in text:
            sys.exit(f"{name} has no {gap!r}")
        text = text.replace(gap, solution, 1)
    (target / name).write_text(text)
