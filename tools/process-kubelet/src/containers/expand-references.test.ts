import { expect, it } from "vitest";
import { expandReferences } from "./expand-references.ts";

const values = new Map([
  ["NAME", "a"],
  ["EMPTY", ""],
]);

// Cases of third_party/forked/golang/expansion/expand_test.go.
it.each([
  ["$(NAME)", "a"],
  ["x-$(NAME)-$(NAME)", "x-a-a"],
  ["$(EMPTY)!", "!"],
  ["$(ABSENT)", "$(ABSENT)"],
  ["$$(NAME)", "$(NAME)"],
  ["$$$(NAME)", "$a"],
  ["$NAME ${NAME} $", "$NAME ${NAME} $"],
  ["$(NAME", "$(NAME"],
  ["$()", "$()"],
])("makes %j into %j", (text, expected) => expect(expandReferences(text, values)).toBe(expected));
