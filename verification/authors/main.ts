/**
 * `npm run authors`: whether a function ends with anything that its author could not get with kubectl. Authors with random
 * rights write random ReconcileFunctions on a real API server with the shipped bridge, deployer and gateway; then many of
 * the authors lose some of their rights; then functions are deleted by hundreds.
 *
 * The truth comes from the API server's own authorizer (SubjectAccessReview) and by what is in Redis and in etcd:
 *
 * - whatever the ServiceAccount of a function may do, its author may do;
 * - whatever key is in a function's queue, its author may list objects of that kind there;
 * - a Secret's content is in no queue;
 * - of a function that was deleted no Role, binding, Redis user or key is left.
 *
 *   npm run authors -- --functions 1000 --seed 1
 */
import {
  type Access,
  accessesOf,
  type PolicyRule,
  queueOf,
  ReconcileFunction,
  resourceAttributesOf,
} from "@drover/controller";
import { builtin, type KubeObject, listAll, refOf } from "@drover/kube";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { z } from "zod";
import { pseudoRandom } from "@drover/random";
import { readyOf, startInstallation } from "../attacks/installation.ts";
import { wholeNumber } from "../harness/whole-number.ts";
import { type Author, randomAuthor, randomFunction, randomRules, words } from "./random-authors.ts";

const { values } = parseArgs({
  options: { functions: { type: "string", default: "1000" }, seed: { type: "string", default: "1" } },
});
const total = wholeNumber("functions", values.functions, 1);
const random = pseudoRandom(wholeNumber("seed", values.seed)).fraction;
const print = (line: string): void => console.log(line);
const at = await startInstallation((line) => console.error(line));
const signal = new AbortController().signal;
const ref = refOf(ReconcileFunction);
const problems: string[] = [];

/** Looks again and again for so many seconds; undefined when nothing was found. */
async function within<T>(seconds: number, look: () => Promise<T | undefined>): Promise<T | undefined> {
  const end = Date.now() + seconds * 1_000;
  for (;;) {
    const found = await look();
    if (found !== undefined || Date.now() > end) return found;
    await delay(1_000);
  }
}

const specSchema = z.looseObject({
  for: z.looseObject({ group: z.string(), plural: z.string() }),
  permissions: z
    .looseObject({
      namespace: z.custom<PolicyRule[]>().optional(),
      cluster: z.custom<PolicyRule[]>().optional(),
    })
    .optional(),
});
const functions = (): Promise<readonly KubeObject[]> => listAll(at.admin, ref, { signal });

/** The decision of the API server's own authorizer; the same question is asked once until rights change. */
const answers = new Map<string, Promise<boolean>>();
const may = (user: string, groups: readonly string[], access: Access): Promise<boolean> => {
  const spec = { user, groups, resourceAttributes: resourceAttributesOf(access) };
  const question = JSON.stringify(spec);
  const asked =
    answers.get(question) ??
    at.admin
      .review(builtin.subjectAccessReview, spec)
      .then((answer) => z.looseObject({ allowed: z.boolean() }).parse(answer).allowed);
  answers.set(question, asked);
  return asked;
};
const authorMay = (author: string, access: Access) => may(author, ["system:authenticated"], access);

/** What functions may do, hold in Redis, and their authors may not. */
async function judge(
  all: readonly KubeObject[],
): Promise<{ may: number; keys: number; gained: readonly string[] }> {
  const gained: string[] = [];
  let [allowed, keys] = [0, 0];
  const byQueue = new Map<string, { author: string; group: string; resource: string }>();
  for (const { metadata, ...object } of all) {
    const { name, namespace = "", annotations = {} } = metadata;
    const author = annotations["drover.dev/author"] ?? "";
    const { for: kind, permissions = {} } = specSchema.parse(object["spec"]);
    byQueue.set(queueOf({ ...metadata, namespace }), { author, group: kind.group, resource: kind.plural });
    const account = `system:serviceaccount:${namespace}:${name}`;
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
    const asked = [
      ...words.namespaces.flatMap((where) => accessesOf(permissions.namespace ?? [], where)),
      ...accessesOf(permissions.cluster ?? []),
      ...["get", "patch", "delete"].flatMap((verb) =>
        [...words.namespaces, undefined].map((where) => ({
          namespace: where,
          verb,
          group: kind.group,
          resource: kind.plural,
        })),
      ),
      ...accessesOf(randomRules(random), words.namespaces[Math.floor(random() * words.namespaces.length)]),
    ].slice(0, 120);
    await Promise.all(
      asked.map(async (access) => {
        if (!(await may(account, groups, access))) return;
        allowed += 1;
        if (!(await authorMay(author, access)))
          gained.push(`${account}: ${JSON.stringify(access)} of ${author}`);
      }),
    );
  }
  for await (const found of at.redis.scanStream({ match: "{drover:*}:key:*", count: 1_000 }) as AsyncIterable<
    string[]
  >)
    for (const key of found) {
      const [, queue = "", namespace = ""] = /^\{drover:([^}]+)\}:key:([^/]+)\//.exec(key) ?? [];
      const of = byQueue.get(queue);
      if (of === undefined) continue;
      keys += 1;
      const { author, group, resource } = of;
      if (!(await authorMay(author, { namespace, verb: "list", group, resource })))
        gained.push(`${author}: ${key}`);
      if ((await at.redis.hget(key, "cachedObject"))?.includes("canary") === true)
        gained.push(`${author}: the content of ${key}`);
    }
  return { may: allowed, keys, gained };
}

