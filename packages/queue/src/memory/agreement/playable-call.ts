import { objectKey, type ObjectKey } from "@drover/controller";
import type { ClaimJob } from "../../worker/job-queue.ts";
import type { HeldLease, Ledger, SlotRequest } from "../../ledger/ledger.ts";
import type { RunOutcome } from "../../work-queue/work-queue.ts";
import { keys, type RandomCall } from "./random-calls.ts";

/** Claims and jobs from earlier answers, the latest first. */
export interface EarlierAnswers {
  readonly claims: HeldLease[];
  readonly jobs: ClaimJob[];
}

/** A call that can be made on any ledger. */
export interface PlayableCall {
  readonly text: string;
  readonly perform: (ledger: Ledger) => Promise<unknown>;
  /** True if it calls the ledger twice. */
  readonly callsTwice?: boolean;
  /** The lease that is held if the answer is a claim. */
  readonly heldLease?: HeldLease;
  /** The token of a key that the answer chains. */
  readonly next?: string;
}

const nowhere = objectKey({ name: "nowhere" });
const nobody: HeldLease = { key: nowhere, token: "nobody" };
const noJob: ClaimJob = { key: nowhere, number: "1" };

/** Resolves the references of a random call, so that it can be made on a ledger. */
export function playable(random: RandomCall, { claims, jobs }: EarlierAnswers): PlayableCall {
  const leaseAt = (nth: number): HeldLease => claims[nth] ?? nobody;
  const jobAt = (nth: number): ClaimJob => jobs[nth] ?? noJob;
  const call = (perform: (ledger: Ledger) => Promise<unknown>): PlayableCall => ({
    text: JSON.stringify(random),
    perform,
  });
  switch (random.call) {
    case "claim":
      return claim(random, random.version);
    case "claim job":
      return claim({ key: jobAt(random.nth).key, token: random.token }, random.version);
    case "claim again":
      return claim(leaseAt(random.nth), 0);
    case "renew":
      return renew(random.nths.map(leaseAt));
    case "renew unknown":
      return renew([{ key: random.key, token: random.token }]);
    case "settle":
      return settle(leaseAt(random.nth), random.outcome, random.trigger, random.next);
    case "settle unknown":
      return settle(random, random.outcome, "then");
    case "dispatch again":
      return dispatchAgain(jobAt(random.nth));
    case "advertise":
      return call((ledger) => ledger.advertise(random.slots));
    case "retract":
      return call((ledger) => ledger.retract(random.slots));
    case "wake":
      return call((ledger) => ledger.wake(random.wakes, random.force));
    case "dispatch":
      return call((ledger) => ledger.dispatch());
    case "wake listed":
      return { ...call((ledger) => wakeListed(ledger, random)), callsTwice: true };
    case "unclaimed jobs":
      return call((ledger) => ledger.unclaimedJobs(random.minAge));
    case "register worker":
      return call((ledger) => ledger.registerWorker(random.worker));
    case "pause":
      return call((ledger) => ledger.pause(random.scope, random.call));
    case "resume":
      return call((ledger) => ledger.resume(random.scope));
    case "count":
      return call((ledger) => ledger.count());
    case "not run since":
      return call((ledger) => ledger.notRunSince(keys, random.since));
    case "list":
      return call((ledger) => ledger.list(random.state, random.limit, random.after));
    case "inspect":
      return call((ledger) => ledger.inspect(random.key));
  }
}

const claim = ({ key, token }: HeldLease, version: number): PlayableCall => ({
  text: `claim ${key} ${token} version ${version}`,
  perform: (ledger) => ledger.claim(key, token, version),
  heldLease: { key, token },
});

async function wakeListed(
  ledger: Ledger,
  { wakes, ago }: Extract<RandomCall, { readonly call: "wake listed" }>,
): Promise<unknown> {
  const { incarnation: incarnation, at } = await ledger.time();
  return ledger.wake(wakes.map((wake) => ({ ...wake, newestAfter: { incarnation, at: at - ago } })));
}

const renew = (leases: readonly HeldLease[]): PlayableCall => ({
  text: `renew ${JSON.stringify(leases)}`,
  async perform(ledger) {
    const { lost, announced } = await ledger.renew(leases); // each names its incarnations in its own way
    return { lost, announced };
  },
});

const settle = (
  { key, token }: HeldLease,
  outcome: RunOutcome,
  trigger: string,
  next?: SlotRequest,
): PlayableCall => ({
  text: `settle ${key} ${token} ${JSON.stringify(outcome)} next ${JSON.stringify(next)}`,
  perform: (ledger) =>
    ledger.settle(key, token, outcome, { trigger: [trigger], duration: 1, verdict: outcome.kind }, next),
  ...(next && { next: next.token }),
});

const dispatchAgain = (job: ClaimJob): PlayableCall => ({
  text: `dispatch ${job.number} of ${job.key} again`,
  perform: (ledger) => ledger.dispatchAgain(job),
});

/** Adds the claims and jobs of an answer to `earlier`. */
export function collectAnswer(
  earlier: EarlierAnswers,
  { heldLease, next }: PlayableCall,
  answer: unknown,
): void {
  if (typeof answer !== "object" || answer === null) return;
  const chained: unknown = "chained" in answer ? answer.chained : undefined;
  if (next !== undefined && isKeyed(chained)) earlier.claims.unshift({ key: chained.key, token: next });
  if ("claimed" in answer && heldLease) earlier.claims.unshift(heldLease);
  const jobs: unknown = "jobs" in answer ? answer.jobs : answer;
  if (Array.isArray(jobs)) for (const each of jobs) if (isJob(each)) earlier.jobs.unshift(each);
}

const isKeyed = (value: unknown): value is { readonly key: ObjectKey } =>
  typeof value === "object" && value !== null && "key" in value;
const isJob = (value: unknown): value is ClaimJob => isKeyed(value) && "number" in value;
