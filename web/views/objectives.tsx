import { useEffect, useRef, useState } from 'preact/hooks'
import { parseWindow } from '../../src/monitor/slo/sliding-sums.ts'
import type { ObjectivesFact } from '../facts.ts'
import type { Shape as PlotShape, makePlot } from '../parts/plot.ts'
import { type Series, budgetLeft, burnRates } from '../parts/slo-history.ts'
import { Failure, Notice, Section, StateChip, plural } from '../parts/words.tsx'
import { podPath } from '../router.ts'
import { useAsked } from '../use.ts'

type Slo = ObjectivesFact['slos'][number]

const percent = (share: number | null): string =>
  share === null ? '' : `${(100 * share).toFixed(share > 0.999 ? 3 : 1)}%`

/** Objectives with plots of their error budgets and burn rates, and the slowest sandboxes. */
export function ObjectivesView() {
  const asked = useAsked<ObjectivesFact>('objectives', {}, 5000)
  if (asked.error && !asked.value) return <Failure code={asked.code} error={asked.error} what="Objectives" />
  if (!asked.value)
    return (
      <p class="wait" role="status">
        Reading objectives …
      </p>
    )
  const { slos, slowest, at } = asked.value
  return (
    <>
      {slos.length === 0 && (
        <Notice title="There are no objectives">
          <p>The monitor judges by a file of objectives:</p>
          <pre>coxswain up --slo-file slos.yaml</pre>
        </Notice>
      )}
      {slos.map((slo) => (
        <Objective key={slo.name} slo={slo} at={at} />
      ))}
      <Section title="Slowest sandboxes">
        {!slowest ? (
          <p class="dim">You may not list all pods.</p>
        ) : slowest.length === 0 ? (
          <p class="dim">No pod has a sandbox yet.</p>
        ) : (
          <table class="facts numbers">
            <thead>
              <tr>
                <th>Pod</th>
                <th>Seconds</th>
                <th>Node</th>
              </tr>
            </thead>
            <tbody>
              {slowest.map((one) => (
                <tr key={one.namespace + one.name}>
                  <td>
                    <a href={podPath(one.namespace, one.name)}>
                      {one.namespace}/{one.name}
                    </a>
                  </td>
                  <td>{one.seconds}</td>
                  <td class="dim">{one.node}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Section>
    </>
  )
}

function Objective({ slo, at }: { slo: Slo; at: string }) {
  const left = slo.errorBudgetRemaining
  const [window, choose] = useState('1h' in slo.burnRates ? '1h' : slo.window)
  const atMs = Date.parse(at)
  const tone = slo.alert ? 'bad' : left < 0 ? 'bad' : left < 0.25 ? 'warn' : 'good'
  return (
    <Section
      title={slo.name}
      aside={<StateChip state={slo.alert ? `burning (${slo.alert})` : left < 0 ? 'missed' : 'kept'} tone={tone} />}
    >
      <p>{slo.objectiveText}</p>
      <p class="dim">
        {slo.events === 0 ? 'No events' : `${percent(slo.compliance)} of ${plural(slo.events, 'event')} good`} in{' '}
        {slo.window}; {percent(Math.max(0, left))} of the error budget is left
      </p>
      <div
        class={`budget track ${tone}`}
        role="img"
        aria-label={`${percent(Math.max(0, left))} of the error budget is left`}
      >
        <i style={{ width: `${100 * Math.max(0, left)}%` }} />
      </div>
      <div class="columns">
        <div>
          <h3>Error budget left, {slo.window}</h3>
          <Plot
            label="left"
            shape="steps"
            data={budgetLeft(piecesOf(slo, slo.window), parseWindow(slo.window)!, atMs, slo.objective)}
          />
        </div>
        <div>
          <h3>Burn rate</h3>
          <Plot
            label="burn rate"
            shape="bars"
            data={burnRates(piecesOf(slo, window), parseWindow(window)!, atMs, slo.objective)}
          />
          <div class="tabs" role="group" aria-label="Window of the burn rate">
            {Object.entries(slo.burnRates).map(([name, rate]) => (
              <button key={name} class="small" aria-pressed={name === window} onClick={() => choose(name)}>
                {name} <b>{rate.toFixed(rate < 10 ? 2 : 0)}</b>
              </button>
            ))}
          </div>
        </div>
      </div>
    </Section>
  )
}

const piecesOf = (slo: Slo, window: string) => slo.latencies[window]!.history

/** A plot that is redrawn when the theme changes. Its library is loaded with the first plot. */
function Plot({ label, shape, data }: { label: string; shape: PlotShape; data: Series }) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<Promise<ReturnType<typeof makePlot> | undefined> | undefined>(undefined)
  const latest = useRef(data)
  latest.current = data
  useEffect(() => {
    const remove = () => void plot.current?.then((drawn) => drawn?.remove())
    const draw = () => {
      remove()
      plot.current = import('../parts/plot.ts').then((library) =>
        box.current ? library.makePlot(box.current, label, shape, latest.current) : undefined,
      )
    }
    const dark = matchMedia('(prefers-color-scheme: dark)')
    draw()
    addEventListener('coxswain-theme', draw)
    dark.addEventListener('change', draw)
    return () => {
      removeEventListener('coxswain-theme', draw)
      dark.removeEventListener('change', draw)
      remove()
    }
  }, [])
  useEffect(() => void plot.current?.then((drawn) => drawn?.set(data)))
  const values = data.values.filter((value) => value !== null)
  return (
    <div
      ref={box}
      class="plot"
      role="img"
      aria-label={`${label}: ${values.length === 0 ? 'no events' : `at most ${Math.max(...values).toFixed(2)}, now ${values.at(-1)!.toFixed(2)}`}`}
    />
  )
}
