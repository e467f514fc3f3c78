import type { ServerResponse } from "node:http";
import type { ArmedFaults } from "./armed-faults.ts";
import type { Asked } from "./facts.ts";
import { type InsideList, insideLists, type RequestFaultKind } from "./schedule.ts";
import { parsedList, withContinue, withoutMetadata, withoutUids } from "./wrong-answers.ts";

/** One request, and what can be done about it. */
export interface Exchange {
  readonly asked: Pick<Asked, "verb" | "query">;
  readonly response: ServerResponse;
  /** To be called when an answer begins. */
  readonly answered: (said: { readonly status: number }) => void;
  /** What the API server answers. */
  readonly genuine: () => Promise<{ readonly status: number; readonly body: Buffer }>;
}

/** Faults inside a list: the server's own answer with something wrong in it. */
export interface ListAnswers {
  /** Whether it asks for a page of a list that never ends: the server knows nothing of it. */
  isMadeUp(asked: Exchange["asked"]): boolean;
  /** `cycle`: see the schedule's. */
  spoil(kind: InsideList, cycle: number, exchange: Exchange): Promise<void>;
}

export const isInsideList = (kind: RequestFaultKind | "expired"): kind is InsideList =>
  insideLists.some((each) => each === kind);

const madeUp = "endless-";

export function listAnswers(faults: Pick<ArmedFaults, "isEndless">): ListAnswers {
  let page = Buffer.alloc(0);
  let tokens = 0;
  const isMadeUp: ListAnswers["isMadeUp"] = ({ verb, query }) =>
    verb === "page" && (new URLSearchParams(query).get("continue") ?? "").startsWith(madeUp);
  return {
    isMadeUp,
    async spoil(kind, cycle, { asked, response, answered, genuine }) {
      if (!(isMadeUp(asked) && faults.isEndless())) {
        const { status, body } = await genuine();
        if (status !== 200) {
          answered({ status });
          response.writeHead(status, { "content-type": "application/json" }).end(body);
          return;
        }
        page = Buffer.from(body);
      }
      const token = `${madeUp}${cycle === 0 ? tokens++ : tokens++ % cycle}`;
      answered({ status: 200 });
      response.writeHead(200, { "content-type": "application/json" }).end(spoiled(kind, page, token));
    },
  };
}

function spoiled(kind: InsideList, page: Buffer, token: string): string | Buffer {
  const list = parsedList(page);
  switch (kind) {
    case "list-no-metadata":
      return JSON.stringify(withoutMetadata(list));
    case "list-no-uid":
      return JSON.stringify(withoutUids(list));
    case "list-endless":
      return JSON.stringify(withContinue(list, token));
    case "list-truncated":
      return page.subarray(0, page.length >> 1);
  }
}
