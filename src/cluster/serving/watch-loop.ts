import { systemClock } from '../../base/clock.ts'
import { LoopDelay } from '../../base/loop-delay.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Health } from '../../server/index.ts'

/**
 * Measures the event loop of this process, and tells of it in metrics and health. Health does not fail for it: who asks
 * is answered on that very loop, late as it is, and a restart would only add to the work. The answered function ends
 * it.
 */
export function watchLoop(metrics: MetricsRegistry, health: Health): () => void {
  const delay = new LoopDelay(systemClock)
  delay.register(metrics)
  health.tell('event-loop', () => `at most ${Math.round(delay.longestMs)} ms late in the last minute`)
  return () => delay.stop()
}
