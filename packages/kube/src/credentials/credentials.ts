import type { RequestOptions } from "node:https";
import { messageOf } from "@drover/controller";
import { KubeConfig } from "@kubernetes/client-node";
import {
  chooseContext,
  KubeConfigError,
  type KubeconfigChoice,
  type KubeconfigUser,
  readKubeconfig,
} from "./kubeconfig.ts";

/** Where to send requests, under which identity and with which TLS material. */
export interface Credentials {
  readonly server: URL;
  /** By header name, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
  /** The HTTP proxy to use. */
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
  /** The URL of an API server, instead of a kubeconfig: a sandbox, or a fault proxy. */
  readonly server?: string | undefined;
  /** The bearer token for `server`. */
  readonly token?: string | undefined;
  /**
   * Path of a kubeconfig, or a list of paths, as in KUBECONFIG: the files are merged, and missing ones are skipped.
   * Left out: the ServiceAccount of the pod that this process runs in.
   */
  readonly kubeconfig?: string | readonly string[] | undefined;
  /** A context of that kubeconfig; left out: its current context. */
  readonly context?: string | undefined;
}

/** Reads the current credentials. The files and plugins behind them may change at any time. */
export interface CredentialReader {
  /** The current credentials; short-lived tokens are cached until they expire. */
  read(): Promise<Credentials>;
}

/**
 * Loads a kubeconfig, or the pod's ServiceAccount. Loading again drops every cached token.
 * @throws KubeConfigError if the kubeconfig cannot be read, is malformed, or lacks an entry that the context names.
 */
