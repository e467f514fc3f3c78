import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { redisOfFile } from "../redis.fixture.ts";
import { redisUserAdmin } from "./redis-user-admin.ts";

const { server, redis: admin } = await redisOfFile();

/** What the server answers who logs in so: what it may read, or why it may not. */
async function loggedIn(username: string, password: string, key: string): Promise<string> {
  const redis = new Redis(server.url, {
    username,
    password,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  redis.on("error", () => {});
  const answer = await redis.exists(key).then(
    () => "ok",
    (error: unknown) => String(error),
  );
  redis.disconnect();
  return answer;
}
const user = { role: "function", controllers: ["gadgets"] } as const;

it("a user reaches its controller's keys with each of its passwords, and nothing else", async () => {
  const accounts = redisUserAdmin(admin);
  await accounts.grant("gadgets", user, ["old", "new"]);
  expect(await loggedIn("gadgets", "old", "{drover:gadgets}:control")).toBe("ok");
  expect(await loggedIn("gadgets", "new", "{drover:gadgets}:control")).toBe("ok");
  expect(await loggedIn("gadgets", "new", "{drover:others}:control")).toMatch(/NOPERM/);
  expect(await loggedIn("gadgets", "wrong", "{drover:gadgets}:control")).not.toBe("ok");
});

it("a password that is taken away is no longer one, and who is connected stays", async () => {
  const accounts = redisUserAdmin(admin);
  await accounts.grant("gadgets", user, ["old", "new"]);
  const connected = new Redis(server.url, { username: "gadgets", password: "old" });
  await connected.exists("{drover:gadgets}:control");
  await accounts.grant("gadgets", user, ["new"]);
  expect(await connected.exists("{drover:gadgets}:control")).toBe(0);
  expect(await loggedIn("gadgets", "old", "{drover:gadgets}:control")).not.toBe("ok");
  connected.disconnect();
});

it("a user that is revoked is cut off", async () => {
  const accounts = redisUserAdmin(admin);
  await accounts.grant("gadgets", user, ["new"]);
  const connected = new Redis(server.url, {
    username: "gadgets",
    password: "new",
    retryStrategy: () => null,
  });
  connected.on("error", () => {});
  await connected.exists("{drover:gadgets}:control");
  const ended = new Promise((resolve) => connected.once("end", resolve));
  await accounts.revoke("gadgets");
  await ended;
  expect(await loggedIn("gadgets", "new", "{drover:gadgets}:control")).not.toBe("ok");
});
