import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { faultPlanDecider } from "./plan/fault-plan-decider.ts";
import { type FaultProxy, type FaultProxyOptions, startFaultProxy } from "./fault-proxy.ts";
import { noFaults } from "./plan/faults.ts";
import { parsePlan } from "./plan/fault-plan.ts";

let server: Server;
let proxy: FaultProxy;
let serve: (asked: IncomingMessage, answer: ServerResponse) => void;

beforeEach(async () => {
  serve = (_, answer) => answer.end("done");
  server = createServer((asked, answer) => serve(asked, answer)).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  await proxy.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const start = (...rules: object[]): Promise<void> =>
  startWith({ decider: rules.length === 0 ? noFaults : faultPlanDecider(parsePlan({ rules })) });
const startWith = async (options: Partial<FaultProxyOptions>): Promise<void> => {
  const { port } = server.address() as AddressInfo;
  proxy = await startFaultProxy({
    upstream: { url: `http://127.0.0.1:${port}/root/` },
    decider: noFaults,
    hosts: ["bucket.example.com"],
    ...options,
  });
};
const send = async (
  method: string,
  path: string,
  headers: string[],
  body?: Buffer,
): Promise<IncomingMessage> => {
  const asking = request(new URL(path, proxy.url), {
    method,
    headers: ["host", "bucket.example.com", ...headers],
  });
  asking.end(body);
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  return answer;
};

describe("in front of a server other than an API server", () => {
  it("headers pass unchanged, so that signatures stay valid", async () => {
    let received: readonly string[] = [];
    serve = (asked, answer) => {
      received = asked.rawHeaders;
      answer.writeHead(200, ["ETag", '"x"', "Set-Cookie", "a=1", "Set-Cookie", "b=2"]).end("done");
    };
    await start();
    const sent = ["Authorization", "AWS4-HMAC-SHA256 Signature=0", "X-Amz-Date", "20260101T000000Z"];
    const answer = await send("GET", "/key?list-type=2", [...sent, "Accept-Encoding", "gzip"]);
    expect(received).toEqual([
      ...["host", "bucket.example.com", ...sent, "Accept-Encoding", "gzip"],
      ...["Connection", "keep-alive"],
    ]);
    expect(answer.rawHeaders).toEqual(expect.arrayContaining(["ETag", '"x"', "a=1", "b=2"]));
    expect(await text(answer)).toBe("done");
    expect(proxy.record[0]).toMatchObject({
      call: { verb: "other", resource: "", path: "/key" },
      client: 200,
    });
  });

  it("only API servers are asked for JSON", async () => {
    const received: unknown[] = [];
    serve = (asked, answer) => {
      received.push([asked.headers.accept, asked.headers["accept-encoding"]]);
      answer.end();
    };
    await start();
    const protobuf = "application/vnd.kubernetes.protobuf";
    const accepts = [`${protobuf};stream=watch,application/json;stream=watch`, protobuf];
    for (const path of ["/api/v1/pods", "/key"])
      for (const accept of accepts) await send("GET", path, ["Accept", accept, "Accept-Encoding", "gzip"]);
    expect(received).toEqual([
      ["application/json;stream=watch", undefined],
      [protobuf, undefined],
      ...accepts.map((accept) => [accept, "gzip"]),
    ]);
  });

  it("large bodies are streamed in both directions", async () => {
    const large = Buffer.alloc(20 * 2 ** 20, "large");
    serve = (asked, answer) => {
      // The answer begins while the request is still on its way.
      answer.writeHead(200, { "content-length": large.length });
      asked.pipe(answer);
    };
    await start();
    const answer = await send("PUT", "/bucket/key", ["content-length", String(large.length)], large);
    expect((await buffer(answer)).equals(large)).toBe(true);
    expect(proxy.record[0]).toMatchObject({ call: { isWrite: true }, committed: true });
  });

  it("a request body that breaks off breaks off at the server, too", async () => {
    let came: (asked: IncomingMessage) => void = () => undefined;
    const arrived = new Promise<IncomingMessage>((resolve) => (came = resolve));
    serve = (asked) => came(asked);
    await start();
    const asking = request(new URL("/key", proxy.url), {
      method: "PUT",
      headers: { "content-length": 2 ** 30 },
    });
    asking.on("error", () => undefined);
    asking.write("the beginning");
    const reading = text(await arrived);
    asking.destroy();
    await expect(reading).rejects.toThrow("aborted");
  });

  it("a small body that breaks off is not recorded as a call, and other calls are served", async () => {
    await start();
    const asking = request(new URL("/key", proxy.url), { method: "PUT", headers: { "content-length": 3 } });
    asking.on("error", () => undefined);
    asking.write("a", () => asking.destroy());
    await new Promise((resolve) => asking.once("close", resolve));
    expect(await text(await send("PUT", "/key", []))).toBe("done");
    await proxy.shut();
    expect(proxy.record).toHaveLength(1);
  });

  it("a write is carried through when its client has gone, and a read is not", async () => {
    const waiting: { answer: ServerResponse; gone: Promise<unknown> }[] = [];
    const came: (() => void)[] = [];
    serve = (_, answer) => {
      waiting.push({ answer, gone: once(answer, "close") });
      came.shift()?.();
    };
    await start();
    for (const method of ["PUT", "GET"]) {
      const arrived = new Promise<void>((resolve) => came.push(resolve));
      const asking = request(new URL("/key", proxy.url), { method }).end();
      asking.on("error", () => undefined);
      await arrived;
      asking.destroy();
    }
    await waiting[1]!.gone;
    expect(waiting[0]!.answer.destroyed).toBe(false);
    waiting[0]!.answer.end();
    await expect.poll(() => proxy.record[0]?.committed).toBe(true);
    expect(proxy.record[1]?.client).toBe("gone");
  });

  it("an answer that breaks off breaks off at the client, too", async () => {
    serve = (_, answer) => {
      answer.writeHead(200, { "content-length": 10 });
      answer.write("half", () => answer.destroy());
    };
    await start();
    await expect(text(await send("GET", "/key", []))).rejects.toThrow("aborted");
  });

  it("an answer that breaks off after its client has gone is recorded with its status", async () => {
    serve = (_, answer) => {
      answer.writeHead(201, { "content-length": 10 });
      answer.write("half", () => answer.destroy());
    };
    await start({ do: "lose answer", when: { method: "PUT" } });
    await expect(send("PUT", "/key", [])).rejects.toThrow("ECONNRESET");
    expect(proxy.record[0]).toMatchObject({ server: { status: 201 }, committed: true, client: "reset" });
    expect(proxy.record[0]).not.toHaveProperty("problem");
  });

  it("an answer that is not JSON passes unchanged, whatever its content type", async () => {
    serve = (_, answer) => answer.writeHead(200, { "content-type": "application/json" }).end("{");
    await start();
    expect(await text(await send("GET", "/api/v1/namespaces/x/configmaps/a", []))).toBe("{");
    expect(proxy.record[0]).toMatchObject({ call: { verb: "get" }, server: { status: 200 }, client: 200 });
    expect(proxy.record[0]?.server).not.toHaveProperty("object");
  });

  it("a call that the proxy cannot serve is answered with the reason, which is recorded", async () => {
    await startWith({ decider: { ofCall: () => ({ do: "stale", view: "old" }) } });
    const answer = await send("GET", "/key", []);
    const message = 'The proxy has no view "old"; it has: none.';
    expect(answer.statusCode).toBe(500);
    expect(JSON.parse(await text(answer))).toMatchObject({ kind: "Status", code: 500, message });
    expect(proxy.record[0]).toMatchObject({ problem: message, client: 500 });
  });

  it("a call that fails after its answer has begun breaks off", async () => {
    const onEntry = () => {
      throw new Error("it cannot be recorded");
    };
    await startWith({ onEntry });
    await expect(send("GET", "/key", [])).rejects.toThrow("socket hang up");
    expect(proxy.record[0]).toMatchObject({ problem: "it cannot be recorded", client: 200 });
  });

  it("a watch that is ended during the delay of an event ends without the event", async () => {
    serve = (_, answer) => {
      answer.writeHead(200, { "content-type": "application/json" });
      answer.write('{"type":"ADDED","object":{}}\n');
    };
    await startWith({
      decider: { ofCall: () => undefined, ofEvent: () => ({ do: "delay", for: 1 }) },
      sleep: () => Promise.resolve(void proxy.endWatches("end")),
    });
    expect(await text(await send("GET", "/api/v1/configmaps?watch=1", []))).toBe("");
    expect(proxy.record[0]).toMatchObject({ client: 200, events: [{ type: "ADDED" }] });
  });

  it("the proxy's address is opened again once its port is free", async () => {
    await start();
    await proxy.shut();
    const other = createServer().listen(Number(new URL(proxy.url).port), "127.0.0.1");
    await once(other, "listening");
    const opening = proxy.open();
    await nextTurn(); // by then it has been refused
    other.close();
    await opening;
    expect(await text(await send("GET", "/key", []))).toBe("done");
  });

  it("rules distinguish calls by method and path", async () => {
    const carriedOut: string[] = [];
    serve = (asked, answer) => {
      carriedOut.push(`${asked.method ?? ""} ${asked.url ?? ""}`);
      answer.end();
    };
    await start({ do: "lose answer", when: { method: "PUT", path: "/photos" } });
    await expect(send("PUT", "/photos", [])).rejects.toThrow("ECONNRESET");
    expect((await send("PUT", "/others", [])).statusCode).toBe(200);
    expect(carriedOut).toEqual(["PUT /root/photos", "PUT /root/others"]);
  });

  it("a server that cannot be reached resets the connection, and the record has the reason", async () => {
    await start();
    await new Promise((resolve) => server.close(resolve));
    await expect(send("PUT", "/key", [])).rejects.toThrow("ECONNRESET");
    expect(proxy.record[0]?.problem).toMatch(/the server cannot be reached: .*ECONNREFUSED/);
    expect(proxy.record[0]).not.toHaveProperty("committed");
    server.listen(0);
  });
});
