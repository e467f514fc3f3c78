import type { PolicyRule } from "@drover/controller";

// Few words, so that rules and requests meet often; and all that RBAC gives a meaning, or looks as if.
const verbs = ["get", "list", "create", "*"];
const groups = ["", "apps", "*"];
const resources = [
  "pods",
  "pods/exec",
  "pods/exec/x",
  "pods/",
  "/exec",
  "secrets",
  "*",
  "*/exec",
  "*/*",
  "pods/*",
  "**",
];
const names = ["a", "b", "", "*"];

type Random = () => number;
const one = <T>(random: Random, of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
const some = <T>(random: Random, of: readonly T[], least: number): T[] =>
  Array.from({ length: least + Math.floor(random() * 3) }, () => one(random, of));

/** Rules with empty lists, `*`, subresources and duplicates. */
export const randomRules = (random: Random): readonly PolicyRule[] =>
  Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
    const rule = {
      apiGroups: some(random, groups, 0),
      resources: some(random, resources, 0),
      verbs: some(random, verbs, 0),
    };
    return random() < 0.5 ? rule : { ...rule, resourceNames: some(random, names, 0) };
  });

export interface RandomRequest {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
}

/** Requests of which many are allowed: their words are those of the rules, or such that a `*` stands for. */
export const randomRequests = (random: Random, rules: readonly PolicyRule[]): readonly RandomRequest[] =>
  Array.from({ length: 12 }, () => {
    const { apiGroups = [], resources: paths = [], verbs: may, resourceNames = [] } = one(random, rules);
    const word = (of: readonly string[], others: readonly string[]): string =>
      of.length > 0 && random() < 0.7 ? one(random, of) : one(random, others);
    const [resource = "", ...rest] = word(paths, ["pods", "secrets", "pods/exec", "nodes/proxy"]).split("/");
    return {
      verb: word(may, [...verbs, "patch"]),
      group: word(apiGroups, [...groups, "batch"]),
      resource,
      subresource: rest.join("/"),
      name: word(resourceNames, [...names, "c"]),
    };
  });
