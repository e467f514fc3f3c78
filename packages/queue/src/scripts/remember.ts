import { lua } from "../lua.ts";

/** Keep the keys that a key named, for as long as its run holds it. Answers 1, or 0 where it does not. */
export const remember = lua(
  "remember the keys that a key named",
  ["key", "token", "named"],
  `
local P = KEYS[1]
if redis.call('HGET', P .. ':key:' .. key, 'token') ~= token then return 0 end
if named == '' then redis.call('HDEL', P .. ':named', key) else redis.call('HSET', P .. ':named', key, named) end
return 1
`,
);
