/**
 * Holds a running function against the contract:
 *
 *     node packages/webhook/conformance/main.ts --url http://127.0.0.1:8080/ --audience web/greetings --secret-file FILE
 *
 * `--uid` is the uid of its ReconcileFunction that the function got, `--mutants` (1000) how many forged, misdirected,
 * expired and malformed calls it gets, by `--seed` (1). `--compose`: it declares the children of a Website, and does not
 * greet. Exits with 1 when it does not keep it.
 */
import { messageOf } from "@drover/controller";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { checks } from "./checks.ts";
import { composeChecks } from "./compose-checks.ts";

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    audience: { type: "string" },
    uid: { type: "string", default: "f-1" },
    "secret-file": { type: "string" },
    mutants: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    compose: { type: "boolean", default: false },
  },
});
const { url, audience, uid, "secret-file": file } = values;
if (url === undefined || audience === undefined || file === undefined) {
  console.error("Give --url, --audience and --secret-file.");
  process.exit(2);
}
const subject = {
  url,
  secret: readFileSync(file, "utf8").trim(),
  audience: { name: audience, uid },
  mutants: Number(values.mutants),
  seed: Number(values.seed),
};
for (const { name, run } of values.compose ? composeChecks : checks) {
  try {
    await run(subject);
    console.log(`ok      ${name}`);
  } catch (error) {
    console.log(`not ok  ${name}\n        ${messageOf(error)}`);
    process.exitCode = 1;
  }
}
