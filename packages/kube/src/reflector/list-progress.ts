import type { ObjectList } from "../client/reply.ts";
import type { ResourceVersion } from "../objects/kube-object.ts";

/** The progress of a list, and the parameters of the request for its next page. */
export interface ListProgress {
  /** If true, the objects arrive one by one at the beginning of a watch; otherwise in pages. */
  readonly streamed: boolean;
  /** If set, request the state at exactly this version, to compare it with what the watch has emitted. */
  readonly exact: ResourceVersion | undefined;
  readonly pages: number;
  readonly continue: string | undefined;
  /** The version of the list, which all of its pages have. */
  readonly version: ResourceVersion | undefined;
  /** An earlier token, replaced after each power of two pages. A server with a cycle of tokens returns it again. */
  readonly checkpoint: string | undefined;
}

export const listStart: ListProgress = {
  streamed: false,
  exact: undefined,
  pages: 0,
  continue: undefined,
  version: undefined,
  checkpoint: undefined,
};

/** Five million objects. No cluster has as many; a broken server may send pages without end. */
const mostPages = 10_000;

/** The result of a page: more pages follow, the list is complete, or it cannot be used. */
export type PageResult =
  | { readonly is: "more"; readonly listing: ListProgress }
  | { readonly is: "whole" }
  | { readonly is: "broken"; readonly problem: string };

export function nextPage(listing: ListProgress, page: ObjectList): PageResult {
  const token = page.continue;
  if (listing.version !== undefined && listing.version !== page.resourceVersion) {
    return brokenList(`pages of one listing have versions ${listing.version} and ${page.resourceVersion}.`);
  }
  if (token === undefined) return { is: "whole" };
  if (token === listing.continue || token === listing.checkpoint)
    return brokenList("the server returns the same continue token again.");
  const pages = listing.pages + 1;
  if (pages >= mostPages) return brokenList(`a listing has more than ${mostPages} pages.`);
  const checkpoint = isPowerOfTwo(pages) ? token : listing.checkpoint;
  const { resourceVersion: version } = page;
  return { is: "more", listing: { ...listing, pages, continue: token, version, checkpoint } };
}

const brokenList = (problem: string): PageResult => ({ is: "broken", problem });

const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0;
