// SPDX-License-Identifier: Apache-2.0
// cli/help.c - the texts of `rocesim --help` and `rocesim COMMAND --help`.
//
// A text is at most 80 columns wide and understood without the others.
#include "cli/args.h"

// clang-format off
static const char help_program[] =
    "rocesim simulates RDMA networks packet by packet.\n"
    "\n"
    "Begin with a scenario that comes with rocesim:\n"
    "  rocesim list [WORD]                  list scenarios: name, time of a run, question\n"
    "  rocesim show NAME                    print a scenario with its comments\n"
    "  rocesim new NAME FILE                copy a scenario into a file of your own\n"
    "\n"
    "SCENARIO below is such a name, training/gpt, or the name of a file.\n"
    "\n"
    "Prepare a run:\n"
    "  rocesim check SCENARIO               report errors, warnings and the expected cost\n"
    "  rocesim check WORKLOAD               count what a file of a workload holds\n"
    "  rocesim headroom SCENARIO            measure the buffers that lossless classes need\n"
    "  rocesim topo SCENARIO                print the network as a Graphviz drawing\n"
    "  rocesim params [PATH | SCENARIO]     explain attributes, or a scenario's parameters\n"
    "  rocesim schema [scenario]            print attributes, fields and columns as JSON\n"
    "\n"
    "Simulate:\n"
    "  rocesim run SCENARIO -o DIR          simulate a scenario and write results to DIR\n"
    "  rocesim sweep FILE -o DIR            run a scenario over parameters and seeds\n"
    "  rocesim what-if SCENARIO             let each part fail, and print what breaks\n"
    "  rocesim expect FILE.yaml             run scenarios and check what is expected of them\n"
    "  rocesim arena --cc NAME,...          rank congestion controls in 40 scenarios\n"
    "  rocesim calibrate PLAN.yaml          fit constants to measured points\n"
    "  rocesim hpcc CONFIG.txt -o DIR       run a configuration of the HPCC ns-3 simulator\n"
    "  rocesim shell SCENARIO               start programs on simulated hosts, by hand\n"
    "  rocesim serve SCENARIO               let other programs submit transfers\n"
    "  rocesim studio                       serve the studio, a page for browsers\n"
    "\n"
    "Understand results:\n"
    "  rocesim compare DIR...               print the results of runs side by side\n"
    "  rocesim diff DIR DIR                 find the first difference between two runs\n"
    "  rocesim plot DIR... -o FIGURE        draw results with gnuplot\n"
    "  rocesim explain DIR                  name what slowed a run down, and what may help\n"
    "  rocesim timeline DIR -o FILE         draw what happened over time (Chrome trace)\n"
    "  rocesim capture ACTION FILE          cut, merge, split captures, follow one packet\n"
    "\n"
    "Translate files:\n"
    "  rocesim import FILE... -o FILE       make a scenario from the files of a real fabric\n"
    "  rocesim convert GOAL -o FILE         turn a GOAL schedule into text or binary\n"
    "  rocesim mooncake-meta ACTION         copy Mooncake's records to or from etcd, memcached\n"
    "\n"
    "  rocesim help COMMAND                 explain one command and its options\n"
    "\n"
    "  --version          Print the version. With --json behind it, print the versions of\n"
    "                     scenarios, result folders and sessions as JSON as well.\n"
    "  --help             Print this text; behind a command, explain that command.\n"
    "\n"
    "The exit status is 0 if the command succeeded. It is 1 if a run failed: it stalled,\n"
    "was interrupted, broke an invariant, could not write its output, or has a program\n"
    "that ended with an error or without any request that succeeded. It is 2 if the\n"
    "input or the command line was wrong; then nothing was written.\n";

