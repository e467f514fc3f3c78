import { expect, test } from "vitest";
import { resolveReferences } from "./references.ts";
import { type Setting, SettingRefusal } from "./settings/setting.ts";

const setting = (name: string): Setting => ({
  name,
  wanted: new Map(),
  read: () => Promise.resolve(new Map()),
  write: () => Promise.resolve(undefined),
});
const spec = {
  logs: { on: true, targetBucketRef: { name: "a" } },
  rules: [
    { id: "1", bucket: "given", bucketRef: undefined },
    { id: "2", bucketRef: { name: "b" } },
  ],
  roleRef: { name: "c" },
  ownRef: "a text, and no reference",
};

test("every reference becomes the field that it stands for, wherever it is", async () => {
  const asked: object[] = [];
  const resolved = await resolveReferences(spec, (reference) => {
    asked.push(reference);
    return Promise.resolve(`${reference.name}!`);
  });
  expect(asked).toEqual([
    { field: "targetBucket", name: "a" },
    { field: "bucket", name: "b" },
    { field: "role", name: "c" },
  ]);
  expect(resolved.spec).toEqual({
    logs: { on: true, targetBucket: "a!" },
    rules: [
      { id: "1", bucket: "given", bucketRef: undefined },
      { id: "2", bucket: "b!" },
    ],
    role: "c!",
    ownRef: "a text, and no reference",
  });
});

test("only the settings with a reference that is not ready wait", async () => {
  const { waiting } = await resolveReferences(spec, ({ name }) =>
    Promise.resolve(name === "b" ? undefined : name),
  );
  const [logs, rules] = await Promise.all(
    waiting([setting("logs"), setting("rules")]).map((each) => each.read()),
  );
  expect(logs).not.toBeInstanceOf(SettingRefusal);
  expect(rules).toMatchObject({
    reason: "ReferenceNotReady",
    message: expect.stringContaining("spec.rules.1.bucketRef refers to b") as string,
  });
});
