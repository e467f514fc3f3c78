import type { Log, Milliseconds } from "@drover/controller";
import { Agent, type Dispatcher, ProxyAgent } from "undici";
import {
  type CredentialReader,
  type Credentials,
  type CredentialSource,
  openCredentials,
} from "./credentials.ts";
import type { Timers } from "@drover/timers";

/** Credentials with the connections that were made with them. */
export interface Session {
  readonly credentials: Credentials;
  /** Connections for requests. */
  readonly requests: Dispatcher;
  /** Connections for watches: they stay busy for minutes, and must not keep a request waiting. */
  readonly watches: Dispatcher;
}

/** The session in use. Credentials are looked at again every minute, and at once when a server refused them. */
export interface Sessions {
  current(): Promise<Session>;
  /** The session to use instead of one that was refused; callers that come together share one re-read. */
  renewed(refused: Session): Promise<Session>;
  close(): Promise<void>;
}

/** As client-go does it; a ServiceAccount's token file is rotated well before its token ends. */
const freshFor: Milliseconds = 60_000;

export interface SessionOptions {
  readonly source: CredentialSource;
  readonly log: Log;
  readonly timers: Timers;
}

/** @throws KubeConfigError when there are no usable credentials to begin with. */
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
      log.warn({ err: error }, "credentials cannot be read again; going on with the old ones");
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

/** New headers keep the connections; new TLS material makes new ones, and lets the old ones finish what they carry. */
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
  // Deadlines are the caller's signals; HTTP/1.1, so that one broken connection breaks one request or one watch.
  const common = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000, allowH2: false };
  const open = (): Dispatcher =>
    credentials.proxy === undefined
      ? new Agent({ ...common, connect: { ...tls, timeout: 10_000, keepAliveInitialDelay: 30_000 } })
      : new ProxyAgent({ ...common, uri: credentials.proxy, requestTls: tls });
  return { credentials, requests: open(), watches: open() };
}
