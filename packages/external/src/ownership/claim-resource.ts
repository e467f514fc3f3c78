import { RetryAfterError } from "@drover/controller";
import type { PresentResource } from "../external-port.ts";
import { type ExternalRun, titleOf } from "../external-run.ts";
import { determineOwnership, mayAdopt, ownershipByTags } from "./ownership.ts";
import type { Tags } from "./tags.ts";

/** The object has the resource, or may take it. */
export interface Claim {
  /** Why: its tag names the object, the object's status identifies it, or it has no owner and may be adopted. */
  readonly by: "tag" | "memory" | "adoption";
  readonly adopted: boolean;
  readonly createdAt?: string | undefined;
}

/** @throws RetryAfterError `NotOwned` if the object must not touch the resource. It may be deleted or released later. */
export async function claimResource<Seen extends PresentResource>(
  run: ExternalRun<Seen>,
  seen: Seen,
): Promise<Claim> {
  const { context, port, owner, recorded } = run;
  const answer = await determineOwnership(port, seen, owner, recorded);
  switch (answer.whose) {
    case "ours":
      return {
        by: answer.by,
        adopted: wasAdopted(run, seen.name),
        createdAt: answer.createdAt?.toISOString(),
      };
    case "anothers":
      throw ownedByAnother(run, seen.name, answer.owner);
    case "nobodys":
      await refuseAdoption(run, seen);
      context.log.info({ [port.words.noun]: seen.name }, `${titleOf(run, seen.name)} is to be adopted.`);
      return { by: "adoption", adopted: true };
  }
}

/**
 * True if the resource existed before the object had it. A run may have tagged it and died before it wrote the status.
 * If the resource had been created for the object, the status would contain the intent.
 */
function wasAdopted({ context, recorded }: ExternalRun<PresentResource>, name: string): boolean {
  if (recorded.name === name) return context.status.adopted === true;
  return recorded.creating?.name !== name;
}

/**
 * Checks the owner again before the settings of a newly tagged resource are changed: two objects may have tagged it at
 * the same time, and the tags show which one has it.
 */
export async function confirmClaim(run: ExternalRun<PresentResource>, name: string): Promise<void> {
  const seen = await run.port.observe(name);
  if (seen.state === "denied") throw seen.error;
  if (seen.state === "present") rejectForeignTags(run, name, seen.tags);
  if (seen.state === "present" && ownershipByTags(seen.tags, run.owner).whose === "ours") return;
  throw new RetryAfterError(
    `The owner of ${run.port.words.noun} ${name} was written and cannot be read yet. It is read again every second; if this lasts, ` +
      `check that the credentials may read the ${run.port.words.noun}'s tags.`,
    { after: "1s", reason: "OwnerNotVisible" },
  );
}

/** @throws RetryAfterError `NotOwned` if another object has the resource according to its tags. */
export function rejectForeignTags(run: ExternalRun<PresentResource>, name: string, tags: Tags): void {
  const answer = ownershipByTags(tags, run.owner);
  if (answer.whose === "anothers") throw ownedByAnother(run, name, answer.owner);
}

const ownedByAnother = (run: ExternalRun<PresentResource>, name: string, owner: string): Error =>
  notOwned(run, name, `it belongs to another ${run.port.words.kind} object (${owner})`, [
    `Choose another ${run.port.words.nameField}, or delete that object with onDelete: Retain.`,
    `If it is gone for good, take the tag drover.dev/owner-uid off the ${run.port.words.noun}.`,
  ]);

async function refuseAdoption(run: ExternalRun<PresentResource>, seen: PresentResource): Promise<void> {
  const { words } = run.port;
  const rename = `Choose another ${words.nameField}`;
  const refuse = (why: string, help: string): Error => notOwned(run, seen.name, why, [help]);
  if (run.context.spec.adopt === "Never") {
    throw refuse("it was not made for this object", `${rename}, or set spec.adopt to IfUnowned to take it.`);
  }
  switch (await mayAdopt(run.port, seen)) {
    case "yes":
      return;
    case "another-account":
      throw refuse("it belongs to another account", `${rename}.`);
    case "unknown-account":
      throw refuse(
        `these credentials may not list the account's ${words.noun}s, so its account is not known`,
        `Allow ${words.listPermission}, or set spec.accountId.`,
      );
    case "being-removed":
      throw refuse(`another ${words.kind} object is deleting it`, `Wait, or ${rename.toLowerCase()}.`);
  }
}

const notOwned = (
  run: ExternalRun<PresentResource>,
  name: string,
  why: string,
  help: readonly string[],
): Error =>
  new RetryAfterError(`${titleOf(run, name)} is left alone: ${why}. ${help.join(" ")}`, {
    after: run.context.spec.pollInterval,
    reason: "NotOwned",
  });
