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
async function echo(name: string, chunks: string[] = [], path?: string): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      chunks.push(data.toString());
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
  const received = () => once(socket, "data").then((chunks) => chunks.map(String).join(""));
  const send = (text: string) => void socket.write(text);
  const ask = (text: string) => {
    send(text);
    return received();
  };
  return { gone, received, send, ask };
}

describe("a forwarder", () => {
  it("leads to a Unix socket, and breaks its connections, too", async () => {
    const path = join(folderOfTest(), "echo.sock");
    await echo("unix", [], path);
    const forwarder = await started(path);
    const { ask, gone } = dial(forwarder.port);
    expect(await ask("hello")).toBe("unix hello");
    forwarder.breakConnections();
    expect(await gone).toBe("ECONNRESET");
  });

  it("counts the bytes from its target, also those of a connection that has ended", async () => {
    const forwarder = await started(await echo("it"));
    const before = dial(forwarder.port);
    await before.ask("hello");
    forwarder.breakConnections();
    await before.gone;
    await dial(forwarder.port).ask("hello");
    expect(forwarder.received()).toBe(2 * "it hello".length);
  });

  it("leads new connections elsewhere and leaves the existing ones", async () => {
    const [first, second] = [await echo("first"), await echo("second")];
    const forwarder = await started(first);
    const old = dial(forwarder.port);
    expect(await old.ask("hello")).toBe("first hello");
    forwarder.pointAt(second);
    const young = dial(forwarder.port);
    expect(await young.ask("hello")).toBe("second hello");
    expect(await old.ask("again")).toBe("first again");
  });

  it("breaks connections, and refuses new ones while it is cut", async () => {
    const forwarder = await started(await echo("it"));
    const before = dial(forwarder.port);
    await before.ask("hello");
    forwarder.cut();
    expect(await before.gone).toBe("ECONNRESET");
    const during = dial(forwarder.port);
    expect(await during.gone).toBe("ECONNRESET");
    forwarder.mend();
    const after = dial(forwarder.port);
    expect(await after.ask("hello")).toBe("it hello");
  });

  it("passes nothing while it is held, and loses nothing", async () => {
    const chunks: string[] = [];
    const server = await echo("it", chunks);
    const forwarder = await started(server);
    const before = dial(forwarder.port);
    await before.ask("hello");
    forwarder.hold();
    const during = dial(forwarder.port);
    const received = Promise.all([before.received(), during.received()]);
    before.send("one");
    during.send("two");
    const direct = dial(server);
    for (const word of ["a", "b", "c", "d"]) {
      await direct.ask(word);
    }
    expect(chunks).toEqual(["hello", "a", "b", "c", "d"]);
    forwarder.mend();
    expect(await received).toEqual(["it one", "it two"]);
  });

  it("resets the client if no server listens behind it", async () => {
    const port = await echo("it");
    await closing.pop()?.();
    const forwarder = await started(port);
    const client = dial(forwarder.port);
    expect(await client.gone).toBe("ECONNRESET");
  });
});
