package com.example;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.drover.Again;
import dev.drover.Answer;
import dev.drover.Call;
import dev.drover.Done;
import dev.drover.Finalized;
import dev.drover.Function;
import dev.drover.Parked;
import java.util.concurrent.atomic.AtomicInteger;

/** A function that greets: it writes a greeting for {@code spec.name} into {@code status.text}. */
public final class Greetings {
  record Spec(
      String name,
      boolean refuse,
      boolean fail,
      @JsonProperty("wait") long seconds,
      boolean hold,
      boolean count) {}

  record Status(String text, Integer runs) {}

  /** For tests of the contract. Not an example to follow: it is lost with the process. */
  private static final AtomicInteger RUNS = new AtomicInteger();

  static Answer reconcile(Call call) {
    int runs = RUNS.incrementAndGet();
    Spec spec = call.spec(Spec.class);
    if (spec.refuse()) {
      return new Parked("no greeting for that", "NoGreeting");
    }
    if (spec.fail()) {
      throw new IllegalStateException("this one always fails");
    }
    if (spec.seconds() > 0) {
      return again(spec.seconds());
    }
    return new Done(new Status("Hello, " + spec.name() + "!", spec.count() ? runs : null));
  }

  static Answer finalize(Call call) {
    return call.spec(Spec.class).hold() ? again(1) : new Finalized();
  }

  private static Answer again(long seconds) {
    return new Again(seconds + "s", "TooEarly", "not yet");
  }

  /** Answers calls. */
  public static void main(String[] args) {
    new Function().reconcile(Greetings::reconcile).finalize(Greetings::finalize).serve();
  }
}
