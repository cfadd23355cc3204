// SPDX-License-Identifier: Apache-2.0
// studio/tests/studio_page_browser.mjs - the server and the browser of studio_page.mjs, and what all its steps use.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const require = createRequire(resolve("studio/page/package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
export const { PROGRAM, BROWSER, PAGE, WORK, PICTURES, ALL_PICTURES } = process.env;

// Milliseconds that a step waits for what does not come. A loaded machine is slow; a good page never waits for long.
export const patience = Number(process.env.STUDIO_PAGE_PATIENCE_MS ?? 120000);

export let failures = 0;
export function check(good, what) {
    if (!good) {
        failures++;
        console.log(`FAIL: ${what}`);
    }
}

// -- the server

let server = null;
let port = 0;
export let address = "";
export let said = "";

export function start() {
    return new Promise((done, failed) => {
        said = "";
        server = spawn(PROGRAM, ["--data", `${WORK}/data`, "--listen", `127.0.0.1:${port}`, "--page", PAGE, "--jobs", "2"], { stdio: ["ignore", "pipe", "pipe"] });
        const listen = (chunk) => {
            said += chunk;
            const found = /rocesim studio: (http:\/\/127\.0\.0\.1:(\d+))/.exec(said);
            if (found) {
                address = found[1];
                port = Number(found[2]);
                setTimeout(done, 50);
            }
        };
        server.stdout.on("data", listen);
        server.stderr.on("data", listen);
        server.on("exit", (status) => failed(new Error(`the server ended (${status}): ${said}`)));
    });
}

export function stop(signal) {
    return new Promise((done) => {
        server.removeAllListeners("exit");
        server.on("exit", done);
        server.kill(signal);
    });
}

// -- the browser

export const browser = await chromium.launch({
    executablePath: BROWSER,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-dev-shm-usage"],
});

export const complaints = [];
export async function visitor(language = "en", theme = "light") {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, reducedMotion: "reduce" });
    await context.addInitScript(
        ([chosen, colors]) => {
            if (!localStorage.getItem("studio.language")) {
                localStorage.setItem("studio.language", JSON.stringify(chosen));
                localStorage.setItem("studio.theme", JSON.stringify(colors));
            }
        },
        [language, theme],
    );
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    page.on("pageerror", (error) => complaints.push(`${error.message} (${page.url()})`));
    page.on("console", (message) => {
        // Where one types over a selection the browser itself tries a style attribute, in vain and without harm.
        const typing = message.text().startsWith("Applying inline style") && /#\/(edit|query)/.test(page.url());
        if (/Content Security Policy|Refused to/.test(message.text()) && !typing) {
            complaints.push(message.text());
        }
    });
    return page;
}

export async function go(page, hash) {
    await page.goto(`${address}/#/${hash}`);
    await settled(page);
}

export async function settled(page) {
    await page.waitForFunction(() => !document.querySelector(".loading:not([hidden]) .spinner"));
    await page.waitForTimeout(120);
}

export async function log_in(page, name, password) {
    await page.goto(address);
    await page.locator("input[name=name]").fill(name);
    await page.locator("input[name=password]").fill(password);
    await page.locator("button[type=submit]").click();
}

export async function picture(page, name) {
    if (!ALL_PICTURES) {
        return;
    }
    await page.screenshot({ path: `${PICTURES}/${name}.png`, caret: "initial" });
}

export async function accessible(page, name) {
    await page.evaluate(axe);
    const found = await page.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ["violations"] })).violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.target.join(" ")} ${node.any[0]?.message ?? ""}`).join("; ")}`));
    for (const fault of found) {
        check(false, `axe in ${name}: ${fault}`);
    }
}

export async function text_of(page, selector) {
    return (await page.locator(selector).first().textContent()) ?? "";
}

// What is typed replaces the whole text of the editor.
export async function type_scenario(page, text) {
    await page.locator(".editor").first().locator(".cm-content").click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(text);
}

export const incast = (senders, size, more = "") => `name: page-test
seed: 1
topology:
  star: {hosts: ${senders + 1}, rate: 100Gbps, delay: 1us}
switch:
  buffer: 1MB
  pfc: {priorities: [3], alpha: 1/8}
nic: {mtu: 1024, congestion-control: none}
traffic:
  - incast: {to: host0, from: "host[1-${senders}]", bytes: ${size}}
observe:
  - {series: "port[switch0->host0].queue_bytes", every: 10us}
captures:
  - {ports: switch0->host0, file: receiver.pcap.gz, snaplen: 128}
${more}`;
// Long enough to be cancelled, or to be in the middle of when the server dies.
export const long_run = incast(8, "8GB").replace("captures:\n  - {ports: switch0->host0, file: receiver.pcap.gz, snaplen: 128}\n", "");
