import {
  type Condition,
  messageOf,
  readyCondition,
  RetryAfterError,
  stalledCondition,
  TerminalError,
} from "@drover/controller";
import {
  differenceCondition,
  type Differences,
  settingDifferences,
  tagDifferences,
  wantedTags,
} from "./differences.ts";
import {
  accountOf,
  externalOutcome,
  type ExternalResult,
  recordOf,
  type SettingsRecord,
  statusOf,
} from "./external-outcome.ts";
import type { ExternalPort, PresentResource } from "./external-port.ts";
import { externalRun, type ExternalRun, titleOf } from "./external-run.ts";
import type { ExternalContext } from "./external-spec.ts";
import { observeOnly } from "./observe-only.ts";
import { type Claim, claimResource, confirmClaim, rejectForeignTags } from "./ownership/claim-resource.ts";
import { intentToCreate, mayAppearFor, mayCreate } from "./ownership/creation-intent.ts";
import { determineOwnership } from "./ownership/ownership.ts";
import { sameTags, type Tags } from "./ownership/tags.ts";
import { writeOutputs } from "./outputs.ts";
import { applySettings, isSettling, refusedItems, writtenAfter } from "./settings/apply-settings.ts";
import { itemsToAdd, partsIn, planSettings, type WrittenItems } from "./settings/plan-settings.ts";
import { throttlingAccount, TooManyRequestsError } from "./throttle.ts";

/**
 * Observes a resource, creates it if it does not exist, and makes it as the spec asks. If it is so already, the run only
 * reads. Nothing is changed before this very run has seen that the object owns the resource.
 *
 * A run that finds differences reports them first: the next one, which follows at once, writes. So no drift disappears
 * before it can be seen, and the status has every setting that Drover may have written before it is written.
 */
export async function reconcileExternal<Seen extends PresentResource, Details extends object>(
  context: ExternalContext,
  port: ExternalPort<Seen, Details>,
): Promise<ExternalResult<Details>> {
  const run = externalRun(context, port);
  rejectInvalidName(run);
  return throttlingAccount(port, () =>
    context.spec.manage === "ObserveOnly" ? observeOnly(run) : createOrUpdate(run),
  );
}

async function createOrUpdate<Seen extends PresentResource, Details extends object>(
  run: ExternalRun<Seen, Details>,
): Promise<ExternalResult<Details>> {
  const { port } = run;
  await rejectRename(run);
  const first = await port.observe(port.name);
  if (first.state === "denied") throw first.error;
  if (first.state === "absent" && !mayCreate(run.recorded.creating, port.name, first.at)) {
    return announceCreation(run, first.at);
  }
  const seen = first.state === "absent" ? await create(run) : first;
  if ("outcome" in seen) return withdrawCreation(run, seen.error);
  return update(run, seen);
}

async function update<Seen extends PresentResource, Details extends object>(
  run: ExternalRun<Seen, Details>,
  seen: Seen,
): Promise<ExternalResult<Details>> {
  const { context, port } = run;
  const claim = await claimResource(run, seen);
  await port.rejectImmutable(seen);
  if (claim.by !== "tag") {
    await tag(run, seen);
    await confirmClaim(run, seen.name);
  }
  const { written = {}, changing = [], refused = [] } = context.status;
  const plans = await planSettings(port.settings(seen), written);
  const isAnnounced = (path: string): boolean =>
    run.recorded.creating?.name === seen.name || changing.includes(path);
  const isReported = (path: string): boolean => isAnnounced(path) || refused.includes(path);
  const tags = claim.by === "tag" ? tagDifferences(run, seen.tags) : new Map<string, string>();
  const differences = new Map([
    ...tags,
    ...settingDifferences(plans.filter(({ setting }) => !setting.followsObjects)),
  ]);
  if (![...differences.keys()].every(isReported)) {
    const added = Object.assign({}, ...plans.map((plan) => plan.added)) as WrittenItems;
    const drifted = [...tags.keys(), ...plans.flatMap((plan) => plan.drifted ?? [])];
    const isDrift = drifted.some((path) => !isReported(path));
    return announceChanges(run, seen, claim, { differences, isDrift, added });
  }
  if (claim.by === "tag") await tag(run, seen);
  const reports = await applySettings(plans, () => context.guard.beforeWrite());
  const record: SettingsRecord = {
    written: writtenAfter(plans, reports, written, isAnnounced),
    refused: refusedItems(plans, reports),
  };
  const settling = isSettling(plans, reports, written);
  const outputs = await writeOutputs(run, port.outputs(seen));
  return externalOutcome(run, seen, claim, {
    reports: [...reports, ...outputs],
    record,
    isSettling: settling,
  });
}

