// The linter carries the laws that a type checker cannot see: who may import whom, one door per foreign
// library, and configuration read in one place. Formatting is prettier's.
import tseslint from "typescript-eslint";

const doors = [
  {
    group: ["bullmq", "bullmq/*"],
    message:
      "packages/queue/src/bullmq-bells.ts, with -client.ts and -scripts.ts, is the only door to BullMQ.",
  },
  { group: ["ioredis", "ioredis/*"], message: "packages/queue is the only door to Redis." },
  {
    group: ["@kubernetes/client-node", "undici"],
    message: "packages/kube is the only door to the API server.",
  },
  { group: ["@aws-sdk/*"], message: "functions/s3-bucket is the only door to S3." },
];
const door = (...mine) => doors.filter(({ group }) => !mine.some((name) => group.includes(name)));
const unseen = (layers, message) => ({
  group: layers.flatMap((l) => [`@drover/${l}`, `@drover/${l}/*`]),
  message,
});
const deep = {
  group: ["@drover/*/*", "**/../../packages/**", "**/../../apps/**"],
  message: "Import a package by its name: its index is its interface.",
};

/** One layer of the dependency law: the packages that `files` must not know, and the doors that stay shut to it. */
const layer = (files, forbidden, mine = []) => ({
  files,
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          deep,
          ...door(...mine),
          ...(forbidden.length
            ? [
                unseen(
                  forbidden,
                  "The dependency law: json <- controller <- queue, kube, webhook <- streams, workloads, runtime <- functions; apps put them together.",
                ),
              ]
            : []),
        ],
      },
    ],
  },
});
/**
 * A bell is disposable: timers, retries, order and folding are the ledger's. So BullMQ is met in one file, which gives a
 * job nothing but these options, and asks for none of BullMQ's own timers and pauses.
 */
const bells = "packages/queue/src/bullmq-bells.ts";
const bellOptions = "jobId|priority|attempts|removeOnComplete|removeOnFail";
const addsBell = "CallExpression[callee.object.name='queue'][callee.property.name='add']";
const bellLaw = [
  {
    selector: `${addsBell} > ObjectExpression:last-child > Property:not([key.name=/^(${bellOptions})$/])`,
    message: `A bell has no options but ${bellOptions.replaceAll("|", ", ")}: timers, retries and order are the ledger's.`,
  },
  {
    selector: `${addsBell}[arguments.2.type!='ObjectExpression'], ${addsBell} > ObjectExpression > SpreadElement`,
    message: "Write a bell's options out, so that they can be read here.",
  },
  {
    selector: `${addsBell} > ObjectExpression:last-child > Property[key.name='attempts'][value.value!=1]`,
    message: "A bell has one attempt: retries are the ledger's.",
  },
  {
    selector:
      "MemberExpression[property.name=/^(addBulk|moveToDelayed|changeDelay|retry|retryJobs|pause|rateLimit|setGlobalConcurrency|upsertJobScheduler)$/][object.name=/^(queue|worker|job)$/]",
    message: "BullMQ only rings: its delays, retries, pauses and limits stay unused.",
  },
];
const apps = ["bridge", "cli", "gateway", "sandbox-server"];
const functions = ["deployment", "replicaset", "s3-bucket"];
const tests = ["**/*.test.ts", "**/*.contract.ts", "**/*.faults.ts", "tests/**", "verification/**"];

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
  layer(
    ["packages/{json,listener}/src/**"],
    [
      "controller",
      "queue",
      "kube",
      "streams",
      "runtime",
      "webhook",
      "sandbox",
      "local-servers",
      ...functions,
      ...apps,
    ],
  ),
  layer(
    ["packages/controller/src/**"],
    ["queue", "kube", "streams", "runtime", "webhook", "sandbox", "local-servers", ...functions, ...apps],
  ),
  layer(
    ["packages/webhook/src/**"],
    ["queue", "kube", "streams", "runtime", "sandbox", ...functions, ...apps],
  ),
  layer(
    ["packages/queue/src/**"],
    ["kube", "streams", "runtime", "sandbox", ...functions, ...apps],
    ["ioredis"],
  ),
  layer(
    ["packages/queue/src/bullmq-{bells,client,scripts}.ts"],
    ["kube", "streams", "runtime", "sandbox", ...functions, ...apps],
    ["bullmq", "ioredis"],
  ),
  { files: [bells], rules: { "no-restricted-syntax": ["error", ...bellLaw] } },
  layer(
    ["packages/kube/src/**"],
    ["queue", "streams", "runtime", ...functions, ...apps],
    ["@kubernetes/client-node"],
  ),
  layer(["packages/streams/src/**"], ["runtime", "sandbox", ...functions, ...apps]),
  layer(
    ["packages/fault-proxy/src/**"],
    ["queue", "streams", "runtime", "sandbox", "local-servers", "real-cluster", ...functions, ...apps],
  ),
  layer(["packages/testing/src/**"], ["local-servers", "real-cluster", ...functions, ...apps]),
  layer(["packages/runtime/src/**"], ["streams", ...functions, ...apps]),
  layer(
    ["packages/sandbox/src/**"],
    ["controller", "queue", "kube", "streams", "runtime", ...functions, ...apps],
  ),
  layer(["packages/workloads/src/**"], ["queue", "streams", "runtime", "sandbox", ...functions, ...apps]),
  // A function and a bridge in one process.
  layer(["packages/embedded/src/**"], [...functions, ...apps.filter((app) => app !== "bridge")]),
  layer(["functions/*/src/**"], ["queue", "streams", ...functions, ...apps], ["@aws-sdk/*"]),
  layer(["apps/*/src/**"], []),
  // A bench puts others beside us: it opens their doors too.
  layer(["bench/**"], [], ["bullmq", "ioredis"]),
  // A test may bring the real parts that its subject stands on.
  { files: [...tests, "functions/*/src/testing/**"], rules: { "no-restricted-imports": "off" } },
);
