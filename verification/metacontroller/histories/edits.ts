// Edits of children by another manager.
import type { PseudoRandom } from "@drover/random";
import {
  equal,
  field,
  isArray,
  isObject,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  textAt,
  withField,
} from "../../../packages/sandbox/src/json.ts";
import { type Action, type ChildId, childId, partsOf, type Path } from "./actions.ts";
import { base64, mainContainer, shared, sharedValues } from "./declared-children.ts";

/** The name of all that is added by hand and never declared. */
export const byHand = "by-hand";

interface Edit {
  readonly path: Path;
  /** null removes the field. */
  readonly value: Json;
}

/** The object with a field set; null removes it. */
export function edited(value: Json | undefined, path: Path, to: Json): Json | undefined {
  const [first, ...rest] = path;
  if (first === undefined) return to ?? undefined;
  if (typeof first === "string") {
    const object = isObject(value) ? value : {};
    return withField(object, first, edited(field(object, first), rest, to));
  }
  const list = isArray(value) ? value : [];
  const index = list.findIndex((item) => isItem(item, first));
  const inner = edited(list[index], rest, to);
  const item = isObject(inner) ? [{ ...first, ...inner }] : [];
  return index < 0 ? [...list, ...item] : list.toSpliced(index, 1, ...item);
}

/** True if a list's item has these fields. */
const isItem = (item: Json, fields: JsonObject): boolean =>
  Object.entries(fields).every(([name, value]) => equal(field(item, name), value));

const set = (path: Path, value: Json): Edit => ({ path, value });
/** Changed, or removed. */
const changes = (path: Path, value: Json): readonly Edit[] => [set(path, value), set(path, null)];

const changesOfMap = (object: JsonObject, path: readonly string[], value: string): readonly Edit[] =>
  Object.keys(objectAt(object, ...path)).flatMap((name) => changes([...path, name], value));

const template = ["spec", "template"] as const;
const podSpec = [...template, "spec"] as const;

/** Edits of what a child declares: both contestants must put them back. */
function driftsOf(object: JsonObject): readonly Edit[] {
  const metadata = [
    ...changesOfMap(object, ["metadata", "labels"], byHand),
    ...changesOfMap(object, ["metadata", "annotations"], byHand),
  ];
  switch (partsOf(childId(object)).kind) {
    case "Service":
      return [...metadata, ...driftsOfService(object)];
    case "Deployment":
      return [...metadata, ...driftsOfDeployment(object)];
    case "Secret":
      return [...metadata, ...changesOfMap(object, ["data"], base64(byHand))];
    case "ConfigMap":
      return [...metadata, ...changesOfMap(object, ["data"], byHand)];
  }
}

function driftsOfService(object: JsonObject): readonly Edit[] {
  const ports = listAt(object, "spec", "ports").map((item) => ({ port: field(item, "port") ?? 0 }));
  const [first] = ports;
  return [
    ...changesOfMap(object, ["spec", "selector"], byHand),
    ...ports.map((item) => set(["spec", "ports", item, "targetPort"], 9_998)),
    ...(first !== undefined && ports.length > 1 ? [set(["spec", "ports", first], null)] : []),
    ...(field(object, "spec", "publishNotReadyAddresses") === true
      ? changes(["spec", "publishNotReadyAddresses"], false)
      : []),
    ...(field(object, "spec", "type") === "ClusterIP" ? [set(["spec", "type"], "NodePort")] : []),
  ];
}

function driftsOfDeployment(object: JsonObject): readonly Edit[] {
  const has = (...path: readonly string[]): boolean => field(object, ...path) !== undefined;
  return [
    ...(has("spec", "replicas") ? changes(["spec", "replicas"], 7) : []),
    ...changesOfMap(object, [...template, "metadata", "annotations"], byHand),
    ...changesOfMap(object, [...podSpec, "nodeSelector"], byHand),
    ...(has(...podSpec, "tolerations") ? changes([...podSpec, "tolerations"], []) : []),
    ...listAt(object, ...podSpec, "containers").flatMap(driftsOfContainer),
  ];
}

function driftsOfContainer(container: Json): readonly Edit[] {
  const name = textAt(container, "name") ?? "";
  const path: Path = [...podSpec, "containers", { name }];
  return [
    set([...path, "image"], byHand),
    ...(name === mainContainer ? [] : [set(path, null)]),
    ...(field(container, "args") === undefined ? [] : changes([...path, "args"], [byHand])),
    ...listAt(container, "env").flatMap((item) => {
      const of: Path = [...path, "env", { name: field(item, "name") ?? "" }];
      return field(item, "value") === undefined
        ? [set(of, null)]
        : [set(of, null), set([...of, "value"], byHand)];
    }),
    ...listAt(container, "ports").map((item) =>
      set([...path, "ports", { containerPort: field(item, "containerPort") ?? 0 }], null),
    ),
  ];
}

/** Edits of what a child does not declare: both contestants must leave them alone. */
function additionsOf(object: JsonObject): readonly Edit[] {
  const metadata = [set(["metadata", "labels", byHand], "1"), set(["metadata", "annotations", byHand], "1")];
  switch (partsOf(childId(object)).kind) {
    case "Service":
      return [
        ...metadata,
        set(["spec", "selector", byHand], "1"),
        set(["spec", "ports", { port: 9_999 }], { name: byHand, protocol: "TCP" }),
      ];
    case "Deployment":
      return [...metadata, ...additionsOfDeployment];
    case "Secret":
      return [...metadata, set(["data", byHand], base64("1"))];
    case "ConfigMap":
      return [...metadata, set(["data", byHand], "1")];
  }
}

const main: Path = [...podSpec, "containers", { name: mainContainer }];
const additionsOfDeployment: readonly Edit[] = [
  set(["spec", "minReadySeconds"], 5),
  set(["spec", "revisionHistoryLimit"], 3),
  set([...template, "metadata", "annotations", byHand], "1"),
  set([...podSpec, "nodeSelector", byHand], "1"),
  set([...podSpec, "containers", { name: byHand }], { image: byHand }),
  set([...podSpec, "volumes", { name: byHand }], { emptyDir: {} }),
  // Only in a container that is always declared: see the README.
  set([...main, "env", { name: byHand }], { value: "1" }),
  set([...main, "ports", { containerPort: 9_999 }], { name: byHand }),
];

/** An edit of a child as it is declared. */
export function drawnEdit(random: PseudoRandom, object: JsonObject): Action {
  const child: ChildId = childId(object);
  const part = random.oneOf(["labels", "annotations"]);
  const value = random.oneOf(sharedValues);
  const isDeclared = field(object, "metadata", part, shared) !== undefined;
  if (!isDeclared && random.chance(0.1))
    return { do: "edit", child, path: ["metadata", part, shared], value };
  const drifts = driftsOf(object);
  const edits = drifts.length > 0 && random.chance(0.6) ? drifts : additionsOf(object);
  const edit = random.oneOf(edits);
  return { do: "edit", child, ...edit };
}
