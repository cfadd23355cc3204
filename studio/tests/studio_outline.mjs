// SPDX-License-Identifier: Apache-2.0
// The page's outline of a scenario: places for completion, and changes that leave everything else as it is. And the
// places of nodes in a drawing.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(resolve("studio/page/package.json"));
async function module_of(path) {
    const bundle = join(process.env.WORK, path.replace(/.*\/(.*)\.ts/, "$1.mjs"));
    await require("esbuild").build({ entryPoints: [path], outfile: bundle, bundle: true, format: "esm", logLevel: "error" });
    return import(pathToFileURL(bundle).href);
}
const { find, outline } = await module_of("studio/page/src/editor/outline.ts");
const { attribute_path, place_at } = await module_of("studio/page/src/editor/place.ts");
const { remove_value, set_value } = await module_of("studio/page/src/editor/change.ts");
const { lay_out } = await module_of("studio/page/src/topology/layout.ts");

let failures = 0;
function same(got, wanted, what) {
    if (JSON.stringify(got) !== JSON.stringify(wanted)) {
        failures++;
        console.log(`FAIL: ${what}: ${JSON.stringify(got)}, expected ${JSON.stringify(wanted)}`);
    }
}
const changed = (text, change) => (change ? text.slice(0, change.from) + change.insert + text.slice(change.to) : null);
const computed = outline("parameters:\n  leaf: {default: $(ceil(root(gpus, 2))), help: hosts}\n");
same(find(computed, ["parameters", "leaf"]).entries.map((entry) => [entry.key, entry.value.text]), [["default", "$(ceil(root(gpus, 2)))"], ["help", "hosts"]], "an expression with a comma is one value");

const text = `# what for
name: x   # of results
switch:
  buffer: 32MB  # packets
  pfc: {priorities: [3], alpha: 1/8}
traffic:
  - poisson: {from: host[*], to: host[0,4-7], load: 0.5}
  - incast:
      to: host5
      bytes: 64KB
nodes:
  "spine*": {switch: {buffer: 64MB}}
`;
const tree = outline(text);
same(find(tree, ["name"]).text, "x", "a scalar before a comment");
same(find(tree, ["switch", "pfc", "alpha"]).text, "1/8", "a value in {}");
same(find(tree, ["traffic", 0, "poisson", "to"]).text, "host[0,4-7]", "a pattern with a comma in {}");
same(find(tree, ["traffic", 1, "incast", "bytes"]).text, "64KB", "a map below a dash");
same(find(tree, ["nodes", "spine*", "switch", "buffer"]).text, "64MB", "a key in quotes");
same(attribute_path(["traffic", 0, "poisson", "load"]), "traffic.poisson.load", "the path of traffic");
same(attribute_path(["nodes", "spine*", "switch", "buffer"]), "switch.buffer", "the path under nodes");
same(attribute_path(["links", "a--b", "rate"]), "link.rate", "the path under links");

// Changes: exactly what was asked for.
same(changed(text, set_value(text, ["switch", "buffer"], "1MB")), text.replace("32MB", "1MB"), "a value changed");
same(changed(text, set_value(text, ["switch", "pfc", "enabled"], "false")), text.replace("alpha: 1/8}", "alpha: 1/8, enabled: false}"), "a key added in {}");
same(changed(text, set_value(text, ["switch", "ecn", "kmin"], "4KB")), text.replace("alpha: 1/8}\n", "alpha: 1/8}\n  ecn:\n    kmin: 4KB\n"), "a section added");
same(changed(text, set_value(text, ["traffic", 1, "incast", "every"], "1ms")), text.replace("bytes: 64KB\n", "bytes: 64KB\n      every: 1ms\n"), "a key added below a dash");
same(changed("", set_value("", ["until"], "1ms")), "until: 1ms\n", "into an empty text");
same(changed(text, remove_value(text, ["switch", "buffer"])), text.replace("  buffer: 32MB  # packets\n", ""), "a line taken out");
same(changed(text, remove_value(text, ["switch", "pfc", "alpha"])), text.replace(", alpha: 1/8", ""), "the last of {} taken out");
same(changed(text, remove_value(text, ["switch", "pfc", "priorities"])), text.replace("priorities: [3], ", ""), "the first of {} taken out");
same(changed(text, remove_value(text, ["traffic", 0])), text.replace(/ {2}- poisson.*\n/, ""), "an entry of a list taken out");

// A large network that the server has folded: each fold stands alone, in its tier, and keeps its number of links.
const pods = ["agg0 … agg3 (40)", "agg4 … agg7 (40)"].map((name, index) => ({ name, kind: "host", tier: 0, fold: `${index}`, in: "", hosts: 32, switches: 8 }));
const cores = { name: "core0 … core3 (4)", kind: "switch", tier: 3, fold: "2", in: "", hosts: 0, switches: 4 };
const folded = lay_out({ folded: true, nodes: [...pods, cores], links: pods.map((pod) => ({ a: pod.name, b: cores.name, a_port: "", b_port: "", count: 16 })) });
same(folded.nodes.map((node) => [node.tier, node.links]), [[0, 16], [0, 16], [1, 32]], "tiers and links of folds");
same(folded.nodes[1].x - folded.nodes[0].x >= 30, true, "folds stand apart");

// Places, | is the cursor.
const place = (marked) => {
    const at = marked.indexOf("|");
    const found = place_at(marked.replace("|", ""), at);
    return found && [found.path, found.key];
};
same(place("sw|"), [[], null], "a name at the top");
same(place("switch:\n  bu|"), [["switch"], null], "a name in a section");
same(place("switch:\n  buffer: 3|"), [["switch"], "buffer"], "a value");
same(place("switch:\n  pfc: {al|}"), [["switch", "pfc"], null], "a name in {}");
same(place("nic: {congestion-control: d|}"), [["nic"], "congestion-control"], "a value in {}");
same(place("traffic:\n  - poi|"), [["traffic", 0], null], "a name after a dash");
same(place("switch:\n  ecn:\n    kmin: 1\nnic:\n  mt|"), [["nic"], null], "a name after a deeper section");
same(place("switch:\n  bu|\n  pfc: {alpha: 1/8}"), [["switch"], null], "a name above another");
same(place("traffic:\n  - incast: {to: host[0|"), [["traffic", 0, "incast"], "to"], "a pattern without its end");
same(place("switch:\n  pfc: {priorities: [3, |]}"), [["switch", "pfc"], "priorities"], "an item of a list in []");
same(place("traffic:\n  - incast:\n      to: host0\n  - poisson:\n      lo|"), [["traffic", 1, "poisson"], null], "a name in the second entry");
same(place("seed: 1 # of the ru|n"), null, "a comment");
same([...place_at("switch:\n  bu\n  ecn: {kmin: 4KB}", 12).existing], ["ecn"], "the other names of the section");

// Prefixes of every scenario, 40 or so of each at places that differ, are read without an exception.
let files = 0;
const walk = (folder) => {
    for (const name of readdirSync(folder)) {
        const path = join(folder, name);
        if (statSync(path).isDirectory()) {
            walk(path);
        } else if (name.endsWith(".yaml")) {
            files++;
            const whole = readFileSync(path, "utf8");
            const stride = Math.max(7, Math.floor(whole.length / 40));
            for (let length = files % stride; length <= whole.length; length += stride) {
                const part = whole.slice(0, length);
                outline(part);
                place_at(part, length);
            }
        }
    }
};
walk("scenarios");
if (files < 10) {
    failures++;
    console.log("FAIL: no scenarios were read");
}

console.log(`${failures} failures in the outline`);
process.exit(failures > 0 ? 1 : 0);
