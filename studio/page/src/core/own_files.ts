// SPDX-License-Identifier: Apache-2.0
// The user's own files on the server: their list, and uploads of files and folders.
import { api, ApiError, api_url } from "./api";
import { session } from "./session";

export interface OwnFile {
    path: string;
    size_bytes: number;
    changed_ms: number;
}

export interface OwnFiles {
    files: OwnFile[];
    used_bytes: number;
    quota_bytes: number;
    count: number;
    count_max: number;
}

export interface FileCheck {
    path: string;
    kind: "scenario" | "workload" | "requests" | "capture" | "fabric" | "counters" | "other";
    good: boolean | null;
    text: string;
}

export async function own_files(signal?: AbortSignal): Promise<OwnFiles> {
    const none: OwnFiles = { files: [], used_bytes: 0, quota_bytes: 0, count: 0, count_max: 0 };
    return session.may_run ? await api.get<OwnFiles>("files", undefined, signal) : none;
}

export function file_address(path: string): string {
    return `files/${path.split("/").map(encodeURIComponent).join("/")}`;
}

export interface Chosen {
    path: string;
    file: File;
}

// Sends one file; `sent` is called with the number of bytes so far. fetch cannot report them.
export function upload({ path, file }: Chosen, sent: (bytes: number) => void, signal: AbortSignal): Promise<void> {
    return new Promise((done, failed) => {
        const request = new XMLHttpRequest();
        request.open("PUT", api_url(file_address(path)));
        request.setRequestHeader("Content-Type", "application/octet-stream");
        request.setRequestHeader("X-Studio-Token", session.csrf);
        request.responseType = "json";
        request.upload.addEventListener("progress", (event) => sent(event.loaded));
        request.addEventListener("error", () => failed(new ApiError(0, "offline")));
        request.addEventListener("abort", () => failed(new DOMException("aborted", "AbortError")));
        request.addEventListener("load", () => {
            const body = (request.response ?? {}) as { error?: { message?: string } };
            if (request.status >= 200 && request.status < 300) {
                done();
            } else {
                failed(new ApiError(request.status, body.error?.message ?? `${request.status}`));
            }
        });
        signal.addEventListener("abort", () => request.abort());
        request.send(file);
    });
}

// Files that systems leave in folders, such as .DS_Store, are not what a user means to bring.
function is_meant(path: string): boolean {
    return path.split("/").every((part) => part !== "" && !part.startsWith("."));
}

// Returns what was chosen by an input element, with the paths below a chosen folder.
export function chosen_of(list: FileList | null): Chosen[] {
    return [...(list ?? [])]
        .map((file) => ({ path: file.webkitRelativePath || file.name, file }))
        .filter((one) => is_meant(one.path));
}

async function entries_of(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
    const reader = folder.createReader();
    const next = () => new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    const all: FileSystemEntry[] = [];
    // A reader gives at most a hundred entries at a time.
    for (let some = await next(); some.length > 0; some = await next()) {
        all.push(...some);
    }
    return all;
}

async function walk(entry: FileSystemEntry): Promise<Chosen[]> {
    const path = entry.fullPath.replace(/^\//, "");
    if (!is_meant(path)) {
        return [];
    }
    if (entry.isDirectory) {
        const inner = await entries_of(entry as FileSystemDirectoryEntry);
        return (await Promise.all(inner.map(walk))).flat();
    }
    const file = await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed));
    return [{ path, file }];
}

// Returns what was dropped: files, and folders with all in them.
export async function dropped_of(data: DataTransfer): Promise<Chosen[]> {
    // The list is empty as soon as the event is over, so all entries are taken from it at once.
    const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
    return entries.length > 0 ? (await Promise.all(entries.map(walk))).flat() : chosen_of(data.files);
}
