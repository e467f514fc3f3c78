import type { Milliseconds } from "@drover/controller";
import {
  type CredentialReader,
  type Credentials,
  type CredentialSource,
  contextNamespace,
  openCredentials,
} from "@drover/kube";
import { once } from "node:events";
import {
  type ClientRequest,
  Agent as PlainAgent,
  type IncomingMessage,
  request as plainRequest,
} from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { Readable } from "node:stream";
import { z } from "zod";

/** A server behind the proxy. */
export type Upstream =
  /**
   * Any server: headers pass unchanged, including `Host` and signatures. With a token: an API server that requires it,
   * such as a sandbox.
   */
  | { readonly url: string; readonly token?: string | undefined }
  /** An API server, with the credentials that a context names; by default its current one. */
  | (Pick<CredentialSource, "context"> & Required<Pick<CredentialSource, "kubeconfig">>);

/** A request to forward. */
export interface ForwardedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[];
  readonly body: Buffer | Readable;
}

export interface OpenUpstream {
  /** The namespace of the kubeconfig's context. */
  readonly namespace: string | undefined;
  /** True if the proxy adds credentials to the calls that it forwards, so that its own clients must authenticate. */
  readonly addsCredentials: boolean;
  /**
   * Resolves when the answer's headers have arrived. Aborting the signal breaks the call off.
   * @throws if the server cannot be reached, or breaks off before it answers.
   */
  forward(asked: ForwardedRequest, signal: AbortSignal): Promise<IncomingMessage>;
  close(): void;
}

/** @throws KubeConfigError if usable credentials are missing. */
export async function openUpstream(upstream: Upstream): Promise<OpenUpstream> {
  if (isOfKubeconfig(upstream)) return openWithCredentials(upstream);
  const { url, token } = upstream;
  if (token !== undefined) return openWithCredentials({ server: url, token });
  return { ...connectTo(new URL(url), {}), namespace: undefined, addsCredentials: false };
}

/**
 * A cluster in a test may have both a URL and a kubeconfig; then the kubeconfig is used, since it has the credentials.
 */
const isOfKubeconfig = (upstream: Upstream): upstream is Extract<Upstream, { kubeconfig: unknown }> =>
  "kubeconfig" in upstream && typeof upstream.kubeconfig !== "function";

async function openWithCredentials(source: CredentialSource): Promise<OpenUpstream> {
  const credentials = await cachedCredentials(source);
  let { identity, connection } = connected(await credentials.now());
  return {
    namespace: await contextNamespace(source),
    addsCredentials: true,
    async forward(asked, signal) {
      const current = await credentials.now();
      if (identityOf(current) !== identity) {
        connection.close();
        ({ identity, connection } = connected(current));
      }
      const headers = [...withoutCredentials(asked.headers), ...Object.entries(current.headers).flat()];
      const response = await connection.forward({ ...asked, headers }, signal);
      // The client may try again; the credentials are then read again from the plugin or the file.
      if (response.statusCode === 401) credentials.forget();
      return response;
    },
    close: () => connection.close(),
  };
}

/**
 * Credentials are read again after this time, as in client-go; a ServiceAccount's token file is rotated well before its
 * token ends.
 */
const credentialsTtl: Milliseconds = 60_000;

async function cachedCredentials(source: CredentialSource) {
  let reader: CredentialReader | undefined = await openCredentials(source);
  let kept: { readonly until: number; readonly reading: Promise<Credentials> } | undefined;
  const read = async (): Promise<Credentials> => {
    reader ??= await openCredentials(source);
    return reader.read();
  };
  return {
    now(): Promise<Credentials> {
      if (kept === undefined || kept.until < Date.now())
        kept = { until: Date.now() + credentialsTtl, reading: read() };
      return kept.reading;
    },
    forget(): void {
      reader = undefined;
      kept = undefined;
    },
  };
}

const identityOf = ({ server, proxy, tls }: Credentials): string => JSON.stringify([server.href, proxy, tls]);

const connected = (credentials: Credentials) => ({
  identity: identityOf(credentials),
  connection: connectTo(credentials.server, credentials),
});

/** Forwards a body. If the body breaks off, so does the request. */
function sendOn(body: Readable, request: ClientRequest): void {
  body.pipe(request);
  body.once("close", () => {
    if (!body.readableEnded) request.destroy();
  });
}

/**
 * Without the client's credentials, which the proxy replaces by its own, and without its `Host`, since the server has
 * another one.
 */
function withoutCredentials(headers: readonly string[]): string[] {
  return headers.filter((_, i) => !/^(host|authorization)$/i.test(headers[i - (i % 2)] ?? ""));
}

function connectTo(
  server: URL,
  { tls, proxy }: Partial<Pick<Credentials, "tls" | "proxy">>,
): Pick<OpenUpstream, "forward" | "close"> {
  const isSecure = server.protocol === "https:";
  const options = {
    keepAlive: true,
    ...(proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }),
  };
  const agent = isSecure ? new SecureAgent({ ...options, ...tls }) : new PlainAgent(options);
  const send = isSecure ? secureRequest : plainRequest;
  const root = server.pathname.replace(/\/$/, "");
  return {
    async forward({ method, path, headers, body }, signal) {
      const names = headers.some((name, i) => i % 2 === 0 && /^host$/i.test(name));
      const all = names ? headers : ["host", server.host, ...headers];
      const request = send(new URL(server), { agent, method, path: root + path, headers: all, signal });
      if (body instanceof Readable) sendOn(body, request);
      else request.end(body);
      const [response] = z.tuple([z.custom<IncomingMessage>()]).parse(await once(request, "response"));
      request.on("error", () => undefined);
      // The proxy breaks the response off by not reading on; that is not an error.
      response.on("error", () => undefined);
      return response;
    },
    close: () => agent.destroy(),
  };
}
