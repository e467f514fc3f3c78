import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { Counter, Registry } from "prom-client";
import { afterEach, describe, expect, it } from "vitest";
import {
  type JsonEndpoint,
  type ReadinessCheck,
  type ProcessServer,
  serveProcess,
  defaultMetricsAuth,
} from "./process-server.ts";
import { allowAll, type ReadAuthorizer } from "./read-authorizer.ts";

const servers: ProcessServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

interface Parts {
  readonly host?: string;
  readonly access?: ReadAuthorizer;
  readonly ready?: ReadonlyMap<string, ReadinessCheck>;
  readonly warnings?: unknown[];
  readonly registry?: Registry;
}
async function start({ access = allowAll, ready = new Map(), warnings = [], ...parts }: Parts) {
  const { host = "127.0.0.1", registry = new Registry() } = parts;
  const answer: JsonEndpoint = {
    accessFor: (rest) => (rest === "" ? undefined : { nonResourceAttributes: { path: rest, verb: "get" } }),
    respond: (rest) =>
      rest === "unknown"
        ? Promise.reject(new Error("no Redis at 10.0.0.7"))
        : Promise.resolve(rest === "a" ? { is: rest } : undefined),
  };
  const server = await serveProcess({
    host,
    port: 0,
    registry,
    ready,
    access,
    endpoints: new Map([["/of/", answer]]),
    log: { warn: (problem: unknown) => void warnings.push(problem) },
  });
  servers.push(server);
  return server.url;
}
async function ask(url: string, headers: Record<string, string> = {}) {
  const [answer] = (await once(get(url, { headers }), "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) };
}

describe("on loopback", () => {
  it.each(["/healthz", "/readyz", "/metrics", "/of/a"])(
    "%s is for programs, not for web pages",
    async (path) => {
      const url = (await start({})) + path;
      expect((await ask(url)).status).toBe(200);
      expect((await ask(url, { host: "localhost" })).status).toBe(200);
      expect(await ask(url, { host: "evil.example" })).toMatchObject({
        status: 403,
        text: expect.stringContaining("Ask from a program, not from a web page") as string,
      });
      expect((await ask(url, { origin: "http://evil.example" })).status).toBe(403);
      expect((await ask(url, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    },
  );
});

it("answers below the paths of its endpoints only", async () => {
  const url = await start({});
  expect(await ask(`${url}/of/a`)).toMatchObject({ status: 200, text: '{"is":"a"}' });
  for (const path of ["/", "/of", "/of/", "/of/b", "/other/of/a"])
    expect((await ask(url + path)).status, path).toBe(404);
});

it("what cannot be answered is a 503, and only the log has the reason", async () => {
  const warnings: unknown[] = [];
  const url = await start({ warnings });
  expect(await ask(`${url}/of/unknown`)).toMatchObject({
    status: 503,
    text: "This cannot be answered now: the reason is in the log of the process. Try again.\n",
  });
  expect(warnings).toMatchObject([{ path: "/of/unknown", err: { message: "no Redis at 10.0.0.7" } }]);
});

it("a process is ready without problems; notes do not count", async () => {
  const ready = new Map<string, ReadinessCheck>([
    ["starting", () => "not yet"],
    ["failing", () => Promise.reject(new Error("no answer"))],
    ["tenant", () => ({ note: "one is away" })],
    ["well", () => undefined],
  ]);
  const url = await start({ ready });
  const lines = ["starting: not yet", "failing: no answer", "tenant: one is away", ""];
  expect(await ask(`${url}/readyz`)).toMatchObject({ status: 503, text: lines.join("\n") });
  ready.delete("starting");
  expect((await ask(`${url}/readyz`)).status).toBe(503);
  ready.delete("failing");
  expect(await ask(`${url}/readyz`)).toMatchObject({ status: 200, text: "ok\ntenant: one is away\n" });
  ready.delete("tenant");
  expect(await ask(`${url}/readyz`)).toMatchObject({ status: 200, text: "ok\n" });
  expect((await ask(`${url}/healthz`)).status).toBe(200);
});

it("a server on loopback needs no token, and any other needs one", () => {
  expect(["127.0.0.1", "localhost", "::1", "127.9.9.9"].map(defaultMetricsAuth)).toEqual(
    Array(4).fill("none"),
  );
  expect(["0.0.0.0", "::", "10.0.0.7", "localhost.example"].map(defaultMetricsAuth)).toEqual(
    Array(4).fill("kubernetes"),
  );
});

describe("with required tokens", () => {
  const asked: unknown[] = [];
  const access: ReadAuthorizer = (token, what) => {
    asked.push(what);
    if (token === undefined) return Promise.resolve({ status: 401, message: "Send a token." });
    return Promise.resolve(token === "good" ? "allowed" : { status: 403, message: "You may not." });
  };
  const good = { authorization: "Bearer good" };

  it("metrics and endpoints are refused without one, and health is not", async () => {
    const url = await start({ access });
    for (const path of ["/metrics", "/of/a", "/of/nothing"]) {
      expect(await ask(url + path)).toMatchObject({
        status: 401,
        headers: { "www-authenticate": "Bearer" },
        text: "Send a token.\n",
      });
      expect((await ask(url + path, { authorization: "Bearer bad" })).status).toBe(403);
    }
    expect((await ask(`${url}/metrics`, good)).status).toBe(200);
    expect((await ask(`${url}/of/a`, good)).text).toBe('{"is":"a"}');
    expect((await ask(`${url}/of/nothing`, good)).status).toBe(404);
    expect([(await ask(`${url}/healthz`)).status, (await ask(`${url}/readyz`)).status]).toEqual([200, 200]);
    expect(asked).toContainEqual({ nonResourceAttributes: { path: "/metrics", verb: "get" } });
    expect(asked).toContainEqual({ nonResourceAttributes: { path: "a", verb: "get" } });
  });

  it("a probe gets the part that is not ready, and only a reader of metrics gets the reason", async () => {
    const warnings: unknown[] = [];
    const ready = new Map<string, ReadinessCheck>([
      ["streams", () => "secrets of the tenant shop cannot be listed"],
    ]);
    const url = `${await start({ access, ready, warnings })}/readyz`;
    for (const headers of [{}, { authorization: "Bearer bad" }])
      expect(await ask(url, headers)).toMatchObject({ status: 503, text: "streams: not ready\n" });
    expect((await ask(url, good)).text).toBe("streams: secrets of the tenant shop cannot be listed\n");
    // It is logged once.
    expect(warnings).toEqual([
      { problems: [{ part: "streams", why: "secrets of the tenant shop cannot be listed" }] },
    ]);
  });
});

it("metrics are collected at most once a second", async () => {
  const registry = new Registry();
  let collected = 0;
  new Counter({
    name: "a_total",
    help: "-",
    registers: [registry],
    collect: () => {
      collected++;
    },
  });
  const url = await start({ registry });
  await Promise.all(Array.from({ length: 50 }, () => ask(`${url}/metrics`)));
  expect(collected).toBeLessThan(5);
  expect((await ask(`${url}/metrics`)).text).toContain("a_total 0");
});
