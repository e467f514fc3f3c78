import { suggest } from "@drover/controller";
import { isLoopback } from "@drover/listener";
import { parseRedisUrl } from "@drover/queue";
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse, YAMLParseError } from "yaml";
import { z } from "zod";
import {
  certificatesFile,
  InvalidSettingsError,
  parseWith,
  secretFile,
  nonSecretProblem,
} from "../process/settings.ts";

/** Namespaces with a Redis of their own, and how it is reached. */
export interface Tenant {
  /** May be empty, for a server that is no longer used: it is still searched for what functions have left there. */
  readonly namespaces: readonly string[];
  readonly url: string;
  readonly password?: string | undefined;
  readonly ca?: string | undefined;
  /** The URL for Pods, without user. Undefined: the same as `url`. */
  readonly functionsUrl?: string | undefined;
}

export const namespaceName = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, {
  error: "give the name of a namespace",
});

const redisUrl = z.string().transform(parseWith((text) => (parseRedisUrl(text), text)));

/** The URL of Redis for Pods. A user or password in it would be given to every function. */
export const redisUrlForPods = z
  .string()
  .regex(/^rediss?:\/\/[^\s/@,?#]+(\/\d*)?(\?cluster=(true|false))?$/, {
    error:
      "give a URL such as redis://redis.drover:6379, without a user, a password or parameters other than cluster=true",
  });

const entry = z.strictObject({
  namespaces: z.array(namespaceName),
  url: redisUrl,
  passwordFile: z.string().min(1).optional(),
  caFile: z.string().min(1).optional(),
  functionsUrl: redisUrlForPods.optional(),
});
const fields = Object.keys(entry.shape);
const listSchema = z.array(
  entry.refine(({ url, functionsUrl }) => functionsUrl !== undefined || URL.canParse(url), {
    path: ["functionsUrl"],
    error: "give the one address by which Pods reach the cluster of the url",
  }),
);

/** A path to the file that names the Redis of each tenant, as text in the environment; parsed to its entries. */
export const tenantsFile = z.string().transform((path, context): readonly Tenant[] => {
  const { tenants, problems } = readTenants(path);
  for (const message of problems) context.addIssue(nonSecretProblem(message));
  return problems.length > 0 ? z.NEVER : tenants;
});

interface TenantsResult {
  readonly tenants: readonly Tenant[];
  readonly problems: readonly string[];
}

function readTenants(path: string): TenantsResult {
  const refused = (...problems: readonly string[]): TenantsResult => ({ tenants: [], problems });
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    return refused(`${path} is not a file. Give a YAML list of entries with ${fields.join(", ")}.`);
  }
  let content: unknown;
  try {
    content = parse(readFileSync(path, "utf8"), { maxAliasCount: 100 });
  } catch (error) {
    // Messages of the parser quote the file, and a URL in it may contain a password.
    const [{ line }] = error instanceof YAMLParseError && error.linePos ? error.linePos : [{ line: "?" }];
    return refused(`it is not YAML, at line ${line}. Give a list of entries with ${fields.join(", ")}.`);
  }
  const parsed = listSchema.safeParse(content);
  if (!parsed.success) return refused(...parsed.error.issues.map(explain));
  const problems: string[] = [];
  const fileOf = (of: typeof secretFile, name: string | undefined, where: string) => {
    if (name === undefined) return undefined;
    // Relative to the folder of the file itself, since both are mounted together.
    const { data, error } = of.safeParse(resolve(dirname(path), name));
    problems.push(...(error?.issues ?? []).map(({ message }) => `${where}: ${message}`));
    return data;
  };
  const tenants = parsed.data.map(({ passwordFile, caFile, ...one }, i): Tenant => ({
    ...one,
    password: fileOf(secretFile, passwordFile, `entry ${i + 1}, passwordFile`),
    ca: fileOf(certificatesFile, caFile, `entry ${i + 1}, caFile`),
  }));
  return { tenants, problems: [...problems, ...duplicateProblems(tenants)] };
}

function explain({ path: [index, ...rest], ...issue }: z.core.$ZodIssue): string {
  if (index === undefined) return `it is not a list. Give entries with ${fields.join(", ")}.`;
  const where = [`entry ${Number(index) + 1}`, ...rest.map(String)].join(", ");
  if (issue.code !== "unrecognized_keys") return `${where}: ${issue.message}`;
  return issue.keys
    .map((key) => `${where}: there is no field ${JSON.stringify(key)}. ${suggest(key, fields)}`)
    .join(" ");
}

/** A problem for each namespace or server that is in the file more than once. */
function duplicateProblems(tenants: readonly Tenant[]): readonly string[] {
  const names = tenants.flatMap((tenant, i) => tenant.namespaces.map((name) => [name, i] as const));
  const servers = tenants.flatMap((tenant, i) => [...serversOf(tenant)].map((place) => [place, i] as const));
  return [
    ...duplicates(names).map(
      ([name, at]) =>
        `the namespace ${name} is in entries ${at}. A namespace has one Redis: remove the others.`,
    ),
    ...duplicates(servers).map(
      ([place, at]) =>
        `the server ${place} is in entries ${at}. Put their namespaces into one entry, or give each a server.`,
    ),
  ];
}

function duplicates(all: readonly (readonly [string, number])[]): readonly (readonly [string, string])[] {
  const grouped = Map.groupBy(all, ([text]) => text);
  return [...grouped].flatMap(([text, found]) =>
    found.length > 1 ? [[text, found.map(([, i]) => i + 1).join(" and ")] as const] : [],
  );
}

/**
 * The servers of a tenant's URLs as text, which is the same for the same host and port. Host names are not resolved.
 */
const serversOf = ({ url, functionsUrl = url }: Pick<Tenant, "url" | "functionsUrl">): ReadonlySet<string> =>
  new Set([url, functionsUrl].flatMap((each) => parseRedisUrl(each).nodes).map(serverKey));

const serverKey = ({ host, port }: { readonly host: string; readonly port: number }): string => {
  const name = host.toLowerCase().replace(/\.$/, "");
  return `${isLoopback(name) ? "127.0.0.1" : name}:${port}`;
};

/** The namespaces and the Redis of Drover itself. */
export interface ReservedForDrover {
  /** The namespaces of the deployer, which has a queue of its own. No tenant may have them. */
  readonly own: readonly string[];
  readonly redisUrl: string;
  /** The URL for Pods. */
  readonly functionsUrl?: string | undefined;
}

/** @throws InvalidSettingsError if a tenant has a namespace or a server of Drover's own. */
export function refuseReserved(
  tenants: readonly Tenant[],
  { own, redisUrl: url, functionsUrl }: ReservedForDrover,
): void {
  const main = serversOf({ url, functionsUrl });
  const problems = tenants.flatMap((tenant, i) => [
    ...tenant.namespaces
      .filter((name) => own.includes(name))
      .map(
        (name) =>
          `the namespace ${name} is the deployer's own: permissions are granted by a queue there. Leave it out.`,
      ),
    ...[...serversOf(tenant)]
      .filter((place) => main.has(place))
      .map(
        (place) =>
          `entry ${i + 1}: the server ${place} is the one of DROVER_REDIS_URL. Give the tenant another.`,
      ),
  ]);
  if (problems.length === 0) return;
  throw new InvalidSettingsError(problems.map((problem) => `DROVER_TENANTS_FILE cannot be used: ${problem}`));
}
