package main

func order() []scenario {
	return []scenario{
		given("add-folds-while-waiting",
			"A key added again while it waits is given once.",
			add("a", "a"), get(), succeed("a"), get()),
		given("add-keeps-the-place",
			"A key added again while it waits keeps its place.",
			add("a", "b", "a"), get(), get(), get()),
		given("first-in-first-out",
			"Different keys are given in the order in which they were added.",
			add("b", "c", "a"), get(), succeed("b"), get(), succeed("c"), get(), succeed("a"), get()),
		given("keys-run-side-by-side",
			"Different keys are processed at the same time, and done in any order.",
			add("a", "b"), get(), get(), succeed("b"), succeed("a"), get()),
		given("add-during-processing-runs-again",
			"A key added during its processing is not given to anybody else, and is given again after done.",
			add("a"), get(), add("a"), get(), succeed("a"), get(), succeed("a"), get()),
		given("adds-during-processing-fold",
			"A key added twice during its processing is given once again.",
			add("a"), get(), add("a", "a"), succeed("a"), get(), succeed("a"), get()),
		given("done-leaves-idle",
			"A key that was not added during its processing is idle after done.",
			add("a"), get(), succeed("a"), get(), advance(60_000), get()),
		given("add-during-processing-goes-to-the-tail",
			"A key added during its processing takes its place at done, behind keys that were added after it.",
			add("a"), get(), add("a", "b"), succeed("a"), get(), succeed("b"), get(), succeed("a")),
		given("keys-take-turns",
			"Keys that are added in each of their runs take turns.",
			add("a", "b"), get(), add("a"), succeed("a"), get(), add("b"), succeed("b"), get(), add("a"),
			succeed("a"), get()),
	}
}
