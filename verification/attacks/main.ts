/**
 * `npm run attacks`: every attack on what ships, one after the other. It ends with `N attacks, 0 succeeded`, and exits with 1
 * when one succeeded or could not be made.
 *
 *   npm run attacks -- --only status   those with the word in name, kind or file
 *   npm run attacks -- --quick         without those that take long
 */
import { parseArgs } from "node:util";
import { attacksIn, runAttacks } from "./run-attacks.ts";

const { values } = parseArgs({
  options: { only: { type: "string" }, quick: { type: "boolean", default: false } },
});
const attacks = (await attacksIn(new URL(".", import.meta.url))).filter(
  ({ file, attack }) =>
    (values.only === undefined ||
      [file, attack.name, attack.kind].some((text) => text.includes(values.only ?? ""))) &&
    !(values.quick && attack.slow === true),
);
const log = (line: string): void => console.log(line);
const results = await runAttacks(attacks, log);
const count = (is: string): number => results.filter(({ verdict }) => verdict === is).length;
const [succeeded, broken] = [count("SUCCEEDED"), count("could not be made")];
log(`${results.length} attacks, ${succeeded} succeeded${broken > 0 ? `, ${broken} could not be made` : ""}`);
process.exitCode = succeeded + broken > 0 || results.length === 0 ? 1 : 0;
