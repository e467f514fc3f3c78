import { queueDisplayName, ReconcileFunction } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import {
  dataVersions,
  forgetSets,
  type QueueScripts,
  queueScripts,
  type RecordedSet,
  recordedSetExpiry,
  recordedSets,
  type RedisConnection,
  redisNow,
} from "@drover/queue";
import { absenceMessage } from "@drover/runtime";
import { contractVersion } from "@drover/webhook";
import { CommandError } from "../command-error.ts";
import { deployedFunctions } from "../deployed-functions.ts";
import { version as ownVersion } from "../package/version.ts";
import { type PartVersions, partVersions } from "../part-versions.ts";
import { shortDuration } from "../short-duration.ts";
import { table } from "../table.ts";

/** The versions that are in use. */
export interface MigrationState {
  /** Undefined if the user may not read Leases. */
  readonly parts: PartVersions | undefined;
  /** The namespace in which Drover is installed. */
  readonly namespace: string;
  /** The script sets that are recorded in this Redis. */
  readonly recorded: readonly RecordedSet[];
  readonly queues: readonly QueueScripts[];
  /** Redis' clock, ms. */
  readonly now: number;
}

export async function readState(
  client: KubeClient,
  redis: RedisConnection,
  namespace: string,
): Promise<MigrationState> {
  const functions = await deployedFunctions(client, undefined);
  const isCalled = functions.some(({ spec }) => spec?.delivery === "webhook");
  const parts = await partVersions(client, { namespace, isCalled });
  return {
    parts,
    namespace,
    recorded: await recordedSets(redis),
    queues: await queueScripts(redis),
    now: await redisNow(redis),
  };
}

/** The state as lines, and what `--finish` would do. */
export function describeState(state: MigrationState): readonly string[] {
  const { parts, recorded, queues, now } = state;
  const { ledger, index } = dataVersions;
  const own = `ledger ${ledger}, index ${index}, contract ${contractVersion}, kinds ${ReconcileFunction.version}`;
  const unrecorded = queues.filter(({ sets }) =>
    sets.every((set) => recorded.every(({ name }) => name !== set)),
  );
  const obstacles = obstaclesOf(state);
  const removed = obstacles.length === 0 ? otherSets(state) : [];
  return [
    `This command is of Drover ${ownVersion}: ${own}`,
    "",
    ...(parts?.running.map(({ part, version }) => `${part} ${version}`) ?? []),
    ...table(
      ["SCRIPTS", "VERSION", "RENEWED", "FUNCTIONS"],
      recorded.map((set) => [
        shortName(set),
        set.version,
        shortDuration(now - set.renewedAt),
        queues
          .filter(({ sets }) => sets.includes(set.name))
          .map(({ queue }) => queueDisplayName(queue))
          .join(", "),
      ]),
    ),
    ...unrecorded.map(({ queue }) => `${queueDisplayName(queue)}: its scripts are not recorded`),
    "",
    ...obstacles.map((one) => `--finish refuses: ${one}`),
    ...(obstacles.length > 0
      ? []
      : removed.length === 0
        ? ["--finish has nothing to do."]
        : [`--finish would remove ${removed.map(describeSet).join(", ")}.`]),
  ];
}

/**
 * Removes the sets of versions that nothing uses any more from the record.
 * @throws CommandError while anything of another version is in use.
 */
export async function finishMigration(
  redis: RedisConnection,
  state: MigrationState,
): Promise<readonly string[]> {
  const obstacles = obstaclesOf(state);
  if (obstacles.length > 0)
    throw new CommandError(["The update is not finished:", ...obstacles.map((one) => `  ${one}`)].join("\n"));
  const others = otherSets(state);
  await forgetSets(redis, others);
  return others.length === 0
    ? ["Nothing to finish: only the scripts of the present version are recorded."]
    : others.map((set) => `Removed ${describeSet(set)}.`);
}

const isRenewed = ({ now }: MigrationState, { renewedAt }: RecordedSet): boolean =>
  now - renewedAt < recordedSetExpiry;

/** The sets that no bridge and no deployer renews. */
const otherSets = (state: MigrationState): readonly RecordedSet[] =>
  state.recorded.filter((set) => !isRenewed(state, set));

const shortName = ({ name }: RecordedSet): string => name.slice(0, 8);
const describeSet = (set: RecordedSet): string => `the scripts of ${set.version} (${shortName(set)})`;

/** Why the update is not finished, a sentence each with what to do. */
const obstaclesOf = (state: MigrationState): readonly string[] => [
  ...partObstacles(state),
  ...setObstacles(state),
];

function partObstacles({ parts, namespace }: MigrationState): readonly string[] {
  if (parts === undefined) {
    return [
      `You may not read Leases in the namespace ${namespace}, so it is not known which parts run. Get that permission.`,
    ];
  }
  const { absent, running } = parts;
  const versions = new Set(running.map(({ version }) => version));
  const named = running.map(({ part, version }) => `${part} ${version}`).join(", ");
  return [
    ...absent.map(absenceMessage),
    ...(versions.size > 1
      ? [`The parts run in different versions: ${named}. Update them: helm upgrade.`]
      : []),
    ...(versions.size === 1 && !versions.has(ownVersion)
      ? [
          `This command is ${ownVersion}, and the parts are ${[...versions].join()}. Use the drover of that version.`,
        ]
      : []),
  ];
}

function setObstacles(state: MigrationState): readonly string[] {
  const [present, ...others] = state.recorded.filter((set) => isRenewed(state, set));
  if (present === undefined) {
    return [
      "No bridge and no deployer has recorded its scripts in this Redis within three minutes. See their logs, and give the " +
        "Redis that they use with --redis.",
    ];
  }
  if (others.length > 0) {
    return [
      `Bridges or deployers with ${[present, ...others].map(describeSet).join(" and ")} have run within three minutes. ` +
        "If all are updated now, try again in three minutes.",
    ];
  }
  return state.queues.flatMap(({ queue, sets }) => {
    const needed = sets.filter((set) => set !== present.name);
    if (sets.length > 0 && needed.length === 0) return [];
    const name = queueDisplayName(queue);
    if (sets.length === 0)
      return [
        `${name} last ran in a version that does not state its scripts. Update its image, and let it run.`,
      ];
    const versions = needed.map((one) => {
      const known = state.recorded.find((set) => set.name === one);
      return known === undefined ? `scripts that are not recorded (${one.slice(0, 8)})` : describeSet(known);
    });
    return [`${name} needs ${versions.join(" and ")}. Update its image, and let it run.`];
  });
}
