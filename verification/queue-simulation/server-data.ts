import { account, keys } from "./schedule.ts";
import type { SharedState } from "./shared-state.ts";
import type { RedisConnection } from "../../packages/queue/src/redis/redis-servers.ts";

/** The data of one schedule at a moment, to come back to: what a failover or an old dump has. */
export interface Snapshot {
  take(): Promise<void>;
  /** Data and jobs are as they were; or, with `empty`, none are left. */
  restore(empty: boolean): Promise<void>;
  forget(): Promise<void>;
}

const copy = `
for _, name in ipairs(cjson.decode(ARGV[1])) do
  redis.call('DEL', KEYS[1] .. ARGV[3] .. name)
  if redis.call('EXISTS', KEYS[1] .. ARGV[2] .. name) == 1 then
    redis.call('COPY', KEYS[1] .. ARGV[2] .. name, KEYS[1] .. ARGV[3] .. name)
  end
end
return 1
`;

/** Where none was taken, the server that takes over is empty. */
export function snapshotOf(redis: RedisConnection, { prefix, oracle, jobs }: SharedState): Snapshot {
  const names = ledgerKeys(oracle.names);
  const json = JSON.stringify(names);
  const move = async (from: string, to: string): Promise<void> => {
    await redis.eval(copy, 1, prefix, json, from, to);
  };
  let taken = false;
  return {
    async take() {
      taken = true;
      await move(":", ":snapshot:");
    },
    async restore(empty) {
      jobs.lose();
      await move(taken && !empty ? ":snapshot:" : ":nothing:", ":");
    },
    async forget() {
      await redis.unlink(names.map((name) => `${prefix}:${name}`));
      if (taken) await redis.unlink(names.map((name) => `${prefix}:snapshot:${name}`));
    },
  };
}

function ledgerKeys(of: readonly string[]): readonly string[] {
  const fixed = [
    "control",
    "paused",
    "pauses",
    "limits",
    "workers",
    "waits",
    "ready",
    "dispatched",
    "leases",
    "parked",
    "throttled",
    "advertised",
    "advertisements",
    "assigned",
  ];
  const classes = ["change", "listing", "resync"];
  const flows = ["a/", "b/", `a/${account}`, `b/${account}`];
  return [
    ...fixed,
    ...classes.map((name) => `flows:${name}`),
    ...classes.flatMap((name) => flows.map((flow) => `queue:${name}:${flow}`)),
    ...of
      .slice(0, keys)
      .flatMap((key) => [`key:${key}`, `history:${key}`, `object:${key}`, `lists:${key}`, `deltas:${key}`]),
  ];
}
