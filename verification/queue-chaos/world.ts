import { createServer, type Socket } from "node:net";
import { listen as listenOn } from "../harness/listen.ts";
import { openDeliveries } from "./deliveries.ts";
import { type EventLog, openEventLog } from "../harness/event-log.ts";
import type { Observation } from "./oracle/facts.ts";
import { type Counts, type Order, receive, type Report, reportSchema, send } from "./processes/messages.ts";
import type { Plans } from "./schedules/plans.ts";

/**
 * The truth, whatever the queue believes: per key a version, like an API server's, and the log of what happened.
 * Processes ask it what a run reads and how it ends, and report what they do.
 */
export interface World {
  readonly port: number;
  readonly log: EventLog<Observation>;
  /** The last committed change of each key that ever changed. */
  readonly versions: ReadonlyMap<string, number>;
  /** Commits one change per key and has the producer wake them with one call. Answers the batch's number. */
  change(keys: readonly string[], producer: string): number;
  /** Has the producer wake every key that ever changed, as a bridge does that lists once more. */
  relist(producer: string, why: string): void;
  isAcknowledged(batch: number): boolean;
  allAcknowledged(): boolean;
  isUp(process: string): boolean;
  order(process: string, order: Order): void;
  /** The counts of a process's queue; undefined if they do not come in time. */
  count(process: string): Promise<Counts | undefined>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly plans: Plans;
  /** The first order for a process. */
  readonly open: (process: string) => Order;
  /** True if producers list once more when the queue reports that Redis has lost data. */
  readonly listsAfterLoss: boolean;
}

/** How long the counts may take: longer than the queue waits for Redis. */
const countPatience = 3_000;

export async function startWorld({ plans, open, listsAfterLoss }: WorldOptions): Promise<World> {
  const log = openEventLog<Observation>();
  const versions = new Map<string, number>();
  const lines = openLines();
  const deliveries = openDeliveries(log, (producer, order) => {
    if (lines.isUp(producer)) lines.order(producer, order);
  });
  const counting = new Map<number, (counts: Counts | undefined) => void>();
  const cameBefore = new Set<string>();
  let asked = 0;

  const relist = (producer: string, why: string): void => {
    log.note({ fact: "relisted", process: producer, why });
    const wakes = [...versions].map(([key, version]) => ({ key, version, class: "listing" as const }));
    if (wakes.length > 0) deliveries.add(producer, wakes);
  };
  const listsAgain = (process: string, why: string): void => {
    if (listsAfterLoss && isProducer(process)) relist(process, why);
  };
  const comesUp = (process: string): void => {
    lines.isNowUp(process);
    log.note({ fact: "up", process });
    deliveries.repeat(process);
    // Where Redis has lost data, a bridge's positions may be among them.
    if (cameBefore.has(process)) listsAgain(process, "came back");
    cameBefore.add(process);
  };
  const starts = (process: string, report: Extract<Report, { fact: "start" }>): void => {
    const { key, token, sent, fails } = report;
    const version = versions.get(key) ?? 0;
    lines.order(process, { order: "run", token, version, plan: plans.next(key, process) });
    log.note({ fact: "started", key, token, process, version, fails, sent });
  };
  const onReport = (process: string, report: Report): void => {
    if (report.fact === "hello") lines.order(process, open(process));
    else if (report.fact === "up") comesUp(process);
    else if (report.fact === "start") starts(process, report);
    else if (report.fact === "lost") listsAgain(process, report.incarnation);
    else if (report.fact === "counted") counting.get(report.id)?.(report.stats);
    else {
      if (report.fact === "acknowledged") deliveries.acknowledged(report.batch);
      log.note({ ...report, process });
    }
  };
  log.follow((fact) => {
    if (fact.fact === "exited") lines.isGone(fact.process);
  });
  const port = await lines.listen(onReport);
  return {
    port,
    log,
    versions,
    relist,
    change(keys, producer) {
      const wakes = keys.map((key) => {
        const version = (versions.get(key) ?? 0) + 1;
        versions.set(key, version);
        log.note({ fact: "committed", key, version });
        return { key, version, class: "change" as const };
      });
      return deliveries.add(producer, wakes);
    },
    isAcknowledged: (batch) => deliveries.isAcknowledged(batch),
    allAcknowledged: () => deliveries.allAcknowledged(),
    isUp: (process) => lines.isUp(process),
    order: (process, order) => lines.order(process, order),
    async count(process) {
      const id = asked++;
      const answer = Promise.withResolvers<Counts | undefined>();
      const timer = setTimeout(() => answer.resolve(undefined), countPatience);
      counting.set(id, answer.resolve);
      lines.order(process, { order: "count", id });
      return answer.promise.finally(() => {
        clearTimeout(timer);
        counting.delete(id);
      });
    },
    close: () => lines.close(),
  };
}

const isProducer = (process: string): boolean => process.startsWith("producer-");

/** The lines to the processes, by their names: a name's new line takes the place of its old one. */
function openLines() {
  const sockets = new Map<string, Socket>();
  const up = new Set<string>();
  const server = createServer({ noDelay: true });
  return {
    isUp: (name: string) => up.has(name),
    isNowUp: (name: string) => void up.add(name),
    isGone(name: string): void {
      sockets.delete(name);
      up.delete(name);
    },
    order(name: string, order: Order): void {
      const socket = sockets.get(name);
      if (socket !== undefined) send(socket, order);
    },
    async listen(onReport: (process: string, report: Report) => void): Promise<number> {
      server.on("connection", (socket) => {
        let name = "";
        socket.on("error", () => undefined);
        socket.on("close", () => {
          if (sockets.get(name) !== socket) return;
          sockets.delete(name);
          up.delete(name);
        });
        receive(socket, reportSchema, (report) => {
          if (report.fact === "hello") {
            name = report.process;
            sockets.set(name, socket);
            up.delete(name);
          }
          onReport(name, report);
        });
      });
      return listenOn(server);
    },
    async close(): Promise<void> {
      for (const socket of sockets.values()) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
