import type { ObjectKey } from "@drover/controller";
import { callLua, queuePrefix, type RedisConnection } from "@drover/queue";
import { z } from "zod";
import { parsedJson } from "../store/parsed-json.ts";
import type { BridgeGroup } from "../streams/bridge-group.ts";
import { scanRecords } from "../store/scan-records.ts";
import { bridgeScripts } from "../scripts/bridge-scripts.ts";

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
      const text = await callLua(redisOf(controller), bridgeScripts.beginCampaign, queuePrefix(controller), {
        of,
        name,
        at: now,
      });
      return parsedJson(campaignRecordSchema, z.string().parse(text)) ?? { startedAt: now };
    },
    async finish({ controller, of, name }, done) {
      await callLua(redisOf(controller), bridgeScripts.finishCampaign, queuePrefix(controller), {
        of,
        name,
        done: JSON.stringify(done),
      });
    },
  };
}