static const char help_run[] =
    "rocesim run SCENARIO [options]\n"
    "\n"
    "Simulates a scenario and prints a summary of its results. SCENARIO is a file, a pipe,\n"
    "- for standard input, or a name that `rocesim list` prints. If there is a file of that\n"
    "name, the file is taken.\n"
    "\n"
    "  -o DIR             Write result files to DIR: scenario.yaml with every default,\n"
    "                     summary.json, the tables flows.csv, apps.csv, ports.csv,\n"
    "                     nics.csv, events.csv, pauses.csv and series.csv, captures/,\n"
    "                     manifest.json, topology.json and schema.json. DIR is created\n"
    "                     if it does not exist. An existing DIR must be empty or hold\n"
    "                     the results of an earlier run, and must not hold the scenario.\n"
    "                     New results replace old ones when they are complete; until\n"
    "                     then they are in DIR/.unfinished. Without -o no file is written.\n"
    "  --set PATH=VALUE   Set any attribute: nic.mtu=1024, topology.star.hosts=8,\n"
    "                     traffic[0].poisson.load=0.8, nodes.spine*.switch.buffer=64MB.\n"
    "                     PATH is also a parameter of the scenario, such as gpus=512;\n"
    "                     `rocesim params SCENARIO` explains them.\n"
    "  --seed N           Set the seed of all random draws, like --set seed=N.\n"
    "  --tie-seed N       Set the order of simultaneous events, like --set tie-seed=N.\n"
    "  --until TIME       End the run at this simulated time, like --set until=TIME.\n"
    "  --threads N        Run on N threads, like --set threads=N. Results stay the same.\n"
    "  --ranks N          Run in N processes on this machine, started by mpirun. Results stay\n"
    "                     the same. docs/ranks.md says how to use several machines.\n"
    "  --print-slurm      Print a job script that runs the ranks under Slurm instead of\n"
    "                     running them here: rocesim run ... --print-slurm >job.sh\n"
    "  --yes              Run even if the estimated memory or time exceeds the limits\n"
    "                     memory-max and time-max (8 GB and 10 hours by default).\n"
    "  --progress FILE    Overwrite FILE several times a second with one JSON line of\n"
    "                     progress, for programs that start rocesim.\n"
    "  --programs         Start the programs of `traffic: programs` as processes of\n"
    "                     this machine; without it, a scenario with programs is\n"
    "                     refused. docs/programs.md explains them.\n"
    "  --program-trace    Write each call of verbs that programs make, with its simulated\n"
    "                     time, into DIR/programs/HOST-N.trace.\n"
    "  --plugin FILE      Compile and load FILE.c, or load FILE.so, and know its parts by\n"
    "                     name. The option can be given several times. docs/plugins.md\n"
    "                     explains plug-ins.\n"
    "  --plugin-limits    Run in a process that can start no process, reach no network, and\n"
    "                     write to nothing but DIR. memory-max and time-max limit what it\n"
    "                     uses. For plug-ins that nobody has read.\n"
    "  --live TARGET      Show counters during the run: sysfs:DIR, http:PORT (OpenMetrics),\n"
    "                     redis:PORT[@SWITCH] (SONiC's COUNTERS_DB), extcap:DIR[@now]\n"
    "                     (Wireshark; with @now, the run begins at the present time).\n"
    "                     It can be given several times. docs/live.md has examples.\n"
    "  --pace TIME        Simulate at most TIME in each second.\n"
    "  --explain          Print what slowed the run down, as `rocesim explain DIR` does,\n"
    "                     and write it to DIR/explain.json. With --json, it is only\n"
    "                     written.\n"
    "  --quiet            Print no progress line.\n"
    "  --json             Print summary.json instead of the summary for people.\n"
    "\n"
    "Ctrl-C ends the run: rocesim writes the results so far, and the exit status is 1.\n"
    "Failed flows are a result, for example when a link stays down. They are counted, and\n"
    "the exit status is 0. docs/formats/scenario.md explains scenarios,\n"
    "docs/formats/outputs.md explains result files.\n";

static const char help_list[] =
    "rocesim list [WORD] [--json]\n"
    "\n"
    "Lists the scenarios that come with rocesim: the name, the time that a run with the\n"
    "defaults took on one core, and the question that it answers. Studies are sweeps and\n"
    "scripts that run many simulations. With WORD, only those are listed whose name or question has it.\n"
    "\n"
    "  --json             Print the same as JSON, with the paths of the files.\n"
    "\n"
    "Commands that take a scenario take such a name: rocesim run training/gpt. The files lie\n"
    "in the folder scenarios of the source tree, or in share/rocesim/scenarios of an\n"
    "installation. The environment variable ROCESIM_SCENARIOS names another folder.\n";

static const char help_show[] =
    "rocesim show NAME [--json]\n"
    "\n"
    "Prints the file of a scenario that comes with rocesim, with its comments. For a study\n"
    "that is a script, the command prints how to run it.\n"
    "\n"
    "  --json             Print its path, its description and its parameters as JSON.\n"
    "\n"
    "`rocesim params NAME` explains the parameters, which --set knows.\n";

static const char help_new[] =
    "rocesim new NAME FILE\n"
    "rocesim new paper DIR\n"
    "\n"
    "Copies a scenario that comes with rocesim into FILE, to be changed: `rocesim new\n"
    "training/gpt my.yaml`. Files that the scenario reads are copied into the same folder. The\n"
    "command prints the names of all copies. It never replaces a file.\n"
    "\n"
    "`rocesim new paper DIR` makes a folder with the artifact of a paper: a scenario, a sweep,\n"
    "claims, a Makefile that makes every figure and table, and a README for evaluators.\n";

static const char help_expect[] =
    "rocesim expect FILE.yaml... [-o DIR] [--junit FILE] [--plugin FILE]...\n"
    "\n"
    "Runs scenarios and checks what is expected of their results, for tests in CI. FILE.yaml\n"
    "names a scenario, values for --set, and expectations such as `flows.slowdown.p99 < 12`,\n"
    "`pauses == 0` or `iteration_ms within 2 % of 45.3`. docs/formats/expect.md explains them.\n"
    "\n"
    "  -o DIR             Keep the results of the runs in DIR; of several, in DIR/NAME.\n"
    "  --junit FILE       Write the outcomes to FILE as JUnit XML, which CI services show.\n"
    "  --plugin FILE      Compile or load a plug-in for every run (docs/plugins.md).\n"
    "\n"
    "The exit status is 0 if all expectations are met, 1 if one is missed or a run failed,\n"
    "and 2 if a file or a scenario is wrong, or names a result that does not exist.\n";

