import { type Kind, suggest } from "@drover/controller";
import { apiVersionOf, mergePatch, refOf } from "@drover/kube";
import type { Manifest, Scenario, ScenarioStep } from "@drover/testing";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { wordsOf } from "../find-object.ts";
import { type Path, readDocuments, type ReadDocument, strictObject } from "./read-documents.ts";

/** A scenario of a file `*.faults.yaml`. */
export type WrittenScenario = Required<Pick<Scenario, "name" | "given" | "steps" | "except">>;

const text = z.string().min(1);
const manifestSchema = z.looseObject({
  apiVersion: text,
  kind: text,
  metadata: z.looseObject({ name: text, namespace: text.exactOptional() }),
});
const stepSchema = strictObject({
  apply: z.unknown().optional(),
  change: text.optional(),
  to: z.record(z.string(), z.unknown()).optional(),
  delete: text.optional(),
});
const scenarioSchema = strictObject({
  name: text,
  given: z.unknown().optional(),
  steps: z.array(z.unknown()).min(1),
  except: z.record(z.string(), text).default({}),
});

/**
 * Reads the scenarios of a file, one in each document.
 *
 * @param kinds by which steps may name objects, besides those of objects that the scenario applies.
 * @throws CommandError with the file, the line, and the remedy.
 */
export function readScenarios(
  file: string,
  name: string,
  kinds: readonly Kind[],
): readonly WrittenScenario[] {
  return readDocuments(file, name).map((document) => {
    const { name: title, given, steps, except } = document.checked(scenarioSchema, document.value);
    const reader = scenarioReader(document, kinds, dirname(file));
    const before = given === undefined ? [] : reader.manifests(given, ["given"]);
    return {
      name: title,
      except,
      given: before.map(({ apply }) => apply),
      steps: steps.flatMap((step, i) => reader.steps(step, ["steps", i])),
    };
  });
}

type Apply = Extract<ScenarioStep, { apply: unknown }>;
type Target = Extract<ScenarioStep, { delete: unknown }>["delete"];

/** Reads steps in their order, and remembers the objects that they have applied. */
function scenarioReader(document: ReadDocument, kinds: readonly Kind[], folder: string) {
  const applied = new Map<string, Manifest>();
  const remember = (step: Apply): Apply => {
    applied.set(idOf(targetOf(step.apply)), step.apply);
    return step;
  };
  const target = (word: string, path: Path): Target => {
    const others = [...applied.values()].map(({ apiVersion, kind }) => ({
      apiVersion,
      kind,
      words: [kind.toLowerCase()],
    }));
    return targetNamed(document, word, path, [...kinds.map(namedKind), ...others]);
  };
  const manifests = (value: unknown, path: Path): readonly Apply[] =>
    (typeof value === "string"
      ? readDocuments(resolve(folder, value), value, document.place(path)).map((one) =>
          appliedIn(one, one.value, []),
        )
      : Array.isArray(value)
        ? value.map((item: unknown, i) => appliedIn(document, item, [...path, i]))
        : [appliedIn(document, value, path)]
    ).map(remember);
  return {
    manifests,
    steps(value: unknown, path: Path): readonly ScenarioStep[] {
      const step = document.checked(stepSchema, value, path);
      const doing = (["apply", "change", "delete"] as const).filter((name) => step[name] !== undefined);
      if (doing.length !== 1 || (step.change === undefined) !== (step.to === undefined))
        throw document.problem(path, oneThing);
      const at = document.place(path);
      if (step.apply !== undefined) return manifests(step.apply, [...path, "apply"]);
      if (step.delete !== undefined) {
        const deleted = target(step.delete, [...path, "delete"]);
        applied.delete(idOf(deleted));
        return [{ delete: deleted, at }];
      }
      const changed = target(step.change ?? "", [...path, "change"]);
      const before = applied.get(idOf(changed));
      if (before === undefined) return [changeOfOther(changed, step.to ?? {}, at)];
      const after = document.checked(manifestSchema, mergePatch(before, step.to), [...path, "to"]);
      return [remember({ apply: after, at })];
    },
  };
}

const oneThing =
  "a step has one of `apply` (an object, a list, or a file), `change` (KIND/NAME, with the changed fields in `to`) and " +
  "`delete` (KIND/NAME).";

const appliedIn = (document: ReadDocument, value: unknown, path: Path): Apply => ({
  apply: document.checked(manifestSchema, value, path),
  at: document.place(path),
});

interface NamedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly words: readonly string[];
}

const namedKind = (kind: Kind): NamedKind => ({
  apiVersion: apiVersionOf(refOf(kind)),
  kind: kind.kind,
  words: wordsOf(kind),
});

/** The object that KIND/NAME or KIND/NAMESPACE/NAME names. */
function targetNamed(document: ReadDocument, word: string, path: Path, kinds: readonly NamedKind[]): Target {
  const [first = "", ...name] = word.split("/");
  if (name.length < 1 || name.length > 2 || name.includes(""))
    throw document.problem(
      path,
      `${JSON.stringify(word)} names no object. Write KIND/NAME, or KIND/NAMESPACE/NAME.`,
    );
  const found = kinds.find(({ words }) => words.includes(first.toLowerCase()));
  if (found !== undefined) return { apiVersion: found.apiVersion, kind: found.kind, name: name.join("/") };
  const known = [...new Set(kinds.flatMap(({ words }) => words))];
  throw document.problem(path, `no kind is called ${JSON.stringify(first)} here. ${suggest(first, known)}`);
}

const targetOf = ({ apiVersion, kind, metadata: { namespace, name } }: Manifest): Target => ({
  apiVersion,
  kind,
  name: namespace === undefined ? name : `${namespace}/${name}`,
});

const idOf = ({ apiVersion, kind, name }: Target): string =>
  `${apiVersion} ${kind} ${name.includes("/") ? name : `default/${name}`}`;

/** Changes an object that the scenario has not applied, such as one that the function has created. */
function changeOfOther(target: Target, to: Readonly<Record<string, unknown>>, at: string): ScenarioStep {
  const { apiVersion, kind, name } = target;
  const [last = "", namespace] = name.split("/").reverse();
  const { status, ...fields } = to;
  let isFirst = true;
  return {
    title: `a user changes ${kind} ${name}`,
    at,
    async act(user) {
      const isThere = (await user.get(target, name)) !== undefined;
      // Where a fault has led to another object, there may be nothing to change.
      if (!isThere && !isFirst) return;
      isFirst = false;
      if (!isThere) throw new Error(`there is no ${kind} ${name} to change at this step.`);
      const metadata = { name: last, ...(namespace !== undefined && { namespace }) };
      if (Object.keys(fields).length > 0) await user.patch(target, name, fields);
      if (status !== undefined) await user.writeStatus({ apiVersion, kind, metadata, status });
    },
  };
}
