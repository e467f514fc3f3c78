package dev.drover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessagesTest {
  @Test
  void signsAsTheSpecificationDoes() throws Refusal {
    List<byte[]> secrets = List.of(Base64.getDecoder().decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
    String id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    byte[] body = Messages.bytes("{\"test\": 2432232314}");
    String expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    assertEquals(List.of(expected), Signatures.of(secrets, id, "1614265330", body));
    HttpFields.Mutable headers =
        HttpFields.build()
            .add("webhook-id", id)
            .add("webhook-timestamp", "1614265330")
            .add("webhook-signature", "v1,x " + expected);
    assertEquals(id, Signatures.verify(secrets, headers, body, 1_614_265_630).id());
    assertThrows(Refusal.class, () -> Signatures.verify(secrets, headers, body, 1_614_265_631));
    assertThrows(
        Refusal.class, () -> Signatures.verify(secrets, headers, new byte[0], 1_614_265_330));
    headers.add("webhook-signature", expected);
    assertThrows(Refusal.class, () -> Signatures.verify(secrets, headers, body, 1_614_265_330));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "whsec_",
        "whsec_AAAA",
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_MfKQ9r8GKYq?rTwjUPD8ILPZIo2LaLaSw"
      })
  void aSecretThatIsNoneIsRefusedAndNotPrinted(String text, @TempDir Path folder) throws Exception {
    Files.writeString(folder.resolve("current"), text);
    Exception problem =
        assertThrows(IllegalArgumentException.class, () -> new FolderSecrets(folder));
    assertTrue(problem.getMessage().contains(folder.toString()));
    assertFalse(problem.getMessage().contains("KYq"));
  }

  @Test
  void integersOf64BitsAndOtherNumbersKeepTheirDigits() throws Exception {
    String spec =
        "{\"a\":9223372036854775807,\"b\":18446744073709551615,\"c\":-9223372036854775808,\"d\":0.1}";
    Call call = Messages.call(Messages.bodyWith(spec));
    Answer done = new Done(call.object().path("spec"));
    assertEquals(
        "{\"outcome\":\"done\",\"status\":" + spec + "}", Json.MAPPER.writeValueAsString(done));
    record Spec(long a) {}
    assertEquals(Long.MAX_VALUE, call.spec(Spec.class).a());
  }

  @Test
  void whatIsNotACallIsRefused() {
    String deep = "[".repeat(100_000) + "]".repeat(100_000);
    for (String spec :
        List.of("{\"a\":" + deep + "}", "[]", "null", "{}}", "{\"a\":NaN}", "{\"a\":\"\n\"}")) {
      assertThrows(Refusal.class, () -> Messages.call(Messages.bodyWith(spec)));
    }
    for (String other : List.of(Messages.body("", 1), "[]", "", "{} {}", "null")) {
      assertThrows(Refusal.class, () -> Messages.call(other));
    }
    byte[] invalid = Messages.bodyWith("{\"a\":\"\u00ff\"}").getBytes(StandardCharsets.ISO_8859_1);
    assertThrows(Refusal.class, () -> Json.parse(invalid));
  }

  @Test
  void aFieldProtoIsFoundAtEveryDepth() throws Refusal {
    assertTrue(Json.hasProto(Json.parse(Messages.bytes("{\"a\":[1,{\"__proto__\":1}]}"))));
    assertFalse(Json.hasProto(Json.parse(Messages.bytes("{\"a\":[1,\"__proto__\"]}"))));
  }

  @Test
  void ofTwoFieldsWithOneNameTheLastCountsAsInTheGateway() throws Refusal {
    String body =
        Messages.bodyWith("{\"a\":1,\"a\":2}")
            .replaceFirst("\\{", "{\"token\":\"other\",\"later\":[null],");
    Call call = Messages.call(body);
    assertEquals("t1", call.token());
    assertEquals(2, call.object().path("spec").path("a").asInt());
    assertEquals("[null]", call.fields().path("later").toString());
  }

  @Test
  void aSpecThatDoesNotFitIsNamedByItsPath() throws Refusal {
    record Name(String first) {}
    record Spec(Name name, int count) {}
    for (String spec :
        List.of(
            "{\"name\":{\"first\":1}}",
            "{\"name\":{\"first\":true}}",
            "{\"name\":{\"first\":{}}}")) {
      Call call = Messages.call(Messages.bodyWith(spec));
      Exception problem = assertThrows(SpecException.class, () -> call.spec(Spec.class));
      assertTrue(problem.getMessage().startsWith("spec.name.first: "), problem.getMessage());
    }
    for (String spec : List.of("{\"count\":1.5}", "{\"count\":\"1\"}", "{\"count\":3000000000}")) {
      Call call = Messages.call(Messages.bodyWith(spec));
      assertThrows(SpecException.class, () -> call.spec(Spec.class));
    }
  }

  @Test
  void answersHaveTheNamesOfTheContract() {
    Child child =
        new Child(Map.of("kind", "B"), 1, Child.Update.ON_DELETE, 2, Child.Deletion.RETAIN, false);
    Answer composed = new Composed(List.of(Map.of("kind", "A"), child), null, null, "5m");
    JsonNode settled = Json.MAPPER.valueToTree(composed).path("children").path(1);
    assertEquals(
        "{\"object\":{\"kind\":\"B\"},\"wave\":1,\"update\":\"OnDelete\",\"maxUnavailable\":2,"
            + "\"deletion\":\"Retain\",\"adopt\":false}",
        settled.toString());
    Map<String, Answer> answers = new HashMap<>();
    answers.put("{\"outcome\":\"composed\",\"children\":[]}", new Composed(List.of()));
    answers.put("{\"outcome\":\"finalized\"}", new Finalized());
    answers.put("{\"outcome\":\"done\"}", new Done());
    answers.put("{\"outcome\":\"conflict\"}", new Conflict(null));
    answers.forEach(
        (text, answer) -> assertEquals(text, Json.MAPPER.valueToTree(answer).toString()));
  }

  @ParameterizedTest
  @CsvSource({
    "DROVER_WEBHOOK_AUDIENCE,f",
    "DROVER_WEBHOOK_AUDIENCE,a/b/c",
    "DROVER_WEBHOOK_SECRETS,''",
    "DROVER_HTTP_PORT,70000",
    "DROVER_STOP_GRACE,20",
    "DROVER_STOP_GRACE,1week",
  })
  void aWrongSettingIsNamed(String name, String value) {
    Exception problem =
        assertThrows(IllegalArgumentException.class, () -> settingsWith(name, value));
    assertTrue(problem.getMessage().contains(name));
  }

  @ParameterizedTest
  @CsvSource({"70000ms,70000", "1m30s,90000", "1.5h,5400000", "1d,86400000"})
  void durationsAreThoseOfDrover(String text, long ms) {
    assertEquals(Duration.ofMillis(ms), settingsWith("DROVER_STOP_GRACE", text).stopGrace());
  }

  private static Settings settingsWith(String name, String value) {
    Map<String, String> variables = new HashMap<>();
    variables.put("DROVER_WEBHOOK_AUDIENCE", "web/f");
    variables.put("DROVER_WEBHOOK_SECRETS", "/s");
    variables.put(name, value);
    return Settings.from(variables);
  }
}
