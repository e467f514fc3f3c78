import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** One request, as S3 names it. */
export interface S3Call {
  readonly operation: string;
  readonly bucket: string;
  /** Empty in calls about a bucket. */
  readonly key: string;
  /** Counted from 0 since the last `forget`. */
  readonly number: number;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** The client's response; undefined when it was cut off. */
  status?: number;
  /** The server's response; undefined when it never got the request. */
  served?: number;
}

export type S3Fault =
  | "none"
  /** The server never gets it. */
  | "cut-before"
  /** The server does it, and the client never learns. */
  | "cut-after"
  /** Never answered, never forwarded. */
  | "hang"
  | { readonly status: number; readonly code: string; readonly headers?: Record<string, string> }
  | { readonly status: number; readonly body: string }
  /** The server is asked with another body, and its answer is changed. */
  | { readonly asked: string; readonly answered: (answer: S3Answer) => S3Answer };

export interface S3Answer {
  readonly status: number;
  readonly body: string;
}

/** The answer to a call in place of the server's; undefined if the server is to answer. */
export type S3Stub = (call: Pick<S3Call, "operation" | "bucket" | "url" | "body">) => S3Answer | undefined;

export interface S3FaultProxy {
  readonly url: string;
  readonly calls: S3Call[];
  /** The operations so far that change something, in the order in which they came. */
  writes(): readonly string[];
  /** Decides on each call, in the order in which they come. */
  fault: (call: S3Call) => S3Fault | Promise<S3Fault>;
  /** Meets every call of this operation with a fault, and no other call. */
  faultOn(operation: string, fault: S3Fault): void;
  /** Does something before every call of this operation is forwarded. */
  before(operation: string, act: () => unknown): void;
  /** Has the server list versions in pages of so many. */
  pageSize: number | undefined;
  /** Forgets calls, faults and the size of pages. */
  forget(): void;
  close(): Promise<void>;
}

interface ProxyOptions {
  /** Answers calls in place of the server. */
  readonly stub?: S3Stub;
  /** Default true. */
  readonly recordsCalls?: boolean;
}

/** A proxy between the function and an S3 server: records the calls, and breaks them on demand. */
export async function startS3FaultProxy(
  target: string,
  { stub, recordsCalls = true }: ProxyOptions = {},
): Promise<S3FaultProxy> {
  const calls: S3Call[] = [];
  const server = createServer((asked, answer) => void serve(asked, answer));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: S3FaultProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    writes: () => calls.filter(isWrite).map(({ operation }) => operation),
    fault: () => "none",
    ...faultSetters((fault) => void (proxy.fault = fault)),
    pageSize: undefined,
    forget() {
      calls.length = 0;
      proxy.pageSize = undefined;
      proxy.fault = () => "none";
    },
    close: () => closeServer(server),
  };
  return proxy;

  async function serve(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body = await buffer(asked);
    const { headers } = asked;
    const call: S3Call = {
      ...named(asked),
      url: asked.url ?? "/",
      number: calls.length,
      headers,
      body: body.toString(),
    };
    if (recordsCalls) calls.push(call);
    const fault = await proxy.fault(call);
    if (fault === "hang") return;
    if (fault === "cut-before") return void asked.socket.destroy();
    if (typeof fault === "object" && "status" in fault) {
      call.status = fault.status;
      answer.writeHead(fault.status, {
        "content-type": "application/xml",
        ...("headers" in fault && fault.headers),
      });
      return void answer.end("body" in fault ? fault.body : errorBody(fault.code));
    }
    const changed = typeof fault === "object" ? fault : undefined;
    const url = `${target}${call.url}${pageOf(call, proxy.pageSize)}`;
    const reply = stubbed(stub, call) ?? (await forwarded(url, asked, changed?.asked, body));
    call.served = reply.status;
    if (fault === "cut-after") return void asked.socket.destroy();
    const { status, body: text } = changed?.answered({ ...reply, body: reply.body.toString() }) ?? reply;
    call.status = status;
    answer.writeHead(status, changed === undefined ? reply.headers : headersOfChanged(reply.headers));
    answer.end(text);
  }
}

