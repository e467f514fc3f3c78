import { ReconcileFunction } from "@drover/controller";
import { freePort } from "@drover/local-servers";
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { pseudoRandom } from "@drover/random";
import { functionFor, type Manifest, object, secret } from "../../harness/manifests.ts";
import { calledAccount } from "../stage/called-account.ts";
import { Ledger, Page, Posting } from "../functions/ledgers.ts";
import { conditionOf, ofCluster, worldOfFile } from "../stage/world.ts";

/* Documents with integers of 64 bits go the whole way, and what the API server holds at its end is compared as text: nothing of
   Drover's writes the documents or reads what became of them. */
const world = await worldOfFile(ReconcileFunction, Ledger, Page, Posting);

/** Numbers as Go writes them. */
const numbers = [
  ...["9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993", "9007199254740995"],
  ...["9223372036854775807", "-9223372036854775808", "1000000000000000001", "1152921504606847000"],
  ...["1152921504606846976", "12345678901234567000", "1e+21", "0.5", "-1.25", "0", "7", "1234567890123456"],
];
const texts = ["", "a", ",9007199254740993", "[9007199254740993]", 'say \\"x\\":9007199254740993,', "\\\\"];

/** A document as the API server writes it: names in order, nothing in between. */
function document(random: () => number, depth = 0): string {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const several = <T>(make: (i: number) => T): T[] =>
    Array.from({ length: Math.floor(random() * 4) + 1 }, (_, i) => make(i));
  const kind = depth === 0 ? 0.9 : random() - depth / 20;
  if (kind > 0.75)
    return `{${several((i) => `"${"abcd"[i] ?? ""}${Math.floor(random() * 9)}":${document(random, depth + 1)}`).join()}}`;
  if (kind > 0.6) return `[${several(() => document(random, depth + 1)).join()}]`;
  if (kind > 0.5) return `"${pick(texts)}"`;
  if (kind > 0.45) return "true";
  if (random() < 0.5) return pick(numbers);
  const digits = (BigInt(Math.floor(random() * 2 ** 31)) << 32n) | BigInt(Math.floor(random() * 2 ** 32));
  return String(random() < 0.5 ? digits : -digits);
}

/** A JSON text as a value that `JSON.stringify` writes as that text. */
const asIs = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" ? JSON.rawJSON(context?.source ?? "") : value,
  );

const textOf = ({ kind, metadata: { name } }: Manifest): Promise<string> =>
  world.cluster.readText(`/apis/example.com/v1/namespaces/default/${kind.toLowerCase()}s/${name}`);
const timesIn = (text: string, part: string): number => text.split(part).length - 1;

const documents = Array.from({ length: 24 }, (_, seed) => ({
  any: document(pseudoRandom(seed).fraction),
  amount: numbers[seed % 8] ?? "",
}));
const specs = documents.map(({ any, amount }) => ({ any: asIs(any), amount: JSON.rawJSON(amount) }));
const isDone = (status: Readonly<Record<string, unknown>> | undefined): boolean =>
  status?.["any"] !== undefined;

/** Nested deeper than any real object, with an integer at its end; the sandbox accepts less depth than an API server. */
function deep(): unknown {
  let value: unknown = JSON.rawJSON("9007199254740993");
  for (let i = process.env["DROVER_TEST_CLUSTER"] === "real" ? 4_000 : 400; i > 0; i--) value = [value];
  return value;
}

describe("integers keep their digits", () => {
  it("from the API server through Redis to a function, to its status and to objects that it writes", async () => {
    await world.cluster.apply(object(Ledger, "deep", { any: deep(), amount: 1 }));
    await world.startProcess(
      "ledgers",
      "verification/end-to-end/functions/embedded-ledgers.ts",
      "; watching",
      {},
    );
    const all = specs.map((spec, i) => object(Ledger, `l${i}`, spec));
    for (const one of all) await world.cluster.apply(one);
    for (const [i, one] of all.entries()) {
      await world.until(one, (now) => isDone(now?.status));
      const { any, amount } = documents[i]!;
      const ledger = await textOf(one);
      expect([timesIn(ledger, `"any":${any}`), timesIn(ledger, `"amount":${amount}`)]).toEqual([2, 2]);
      const page = await textOf(object(Page, one.metadata.name));
      expect(page).toContain(`"any":${any}`);
      expect(page).toContain(`"replaced":${any}`);
      expect(page).toContain(`"patched":[${any}]`);
    }
  });

  it("over HTTP, to a function and back", async () => {
    const port = await freePort();
    const key = `whsec_${randomBytes(24).toString("base64")}`;
    const secrets = world.mount("postings", { current: key });
    await world.cluster.apply(secret("postings-webhook", { current: key }));
    for (const one of calledAccount("postings", Posting)) await world.cluster.apply(one);
    const webhook = { url: `http://127.0.0.1:${port}` };
    await world.cluster.apply(
      functionFor(Posting, "postings", { delivery: "webhook", webhook, copies: true }),
    );
    const [main, audience] = ["verification/end-to-end/functions/served-postings.ts", "default/postings"];
    await world.startServed({ name: "postings", main, port, audience, secrets, machine: "caller" });
    await Promise.all([
      world.startGateway({ allowed: port, machine: "caller" }),
      world.startBridge({ functions: ofCluster }),
    ]);
    const all = specs.map((spec, i) => object(Posting, `p${i}`, spec));
    for (const one of all) await world.cluster.apply(one);
    for (const [i, one] of all.entries()) {
      await world.until(one, (now) => isDone(now?.status));
      const { any, amount } = documents[i]!;
      const posting = await textOf(one);
      expect([timesIn(posting, `"any":${any}`), timesIn(posting, `"amount":${amount}`)]).toEqual([2, 2]);
    }
  });

  it("or the object's condition names the field that cannot hold them", async () => {
    for (const kind of [Ledger, Posting]) {
      const counted = { ...specs[0], count: JSON.rawJSON("9007199254740993") };
      const one = object(kind, "counted", counted);
      await world.cluster.apply(one);
      const now = await world.until(one, (now) => conditionOf(now)?.reason !== undefined);
      expect(conditionOf(now)).toMatchObject({ status: "False" });
      expect(conditionOf(now)?.message).toContain("spec.count: a JavaScript number cannot hold");
    }
  });
});
