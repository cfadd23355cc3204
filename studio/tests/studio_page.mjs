// SPDX-License-Identifier: Apache-2.0
// studio/tests/studio_page.mjs - clicks through every view in a browser. test_studio_page.sh runs it.
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { accessible, address, browser, check, complaints, failures, go, incast, log_in, long_run, PICTURES, picture, PROGRAM, patience, said, settled, start, stop, text_of, type_scenario, visitor, WORK } from "./studio_page_browser.mjs";
import { data_steps } from "./studio_page_data.mjs";
import { do_tasks } from "./studio_page_tasks.mjs";

const only = (process.env.STUDIO_PAGE_STEPS ?? "").split(" ").filter(Boolean);
// Milliseconds for one step: a page that hangs answers no question, and such questions have no limit of their own.
const step_limit = 3 * patience;
// Later steps build on earlier ones: when so many have failed, the others are left out.
const failed_steps_limit = 3;

// -- the steps

const ada = await visitor();
const grace = await visitor();
const password = "a long enough sentence";
let first_run = 0;

const data = data_steps({ ada, go, settled, check, picture, accessible, text_of, type_scenario, incast, first_run: () => first_run });

const steps = {
    // The first start: a link that works once makes the administrator, who invites the others.
    async first_use() {
        const once = /(http:\/\/\S+#once=\S+)/.exec(said)?.[1];
        check(once, `a one-time link on the terminal: ${said}`);
        await ada.goto(once);
        await ada.getByLabel("Name", { exact: true }).fill("ada");
        await ada.getByLabel("New password").fill("short");
        await ada.getByRole("button", { name: "Set the password" }).click();
        check((await text_of(ada, ".note.bad")).includes("10 characters"), "a short password is refused");
        await picture(ada, "first-use");
        await accessible(ada, "first use");
        await ada.getByLabel("New password").fill(password);
        await ada.getByLabel("Repeat the password").fill(password);
        await ada.getByRole("button", { name: "Set the password" }).click();
        await ada.waitForSelector(".shell");
        await settled(ada);
        check((await ada.locator(".entry").count()) > 10, "the library has scenarios");

        await go(ada, "users");
        for (const [name, role] of [["grace", "user"], ["vera", "viewer"]]) {
            await ada.getByRole("button", { name: "Invite a user" }).click();
            await ada.locator("dialog").getByLabel("Name").fill(name);
            await ada.locator("dialog").getByLabel("Role").selectOption(role);
            await ada.locator("dialog").getByRole("button", { name: "Invite a user" }).click();
            const link = await ada.getByLabel(`Link for ${name}`, { exact: true }).last().inputValue();
            await ada.locator("dialog").getByRole("button", { name: "Close" }).click();
            const invited = name === "grace" ? grace : await visitor();
            await invited.goto(link);
            await invited.getByLabel("New password").fill(password);
            await invited.getByLabel("Repeat the password").fill(password);
            await invited.getByRole("button", { name: "Set the password" }).click();
            await invited.waitForSelector(".shell");
            if (name === "vera") {
                await go(invited, "edit/library/quickstart");
                check(await invited.getByRole("button", { name: "Run", exact: true }).isDisabled(), "a viewer cannot run");
                await invited.context().close();
            }
        }
        await settled(ada);
        await picture(ada, "users");
    },

    // Wrong passwords, and the lock that follows, with a way back that says how long.
    async wrong_password() {
        const stranger = await visitor();
        for (let attempt = 0; attempt < 8; attempt++) {
            await log_in(stranger, "vera", "not the password");
            await stranger.waitForSelector(".note.bad");
            const told = await text_of(stranger, ".note.bad");
            if (attempt === 0) {
                check(told.includes("wrong"), `a wrong password is told: ${told}`);
                await picture(stranger, "login-wrong");
                await accessible(stranger, "login");
            } else if (told.includes("too many")) {
                check(/\d+ second/.test(told), `how long: ${told}`);
                check(await stranger.getByRole("button", { name: "Log in" }).isDisabled(), "locked out");
                await picture(stranger, "login-locked");
                await stranger.context().close();
                return;
            }
        }
        check(false, "eight wrong passwords lock nobody out");
    },

    // Own files: chosen, dropped with a folder, checked, named by completion, run, refused by name and by size.
    async files() {
        await go(ada, "files");
        check((await ada.locator(".empty").count()) === 1, "no files yet");
        await accessible(ada, "files");
        const [chooser] = await Promise.all([ada.waitForEvent("filechooser"), ada.getByRole("button", { name: "Upload files" }).click()]);
        await chooser.setFiles(["scenarios/training/ring8.goal", "scenarios/mooncake/small.jsonl"]);
        await ada.waitForSelector(".drop-zone .note.good");
        check((await text_of(ada, ".drop-zone .note.good")).includes("2 files"), "two files were uploaded");
        // A drop: one good file, and one whose name the server refuses.
        await ada.evaluate(() => {
            const data = new DataTransfer();
            data.items.add(new File(["topology: {star: {hosts: 8}}\ntraffic: [{workload: {file: ring8.goal}}]\n"], "own.yaml"));
            data.items.add(new File(["topology: {star: {hosts: 2}}\ntraffic: [{programs: [{host: host1, command: 'true'}]}]\n"], "programs.yaml"));
            data.items.add(new File(["x"], "bad|name"));
            document.querySelector(".drop-zone").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        });
        await ada.waitForSelector(".drop-zone .note.bad");
        check((await text_of(ada, ".drop-zone .note.bad")).includes("bad|name: the name contains a character"), "a bad name is told");
        // Each file is checked, and its kind says what can be done with it.
        const row = (name) => ada.locator("tbody tr", { hasText: name });
        await row("ring8.goal").getByText("workload", { exact: true }).waitFor();
        check((await row("ring8.goal").locator("td details").textContent()).includes("GOAL, text"), "a file is checked");
        await row("small.jsonl").getByText("requests", { exact: true }).waitFor();
        await ada.setViewportSize({ width: 700, height: 700 });
        await picture(ada, "files");
        await accessible(ada, "files with a list");
        await ada.setViewportSize({ width: 1280, height: 800 });
        // A scenario with programs opens, and is told to belong to the command line.
        const simulate = (name) => ada.locator("tbody tr", { hasText: name }).getByRole("link", { name: "Simulate" }).click();
        await simulate("programs.yaml");
        await ada.waitForSelector(".verdict-ok");
        await ada.locator(".note.warn", { hasText: "rocesim run --programs" }).waitFor();
        check(await ada.getByRole("button", { name: "Run", exact: true }).isDisabled(), "the studio runs no programs");
        await ada.locator(".bench-side header p", { hasText: "2 hosts" }).waitFor();
        await picture(ada, "programs");
        await accessible(ada, "a scenario with programs");
        await go(ada, "files");
        await simulate("own.yaml");
        await ada.waitForSelector(".verdict-ok");
        await type_scenario(ada, "topology: {star: {hosts: 8}}\ntraffic:\n  - workload: {file: rin");
        await ada.keyboard.press("Control+Space");
        await ada.waitForSelector(".cm-tooltip-autocomplete");
        check((await text_of(ada, ".cm-tooltip-autocomplete")).includes("ring8.goal"), "own files are completed");
        await go(ada, "files");
        const rows = await ada.locator("tbody tr").count();
        await ada.getByRole("button", { name: "Remove: small.jsonl" }).click();
        await ada.locator("dialog").getByRole("button", { name: "Remove" }).click();
        await ada.waitForFunction((before) => document.querySelectorAll("tbody tr").length === before - 1, rows);
    },

    // Counters that an operator has, before and after, name the host that stops its switch.
    async counters() {
        await go(ada, "files");
        const [chooser] = await Promise.all([ada.waitForEvent("filechooser"), ada.getByRole("button", { name: "Upload a folder" }).click()]);
        await chooser.setFiles("examples/operator");
        await ada.locator("tbody tr", { hasText: "operator/before/spine2.txt" }).waitFor();
        await ada.getByRole("button", { name: "Explain counters" }).click();
        const sheet = ada.locator("dialog");
        await sheet.getByLabel("Network").selectOption("operator/configs");
        for (const name of ["operator/before", "operator/after"]) {
            await sheet.getByLabel(name, { exact: true }).check();
        }
        await picture(ada, "counters-sheet");
        await accessible(ada, "the sheet of counters");
        await sheet.getByRole("button", { name: "Explain", exact: true }).click();
        await ada.locator("h2", { hasText: "server5" }).waitFor();
        await ada.locator("summary", { hasText: "server5" }).click();
        check((await text_of(ada, ".card details")).includes("leaf2:Ethernet4"), "the ports that were stopped are listed");
        await picture(ada, "counters");
        await accessible(ada, "causes of counters");
    },

    // A scenario from the library, broken and mended, as text and as form.
    async edit() {
        await go(ada, "simulate");
        await ada.keyboard.press("/");
        await ada.keyboard.type("pfc storm");
        await ada.waitForTimeout(100);
        check((await ada.locator(".entry").count()) >= 1, "the library is searched");
        await picture(ada, "library");
        await go(ada, "edit/library/quickstart");
        await ada.waitForSelector(".verdict-ok");
        await picture(ada, "workbench");
        await accessible(ada, "workbench");
        await type_scenario(ada, incast(4, "1MB").replace("mtu: 1024", "mtuu: 1024"));
        await ada.waitForSelector(".fault-line");
        check((await text_of(ada, ".fault-line")).includes("line 8"), `the error is at its line: ${await text_of(ada, ".fault-line")}`);
        await ada.waitForSelector(".cm-lintRange-error");
        check(await ada.getByRole("button", { name: "Run", exact: true }).isDisabled(), "a broken scenario cannot be run");
        await picture(ada, "workbench-error");
        await type_scenario(ada, incast(4, "1MB"));
        await ada.waitForSelector(".verdict-ok");
        // The drawing comes after the verdict, with an answer of its own.
        await ada.locator(".bench-side header p", { hasText: "5 hosts" }).waitFor();

        // Completion, by the tables of attributes.
        await ada.keyboard.press("Control+End");
        await ada.keyboard.type("ou");
        await ada.waitForSelector(".cm-tooltip-autocomplete");
        await ada.keyboard.press("Escape");
        await type_scenario(ada, `# a comment that stays\n${incast(4, "1MB")}`);

        await ada.getByRole("button", { name: "Form" }).click();
        const buffer = ada.locator('[data-path="switch.buffer"]');
        await buffer.fill("1200KB");
        await buffer.press("Enter");
        await ada.waitForSelector(".verdict-ok");
        await picture(ada, "form");
        await accessible(ada, "form");
        await ada.getByRole("button", { name: "Text" }).click();
        const text = await ada.locator(".cm-content").innerText();
        check(text.includes("buffer: 1200KB") && text.includes("a comment that stays"), "the form edits the text and keeps comments");

        // What is not saved outlives another view, another language and a reload, until it is discarded.
        const speak_both = async () => {
            await ada.getByRole("button", { name: "中文" }).click();
            await ada.getByRole("button", { name: "English" }).click();
            await ada.getByRole("button", { name: "中文" }).waitFor();
        };
        for (const leave of [() => go(ada, "runs"), speak_both, () => ada.reload()]) {
            await leave();
            await go(ada, "edit/library/quickstart");
            await ada.waitForSelector(".verdict-ok");
            check((await ada.locator(".cm-content").innerText()).includes("a comment that stays"), "what is not saved is there again");
        }
        await picture(ada, "unsaved");
        await accessible(ada, "what was not saved");

        await ada.getByRole("button", { name: "Save" }).first().click();
        await ada.locator("dialog").getByLabel("Name").fill("my incast");
        await ada.locator("dialog").getByRole("button", { name: "Save" }).click();
        await ada.waitForFunction(() => location.hash.startsWith("#/edit/document/"));
        await go(ada, "edit/library/quickstart");
        await ada.waitForSelector(".verdict-ok");
        check(!(await ada.locator(".cm-content").innerText()).includes("a comment that stays"), "what was saved elsewhere is not kept here");
        await ada.locator(".cm-content").click();
        await ada.keyboard.type("# thrown away ");
        await go(ada, "runs");
        await go(ada, "edit/library/quickstart");
        await ada.getByRole("button", { name: "Discard it" }).click();
        await ada.waitForFunction(() => !document.querySelector(".view h1.changed, h1.changed"));
        await go(ada, "simulate");
        check((await ada.locator(".entry", { hasText: "my incast" }).count()) === 1, "the saved scenario is listed");
    },

    // A run with two seeds and two values, watched until it ends.
    async run() {
        await go(ada, "edit/new");
        await ada.waitForSelector(".verdict-ok");
        await type_scenario(ada, incast(8, "1MB"));
        await ada.waitForSelector(".verdict-ok");
        await ada.waitForTimeout(500);
        await ada.waitForSelector(".verdict-ok");
        await ada.getByRole("button", { name: "Run", exact: true }).click();
        await ada.waitForFunction(() => location.hash.startsWith("#/run/"));
        first_run = Number(/run\/(\d+)/.exec(ada.url())[1]);
        await ada.waitForSelector(".story");
        const story = await text_of(ada, ".story");
        check(story.includes("9 hosts") && story.includes("8 of 8 flows"), `what happened, in words: ${story}`);
        const tiles = (await ada.locator(".fact").allTextContents()).join("|");
        check(/\d+PFC pauses/.test(tiles) && !tiles.includes("–"), `each tile has its number: ${tiles}`);
        // The page shows counters that the result's schema lists, and names none of them by hand.
        const unknown = await ada.evaluate(async () => {
            const run = /run\/(\d+)/.exec(location.hash)[1];
            const schema = await (await fetch(`api/v1/runs/${run}/files/result/schema.json`)).json();
            const summary = await (await fetch(`api/v1/runs/${run}/files/result/summary.json`)).json();
            const helps = Object.entries(schema.summary.properties).filter(([name, one]) => one.unit === "packets" && name in summary).map(([, one]) => one.description);
            const shown = [...document.querySelectorAll("dl.pairs dd.muted, summary[title]")].map((one) => one.title || one.textContent);
            return helps.length < 4 ? ["too few counters"] : helps.filter((help) => !shown.includes(help));
        });
        check(unknown.length === 0, `counters of the schema are shown: ${unknown}`);

        await go(ada, "edit/document/1");
        await ada.waitForSelector(".verdict-ok");
        await ada.waitForFunction(() => [...document.querySelectorAll("input")].some((one) => one.ariaLabel === "Seeds" && one.placeholder === "1" && one.value === ""));
        const start_button = ada.getByRole("button", { name: /^(Run|Start \d+ runs)$/ });
        for (const seeds of ["1, x", "-1", "2.5", "5-1"]) {
            await ada.getByLabel("Seeds").fill(seeds);
            check((await start_button.isDisabled()) && (await ada.locator(".note.bad", { hasText: "Seeds" }).count()) === 1, `'${seeds}' are no seeds`);
        }
        await ada.getByLabel("Seeds").fill("1-2");
        await ada.getByRole("button", { name: "Vary a parameter" }).click();
        await ada.getByLabel("Parameter", { exact: true }).fill("nic.mtu");
        await ada.getByLabel("Parameter", { exact: true }).blur();
        check((await start_button.isDisabled()) && (await ada.locator(".note.bad", { hasText: "nic.mtu has no values" }).count()) === 1, "a parameter without values is told");
        await ada.getByLabel("Values").fill("1024, 2048");
        check((await ada.getByRole("button", { name: "Start 4 runs" }).count()) === 1, "a grid of two by two seeds is four runs");
        await ada.getByLabel("Name of the run").fill("x".repeat(200));
        await ada.getByRole("button", { name: "Start 4 runs" }).click();
        await ada.waitForFunction(() => location.hash.includes("group="));
        await ada.waitForFunction(() => document.querySelectorAll(".badge.done").length >= 4);
        await picture(ada, "sweep");
        await go(ada, `run/${first_run + 1}`);
        check(await ada.evaluate(() => [...document.querySelectorAll("main h1, main p, main a")].every((one) => one.scrollWidth <= one.clientWidth || getComputedStyle(one).display === "inline")), "a long name stays on the page");
        await picture(ada, "long-name");
        await go(ada, "runs");
        await picture(ada, "runs");
        await accessible(ada, "runs");
    },

    // A study of the library, short: its figure, its table, and the runs that it made.
    async study() {
        await go(ada, "edit/study/cache%2Fskew");
        await picture(ada, "study-order");
        await accessible(ada, "study");
        const skews = ada.getByLabel("exponent of Zipf's law");
        check((await skews.getAttribute("placeholder")) === "0, 1.2", "a parameter shows the values that it takes");
        await skews.fill("0, 0.5, 1");
        await ada.getByRole("button", { name: "Add an attribute" }).click();
        await ada.getByLabel("Attribute", { exact: true }).fill("nic.mtu");
        await ada.getByLabel("Value", { exact: true }).fill("1024");
        await accessible(ada, "study with settings");
        await ada.getByRole("button", { name: "Run the study" }).click();
        await ada.waitForFunction(() => location.hash.startsWith("#/run/"));
        await ada.waitForSelector(".figures .plot svg");
        check((await ada.locator(".figures figcaption strong").allTextContents()).join().includes("hit rate of L1"), "its figures have readable names");
        check((await ada.locator(".figures .plot svg").count()) === 4, "the page draws each panel");
        await ada.waitForSelector(".grid-row");
        check((await ada.locator(".grid-row").count()) === 3, "its table has a row for each value of the parameter");
        check((await text_of(ada, ".view-head")).includes("nic.mtu=1024"), "its settings are told");
        await ada.locator("summary", { hasText: "As the script drew it" }).click();
        await ada.waitForFunction(() => document.querySelector(".study-figure").naturalWidth > 100);
        await picture(ada, "study");
        await accessible(ada, "study's result");
        await ada.getByRole("link", { name: "Compare the runs" }).click();
        // The rows of the page before may stand for a moment.
        const processed = () => document.querySelector(".grid-row")?.textContent.includes("cache/skew: skew=");
        await ada.waitForFunction(processed);
        await picture(ada, "study-runs");
        // Each lookup of a cache is answered by one tier.
        const made = await ada.evaluate(async () => (await (await fetch("api/v1/runs?search=skew%3D0.5")).json()).runs[0].id);
        await go(ada, `run/${made}`);
        await ada.waitForSelector(".bars-place svg");
        const told = await ada.locator(".bars-place").first().getAttribute("aria-label");
        const shares = [.../qp: [^;]*/.exec(told)[0].matchAll(/([\d.]+) %/g)].map(([, share]) => Number(share));
        check(shares.length === 3 && Math.abs(shares.reduce((sum, share) => sum + share, 0) - 100) < 2, `the tiers answered ${told}`);
        await picture(ada, "cache");
        await accessible(ada, "cache");
    },

    // Two people at once: what is private stays so, and what is shared is seen.
    async privacy() {
        await go(grace, "runs");
        check((await grace.locator(".grid-row").count()) === 0, "runs of others are not seen");
        await go(grace, `run/${first_run}`);
        check((await grace.locator(".note.bad").count()) === 1, "nor by their address");
        await go(ada, `run/${first_run}`);
        await ada.getByRole("button", { name: "Share" }).click();
        await ada.getByRole("button", { name: "Stop sharing" }).waitFor();
        await go(grace, "runs");
        await go(grace, `run/${first_run}`);
        await grace.waitForSelector(".story");
        check((await grace.getByRole("button", { name: "Share" }).count()) === 0, "what is another's cannot be shared on");
    },

    // A run cancelled, into the trash, and back.
    async cancel() {
        await go(grace, "edit/new");
        await grace.waitForSelector(".verdict-ok");
        await type_scenario(grace, long_run);
        await grace.waitForTimeout(500);
        await grace.waitForSelector(".verdict-ok");
        await grace.getByRole("button", { name: "Run", exact: true }).click();
        await grace.waitForSelector(".running-card");
        await grace.waitForFunction(() => document.querySelectorAll(".plot svg").length > 0);
        await grace.waitForFunction(() => [...document.querySelectorAll("figcaption strong")].some((one) => one.textContent === "Queue of each port"));
        await grace.getByRole("button", { name: "Choose ports" }).click();
        await grace.getByLabel("Part of a name").fill("->host0");
        await grace.locator("dialog").getByLabel("switch0->host0").check();
        await grace.locator("dialog").getByRole("button", { name: "Show" }).click();
        await grace.waitForFunction(() => [...document.querySelectorAll(".plot svg text")].some((one) => one.textContent.includes("switch0->host0")));
        await grace.waitForTimeout(1500);
        await picture(grace, "running");
        await accessible(grace, "running");
        await grace.getByRole("button", { name: "Cancel" }).click();
        await grace.waitForSelector(".badge.cancelled");
        await grace.getByRole("button", { name: "Remove" }).click();
        await grace.locator("dialog").getByRole("button", { name: "Remove" }).click();
        await grace.waitForFunction(() => location.hash.startsWith("#/runs"));
        await grace.getByRole("button", { name: "Undo" }).click();
        await grace.waitForTimeout(300);
        await go(grace, "runs");
        check((await grace.locator(".badge.cancelled").count()) >= 1, "a removed run can be taken back");
    },

    // The server is killed in the middle of a run: the page says so, and goes on when it is back.
    async misfortune() {
        await go(grace, "edit/new");
        await grace.waitForSelector(".verdict-ok");
        await type_scenario(grace, long_run.replace("8GB", "300MB"));
        await grace.waitForTimeout(500);
        await grace.waitForSelector(".verdict-ok");
        await grace.getByRole("button", { name: "Run", exact: true }).click();
        await grace.waitForSelector(".running-card");
        const at = grace.url();
        await stop("SIGKILL");
        await grace.waitForSelector(".offline");
        await picture(grace, "offline");
        await start();
        await grace.waitForFunction(() => !document.querySelector(".offline"));
        check(grace.url() === at, "one stays where one was");
        await grace.waitForSelector(".story");
        const story = await text_of(grace, ".story");
        check(story.includes("8 of 8 flows"), `the run was done once the server was back: ${story}`);
    },

    async result() {
        const views = { summary: ".story", causes: ".remedies", network: ".map-canvas", series: ".plot svg", figures: ".figure", flows: ".grid-row", hosts: "tbody tr", ports: ".grid-row", models: ".pairs", events: ".grid-row", log: ".code-block, .empty", files: "tbody tr" };
        for (const [tab, sign] of Object.entries(views)) {
            await go(ada, `run/${first_run}?tab=${tab}`);
            await ada.waitForSelector(sign).catch(() => check(false, `result, ${tab}: no ${sign}: ${complaints.join(" ")}`));
            await picture(ada, `result-${tab}`);
            await accessible(ada, `result, ${tab}`);
        }
        await go(ada, `run/${first_run}?tab=causes`);
        await ada.waitForSelector(".remedies");
        check((await ada.getByRole("heading", { name: /^1\. / }).count()) === 1, "the main cause has a card");
        // The browser reads the Chrome trace of this run, and every slice has a place.
        const folder = `${WORK}/data/runs/${first_run}/result`;
        const trace = spawnSync(resolve(PROGRAM, "../rocesim"), ["timeline", folder, "-o", "-"], { encoding: "utf8", maxBuffer: 1 << 28 });
        const drawn = await ada.evaluate((text) => {
            const events = JSON.parse(text).traceEvents;
            const tracks = new Set(events.filter((one) => one.name === "thread_name").map((one) => `${one.pid} ${one.tid}`));
            const slices = events.filter((one) => one.ph === "X");
            return { slices: slices.length, placed: slices.filter((one) => one.dur >= 0 && tracks.has(`${one.pid} ${one.tid}`)).length };
        }, trace.stdout);
        check(drawn.slices > 0 && drawn.placed === drawn.slices, `the browser reads the trace: ${JSON.stringify(drawn)}`);
        // The colours follow the slider, and a node can be found by its name.
        await go(ada, `run/${first_run}?tab=network&metric=queue`);
        await ada.waitForSelector("input[type=range]:not([disabled])");
        const before = await text_of(ada, ".slider-row output");
        await ada.locator("input[type=range]").focus();
        for (let press = 0; press < 5; press++) {
            await ada.keyboard.press("ArrowRight");
        }
        check((await text_of(ada, ".slider-row output")) !== before, "the slider moves through time");
        await ada.getByLabel("Find a node").fill("switch0");
        await ada.keyboard.press("Enter");
        check((await text_of(ada, "h3")).includes("switch0") || (await ada.getByRole("heading", { name: "switch0" }).count()) > 0, "a node is found by its name");
        // The time of one picture becomes that of all views: fewer events, and the plots begin there.
        await ada.getByRole("button", { name: "Only this moment" }).click();
        await ada.waitForFunction(() => /from=\d+&to=\d+/.test(location.hash));
        const rows_of = async () => Number(/[\d,]+/.exec(await text_of(ada, "section.card h2"))[0].replaceAll(",", ""));
        await ada.getByRole("tab", { name: "Events" }).click();
        await ada.waitForTimeout(700);
        const some = await rows_of();
        await picture(ada, "range");
        await ada.getByRole("button", { name: "Whole run" }).click();
        await ada.waitForTimeout(500);
        const all = await rows_of();
        check(some < all, `a chosen time has fewer events (${some} of ${all})`);
        await ada.getByRole("textbox", { name: "To", exact: true }).fill("50us");
        await ada.getByRole("textbox", { name: "To", exact: true }).press("Enter");
        await ada.getByRole("link", { name: "Packets" }).click();
        await ada.waitForSelector(".grid-row");
        check((await ada.getByRole("textbox", { name: "To", exact: true }).inputValue()) === "50 µs", "captures show the same time");
        await ada.getByRole("button", { name: "Whole run" }).click();
        const download = ada.waitForEvent("download");
        await go(ada, `run/${first_run}?tab=figures`);
        await ada.locator('.bars-place[aria-label*="->"] svg path').first().waitFor({ state: "attached" });
        check((await ada.locator('.bars-place svg path[d*="NaN"]').count()) === 0, "every box has a place");
        await ada.getByRole("button", { name: "Save the figure as SVG" }).first().click();
        check(/\.svg$/.test((await download).suggestedFilename()), "a figure is saved");
    },

    // A run opens on the page that the program describes for its traffic; the page says what the program says.
    async pages() {
        await go(ada, "edit/library/collective");
        await ada.waitForSelector(".verdict-ok");
        await ada.getByRole("button", { name: "Run", exact: true }).click();
        await ada.waitForFunction(() => location.hash.startsWith("#/run/"));
        const run = Number(/run\/(\d+)/.exec(ada.url())[1]);
        await ada.waitForSelector(".page-charts");
        check((await text_of(ada, "[role=tab][aria-selected=true]")) === "Collective", "a collective opens on its page");
        const bandwidth = await text_of(ada, ".facts");
        check(/GB\/s/.test(bandwidth) && /bus bandwidth/.test(bandwidth), `the bus bandwidth has its unit: ${bandwidth}`);
        check((await ada.locator(".page-charts table.plain tbody tr").count()) === 1, "a row for the collective");
        await picture(ada, "page-collective");
        await accessible(ada, "page of a collective");
        const file = (name) => ada.evaluate(async (path) => (await fetch(path)).json(), `api/v1/runs/${run}/files/result/${name}`);
        const { apps, flows, hottest_ports, local_flows, story } = await file("summary.json");
        const { ports } = await ada.evaluate(async (path) => (await fetch(path)).json(), `api/v1/runs/${run}/map?metric=utilisation&frames=1`);
        check(hottest_ports.length > 0 && hottest_ports.every(({ port, utilisation }) => Math.abs(ports[port][0] - utilisation) < 1e-4), "the network shows the summary's utilisation");
        await go(ada, `run/${run}?tab=summary`);
        await ada.waitForSelector(".story");
        check((await text_of(ada, ".story")) === story.join(" "), "the story is the program's");
        check(local_flows.count > 0 && flows.count + flows.left_out + local_flows.count === apps[0].messages, `rows of NVLink: ${local_flows.count}`);
        check((await ada.getByText("NVLink, in hosts").count()) === 1, "messages over NVLink have a row of their own");
        await go(ada, `run/${run}?tab=causes`);
        await ada.waitForSelector(".note");
        check((await text_of(ada, ".note")).trim() === (await file("explain.json")).verdict_text, "the verdict is explain's own sentence");
        await go(ada, `run/${run}?tab=hosts`);
        await ada.waitForSelector("[role=tabpanel] tbody tr");
        const sent = await ada.locator("[role=tabpanel] tbody tr td:nth-child(2)").allTextContents();
        check(sent.reduce((sum, one) => sum + Number(one.replace(",", "")), 0) === flows.count, "hosts count flows over the network alone");
        check((await ada.getByText("the run left out").count()) === 1, "a list of hosts says what the run left out");
        await go(ada, `run/${run}?tab=causes`);
        // What may help runs beside the run.
        await ada.getByRole("button", { name: "Try it" }).first().click();
        await ada.waitForSelector(".remedies table");
        check((await ada.locator(".remedies table").first().locator("thead th").count()) === 3, "both runs stand beside each other");
        // The tabs fit, however many they are.
        await ada.setViewportSize({ width: 1400, height: 900 });
        check(await ada.evaluate(() => document.querySelector(".tabs").scrollWidth <= document.querySelector(".tabs").clientWidth), "no tab is cut at 1400 px");
        await ada.setViewportSize({ width: 1280, height: 800 });
        await ada.evaluate(() => localStorage.setItem("studio.language", '"zh"'));
        await ada.reload();
        await go(ada, `run/${run}?tab=summary`);
        await ada.waitForSelector(".story");
        const chinese = await text_of(ada, ".story");
        check(!/[a-z]{3,} [a-z]{3,} [a-z]{3,}/i.test(chinese), `the story in Chinese: ${chinese}`);
        await picture(ada, "page-collective-zh");
        await ada.evaluate(() => localStorage.setItem("studio.language", '"en"'));
        await ada.reload();
    },

    // Tables: arrow keys move, Enter opens, heads sort, edges and keys set widths, and long ones stay short in the page.
    packets: data.packets,
    timeline: data.timeline,

    async grids() {
        await go(ada, `query?runs=${first_run}&table=events`);
        await ada.waitForSelector(".grid-row");
        await ada.locator(".grid").focus();
        await ada.keyboard.press("ArrowDown");
        await ada.keyboard.press("ArrowDown");
        check((await ada.locator(".grid-row.now").getAttribute("aria-rowindex")) === "3", "arrow keys move through rows");
        await ada.keyboard.press("Enter");
        await ada.waitForSelector("dialog .pairs");
        await ada.keyboard.press("Escape");
        await ada.locator(".grid").focus();
        await ada.keyboard.press("End");
        const rows = Number(await ada.locator(".grid").getAttribute("aria-rowcount"));
        await ada.waitForFunction((last) => document.querySelector(".grid-row.now:not(.waiting)")?.getAttribute("aria-rowindex") === last, String(rows));
        check(rows > 100 && (await ada.locator(".grid-row").count()) < 60, `of ${rows} rows only those that are seen are in the page`);

        const head = ada.locator(".grid-head .cell").first();
        const width = async () => (await head.boundingBox()).width;
        const before = await width();
        const edge = await head.locator(".edge").boundingBox();
        await ada.mouse.move(edge.x + edge.width / 2, edge.y + edge.height / 2);
        await ada.mouse.down();
        await ada.mouse.move(edge.x + 62, edge.y + 5, { steps: 4 });
        await ada.mouse.up();
        const dragged = await width();
        check(dragged > before + 40, `an edge is dragged (${before} to ${dragged})`);
        await head.locator("button").focus();
        await ada.keyboard.press("Alt+ArrowLeft");
        check(Math.abs((await width()) - dragged + 16) < 2, "Alt and an arrow key set a width");

        const ports = async () => ada.locator(".grid-row:not(.waiting) .cell:nth-child(3)").allTextContents();
        const sorted = (texts, sign) => texts.every((text, index) => index === 0 || sign * texts[index - 1].localeCompare(text, "en") <= 0);
        const by_port = ada.locator(".grid-head button", { hasText: "port" });
        for (const [order, sign] of [["ascending", 1], ["descending", -1]]) {
            await by_port.click();
            await ada.waitForSelector(`.grid-head [aria-sort=${order}]`);
            await ada.waitForSelector(".grid-row:not(.waiting)");
            await settled(ada);
            check(sorted(await ports(), sign), `the server sorts by port, ${order}`);
        }
        await by_port.click();
        await ada.waitForFunction(() => !document.querySelector(".grid-head [aria-sort]"));

        // Rows that are here are sorted here, numbers as numbers.
        await go(ada, `query?runs=${first_run}&tab=sql`);
        await ada.getByRole("tab", { name: "SQL" }).click();
        await ada.waitForSelector(".sql-editor .cm-content");
        await ada.locator(".sql-editor .cm-content").click();
        await ada.keyboard.press("Control+A");
        await ada.keyboard.insertText("select 9 as n union all select 100 union all select 20");
        await ada.keyboard.press("Control+Enter");
        await ada.waitForSelector(".grid-head button");
        await ada.locator(".grid-head button").first().click();
        await ada.waitForSelector(".grid-head [aria-sort=ascending]");
        check((await ada.locator(".grid-row").allTextContents()).join() === "9,20,100", `numbers sort as numbers: ${await ada.locator(".grid-row").allTextContents()}`);
    },

    async query() {
        await go(ada, `query?runs=${first_run}&table=events`);
        await ada.waitForSelector(".grid-row");
        await picture(ada, "query");
        await accessible(ada, "query");
        await ada.getByRole("button", { name: "Add a condition" }).click();
        await ada.getByLabel("Column").selectOption("event");
        await ada.getByLabel("value", { exact: true }).fill("paused");
        await ada.waitForFunction(() => [...document.querySelectorAll(".grid-row")].length > 0 && [...document.querySelectorAll(".grid-row")].every((row) => row.textContent.includes("paused")));
        await ada.locator(".grid-row").first().click();
        await ada.waitForSelector("dialog .pairs");
        await ada.keyboard.press("Escape");

        await ada.getByRole("tab", { name: "SQL" }).click();
        await ada.waitForSelector(".sql-editor .cm-content");
        await ada.getByRole("button", { name: "Run the query" }).click();
        await ada.waitForSelector(".grid-row");
        await picture(ada, "sql");
        await accessible(ada, "sql");
        await ada.locator(".sql-editor .cm-content").click();
        await ada.keyboard.press("Control+A");
        await ada.keyboard.insertText("delete from events");
        await ada.keyboard.press("Control+Enter");
        await ada.waitForSelector(".note.bad");
        check((await ada.locator(".note.bad").count()) === 1, "SQL only reads");

        await ada.getByRole("tab", { name: "Search" }).click();
        await ada.getByLabel("Words").fill("paused host1");
        await ada.waitForSelector(".hit");
        check((await ada.locator("mark").count()) > 0, "what was found is marked");
        await picture(ada, "search");
        await accessible(ada, "search");

        await ada.getByRole("button", { name: "Save" }).click();
        await ada.locator("dialog").getByLabel("Name").fill("who was paused");
        await ada.locator("dialog").getByRole("button", { name: "Save" }).click();
        await go(ada, "query");
        await ada.getByRole("button", { name: "Open" }).click();
        await ada.locator("dialog", { hasText: "who was paused" }).waitFor();
        await ada.keyboard.press("Escape");
    },

    large: data.large,
    captures: data.captures,
    sweep: data.sweep,
    applications: data.applications,

    // What people come for, counted in clicks and seconds.
    async tasks() {
        const enter = (page) => log_in(page, "ada", password);
        const folder = (run) => `${WORK}/data/runs/${run}`;
        await do_tasks({ ada, go, settled, check, text_of, visitor, log_in: enter, folder, first_run: () => first_run });
    },

    process: data.process,

    // Both languages, both themes, a desk and a tablet; keys alone.
    async looks() {
        const other = await visitor("zh", "dark");
        await other.goto(address);
        await other.waitForSelector("input[name=name]");
        await picture(other, "login-zh-dark");
        await accessible(other, "login, dark");
        await log_in(other, "ada", password);
        await other.waitForSelector(".shell");
        const views = { library: "simulate", workbench: "edit/library/quickstart", runs: "runs", summary: `run/${first_run}`, network: `run/${first_run}?tab=network`, series: `run/${first_run}?tab=series`, query: `query?runs=${first_run}`, captures: `captures/${first_run}?packet=3`, process: `process?runs=${first_run}&recipe=cdf`, account: "account", users: "users" };
        for (const [name, hash] of Object.entries(views)) {
            await go(other, hash);
            await other.waitForTimeout(150);
            await picture(other, `${name}-zh-dark`);
            await accessible(other, `${name}, dark`);
            await other.setViewportSize({ width: 820, height: 1100 });
            await other.waitForTimeout(150);
            const wide = await other.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
            check(wide <= 0, `${name} fits 820 pixels (${wide} too wide)`);
            await picture(other, `${name}-zh-820`);
            await other.setViewportSize({ width: 1280, height: 800 });
        }
        // A sentence that begins another one stands before it in Chinese, too.
        await go(other, `run/${first_run}?tab=figures`);
        await other.getByText(/^没有图：没有 slowdown 的图：/).first().waitFor();
        const missing = await other.locator("body").innerText();
        check(!missing.includes("undefined"), "no word is missing");
        await other.context().close();

        await go(ada, "account");
        await picture(ada, "account");
        await accessible(ada, "account");
        await go(ada, "simulate");
        await ada.keyboard.press("g");
        await ada.keyboard.press("r");
        // Only when the view stands: one that begins closes what was asked in the one before.
        await ada.waitForFunction(() => location.hash === "#/runs" && document.title.startsWith("Runs"));
        await ada.keyboard.press("?");
        await ada.waitForSelector("dialog table");
        await picture(ada, "help");
        await accessible(ada, "help");
        await ada.keyboard.press("Escape");
    },

    // Eight tabs of one browser: one stream of events for all, so that the last tab loads, too; it passes on when its
    // tab closes, and a run's end reaches every tab.
    async tabs() {
        const context = ada.context();
        let streams = 0;
        const count = (request) => {
            streams += request.url().endsWith("/api/v1/events") ? 1 : 0;
        };
        context.on("request", count);
        const pages = [];
        for (let number = 0; number < 8; number++) {
            const page = await context.newPage();
            page.setDefaultTimeout(patience);
            await page.goto(`${address}/#/runs`);
            await page.waitForSelector(".grid-row");
            pages.push(page);
        }
        check(streams <= 1, `eight tabs open ${streams} streams of events`);
        await ada.evaluate(async () => {
            const { csrf } = await (await fetch("api/v1/me")).json();
            const body = JSON.stringify({ name: "told to all tabs", library: "quickstart" });
            await fetch("api/v1/runs", { method: "POST", body, headers: { "Content-Type": "application/json", "X-Studio-Token": csrf } });
        });
        for (const page of pages) {
            await page.locator(".grid-row", { hasText: "told to all tabs" }).filter({ hasText: "done" }).waitFor();
        }
        for (const page of pages) {
            await page.close();
        }
        context.off("request", count);
    },

    // A password changed, a token made and revoked, out everywhere.
    async account() {
        await go(grace, "account");
        await grace.getByLabel("Current password").fill(password);
        await grace.getByLabel("New password").fill(`${password} anew`);
        await grace.getByLabel("Repeat the password").fill(`${password} anew`);
        await grace.getByRole("button", { name: "Change the password" }).click();
        await grace.locator(".toast", { hasText: "changed" }).waitFor();
        await grace.getByRole("button", { name: "New token" }).click();
        await grace.locator("dialog").getByLabel("Purpose").fill("a script");
        await grace.locator("dialog").getByRole("button", { name: "Create the token" }).click();
        const token = await grace.locator('dialog input.mono').inputValue();
        const answer = await fetch(`${address}/api/v1/runs`, { headers: { Authorization: `Bearer ${token}` } });
        check(answer.status === 200, `a script with the token lists runs (${answer.status})`);
        await grace.locator("dialog").getByRole("button", { name: "Close" }).click();
        await grace.getByRole("button", { name: "Log out everywhere" }).click();
        await grace.locator("dialog").getByRole("button", { name: "Log out everywhere" }).click();
        await grace.getByRole("button", { name: "Log in" }).waitFor();
        await log_in(grace, "grace", `${password} anew`);
        await grace.waitForSelector(".shell");
    },
};

await start();
const began = Date.now();
// Steps that ask what a build of the server does not have are left out, and said.
const needs = { result: "/api/v1/runs/{run}/map", query: "/api/v1/query", captures: "/api/v1/runs/{run}/captures", process: "/api/v1/analysis" };
async function has_route(path) {
    return ada.evaluate(async (wanted) => wanted in (await (await fetch("api/v1/openapi.json")).json()).paths, path);
}
let failed_steps = 0;
for (const [name, step] of Object.entries(steps)) {
    if (only.length > 0 && !only.includes(name)) {
        continue;
    }
    if (needs[name] && !(await has_route(needs[name]))) {
        console.log(`left out ${name}: the server has no ${needs[name]}`);
        continue;
    }
    if (failed_steps === failed_steps_limit) {
        console.log(`left out ${name}: ${failed_steps} steps have failed`);
        continue;
    }
    const from = Date.now();
    const before = failures;
    const hangs = setTimeout(() => {
        console.log(`FAIL: the step ${name} does not end; the page is ${ada.url()}`);
        process.exit(1);
    }, step_limit);
    try {
        await step();
    } catch (error) {
        check(false, `${name}: ${error.message.split("\n").slice(0, 6).join(" | ")}`);
        for (const [who, page] of [["ada", ada], ["grace", grace]]) {
            await page.screenshot({ path: `${PICTURES}/failed-${name}-${who}.png`, caret: "initial" }).catch(() => undefined);
            await page.keyboard.press("Escape").catch(() => undefined);
        }
    }
    clearTimeout(hangs);
    failed_steps += failures === before ? 0 : 1;
    console.log(`${failures === before ? "good" : "BAD "} ${name}: ${((Date.now() - from) / 1000).toFixed(1)} s`);
}
for (const complaint of complaints) {
    check(false, `the browser complained: ${complaint}`);
}
setTimeout(() => {
    console.log("FAIL: the browser or the server does not end");
    process.exit(1);
}, patience);
await browser.close();
await stop("SIGTERM");
console.log(`${failures} failures in ${((Date.now() - began) / 1000).toFixed(1)} s`);
process.exit(failures > 0 ? 1 : 0);
