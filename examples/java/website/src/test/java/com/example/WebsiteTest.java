package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.drover.Again;
import dev.drover.Composed;
import dev.drover.testing.Calls;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WebsiteTest {
  private static final Website.Spec SPEC = new Website.Spec("Hi", "web:1", 2, null);

  private static Composed composed(Object... children) {
    return (Composed) Website.compose(Calls.callFor("a", SPEC, children));
  }

  private static Object in(Object value, String... path) {
    for (String field : path) {
      value = ((Map<?, ?>) value).get(field);
    }
    return value;
  }

  @Test
  void declaresAPageThatIsServed() {
    List<?> children = composed().children();
    assertEquals(Map.of("index.html", "Hi"), in(children.get(0), "data"));
    assertEquals(2L, in(children.get(1), "spec", "replicas"));
    Object labels = in(children.get(1), "spec", "template", "metadata", "labels");
    assertEquals(labels, in(children.get(2), "spec", "selector"));
  }

  @Test
  void waitsForItsSecret() {
    Website.Spec spec = new Website.Spec("Hi", "web:1", 2, "words");
    assertInstanceOf(Again.class, Website.compose(Calls.callFor("a", spec)));
  }

  @Test
  void reportsTheReplicasThatAreReady() {
    Map<String, Object> running =
        Map.of(
            "apiVersion",
            "apps/v1",
            "kind",
            "Deployment",
            "metadata",
            Map.of("name", "a"),
            "status",
            Map.of("readyReplicas", 1));
    assertEquals(new Website.Status("http://a.default.svc", 1), composed(running).status());
  }
}
