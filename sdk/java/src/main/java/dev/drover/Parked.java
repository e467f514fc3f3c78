package dev.drover;

/**
 * Another call cannot help: the key is parked until the object changes.
 *
 * @param message for people
 * @param reason in CamelCase, for programs, or null
 */
public record Parked(String message, String reason) implements Answer {}
