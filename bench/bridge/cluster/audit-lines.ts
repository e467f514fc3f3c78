import { readFile, stat } from "node:fs/promises";

/** What an API server writes to its audit log: a line of JSON each. */
export interface AuditLines {
  /** The place in the log that is now its end. */
  mark(): Promise<number>;
  since(mark: number): Promise<readonly unknown[]>;
}

export const auditLines = (file: string): AuditLines => ({
  mark: () =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    ),
  async since(mark) {
    const text = (await readFile(file)).subarray(mark).toString();
    // The last line may not be whole yet.
    const whole = text.split("\n").filter((line) => line.endsWith("}"));
    return whole.map((line): unknown => JSON.parse(line));
  },
});
