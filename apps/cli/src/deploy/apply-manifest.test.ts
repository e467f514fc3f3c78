import { objectKey } from "@drover/controller";
import { type KubeClient, refOf } from "@drover/kube";
import { beforeEach, expect, it } from "vitest";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { plainKind } from "../testing/plain-kind.ts";
import { applyManifest } from "./apply-manifest.ts";

const Cup = plainKind({ kind: "Cup" });
const { client } = await sandboxOfFile({ kinds: [Cup] });
const ref = refOf(Cup);
let count = 0;
let key: ReturnType<typeof objectKey>;
let manifest: { readonly metadata: { readonly name: string; readonly namespace: string } };
beforeEach(() => {
  const metadata = { name: `cup-${count++}`, namespace: "default" };
  [manifest, key] = [{ metadata }, objectKey(metadata)];
});
const apply = (spec: object, as: Pick<KubeClient, "get"> = client) =>
  applyManifest({ ...client, ...as }, ref, { ...manifest, spec }, { remembers: true, annotations: {} });
const now = () => client.get(ref, key);
/** Another writes after each of so many of our reads. */
function racing(times: number, write: () => Promise<unknown>): Pick<KubeClient, "get"> {
  let left = times;
  return {
    async get(...asked) {
      const present = await client.get(...asked);
      if (left-- > 0) await write();
      return present;
    },
  };
}

it("what another changes between reading and writing is kept, and so is the manifest's", async () => {
  await apply({ a: 1 });
  let writes = 0;
  const write = () =>
    client.patch(ref, key, { type: "merge", body: { spec: { [`other${++writes}`]: true } } });
  expect(await apply({ a: 2 }, racing(3, write))).toBe("changed");
  expect(await now()).toMatchObject({ spec: { a: 2, other1: true, other2: true, other3: true } });
});

it("an object that another client creates meanwhile is changed as the manifest asks", async () => {
  const write = () => client.create(ref, { ...manifest, spec: { a: 1, other: true } });
  expect(await apply({ a: 2 }, racing(1, write))).toBe("changed");
  expect(await now()).toMatchObject({ spec: { a: 2, other: true } });
});

it("a field that is left out goes, though the deploys since it was applied have changed others alone", async () => {
  await apply({ a: 1, deep: { b: 1, c: 1 }, gone: 1 });
  await apply({ a: 2, deep: { b: 1, c: 1 }, gone: 1 });
  await apply({ a: 3, deep: { b: 1, c: 1 }, gone: 1 });
  await client.patch(ref, key, { type: "merge", body: { spec: { others: 1, deep: { others: 1 } } } });
  expect(await apply({ a: 3, deep: { b: 1 } })).toBe("changed");
  expect((await now())?.["spec"]).toEqual({ a: 3, deep: { b: 1, others: 1 }, others: 1 });
  expect(await apply({ a: 3, deep: { b: 1 } })).toBe("unchanged");
});

it.each(["{", "7", "null"])("an object that remembers %s is changed, and loses nothing", async (text) => {
  await apply({ a: 1, others: true });
  const spoilt = { metadata: { annotations: { "drover.dev/applied-spec": text } } };
  await client.patch(ref, key, { type: "merge", body: spoilt });
  expect(await apply({ a: 2 })).toBe("changed");
  expect(await now()).toMatchObject({ spec: { a: 2, others: true } });
  // The applied spec is recorded again.
  await apply({});
  expect((await now())?.["spec"]).toEqual({ others: true });
});
