#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/import/test_import.sh - scenarios from the files of real fabrics.
#
# Goal: each format becomes the network that it describes; both ends of a cable are one link, whichever file
# says it; values of SONiC's buffers, PFC, ECN and QoS arrive at the right switch and port; the scenario runs
# and is the same whatever the order of the files; each key of a file is accounted for; a wrong value is
# refused with its place and nothing is written. Method: small files in the forms of public ones.
# Not pinned: wording beyond names.
set -u
. tests/script.sh
start_forks

# import FILE...: into $work/got.yaml, with the report in $work/said
import() {
    rocesim import "$@" -o "$work/got.yaml" >"$work/said" 2>&1 ||
        fail "import $*: $(head -n 3 "$work/said")"
    rocesim check "$work/got.yaml" >"$work/checked" 2>&1 ||
        fail "import $*: the scenario is refused: $(grep -v '^warning' "$work/checked" | head -n 2)"
}

# has TEXT: a line of the scenario; says TEXT: a part of the report
has() {
    grep -qxF -- "$1" <(sed 's/  *#.*//' "$work/got.yaml") || fail "no line '$1' in: $(cat "$work/got.yaml")"
}
says() { grep -qF -- "$1" "$work/said" || fail "the report does not say '$1': $(cat "$work/said")"; }

# refused PLACE TEXT FILE...
refused() {
    rm -f "$work/got.yaml"
    rocesim import "${@:3}" -o "$work/got.yaml" >"$work/said" 2>&1
    [ $? = 2 ] && [ "$(wc -l <"$work/said")" = 1 ] && grep -q -- "^$work/$1" "$work/said" &&
        grep -qE -- "$2" "$work/said" && [ ! -e "$work/got.yaml" ] ||
        fail "import ${*:3} said: $(cat "$work/said"), expected $1 $2"
}

# -- SONiC: a leaf with two hosts, and its spine in the flat form

cat >"$work/leaf1.json" <<'END'
{"DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "type": "ToRRouter",
  "buffer_model": "traditional"}},
 "PORT": {
  "Ethernet0": {"alias": "etp1", "speed": "100000", "admin_status": "up", "mtu": "9100"},
  "Ethernet4": {"alias": "etp2", "speed": "100000", "admin_status": "up"},
  "Ethernet8": {"alias": "etp3", "speed": "100000", "admin_status": "down"},
  "Ethernet48": {"alias": "etp13", "speed": "400000", "admin_status": "up"}},
 "CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet4": "5m", "Ethernet8": "5m", "Ethernet48": "40m"}},
 "DEVICE_NEIGHBOR": {"Ethernet0": {"name": "gpu0", "port": "eth0"}, "Ethernet48": {"name": "spine1",
   "port": "etp1"}},
 "DEVICE_NEIGHBOR_METADATA": {"gpu0": {"type": "Server"}, "spine1": {"type": "SpineRouter"}},
 "BUFFER_POOL": {"ingress_lossless_pool": {"size": "32000000", "type": "ingress", "mode": "dynamic"},
                 "egress_lossless_pool": {"size": "33000000", "type": "egress", "mode": "static"}},
 "BUFFER_PROFILE": {
  "pg_lossless_100000_5m_profile": {"pool": "ingress_lossless_pool", "size": "1248", "xon": "2288",
    "xoff": "165568", "dynamic_th": "-3", "xon_offset": "2288"},
  "pg_lossless_400000_40m_profile": {"pool": "ingress_lossless_pool", "size": "1248", "xon": "2288",
    "xoff": "440000", "dynamic_th": "-3", "xon_offset": "2288"},
  "egress_lossy_profile": {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "1"}},
 "BUFFER_QUEUE": {"Ethernet0|0-2": {"profile": "egress_lossy_profile"}},
 "BUFFER_PG": {"Ethernet0|3-4": {"profile": "pg_lossless_100000_5m_profile"},
               "Ethernet4|3-4": {"profile": "[BUFFER_PROFILE|pg_lossless_100000_5m_profile]"},
               "Ethernet48|3-4": {"profile": "pg_lossless_400000_40m_profile"}},
 "WRED_PROFILE": {"AZURE_LOSSLESS": {"green_min_threshold": "250000", "green_max_threshold": "1048576",
   "green_drop_probability": "5", "ecn": "ecn_all", "wred_green_enable": "true"}},
 "SCHEDULER": {"scheduler.0": {"type": "DWRR", "weight": "14"}, "scheduler.1": {"type": "STRICT"}},
 "QUEUE": {"Ethernet0,Ethernet4,Ethernet48|3": {"scheduler": "scheduler.0",
   "wred_profile": "AZURE_LOSSLESS"},
           "Ethernet0|4": {"scheduler": "[SCHEDULER|scheduler.0]",
             "wred_profile": "[WRED_PROFILE|AZURE_LOSSLESS]"},
           "Ethernet0|6": {"scheduler": "scheduler.1"}},
 "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,4"}, "Ethernet4": {"pfc_enable": "3,4"},
   "Ethernet48": {"pfc_enable": "3,4"}},
 "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}, "Ethernet0": {"action": "drop", "detection_time": "200",
   "restoration_time": "400"}},
 "BGP_NEIGHBOR": {"10.0.0.1": {"asn": "65200"}}, "SOME_TABLE": {"a": {"b": "c"}}}
