import type { Attack } from "../attack.ts";
import { startPart } from "./started-part.ts";

export const attack: Attack = {
  name: "a Pod without rights reads neither another tenant's scaling figure nor metrics",
  kind: "a decision is not asked for",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const [victim, stranger] = [
      await installation.namespace("figures-victim"),
      await installation.namespace("figures-stranger"),
    ];
    await using part = await startPart("deployer", {
      DROVER_KUBECONFIG: await installation.kubeconfigOfAccount("drover", "deployer"),
      DROVER_REDIS_URL: installation.redisUrlOf("deployer"),
      // As in a cluster, where it listens on its Pod's address.
      DROVER_METRICS_AUTH: "kubernetes",
    });
    const token = await installation.cluster.tokenOf(stranger, "default");
    const ask = async (path: string, headers: Record<string, string>) => {
      const answer = await fetch(part.url + path, { headers });
      return { path, status: answer.status, text: await answer.text() };
    };
    const paths = ["/metrics", "/scaling/drover/reconcilefunctions.drover.dev", `/scaling/${victim}/any`];
    const tries = await Promise.all(
      paths.flatMap((path) => [ask(path, {}), ask(path, { authorization: `Bearer ${token}` })]),
    );
    const reader = ["create", "clusterrolebinding", "figures-reader", "--clusterrole=drover-metrics-reader"];
    await installation.kubectl([...reader, `--serviceaccount=${victim}:default`]);
    const other = await installation.cluster.tokenOf(victim, "default");
    // Control: an authorised reader gets an answer. A refusal is cached for 10 s.
    await installation.until("a reader of metrics reads them", async () =>
      (await ask("/metrics", { authorization: `Bearer ${other}` })).text.includes("process_cpu"),
    );
    const given = tries.filter(({ status }) => status !== 401 && status !== 403);
    return {
      succeeded: given.length > 0,
      evidence: `answers: ${tries.map(({ path, status }) => `${path} ${status}`).join(", ")}`,
    };
  },
};
