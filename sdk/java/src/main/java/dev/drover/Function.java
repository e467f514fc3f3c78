package dev.drover;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The handlers of a function. Without {@code finalize}, every object is let go. */
public final class Function {
  /** The longest message that is sent. */
  private static final int MAX_MESSAGE = 32_768;

  private static final Logger LOG = Logger.getLogger("drover");

  private Handler reconcile =
      call ->
          new Parked(
              "This function declares children: set spec.webhook.composes to true, and list their"
                  + " kinds in spec.owns.",
              null);
  private Handler compose =
      call ->
          new Parked(
              "This function declares no children. Leave out spec.webhook.composes, or give"
                  + " Function a handler compose.",
              "NotComposed");
  private Handler finalize = call -> new Finalized();

  /** Sets the handler of reconcile calls, which takes the world one step towards the spec. */
  public Function reconcile(Handler handler) {
    reconcile = handler;
    return this;
  }

  /** Sets the handler of compose calls, which declares the children that should exist. */
  public Function compose(Handler handler) {
    compose = handler;
    return this;
  }

  /** Sets the handler of finalize calls, which undoes what {@code reconcile} has done. */
  public Function finalize(Handler handler) {
    finalize = handler;
    return this;
  }

  /**
   * Answers the gateway's calls until SIGTERM or SIGINT, then lets the calls in progress end.
   *
   * <p>Each run has a thread. Calls of different keys run at once, and one call of a key at a time.
   * The settings are environment variables, which Drover's deployer sets (see {@code Settings}). If
   * one is missing, or the port is taken, the process ends with the code 1, and its last line
   * states what to do.
   */
  public void serve() {
    FunctionServer.serve(this);
  }

  /** The handler's answer as JSON. An exception is an answer, too: the run failed. */
  byte[] run(Call call) {
    try {
      return Json.MAPPER.writeValueAsBytes(answer(call));
    } catch (JsonProcessingException e) {
      return rendered(failed(call, e));
    }
  }

  private Answer answer(Call call) {
    try {
      Answer answer = handlerOf(call).handle(call);
      return answer != null ? answer : new Failed("the handler returned no answer", null);
    } catch (SpecException e) {
      return new Parked(shortened(e.getMessage()), "InvalidSpec");
    } catch (InterruptedException e) {
      return new Conflict("the run was stopped");
    } catch (Throwable e) {
      return failed(call, e);
    }
  }

  private Handler handlerOf(Call call) {
    return switch (call.type()) {
      case Call.RECONCILE -> reconcile;
      case Call.COMPOSE -> compose;
      default -> finalize;
    };
  }

  private static Failed failed(Call call, Throwable problem) {
    LOG.log(Level.WARNING, "The run of " + call.key() + " failed", problem);
    return new Failed(
        shortened(problem.getClass().getSimpleName() + ": " + problem.getMessage()), null);
  }

  private static String shortened(String message) {
    return message.substring(0, Math.min(message.length(), MAX_MESSAGE));
  }

  private static byte[] rendered(Failed failed) {
    try {
      return Json.MAPPER.writeValueAsBytes(failed);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
