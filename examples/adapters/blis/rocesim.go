// SPDX-License-Identifier: Apache-2.0
package cluster

// KV caches between prefill and decode instances of BLIS cross a network of rocesim, if the environment
// has FABRIC: a scenario, with SETTINGS ("PATH=VALUE PATH=VALUE") and SCALE (README.md). Instance n of the
// cluster is host n. apply.sh puts this file and the client of sessions into the source of BLIS.

import (
	"container/heap"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	session "github.com/inference-sim/inference-sim/sim/rocesim"
)

const psPerTick = 1000000 // a tick of BLIS is 1 us

type fabric struct {
	network *session.Session
	scale   float64
	nowPs   uint64
	waiting []session.Transfer // submitted with the next call
	parents []*ParentRequest   // of those
	open    map[uint64]*ParentRequest
}

var fabrics = map[*ClusterSimulator]*fabric{}

// fabricOf opens the network of a cluster when it is needed first; nil without FABRIC.
func fabricOf(cs *ClusterSimulator) *fabric {
	scenario := os.Getenv("FABRIC")
	if f := fabrics[cs]; f != nil || scenario == "" {
		return f
	}
	f := &fabric{scale: 1, open: map[uint64]*ParentRequest{}}
	options := session.Options{Settings: strings.Fields(os.Getenv("SETTINGS"))}
	if scale := os.Getenv("SCALE"); scale != "" {
		f.scale, _ = strconv.ParseFloat(scale, 64)
		options.Settings = append(options.Settings, "scale="+scale)
	}
	var err error
	if f.network, err = session.Open(scenario, options); err != nil {
		panic(err)
	}
	if len(f.network.Hosts) < len(cs.instances) {
		panic(fmt.Sprintf("%d instances, but %d hosts", len(cs.instances), len(f.network.Hosts)))
	}
	fabrics[cs] = f
	return f
}

// sendOverFabric sends the bytes of a KV cache, and returns whether there is a network.
// KVTransferCompletedEvent follows when it has ended.
func sendOverFabric(cs *ClusterSimulator, parent *ParentRequest, bytes float64, tick int64) bool {
	f := fabricOf(cs)
	if f == nil {
		return false
	}
	base := int64(math.Ceil(cs.config.PDTransferBaseLatencyMs * 1000)) // the software's, before the bytes
	at := uint64(tick+base) * psPerTick
	if at < f.nowPs {
		at = f.nowPs
	}
	f.waiting = append(f.waiting, session.Transfer{
		Src:   hostOf(cs, parent.PrefillInstanceID),
		Dst:   hostOf(cs, parent.DecodeInstanceID),
		Bytes: uint64(math.Ceil(bytes/f.scale)) + 1,
		At:    at,
	})
	f.parents = append(f.parents, parent)
	return true
}

func hostOf(cs *ClusterSimulator, id InstanceID) int {
	for i, instance := range cs.instances {
		if instance.ID() == id {
			return i
		}
	}
	panic("no instance " + string(id))
}

// runFabricBefore runs the network up to the next event, or to the end of a transfer; then it returns true, and
// the cluster has a new event.
func runFabricBefore(cs *ClusterSimulator, clusterTick, instanceTick int64) bool {
	tick := clusterTick
	if instanceTick < tick {
		tick = instanceTick
	}
	f := fabrics[cs]
	if f == nil || len(f.waiting)+len(f.open) == 0 {
		return false
	}
	limit := uint64(session.Never)
	if tick < math.MaxInt64/psPerTick {
		limit = uint64(tick) * psPerTick
	}
	if limit <= f.nowPs {
		return false
	}
	if len(f.waiting) > 0 {
		numbers, err := f.network.SubmitMany(f.waiting)
		if err != nil {
			panic(err)
		}
		for i, number := range numbers {
			f.open[number] = f.parents[i]
		}
		f.waiting, f.parents = nil, nil
	}
	progress, err := f.network.NextCompletion(limit)
	if err != nil || progress.Stalled {
		panic(fmt.Sprint("the network stands still: ", err))
	}
	f.nowPs = progress.NowPs
	for _, done := range progress.Completions {
		if done.Outcome != session.Done {
			panic("a KV transfer has failed: " + done.Status)
		}
		heap.Push(&cs.clusterEvents, clusterEventEntry{
			event: &KVTransferCompletedEvent{
				time:      int64((done.EndPs + psPerTick - 1) / psPerTick),
				parentReq: f.open[done.Transfer],
			},
			seqID: cs.nextSeqID(),
		})
		delete(f.open, done.Transfer)
	}
	return len(progress.Completions) > 0
}
