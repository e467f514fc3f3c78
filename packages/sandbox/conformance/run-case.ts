// One case on one server: its namespace, its requests in order with values of earlier answers, its answers.
import { setTimeout as pause } from "node:timers/promises";
import { isArray, isObject, isString, sortedJson } from "../src/json.ts";
import type { Json } from "../src/json.ts";
import type { Answer, Asked, Server, Servers } from "./servers.ts";
import type { Case, Step } from "./steps.ts";

/** The requests and answers of a case on one server, without the steps that only wait. */
export interface Run {
  readonly asked: readonly Asked[];
  readonly answers: readonly Answer[];
}

const patienceMs = 30_000;
const reference = /<([a-zA-Z]\w*)((?:\.[\w-]+)*)>/g;

function valueAt(answer: Json | undefined, path: string): string | undefined {
  let at: Json | undefined = answer;
  for (const key of path.split(".").slice(1))
    at = isArray(at) ? at[Number(key)] : isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  if (at === undefined || at === null) return undefined;
  return isString(at) ? at : JSON.stringify(at);
}

const filled = (text: string, known: ReadonlyMap<string, Json>): string =>
  text.replaceAll(reference, (all, name: string, path: string) => valueAt(known.get(name), path) ?? all);

/** Fills the references in the texts of a JSON value. */
function filledJson(value: Json, known: ReadonlyMap<string, Json>): Json {
  if (isString(value)) return filled(value, known);
  if (isArray(value)) return value.map((one) => filledJson(one, known));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [filled(key, known), filledJson(inner, known)]),
  );
}

function asked(step: Step, known: ReadonlyMap<string, Json>): Asked {
  const { method, path, body, text, headers = {}, until } = step;
  const sent =
    text === undefined
      ? body === undefined
        ? ""
        : JSON.stringify(filledJson(body, known))
      : filled(text, known);
  const typed = sent === "" ? {} : { "content-type": "application/json" };
  return {
    method,
    path: filled(path, known),
    body: sent,
    until: until === undefined ? until : filled(until, known),
    headers: Object.fromEntries(
      Object.entries({ ...typed, ...headers }).map(([key, value]) => [key, filled(value, known)]),
    ),
  };
}

/** Repeats a request until the answer is as expected. If it never is, returns a text that differs for each server. */
async function awaited(
  server: Server,
  request: Asked,
  code: number,
  saying: string,
): Promise<Answer | undefined> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const answer = await server.send(request);
    if (answer.code === code && sortedJson(answer.body).includes(saying)) return undefined;
    if (Date.now() > deadline)
      return { ...answer, body: { [`${server.name} never had`]: saying, was: answer.body } };
    await pause(20);
  }
}

/** Runs a case on a server; `id` is a word for this case only. */
export async function runCase(server: Server, { steps }: Case, id: string): Promise<Run> {
  const known = new Map<string, Json>([
    ["id", id],
    ["ns", `ns-${id}`],
  ]);
  const run = { asked: [] as Asked[], answers: [] as Answer[] };
  if (JSON.stringify(steps).includes("<ns>"))
    await server.send(
      asked({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: "<ns>" } } }, known),
    );
  for (const step of steps) {
    const request = asked(step, known);
    if (step.awaiting !== undefined) {
      const wrong = await awaited(server, request, step.awaiting, filled(step.saying ?? "", known));
      if (wrong === undefined) continue;
      run.asked.push(request);
      run.answers.push(wrong);
      break;
    }
    const answer = await server.send(request);
    run.asked.push(request);
    run.answers.push(answer);
    if (step.as !== undefined) known.set(step.as, answer.body);
  }
  return run;
}

/** Runs all cases, several at once. The results are in the order of the cases. */
export async function runCases(
  server: Server,
  cases: readonly Case[],
  prefix = "c",
): Promise<readonly Run[]> {
  const results: Run[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < cases.length; i = next++) {
      const one = cases[i];
      if (one) results[i] = await runCase(server, one, `${prefix}${i}`);
    }
  };
  await Promise.all(Array.from({ length: 12 }, worker));
  return results;
}

/** Runs all cases on both servers at once. The results are in the order of the cases. */
export async function runOnBoth(
  { real, sandbox }: Servers,
  cases: readonly Case[],
  prefix: string,
): Promise<readonly (readonly [real: Run, sandbox: Run])[]> {
  const [theirs, ours] = await Promise.all([runCases(real, cases, prefix), runCases(sandbox, cases, prefix)]);
  return theirs.flatMap((run, i) => {
    const other = ours[i];
    return other ? [[run, other] as const] : [];
  });
}
