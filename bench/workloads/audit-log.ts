import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { AuditLines } from "../bridge/cluster/audit-lines.ts";

/** A line for every request, except those of processes that only watch or repair the control plane. */
export const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "ResponseStarted", "Panic"],
  rules: [
    { level: "None", nonResourceURLs: ["/*"] },
    { level: "None", resources: [{ group: "coordination.k8s.io" }] },
    { level: "Metadata" },
  ],
};

const entry = z.object({
  userAgent: z.string().default(""),
  user: z.object({ username: z.string() }),
  verb: z.string(),
  objectRef: z.object({ resource: z.string(), subresource: z.string().optional() }).optional(),
});

/** A request, as the API server noted it. */
export interface Request {
  readonly user: string;
  readonly userAgent: string;
  /** With the resource, as in `update deployments/status`. */
  readonly what: string;
}

/** Some requests come when all is done, as those of Events. */
const quietMs = 2_000;

/** Until none of them has asked for anything for a while. */
export async function untilQuiet(audit: AuditLines, isTheirs: (request: Request) => boolean): Promise<void> {
  for (;;) {
    const mark = await audit.mark();
    await delay(quietMs);
    if (!(await audit.since(mark)).map(requestOf).some(isTheirs)) return;
  }
}

/** How many of these lines are requests of theirs, by what they asked for. */
export function countedByWhat(
  lines: readonly unknown[],
  isTheirs: (request: Request) => boolean,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { what } of lines.map(requestOf).filter(isTheirs)) counts[what] = (counts[what] ?? 0) + 1;
  return counts;
}

function requestOf(line: unknown): Request {
  const { user, userAgent, verb, objectRef } = entry.parse(line);
  const { resource = "", subresource } = objectRef ?? {};
  const what = `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
  return { user: user.username, userAgent, what };
}
