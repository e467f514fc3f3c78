import { z } from "zod";

const text = z.string().min(1);
const texts = z.record(z.string(), z.string());

/** The schemas of an object's metadata, without its owner references. The object exists: it has a uid and a version. */
export const objectMetadataFields = {
  name: text,
  namespace: text.exactOptional(),
  uid: text,
  resourceVersion: text,
  generation: z.number().exactOptional(),
  creationTimestamp: z.string().exactOptional(),
  deletionTimestamp: z.string().exactOptional(),
  finalizers: z.array(z.string()).exactOptional(),
  labels: texts.exactOptional(),
  annotations: texts.exactOptional(),
};