static const char help_hpcc[] =
    "rocesim hpcc CONFIG.txt [options]\n"
    "\n"
    "Runs a config.txt of the HPCC ns-3 simulator, of ConWeave or of SimAI unchanged. The\n"
    "command reads the topology, flow and trace files that the configuration names, and\n"
    "writes the files fct, pfc, qlen and packet trace in that simulator's formats. File\n"
    "names are relative to the current folder, as in the simulator. If an input is not\n"
    "there, rocesim looks for it beside CONFIG.txt.\n"
    "\n"
    "  -o DIR             Write fct.txt, pfc.txt, qlen.txt and packets.txt to DIR, and the\n"
    "                     files that `rocesim run -o` writes. Without -o, only the files\n"
    "                     that the configuration names are written.\n"
    "  --set PATH=VALUE   Set any attribute, after the configuration: nic.timeout=14.\n"
    "  --set compat=off   Use rocesim's own models instead of the simulator's.\n"
    "  --topology FILE, --flows FILE\n"
    "                     Read the topology or the flows from FILE, whatever the\n"
    "                     configuration names, like --set topology.file.path=FILE.\n"
    "  --routes FILE      Read next hops from FILE instead of searching for shortest\n"
    "                     paths, like --set topology.file.routes=FILE.\n"
    "  --seed, --tie-seed, --until, --threads, --quiet, --json\n"
    "                     These options are those of `rocesim run`.\n"
    "\n"
    "docs/formats/peers.md and docs/formats/hpcc.md explain the formats and keys.\n";

static const char help_check[] =
    "rocesim check SCENARIO [--set PATH=VALUE]... [--seed N] [--until TIME] [--yes]\n"
    "                       [--ranks N] [--plugin FILE]...\n"
    "\n"
    "Reads the scenario and builds the network in memory without simulating. The command\n"
    "reports the expected time and memory of a run, the traffic class of packets at each\n"
    "hop, and anything unusual in the network or its settings. The exit status is 2 if\n"
    "`rocesim run` would refuse the scenario. --yes lifts the limits on size. With\n"
    "--ranks N the command builds what the first of N processes would build. It reports\n"
    "how the network is divided and how much memory the process takes. --plugin FILE\n"
    "loads a plug-in, as for `rocesim run`.\n"
    "\n"
    "rocesim check WORKLOAD [--json] [--set loggp.NAME=VALUE]...\n"
    "\n"
    "Reads a file that the application workload can run; its content shows the format.\n"
    "The command prints ranks, operations, messages, bytes, depth, lower bounds of the time,\n"
    "and the time on an ideal network. The exit status is 0 also for a schedule that cannot end.\n"
    "A connection matrix of htsim (.cm) is described as well.\n"
    "\n"
    "  --json                    Print the same as JSON.\n"
    "  --set loggp.NAME=VALUE    Set a parameter of the ideal network: latency,\n"
    "                            send-overhead, recv-overhead, gap, byte-gap,\n"
    "                            byte-overhead, eager-max, semantics (spcl or atlahs),\n"
    "                            calc-scale. ranks is the number of ranks of a file\n"
    "                            that does not say it. docs/models/workload.md explains\n"
    "                            them.\n";

static const char help_timeline[] =
    "rocesim timeline DIR -o FILE [--from TIME] [--to TIME] [--events N]\n"
    "\n"
    "Draws what happened in a run over time, as a Chrome trace, which ui.perfetto.dev and\n"
    "chrome://tracing open. DIR is the folder of a run. Hosts, switches and the ranks of\n"
    "workloads are processes. Flows, pauses, faults and operations are slices, with arrows\n"
    "from senders to receivers; drops and cache misses are moments; series are counters.\n"
    "-o - writes to the standard output.\n"
    "\n"
    "  --from TIME, --to TIME   Draw only what overlaps this range of simulated time.\n"
    "  --events N               Write at most N events (1000000).\n"
    "\n"
    "docs/formats/timeline.md says which outputs a run needs for what.\n";

static const char help_explain[] =
    "rocesim explain DIR [--what-if] [--json]\n"
    "rocesim explain TOPOLOGY --counters FILE.csv [--json]\n"
    "rocesim explain TOPOLOGY --counters BEFORE --counters AFTER [--json]\n"
    "\n"
    "Names what slowed a run down, the main cause first: deadlocks, receivers that pause,\n"
    "links that corrupt, fail or are degraded, hash collisions, incasts, waits for\n"
    "retransmission, slow hosts. Each cause has its evidence, the tree of the pauses that\n"
    "it began, the flows that these stopped, and what may help. DIR is the folder of a run.\n"
    "\n"
    "  --what-if          Run the scenario again with each of these values, and compare.\n"
    "  --counters FILE    Explain pause counters that were measured in a real network: a CSV\n"
    "                     file, or several snapshots (files or folders) of what SONiC,\n"
    "                     ethtool, rdma and OpenMetrics print. TOPOLOGY lists its links.\n"
    "  --json             Print the same as JSON.\n"
    "\n"
    "docs/explain.md explains the causes, how they are found, and the files.\n";

