import { type ObjectClient, testContext } from "@drover/controller";
import { ApiError, type ApiErrorKind, builtin, kindOf, type KubeObject } from "@drover/kube";
import { expect, it } from "vitest";
import { composeController, type RelatedDefinition } from "../compose-controller.ts";
import { readRelated } from "./read-related.ts";
import { owns, Website } from "../website.fixture.ts";

const secret = kindOf(builtin.secret);
const found = (count: number): readonly KubeObject[] =>
  Array.from({ length: count }, (_, i) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `s${i}`, namespace: "default", uid: `u${i}`, resourceVersion: "1" },
  }));
const refusal = (kind: ApiErrorKind): ApiError =>
  new ApiError({ kind, status: 403, reason: kind, serverMessage: "no", request: "GET /" });

/** Reads with a client that does only what the test says. */
function read(
  client: Partial<ObjectClient>,
  related: readonly RelatedDefinition<typeof Website>[],
  name = "a",
) {
  const controller = composeController({ for: Website, owns, related, compose: () => ({ children: [] }) });
  const metadata = { name, namespace: "default", uid: "u", resourceVersion: "1" };
  const spec = { html: "", replicas: 1, public: false, tls: { secretName: "s" } };
  const context = testContext(Website, { metadata, spec });
  return readRelated({ ...context, client: { ...context.client, ...client } }, controller);
}
const all = { kind: secret, names: { all: true } } as const;
const listing = (count: number): Partial<ObjectClient> => ({
  list: () =>
    Promise.resolve({
      resourceVersion: "1",
      continue: undefined,
      remaining: undefined,
      items: found(count),
    }),
});

it("one object that two declarations find is read once", async () => {
  expect(await read(listing(2), [all, all])).toHaveLength(2);
});

it("as many as possible are read, and more park the key", async () => {
  expect(await read(listing(500), [all])).toHaveLength(500);
  await expect(read(listing(501), [all])).rejects.toMatchObject({
    reason: "TooManyRelated",
    message: "There are more related objects than the 500, with 2 MiB in all, that are possible. Name fewer.",
  });
  // Two declarations of a kind have one limit.
  const labels = (app: string) => ({ ...all, labelSelector: { matchLabels: { app } } });
  let first = 0;
  const other = {
    list: () =>
      Promise.resolve({
        resourceVersion: "1",
        continue: undefined,
        remaining: undefined,
        items: found(600)
          .slice(first++ * 300)
          .slice(0, 300)
          .map((one) => ({ ...one, metadata: { ...one.metadata, labels: { app: `a${first}` } } })),
      }),
  };
  await expect(read(other, [labels("a1"), labels("a2")])).rejects.toMatchObject({ reason: "TooManyRelated" });
  let pages = 0;
  const data = "x".repeat(100_000);
  const large = {
    list: () => {
      const items = found(10 * ++pages)
        .slice(-10)
        .map((one) => ({ ...one, data }));
      return Promise.resolve({ resourceVersion: "1", remaining: undefined, items, continue: "more" });
    },
  };
  await expect(read(large, [all])).rejects.toMatchObject({ reason: "TooManyRelated" });
  expect(pages).toBe(3);
});

it("a permission that is missing is reported with the kind", async () => {
  const client = { get: () => Promise.reject(refusal("Forbidden")) };
  await expect(
    read(client, [{ kind: secret, names: { referencedBy: "spec.tls.secretName" } }]),
  ).rejects.toMatchObject({
    reason: "RelatedForbidden",
    message: expect.stringMatching(
      /^Related objects of kind Secret cannot be read: .* Add the permission/,
    ) as string,
  });
});

it("a kind that the API server does not serve has no objects, and another error is an error", async () => {
  const failing = (kind: ApiErrorKind) => ({ list: () => Promise.reject(refusal(kind)) });
  expect(await read(failing("NotServed"), [all])).toEqual([]);
  await expect(read(failing("TooManyRequests"), [all])).rejects.toMatchObject({ kind: "TooManyRequests" });
});

it("a name that cannot be a label's value finds nothing by labels, without a request", async () => {
  const unused = () => Promise.reject(new Error("no request is needed"));
  expect(
    await read({ list: unused }, [{ kind: secret, names: { label: "website" } }], "a".repeat(64)),
  ).toEqual([]);
});
