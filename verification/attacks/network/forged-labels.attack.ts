import { z } from "zod";
import { type Connection, evaluate, type Peer } from "../../network-policies/evaluate.ts";
import { type Attack, outcomeOf } from "../attack.ts";
import { functionOf } from "../rights/function-of.ts";

const root = new URL("../../..", import.meta.url).pathname;
const parts = ["bridge", "deployer", "gateway"];
const policiesSchema = z.looseObject({
  items: z.array(z.looseObject({ metadata: z.looseObject({ name: z.string() }) })),
});

/** Policies are those that the shipped deployer and the manifests bring to a real API server; what they let in is evaluated. */
export const attack: Attack = {
  name: "no label on a Pod of another namespace opens a function or a part of Drover",
  kind: "a name is an identity",
  needs: ["cluster"],
  async run({ cluster }) {
    const at = cluster();
    const home = await at.namespace("reached");
    const author = { user: "author-of-reached", groups: ["system:masters"] };
    const as = await at.kubeconfigOf(author);
    await at.kubectl([
      "apply",
      ...parts.flatMap((part) => ["-f", `${root}apps/${part}/deploy/network-policies.yaml`]),
    ]);
    const functions = { pulling: {}, called: { delivery: "webhook" } };
    for (const [name, spec] of Object.entries(functions)) {
      await at.apply([functionOf(home, name, spec)], { as });
      await at.permitted(home, name, as);
      await at.until(`${name} has a NetworkPolicy`, () =>
        at.kubectl(["get", "networkpolicy", name, "-n", home]).then(Boolean, () => false),
      );
    }
    const { items } = policiesSchema.parse(
      JSON.parse(await at.kubectl(["get", "networkpolicies", "-A", "-o", "json"])),
    );
    const labels: Readonly<Record<string, string>>[] = [
      ...[...parts, "monitoring", "redis"].map((part) => ({ "drover.dev/component": part })),
      { app: "keda-operator" },
      { "kubernetes.io/metadata.name": "drover", "drover.dev/component": "gateway" },
      {},
    ];
    const forged = ["tenant", home, "default"].flatMap((namespace) =>
      labels.map((one, i): Peer => ({ ip: `10.244.9.${i + 1}`, namespace, labels: one })),
    );
    const inside = (part: string): Peer => ({
      ip: "10.244.1.1",
      namespace: "drover",
      labels: { "drover.dev/component": part },
    });
    const fn = (name: string): Peer => ({
      ip: "10.244.1.2",
      namespace: home,
      labels: { "drover.dev/function": name },
    });
    const port = { port: 8080, portName: "http" };
    const targets: readonly Omit<Connection, "from">[] = [
      ...Object.keys(functions).map((name) => ({ to: fn(name), ...port })),
      ...parts.map((part) => ({ to: inside(part), ...port })),
      { to: inside("gateway"), port: 8081, portName: "completions" },
      { to: inside("bridge"), port: 8082, portName: "hooks" },
      { to: inside("redis"), port: 6379 },
    ];
    const tries = forged.flatMap((from) => targets.map((target): Connection => ({ from, ...target })));
    const control: Connection = { from: inside("gateway"), to: fn("called"), ...port };
    const [known, ...verdicts] = await evaluate(items, [control, ...tries]);
    if (known?.ingress !== true || !known.egress)
      throw new Error("The gateway does not reach a function that it calls.");
    const opened = tries.filter((_, i) => verdicts[i]?.ingress !== false);
    const none = `${tries.length} tries with ${items.length} policies, none let in`;
    return outcomeOf(
      opened.map((one) => JSON.stringify(one)),
      none,
    );
  },
};
