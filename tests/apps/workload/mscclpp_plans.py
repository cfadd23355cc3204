# SPDX-License-Identifier: Apache-2.0
# tests/apps/workload/mscclpp_plans.py - writes execution plans of MSCCL++ for collective_times.py.
#
# Thread block k of a GPU works with the GPU k + 1 places behind its own, over a channel of its own.
import json


def chunk(kind, index, size=1):
    return {"type": kind, "index": index, "size": size}


def remote(buffer, index, size=1):
    return {"buffer_id": buffer, "index": index, "size": size}


def on(name, **more):
    return {"name": name, "channel_type": "memory", **more}


def sync(name):
    return on(name, channel_ids=[0])


def plan(collective, ranks, chunks, remote_types, operations):
    """operations(rank, peer, k): those of a thread block; its remote buffers have remote_types."""
    gpus = []
    for rank in range(ranks):
        peers = [(rank + 1 + k) % ranks for k in range(ranks - 1)]
        blocks = []
        for k, peer in enumerate(peers):
            ids = [k * len(remote_types) + i for i in range(len(remote_types))]
            back = ranks - 2 - k  # the peer's channel to this GPU
            blocks.append({
                "id": k,
                "channels": [{"channel_type": "memory", "channel_ids": [k]}],
                "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": ids}],
                "ops": operations(rank, peer, k),
            })
            assert (peer + 1 + back) % ranks == rank
        gpus.append({
            "id": rank, "input_chunks": chunks[0], "output_chunks": chunks[1],
            "scratch_chunks": chunks[2],
            "channels": [{"channel_type": "memory", "connected_to": peers}],
            "remote_buffers": [{"rank": peer, "type": kind, "access_channel_types": ["memory"]}
                               for peer in peers for kind in remote_types],
            "threadblocks": blocks,
        })
    return json.dumps({
        "name": "plan", "collective": collective, "protocol": "Simple", "inplace": True,
        "min_message_size": 0, "max_message_size": 18446744073709551615, "gpus": gpus,
    }, indent=1)


def all_gather(ranks):
    """Every GPU puts its part to all others at once."""
    def operations(rank, _peer, _k):
        put = on("put", src_buff=[chunk("o", rank)], dst_buff=[remote(0, rank)])
        return [put, sync("signal"), sync("wait")]
    return plan("allgather", ranks, (1, ranks, 0), ["o"], operations)


def all_reduce_once(ranks):
    """Every GPU puts its whole buffer to the scratch of all others; block 0 adds them up."""
    def operations(rank, _peer, k):
        put = on("put", src_buff=[chunk("i", 0, ranks)],
                 dst_buff=[remote(0, rank * ranks, ranks)])
        ops = [put, sync("signal"), sync("wait"), {"name": "barrier", "barrier_id": 0,
                                                   "num_threadblocks": ranks - 1}]
        others = [chunk("s", r * ranks, ranks) for r in range(ranks) if r != rank]
        if k == 0:
            ops.append({"name": "re", "src_buff": [chunk("i", 0, ranks)] + others,
                        "dst_buff": [chunk("i", 0, ranks)], "reduce_op": "sum"})
        return ops
    return plan("allreduce", ranks, (ranks, ranks, ranks * ranks), ["s"], operations)


def all_reduce_pair():
    """Two GPUs: each reads the other's copy of its half, adds its own, and puts the sum there."""
    def operations(rank, _peer, _k):
        own = chunk("i", rank)
        return [sync("signal"), sync("wait"),
                on("rres", src_buff=[own, remote(0, rank)], dst_buff=[own, remote(0, rank)],
                   reduce_op="sum"),
                sync("signal"), {"name": "nop"}, sync("wait")]
    return plan("allreduce", 2, (2, 2, 0), ["i"], operations)
