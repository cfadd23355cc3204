// SPDX-License-Identifier: Apache-2.0
// Comma-separated values.

function csv_cell(value: string | number | boolean | null): string {
    const text = value === null ? "" : String(value);
    // A spreadsheet would run a text such as "=1+1" as a formula.
    const plain = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
    return /[",\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

// Returns a line for each row, with quotes around the values that need them.
export function csv_text(rows: (string | number | boolean | null)[][]): string {
    return rows.map((row) => `${row.map(csv_cell).join(",")}\n`).join("");
}
