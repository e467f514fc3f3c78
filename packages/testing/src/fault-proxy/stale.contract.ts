import { objectKey } from "@drover/controller";
import { builtin, connect, type KubeClient } from "@drover/kube";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { faultPlanDecider } from "./plan/fault-plan-decider.ts";
import { authorized, type ContractServer } from "./fault-proxy.contract.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { parsePlan } from "./plan/fault-plan.ts";
import type { Upstream } from "./upstream.ts";

/** A view of a server that can be frozen. */
export interface View {
  readonly upstream: Upstream;
  freeze(): void;
  thaw(): void;
}

const collection = "/api/v1/namespaces/default/configmaps";
const [first, second] = ["stale-first", "stale-second"];

/** The reads of a client that a lagging server answers. */
export function staleContract(what: string, setUp: () => { server: ContractServer; view: View }): void {
  let oracle: KubeClient;
  let proxy: FaultProxy;
  let before: string;

  beforeAll(async () => {
    const { server, view } = setUp();
    oracle = await connect({ kubeconfig: server.kubeconfig });
    const plan = parsePlan({ rules: [{ when: { resource: "configmaps" }, do: "stale", view: "old" }] });
    const { upstream } = server;
    proxy = await startFaultProxy({
      upstream,
      views: { old: view.upstream },
      decider: faultPlanDecider(plan),
    });
    const made = await oracle.create(builtin.configMap, { metadata: { namespace: "default", name: first } });
    before = made.metadata.resourceVersion;
    // The view has the object.
    await vi.waitFor(async () => expect(await names("?resourceVersion=0")).toContain(first));
  });
  afterAll(async () => {
    await proxy.close();
    await oracle.close();
  });

  const names = async (query: string): Promise<string[]> => {
    const answer = await fetch(proxy.url + collection + query, { headers: authorized(proxy) });
    const { items = [] } = (await answer.json()) as { items?: { metadata: { name: string } }[] };
    return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("stale-"));
  };
  const status = async (path: string): Promise<number> =>
    (await fetch(proxy.url + path, { headers: authorized(proxy) })).status;

  describe(`stale reads, in front of ${what}`, () => {
    it("reads with a resourceVersion see the past, and reads without one the present", async () => {
      const { view } = setUp();
      view.freeze();
      await oracle.create(builtin.configMap, { metadata: { namespace: "default", name: second } });
      await oracle.delete(builtin.configMap, objectKey({ namespace: "default", name: first }), {});
      for (const query of [
        "?resourceVersion=0",
        `?resourceVersion=${before}`,
        `?resourceVersion=${before}&resourceVersionMatch=NotOlderThan&limit=500`,
      ])
        expect(await names(query), query).toEqual([first]);
      expect(await status(`${collection}/${first}?resourceVersion=0`)).toBe(200);
      expect(await status(`${collection}/${second}?resourceVersion=0`)).toBe(404);
      expect(await names("")).toEqual([second]);
      expect(await status(`${collection}/${first}`)).toBe(404);
    });

    it("a watch from any version begins with the past, and goes on once the view does", async () => {
      const { view } = setUp();
      const answer = await fetch(`${proxy.url}${collection}?watch=true&resourceVersion=0`, {
        headers: authorized(proxy),
      });
      const events: string[] = [];
      let text = "";
      for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        const lines = text.split("\n").slice(0, -1);
        events.splice(0, events.length, ...lines.map(eventOf).filter((event) => event.includes("stale-")));
        if (events.length === 1) view.thaw();
        if (events.length === 3) break;
      }
      expect(events).toEqual([`ADDED ${first}`, `ADDED ${second}`, `DELETED ${first}`]);
      expect(await names("?resourceVersion=0")).toEqual([second]);
    });
  });
}

function eventOf(line: string): string {
  const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name: string } } };
  return `${type} ${object.metadata.name}`;
}
