import { z } from "zod";
import type { AuditLines } from "./audit-lines.ts";

/**
 * Requests in the API server's audit log: a line when a request has arrived, except for the bench's writes.
 */
export const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["ResponseStarted", "ResponseComplete", "Panic"],
  rules: [
    {
      level: "None",
      verbs: ["create", "update", "patch", "delete"],
      resources: [{ group: "bench.drover.dev" }],
    },
    { level: "None", nonResourceURLs: ["/readyz*", "/healthz*", "/livez*"] },
    { level: "None", users: ["system:apiserver"] },
    { level: "Metadata" },
  ],
};

const entry = z.object({
  userAgent: z.string().default(""),
  verb: z.string(),
  requestURI: z.string(),
  objectRef: z.object({ resource: z.string() }).optional(),
});

/** Requests of one program. */
export interface Requests {
  readonly lists: number;
  readonly watches: number;
  /** Discovery, and whatever else. */
  readonly others: number;
}

export interface AuditLog {
  /** The place in the log that is now its end. */
  mark(): Promise<number>;
  /** Requests of a program since a mark, by the prefix of its user agent. */
  since(mark: number, userAgent: string): Promise<Requests>;
}

export function auditLog(lines: AuditLines): AuditLog {
  return {
    mark: () => lines.mark(),
    async since(mark, userAgent) {
      const asked = (await lines.since(mark))
        .map((line) => entry.parse(line))
        .filter((each) => each.userAgent.startsWith(userAgent));
      const count = (...verbs: string[]): number =>
        asked.filter((each) => each.objectRef?.resource === "widgets" && verbs.includes(each.verb)).length;
      const [lists, watches] = [count("list"), count("watch")];
      return { lists, watches, others: asked.length - lists - watches };
    },
  };
}
