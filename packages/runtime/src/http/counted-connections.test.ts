import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { byteBudget } from "./byte-budget.ts";
import { countedConnections } from "./counted-connections.ts";

it("a closed connection is not counted, also if its request ends later", () => {
  const limits = { total: 10_000, peer: 10_000, group: 10_000 };
  const budgets = { unverified: byteBudget(limits), verified: byteBudget(limits) };
  const socket = Object.assign(new EventEmitter(), {
    remoteAddress: "192.0.2.1",
    destroyed: false,
    destroy: () => socket.emit("close"),
  });
  const connection = countedConnections(budgets, 100).of(socket as unknown as Socket);
  const body = connection.hold("calls", 50);
  expect(budgets.unverified.held()).toBe(150);
  connection.close("cut off");
  body.release();
  expect(budgets.unverified.held()).toBe(0);
  connection.idle();
  expect([budgets.unverified.held(), budgets.verified.held()]).toEqual([0, 0]);
});
