import { chmod, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findRedis, findRedis7 } from "./redis-executable.ts";

let bin: string;
beforeEach(async () => {
  bin = await mkdtemp(join(tmpdir(), "drover-bin-"));
});
afterEach(() => rm(bin, { recursive: true, force: true }));

async function onPath(name: string, prints: string) {
  await writeFile(join(bin, name), `#!/bin/sh\necho "${prints}"\n`);
  await chmod(join(bin, name), 0o755);
}

const redis = (version: string) => `Redis server v=${version} sha=00000000:0 malloc=libc bits=64 build=1`;

describe("findRedis7", () => {
  it("takes the server on PATH when it is 7, whether there is a Valkey or not", async () => {
    await onPath("valkey-server", "Valkey server v=8.1.0 sha=00000000:1 malloc=libc bits=64 build=2");
    await onPath("redis-server", redis("7.2.9"));
    expect(await findRedis7({ path: bin })).toEqual({
      command: "redis-server",
      description: "Redis 7.2.9 on PATH",
    });
  });

  it.each([
    ["6.2.1", "the redis-server on PATH is 6.2.1, older than 7.0"],
    ["8.0.2", "the redis-server on PATH is 8.0.2, newer than 7"],
  ])("passes over %s, and says what to do when apt-get fails", async (version, reason) => {
    await onPath("redis-server", redis(version));
    await writeFile(join(bin, "apt-get"), "#!/bin/sh\necho no network today\nexit 100\n");
    await chmod(join(bin, "apt-get"), 0o755);
    await symlink("/bin/sh", join(bin, "sh"));
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
    await onPath(
      "redis-server",
      "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1",
    );
    expect(await findRedis({ path: bin })).toEqual({
      command: "redis-server",
      description: "Redis 7.0.15 on PATH",
    });
    await onPath("valkey-server", "Valkey server v=8.1.0 sha=00000000:1 malloc=libc bits=64 build=2");
    expect(await findRedis({ path: bin })).toEqual({
      command: "valkey-server",
      description: "Valkey 8.1.0 on PATH",
    });
  });

  it("passes over one that is too old", async () => {
    await onPath(
      "redis-server",
      "Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64 build=3",
    );
    const path = `${bin}:${process.env["PATH"] ?? ""}`;
    expect((await findRedis({ path })).description).not.toContain("6.0.16");
  });

  it("takes the one that was chosen, and says so when it is none", async () => {
    await onPath("redis-server", redis("7.0.15"));
    vi.stubEnv("LOCAL_REDIS_SERVER", join(bin, "redis-server"));
    expect(await findRedis()).toEqual({
      command: join(bin, "redis-server"),
      description: "the server 7.0.15 of LOCAL_REDIS_SERVER",
    });
    vi.stubEnv("LOCAL_REDIS_SERVER", join(bin, "none"));
    await expect(findRedis()).rejects.toThrow(
      /none, which is no server that runs\. Give the path of one, or unset it/,
    );
    vi.unstubAllEnvs();
  });

  it("says why there is none and what to install", async () => {
    await onPath(
      "redis-server",
      "Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64 build=3",
    );
    await symlink("/bin/sh", join(bin, "sh"));
    const failure = String(
      await findRedis({ path: bin, cacheDir: join(bin, "cache") }).catch((e: unknown) => e),
    );
    expect(failure).toContain("no valkey-server that runs is on PATH");
    expect(failure).toContain("the redis-server on PATH is 6.0.16, older than 7.0");
    expect(failure).toContain("python3 is not on PATH");
    expect(failure).toContain("apt install redis-server");
  });
});
