import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, resolve } from "node:path";
import { messageOf } from "@drover/controller";
import { loadYaml } from "@kubernetes/client-node";
import { z } from "zod";

// Reads a kubeconfig from one file or several, as client-go's tools/clientcmd/loader.go does: of each name the first
// file that has it wins, the first current-context that is set counts, paths are relative to the file that contains
// them, and unknown fields are ignored. There are three differences. Values that only YAML 1.1 has (`yes` for true),
// and a file with several documents, are refused instead of read differently. A context without a cluster is refused,
// too; client-go connects to localhost. Over plain HTTP client-go sends no credentials; we do, because the sandbox
// requires them.

/** No usable credentials were found. The message contains the correction. */
export class KubeConfigError extends Error {
  override readonly name = "KubeConfigError";
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}

/** Go's zero values: null and "" mean the same as a missing field. */
const text = z
  .string()
  .nullish()
  .transform((value) => value || undefined);
const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);
const base64 = z
  .string()
  .transform((value) => value.replace(/[\r\n]/g, ""))
  .pipe(z.base64())
  .nullish()
  .transform((value) => value || undefined);
const texts = z.array(z.string()).nullish();
const orEmpty = <Schema extends z.ZodType>(schema: Schema) => z.preprocess((value) => value ?? {}, schema);
const listOf = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .array(orEmpty(schema))
    .nullish()
    .transform((entries) => entries ?? []);
const name = z
  .string()
  .nullish()
  .transform((value) => value ?? "");

const clusterSchema = z.object({
  server: text,
  "tls-server-name": text,
  "insecure-skip-tls-verify": flag,
  "certificate-authority": text,
  "certificate-authority-data": base64,
  "proxy-url": text,
});
const execSchema = z.looseObject({
  command: text,
  args: texts,
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
});
const userSchema = z.object({
  "client-certificate": text,
  "client-certificate-data": base64,
  "client-key": text,
  "client-key-data": base64,
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  as: text,
  "as-uid": text,
  "as-groups": texts,
  "as-user-extra": z.record(z.string(), z.array(z.string())).nullish(),
  exec: execSchema.nullish().transform((value) => value ?? undefined),
  "auth-provider": z
    .looseObject({ name: text, config: z.record(z.string(), z.string()).nullish() })
    .nullish()
    .transform((value) => value ?? undefined),
});
const contextSchema = z.object({ cluster: text, user: text, namespace: text });

const kubeconfigSchema = z.object({
  apiVersion: z.enum(["", "v1"]).nullish(),
  kind: z.enum(["", "Config"]).nullish(),
  "current-context": text,
  clusters: listOf(z.object({ name, cluster: orEmpty(clusterSchema) })),
  contexts: listOf(z.object({ name, context: orEmpty(contextSchema) })),
  users: listOf(z.object({ name, user: orEmpty(userSchema) })),
});

export type KubeconfigCluster = z.output<typeof clusterSchema>;
export type KubeconfigUser = z.output<typeof userSchema>;
type KubeconfigContext = z.output<typeof contextSchema>;
type KubeconfigFile = z.output<typeof kubeconfigSchema>;

/** The merged content of one file or several. Paths are absolute. */
export interface Kubeconfig {
  /** The names of the files, for messages. */
  readonly where: string;
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>;
  readonly contexts: ReadonlyMap<string, KubeconfigContext>;
  readonly users: ReadonlyMap<string, KubeconfigUser>;
}

/** The entries that one context names. */
export interface KubeconfigChoice {
  readonly context: string;
  readonly namespace: string | undefined;
  readonly cluster: KubeconfigCluster;
  /** Empty if the context names none. */
  readonly user: Partial<KubeconfigUser>;
}

/**
 * Reads a kubeconfig.
 * @param files one path, of a file that must exist; or a list of paths: the files are merged, and missing ones are
 * skipped.
 * @throws KubeConfigError if no file exists, or one cannot be read or is malformed.
 */
export async function readKubeconfig(files: string | readonly string[]): Promise<Kubeconfig> {
  if (typeof files === "string") return merged([await fileAt(files)], []);
  const found = await Promise.all(
    [...new Set(files)].map((path) => fileAt(path).catch((error: unknown) => skipped(path, error))),
  );
  const read = found.filter((file) => typeof file !== "string");
  const absent = found.filter((file) => typeof file === "string");
  if (read.length > 0) return merged(read, absent);
  throw new KubeConfigError(
    `There is no kubeconfig: ${absent.join(", ")} ${absent.length === 1 ? "does" : "do"} not exist. ` +
      "Set KUBECONFIG to a file that does, or give its path.",
  );
}

/**
 * The entries that a context names. Without `context`: the current one.
 * @throws KubeConfigError if the context is missing, or an entry that it names.
 */
export function chooseContext(kubeconfig: Kubeconfig, context?: string): KubeconfigChoice {
  const { where, contexts, clusters, users, currentContext } = kubeconfig;
  const chosen = context ?? currentContext ?? "";
  const named = chosen === "" ? undefined : contexts.get(chosen);
  const { cluster, user, namespace } = named ?? missingContext(chosen, kubeconfig);
  const subject = `The context ${JSON.stringify(chosen)} of ${where}`;
  const foundCluster = clusters.get(cluster ?? "");
  if (cluster === undefined || foundCluster === undefined) {
    throw new KubeConfigError(
      cluster === undefined
        ? `${subject} names no cluster. Give it one.`
        : `${subject} names the cluster ${JSON.stringify(cluster)}, which is missing.`,
    );
  }
  const foundUser = users.get(user ?? "") ?? (user === undefined ? {} : undefined);
  if (foundUser === undefined) {
    throw new KubeConfigError(`${subject} names a user, but there is no user ${JSON.stringify(user)}.`);
  }
  return { context: chosen, namespace, cluster: foundCluster, user: foundUser };
}