try {
  await at.apply(
    words.namespaces.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })),
  );
  await at.apply(
    words.namespaces.flatMap((namespace) =>
      words.names.flatMap((name) => [
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { of: namespace } },
        { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, stringData: { key: "canary" } },
      ]),
    ),
  );
  const authors: Author[] = [];
  for (let i = 0; i < 24; i++) {
    const author = randomAuthor(random, i);
    for (const { rules, namespace } of author.grants) await at.grant({ user: author.user }, rules, namespace);
    authors.push(author);
  }
  let refusedBySchema = 0;
  const perAuthor = Math.ceil(total / authors.length);
  for (const author of authors) {
    const written = Array.from({ length: perAuthor }, (_, i) => randomFunction(random, author, i));
    const as = await at.kubeconfigOf({ user: author.user });
    await at.apply(written, { as }).catch((error: unknown) => {
      refusedBySchema += String(error)
        .split("\n")
        .filter((line) => line.includes("is invalid")).length;
    });
  }
  const all = await within(1_800, async () => {
    const found = (await functions()).filter(({ metadata }) => metadata.namespace !== "drover");
    return found.every((each) => ![undefined, "Deploying"].includes(readyOf(each)?.reason))
      ? found
      : undefined;
  });
  if (all === undefined) throw new Error("Not all functions were judged within 1,800 s.");
  const held = all.filter(
    (one) => readyOf(one)?.reason !== "PermissionNotHeld" && readyOf(one)?.reason !== "InvalidSpec",
  );
  print(
    `${all.length} functions, ${refusedBySchema} more refused as they were written; ${held.length} permitted`,
  );
  const first = await judge(all);
  problems.push(...first.gained);
  print(
    `${first.may} accesses allowed, ${first.keys} keys in Redis: ${first.gained.length} beyond the author's`,
  );
  if (first.may < total / 2 || first.keys < total / 4 || held.length * 10 < all.length)
    throw new Error("Too little was permitted for this to show anything.");

  for (const { user } of authors.filter((_, i) => i % 2 === 0))
    await at.kubectl([
      "delete",
      "clusterrolebinding,rolebinding",
      "-A",
      "-l",
      `author=${user}`,
      "--wait=false",
    ]);
  const ofAccounts = async (): Promise<readonly string[]> => {
    answers.clear();
    return (await judge(all)).gained.filter((one) => one.startsWith("system:"));
  };
  const lost = (await ofAccounts()).length;
  const begun = Date.now();
  let late: readonly string[] = [];
  await within(120, async () => (late = await ofAccounts()).length === 0 || undefined);
  problems.push(...late);
  print(
    `half of the authors lost rights: ${lost} beyond theirs at first, ${late.length} after ${Math.round((Date.now() - begun) / 1_000)} s`,
  );

  for (const namespace of words.namespaces)
    await at.kubectl(["delete", "rf", "-n", namespace, "--all", "--wait=false"]);
  const isGone = await within(
    600,
    async () => (await functions()).every(({ metadata }) => metadata.namespace === "drover") || undefined,
  );
  if (isGone === undefined) throw new Error("Not all functions were deleted within 600 s.");
  const left = async (): Promise<readonly string[]> => {
    const roles = await at.kubectl([
      "get",
      "role,rolebinding,clusterrole,clusterrolebinding,serviceaccount",
      "-A",
      "-l",
      "drover.dev/function",
      "-o",
      "name",
    ]);
    const users = (await at.redis.acl("USERS")).filter((user) => /^function:n\d/.test(user));
    const keys = await at.redis.keys("{drover:n*");
    return [
      ...roles
        .trim()
        .split("\n")
        .filter((one) => one !== "" && !one.includes(":drover:")),
      ...users,
      ...keys,
    ];
  };
  let rest: readonly string[] = [];
  await within(120, async () => (rest = await left()).length === 0 || undefined);
  problems.push(...rest.map((one) => `left of a function that was deleted: ${one}`));
  print(`${all.length} functions deleted: ${rest.length} objects, users or keys left`);
} finally {
  await at.stop();
}
for (const problem of problems.slice(0, 50)) print(`! ${problem}`);
print(`${total} functions of 24 authors, seed ${values.seed}: ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
