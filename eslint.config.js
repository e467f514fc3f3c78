// The rules that a type checker cannot see: the packages that each package may import, one door for each foreign library, and
// configuration that is read in one place. Formatting is prettier's.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import tseslint from "typescript-eslint";

const doors = [
  { names: ["bullmq"], message: "packages/queue/src/bullmq is the only door to BullMQ." },
  { names: ["ioredis"], message: "packages/queue is the only door to Redis." },
  {
    names: ["@kubernetes/client-node", "undici"],
    message: "packages/kube is the only door to the API server.",
  },
  { names: ["@aws-sdk", "@smithy"], message: "packages/aws and its functions are the only doors to AWS." },
];
/** A pattern for each foreign library that may not be imported; a folder may have its name. */
const door = (...mine) =>
  doors
    .filter(({ names }) => !mine.some((name) => names.includes(name)))
    .map(({ names, message }) => ({ regex: `^(${names.join("|")})(/|$)`, message }));
const deep = {
  // Clients of the proxy need not load the whole testing kit.
  group: [
    "@drover/*/*",
    "!@drover/testing/fault-proxy",
    "!@drover/queue/memory",
    "**/../../packages/**",
    "**/../../apps/**",
  ],
  message: "Import a package by its name: its index is its interface.",
};

/**
 * The dependency law: the packages that each package may import. `json` is at the bottom, then `controller`, then `queue`,
 * `kube` and `webhook`, then what stands on them; functions, apps and examples are at the top, and no package
 * imports an app.
 */
const mayImport = {
  json: [],
  listener: [],
  random: [],
  controller: ["json"],
  aws: ["controller", "external"],
  compose: ["controller", "json", "kube"],
  external: ["controller", "json", "kube"],
  timers: ["controller"],
  webhook: ["controller", "json"],
  queue: ["controller", "timers"],
  kube: ["controller", "json", "timers"],
  sandbox: ["json", "listener"],
  workloads: ["controller", "json", "kube"],
  calls: ["compose", "controller", "json", "kube", "queue", "timers", "webhook"],
  runtime: ["controller", "json", "kube", "listener", "queue", "timers", "webhook"],
  bridge: ["controller", "json", "kube", "queue", "runtime", "timers", "webhook"],
  testing: [
    ...[
      "bridge",
      "controller",
      "json",
      "kube",
      "listener",
      "queue",
      "queue/memory",
      "random",
      "runtime",
      "sandbox",
      "timers",
    ],
  ],
  // A function and a bridge in one process.
  embedded: ["bridge", "controller", "runtime"],
  // The published package, whose entries name what is public.
  drover: [
    ...[
      "aws",
      "compose",
      "controller",
      "embedded",
      "external",
      "json",
      "kube",
      "queue",
      "runtime",
      "testing",
    ],
    "testing/fault-proxy",
  ],
  deployment: ["controller", "kube", "runtime", "workloads"],
  replicaset: ["controller", "kube", "runtime", "workloads"],
  daemonset: ["controller", "json", "kube", "runtime", "workloads"],
  job: ["controller", "kube", "runtime", "workloads"],
  cronjob: ["controller", "job", "kube", "runtime", "workloads"],
  endpointslice: ["controller", "kube", "runtime", "workloads"],
  // The example of docs/external-resources.md: the public package suffices.
  "load-balancer": ["drover"],
  "s3-bucket": ["aws", "controller", "external", "json", "kube", "runtime"],
  // `drover dev` has an API server and a bridge in its process, and starts Redis and the function.
  cli: [
    ...["bridge", "calls", "compose", "controller", "deployer", "json", "kube", "local-servers", "queue"],
    ...["runtime", "sandbox", "testing", "testing/fault-proxy", "webhook"],
  ],
  "bridge-server": ["bridge", "controller", "runtime", "timers"],
  "controller-manager": [
    "controller",
    "cronjob",
    "daemonset",
    "deployment",
    "endpointslice",
    "job",
    "replicaset",
    "runtime",
  ],
  deployer: ["controller", "kube", "queue", "runtime", "timers"],
  gateway: ["calls", "controller", "json", "kube", "queue", "runtime", "timers", "webhook"],
  demo: ["local-servers"],
  "sandbox-server": ["runtime", "sandbox"],
  "client-go-queue": ["local-servers"],
  "local-servers": ["listener"],
  "process-kubelet": ["controller", "kube", "local-servers", "runtime", "timers"],
  "real-cluster": ["local-servers"],
};
/** Servers and programs, which a package's test fixtures may start, too. */
const forFixtures = ["client-go-queue", "local-servers", "random", "real-cluster", "sandbox"];
/** The doors that a package may open. */
const opens = {
  queue: ["ioredis"],
  kube: ["@kubernetes/client-node"],
  aws: ["@aws-sdk", "@smithy"],
  "s3-bucket": ["@aws-sdk"],
  "load-balancer": ["@aws-sdk"],
};