static const char help_capture[] =
    "rocesim capture cut FILE -o FILE [--from TIME] [--to TIME]\n"
    "rocesim capture merge FILE FILE... -o FILE\n"
    "rocesim capture convert FILE -o FILE\n"
    "rocesim capture split FILE -o DIR [--comments]\n"
    "rocesim capture follow FILE --packet \"HOST QP N PSN N [TIME N]\" [--json]\n"
    "\n"
    "Works on capture files, pcap and pcapng, compressed if the name ends in .gz. The\n"
    "format of FILE behind -o follows from its name; pcap has no comments. cut keeps a\n"
    "range of simulated time, merge joins files by time, split writes a file per port.\n"
    "\n"
    "follow prints each hop of a packet in a file of captures.fabric: how long it was on\n"
    "each link and why it waited at each node. HOST sent it; QP is the queue pair that the\n"
    "packet names (infiniband.bth.destqp), PSN its sequence number.\n"
    "\n"
    "  --from TIME, --to TIME   First and last time that cut keeps: 10us, 2ms. In captures\n"
    "                           with dates, the first frame is at 0.\n"
    "  --comments               Write pcapng files with the comments, instead of pcap.\n"
    "  --packet TEXT            The packet to follow: host3 QP 2 PSN 17. TIME 2 behind it\n"
    "                           follows it only as it was sent for the second time.\n"
    "  --json                   Print the hops as JSON, with times in ps.\n"
    "\n"
    "docs/formats/captures.md explains captures.\n";

static const char help_serve[] =
    "rocesim serve SCENARIO [--listen WHERE] [-o DIR] [--set PATH=VALUE]...\n"
    "              [--token FILE] [--clients N] [--client-memory SIZE] [--call-time TIME]\n"
    "              [--idle-time TIME]\n"
    "\n"
    "Lets other programs drive the simulation: they submit transfers, advance the time and\n"
    "get the completions, as lines of JSON. docs/sessions.md describes the calls. Each client\n"
    "has a session and a process of its own.\n"
    "\n"
    "  --listen WHERE   stdio: one client, on the standard input and output (the default);\n"
    "                   unix:PATH: a Unix socket; 127.0.0.1:PORT: a port of this machine.\n"
    "  -o DIR           Write the results of a session that finishes into DIR; with a\n"
    "                   socket, into DIR/session-0, DIR/session-1 and so on.\n"
    "  --set PATH=VALUE Change an attribute or a parameter of the scenario.\n"
    "  --plugin FILE    Compile or load a plug-in (docs/plugins.md).\n"
    "  --token FILE     Serve only clients whose first call, hello, has the token that is the\n"
    "                   first line of FILE.\n"
    "  --clients N      Serve at most N clients at a time (default 256).\n"
    "  --client-memory SIZE\n"
    "                   End a session when a process of it holds more memory, such as 2GB.\n"
    "  --call-time TIME End a session when a call takes more processor time, such as 60s.\n"
    "  --idle-time TIME End a session when its client sends nothing for this time.\n";

static const char help_shell[] =
    "rocesim shell SCENARIO [-o DIR] [--set PATH=VALUE]...\n"
    "rocesim shell --topology KIND[:VALUE][,NAME=VALUE]... [-o DIR]\n"
    "\n"
    "Starts programs of this machine on simulated hosts, line by line, from a terminal or a\n"
    "script on the standard input. Simulated time stands still while you type. The traffic\n"
    "of the scenario runs, too.\n"
    "\n"
    "  HOST COMMAND          Run a command as a program of a host, and wait for it.\n"
    "  HOST COMMAND &        Start a command in the background.\n"
    "  run [TIME]            Let simulated time pass: run 10ms. Without TIME, until nothing\n"
    "                        more happens.\n"
    "  time                  Print the simulated time.\n"
    "  wait                  Wait for all programs.\n"
    "  jobs                  List the programs, and how each ended.\n"
    "  kill HOST-N [SIGNAL]  Send a signal to a program, TERM without SIGNAL.\n"
    "  fault PART KIND [for TIME] [NAME=VALUE]...\n"
    "                        Let a link or a NIC fail now: fault leaf0--spine1 down.\n"
    "                        KIND is a kind of `rocesim params faults`, or up.\n"
    "  hosts, nodes, links   List them.\n"
    "  help, exit            Explain the commands; end the shell and its programs.\n"
    "\n"
    "Ctrl-C interrupts the program in the foreground, and Ctrl-D ends the shell. The end of\n"
    "a script lets all programs and traffic end. Results are those of `rocesim run`, and\n"
    "equal scripts have equal results.\n"
    "\n"
    "  --topology TEXT    Use a network without a scenario: star:8, leaf-spine:leaves=4. The\n"
    "                     value behind the colon is that of the topology's first attribute\n"
    "                     in `rocesim params topology`.\n"
    "  -o DIR             Write the result files of `rocesim run -o DIR`, with what each\n"
    "                     program printed in DIR/programs.\n"
    "  --programs         Start the programs of `traffic: programs`, too.\n"
    "  --set, --seed, --tie-seed, --until, --plugin, --yes, --json\n"
    "                     These options are those of `rocesim run`.\n"
    "\n"
    "The exit status is 0 only if all programs ended with status 0. A line of a script that\n"
    "is wrong ends the shell before anything of it runs, with status 2; results of the lines\n"
    "before it are written. docs/programs.md explains programs.\n";

