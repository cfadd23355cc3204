// SPDX-License-Identifier: Apache-2.0
package cluster

// Goal: a KV transfer of BLIS ends when it ends in a run of rocesim, rounded up to a tick; without a
// network, when the formula says. Method: WORKLOAD has a line for each transfer: its prefill and decode
// instance, bytes, start in us and end in us.

import (
	"bufio"
	"container/heap"
	"fmt"
	"os"
	"testing"
)

func TestTransfers(t *testing.T) {
	cs := &ClusterSimulator{}
	cs.config.PDTransferBandwidthGBps = 1
	for i := 0; i < 16; i++ {
		cs.instances = append(cs.instances, &InstanceSimulator{InstanceID(fmt.Sprint("instance_", i))})
	}
	file, err := os.Open(os.Getenv("WORKLOAD"))
	if err != nil {
		t.Fatal(err)
	}
	expected := map[*ParentRequest]int64{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var from, to int
		var end int64
		parent := &ParentRequest{}
		if _, err := fmt.Sscan(lines.Text(), &from, &to, &parent.bytes, &parent.start, &end); err != nil {
			t.Fatal(err)
		}
		parent.PrefillInstanceID, parent.DecodeInstanceID = cs.instances[from].ID(), cs.instances[to].ID()
		parent.bytes-- // the adapter rounds up to a whole number that is not 0
		heap.Push(&cs.clusterEvents, clusterEventEntry{&KVTransferStartedEvent{parent.start, parent}, cs.nextSeqID()})
		expected[parent] = end
	}
	cs.Run()
	for parent, end := range expected {
		if os.Getenv("FABRIC") == "" {
			end = parent.start + int64((parent.bytes+999)/1000)
		}
		if parent.end != end {
			t.Errorf("%v: ended at %d, expected %d", *parent, parent.end, end)
		}
	}
}
