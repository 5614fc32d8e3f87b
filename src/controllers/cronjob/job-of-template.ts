import type { CronJob, Job } from '../../api/generated/types.ts'
import { zoneClock } from '../../api/kinds/zone-clock.ts'
import type { New } from '../../client/index.ts'

const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp'

/** The job of one due time. */
export function jobOfTemplate({ spec: { jobTemplate, timeZone = 'UTC' } }: CronJob, name: string, dueMs: number): New<Job> {
  const { labels, annotations } = jobTemplate.metadata ?? {}
  return {
    metadata: { name, ...(labels ? { labels } : {}), annotations: { ...annotations, [scheduledAnnotation]: timeIn(timeZone, dueMs) } },
    spec: jobTemplate.spec,
  }
}

/** `2026-03-01T09:00:00+01:00`: as the clocks of a zone show it. */
export function timeIn(zone: string, ms: number): string {
  const offsetMs = zoneClock(zone).offsetMs(ms)
  const local = new Date(ms + offsetMs).toISOString().slice(0, 19)
  if (offsetMs === 0) return `${local}Z`
  const minutes = Math.abs(offsetMs) / 60_000
  const two = (n: number) => String(n).padStart(2, '0')
  return `${local}${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
