import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { programsIn } from "../programs/path.fixture.ts";
import { findRedis, findRedis7 } from "./redis-executable.ts";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";

let bin: string;
let onPath: ReturnType<typeof programsIn>;
beforeEach(() => void (onPath = programsIn((bin = folderOfTest()))));

const server = (name: string) => (version: string) =>
  onPath(
    `${name.toLowerCase()}-server`,
    `echo "${name} server v=${version} sha=00000000:0 malloc=libc bits=64 build=1"`,
  );
const redis = server("Redis");
const valkey = server("Valkey");
const found = (command: string, description: string) => ({ command, description });

describe("findRedis7", () => {
  it("takes the server on PATH when it is 7, whether there is a Valkey or not", async () => {
    valkey("8.1.0");
    redis("7.2.9");
    expect(await findRedis7({ path: bin })).toEqual(found("redis-server", "Redis 7.2.9 on PATH"));
  });

  it.each([
    ["6.2.1", "the redis-server on PATH is 6.2.1, older than 7.0"],
    ["8.0.2", "the redis-server on PATH is 8.0.2, newer than 7"],
  ])("rejects %s, and names what to do when apt-get fails", async (version, reason) => {
    redis(version);
    onPath("apt-get", "echo no network today\nexit 100");
    const cacheDir = join(bin, "cache");
    const failure = String(await findRedis7({ path: bin, cacheDir }).catch((e: unknown) => e));
    expect(failure).toContain("Debian 12 or Ubuntu 24.04");
    expect(failure).toContain(reason);
    expect(failure).toMatch(/apt-get .* update failed\. Its last lines:\nno network today/);
    expect(await readdir(join(cacheDir, "unfinished"))).toEqual([]);
  });
});

describe("findRedis", () => {
  it("takes the server on PATH, Valkey first", async () => {
    redis("7.0.15");
    expect(await findRedis({ path: bin })).toEqual(found("redis-server", "Redis 7.0.15 on PATH"));
    valkey("8.1.0");
    expect(await findRedis({ path: bin })).toEqual(found("valkey-server", "Valkey 8.1.0 on PATH"));
  });

  it("passes over one that is too old", async () => {
    redis("6.0.16");
    const path = `${bin}:${process.env["PATH"] ?? ""}`;
    expect((await findRedis({ path })).description).not.toContain("6.0.16");
  });

  it("takes the chosen server, and rejects a path that is not a server", async () => {
    redis("7.0.15");
    vi.stubEnv("LOCAL_REDIS_SERVER", join(bin, "redis-server"));
    expect(await findRedis()).toEqual(
      found(join(bin, "redis-server"), "the server 7.0.15 of LOCAL_REDIS_SERVER"),
    );
    vi.stubEnv("LOCAL_REDIS_SERVER", join(bin, "none"));
    await expect(findRedis()).rejects.toThrow(
      /none, which is no server that runs\. Give the path of one, or unset it/,
    );
    vi.unstubAllEnvs();
  });

  it("rejects with the reasons and what to install if there is none", async () => {
    redis("6.0.16");
    const failure = String(
      await findRedis({ path: bin, cacheDir: join(bin, "cache") }).catch((e: unknown) => e),
    );
    expect(failure).toContain("no valkey-server that runs is on PATH");
    expect(failure).toContain("the redis-server on PATH is 6.0.16, older than 7.0");
    expect(failure).toContain("python3 is not on PATH");
    expect(failure).toContain("apt install redis-server");
  });
});
