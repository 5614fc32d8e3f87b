import type { CauseFact, ConditionFact, EventFact } from '../facts.ts'
import { podPath } from '../router.ts'
import { conditionTone } from './condition-tone.ts'
import { Ago, Shape, StateChip, plural } from './words.tsx'

const tones: Readonly<Record<CauseFact['weight'], string>> = {
  trouble: 'bad',
  held: 'warn',
  timed: 'busy',
  starting: 'busy',
}

/** The cause of a problem: the object, the sentence, and the remedy. */
export function Cause({ cause, namespace, now }: { cause: CauseFact; namespace: string; now: number }) {
  const { object, text, since, others, help, warning } = cause
  const tone = tones[cause.weight]
  const name = `${object.kind} ${object.name}`
  return (
    <div class={`cause ${tone}`}>
      <Shape tone={tone} />
      <div>
        <p class="sentence">
          {object.kind === 'Pod' ? <a href={podPath(namespace, object.name)}>{name}</a> : <b>{name}</b>} {text}
          {since && (
            <span class="dim">
              {' '}
              for <Ago at={since} now={now} />
            </span>
          )}
        </p>
        {others.length > 0 && (
          <p class="dim">
            The same: {others.slice(0, 5).join(', ')}
            {others.length > 5 ? ` and ${others.length - 5} more` : ''}
          </p>
        )}
        {warning && !text.includes(warning.message) && (
          <p class="dim">
            Last warning: {warning.reason}: {warning.message}
            {warning.count > 1 ? ` (${plural(warning.count, 'time')})` : ''}
          </p>
        )}
        <p class="help">{help}</p>
      </div>
    </div>
  )
}

export const Conditions = ({ conditions, now }: { conditions: readonly ConditionFact[]; now: number }) => (
  <table class="facts conditions">
    <thead>
      <tr>
        <th>Condition</th>
        <th>Status</th>
        <th>Since</th>
        <th>Reason</th>
      </tr>
    </thead>
    <tbody>
      {conditions.map((condition) => (
        <tr key={condition.type}>
          <td>{condition.type}</td>
          <td>
            <StateChip state={condition.status} tone={conditionTone(condition)} />
          </td>
          <td class="dim">
            <Ago at={condition.since} now={now} />
          </td>
          <td>
            <b>{condition.reason}</b> <span class="dim">{condition.message}</span>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

export const Events = ({ events, now }: { events: readonly EventFact[]; now: number }) =>
  events.length === 0 ? (
    <p class="dim">No events in the last hour.</p>
  ) : (
    <ul class="events">
      {events.map((event, at) => (
        <li key={at}>
          <Shape tone={event.type === 'Warning' ? 'bad' : 'none'} />
          <span class="dim">
            <Ago at={event.at} now={now} />
          </span>
          <span>
            <b>{event.reason}</b>
            {event.count > 1 ? ` ×${event.count}` : ''} <span class="dim">{event.message}</span>
          </span>
        </li>
      ))}
    </ul>
  )

/** An event of the timeline. */
export interface Moment {
  at: number
  label: string
  tone: string
}

/** Events of conditions and warnings on one axis, the latest on the right. */
export function Timeline({ moments, now }: { moments: readonly Moment[]; now: number }) {
  const known = moments.filter(({ at }) => at > 0 && at <= now + 1000).toSorted((a, b) => a.at - b.at)
  if (known.length === 0) return null
  const first = known[0]!.at
  // A logarithmic scale, counted back from now, so that recent events have space whatever the age of the others.
  const span = Math.log(now - first + 1000) - Math.log(1000)
  const place = (at: number) => (span === 0 ? 1 : 1 - (Math.log(Math.max(0, now - at) + 1000) - Math.log(1000)) / span)
  return (
    <ol class="timeline" aria-label="Timeline of changes">
      {known.map(({ at, label, tone }, i) => (
        <li
          key={`${label}${at}`}
          class={`${tone} ${place(at) > 0.5 ? 'late' : ''}`}
          style={{ left: `${2 + 94 * place(at)}%`, top: `${(i % 4) * 22}px` }}
          title={`${new Date(at).toISOString()} ${label}`}
        >
          <Shape tone={tone} />
          <span>
            {label} <Ago at={new Date(at).toISOString()} now={now} />
          </span>
        </li>
      ))}
    </ol>
  )
}
