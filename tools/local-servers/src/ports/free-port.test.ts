import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { freePort, isPortFree, onFreePort } from "./free-port.ts";

async function listen(port: number) {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

describe("a free port", () => {
  it("can be listened on, and is not free then", async () => {
    const port = await freePort();
    await using server = await listen(port);
    expect(server.address()).toMatchObject({ port } satisfies Partial<AddressInfo>);
    expect(await isPortFree(port)).toBe(false);
  });

  it("is another one if another process took it first", async () => {
    const tried: number[] = [];
    const taken: AsyncDisposable[] = [];
    const port = await onFreePort(async (candidate) => {
      tried.push(candidate);
      if (tried.length > 2) return candidate;
      taken.push(await listen(candidate));
      throw new Error("address in use");
    });
    expect(new Set(tried).size).toBe(3);
    expect(port).toBe(tried[2]);
    for (const server of taken) await server[Symbol.asyncDispose]();
  });

  it("passes on the error of a server that does not start", async () => {
    let tries = 0;
    const start = () => {
      tries += 1;
      return Promise.reject(new Error("bad configuration"));
    };
    await expect(onFreePort(start)).rejects.toThrow("bad configuration");
    expect(tries).toBe(1);
  });
});
