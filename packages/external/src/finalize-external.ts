import { RetryAfterError } from "@drover/controller";
import type { DeniedResource, ExternalPort, PresentResource } from "./external-port.ts";
import { externalRun, type ExternalRun, titleOf } from "./external-run.ts";
import type { ExternalContext } from "./external-spec.ts";
import { mayAppearFor } from "./ownership/creation-intent.ts";
import { determineOwnership, ownershipByTags, removalTags } from "./ownership/ownership.ts";
import { sameTags, type Tags, withoutMarks } from "./ownership/tags.ts";
import { removeParts } from "./settings/apply-settings.ts";
import { throttlingAccount } from "./throttle.ts";

/**
 * Releases or deletes the resource of an object that is being deleted. A resource that is not the object's is left
 * alone, and does not delay the deletion of the object.
 *
 * @param open opens the port. If a namespace is deleted, the Secret with credentials is often gone before the object. To
 *   keep a resource takes no credentials, so an object with `onDelete: Retain` does not wait for them: if `open` throws
 *   a RetryAfterError, Drover's tags stay on the resource.
 * @throws ThrottledError if the server asks for fewer requests.
 * @throws RetryAfterError while the resource cannot be deleted yet, is being deleted, or may still be created.
 */
export async function finalizeExternal<Seen extends PresentResource>(
  context: ExternalContext,
  open: () => Promise<ExternalPort<Seen>>,
): Promise<void> {
  // Nothing is written to it, so marks from an earlier spec with `manage: Full` stay.
  if (context.spec.manage === "ObserveOnly") return;
  const port = await openToFinish(context, open);
  if (port === undefined) return;
  const run = externalRun(context, port);
  // All names under which a resource of this object may have been created. For each, the owner is checked.
  const names = new Set([run.recorded.name, run.recorded.creating?.name, port.name]);
  await throttlingAccount(port, async () => {
    for (const name of names) {
      if (name !== undefined && port.nameProblem(name) === undefined) await finish(run, name);
    }
    if (context.spec.onDelete === "Delete") await removeAllParts(run);
  });
}

/** Also if the resource is gone already: its parts were recorded before they were created. */
async function removeAllParts<Seen extends PresentResource>(run: ExternalRun<Seen>): Promise<void> {
  const { context, port } = run;
  const settings = port.settings(undefined);
  const refusal = await removeParts(settings, context.status.written ?? {}, () =>
    context.guard.beforeWrite(),
  );
  if (refusal === undefined) return;
  throw new RetryAfterError(refusal.message, { after: "10s", reason: refusal.reason });
}

async function openToFinish<Seen extends PresentResource>(
  context: ExternalContext,
  open: () => Promise<ExternalPort<Seen>>,
): Promise<ExternalPort<Seen> | undefined> {
  try {
    return await open();
  } catch (error) {
    if (context.spec.onDelete !== "Retain" || !(error instanceof RetryAfterError)) throw error;
    context.log.warn(
      { reason: error.reason },
      "No credentials to take Drover's tags off the resource; it is kept with them.",
    );
    return undefined;
  }
}

async function finish<Seen extends PresentResource>(run: ExternalRun<Seen>, name: string): Promise<void> {
  const { context, port, owner, recorded } = run;
  const seen = await port.observe(name);
  if (seen.state === "absent") {
    waitForLateCreation(run, name, seen.at);
    return;
  }
  if (seen.state === "denied") return expectAnotherAccounts(run, name, seen);
  const answer = await determineOwnership(port, seen, owner, recorded);
  if (answer.whose !== "ours") {
    context.log.info(
      { [port.words.noun]: name, ...answer },
      `${titleOf(run, name)} left alone: it is not this object's.`,
    );
    return;
  }
  switch (context.spec.onDelete) {
    case "Retain":
      return release(run, seen);
    case "Delete":
      return destroy(run, seen);
  }
}

/**
 * A name that another account has must not delay the deletion of the object. A resource that was the object's must, if
 * the credentials may not touch it any more.
 */
async function expectAnotherAccounts(
  run: ExternalRun<PresentResource>,
  name: string,
  { error }: DeniedResource,
): Promise<void> {
  const { context, port, recorded } = run;
  const had = recorded.name === name || recorded.creating?.name === name;
  if (had || (await port.listing(name)).state !== "not-listed") throw error;
  context.log.info({ [port.words.noun]: name }, `${titleOf(run, name)} left alone: it is another account's.`);
}

/** An interrupted run may have requested a resource that the server has not created yet. */
function waitForLateCreation(run: ExternalRun<PresentResource>, name: string, at: Date): void {
  const rest = mayAppearFor(run.recorded.creating, name, at);
  if (rest === 0) return;
  throw new RetryAfterError(`${titleOf(run, name)} may still be created by an earlier run.`, {
    after: `${rest}ms`,
    reason: "CreationPending",
  });
}

async function release<Seen extends PresentResource>(run: ExternalRun<Seen>, seen: Seen): Promise<void> {
  await retag(run, seen, withoutMarks(seen.tags), withoutMarks);
  run.context.log.info(
    { [run.port.words.noun]: seen.name },
    `${titleOf(run, seen.name)} retained, without Drover's marks.`,
  );
}

async function destroy<Seen extends PresentResource>(run: ExternalRun<Seen>, seen: Seen): Promise<void> {
  const { context, port, owner } = run;
  await port.rejectDeletion(seen);
  const marks = removalTags(owner);
  await retag(run, seen, marks, () => marks);
  if (port.clear !== undefined) {
    if (!(await isStillOwned(run, seen.name))) return;
    context.guard.beforeWrite();
    await port.clear(seen);
  }
  if (!(await isStillOwned(run, seen.name))) return;
  context.guard.beforeWrite();
  if ((await port.delete(seen)) === "pending") {
    throw new RetryAfterError(`${titleOf(run, seen.name)} is being deleted.`, {
      after: "5s",
      reason: "Deleting",
    });
  }
  context.log.info({ [port.words.noun]: seen.name }, `${titleOf(run, seen.name)} deleted.`);
}

/** Changes the tags, unless they are so already, or another owner's by now. */
async function retag<Seen extends PresentResource>(
  { context, port, owner }: ExternalRun<Seen>,
  seen: Seen,
  wanted: Tags,
  change: (current: Tags) => Tags,
): Promise<void> {
  if (sameTags(seen.tags, wanted)) return;
  context.guard.beforeWrite();
  await port.retag(seen, (current) =>
    ownershipByTags(current, owner).whose === "anothers" ? current : change(current),
  );
}

/** Checks the owner just before something is deleted. */
async function isStillOwned(run: ExternalRun<PresentResource>, name: string): Promise<boolean> {
  const { context, port, owner } = run;
  const seen = await port.observe(name);
  if (seen.state === "denied") throw seen.error;
  if (seen.state === "absent") return false;
  if (ownershipByTags(seen.tags, owner).whose === "ours") return true;
  context.log.warn(
    { [port.words.noun]: name },
    `${titleOf(run, name)} left alone: another owner took it over before it was deleted.`,
  );
  return false;
}
