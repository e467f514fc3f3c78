import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import { dirname, resolve } from "node:path";
import { messageOf } from "@drover/controller";
import { KubeConfig, loadYaml } from "@kubernetes/client-node";
import { z } from "zod";

/** What a request needs to be let in: where, as whom, and over which TLS. */
export interface Credentials {
  readonly server: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
  /** An HTTP proxy to go through. */
  readonly proxy: string | undefined;
}

export interface TlsMaterial {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  readonly servername?: string | undefined;
  readonly rejectUnauthorized?: boolean | undefined;
}

export interface CredentialSource {
  /** The URL of an API server, in place of a kubeconfig: a sandbox, or a fault proxy. */
  readonly server?: string | undefined;
  /** The bearer token for `server`. */
  readonly token?: string | undefined;
  /** Path of a kubeconfig; left out: the ServiceAccount of the pod that this runs in. */
  readonly kubeconfig?: string | undefined;
  /** A context of that kubeconfig; left out: its current context. */
  readonly context?: string | undefined;
}

/** Where credentials come from. Files and plugins behind it may change at any time. */
export interface CredentialReader {
  /** The credentials now; short-lived tokens are kept until they expire. */
  read(): Promise<Credentials>;
}

/**
 * Loads a kubeconfig, or the pod's ServiceAccount. Opening it anew forgets every cached token.
 * @throws KubeConfigError when it cannot be read, is malformed, or lacks what the context names.
 */
export async function openCredentials(source: CredentialSource): Promise<CredentialReader> {
  if (source.server !== undefined) {
    const headers: Readonly<Record<string, string>> =
      source.token === undefined ? {} : { Authorization: `Bearer ${source.token}` };
    const fixed = { server: new URL(source.server), headers, tls: {}, proxy: undefined };
    return { read: () => Promise.resolve(fixed) };
  }
  const config =
    source.kubeconfig === undefined ? inCluster() : await fromFile(source.kubeconfig, source.context);
  const where = source.kubeconfig ?? "the pod's ServiceAccount";
  const { cluster, server, basic } = chosenCluster(config, where);
  refuseProxy(cluster.proxyUrl, where);
  return {
    read: async () => {
      const options: RequestOptions = {};
      try {
        await config.applyToHTTPSOptions(options);
      } catch (cause) {
        throw new KubeConfigError(
          `The credentials of ${where} cannot be read: ${readProblem(cause, config)}. Check the files and the plugin that it names.`,
        );
      }
      return {
        server,
        proxy: cluster.proxyUrl,
        headers: { ...basic, ...headersOf(options) },
        tls: tlsOf(options),
      };
    },
  };
}

/**
 * The namespace that a context names; undefined when it names none.
 * @throws KubeConfigError as `openCredentials`.
 */
export async function namespaceOf({ kubeconfig, context }: CredentialSource): Promise<string | undefined> {
  if (kubeconfig === undefined) return undefined;
  const config = await fromFile(kubeconfig, context);
  return config.getContextObject(config.getCurrentContext())?.namespace;
}

/** @throws KubeConfigError for what is no URL of an HTTP proxy. Of the URL only the scheme is shown: it may have a password. */
function refuseProxy(proxy: string | undefined, where: string): void {
  if (proxy === undefined) return;
  const protocol = URL.parse(proxy)?.protocol ?? "";
  if (/^https?:$/.test(protocol)) return;
  const problem = protocol.startsWith("socks")
    ? "is a SOCKS proxy; only HTTP ones are supported."
    : "is not the URL of an HTTP proxy. Give one such as http://proxy.example.com:3128.";
  throw new KubeConfigError(`${where}: proxy-url ${problem}`);
}

/**
 * Why credentials cannot be read. Nothing that a plugin has printed is repeated, nor a cause that holds it: it prints tokens.
 */
function readProblem(cause: unknown, config: KubeConfig): string {
  if (isSystemError(cause)) return messageOf(cause);
  const exec = config.getCurrentUser()?.exec as { readonly command?: unknown } | undefined;
  if (typeof exec?.command !== "string") return nameOf(cause);
  const failed = cause instanceof Error && cause.name === "Error";
  const what = failed ? "failed" : `did not print an ExecCredential as JSON (${nameOf(cause)})`;
  return `the plugin ${exec.command} ${what}. What it printed is not shown, since it may hold secrets: run it to see that`;
}

/** Of the operating system: its message has a path or an address, and no content. */
const isSystemError = (cause: unknown): boolean =>
  cause instanceof Error && "syscall" in cause && "code" in cause;

const nameOf = (cause: unknown): string => (cause instanceof Error ? cause.name : typeof cause);

/** There are no usable credentials. The message says what to put right. */
export class KubeConfigError extends Error {
  override readonly name = "KubeConfigError";
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}

const named = { name: z.string().min(1) };
const kubeconfigSchema = z.looseObject({
  "current-context": z.string().nullish(),
  clusters: z
    .array(z.looseObject({ ...named, cluster: z.looseObject({ server: z.url({ protocol: /^https?$/ }) }) }))
    .min(1),
  contexts: z.array(
    z.looseObject({
      ...named,
      context: z.looseObject({ cluster: z.string(), user: z.string().nullish() }),
    }),
  ),
  users: z
    .array(z.looseObject({ ...named, user: z.looseObject({ tokenFile: z.string().nullish() }).nullish() }))
    .nullish(),
});
type KubeconfigFile = z.output<typeof kubeconfigSchema>;

