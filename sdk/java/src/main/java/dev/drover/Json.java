package dev.drover;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonMappingException.Reference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.type.LogicalType;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;

/**
 * JSON as Kubernetes has it: a value of another type is an error, and integers keep their digits.
 */
final class Json {
  private static final StreamReadConstraints LIMITS =
      StreamReadConstraints.builder().maxNestingDepth(128).maxStringLength(4 << 20).build();

  static final JsonMapper MAPPER =
      JsonMapper.builder(JsonFactory.builder().streamReadConstraints(LIMITS).build())
          .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
          .withCoercionConfig(
              LogicalType.Textual,
              config -> {
                config.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail);
                config.setCoercion(CoercionInputShape.Float, CoercionAction.Fail);
                config.setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail);
              })
          .build();

  private Json() {}

  /** Parses JSON in UTF-8. */
  static JsonNode parse(byte[] body) throws Refusal {
    try {
      return MAPPER.readTree(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString());
    } catch (CharacterCodingException | JsonProcessingException e) {
      throw new Refusal(400, "the call is not JSON in UTF-8");
    }
  }

  /** Reads the spec of an object as a type of the function. */
  static <T> T spec(JsonNode spec, Class<T> type) {
    try {
      return MAPPER.treeToValue(spec, type);
    } catch (JsonMappingException e) {
      throw new SpecException("spec" + pathOf(e) + ": " + e.getOriginalMessage());
    } catch (JsonProcessingException e) {
      throw new SpecException("spec: " + e.getOriginalMessage());
    }
  }

  private static String pathOf(JsonMappingException e) {
    return e.getPath().stream().map(Json::step).collect(Collectors.joining());
  }

  private static String step(Reference reference) {
    return reference.getFieldName() == null
        ? "[" + reference.getIndex() + "]"
        : "." + reference.getFieldName();
  }

  /**
   * True if a field has the name {@code __proto__}. No Kubernetes object has one, and code in
   * JavaScript that handles it later would lose it.
   */
  static boolean hasProto(JsonNode value) {
    if (value.has("__proto__")) {
      return true;
    }
    for (JsonNode one : value) {
      if (hasProto(one)) {
        return true;
      }
    }
    return false;
  }
}
