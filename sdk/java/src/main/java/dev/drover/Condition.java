package dev.drover;

/**
 * A condition of a status.
 *
 * @param type such as Ready
 * @param status True, False or Unknown
 * @param reason in CamelCase, for programs
 * @param message for people
 */
public record Condition(String type, String status, String reason, String message) {}
