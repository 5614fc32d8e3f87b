import { humanDuration } from '../../api/printing/duration.ts'
import { type Line, type Span, type Tone, barOf, oneLine, padded, widthOf } from '../terminal/line.ts'
import { type WorkloadKind, shortName } from '../../insight/workload/kinds.ts'
import type { Workload } from '../../insight/workload/object.ts'
import type { Standing } from '../../insight/workload/said.ts'
import type { ToldCause } from '../../insight/workload/explanation.ts'
import { causeLines } from '../why/text.ts'

/** One progress bar. */
interface Measure {
  title: string
  count: number
  of: number
  tone: Tone
}

function measuresOf({ kind }: WorkloadKind, { status = {} }: Workload, { numbers }: Standing): Measure[] {
  const { desired, current, updated, expectedUpdated = desired, ready, available } = numbers
  const { succeeded = 0, completions = 1 } = numbers
  if (kind === 'Job') {
    return [
      { title: 'active', count: current, of: Math.max(current, desired), tone: 'busy' },
      { title: 'succeeded', count: succeeded, of: completions, tone: 'good' },
      ...(status.failed
        ? [{ title: 'failed', count: status.failed, of: Math.max(status.failed, completions), tone: 'bad' as const }]
        : []),
    ]
  }
  const old = updated === undefined ? 0 : Math.max(0, current - updated)
  return [
    ...(updated === undefined
      ? []
      : [{ title: 'updated', count: updated, of: expectedUpdated, tone: 'busy' as const }]),
    { title: 'ready', count: ready, of: desired, tone: 'busy' },
    { title: 'available', count: available, of: desired, tone: 'good' },
    ...(old > 0 ? [{ title: 'old', count: old, of: Math.max(current, desired), tone: 'warn' as const }] : []),
  ]
}

const titleWidth = 11
const widestBar = 40

/** Formats the progress of a rollout: a headline, progress bars, and the cause of the delay. */
export function progressLines(
  kind: WorkloadKind,
  object: Workload,
  standing: Standing,
  causes: readonly ToldCause[],
  columns: number,
  nowMs: number,
): Line[] {
  const { state, deadlineAtMs } = standing
  const left =
    deadlineAtMs === undefined
      ? ''
      : deadlineAtMs > nowMs
        ? `, ${humanDuration(deadlineAtMs - nowMs)} until its deadline`
        : ', its deadline has passed'
  const revision = object.status?.updateRevision ?? object.metadata.annotations?.['deployment.kubernetes.io/revision']
  const head: Span[] = [
    { text: shortName(kind, object), tone: 'bold' },
    { text: ` ${state}${revision ? `, revision ${revision}` : ''}${left}` },
  ]
  const measures = measuresOf(kind, object, standing)
  const counts = measures.map(({ count, of }) => ` ${count}/${of}`)
  const width = Math.max(4, Math.min(widestBar, columns - 2 - titleWidth - Math.max(...counts.map(widthOf))))
  const bars = measures.map(({ title, count, of, tone }, i): Line => [
    { text: '  ' },
    padded({ text: title }, titleWidth),
    { text: barOf(of === 0 ? 1 : count / of, width), tone },
    { text: counts[i]! },
  ])
  const [first] = causes
  return [head, ...bars, ...(first ? causeLines({ ...first, text: oneLine(first.text) }, nowMs) : [])]
}
