import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

const requestSchema = z
  .looseObject({
    verb: z.string(),
    user: z.looseObject({ username: z.string() }),
    impersonatedUser: z.looseObject({ username: z.string() }).optional(),
    objectRef: z.looseObject({
      apiGroup: z.string().default(""),
      resource: z.string(),
      subresource: z.string().optional(),
      name: z.string().default(""),
    }),
    responseStatus: z.looseObject({ code: z.number() }).optional(),
    requestReceivedTimestamp: z.string(),
  })
  .transform(({ verb, user, impersonatedUser, objectRef, responseStatus, requestReceivedTimestamp }) => ({
    verb,
    /** The user that it was served as. */
    user: (impersonatedUser ?? user).username,
    group: objectRef.apiGroup,
    /** With the subresource, as in `pods/status`. */
    resource: [objectRef.resource, objectRef.subresource].filter((part) => part !== undefined).join("/"),
    name: objectRef.name,
    code: responseStatus?.code ?? 0,
    /** The time of its arrival: milliseconds since 1970. */
    at: Date.parse(requestReceivedTimestamp),
  }));
/** An entry of the audit log. */
export type AuditedRequest = Readonly<z.output<typeof requestSchema>>;

/** The flags with which an API server writes an audit log, and its entries. */
export interface AuditLog {
  readonly apiServerArgs: readonly string[];
  readonly read: () => Promise<readonly AuditedRequest[]>;
  remove(): Promise<void>;
}

/** Records all requests of these users, and all users' requests for these kinds. */
export async function auditLog(
  users: readonly string[],
  kinds: readonly { readonly group: string; readonly resources: readonly string[] }[],
): Promise<AuditLog> {
  const folder = await mkdtemp(join(tmpdir(), "drover-audit-"));
  const file = join(folder, "audit.log");
  const policy = {
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived", "ResponseStarted"],
    rules: [{ level: "Metadata", users }, { level: "Metadata", resources: kinds }, { level: "None" }],
  };
  await writeFile(join(folder, "policy.yaml"), JSON.stringify(policy));
  return {
    apiServerArgs: [`--audit-policy-file=${join(folder, "policy.yaml")}`, `--audit-log-path=${file}`],
    async read() {
      // The last line may not be whole yet.
      const lines = (await readFile(file, "utf8")).split("\n").slice(0, -1);
      return lines.flatMap((line) => requestSchema.safeParse(JSON.parse(line)).data ?? []);
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
