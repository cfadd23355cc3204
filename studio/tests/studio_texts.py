# SPDX-License-Identifier: Apache-2.0
"""studio/tests/studio_texts.py ROCESIM - lists texts that the Chinese catalogue lacks, and stale ones.

The texts are those that the program prints and the page shows: what ROCESIM itself lists (attributes,
numbers, columns, metrics, pages, the library), and the strings of the sources that make sentences.
"""
import glob
import json
import re
import subprocess
import sys

LITERALS = re.compile(r'(?:"(?:[^"\\]|\\.)*"\s*)+')
# Texts in the sources of figures that are gnuplot's, or that a command line alone prints.
NO_LABEL = r"line(width|color)|dashtype|offset|rotate by|boxxy|labels font|\\n|^set |cannot|temporary|--|unknown kind|-o is|folders, "
CONVERSION = re.compile(r"%[-+ #0]*[\d*]*(?:\.[\d*]*)?(?:(?:z|ll|l)?[a-zA-Z]|@@)")
# Pieces of messages that are put together: what they become is tried by wrong scenarios.
PIECE = re.compile(r"did you mean|at most$|host0 host1|.*(?:, expected|themselves:|\.\.\. \(\[v\] lists all \[v\]\))$")


def source_of(path):
    """Returns a source without comments and lines of the preprocessor."""
    with open(path) as file:
        return re.sub(r"#(?:include|define).*", "", re.sub(r"//[^\n]*", "", file.read()))


def texts(path, function=None):
    """Returns the strings of a source, or of one function, with {} for each value."""
    source = source_of(path)
    if function:
        source = source[source.index(function):]
        source = source[:source.index("\n}\n")]
    yield from strings(source)


def strings(source):
    """Returns the strings of a piece of source, with {} for each value."""
    source = re.sub(r'"\s*PRI\w+\s*"', "@@", source)
    source = re.sub(r'"\s*PRI\w+', '@@"', source)
    for found in LITERALS.finditer(source):
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found.group(0)))
        text = CONVERSION.sub("{}", text.replace("%%", "\0")).replace("\0", "%")
        yield text.replace('\\"', '"')


def arguments(path, call):
    """Returns the strings in the calls of a function."""
    source = source_of(path)
    for found in re.finditer(r"\b" + call + r"\(", source):
        yield from strings(source[found.start():source.index(");", found.start())])


def rules(path):
    """Returns the warnings that a table of {kind, holds, what, why, measured, expected} makes."""
    source = source_of(path)
    source = source[source.index("rules[] = {"):]
    for row in re.findall(r"\n    \{(.*?)\},(?=\n|$)", source[:source.index("\n};")], re.S):
        _, what, why, cost, instead = strings(row)
        yield from ["{} %s {} %s; measured: {}; expected {}" % (what, why), cost, instead]


