import { once } from "node:events";
import { join } from "node:path";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type Forwarder, startForwarder, type ForwardTarget } from "./forwarder.ts";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Answers every chunk with its name and the chunk. */
async function echo(name: string, received: string[] = [], path?: string): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      received.push(data.toString());
      socket.write(`${name} ${data.toString()}`);
    });
  });
  if (path === undefined) server.listen(0, "127.0.0.1");
  else server.listen(path);
  await once(server, "listening");
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return path === undefined ? (server.address() as AddressInfo).port : 0;
}

async function started(target: ForwardTarget): Promise<Forwarder> {
  const forwarder = await startForwarder(target);
  closing.push(() => forwarder.stop());
  return forwarder;
}

function dial(port: number) {
  const socket = connect({ port, host: "127.0.0.1" });
  const gone = new Promise<string>((resolve) => {
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "error"));
    socket.once("close", () => resolve("closed"));
  });
  closing.push(() => socket.destroy());
  const heard = () => once(socket, "data").then((chunks) => chunks.map(String).join(""));
  return { gone, heard, say: (text: string) => void socket.write(text) };
}

describe("a forwarder", () => {
  it("leads to a Unix socket, and breaks what stands there too", async () => {
    const path = join(folderOfTest(), "echo.sock");
    await echo("unix", [], path);
    const forwarder = await started(path);
    const { say, heard, gone } = dial(forwarder.port);
    say("hello");
    expect(await heard()).toBe("unix hello");
    forwarder.breakConnections();
    expect(await gone).toBe("ECONNRESET");
  });

  it("leads new connections elsewhere and leaves those that stand", async () => {
    const [first, second] = [await echo("first"), await echo("second")];
    const forwarder = await started(first);
    const old = dial(forwarder.port);
    old.say("hello");
    expect(await old.heard()).toBe("first hello");
    forwarder.pointAt(second);
    const young = dial(forwarder.port);
    young.say("hello");
    expect(await young.heard()).toBe("second hello");
    old.say("again");
    expect(await old.heard()).toBe("first again");
  });

  it("breaks connections, and lets none in while it is cut", async () => {
    const forwarder = await started(await echo("it"));
    const before = dial(forwarder.port);
    before.say("hello");
    await before.heard();
    forwarder.cut();
    expect(await before.gone).toBe("ECONNRESET");
    const during = dial(forwarder.port);
    expect(await during.gone).toBe("ECONNRESET");
    forwarder.mend();
    const after = dial(forwarder.port);
    after.say("hello");
    expect(await after.heard()).toBe("it hello");
  });

  it("is silent while it is held, and loses nothing", async () => {
    const received: string[] = [];
    const server = await echo("it", received);
    const forwarder = await started(server);
    const before = dial(forwarder.port);
    before.say("hello");
    await before.heard();
    forwarder.hold();
    const during = dial(forwarder.port);
    const heard = Promise.all([before.heard(), during.heard()]);
    before.say("one");
    during.say("two");
    const direct = dial(server);
    for (const word of ["a", "b", "c", "d"]) {
      direct.say(word);
      await direct.heard();
    }
    expect(received).toEqual(["hello", "a", "b", "c", "d"]);
    forwarder.mend();
    expect(await heard).toEqual(["it one", "it two"]);
  });

  it("resets the client when nobody listens behind it", async () => {
    const port = await echo("it");
    await closing.pop()?.();
    const forwarder = await started(port);
    const client = dial(forwarder.port);
    expect(await client.gone).toBe("ECONNRESET");
  });
});
