import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./children.mjs";

/**
 * The suites that take too long for every change. Each one's last line is its result; the table in docs/nightly.md keeps the
 * last one of each, and is committed.
 */
const SUITES = {
  mutants: ["mutants"],
  mutation: ["mutation"],
  attacks: ["attacks"],
  rules: ["rbac", "--sets", "100000"],
  authors: ["authors", "--functions", "1000"],
  forgeries: ["forgeries", "--count", "1000000"],
  strangers: ["strangers"],
  buckets: ["buckets", "--keys", "20000"],
  "polled buckets": ["buckets:polled", "--buckets", "1000"],
  "settings' faults": ["buckets:faults"],
  simulation: ["simulate", "--schedules", "100000"],
  chaos: ["chaos:queue", "--schedules", "500"],
  "bridge chaos": ["chaos:bridge", "--schedules", "1000", "--parallel", "6"],
  pods: ["test:cluster"],
  "several bridges": ["soak:bridges", "--minutes", "10"],
  "planted bugs": ["faults:real"],
  "functions' faults": ["faults:functions"],
  "killed functions": ["chaos:workloads"],
  "hostile function": ["hostile", "--minutes", "10"],
  "hostile function, shared": ["hostile", "--minutes", "10", "--shared"],
  scaling: ["soak:scaling", "--cycles", "50"],
  versions: ["versions", "--orders", "20"],
  conformance: ["conformance", "--sequences", "20000"],
  workloads: ["workloads", "--sequences", "300"],
  jobs: ["workloads", "--family", "jobs", "--sequences", "300"],
  cronjobs: ["workloads", "--family", "cronjobs", "--sequences", "40"],
  endpointslices: ["workloads", "--family", "endpointslices", "--sequences", "300"],
  daemonsets: ["workloads", "--family", "daemonsets", "--sequences", "300"],
  "children's faults": ["faults:composed", "--plans", "10000"],
  plans: ["plans", "--changes", "500"],
  schedules: ["cron", "--schedules", "100000"],
  // Metacontroller must be on PATH: see verification/metacontroller/README.md.
  metacontroller: ["metacontroller", "--histories", "300"],
  "queue bench": ["bench:queue"],
  persistence: ["bench:persistence"],
};
const TABLE = "docs/nightly.md";
const HEAD = `# The longer suites

\`npm run nightly\` runs them one after another, or those that are named (\`npm run nightly -- mutants\`), and keeps here
how each one ended when it was last run. A seed of its own is chosen each time; the last line names it.

| suite | command | minutes | its last line |
| ----- | ------- | ------- | ------------- |
`;

/** Runs the named suites, all of them where none is named, and writes down how each of them ended. */
export async function nightly({ root, node, env, args }) {
  const unknown = args.find((name) => !(name in SUITES));
  if (unknown !== undefined) {
    console.error(`There is no suite ${unknown}. There are: ${Object.keys(SUITES).join(", ")}.`);
    return 2;
  }
  let worst = 0;
  for (const name of args.length > 0 ? args : Object.keys(SUITES)) {
    const command = SUITES[name];
    console.log(`== ${name}`);
    const begun = performance.now();
    const { code, output } = await run(node, [join(root, "tools/bootstrap.mjs"), ...command], {
      cwd: root,
      env,
      collect: ["stdout"],
    });
    console.log(output.trimEnd());
    const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
    const last = output.trimEnd().split("\n").at(-1) ?? "";
    await keep(join(root, TABLE), name, [
      command.join(" "),
      minutes,
      code === 0 ? last : `**failed**: ${last}`,
    ]);
    worst = Math.max(worst, code);
  }
  return worst;
}

/** Puts a suite's row in the place of its last one. */
async function keep(file, name, [command, minutes, last]) {
  const text = await readFile(file, "utf8").catch(() => HEAD);
  const rows = text.split("\n").filter((line) => line.startsWith("| ") && !/^\| (suite|-)/.test(line));
  const others = rows.filter((row) => row.split("|")[1].trim() !== name);
  const [task, ...options] = command.split(" ");
  const asked = `npm run ${task}${options.length > 0 ? ` -- ${options.join(" ")}` : ""}`;
  const row = `| ${name} | \`${asked}\` | ${minutes} | ${last.replaceAll("|", "/")} |`;
  await writeFile(file, `${HEAD}${[...others, row].join("\n")}\n`);
}
