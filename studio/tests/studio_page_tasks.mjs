// SPDX-License-Identifier: Apache-2.0
// studio/tests/studio_page_tasks.mjs - twelve tasks of four kinds of people, each with a most of clicks.

// Does the tasks. `tools` are the browser's page and the helpers of studio_page.mjs.
export async function do_tasks({ ada, go, settled, check, text_of, visitor, log_in, folder, first_run }) {
    let page = ada;
    let clicks = 0;
    let storm = 0; // the run of pfc-storm
    const press = async (locator) => {
        clicks++;
        await locator.click();
    };
    const button = (name) => page.getByRole("button", { name, exact: true }).first();
    const tab = (name) => press(page.getByRole("tab", { name, exact: true }));
    const run_of = () => Number(/run\/(\d+)/.exec(page.url())[1]);
    const open = async (entry) => {
        await go(page, `edit/library/${encodeURIComponent(entry)}`);
        await page.waitForSelector(".verdict-ok");
    };
    const run = async (name = "Run") => {
        await press(button(name));
        await page.waitForFunction(() => /#\/run\/\d+/.test(location.hash));
        await page.waitForSelector(".facts, .story");
        await settled(page);
    };
    const vary = async (...pairs) => {
        for (const [at, [path, values]] of pairs.entries()) {
            await press(button("Vary a parameter"));
            await page.getByLabel("Parameter", { exact: true }).nth(at).fill(path);
            await page.getByLabel("Values").nth(at).fill(values);
        }
        await press(page.getByRole("button", { name: /^Start \d+ runs$/ }));
        await page.waitForFunction(() => location.hash.includes("group="));
    };
    const heads = async () => (await page.locator(".grid-head .cell").allTextContents()).join(" | ");
    const upload = async (files, name) => {
        await go(page, "files");
        const [chooser] = await Promise.all([page.waitForEvent("filechooser"), press(button(name))]);
        await chooser.setFiles(files);
    };
    const use = async (file, name) => {
        const link = page.locator("tbody tr", { hasText: file }).locator(".button, button", { hasText: name }).first();
        await link.waitFor();
        await press(link);
    };

    // [who, what, most clicks, work, which returns whether the answer is on the page]
    const tasks = [
        ["student", "compares two congestion controls", 4, async () => {
            await open("quickstart");
            await vary(["nic.congestion-control", "dcqcn, hpcc"]);
            await page.locator(".grid-head").getByRole("button", { name: "fct p99" }).waitFor();
            await page.waitForFunction(() => document.querySelectorAll(".grid-row .badge.done").length === 2);
            return /congestion-control/.test(await heads()) && (await page.locator(".grid-row", { hasText: "hpcc" }).count()) === 1;
        }],
        ["student", "finds why a flow is slow", 1, async () => {
            await go(page, `run/${first_run()}`);
            await tab("Causes");
            return /switch0->host0/.test((await page.getByRole("heading", { name: /^1\. / }).textContent()) ?? "");
        }],
        ["student", "exports a figure", 2, async () => {
            await go(page, `run/${first_run()}`);
            await tab("Figures");
            const download = page.waitForEvent("download");
            await press(page.getByRole("button", { name: "Save the figure as SVG" }).first());
            return /\.svg$/.test((await download).suggestedFilename());
        }],
        ["student", "sweeps K_min and K_max and reads the best", 5, async () => {
            await open("quickstart");
            await vary(["switch.ecn.kmin", "50KB, 400KB"], ["switch.ecn.kmax", "800KB, 1600KB"]);
            const head = page.locator(".grid-head").getByRole("button", { name: "fct p99" });
            await head.waitFor();
            await page.waitForFunction(() => document.querySelectorAll(".grid-row .badge.done").length === 4);
            await press(head);
            await page.waitForSelector(".grid-head [aria-sort=ascending]");
            return /ecn\.kmin.*ecn\.kmax/.test(await heads()) && /\d+KB/.test(await page.locator(".grid-row").first().textContent());
        }],
        ["engineer", "brings a workload and reads exposed communication", 3, async () => {
            await upload(["scenarios/training/two_layers.txt"], "Upload files");
            await use("two_layers.txt", "Simulate");
            await page.waitForSelector(".verdict-ok");
            await run();
            const told = await page.locator(".page-charts").innerText();
            return /Critical path/.test(told) && /attention0 forward/.test(told);
        }],
        ["engineer", "reads times to the first and further tokens under a goal", 1, async () => {
            await open("serving/serving");
            await run();
            const facts = await text_of(page, ".facts");
            return ["time to first token, p99", "time per output token, p99", "requests per second within both goals"].every((one) => facts.includes(one));
        }],
        ["engineer", "sees which link is the bottleneck", 1, async () => {
            await tab("Summary");
            return /->/.test(await text_of(page, "section.card:has(h2:text('Longest queues')) tbody th"));
        }],
        ["operator", "brings the configuration of switches", 2, async () => {
            await upload("examples/operator/configs", "Upload a folder");
            await use("leaf1.json", "Make a scenario");
            await page.waitForSelector(".verdict-ok");
            await page.locator(".bench-side header p", { hasText: "6 hosts" }).waitFor();
            return true;
        }],
        ["operator", "finds the root of a storm and tries a remedy", 3, async () => {
            await open("pfc-storm");
            await run();
            storm = run_of();
            await tab("Causes");
            await page.getByText(/^Pauses that began at leaf/).first().waitFor();
            await press(button("Try it"));
            await page.waitForSelector(".remedies table");
            return true;
        }],
        ["operator", "brings a capture", 2, async () => {
            await upload([`${folder(storm)}/result/captures/pauses.pcap`], "Upload files");
            await use("pauses.pcap", "Show packets");
            return /PFC pause/.test(await text_of(page, ".grid-row"));
        }],
        ["teacher", "runs and reads a scenario in Chinese", 1, async () => {
            page = await visitor("zh");
            await log_in(page);
            await open("quickstart");
            await run("运行");
            return !/[a-z]{3,} [a-z]{3,} [a-z]{3,}/i.test(await text_of(page, ".story"));
        }],
        ["teacher", "shows packets on their way and follows one", 5, async () => {
            const number = run_of();
            await tab("数据包");
            await press(page.getByRole("button", { name: "重新运行并记录" }));
            await page.waitForFunction((old) => Number(/run\/(\d+)/.exec(location.hash)[1]) !== old, number);
            await page.locator(".map-canvas").waitFor();
            await press(button("播放"));
            await go(page, `captures/${run_of()}`);
            await press(page.locator(".grid-row").nth(3));
            await press(button("跟踪队列对"));
            await page.getByRole("button", { name: "全部数据包" }).waitFor();
            return true;
        }],
    ];
    for (const [who, what, most, work] of tasks) {
        clicks = 0;
        const from = Date.now();
        const good = await work();
        console.log(`     ${who} ${what}: ${clicks} clicks, ${((Date.now() - from) / 1000).toFixed(1)} s`);
        check(good, `${who} ${what}: the answer is not on the page`);
        check(clicks <= most, `${who} ${what}: ${clicks} clicks, expected at most ${most}`);
    }
    await page.context().close();
}
