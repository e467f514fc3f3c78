import { type ProxiedCall, nameIn } from "../calls/proxied-call.ts";
import type { EventFault, FaultDecider, WatchedEvent } from "./faults.ts";
import { mayBeStale } from "../calls/may-be-stale.ts";
import {
  type CallRule,
  type EventRule,
  type FaultPlan,
  type FaultRule,
  type SeededPlan,
  type RuleCondition,
  writtenRule,
} from "./fault-plan.ts";
import { pseudoRandom } from "@drover/random";
import { randomCallFault, randomEventFault } from "./random-faults.ts";
import { parseEventObject } from "../calls/call-record.ts";

/** A decider that follows a plan. */
export interface FaultPlanDecider extends FaultDecider {
  readonly ofEvent: (event: WatchedEvent, call: ProxiedCall) => EventFault | undefined;
  /** The rules that have caused no fault yet, as written in the plan. */
  unusedRules(): readonly object[];
  /**
   * A plan that causes the same faults again for the same calls: its own rules, or as rules the faults that a seed has
   * chosen so far.
   */
  replayPlan(): object;
}

export const faultPlanDecider = (plan: FaultPlan): FaultPlanDecider =>
  "seed" in plan ? bySeed(plan) : byRules(plan.rules);

interface Counted<Of extends FaultRule> {
  readonly rule: Of;
  /** Calls or events that match it, without regard to its numbers. */
  seen: number;
  met: number;
}
const counted = <Of extends FaultRule>(rule: Of): Counted<Of> => ({ rule, seen: 0, met: 0 });

function byRules(rules: readonly FaultRule[]): FaultPlanDecider {
  const ofCalls = rules.flatMap((rule) => (rule.of === "call" ? [counted(rule)] : []));
  const ofEvents = rules.flatMap((rule) => (rule.of === "event" ? [counted(rule)] : []));
  return {
    ofCall: (call) => firstDue(ofCalls.filter(({ rule }) => isForCall(rule, call)))?.fault,
    ofEvent: (event, call) => firstDue(ofEvents.filter(({ rule }) => isForEvent(rule, event, call)))?.fault,
    unusedRules: () =>
      [...ofCalls, ...ofEvents].filter(({ met }) => met === 0).map(({ rule }) => writtenRule(rule)),
    replayPlan: () => ({ rules: rules.map(writtenRule) }),
  };
}

/** All matching rules count the call or event; the first one that is due applies. */
function firstDue<Of extends FaultRule>(matching: readonly Counted<Of>[]): Of | undefined {
  for (const each of matching) each.seen++;
  const due = matching.find(isDue);
  if (due !== undefined) due.met++;
  return due?.rule;
}

function isDue({ rule, seen, met }: Counted<FaultRule>): boolean {
  const { nth = seen, from = 1, to = Infinity, everyNth = 1 } = rule.when;
  const isItsTurn = seen === nth && seen >= from && seen <= to && (seen - from + 1) % everyNth === 0;
  return isItsTurn && met < (rule.times ?? Infinity);
}

function isForCall({ when, fault, quorum }: CallRule, call: ProxiedCall): boolean {
  if (!isAbout(when, call) || !isOneOf(when.namespace, call.namespace) || !isOneOf(when.name, nameIn(call)))
    return false;
  return fault.do !== "stale" || quorum || mayBeStale(call);
}

function isForEvent({ when }: EventRule, { type, line }: WatchedEvent, call: ProxiedCall): boolean {
  if (when.event !== "any" && when.event !== type) return false;
  const object = parseEventObject(line);
  return (
    isAbout(when, call) &&
    isOneOf(when.namespace, object?.namespace ?? "") &&
    isOneOf(when.name, object?.name ?? "")
  );
}

function isAbout(when: RuleCondition, call: ProxiedCall): boolean {
  return (
    isOneOf(when.verb, call.verb) &&
    isOneOf(when.resource, call.resource) &&
    isOneOf(when.subresource, call.subresource) &&
    isOneOf(when.method, call.method) &&
    isOneOf(when.life, call.life) &&
    isOneOf(when.write, call.isWrite) &&
    call.path.startsWith(when.path ?? "")
  );
}

const isOneOf = <T>(wanted: T | readonly T[] | undefined, found: T): boolean =>
  wanted === undefined || (Array.isArray(wanted) ? wanted.includes(found) : wanted === found);

/**
 * The fault of a call or event depends on the seed, on the subject, and on how many with this subject came before, but
 * not on calls of others in between. So a second run gets the same faults as long as it makes the same calls.
 */
function bySeed({ seed, rate, faults }: SeededPlan): FaultPlanDecider {
  const seen = new Map<string, number>();
  const chosen: FaultRule[] = [];
  const numbered = (about: string) => {
    const nth = (seen.get(about) ?? 0) + 1;
    seen.set(about, nth);
    return { nth, dice: pseudoRandom(seed, hash(about), nth) };
  };
  return {
    ofCall(call) {
      const { verb, resource, subresource, method, path, namespace } = call;
      const about =
        resource === "" ? { method, path } : { verb, resource, subresource, namespace, name: nameIn(call) };
      const { nth, dice } = numbered(JSON.stringify(about));
      const fault = dice.chance(rate) ? randomCallFault(faults, call, dice) : undefined;
      if (fault !== undefined) chosen.push({ when: { ...about, nth }, of: "call", fault, quorum: false });
      return fault;
    },
    ofEvent({ type, line }, call) {
      const { namespace = "", name = "" } = parseEventObject(line) ?? {};
      const about = { event: type, resource: call.resource, namespace, name };
      const { nth, dice } = numbered(JSON.stringify(about));
      const fault = dice.chance(rate) ? randomEventFault(faults, dice) : undefined;
      if (fault !== undefined) chosen.push({ when: { ...about, nth }, of: "event", fault });
      return fault;
    },
    unusedRules: () => [],
    replayPlan: () => ({ rules: chosen.map(writtenRule) }),
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let hashed = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hashed = Math.imul(hashed ^ byte, 0x01000193);
  return hashed;
}
