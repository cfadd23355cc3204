#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/nic/test_transport_omnidma.sh - runs of the OmniDMA authors' simulator, with the very
# packets that were lost there.
#
# Goal: of its runs in which all data arrived and no sender's timer fired, adamap's and go-back-N's
# flows take the same time within 5 %, and adamap holds as many maps at most within 10 %; IRN's runs
# without loss likewise. Nothing is left undelivered in any run that is tried.
# Method: scenarios/wan/omnidma.yaml for every run of up to 30 MB.
# Not pinned: runs in which flows were called complete with data missing.
. tests/script.sh

data=../shared/data/wan
[[ -e $data/omnidma_runs.csv ]] || { echo "skip: no $data"; exit 77; }
command -v python3 > /dev/null || { echo "skip: no python3"; exit 77; }
cat > "$work/agree.py" <<'PY'
import csv, json, os, subprocess, sys
program, data, work = sys.argv[1:4]
cases = {"none": [], "mid": [1000], "first": [0], "last": [1999], "first2": [0, 1],
         "last17": range(1983, 2000), "burst50": range(1000, 1050), "burst300": range(1000, 1300),
         "pair10": [1000, 1010], "pair20": [1000, 1020], "hole1983": [1983], "hole1984": [1984],
         "hole1990": [1990], "comb40": range(100, 1661, 40), "comb17": range(100, 1767, 17)}
schemes = {"gbn": "go-back-n", "irn0.5MB": "irn", "irn5MB": "irn", "omnidma": "adamap"}
rows = bad = 0
for run in csv.DictReader(open(data + "/omnidma_runs.csv")):
    model, scheme = run["loss_model"], schemes[run["scheme"]]
    size = int(run["flow_bytes"]) * int(run["flows"])
    if run["sender_timeouts"] not in ("", "0") or run["undelivered_bytes"] not in ("", "0"):
        continue
    if size > 30e6 or (scheme == "irn" and run["drops"] != "0"):
        continue
    args = ["delay=%sus" % run["delay_us"], "scheme=" + scheme, "bytes=" + run["flow_bytes"],
            "flows=" + run["flows"]]
    if model.startswith("seq:"):
        name, times = model[4:], 1
        if name[-3:-1] == "-x":
            name, times = name[:-3], int(name[-1])
        with open(work + "/losses", "w") as out:
            out.writelines("%d,%d\n" % (k, times) for k in cases[name])
        args.append("loss_file=" + work + "/losses")
    elif model != "none":
        name = "%s/inputs/loss/%s_%s_s%s.txt" % (data, model, run["loss_rate"], run["seed"])
        if not os.path.exists(name):
            continue
        args.append("loss_file=" + os.path.abspath(name))
    if scheme == "irn":
        args.append("window=%d" % (500000 if "0.5" in run["scheme"] else 5000000))
    if scheme == "adamap":
        args += ["nic.adamap.bits=" + run["bitmap"],
                 "nic.adamap.read-latency=" + run["dma_fixed_ns"] + "ns"]
    command = [program, "run", "scenarios/wan/omnidma.yaml", "--quiet", "-o", work + "/out"]
    for arg in args:
        command += ["--set", arg]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    app = json.load(open(work + "/out/summary.json"))["apps"][0]
    theirs = [float(x) for x in run["fct_ns"].split(";")]
    off = max(abs(a / b - 1) for a, b in zip(app["fct_ns"], theirs))
    nodes = float(run["nodes_max"] or 0)
    nodes_off = abs(app["transport"]["nodes_max"] - nodes) / nodes if nodes else 0
    rows += 1
    if off > 0.05 or nodes_off > 0.10 or app["completed"] != int(run["flows"]):
        bad += 1
        print("FAIL:", " ".join(args), "time off %.2f %%, maps off %.0f %%" % (100 * off, 100 * nodes_off))
print(rows, "runs,", bad, "bad")
sys.exit(bad != 0 or rows < 60)
PY
python3 "$work/agree.py" "$ROCESIM" "$data" "$work" || fail "off the authors' simulator"
((failures == 0))
