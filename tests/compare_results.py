#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/compare_results.py BEFORE AFTER [IGNORE] - tells how two result folders of one scenario differ, made by versions
of the program that may lie far apart. Exit status 0 where they tell the same, 1 where not, 2 for bad usage.

All that BEFORE tells, AFTER must tell byte by byte: columns of tables by their names, rows in their order, values of
summary.json by their paths, captures and other files whole. What AFTER tells beyond that is not looked at. What says how
a result came about is left out: digest, events, version, wall_*, and the scenario in the version's words.

Where a number was defined anew, what AFTER tells is first said in the words of BEFORE (each is an entry of CHANGELOG.md):
- ecn_marked counted a packet at each hop that would mark it: it is now ecn_marked + ecn_marked_again;
- queue_bytes_max of a port was the largest of its classes': that of queue_prio*_bytes_max;
- utilisation was of the bytes of frames over the whole run, less what the last of them took after it: it is worked out;
- the goodput of an application was called goodput: goodput_gbps; what rows of transfers took was row_fct_p50 and
  the like: rows.fct_us.p50; what perftest takes at a size, t_avg_1024_bytes and the like, was not in a list sizes[];
  counts are integers (1.0 is 1);
- series of queue pairs began when they were connected, and were there for those that only answer, too: they begin with
  the first work request;
- rows of series.csv later than the end of the run depended on the widths of windows: they are left out;
- in captures R_Keys are those of registered buffers: they, and the ICRCs and UDP checksums over them, may differ;
- times told of roots of pauses were those of who stopped a port: they are those of the port that was stopped.

IGNORE is a regular expression of FILE:NAME that may differ. Of each column or path the first difference is printed, and
how many there are."""
import csv
import filecmp
import gzip
import json
import os
import re
import struct
import sys

CAME_ABOUT = re.compile(r"(^|\.)(wall_\w+|events|events_per_s|events_per_operation|version|threads|digest|peak_\w+|max_rss\w*)$")
FRAME_MAX = 16384  # bytes, of the largest frame with room to spare
NOT_RESULTS = {"manifest.json", "scenario.yaml", "topology.json", "schema.json"}
CLASSES = range(8)


class Differences:
    def __init__(self, ignore):
        self.ignore = re.compile(ignore) if ignore else None
        self.found = {}

    def add(self, name, where, before, after):
        if self.ignore and self.ignore.search(name):
            return
        count, first = self.found.get(name, (0, f"{where}: {before} | {after}"))
        self.found[name] = (count + 1, first)


def table(path):
    """Its columns, and its rows by column. Nothing where it is not there."""
    if not os.path.exists(path):
        return [], []
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    if not rows:
        return [], []
    return rows[0], [dict(zip(rows[0], row)) for row in rows[1:]]


def table_of(folder, name):
    return table(os.path.join(folder, name))[1]


def ports_in_old_words(columns, rows):
    """What BEFORE, which has only `columns`, would have said of ports."""
    for row in rows:
        if "ecn_marked_again_prio0" in row and "ecn_marked_again_prio0" not in columns:
            for n in CLASSES:
                row[f"ecn_marked_prio{n}"] = str(int(row[f"ecn_marked_prio{n}"]) + int(row[f"ecn_marked_again_prio{n}"]))
        if "queue_prio0_bytes_max" in row and "queue_prio0_bytes_max" not in columns:
            row["queue_bytes_max"] = str(max(int(row[f"queue_prio{n}_bytes_max"]) for n in CLASSES))


def last_event_ns(folder):
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        return json.load(file)["sim_time_ps"] * 1e-3 + 1e-3


def series_in_new_words(old, new):
    """Series of queue pairs from where AFTER's begin: their first row there is left out of both."""
    first = {}
    for row in new:
        first.setdefault(row["path"], float(row["time_ns"]))

    def begun(row):
        return not row["path"].startswith("qp[") or float(row["time_ns"]) > first.get(row["path"], float("inf"))

    return [row for row in old if begun(row)], [row for row in new if begun(row)]


