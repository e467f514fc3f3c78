import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

const requestSchema = z.looseObject({
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
});

/** An entry of the audit log. */
export interface AuditedRequest {
  /** The user that it was served as. */
  readonly user: string;
  /** The user that sent it: another one if `user` is impersonated. */
  readonly by: string;
  readonly verb: string;
  readonly group: string;
  /** With the subresource, as in `pods/status`. */
  readonly resource: string;
  readonly name: string;
  readonly code: number;
  /** The time of its arrival: milliseconds since 1970. */
  readonly at: number;
}

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
      return lines.flatMap((line) => {
        const { data } = requestSchema.safeParse(JSON.parse(line));
        return data === undefined ? [] : [requestOf(data)];
      });
    },
    remove: () => rm(folder, { recursive: true }),
  };
}

function requestOf(event: z.output<typeof requestSchema>): AuditedRequest {
  const { apiGroup: group, resource, subresource, name } = event.objectRef;
  return {
    user: event.impersonatedUser?.username ?? event.user.username,
    by: event.user.username,
    verb: event.verb,
    group,
    name,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    code: event.responseStatus?.code ?? 0,
    at: Date.parse(event.requestReceivedTimestamp),
  };
}
