package dev.drover;

/**
 * The run failed: the function is called again, with backoff.
 *
 * @param message for people
 * @param reason in CamelCase, for programs, or null
 */
public record Failed(String message, String reason) implements Answer {}
