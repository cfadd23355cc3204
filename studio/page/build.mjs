// SPDX-License-Identifier: Apache-2.0
// node build.mjs [OUT] - bundles the page: OUT/index.html and OUT/assets/NAME-HASH.{js,css} with .gz beside each.
//
// Replaces the folder as a whole once everything is written, and prints the bytes that a first visit loads.
import { build } from "esbuild";
import { gzipSync } from "node:zlib";
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "../../build/release/studio-page"));
const staging = `${out}.new`;
const first_load_max_bytes = 300 * 1000;

rmSync(staging, { recursive: true, force: true });
mkdirSync(join(staging, "assets"), { recursive: true });

const result = await build({
    absWorkingDir: here,
    entryPoints: { studio: "src/main.ts", style: "style/studio.css" },
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    outdir: join(staging, "assets"),
    bundle: true,
    splitting: true,
    format: "esm",
    target: ["chrome100", "firefox100", "safari15.4"],
    minify: true,
    legalComments: "none",
    charset: "utf8",
    metafile: true,
    logLevel: "warning",
});

// The files that index.html names, and those that they import at once, not later.
const outputs = result.metafile.outputs;
const entry = (source) => Object.keys(outputs).find((name) => outputs[name].entryPoint === source);
const script = entry("src/main.ts");
const style = entry("style/studio.css");
const first = new Set([script, style]);
for (const name of first) {
    for (const found of outputs[name].imports) {
        if (found.kind === "import-statement") {
            first.add(found.path);
        }
    }
}
const url = (name) => relative(staging, resolve(here, name));
const preloads = [...first].filter((name) => name !== script && name !== style);
const html = readFileSync(join(here, "index.html"), "utf8")
    .replace("{{style}}", url(style))
    .replace("{{script}}", url(script))
    .replace("{{preloads}}", preloads.map((name) => `<link rel="modulepreload" href="${url(name)}">`).join("\n    "));
writeFileSync(join(staging, "index.html"), html);
for (const icon of ["icon.svg"]) {
    writeFileSync(join(staging, "assets", icon), readFileSync(join(here, icon)));
}

let loaded = 0;
const names = ["index.html", ...readdirSync(join(staging, "assets")).map((name) => join("assets", name))];
for (const name of names) {
    const bytes = readFileSync(join(staging, name));
    const gz = gzipSync(bytes, { level: 9 });
    writeFileSync(join(staging, `${name}.gz`), gz);
    if (name === "index.html" || [...first].some((known) => url(known) === name)) {
        loaded += gz.length;
    }
}
rmSync(out, { recursive: true, force: true });
mkdirSync(dirname(out), { recursive: true });
renameSync(staging, out);
const place = relative(process.cwd(), out) || out;
console.log(`${place}: ${names.length} files; a first visit loads ${(loaded / 1000).toFixed(1)} KB (gzip)`);
if (loaded > first_load_max_bytes) {
    console.error(`error: more than ${first_load_max_bytes / 1000} KB`);
    process.exit(1);
}
