import { setTimeout as delay } from "node:timers/promises";
import type { AuditEntry, AuditLog, AuditPolicy } from "../bridge/cluster/audited.ts";

/** An entry for every request, except those of processes that only watch or repair the control plane. */
export const auditPolicy: AuditPolicy = {
  omitStages: ["RequestReceived", "ResponseStarted", "Panic"],
  rules: [
    { level: "None", nonResourceURLs: ["/*"] },
    { level: "None", resources: [{ group: "coordination.k8s.io" }] },
    { level: "Metadata" },
  ],
};

/** Some requests come when all is done, as those of Events. */
const quietMs = 2_000;

/** Until none of them has asked for anything for a while. */
export async function untilQuiet(audit: AuditLog, isTheirs: (request: AuditEntry) => boolean): Promise<void> {
  for (;;) {
    const mark = await audit.mark();
    await delay(quietMs);
    if (!(await audit.since(mark)).some(isTheirs)) return;
  }
}

/** How many of these entries are requests of theirs, by what they asked for, as in `update deployments/status`. */
export function countedByWhat(
  entries: readonly AuditEntry[],
  isTheirs: (request: AuditEntry) => boolean,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verb, objectRef: { resource = "", subresource } = {} } of entries.filter(isTheirs)) {
    const what = `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}
