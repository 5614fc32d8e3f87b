import { useEffect, useRef } from 'preact/hooks'
import type { ObjectivesFact } from '../facts.ts'
import { Failure, Notice, Section, StateChip, plural } from '../parts/words.tsx'
import { podPath } from '../router.ts'
import { useAsked } from '../use.ts'

type Slo = ObjectivesFact['slos'][number]

const percent = (share: number | null): string => (share === null ? 'no events' : `${(100 * share).toFixed(share > 0.999 ? 3 : 1)}%`)

/** Objectives with their error budgets and burn rates, and the slowest sandboxes. */
export function ObjectivesView() {
  const asked = useAsked<ObjectivesFact>('objectives', {}, 5000)
  if (asked.error && !asked.value) return <Failure code={asked.code} error={asked.error} what="Objectives" />
  if (!asked.value) return <p class="wait" role="status">Reading objectives …</p>
  const { slos, slowest, at } = asked.value
  return (
    <>
      {slos.length === 0 && <Notice title="There are no objectives"><p>The monitor judges by a file of objectives:</p><pre>coxswain up --slo-file slos.yaml</pre></Notice>}
      {slos.map((slo) => <Objective key={slo.name} slo={slo} at={at} />)}
      <Section title="Slowest sandboxes">
        {!slowest ? <p class="dim">You may not list all pods.</p> : slowest.length === 0 ? <p class="dim">No pod has a sandbox yet.</p> : (
          <table class="facts numbers">
            <thead><tr><th>Pod</th><th>Seconds</th><th>Node</th></tr></thead>
            <tbody>{slowest.map((one) => <tr key={one.namespace + one.name}><td><a href={podPath(one.namespace, one.name)}>{one.namespace}/{one.name}</a></td><td>{one.seconds}</td><td class="dim">{one.node}</td></tr>)}</tbody>
          </table>
        )}
      </Section>
    </>
  )
}

function Objective({ slo, at }: { slo: Slo; at: string }) {
  const left = slo.errorBudgetRemaining
  const tone = slo.alert ? 'bad' : left < 0 ? 'bad' : left < 0.25 ? 'warn' : 'good'
  return (
    <Section title={slo.name} aside={<StateChip state={slo.alert ? `burning (${slo.alert})` : left < 0 ? 'missed' : 'kept'} tone={tone} />}>
      <p>{slo.objectiveText}</p>
      <p class="dim">{percent(slo.compliance)} of {plural(slo.events, 'event')} good in {slo.window}; {percent(Math.max(0, left))} of the error budget is left</p>
      <div class={`budget track ${tone}`} role="img" aria-label={`${percent(Math.max(0, left))} of the error budget is left`}><i style={{ width: `${100 * Math.max(0, left)}%` }} /></div>
      <Plot slo={slo} at={at} />
    </Section>
  )
}

/** Burn rates since this page was opened, and the history of latencies that the monitor has. */
function Plot({ slo, at }: { slo: Slo; at: string }) {
  const box = useRef<HTMLDivElement>(null)
  const history = useRef<{ times: number[]; rates: Record<string, number[]> }>({ times: [], rates: {} })
  const drawing = useRef<Promise<{ setData(data: (number | null)[][]): void }> | undefined>(undefined)
  const windows = Object.keys(slo.burnRates)
  const { times, rates } = history.current
  const atSeconds = Date.parse(at) / 1000
  if (times.at(-1) !== atSeconds) {
    times.push(atSeconds)
    for (const window of windows) (rates[window] ??= []).push(slo.burnRates[window]!)
  }
  const data = [times, ...windows.map((window) => rates[window]!)]
  useEffect(() => {
    // The library is loaded with the first plot.
    drawing.current ??= import('../parts/plot.ts').then(({ makePlot }) => makePlot(box.current!, windows, data))
    void drawing.current.then((plot) => plot.setData(data))
  })
  return <div ref={box} class="plot" role="img" aria-label={`Burn rates: ${windows.map((window) => `${slo.burnRates[window]} in ${window}`).join(', ')}`} />
}
