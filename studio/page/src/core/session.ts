// SPDX-License-Identifier: Apache-2.0
// The user who is logged in, with the role and the token against forged requests.

export type Role = "administrator" | "user" | "viewer";

export interface User {
    id: number;
    name: string;
    role: Role;
}

export interface Me {
    user: User;
    csrf: string;
}

class Session {
    user: User | null = null;
    csrf = "";

    set(me: Me): void {
        this.user = me.user;
        this.csrf = me.csrf;
    }

    clear(): void {
        this.user = null;
        this.csrf = "";
    }

    get may_run(): boolean {
        return this.user !== null && this.user.role !== "viewer";
    }

    get administrates(): boolean {
        return this.user?.role === "administrator";
    }
}

export const session = new Session();