/** The result of a run that has found differences, which the next run corrects. */
function announceChanges<Seen extends PresentResource, Details extends object>(
  run: ExternalRun<Seen, Details>,
  seen: Seen,
  claim: Claim,
  {
    differences,
    isDrift,
    added,
  }: { readonly differences: Differences; readonly isDrift: boolean; readonly added: WrittenItems },
): ExternalResult<Details> {
  const { context, recorded } = run;
  const { status, metadata } = context;
  const record: SettingsRecord = {
    written: { ...added, ...status.written },
    refused: (status.refused ?? []).filter((path) => differences.has(path)),
  };
  const createdAt = claim.createdAt ?? recorded.createdAt;
  const wasAsAsked = recorded.name === seen.name && status.observedGeneration === metadata.generation;
  return {
    status: {
      ...statusOf(run, seen, { claim, createdAt, record }),
      ...(status.outputs !== undefined && { outputs: status.outputs }),
      changing: [...differences.keys()],
    },
    requeueAfter: "1ms",
    ...accountOf(run),
    conditions: [
      differenceCondition(run, seen.name, differences, {
        reason: isDrift && wasAsAsked ? "Drifted" : "Updating",
        then: "It is changed now.",
      }),
    ],
  };
}

function rejectInvalidName({ port }: ExternalRun<PresentResource>): void {
  const { name, words, isNameDefault } = port;
  const problem = port.nameProblem(name);
  if (problem === undefined) return;
  const source = isNameDefault ? ", made of the namespace and the name of this object," : "";
  throw new TerminalError(
    `${JSON.stringify(name)}${source} cannot be a ${words.noun}'s name. ${problem} Set ${words.nameField}.`,
    { reason: "InvalidName" },
  );
}

/** A resource cannot be renamed. The one with the former name must not be lost, also if it is only being created. */
async function rejectRename<Seen extends PresentResource>(run: ExternalRun<Seen>): Promise<void> {
  const { port, owner, recorded } = run;
  const { noun, kind, nameField } = port.words;
  const former = recorded.name ?? recorded.creating?.name;
  if (former === undefined || former === port.name) return;
  const immutable = new TerminalError(
    `The ${noun} of this object is ${former}, and a ${noun} cannot be renamed. ` +
      `Set ${nameField} back to ${former}, or make another ${kind} object for ${port.name}.`,
    { reason: "NameImmutable" },
  );
  if (recorded.name !== undefined) throw immutable;
  const seen = await port.observe(former);
  if (seen.state === "denied") throw seen.error;
  if (seen.state === "present") {
    if ((await determineOwnership(port, seen, owner, recorded)).whose === "ours") throw immutable;
    return;
  }
  const rest = mayAppearFor(recorded.creating, former, seen.at);
  if (rest === 0) return;
  throw new RetryAfterError(
    `${titleOf(run, former)}, the former name, may still be created by an earlier run.`,
    { after: `${rest}ms`, reason: "CreationPending" },
  );
}

/**
 * The result of the run before the one that creates a resource: see `ownership.ts`. Ready is Unknown: nothing is wrong.
 */
