import type { Log, Milliseconds } from "@drover/controller";
import { Agent, type Dispatcher, ProxyAgent } from "undici";
import {
  type CredentialReader,
  type Credentials,
  type CredentialSource,
  openCredentials,
} from "../credentials/credentials.ts";
import type { Timers } from "@drover/timers";

/** Credentials, and the connections that were opened with them. */
export interface Session {
  readonly credentials: Credentials;
  /** Connections for requests. */
  readonly requests: Dispatcher;
  /** Connections for watches: they stay busy for minutes, and must not delay a request. */
  readonly watches: Dispatcher;
}

/** The current session. Credentials are read again after a minute, and at once if a server refused them. */
export interface Sessions {
  current(): Promise<Session>;
  /** The session to use instead of a refused one; calls at the same time share one re-read. */
  renewed(refused: Session): Promise<Session>;
  close(): Promise<void>;
}

/** As in client-go; a ServiceAccount's token file is rotated well before its token expires. */
const freshFor: Milliseconds = 60_000;

export interface SessionOptions {
  readonly source: CredentialSource;
  readonly log: Log;
  readonly timers: Timers;
}

/** @throws KubeConfigError if no usable credentials are found at the start. */
export async function openSessions({ source, log, timers }: SessionOptions): Promise<Sessions> {
  let reader = await openCredentials(source);
  let session = connected(await reader.read());
  let readAt = timers.now();
  let reading: Promise<Session> | undefined;

  const reread = async (reopen: boolean): Promise<Session> => {
    try {
      const next: CredentialReader = reopen ? await openCredentials(source) : reader;
      session = adopted(session, await next.read());
      reader = next;
    } catch (error) {
      log.warn({ err: error }, "credentials cannot be read again; the old ones are still used");
    }
    readAt = timers.now();
    return session;
  };
  const once = (reopen: boolean): Promise<Session> =>
    (reading ??= reread(reopen).finally(() => (reading = undefined)));

  return {
    current: () => (timers.now() - readAt < freshFor ? Promise.resolve(session) : once(false)),
    renewed: (refused) => (session === refused ? once(true) : Promise.resolve(session)),
    close: async () => {
      await Promise.all([session.requests.destroy(), session.watches.destroy()]);
    },
  };
}

/** New headers keep the connections. New TLS material opens new ones; the old ones close after their last request. */
function adopted(session: Session, credentials: Credentials): Session {
  if (sameConnection(session.credentials, credentials)) return { ...session, credentials };
  void session.requests.close();
  void session.watches.close();
  return connected(credentials);
}

function sameConnection(a: Credentials, b: Credentials): boolean {
  const identity = ({ server, proxy, tls }: Credentials): string =>
    JSON.stringify([server.href, proxy, tls.ca, tls.cert, tls.key, tls.servername, tls.rejectUnauthorized]);
  return identity(a) === identity(b);
}

function connected(credentials: Credentials): Session {
  const { ca, cert, key, servername, rejectUnauthorized } = credentials.tls;
  const tls = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
  };
  // Deadlines are set by the callers' signals. HTTP/1.1, so that a broken connection breaks only one request or one
  // watch.
  const common = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000, allowH2: false };
  const open = (): Dispatcher =>
    credentials.proxy === undefined
      ? new Agent({ ...common, connect: { ...tls, timeout: 10_000, keepAliveInitialDelay: 30_000 } })
      : new ProxyAgent({ ...common, uri: credentials.proxy, requestTls: tls });
  return { credentials, requests: open(), watches: open() };
}
