package dev.drover;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonSubTypes.Type;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

/** The outcome of a call. An exception in place of an answer counts as {@link Failed}. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "outcome")
@JsonSubTypes({
  @Type(value = Done.class, name = "done"),
  @Type(value = Composed.class, name = "composed"),
  @Type(value = Finalized.class, name = "finalized"),
  @Type(value = Again.class, name = "again"),
  @Type(value = Conflict.class, name = "conflict"),
  @Type(value = Failed.class, name = "failed"),
  @Type(value = Parked.class, name = "parked"),
})
public sealed interface Answer permits Done, Composed, Finalized, Again, Conflict, Failed, Parked {}