static const char help_import[] =
    "rocesim import FILE... [-o SCENARIO] [--links LINKS] [--no-hosts] [--quiet]\n"
    "rocesim import --markdown\n"
    "\n"
    "Makes a scenario from the files of a real fabric, unchanged: config_db.json of SONiC\n"
    "switches, neighbours of LLDP (show lldp table, lldpcli -f json), the output of\n"
    "ibnetdiscover, Slurm's topology.conf, NCCL's topology of a server (XML), and a list of\n"
    "links (CSV). A folder stands for the files in it. Files of several switches and of\n"
    "several formats complete each other. The command prints what each part of the files\n"
    "became, what it assumed, and what has no effect. docs/formats/import.md explains it.\n"
    "\n"
    "  -o SCENARIO      Write the scenario into this file (default: the standard output, and\n"
    "                   the report on the standard error).\n"
    "  --links LINKS    Also write the links with the names of their ports, as CSV, for\n"
    "                   `rocesim explain LINKS --counters`.\n"
    "  --no-hosts       Add no hosts to ports that are up and of which no file says what they\n"
    "                   are joined to.\n"
    "  --quiet          Print no report.\n"
    "  --markdown       Print what each key of each format becomes.\n";

static const char help_convert[] =
    "rocesim convert GOAL -o FILE\n"
    "\n"
    "Turns a GOAL schedule that is text into the binary that LogGOPSim's txt2bin writes,\n"
    "and a binary into text. The text has the same binary again; its labels are l1, l2 and\n"
    "so on. -o - writes to the standard output.\n";

static const char help_topo[] =
    "rocesim topo SCENARIO [--set PATH=VALUE]... [--plugin FILE]...\n"
    "\n"
    "Prints the network as a Graphviz drawing (rocesim topo x.yaml | dot -Tsvg > x.svg),\n"
    "and warnings about the network on standard error.\n";

static const char help_params[] =
    "rocesim params [PATH | WORD | SCENARIO] [--plugin FILE]...\n"
    "\n"
    "Prints every attribute with its default, meaning and accepted values. With PATH, only\n"
    "attributes whose path begins with PATH are printed (switch.ecn, nic.mtu). A WORD prints\n"
    "the attributes whose path contains it (buffer), or else those whose meaning does. With\n"
    "a scenario, the names under its `parameters` are printed, which --set knows.\n"
    "\n"
    "  --json               Print all attributes as JSON: path, type, default, range,\n"
    "                       choices, meaning. With a scenario, print its parameters.\n"
    "  --plugin FILE        Print the attributes of this plug-in, too (docs/plugins.md).\n"
    "  --markdown           Print the page docs/formats/attributes.md.\n"
    "  --outputs-markdown   Print the page docs/formats/outputs.md.\n";

static const char help_sweep[] =
    "rocesim sweep SWEEP.yaml -o DIR [-j N] [--quick] [--set NAME=VALUES]... [options]\n"
    "rocesim sweep SCENARIO --set NAME=A,B[,C...]... [--seeds N] -o DIR [-j N] [options]\n"
    "\n"
    "Runs a scenario once for each point and each seed. SWEEP.yaml may be the name of a sweep\n"
    "that comes with rocesim: rocesim sweep training/overlap -o out. The points are all\n"
    "combinations of a grid of parameters, or a list; seeds alone make one point. A scenario\n"
    "needs no sweep file: each --set with several values is a parameter of the grid. The\n"
    "results of a run are in DIR/runs/pNUMBER-sSEED. DIR/runs.csv has one row per run.\n"
    "DIR/points.csv has one row per point, with the mean over the seeds and its 95 %\n"
    "confidence interval.\n"
    "\n"
    "  -j N               Run N simulations at the same time.\n"
    "  --quick            Run the shorter form that the file has under `quick`.\n"
    "  --set NAME=VALUES  Replace the values of a parameter of the grid: nic.mtu=1024,4096.\n"
    "                     Another attribute has the value in all runs. With a scenario, a\n"
    "                     list that is one value has brackets: switch.pfc.priorities=[3,4].\n"
    "  --seeds N          Run each point with the seeds 1 to N.\n"
    "  --ranks N          Run each simulation in N processes, started by mpirun. Results stay\n"
    "                     the same (docs/ranks.md).\n"
    "  --plugin FILE      Compile or load a plug-in for every run (docs/plugins.md).\n"
    "  --plugin-limits    Limit every run, as `rocesim run --plugin-limits` does. Only the\n"
    "                     runs check the scenario then.\n"
    "  --print-jobs       Print one command per run for a cluster's scheduler; run nothing.\n"
    "  --slurm            Print a job array for Slurm's sbatch; run nothing.\n"
    "  --quiet            Print no progress line.\n"
    "\n"
    "To continue a stopped sweep, give the same command again; the tables come out the\n"
    "same. A failed run is named and does not stop the others; the exit status is then 1.\n"
    "docs/formats/sweep.md explains SWEEP.yaml. `rocesim compare DIR` prints the points\n"
    "side by side, and `rocesim plot DIR` draws them.\n";

