import { type FunctionIdentity, silentLog } from "@drover/controller";
import type { Wake } from "@drover/queue";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { registrationOf } from "../registration/registration.ts";
import { signedHeaders, whsec } from "./hook.fixture.ts";
import { type Hooks, type HooksOptions, openHooks } from "./open-hooks.ts";

const { redis } = await redisOfFile();
let hooks: Hooks;
const registry = new Registry();
const woken: Wake[] = [];
const warnings: object[] = [];
/** Looks up the keys of the objects that hold a value. */
let findByValue: HooksOptions["bridge"]["findByValue"];

beforeAll(async () => {
  const secret = { metadata: { name: "hooks", namespace: "web" }, data: { s3: btoa(whsec) } };
  hooks = await openHooks({
    host: "127.0.0.1",
    port: 0,
    secrets: undefined,
    redis,
    registry,
    client: { get: () => Promise.resolve(secret as never) },
    bridge: {
      queueOf: () =>
        ({ wake: (wakes: readonly Wake[]) => Promise.resolve(void woken.push(...wakes)) }) as never,
      findByValue: (...args) => findByValue(...args),
    },
    log: { ...silentLog, warn: (fields) => warnings.push(fields) },
  });
  hooks.register([sitesOf({ namespace: "web", name: "sites", uid: "u" }, "s3")]);
});
afterAll(() => hooks.close());

/** A controller with a hook that uses this key of the Secret. */
const sitesOf = (identity: FunctionIdentity, key: string) =>
  registrationOf(identity, {
    for: { group: "example.com", version: "v1", kind: "Site", plural: "sites", scope: "Namespaced" },
    hooks: [
      {
        name: "s3",
        names: { field: "bucket", heldBy: "status.bucketName" },
        verify: { standardWebhooks: { secretRef: { name: "hooks", key } } },
      },
    ],
  });

const send = async () => {
  const body = JSON.stringify({ bucket: "photos" });
  const headers = { "content-type": "application/json", ...signedHeaders(body) };
  const answer = await fetch(`${hooks.url}/hooks/web/sites/s3`, { method: "POST", body, headers });
  return { status: answer.status, retryAfter: answer.headers.get("retry-after"), text: await answer.text() };
};

it("an event is answered 503 while its objects cannot be looked up, and wakes them when it is sent again", async () => {
  findByValue = () => Promise.reject(new Error("The queue of sites is not open yet."));
  expect(await send()).toEqual({
    status: 503,
    retryAfter: "5",
    text: JSON.stringify({ error: "The message cannot be accepted now. Send it again later." }),
  });
  const hook = "web/sites/s3";
  expect(warnings).toEqual([{ hook, refusal: "unavailable", why: "The queue of sites is not open yet." }]);
  expect(await registry.metrics()).toContain(`{hook="${hook}",outcome="unavailable"} 1`);
  expect(woken).toEqual([]);
  findByValue = (_controller, _path, value) => Promise.resolve([`web/${value}` as never]);
  expect((await send()).status).toBe(204);
  expect(woken).toMatchObject([{ key: "web/photos", kind: "hook:s3" }]);
});

it("a secret file must exist at the start; a Secret of the cluster may be created later", async () => {
  await hooks.checkFiles([sitesOf({ namespace: "web", name: "sites", uid: "u" }, "later")]);
  await expect(hooks.checkFiles([sitesOf({ name: "sites" }, "later")])).rejects.toThrow(
    "DROVER_HOOK_SECRETS",
  );
});