def compare_tables(name, before, after, differences):
    columns, old = table(before)
    _, new = table(after)
    if name == "ports.csv":
        ports_in_old_words(columns, new)
    if name == "series.csv":
        end_ns = last_event_ns(os.path.dirname(before))
        old = [row for row in old if float(row["time_ns"]) <= end_ns]
        new = [row for row in new if float(row["time_ns"]) <= end_ns]
        old, new = series_in_new_words(old, new)
    if len(old) != len(new):
        differences.add(name + ":rows", "count", len(old), len(new))
    if old != new and sorted(map(str, old)) == sorted(map(str, new)):
        differences.add(name + ":order", "rows", "are the same", "in another order")
        return
    for number, (was, now) in enumerate(zip(old, new), 1):
        for column in columns:
            if was.get(column) != now.get(column):
                differences.add(f"{name}:{column}", f"row {number}", was.get(column), now.get(column, "no such column"))


def utilisation_in_old_words(was, port, new):
    """`was` where that is what BEFORE would have said, else what it would: its last frame may be under way at the end."""
    span_s = (new["sim_time_ps"] - new["traffic_from_ps"]) * 1e-12
    all_bits = int(port["rate_bps"]) * span_s
    share = 8 * int(port["tx_bytes"]) / all_bits if span_s > 0 else 0.0
    least = max(0.0, share - 8 * FRAME_MAX / all_bits) if span_s > 0 else 0.0
    return was if least <= was <= share * (1 + 1e-11) else share


def summary_in_old_words(old, new, ports):
    """What BEFORE would have said in summary.json; `ports` are the rows of AFTER's ports.csv, in old words."""
    marks_anew = "ecn_marked_again" in new and "ecn_marked_again" not in old
    if marks_anew:
        new["ecn_marked"] += new["ecn_marked_again"]
        for row in new.get("classes", []):
            row["ecn_marked"] = sum(int(port[f"ecn_marked_prio{row['priority']}"]) for port in ports.values())
    for was, now in zip(old.get("pfc", {}).get("roots", []), new.get("pfc", {}).get("roots", [])):
        now["paused_ps"] = was["paused_ps"]
        now["first_ps"] = was["first_ps"]
    # The list is by queues, whose order may be another: ports of both are compared.
    listed = {row["port"]: row for row in new.get("hottest_ports", [])}
    old["hottest_ports"] = [row for row in old.get("hottest_ports", []) if row["port"] in listed]
    new["hottest_ports"] = [listed[row["port"]] for row in old["hottest_ports"]]
    for was, now in zip(old["hottest_ports"], new["hottest_ports"]):
        port = ports.get(now["port"])
        if "run_utilisation" in now and "run_utilisation" not in was and port:
            now["utilisation"] = utilisation_in_old_words(was["utilisation"], port, new)
        if marks_anew and port:
            now["ecn_marked"] = sum(int(port[f"ecn_marked_prio{n}"]) for n in CLASSES)
        if port:
            now["queue_bytes_max"] = int(port["queue_bytes_max"])
    for was, now in zip(old.get("apps", []), new.get("apps", [])):
        for place in (now, now.get("units", {})):
            if "goodput_gbps" in place:
                place.setdefault("goodput", place["goodput_gbps"])
        rows_in_old_words(now)
        sizes_in_old_words(now)


def sizes_in_old_words(app):
    """What perftest tells of several sizes, each value by a name with the size in it."""
    for row in app.get("sizes", []):
        for name, value in row.items():
            if name != "bytes":
                app[f"{name}_{row['bytes']}_bytes"] = value
            if f"sizes[].{name}" in app["units"]:
                app["units"][f"{name}_{row['bytes']}_bytes"] = app["units"][f"sizes[].{name}"]


def rows_in_old_words(app):
    """What an application tells of its rows of transfers, and in which units, by the names it had."""
    rows = app.get("rows")
    if not isinstance(rows, dict):
        return
    app["rows"], app["rows_completed"] = rows.get("count"), rows.get("completed")
    for name, unit in (("fct_us", "fct"), ("slowdown", "slowdown"), ("goodput_gbps", "goodput")):
        for key, value in rows.get(name, {}).items():
            app[f"row_{unit}_{key}"] = value
            if f"rows.{name}" in app["units"]:
                app["units"][f"row_{unit}_{key}"] = app["units"][f"rows.{name}"]


