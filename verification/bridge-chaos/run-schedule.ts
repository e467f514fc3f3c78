import type { Milliseconds } from "@drover/controller";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bridgeProcess, ourBridge } from "./bridge-process.ts";
import { observe } from "./observe.ts";
import { play } from "./play-steps.ts";
import type { DirectApi } from "./direct-api.ts";
import type { Fact, Observation, ObservedVersion } from "./oracle/facts.ts";
import type { Lane } from "./test-servers.ts";
import { type Outcome, outcomeOf } from "../harness/outcome.ts";
import type { Violation } from "../harness/report-violations.ts";
import { registrationFor } from "./kind.ts";
import { type Load, openLoad } from "./load.ts";
import { contradictions, type Oracle, violationOf } from "./oracle/oracle.ts";
import { type Proxy, startProxy } from "./proxy/proxy.ts";
import { earlyRequests } from "./oracle/early-requests.ts";
import { type Schedule, silentFaults, swallowing } from "./schedules/schedule.ts";

/** Without a byte for so long, a watch is taken for dead: a fault of silence is over then, not before. */
const silence: Milliseconds = 65_000;
/** How long a process may take to stop in order. */
const stopTimeout: Milliseconds = 15_000;
/** Often enough to heal what was swallowed within the patience. */
const compareEvery = "5s";

export interface RunOptions {
  readonly api: DirectApi;
  /** Leads straight to the API server. */
  readonly kubeconfig: string;
  readonly lane: Lane;
  /** I5's. Default: 30 s. */
  readonly patience?: Milliseconds;
  /** The main file of a bridge. Default: this repository's. */
  readonly program?: string;
}

/** Plays a schedule in a lane, and judges what happened. */
export async function runSchedule(schedule: Schedule, options: RunOptions): Promise<Outcome<Observation>> {
  const { api, kubeconfig, lane, patience = 30_000, program = ourBridge } = options;
  const folder = await mkdtemp(join(tmpdir(), "drover-chaos-bridge-"));
  await writeFile(join(folder, "schedule.json"), JSON.stringify(schedule, null, 2));
  const { kind } = lane;
  await lane.clean();
  const { linger, objects, pace } = schedule;
  const observed = await observe(api, lane, { linger, folder });
  const { log, oracle, controller, view } = observed;
  const proxy = await startProxy({ kubeconfig, path: kind.path, log, schedule });
  const registration = registrationFor(kind, controller, schedule.references);
  const bridge = bridgeProcess({
    log,
    program,
    folder,
    env: { ...(await bridgeSettings(folder, proxy, lane, registration)), ...comparing(schedule) },
    onStart: () => proxy.nextProcess(),
  });
  const load = openLoad({ api, kind, seed: schedule.load, objects, pace, references: schedule.references });
  const isAtRest = (): boolean => isSame(view, load.made) && oracle.unseenChanges().length === 0;
  const judged: Violation[] = [];
  try {
    await load.fill(schedule.initial);
    await play({ log, proxy, bridge, load, isAtRest }, schedule.steps);
    log.note({ fact: "faults over" });
    const silent: readonly string[] = silentFaults;
    const isSilent = schedule.steps.some((step) => silent.includes(step.do));
    const healing = patience + (isSilent ? silence : 0);
    await log.until(isAtRest, healing);
    judged.push(...verdict(oracle, view, load));
    if (judged.length === 0) {
      log.note({ fact: "at rest" });
      await load.touch(2);
      await log.until(isAtRest, healing);
      judged.push(...verdict(oracle, view, load));
    }
    if (!(await bridge.stop(stopTimeout)))
      judged.push({ rule: "I17", what: "the bridge did not stop after SIGTERM" });
  } finally {
    await bridge.kill();
    await proxy.close();
    await observed.close();
  }
  const { facts } = log;
  const found = [...contradictions(facts), ...earlyRequests(facts), ...crashes(facts)];
  return outcomeOf(folder, facts, [...judged, ...found]);
}

/** Changes that no run has seen. If the recorder has not seen all that was written, nothing is proved. */
function verdict(
  oracle: Oracle,
  view: ReadonlyMap<string, ObservedVersion>,
  { made }: Load,
): readonly Violation[] {
  if (isSame(view, made)) return oracle.unseenChanges().map(violationOf);
  return [{ rule: "HARNESS", what: "the recorder did not see all that was written" }];
}

const isSame = (view: ReadonlyMap<string, ObservedVersion>, made: Load["made"]): boolean =>
  view.size === made.size &&
  [...made].every(([key, { uid, version }]) => {
    const seen = view.get(key);
    return seen !== undefined && seen !== "gone" && seen.uid === uid && seen.version === version;
  });

const crashes = (facts: readonly Fact[]): readonly Violation[] =>
  facts.flatMap((fact) =>
    fact.fact === "bridge" && fact.what === "ended"
      ? [{ rule: "I17", what: `a bridge ended by itself: ${fact.how}` }]
      : [],
  );

/** The settings of a bridge that knows the API server by its proxy only. */
async function bridgeSettings(
  folder: string,
  { kubeconfig }: Proxy,
  { redisUrl }: Lane,
  registration: string,
) {
  const functions = join(folder, "functions");
  await mkdir(functions);
  await writeFile(join(functions, "widgets.yaml"), registration);
  const path = join(folder, "kubeconfig");
  await writeFile(path, kubeconfig(), { mode: 0o600 });
  return { DROVER_REDIS_URL: redisUrl, DROVER_KUBECONFIG: path, DROVER_FUNCTIONS: functions };
}

function comparing({ steps }: Schedule): Record<string, string> {
  return steps.some((step) => step.do === swallowing) ? { DROVER_COMPARE_EVERY: compareEvery } : {};
}
