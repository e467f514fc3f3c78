// One project on both servers: its definitions are installed, and every object of their kinds is asked about.
import { runOnBoth } from "../../packages/sandbox/conformance/run-case.ts";
import type { Run } from "../../packages/sandbox/conformance/run-case.ts";
import type { Found } from "../../packages/sandbox/conformance/compare.ts";
import type { Servers } from "../../packages/sandbox/conformance/servers.ts";
import { textAt } from "../../packages/sandbox/src/json.ts";
import type { JsonObject } from "../../packages/sandbox/src/json.ts";
import { judged } from "./judge.ts";
import { asking, caseOf, examplesFor, installing, kindsOf, serving } from "./kinds.ts";
import type { Asking, Effort, Kind } from "./kinds.ts";
import type { Project } from "./read-folder.ts";

/** A request with different answers. */
export interface Differing {
  readonly project: string;
  /** The object, or the definition. */
  readonly about: string;
  readonly label: string;
  readonly found: readonly Found[];
}

export interface Outcome {
  readonly project: string;
  readonly definitions: number;
  /** Objects that were found. */
  readonly samples: number;
  /** Objects that were made from schemas. */
  readonly made: number;
  readonly mutations: number;
  readonly requests: number;
  /** Answers that were not compared, by what the sandbox does not check. */
  readonly unchecked: ReadonlyMap<string, number>;
  readonly differing: readonly Differing[];
}

export interface Limits extends Effort {
  /** How many samples of one kind are asked about. */
  readonly samples: number;
}

const isMade = ({ answers: [answer] }: Run): boolean => answer?.code === 201;

/** Installs all definitions of a project; answers the kinds that both servers have. */
async function install(
  servers: Servers,
  { name, definitions }: Project,
  prefix: string,
  note: (about: string, label: string, runs: readonly [Run, Run]) => void,
): Promise<Kind[]> {
  const objects = definitions.map(({ object }) => object);
  const runs = await runOnBoth(servers, objects.map(installing), `${prefix}i`);
  const there = objects.filter((object, i) => {
    const pair = runs[i];
    if (pair) note(textAt(object, "metadata", "name") ?? name, "install", pair);
    return pair?.every(isMade) ?? false;
  });
  const waits = await runOnBoth(servers, there.map(serving), `${prefix}w`);
  return there.flatMap((object, i) => {
    const pair = waits[i];
    if (!pair || pair.some(({ answers }) => answers.length > 0)) {
      if (pair) note(textAt(object, "metadata", "name") ?? name, "be served", pair);
      return [];
    }
    return kindsOf(object);
  });
}

/** What is asked about the objects of the kinds, those that were found before those that are made. */
function askings(kinds: readonly Kind[], { samples }: Project, limits: Limits, prefix: string) {
  const counts = new Map<Kind, number>();
  const of = (object: JsonObject): Kind | undefined =>
    kinds.find(
      ({ apiVersion, kind }) =>
        textAt(object, "apiVersion") === apiVersion && textAt(object, "kind") === kind,
    );
  let id = 0;
  const ask = (kind: Kind, object: JsonObject, file: string): Asking =>
    asking(kind, { object, file }, `${prefix}s${id++}`, limits);
  const given = samples.flatMap(({ object, file }) => {
    const kind = of(object);
    const count = kind ? (counts.get(kind) ?? 0) + 1 : 0;
    if (!kind || count > limits.samples) return [];
    counts.set(kind, count);
    return [ask(kind, object, file)];
  });
  const made = kinds.flatMap((kind) => examplesFor(kind).map((object) => ask(kind, object, "made")));
  return { given, made };
}

/** Compares the two servers on one project. `others` are the kinds of earlier projects, of which it may hold samples. */
export async function compareProject(
  servers: Servers,
  project: Project,
  limits: Limits,
  prefix: string,
  others: Kind[],
): Promise<Outcome> {
  const unchecked = new Map<string, number>();
  const differing: Differing[] = [];
  let [requests, mutations] = [0, 0];
  const judge = (about: string, labelOf: (at: number) => string, pair: readonly [Run, Run]): void => {
    const [real, sandbox] = pair;
    const judgement = judged(real, sandbox);
    requests += judgement.compared + judgement.unchecked.size;
    for (const { what } of judgement.unchecked.values()) unchecked.set(what, (unchecked.get(what) ?? 0) + 1);
    for (const [at, found] of judgement.differing)
      differing.push({ project: project.name, about, label: labelOf(at), found });
  };
  const own = await install(servers, project, prefix, (about, label, pair) =>
    judge(about, () => label, pair),
  );
  const { given, made } = askings([...own, ...others], project, limits, prefix);
  const asked = [...given, ...made.filter(({ kind }) => own.includes(kind))];
  const runs = await runOnBoth(servers, asked.map(caseOf), `${prefix}s`);
  for (const [i, one] of asked.entries()) {
    const pair = runs[i];
    mutations += one.requests.filter(({ isMutation }) => isMutation).length;
    if (pair) judge(one.name, (at) => one.requests[at]?.label ?? "", pair);
  }
  others.push(...own);
  return {
    project: project.name,
    definitions: project.definitions.length,
    samples: given.length,
    made: asked.length - given.length,
    mutations,
    requests,
    unchecked,
    differing,
  };
}