async function fromFile(path: string, context: string | undefined): Promise<KubeConfig> {
  const text = await contentOf(path);
  const file = parsed(path, text);
  const config = new KubeConfig();
  config.loadFromString(text);
  const name = context ?? file["current-context"] ?? "";
  const chosen = file.contexts.find((candidate) => candidate.name === name)?.context;
  if (chosen === undefined) {
    const known = file.contexts.map((candidate) => candidate.name).join(", ");
    throw new KubeConfigError(
      name === ""
        ? `The kubeconfig ${path} has no current-context: name one of its contexts: ${known}.`
        : `The kubeconfig ${path} has no context ${JSON.stringify(name)}; it has: ${known}.`,
    );
  }
  config.setCurrentContext(name);
  withTokenFiles(config, file, dirname(path));
  config.makePathsAbsolute(dirname(path));
  if (chosen.user != null && chosen.user !== "" && config.getCurrentUser() === null) {
    throw new KubeConfigError(`The kubeconfig ${path} has no user ${JSON.stringify(chosen.user)}.`);
  }
  return config;
}

async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const problem =
      code === "ENOENT"
        ? "does not exist. Give the path of one that does."
        : `cannot be read: ${messageOf(cause)}.`;
    throw new KubeConfigError(`The kubeconfig ${path} ${problem}`, cause);
  }
}

function parsed(path: string, text: string): KubeconfigFile {
  let content: unknown;
  try {
    content = loadYaml<unknown>(text);
  } catch (cause) {
    throw new KubeConfigError(`The kubeconfig ${path} is not YAML: ${yamlProblem(cause)}`);
  }
  const result = kubeconfigSchema.safeParse(content);
  if (result.success) return result.data;
  throw new KubeConfigError(
    `The kubeconfig ${path} is malformed: ${z.prettifyError(result.error)}`,
    result.error,
  );
}

/** A problem of YAML by its line and reason. Its message quotes lines, and a reason may quote words: both may hold a token. */
function yamlProblem(cause: unknown): string {
  const { reason, mark } = yamlError.safeParse(cause).data ?? {};
  if (reason === undefined) return "it is empty, or cannot be parsed.";
  const line = mark === undefined ? "" : `line ${mark.line + 1}: `;
  return `${line}${reason.replace(/["'`<:!][^]*$/, "").trim()}.`;
}

const yamlError = z.object({ reason: z.string(), mark: z.object({ line: z.number() }).optional() });

// client-node knows `token-file`, not the `tokenFile` that Kubernetes documents.
function withTokenFiles(config: KubeConfig, file: KubeconfigFile, folder: string): void {
  const tokenFiles = new Map(file.users?.map(({ name, user }) => [name, user?.tokenFile]));
  config.users = config.users.map((user) => {
    const tokenFile = tokenFiles.get(user.name);
    if (tokenFile == null) return user;
    return {
      ...user,
      authProvider: { name: "tokenFile", config: { tokenFile: resolve(folder, tokenFile) } },
    };
  });
}

function inCluster(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromCluster();
  return config;
}

function chosenCluster(config: KubeConfig, where: string) {
  const cluster = config.getCurrentCluster();
  if (cluster === null)
    throw new KubeConfigError(`In ${where}, the context names a cluster that is missing.`);
  if (!URL.canParse(cluster.server) || new URL(cluster.server).hostname === "undefined") {
    throw new KubeConfigError(
      "No kubeconfig was given, and this does not run in a pod. Give the path of a kubeconfig.",
    );
  }
  const server = new URL(cluster.server);
  // client-node refuses plain HTTP unless TLS verification is off, which then says nothing.
  if (server.protocol === "http:") {
    config.clusters = config.clusters.map((one) =>
      one.name === cluster.name ? { ...one, skipTLSVerify: true } : one,
    );
  }
  // client-node leaves out the cluster's CA when there is no user.
  if (config.getCurrentUser() === null) {
    const anonymous = { name: "anonymous to this context" };
    config.users = [...config.users, anonymous];
    config.contexts = config.contexts.map((one) =>
      one.name === config.getCurrentContext() ? { ...one, user: anonymous.name } : one,
    );
  }
  return { cluster, ...withoutUser(server) };
}

/** User information of the URL becomes a header, as Go's clients send it: messages would show it. */
function withoutUser(url: URL): { server: URL; basic: Record<string, string> } {
  const auth = [url.username, url.password].map(decodeURIComponent).join(":");
  const server = new URL(url);
  server.username = server.password = "";
  return { server, basic: auth === ":" ? {} : basicHeader(auth) };
}

const basicHeader = (auth: string): Record<string, string> => ({
  Authorization: `Basic ${Buffer.from(auth).toString("base64")}`,
});

function headersOf({ headers, auth }: RequestOptions): Record<string, string> {
  const pairs = Object.entries(headers ?? {}).map(([name, value]): [string, string] => [
    name,
    String(value).trim(),
  ]);
  return { ...(auth == null ? {} : basicHeader(auth)), ...Object.fromEntries(pairs) };
}

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions): TlsMaterial {
  return { ca: pem(ca), cert: pem(cert), key: pem(key), servername, rejectUnauthorized };
}

const pem = (material: unknown): string | Buffer | undefined =>
  typeof material === "string" || Buffer.isBuffer(material) ? material : undefined;
