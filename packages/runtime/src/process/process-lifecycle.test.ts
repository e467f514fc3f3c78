import { silentLog } from "@drover/controller";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { listenOn } from "../http/listen-on.ts";
import { closeAll, type Closeable } from "./process-lifecycle.ts";

it("resources are closed in reverse order, also after a failure, and every failure is reported", async () => {
  const closed: string[] = [];
  const opened = ["a", "b", "c", "d"].map((name): Closeable => ({
    name,
    close: () => {
      closed.push(name);
      return name === "a" || name === "c" ? Promise.reject(new Error(`${name} is stuck`)) : Promise.resolve();
    },
  }));
  const error: unknown = await closeAll(silentLog, opened).catch((thrown: unknown) => thrown);
  expect(closed).toEqual(["d", "c", "b", "a"]);
  expect(error).toBeInstanceOf(AggregateError);
  expect((error as AggregateError).errors.map(String)).toEqual(["Error: c is stuck", "Error: a is stuck"]);
});

it("a port in use is reported, with the setting for another one", async () => {
  const first = createServer().listen(0, "127.0.0.1");
  await once(first, "listening");
  const { port } = first.address() as AddressInfo;
  const options = { host: "127.0.0.1", port, settings: "DROVER_HTTP_PORT" };
  await expect(listenOn(createServer(), options)).rejects.toThrow(
    `Cannot listen on 127.0.0.1:${port}. Free the port, or set DROVER_HTTP_PORT.`,
  );
  first.close();
});
