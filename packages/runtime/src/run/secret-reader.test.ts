import { objectKey } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { expect, it } from "vitest";
import { NoNamespaceError, secretReader } from "./secret-reader.ts";

const encoded = (text: string): string => Buffer.from(text).toString("base64");

/** What a run of the object reads; `asked` is what the API server was asked for. */
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

it("a run reads the Secrets beside its object, decoded, each time anew", async () => {
  const { asked, read } = reading(
    { namespace: "web", name: "a" },
    { data: { user: encoded("ada"), empty: "", text: encoded("é") } },
  );
  expect(await read("token")).toEqual({ user: "ada", empty: "", text: "é" });
  await read("token");
  expect(asked).toEqual(["Secret web/token", "Secret web/token"]);
});

it("a Secret without data is empty, and one that there is not is nothing", async () => {
  expect(await reading({ namespace: "web", name: "a" }, { data: null }).read("token")).toEqual({});
  expect(await reading({ namespace: "web", name: "a" }, undefined).read("token")).toBeUndefined();
});

it("no run reads a Secret of another namespace, and one of a cluster-scoped object none at all", async () => {
  const { asked, read } = reading({ namespace: "web", name: "a" }, {});
  await expect(read("other/token")).rejects.toThrow();
  const cluster = reading({ name: "a" }, {});
  await expect(cluster.read("token")).rejects.toBeInstanceOf(NoNamespaceError);
  expect([asked, cluster.asked]).toEqual([[], []]);
});
