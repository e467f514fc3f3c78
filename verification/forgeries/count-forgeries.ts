import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { forge, type Forgery } from "./mutations.ts";
import { arriving, isSendable } from "./over-http.ts";
import type { Case, Subject } from "./sent.ts";
import { openSubjects } from "./subjects.ts";
import { type Fault, weakened } from "./weak.ts";

export interface Counted {
  /** Forged messages by subject. */
  readonly made: ReadonlyMap<string, number>;
  /** How many ways of forging there were. */
  readonly ways: number;
  /** Those that were accepted: subject, way, and the number that makes it again. */
  readonly accepted: readonly string[];
}

export interface Counting {
  readonly count: number;
  readonly seed: number;
  /** Through HTTP, on loopback; otherwise the verifiers are called. */
  readonly isOverHttp?: boolean;
  /** The verifiers have this fault. */
  readonly fault?: Fault | undefined;
}

/** Of each subject in turn: so many forged messages, and sometimes the genuine one, which must be accepted. */
export async function countForgeries({ count, seed, fault, isOverHttp = false }: Counting): Promise<Counted> {
  const random = pseudoRandom(seed);
  const all = await openSubjects(isOverHttp);
  const made = new Map<string, number>();
  const ways = new Set<string>();
  const accepted: string[] = [];
  for (let i = 0; i < count; i++) {
    const subject = all[i % all.length];
    if (subject === undefined) break;
    const genuine = subject.make(i);
    const one = fault === undefined ? genuine : weakened(genuine, fault);
    const { what, sent } = isOverHttp ? sendable(random, one) : forge(random, one);
    made.set(subject.name, (made.get(subject.name) ?? 0) + 1);
    ways.add(what);
    if (await one.accepts(sent)) accepted.push(`${subject.name}: ${what} (number ${i})`);
    if (i % 1_009 < all.length && !(await genuine.accepts(genuine.sent))) throw new DeafError(subject, i);
  }
  await Promise.all(all.map((subject) => subject.close()));
  return { made, ways: ways.size, accepted };
}

/** HTTP drops the blanks around a header's value: that makes no forgery. */
function sendable(random: PseudoRandom, one: Case): Forgery {
  const genuine = one.canonical(one.sent);
  for (;;) {
    const forged = forge(random, one);
    if (isSendable(forged.sent) && one.canonical(arriving(forged.sent)) !== genuine) return forged;
  }
}

/** A verifier that refuses genuine messages: that it refuses forged ones shows nothing. */
export class DeafError extends Error {
  override readonly name = "DeafError";
  constructor({ name }: Subject, i: number) {
    super(`${name}: the genuine message number ${i} was refused.`);
  }
}
