import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen } from "../../harness/listen.ts";

/** One request to the S3 server. */
export interface S3Call {
  /** The bucket it is about; for a listing of buckets, the prefix that is asked for. */
  readonly bucket: string;
  /** Such as `PUT`, `PUT ?tagging`, `GET /`. */
  readonly operation: string;
}

/** Calls that a test observes or breaks. A callback that returns `cut` ends the connection: the caller gets no answer. */
export interface GateHooks {
  /** Before the request reaches the server. */
  before(call: S3Call): Promise<"cut" | undefined>;
  /** After the server has done it, before its answer reaches the caller. */
  after(call: S3Call, status: number): Promise<"cut" | undefined>;
}

export interface S3Gate {
  readonly url: string;
  close(): Promise<void>;
}

/** A proxy between one worker and the S3 server. */
export async function openGate(target: string, hooks: GateHooks): Promise<S3Gate> {
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const call = callOf(incoming);
    const body = await buffer(incoming);
    if ((await hooks.before(call)) === "cut") return void incoming.socket.destroy();
    const onward = request(new URL(incoming.url ?? "/", target), {
      method: incoming.method,
      headers: incoming.headers,
    });
    onward.end(body);
    const [answer] = (await once(onward, "response")) as [IncomingMessage];
    const content = await buffer(answer);
    if ((await hooks.after(call, answer.statusCode ?? 0)) === "cut") return void incoming.socket.destroy();
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(content);
  };
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await once(server.close(), "close");
    },
  };
}

function callOf({ method = "", url = "/" }: IncomingMessage): S3Call {
  const { pathname, searchParams } = new URL(url, "http://s3");
  const bucket = pathname.split("/")[1] ?? "";
  if (bucket === "") return { bucket: searchParams.get("prefix") ?? "", operation: `${method} /` };
  const part = [...searchParams.keys()].find((key) => key !== "x-id");
  return { bucket, operation: part === undefined ? method : `${method} ?${part}` };
}
