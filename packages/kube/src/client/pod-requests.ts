import { type Milliseconds, type ObjectKey, objectKey, splitObjectKey } from "@drover/controller";
import { builtin, objectPath } from "../objects/resource-ref.ts";
import type { BufferedReply, Transport } from "../transport/transport.ts";
import { refusalError } from "./reply.ts";

/** A POST for the process of a Pod. */
export interface PodCall {
  readonly port: number;
  /** The path of a URL, such as `/sync`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Largest body of the answer, in bytes. */
  readonly limit: number;
  readonly timeout: Milliseconds;
  readonly signal?: AbortSignal;
}

/** Requests about Pods whose replies are not objects. */
export interface PodRequests {
  /**
   * Sends a call to a port of a Pod, by way of the API server, and returns the answer with any status. It may be the API
   * server's: it answers so if the user may not `create` `pods/proxy`, and if it cannot connect to the Pod. The call is
   * sent once. The Pod gets none of the credentials.
   *
   * @throws ConnectionError, MalformedReplyError for a larger body, or the signal's reason.
   */
  callPod(pod: ObjectKey, call: PodCall): Promise<BufferedReply>;
  /** The last lines of the log of a Pod's container. @throws ApiError */
  podLog(pod: ObjectKey, log: { readonly container: string; readonly lines: number }): Promise<string>;
}

/** Largest log that is read, in bytes. The API server cuts it. */
const longestLog = 64 * 1024;

export function podRequests(transport: Transport, requestTimeout: Milliseconds): PodRequests {
  return {
    async callPod(pod, { port, path, headers, body, limit, timeout, signal }) {
      const { name, ...namespace } = splitObjectKey(pod);
      const key = objectKey({ ...namespace, name: `${name}:${port}` });
      const request = {
        method: "POST",
        path: `${objectPath(builtin.pod, key, "proxy")}${pathOf(path)}`,
        headers: { ...headers, "accept-encoding": "identity" },
        body: { type: headers["content-type"] ?? "application/json", content: body },
        isForwarded: true,
        signal,
        timeout,
      } as const;
      return transport.request(request, limit);
    },
    async podLog(pod, { container, lines }) {
      const path = objectPath(builtin.pod, pod, "log");
      const query = new URLSearchParams({
        container,
        tailLines: String(lines),
        limitBytes: String(longestLog),
      });
      const request = {
        method: "GET",
        path: `${path}?${query.toString()}`,
        accept: "*/*",
        timeout: requestTimeout,
      } as const;
      const reply = await transport.request(request, 2 * longestLog);
      if (reply.status !== 200) throw refusalError(reply);
      return Buffer.from(reply.body).toString("utf8");
    },
  };
}

/**
 * The path without `.` and `..` segments, encoded ones included: they would lead out of the Pod, to another path of the
 * API server.
 */
const pathOf = (path: string): string => {
  const url = new URL("http://pod/");
  url.pathname = path;
  return url.pathname;
};