def leaves(value, path=""):
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        yield path + ".length", len(value)
        for i, item in enumerate(value):
            yield from leaves(item, f"{path}.{i}")
    else:
        yield path, value


def compare_summaries(before, after, differences):
    with open(os.path.join(before, "summary.json"), encoding="utf-8") as file:
        old = json.load(file)
    with open(os.path.join(after, "summary.json"), encoding="utf-8") as file:
        new = json.load(file)
    columns, _ = table(os.path.join(before, "ports.csv"))
    ports = {row["port"]: row for row in table_of(after, "ports.csv")}
    ports_in_old_words(columns, ports.values())
    summary_in_old_words(old, new, ports)
    now = dict(leaves(new))
    now["series_csv.rows"] = old.get("series_csv", {}).get("rows")  # of series that begin or end elsewhere, too
    for path, value in leaves(old):
        if not CAME_ABOUT.search(path) and (path not in now or now[path] != value):
            name = "summary.json:" + re.sub(r"\.\d+(?=\.|$)", "[]", path)
            differences.add(name, path, value, now.get(path, "not told"))


RETH_AT = {0x06, 0x0A, 0x0B, 0x0C, 0x26, 0x2A, 0x2B}  # opcodes with an R_Key 8 bytes behind the BTH
ATOMIC_AT = {0x13, 0x14}


def frames(path):
    """Time, length and bytes of a pcap file's frames, R_Keys and the sums over them blanked. None: no pcap file."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        data = file.read()
    if len(data) < 24 or data[:4] not in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1"):
        return None
    found, at = [], 24
    while at + 16 <= len(data):
        seconds, fraction, kept, length = struct.unpack_from("<IIII", data, at)
        found.append((seconds, fraction, length, blank_keys(bytearray(data[at + 16 : at + 16 + kept]))))
        at += 16 + kept
    return found


def blank_keys(frame):
    ip = 18 if frame[12:14] == b"\x81\x00" else 14
    six = frame[ip] >> 4 == 6
    if frame[ip] >> 4 not in (4, 6) or frame[ip + (6 if six else 9)] != 17:
        return bytes(frame)
    udp = ip + (40 if six else 20)
    bth = udp + 8
    if len(frame) > bth and frame[bth] in RETH_AT | ATOMIC_AT:
        end = udp + int.from_bytes(frame[udp + 4 : udp + 6], "big")
        for first, size in ((bth + 20, 4), (end - 4, 4), (udp + 6, 2)):
            for i in range(first, min(first + size, len(frame))):
                frame[i] = 0
    return bytes(frame)


def compare_captures(name, before, after, differences):
    old, new = frames(before), frames(after)
    if old is None or new is None or old == new:
        if old is None or new is None:
            differences.add(name, "bytes", os.path.getsize(before), os.path.getsize(after))
        return
    if sorted(old) == sorted(new):
        differences.add(name + ":order", "frames", "are the same", "in another order")
        return
    unlike = [i for i, (was, now) in enumerate(zip(old, new), 1) if was != now]
    where = f"{len(old)} | {len(new)} frames, first unlike"
    differences.add(name, where, unlike[0] if unlike else "end", len(unlike))


def files(folder):
    for at, _, names in os.walk(folder):
        for name in names:
            yield os.path.relpath(os.path.join(at, name), folder)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__) if len(sys.argv) == 1 else sys.exit(2)
    before, after = sys.argv[1:3]
    differences = Differences(sys.argv[3] if len(sys.argv) == 4 else "")
    for name in sorted(files(before)):
        old, new = os.path.join(before, name), os.path.join(after, name)
        if name in NOT_RESULTS:
            continue
        if not os.path.exists(new):
            differences.add(name, "file", "is there", "is not")
        elif name == "summary.json":
            compare_summaries(before, after, differences)
        elif not filecmp.cmp(old, new, shallow=False):
            if name.endswith(".csv"):
                compare_tables(name, old, new, differences)
            elif ".pcap" in name:
                compare_captures(name, old, new, differences)
            else:
                differences.add(name, "bytes", os.path.getsize(old), os.path.getsize(new))
    for name, (count, first) in differences.found.items():
        print(f"{name}: {count} differ, {first}")
    sys.exit(1 if differences.found else 0)


main()
