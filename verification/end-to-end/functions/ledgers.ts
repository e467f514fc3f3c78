import { defineController, type Resource } from "@drover/controller";
import { keyOf, type KubeClient, refOf } from "@drover/kube";
import { z } from "zod";
import { exampleKind } from "../../harness/example-kind.ts";

const anything = z
  .unknown()
  .meta({ kubernetes: { preserveUnknownFields: true } })
  .optional();

/** Kinds with 64-bit integers: one in a field of format int64, the other in any field. */
const ledgerOf = (kind: string) =>
  exampleKind(kind, {
    spec: { amount: z.bigint(), count: z.number().optional(), any: anything },
    status: { amount: z.bigint().optional(), any: anything, pages: z.int().optional() },
  });
/** Kept by a function with a bridge in its process. */
export const Ledger = ledgerOf("Ledger");
/** Kept by a function that is called over HTTP. */
export const Posting = ledgerOf("Posting");
/** What a Ledger makes. */
export const Page = exampleKind("Page", {
  spec: { any: anything, replaced: anything, patched: anything },
});

/** Copies the spec into the status. */
export const postings = defineController({
  for: Posting,
  name: "postings",
  retry: { first: "100ms" },
  reconcile: ({ spec: { amount, any } }) => Promise.resolve({ status: { amount, any } }),
});

const pageSchema = z.looseObject({ spec: z.record(z.string(), z.unknown()) });

/** Copies the spec to the status and to a page, and the page's fields, as a run finds them, by replace and by patch. */
export const ledgers = (client: KubeClient) =>
  defineController({
    for: Ledger,
    name: "ledgers",
    copies: true,
    owns: [{ kind: Page, copies: true }],
    retry: { first: "100ms" },
    async reconcile({ key, metadata, spec: { amount, any }, guard, signal }) {
      const pages = refOf(Page);
      const writer = client.guarded(guard);
      const { name, namespace = "" } = metadata;
      const labels = { ledger: name };
      const found = await writer.find(pages, { namespace, selector: { matchLabels: labels }, signal });
      const [page] = found;
      if (page === undefined) {
        const ownerReferences = [{ ...ownerOf(Ledger), name, uid: metadata.uid, controller: true }];
        await writer.create(pages, { metadata: { name, namespace, labels, ownerReferences }, spec: { any } });
        return { status: { pages: 0 } };
      }
      const { spec } = pageSchema.parse(page);
      if (!("replaced" in spec)) {
        await writer.replace(pages, { ...page, spec: { ...spec, replaced: spec["any"] } });
      } else if (!("patched" in spec)) {
        await writer.patch(pages, key, { type: "merge", body: { spec: { patched: [spec["replaced"]] } } });
      } else return { status: { amount, any, pages: keyOf(page) === key ? 1 : 0 } };
      return { status: { pages: 0 } };
    },
  });

const ownerOf = ({ apiVersion, kind }: Resource) => ({ apiVersion, kind });
