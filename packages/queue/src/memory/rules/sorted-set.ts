/**
 * Members by score, and by their UTF-8 bytes if scores are equal, as Redis sorts. Plain data, so that it can be cloned.
 */
export interface SortedSet<Member extends string> {
  readonly scores: Map<Member, number>;
  /** All members, in order. */
  readonly members: Member[];
}

export const sortedSet = <Member extends string>(): SortedSet<Member> => ({ scores: new Map(), members: [] });

/** Adds a member, or moves it to another score. */
export function put<Member extends string>(set: SortedSet<Member>, member: Member, score: number): void {
  removeMember(set, member);
  set.members.splice(position(set, member, score), 0, member);
  set.scores.set(member, score);
}

/** Removes a member, if it is in the set. */
export function removeMember<Member extends string>(set: SortedSet<Member>, member: Member): void {
  const score = set.scores.get(member);
  if (score === undefined) return;
  set.members.splice(position(set, member, score), 1);
  set.scores.delete(member);
}

/** Members of at most that score, lowest first, up to `limit`. A copy: the set may change while it is iterated. */
export function upTo<Member extends string>(
  set: SortedSet<Member>,
  score: number,
  limit = Infinity,
): readonly Member[] {
  return set.members.slice(0, Math.min(countUpTo(set, score), limit));
}

/** Members of more than that score, lowest first. */
export function above<Member extends string>(set: SortedSet<Member>, score: number): readonly Member[] {
  return set.members.slice(countUpTo(set, score));
}

/** The number of members of at most that score. */
export function countUpTo<Member extends string>(set: SortedSet<Member>, score: number): number {
  return firstWhere(set, (member) => scoreOf(set, member) > score);
}

/** The number of members of less than that score. */
export function countBelow<Member extends string>(set: SortedSet<Member>, score: number): number {
  return firstWhere(set, (member) => scoreOf(set, member) >= score);
}

/** The lowest score; undefined if the set is empty. */
export function lowest<Member extends string>(set: SortedSet<Member>): number | undefined {
  const [head] = set.members;
  return head === undefined ? undefined : set.scores.get(head);
}

/** The index at which a member of that score is, or belongs. */
function position<Member extends string>(set: SortedSet<Member>, member: Member, score: number): number {
  return firstWhere(set, (other) => {
    const difference = scoreOf(set, other) - score;
    return difference === 0 || Number.isNaN(difference) ? byBytes(other, member) >= 0 : difference > 0;
  });
}

/** Binary search: the first index from which `reached` is true. */
function firstWhere<Member extends string>(
  { members }: SortedSet<Member>,
  reached: (m: Member) => boolean,
): number {
  let low = 0;
  let high = members.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const member = members[middle];
    if (member !== undefined && reached(member)) high = middle;
    else low = middle + 1;
  }
  return low;
}

const scoreOf = <Member extends string>({ scores }: SortedSet<Member>, member: Member): number =>
  scores.get(member) ?? 0;

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
