package dev.drover;

/**
 * Another writer came first: the function is called again almost at once.
 *
 * @param message for people, or null
 */
public record Conflict(String message) implements Answer {}
