import type { PermitRecord } from "../permits/permit-records.ts";

/** The record of what the function with this uid is permitted; by default to read Pods. */
export const permitRecord = (uid: string, fields: Partial<PermitRecord> = {}): PermitRecord => ({
  uid,
  function: `tea/${uid}`,
  followed: "",
  called: "",
  author: { user: "ann", groups: [] },
  accesses: [{ verb: "get", group: "", resource: "pods" }],
  ...fields,
});
