/** Parts of a kind's schema. */
export const text = { type: "string" };
export const integer = { type: "integer" };
export const object = (properties: object): object => ({ type: "object", properties });
export const listOf = (items: object): object => ({ type: "array", items });
