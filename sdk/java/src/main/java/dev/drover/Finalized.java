package dev.drover;

/** Answers a finalize call: everything is undone, and the object may be deleted. */
public record Finalized() implements Answer {}
