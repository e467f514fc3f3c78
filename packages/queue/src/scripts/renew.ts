import { defineScript } from "../script.ts";
import { keyStates } from "./key-states.ts";

/** Hold a lease for longer. Answers 1, or 0 when it is no longer the token's: the run must stop. */
export const renew = defineScript({
  name: "renew",
  arguments: ["now", "key", "token", "lease"],
  uses: [keyStates],
  body: `
if get(key, 'token') ~= token or number(key, 'until') <= now then return 0 end
set(key, 'until', now + lease)
redis.call('ZADD', LEASES, now + lease, key)
return 1
`,
});