END
cat >"$work/spine1.json" <<'END'
{"DEVICE_METADATA|localhost": {"hostname": "spine1"},
 "PORT|Ethernet0": {"alias": "etp1", "speed": "400000"},
 "CABLE_LENGTH|AZURE": {"Ethernet0": "40m"},
 "DEVICE_NEIGHBOR|Ethernet0": {"name": "leaf1", "port": "Ethernet48"},
 "BUFFER_POOL|ingress_lossless_pool": {"size": "64000000"},
 "BUFFER_PROFILE|p": {"pool": "ingress_lossless_pool", "size": "442288", "xoff": "440000",
   "static_th": "600000"},
 "BUFFER_PG|Ethernet0|3-4": {"profile": "p"},
 "PORT_QOS_MAP|Ethernet0": {"pfc_enable": "3,4"}}
END
import "$work/leaf1.json" "$work/spine1.json"
has '      - switch: [leaf1, spine1]'
has '      - host: [gpu0, leaf1_Ethernet4]'
has '      - leaf1--gpu0'
has '      - {between: leaf1--spine1, rate: 400Gbps, delay: 200ns, backward-headroom: 440000B}'
has '      - leaf1--leaf1_Ethernet4'
[ "$(grep -c -- '--' "$work/got.yaml")" = 3 ] || fail "other links: $(cat "$work/got.yaml")"
has '  rate: 100Gbps'
has '  delay: 25ns'
has '    priorities: [3, 4]' # of both
# The pool, and in each of two classes the headroom and the reserved bytes of three ports.
has "      buffer: $((32000000 + 2 * (2 * 165568 + 440000 + 3 * 1248)))B"
has "      buffer: $((64000000 + 2 * 442288))B"
has '        alpha: 1/8'
has '        threshold: 600000B'
has '        headroom: 165568B'
has '        headroom: 440000B'
has '        reserved: 2288B'
has '        xon-offset: 2288B'
has '        watchdog: drop'
has '        watchdog-restore: 400ms'
has '      lossy-alpha: 2'
has '        priorities: [3, 4]' # of ECN
has '        kmin: 250000B'
has '        kmax: 1048576B'
has '        pmax: 5%'
has '      strict-priorities: [6]'
has '      weights: [1, 1, 1, 14, 14, 1, 1, 1]'
says 'table SOME_TABLE: not used'
says 'PORT mtu: not used'
says 'BGP_NEIGHBOR: packets take all shortest paths'
says 'has a host (--no-hosts: it has none)'
grep -q 'headroom  440.0 KB for each lossless class of 2 switch ports' "$work/checked" ||
    fail "headroom of ports: $(grep headroom "$work/checked")"
