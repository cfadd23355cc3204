// SPDX-License-Identifier: Apache-2.0
// studio/tests/studio_page_data.mjs - the steps of studio_page.mjs that show packets, timelines, captures, sweeps, large networks and analyses.

import { readFileSync } from "node:fs";

// Returns the steps. `tools` are the browser's page and the helpers of studio_page.mjs.
export const data_steps = ({ ada, go, settled, check, picture, accessible, text_of, type_scenario, incast, first_run }) => ({
    // Packets that move over the network: recorded where asked for, with a time that one chooses, steps and kinds.
    async packets() {
        await go(ada, `run/${first_run()}?tab=packets`);
        const record = ada.getByRole("button", { name: "Run again and record" });
        await ada.locator(".map-canvas").or(record).first().waitFor();
        if (await record.isVisible()) {
            await record.click();
            await ada.waitForFunction((old) => Number(/run\/(\d+)/.exec(location.hash)[1]) !== old, first_run());
        }
        await ada.locator(".map-canvas").waitFor();
        await settled(ada);
        check((await ada.locator(".key").allTextContents()).join().includes("PFC pauses"), "a legend names the kinds");
        const told = () => text_of(ada, "p.muted.small:has-text('on links')");
        const clock = () => text_of(ada, ".slider-row output");
        check(/^\d+ on links: data \d/.test(await told()), `packets leave at first: ${await told()}`);
        await ada.getByLabel("To the next packet").click();
        check((await clock()) !== "0 ns", `a step goes on to the next packet: ${await clock()}`);
        const picture_of = () => ada.locator(".map-canvas").evaluate((canvas) => canvas.toDataURL());
        const before = await picture_of();
        await ada.locator(".slider-row input[type=range]").focus();
        await ada.keyboard.press("PageUp");
        await ada.keyboard.press("PageUp");
        await ada.waitForTimeout(100);
        check((await picture_of()) !== before && (await told()).includes("ACKs"), `a later time has ACKs: ${await told()}`);
        await picture(ada, "packets");
        await accessible(ada, "packets");
        await ada.getByRole("button", { name: "Play" }).click();
        const from = await clock();
        await ada.waitForTimeout(300);
        await ada.getByRole("button", { name: "Stop", exact: true }).click();
        const stopped = await clock();
        check(stopped !== from, "time goes on while packets are played");
        await ada.waitForTimeout(150);
        check((await clock()) === stopped, "and stands after that");
        // The pauses of the run stop ports for some of the time.
        const counts = await ada.evaluate(async () => {
            const slider = document.querySelector(".slider-row input");
            const seen = [];
            for (let value = 0; value <= 10000; value += 200) {
                slider.value = String(value);
                slider.dispatchEvent(new Event("input"));
                seen.push(Number(/(\d+) ports stopped/.exec(document.body.innerText)[1]));
            }
            return seen;
        });
        check(Math.max(...counts) > 0 && Math.min(...counts) === 0, `ports are stopped for a time: ${counts}`);
    },


    // A timeline of flows, pauses and faults: a click tells of a slice, dragging chooses the time of all views.
    async timeline() {
        await go(ada, `run/${first_run()}?tab=timeline`);
        const place = ada.locator(".bars-place");
        await place.locator("svg").waitFor();
        const told = await place.getAttribute("aria-label");
        check(/^Flow \d: host1 → host0/.test(told), `flows are told in words: ${told.slice(0, 80)}`);
        await ada.waitForTimeout(200);
        const names = async () => (await place.locator("svg text").allTextContents()).join(" ");
        check(/host1 .*host8/.test(await names()) && (await names()).includes("->switch0"), `rows of hosts and stopped ports: ${await names()}`);
        // A picture that is saved says what its colours are, too.
        const saved = ada.waitForEvent("download");
        await ada.getByRole("button", { name: "Save the figure as SVG" }).click();
        const drawing = readFileSync(await (await saved).path(), "utf8");
        check(["flow or request", "port stopped by PFC"].every((kind) => drawing.includes(kind)), "a saved timeline has a key");
        // A window whose ends are exchanged is the same window, and the server takes none that ends before it begins.
        await go(ada, `run/${first_run()}?tab=timeline&from=90000&to=10000`);
        check(ada.url().includes("from=10000&to=90000"), `a window in order: ${ada.url()}`);
        const answer = await ada.evaluate((run) => fetch(`api/v1/runs/${run}/map?metric=queue&from_ns=900&to_ns=10`).then(({ status }) => status), first_run());
        check(answer === 400, `a window that ends before it begins is refused: ${answer}`);
        await ada.getByRole("button", { name: "Whole run" }).click();
        await place.locator("svg").waitFor();
        await picture(ada, "timeline");
        await accessible(ada, "timeline");
        // On a busy machine the drawing may still be on its way when it is clicked.
        const link = ada.getByRole("link", { name: "Show the flow" });
        let box = await place.boundingBox();
        for (let tries = 0; tries < 40 && !(await link.isVisible()); tries++) {
            box = await place.boundingBox();
            await ada.mouse.click(box.x + 160, box.y + 45);
            await ada.waitForTimeout(1000);
        }
        await link.waitFor();
        await ada.mouse.move(box.x + 200, box.y + 60);
        await ada.mouse.down();
        await ada.mouse.move(box.x + 500, box.y + 60, { steps: 6 });
        await ada.mouse.up();
        await ada.waitForFunction(() => /from=\d+&to=\d+/.test(location.hash));
        await ada.getByRole("button", { name: "Whole run" }).click();
        await ada.getByLabel("Rows", { exact: true }).selectOption("pair");
        await ada.waitForTimeout(200);
        check((await names()).includes("host1 → host0"), `rows by pair: ${await names()}`);
    },


    async captures() {
        await go(ada, `captures/${first_run()}`);
        await ada.waitForSelector(".grid-row");
        await ada.locator(".grid-row").nth(3).click();
        await ada.waitForSelector(".packet .layers details");
        await ada.locator(".layer-field").nth(2).hover();
        check((await ada.locator(".octet.on").count()) > 0, "the bytes of a field stand out");
        await picture(ada, "captures");
        await accessible(ada, "captures");
        check((await ada.locator(".grid-row .badge").count()) === 0, "packets without a fault have no mark");
        await ada.getByRole("button", { name: "Follow the queue pair" }).click();
        await ada.getByRole("button", { name: "All packets" }).waitFor();
        await ada.waitForSelector(".grid-row");
        await ada.getByRole("button", { name: "All packets" }).click();
        await ada.getByLabel("Filter (libpcap)").fill("udp porte 4791");
        await ada.waitForSelector(".note.bad");
        check((await ada.locator(".note.bad").count()) === 1, "a wrong filter is told");
        await ada.getByLabel("Filter (libpcap)").fill("udp port 4791");
        await ada.waitForSelector(".grid-row");
        await ada.locator("summary", { hasText: "Conversations" }).click();
        await ada.getByRole("button", { name: "Show packets" }).first().click();
        await ada.waitForFunction(() => /^src host \S+ and dst host \S+ and udp src port \d+$/.test(document.querySelector("input.search").value));
        await ada.waitForSelector(".grid-row");
        check((await ada.locator(".tight-card .plot svg").count()) === 1, "packets over time are drawn");

        // A capture of the whole fabric: frames have ports, a packet is followed over them, and it is seen to move.
        await go(ada, "edit/new");
        await ada.waitForSelector(".verdict-ok");
        await type_scenario(ada, incast(4, "64KB", "  - {fabric: all.pcapng}\n").replace(/ *- .ports: switch0->host0, file.*\n/, "").replace("every: 10us", "every: 10ns"));
        await ada.waitForTimeout(500);
        await ada.waitForSelector(".verdict-ok");
        await ada.getByRole("button", { name: "Run", exact: true }).click();
        await ada.waitForFunction(() => location.hash.startsWith("#/run/"));
        const run = Number(/run\/(\d+)/.exec(ada.url())[1]);
        await ada.waitForSelector(".story");
        await go(ada, `captures/${run}`);
        await ada.waitForSelector(".grid-row");
        await ada.locator("summary", { hasText: "Ports" }).click();
        const port = ada.locator("details tr", { hasText: "switch0->host0" }).first();
        await port.getByRole("button", { name: "Show packets" }).click();
        await ada.getByTitle("Show the frames of all ports").waitFor();
        await ada.waitForFunction(() => [...document.querySelectorAll(".grid-row")].every((row) => row.textContent.includes("switch0->host0")));
        await ada.locator(".grid-row", { hasText: "WRITE" }).first().click();
        await ada.getByRole("button", { name: "Follow hop by hop" }).click();
        const hops = ada.getByRole("region", { name: "The packet, hop by hop" });
        await hops.waitFor();
        check((await hops.locator("tbody tr").count()) >= 5, "the packet has a line for each port");
        await picture(ada, "captures-fabric");
        await accessible(ada, "captures of a fabric");
        await hops.getByRole("link", { name: "Show it move" }).click();
        await ada.locator(".map-canvas").waitFor();
        check(/^\d+ on links: data \d/.test(await text_of(ada, "p.muted.small:has-text('on links')")), "the capture's packets move");

        // A series of more points than pixels has a band, which is one shape and not one for each point.
        await go(ada, `run/${run}?tab=series`);
        const shapes = ada.locator(".bars-place svg path");
        await shapes.first().waitFor({ state: "attached" });
        check((await shapes.count()) < 200, `a band is one shape: ${await shapes.count()} shapes`);
    },

    // A network of 8192 hosts is folded by the server; what is found is opened.
    async large() {
        await go(ada, "edit/new");
        await ada.waitForSelector(".verdict-ok");
        await type_scenario(ada, 'name: large\ntopology: {fat-tree: {k: 32}}\ntraffic: [{incast: {to: host0, from: "host[1-8]", bytes: 10KB}}]\n');
        await ada.locator(".bench-side header p", { hasText: "8,192 hosts" }).waitFor();
        await ada.getByRole("button", { name: "Run", exact: true }).click();
        await ada.waitForSelector(".story");
        await ada.getByRole("tab", { name: "Network" }).click();
        await ada.getByLabel("Find a node…").fill("host8191");
        await ada.keyboard.press("Enter");
        await ada.locator("h3", { hasText: "host8191" }).waitFor();
        await picture(ada, "large");
        await ada.getByRole("button", { name: "Fold", exact: true }).click();
        await ada.waitForFunction(() => ![...document.querySelectorAll("h3")].some((one) => one.textContent === "host8191"));
        await accessible(ada, "a large network");
    },

    // Applications without a step of their own open on their pages, whose numbers have units.
    async applications() {
        const pages = { "scale-up%2Fhgx": ["Accelerators", "B/s"], "serving%2Fkv-matrix": ["KV transfers", "ms"], "cache%2Fzipf": ["Cache", "%"] };
        for (const [entry, [title, unit]] of Object.entries(pages)) {
            await go(ada, `edit/library/${entry}`);
            await ada.waitForSelector(".verdict-ok");
            await ada.getByRole("button", { name: "Run", exact: true }).click();
            await ada.waitForFunction(() => location.hash.startsWith("#/run/"));
            await ada.waitForSelector(".facts");
            await settled(ada);
            check((await text_of(ada, "[role=tab][aria-selected=true]")) === title, `${entry} opens on its page`);
            check((await ada.locator(".facts").first().textContent()).includes(unit), `${entry}: a number has the unit ${unit}`);
            await picture(ada, `page-${title}`);
            await accessible(ada, title);
        }

        // Back leads to the tab before. A print has all of the view and no menu.
        await ada.getByRole("tab", { name: "Summary" }).click();
        await ada.waitForSelector(".story");
        await ada.goBack();
        await ada.locator("[role=tab][aria-selected=true]", { hasText: "Cache" }).waitFor();
        await settled(ada);
        await ada.emulateMedia({ media: "print" });
        const paper = await ada.evaluate(() => {
            const main = document.querySelector("main");
            return { hidden: main.scrollHeight - main.clientHeight, menu: document.querySelector(".rail").clientHeight };
        });
        check(paper.hidden === 0 && paper.menu === 0, `a print is whole: ${JSON.stringify(paper)}`);
        await ada.emulateMedia({ media: null });

        // A run that moves to the trash while it is open says so, and can be restored.
        await ada.evaluate(async () => {
            const { csrf } = await (await fetch("api/v1/me")).json();
            const address = `api/v1/runs/${/run\/(\d+)/.exec(location.hash)[1]}`;
            await fetch(address, { method: "DELETE", headers: { "X-Studio-Token": csrf } });
        });
        await ada.locator(".note.warn", { hasText: "is now in the trash" }).waitFor();
        await ada.getByRole("button", { name: "Restore" }).click();
        await ada.getByRole("tab", { name: "Cache" }).waitFor();
    },

    // A sweep as parallel coordinates, and its runs sorted by a result.
    async sweep() {
        // What is no group is no question for the server, and an address without a view has a heading.
        await go(ada, "runs?group=abc");
        await ada.waitForSelector(".grid-row");
        check((await ada.locator(".note.bad").count()) === 0, "a group that is no number is left out");
        for (const nothing of ["no-such-view", "run/999999"]) {
            await go(ada, nothing);
            await accessible(ada, nothing);
        }
        await go(ada, `runs?group=${first_run() + 1}`);
        await ada.locator(".bars-place svg path").first().waitFor({ state: "attached" });
        const title = await ada.locator(".bars-place").getAttribute("aria-label");
        check(/^4 runs as lines over the axes nic.mtu, seed, /.test(title), `an axis for each parameter: ${title}`);
        const head = ada.locator(".grid-head").getByRole("button", { name: "fct p99" });
        const order = async () => (await ada.locator(".grid-row .cell", { hasText: /^[\d.]+ [µm]s$/ }).allTextContents()).map(parseFloat);
        await head.click();
        await settled(ada);
        const rising = await order();
        await head.click();
        await settled(ada);
        const falling = await order();
        check(rising[0] < falling[0] && rising.at(-1) > falling.at(-1), `sorted by a result: ${rising} and ${falling}`);
        await ada.getByRole("button", { name: "Result columns" }).click();
        const dialog = ada.locator("dialog");
        await dialog.getByLabel("Find a result").fill("events");
        await dialog.getByLabel(/^events: /).check();
        await accessible(ada, "result columns");
        await dialog.getByRole("button", { name: "Show the columns" }).click();
        await ada.locator(".grid-head").getByRole("button", { name: "events" }).waitFor();
        await ada.getByRole("button", { name: "Mark these runs" }).click();
        check((await ada.getByText("4 runs marked").count()) === 1, "the runs of the lines are marked");
        await picture(ada, "sweep-lines");
        await accessible(ada, "parallel coordinates");
    },

    // Recipes of analysis: steps, what a wrong one says, an export, a sweep and a comparison.
    async process() {
        await go(ada, `process?runs=${first_run()}`);
        await ada.waitForSelector(".recipe");
        await picture(ada, "process-recipes");
        await accessible(ada, "recipes");
        await ada.getByRole("button", { name: "Distribution of slowdown" }).click();
        await ada.waitForSelector(".plot svg");
        await picture(ada, "process");
        await accessible(ada, "process");
        await ada.getByLabel("Add a step").selectOption("sort");
        // A step is drawn anew when its rows have come.
        await ada.locator(".step").nth(2).getByText(/^\d+ rows/).waitFor();
        await ada.getByRole("button", { name: "Remove: Sort" }).click();
        await ada.waitForFunction(() => document.querySelectorAll(".step").length === 2);
        await ada.getByLabel("Add a step").selectOption("derive");
        await ada.getByLabel("Expression").last().fill("no_such_column * 2");
        await ada.keyboard.press("Tab");
        await ada.waitForSelector(".step.failed");
        await picture(ada, "process-error");
        await ada.getByRole("button", { name: "Remove: Derive a column" }).click();
        await ada.waitForFunction(() => !document.querySelector(".step.failed"));
        const download = ada.waitForEvent("download");
        await ada.getByRole("button", { name: "Export the folder" }).click();
        await ada.locator("dialog").getByRole("button", { name: "Export the folder" }).click();
        check((await download).suggestedFilename() === "analysis.tar.gz", "the analysis is exported");

        // The sweep: a row for each run, with what differs.
        const group = first_run() + 1;
        await go(ada, `process?group=${group}`);
        await ada.waitForSelector(".grid-row");
        await picture(ada, "process-sweep");
        // Compared, with units, and each longest queue below its port.
        await go(ada, `process?runs=${group},${group + 1},${group + 2},${group + 3}`);
        await ada.getByRole("button", { name: "Compare runs and seeds" }).click();
        await ada.waitForSelector(".grid-row");
        const compared = (await ada.locator(".grid-row").allTextContents()).join("\n");
        check(/simulated time.* [µm]s ± .*s/.test(compared) && /delivered.* MB/.test(compared), `values have units: ${compared}`);
        await ada.locator(".grid-row").first().hover();
        // A grid that is still being drawn takes no wheel, so it is turned until the rows are there.
        const queues = () => [...document.querySelectorAll(".grid-row")].filter((row) => row.textContent.includes("longest queue")).length;
        for (let turn = 0; turn < 100 && (await ada.evaluate(queues)) < 2; turn++) {
            await ada.mouse.wheel(0, 200);
            await ada.waitForTimeout(100);
        }
        check((await ada.evaluate(queues)) > 1, "the longest queues stand below their ports");
        await picture(ada, "process-compare");
    },
});
