#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# studio/tests/test_studio_texts.sh - the Chinese catalogue has every text of the program that the page shows.
#
# Goal: a person who reads Chinese alone understands the story of a run, its causes, its warnings, its
# pages and its numbers, and the errors of the server.
# Method: the strings of the sources that make these texts, and the pages of a run's schema.json, are looked
# up in studio/page/src/i18n/told_zh.json; a sentence there uses no value that its English text lacks.
# Not pinned: texts of the page itself, which do not compile in one language alone; help texts of the numbers
# that applications report.
set -u
. tests/script.sh

"$ROCESIM" run scenarios/quickstart.yaml -o "$work/out" --quiet >/dev/null 2>&1 || fail "the run failed"
python3 - "$work/out/schema.json" <<'PY' || fail "studio/page/src/i18n/told_zh.json lacks texts"
import glob
import json
import re
import sys

LITERALS = re.compile(r'(?:"(?:[^"\\]|\\.)*"\s*)+')
CONVERSION = re.compile(r"%(?:[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:z|ll|l)?[a-zA-Z]|@@)")


def texts(path, function=None):
    """Returns the strings of a source, of one function alone, with {} for each value."""
    source = re.sub(r"//[^\n]*", "", open(path).read())
    source = re.sub(r"#(?:include|define).*", "", source)
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
        yield CONVERSION.sub("{}", text.replace("%%", "\0")).replace("\0", "%")


def arguments(path, call):
    """Returns the strings in the calls of a function."""
    source = open(path).read()
    for found in re.finditer(r"\b" + call + r"\(", source):
        yield from strings(source[found.start():source.index(");", found.start())])


def rules(path):
    """Returns the warnings that a table of {kind, holds, what, why, measured, expected} makes."""
    source = open(path).read()
    source = source[source.index("rules[] = {"):]
    for row in re.findall(r"\n    \{(.*?)\},(?=\n)", source[:source.index("\n};")], re.S):
        _, what, why, cost, instead = strings(row)
        yield from ["{} %s {} %s; measured: {}; expected {}" % (what, why), cost, instead]


def helps(schema):
    """Returns the descriptions of all fields in a part of a schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("description"), str):
            yield schema["description"]
        for value in schema.values():
            yield from helps(value)


def is_sentence(text):
    return text.count(" ") >= 2 and "--set" not in text and not text.startswith("{s:")


catalogue = json.load(open("studio/page/src/i18n/told_zh.json"))
wanted = set()
for path in ["results/report/story.c", "cli/explain/causes.c", "cli/explain/verdict.c",
             *glob.glob("cli/explain/causes/*.c")]:
    wanted |= set(filter(is_sentence, texts(path)))
wanted |= set(filter(is_sentence, texts("cli/explain/print.c", "*notes_json(")))
# Warnings: of scenarios, of results, and of applications, whose reports mark them.
for path in ["world/construct/planned_transfers.c", "results/run/runner.c", *glob.glob("world/inspect/*.c")]:
    wanted |= set(filter(is_sentence, arguments(path, "world_warn")))
for call in ["world_warn", "sim_format"]:
    wanted |= set(filter(is_sentence, arguments("results/totals/warnings.c", call)))
wanted |= {text for text in rules("world/inspect/combinations.c") if is_sentence(text)}
wanted -= {"{} {} {} {}; measured: {}; expected {}"}  # the frame of the rules
for path in glob.glob("apps/**/*.c", recursive=True):
    wanted |= {text[len("warning: "):].removesuffix("\\n") for text in texts(path)
               if text.startswith("warning: ") and is_sentence(text)}
# Errors that the server answers.
for path in glob.glob("studio/server/**/*.c", recursive=True):
    wanted |= {text for text in arguments(path, "studio_response_error") if " " in text.strip()}
schema = json.load(open(sys.argv[1]))
# Meanings of the numbers of a run and of its NICs.
for part in ["properties", "nics_by_part"]:
    wanted |= set(helps(schema["summary"][part]))
for page in schema["pages"]:
    charts = page["charts"]
    values = page["facts"] + [value for chart in charts for value in chart["values"]]
    wanted |= {page["title"]} | {value["label"] for value in values}
    wanted |= {chart[name] for chart in charts for name in ("title", "help", "x_label") if name in chart}
missing = sorted(wanted - catalogue.keys())
wrong = [english for english, text in catalogue.items()
         if any(int(slot) > english.count("{}") for slot in re.findall(r"\{(\d+)\}", text))]
for text in missing:
    print("lacks:", text)
for text in wrong:
    print("uses a value that there is not:", text)
sys.exit(len(wanted) < 700 or bool(missing) or bool(wrong))
PY
exit $((failures > 0))
