import { type LogOptions, type LogReader, Shown, pause } from '../../logs/index.ts'
import type { ContainerStatus } from '../../runtime/runtime.ts'
import type { Behaviour } from './behaviour.ts'

/** Older lines are dropped, as by the rotation of a real log. */
const mostLines = 10_000

const pieceLines = 1000

type Speech = Pick<Behaviour, 'log' | 'logEveryMs'>

/** The number of lines that a container has logged at a time. */
function linesUntil({ log, logEveryMs }: Speech, startedAtMs: number, untilMs: number): number {
  if (startedAtMs === 0 || untilMs < startedAtMs) return 0
  const times = logEveryMs === undefined ? 1 : Math.floor((untilMs - startedAtMs) / logEveryMs) + 1
  return times * log.length
}

function lineAt({ log, logEveryMs = 0 }: Speech, startedAtMs: number, index: number): Buffer {
  const time = new Date(startedAtMs + Math.floor(index / log.length) * logEveryMs).toISOString()
  return Buffer.from(`${time.slice(0, -1)}000000Z stdout F ${log[index % log.length]!}`)
}

/** The log of a simulated container. The lines are computed from its start time and not stored. */
export async function* simulatedLog(
  speech: Speech,
  status: () => ContainerStatus | undefined,
  options: LogOptions,
  reader: LogReader,
): AsyncGenerator<Buffer> {
  const shown = new Shown(options)
  let next: number | undefined
  for (;;) {
    // Evaluated first, so that lines before the end are counted.
    const isWritten = reader.isWritten()
    const { startedAtMs = 0, finishedAtMs = 0 } = status() ?? {}
    const count = linesUntil(speech, startedAtMs, finishedAtMs || reader.clock.now())
    next ??= Math.max(0, count - Math.min(options.tailLines ?? mostLines, mostLines))
    while (next < count) {
      const end = Math.min(count, next + pieceLines)
      const text = shown.show(Array.from({ length: end - next }, (_, i) => lineAt(speech, startedAtMs, next! + i)))
      next = end
      if (text.length > 0) yield text
      if (shown.isFull || reader.signal.aborted) return
    }
    if (!options.follow || !isWritten || reader.signal.aborted) return
    await pause(reader)
  }
}
