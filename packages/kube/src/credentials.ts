import type { RequestOptions } from "node:https";
import { messageOf } from "@drover/controller";
import { KubeConfig } from "@kubernetes/client-node";
import {
  choiceOf,
  KubeConfigError,
  type KubeconfigChoice,
  type KubeconfigUser,
  readKubeconfig,
} from "./kubeconfig.ts";

/** What a request needs to be let in: where, as whom, and over which TLS. */
export interface Credentials {
  readonly server: URL;
  /** By their names in lower case. */
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
  /**
   * Path of a kubeconfig, or those that KUBECONFIG lists, which are merged and of which those are skipped that do not exist;
   * left out: the ServiceAccount of the pod that this runs in.
   */
  readonly kubeconfig?: string | readonly string[] | undefined;
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
 * The namespace that a context names; undefined when it names none.
 * @throws KubeConfigError as `openCredentials`.
 */
export async function namespaceOf({ kubeconfig, context }: CredentialSource): Promise<string | undefined> {
  if (kubeconfig === undefined) return undefined;
  return choiceOf(await readKubeconfig(kubeconfig), context).namespace;
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

interface Source {
  readonly config: KubeConfig;
  /** For messages. */
  readonly where: string;
}

async function fromFiles(files: string | readonly string[], context: string | undefined): Promise<Source> {
  const kubeconfig = await readKubeconfig(files);
  const choice = choiceOf(kubeconfig, context);
  return { config: configOf(choice, kubeconfig.where), where: kubeconfig.where };
}

/** The context alone, as client-node has it. Of content and a path to it, the content counts, as for client-go. */
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
    // client-node knows `token-file`, not the `tokenFile` that Kubernetes documents; a file's token counts before one that is given.
    ...(tokenFile === undefined
      ? { token: user.token, authProvider: user["auth-provider"] }
      : { authProvider: { name: "tokenFile", config: { tokenFile } } }),
  };
}

/** client-node sends only the name of whom a user acts as: without the groups it would be another user. */
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
      "No kubeconfig was given, and this does not run in a pod. Give the path of a kubeconfig.",
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
  // client-node refuses plain HTTP unless TLS verification is off, which then says nothing.
  if (server.protocol === "http:") {
    config.clusters = config.clusters.map((one) => ({ ...one, skipTLSVerify: true }));
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
  authorization: `Basic ${Buffer.from(auth).toString("base64")}`,
});

/** In lower case: what is to replace one of them, such as the account that a client acts as, has the same name. */
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
