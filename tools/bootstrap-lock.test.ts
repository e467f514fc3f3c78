import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { withLock } from "./bootstrap/lock.mjs";
import { killed, startModule } from "./local-servers/src/processes/module-process.fixture.ts";
import { folderOfTest } from "../packages/testing/src/folder.fixture.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = folderOfTest();
  path = join(dir, "lock");
});

/** Another process that takes the lock and keeps it. */
function startHolder(path: string) {
  const module = JSON.stringify(new URL("bootstrap/lock.mjs", import.meta.url).href);
  const source = `import { withLock } from ${module};
    await withLock(process.argv[1], {}, () => new Promise(() => console.log("held")));`;
  return startModule(source, path);
}

describe("the lock", () => {
  it("is held by one at a time, and leaves nothing behind", async () => {
    let inside = 0;
    const results = await Promise.all(
      [1, 2, 3, 4].map((n) =>
        withLock(path, {}, async () => {
          expect(++inside).toBe(1);
          await new Promise(setImmediate);
          inside--;
          return n;
        }),
      ),
    );
    expect(results).toEqual([1, 2, 3, 4]);
    expect(await readdir(dir)).toEqual([]);
  });

  it("is free again when the work failed", async () => {
    await expect(withLock(path, {}, () => Promise.reject(new Error("no luck")))).rejects.toThrow("no luck");
    expect(await withLock(path, {}, () => Promise.resolve("free"))).toBe("free");
  });

  it("is waited for while another process holds it, and free when that one is killed", async () => {
    const { child } = await startHolder(path);
    const waits = Promise.withResolvers<undefined>();
    let free = false;
    const taken = withLock(path, { onWait: () => waits.resolve(undefined) }, () =>
      Promise.resolve((free = true)),
    );
    await waits.promise;
    expect(free).toBe(false);
    await killed(child);
    expect(await taken).toBe(true);
  });

  it("is no longer waited for once the signal fires", async () => {
    await startHolder(path);
    const patience = new AbortController();
    const options = { signal: patience.signal, onWait: () => patience.abort() };
    await expect(withLock(path, options, () => Promise.resolve())).rejects.toThrow(/abort/);
  });
});
