// Random rules and values on both servers: each evaluates the rules that the real one accepts, for the same objects.
import { pseudoRandom } from "@drover/random";
import { listAt, textAt } from "../../src/json.ts";
import type { JsonObject } from "../../src/json.ts";
import { compareRuns } from "../compare.ts";
import type { Found } from "../compare.ts";
import { definitions, version } from "../fixtures.ts";
import { runCase, runOnBoth } from "../run-case.ts";
import { ofSpec } from "../schemas.ts";
import type { Servers } from "../servers.ts";
import { caseOf, patch, post } from "../steps.ts";
import { at, inHome, inVersions, madeWith, probed, thing, thingsWith } from "../things.ts";
import { ruleOf, specOf, specSchema } from "./generate.ts";

export interface RandomRules {
  readonly evaluations: number;
  readonly found: readonly Found[];
}

const [rulesPerSeed, objectsPerSeed] = [40, 25];
const schemaOf = (rules: readonly string[]): JsonObject =>
  ofSpec(specSchema, { "x-kubernetes-validations": rules.map((rule) => ({ rule })) });

/** The rules that the real server accepts. */
async function acceptedBy({ real }: Servers, rules: readonly string[], seed: number): Promise<string[]> {
  const dry = caseOf("", post(`${definitions}?dryRun=All`, thingsWith(schemaOf(rules))));
  const run = await runCase(real, dry, `d${seed}`);
  const fields = run.answers.flatMap(({ body }) =>
    listAt(body, "details", "causes").map((cause) => textAt(cause, "field") ?? ""),
  );
  const refused = new Set(fields.map((one) => Number(/validations\[(\d+)\]/.exec(one)?.[1] ?? -1)));
  return rules.filter((_, i) => !refused.has(i));
}

/** Compares random rules of so many seeds from `seed` on. */
export async function runRandomRules(servers: Servers, seed: number, count: number): Promise<RandomRules> {
  const results: RandomRules[] = [];
  for (let i = 0; i < count; i++) results.push(await compareSeed(servers, seed + i));
  return {
    evaluations: results.reduce((sum, one) => sum + one.evaluations, 0),
    found: results.flatMap((one) => one.found),
  };
}

async function compareSeed(servers: Servers, seed: number): Promise<RandomRules> {
  const random = pseudoRandom(seed);
  const rules = Array.from({ length: rulesPerSeed }, () => ruleOf(random));
  const kept = await acceptedBy(servers, rules, seed);
  const written = Array.from({ length: objectsPerSeed }, (_, i) => [
    post(`${inHome()}?dryRun=All`, thing(`d${i}`, specOf(random))),
    patch(`${inHome()}/base?dryRun=All`, [{ op: "add", path: "/spec", value: specOf(random) }], "json-patch"),
  ]).flat();
  const compared = [
    // The rules come after an object that they may refuse.
    caseOf(
      "values",
      ...madeWith(schemaOf([])),
      post(inHome(), thing("base", specOf(random))),
      patch(at, inVersions(version("v1", schemaOf([...kept, "self.s != 'probe'"])))),
      probed(thing("probe", { s: "probe" }), 422),
      ...written,
    ),
  ];
  const runs = await runOnBoth(servers, compared, `r${seed}-`);
  return {
    evaluations: kept.length * written.length,
    found: runs.flatMap(([real, sandbox]) => compareRuns(real, sandbox)),
  };
}