/** What `files` must not import: a door that is not open to them, and packages that `law` does not name. */
const imports = (files, mine, law) => ({
  files,
  rules: {
    "no-restricted-imports": [
      "error",
      { patterns: [deep, ...door(...mine), ...(law === undefined ? [] : [only(law)])] },
    ],
  },
});
/** The published package is for those that the law names only: it imports nearly all others. */
const only = (names) => ({
  regex: `^@drover/(?!(${names.join("|")})$)${names.includes("drover") ? "" : "|^drover(?!/package.json$)(/|$)"}`,
  message: "The dependency law, mayImport in eslint.config.js, does not allow this import.",
});

/** The rules for each package of the repository, by its folder: a package that the law does not name is an error. */
const layers = globSync("{packages,functions,apps,examples,tools}/*/package.json", {
  cwd: import.meta.dirname,
}).flatMap((file) => {
  const name = JSON.parse(readFileSync(join(import.meta.dirname, file), "utf8")).name.replace("@drover/", "");
  if (!Object.hasOwn(mayImport, name)) {
    throw new Error(
      `${file}: add a row for ${name} to mayImport in eslint.config.js: the packages that it may import.`,
    );
  }
  const source = `${dirname(file)}/src/**`;
  const fixtures = ["*.fixture.ts", "testing/**", "client-go/**"].map((each) => `${source}/${each}`);
  const mine = opens[name] ?? [];
  return [
    imports([source], mine, mayImport[name]),
    imports(fixtures, mine, [...mayImport[name], ...forFixtures]),
  ];
});

const packed = {
  selector: "ObjectExpression > SpreadElement > ObjectExpression",
  message: "Write the properties out: `...{ a, b }` is `a, b`.",
};
/**
 * A BullMQ job is disposable: timers, retries, order and merging are the ledger's. So jobs are added in one file, which gives a
 * job nothing but these options, and uses none of BullMQ's own timers and pauses.
 */
const jobQueue = "packages/queue/src/bullmq/bullmq-job-queue.ts";
const jobOptions = "jobId|priority|attempts|removeOnComplete|removeOnFail";
const addsJob = "CallExpression[callee.object.name='queue'][callee.property.name='add']";
const jobRules = [
  packed,
  {
    selector: `${addsJob} > ObjectExpression:last-child > Property:not([key.name=/^(${jobOptions})$/])`,
    message: `A job has no options but ${jobOptions.replaceAll("|", ", ")}: timers, retries and order are the ledger's.`,
  },
  {
    selector: `${addsJob}[arguments.2.type!='ObjectExpression'], ${addsJob} > ObjectExpression > SpreadElement`,
    message: "Write a job's options out, so that they can be read here.",
  },
  {
    selector: `${addsJob} > ObjectExpression:last-child > Property[key.name='attempts'][value.value!=1]`,
    message: "A job has one attempt: retries are the ledger's.",
  },
  {
    selector:
      "MemberExpression[property.name=/^(addBulk|moveToDelayed|changeDelay|retry|retryJobs|pause|rateLimit|setGlobalConcurrency|upsertJobScheduler)$/][object.name=/^(queue|worker|job)$/]",
    message: "BullMQ only delivers jobs: its delays, retries, pauses and limits stay unused.",
  },
];
const tests = ["**/*.test.ts", "**/*.contract.ts", "**/*.faults.ts", "verification/**"];

export default tseslint.config(
  { ignores: ["**/node_modules", "**/dist", ".cache", ".run"] },
  // Stands on packages of its own, which are installed where it is built.
  { ignores: ["bench/peers/controllers/pepr"] },
  ...tseslint.configs.strictTypeChecked.map((config) => ({ ...config, files: ["**/*.ts"] })),
  {
    files: ["**/*.ts"],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
      "@typescript-eslint/consistent-type-imports": "error",
      // `{ a, ...rest }` is how a part is left out.
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/consistent-type-assertions": "error",
      "no-restricted-properties": [
        "error",
        {
          object: "process",
          property: "env",
          message: "process.env is read only in a config.ts, and parsed with zod.",
        },
      ],
      "no-restricted-syntax": ["error", packed],
      "max-lines": ["error", { max: 400, skipBlankLines: true, skipComments: true }],
      "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ["**/config.ts", "*.config.ts", "tools/**", ...tests],
    rules: { "no-restricted-properties": "off" },
  },
  {
    files: tests,
    rules: {
      "max-lines": ["error", 600],
      "max-lines-per-function": "off",
      "@typescript-eslint/no-non-null-assertion": "off",
    },
  },
  {
    // What people will write in place of it awaits.
    files: ["apps/cli/src/init/template/**"],
    rules: { "@typescript-eslint/require-await": "off" },
  },
  imports(["examples/**"], []),
  ...layers,
  // What users write imports what users have.
  imports(["examples/typescript/**", "apps/cli/src/init/template/**"], [], ["drover"]),
  imports(["packages/queue/src/bullmq/*.ts"], ["bullmq", "ioredis"], mayImport.queue),
  { files: [jobQueue], rules: { "no-restricted-syntax": ["error", ...jobRules] } },
  // A bench puts others beside us: it opens their doors too.
  imports(["bench/**"], ["bullmq", "ioredis"]),
  // A test may bring the real parts that its subject stands on.
  { files: [...tests, "functions/*/src/testing/**"], rules: { "no-restricted-imports": "off" } },
);
