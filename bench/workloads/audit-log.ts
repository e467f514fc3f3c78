import { z } from "zod";
import type { AuditLines } from "../bridge/cluster/audit-lines.ts";

/** A line for every request but those of whoever only watches and heals the control plane. */
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

/** What the API server has noted. */
export interface AuditLog {
  /** The place in the log that is now its end. */
  mark(): Promise<number>;
  since(mark: number): Promise<readonly Request[]>;
}

export function auditLog(lines: AuditLines): AuditLog {
  return {
    mark: () => lines.mark(),
    since: async (mark) => (await lines.since(mark)).map(requestOf),
  };
}

function requestOf(line: unknown): Request {
  const { user, userAgent, verb, objectRef } = entry.parse(line);
  const { resource = "", subresource } = objectRef ?? {};
  const what = `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
  return { user: user.username, userAgent, what };
}
