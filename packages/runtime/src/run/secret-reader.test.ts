import { objectKey } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { expect, it } from "vitest";
import { NoNamespaceError, secretReader } from "./secret-reader.ts";

const encoded = (text: string): string => Buffer.from(text).toString("base64");

/** A reader for a run of the object; `asked` has the requests to the API server. */
function reading(object: Parameters<typeof objectKey>[0], secret: unknown) {
  const asked: string[] = [];
  const client = {
    get: (ref: unknown, key: string) => {
      asked.push(`${ref === builtin.secret ? "Secret" : "another kind"} ${key}`);
      return Promise.resolve(secret);
    },
  } as unknown as KubeClient;
  return { asked, read: secretReader(client, objectKey(object), new AbortController().signal) };
}

it("a run reads the Secrets of its namespace, decoded, with a request each time", async () => {
  const { asked, read } = reading(
    { namespace: "web", name: "a" },
    { data: { user: encoded("ada"), empty: "", text: encoded("é") } },
  );
  expect(await read("token")).toEqual({ user: "ada", empty: "", text: "é" });
  await read("token");
  expect(asked).toEqual(["Secret web/token", "Secret web/token"]);
});

it("a Secret without data is empty, and a missing one is undefined", async () => {
  expect(await reading({ namespace: "web", name: "a" }, { data: null }).read("token")).toEqual({});
  expect(await reading({ namespace: "web", name: "a" }, undefined).read("token")).toBeUndefined();
});

it("no run reads a Secret of another namespace, and a run of a cluster-scoped object none", async () => {
  const { asked, read } = reading({ namespace: "web", name: "a" }, {});
  await expect(read("other/token")).rejects.toThrow();
  const cluster = reading({ name: "a" }, {});
  await expect(cluster.read("token")).rejects.toBeInstanceOf(NoNamespaceError);
  expect([asked, cluster.asked]).toEqual([[], []]);
});
