import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** One request, as S3 names it. */
export interface S3Call {
  readonly operation: string;
  readonly bucket: string;
  /** Counted from 0 since the last `forget`. */
  readonly number: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** What the client was told; undefined when it was cut off. */
  status?: number;
  /** What the server answered; undefined when it never heard of it. */
  served?: number;
}

export type Fault =
  | "none"
  /** The server never hears of it. */
  | "cut-before"
  /** The server does it, and the client never learns. */
  | "cut-after"
  /** Never answered, never forwarded. */
  | "hang"
  | { readonly status: number; readonly code: string; readonly headers?: Record<string, string> }
  | { readonly status: number; readonly body: string };

export interface FaultProxy {
  readonly url: string;
  readonly calls: S3Call[];
  /** The operations so far that change something, in the order in which they came. */
  writes(): readonly string[];
  /** Decides on each call, in the order in which they come. */
  fault: (call: S3Call) => Fault | Promise<Fault>;
  /** Forgets calls and faults. */
  forget(): void;
  close(): Promise<void>;
}

/** Stands between the function and an S3 server, writes down what is said, and breaks it on demand. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const calls: S3Call[] = [];
  const server = createServer((asked, answer) => void serve(asked, answer));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    writes: () => calls.filter(isWrite).map(({ operation }) => operation),
    fault: () => "none",
    forget() {
      calls.length = 0;
      proxy.fault = () => "none";
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return proxy;

  async function serve(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body = await buffer(asked);
    const { headers } = asked;
    const call: S3Call = { ...named(asked), number: calls.length, headers, body: body.toString() };
    calls.push(call);
    const fault = await proxy.fault(call);
    if (fault === "hang") return;
    if (fault === "cut-before") return void asked.socket.destroy();
    if (fault !== "none" && fault !== "cut-after") {
      call.status = fault.status;
      answer.writeHead(fault.status, {
        "content-type": "application/xml",
        ...("headers" in fault && fault.headers),
      });
      return void answer.end("body" in fault ? fault.body : errorBody(fault.code));
    }
    const forwarded = request(`${target}${asked.url ?? "/"}`, {
      method: asked.method,
      headers: asked.headers,
    });
    forwarded.end(body);
    const [reply] = (await once(forwarded, "response")) as [IncomingMessage];
    const content = await buffer(reply);
    call.served = reply.statusCode ?? 0;
    if (fault === "cut-after") return void asked.socket.destroy();
    call.status = call.served;
    answer.writeHead(call.served, reply.headers);
    answer.end(content);
  }
}

const errorBody = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>made up by the proxy</Message></Error>`;

const operations: Readonly<Record<string, string>> = {
  "GET tagging": "GetBucketTagging",
  "PUT tagging": "PutBucketTagging",
  "DELETE tagging": "DeleteBucketTagging",
  "GET versioning": "GetBucketVersioning",
  "PUT versioning": "PutBucketVersioning",
  "GET versions": "ListObjectVersions",
  "GET uploads": "ListMultipartUploads",
  "POST delete": "DeleteObjects",
  "HEAD ": "HeadBucket",
  "PUT ": "CreateBucket",
  "DELETE ": "DeleteBucket",
  "GET ": "ListBuckets",
  "DELETE uploadId": "AbortMultipartUpload",
};

/** What changes something. */
export const isWrite = ({ operation }: S3Call): boolean => !/^(Get|Head|List)/.test(operation);

function named({ method = "", url = "/" }: IncomingMessage): { operation: string; bucket: string } {
  const { pathname, searchParams } = new URL(url, "http://s3");
  const [, bucket = ""] = pathname.split("/");
  const known = [...searchParams.keys()].find((key) => `${method} ${key}` in operations) ?? "";
  return { operation: operations[`${method} ${known}`] ?? `${method} ${url}`, bucket };
}
