// SPDX-License-Identifier: Apache-2.0
package cluster

// A stand-in for the parts of BLIS that its adapter uses: a heap of events, a cluster and its loop.

import (
	"container/heap"
	"math"
)

type InstanceID string

type InstanceSimulator struct{ name InstanceID }

func (i *InstanceSimulator) ID() InstanceID { return i.name }

type ParentRequest struct {
	PrefillInstanceID, DecodeInstanceID InstanceID
	bytes                               float64
	start, end                          int64
}

type clusterEvent interface {
	Timestamp() int64
	Execute(cs *ClusterSimulator)
}

type clusterEventEntry struct {
	event clusterEvent
	seqID int64
}

type clusterEventQueue []clusterEventEntry

func (q clusterEventQueue) Len() int { return len(q) }
func (q clusterEventQueue) Less(i, j int) bool {
	if q[i].event.Timestamp() != q[j].event.Timestamp() {
		return q[i].event.Timestamp() < q[j].event.Timestamp()
	}
	return q[i].seqID < q[j].seqID
}
func (q clusterEventQueue) Swap(i, j int)       { q[i], q[j] = q[j], q[i] }
func (q *clusterEventQueue) Push(x interface{}) { *q = append(*q, x.(clusterEventEntry)) }
func (q *clusterEventQueue) Pop() interface{} {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

type ClusterSimulator struct {
	config struct {
		PDTransferBaseLatencyMs float64
		PDTransferBandwidthGBps float64
	}
	instances     []*InstanceSimulator
	clusterEvents clusterEventQueue
	clock         int64
	seq           int64
}

func (cs *ClusterSimulator) nextSeqID() int64 {
	cs.seq++
	return cs.seq
}

type KVTransferStartedEvent struct {
	time      int64
	parentReq *ParentRequest
}

func (e *KVTransferStartedEvent) Timestamp() int64 { return e.time }
func (e *KVTransferStartedEvent) Execute(cs *ClusterSimulator) {
	scheduleTransferCompletion(cs, e.parentReq, e.time)
}

type KVTransferCompletedEvent struct {
	time      int64
	parentReq *ParentRequest
}

func (e *KVTransferCompletedEvent) Timestamp() int64             { return e.time }
func (e *KVTransferCompletedEvent) Execute(cs *ClusterSimulator) { e.parentReq.end = cs.clock }

func scheduleTransferCompletion(cs *ClusterSimulator, parentReq *ParentRequest, startTime int64) {
	transferBytes := parentReq.bytes
	bandwidthBytesPerUs := cs.config.PDTransferBandwidthGBps * 1000.0
	heap.Push(&cs.clusterEvents, clusterEventEntry{
		event: &KVTransferCompletedEvent{startTime + int64(math.Ceil(transferBytes/bandwidthBytesPerUs)), parentReq},
		seqID: cs.nextSeqID(),
	})
}
