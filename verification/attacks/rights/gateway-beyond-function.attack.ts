import { customResourceDefinition } from "@drover/controller";
import { kindRef, object } from "../../harness/manifests.ts";
import { Greeting } from "../../../examples/typescript/greeting.ts";
import { type Attack, outcomeOf } from "../attack.ts";
import { everything, accountOf, functionOf } from "./function-of.ts";

const gateway = { user: "system:serviceaccount:drover:gateway" };
const greetings = `${Greeting.plural}.${Greeting.group}`;

export const attack: Attack = {
  name: "a called function gives the gateway one right: to impersonate that function",
  kind: "what is checked is not what is granted",
  needs: ["cluster"],
  async run({ cluster }) {
    const at = cluster();
    const [mine, next] = [await at.namespace("called"), await at.namespace("called-next")];
    const author = { user: "author-of-called" };
    await at.grant(author, everything, mine);
    await at.apply([{ ...customResourceDefinition(Greeting) }]);
    await at.kubectl(["wait", "--for=condition=Established", `crd/${greetings}`]);
    const as = await at.kubeconfigOf(author);
    const forGreetings = { ...kindRef(Greeting), namespaces: [mine] };
    await at.apply(
      [
        functionOf(mine, "acted", {
          for: forGreetings,
          delivery: "webhook",
          container: undefined,
          webhook: { service: { name: "nowhere", port: 80 } },
        }),
      ],
      { as },
    );
    const greeting = object(Greeting, "one", { name: "one" }, mine);
    await at.permitted(mine, "acted", as);
    await at.apply([greeting]);
    // There is no such Service: the gateway writes this into the object's status.
    const reason = "jsonpath={.status.conditions[?(@.type=='Ready')].message}";
    await at.until("the gateway has written a status for the function", async () => {
      const message = await at.kubectl(["get", greetings, "one", "-n", mine, "-o", reason]);
      return message.includes("There is no Service") || undefined;
    });
    const seen: string[] = [];
    for (const namespace of [mine, next, "kube-system", undefined])
      for (const [verb, resource] of [
        ...["get", "patch"].map((verb) => [verb, greetings] as const),
        ["update", `${greetings}/status`],
        ["create", "events.events.k8s.io"],
        ["get", "secrets"],
        ["impersonate", "serviceaccounts"],
        ["impersonate", "users"],
        ["impersonate", "groups"],
      ] as const)
        if (await at.may(gateway, verb, resource, namespace))
          seen.push(`${verb} ${resource} in ${namespace ?? "all namespaces"}`);
    if (!(await at.may(gateway, "impersonate", "serviceaccounts/acted", mine)))
      throw new Error("The gateway may not act as the function, so nothing here shows anything.");
    for (const other of ["serviceaccounts/default", "serviceaccounts/acted-2"])
      if (await at.may(gateway, "impersonate", other, mine)) seen.push(`impersonate ${other}`);
    // The function's account: in the namespace that the author named, and nowhere else.
    const account = accountOf(mine, "acted");
    if (!(await at.may(account, "patch", greetings, mine))) throw new Error("The function may do nothing.");
    if (await at.may(account, "patch", greetings, next)) seen.push("the function patches what is elsewhere");
    const written = (await at.audited()).filter(({ resource }) => /^(greetings|events)/.test(resource));
    if (!written.some(({ verb }) => verb !== "get"))
      throw new Error("The audit log has no write for the function.");
    for (const { user, verb, resource } of written)
      if (user === gateway.user) seen.push(`in the audit log the gateway itself: ${verb} ${resource}`);
    await at.kubectl(["delete", "reconcilefunction", "acted", "-n", mine, "--timeout=60s"], { as });
    if (await at.may(gateway, "impersonate", "serviceaccounts/acted", mine))
      seen.push("it may still act as it");
    if (await at.may(account, "patch", greetings, mine)) seen.push("the account kept its rights");
    return outcomeOf(seen, `all ${written.length} requests for the function were made as ${account.user}`);
  },
};
