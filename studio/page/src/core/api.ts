// SPDX-License-Identifier: Apache-2.0
// Calls the server with JSON, turns failures into ApiError, and tracks whether the server can be reached.
import { with_query } from "./router";
import { session } from "./session";
import type { QueryAnswer, StepAnswer } from "./types";

export class ApiError extends Error {
    constructor(
        readonly status: number,
        message: string,
        readonly where?: { file?: string; line?: number; column?: number },
        readonly expected?: string,
        readonly body: Record<string, unknown> = {},
        readonly retry_after_s = 0,
    ) {
        super(message);
    }
}

export type Query = Record<string, string | number | boolean | undefined | null>;

export function api_url(path: string, query?: Query): string {
    return with_query(`api/v1/${path}`, query ?? {});
}

let offline = false;

export function is_offline(): boolean {
    return offline;
}

export function set_offline(now: boolean): void {
    if (now !== offline) {
        offline = now;
        window.dispatchEvent(new Event("studio-connection"));
    }
}

interface Options {
    query?: Query;
    body?: unknown;
    signal?: AbortSignal;
}

// Returns the raw response, for content that is not JSON; throws ApiError for an error status.
export async function call(method: string, path: string, options: Options = {}): Promise<Response> {
    const headers: Record<string, string> = { Accept: "application/json" };
    const init: RequestInit = {
        method,
        headers,
        credentials: "same-origin",
        cache: "no-store",
        signal: options.signal,
    };
    if (method !== "GET") {
        if (session.csrf) {
            headers["X-Studio-Token"] = session.csrf;
        }
        headers["Content-Type"] = "application/json";
        init.body = JSON.stringify(options.body ?? {});
    }
    let response: Response;
    try {
        response = await fetch(api_url(path, options.query), init);
    } catch (error) {
        if ((error as Error).name !== "AbortError") {
            set_offline(true);
            throw new ApiError(0, "offline");
        }
        throw error;
    }
    set_offline(false);
    if (!response.ok) {
        const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
        const error = (body.error ?? {}) as {
            message?: string;
            where?: { line?: number; column?: number };
            expected?: string;
        };
        if (response.status === 401 && session.user && path !== "login") {
            session.clear();
            window.dispatchEvent(new Event("studio-session"));
        }
        throw new ApiError(
            response.status,
            error.message ?? `${response.status} ${response.statusText}`,
            error.where,
            error.expected,
            body,
            Number(response.headers.get("Retry-After") ?? 0),
        );
    }
    return response;
}

async function json<T>(method: string, path: string, options: Options): Promise<T> {
    const response = await call(method, path, options);
    const text = await response.text();
    return (text ? JSON.parse(text) : {}) as T;
}

export const api = {
    get: <T>(path: string, query?: Query, signal?: AbortSignal) => json<T>("GET", path, { query, signal }),
    post: <T>(path: string, body?: unknown, signal?: AbortSignal) => json<T>("POST", path, { body, signal }),
    put: <T>(path: string, body?: unknown) => json<T>("PUT", path, { body }),
    patch: <T>(path: string, body?: unknown) => json<T>("PATCH", path, { body }),
    remove: <T>(path: string) => json<T>("DELETE", path, {}),
};

// Computes an analysis of runs on the server, and returns the rows of its last step.
export async function analysed(runs: number[], steps: object[], signal?: AbortSignal): Promise<StepAnswer> {
    const answer = await api.post<{ steps: StepAnswer[] }>("analysis", { runs, steps }, signal);
    return answer.steps.at(-1)!;
}

// Returns the rows of a table of a run.
export function rows_of(run: number, table: string, question: object, signal?: AbortSignal): Promise<QueryAnswer> {
    return api.post<QueryAnswer>("query", { runs: [run], table, format: "json", ...question }, signal);
}

// Returns what is got, or something else where the server has no such thing.
export function or_else<Got, Else>(got: Promise<Got>, otherwise: Else): Promise<Got | Else> {
    return got.catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) {
            return otherwise;
        }
        throw error;
    });
}

export function was_aborted(error: unknown): boolean {
    return (error as Error)?.name === "AbortError";
}