def values_of(tree, *names):
    """Returns the texts that stand under these names anywhere in a tree of JSON."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if name in names and isinstance(value, str):
                yield value
            else:
                yield from values_of(value, *names)
    elif isinstance(tree, list):
        for value in tree:
            yield from values_of(value, *names)


def count_words(text):
    return len(re.findall("[A-Za-z]{2,}", text))


def is_value(text):
    """Returns whether a part of a sentence is a value: a name, a number with its unit, or a list of them."""
    return not text.startswith("not ") and all(item.count(" ") < 2 or re.match(r"rocesim |\[|\d", item)
               for item in map(str.strip, text.split(",")))


def is_sentence(text):
    return text.count(" ") >= 2 and "--set" not in text and not text.startswith("{s:")


def of_sources():
    """Returns the sentences in sources that make texts for the page."""
    for path in ["results/report/story.c", "cli/explain/causes.c", "cli/explain/verdict.c",
                 *glob.glob("cli/explain/causes/*.c")]:
        yield from texts(path)
    yield from texts("cli/explain/print.c", "*notes_json(")
    for function in ["*limits_of(", "loss_t find_loss(", "*sentence_of("]:
        yield from texts("cli/explain/measured/counters.c", function)
    # Figures: labels, notes, and why there is none.
    for path in glob.glob("cli/plot/*.c"):
        for text in map(lambda text: text.removeprefix("rocesim plot: "), texts(path)):
            if text == "median" or count_words(text) >= 3 and not re.search(NO_LABEL, text):
                yield text
    for function in ["*reason_words(", "put_packet_words(", "void pcap_out_note_text("]:  # comments of frames
        yield from (text for text in texts("pcap-out/fabric/note.c", function) if text not in ("", "{}"))
    # Warnings: of scenarios, of results, and of applications, whose reports mark them.
    for path in ["world/construct/planned_transfers.c", "results/run/runner.c",
                 *glob.glob("world/inspect/*.c")]:
        yield from arguments(path, "world_warn")
    for call in ["world_warn", "sim_format"]:
        yield from arguments("results/totals/warnings.c", call)
    yield from rules("world/inspect/combinations.c")
    for path in glob.glob("apps/**/*.c", recursive=True):
        for text in texts(path):
            if text.startswith("warning: "):
                yield text[len("warning: "):].removesuffix("\\n")


# Functions that make the message of an error from a format, and the folders whose errors a user of the studio meets.
FAILS = (r"\b(world_fail|sim_fail(?:_in|_about)?|sim_word_(?:fail|note)|fail(?:_at|_node)?|wrong|not_a|broken|lacks|report|refuse|"
         r"app__(?:lower|words|json)_fail|world_(?:tree_fail|error_add))\(")
ROOMS = ["apps", "cli/run.c", "cli/sweep", "world", "kernel", "topologies", "nic/config", "nic/store", "net/build.c", "net/link", "net/loss",
         "net/models.c", "net/network.c", "net/route", "net/scale_up", "net/switch"]


def calls(path, names):
    """Returns the name and the arguments of each call of functions."""
    source = source_of(path)
    for found in re.finditer(names, source):
        depth, at = 1, found.end()
        while depth > 0:
            part = re.compile(r'"(?:[^"\\]|\\.)*"|[()]').search(source, at)
            depth += {"(": 1, ")": -1}.get(part.group(0), 0)
            at = part.end()
        yield found.group(1), source[found.end():at]


def errors_of_sources():
    """Returns the messages of errors, with a value in the place of each conversion."""
    for room in ROOMS:
        for path in [room] if room.endswith(".c") else glob.glob(room + "/**/*.c", recursive=True):
            for name, body in calls(path, FAILS):
                for text in strings(body):
                    text = "{}" + text if name == "sim_fail_about" else text
                    text = text.removesuffix("\\n").strip(" ;,").replace("{}", "[v]")
                    if " " in text and count_words(text) >= 2 and not PIECE.match(text):
                        yield text


def printed_by(program):
    """Returns the texts that the program lists itself."""
    def listed(*line):
        return json.loads(subprocess.run([program, *line], check=True, capture_output=True).stdout)
    schema = listed("schema")
    parts = [schema[name] for name in ("summary", "tables", "metrics", "parameters")]
    yield from values_of(parts, "description", "help")
    yield from values_of(schema["pages"], "title", "label", "help", "x_label")
    yield from (entry["question"] for entry in listed("list", "--json"))


def names_of(program):
    """Returns the readable names of all fields of a summary and of all metrics, as the page makes them."""
    schema = json.loads(subprocess.run([program, "schema"], check=True, capture_output=True).stdout)
    fields = [re.sub("_(bytes|bps|ps)$", "", metric["name"]) for metric in schema["metrics"]]

    def walk(tree):
        for name, value in tree.items():
            if isinstance(value, dict):
                fields.extend(value if name == "properties" else [])
                for kind in value.values() if name in ("apps_by_kind", "nics_by_part") else []:
                    fields.extend(kind)
                walk(value)
    walk(schema["summary"])
    fields.extend(schema["summary"]["nics_detailed"])
    return {re.sub(r"(?<! per) (ns|us|ms|ps|s|gbps)$", "", name.replace("_", " ")).strip() for name in fields}


FIRST_ERROR = "{}, did you mean '{}'? Expected {}"  # entries from here on are of errors of scenarios
STAR = "topology: {star: {hosts: 4}}\n"
WRONG = [  # scenarios with the mistakes that people make
    "topology: {star: {hosts: 4, rate: fast}}", "topology: {star: {hosts: 0}}", "topology: {stars: {hosts: 4}}",
    "topolgy: {star: {}}", "topology: {star: {hosts: 4, delay: 1}}", "a: [", "- x", "", "traffic: []",
    STAR + "nic: {mut: 1024}", STAR + "nic: {mtu: 1000}", STAR + "nic: {congestion-control: dcqn}",
    STAR + "nic: {timeout: 99}", STAR + "switch: {pfc: {enabled: yes}}", STAR + "switch: {buffer: 1KB}",
    STAR + "switch: {pfc: {priorities: [9]}}", STAR + "until: 5", STAR + "seed: -1", STAR + "outputs: {flows: maybe}",
    STAR + "traffic: {incast: {to: host0}}", STAR + "traffic:\n  - incst: {to: host0}",
    STAR + "traffic:\n  - incast: {to: host9, from: 'host[1-3]', bytes: 1MB}",
    STAR + "traffic:\n  - workload: {file: nothing.goal}", STAR + "links: {host0--host1: {rate: 1Gbps}}",
    STAR + "observe:\n  - {series: 'port[switch0->host9].queue_bytes'}",
    STAR + "observe:\n  - {series: 'port[switch0->host0].queue'}",
]


def errors_of(program):
    """Returns what the program says about wrong scenarios."""
    for scenario in WRONG:
        said = subprocess.run([program, "check", "-"], input=scenario, capture_output=True, text=True).stderr
        yield re.sub(r"^rocesim: |-:\d+:\d+: ", "", said.splitlines()[0])


def wanted_of(program):
    wanted = {text for text in of_sources() if is_sentence(text)}
    wanted -= {"{} {} {} {}; measured: {}; expected {}"}  # the frame of the rules
    for path in glob.glob("studio/server/**/*.c", recursive=True):  # errors that the server answers
        wanted |= {text for text in arguments(path, "studio_response_error") if " " in text.strip()}
    for path, text in (("runs/queue.c", "the disk is"), ("data/packets/handle_map.c", "the run has no")):
        wanted |= {one for one in texts("studio/server/" + path) if one.startswith(text)}
    for path in glob.glob("studio/server/data/analysis/*.c"):
        wanted |= {text for text in arguments(path, "sim_format") if count_words(text) > 2 and not re.search("[/;]", text)}
    return (wanted | set(printed_by(program)) | set(errors_of(program)) | set(errors_of_sources())) - {""}


class Catalogue:
    """The catalogue, read as the function told of the page does; it notes which entries are used."""

    def __init__(self, path):
        with open(path) as file:
            self.entries = json.load(file)
        self.used = set()
        self.patterns = [(re.compile("(.*?)".join(map(re.escape, english.split("{}"))), re.S), english)
                         for english in sorted(self.entries, key=lambda text: -len(text.replace("{}", "")))
                         if "{}" in english]

    def has(self, text):
        """Returns whether a text is Chinese in the page: by an entry, or by entries of its parts."""
        if text in self.entries:
            self.used.add(text)
            return True
        for pattern, english in self.patterns:
            found = pattern.fullmatch(text) if "{}" not in text else None
            if found and all(is_value(part) or self.has(part) for part in found.groups()):
                self.used.add(english)
                return True
        return False

    def wrong(self):
        """Returns the entries that use a value which their English text lacks."""
        return [english for english, text in self.entries.items()
                if any(int(slot) > english.count("{}") for slot in re.findall(r"\{(\d+)\}", text))]


def main():
    catalogue = Catalogue("studio/page/src/i18n/told_zh.json")
    wanted = wanted_of(sys.argv[1])
    missing = sorted(text for text in wanted if not catalogue.has(text))
    # What belongs to errors of scenarios may be used by others than those that are tried here.
    errors = list(catalogue.entries)[list(catalogue.entries).index(FIRST_ERROR):]
    with open("studio/page/src/i18n/names_zh.json") as file:
        missing += sorted(names_of(sys.argv[1]) - json.load(file).keys())
    with open("studio/page/src/i18n/study_names.json") as file:
        missing += [name for names in json.load(file).values() for name, both in names.items()
                    if len(both) != 2 or not all(both)]
    unused = catalogue.entries.keys() - catalogue.used - set(errors)
    stale = sorted(text for text in unused if count_words(text) >= 3)
    for what, found in (("lacks", missing), ("stale", stale),
                        ("uses a value that there is not", catalogue.wrong())):
        for text in found:
            print(f"{what}: {text}")
    print(f"{len(wanted)} texts, {len(catalogue.entries)} entries, {len(missing)} missing, {len(stale)} stale")
    sys.exit(len(wanted) < 2000 or bool(missing) or bool(stale) or bool(catalogue.wrong()))


main()
