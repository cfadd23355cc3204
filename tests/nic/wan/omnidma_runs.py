# SPDX-License-Identifier: Apache-2.0
# omnidma_runs.py - runs of the OmniDMA authors' simulator beside ours, row by row.
#
#     omnidma_runs.py PROGRAM DATA FOLDER LIMIT [ROWS.csv]
#
# Replays each row of DATA/omnidma_runs.csv of at most LIMIT bytes, with the packets that were lost
# there, in scenarios/wan/omnidma.yaml. Rows in which every flow got all its data and no timer of a
# sender fired (and, of IRN, nothing was lost) are compared: times within 5 %, maps within 10 %. In
# the others every flow must complete. ROWS.csv has what each row was and is.
import csv
import json
import os
import subprocess
import sys

CASES = {"none": [], "mid": [1000], "first": [0], "last": [1999], "first2": [0, 1],
         "last17": range(1983, 2000), "burst50": range(1000, 1050), "burst300": range(1000, 1300),
         "pair10": [1000, 1010], "pair20": [1000, 1020], "hole1983": [1983], "hole1984": [1984],
         "hole1990": [1990], "comb40": range(100, 1661, 40), "comb17": range(100, 1767, 17)}
SCHEMES = {"gbn": "go-back-n", "irn0.5MB": "irn", "irn5MB": "irn", "omnidma": "adamap"}
COLUMNS = ["scheme", "delay_us", "loss_model", "loss_rate", "flows", "flow_bytes", "seed", "bitmap",
           "dma_fixed_ns", "compared", "completed", "fct_max_ns", "their_fct_max_ns", "fct_off",
           "nodes_max", "their_nodes_max", "nodes_mean", "their_nodes_mean", "nodes_off"]


def settings(run, data, folder):
    """--set of a row; None: its losses are not there."""
    scheme, model = SCHEMES[run["scheme"]], run["loss_model"]
    sets = ["delay=%sus" % run["delay_us"], "scheme=" + scheme, "bytes=" + run["flow_bytes"],
            "flows=" + run["flows"]]
    if model.startswith("seq:"):
        name, times = model[4:], 1
        if name[-3:-1] == "-x":
            name, times = name[:-3], int(name[-1])
        with open(folder + "/losses", "w") as out:
            out.writelines("%d,%d\n" % (k, times) for k in CASES[name])
        sets.append("loss_file=" + folder + "/losses")
    elif model != "none":
        name = "%s/inputs/loss/%s_%s_s%s.txt" % (data, model, run["loss_rate"], run["seed"])
        if not os.path.exists(name):
            return None
        sets.append("loss_file=" + os.path.abspath(name))
    if scheme == "irn":
        sets.append("window=%d" % (500000 if "0.5" in run["scheme"] else 5000000))
    if scheme == "adamap":
        sets += ["nic.adamap.bits=" + run["bitmap"],
                 "nic.adamap.read-latency=" + run["dma_fixed_ns"] + "ns"]
    return sets


def comparable(run):
    return (run["sender_timeouts"] in ("", "0") and run["undelivered_bytes"] in ("", "0") and
            (SCHEMES[run["scheme"]] != "irn" or run["drops"] == "0"))


def off(ours, theirs):
    return abs(ours / theirs - 1) if theirs else 0.0


def main():
    program, data, folder, limit = sys.argv[1:5]
    rows = bad = others = 0
    worst = {}
    table = csv.writer(open(sys.argv[5], "w")) if len(sys.argv) > 5 else None
    if table:
        table.writerow(COLUMNS)
    for run in csv.DictReader(open(data + "/omnidma_runs.csv")):
        if int(run["flow_bytes"]) * int(run["flows"]) > float(limit):
            continue
        sets = settings(run, data, folder)
        if sets is None:
            continue
        command = [program, "run", "scenarios/wan/omnidma.yaml", "--quiet", "-o", folder + "/out"]
        for item in sets:
            command += ["--set", item]
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        app = json.load(open(folder + "/out/summary.json"))["apps"][0]
        told, times = app["transport"], [time or float("inf") for time in app["fct_ns"]]
        theirs = [float(x) for x in run["fct_ns"].split(";")] if run["fct_ns"] else []
        compared = comparable(run)
        time_off = max(off(a, b) for a, b in zip(times, theirs)) if theirs else 0.0
        nodes_max, nodes_mean = float(run["nodes_max"] or 0), float(run["nodes_avg"] or 0)
        maps_off = off(told["nodes_max"], nodes_max)
        if table:
            table.writerow([run[name] for name in COLUMNS[:9]] +
                           [int(compared), app["completed"], "%.0f" % max(times),
                            run["fct_max_ns"], "%.3g" % time_off, told["nodes_max"],
                            run["nodes_max"], "%.6g" % told["nodes_mean"], run["nodes_avg"],
                            "%.3g" % max(maps_off, off(told["nodes_mean"], nodes_mean))])
        rows += compared
        others += not compared
        wrong = ended.returncode != 0 or app["completed"] != int(run["flows"])
        if compared:
            wrong = wrong or time_off > 0.05 or maps_off > 0.10
            scheme = SCHEMES[run["scheme"]]
            worst[scheme] = max(worst.get(scheme, 0.0), time_off)
            if nodes_mean > 20:
                # Where there are many their mean is of no few samples.
                wrong = wrong or off(told["nodes_mean"], nodes_mean) > 0.10
        if wrong:
            bad += 1
            print("FAIL:", " ".join(sets), "| completed %d, time off %.2f %%, maps off %.0f %%" %
                  (app["completed"], 100 * time_off, 100 * maps_off))
    print("%d rows compared, %d others complete, %d bad; times off at most %s" %
          (rows, others, bad, ", ".join("%s %.2g %%" % (s, 100 * worst[s]) for s in sorted(worst))))
    sys.exit(bad != 0 or rows < 60)


main()
