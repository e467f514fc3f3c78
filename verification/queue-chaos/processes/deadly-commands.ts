import { Redis } from "ioredis";
import type { Dying } from "./messages.ts";

/** Kills or stops this process in the middle of its commands to Redis. */
export interface DeadlyCommands {
  /** At the n-th command from now, over all connections. */
  dieAt(dying: Dying): void;
  live(): void;
}

type SendCommand = Redis["sendCommand"];

/**
 * Puts a count on every command that this process sends to Redis, the handshake's and BullMQ's too, so that it can die
 * at each place where it waits for Redis: before a command leaves, when it has left, and when its answer has
 * arrived but is not yet processed. `lastWords` is called right before.
 */
export function deadlyCommands(lastWords: () => void): DeadlyCommands {
  let dying: Dying | undefined;
  let left = 0;
  const die = (): void => {
    const signal = dying?.signal ?? "SIGKILL";
    dying = undefined;
    lastWords();
    process.kill(process.pid, signal);
  };

  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the connection it is for
  const sendCommand: SendCommand = Redis.prototype.sendCommand;
  Redis.prototype.sendCommand = function (this: Redis, ...args: Parameters<SendCommand>): unknown {
    const last = dying !== undefined && --left === 0 ? dying.phase : undefined;
    if (last === "before") die();
    const [command] = args;
    // Registered before the caller's: it runs first.
    if (last === "answered") command.promise.then(die, die);
    const answer = sendCommand.apply(this, args);
    // A pipeline is written when its last command is in.
    if (last === "sent") setImmediate(die);
    return answer;
  };
  return {
    dieAt(next) {
      dying = next;
      left = next.command;
    },
    live() {
      dying = undefined;
    },
  };
}