static const char help_diff[] =
    "rocesim diff A B [--a PROGRAM] [--b PROGRAM]\n"
    "\n"
    "Prints the differences between two result folders: parameters, the first differing row\n"
    "of events.csv and series.csv, the flows whose completion time changed most, and fields\n"
    "of the summary. If the parameters are equal and the digests are not, the command runs\n"
    "both scenarios again, several times, to find the first event that differs: the node\n"
    "that receives a packet at another time or from another port.\n"
    "\n"
    "  --a PROGRAM        Use PROGRAM to run A again, if another rocesim made A.\n"
    "  --b PROGRAM        Use PROGRAM to run B again, if another rocesim made B.\n"
    "\n"
    "The exit status is 0 if only values named wall_ differ, 1 if anything else differs,\n"
    "and 2 if a folder cannot be read. docs/formats/scenario.md explains how to observe\n"
    "more.\n";

static const char help_schema[] =
    "rocesim schema [scenario] [--plugin FILE]...\n"
    "\n"
    "Prints, as JSON, the contents of a result folder's schema.json: all attributes\n"
    "(parameters), the columns of the CSV files (tables), and a JSON Schema of summary.json\n"
    "(summary), each with unit and meaning. `rocesim schema scenario` prints a JSON Schema\n"
    "of scenario files for editors: every key with its values, default and meaning.\n"
    "--plugin FILE adds the parts of a plug-in (docs/plugins.md).\n";

static const char help_what_if[] =
    "rocesim what-if SCENARIO [--kind KIND]... [--at TIME] [-o DIR] [-j N] [--json]\n"
    "\n"
    "Runs the scenario once for each failure and change that matters, several at a time.\n"
    "A table prints what breaks: flows that do not end, drops, pauses, victims of pauses,\n"
    "the worst completion time, deadlocks. Below each row stands the command that repeats it.\n"
    "\n"
    "  --kind link        Let each link between switches go down.\n"
    "  --kind access      Let each link of a host go down.\n"
    "  --kind switch      Let each switch go down.\n"
    "  --kind incast      Double each incast, or add one.\n"
    "  --kind receiver    Let a host receive at a tenth of its rate: the four busiest.\n"
    "  --kind optic       Let a link lose 0.1 % of its frames: the four busiest.\n"
    "  --kind threshold   Change buffers, ECN and PFC of all switches.\n"
    "                     Without --kind all of these are run.\n"
    "  --at TIME          Let parts fail at TIME; otherwise after a third of the traffic.\n"
    "  -j N, --jobs N     Run N simulations at a time; otherwise one for each processor.\n"
    "  -o DIR             Write the table of all rows to DIR/what-if.csv. The same command goes\n"
    "                     on with an interrupted one.\n"
    "  --set PATH=VALUE   Set an attribute for all runs; --seed, --until and other options of\n"
    "                     `rocesim run` work likewise.\n"
    "  --json             Print all rows as JSON.\n"
    "  --quiet            Print no progress.\n"
    "\n"
    "SIGINT (Ctrl-C) ends the runs; the table has the rows that were finished. The exit\n"
    "status is 1 then, or if a run failed. docs/what-if.md explains the rows and columns.\n";

