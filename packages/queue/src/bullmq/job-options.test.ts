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

/** The linter's messages for bullmq-job-queue.ts after a change. */
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
])("refuses a job with the option %s", async (option) => {
  expect((await complaints(withOption(option))).join()).toMatch(
    /A job has no options but|Write a job's options out/,
  );
});
it("refuses a job with more than one attempt", async () => {
  const found = await complaints((source) => source.replace("attempts: 1,", "attempts: 3,"));
  expect(found.join()).toMatch(/A job has one attempt/);
});
it("refuses to pause what BullMQ holds", async () => {
  const found = await complaints((source) =>
    source.replace("close: () => queue.close()", "close: () => queue.pause()"),
  );
  expect(found.join()).toMatch(/BullMQ only delivers jobs/);
});
it("lets a job have a priority", async () => {
  expect(await complaints(withOption("priority: 1"))).toEqual([]);
});
it("refuses BullMQ anywhere else", async () => {
  const text = 'import { Queue } from "bullmq";\nexport const queue = new Queue("q");\n';
  const [result] = await eslint.lintText(text, {
    filePath: `${root}/packages/queue/src/worker/dispatcher.ts`,
  });
  expect(result?.messages.map((each) => each.ruleId)).toContain("no-restricted-imports");
});
