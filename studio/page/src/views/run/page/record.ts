// SPDX-License-Identifier: Apache-2.0
// Orders a run again with other settings: to record what it lacks, or to try what may help.
import { api, call } from "../../../core/api";
import { go, link } from "../../../core/router";
import { session } from "../../../core/session";
import type { Run } from "../../../core/types";
import { t } from "../../../i18n/text";
import { button } from "../../../ui/parts";

// Orders the scenario of a run with its own settings and the given ones, and returns the number of the new run.
export async function order_again(run: Run, settings: string[], name = run.name): Promise<number> {
    const yaml = await (await call("GET", `runs/${run.id}/files/scenario.yaml`)).text();
    const path_of = (setting: string) => setting.split("=")[0];
    const replaced = new Set(settings.map(path_of));
    const kept = run.set.filter((one) => !replaced.has(path_of(one)));
    const { library, shared } = run;
    const body = { name, yaml, set: [...kept, ...settings], shared, ...(library ? { library } : {}) };
    const answer = await api.post<{ runs: { id: number }[] }>("runs", body);
    return answer.runs[0]!.id;
}

// Makes a button that runs a scenario again so that it records more; null for those who may not run.
export function record_button(run: Run, setting: string, tab = ""): HTMLElement | null {
    const again = async () => {
        const id = await order_again(run, [setting]);
        go(tab ? `${link("run", id)}?tab=${tab}` : link("run", id));
    };
    const title = `--set ${setting}`;
    return session.may_run ? button(t().report.record, again, { kind: "main-action", icon: "again", title }) : null;
}
