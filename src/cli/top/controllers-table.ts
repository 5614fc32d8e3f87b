import { byName } from '../../api/explain/index.ts'
import type { CacheLag, ControllerLoad } from '../../insight/metrics/controllers.ts'
import { type Line, type Span, type Tone, lineOf, tableLines } from '../terminal/line.ts'

/** Formats seconds briefly: `0`, `0.02s`, `4.2s`, `95s`. */
export function secondsText(seconds: number): string {
  if (seconds === 0) return '0s'
  if (seconds < 0.001) return '<1ms'
  return seconds < 1 ? `${Math.round(seconds * 1000)}ms` : `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)}s`
}

/** A controller or cache with at least this lag is highlighted. */
const lateSeconds = 1
const veryLateSeconds = 10

const lagTone = (seconds: number): Tone | undefined =>
  seconds >= veryLateSeconds ? 'bad' : seconds >= lateSeconds ? 'warn' : undefined

const titles = ['CONTROLLER', 'QUEUE', 'LAG', 'BUSY', 'AVG WAIT', 'RECONCILES', 'ERRORS', 'RETRIES', 'STALE SKIPS']

/** Formats the table of controllers, lagging ones first, followed by the lagging caches. */
export function controllersTable(controllers: readonly ControllerLoad[], caches: readonly CacheLag[]): Line[] {
  const rows = controllers
    .toSorted((a, b) => b.lagSeconds - a.lagSeconds || b.depth - a.depth || byName(a.name, b.name))
    .map(({ name, depth, lagSeconds, busySeconds, waitSeconds, reconciles, errors, retries, staleSkips }): Span[] => [
      { text: name },
      { text: String(depth) },
      { text: secondsText(lagSeconds), tone: lagTone(lagSeconds) },
      { text: secondsText(busySeconds), tone: lagTone(busySeconds) },
      { text: waitSeconds === undefined ? '-' : secondsText(waitSeconds) },
      { text: String(reconciles) },
      { text: String(errors), tone: errors > 0 ? 'warn' : undefined },
      { text: String(retries) },
      { text: String(staleSkips) },
    ])
  return [...tableLines(titles, rows), ...(caches.length > 0 ? [lineOf(''), ...cacheLines(caches)] : [])]
}

function cacheLines(caches: readonly CacheLag[]): Line[] {
  const late = caches.filter(({ lagSeconds }) => lagSeconds > 0)
  const objects = caches.reduce((sum, cache) => sum + cache.objects, 0)
  if (late.length === 0) return [lineOf(`${caches.length} caches with ${objects} objects, none behind.`)]
  const rows = late.map(({ name, objects: count, lagSeconds, silentSeconds }): Span[] => [
    { text: name },
    { text: secondsText(lagSeconds), tone: lagTone(lagSeconds) },
    { text: secondsText(silentSeconds) },
    { text: String(count) },
  ])
  return tableLines(['CACHE', 'LAG', 'SILENT FOR', 'OBJECTS'], rows)
}
