/**
 * # Do definitions and their objects fare the same on the sandbox as on a real API server?
 *
 *     npm run crds -- <folder> [--only argo] [--samples 25] [--mutations 30] [--shown 40]
 *
 * Finds every CustomResourceDefinition and every object of their kinds in the YAML and JSON files of a folder, starts a
 * real kube-apiserver and the sandbox, installs the definitions on both, and asks both the same about each object: create
 * (dry run and for real), update, status; and the same about objects that break one word of their
 * schema each. Compared are status code, message, warnings and the stored object, but for what two servers cannot have in
 * common (packages/sandbox/conformance). Exits with 1 when anything differs that is not on the list of what the sandbox
 * does not check (packages/sandbox/conformance/not-checked.ts). A folder's own folders are projects of their own.
 *
 * Nothing in the folder is executed, and nothing of it is written anywhere. Definitions that convert by a webhook are
 * installed without it on both.
 */
import { parseArgs } from "node:util";
import { withServers } from "../../packages/sandbox/conformance/servers.ts";
import type { Servers } from "../../packages/sandbox/conformance/servers.ts";
import { wholeNumber } from "../harness/whole-number.ts";
import { compareProject } from "./compare-project.ts";
import type { Outcome } from "./compare-project.ts";
import type { Kind } from "./kinds.ts";
import { readFolder } from "./read-folder.ts";
import { examples, report, summary } from "./report.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string", default: "" },
    samples: { type: "string", default: "25" },
    mutations: { type: "string", default: "30" },
    shown: { type: "string", default: "40" },
  },
});
const [folder] = positionals;
if (folder === undefined || positionals.length > 1)
  throw new Error("Name one folder with definitions in it: npm run crds -- <folder>");

const limits = {
  samples: wholeNumber("samples", values.samples),
  mutations: wholeNumber("mutations", values.mutations),
};
const shown = wholeNumber("shown", values.shown);

async function compareAll(servers: Servers): Promise<Outcome[]> {
  const kinds: Kind[] = [];
  const outcomes: Outcome[] = [];
  for (const [i, project] of projects.entries()) {
    const outcome = await compareProject(servers, project, limits, `p${i}`, kinds);
    outcomes.push(outcome);
    console.log([...examples(outcome.differing, shown), summary(outcome)].join("\n"));
  }
  return outcomes;
}

const read = await readFolder(folder);
const projects = read.projects.filter(({ name }) => name.includes(values.only));
console.error(
  `${read.unreadable} documents that are no YAML are left out; ` +
    `definitions that are installed without their conversion webhook: ${read.withoutWebhook.join(", ") || "none"}`,
);
const outcomes = await withServers(compareAll);
console.log(report(outcomes));
const isFine = outcomes.length > 0 && outcomes.every(({ differing }) => differing.length === 0);
process.exitCode = isFine ? 0 : 1;
