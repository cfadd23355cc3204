#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# apply.sh BLIS - puts rocesim into the source of BLIS: two files and two lines (README.md).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
client=${ROCESIM_GO_CLIENT:-$here/../../../sessions/go/session.go}
cd "$1/sim"
mkdir -p rocesim
cp "$client" rocesim/session.go
cp "$here/rocesim.go" cluster/rocesim.go

# insert FILE PATTERN LINE: puts a line in front of the only one with a pattern, unless it is there.
insert() {
    ! grep -qF "$3" "$1" || return 0
    [ "$(grep -c "$2" "$1")" = 1 ] || { echo "$1: expected one line with: $2" >&2; exit 1; }
    sed "/$2/i\\
$3" "$1" >"$1.new"
    mv "$1.new" "$1"
}
insert cluster/pd_events.go 'bandwidthBytesPerUs := ' \
    'if sendOverFabric(cs, parentReq, transferBytes, startTime) { return }'
insert cluster/cluster.go 'if clusterTime == math.MaxInt64 && instanceIdx == -1' \
    'if runFabricBefore(c, clusterTime, instanceTime) { continue }'
