import type { Attack } from "../attack.ts";
import { endlessCompletion, startCompletions } from "./listeners.ts";
import { costOfDigits } from "./spent.ts";

/** Judged by the processor time that the process of the listener takes, compared with as many letters. */
export const attack: Attack = {
  name: "an unsigned completion with a duration of endless digits costs no more than its bytes",
  kind: "work before verification",
  needs: [],
  async run() {
    const listener = await startCompletions();
    const headers = { ...listener.genuine().headers, "webhook-signature": `v1,${"A".repeat(43)}=` };
    try {
      return await costOfDigits((duration) =>
        fetch(listener.url + listener.path, { method: "POST", headers, body: endlessCompletion(duration) }),
      );
    } finally {
      await listener.close();
    }
  },
};
