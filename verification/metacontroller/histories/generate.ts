// Random histories of a parent and its children. Both contestants settle after each action, so that the same must come
// of it, however fast they are.
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { field, type JsonObject } from "../../../packages/sandbox/src/json.ts";
import {
  type Action,
  type ChildId,
  childId,
  childKinds,
  type History,
  isChildKind,
  partsOf,
} from "./actions.ts";
import { changedChild, drawnChild, invalid, renamed } from "./declared-children.ts";
import { drawnEdit } from "./edits.ts";
import { after, type Expected, nothing, stuckIn } from "./expected.ts";

/** All children that a history may have: so few that names come back. */
const pool: readonly ChildId[] = Object.keys(childKinds)
  .filter(isChildKind)
  .flatMap((kind) => ["a", "b", "c"].map((name): ChildId => `${kind}/${kind.toLowerCase()}-${name}`));

const drawn = (random: PseudoRandom, id: ChildId): JsonObject => {
  const { kind, name } = partsOf(id);
  return drawnChild(random, kind, name);
};

/** Names that are not declared: taken ones first, so that there are clashes. */
function freeIds(random: PseudoRandom, { declared, taken }: Expected): readonly ChildId[] {
  const ids = new Set(declared.map(childId));
  const free = random.some(pool, pool.length).filter((id) => !ids.has(id));
  return free.toSorted((a, b) => Number(taken.includes(b)) - Number(taken.includes(a)));
}

function creation(random: PseudoRandom, expected: Expected): Action {
  const ids = freeIds(random, expected).slice(0, random.between(1, 5));
  return { do: "create", children: ids.map((id) => drawn(random, id)) };
}

/** The declaration with some children added, removed, renamed or changed. */
function redeclared(random: PseudoRandom, expected: Expected): readonly JsonObject[] {
  let declared = expected.declared;
  for (let left = random.between(1, 3); left > 0; left -= 1) {
    const draw = random.below(100);
    const [id] = freeIds(random, { ...expected, declared });
    const victim = declared.length > 0 ? random.oneOf(declared) : undefined;
    if (victim === undefined || draw < 20) {
      if (id !== undefined) declared = [...declared, drawn(random, id)];
    } else if (draw < 35) declared = declared.filter((one) => one !== victim);
    else {
      const { kind } = partsOf(childId(victim));
      const other = pool.find(
        (one) => partsOf(one).kind === kind && !declared.some((each) => childId(each) === one),
      );
      const next =
        draw < 45 && other !== undefined
          ? renamed(victim, partsOf(other).name)
          : changedChild(random, kind, victim);
      declared = declared.map((one) => (one === victim ? next : one));
    }
  }
  return random.chance(0.2) ? random.some(declared, declared.length) : declared;
}

function declaration(random: PseudoRandom, expected: Expected): Action {
  const declared = expected.refused.length > 0 ? valid(random, expected) : redeclared(random, expected);
  // Metacontroller would delete a Secret before it finds out that the new one is refused.
  const candidates = declared.filter(
    (one) => field(one, "kind") !== "Secret" && !expected.taken.includes(childId(one)),
  );
  if (candidates.length === 0 || random.chance(0.93))
    return { do: "declare", children: declared, refused: [] };
  const victim = random.oneOf(candidates);
  const children = declared.map((one) => (one === victim ? invalid(random, one) : one));
  return { do: "declare", children, refused: [childId(victim)] };
}

/** The refused children are drawn again. */
const valid = (random: PseudoRandom, { declared, refused }: Expected): readonly JsonObject[] =>
  declared.map((one) => (refused.includes(childId(one)) ? drawn(random, childId(one)) : one));

/** An object that is not a child, with a name that the parent may declare later. */
function taking(random: PseudoRandom, expected: Expected): Action {
  const ids = freeIds(random, expected).filter((id) => !expected.taken.includes(id));
  return { do: "take", object: drawn(random, random.oneOf(ids)), owned: random.chance(0.5) };
}

/** An action for a parent that exists. */
function next(random: PseudoRandom, expected: Expected): Action {
  const stuck = stuckIn(expected);
  const made = expected.declared.filter((one) => !stuck.includes(childId(one)));
  const draw = random.below(100);
  if (expected.taken.length > 0 && draw < 12) return { do: "free", child: random.oneOf(expected.taken) };
  // With a child that is stuck, Drover keeps undeclared ones: their names are not free.
  if (stuck.length === 0 && draw < 20 && expected.taken.length < 3) return taking(random, expected);
  if (draw < 25) return { do: "delete" };
  if (made.length > 0 && draw < 35) return { do: "deleteChild", child: childId(random.oneOf(made)) };
  if (made.length > 0 && draw < 62) return drawnEdit(random, random.oneOf(made));
  return declaration(random, expected);
}

/** The history of a seed: the same for the same seed. */
export function historyOf(seed: number): History {
  const random = pseudoRandom(seed, 0x6d657461);
  const actions: Action[] = [];
  let expected = nothing;
  for (let left = random.between(6, 12); left > 0; left -= 1) {
    const action = expected.parent
      ? next(random, expected)
      : actions.length === 0 && random.chance(0.25)
        ? taking(random, expected)
        : creation(random, expected);
    const isRestart = action.do !== "take" && random.chance(0.02);
    actions.push(isRestart ? { do: "restart", meanwhile: action } : action);
    expected = after(expected, action);
  }
  return { seed, actions };
}
