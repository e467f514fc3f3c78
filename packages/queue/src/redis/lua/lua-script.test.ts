import { silentLog } from "@drover/controller";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RedisConnection } from "../redis-servers.ts";
import { runScript, ScriptsMissingError, scriptsMissing, waitForScripts } from "./lua-script.ts";

// The clock moves on to the next timer as soon as nothing else is left to do.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  vi.setTimerTickMode("nextTimerAsync");
  vi.advanceTimersByTime(100_000);
});
afterEach(() => void vi.useRealTimers());

const script = { sha: "sha", lua: "return 1" };
const replyError = (message: string): Error => Object.assign(new Error(message), { name: "ReplyError" });
/** A server that has no script before a time, ms. `asked` is called with each try. */
function server(lacksUntil: number, asked: () => unknown = () => undefined): RedisConnection {
  const redis = {
    async evalsha() {
      await asked();
      if (now() < lacksUntil) throw replyError("NOSCRIPT No matching script.");
      return "done";
    },
    info: () => Promise.resolve("role:master\r\n"),
  };
  return redis as unknown as RedisConnection;
}
const run = (redis: RedisConnection): Promise<unknown> => runScript(redis, script, 1, ["key"]);
const now = (): number => performance.now();

it.each([15, 1_000, 60_000])(
  "runs within a quarter of a second of the moment in which scripts are there that were missing for %d ms",
  async (missing) => {
    const there = now() + missing;
    const redis = server(there);
    waitForScripts(redis, silentLog);
    expect(await run(redis)).toBe("done");
    expect(now() - there).toBeLessThanOrEqual(missing === 15 ? 20 : 250);
    vi.advanceTimersByTime(60_000);
    expect(scriptsMissing(redis), "long after they were there").toBeUndefined();
  },
);

it("gives up after a time of its own, however long another call has waited by then", async () => {
  const begun: number[] = [];
  const spans: number[] = [];
  const begin = async (redis: RedisConnection): Promise<void> => {
    const since = now();
    begun.push(since);
    await expect(run(redis)).rejects.toThrow(ScriptsMissingError);
    spans.push(now() - since);
  };
  const later = Promise.withResolvers<undefined>();
  const redis = server(Infinity, () => {
    if (begun.length === 1 && now() - begun[0]! > 8_000)
      void begin(redis).then(() => later.resolve(undefined));
  });
  waitForScripts(redis, silentLog, 10_000);
  await begin(redis);
  await later.promise;
  for (const span of spans) {
    expect(span).toBeGreaterThan(10_000);
    expect(span).toBeLessThan(11_000);
  }
});

it("says that scripts are missing after 3 s, and only while a call waits for them, whatever became of it", async () => {
  const begun = now();
  const redis = server(Infinity, () => {
    if (now() - begun < 3_000) expect(scriptsMissing(redis)).toBeUndefined();
    if (now() - begun <= 5_000) return;
    expect(scriptsMissing(redis)).toBeInstanceOf(ScriptsMissingError);
    throw replyError("OOM command not allowed");
  });
  waitForScripts(redis, silentLog);
  await expect(run(redis)).rejects.toThrow("OOM");
  vi.advanceTimersByTime(60_000);
  expect(scriptsMissing(redis)).toBeUndefined();
});