function missingContext(context: string, { where, contexts }: Kubeconfig): never {
  if (contexts.size === 0)
    throw new KubeConfigError(`${where} has no contexts. Add one, or use another kubeconfig.`);
  const known = [...contexts.keys()].join(", ");
  throw new KubeConfigError(
    context === ""
      ? `${where} has no current-context: name one of its contexts: ${known}.`
      : `${where} has no context ${JSON.stringify(context)}; it has: ${known}.`,
  );
}

interface ReadFile {
  readonly path: string;
  readonly content: KubeconfigFile;
}

const fileAt = async (path: string): Promise<ReadFile> => ({
  path,
  content: parsed(path, await contentOf(path)),
});

/** Skips only missing files: a path through a file, or a file that may not be read, is a mistake. */
function skipped(path: string, error: unknown): string {
  if (error instanceof KubeConfigError && codeOf(error.cause) === "ENOENT") return path;
  throw error;
}

function merged(files: readonly ReadFile[], absent: readonly string[]): Kubeconfig {
  const all = files.map(resolved);
  const paths = files.map(({ path }) => path).join(", ");
  const where = files.length === 1 ? `The kubeconfig ${paths}` : `The kubeconfig of ${paths}`;
  return {
    where: absent.length === 0 ? where : `${where} (${absent.join(", ")} not found)`,
    currentContext: all.find((file) => file["current-context"] !== undefined)?.["current-context"],
    clusters: firstOf(all, ({ clusters }) => clusters.map((one) => [one.name, one.cluster])),
    contexts: firstOf(all, ({ contexts }) => contexts.map((one) => [one.name, one.context])),
    users: firstOf(all, ({ users }) => users.map((one) => [one.name, one.user])),
  };
}

function firstOf<Value>(
  files: readonly KubeconfigFile[],
  entriesOf: (file: KubeconfigFile) => readonly (readonly [string, Value])[],
): ReadonlyMap<string, Value> {
  const first = new Map<string, Value>();
  for (const [key, value] of files.flatMap(entriesOf)) if (!first.has(key)) first.set(key, value);
  return first;
}

/** Makes relative paths absolute. The command of a plugin without a slash is looked up in PATH. */
function resolved({ path, content }: ReadFile): KubeconfigFile {
  const absolute = (named: string | undefined): string | undefined =>
    named === undefined || isAbsolute(named) ? named : resolve(dirname(path), named);
  return {
    ...content,
    clusters: content.clusters.map((one) => ({
      ...one,
      cluster: { ...one.cluster, "certificate-authority": absolute(one.cluster["certificate-authority"]) },
    })),
    users: content.users.map(({ user, ...one }) => ({
      ...one,
      user: {
        ...user,
        "client-certificate": absolute(user["client-certificate"]),
        "client-key": absolute(user["client-key"]),
        tokenFile: absolute(user.tokenFile),
        exec:
          user.exec?.command?.includes("/") === true
            ? { ...user.exec, command: absolute(user.exec.command) }
            : user.exec,
      },
    })),
  };
}

const codeOf = (cause: unknown): unknown =>
  cause instanceof Error && "code" in cause ? cause.code : undefined;

async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const problem =
      codeOf(cause) === "ENOENT"
        ? "does not exist. Give the path of one that does."
        : `cannot be read: ${messageOf(cause)}.`;
    throw new KubeConfigError(`The kubeconfig ${path} ${problem}`, cause);
  }
}

function parsed(path: string, content: string): KubeconfigFile {
  const result = kubeconfigSchema.safeParse(yamlOf(path, content) ?? {});
  if (!result.success) {
    throw new KubeConfigError(
      `The kubeconfig ${path} is malformed: ${z.prettifyError(result.error)}`,
      result.error,
    );
  }
  const { clusters, contexts, users } = result.data;
  for (const [what, list] of Object.entries({ clusters, contexts, users }))
    refuseDuplicates(path, what, list);
  return result.data;
}

function refuseDuplicates(path: string, what: string, list: readonly { readonly name: string }[]): void {
  const names = list.map((one) => one.name);
  const twice = names.find((one, index) => names.indexOf(one) !== index);
  if (twice === undefined) return;
  throw new KubeConfigError(
    `The kubeconfig ${path} has ${JSON.stringify(twice)} twice among its ${what}. Take one of them out, or rename it.`,
  );
}

function yamlOf(path: string, content: string): unknown {
  // An empty kubeconfig. The parser would throw an error.
  if (/^(---|null|~)?$/.test(content.replace(/^\s*#.*$/gm, "").trim())) return undefined;
  try {
    return loadYaml<unknown>(content);
  } catch (cause) {
    throw new KubeConfigError(`The kubeconfig ${path} is not YAML: ${yamlProblem(cause)}`);
  }
}

/**
 * The line and the reason of a YAML error. Its message quotes lines, and the reason may quote words; both may contain a
 * token, so quotes are left out.
 */
function yamlProblem(cause: unknown): string {
  const { reason, mark } = yamlError.safeParse(cause).data ?? {};
  if (reason === undefined) return "it is empty, or cannot be parsed.";
  const line = mark === undefined ? "" : `line ${mark.line + 1}: `;
  return `${line}${reason.replace(/["'`<:!][^]*$/, "").trim()}.`;
}

const yamlError = z.object({ reason: z.string(), mark: z.object({ line: z.number() }).optional() });
