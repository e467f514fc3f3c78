import type { Attack } from "../attack.ts";
import { configMaps, configMapsOfDefault, named, stageBridge, within } from "./bridge-stage.ts";

export const attack: Attack = {
  name: "a poisoned queue does not keep a starting bridge from becoming ready",
  kind: "shared fate",
  needs: ["redis"],
  async run({ redis }) {
    const functions = ["evil", "victim"].map((name) => ({ name, for: configMaps }));
    await using stage = await stageBridge(redis().url, functions, "evil");
    await stage.attacker.hset(stage.control, "schema", 999);
    const { url } = await stage.startBridge();
    await stage.create(configMapsOfDefault, named("made"));
    if (!(await within(15, async () => (await stage.wakes("victim", "made")) > 0)))
      return { succeeded: true, evidence: "the victim's queue was not woken at all" };
    let readiness = "";
    const isReady = await within(15, async () => {
      const answer = await fetch(`${url}/readyz`);
      readiness = `${answer.status} ${(await answer.text()).trim()}`;
      return answer.ok;
    });
    return { succeeded: !isReady, evidence: `/readyz within 15 s: ${readiness.replaceAll("\n", "; ")}` };
  },
};
