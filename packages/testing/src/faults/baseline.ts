import { deedsOf } from "./deeds.ts";
import { liveThrough } from "./live-through.ts";
import type { Scenario } from "./scenario.ts";
import { differingPaths, namedAs, type Named, type RoleOf, rolesBy, type State, stateOf } from "./state.ts";
import type { Take } from "./take.ts";

/** What happens where nothing goes wrong, and what of it is the same every time. */
export interface Baseline {
  readonly take: Take;
  /** The same on another day, and not all of it looked at. */
  readonly again: Take;
  readonly roleOf: RoleOf;
  /** Whether a value is another one every time: it says nothing. */
  readonly isByChance: (step: number, role: string, path: string) => boolean;
}

/** Two days on which nothing happens: what differs between them differs by chance, or by the clock. */
export const days = ["2026-01-01T00:00:00Z", "2026-01-02T12:34:56Z"] as const;

export async function recordBaseline(scenario: Scenario): Promise<Baseline> {
  const again = await liveThrough(scenario, { at: days[1] });
  const take = await liveThrough(scenario, { at: days[0], kinds: again.kinds });
  const nameOf = ({ resource, namespace, name }: Named): string =>
    JSON.stringify([resource, namespace, name]);
  const [names, others] = [take, again].map((each) => new Set(namesIn(each).map(nameOf)));
  const roleOf = rolesBy(
    (object) => names?.has(nameOf(object)) === true && others?.has(nameOf(object)) === true,
  );
  const chances = new Set(
    take.steps.flatMap(({ snapshot }, step) => {
      const other = again.steps[step]?.snapshot;
      if (snapshot === undefined || other === undefined) return [];
      return differing(stateOf(snapshot, roleOf), stateOf(other, roleOf)).map((path) => `${step} ${path}`);
    }),
  );
  return { take, again, roleOf, isByChance: (step, role, path) => chances.has(`${step} ${role} ${path}`) };
}

/** Of everything that was there, and of everything that was made. */
function namesIn(take: Take): readonly Named[] {
  const seen = take.steps.flatMap(({ snapshot }) => (snapshot?.objects ?? []).map(namedAs));
  const made = take.calls.flatMap(({ call, server }) =>
    server?.object === undefined ? [] : [{ resource: call.resource, ...server.object }],
  );
  return [...seen, ...made];
}

function differing(a: State, b: State): readonly string[] {
  return [...a].flatMap(([role, all]) =>
    (b.has(role) ? all : []).flatMap((values, i) => {
      const other = b.get(role)?.[i] ?? new Map<string, string>();
      return differingPaths(values, other).map((path) => `${role} ${path}`);
    }),
  );
}

/** How often each object was created and deleted by the end of a step. */
export const deedsUntil = (
  { take, roleOf }: { readonly take: Take; readonly roleOf: RoleOf },
  step: number,
) => deedsOf(take.calls.slice(0, take.steps[step]?.calls), roleOf);
