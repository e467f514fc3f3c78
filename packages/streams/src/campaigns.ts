import type { ObjectKey } from "@drover/controller";
import { callLua, lua, type RedisConnection } from "@drover/queue";
import { z } from "zod";
import { parsedJson } from "./parsed-json.ts";
import type { Fleet } from "./fleet.ts";
import { seenBut } from "./stream-keys.ts";

/** When a campaign began, by Redis time, ms, and how it ended. All else that there is to know is how its keys ran. */
export interface BegunCampaign {
  readonly startedAt: number;
  readonly done?: { readonly at: number; readonly total: number } | undefined;
}

/** The campaigns of the controllers that are for a stream's kind: the last one of each. */
export interface CampaignStore {
  /** The keys that mean something to a subscription, in pieces. */
  objects(of: CampaignObjects): AsyncIterable<readonly ObjectKey[]>;
  /** Begins it now, unless it was begun. */
  begin(campaign: CampaignId, now: number): Promise<BegunCampaign>;
  /** It is done, unless another one was begun since. */
  finish(campaign: CampaignId, done: NonNullable<BegunCampaign["done"]>): Promise<void>;
}

/** The controller's own. */
export interface CampaignObjects {
  readonly stream: string;
  readonly subscription: string;
}

export interface CampaignId {
  readonly stream: string;
  readonly controller: string;
  /** Another one is another campaign. */
  readonly name: string;
}

const begin = lua(
  "begin a campaign",
  ["controller", "name", "at"],
  `
local campaigns = KEYS[1] .. ':campaigns'
local was = redis.call('HGET', campaigns, controller)
local ok, last = pcall(decoded, was or '')
if ok and type(last) == 'table' and last.name == name and last.startedAt then return was end
local begun = cjson.encode({ name = name, startedAt = tonumber(at) })
redis.call('HSET', campaigns, controller, begun)
return begun
`,
);

const finish = lua(
  "finish a campaign",
  ["controller", "name", "done"],
  `
local campaigns = KEYS[1] .. ':campaigns'
local ok, last = pcall(decoded, redis.call('HGET', campaigns, controller) or '')
if not ok or type(last) ~= 'table' or last.name ~= name then return 0 end
last.done = decoded(done)
redis.call('HSET', campaigns, controller, cjson.encode(last))
return 1
`,
);

const begunSchema = z.object({
  startedAt: z.number(),
  done: z.object({ at: z.number(), total: z.number() }).optional(),
});

export function openCampaigns(redis: RedisConnection, { prefixOf }: Fleet): CampaignStore {
  return {
    async *objects({ stream, subscription }) {
      for await (const piece of seenBut(redis, prefixOf(stream))) {
        yield piece.filter(({ meant }) => Object.hasOwn(meant, subscription)).map(({ key }) => key);
      }
    },
    async begin({ stream, controller, name }, now) {
      const text = await callLua(redis, begin, prefixOf(stream), { controller, name, at: now });
      return parsedJson(begunSchema, z.string().parse(text)) ?? { startedAt: now };
    },
    async finish({ stream, controller, name }, done) {
      const values = { controller, name, done: JSON.stringify(done) };
      await callLua(redis, finish, prefixOf(stream), values);
    },
  };
}
