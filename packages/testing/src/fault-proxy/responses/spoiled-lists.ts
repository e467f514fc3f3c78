import { parseJson, writeJson } from "@drover/json";
import { z } from "zod";
import type { ProxiedCall } from "../calls/proxied-call.ts";
import type { SpoiledList } from "../plan/faults.ts";

/** Faults inside a list: the server's own answer with an error in it. */
export interface SpoiledLists {
  /** True if the call requests a page of a list that never ends. The server does not have this page. */
  isMadeUp(call: ProxiedCall): boolean;
  /** The page to answer with. `genuine` gets the page from the server. */
  spoil(
    fault: SpoiledList,
    call: ProxiedCall,
    genuine: () => Promise<ListPage | undefined>,
  ): Promise<ListPage | undefined>;
}

export interface ListPage {
  readonly status: number;
  readonly body: string | Buffer;
}

const madeUp = "endless-";

export function spoiledLists(): SpoiledLists {
  let page = Buffer.alloc(0);
  let tokens = 0;
  const isMadeUp = ({ verb, query }: ProxiedCall): boolean =>
    verb === "list" && (new URLSearchParams(query).get("continue") ?? "").startsWith(madeUp);
  return {
    isMadeUp,
    async spoil({ how, cycle = 0 }, call, genuine) {
      if (!(isMadeUp(call) && how === "endless")) {
        const answer = await genuine();
        if (answer?.status !== 200) return answer;
        page = Buffer.from(answer.body);
      }
      const token = `${madeUp}${cycle === 0 ? tokens++ : tokens++ % cycle}`;
      return { status: 200, body: spoiled(how, page, token) };
    },
  };
}

function spoiled(how: SpoiledList["how"], page: Buffer, token: string): string | Buffer {
  if (how === "truncated" || how === "expired") return page.subarray(0, page.length >> 1);
  const list = listSchema.parse(parseJson(page.toString()));
  switch (how) {
    case "no metadata":
      return writeJson({ ...list, metadata: undefined });
    case "no uid":
      return writeJson(withoutUids(list));
    case "endless":
      return writeJson({ ...list, metadata: { ...list.metadata, continue: token } });
  }
}

const listSchema = z.looseObject({
  metadata: z.looseObject({}),
  items: z.array(z.looseObject({ metadata: z.looseObject({}) })).nullable(),
});

/** Every second item, from the first on, has no uid. An empty list gets one item, without a uid. */
function withoutUids(list: z.infer<typeof listSchema>): object {
  const items = list.items ?? [];
  const nameless = items.length === 0 ? [{ metadata: {} }] : items;
  return {
    ...list,
    items: nameless.map((item, i) =>
      i % 2 === 0 ? { ...item, metadata: { ...item.metadata, uid: undefined } } : item,
    ),
  };
}
