import { createReadStream } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { type Api, openApi } from "./api.ts";

const time = z.iso.datetime({ offset: true, precision: 6 }).transform(microseconds);
const entrySchema = z.object({
  userAgent: z.string().default(""),
  user: z.object({ username: z.string() }),
  verb: z.string(),
  objectRef: z
    .object({ resource: z.string(), subresource: z.string().optional(), name: z.string().default("") })
    .optional(),
  requestReceivedTimestamp: time,
  stageTimestamp: time,
});

/** An entry of an API server's audit log: a request, or one stage of it. */
export type AuditEntry = Readonly<z.output<typeof entrySchema>>;

/** ms since 1970: a Date keeps no microseconds. */
function microseconds(text: string): number {
  const [seconds = "", fraction = ""] = text.replace("Z", "").split(".");
  return Date.parse(`${seconds}Z`) + Number(fraction.padEnd(6, "0")) / 1_000;
}

/** The audit log of an API server. */
export interface AuditLog {
  /** The place in the log that is now its end. */
  mark(): Promise<number>;
  since(mark: number): Promise<readonly AuditEntry[]>;
}

/** The parts of an audit policy that differ. */
export interface AuditPolicy {
  readonly omitStages: readonly string[];
  readonly rules: readonly object[];
}

/** A cluster whose requests can be counted. */
export interface Audited<Cluster> {
  readonly cluster: Cluster;
  readonly api: Api;
  readonly audit: AuditLog;
  /** For logs and recordings; goes away with the cluster. */
  readonly folder: string;
  stop(): Promise<void>;
}

interface Stoppable {
  readonly kubeconfig: string;
  stop(): Promise<unknown>;
}

/** Starts a cluster that keeps an audit log. `start` passes the given arguments to the API server. */
export async function startAudited<Cluster extends Stoppable>(
  policy: AuditPolicy,
  start: (apiServerArgs: readonly string[]) => Promise<Cluster>,
): Promise<Audited<Cluster>> {
  const folder = await mkdtemp(join(tmpdir(), "drover-bench-"));
  const [policyFile, file] = [join(folder, "audit-policy.yaml"), join(folder, "audit.log")];
  await writeFile(policyFile, JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", ...policy }));
  const cluster = await start([
    `--audit-policy-file=${policyFile}`,
    `--audit-log-path=${file}`,
    // MB, and 100 by default: a place in the log is one only while the API server does not begin another file.
    "--audit-log-maxsize=100000",
  ]);
  const api = openApi(cluster.kubeconfig);
  return {
    cluster,
    api,
    audit: auditLog(file),
    folder,
    async stop() {
      api.close();
      await cluster.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const auditLog = (file: string): AuditLog => ({
  mark: () =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    ),
  async since(mark) {
    // The mark may be within a line, of a request before it.
    const begin = await text(createReadStream(file, { start: Math.max(0, mark - 1) }));
    const added = mark === 0 ? begin : begin.slice(begin.indexOf("\n") + 1);
    // The last line may be incomplete.
    const complete = added.split("\n").filter((line) => line.endsWith("}"));
    return complete.map((line) => entrySchema.parse(JSON.parse(line)));
  },
});
