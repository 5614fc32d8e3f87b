import type { ComponentChildren } from 'preact'
import { humanDuration } from '../../src/api/printing/duration.ts'
import { type KindName, type State, kindNames, stateTones, states } from '../../src/insight/workload/said.ts'

export { type KindName, type State, kindNames, states }

/** The tone of a state. Each tone has its own shape, so that no information depends on colours alone. */
export const toneOf = (state: string): string => stateTones[state as State] ?? 'none'

const shapes: Readonly<Record<string, string>> = {
  bad: 'M2 2 L10 10 M10 2 L2 10',
  warn: 'M4 2 V10 M8 2 V10',
  busy: 'M6 1.5 A4.5 4.5 0 1 1 1.5 6',
  good: 'M2 6.5 L5 9.5 L10 3',
  none: 'M2 6 H10',
}

/** The shape of a tone. The text next to it has the same meaning. */
export const Shape = ({ tone }: { tone: string }) => (
  <svg class={`shape ${tone}`} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
    <path d={shapes[tone] ?? shapes.none} fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" />
  </svg>
)

/** A state as a word with a shape. */
export const StateChip = ({ state, tone = toneOf(state) }: { state: string; tone?: string }) => (
  <span class={`chip ${tone}`}>
    <Shape tone={tone} />
    {state}
  </span>
)

/** Formats the age of a time in milliseconds since the epoch: `3m20s`. */
export const age = (sinceMs: number, nowMs: number): string =>
  sinceMs > 0 ? humanDuration(Math.max(0, nowMs - sinceMs)) : ''

/** The age of a timestamp, with the time itself as a tooltip. */
export const Ago = ({ at, now }: { at: string | undefined; now: number }) =>
  at ? (
    <time dateTime={at} title={at}>
      {age(Date.parse(at), now)}
    </time>
  ) : null

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** A box that explains why a view is empty, and what to do. */
export const Notice = ({
  title,
  children,
  tone = 'none',
}: {
  title: string
  children?: ComponentChildren
  tone?: string
}) => (
  <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
    <h2>
      <Shape tone={tone} /> {title}
    </h2>
    {children}
  </div>
)

/** An error of the server, with what to do about it. */
export function Failure({ code, error, what }: { code: number | undefined; error: string; what: string }) {
  const subject = what.charAt(0).toUpperCase() + what.slice(1)
  if (code === 403)
    return (
      <Notice tone="warn" title={`You may not see ${what}`}>
        <p>{error}</p>
        <p>Ask somebody who may give you a Role, or log in as another user.</p>
      </Notice>
    )
  if (code === 400)
    return (
      <Notice title={`${subject} cannot be shown`}>
        <p>{error}</p>
      </Notice>
    )
  if (code === 404)
    return (
      <Notice title={`There is no ${what}`}>
        <p>{error}</p>
        <p>
          <a href="/">All workloads</a>
        </p>
      </Notice>
    )
  return (
    <Notice tone="bad" title={`${subject} cannot be read`}>
      <p>{error}</p>
      <p>The page tries again by itself.</p>
    </Notice>
  )
}

export const Section = ({
  title,
  children,
  aside,
}: {
  title: string
  children: ComponentChildren
  aside?: ComponentChildren
}) => (
  <section class="card" aria-label={title}>
    <header>
      <h2>{title}</h2>
      {aside}
    </header>
    {children}
  </section>
)