function announceCreation<Seen extends PresentResource, Details extends object>(
  run: ExternalRun<Seen, Details>,
  at: Date,
): ExternalResult<Details> {
  const { context, port, recorded } = run;
  if (recorded.name === port.name) {
    context.log.warn(
      { [port.words.noun]: port.name },
      `${titleOf(run, port.name)} is gone; it is created again.`,
    );
  }
  const message = `${titleOf(run, port.name)} is about to be made.`;
  const settings = port.settings(undefined);
  const written = { ...itemsToAdd(settings), ...partsIn(context.status.written ?? {}, settings) };
  return {
    status: {
      creating: intentToCreate(port.name, at, recorded.creating),
      ...recordOf({ written, refused: [] }),
    },
    requeueAfter: "1ms",
    ...accountOf(run),
    conditions: [{ type: readyCondition, status: "Unknown", reason: "Creating", message }],
  };
}

async function create<Seen extends PresentResource>(
  run: ExternalRun<Seen>,
): Promise<Seen | { readonly outcome: "refused"; readonly error: Error }> {
  const { context, port } = run;
  const { name } = port;
  context.guard.beforeWrite();
  const answer = await port.create(wantedTags(run, new Map()));
  if (answer.outcome === "refused") {
    if (answer.error instanceof TooManyRequestsError) throw answer.error;
    return answer;
  }
  context.log.info({ [port.words.noun]: name, outcome: answer.outcome }, `${titleOf(run, name)} created.`);
  const seen = await port.observe(name);
  if (seen.state === "present") return seen;
  if (answer.outcome === "exists" && answer.error !== undefined) {
    return { outcome: "refused", error: answer.error };
  }
  if (seen.state === "denied") throw seen.error;
  throw new RetryAfterError(`${titleOf(run, name)} was made and cannot be seen yet.`, {
    after: "1s",
    reason: "Creating",
  });
}

/**
 * Nothing was created, so the intent is withdrawn. Otherwise a resource that a user creates by hand, because the
 * function may not, would be taken for ours. An error cannot carry a status, so this is a result with the same reason
 * and message. A refusal that lasts is tried again at every poll: the name may become free.
 */
function withdrawCreation<Seen extends PresentResource, Details extends object>(
  run: ExternalRun<Seen, Details>,
  error: Error,
): ExternalResult<Details> {
  const wait = error instanceof RetryAfterError ? error.after : run.context.spec.pollInterval;
  const reason = error instanceof RetryAfterError || error instanceof TerminalError ? error.reason : "Failed";
  const refused: Condition = { type: readyCondition, status: "False", reason, message: messageOf(error) };
  const stalled =
    error instanceof TerminalError ? [{ ...refused, type: stalledCondition, status: "True" as const }] : [];
  const { written = {} } = run.context.status;
  return {
    status: recordOf({ written: partsIn(written, run.port.settings(undefined)), refused: [] }),
    requeueAfter: wait,
    ...accountOf(run),
    conditions: [refused, ...stalled],
  };
}

/** Writes the tags and the owner's marks, unless the resource has them. */
async function tag<Seen extends PresentResource>(run: ExternalRun<Seen>, seen: Seen): Promise<void> {
  const { context, port } = run;
  if (sameTags(seen.tags, checkedTags(run, seen.tags))) return;
  context.guard.beforeWrite();
  await port.retag(seen, (current) => {
    rejectForeignTags(run, seen.name, current);
    return checkedTags(run, current);
  });
  context.log.info({ [port.words.noun]: seen.name }, `${titleOf(run, seen.name)} tagged.`);
}

/** @throws RetryAfterError `TooManyTags` if the server would refuse them. */
function checkedTags(run: ExternalRun<PresentResource>, current: Tags): Tags {
  const { context, port } = run;
  const wanted = wantedTags(run, current);
  if (wanted.size <= port.maxTags) return wanted;
  throw new RetryAfterError(
    `${titleOf(run, port.name)} would have ${wanted.size} tags, with those of others, and the server takes ${port.maxTags}. ` +
      `Take some out of spec.tags or off the ${port.words.noun}.`,
    { after: context.spec.pollInterval, reason: "TooManyTags" },
  );
}
