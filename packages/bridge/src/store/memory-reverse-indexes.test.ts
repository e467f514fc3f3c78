import { objectKey } from "@drover/controller";
import { expect, it } from "vitest";
import { memoryReverseIndexes } from "./memory-reverse-indexes.ts";

it("an object is found by its last entries, in each index separately", async () => {
  const indexes = memoryReverseIndexes();
  const key = objectKey({ name: "a" });
  const under = (text: string) => [{ term: text, note: "" }];
  const found = async (index: string, ...sought: readonly string[]) => {
    const answers = await Array.fromAsync(indexes.find({ stream: "s", index }, [{ sought }]));
    return answers.flatMap(({ keys }) => keys);
  };
  indexes.update([{ key, entries: { refs: under("x"), sel: under("y") } }]);
  expect([await found("refs", "x"), await found("sel", "z", "y")]).toEqual([[key], [key]]);
  expect([await found("refs", "y"), await found("other", "x")]).toEqual([[], []]);
  indexes.update([{ key, entries: { refs: [], sel: under("z") } }]);
  expect([await found("refs", "x"), await found("sel", "y"), await found("sel", "z")]).toEqual([
    [],
    [],
    [key],
  ]);
  indexes.update([{ key, entries: { refs: [], sel: [] } }]);
  expect(await found("sel", "z")).toEqual([]);
});
