import { type Log, type Milliseconds, silentLog } from "@drover/controller";
import type { KubeClient } from "./client.ts";
import { clientOver } from "./client-over-transport.ts";
import type { CredentialSource } from "./credentials.ts";
import { openSessions } from "./session.ts";
import { processTimers, type Timers } from "@drover/timers";
import { openTransport } from "./transport.ts";

export interface ConnectOptions extends CredentialSource {
  /** Hears of credentials that cannot be read again. */
  readonly log?: Log;
  /** Until the whole reply of a request is there. Default 30 s. */
  readonly requestTimeout?: Milliseconds;
  /** Default `drover`. */
  readonly userAgent?: string;
  /** Who the server notes as the writer of a field. Default `drover`. */
  readonly fieldManager?: string;
  readonly timers?: Timers;
}

/**
 * A client with the credentials of a kubeconfig, or of the pod that this runs in. Nothing is sent yet.
 * @throws KubeConfigError when there are no usable credentials.
 */
export async function connect(options: ConnectOptions): Promise<KubeClient> {
  const { requestTimeout = 30_000, userAgent = "drover", fieldManager = "drover" } = options;
  const { log = silentLog, timers = processTimers } = options;
  const sessions = await openSessions({ source: options, log, timers });
  const transport = openTransport({ sessions, userAgent });
  return clientOver({ transport, requestTimeout, fieldManager, timers });
}