function stubbed(stub: S3Stub | undefined, call: S3Call) {
  const answer = stub?.(call);
  return (
    answer && { ...answer, headers: { "content-type": "application/xml" }, body: Buffer.from(answer.body) }
  );
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

const pageOf = ({ operation }: S3Call, pageSize: number | undefined): string =>
  pageSize === undefined || operation !== "ListObjectVersions" ? "" : `&max-keys=${pageSize}`;

const faultSetters = (
  set: (fault: S3FaultProxy["fault"]) => void,
): Pick<S3FaultProxy, "faultOn" | "before"> => ({
  faultOn: (operation, fault) => set((call) => (call.operation === operation ? fault : "none")),
  before: (operation, act) =>
    set(async (call): Promise<S3Fault> => {
      if (call.operation === operation) await act();
      return "none";
    }),
});

async function forwarded(
  url: string,
  { method, headers }: IncomingMessage,
  changed: string | undefined,
  body: Buffer,
) {
  const asked = request(url, { method, headers: changed === undefined ? headers : withoutSums(headers) });
  asked.end(changed ?? body);
  const [reply] = (await once(asked, "response")) as [IncomingMessage];
  return { status: reply.statusCode ?? 0, headers: reply.headers, body: await buffer(reply) };
}

/** A changed body has another length and other checksums. */
const withoutSums = (headers: IncomingMessage["headers"]): IncomingMessage["headers"] =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !/^content-(md5|length)$|checksum|^transfer-encoding$/.test(name),
    ),
  );

const errorBody = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>made up by the proxy</Message></Error>`;

/** The parameter that names a part of a bucket, and the part as it stands in the names of operations. */
const parts = {
  accelerate: "BucketAccelerateConfiguration",
  acl: "BucketAcl",
  analytics: "BucketAnalyticsConfiguration",
  cors: "BucketCors",
  encryption: "BucketEncryption",
  "intelligent-tiering": "BucketIntelligentTieringConfiguration",
  inventory: "BucketInventoryConfiguration",
  lifecycle: "BucketLifecycle",
  logging: "BucketLogging",
  metrics: "BucketMetricsConfiguration",
  notification: "BucketNotificationConfiguration",
  "object-lock": "ObjectLockConfiguration",
  ownershipControls: "BucketOwnershipControls",
  policy: "BucketPolicy",
  publicAccessBlock: "PublicAccessBlock",
  replication: "BucketReplication",
  requestPayment: "BucketRequestPayment",
  tagging: "BucketTagging",
  versioning: "BucketVersioning",
  website: "BucketWebsite",
};

const operations: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(parts).flatMap(([parameter, part]) => [
      [`GET ${parameter}`, `Get${part}`],
      [`PUT ${parameter}`, `Put${part}`],
      [`DELETE ${parameter}`, `Delete${part}`],
    ]),
  ),
  "GET versions": "ListObjectVersions",
  "GET uploads": "ListMultipartUploads",
  "POST delete": "DeleteObjects",
  "HEAD ": "HeadBucket",
  "PUT ": "CreateBucket",
  "DELETE ": "DeleteBucket",
  "GET ": "ListBuckets",
  "DELETE uploadId": "AbortMultipartUpload",
  "PUT /": "PutObject",
  "DELETE /": "DeleteObject",
};

/** True for calls that change something. */
export const isWrite = ({ operation }: S3Call): boolean => !/^(Get|Head|List)/.test(operation);

function named({ method = "", url = "/" }: IncomingMessage): Pick<S3Call, "operation" | "bucket" | "key"> {
  const { searchParams } = new URL(url, "http://s3");
  // The path as it was sent: URL would resolve its dots.
  const [, bucket = "", path = ""] = /^\/([^/?]*)(?:\/([^?]*))?/.exec(url) ?? [];
  const known = [...searchParams.keys()].find((key) => `${method} ${key}` in operations) ?? "";
  const asked = path !== "" && known === "" ? `${method} /` : `${method} ${known}`;
  return { operation: operations[asked] ?? `${method} ${url}`, bucket, key: decodeURIComponent(path) };
}

/** Also of an answer that was changed the time is the server's, whose clock may be another. */
const headersOfChanged = ({ date }: IncomingMessage["headers"]) => ({
  "content-type": "application/xml",
  ...(date !== undefined && { date }),
});
