import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRunning } from "../processes/is-running.ts";
import { type RedisPair, startRedisPair } from "./redis-pair.ts";
import { redisRequest } from "./redis-request.ts";

let pair: RedisPair;
beforeEach(async () => {
  pair = await startRedisPair({ persistence: true });
});
afterEach(() => pair.stop());

const set = (value: string) => redisRequest(pair.address.port, ["SET", "name", value]);
const get = () => redisRequest(pair.address.port, ["GET", "name"]);

describe("a pair", () => {
  it("has one address, and a replica that follows", async () => {
    await set("Cranach");
    await pair.caughtUp();
    expect(pair.url).toBe(`redis://127.0.0.1:${pair.address.port}`);
    expect(await redisRequest(pair.replica.port, ["GET", "name"])).toBe("Cranach");
    await expect(redisRequest(pair.replica.port, ["SET", "name", "x"])).rejects.toThrow("READONLY");
  });

  it("fails over without loss when the replica has caught up", async () => {
    const { primary, replica } = pair;
    const { pid } = primary;
    await set("Cranach");
    await pair.caughtUp();
    await pair.failOver();
    expect(isRunning(pid)).toBe(false);
    expect([pair.primary, pair.replica]).toEqual([replica, primary]);
    expect(await get()).toBe("Cranach");
    await set("Dürer");
    expect(await get()).toBe("Dürer");
  });

  it.each(["killed", "demoted", "cut off"] as const)(
    "loses what was acknowledged after replication was severed; the old primary is %s, and rejoins",
    async (old) => {
      await set("Cranach");
      await pair.caughtUp();
      pair.severReplication();
      expect(await set("Dürer")).toBe("OK");
      await pair.failOver({ old });
      expect(await get()).toBe("Cranach");
      await pair.rejoin();
      expect(await redisRequest(pair.replica.port, ["GET", "name"])).toBe("Cranach");
      await set("Holbein");
      await pair.caughtUp();
      await pair.failOver();
      expect(await get()).toBe("Holbein");
    },
  );

  it("leaves an old primary that was cut off in the belief that it is one", async () => {
    await pair.failOver({ old: "cut off" });
    expect(await redisRequest(pair.replica.port, ["SET", "name", "astray"])).toBe("OK");
    expect(await get()).toBeUndefined();
  });

  it("is gone when it is stopped", async () => {
    const pids = [pair.primary.pid, pair.replica.pid];
    await pair.stop();
    await pair.stop();
    expect(pids.map(isRunning)).toEqual([false, false]);
    await expect(get()).rejects.toThrow();
  });
});
