import { access } from "node:fs/promises";
import { join } from "node:path";
import { checkAll } from "./checks.mjs";
import { run } from "./children.mjs";
import { countedTests } from "./counted-tests.mjs";
import { Failure } from "./failure.mjs";
import { nightly } from "./nightly.mjs";

const always = () => true;
const never = () => false;

/**
 * What can be asked for. `run` gets the repository's root, its Node, the environment for children and the arguments,
 * and answers an exit code.
 */
export const tasks = {
  start: {
    // The S3 server that we bring is a Python program; Redis may be on PATH, and says itself when it is not.
    needsPython: (args) => !args.some((arg) => /^(--s3(=|$)|--help$|-h$)/.test(arg)),
    run: (repository) => program(repository, "apps/cli/src/main.ts", ["start"]),
  },
  test: { needsPython: always, run: (repository) => countedTests(repository) },
  "test:real": { needsPython: always, run: testReal },
  // Each test that asks for a cluster builds what is missing, so nothing is built beforehand.
  "test:cluster": {
    needsPython: always,
    run: (repository) =>
      countedTests({ ...repository, env: { ...repository.env, DROVER_TEST_CLUSTER: "node" } }),
  },
  "test:compose": {
    needsPython: never,
    run: (repository) => program(repository, "infra/test-compose.ts"),
  },
  simulate: {
    needsPython: always,
    run: (repository) => program(repository, "packages/queue/simulation/main.ts"),
  },
  "chaos:queue": {
    needsPython: always,
    run: (repository) => program(repository, "tests/chaos/main.ts"),
  },
  "chaos:bridge": {
    needsPython: always,
    run: (repository) => program(repository, "tests/chaos-bridge/main.ts"),
  },
  "soak:bridges": {
    needsPython: always,
    run: (repository) => program(repository, "tests/several-bridges/main.ts"),
  },
  "soak:scaling": {
    needsPython: always,
    run: (repository) => program(repository, "tests/scaling/main.ts"),
  },
  "faults:real": {
    needsPython: always,
    run: (repository) => program(repository, "tests/planted-bugs/main.ts"),
  },
  "faults:functions": {
    needsPython: never,
    run: (repository) => program(repository, "tests/function-faults/main.ts"),
  },
  attacks: {
    needsPython: always,
    run: (repository) => program(repository, "verification/attacks/main.ts"),
  },
  hostile: {
    needsPython: always,
    run: (repository) => program(repository, "verification/hostile-function/main.ts"),
  },
  rbac: {
    needsPython: never,
    run: (repository) => program(repository, "verification/rbac/main.ts"),
  },
  forgeries: {
    needsPython: never,
    run: (repository) => program(repository, "verification/forgeries/main.ts"),
  },
  strangers: {
    needsPython: never,
    run: (repository) => program(repository, "verification/strangers/main.ts"),
  },
  authors: {
    needsPython: always,
    run: (repository) => program(repository, "verification/authors/main.ts"),
  },
  mutants: {
    needsPython: always,
    run: (repository) => program(repository, "packages/queue/mutants/main.ts"),
  },
  workloads: {
    needsPython: never,
    // For the control plane, whose garbage would take much of a small machine.
    run: (repository) =>
      program({ ...repository, env: { ...repository.env, GOGC: "400" } }, "tests/workloads/main.ts"),
  },
  conformance: {
    needsPython: always,
    run: (repository) => program(repository, "packages/sandbox/conformance/main.ts"),
  },
  "bench:queue": {
    needsPython: always,
    run: (repository) => program(repository, "bench/queue/main.ts"),
  },
  "bench:persistence": {
    needsPython: always,
    run: (repository) => program(repository, "bench/persistence/main.ts"),
  },
  "bench:bridge": {
    needsPython: always,
    // For etcd and the API server alone, which are not what is measured: half as much of the machine goes to their garbage.
    run: (repository) =>
      program({ ...repository, env: { ...repository.env, GOGC: "400" } }, "bench/bridge/main.ts"),
  },
  "bench:peers": {
    needsPython: always,
    // For etcd and the API server alone, as with the bridge's.
    run: (repository) =>
      program({ ...repository, env: { ...repository.env, GOGC: "400" } }, "bench/peers/main.ts"),
  },
  "bench:push": {
    needsPython: always,
    run: (repository) => program(repository, "bench/push/main.ts"),
  },
  "bench:workloads": {
    needsPython: always,
    run: (repository) => program(repository, "bench/workloads/main.ts"),
  },
  nightly: { needsPython: always, run: nightly },
  check: { needsPython: never, run: checkAll },
};

async function program({ root, node, env, args }, file, first = []) {
  return (await run(node, [join(root, file), ...first, ...args], { cwd: root, env })).code;
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