static const char help_headroom[] =
    "rocesim headroom SCENARIO [--response TIME,...] [--length METRES,...] [--mtu BYTES]\n"
    "                 [--cell BYTES] [--burst BYTES] [-o DIR] [--json]\n"
    "\n"
    "Measures, for each kind of switch port, the headroom with which a lossless class never\n"
    "drops, and the reserve that keeps its link busy, by simulation of the worst case. The\n"
    "closed form, the vendor's formula and the configured values\n"
    "stand beside them. Ports whose headroom is too small are named with what they lack.\n"
    "\n"
    "  --response TIME    Time in which a peer obeys a pause, or a list of times; otherwise\n"
    "                     switch.pfc.response.\n"
    "  --length METRES    Length of all cables, or a list of lengths: 5m,40m,300m; otherwise\n"
    "                     the delay of each link.\n"
    "  --cell BYTES       Size of a cell of the buffer: each frame takes whole cells.\n"
    "  --mtu BYTES        Payload of the largest packets, or the MTU of ports up to 9216 (9100);\n"
    "                     otherwise nic.mtu.\n"
    "  --burst BYTES      Also measure the XOFF threshold with which a burst of this size\n"
    "                     causes no pause.\n"
    "  -o DIR             Write DIR/SWITCH.json with corrected profiles of SONiC for each\n"
    "                     switch (BUFFER_PROFILE).\n"
    "  --set PATH=VALUE   Set an attribute of the scenario.\n"
    "  --json             Print everything as JSON.\n"
    "\n"
    "The exit status is 1 if a port is unsafe. docs/headroom.md has the formulas.\n";

static const char help_arena[] =
    "rocesim arena --cc NAME[,NAME...] [--quick] [-o DIR] [-j N] [--baseline FILE]\n"
    "              [--hidden-seed N] [--seeds N] [--cells NAME[,NAME...]] [--json]\n"
    "              [--plugin FILE]...\n"
    "rocesim arena --list\n"
    "rocesim arena --show CELL [--hidden-seed N]\n"
    "\n"
    "Lets congestion controls compete in about 40 small scenarios, the cells: incasts,\n"
    "permutations, web search and storage, shared bottlenecks, round trips from 10 us to\n"
    "10 ms, losses, failing links, 25 to 800 Gbps. The command ranks the controls by\n"
    "slowdowns, goodput, fairness, queues, pauses, convergence and losses, and names\n"
    "what is wrong with each. NAME is a value of nic.congestion-control; all stands for\n"
    "those of the library.\n"
    "\n"
    "  --quick            Run each cell with one seed instead of five.\n"
    "  --seeds N          Run each cell with N seeds.\n"
    "  -o DIR             Write arena.json, arena.html, arena.tex, the cells and the\n"
    "                     folders of all runs to DIR. The same command goes on with an\n"
    "                     interrupted one. Without -o no file is left.\n"
    "  -j N, --jobs N     Run N simulations at a time (2). Results stay the same.\n"
    "  --baseline FILE    Compare with the controls of an earlier arena.json, which do not\n"
    "                     run again. It must be of the same cells, seeds and settings.\n"
    "  --hidden-seed N    Draw sizes, rates, delays and seeds of all cells from N, so that\n"
    "                     a control is judged by cells that nobody tuned it for.\n"
    "  --cells NAME,...   Run these cells only.\n"
    "  --set PATH=VALUE   Set an attribute in all cells: nic.hpcc.eta=0.9.\n"
    "  --plugin FILE      Compile or load a plug-in with controls (docs/plugins.md).\n"
    "  --plugin-limits    Limit every run, as `rocesim run --plugin-limits` does.\n"
    "  --list             Print the names of the cells.\n"
    "  --show CELL        Print a cell as a scenario, which also runs alone.\n"
    "  --json             Print arena.json instead of the table for people.\n"
    "  --quiet            Print no progress line.\n"
    "\n"
    "The exit status is 1 if a run failed. docs/arena.md explains the cells, the metrics,\n"
    "the score and the health of a control.\n";

static const char help_calibrate[] =
    "rocesim calibrate PLAN.yaml [-o CONSTANTS.yaml] [--plugin FILE]... [--quiet]\n"
    "\n"
    "Fits constants of a scenario to measured points by least squares. The command reports\n"
    "the error of the fit, the uncertainty of each constant, and for each point the value\n"
    "that a fit without this point predicts.\n"
    "\n"
    "  -o CONSTANTS.yaml  Write the constants to this file, each with its origin and error.\n"
    "                     A scenario uses the file through `constants: CONSTANTS.yaml`, a\n"
    "                     command through --set constants=CONSTANTS.yaml.\n"
    "  --plugin FILE      Compile or load a plug-in for every run (docs/plugins.md).\n"
    "  --quiet            Print no progress line.\n"
    "\n"
    "docs/formats/calibrate.md explains PLAN.yaml.\n";

static const char help_meta[] =
    "rocesim mooncake-meta export DIR|FILE --etcd URL\n"
    "rocesim mooncake-meta import --etcd URL\n"
    "rocesim mooncake-meta dump DIR|FILE\n"
    "\n"
    "Copies records of Mooncake's Transfer Engine (docs/models/mooncake.md) as JSON. The\n"
    "action export stores in a metadata service what a run (DIR) wrote, or all records of a\n"
    "file, and deletes there what the run removed. The action import prints the service's\n"
    "records whose keys begin with mooncake/; a run begins with them if metadata.records\n"
    "names the file. The action dump prints the records of a run or a file and needs no\n"
    "service.\n"
    "\n"
    "  --etcd URL             Use etcd at http://HOST:PORT, through its v3 API.\n"
    "  --memcached HOST:PORT  Use memcached instead of etcd.\n";

