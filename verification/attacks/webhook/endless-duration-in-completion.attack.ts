import type { Attack } from "../attack.ts";
import { endlessCompletion, startCompletions } from "./listeners.ts";
import { spent, timesAsMuch } from "./spent.ts";

const length = 100_000;

/** Judged by the processor time that the process of the listener takes, beside as many letters that are no duration. */
export const attack: Attack = {
  name: "an unsigned completion with a duration of endless digits costs no more than its bytes",
  kind: "work before verification",
  needs: [],
  async run() {
    const listener = await startCompletions();
    const send = (letters: string) => async () => {
      const headers = { ...listener.genuine().headers, "webhook-signature": `v1,${"A".repeat(43)}=` };
      const body = endlessCompletion(letters);
      return (await fetch(listener.url + listener.path, { method: "POST", headers, body })).status;
    };
    await send("1s")();
    const harmless = await spent(send("x".repeat(length)));
    const digits = await spent(send("1".repeat(length)));
    await listener.close();
    return {
      succeeded: timesAsMuch(digits, harmless) > 10,
      evidence: `${length} digits: ${digits.toFixed(0)} ms of the processor; as many letters: ${harmless.toFixed(0)} ms`,
    };
  },
};
