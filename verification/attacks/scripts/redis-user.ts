import { silentLog } from "@drover/controller";
import {
  connectRedis,
  disconnectRedis,
  type RedisConnection,
  type RedisRole,
  redisUserRules,
} from "@drover/queue";
import { Redis } from "ioredis";

/** The function with the Pod that was taken over. */
export const taken = "taken";

/** A Redis with the users that the shipped rules make, as its attackers and the shipped processes meet it. */
export interface AttackedRedis extends AsyncDisposable {
  readonly admin: Redis;
  /** A raw connection of a new user, with what the role is granted for `taken`, or for all. */
  attacker(role: RedisRole, controllers?: "all"): Promise<Redis>;
  /** As the shipped process of that role connects. */
  shipped(role: RedisRole, controllers?: "all"): Promise<RedisConnection>;
}

export function attackedRedis(url: string): AttackedRedis {
  const admin = new Redis(url);
  const closing: (() => unknown)[] = [() => admin.disconnect()];
  const make = async (name: string, role: RedisRole, controllers?: "all"): Promise<string> => {
    const rules = redisUserRules({ role, controllers: controllers ?? [taken] });
    await admin.call("ACL", "SETUSER", name, ...rules.split(" "), ">secret");
    return url.replace("//", `//${name}:secret@`);
  };
  return {
    admin,
    async attacker(role, controllers) {
      const redis = new Redis(await make(`attacker-${role}`, role, controllers), { maxRetriesPerRequest: 1 });
      redis.on("error", () => undefined);
      closing.unshift(() => redis.disconnect());
      return redis;
    },
    async shipped(role, controllers) {
      const loadsScripts = ["bridge", "embedded", "deployer"].includes(role);
      const as = { url: await make(`shipped-${role}`, role, controllers), clientName: role };
      const redis = await connectRedis({ ...as, log: silentLog, loadsScripts });
      closing.unshift(() => disconnectRedis(redis));
      return redis;
    },
    async [Symbol.asyncDispose]() {
      for (const close of closing) await close();
    },
  };
}

/** The server's answer, in one line. */
export const answerOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    (answer) => `done: ${JSON.stringify(answer)}`.slice(0, 100),
    (error: unknown) => String(error).slice(0, 160),
  );

/** Sends each command as the Redis user of a function, of the gateway and of an operator. */
export async function trySending(
  server: AttackedRedis,
  commands: readonly (readonly [string, ...string[]])[],
): Promise<readonly { readonly sent: string; readonly command: string; readonly answer: string }[]> {
  const tries: { sent: string; command: string; answer: string }[] = [];
  for (const role of ["function", "gateway", "operator"] as const) {
    const attacker = await server.attacker(role);
    for (const [command, ...args] of commands) {
      const answer = await answerOf(attacker.call(command, ...args));
      tries.push({ sent: `${role}: ${command} ${args[0] ?? ""}`, command, answer });
    }
  }
  return tries;
}

export const isDenied = (answer: string): boolean => /NOPERM|has no permissions/.test(answer);

/**
 * The answer that another client gets during an attack: `BUSY` if the server runs a script and nothing else. The server answers
 * this after a tenth of a second here.
 */
export async function victimDuring(
  { admin }: AttackedRedis,
  attack: () => Promise<unknown>,
): Promise<{ readonly attack: string; readonly victim: string }> {
  await admin.config("SET", "busy-reply-threshold", "100");
  const victim = admin.duplicate();
  await victim.ping();
  const over = new AbortController();
  const attacking = answerOf(attack()).finally(() => over.abort());
  let answer = "";
  while (!over.signal.aborted) {
    answer = await answerOf(victim.set("victim", "1"));
    if (!answer.includes("BUSY")) continue;
    // Nothing less ends a script that has written.
    const killed = await answerOf(victim.call("SCRIPT", "KILL"));
    await victim.call("SHUTDOWN", "NOSAVE").catch(() => undefined);
    victim.disconnect();
    return { attack: "keeps the server busy", victim: `${answer}; SCRIPT KILL: ${killed}` };
  }
  victim.disconnect();
  return { attack: await attacking, victim: answer };
}
