import { printDuration } from '../../base/duration.ts'
import type { Indicator, Slo } from './slo-file.ts'
import { printWindow } from './window.ts'

const words: Record<Indicator, string> = {
  'creation-latency': 'sandboxes are ready in less than',
  'creation-success': 'sandboxes get ready in time',
  'termination-latency': 'sandboxes are gone in less than',
}

/** An objective in words: `99.5% of sandboxes are ready in less than 5s, over 30d`. */
export function sentenceOf({ objectivePercent, indicator, thresholdMs, windowMs }: Slo): string {
  const threshold = thresholdMs === undefined ? '' : ` ${printDuration(thresholdMs)}`
  return `${objectivePercent}% of ${words[indicator]}${threshold}, over ${printWindow(windowMs)}`
}
