// SPDX-License-Identifier: Apache-2.0
// Readable names of columns, results and settings, which stand at axes and in heads of tables.
import { study_name } from "../i18n/text";

export function column_title(name: string): string {
    return study_name("columns", name) ?? name.replaceAll("_", " ");
}

// Returns the last two words of a path: "l1.entries" for "nodes.host0.nic.cache.l1.entries".
export function short_path(path: string): string {
    return path.split(".").slice(-2).join(".");
}

// Returns a result or an attribute as it stands at an axis: a known result by its name, with the number of its
// traffic or NIC where that is not the first one; otherwise the end of its path.
export function field_title(path: string): string {
    const whole = study_name("columns", path);
    if (whole) {
        return whole;
    }
    const known = study_name("columns", path.split(".").pop()!);
    const place = /^(\w+)\[(\d+)\]/.exec(path);
    if (!known || !place) {
        return path.length > 28 ? `…${short_path(path)}` : path;
    }
    return place[2] === "0" ? known : `${known}, ${place[0]}`;
}
