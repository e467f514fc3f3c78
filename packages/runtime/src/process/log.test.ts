import type { Log } from "@drover/controller";
import type { RunOutcome } from "@drover/queue";
import { expect, it } from "vitest";
import { logRun } from "./log.ts";
import { here, loggedProcess } from "./logged-process.fixture.ts";
import { runOf } from "../run/widgets.fixture.ts";

/** The output of a process that logs: pino writes to the file descriptor directly. */
const printed = async (program: string): Promise<string> => {
  const { text } = await loggedProcess(`
    import { openLog } from "${here}log.ts";
    import { logUncaught } from "${here}process-lifecycle.ts";
    const log = openLog({ process: "test", level: "debug" });
    const bad = (message) => Object.assign(new Error(message), {
      config: { headers: { Authorization: "Bearer canary" } }, command: { args: ["canary"] } });
    ${program}`);
  return text;
};

it.each([
  ["as err", `log.warn({ err: bad("it") }, "failed")`],
  [
    "of an object that is not an Error",
    `log.warn({ it: 1, err: { message: "it", body: "canary" } }, "failed")`,
  ],
  ["alone", `log.warn(bad("it https://a:canary@h"))`],
  ["under another name", `log.warn({ error: bad("it") }, "failed")`],
  ["deep in fields", `log.warn({ a: [{ b: { cause: bad("it") } }] }, "failed")`],
  [
    "in a child's bindings",
    `log.child({ err: bad("it"), url: "http://a:canary@h" }).warn({ it: 1 }, "failed")`,
  ],
  ["as an argument of a message", `log.warn("it %s %o", "http://a:canary@h", bad("it"))`],
  ["in a message", `log.warn({}, "it: Authorization: Bearer canary")`],
  [
    "under a secret's name",
    `log.warn({ it: 1, password: "canary", headers: { cookie: "canary" } }, "failed")`,
  ],
  ["as bytes", `log.warn({ it: Buffer.from("canary") }, "failed")`],
  ["in a URL", `log.warn({ it: new URL("http://a:canary@h/x") }, "failed")`],
  ["in a getter that throws", `log.warn({ it: 1, a: { get b() { throw bad("canary") } } }, "failed")`],
  [
    "in a proxy that throws on every access",
    `const thrower = () => { throw bad("canary"); };
    const traps = { get: thrower, has: thrower, getPrototypeOf: thrower, ownKeys: thrower };
    log.warn({ it: new Proxy({}, traps), all: [new Proxy({}, traps)] }, "failed")`,
  ],
  ["that is uncaught", `logUncaught(() => log); setTimeout(() => { throw bad("it") })`],
  ["of an unhandled rejection", `logUncaught(() => log); void Promise.reject(bad("it"))`],
])("shows no other fields of an error: %s", async (_, program) => {
  const text = await printed(program);
  expect(text).toContain("it");
  expect(text).not.toMatch(/canary|99,97,110/);
});

it("writes one line for each call, without characters that a terminal or a line reader treats as line breaks", async () => {
  const text = await printed(
    String.raw`const odd = "a\n{\"level\":\"fatal\"}\r\u2028\u0085\u009b31m\u200e\u200f\u061c\u202e\u2066b";
    log.info({ key: odd, [odd]: 1, deep: [odd] }, odd);`,
  );
  expect(text.split("\n")).toHaveLength(2);
  expect(text).toMatch(/^[\x20-\x7e]*\n$/);
  const { msg, key } = JSON.parse(text) as { msg: string; key: string };
  expect([msg, key]).toEqual(
    Array(2).fill('a\n{"level":"fatal"}\r\u2028\u0085\u009b31m\u200e\u200f\u061c\u202e\u2066b'),
  );
});

it("exits with 1 after an uncaught error", async () => {
  const { code } = await loggedProcess(`import { logUncaught } from "${here}process-lifecycle.ts";
    logUncaught(() => console); setTimeout(() => { throw new Error("a") }); setInterval(() => {}, 1000);`);
  expect(code).toBe(1);
});

it.each<[string, RunOutcome]>([
  ["debug", { kind: "done" }],
  ["debug", { kind: "gone" }],
  ["info", { kind: "wait", after: 1_000 }],
  ["info", { kind: "retry", error: "it" }],
  ["info", { kind: "conflict" }],
  ["info", { kind: "terminal", error: "it" }],
  ["info", { kind: "interrupted" }],
])("logs at %s a run that ended with %j", (level, outcome) => {
  const logged: unknown[] = [];
  const at = (name: keyof Log) => (fields: object, message: string) =>
    void logged.push([name, fields, message]);
  const log: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const claim = { ...runOf("a").claim, reasons: ["Modified"] };
  logRun(log, "Called", runOf("a", { claim }), outcome, 12.4, { function: "web/greetings" });
  const fields = {
    function: "web/greetings",
    key: "default/a",
    verdict: outcome.kind,
    ms: 12,
    why: ["Modified"],
  };
  expect(logged).toEqual([[level, fields, "Called"]]);
});
