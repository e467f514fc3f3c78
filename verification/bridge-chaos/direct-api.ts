import { readLines } from "@drover/testing/fault-proxy";
import { readKubeconfig } from "@drover/real-cluster";
import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";

/** The API server itself, with nothing in between. Raw HTTP: the suite must not depend on the client that it tests. */
export interface DirectApi {
  /** A request with its JSON answer. After a 429 it tries again. */
  ask(method: string, path: string, body?: object): Promise<Answer>;
  /** As `ask`; rejects for every answer but 2xx, with its body. */
  demand(method: string, path: string, body?: object): Promise<unknown>;
  /** The lines of a watch, until the server ends it or the signal does. */
  lines(path: string, signal: AbortSignal): AsyncGenerator<string, void, undefined>;
  close(): void;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer;
}

const mergePatch = "application/merge-patch+json";

/** Opens the server of a kubeconfig that the real cluster wrote. */
export function openDirectApi(kubeconfig: string): DirectApi {
  const { url, ...tls } = readKubeconfig(kubeconfig);
  const agent = new Agent({ keepAlive: true, ...tls });
  const send = async (
    { method, path, headers, body }: Asked,
    signal: AbortSignal,
  ): Promise<IncomingMessage> => {
    const request = httpsRequest(new URL(path, url), { agent, method, headers, signal });
    request.end(body);
    const [response] = z.tuple([z.custom<IncomingMessage>()]).parse(await once(request, "response"));
    request.on("error", () => undefined);
    // A caller that stops reading aborts the response: that is no error.
    response.on("error", () => undefined);
    return response;
  };
  const ask: DirectApi["ask"] = async (method, path, body) => {
    const type = method === "PATCH" ? mergePatch : "application/json";
    const headers = { accept: "application/json", "content-type": type };
    const content = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
    const response = await send({ method, path, headers, ...content }, AbortSignal.timeout(30_000));
    const answer = await text(response);
    if (response.statusCode === 429) {
      await delay(300);
      return ask(method, path, body);
    }
    // A path that is not served is answered in plain text.
    const isJson = response.headers["content-type"]?.startsWith("application/json") === true;
    const said: unknown = isJson ? JSON.parse(answer) : answer;
    return { status: response.statusCode ?? 0, body: said };
  };
  return {
    ask,
    async demand(method, path, body) {
      const answer = await ask(method, path, body);
      if (answer.status < 300) return answer.body;
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    },
    async *lines(path, signal) {
      const response = await send({ method: "GET", path, headers: {} }, signal);
      if (response.statusCode !== 200) throw new Error(`${path}: ${await text(response)}`);
      yield* readLines(response);
    },
    close: () => agent.destroy(),
  };
}
