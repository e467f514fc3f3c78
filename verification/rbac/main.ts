/**
 * `npm run rbac`: whether all that rules grant is reviewed, by Kubernetes' own RBAC evaluation (tools/real-cluster/go/rbac).
 * Random rules are granted, and random ones held by an author; what is reviewed is what `accessesOf` of @drover/controller
 * decides for the granted ones. For every request that the granted rules allow:
 *
 * - one review covers it: a rule made of that review alone allows the request;
 * - if the author holds everything that is reviewed, the author's rules allow the request.
 *
 *   npm run rbac -- --sets 100000 --seed 1
 */
import { accessesOf, resourceAttributesOf } from "@drover/controller";
import { buildRealCluster } from "@drover/real-cluster";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { z } from "zod";
import { pseudoRandom } from "@drover/random";
import { wholeNumber } from "../harness/whole-number.ts";
import { randomRequests, randomRules } from "./random-rules.ts";

const { values } = parseArgs({
  options: { sets: { type: "string", default: "100000" }, seed: { type: "string", default: "1" } },
});
const sets = wholeNumber("sets", values.sets, 1);
const random = pseudoRandom(wholeNumber("seed", values.seed)).fraction;
const answerSchema = z.object({
  granted: z.array(z.boolean()),
  held: z.array(z.boolean()),
  reviewed: z.array(z.boolean()),
  covered: z.array(z.boolean()),
});

const { bin } = await buildRealCluster({ targets: ["rbac"], log: (line) => console.error(line) });
const evaluation = spawn(join(bin, "rbac"), { stdio: ["pipe", "pipe", "inherit"] });
const answers = createInterface({ input: evaluation.stdout })[Symbol.asyncIterator]();

let [allowed, gained, uncovered, passed] = [0, 0, 0, 0];
for (let i = 0; i < sets; i++) {
  const granted = randomRules(random);
  const held = randomRules(random);
  const accesses = accessesOf(granted);
  const reviews = accesses.map((access) => ({
    ...resourceAttributesOf(access),
    everyName: access.name === undefined,
  }));
  const requests = randomRequests(random, granted);
  evaluation.stdin.write(`${JSON.stringify({ granted, held, reviews, requests })}\n`);
  const answer = answerSchema.parse(JSON.parse(String((await answers.next()).value)));
  const isPermitted = answer.reviewed.every(Boolean);
  if (isPermitted) passed += 1;
  for (const [at, isAllowed] of answer.granted.entries()) {
    if (!isAllowed) continue;
    allowed += 1;
    const isCovered = answer.covered[at] === true;
    const isGained = isPermitted && answer.held[at] !== true;
    if (!isCovered) uncovered += 1;
    if (isGained) gained += 1;
    if (!isCovered || isGained) report({ isCovered, isGained, granted, held, request: requests[at] });
  }
}
evaluation.stdin.end();
console.log(
  `${sets} rule sets: ${allowed} allowed requests, ${uncovered} that no review covers; ` +
    `${passed} sets in which the author holds all that is reviewed, ${gained} requests gained`,
);
process.exitCode = uncovered + gained > 0 || allowed === 0 || passed === 0 ? 1 : 0;

function report(found: object): void {
  console.log(JSON.stringify(found));
}
