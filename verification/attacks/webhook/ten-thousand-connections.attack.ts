import type { Attack } from "../attack.ts";
import { flood, genuineFrom } from "./flood.ts";
import { startHooks } from "./listeners.ts";

/** Others are judged by the status that a plain HTTP client gets for a genuine message. */
export const attack: Attack = {
  name: "ten thousand connections from one address stop no other sender",
  kind: "work before verification",
  needs: [],
  slow: true,
  async run() {
    const listener = await startHooks();
    const before = await genuineFrom(listener, "127.0.0.3");
    const held = await flood(listener, { connections: 10000, from: "127.0.0.2" });
    const another = await genuineFrom(listener, "127.0.0.3");
    const neighbour = await genuineFrom(listener, "127.0.0.2");
    held.end();
    await listener.close();
    const { taken } = listener;
    if (before !== taken) throw new Error(`A genuine message is answered ${before}, not ${taken}.`);
    return {
      succeeded: another !== taken || neighbour !== taken,
      evidence: `before ${before}; with 10000 half-sent: another address ${another}, the same address ${neighbour}`,
    };
  },
};
