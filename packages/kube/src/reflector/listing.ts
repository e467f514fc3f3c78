import type { ObjectList } from "../reply.ts";
import type { ResourceVersion } from "./resource-version.ts";

/** How far a listing has come; what the next page is asked for with. */
export interface Listing {
  /** It comes as the beginning of a watch, object by object; else in pages. */
  readonly streamed: boolean;
  /** Ask for the state at just this version, to compare it with what the watch has told. */
  readonly exact: ResourceVersion | undefined;
  readonly pages: number;
  readonly continue: string | undefined;
  /** The version that every page of one listing has. */
  readonly version: ResourceVersion | undefined;
  /** An earlier token, moved up at every power of two: a server that goes in circles comes by it again. */
  readonly checkpoint: string | undefined;
}

export const startListing: Listing = {
  streamed: false,
  exact: undefined,
  pages: 0,
  continue: undefined,
  version: undefined,
  checkpoint: undefined,
};

/** Five million objects; nobody has them, a broken server may pretend to. */
const mostPages = 10_000;

/** What a page says about its listing: there is more, that was all, or this is no listing. */
export type Progress =
  | { readonly is: "more"; readonly listing: Listing }
  | { readonly is: "whole" }
  | { readonly is: "broken"; readonly problem: string };

export function nextPage(listing: Listing, page: ObjectList): Progress {
  const token = page.continue;
  if (listing.version !== undefined && listing.version !== page.resourceVersion) {
    return broken(`pages of one listing have versions ${listing.version} and ${page.resourceVersion}.`);
  }
  if (token === undefined) return { is: "whole" };
  if (token === listing.continue || token === listing.checkpoint)
    return broken("it hands out the same continue token again.");
  const pages = listing.pages + 1;
  if (pages >= mostPages) return broken(`a listing has more than ${mostPages} pages.`);
  const checkpoint = isPowerOfTwo(pages) ? token : listing.checkpoint;
  const { resourceVersion: version } = page;
  return { is: "more", listing: { ...listing, pages, continue: token, version, checkpoint } };
}

const broken = (problem: string): Progress => ({ is: "broken", problem });

const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0;