sed '/^#/d' "$work/got.yaml" >"$work/first.yaml"
rocesim run "$work/got.yaml" -o "$work/run" --quiet >/dev/null 2>"$work/err" ||
        fail "the scenario: $(cat "$work/err")"
mkdir "$work/folder"
cp "$work/leaf1.json" "$work/spine1.json" "$work/folder"
echo 'nothing of a fabric' >"$work/folder/notes.txt"
import "$work/folder"
sed '/^#/d' "$work/got.yaml" | cmp - "$work/first.yaml" || fail "a folder is not its files"
says 'notes.txt: left out'
import "$work/leaf1.json" --no-hosts
if grep -q leaf1_Ethernet4 "$work/got.yaml"; then fail "--no-hosts adds a host"; fi
# A headroom that one port has by mistake stays at this port.
sed 's/"Ethernet4|3-4": {"profile": "[^"]*"}/"Ethernet4|3-4": {"profile": "small"}/
    s/"BUFFER_PROFILE": {/&"small": {"size": "1248", "xoff": "20000", "dynamic_th": "-3"},/' \
    "$work/leaf1.json" >"$work/planted.json"
import "$work/planted.json"
has '      - {between: leaf1--leaf1_Ethernet4, backward-headroom: 20000B}'

# Ports may share their headroom: the pool is a part of the buffer in the place of all headroom.
sed 's/"ingress_lossless_pool": {"size": "32000000"/&, "xoff": "700000"/' "$work/leaf1.json" \
    >"$work/pool.json"
import "$work/pool.json"
has '    headroom-pool: 700000B'
has "  buffer: $((32000000 + 700000 + 2 * 3 * 1248))B"
sed 's/"xoff": "700000"/"xoff": "0"/' "$work/pool.json" >"$work/nopool.json"
import "$work/nopool.json"
if grep -q headroom-pool "$work/got.yaml"; then fail "a pool of 0 bytes: $(cat "$work/got.yaml")"; fi

# Maps: traffic class 3 is in queue 5, PFC priority 2 stops queue 5, and DSCP 26 and 27 are in class 3.
python3 - "$work/leaf1.json" >"$work/maps.json" <<'END'
import json, sys
leaf = json.load(open(sys.argv[1]))
leaf["DSCP_TO_TC_MAP"] = {"AZURE": {"26": "3", "27": "3", "48": "6", "1": "8"}}
leaf["TC_TO_QUEUE_MAP|AZURE"] = {"3": "5", "5": "3", "6": "6"}
leaf["TC_TO_PRIORITY_GROUP_MAP"] = {"AZURE": {"3": "3"}}
leaf["MAP_PFC_PRIORITY_TO_QUEUE"] = {"AZURE": {"2": "5"}}
for port in leaf["PORT_QOS_MAP"].values():
    port.update({"pfc_enable": "2", "dscp_to_tc_map": "AZURE", "tc_to_queue_map": "[TC_TO_QUEUE_MAP|AZURE]",
                 "tc_to_pg_map": "AZURE", "pfc_to_queue_map": "AZURE"})
leaf["QUEUE"] = {key.replace("|3", "|5"): row for key, row in leaf["QUEUE"].items()}
print(json.dumps(leaf, indent=1))
END
import "$work/maps.json"
has '    priorities: [3]' # of PFC
has '    priorities: [3, 4]' # of ECN: queues 4 and 5
has '  strict-priorities: [6]'
has '  weights: [1, 1, 1, 14, 14, 1, 1, 1]'
grep -q 'pfc_enable; DSCP 26, 27: class 3$' "$work/got.yaml" || fail "DSCPs: $(grep DSCP "$work/got.yaml")"
sed 's/"3": "5"/"3": "queue"/' "$work/maps.json" >"$work/bad.json"
refused 'bad.json:[0-9]*:' "an entry of TC_TO_QUEUE_MAP is '3', expected two whole numbers" "$work/bad.json"

# Files of one name in folders of switches; one hostname for all; a table that is given twice; a file with the
# buffers alone, whose profiles say rate and length.
mkdir -p "$work/dumps/rack1" "$work/dumps/rack2"
sed 's/"hostname": "leaf1"/"hostname": "sonic"/; s/"spine1"/"spine9"/' "$work/leaf1.json" \
    >"$work/dumps/rack1/config_db.json"
sed 's/gpu0/gpu1/; s/"port": "etp1"/"port": "etp2"/' "$work/dumps/rack1/config_db.json" \
    >"$work/dumps/rack2/config_db.json"
import "$work/dumps"
has '      - switch: [sonic, spine9, rack2]'
says 'a switch whose hostname another switch has'
sed '$s/}$/, "CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet48": "20m"}}}/' "$work/leaf1.json" \
    >"$work/twice.json"
import "$work/twice.json"
has '      - {between: leaf1--spine1, rate: 400Gbps, delay: 100ns, backward-headroom: 440000B}'
says 'a key is given twice'
cat >"$work/buffers.json" <<'END'
{"BUFFER_POOL": {"ingress_lossless_pool": {"size": "33329088", "type": "ingress", "mode": "dynamic",
   "xoff": "7827456"}},
 "BUFFER_PROFILE": {"pg_lossless_100000_300m_profile": {"pool": "ingress_lossless_pool", "xon": "18432",
   "xoff": "160000", "size": "56368", "dynamic_th": "-3", "xon_offset": "2496"}},
 "BUFFER_PG": {"Ethernet0,Ethernet4|3-4": {"profile": "pg_lossless_100000_300m_profile"}}}
END
import "$work/buffers.json"
has '      - host: [buffers_Ethernet0, buffers_Ethernet4]'
has '  rate: 100Gbps'
has '  delay: 1500ns'
says 'a file without the table PORT'

# Wrong values have their places.
sed 's/"speed": "400000"/"speed": "fast"/' "$work/leaf1.json" >"$work/bad.json"
refused 'bad.json:[0-9]*:' "speed of PORT is 'fast', expected a whole number" "$work/bad.json"
sed 's/"40m"/"40 ells"/' "$work/leaf1.json" >"$work/bad.json"
refused 'bad.json:[0-9]*:' "expected metres" "$work/bad.json"
sed 's/"dynamic_th": "-3"/"dynamic_th": "x"/' "$work/leaf1.json" >"$work/bad.json"
refused 'bad.json:[0-9]*:' 'expected a power of two' "$work/bad.json"
refused spine1.json 'a second configuration of switch spine1' "$work/spine1.json" "$work/spine1.json"
head -c 300 "$work/leaf1.json" >"$work/bad.json"
refused 'bad.json:' 'expected' "$work/bad.json"
echo '{"a": 1}' >"$work/bad.json"
refused bad.json 'none of the formats that import reads' "$work/bad.json"
refused missing.json 'No such file' "$work/missing.json"

# -- LLDP: a table with a prompt, and JSON in both forms; the spine knows the ports by other names

cat >"$work/table.txt" <<'END'
admin@leaf1:~$ show lldp table
Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
-----------  --------------  -----------------  ------------  -----------------
Ethernet48   spine1          etp1               BR            Ethernet0
Ethernet0    gpu0            b8:ce:f6:00:00:01                mlx5_0 port
eth0         mgmt-sw         12                 B             mgmt
--------------------------------------------------
Total entries displayed:  3
END
cat >"$work/spine1.lldp" <<'END'
{"lldp": {"interface": [{"Ethernet0": {"chassis": {"leaf1.dc.example": {"capability": [{"type": "Bridge",
  "enabled": true}]}},
  "port": {"id": {"type": "local", "value": "etp13"}, "descr": "Ethernet48"}}}]}}
END
cat >"$work/leaf2.lldp" <<'END'
{"lldp": [{"interface": [{"name": "Ethernet0", "chassis": [{"name": [{"value": "gpu1"}]}],
  "port": [{"id": [{"value": "aa"}]}]},
  {"name": "Ethernet4", "chassis": [{"name": [{"value": "spine1"}]}],
    "port": [{"id": [{"value": "Ethernet8"}]}]}]}]}
END
import "$work/table.txt" "$work/spine1.lldp" "$work/leaf2.lldp"
has '      - switch: [leaf1, spine1, leaf2]'
has '      - host: [gpu0, gpu1]'
[ "$(grep -c -- '      - .*--' "$work/got.yaml")" = 4 ] || fail "links of LLDP: $(cat "$work/got.yaml")"
# Arista's EOS with a prompt, with the output of `detail`, and as a result of eAPI; lldpctl's text.
cat >"$work/eos.json" <<'END'
leaf1#show lldp neighbors | json
{"tablesInserts": 5, "lldpNeighbors": [
  {"ttl": 120, "neighborDevice": "spine1", "neighborPort": "Ethernet1", "port": "Ethernet4"},
  {"ttl": 120, "neighborDevice": "gpu0", "neighborPort": "eth1", "port": "Ethernet7"},
  {"ttl": 120, "neighborDevice": "mgmtsw", "neighborPort": "1", "port": "Management1"}]}
END
cat >"$work/spine1.json5" <<'END'
{"lldpNeighbors": {"Ethernet1": {"lldpNeighborInfo": [{"systemName": "leaf1.dc.example",
  "systemCapabilities": {"bridge": true, "router": true},
  "neighborInterfaceInfo": {"interfaceId": "\"Ethernet4\""}}]}, "Ethernet2": {"lldpNeighborInfo": []},
  "Ethernet3": {"lldpNeighborInfo": [{"systemName": "leaf2", "systemCapabilities": {"bridge": true},
  "neighborInterfaceInfo": {"interfaceId": "\"x\"", "interfaceId_v2": "swp2"}}]}}}
END
cat >"$work/text" <<'END'
cumulus@leaf2:~$ sudo lldpcli show neighbors
-------------------------------------------------------------------------------
LLDP neighbors:
-------------------------------------------------------------------------------
Interface:    eth0, via: LLDP, RID: 1, Time: 0 day, 17:38:08
  Chassis:
    ChassisID:    mac 08:9e:01:e9:66:5a
    SysName:      mgmtsw
  Port:
    PortID:       ifname swp47
-------------------------------------------------------------------------------
Interface:    swp2, via: LLDP, RID: 10, Time: 0 day, 17:08:27
  Chassis:
    SysName:      spine1
    Capability:   Bridge, off
    Capability:   Router, on
  Port:
    PortID:       ifname Ethernet3
    PortDescr:    Ethernet3
-------------------------------------------------------------------------------
Interface:    swp7, alias: to gpu1, via: LLDP, RID: 11, Time: 0 day, 17:08:27
  Chassis:
    ChassisID:    mac 00:01:00:00:09:07
    SysName:      gpu1
  Port:
    PortID:       mac 00:01:00:00:09:07
    PortDescr:    eth1
END
import "$work/eos.json" "$work/spine1.json5" "$work/text"
has '      - switch: [leaf1, spine1, leaf2]'
has '      - host: [gpu0, gpu1]'
for link in leaf1--spine1 leaf1--gpu0 spine1--leaf2 leaf2--gpu1; do
    has "      - $link"
done
[ "$(grep -c -- '      - .*--' "$work/got.yaml")" = 4 ] || fail "links of EOS: $(cat "$work/got.yaml")"
{
    echo '{"jsonrpc": "2.0", "id": "1", "result": [{},'
    sed 1d "$work/eos.json"
    echo ']}'
} >"$work/leaf9.json"
import "$work/leaf9.json"
has '      - leaf9--spine1'

# The configuration of a switch and its neighbours complete each other.
sed 's/DEVICE_NEIGHBOR/OTHER_&/' "$work/leaf1.json" >"$work/plain.json"
import "$work/plain.json" "$work/table.txt"
has '      - leaf1--gpu0'
has '      - {between: leaf1--spine1, rate: 400Gbps, delay: 200ns, backward-headroom: 440000B}'

# -- ibnetdiscover, with and without -p

cat >"$work/ib.txt" <<'END'
# Topology file: generated on Mon Dec 18 12:34:08 2023
switchguid=0xec0d9a0300ec8240(ec0d9a0300ec8240)
Switch	36 "S-ec0d9a0300ec8240"		# "MF0;leaf1:MQM8700/U1" enhanced port 0 lid 48 lmc 0
[1]	"H-506b4b03003fa9b6"[1](506b4b03003fa9b6) 		# "node018 HCA-1" lid 67 4xEDR
[2]	"H-506b4b03003fa9b7"[1](506b4b03003fa9b7) 		# "node018 HCA-2" lid 68 4xEDR
[13]	"S-ec0d9a0300ec81e0"[19]		# "SwitchIB Mellanox Technologies" lid 21 4xHDR
[41]	"H-08c0eb0300000000"[1](8c0eb0300000000) 	# "Mellanox Technologies Aggregation Node" lid 99 4xHDR
Switch	36 "S-ec0d9a0300ec81e0"		# "SwitchIB Mellanox Technologies" base port 0 lid 21 lmc 0
[19]	"S-ec0d9a0300ec8240"[13]		# "MF0;leaf1:MQM8700/U1" lid 48 4xHDR
[1]	"H-506b4b03003fa9ff"[1](506b4b03003fa9ff) 		# "node019 mlx5_0" lid 69 4xNDR
Ca	1 "H-506b4b03003fa9b6"		# "node018 HCA-1"
[1](506b4b03003fa9b6) 	"S-ec0d9a0300ec8240"[1]		# lid 67 lmc 0 "MF0;leaf1:MQM8700/U1" lid 48 4xEDR
END
import "$work/ib.txt"
has '      - switch: [leaf1, S-ec0d9a0300ec81e0]'
has '      - host: [node018, node019]'
has '      - {between: leaf1--S-ec0d9a0300ec81e0, rate: 200Gbps}'
has '      - {between: S-ec0d9a0300ec81e0--node019, rate: 400Gbps}'
[ "$(grep -c -x -- '      - leaf1--node018' "$work/got.yaml")" = 2 ] ||
        fail "two NICs of a host: $(cat "$work/got.yaml")"
cat >"$work/ibp.txt" <<'END'
CA    44  1 0x0002c9030045f121 4x FDR - SW     2 17 0x0002c903006e1430 ( 'node1 HCA-1' - 'MF0;ib2:SX60XX/U1' )
SW     2 17 0x0002c903006e1430 4x FDR - CA    44  1 0x0002c9030045f121 ( 'MF0;ib2:SX60XX/U1' - 'node1 HCA-1' )
SW     2 18 0x0002c903006e1430 4x FDR - CA    45  1 0x0002c9030045f122 ( 'MF0;ib2:SX60XX/U1' - 'node2 HCA-1' )
SW     2 19 0x0002c903006e1430 4x SDR                                    'MF0;ib2:SX60XX/U1'
END
import "$work/ibp.txt"
has '      - switch: [ib2]'
has '      - host: [node1, node2]'
has '  rate: 54544Mbps'

# -- Slurm

printf '%s\n' '# a comment' 'SwitchName=s0 Nodes=dev[0-2],x' 'SwitchName=s1 Nodes=dev[08-10]-ib' \
    'switchname=s2 Switches=s[0-1] \' '  LinkSpeed=100' >"$work/topology.conf"
import "$work/topology.conf"
has '      - switch: [s0, s1, s2]'
has '      - host: [dev0, dev1, dev2, x, dev08-ib, dev09-ib, dev10-ib]'
has '      - s2--s1'
printf 'SwitchName=s0 Nodes=dev[0-\n' >"$work/bad.conf"
refused bad.conf:1 'expected' "$work/bad.conf"
printf '\nSwitchName=s0 Nodes=dev[0-999999999]\n' >"$work/bad.conf"
refused bad.conf:2 'more than 20000 names' "$work/bad.conf"

cat >"$work/topology.yaml" <<'END'
---
- topology: flat
  flat: true
- topology: topo1
  tree:
    switches:
      - switch: sw_root
        children: s[1-2]
      - switch: s1
        nodes: node[01-02]
      - switch: s2
        nodes: node[03-04]
END
import "$work/topology.yaml"
has '      - switch: [sw_root, s1, s2]'
has '      - host: [node01, node02, node03, node04]'
says 'the first one with switches or blocks counts'
# Parts without a cable between them: the example's traffic is in the larger one.
printf '%s\n' 'SwitchName=a Nodes=x[1-2]' 'SwitchName=b Nodes=y[1-3]' >"$work/topology.conf"
import "$work/topology.conf"
has '  - permutation: {bytes: 1MB, hosts: [y1, y2, y3]}'
says 'parts of a network without a cable'

# -- links as CSV, with NCCL's description of the servers

printf '%s\n' device_a,port_a,device_b,port_b,speed,length,note leaf1,1,gpu0,mlx5_0,400G,3m,x \
    leaf1,2,gpu1,mlx5_0,400G,3m,x leaf1,49,spine1,1,800G,30m,x >"$work/links.csv"
cat >"$work/server.xml" <<'END'
<system version="1">
  <cpu numaid="0"><pci busid="0000:01:00.0" class="0x060400" link_speed="16 GT/s" link_width="16">
    <pci busid="0000:02:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
      <gpu dev="0"/></pci>
    <pci busid="0000:03:00.0" class="0x020700" link_speed="16 GT/s" link_width="16">
      <nic><net name="mlx5_0" speed="200000"/></nic></pci>
  </pci></cpu>
  <!-- <cpu> of a comment does not count -->
  <cpu numaid="1"><pci busid="0000:81:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/></cpu>
</system>
END
import "$work/server.xml" "$work/links.csv"
has '      - switch: [leaf1, spine1]'
has '      - {between: leaf1--spine1, rate: 800Gbps, delay: 150ns}'
has '  rate: 400Gbps'
has '    sockets: 2'
has '    gpus: 2'
has '    nics-per-switch: 1'
has '    gpu-link: 252Gbps'
says 'column note: not used'
sed 's/<pci[^>]*0x020700[^>]*>//; s/<.nic><.pci>/<\/nic>/' "$work/server.xml" >"$work/virtual.xml"
import "$work/virtual.xml" # a NIC without a PCI device, as in virtual machines
has '  rate: 200Gbps'
import "$work/server.xml"
has '  rate: 200Gbps'
has '      - host: [server0, server1]'
printf 'leaf1,gpu0,100G\nleaf1,gpu1,slow\n' >"$work/bad.csv"
refused bad.csv:2:12 "expected such as 100Gbps" "$work/bad.csv"
printf 'x,x,100G\n' >"$work/bad.csv"
refused bad.csv:1:1 'to itself' "$work/bad.csv"

# -- a headroom that is too small at one port: packets are lost there, and explain says so and mends it

cat >"$work/unsafe.yaml" <<'END'
topology:
  graph:
    nodes: [{switch: [s1, s2]}, {host: [h1, h2, h3, h4]}]
    links: [h1--s1, h2--s1, {between: s1--s2, headroom: 6KB}, h3--s2, h4--s2]
link: {rate: 100Gbps, delay: 1us}
switch: {buffer: 1MB}
nic: {congestion-control: none}
traffic: [incast: {to: h4, senders: 3, bytes: 3MB}]
END
rocesim run "$work/unsafe.yaml" -o "$work/unsafe" --quiet >"$work/said" 2>&1 ||
    fail "unsafe.yaml ends with status $?"
rocesim explain "$work/unsafe" >"$work/said"
says 'main cause: headroom too small'
says 'port s2->s1 of s2, whose headroom is 6.000 KB'
says '--set links.s2--s1.headroom=auto'
rocesim run "$work/unsafe.yaml" --set links.s2--s1.headroom=auto >"$work/said"
says 'drops     0;'

# -- a pool of headroom that is too small, though each port alone has enough

sed -i 's/headroom: 6KB/delay: 1us/; s/buffer: 1MB/buffer: 1MB, pfc: {headroom-pool: 30KB}/' \
    "$work/unsafe.yaml"
rocesim run "$work/unsafe.yaml" -o "$work/unsafe" --quiet >"$work/said" 2>&1 ||
    fail "a small pool ends with status $?"
rocesim explain "$work/unsafe" >"$work/said"
says 'main cause: headroom too small'
says 'out of a pool that all ports share of 30.00 KB'
says '--set switch.pfc.headroom-pool=auto'
rocesim run "$work/unsafe.yaml" --set switch.pfc.headroom-pool=auto >"$work/said"
says 'drops     0;'
sed -i 's/, pfc: {headroom-pool: 30KB}//' "$work/unsafe.yaml"

# -- thresholds of ECN that a small buffer never reaches: the remedy marks packets

dcqcn=nic.congestion-control=dcqcn
rocesim run "$work/unsafe.yaml" -o "$work/high" --quiet --set $dcqcn >"$work/said" 2>&1 ||
    fail "the scenario without marks ends with status $?"
rocesim explain "$work/high" >"$work/said"
says 'main cause: ECN out of reach'
remedy=$(sed -n 's/^ *\(--set switch.ecn.enabled[^:]*\):.*/\1/p' "$work/said" | head -n 1)
# shellcheck disable=SC2086 # a list of options
rocesim run "$work/unsafe.yaml" --set $dcqcn $remedy >"$work/said" 2>&1
grep -q 'ECN  *[1-9]' "$work/said" || fail "nothing is marked with $remedy: $(grep ECN "$work/said")"

# -- the page has the table of the program

rocesim import --markdown >"$work/keys"
while read -r line; do
    [ -z "$line" ] || grep -qxF -- "$line" docs/formats/import.md ||
        { fail "docs/formats/import.md lacks: $line" && break; }
done <"$work/keys"

# -- damaged files end with a message

for file in leaf1.json spine1.json table.txt leaf2.lldp ib.txt ibp.txt topology.conf links.csv server.xml; do
    for ((seed = 1; seed <= $(few 12 3); ++seed)); do
        awk -v seed="$seed" 'BEGIN { srand(seed) } { n = split($0, c, ""); line = ""
            for (i = 1; i <= n; i++) { r = rand(); if (r < 0.01) continue
                if (r < 0.02) c[i] = substr("\"{}[]|,<>=\t0", int(rand() * 12) + 1, 1)
                line = line c[i] }
            print line }' "$work/$file" >"$work/damaged"
        within 20 rocesim import "$work/damaged" -o "$work/got.yaml" >"$work/said" 2>&1
        status=$?
        [ $status -eq 0 ] || [ $status -eq 2 ] ||
        fail "$file damaged with seed $seed: status $status, $(head -n 3 "$work/said")"
    done
done
[ $failures -eq 0 ]
