import { type Access, describeAccess, objectKey, ReconcileFunction, silentLog } from "@drover/controller";
import { builtin, type KubeClient, listAll, refOf } from "@drover/kube";
import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { boundRole } from "../roles/bound-role.ts";
import { functionRefOf, ownedMetadata } from "../function-ref.ts";
import { redisUserName } from "../names.ts";
import { permitRecords } from "./permit-records.ts";
import { reviewOnce } from "./review-permits.ts";
import { cup } from "../testing/cups.ts";
import { permitRecord } from "../testing/permit-records.ts";

const { client } = await sandboxOfFile({ kinds: [ReconcileFunction], namespaces: ["tea", "drover"] });

const namespace = "tea";
const names = Array.from({ length: 11 }, (_, i) => `cups-${i}`);
const accesses: readonly Access[] = Array.from({ length: 11 }, (_, i) => ({
  namespace,
  verb: "get",
  group: "",
  resource: `r${i}`,
}));
const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
const { signal } = new AbortController();
const ref = refOf(ReconcileFunction);
const askingSchema = z.object({
  user: z.string(),
  resourceAttributes: z.looseObject({
    verb: z.string(),
    group: z.string(),
    resource: z.string(),
    namespace: z.string(),
  }),
});

/** Functions with a permit, a Role and a Redis user each, and the reviewer of their permits. */
async function open() {
  const records = permitRecords(client, "drover");
  for (const one of await listAll(client, ref, {})) {
    await client.delete(ref, objectKey({ namespace, name: one.metadata.name }));
    await records.drop(one.metadata.uid, signal);
  }
  const users = new Set<string>();
  const denied = new Map<string, Access | "no answer">();
  const woken = new Set<string>();
  for (const name of names) {
    const spec = { for: cup };
    const home = functionRefOf(await client.create(ref, { metadata: { name, namespace }, spec }));
    for (const one of boundRole({ name, ...ownedMetadata(home) }, rules, home, { wanted: true }))
      await client.create(one.ref, one.object);
    const author = { user: `author of ${name}`, groups: [] };
    await records.store(
      permitRecord(home.uid, { function: `${namespace}/${name}`, author, accesses }),
      signal,
    );
    users.add(redisUserName(home));
  }
  const wanting = new Map<string, number>();
  const review: KubeClient["review"] = (_, asking) => {
    const { user, resourceAttributes } = askingSchema.parse(asking);
    const lost = denied.get(user);
    if (lost === "no answer") return Promise.resolve({ allowed: false, evaluationError: "no quorum" });
    const asked = describeAccess({ ...resourceAttributes, name: undefined });
    return Promise.resolve({ allowed: lost === undefined || describeAccess(lost) !== asked });
  };
  return {
    denied,
    turn: () =>
      reviewOnce(
        {
          client: { ...client, review },
          records,
          namespace: "drover",
          every: 1,
          log: silentLog,
          signal,
          wake: (key) => Promise.resolve(void woken.add(key)),
          functionUsers: {
            names: () => Promise.resolve([...users]),
            revoke: (home) => Promise.resolve(void users.delete(redisUserName(home))),
          },
        },
        wanting,
      ),
    /** The names of functions that have something of each kind. */
    left: async () => {
      const functions = await listAll(client, ref, {});
      const named = (uids: readonly unknown[]) =>
        functions.filter(({ metadata }) => uids.includes(metadata.uid)).map(({ metadata }) => metadata.name);
      const owners = async (kind: typeof ref) =>
        (await listAll(client, kind, { namespace })).map(
          ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid)[0],
        );
      return {
        permits: named((await records.list(signal)).map(({ uid }) => uid)),
        roles: named(await owners(builtin.role)),
        bindings: named(await owners(builtin.roleBinding)),
        users: functions
          .filter(({ metadata }) => users.has(redisUserName(metadata)))
          .map(({ metadata }) => metadata.name),
        woken: [...woken].map((key) => key.split("/")[1]),
      };
    },
  };
}
const sorted = (all: Readonly<Record<string, readonly unknown[]>>) =>
  Object.fromEntries(Object.entries(all).map(([name, some]) => [name, [...some].sort()]));
const having = (some: readonly string[], woken: readonly string[]) =>
  sorted({ permits: some, roles: some, bindings: some, users: some, woken });

it("an author's lost permission, whichever it is and of whichever functions, takes all from these and nothing from others", async () => {
  const losses = fc.array(
    fc.option(fc.oneof(fc.constantFrom(...accesses), fc.constant("no answer" as const))),
    {
      minLength: names.length,
      maxLength: names.length,
    },
  );
  const isHeld = fc.asyncProperty(losses, async (lost) => {
    const { denied, turn, left } = await open();
    for (const [i, one] of lost.entries()) if (one !== null) denied.set(`author of ${names[i]}`, one);
    const losing = names.filter((_, i) => lost[i] !== null && lost[i] !== "no answer");
    await turn();
    expect(sorted(await left())).toEqual(having(names, losing));
    await turn();
    expect(sorted(await left())).toEqual(
      having(
        names.filter((name) => !losing.includes(name)),
        losing,
      ),
    );
  });
  await fc.assert(isHeld, { numRuns: 3, endOnFailure: true });
});

it("a permission that is there again a turn later was not lost", async () => {
  const { denied, turn, left } = await open();
  for (const [lost] of [[accesses[0]], [undefined], [accesses[9]]] as const) {
    if (lost === undefined) denied.clear();
    else denied.set("author of cups-3", lost);
    await turn();
  }
  expect(sorted(await left())).toEqual(having(names, ["cups-3"]));
});

it("a function in the deployer's own namespace is not reviewed, and a permit of one that is gone is withdrawn", async () => {
  const { denied, turn, left } = await open();
  const records = permitRecords(client, "drover");
  const spec = { for: cup };
  const own = await client.create(ref, { metadata: { name: "own", namespace: "drover" }, spec });
  const author = { user: "author of own", groups: [] };
  for (const uid of [own.metadata.uid, "gone"])
    await records.store(permitRecord(uid, { function: "drover/own", accesses, author }), signal);
  denied.set("author of own", accesses[0] ?? expect.fail());
  for (const expected of [true, false, false]) {
    await turn();
    const uids = (await records.list(signal)).map(({ uid }) => uid);
    expect([uids.includes(own.metadata.uid), uids.includes("gone")]).toEqual([true, expected]);
  }
  expect(sorted(await left())).toMatchObject({ permits: [...names, "own"].sort(), woken: [] });
  await client.delete(ref, objectKey({ namespace: "drover", name: "own" }));
  await records.drop(own.metadata.uid, signal);
});
