import type { ObjectKey } from "@drover/controller";
import { callLua, defineLuaScript, queuePrefix, type RedisConnection } from "@drover/queue";
import { z } from "zod";
import { parsedJson } from "../store/parsed-json.ts";
import type { BridgeGroup } from "../streams/bridge-group.ts";
import { scanRecords } from "../store/scan-records.ts";

/** Start and end of a campaign, by Redis time, ms. Its progress follows from the runs of its keys. */
export interface CampaignRecord {
  readonly startedAt: number;
  readonly done?: { readonly at: number; readonly total: number } | undefined;
}

/** The last campaigns of each controller. They are stored with the keys of its queue, and deleted with them. */
export interface CampaignStore {
  /** The keys of all objects of these subscriptions, in batches. */
  objects(of: readonly CampaignObjects[]): AsyncIterable<readonly ObjectKey[]>;
  /** Begins the campaign now, unless it has begun already. */
  begin(campaign: CampaignId, now: number): Promise<CampaignRecord>;
  /** Marks the campaign as done, unless another one has begun since. */
  finish(campaign: CampaignId, done: NonNullable<CampaignRecord["done"]>): Promise<void>;
}

/** The controller's own objects, in one of the streams that contain them. */
export interface CampaignObjects {
  readonly stream: string;
  readonly subscription: string;
}

export interface CampaignId {
  /** The controller's queue. */
  readonly controller: string;
  /** All objects of the controller, or those that failed or are parked. The two are separate, and may run at once. */
  readonly of: "all" | "failed";
  /** A campaign with another name is another campaign. */
  readonly name: string;
}

const beginCampaign = defineLuaScript(
  "begin a campaign",
  ["of", "name", "at"],
  `
local campaign = KEYS[1] .. (of == 'failed' and ':retries' or ':campaign')
local was = redis.call('TYPE', campaign).ok == 'string' and redis.call('GET', campaign)
local ok, last = pcall(decoded, was or '')
if ok and type(last) == 'table' and last.name == name and last.startedAt then return was end
local begun = cjson.encode({ name = name, startedAt = tonumber(at) })
redis.call('SET', campaign, begun)
return begun
`,
);

const finishCampaign = defineLuaScript(
  "finish a campaign",
  ["of", "name", "done"],
  `
local campaign = KEYS[1] .. (of == 'failed' and ':retries' or ':campaign')
local was = redis.call('TYPE', campaign).ok == 'string' and redis.call('GET', campaign)
local ok, last = pcall(decoded, was or '')
if not ok or type(last) ~= 'table' or last.name ~= name then return 0 end
last.done = decoded(done)
redis.call('SET', campaign, cjson.encode(last))
return 1
`,
);

const campaignRecordSchema = z.object({
  startedAt: z.number(),
  done: z.object({ at: z.number(), total: z.number() }).optional(),
});

/** @param redisOf the connection to the keys of a queue; default: the Redis of the streams. */
export function openCampaigns(
  redis: RedisConnection,
  { prefixOf }: BridgeGroup,
  redisOf: (queue: string) => RedisConnection = () => redis,
): CampaignStore {
  return {
    async *objects(of) {
      for (const { stream, subscription } of of)
        for await (const piece of scanRecords(redis, prefixOf(stream)))
          yield piece.filter(({ matched }) => Object.hasOwn(matched, subscription)).map(({ key }) => key);
    },
    async begin({ controller, of, name }, now) {
      const text = await callLua(redisOf(controller), beginCampaign, queuePrefix(controller), {
        of,
        name,
        at: now,
      });
      return parsedJson(campaignRecordSchema, z.string().parse(text)) ?? { startedAt: now };
    },
    async finish({ controller, of, name }, done) {
      await callLua(redisOf(controller), finishCampaign, queuePrefix(controller), {
        of,
        name,
        done: JSON.stringify(done),
      });
    },
  };
}
