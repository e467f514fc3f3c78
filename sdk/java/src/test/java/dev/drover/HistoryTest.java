package dev.drover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HistoryTest {
  private final History history = new History(50_000, 1 << 20);

  private static History.Step begin(History history, String body, long at, long now)
      throws Refusal {
    return history.begin(Messages.call(body), at, Messages.bytes(body), now);
  }

  private History.Step begin(String body) throws Refusal {
    return begin(history, body, Messages.now(), Messages.now());
  }

  @Test
  void aNewerCallOfAKeyInterruptsTheRunAndWaitsForItsEnd() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    List<String> order = new ArrayList<>();
    Run first = begin(Messages.body("t1", 1)).run();
    CompletableFuture<Void> running =
        CompletableFuture.runAsync(
            () ->
                first.run(
                    () -> {
                      begun.countDown();
                      try {
                        new CountDownLatch(1).await();
                      } catch (InterruptedException e) {
                        order.add("first");
                      }
                      return new byte[] {1};
                    }));
    begun.await();
    Run second = begin(Messages.body("t2", 2)).run();
    second.run(
        () -> {
          order.add("second");
          return new byte[] {2};
        });
    running.get();
    assertEquals(List.of("first", "second"), order);
    assertEquals(1, first.answer().get()[0]);
    assertEquals(2, second.answer().get()[0]);
  }

  @Test
  void aRunThatWaitsForItsTurnDoesNotBeginWhenItIsOver() throws Exception {
    Run first = begin(Messages.body("t1", 1)).run();
    first.turn().running.acquire();
    Run second = begin(Messages.body("t2", 2)).run();
    CompletableFuture<Void> waiting =
        CompletableFuture.runAsync(() -> second.run(() -> new byte[] {2}));
    second.turn().stop();
    waiting.get();
    assertNull(second.answer().get());
    assertEquals(0, first.turn().running.availablePermits());
  }

  @Test
  void aRepeatedCallGetsTheAnswerOfTheFirst() throws Exception {
    String body = Messages.body("t1", 1);
    History.Step first = begin(body);
    History.Step during = begin(body);
    assertTrue(first.isNew() && !during.isNew());
    assertSame(first.run(), during.run());
    first.run().run(() -> new byte[] {1});
    assertEquals(1, begin(body).run().answerWithin(0).get()[0]);
    assertNull(begin(body + " ").run());
  }

  @Test
  void aCallThatIsOlderThanTheNewestOfItsKeyIsRefused() throws Refusal {
    long now = Messages.now();
    long[][] cases = {{99, 0, 1}, {100, -1, 1}, {100, 0, 0}, {1_000, -1, 0}};
    for (long[] one : cases) {
      History fresh = new History(10, 1_000);
      assertNotNull(begin(fresh, Messages.body("t1", 100), now, now).run());
      Run other = begin(fresh, Messages.body("t2", (int) one[0]), now + one[1], now).run();
      assertEquals(one[2] == 1, other == null);
    }
  }

  @Test
  void memoryIsBoundedAndNothingRunsTwice() throws Refusal {
    long now = Messages.now();
    int[][] bounds = {{10, 1 << 20, 9}, {100, 1_000, 10}};
    for (int[] bound : bounds) {
      History small = new History(bound[0], bound[1]);
      AtomicInteger runs = new AtomicInteger();
      List<String> bodies = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        bodies.add(Messages.body("t" + i, 1, "web/" + i, 60_000, "{}"));
      }
      int answered = 0;
      for (int i = 0; i < 60; i++) {
        History.Step step = begin(small, bodies.get(i % 30), now - 40 + i % 30, now);
        if (step.isNew()) {
          runs.incrementAndGet();
          step.run().run(() -> new byte[100]);
        } else if (step.run() != null) {
          answered++;
        }
      }
      assertEquals(30, runs.get());
      assertEquals(bound[2], answered);
      // An older version of an object, by the time of then: etcd was restored.
      long later = now + History.RETENTION + 1;
      String late = Messages.body("late", 0, "web/29", 60_000, "{}");
      assertTrue(begin(small, late, later, later).isNew());
    }
  }
}
