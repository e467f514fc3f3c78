import type { Attack } from "../attack.ts";
import { stageVictim, within } from "./bridge-stage.ts";

export const attack: Attack = {
  name: "a poisoned queue does not keep a starting bridge from becoming ready",
  kind: "shared fate",
  needs: ["redis"],
  async run({ redis }) {
    await using stage = await stageVictim(redis().url);
    await stage.attacker.hset(stage.control, "schema", 999);
    const { url } = await stage.startBridge();
    await stage.createMap("made");
    if (!(await stage.isWoken("victim", "made")))
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
