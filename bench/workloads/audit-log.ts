import { readFile, stat } from "node:fs/promises";
import { z } from "zod";

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

/** What the API server of a file has noted. */
export class AuditLog {
  readonly #file: string;
  constructor(file: string) {
    this.#file = file;
  }

  /** The place in the log that is now its end. */
  async mark(): Promise<number> {
    return (await stat(this.#file)).size;
  }

  async since(mark: number): Promise<readonly Request[]> {
    const text = (await readFile(this.#file)).subarray(mark).toString();
    // The last line may not be whole yet.
    const lines = text.split("\n").filter((line) => line.endsWith("}"));
    return lines.map((line): Request => {
      const { user, userAgent, verb, objectRef } = entry.parse(JSON.parse(line));
      const { resource = "", subresource } = objectRef ?? {};
      const what = `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
      return { user: user.username, userAgent, what };
    });
  }
}
