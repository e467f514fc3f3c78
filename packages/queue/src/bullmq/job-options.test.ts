import { ESLint } from "eslint";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const file = `${root}/packages/queue/src/bullmq/bullmq-job-queue.ts`;
// The law needs no types, without which a minute of a busy machine is spared.
const eslint = new ESLint({
  cwd: root,
  overrideConfig: { files: ["**/*.ts"], languageOptions: { parserOptions: { projectService: false } } },
  ruleFilter: ({ ruleId }) => ruleId.startsWith("no-restricted-"),
});

/** What the linter says of bullmq-job-queue.ts when `text` stands where its options are. */
async function complaints(change: (source: string) => string): Promise<readonly string[]> {
  const source = await readFile(file, "utf8");
  const changed = change(source);
  expect(changed).not.toBe(source);
  const [result] = await eslint.lintText(changed, { filePath: file });
  return (result?.messages ?? []).map((each) => each.message);
}
const withOption = (option: string) => (source: string) =>
  source.replace("attempts: 1,", `attempts: 1, ${option},`);

it.each([
  "delay: 5",
  "backoff: 1_000",
  "deduplication: { id: 'a' }",
  "lifo: true",
  "repeat: {}",
  "...{ delay: 5 }",
])("refuses a bell with the option %s", async (option) => {
  expect((await complaints(withOption(option))).join()).toMatch(
    /A bell has no options but|Write a bell's options out/,
  );
});
it("refuses a bell with more than one attempt", async () => {
  const said = await complaints((source) => source.replace("attempts: 1,", "attempts: 3,"));
  expect(said.join()).toMatch(/A bell has one attempt/);
});
it("refuses to pause what BullMQ holds", async () => {
  const said = await complaints((source) =>
    source.replace("close: () => queue.close()", "close: () => queue.pause()"),
  );
  expect(said.join()).toMatch(/BullMQ only rings/);
});
it("lets a bell have a priority", async () => {
  expect(await complaints(withOption("priority: 1"))).toEqual([]);
});
it("refuses BullMQ anywhere else", async () => {
  const text = 'import { Queue } from "bullmq";\nexport const queue = new Queue("q");\n';
  const [result] = await eslint.lintText(text, {
    filePath: `${root}/packages/queue/src/worker/dispatcher.ts`,
  });
  expect(result?.messages.map((each) => each.ruleId)).toContain("no-restricted-imports");
});