static const char help_compare[] =
    "rocesim compare DIR... [--seeds] [--csv] [--app NAME]\n"
    "\n"
    "Prints the summaries of result folders side by side, below the parameters in which the\n"
    "runs differ. The folder of a sweep stands for all its runs, with --seeds.\n"
    "\n"
    "  --seeds            Make one column of all runs that differ only in their seed: the\n"
    "                     mean, its 95 % confidence interval, and a star if it differs\n"
    "                     significantly from the first column.\n"
    "  --csv              Print one CSV row per run (with --seeds, per column) that holds\n"
    "                     every value.\n"
    "  --app NAME         Restrict completion times and slowdowns to the flows of one\n"
    "                     traffic entry: its kind (poisson, incast...) or its number in the\n"
    "                     scenario (0, 1...).\n"
    "\n"
    "docs/formats/compare.md explains each row.\n";

static const char help_plot[] =
    "rocesim plot DIR... [-o FILE | --json] [--kind KIND[,KIND]...]\n"
    "\n"
    "Draws result folders with gnuplot, several runs in one figure.\n"
    "\n"
    "  -o FILE            Write the figure to FILE (plot.svg by default). The name ends in\n"
    "                     .svg, .png or .pdf, or in .gnuplot for gnuplot's script. With\n"
    "                     several kinds, each kind has its own file: plot-queue.svg...\n"
    "  --json             Print what the figures show as JSON, and draw nothing.\n"
    "  --kind KIND        Draw this kind of figure. Without --kind, every kind is drawn for\n"
    "                     which the folders have data. The kinds are:\n"
    "      slowdown       slowdown by flow size: median, p95 and p99 (flows.csv)\n"
    "      queue          queues and switch buffers over time (series.csv)\n"
    "      queue-cdf      distribution of queue lengths over time (series.csv)\n"
    "      rate           sending rates of queue pairs over time (series.csv)\n"
    "      series         every other series over time (series.csv)\n"
    "      pause          times at which PFC stopped each port (pauses.csv)\n"
    "      load           utilisation of every link over the whole run (ports.csv)\n"
    "      load-time      utilisation of links over time (series.csv)\n"
    "      app-rate       bandwidth of applications over time (summary.json)\n"
    "      app-cdf        distributions of applications' times (summary.json)\n"
    "      sweep          the points of a sweep (points.csv)\n"
    "  --app NAME         slowdown: draw only the flows of this traffic (poisson...).\n"
    "  --x NAME           sweep: draw this parameter along the x axis.\n"
    "  --y NAME           sweep: draw this column of points.csv along the y axis (default:\n"
    "                     flows.slowdown.p99 where the sweep names no columns, otherwise the\n"
    "                     first one in which the points differ).\n"
    "\n"
    "docs/formats/plots.md explains the figures and the data that they need.\n";

static const char help_help[] =
    "rocesim help [COMMAND] [--man]\n"
    "rocesim help --completion SHELL\n"
    "\n"
    "Explains a command, or lists all commands.\n"
    "\n"
    "  --man              Print the manual page of the command, for `man -l -`. Without a\n"
    "                     command, print the manual page of the program.\n"
    "  --completion SHELL\n"
    "                     Print the script that completes command lines in bash or zsh.\n"
    "                     Type: source <(rocesim help --completion bash)\n";
// clang-format on

const char *cli_help_text(cli_command_t command)
{
    switch (command) {
    case CLI_RUN:
        return help_run;
    case CLI_LIST:
        return help_list;
    case CLI_SHOW:
        return help_show;
    case CLI_NEW:
        return help_new;
    case CLI_EXPECT:
        return help_expect;
    case CLI_HPCC:
        return help_hpcc;
    case CLI_CHECK:
        return help_check;
    case CLI_TIMELINE:
        return help_timeline;
    case CLI_EXPLAIN:
        return help_explain;
    case CLI_CAPTURE:
        return help_capture;
    case CLI_SERVE:
        return help_serve;
    case CLI_SHELL:
        return help_shell;
    case CLI_IMPORT:
        return help_import;
    case CLI_CONVERT:
        return help_convert;
    case CLI_TOPO:
        return help_topo;
    case CLI_PARAMS:
        return help_params;
    case CLI_COMPARE:
        return help_compare;
    case CLI_PLOT:
        return help_plot;
    case CLI_SCHEMA:
        return help_schema;
    case CLI_SWEEP:
        return help_sweep;
    case CLI_WHAT_IF:
        return help_what_if;
    case CLI_HEADROOM:
        return help_headroom;
    case CLI_ARENA:
        return help_arena;
    case CLI_CALIBRATE:
        return help_calibrate;
    case CLI_META:
        return help_meta;
    case CLI_DIFF:
        return help_diff;
    case CLI_HELP:
        return help_help;
    case CLI_VERSION:
    case CLI_PROGRAM:
        break;
    }
    return help_program;
}
