import { expect, it } from "vitest";
import type { LogLine } from "./log-line.ts";
import { openStory } from "./story.ts";

const line = (msg: string, more: Partial<LogLine> = {}): LogLine => ({ level: "debug", msg, ...more });
const ended = line("Reconciled", { key: "a/b", verdict: "done", ms: 5, why: ["Forced"] });

it("the failure and the writes of a run that was killed are not those of a later process's run", async () => {
  const printed: string[] = [];
  const story = openStory(
    (text) => printed.push(text),
    () => Promise.resolve(""),
  );
  story.log(line("The run failed", { key: "a/b", err: { message: "not today" } }));
  story.log(line("Wrote", { key: "a/b", wrote: "cups default/a" }));
  story.log(line("Taking keys", { level: "info" }));
  story.log(ended);
  await story.done();
  expect(printed).toEqual([
    expect.stringMatching(/run {4}a\/b done in 5ms; because: Forced; wrote nothing$/),
  ]);
});

it("a failed run is printed with its error and what it has written, once", async () => {
  const printed: string[] = [];
  const story = openStory(
    (text) => printed.push(text),
    () => Promise.resolve("next attempt in 1s"),
  );
  story.log(line("Taking keys", { level: "info" }));
  story.log(line("The run failed", { key: "a/b", err: { message: "not today" } }));
  story.log(line("Wrote", { key: "a/b", wrote: "cups default/a" }));
  story.log({ ...ended, verdict: "retry" });
  story.log(ended);
  await story.done();
  expect(printed).toEqual([
    expect.stringMatching(
      /failed in 5ms: not today; because: Forced; wrote cups default\/a; next attempt in 1s$/,
    ),
    expect.stringContaining("not today"),
    expect.stringMatching(/done in 5ms; because: Forced; wrote nothing; next attempt in 1s$/),
  ]);
});
