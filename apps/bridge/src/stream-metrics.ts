import { Gauge, type Registry } from "prom-client";
import type { Stream } from "./stream.ts";

/** The numbers of streams, read whenever they are scraped. */
export function streamMetrics(registry: Registry, streams: readonly Stream[]): void {
  const gauge = (name: string, help: string, read: (stream: Stream) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ["kind"],
      registers: [registry],
      collect() {
        for (const stream of streams) this.set({ kind: stream.kind }, read(stream));
      },
    });
  };
  const status = ({ reflector }: Stream) => reflector.status();
  gauge(
    "drover_stream_silent_seconds",
    "How long ago the last byte came.",
    (s) => status(s).silentFor / 1_000,
  );
  gauge("drover_stream_synced", "1 when the kind was listed whole.", (s) => Number(status(s).synced));
  gauge("drover_stream_degraded", "1 while the kind cannot be followed until somebody acts.", (s) =>
    Number(status(s).degraded !== undefined),
  );
  gauge("drover_stream_relists", "Listings beyond the first.", (s) => status(s).relists);
  gauge("drover_stream_reconnects", "Watches beyond the first.", (s) => status(s).reconnects);
}
