import { builtin, connect, type KubeClient } from "@drover/kube";
import { objectKey } from "@drover/controller";
import { once } from "node:events";
import { get as httpGet, type IncomingMessage } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { ProxiedCall } from "./calls/proxied-call.ts";
import { type FaultProxy, type FaultProxyOptions, startFaultProxy } from "./fault-proxy.ts";
import type { CallFault, EventFault, FaultDecider } from "./plan/faults.ts";
import { readLines } from "./responses/read-lines.ts";
import { describeRecord } from "./calls/describe-record.ts";
import type { Upstream } from "./upstream.ts";

/** A server behind the proxy. */
export interface ContractServer {
  readonly upstream: Upstream;
  /** Connects to the server directly. */
  readonly kubeconfig: string;
}

/** The header with which the proxy accepts a client. */
export const authorized = (proxy: Pick<FaultProxy, "token"> | undefined) => ({
  authorization: `Bearer ${proxy?.token ?? ""}`,
});

const collection = "/api/v1/namespaces/default/configmaps";

/** The behaviour of the proxy in front of any API server. `oracle` reads the server directly. */
export function faultProxyContract(what: string, server: () => ContractServer): void {
  let oracle: KubeClient;
  let proxy: FaultProxy | undefined;
  let names = 0;

  beforeAll(async () => {
    oracle = await connect({ kubeconfig: server().kubeconfig });
  });
  afterAll(() => oracle.close());
  afterEach(async () => {
    await proxy?.close();
    proxy = undefined;
  });

  const start = async (decider: FaultDecider, more: Partial<FaultProxyOptions> = {}) =>
    (proxy = await startFaultProxy({ upstream: server().upstream, decider, ...more }));
  /** The fault for calls with this verb on ConfigMaps. */
  const at = (verb: ProxiedCall["verb"], fault: CallFault): FaultDecider => ({
    ofCall: (call) => (call.verb === verb && call.resource === "configmaps" ? fault : undefined),
  });
  const ask = (url: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set("authorization", authorized(proxy).authorization);
    return fetch(url, { ...init, headers });
  };
  const newName = (): string => `fault-${process.pid}-${names++}`;
  const create = async (...made: readonly string[]): Promise<void> => {
    for (const name of made)
      await oracle.create(builtin.configMap, { metadata: { namespace: "default", name } });
  };
  const kept = async (name: string): Promise<boolean> =>
    (await oracle.get(builtin.configMap, objectKey({ namespace: "default", name }))) !== undefined;
  const make = (name: string, url: string, signal?: AbortSignal): Promise<Response> =>
    ask(url + collection, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } }),
      ...(signal && { signal }),
    });
  const story = (): string[] => describeRecord(proxy?.record ?? []);
  const noted = (pattern: RegExp): Promise<void> =>
    vi.waitFor(() => expect(story().join("\n")).toMatch(pattern), { timeout: 10_000, interval: 5 });
  /** The error that broke the call, which fetch wraps. */
  const causeOf = (asking: Promise<unknown>): Promise<unknown> =>
    asking.then(
      () => "it was answered",
      (error: unknown) => (error instanceof Error && error.cause instanceof Error ? error.cause : error),
    );

  describe(`in front of ${what}`, () => {
    it("passes calls on unchanged without a fault, and records them", async () => {
      const { url, record } = await start({ ofCall: () => undefined });
      const name = newName();
      const made = await make(name, url);
      expect(made.status).toBe(201);
      const { metadata } = (await made.json()) as { metadata: { uid: string; resourceVersion: string } };
      const { uid, resourceVersion } = metadata;
      const object = { kind: "ConfigMap", namespace: "default", name, uid, resourceVersion };
      expect(record).toMatchObject([
        { call: { id: 1, verb: "create" }, server: { status: 201, object }, client: 201, committed: true },
      ]);
      const read = await ask(`${url}${collection}/${name}`);
      expect(await read.json()).toMatchObject({ metadata: { uid } });
      expect((await ask(`${url}${collection}/${name}`, { method: "DELETE" })).status).toBe(200);
      expect((await ask(`${url}${collection}/${name}`)).status).toBe(404);
      expect(await kept(name)).toBe(false);
      expect(story()).toEqual([
        `#1 create configmaps default/${name} -> 201`,
        `#2 get configmaps default/${name} -> 200`,
        `#3 delete configmaps default/${name} -> 200`,
        `#4 get configmaps default/${name} -> 404`,
      ]);
    });

    it("requests JSON where the client accepts it", async () => {
      const { url, record } = await start({ ofCall: () => undefined });
      const name = newName();
      await create(name);
      const headers = { accept: "application/vnd.kubernetes.protobuf,application/json" };
      const answer = await ask(`${url}${collection}/${name}`, { headers });
      expect(answer.headers.get("content-type")).toBe("application/json");
      expect(record[0]?.server?.object).toMatchObject({ name });
    });

    it("refuses with a Status, and does not forward the call", async () => {
      const { url } = await start(at("create", { do: "refuse", status: 429, retryAfter: 7 }));
      const name = newName();
      const refused = await make(name, url);
      expect(refused.status).toBe(429);
      expect(refused.headers.get("retry-after")).toBe("7");
      const details = { retryAfterSeconds: 7 };
      expect(await refused.json()).toMatchObject({
        kind: "Status",
        reason: "TooManyRequests",
        code: 429,
        details,
      });
      expect(await kept(name)).toBe(false);
      expect(proxy?.record[0]).toMatchObject({ client: 429, committed: false });
    });

    it.each<[string, CallFault, boolean, string]>([
      ["resets it before", { do: "reset" }, false, "reset before the server"],
      ["loses the answer", { do: "lose answer" }, true, "201, answer lost"],
    ])("%s", async (_, fault, committed, words) => {
      const { url } = await start(at("create", fault));
      const name = newName();
      expect(await causeOf(make(name, url))).toMatchObject({ code: "ECONNRESET" });
      expect(await kept(name)).toBe(committed);
      expect(proxy?.record[0]).toMatchObject({ client: "reset", committed });
      expect(story()).toEqual([`#1 create configmaps default/${name} -> ${words}`]);
    });

    it("sends it twice, and the client gets the second answer", async () => {
      const { url } = await start(at("create", { do: "repeat" }));
      const name = newName();
      await expect(make(name, url)).resolves.toMatchObject({ status: 409 });
      expect(await kept(name)).toBe(true);
      expect(proxy?.record[0]).toMatchObject({ client: 409, committed: true });
      expect(story()).toEqual([`#1 create configmaps default/${name} -> 409, sent twice`]);
    });

    it.each<[string, CallFault, boolean]>([
      ["hangs before", { do: "hang" }, false],
      ["hangs after", { do: "hang after" }, true],
    ])("%s: a client that gives up cannot know the result", async (_, fault, committed) => {
      const { url } = await start(at("create", fault));
      const name = newName();
      const giveUp = new AbortController();
      const answer = causeOf(make(name, url, giveUp.signal));
      await vi.waitFor(() => expect(proxy?.record[0]?.client).toBe("hung"));
      giveUp.abort();
      expect(await answer).toMatchObject({ name: "AbortError" });
      expect(await kept(name)).toBe(committed);
      expect(proxy?.record[0]?.committed).toBe(committed);
    });

    it("delays, and may inject another fault after the delay", async () => {
      const waits: number[] = [];
      const sleep = (time: number): Promise<void> => Promise.resolve(void waits.push(time));
      const { url } = await start(
        at("create", { do: "delay", for: 70, then: { do: "refuse", status: 409 } }),
        { sleep },
      );
      const name = newName();
      expect((await make(name, url)).status).toBe(409);
      expect(waits).toEqual([70]);
      expect(story()).toEqual([`#1 create configmaps default/${name} -> delayed by 70 ms, refused with 409`]);
    });

    it.each(["before", "after"] as const)(
      "kills a process %s a commit: none of its calls is carried out after that",
      async (when) => {
        const killed: [ProxiedCall, string][] = [];
        const { url } = await start(at("create", { do: "kill", when }), {
          onKill: (call, at) => void killed.push([call, at]),
        });
        const name = newName();
        const [dying, later] = [new AbortController(), newName()];
        const answers = [make(name, url, dying.signal)];
        await vi.waitFor(() => expect(killed).toHaveLength(1));
        expect(killed[0]).toMatchObject([{ id: 1, life: 1 }, when]);
        answers.push(make(later, url, dying.signal));
        await noted(/#2 create configmaps \S+ -> not answered: its process is dead/);
        dying.abort();
        await Promise.allSettled(answers);
        expect([await kept(name), await kept(later)]).toEqual([when === "after", false]);
      },
    );

    it("accepts the next process at the same address, and another one at its own listener", async () => {
      let kills = 1;
      const { url, ...rest } = await start({
        ofCall: ({ verb }) => (verb === "create" && kills-- > 0 ? { do: "kill", when: "before" } : undefined),
      });
      const dying = causeOf(make(newName(), url));
      await vi.waitFor(() => expect(proxy?.record[0]?.client).toBe("hung"));
      const listener = await rest.openListener();
      expect((await make(newName(), listener.url)).status).toBe(201);
      proxy?.nextProcess();
      expect(await dying).toMatchObject({ code: expect.stringMatching(/RESET|SOCKET/) as string });
      expect((await make(newName(), url)).status).toBe(201);
      expect(proxy?.record.map(({ call }) => call.life)).toEqual([1, 2, 3]);
      await listener.close();
      await expect(make(newName(), listener.url)).rejects.toThrow();
    });

    it("refuses connections while it is shut", async () => {
      const { url, shut, open } = await start({ ofCall: () => undefined });
      await shut();
      expect(await causeOf(make(newName(), url))).toMatchObject({ code: "ECONNREFUSED" });
      await open();
      expect((await make(newName(), url)).status).toBe(201);
    });

    it.each([
      ["html", "text/html"],
      ["bytes", "application/json"],
      ["nothing", "application/json"],
    ] as const)("answers garbage: %s", async (of, type) => {
      const { url } = await start(at("list", { do: "garbage", of }));
      const answer = await ask(url + collection);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, type]);
      await expect(answer.json()).rejects.toThrow();
    });

    it.each(["truncated", "no metadata", "no uid", "endless"] as const)("spoils a list: %s", async (how) => {
      const { url } = await start(at("list", { do: "spoil list", how }));
      await create(newName());
      const body = await (await ask(url + collection)).text();
      if (how === "truncated") expect(() => JSON.parse(body) as unknown).toThrow();
      else if (how === "endless") expect(body).toContain(`"continue":"endless-0"`);
      else if (how === "no uid")
        expect((JSON.parse(body) as { items: [{ metadata: object }] }).items[0].metadata).not.toHaveProperty(
          "uid",
        );
      else expect(JSON.parse(body)).not.toHaveProperty("metadata");
    });

    it("ends an endless list with a 410 once the fault is over", async () => {
      let isEndless = true;
      const { url } = await start({
        ofCall: () => (isEndless ? { do: "spoil list", how: "endless", cycle: 2 } : undefined),
      });
      const tokenAfter = async (token: string): Promise<unknown> => {
        const page = await ask(`${url}${collection}?limit=500&continue=${token}`);
        return ((await page.json()) as { metadata: { continue?: string } }).metadata.continue;
      };
      for (const [i, token] of ["", "endless-0", "endless-1", "endless-0"].entries())
        expect(await tokenAfter(token)).toBe(`endless-${i % 2}`);
      isEndless = false;
      expect((await ask(`${url}${collection}?continue=endless-1`)).status).toBe(410);
    });

    it("answers a stale call from another view", async () => {
      const elsewhere = await startFaultProxy({
        upstream: server().upstream,
        decider: at("get", { do: "refuse", status: 418 }),
      });
      const { url } = await start(at("get", { do: "stale", view: "old" }), {
        views: { old: { url: elsewhere.url, token: elsewhere.token ?? "" } },
      });
      expect((await ask(`${url}${collection}/any`)).status).toBe(418);
      expect(story()).toEqual(["#1 get configmaps default/any -> 418, stale, from old"]);
      await elsewhere.close();
    });

    describe("a watch", () => {
      const opened: IncomingMessage[] = [];
      afterEach(() => {
        for (const each of opened.splice(0)) each.destroy();
      });
      const watch = async (query = "", url = proxy?.url ?? "") => {
        const { metadata } = (await (await ask(`${url}${collection}?limit=1`)).json()) as {
          metadata: { resourceVersion: string };
        };
        const asked = query || `resourceVersion=${metadata.resourceVersion}`;
        const request = httpGet(`${url}${collection}?watch=true&${asked}`, { headers: authorized(proxy) });
        const [response] = (await once(request, "response")) as [IncomingMessage];
        response.on("error", () => undefined);
        opened.push(response);
        const lines = readLines(response);
        const next = async (): Promise<string> => {
          const { value, done } = await lines.next();
          if (done === true) return "end";
          try {
            const { type, object } = JSON.parse(value) as {
              type: string;
              object: { code?: number; metadata?: { name?: string } };
            };
            return `${type} ${object.metadata?.name ?? object.code ?? ""}`.trim();
          } catch {
            return "garbage";
          }
        };
        const take = async (count: number): Promise<string[]> => {
          const taken: string[] = [];
          while (taken.length < count) taken.push(await next().catch(() => "break"));
          return taken;
        };
        return { take };
      };
      /** The fault for the second of three events. */
      const second = (fault: EventFault): FaultDecider => {
        let events = 0;
        return { ofCall: () => undefined, ofEvent: () => (++events === 2 ? fault : undefined) };
      };
      const threeNames = (): [string, string, string] => [newName(), newName(), newName()];
      const three = async (): Promise<[string, string, string]> => {
        const made = threeNames();
        await create(...made);
        return made;
      };

      it.each<[EventFault, (a: string, b: string, c: string) => string[]]>([
        [{ do: "swallow" }, (a, _, c) => [a, c]],
        [{ do: "delay", for: 1 }, (a, b, c) => [a, b, c]],
        [{ do: "duplicate" }, (a, b, c) => [a, b, b, c]],
        [{ do: "replay" }, (a, b, c) => [a, b, a, b, c]],
        [{ do: "garbage" }, (a, _, c) => [a, "garbage", c]],
        [{ do: "no uid" }, (a, b, c) => [a, b, c]],
        [{ do: "huge" }, (a, b, c) => [a, b, c]],
        [{ do: "error", code: 410 }, (a) => [a, "ERROR 410", "end"]],
        [{ do: "error", code: 500 }, (a) => [a, "ERROR 500", "end"]],
        [{ do: "cut" }, (a) => [a, "break"]],
        [{ do: "truncate" }, (a) => [a, "end"]],
      ])("has an event that meets %j", async (fault, expected) => {
        await start(second(fault));
        const { take } = await watch();
        const made = threeNames();
        const all = expected(`ADDED ${made[0]}`, `ADDED ${made[1]}`, `ADDED ${made[2]}`);
        const lines = take(all.length);
        await create(...made);
        expect(await lines).toEqual(all);
        expect(proxy?.record[1]?.events).toMatchObject([{ type: "ADDED", object: { name: made[1] }, fault }]);
      });

      it("passes to the decider which events belong to its initial list", async () => {
        const listed: boolean[] = [];
        const sleeps: number[] = [];
        await start(
          {
            ofCall: () => undefined,
            ofEvent: ({ isListed }) => {
              listed.push(isListed);
              return isListed ? undefined : { do: "delay", for: 40 };
            },
          },
          { sleep: (time) => Promise.resolve(void sleeps.push(time)) },
        );
        await three();
        const { take } = await watch(
          "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=",
        );
        while (!(await take(1))[0]?.startsWith("BOOKMARK"));
        expect(new Set(listed)).toEqual(new Set([true]));
        const [a] = await three();
        expect(await take(1)).toEqual([`ADDED ${a}`]);
        expect([listed.at(-1), sleeps[0]]).toEqual([false, 40]);
      });

      it("breaks off when the proxy is shut", async () => {
        await start({ ofCall: () => undefined });
        const { take } = await watch();
        await proxy?.shut();
        expect(await take(1)).toEqual(["break"]);
      });

      it("falls silent: sends nothing more, and does not end", async () => {
        await start(second({ do: "fall silent" }));
        const { take } = await watch();
        const [a] = await three();
        expect(await take(1)).toEqual([`ADDED ${a}`]);
        const silence = take(1);
        await noted(/fall silent/);
        expect(proxy?.endWatches("end")).toBe(false);
        opened[0]?.destroy();
        expect(await silence).toEqual(["break"]);
      });

      it.each([
        ["end", ["end"]],
        ["410", ["ERROR 410", "end"]],
        ["reset", ["break"]],
      ] as const)("is ended when asked for: %s", async (how, expected) => {
        await start({ ofCall: () => undefined });
        const { take } = await watch();
        expect(proxy?.endWatches(how)).toBe(true);
        expect(await take(expected.length)).toEqual(expected);
        expect(proxy?.endWatches(how)).toBe(false);
      });

      it("is sent in pieces that may split a character", async () => {
        await start({ ofCall: () => undefined }, { pieces: 1 });
        const { take } = await watch();
        const [a] = await three();
        expect(await take(1)).toEqual([`ADDED ${a}`]);
      });

      it("gets no more events once its process is dead", async () => {
        const { url, openListener } = await start(at("create", { do: "kill", when: "after" }));
        const [dead, alive] = [await watch(), await watch("", (await openListener()).url)];
        const dying = causeOf(make(newName(), url));
        await vi.waitFor(() => expect(proxy?.record.at(-1)?.client).toBe("hung"));
        const late = newName();
        await create(late);
        expect(await alive.take(2)).toContain(`ADDED ${late}`);
        proxy?.nextProcess();
        await dying;
        // Events from before its death may still arrive.
        const events = await dead.take(2);
        expect(events).toContain("break");
        expect(events).not.toContain(`ADDED ${late}`);
      });
    });
  });
}
