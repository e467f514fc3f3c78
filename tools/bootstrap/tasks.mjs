import { access } from "node:fs/promises";
import { join } from "node:path";
import { checkAll, formatAll } from "./checks.mjs";
import { run } from "./children.mjs";
import { countedTests } from "./counted-tests.mjs";
import { Failure } from "./failure.mjs";
import { nightly } from "./nightly.mjs";

const always = () => true;
const never = () => false;

/** A program of the repository; `more` is added to its environment. */
const task = (needsPython, file, more) => ({
  needsPython,
  run: (repository) => program({ ...repository, env: { ...repository.env, ...more } }, file),
});
const withPython = (file, more = {}) => task(always, file, more);
const withoutPython = (file, more = {}) => task(never, file, more);
/** For etcd and the API server alone, which are not what is measured: half as much of the machine goes to their garbage. */
const lessGarbageCollection = { GOGC: "400" };

/** Child processes have wall clocks that are minutes apart, as machines may. vitest.config.ts sets the same for its tests. */
const clocksApart = { LOCAL_CLOCKS: "apart" };

/**
 * The tasks by name. `run` gets the repository's root, its Node, the environment for children and the arguments,
 * and answers an exit code.
 */
export const tasks = {
  start: {
    // The S3 server that we bring is a Python program; Redis may be on PATH; if it is not, its error names what to install.
    needsPython: (args) => !args.some((arg) => /^(--s3(=|$)|--help$|-h$)/.test(arg)),
    run: (repository) => program(repository, "examples/demo/src/main.ts"),
  },
  test: { needsPython: always, run: (repository) => countedTests(repository) },
  "test:unit": { needsPython: never, run: testUnits },
  "test:real": { needsPython: always, run: testReal },
  // Each test that asks for a cluster builds what is missing, so nothing is built beforehand.
  "test:cluster": {
    needsPython: always,
    run: (repository) =>
      countedTests({ ...repository, env: { ...repository.env, DROVER_TEST_CLUSTER: "node" } }),
  },
  "test:install": withoutPython("verification/install/main.ts"),
  "test:compose": withoutPython("infra/test-compose.ts"),
  simulate: withPython("verification/queue-simulation/main.ts"),
  "chaos:queue": withPython("verification/queue-chaos/main.ts", clocksApart),
  "chaos:bridge": withPython("verification/bridge-chaos/main.ts", clocksApart),
  "soak:bridges": withPython("verification/several-bridges/main.ts", clocksApart),
  "soak:scaling": withPython("verification/scaling/main.ts", clocksApart),
  versions: withoutPython("verification/upgrades/main.ts", clocksApart),
  "faults:real": withPython("verification/planted-bugs/main.ts", clocksApart),
  "faults:functions": withPython("verification/function-faults/main.ts"),
  "faults:composed": withPython("verification/composed-faults/main.ts"),
  attacks: withPython("verification/attacks/main.ts", clocksApart),
  hostile: withPython("verification/hostile-function/main.ts", clocksApart),
  rbac: withoutPython("verification/rbac/main.ts"),
  forgeries: withoutPython("verification/forgeries/main.ts"),
  buckets: withPython("functions/s3-bucket/src/testing/empty-many.ts"),
  "buckets:faults": withPython("functions/s3-bucket/src/testing/fault-settings.ts"),
  "buckets:polled": withPython("functions/s3-bucket/src/testing/poll-many.ts"),
  "buckets:translate": withoutPython("verification/peer-manifests/main.ts"),
  strangers: withoutPython("verification/strangers/main.ts"),
  authors: withPython("verification/authors/main.ts"),
  mutants: withPython("packages/queue/mutants/main.ts", clocksApart),
  mutation: withPython("verification/mutation/main.ts"),
  "error-paths": withPython("verification/error-paths/main.ts"),
  workloads: withoutPython("verification/workloads/main.ts", lessGarbageCollection),
  plans: withPython("verification/plans/main.ts"),
  "chaos:workloads": withoutPython("verification/workloads/kills/main.ts", lessGarbageCollection),
  cron: withoutPython("verification/cron/main.ts"),
  metacontroller: withPython("verification/metacontroller/main.ts", lessGarbageCollection),
  conformance: withPython("packages/sandbox/conformance/main.ts"),
  "one-event": withPython("verification/one-event/main.ts"),
  crds: withoutPython("verification/crds/main.ts", lessGarbageCollection),
  "bench:queue": withPython("bench/queue/main.ts"),
  "bench:persistence": withPython("bench/persistence/main.ts"),
  "bench:bridge": withPython("bench/bridge/main.ts", lessGarbageCollection),
  "bench:peers": withPython("bench/peers/main.ts", lessGarbageCollection),
  "bench:integers": withoutPython("bench/integers/main.ts"),
  "bench:push": withPython("bench/push/main.ts"),
  "bench:workloads": withPython("bench/workloads/main.ts"),
  "bench:compose": withPython("bench/compose/main.ts", lessGarbageCollection),
  "bench:removal": withoutPython("bench/removal/main.ts"),
  nightly: { needsPython: always, run: nightly },
  check: { needsPython: never, run: checkAll },
  format: { needsPython: never, run: formatAll },
};

async function program({ root, node, env, args }, file) {
  return (await run(node, [join(root, file), ...args], { cwd: root, env })).code;
}

/** The tests that start no process; with `--watch` again after each change of a file. */
async function testUnits(repository) {
  const args = ["--project=unit", ...repository.args];
  if (!args.includes("--watch")) return countedTests({ ...repository, args });
  return program({ ...repository, args: ["watch", ...args] }, "node_modules/vitest/vitest.mjs");
}

const BUILD = `
import { buildRealCluster } from "@drover/real-cluster";
const { bin } = await buildRealCluster({ log: (line) => console.error(line) });
console.log(bin);
`;

/** The tests that want a real cluster. The first build of it takes minutes. */
async function testReal(repository) {
  const { root, node, env } = repository;
  console.error("Building the real cluster (etcd, kube-apiserver, kubectl) unless it is there ...");
  const built = await run(node, ["--input-type=module", "--eval", BUILD], {
    cwd: root,
    env,
    collect: ["stdout"],
  });
  if (built.code !== 0) return built.code;
  const kubectl = join(built.output.trim(), "kubectl");
  await access(kubectl).catch(() => {
    throw new Failure(`The build left no ${kubectl}. Remove .cache/real-cluster and try again.`);
  });
  return countedTests({
    ...repository,
    env: { ...env, DROVER_TEST_CLUSTER: "real", DROVER_KUBECTL: kubectl },
  });
}
