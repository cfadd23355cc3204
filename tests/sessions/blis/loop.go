// SPDX-License-Identifier: Apache-2.0
package cluster

import (
	"container/heap"
	"math"
)

func (c *ClusterSimulator) Run() {
	for {
		clusterTime := int64(math.MaxInt64)
		if len(c.clusterEvents) > 0 {
			clusterTime = c.clusterEvents[0].event.Timestamp()
		}
		instanceTime, instanceIdx := int64(math.MaxInt64), -1
		if clusterTime == math.MaxInt64 && instanceIdx == -1 {
			break
		}
		if clusterTime <= instanceTime {
			entry := heap.Pop(&c.clusterEvents).(clusterEventEntry)
			c.clock = entry.event.Timestamp()
			entry.event.Execute(c)
		}
	}
}
