import { once } from "node:events";
import { connect } from "node:net";
import { type Order, orderSchema, receive, type Report, send } from "./messages.ts";

/** The connection of a process to the world. */
export interface WorldClient {
  report(report: Report): void;
  /** Resolves with the next order of that kind for which `wanted` is true. */
  next<Kind extends Order["order"]>(
    kind: Kind,
    wanted?: (order: Extract<Order, { order: Kind }>) => boolean,
  ): Promise<Extract<Order, { order: Kind }>>;
  /** Calls back for each order of that kind. */
  on<Kind extends Order["order"]>(kind: Kind, obey: (order: Extract<Order, { order: Kind }>) => void): void;
  /** Ends the process in order, when all reports have been sent. */
  leave(): void;
}

type Obey = (order: Order) => void;

/** Connects to the world, under the name of this process. When the connection closes, the process exits. */
export async function joinWorld(port: number, name: string): Promise<WorldClient> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const obeying = new Set<Obey>();
  socket.on("error", () => undefined).on("close", () => process.exit(3));
  receive(socket, orderSchema, (order) => {
    for (const obey of obeying) obey(order);
  });
  await once(socket, "connect");
  const report = (report: Report): void => send(socket, report);
  const on: WorldClient["on"] = (kind, obey) => {
    obeying.add((order) => {
      if (isOf(order, kind)) obey(order);
    });
  };
  report({ fact: "hello", process: name });
  return {
    report,
    on,
    next: (kind, wanted = () => true) =>
      new Promise((resolve) => {
        const obey: Obey = (order) => {
          if (!isOf(order, kind) || !wanted(order)) return;
          obeying.delete(obey);
          resolve(order);
        };
        obeying.add(obey);
      }),
    leave() {
      socket.removeAllListeners("close");
      // As every process of Drover: Node may spin for ever while it takes down connections to servers that were killed.
      socket.end(() => process.exit());
    },
  };
}

const isOf = <Kind extends Order["order"]>(
  order: Order,
  kind: Kind,
): order is Extract<Order, { order: Kind }> => order.order === kind;
