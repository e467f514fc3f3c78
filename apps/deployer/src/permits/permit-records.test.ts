import { objectKey } from "@drover/controller";
import { builtin } from "@drover/kube";
import { permitName } from "@drover/runtime";
import { expect, it } from "vitest";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { permitRecord } from "../testing/permit-records.ts";
import { permitRecords } from "./permit-records.ts";

const { client } = await sandboxOfFile();

it.each([
  ["author", "{"],
  ["author", '{"user":7,"groups":[]}'],
  ["accesses", ""],
  ["accesses", "undefined"],
])("a record whose %s is %j permits nothing, and others do", async (field, text) => {
  const { signal } = new AbortController();
  const records = permitRecords(client, "default");
  const recordOf = (uid: string) =>
    permitRecord(uid, { followed: "f", called: "c", author: { user: "ann", groups: ["g"] } });
  for (const uid of ["a", "b"]) await records.store(recordOf(uid), signal);
  const key = objectKey({ namespace: "default", name: permitName("a") });
  await client.patch(builtin.configMap, key, { type: "merge", body: { data: { [field]: text } } });
  expect(await records.get("a", signal)).toBeUndefined();
  // A ConfigMap that looks like one is none.
  const { data } = (await client.get(
    builtin.configMap,
    objectKey({ namespace: "default", name: permitName("b") }),
  ))!;
  await client.create(builtin.configMap, { metadata: { name: "alike", namespace: "default" }, data });
  expect(await records.list(signal)).toEqual([recordOf("b")]);
  await records.store(recordOf("a"), signal);
  expect(await records.get("a", signal)).toEqual(recordOf("a"));
  for (const name of ["alike", permitName("a"), permitName("b")])
    await client.delete(builtin.configMap, objectKey({ namespace: "default", name }));
});
