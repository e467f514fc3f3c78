import type { Milliseconds } from "@drover/controller";
import type { TiedProcess } from "@drover/local-servers";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { now } from "../harness/clock.ts";
import { crash, startProcess } from "../harness/start-process.ts";
import { ourBridge } from "../bridge-chaos/bridge-process.ts";
import { type Kind, registrationFor } from "../bridge-chaos/kind.ts";

/** Bridges that follow one kind, one of them at a time. */
export interface Team {
  members(): readonly TiedProcess[];
  /** The one that took the stream up last. */
  holder(): TiedProcess;
  /** SIGKILL, and another one in its place. */
  replace(member: TiedProcess): Promise<void>;
  /** SIGSTOP for a time. */
  freeze(member: TiedProcess, span: Milliseconds): Promise<void>;
  /** From each fault of a holder to another's taking the stream up. */
  readonly handOvers: readonly Milliseconds[];
  stop(): Promise<void>;
}

/** The log line of a bridge that follows a kind. */
const follows = "; watching";

export async function startTeam(options: {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly redisUrl: string;
  readonly kind: Kind;
  readonly controller: string;
  readonly size: number;
}): Promise<Team> {
  const { folder, kubeconfig, redisUrl, kind, controller, size } = options;
  const functions = join(folder, "widgets.yaml");
  await writeFile(functions, registrationFor(kind, controller, false));
  const members = new Set<TiedProcess>();
  const handOvers: Milliseconds[] = [];
  const firstHolder = Promise.withResolvers<undefined>();
  let holder: TiedProcess | undefined;
  let lostAt: Milliseconds | undefined;
  let lives = 0;

  const start = async (): Promise<TiedProcess> => {
    const name = `bridge-${lives++}`;
    const known = Promise.withResolvers<TiedProcess>();
    const child = await startProcess({
      name,
      main: ourBridge,
      logFile: join(folder, `${name}.log`),
      env: { DROVER_REDIS_URL: redisUrl, DROVER_KUBECONFIG: kubeconfig, DROVER_FUNCTIONS: functions },
      onLine(line) {
        if (!line.includes(follows)) return;
        void known.promise.then((self) => {
          if (lostAt !== undefined && self !== holder) handOvers.push(now() - lostAt);
          if (self !== holder) lostAt = undefined;
          holder = self;
          firstHolder.resolve(undefined);
        });
      },
    });
    known.resolve(child);
    members.add(child);
    return child;
  };
  await Promise.all(Array.from({ length: size }, start));
  await firstHolder.promise;
  const hit = (member: TiedProcess): void => {
    if (member === holder) lostAt ??= now();
  };
  return {
    handOvers,
    members: () => [...members],
    holder() {
      if (holder === undefined) throw new Error("No bridge holds the stream.");
      return members.has(holder) ? holder : ([...members][0] ?? holder);
    },
    async replace(member) {
      hit(member);
      members.delete(member);
      await crash(member);
      await start();
    },
    async freeze(member, span) {
      hit(member);
      member.kill("SIGSTOP");
      await delay(span);
      member.kill("SIGCONT");
    },
    async stop() {
      await Promise.all([...members].map((member) => member.stop()));
    },
  };
}
