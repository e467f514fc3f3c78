import { objectKey, type ObjectKey } from "@drover/controller";
import type { Bell } from "../bells.ts";
import type { Holding, Ledger, Taker } from "../ledger.ts";
import type { Verdict } from "../work-queue.ts";
import { keys, type RandomCall } from "./random-calls.ts";

/** Claims and jobs from earlier answers, the latest first. */
export interface Hands {
  readonly claims: Holding[];
  readonly bells: Bell[];
}

/** A call that can be made on any ledger. */
export interface PlayableCall {
  readonly text: string;
  readonly on: (ledger: Ledger) => Promise<unknown>;
  /** True if it calls the ledger twice. */
  readonly isTwo?: boolean;
  /** The lease that is held if the answer is a claim. */
  readonly holding?: Holding;
  /** The token of a key that the answer chains. */
  readonly next?: string;
}

const nowhere = objectKey({ name: "nowhere" });
const nobody: Holding = { key: nowhere, token: "nobody" };
const noBell: Bell = { key: nowhere, number: "1" };

/** Resolves the references of a random call, so that it can be made on a ledger. */
export function playable(random: RandomCall, { claims, bells }: Hands): PlayableCall {
  const claimed = (nth: number): Holding => claims[nth] ?? nobody;
  const rung = (nth: number): Bell => bells[nth] ?? noBell;
  const call = (on: (ledger: Ledger) => Promise<unknown>): PlayableCall => ({
    text: JSON.stringify(random),
    on,
  });
  switch (random.call) {
    case "claim":
      return claim(random, random.version);
    case "claim rung":
      return claim({ key: rung(random.nth).key, token: random.token }, random.version);
    case "claim again":
      return claim(claimed(random.nth), 0);
    case "renew":
      return renew(random.nths.map(claimed));
    case "renew unknown":
      return renew([{ key: random.key, token: random.token }]);
    case "settle":
      return settle(claimed(random.nth), random.verdict, random.trigger, random.next);
    case "settle unknown":
      return settle(random, random.verdict, "then");
    case "ring again":
      return ringAgain(rung(random.nth));
    case "offer":
      return call((ledger) => ledger.offer(random.offers));
    case "withdraw":
      return call((ledger) => ledger.withdraw(random.offers));
    case "wake":
      return call((ledger) => ledger.wake(random.wakes, random.force));
    case "ring":
      return call((ledger) => ledger.ring());
    case "wake listed":
      return { ...call((ledger) => wakeListed(ledger, random)), isTwo: true };
    case "unanswered":
      return call((ledger) => ledger.unanswered(random.patience));
    case "enlist":
      return call((ledger) => ledger.enlist(random.worker));
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

const claim = ({ key, token }: Holding, version: number): PlayableCall => ({
  text: `claim ${key} ${token} version ${version}`,
  on: (ledger) => ledger.claim(key, token, version),
  holding: { key, token },
});

async function wakeListed(
  ledger: Ledger,
  { wakes, ago }: Extract<RandomCall, { readonly call: "wake listed" }>,
): Promise<unknown> {
  const { era, at } = await ledger.moment();
  return ledger.wake(wakes.map((wake) => ({ ...wake, newestAfter: { era, at: at - ago } })));
}

const renew = (leases: readonly Holding[]): PlayableCall => ({
  text: `renew ${JSON.stringify(leases)}`,
  async on(ledger) {
    const { lost, announced } = await ledger.renew(leases); // each names its eras in its own way
    return { lost, announced };
  },
});

const settle = ({ key, token }: Holding, verdict: Verdict, trigger: string, next?: Taker): PlayableCall => ({
  text: `settle ${key} ${token} ${JSON.stringify(verdict)} next ${JSON.stringify(next)}`,
  on: (ledger) =>
    ledger.settle(key, token, verdict, { trigger: [trigger], duration: 1, verdict: verdict.kind }, next),
  ...(next && { next: next.token }),
});

const ringAgain = (bell: Bell): PlayableCall => ({
  text: `ring ${bell.number} of ${bell.key} again`,
  on: (ledger) => ledger.ringAgain(bell),
});

/** Adds the claims and jobs of an answer to `hands`. */
export function take(hands: Hands, { holding, next }: PlayableCall, answer: unknown): void {
  if (typeof answer !== "object" || answer === null) return;
  const handed: unknown = "handed" in answer ? answer.handed : undefined;
  if (next !== undefined && isKeyed(handed)) hands.claims.unshift({ key: handed.key, token: next });
  if ("claimed" in answer && holding) hands.claims.unshift(holding);
  const bells: unknown = "bells" in answer ? answer.bells : answer;
  if (Array.isArray(bells)) for (const each of bells) if (isBell(each)) hands.bells.unshift(each);
}

const isKeyed = (value: unknown): value is { readonly key: ObjectKey } =>
  typeof value === "object" && value !== null && "key" in value;
const isBell = (value: unknown): value is Bell => isKeyed(value) && "number" in value;
