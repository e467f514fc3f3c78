import { createReadStream } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** The entries of an API server's audit log, a line of JSON each. */
export interface AuditLines {
  /** The place in the log that is now its end. */
  mark(): Promise<number>;
  since(mark: number): Promise<readonly unknown[]>;
}

/** An audit log in `folder` with an audit policy; start the API server with `apiServerArgs`. */
export async function audited(
  folder: string,
  policy: object,
): Promise<{ readonly apiServerArgs: readonly string[]; readonly lines: AuditLines }> {
  const [policyFile, file] = [join(folder, "audit-policy.yaml"), join(folder, "audit.log")];
  await writeFile(policyFile, JSON.stringify(policy));
  const apiServerArgs = [
    `--audit-policy-file=${policyFile}`,
    `--audit-log-path=${file}`,
    // MB, and 100 by default: a place in the log is one only while the API server does not begin another file.
    "--audit-log-maxsize=100000",
  ];
  return { apiServerArgs, lines: auditLines(file) };
}

const auditLines = (file: string): AuditLines => ({
  mark: () =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    ),
  async since(mark) {
    const added = await text(createReadStream(file, { start: mark }));
    // The last line may be incomplete.
    const whole = added.split("\n").filter((line) => line.endsWith("}"));
    return whole.map((line): unknown => JSON.parse(line));
  },
});