export async function openCredentials(source: CredentialSource): Promise<CredentialReader> {
  if (source.server !== undefined) {
    const headers: Readonly<Record<string, string>> =
      source.token === undefined ? {} : { authorization: `Bearer ${source.token}` };
    const fixed = { server: new URL(source.server), headers, tls: {}, proxy: undefined };
    return { read: () => Promise.resolve(fixed) };
  }
  const { config, where } =
    source.kubeconfig === undefined ? inCluster() : await fromFiles(source.kubeconfig, source.context);
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
 * The namespace of a context; undefined if it has none.
 * @throws KubeConfigError as `openCredentials`.
 */
export async function contextNamespace({
  kubeconfig,
  context,
}: CredentialSource): Promise<string | undefined> {
  if (kubeconfig === undefined) return undefined;
  return chooseContext(await readKubeconfig(kubeconfig), context).namespace;
}

/** @throws KubeConfigError if this is not the URL of an HTTP proxy. Shows only its scheme: it may have a password. */
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
 * The reason why credentials cannot be read. The output of a plugin is left out, and so is a cause that contains it:
 * plugins print tokens.
 */
function readProblem(cause: unknown, config: KubeConfig): string {
  if (isSystemError(cause)) return messageOf(cause);
  const exec = config.getCurrentUser()?.exec as { readonly command?: unknown } | undefined;
  if (typeof exec?.command !== "string") return errorName(cause);
  const failed = cause instanceof Error && cause.name === "Error";
  const what = failed ? "failed" : `did not print an ExecCredential as JSON (${errorName(cause)})`;
  return `the plugin ${exec.command} ${what}. Its output is not shown, since it may contain secrets: run the plugin to see it`;
}

/** True for an error of the operating system: its message has a path or an address, and no file content. */
const isSystemError = (cause: unknown): boolean =>
  cause instanceof Error && "syscall" in cause && "code" in cause;

const errorName = (cause: unknown): string => (cause instanceof Error ? cause.name : typeof cause);

interface Source {
  readonly config: KubeConfig;
  /** For messages. */
  readonly where: string;
}

async function fromFiles(files: string | readonly string[], context: string | undefined): Promise<Source> {
  const kubeconfig = await readKubeconfig(files);
  const choice = chooseContext(kubeconfig, context);
  return { config: configOf(choice, kubeconfig.where), where: kubeconfig.where };
}

/** A client-node config with only this context. Inline data count before a path, as in client-go. */
function configOf({ context, cluster, user }: KubeconfigChoice, where: string): KubeConfig {
  refuseGroups(user, where);
  const { "certificate-authority-data": caData, "certificate-authority": caFile } = cluster;
  const config = new KubeConfig();
  config.loadFromOptions({
    currentContext: context,
    contexts: [{ name: context, cluster: "its cluster", user: "its user" }],
    clusters: [
      {
        name: "its cluster",
        server: cluster.server?.replace(/\/$/, "") ?? "",
        skipTLSVerify: cluster["insecure-skip-tls-verify"],
        tlsServerName: cluster["tls-server-name"],
        proxyUrl: cluster["proxy-url"],
        ...(caData === undefined ? { caFile } : { caData }),
      },
    ],
    users: [{ name: "its user", ...accessOf(user) }],
  });
  return config;
}

function accessOf(user: Partial<KubeconfigUser>) {
  const { "client-certificate-data": certData, "client-key-data": keyData, tokenFile } = user;
  return {
    ...(certData === undefined ? { certFile: user["client-certificate"] } : { certData }),
    ...(keyData === undefined ? { keyFile: user["client-key"] } : { keyData }),
    exec: user.exec,
    username: user.username,
    password: user.password ?? "",
    impersonateUser: user.as,
    // client-node reads `token-file`, not the `tokenFile` that Kubernetes documents. A token file takes precedence over
    // `token`.
    ...(tokenFile === undefined
      ? { token: user.token, authProvider: user["auth-provider"] }
      : { authProvider: { name: "tokenFile", config: { tokenFile } } }),
  };
}

/** client-node sends only the name of the impersonated user. Without its groups, that would be another identity. */
function refuseGroups(user: Partial<KubeconfigUser>, where: string): void {
  const given = (["as-uid", "as-groups", "as-user-extra"] as const).filter(
    (field) => Object.keys(user[field] ?? {}).length > 0,
  );
  if (given.length === 0) return;
  throw new KubeConfigError(
    `${where}: the user has ${given.join(" and ")}, which Drover does not send. Take it out, or use another user.`,
  );
}

function inCluster(): Source {
  const config = new KubeConfig();
  config.loadFromCluster();
  const server = URL.parse(config.getCurrentCluster()?.server ?? "");
  if (server === null || server.hostname === "undefined") {
    throw new KubeConfigError(
      "No kubeconfig was given, and this process does not run in a pod. Give the path of a kubeconfig.",
    );
  }
  return { config, where: "the pod's ServiceAccount" };
}

function chosenCluster(config: KubeConfig, where: string) {
  const cluster = config.getCurrentCluster();
  const server = URL.parse(cluster?.server ?? "");
  if (cluster === null || server === null || !/^https?:$/.test(server.protocol)) {
    throw new KubeConfigError(
      `${where} is malformed: the server of its cluster is not a URL such as https://10.0.0.1:6443.`,
    );
  }
  // client-node refuses plain HTTP unless TLS verification is off. Over plain HTTP that option has no effect.
  if (server.protocol === "http:") {
    config.clusters = config.clusters.map((one) => ({ ...one, skipTLSVerify: true }));
  }
  return { cluster, ...withoutUser(server) };
}

/** Moves user information from the URL into a header, as Go's clients do: error messages would show the URL. */
function withoutUser(url: URL): { server: URL; basic: Record<string, string> } {
  const auth = [url.username, url.password].map(decodeURIComponent).join(":");
  const server = new URL(url);
  server.username = server.password = "";
  return { server, basic: auth === ":" ? {} : basicHeader(auth) };
}

const basicHeader = (auth: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(auth).toString("base64")}`,
});

/** Header names in lower case, so that a later header of the same name, such as `impersonate-user`, replaces it. */
function headersOf({ headers, auth }: RequestOptions): Record<string, string> {
  const pairs = Object.entries(headers ?? {}).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    String(value).trim(),
  ]);
  return { ...(auth == null ? {} : basicHeader(auth)), ...Object.fromEntries(pairs) };
}

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions): TlsMaterial {
  return { ca: pem(ca), cert: pem(cert), key: pem(key), servername, rejectUnauthorized };
}

const pem = (material: unknown): string | Buffer | undefined =>
  typeof material === "string" || Buffer.isBuffer(material) ? material : undefined;
