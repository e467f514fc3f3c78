import { objectKey } from "@drover/controller";
import { expect, it } from "vitest";
import { memoryFiles } from "./memory-files.ts";

it("an object is found by what it was filed under last, in each file by itself", async () => {
  const files = memoryFiles();
  const key = objectKey({ name: "a" });
  const under = (text: string) => [{ term: text, note: "" }];
  const found = async (file: string, ...sought: readonly string[]) => {
    const answers = await Array.fromAsync(files.find({ stream: "s", file }, [{ sought }]));
    return answers.flatMap(({ keys }) => keys);
  };
  files.file([{ key, files: { refs: under("x"), sel: under("y") } }]);
  expect([await found("refs", "x"), await found("sel", "z", "y")]).toEqual([[key], [key]]);
  expect([await found("refs", "y"), await found("other", "x")]).toEqual([[], []]);
  files.file([{ key, files: { refs: [], sel: under("z") } }]);
  expect([await found("refs", "x"), await found("sel", "y"), await found("sel", "z")]).toEqual([
    [],
    [],
    [key],
  ]);
  files.file([{ key, files: { refs: [], sel: [] } }]);
  expect(await found("sel", "z")).toEqual([]);
});
