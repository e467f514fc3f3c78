import { isAborted, sleepUnlessAborted } from "@drover/timers";
import type { Milliseconds } from "@drover/controller";
import { request as plain } from "node:http";
import { request as secured } from "node:https";
import { connect } from "node:net";
import { type Container, portNumber, type Probe } from "../pods/pod.ts";

export interface ProbeOptions {
  readonly probe: Probe;
  readonly container: Container;
  readonly address: string;
  /** The longest wait between two tries, instead of a longer `periodSeconds`. */
  readonly period: Milliseconds | undefined;
  readonly signal: AbortSignal;
}

/** No probe is tried more often than this. */
const minPeriod: Milliseconds = 100;

/**
 * Probes until the signal fires. After each try, calls `onResult` with true if the last `successThreshold` answers were good,
 * and with false if the last `failureThreshold` ones were bad.
 */
export async function runProbe(parts: ProbeOptions, onResult: (holds: boolean) => void): Promise<void> {
  const { probe, period = Infinity, signal } = parts;
  const between = Math.max(minPeriod, Math.min(probe.periodSeconds * 1000, period));
  let [good, bad] = [0, 0];
  await sleepUnlessAborted(probe.initialDelaySeconds * 1000, signal);
  for (;;) {
    // An invalid path or port is a failure, too.
    const holds = await probeOnce(parts).catch(() => false);
    if (isAborted(signal)) return;
    [good, bad] = holds ? [good + 1, 0] : [0, bad + 1];
    if (good >= probe.successThreshold) onResult(true);
    if (bad >= probe.failureThreshold) onResult(false);
    await sleepUnlessAborted(between, signal);
  }
}

/** One try: HTTP needs a status from 200 to 399, TCP a connection. */
async function probeOnce({ probe, container, address, signal }: ProbeOptions): Promise<boolean> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(Math.max(1, probe.timeoutSeconds) * 1000)]);
  const { httpGet, tcpSocket } = probe;
  const asked = httpGet?.port ?? tcpSocket?.port;
  const port = asked === undefined ? undefined : portNumber(asked, [container]);
  if (port === undefined) return false;
  const host = (httpGet?.host ?? tcpSocket?.host) || address;
  if (httpGet != null) return getsOk(httpGet, { host, port }, within);
  return connects({ host, port }, within);
}

interface ProbeAddress {
  readonly host: string;
  readonly port: number;
}

const getsOk = (
  { path, scheme, httpHeaders }: NonNullable<Probe["httpGet"]>,
  place: ProbeAddress,
  signal: AbortSignal,
): Promise<boolean> =>
  new Promise((resolve) => {
    const headers = Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value]));
    const options = { ...place, path, headers, signal, agent: false, rejectUnauthorized: false };
    const request = scheme === "HTTPS" ? secured : plain;
    const sent = request(options, (response) => {
      const { statusCode = 0 } = response;
      response.resume();
      sent.destroy();
      resolve(statusCode >= 200 && statusCode < 400);
    });
    sent.on("error", () => resolve(false)).end();
  });

const connects = (place: ProbeAddress, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ ...place, signal });
    socket
      .on("error", () => resolve(false))
      .on("connect", () => {
        socket.destroy();
        resolve(true);
      });
  });
