import { withoutEcho } from '../../api/explain/index.ts'
import { ageOf, humanDuration } from '../../api/printing/duration.ts'
import { type Line, type Tone, oneLine } from '../terminal/line.ts'
import type { Explanation, ToldCause } from '../../insight/workload/explanation.ts'

/** Verbs of states for which `is` does not fit. */
const verbs: Readonly<Record<string, string>> = {
  Failed: 'has failed',
  Terminating: 'is being deleted',
  Held: 'is held',
}

/** `deployment/web is progressing: 1 of 3 replicas are available` */
function headline({ name, state, message, kind }: Explanation): string {
  const verb = verbs[state] ?? `is ${kind === 'Pod' ? state : state.toLowerCase()}`
  return `${name} ${verb}${message && !(state === 'Terminating') ? `: ${message}` : ''}`
}

const tones: Record<ToldCause['weight'], Tone> = { trouble: 'bad', held: 'warn', timed: 'busy', starting: 'busy' }

/** Maximum number of names listed for one cause. */
const namesTold = 5

function sinceText(since: string | undefined, nowMs: number): string {
  return since ? `, since ${since} (${ageOf(since, nowMs)})` : ''
}

/** Formats one cause: what, which other objects, the last warning, and the remedy. */
export function causeLines(cause: ToldCause, nowMs: number): Line[] {
  const { object, text, since, others, warning, help, weight } = cause
  const lines: Line[] = [
    [
      { text: `${object.kind} ${object.name}`, tone: tones[weight] },
      { text: ` ${oneLine(text)}${sinceText(since, nowMs)}.` },
    ],
  ]
  if (others.length > 0) {
    const more = others.length > namesTold ? ` and ${others.length - namesTold} more` : ''
    lines.push([{ text: `  The same: ${others.slice(0, namesTold).join(', ')}${more}.` }])
  }
  const said = warning && withoutEcho(oneLine(warning.message))
  if (warning && !oneLine(text).includes(said!)) {
    const times = warning.count > 1 ? `${warning.count} times, the last ` : ''
    lines.push([{ text: `  Last warning: ${warning.reason}: ${said} (${times}${ageOf(warning.at, nowMs)} ago).` }])
  }
  lines.push([{ text: '  Help: ', tone: 'dim' }, { text: oneLine(help) }])
  return lines
}

const headTones: readonly (readonly [number, Tone])[] = [
  [0, 'good'],
  [2, 'busy'],
  [3, 'bad'],
]

/** Formats the output of `why`. */
export function explanationLines(explanation: Explanation, nowMs: number): Line[] {
  const { causes, unread, deadlineAtMs, exitCode } = explanation
  const left =
    deadlineAtMs === undefined
      ? ''
      : deadlineAtMs > nowMs
        ? ` Its progress deadline passes in ${humanDuration(deadlineAtMs - nowMs)}.`
        : ' Its progress deadline has passed.'
  const tone = headTones.find(([code]) => code === exitCode)?.[1]
  const lines: Line[] = [[{ text: `${oneLine(headline(explanation))}.`, tone }, { text: left }]]
  for (const cause of causes) lines.push([], ...causeLines(cause, nowMs))
  if (unread.length > 0)
    lines.push([], [{ text: `Could not be read, and is not explained: ${unread.join(', ')}.`, tone: 'warn' }])
  return lines
}
