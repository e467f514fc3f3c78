import { type Log, type Milliseconds, silentLog } from "@drover/controller";
import type { KubeClient } from "./client.ts";
import { clientOver } from "./client-over-transport.ts";
import type { CredentialSource } from "../credentials/credentials.ts";
import { openSessions } from "../transport/session.ts";
import { processTimers, type Timers } from "@drover/timers";
import { openTransport } from "../transport/transport.ts";

export interface ConnectOptions extends CredentialSource {
  /** Receives a warning when credentials cannot be read again. */
  readonly log?: Log;
  /** Until the complete reply to a request has arrived. Default 30 s. */
  readonly requestTimeout?: Milliseconds;
  /** Default `drover`. */
  readonly userAgent?: string;
  /** The name that the server records as the manager of written fields. Default `drover`. */
  readonly fieldManager?: string;
  readonly timers?: Timers;
}

/**
 * Opens a client with the credentials of a kubeconfig, or of the pod that this process runs in. It sends no request
 * yet.
 * @throws KubeConfigError if no usable credentials are found.
 */
export async function connect(options: ConnectOptions): Promise<KubeClient> {
  const { requestTimeout = 30_000, userAgent = "drover", fieldManager = "drover" } = options;
  const { log = silentLog, timers = processTimers } = options;
  const sessions = await openSessions({ source: options, log, timers });
  const transport = openTransport({ sessions, userAgent });
  return clientOver({ transport, requestTimeout, fieldManager, timers });
}
