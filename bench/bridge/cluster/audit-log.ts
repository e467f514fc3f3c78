import type { AuditEntry, AuditPolicy } from "./audited.ts";

/** An entry when a request has arrived, except for the bench's writes. */
export const auditPolicy: AuditPolicy = {
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

/** Requests of one program. */
export interface Requests {
  readonly lists: number;
  readonly watches: number;
  /** Discovery, and whatever else. */
  readonly others: number;
}

/** The requests of a program, by the prefix of its user agent. */
export function requestsOf(entries: readonly AuditEntry[], userAgent: string): Requests {
  const asked = entries.filter((each) => each.userAgent.startsWith(userAgent));
  const count = (verb: string): number =>
    asked.filter((each) => each.objectRef?.resource === "widgets" && each.verb === verb).length;
  const [lists, watches] = [count("list"), count("watch")];
  return { lists, watches, others: asked.length - lists - watches };
}
