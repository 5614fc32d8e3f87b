import { systemClock } from '../../base/clock.ts'
import { LoopDelay } from '../../base/loop-delay.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Health } from '../../server/index.ts'

/**
 * Measures the event loop of this process, and reports it in metrics and health. No health check fails because of it:
 * the response itself comes from the loop, however late, and a restart would add work. The returned function stops it.
 */
export function watchLoop(metrics: MetricsRegistry, health: Health): () => void {
  const delay = new LoopDelay(systemClock)
  delay.register(metrics)
  health.tell('event-loop', () => `at most ${Math.round(delay.longestMs)} ms late in the last minute`)
  return () => delay.stop()
}
